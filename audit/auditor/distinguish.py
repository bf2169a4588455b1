"""The third flow: a subject -> draws -> an event chosen on one part -> a bound certified on fresh draws.

The event is fixed before the certifying draws are made, so the certified bound is valid however it was learned
and chosen.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Literal, TypeAlias

import numpy as np

from audit.auditor.certification import INTERRUPTED, TIME_IS_OVER, Ending, Progress, RepeatedRun, certify
from audit.auditor.choose import Prospect
from audit.auditor.curve import Cut, certified_curve
from audit.auditor.deadline import Deadline, OutOfTimeError
from audit.auditor.dependence import ENOUGH_DRAWS, check_short_calls
from audit.auditor.draws import LEARN, Draws
from audit.auditor.events import FAMILIES, Event
from audit.auditor.interruption import finish
from audit.auditor.selection import Further, Phases, Selection, ToCertify, select, select_from
from audit.auditor.stages import FIRST_PLAN, FOR_STAGES, ChoiceTime, Retained, Stage, most_kept, stages_of
from audit.auditor.subject import DrawingError, Subject
from audit.auditor.tally import CertifiedEvent, EventTally, Pace
from audit.auditor.verdict import Verdict, detectable, falls_short, seen_by_event, shown, verdict_on
from audit.bounds import (
    METHODS_AT_ZERO,
    MOST_DRAWS,
    Counts,
    Method,
    epsilon_lower_bound,
    largest_certifiable_epsilon,
    refutes,
)
from audit.bounds.anytime import REFUTED, AnytimeBound, StoppingRule
from audit.bounds.choice import check_method
from audit.bounds.curve import EpsilonCurve
from audit.bounds.power import Certifier
from reference.common.arrays import FloatArray, IntArray
from reference.common.printable import short_line

SMALLEST_DRAWS = 1_000
"""With fewer draws, no phase has enough to work with."""

LARGEST_DRAWS = 2 * MOST_DRAWS
"""Above this, one input could have more certifying draws than the bounds are checked for."""


def silent(draws: int) -> None:
    """Report no progress."""


Bound: TypeAlias = Literal["auto"] | Method

BOUNDS: tuple[Bound, ...] = ("auto", *METHODS_AT_ZERO)
"""The ways from counts to a bound: a method named beforehand, or one chosen by the selection draws."""


@dataclass(frozen=True)
class Estimate:
    """Certified lower bounds, and what they rest on.

    Parameters
    ----------
    ideal : CertifiedEvent
        On quantised outputs: float noise is not seen.
    implementation : CertifiedEvent
        On every bit.  Certified on the same draws as `ideal`; each holds at the full significance on its own.
    draws : int
        All phases, both inputs.
    requested_draws : int
        More than `draws` if the run was interrupted or stopped early.
    significance : float
    delta : float
        The claimed delta.
    stopped : str or None
        Why certifying ended before all requested draws were made.
    levels : ndarray, shape (m,)
        Thresholds of the ideal event's score, the nested events of the curve; none unless requested.
    histogram : ndarray of int, shape (2, m + 1)
        Certifying draws on left and right by the number of levels at or below their score; zeros unless requested.
    curve : EpsilonCurve or None
        Bounds at several deltas that hold together; None unless requested.
    notes : tuple of str
        What a reader must know about the outputs.
    selection_draws : int
        Per input, used to learn scores or to choose an event.
    interrupted : bool
        Whether Ctrl-C came: then `stopped` says so, or all draws were made and only bounds remained to compute.
    cuts : tuple of Cut
        The events of the curve, by increasing delta; none unless requested.
    seeded : bool
        Whether all randomness comes from the given generators, as far as the first draws show.
    unseen : float
        Share of the outputs whose value was too rare to learn, where nearly all others repeat.
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
    seeded: bool = True
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
        return largest_certifiable_epsilon(draws, self.delta, self.ideal.share * self.significance, self.method)

    def detectable_epsilon(self, claimed_epsilon: float, *, implementation: bool = False) -> float | None:
        """Return the smallest loss at which the certified event refutes the claim, with power 0.9, or None."""
        found = self.implementation if implementation else self.ideal
        significance = found.share * self.significance
        return seen_by_event(claimed_epsilon, found.counts, self.delta, significance, found.method)

    def detectable_with(self, claimed_epsilon: float, draws_per_input: int) -> float | None:
        """Return what the best possible event would show with this many certifying draws per input."""
        significance = self.ideal.share * self.significance
        return detectable(claimed_epsilon, draws_per_input, self.delta, significance, self.method)

    def verdict(self, claimed_epsilon: float, *, implementation: bool = False) -> Verdict:
        """Return the verdict on a claim: that of the event, or undecided if unlearned values may hide more."""
        found = self.implementation if implementation else self.ideal
        bound, significance = found.epsilon_lower_bound, found.share * self.significance
        verdict = verdict_on(bound, claimed_epsilon, found.counts, self.delta, significance, found.method)
        return "undecided" if verdict == "not refuted" and self.hides(claimed_epsilon) else verdict

    def hides(self, claimed_epsilon: float) -> bool:
        """Return whether values too rare to learn would refute the claim if only one input had them."""
        if not self.unseen:
            return False
        draws = self.counts.effective.likely_draws
        alone = Counts(round(self.unseen * draws), draws, 0, draws)
        bound = epsilon_lower_bound(alone, self.delta, self.significance, "joint")
        return refutes(bound, claimed_epsilon, "joint")


