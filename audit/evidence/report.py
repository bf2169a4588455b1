"""The finding of an estimate, as JSON and as a certificate."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

from audit.auditor.distinguish import Estimate
from audit.auditor.tally import CertifiedEvent
from audit.auditor.verdict import Verdict
from audit.evidence.certificate import (
    FORMULAS,
    SHOWN_ALIKE,
    Certificate,
    StoredCurve,
    shown_equal,
    tempered,
    versions,
)
from audit.evidence.reach import EstimateReach
from audit.evidence.request import EstimateRequest, Judged
from audit.evidence.told import told_of_estimate
from audit.evidence.words import unseen_in_words
from audit.subjects.adjacency import UNCHECKED, noted_equal
from audit.subjects.descriptions import CatalogueDescription, core
from audit.subjects.programs import ProgramDescription
from audit.subjects.releases import MechanismDescription
from reference.common.documents import plain
from reference.common.numbers import decimal_text

ATTRIBUTE_WANTED = (
    'give the mechanism an attribute adjacency, "replace_one" or "add_or_remove_one" for lists of records, or a '
    "function of both inputs"
)
"""How the author of a mechanism declares the neighbour relation to an audit."""


@dataclass(frozen=True, eq=False, kw_only=True)
class EstimateResult:
    """An estimate and what it was made from.

    Parameters
    ----------
    request : EstimateRequest
        With the audited pair.
    estimate : Estimate
    claimed : float
        The claimed epsilon.
    claimed_delta : Fraction
    inputs : dict
        The two inputs, for a reader.
    neighbours : str
        Who checked that they are neighbours.
    output_names : tuple of str
    note : str or None
        On the auditor's seeds, if the randomness does not come from them.
    seeded : bool
        Whether all draws follow from the seed.
    seconds : float
    not_searched : str or None
        What the subject declares besides this pair, and nobody looked at.
    """

    request: EstimateRequest
    estimate: Estimate
    claimed: float
    claimed_delta: Fraction
    inputs: dict[str, Any]
    neighbours: str = UNCHECKED
    output_names: tuple[str, ...] = ()
    note: str | None = None
    seeded: bool = True
    seconds: float = 0.0
    not_searched: str | None = None

    @property
    def mechanism(self) -> str:
        """The name of the audited mechanism."""
        return self.request.mechanism

    def verdict(self, judged: Judged) -> Verdict:
        """Return the verdict on the `ideal` mechanism or on the `implementation`; equal inputs decide nothing."""
        found = self.estimate.verdict(self.claimed, implementation=judged == "implementation")
        if found == "not refuted" and self.equal_inputs:
            return "undecided"
        return tempered(found, self.request.subject, self.inputs)

    @property
    def equal_inputs(self) -> bool:
        """Whether both inputs are equal, or a certificate would show them so: then it decides nothing."""
        return noted_equal(self.estimate.notes) is not None or shown_equal(self.request.subject, self.inputs)

    @property
    def reservations(self) -> list[str]:
        """Why the verdict is not `not refuted`, though the event could have shown more."""
        found: list[str] = []
        if self.estimate.hides(self.claimed):
            found.append(unseen_in_words(self.estimate.unseen))
        if self.equal_inputs:
            found += [SHOWN_ALIKE] if noted_equal(self.estimate.notes) is None else []
        elif tempered("not refuted", self.request.subject, self.inputs) == "undecided":
            found.append(
                "w is computed from coefficients that lose more than is claimed (exactly); "
                "without --release weights these are audited"
            )
        return found

    def certified(self, judged: Judged) -> CertifiedEvent:
        """Return the certified event that the verdict rests on."""
        return self.estimate.implementation if judged == "implementation" else self.estimate.ideal

    def to_json(self) -> dict[str, Any]:
        """Return the contract's object."""
        found, claim = self.estimate, (self.claimed, self.claimed_delta)
        verdicts = self.verdict("ideal"), self.verdict("implementation")
        return {
            "mechanism": self.mechanism,
            **told_of_estimate(found, claim, verdicts, inputs=self.inputs, output=list(self.output_names)),
            "detectable_by_event": self.reach.detectable_by_event,
            "largest_certifiable_epsilon": found.largest_certifiable_epsilon,
            "requested_draws": found.requested_draws,
            "seconds": self.seconds,
            "curve": plain(self.curve),
            "neighbours_checked": self.neighbours != UNCHECKED,
            "notes": self.notes,
            "not_ruled_out": self.not_ruled_out(),
            "certificate": self.certificate(self.request.object).to_json(),
            "rerun": self.request.command,
        }

    @property
    def notes(self) -> list[str]:
        """Notes on the outputs, and on foreign randomness."""
        return [
            *self.estimate.notes,
            *self.reservations,
            *([self._unchecked] if self.neighbours == UNCHECKED else []),
            *([] if self.note is None else [f"randomness: {self.note}"]),
        ]

    @property
    def _unchecked(self) -> str:
        """The note that the neighbour relation was not checked, and how to declare it."""
        if isinstance(self.request.subject, ProgramDescription):
            # a program's inputs are declared, and compared if both are lists
            declared = self.inputs.get("adjacency", "an adjacency")
            return f"{UNCHECKED}: {declared} is declared, but only two lists of records can be checked"
        return f"{UNCHECKED}: {ATTRIBUTE_WANTED}"

    @property
    def curve(self) -> StoredCurve | None:
        """The bounds at several deltas that hold together, if certified."""
        found = self.estimate
        return None if found.curve is None else StoredCurve.of(found.curve, found.cuts, found.levels)

    def certificate(self, judged: Judged) -> Certificate:
        """Return the document that others can check."""
        found = self.certified(judged)
        return Certificate(
            request=self.request,
            inputs=self.inputs,
            event=found.event.stored,
            judged=judged,
            neighbours=self.neighbours,
            counts=found.decided_by,
            all_counts=found.counts,
            draws=self.estimate.draws,
            method=found.method,
            formula=FORMULAS[found.method],
            claimed_epsilon=self.claimed,
            claimed_delta=decimal_text(self.claimed_delta),
            epsilon_lower_bound=found.epsilon_lower_bound,
            verdict=self.verdict(judged),
            seeded=self.seeded,
            versions=versions(),
            # of the ideal event's score
            curve=self.curve if judged == "ideal" else None,
            share=found.share,
        )

    @cached_property
    def reach(self) -> EstimateReach:
        """What this estimate could have shown."""
        return EstimateReach(self.estimate, self.claimed, self.inputs.get("search", {}).get("draws", 0))

    def not_ruled_out(self) -> str:
        """Say in plain words what this result leaves open."""
        # the worst pairs of our own mechanisms are known
        own = isinstance(core(self.request.subject), MechanismDescription | CatalogueDescription)
        chosen = not own and self.verdict("ideal") == "not refuted"
        parts = [self.reach.of_other_pairs(chosen=chosen)]
        parts += [] if self.not_searched is None else [self.not_searched]
        search = self.inputs.get("search", {})
        if search.get("pairs_untried"):
            sifted = search["pairs_sifted"]
            if left := search["pairs_untried"] - sifted:
                parts.append(f"{left:,} listed pairs, which the search did not try")
            if sifted:
                parts.append(f"{sifted:,} listed pairs, of which the search saw only how far their outputs move")
        parts += self.reach.of_other_events(self.request.events, self.output_names)
        return "; ".join([*parts, *self.reservations, *self.reach.of_sizes()])
