"""The finding of an estimate, as JSON and as a certificate."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from audit.auditor.choose import Prospect
from audit.auditor.distinguish import LARGEST_DRAWS, Estimate
from audit.auditor.events import FAMILIES
from audit.auditor.events.atoms import MOST_COORDINATES
from audit.auditor.notes import FINER, NEAR_NOISE, NO_RESIDUES, RARE_CODES
from audit.auditor.selection import CHOOSE_SHARE, MOST_ROWS
from audit.auditor.tally import CertifiedEvent
from audit.auditor.verdict import STATED_SIZE, Verdict
from audit.bounds import detectable_by_event
from audit.evidence.certificate import FORMULAS, Certificate, StoredCurve, shown_equal, tempered, versions
from audit.evidence.request import EstimateRequest, Judged
from audit.evidence.words import event_in_words, unseen_in_words
from audit.subjects.adjacency import EQUAL, UNCHECKED, noted_equal
from reference.common.documents import plain
from reference.common.numbers import decimal_text

EVENT_PROBABILITIES = (0.5, 0.1, 1e-2, 1e-3, 1e-4, 1e-5, 0.0)
"""Probabilities of an event, on the input where it is rarer, for which to state the smallest detectable loss."""

SEEN_TO_BE_CHOSEN = 50
"""Expected occurrences of a leak in the selection draws at which about nine runs of ten choose it.

