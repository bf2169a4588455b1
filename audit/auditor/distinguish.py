"""The third flow: a subject -> draws -> an event chosen on one part -> a bound certified on fresh draws.

The event is fixed before the certifying draws are made, so the certified bound is valid whatever the learning
and the choice did.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

import numpy as np

from audit.auditor.choose import Prospect
from audit.auditor.curve import Cut, certified_curve
from audit.auditor.dependence import ENOUGH_DRAWS, check_short_calls
from audit.auditor.draws import CERTIFY, Draws
from audit.auditor.events import FAMILIES, Event
from audit.auditor.interruption import finish
from audit.auditor.selection import Phases, select
from audit.auditor.subject import DrawingError, Subject
from audit.auditor.tally import CertifiedEvent, EventTally
from audit.auditor.verdict import Verdict, detectable, seen_by_event, verdict_on
from audit.bounds import (
    METHODS_AT_ZERO,
    MOST_DRAWS,
    Counts,
    Method,
    epsilon_lower_bound,
    largest_certifiable_epsilon,
    refutes,
)
from audit.bounds.anytime import AnytimeBound, StoppingRule
from audit.bounds.choice import check_method
from audit.bounds.curve import EpsilonCurve
from audit.bounds.power import Certifier
from reference.common.arrays import FloatArray, IntArray
from reference.common.printable import short_line

SMALLEST_DRAWS = 1_000
"""With fewer draws, no phase has enough to work with."""

LARGEST_DRAWS = 2 * MOST_DRAWS
"""Above this the certifying draws of one input could be more than the bounds are checked for."""

INTERRUPTED = "interrupted"
"""Why certifying ended, after Ctrl-C."""

SHARED_GENERATOR = (
    "sample() draws from the generator that the whole process shares (np.random or random), not from the one it "
    "is given: no seed repeats these draws"
)

Progress = Callable[[int], None]


def silent(draws: int) -> None:
    """Report no progress."""


Bound: TypeAlias = Literal["auto"] | Method

BOUNDS: tuple[Bound, ...] = ("auto", *METHODS_AT_ZERO)
"""The ways from counts to a bound: a method named beforehand, or one that the selection draws decide."""


@dataclass(frozen=True)
class Estimate:
    """Certified lower bounds and what they rest on.

    Parameters
    ----------
    ideal : CertifiedEvent
        On quantised outputs: float noise is not seen.
    implementation : CertifiedEvent
        On every bit.  Certified on the same draws as `ideal`; each holds at the full significance on its own.
    draws : int
        All phases, both inputs.
    requested_draws : int
        More than `draws` where the run was interrupted, or stopped early.
    significance : float
    delta : float
        The claimed delta.
    stopped : str or None
        Why certifying ended before all requested draws were made.
    levels : ndarray, shape (m,)
        Thresholds of the ideal event's score: the nested events of the curve.
    histogram : ndarray of int, shape (2, m + 1)
        Certifying draws on left and right with so many levels at or below their score; zeros unless asked for.
    curve : EpsilonCurve or None
        Bounds at several deltas that hold together; None unless asked for.
    notes : tuple of str
        What a reader must know about the outputs.
    selection_draws : int
        Per input, that scores were learned from or an event chosen on.
    interrupted : bool
        Whether Ctrl-C came: then `stopped` says so, or all draws were made and only bounds were left to compute.
    cuts : tuple of Cut
        The events of the curve, by increasing delta.
    uses_global : bool
        Whether draws come from the generators that a whole process shares: then no seed repeats them.
    unseen : float
        Share of the outputs whose value was too rare to be learned, where nearly all others repeat.
    """

    ideal: CertifiedEvent
    implementation: CertifiedEvent
    draws: int
    requested_draws: int
    significance: float
    delta: float
    stopped: str | None
    levels: FloatArray
    histogram: IntArray
    curve: EpsilonCurve | None
    notes: tuple[str, ...] = ()
    selection_draws: int = 0
    interrupted: bool = False
    cuts: tuple[Cut, ...] = ()
    uses_global: bool = False
    unseen: float = 0.0

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
    def method(self) -> Certifier:
        """The method of the ideal mechanism's bound; the implementation's may be another."""
        return self.ideal.method

    @property
    def largest_certifiable_epsilon(self) -> float:
        """The bound of the best possible counts, by the method of the ideal mechanism's bound."""
        draws = self.counts.effective.likely_draws
        return largest_certifiable_epsilon(draws, self.delta, self.significance, self.method)

    def detectable_epsilon(self, claimed_epsilon: float, *, implementation: bool = False) -> float | None:
        """Return the smallest loss at which the certified event refutes the claim, with power 0.9, or None."""
        found = self.implementation if implementation else self.ideal
        return seen_by_event(claimed_epsilon, found.counts, self.delta, self.significance, found.method)

    def detectable_with(self, claimed_epsilon: float, draws_per_input: int) -> float | None:
        """Return what the best event there could be would show with so many certifying draws per input."""
        return detectable(claimed_epsilon, draws_per_input, self.delta, self.significance, self.method)

    def verdict(self, claimed_epsilon: float, *, implementation: bool = False) -> Verdict:
        """Return the verdict on a claim: that of the event, or undecided where values hide more."""
        found = self.implementation if implementation else self.ideal
        bound = found.epsilon_lower_bound
        verdict = verdict_on(bound, claimed_epsilon, found.counts, self.delta, self.significance, found.method)
        return "undecided" if verdict == "not refuted" and self.hides(claimed_epsilon) else verdict

    def hides(self, claimed_epsilon: float) -> bool:
        """Return whether values too rare to be learned would refute the claim, were they one input's alone."""
        if not self.unseen:
            return False
        draws = self.counts.effective.likely_draws
        alone = Counts(round(self.unseen * draws), draws, 0, draws)
        return refutes(
            epsilon_lower_bound(alone, self.delta, self.significance, "joint"), claimed_epsilon, "joint"
        )


