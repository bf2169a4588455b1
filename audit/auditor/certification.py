"""Certifying: fresh draws, counted, with looks in between if planned."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeVar

from audit.auditor.deadline import Deadline, OutOfTimeError
from audit.auditor.draws import CALL_SHARE, Draws
from audit.auditor.events.mixed import Coins
from audit.auditor.events.reduction import Reduction
from audit.auditor.selection import Selection
from audit.auditor.stages import Retained, Stage
from audit.auditor.subject import DrawingError
from audit.auditor.tally import ChunkCounts, EventTally
from audit.bounds.anytime import AnytimeBound, StoppingRule
from reference.common.arrays import FloatArray
from reference.common.printable import short_line

Progress = Callable[[int], None]

INTERRUPTED, TIME_IS_OVER, REPEATED = "interrupted", "the time is over", "as in the run that is repeated"
"""Why certifying ended: by Ctrl-C, by the clock, or where the repeated run ended."""

WAVE = 16
"""Chunks counted together if no looks are planned."""

LOOK_SHARE, LOOK_SHARE_OF_CLOCK = 16, 4
"""A planned look is due after one in so many of a stage's draws; few suffice if only the clock can end it."""


_Made = TypeVar("_Made")


def _itself(made: _Made) -> _Made:
    return made


@dataclass(frozen=True)
class RepeatedRun:
    """What the clock decided in a run that is repeated draw for draw, in rows per input.

    Parameters
    ----------
    rows : int or None
        Those of all phases at which certifying ended.
    chosen_at : int or None
        Those before the first that certified its event.
    screened : int or None
        Those that chose the reduction of very wide outputs.
    reduced : callable
        Returns the reduction to use in place of the one that was learnt again.
    selected : callable
        Returns the selection to certify likewise.
    """

    rows: int | None = None
    chosen_at: int | None = None
    screened: int | None = None
    reduced: Callable[[Reduction], Reduction] = _itself
    selected: Callable[[Selection], Selection] = _itself


@dataclass(frozen=True)
class Ending:
    """The reasons to end certifying early.

    Parameters
    ----------
    deadline : Deadline
    rule : StoppingRule or None
        Looks at the counts.
    repeated : RepeatedRun
    """

    deadline: Deadline
    rule: StoppingRule | None
    repeated: RepeatedRun = RepeatedRun()

    @property
    def planned(self) -> bool:
        """Whether looks were planned, so that the anytime bound was chosen beforehand."""
        return self.deadline.at is not None or self.rule is not None

    def over(self, rows: int, seconds: float) -> str | None:
        """Return why to end after this many rows per input of all phases, or None, if a result takes `seconds`."""
        if self.repeated.rows is not None and rows >= self.repeated.rows:
            return REPEATED
        return None if self.deadline.leaves(seconds) else TIME_IS_OVER

    def reason(self, level: AnytimeBound, stage: Stage) -> str | None:
        """Return why the rule stops, or None.

        That a larger loss would have shown ends the last stage only: the events before it were chosen from few
        draws.
        """
        reason = None if self.rule is None else self.rule.reason(level)
        return reason if stage.last or level.refuted else None


def certify(
    source: Draws,
    stage: Stage,
    tally: EventTally,
    progress: Progress,
    ending: Ending,
    kept: Retained | None = None,
) -> str | None:
    """Count the events on fresh draws until a stage is complete; return why it ended earlier, if it did.

    Chunks are kept in order.  If a draw fails, all chunks before it are kept: the anytime bound holds at every
    moment, whatever comes next.

    Parameters
    ----------
    source : Draws
    stage : Stage
    tally : EventTally
    progress : callable
    ending : Ending
    kept : Retained, optional
        Receives the outputs that a later stage chooses from.
    """
    per_call, keeps = tally.outputs_per_call, kept is not None and not stage.last
    looks = _Looks(stage, tally, progress, ending)

    def work(
        left: FloatArray, right: FloatArray, coins: Coins
    ) -> tuple[ChunkCounts, tuple[FloatArray, FloatArray] | None]:
        counts = tally.count(left, right, coins)
        if not keeps or per_call == 1:
            return counts, (left, right) if keeps else None
        # copies: a view would keep all outputs of the calls
        return counts, (left[::per_call].copy(), right[::per_call].copy())

    try:
        for counts, outputs in source.map_mixed(stage.phase, stage.certify, work, stage.before):
            if kept is not None and outputs is not None:
                kept.add(outputs)
            stopped = looks.stopped_after(counts)
            if stopped is not None:
                return stopped
    except (KeyboardInterrupt, OutOfTimeError, DrawingError) as problem:
        looks.add()
        return _why_ended(problem, tally)
    return None


def _why_ended(problem: BaseException, tally: EventTally) -> str:
    """Return why drawing ended early; re-raise a failure, or a missing answer, if nothing had been certified."""
    if isinstance(problem, KeyboardInterrupt):
        return INTERRUPTED
    if not tally.rows:
        raise problem
    if isinstance(problem, DrawingError):
        tally.failure = problem
        return short_line(str(problem))
    return TIME_IS_OVER


@dataclass(eq=False)
class _Looks:
    """Chunks waiting to be looked at together, and the looks; `since` is when the last chunk came."""

    stage: Stage
    tally: EventTally
    progress: Progress
    ending: Ending
    rows: int = 0
    since: float = field(default_factory=Deadline.now)
    waiting: list[ChunkCounts] = field(default_factory=list)

    def stopped_after(self, counts: ChunkCounts) -> str | None:
        """Take the counts of a chunk, look if it is time, and return why certifying ends, or None."""
        self.waiting.append(counts)
        self.rows += counts.rows
        whole = self.rows == self.stage.certify
        # the next chunk takes about as long as the last, which it may exceed by a share
        needed = self.tally.seconds_to_result + (1 + 1 / CALL_SHARE) * (Deadline.now() - self.since)
        stopped = None if whole else self.ending.over(self.stage.before + self.rows, needed)
        self.since = Deadline.now()
        if not (whole or self._due or stopped is not None):
            return None
        self.add()
        self.progress(2 * self.tally.waves[-1].rows * self.tally.outputs_per_call)
        if self.ending.rule is not None and self.tally.looked is not None:
            stopped = self.ending.reason(self.tally.looked, self.stage) or stopped
        return stopped

    @property
    def _due(self) -> bool:
        if not self.ending.planned:
            return len(self.waiting) == WAVE
        share = LOOK_SHARE_OF_CLOCK if self.ending.rule is None else LOOK_SHARE
        return share * sum(block.rows for block in self.waiting) >= self.rows

    def add(self) -> None:
        """Add the waiting chunks to the tally."""
        blocks, self.waiting = self.waiting, []
        if blocks:
            self.tally.add(blocks)
