"""The finding of an assertion, as attributes, as JSON and in a few lines."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

from audit.auditor.distinguish import Estimate
from audit.auditor.notes import tell_finer
from audit.auditor.verdict import Verdict
from audit.evidence.reach import EstimateReach
from audit.evidence.told import told_of_bits, told_of_estimate, witness_of
from audit.evidence.words import at_the_limit, barely_refuted, bits_in_words, counted_in_words, unseen_in_words
from audit.subjects.adjacency import UNCHECKED, noted_equal
from reference.common.numbers import decimal_text, text_below

ARGUMENT_WANTED = (
    'pass adjacency="replace_one" or "add_or_remove_one" for lists of records, or a function of both inputs'
)
"""How the caller of an assertion declares the neighbour relation."""


@dataclass(frozen=True, eq=False)
class OneCallFinding:
    """The finding of an assertion; printed, it is a few lines.

    Its attributes have the names of :meth:`to_json`, but for `estimate` and `inputs`.

    Parameters
    ----------
    claimed_epsilon : float
        The claim that was judged.
    claimed_delta : Fraction
        In JSON a decimal string.
    estimate : audit.auditor.distinguish.Estimate
        The bounds with their events, counts and draws.
    seed : int
    neighbours_checked : bool
        Whether the inputs were found to be neighbours; if not, a note says so.
    inputs : str
        Both inputs, in words.

    Attributes
    ----------
    verdict : {'refuted', 'not refuted', 'undecided'}
        On the ideal mechanism, whose outputs are rounded to a fine grid.
    implementation_verdict : {'refuted', 'not refuted', 'undecided'}
        On floats as they are.
    epsilon_lower_bound : float
        On epsilon at the claimed delta, of the ideal mechanism: wrong with probability at most the significance.
    significance : float
    bound : str
        The method of the bound.
    detectable_epsilon : float or None
        The smallest loss that the certified event would show in nine runs of ten; None if it would show none.
    draws : int
        All phases, both inputs.
    stopped : str or None
        Why drawing ended before all requested draws were made.
    witness : dict
        The certified event and its counts.
    implementation : dict
        The bound, its method and the witness on floats as they are.
    notes : tuple of str
        What a reader must know about inputs and outputs.
    not_ruled_out : str
        What the finding leaves open: other inputs and events, small losses, rare leaks.
    """

    claimed_epsilon: float
    claimed_delta: Fraction
    estimate: Estimate
    seed: int
    neighbours_checked: bool
    inputs: str

    @property
    def verdict(self) -> Verdict:
        """The verdict on the ideal mechanism; equal inputs decide nothing."""
        return self._judged(implementation=False)

    @property
    def implementation_verdict(self) -> Verdict:
        """The verdict on floats as they are."""
        return self._judged(implementation=True)

    def _judged(self, *, implementation: bool) -> Verdict:
        found = self.estimate.verdict(self.claimed_epsilon, implementation=implementation)
        return "undecided" if found == "not refuted" and noted_equal(self.estimate.notes) else found

    @property
    def epsilon_lower_bound(self) -> float:
        """The certified bound."""
        return self.estimate.epsilon_lower_bound

    @property
    def significance(self) -> float:
        """The largest chance that the bound is wrong."""
        return self.estimate.significance

    @property
    def bound(self) -> str:
        """The method of the bound."""
        return self.estimate.method

    @property
    def detectable_epsilon(self) -> float | None:
        """The smallest loss that the certified event would show in nine runs of ten."""
        return self.estimate.detectable_epsilon(self.claimed_epsilon)

    @property
    def draws(self) -> int:
        """The draws of all phases, on both inputs."""
        return self.estimate.draws

    @property
    def stopped(self) -> str | None:
        """Why drawing ended early."""
        return self.estimate.stopped

    @property
    def witness(self) -> dict[str, Any]:
        """The certified event and its counts."""
        return witness_of(self.estimate.ideal)

    @property
    def implementation(self) -> dict[str, Any]:
        """The bound on floats as they are."""
        return told_of_bits(self.estimate)

    @property
    def notes(self) -> tuple[str, ...]:
        """Notes for the reader."""
        said, new = self._bits() or ("", False)
        unchecked = () if self.neighbours_checked else (f"{UNCHECKED}: {ARGUMENT_WANTED}",)
        return (*self.estimate.notes, *unchecked, *((said,) if new else ()))

    def _bits(self) -> tuple[str, bool] | None:
        """Return what to say of the bits if they alone refute the claim, and whether it is news."""
        if self.verdict == "refuted" or self.implementation_verdict != "refuted":
            return None
        return bits_in_words(self.estimate.implementation, finer=tell_finer(self.estimate.notes))

    @cached_property
    def _reach(self) -> EstimateReach:
        return EstimateReach(self.estimate, self.claimed_epsilon)

    @property
    def not_ruled_out(self) -> str:
        """What the finding leaves open, in words: other inputs and events, small losses, rare leaks."""
        hidden = [unseen_in_words(self.estimate.unseen)] if self.estimate.hides(self.claimed_epsilon) else []
        return "; ".join([self._other_pairs, *self._reach.of_other_events(), *hidden, *self._reach.of_sizes()])

    @property
    def _other_pairs(self) -> str:
        return self._reach.of_other_pairs(chosen=self.verdict == "not refuted")

    def fails(self, *, allow_undecided: bool) -> bool:
        """Return whether an assertion fails: the claim is refuted, or undecided where that is not allowed."""
        return self.verdict == "refuted" or (self.verdict == "undecided" and not allow_undecided)

    def to_json(self) -> dict[str, Any]:
        """Return a dictionary for JSON, in the form of the command's results, but without a certificate."""
        claim, verdicts = (self.claimed_epsilon, self.claimed_delta), (self.verdict, self.implementation_verdict)
        return told_of_estimate(self.estimate, claim, verdicts) | {
            "neighbours_checked": self.neighbours_checked,
            "notes": list(self.notes),
            "not_ruled_out": self.not_ruled_out,
            "seed": self.seed,
        }

    def __str__(self) -> str:
        """Return a few lines: the verdict, the witness, and how to repeat it."""
        found = self.estimate
        claim = f"({self.claimed_epsilon:g}, {decimal_text(self.claimed_delta)}) is claimed"
        bound = text_below(found.epsilon_lower_bound, 4)
        lines = [
            f"{self.verdict}: epsilon is at least {bound} (significance {found.significance:g}), {claim}",
            f"  event: {counted_in_words(found.event, found.counts)}",
            f"  inputs: {self.inputs}",
            f"  {found.draws:,} draws, seed {self.seed}{'' if found.stopped is None else f' ({found.stopped})'}",
        ]
        if self.verdict == "refuted":
            barely = barely_refuted(
                found.ideal, self.claimed_epsilon, found.delta, found.significance, seeded=found.seeded
            )
            limit = at_the_limit(found.ideal, found.draws, found.delta, found.significance)
            lines += [f"  {said}" for said in (limit, barely) if said is not None]
        if self.verdict == "undecided":
            lines.insert(1, f"  {self._undecided()}")
        if self.verdict == "not refuted":
            lines.append(
                f"  not ruled out: {'; '.join([self._other_pairs, 'other events', *self._reach.of_sizes()])}"
            )
        told = [f"  note: {note}" for note in self.notes if f"  {note}" not in lines]
        bits = self._bits()
        told += [] if bits is None or bits[1] else [f"  {bits[0]}"]
        return "\n".join([*lines, *told])

    def _undecided(self) -> str:
        """Say why the verdict is undecided."""
        found = self.estimate
        if (equal := noted_equal(found.notes)) is not None:
            return equal
        if found.hides(self.claimed_epsilon):
            return unseen_in_words(found.unseen)
        claim, detectable = f"a claim of {self.claimed_epsilon:g}", self.detectable_epsilon
        could = (
            f"this event could not have refuted {claim}"
            if detectable is None
            else f"this event could have refuted {claim} only for a loss of {detectable:.3g} or more"
        )
        return f"{could}; {self._reach.draws_in_words()}"