Even amid the outputs of a mechanism that spends its whole claim; far from them about 30 do.
"""

USUAL_COMPETITORS = 64
"""Scores of one coordinate that are judged together, about."""


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
        """Whether both inputs are equal, so that nothing is tested."""
        return noted_equal(self.estimate.notes) is not None or shown_equal(self.request.subject, self.inputs)

    @property
    def reservations(self) -> list[str]:
        """Why the verdict is not `not refuted`, though the event could have shown more."""
        found: list[str] = []
        if self.estimate.hides(self.claimed):
            found.append(unseen_in_words(self.estimate.unseen))
        if self.equal_inputs:
            found += [EQUAL] if noted_equal(self.estimate.notes) is None else []
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
        found = self.estimate
        return {
            "mechanism": self.mechanism,
            "claimed_epsilon": self.claimed,
            "claimed_delta": decimal_text(self.claimed_delta),
            "epsilon_lower_bound": found.epsilon_lower_bound,
            "significance": found.significance,
            "bound": found.method,
            "detectable_epsilon": found.detectable_epsilon(self.claimed),
            "detectable_by_event": self.detectable_by_event,
            "largest_certifiable_epsilon": found.largest_certifiable_epsilon,
            "draws": found.draws,
            "requested_draws": found.requested_draws,
            "stopped": found.stopped,
            "seconds": self.seconds,
            "verdict": self.verdict("ideal"),
            "implementation_verdict": self.verdict("implementation"),
            "witness": self.witness(found.ideal),
            "implementation": {
                "epsilon_lower_bound": found.implementation.epsilon_lower_bound,
                "bound": found.implementation.method,
                "witness": self.witness(found.implementation),
            },
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
        unchecked = [UNCHECKED] if self.neighbours == UNCHECKED else []
        return [
            *self.estimate.notes,
            *self.reservations,
            *unchecked,
            *([] if self.note is None else [f"randomness: {self.note}"]),
        ]

    def witness(self, found: CertifiedEvent) -> dict[str, Any]:
        """Return inputs, event and counts."""
        return {
            "inputs": self.inputs,
            "output": list(self.output_names),
            "event": found.event.to_json(),
            "counts": plain(found.counts),
        }

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
    def detectable_by_event(self) -> list[dict[str, float | None]]:
        """The smallest loss detectable with power 0.9, by the event's probability on its rarer input."""
        found, draws = self.estimate, self.estimate.counts.effective.likely_draws
        # an event that never occurs on one input has a probability far below one in all draws
        probabilities = np.array([p or 1e-3 / draws for p in EVENT_PROBABILITIES])
        delta = float(self.claimed_delta)
        epsilons = detectable_by_event(
            self.claimed, draws, delta, found.ideal.share * found.significance, found.method, probabilities
        )
        rows = zip(EVENT_PROBABILITIES, probabilities, epsilons, strict=True)
        return [
            {
                "unlikely": shown,
                "likely": None if np.isnan(epsilon) else float(np.exp(epsilon) * p + delta),
                "epsilon": None if np.isnan(epsilon) or not shown else float(epsilon),
            }
            for shown, p, epsilon in rows
        ]

    @property
    def rarest_leak(self) -> float | None:
        """The smallest probability of a leak on one input only that about nine runs of ten would find.

        It must occur often enough in the certifying draws to refute the claim, and often enough in the
        selection draws to be chosen.  None if no event could refute the claim.
        """
        never = next(row["likely"] for row in self.detectable_by_event if row["unlikely"] == 0.0)
        if never is None:
            return None
        return min(1.0, max(never, SEEN_TO_BE_CHOSEN / max(self.estimate.selection_draws, 1)))

    def draws_needed(self) -> int | None:
        """Return about how many draws would decide, if there are rare events; None if no countable number would.

        An event that is rare enough for the claim must be chosen, by draws of which few show it on one input, and
        then counted.  Where this many draws should have done, it is twice as many.
        """
        found, draws = self.estimate, self.estimate.requested_draws
        certify = found.counts.effective.likely_draws / found.draws
        choose, significance = self._choosing_share, found.ideal.share * found.significance
        while (draws := 2 * draws) <= LARGEST_DRAWS:
            rows = max(1, int(draws * certify))
            larger = found.detectable_with(self.claimed, rows)
            prospect = Prospect(rows, found.delta, significance, USUAL_COMPETITORS, self.claimed)
            chosen_on = max(1, min(int(draws * choose), MOST_ROWS))
            if larger is not None and larger <= STATED_SIZE * self.claimed and prospect.finds_able(chosen_on):
                return draws
        return None

    @property
    def _choosing_share(self) -> float:
        """The share of all draws that are of one input and may choose an event."""
        searched = self.inputs["search"]["draws"] if "search" in self.inputs else 0
        rest = 1 - float(searched) / self.estimate.requested_draws
        return CHOOSE_SHARE / 2 * rest / self.request.outputs_per_call

    @property
    def always_occurs(self) -> bool:
        """Whether the event occurs in every output, as where all are alike: then no event is rare."""
        counts = self.estimate.counts
        return (counts.likely, counts.unlikely) == (counts.likely_draws, counts.unlikely_draws)

    def not_ruled_out(self) -> str:
        """Say in plain words what this result leaves open."""
        found = self.estimate
        parts = ["other neighbouring inputs", *([] if self.not_searched is None else [self.not_searched])]
        search = self.inputs.get("search", {})
        if search.get("pairs_untried"):
            sifted = search["pairs_sifted"]
            if left := search["pairs_untried"] - sifted:
                parts.append(f"{left:,} listed pairs, which the search did not try")
            if sifted:
                parts.append(f"{sifted:,} listed pairs, of which the search saw only how far their outputs move")
        untried = [family for family in FAMILIES if family not in self.request.events]
        kinds = f", and {', '.join(untried)}, which were left out" if untried else ""
        certified = event_in_words(found.event, self.output_names)
        parts.append(f"what another event would show: the bound is that of this one ({certified})")
        of_one = (
            "residues modulo more than 256, in part of the range or of a minority of the outputs, single bits of "
            "floats but the last, or digits of numbers that do not repeat"
        )
        parts.append(f"kinds of events that were not searched, such as {of_one}{kinds}")
        parts += [note for note in found.notes if note.startswith((FINER, NEAR_NOISE, NO_RESIDUES, RARE_CODES))]
        if found.event.quantiser is not None and len(found.event.quantiser.steps) > 1:
            parts.append("most weighted sums of coordinates that are finer than the grid")
            parts.append(self._repeated_sums(len(found.event.quantiser.steps)))
            parts.append("residues, norms and relations of several coordinates, and what many show only together")
        if found.event.reduction is not None:
            kept = f"the {len(found.event.reduction.coordinates)} whose distributions differ most"
            parts.append(f"what coordinates show only together, outside {kept}")
        return "; ".join([*parts, *self.reservations, *self.sizes_not_ruled_out()])

    def _repeated_sums(self, width: int) -> str:
        """Say of which sums no event looked at single values."""
        repeated = "single values that weighted sums of coordinates repeat"
        if "directions" not in self.request.events or width > MOST_COORDINATES:
            return f"{repeated} (pairs are looked at among up to {MOST_COORDINATES} coordinates, by `directions`)"
        return f"{repeated}, but those of two coordinates with weights 1 and 1, 2 or 1/2 of either sign"

    def sizes_not_ruled_out(self) -> list[str]:
        """Say how small a loss and how rare a leak this result leaves open."""
        parts: list[str] = []
        detectable = self.estimate.detectable_epsilon(self.claimed)
        if detectable is None:
            parts.append("any loss at all: with this many draws this event cannot refute this claim")
        else:
            parts.append(f"losses below {detectable:.3g}, the smallest that this event shows in nine runs of ten")
        leak = self.rarest_leak
        if leak is not None:
            often = f"happen less often than about once in {1 / leak:,.0f} draws"
            parts.append(f"leaks that {often if leak < 2 / 3 else 'do not happen in every draw'}")
        return parts