@dataclass(frozen=True, kw_only=True)
class Terms:
    """The terms of an estimate: its size and levels, the events it tries, and what ends it.

    Parameters
    ----------
    draws : int
        Of all phases and both inputs; at least 1,000.
    delta : float
        The claimed delta.
    significance : float
        Chance that a bound is wrong.
    claimed_epsilon : float
        One of the levels of an anytime bound.  An event that could not refute it is chosen only if there is none
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
    repeated : RepeatedRun
        Of a run that is repeated.
    outputs_per_call : int
        With more than one, only calls of this many outputs need be independent (:mod:`audit.bounds.clusters`).

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
    repeated: RepeatedRun = field(default_factory=RepeatedRun)
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
            raise ValueError("outputs_per_call has its own bound: no method, no rule to stop and no curve")

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
        When it comes before the first certifying draws: there is no result to keep.
    audit.auditor.deadline.OutOfTimeError
        When the time is over before them.
    audit.auditor.subject.DrawingError
        When a draw fails, unless the certifying draws before it refute the claim.
    """
    per_call = terms.outputs_per_call
    ending = Ending(Deadline.after(terms.max_seconds), terms.until, terms.repeated)
    entropy = tuple(int(word) for word in rng.integers(0, 2**32, 4))
    source = Draws.of(
        subject, entropy, workers, looks=ending.planned, outputs_per_call=per_call, deadline=ending.deadline
    )
    learning = tuple(terms.families) != ("likelihood_ratio",)
    # of outputs, or of calls
    plan = Phases.of(terms.draws // per_call, source.width, learning=learning)
    if plan.screen:
        source = source.screened(plan.screen, terms.repeated.screened)
        if source.reduction is not None:
            source = replace(source, reduction=terms.repeated.reduced(source.reduction))
        # those that it was spared by the clock certify
        unused = plan.screen - source.screened_rows
        plan = replace(plan, screen=source.screened_rows, certify=plan.certify + unused)
    run = _Run(source, terms, ending, progress)
    stages = stages_of(plan, source.numbers) if ending.planned and terms.significance > FOR_STAGES else []
    if len(stages) > 1:
        run.in_stages(stages, learning=learning)
    else:
        run.at_once(plan)
    if not run.parts:
        raise KeyboardInterrupt
    # from here on an interruption stops no draws, so it changes no bound: the method is fixed
    (found, part, curve), late = finish(run.result)
    last = run.parts[-1]
    drawn = 2 * (last.stage.before + last.tally.rows) * per_call
    failure = last.tally.failure
    if failure is not None and not refutes(found[0].epsilon_lower_bound, terms.claimed_epsilon, found[0].method):
        raise DrawingError(f"{failure}; the {drawn:,} draws before do not refute the claim") from failure
    return Estimate(
        ideal=found[0].of(source.reduction),
        implementation=found[1].of(source.reduction),
        draws=drawn,
        requested_draws=plan.draws * per_call,
        significance=terms.significance,
        delta=terms.delta,
        stopped=run.stopped,
        levels=part.selection.levels,
        histogram=part.tally.histogram,
        curve=curve,
        notes=(*part.selection.notes, *source.notes),
        selection_draws=part.selected,
        interrupted=run.stopped == INTERRUPTED or late,
        cuts=part.selection.cuts,
        seeded=source.foreign is None,
        unseen=part.selection.unseen,
    )


@dataclass(frozen=True, eq=False)
class _Part:
    """What one stage chose and counted; `selected` draws per input served to learn scores or choose the event."""

    selection: Selection
    selected: int
    stage: Stage
    tally: EventTally
    refuted: bool = False


@dataclass(eq=False)
class _Run:
    """Selection and certification, in one go or in stages; `stopped` is why it ended early."""

    source: Draws
    terms: Terms
    ending: Ending
    progress: Progress
    parts: list[_Part] = field(default_factory=list)
    stopped: str | None = None
    checked: bool = False
    pace: Pace = field(default_factory=Pace)

    def at_once(self, plan: Phases) -> None:
        """Carry out one stage, which chooses from as many draws as planned."""
        terms, prospect = self.terms, self._prospect(plan.certify)
        selection = select(self.source, plan, terms.families, prospect, with_curve=terms.with_curve)
        plan = plan.chosen_on(selection.rows)
        self.progress(2 * plan.selection * terms.outputs_per_call)
        self._check_calls(selection, terms.draws)
        stage = Stage(0, plan.selection, plan.selection + plan.certify)
        self._certify(selection, plan.learn + plan.choose, stage)

    def in_stages(self, stages: list[Stage], *, learning: bool) -> None:
        """Carry out stages until one refutes the claim (if a rule says so), or time or draws run out."""
        kept, deadline = Retained(most_kept(self.source.numbers)), self.ending.deadline
        try:
            kept.add(self.source.phase(LEARN, FIRST_PLAN.selection))
            self.progress(2 * stages[0].before * self.terms.outputs_per_call)
            choice = ChoiceTime()
            for stage in stages:
                # what was certified has a result, which takes its time
                room = self.parts[-1].tally.seconds_to_result if self.parts else 0.0
                source = replace(self.source, deadline=deadline.before(room))
                if self.parts and self._goes_on(stage, choice.pays(kept.rows, source.deadline)):
                    self._go_on(stages[-1].until)
                    return
                start, rows = deadline.now(), kept.rows
                prospect = self._prospect(stage.certify, stage.share)
                divided = kept.divided(learning=learning)
                families, with_curve = self.terms.families, self.terms.with_curve
                selection = select_from(*divided, source, families, prospect, Further(), with_curve=with_curve)
                choice.took(rows, deadline.now() - start)
                self._check_calls(selection, 2 * stage.until)
                self._certify(selection, rows, stage, kept)
                if self.stopped is not None:
                    if self.stopped not in (INTERRUPTED, TIME_IS_OVER):
                        self._check_calls(selection, self.terms.draws)
                    return
        except (KeyboardInterrupt, OutOfTimeError, DrawingError) as problem:
            self._end_early(problem)

    def _goes_on(self, stage: Stage, pays: bool) -> bool:
        """Return whether the last event serves to the end: that of a next stage would not pay, or did not."""
        rows, chosen_at = self.ending.repeated.rows, self.ending.repeated.chosen_at
        return not pays if rows is None else stage.before >= rows or self.parts[-1].stage.before == chosen_at

    def _go_on(self, until: int) -> None:
        """Certify the last event on further draws: its anytime bound holds whenever these end."""
        part, ending = self.parts[-1], self.ending
        self._check_calls(part.selection, self.terms.draws)
        rest, part.tally.looked_at = part.stage.going_on(until), True
        self.stopped = ending.over(rest.before, part.tally.seconds_to_result) or certify(
            self.source, rest, part.tally, self.progress, ending
        )
        self.parts[-1] = replace(part, refuted=self.stopped == REFUTED)

    def _prospect(self, certify: int, share: float = 1.0) -> Prospect:
        terms = self.terms
        return Prospect(certify, terms.delta, share * terms.significance, claim=terms.claimed_epsilon)

    def _check_calls(self, selection: Selection, draws: int) -> None:
        """Check short calls once, if there are draws and time enough."""
        if self.checked or self.terms.outputs_per_call > 1 or draws < ENOUGH_DRAWS or self.ending.deadline.passed:
            return
        self.checked = True
        check_short_calls(self.source, selection.events)

    def _certify(self, selection: Selection, selected: int, stage: Stage, kept: Retained | None = None) -> None:
        """Certify the events of a stage."""
        terms, selection = self.terms, self.ending.repeated.selected(selection)
        looks = self.ending.planned and terms.outputs_per_call == 1
        certified = (*selection.ideal, *selection.implementation) if looks else ()
        tally = EventTally(
            selection,
            with_curve=terms.with_curve,
            outputs_per_call=terms.outputs_per_call,
            starts=[(one.event, self._level(stage, one)) for one in certified],
            pace=self.pace,
            looked_at=stage.last,
        )
        try:
            self.stopped = certify(self.source, stage, tally, self.progress, self.ending, kept)
        except DrawingError as problem:
            self._end_early(problem)
        if tally.rows:
            refuted = self.stopped == REFUTED
            self.parts.append(_Part(selection, selected, stage, tally, refuted))

    def _end_early(self, problem: BaseException) -> None:
        """Note why there are no more draws: stages that certified stand.  Raise if there are none."""
        if not self.parts:
            raise problem
        if isinstance(problem, DrawingError):
            self.parts[-1].tally.failure, self.stopped = problem, short_line(str(problem))
        else:
            self.stopped = TIME_IS_OVER if isinstance(problem, OutOfTimeError) else INTERRUPTED

    def _level(self, stage: Stage, chosen: ToCertify) -> AnytimeBound:
        return replace(self.terms.level, significance=stage.share * chosen.share * self.terms.significance)

    def result(self) -> tuple[list[CertifiedEvent], _Part, EpsilonCurve | None]:
        """Return both certified events, the stage of the ideal one, and the curve if requested."""
        # planned looks, or an unplanned interruption: the bound must hold at every look
        anytime = self.ending.planned or self.stopped is not None
        # reports one stage, chosen by public facts or by its refutation: all bounds hold together
        part = self.parts[-1] if self.parts[-1].refuted else max(self.parts, key=lambda one: one.tally.rows)
        chosen, terms = self._certified(part, anytime=anytime), self.terms
        if not terms.with_curve or anytime or terms.outputs_per_call > 1:
            return chosen, part, None
        of_curve: Method = "clopper_pearson" if terms.method == "clopper_pearson" else "joint"
        curve = certified_curve(part.selection.cuts, part.tally.histogram, terms.significance, of_curve)
        return chosen, part, curve

    def _certified(self, part: _Part, *, anytime: bool) -> list[CertifiedEvent]:
        """Return what the counts of a stage certify of both objects.

        Where two events share the significance, both bounds hold except with the sum of their shares, so the
        counts may say which one is reported.
        """
        selection, found = part.selection, []
        for chosen, *beside in (selection.ideal, selection.implementation):
            best = self._by(chosen, part, anytime=anytime)
            for other in beside:
                # a bound takes long where the counts are large
                if anytime or not self._falls_short(other, best, part):
                    both = best, self._by(other, part, anytime=anytime)
                    best = max(both, key=lambda one: shown(*self._judged(one)))
            found.append(best)
        return found

    def _falls_short(self, other: ToCertify, best: CertifiedEvent, part: _Part) -> bool:
        """Return whether a coarse look tells that an event shows less than one which decides the claim."""
        terms = self.terms
        if self._method(other) != "joint" or best.counts.calls is not None:
            return False
        counts = part.tally.counts_of(other.event)
        below = falls_short(counts, terms.delta, other.share * terms.significance, best.epsilon_lower_bound)
        return below and verdict_on(*self._judged(best)) != "undecided"

    def _by(self, chosen: ToCertify, part: _Part, *, anytime: bool) -> CertifiedEvent:
        """Return what the counts of a stage certify by one event."""
        terms, level = self.terms, self._level(part.stage, chosen)
        if terms.outputs_per_call > 1:
            found = part.tally.certified_by_calls(chosen.event, level)
        else:
            found = part.tally.certified(chosen.event, level, None if anytime else self._method(chosen))
        return replace(found, share=part.stage.share * chosen.share)

    def _method(self, chosen: ToCertify) -> Method:
        """Return the method that was fixed beforehand."""
        return chosen.method if self.terms.method == "auto" else self.terms.method

    def _judged(self, found: CertifiedEvent) -> tuple[float, float, Counts, float, float, Certifier]:
        """Return the arguments of a verdict."""
        terms, significance = self.terms, found.share * self.terms.significance
        bound = found.epsilon_lower_bound
        return bound, terms.claimed_epsilon, found.counts, terms.delta, significance, found.method
