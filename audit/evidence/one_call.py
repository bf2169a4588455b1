"""One call: a bound from two arrays, or an assertion that a mechanism keeps its claim.

Import both from `audit` itself.  Nothing is stored: for a certificate that others can check, give the
mechanism a name that Python can import, and use ``python -m audit estimate``.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from types import TracebackType
from typing import Any, TypedDict, Unpack

import numpy as np
import numpy.typing as npt

from audit.auditor.choose import Prospect
from audit.auditor.distinguish import SMALLEST_DRAWS, Estimate, Terms, estimate
from audit.auditor.draws import Draws
from audit.auditor.events import IDEAL
from audit.auditor.events.reduction import WIDEST
from audit.auditor.selection import Phases, select
from audit.auditor.subject import SubjectError, two_inputs
from audit.auditor.tally import CertifiedEvent
from audit.auditor.verdict import Verdict
from audit.bounds import (
    SMALLEST_SIGNIFICANCE,
    Counts,
    TradeOffBand,
    cluster_epsilon_lower_bound,
    trade_off_band,
)
from audit.bounds import epsilon_lower_bound as bound_of_counts
from audit.bounds.counts import LARGEST_EPSILON, check_levels
from audit.common.keys import key_of
from audit.evidence.canaries import canary_lower_bound, canary_mu_lower_bound
from audit.evidence.copies import NO_NOISE, confirmed
from audit.evidence.words import barely_refuted, counted_in_words, is_of_rounding, unseen_in_words
from audit.subjects.adapters.function import FunctionSubject
from audit.subjects.adapters.outputs import as_floats
from audit.subjects.adjacency import (
    EQUAL,
    UNCHECKED,
    Relation,
    notes_on_pair,
    require_neighbours,
    require_unchanged,
)
from reference.budgets import parse_delta, parse_epsilon
from reference.common.arrays import FloatArray
from reference.common.documents import plain
from reference.common.errors import InputError, ReadingError
from reference.common.numbers import decimal_text, text_below

DRAWS = 200_000
"""Default draws of an assertion: both inputs, all phases."""

OF_ARRAYS = tuple(family for family in IDEAL if family != "likelihood_ratio")
"""Families tried on arrays."""


NO_NOISE_HERE = (
    "each input always gives one output: a release without noise, unless its noise was drawn and "
    "kept before this audit, where other processes have it from this one"
)
"""Instead of the note on modules that other processes import anew: a function is as this process left it."""


class CertifiedBound(float):
    """A lower bound on epsilon, and what it rests on.

    Attributes
    ----------
    counts : Counts
        Of the rows that served neither to learn a score nor to choose the event.
    event : str
        In words.
    delta, significance : float
    """

    counts: Counts
    event: str
    delta: float
    significance: float


def epsilon_lower_bound(
    left: npt.ArrayLike,
    right: npt.ArrayLike,
    *,
    delta: float = 0.0,
    significance: float = 0.05,
    seed: int = 0,
    outputs_per_call: int = 1,
) -> CertifiedBound:
    """Return a lower bound on epsilon from outputs, or scores of outputs, on two neighbouring inputs.

    Assumes that the rows of each array are independent draws, and that the inputs are neighbours.  The rows are
    shuffled; some teach scores, some choose an event, the rest certify.  The bound exceeds the true epsilon at
    this delta with probability at most the significance.  With `outputs_per_call`, only calls need be independent:
    this many consecutive rows come from one call, and may depend on each other in any way.

    Parameters
    ----------
    left, right : array of shape (n,) or (n, k)
        At least 500 rows each; n may differ.
    delta, significance : float
    seed : int
        Of the shuffle.
    outputs_per_call : int
        Calls stay whole in the shuffle, and each counts as one draw of a share.

    Raises
    ------
    ValueError
        When the arrays are not outputs, are too small, or do not consist of whole calls; or when delta or the
        significance is out of range.
    """
    check_levels(delta, significance)
    ours, others = _rows("left", left), _rows("right", right)
    if ours.shape[1] != others.shape[1]:
        raise ValueError(f"left has {ours.shape[1]} columns, right has {others.shape[1]}")
    rng = np.random.default_rng(seed)
    ours, others = (_shuffled(side, outputs_per_call, rng) for side in (ours, others))
    # one output of each call chooses the event: the call's others may repeat it
    first = ours[::outputs_per_call], others[::outputs_per_call]
    calls = min(map(len, first))
    if calls < SMALLEST_DRAWS // 2:
        raise ValueError(f"{calls} calls are too few: at least {SMALLEST_DRAWS // 2} are needed")
    # no row that certifies may choose
    plan = replace(Phases.of(2 * calls, ours.shape[1], learning=True), scored=0)
    prospect = Prospect(plan.certify, delta, significance)
    source = _Given(FunctionSubject(None, *first), first, ours.shape[1], (seed,))
    chosen = select(source, plan, OF_ARRAYS, prospect)
    # the calls up to here have been used
    seen = (plan.learn + plan.choose) * outputs_per_call
    # one event: a sturdy one is certified beside it only where there is a claim
    (best,) = chosen.ideal
    event = best.event
    found = [int(event.occurs(side[seen:]).sum()) for side in (ours, others)]
    sizes = [len(side) - seen for side in (ours, others)]
    likely = 0 if event.likely_input == "left" else 1
    counts = Counts(found[likely], sizes[likely], found[1 - likely], sizes[1 - likely])
    if outputs_per_call == 1:
        bound = CertifiedBound(bound_of_counts(counts, delta, significance, best.method))
    else:
        shares = [event.occurs(side[seen:]).reshape(-1, outputs_per_call).mean(axis=1) for side in (ours, others)]
        bound = CertifiedBound(
            cluster_epsilon_lower_bound(shares[likely], shares[1 - likely], delta, significance)
        )
    bound.counts, bound.event = counts, counted_in_words(event, counts)
    bound.delta, bound.significance = delta, significance
    return bound


def _shuffled(rows: FloatArray, outputs_per_call: int, rng: np.random.Generator) -> FloatArray:
    """Return the rows in another order, those of one call together."""
    if type(outputs_per_call) is not int or outputs_per_call < 1 or len(rows) % outputs_per_call:
        raise ValueError(
            f"outputs_per_call must divide the {len(rows)} rows of each array, not {outputs_per_call!r}"
        )
    if outputs_per_call == 1:
        return rng.permutation(rows)
    calls = rng.permutation(len(rows) // outputs_per_call)
    return rows.reshape(len(calls), outputs_per_call, -1)[calls].reshape(rows.shape)


def trade_off(
    left_scores: npt.ArrayLike, right_scores: npt.ArrayLike, *, significance: float = 0.05
) -> TradeOffBand:
    """Return an upper bound on the trade-off curve between two neighbouring inputs (:mod:`audit.bounds.bands`).

    Assumes that the scores of each input are independent draws of one law, that the inputs are neighbours, and
    that the score was fixed without these draws.  All bounds of the result hold together, except with
    probability at most the significance.

    Parameters
    ----------
    left_scores, right_scores : array of shape (n,)
        Outputs, or one score of each; n may differ.
    significance : float

    Raises
    ------
    ValueError
        When the arrays are not scores.
    """
    return trade_off_band(_scores("left_scores", left_scores), _scores("right_scores", right_scores), significance)


def _scores(name: str, given: npt.ArrayLike) -> FloatArray:
    if np.asarray(given).dtype.kind not in "fiub" or np.ndim(given) != 1 or not np.size(given):
        raise ValueError(f"{name} must be an array of real numbers of shape (n,)")
    values = as_floats(name, given)
    if np.isnan(values).any():
        raise ValueError(f"{name} has NaN at row {int(np.isnan(values).argmax())}")
    return values


def _rows(name: str, given: npt.ArrayLike) -> FloatArray:
    if np.asarray(given).dtype.kind not in "fiub" or np.ndim(given) not in (1, 2) or not np.size(given):
        raise ValueError(f"{name} must be an array of real numbers of shape (n,) or (n, k)")
    values = as_floats(name, given)
    values = values.reshape(len(values), -1)
    if len(values) < SMALLEST_DRAWS // 2:
        raise ValueError(f"{name} has {len(values)} rows; at least {SMALLEST_DRAWS // 2} are needed")
    if values.shape[1] > WIDEST:
        raise ValueError(f"{name} has {values.shape[1]} columns; at most {WIDEST}: give a score of each row")
    return values


@dataclass(frozen=True, eq=False)
class _Given(Draws):
    """Draws made already: a phase is the next rows of both arrays."""

    def chunks(self, phase: int, rows: int) -> Iterator[tuple[FloatArray, FloatArray]]:
        """Yield, whole, rows that no other phase has: phases are requested in order, each once."""
        first = getattr(self, "_used", 0)
        object.__setattr__(self, "_used", first + rows)
        left, right = self.inputs
        yield left[first : first + rows], right[first : first + rows]


class How(TypedDict, total=False):
    """The options of an assertion, besides the claim."""

    draws: int
    significance: float
    seed: int
    adjacency: Relation | None
    allow_undecided: bool
    workers: int
    outputs_per_call: int


@dataclass(frozen=True, eq=False)
class OneCallFinding:
    """The finding of an assertion.

    Parameters
    ----------
    claimed_epsilon : float
    claimed_delta : Fraction
    estimate : Estimate
    neighbours : str or None
        None if the inputs were found to be neighbours.
    seed : int
    """

    claimed_epsilon: float
    claimed_delta: Fraction
    estimate: Estimate
    neighbours: str | None
    seed: int

    @property
    def verdict(self) -> Verdict:
        """The verdict on the ideal mechanism; equal inputs decide nothing."""
        found = self.estimate.verdict(self.claimed_epsilon)
        return "undecided" if found == "not refuted" and EQUAL in self.estimate.notes else found

    @property
    def epsilon_lower_bound(self) -> float:
        """The certified bound."""
        return self.estimate.epsilon_lower_bound

    @property
    def notes(self) -> tuple[str, ...]:
        """Notes for the reader."""
        bits = self.estimate.implementation
        at_the_bits = self.estimate.verdict(self.claimed_epsilon, implementation=True)
        notes = [*self.estimate.notes, *([] if self.neighbours is None else [self.neighbours])]
        if self.verdict != "refuted" == at_the_bits and not is_of_rounding(bits.event):
            notes.append(
                f"at the bits, refuted by more than rounding: epsilon is at least "
                f"{text_below(bits.epsilon_lower_bound, 4)}; event: {counted_in_words(bits.event, bits.counts)}"
            )
        return tuple(notes)

    def fails(self, *, allow_undecided: bool) -> bool:
        """Return whether an assertion fails: the claim is refuted, or undecided where that is not allowed."""
        return self.verdict == "refuted" or (self.verdict == "undecided" and not allow_undecided)

    def to_json(self) -> dict[str, Any]:
        """Return the finding as JSON, in the form of the command's results."""
        found = self.estimate
        return {
            "claimed_epsilon": self.claimed_epsilon,
            "claimed_delta": decimal_text(self.claimed_delta),
            "epsilon_lower_bound": found.epsilon_lower_bound,
            "significance": found.significance,
            "bound": found.method,
            "detectable_epsilon": found.detectable_epsilon(self.claimed_epsilon),
            "draws": found.draws,
            "verdict": self.verdict,
            "witness": {"event": found.event.to_json(), "counts": plain(found.counts)},
            "notes": list(self.notes),
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
            f"  {found.draws:,} draws, seed {self.seed}",
        ]
        if self.verdict == "refuted":
            barely = barely_refuted(found.ideal, self.claimed_epsilon, found.delta, found.significance)
            lines += [] if barely is None else [f"  {barely}"]
        if self.verdict == "undecided":
            lines.insert(1, f"  {self._undecided()}")
        told = (f"  note: {note}" for note in self.notes if f"  {note}" not in lines)
        return "\n".join([*lines, *told])

    def _undecided(self) -> str:
        """Say why the verdict is undecided."""
        found = self.estimate
        if EQUAL in found.notes:
            return EQUAL
        if found.hides(self.claimed_epsilon):
            return unseen_in_words(found.unseen)
        detectable = found.detectable_epsilon(self.claimed_epsilon)
        if detectable is not None:
            return f"this event would have shown only a loss of {detectable:.3g} or more: more draws are needed"
        always = (
            found.counts.likely == found.counts.likely_draws
            and found.counts.unlikely == found.counts.unlikely_draws
        )
        what = "it always occurs" if always else "more draws are needed"
        return f"this event would have shown no loss of any size: {what}"


