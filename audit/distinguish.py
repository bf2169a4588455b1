"""The third flow: a subject -> draws -> an event chosen on one part -> a bound certified on fresh draws.

The event is fixed before the certifying draws are made, so the certified bound is valid whatever the learning
and the choice did.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from audit.bounds import Counts, Method, detectable_epsilon, epsilon_lower_bound, largest_certifiable_epsilon
from audit.choose import Candidate, Prospect, best_event
from audit.draws import Draws
from audit.events import EXACT, FAMILIES, IDEAL, Event, FloatArray, Quantiser, proposals
from audit.subjects import Subject

LEARN_SHARE, CHOOSE_SHARE = 0.1, 0.2
"""Shares of the draws that learn scores and choose an event; the rest certifies."""

MOST_SELECTION_ROWS, MOST_SELECTION_VALUES = 2**19, 2**23
"""Outputs, and numbers, that a selection phase holds per input: what bounds the memory."""

SMALLEST_DRAWS = 1_000
"""Below this no phase has enough to work with."""

STATED_SIZE = 1.5
"""A test that could not detect this multiple of the claim is undecided, not a success."""

CURVE_POINTS = 64
"""Nested events that the epsilon(delta) curve is made of."""

LEARN, CHOOSE, CERTIFY = 1, 2, 3
"""Phases, as the draws are numbered."""

Progress = Callable[[int], None]


def silent(draws: int) -> None:
    """Report no progress."""


Pair: TypeAlias = tuple[FloatArray, FloatArray]


@dataclass(frozen=True)
class Finding:
    """One certified event.

    Parameters
    ----------
    event : Event
        Chosen before the certifying draws.
    counts : Counts
        Of the certifying draws.
    epsilon_lower_bound : float
    """

    event: Event
    counts: Counts
    epsilon_lower_bound: float


@dataclass(frozen=True)
class Estimate:
    """Certified lower bounds and what they rest on.

    Parameters
    ----------
    ideal : Finding
        On quantised outputs: float noise is not seen.
    implementation : Finding
        On every bit.  Certified on the same draws as `ideal`; each holds at the full significance on its own.
    draws : int
        All phases, both inputs.
    requested_draws : int
        More than `draws` where the run was interrupted, or stopped early.
    significance : float
    delta : float
        The claimed delta.
    method : str
        Of :func:`audit.bounds.epsilon_lower_bound`.
    levels : ndarray, shape (m,)
        Thresholds of the ideal event's score: the nested events of the curve.
    curve : ndarray of int, shape (2, m + 1)
        Certifying draws on left and right with so many levels at or below their score; zeros unless asked for.
    notes : tuple of str
        What a reader must know about the outputs.
    """

    ideal: Finding
    implementation: Finding
    draws: int
    requested_draws: int
    significance: float
    delta: float
    method: Method
    levels: FloatArray
    curve: npt.NDArray[np.int64]
    notes: tuple[str, ...] = ()

    @property
    def epsilon_lower_bound(self) -> float:
        """The bound on the ideal mechanism: exceeds the truth with probability at most the significance."""
        return self.ideal.epsilon_lower_bound

    @property
    def event(self) -> Event:
        """The event of the ideal mechanism's bound."""
        return self.ideal.event

    @property
    def counts(self) -> Counts:
        """The counts of the ideal mechanism's event."""
        return self.ideal.counts

    @property
    def interrupted(self) -> bool:
        """Whether fewer draws were made than asked for."""
        return self.draws < self.requested_draws

    @property
    def largest_certifiable_epsilon(self) -> float:
        """What a perfect event would have given."""
        if not self.counts.likely_draws:
            return 0.0
        return largest_certifiable_epsilon(self.counts.likely_draws, self.delta, self.significance, self.method)

    def detectable_epsilon(self, claimed_epsilon: float) -> float | None:
        """Return the smallest epsilon that a test of this size would refute the claim at, with power 0.9.

        For the best event there could be; None when no event would do.
        """
        if not self.counts.likely_draws:
            return None
        return detectable_epsilon(
            claimed_epsilon, self.counts.likely_draws, self.delta, self.significance, self.method
        )

    def verdict(self, claimed_epsilon: float, *, implementation: bool = False) -> str:
        """Return `refuted`, `not refuted`, or `undecided` when this test could not have refuted the claim.

        Undecided: not even the best event would have detected :data:`STATED_SIZE` times the claim.
        """
        finding = self.implementation if implementation else self.ideal
        if finding.epsilon_lower_bound > claimed_epsilon:
            return "refuted"
        detectable = self.detectable_epsilon(claimed_epsilon)
        if detectable is None or detectable > STATED_SIZE * claimed_epsilon:
            return "undecided"
        return "not refuted"