@dataclass(frozen=True, kw_only=True)
class Terms:
    """The terms of an estimate: its size and levels, what it looks at and what ends it.

    Parameters
    ----------
    draws : int
        Of all phases and both inputs; at least 1,000.
    delta : float
        The claimed delta.
    significance : float
        Chance that a bound is wrong.
    claimed_epsilon : float
        One of the levels of an anytime bound; and an event that could not refute it is only chosen for want of one
        that could.
    families : tuple of str
        Of :data:`audit.auditor.events.FAMILIES`.
    method : {'auto', 'joint', 'clopper_pearson', 'conditional'}
        `auto`: joint or conditional, per event, whichever promises more on the selection draws.
    until : StoppingRule, optional
        Certifying stops when the rule says so; the bound is the anytime one.
    max_seconds : float, optional
        Certifying stops when this time has passed.  Drawing may take longer for some outputs than for others, so
        the bound is then the anytime one.
    with_curve : bool
        Also certify the epsilon(delta) curve, from nested events of the ideal event's score.
    stopped_at : int, optional
        Draws of all phases and both inputs at which certifying ended in a run that is repeated.
    outputs_per_call : int
        With more than one, only calls of so many outputs need be independent (:mod:`audit.bounds.clusters`).

    Raises
    ------
    ValueError
        When this many draws cannot be made, or the method is not for this delta or not for calls.
    """

    draws: int
    delta: float = 0.0
    significance: float = 0.05
    claimed_epsilon: float = 1.0
    families: tuple[str, ...] = FAMILIES
    method: Bound = "auto"
    until: StoppingRule | None = None
    max_seconds: float | None = None
    with_curve: bool = False
    stopped_at: int | None = None
    outputs_per_call: int = 1

    def __post_init__(self) -> None:
        """Check the size and the method."""
        if type(self.outputs_per_call) is not int or self.outputs_per_call < 1:
            raise ValueError(f"outputs_per_call must be a whole number from 1, not {self.outputs_per_call!r}")
        if self.draws > LARGEST_DRAWS:
            raise ValueError(f"{self.draws} draws are too many: at most {LARGEST_DRAWS} can be counted")
        if self.draws < SMALLEST_DRAWS * self.outputs_per_call:
            smallest = SMALLEST_DRAWS * self.outputs_per_call
            calls = f" in calls of {self.outputs_per_call}" * (self.outputs_per_call > 1)
            raise ValueError(f"{self.draws} draws{calls} are too few: at least {smallest} are needed")
        if self.method != "auto":
            check_method(self.method, self.delta)
        if self.outputs_per_call > 1 and (self.method != "auto" or self.until is not None or self.with_curve):
            raise ValueError("outputs_per_call has a bound of its own: no method, no rule to stop and no curve")

    @property
    def level(self) -> AnytimeBound:
        """The anytime bound before any draw."""
        return AnytimeBound(self.claimed_epsilon, self.delta, self.significance)