def assert_private(
    mechanism: Any, left: Any, right: Any, *, epsilon: Any, delta: Any = "0", **how: Unpack[How]
) -> OneCallFinding:
    """Raise AssertionError if a mechanism is found to lose more than it claims; return the finding.

    A test that could not have shown 1.5 times the claim is undecided, not a success: it raises, too, unless
    `allow_undecided` is true.

    Parameters
    ----------
    mechanism : callable or object
        `mechanism(data, rng)` returns one output, a number or an array, and takes its randomness from `rng`; or an
        object whose method `sample(data, count, rng)` returns `count` outputs, one a row.
    left, right : object
        The two neighbouring inputs.
    epsilon, delta : number or decimal string
        The claim.
    draws : int
        Of all phases and both inputs (200,000).
    significance : float
        Largest chance that a right mechanism is refuted (0.05).
    seed : int
        Of the mechanism's generators (0): the same draws each time.
    adjacency : {'replace_one', 'add_or_remove_one'} or callable
        Checked on the inputs; if left out, a note says that nobody checked.
    allow_undecided : bool
    workers : int
        Threads; does not change the result (1).
    outputs_per_call : int
        With more than one, only calls of this many consecutive outputs need be independent (1).

    Raises
    ------
    AssertionError
    reference.common.errors.InputError
        When the claim, the inputs or the mechanism cannot be audited.
    """
    # makes pytest show the caller's line, not this function
    __tracebackhide__ = True
    finding = audited_briefly(mechanism, (left, right), (epsilon, delta), **how)
    if finding.fails(allow_undecided=how.get("allow_undecided", False)):
        raise AssertionError(str(finding))
    return finding