@dataclass(frozen=True)
class Plan:
    """How many outputs per input each phase gets."""

    learn: int
    choose: int
    certify: int

    @classmethod
    def of(cls, draws: int, width: int, *, learning: bool) -> Plan:
        """Return the plan for so many draws on both inputs; `learning` is needed by learned scores only."""
        most = min(MOST_SELECTION_ROWS, max(1_000, MOST_SELECTION_VALUES // width))
        learn = min(int(draws * LEARN_SHARE) // 2, most) if learning else 0
        choose = min(int(draws * CHOOSE_SHARE) // 2, most)
        return cls(learn, choose, draws // 2 - learn - choose)

    @property
    def draws(self) -> int:
        """All phases, both inputs."""
        return 2 * (self.learn + self.choose + self.certify)


def estimate(
    subject: Subject,
    *,
    delta: float,
    draws: int,
    significance: float,
    rng: np.random.Generator,
    progress: Progress = silent,
    families: tuple[str, ...] = FAMILIES,
    method: Method = "joint",
    workers: int = 1,
    max_seconds: float | None = None,
    with_curve: bool = False,
) -> Estimate:
    """Return certified lower bounds on the subject's epsilon at `delta`, for its pair of inputs.

    Parameters
    ----------
    subject : Subject
    delta : float
        The claimed delta.
    draws : int
        Of all phases and both inputs; at least 1,000.
    significance : float
        Chance that a bound is wrong.
    rng : numpy.random.Generator
        Seeds all chunks.
    progress : callable
        Told the number of draws made, as they are made.
    families : tuple of str
        Of :data:`audit.events.FAMILIES`.
    method : {'joint', 'clopper_pearson'}
    workers : int
        Cores; the result does not depend on it.
    max_seconds : float, optional
        Certifying stops after the chunk in which this time has passed.
    with_curve : bool
        Also count the nested events of the epsilon(delta) curve.
    """
    if draws < SMALLEST_DRAWS:
        raise ValueError(f"{draws} draws are too few: at least {SMALLEST_DRAWS} are needed")
    start = time.monotonic()
    source = Draws.of(subject, tuple(int(word) for word in rng.integers(0, 2**32, 4)), workers)
    plan = Plan.of(draws, source.width, learning=tuple(families) != ("likelihood_ratio",))
    selection = select(source, plan, families, Prospect(plan.certify, delta, significance))
    progress(2 * (plan.learn + plan.choose))
    tally = Tally(selection, with_curve=with_curve)
    certify(source, plan.certify, tally, progress, None if max_seconds is None else start + max_seconds)
    findings = []
    for place, event in enumerate(tally.events):
        counts = tally.counts(place)
        bound = epsilon_lower_bound(counts, delta, significance, method) if tally.rows else 0.0
        findings.append(Finding(event, counts, bound))
    return Estimate(
        findings[0],
        findings[1],
        2 * (plan.learn + plan.choose + tally.rows),
        plan.draws,
        significance,
        delta,
        method,
        selection.levels,
        tally.curve,
        selection.notes,
    )


@dataclass(frozen=True, eq=False)
class Selection:
    """What the selection draws decided.

    Parameters
    ----------
    ideal, implementation : Event
        To be certified.
    levels : ndarray
        Thresholds of the ideal event's score, for the curve.
    notes : tuple of str
    """

    ideal: Event
    implementation: Event
    levels: FloatArray
    notes: tuple[str, ...]


def select(source: Draws, plan: Plan, families: Sequence[str], prospect: Prospect) -> Selection:
    """Learn scores on one part of the draws and choose the two events to certify on another.

    The implementation's event may be the ideal one: what quantised outputs lose, the outputs lose.
    """
    learning = source.phase(LEARN, plan.learn) if plan.learn else None
    choosing = source.phase(CHOOSE, plan.choose)
    quantiser = Quantiser.of(*choosing)
    rounded = [
        None if sample is None else (quantiser(sample[0]), quantiser(sample[1])) for sample in (learning, choosing)
    ]
    ideal = _best([f for f in families if f in IDEAL], source, rounded[0], rounded[1], prospect, quantiser)
    if ideal is None:
        raise ValueError(f"no score to choose an event from in {', '.join(families)}")
    exact = _best([f for f in families if f in EXACT], source, learning, choosing, prospect, None)
    implementation = max((c for c in (ideal, exact) if c is not None), key=lambda candidate: candidate.rank)
    scores = np.concatenate([ideal.event.scores(side) for side in choosing])
    return Selection(ideal.event, implementation.event, _levels(scores), _notes(choosing))


def _best(
    families: Sequence[str],
    source: Draws,
    learning: Pair | None,
    choosing: Pair,
    prospect: Prospect,
    quantiser: Quantiser | None,
) -> Candidate | None:
    """Return the best event of some families; scores that are not learned are judged on both parts of the draws."""
    taught = choosing if learning is None else learning
    scores = list(proposals(families, *taught, source.subject, source.inputs))
    fitted = [score for score in scores if score.learned]
    given = [score for score in scores if not score.learned]
    found = []
    if fitted and learning is not None:
        found.append(best_event(fitted, *choosing, prospect, quantiser))
    if given:
        parts = [choosing] if learning is None else [learning, choosing]
        left, right = (np.concatenate([part[side] for part in parts]) for side in (0, 1))
        found.append(best_event(given, left, right, prospect, quantiser))
    return max((c for c in found if c is not None), key=lambda candidate: candidate.rank, default=None)


def _levels(scores: FloatArray) -> FloatArray:
    """Return thresholds for the curve, evenly by rank and ever farther out in both tails."""
    finite = np.sort(scores[np.isfinite(scores)])
    if not finite.size:
        return np.zeros(1)
    tail = np.geomspace(1e-4, 0.5, CURVE_POINTS // 2)
    ranks = np.concatenate([tail, 1 - tail]) * (len(finite) - 1)
    return np.unique(finite[ranks.astype(int)])


def _notes(choosing: Pair) -> tuple[str, ...]:
    """Return what a reader must know about the outputs."""
    both = np.concatenate(choosing)
    notes = []
    if (both == both[:1]).all() or np.isnan(both).all():
        notes.append("all outputs seen are equal: nothing about the input was released, or nothing was drawn")
    share = float((~np.isfinite(both).all(axis=1)).mean())
    if share:
        notes.append(f"{share:.3g} of the outputs have a coordinate that is not finite; they count as outcomes")
    return tuple(notes)


class Tally:
    """Counts of the certifying draws, chunk by chunk.

    Parameters
    ----------
    selection : Selection
    with_curve : bool
        Whether to count between the levels of the curve too.
    """

    def __init__(self, selection: Selection, *, with_curve: bool) -> None:
        self.events = (selection.ideal, selection.implementation)
        self.levels = selection.levels if with_curve else None
        self.rows = 0
        self.occurrences = np.zeros((2, 2), dtype=np.int64)
        self.curve = np.zeros((2, len(selection.levels) + 1), dtype=np.int64)

    def count(self, left: FloatArray, right: FloatArray) -> Block:
        """Return the counts of one chunk, without adding them."""
        occurrences = np.zeros((2, 2), dtype=np.int64)
        curve = np.zeros_like(self.curve)
        ideal, implementation = self.events
        for side, outputs in enumerate((left, right)):
            scores = ideal.scores(outputs)
            occurrences[0, side] = np.count_nonzero(ideal.within(scores))
            same = implementation is ideal
            occurrences[1, side] = (
                occurrences[0, side] if same else np.count_nonzero(implementation.occurs(outputs))
            )
            if self.levels is not None:
                # bin b holds the scores with exactly b levels at or below them
                bins = np.searchsorted(self.levels, scores, side="right")
                curve[side] = np.bincount(bins, minlength=curve.shape[1])
        return Block(len(left), occurrences, curve)

    def add(self, block: Block) -> None:
        """Add the counts of one chunk."""
        self.rows += block.rows
        self.occurrences += block.occurrences
        self.curve += block.curve

    def counts(self, place: int) -> Counts:
        """Return the counts of the ideal event (0) or the implementation's (1)."""
        left, right = (int(value) for value in self.occurrences[place])
        likely, unlikely = (left, right) if self.events[place].likely_input == "left" else (right, left)
        return Counts(likely, self.rows, unlikely, self.rows)


@dataclass(frozen=True, eq=False)
class Block:
    """Counts of one chunk: occurrences[event, input] and curve[input, bin]."""

    rows: int
    occurrences: npt.NDArray[np.int64]
    curve: npt.NDArray[np.int64]


def certify(source: Draws, rows: int, tally: Tally, progress: Progress, deadline: float | None) -> None:
    """Count the events on fresh draws, until all are made, the deadline has passed or the user interrupts.

    What stops it early is a clock or a signal, and whole waves of chunks are kept or dropped.  How long a draw
    takes may depend on the output, so an early stop is not certified as if its size had been planned: see
    :func:`estimate`.
    """
    try:
        for blocks in source.map(CERTIFY, rows, tally.count):
            for block in blocks:
                tally.add(block)
            progress(2 * sum(block.rows for block in blocks))
            if deadline is not None and time.monotonic() > deadline:
                return
    except KeyboardInterrupt:
        return