def estimate(
    subject: Subject,
    terms: Terms,
    rng: np.random.Generator,
    *,
    workers: int = 1,
    progress: Progress = silent,
) -> Estimate:
    """Return certified lower bounds on the subject's epsilon at the claimed delta, for its pair of inputs.

    Parameters
    ----------
    subject : Subject
    terms : Terms
    rng : numpy.random.Generator
        Seeds all chunks.
    workers : int
        Cores; the result does not depend on it.
    progress : callable
        Told the number of draws made, as they are made.

    Raises
    ------
    KeyboardInterrupt
        When it comes before the first draws that certify: then there is no result to keep.
    audit.auditor.subject.DrawingError
        When a draw fails, unless those that certified before it refute the claim.
    """
    ending = Ending.after(terms.max_seconds, terms.until)
    entropy = tuple(int(word) for word in rng.integers(0, 2**32, 4))
    per_call = terms.outputs_per_call
    source = Draws.of(subject, entropy, workers, looks=ending.planned, outputs_per_call=per_call)
    learning = tuple(terms.families) != ("likelihood_ratio",)
    # of outputs, or of calls
    plan = Phases.of(terms.draws // per_call, source.width, learning=learning)
    if plan.screen:
        source = source.screened(plan.screen)
    prospect = Prospect(plan.certify, terms.delta, terms.significance, claim=terms.claimed_epsilon)
    selection = select(source, plan, terms.families, prospect)
    plan = plan.chosen_on(selection.rows)
    if terms.stopped_at is not None:
        ending = replace(ending, rows=terms.stopped_at // (2 * per_call) - plan.selection)
    progress(2 * plan.selection * per_call)
    timely = ending.deadline is None or time.monotonic() < ending.deadline
    if per_call == 1 and terms.draws >= ENOUGH_DRAWS and timely:
        check_short_calls(source, (selection.ideal, selection.implementation))
    tally = EventTally(selection, with_curve=terms.with_curve, outputs_per_call=per_call)
    stopped = certify(source, plan.certify, tally, progress, ending, terms.level)
    if not tally.rows:
        raise KeyboardInterrupt
    # planned looks, or an interruption that was not planned: the bound must hold at every look
    anytime = ending.planned or stopped is not None
    drawn = 2 * (plan.selection + tally.rows) * per_call
    # an interruption from here on stops no draws, so it changes no bound: the method was fixed before
    (found, curve), late = finish(lambda: _bounds(tally, terms, anytime=anytime))
    if tally.failure is not None and not refutes(
        found[0].epsilon_lower_bound, terms.claimed_epsilon, found[0].method
    ):
        raise DrawingError(
            f"{tally.failure}; the {drawn:,} draws before do not refute the claim"
        ) from tally.failure
    return Estimate(
        ideal=found[0].of(source.reduction),
        implementation=found[1].of(source.reduction),
        draws=drawn,
        requested_draws=plan.draws * per_call,
        significance=terms.significance,
        delta=terms.delta,
        stopped=stopped,
        levels=selection.levels,
        histogram=tally.histogram,
        curve=curve,
        notes=(*selection.notes, *([SHARED_GENERATOR] if source.uses_global else [])),
        selection_draws=plan.learn + plan.choose,
        interrupted=stopped == INTERRUPTED or late,
        cuts=selection.cuts,
        uses_global=source.uses_global,
        unseen=selection.unseen,
    )


def _bounds(tally: EventTally, terms: Terms, *, anytime: bool) -> tuple[list[CertifiedEvent], EpsilonCurve | None]:
    """Return what the counts certify: both events, and the curve where it was asked for and no look was taken."""
    selection = tally.selection
    if terms.outputs_per_call > 1:
        return [tally.certified_by_calls(place, terms.level) for place in (0, 1)], None
    methods = selection.methods if terms.method == "auto" else (terms.method, terms.method)
    found = [tally.certified(place, terms.level, None if anytime else methods[place]) for place in (0, 1)]
    if not terms.with_curve or anytime:
        return found, None
    of_curve: Method = "clopper_pearson" if terms.method == "clopper_pearson" else "joint"
    return found, certified_curve(selection.cuts, tally.histogram, terms.significance, of_curve)


@dataclass(frozen=True)
class Ending:
    """The reasons to end certifying early.

    Parameters
    ----------
    deadline : float or None
        Of the monotonic clock.
    rule : StoppingRule or None
        Looks at the counts after every wave of chunks.
    rows : int or None
        Certifying draws per input at which a run that is repeated ended.
    """

    deadline: float | None
    rule: StoppingRule | None
    rows: int | None = None

    @classmethod
    def after(cls, seconds: float | None, rule: StoppingRule | None) -> Ending:
        """Return the ending so many seconds from now, or by a rule."""
        return cls(None if seconds is None else time.monotonic() + seconds, rule)

    @property
    def planned(self) -> bool:
        """True if looks were planned, so that the anytime bound was chosen beforehand."""
        return self.deadline is not None or self.rule is not None


def certify(
    source: Draws, rows: int, tally: EventTally, progress: Progress, ending: Ending, level: AnytimeBound
) -> str | None:
    """Count the events on fresh draws, until all are made; return why it ended earlier.

    Whole waves of chunks are kept or dropped, in order.  Where a draw fails, all chunks before it are kept: the
    anytime bound holds at every moment, whatever comes next.
    """
    try:
        for blocks in source.map(CERTIFY, rows, tally.count):
            tally.add(blocks)
            progress(2 * tally.waves[-1].rows * tally.outputs_per_call)
            if ending.rule is not None:
                level = level.after(tally.counts(0, tally.waves[-1:]))
                reason = ending.rule.reason(level)
                if reason is not None:
                    return reason
            if ending.rows is not None and ending.rows <= tally.rows < rows:
                return "as in the run that is repeated"
            if ending.deadline is not None and time.monotonic() > ending.deadline and tally.rows < rows:
                return "the time is over"
    except KeyboardInterrupt:
        return INTERRUPTED
    except DrawingError as problem:
        if not tally.rows:
            raise
        tally.failure = problem
        return short_line(str(problem))
    return None