def audited_briefly(
    mechanism: Any, inputs: tuple[Any, Any], claim: tuple[Any, Any], **how: Unpack[How]
) -> OneCallFinding:
    """Return what :func:`audited` does; an error shows the caller's code and the mechanism's, and none of ours."""
    __tracebackhide__ = True
    unknown = sorted(set(how) - set(How.__annotations__))
    if unknown:
        raise TypeError(f"assert_private() has no argument {unknown[0]!r}")
    try:
        return audited(mechanism, inputs, claim, **how)
    except InputError as problem:
        cause = problem.__cause__
        if cause is not None:
            cause = cause.with_traceback(_of_others(cause.__traceback__))
        raise problem.with_traceback(None) from cause


def _of_others(trace: TracebackType | None) -> TracebackType | None:
    """Return the frames from the first one that is not of this package."""
    while trace is not None and trace.tb_frame.f_globals.get("__name__", "").partition(".")[0] == "audit":
        trace = trace.tb_next
    return trace


def audited(mechanism: Any, inputs: tuple[Any, Any], claim: tuple[Any, Any], **how: Unpack[How]) -> OneCallFinding:
    """Return the finding of an audit, whatever the verdict; arguments as for :func:`assert_private`."""
    for name, least in (("draws", SMALLEST_DRAWS), ("seed", 0), ("workers", 1), ("outputs_per_call", 1)):
        given = how.get(name, least)
        if type(given) is not int or given < least:
            raise ReadingError(name, given, f"a whole number, at least {least:,}")
    significance = how.get("significance", 0.05)
    if not SMALLEST_SIGNIFICANCE <= significance < 1:
        raise ReadingError("significance", significance, f"in [{SMALLEST_SIGNIFICANCE:g}, 1)")
    epsilon, delta = _auditable_epsilon(claim[0]), parse_delta("delta", str(claim[1]))
    if not (callable(mechanism) or callable(getattr(mechanism, "sample", None))):
        raise ReadingError(
            "mechanism", repr(mechanism)[:100], "a function of (data, rng), or with a method sample"
        )
    # before a relation uses up what can be read only once
    two_inputs(inputs)
    neighbours = require_neighbours(*inputs, how.get("adjacency"))
    terms = Terms(
        draws=how.get("draws", DRAWS),
        delta=float(delta),
        significance=significance,
        claimed_epsilon=float(epsilon),
        outputs_per_call=how.get("outputs_per_call", 1),
    )
    seed = how.get("seed", 0)

    audited_here = FunctionSubject(mechanism, *inputs)

    def subject() -> FunctionSubject:
        return FunctionSubject(mechanism, *inputs)

    def carried() -> Estimate:
        return estimate(audited_here, terms, np.random.default_rng(seed), workers=how.get("workers", 1))

    def refuting(found: Estimate) -> CertifiedEvent | None:
        return found.ideal if found.verdict(float(epsilon)) == "refuted" else None

    # a separate stream for draws in other processes
    entropy = int(np.random.default_rng([seed, 1]).integers(2**63))
    before = [key_of(given) for given in inputs]
    try:
        found = confirmed(subject, carried, refuting, entropy, subject)
    except SubjectError:
        # else a changed input would be reported as dependent draws
        require_unchanged(inputs, before)
        raise
    require_unchanged(inputs, before)
    notes = [NO_NOISE_HERE if note == NO_NOISE else note for note in found.notes]
    notes += notes_on_pair(*inputs, how.get("adjacency"))
    if note := audited_here.note_on_types():
        notes.append(note)
    found = replace(found, notes=tuple(notes))
    return OneCallFinding(float(epsilon), delta, found, neighbours, seed)


def _auditable_epsilon(given: Any) -> Fraction:
    epsilon = parse_epsilon("epsilon", str(given))
    if epsilon > LARGEST_EPSILON:
        raise ReadingError("epsilon", decimal_text(epsilon), f"at most {LARGEST_EPSILON:g} to be audited")
    return epsilon


__all__ = [
    "UNCHECKED",
    "CertifiedBound",
    "OneCallFinding",
    "assert_private",
    "audited",
    "audited_briefly",
    "canary_lower_bound",
    "canary_mu_lower_bound",
    "epsilon_lower_bound",
    "trade_off",
]
