"""Audits that look as they go, or end by the clock: stages of growing size, each with its own event.

The first stage chooses its event from a few hundred draws.  Each later one chooses again, from draws made before
it, and certifies on draws made afterwards; where too little time is left to choose again, the last event goes on.
So a large loss shows within a thousand draws, whatever the limit, and a small one by a carefully chosen event.

The significance is divided among the stages beforehand.  Given all draws before a stage its event is fixed, and
its anytime bound ever errs with probability at most the stage's share; so one of them errs with at most the sum
of all shares.  Proof: ``proofs/auditor_bounds.md``.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace

import numpy as np

from audit.auditor.deadline import Deadline
from audit.auditor.draws import CERTIFY, STAGES
from audit.auditor.events.mixed import Pair
from audit.auditor.selection import (
    CHOOSE_SHARE,
    LEARN_SHARE,
    MOST_ROWS,
    MOST_VALUES,
    Phases,
)
from audit.bounds import SMALLEST_SIGNIFICANCE

FIRST_ROWS = 500
"""Rows per input, of all phases, at the end of the first of several stages."""

GROWTH = 4.0
"""The largest ratio of the rows at the end of a stage to those at the end of the one before."""

FEWEST_FOR_SEVERAL = 1_000
"""With fewer rows per input there is one stage: several would leave each too little."""

LAST_SHARE = 0.5
"""Share of the significance that the last of several stages gets; the others share the rest equally."""

FOR_STAGES = 1_000 * SMALLEST_SIGNIFICANCE
"""Above this significance an audit with looks goes in stages: each gets a large enough share."""

FEW_TO_CHOOSE_FROM = 20_000
"""Rows per input up to which choosing an event takes about the same time."""

TIMES_A_CHOICE = 1.5
"""An event is chosen again if this many times as long as that takes is left."""

GOING_ON = 2**10
"""Number of the further draws of a stage whose event serves to the end; no stage has so large a number."""

FIRST_PLAN = Phases(
    int(FIRST_ROWS * LEARN_SHARE),
    int(FIRST_ROWS * CHOOSE_SHARE),
    FIRST_ROWS - int(FIRST_ROWS * LEARN_SHARE) - int(FIRST_ROWS * CHOOSE_SHARE),
)
"""The phases of the first of several stages."""


@dataclass(frozen=True)
class Stage:
    """One stage of certifying.

    Parameters
    ----------
    number : int
    before, until : int
        Rows per input of all phases, at its start and at its end.
    share : float
        Of the significance.
    last : bool
    """

    number: int
    before: int
    until: int
    share: float = 1.0
    last: bool = True

    @property
    def certify(self) -> int:
        """Rows per input that certify."""
        return self.until - self.before

    @property
    def phase(self) -> int:
        """The number of the phase of its draws."""
        return STAGES + self.number if self.number else CERTIFY

    def going_on(self, until: int) -> Stage:
        """Return the further draws, until so many rows of all phases, that this stage's event is certified on."""
        return replace(self, number=GOING_ON, before=self.until, until=until)


def stages_of(plan: Phases, width: int) -> list[Stage]:
    """Return the stages for the rows of a plan; they depend on public numbers only.

    If rows are few, there is one, with the plan's phases.  A screen comes before all.

    Parameters
    ----------
    plan : Phases
        Of an audit in one go.
    width : int
        Numbers per row, reduced if outputs are screened.
    """
    screened, rows = plan.screen, plan.selection + plan.certify - plan.screen
    if rows < FEWEST_FOR_SEVERAL:
        return [Stage(0, plan.selection, screened + rows)]
    # once there are as many draws as a selection takes, choosing again gains nothing
    last = min(rows // 2, most_kept(width))
    number = math.ceil(math.log(last / FIRST_ROWS) / math.log(GROWTH))
    between = [round(FIRST_ROWS * (last / FIRST_ROWS) ** (place / number)) for place in range(1, number + 1)]
    starts = [FIRST_PLAN.selection, FIRST_ROWS, *between]
    ends = [*starts[1:], rows]
    share = (1 - LAST_SHARE) / (len(starts) - 1)
    return [
        Stage(place, screened + start, screened + end, LAST_SHARE if end == rows else share, last=end == rows)
        for place, (start, end) in enumerate(zip(starts, ends, strict=True))
    ]


def most_kept(width: int) -> int:
    """Return the most rows per input, of this many numbers, that a later stage chooses from."""
    return min(MOST_ROWS, max(FIRST_ROWS, MOST_VALUES // width))


@dataclass
class ChoiceTime:
    """How long choosing an event takes: the last two choices tell the next.

    Parameters
    ----------
    rows, seconds : int, float
        Of the last choice; the first takes about as long as one from many more draws.
    slope : float
        Seconds per row.
    """

    rows: int = -FEW_TO_CHOOSE_FROM
    seconds: float = 0.0
    slope: float = 0.0

    def pays(self, rows: int, deadline: Deadline) -> bool:
        """Return whether a choice from so many rows per input leaves time enough to certify."""
        return deadline.leaves(TIMES_A_CHOICE * (self.seconds + self.slope * (rows - self.rows)))

    def took(self, rows: int, seconds: float) -> None:
        """Note a choice."""
        self.slope = max(0.0, (seconds - self.seconds) / max(1, rows - self.rows))
        self.rows, self.seconds = rows, seconds


@dataclass(eq=False)
class Retained:
    """The outputs of all stages so far, up to the size of a selection, from which the next stage chooses.

    Parameters
    ----------
    most : int
        Most rows per input to keep.
    """

    most: int
    rows: int = 0
    parts: list[Pair] = field(default_factory=list)

    def add(self, pair: Pair) -> None:
        """Keep outputs while there is room."""
        room = self.most - self.rows
        if room > 0:
            self.parts.append((pair[0][:room], pair[1][:room]))
            self.rows += len(self.parts[-1][0])

    def divided(self, *, learning: bool) -> tuple[Pair | None, Pair]:
        """Return the outputs to learn from, if anything is learned, and those to choose on."""
        left, right = (np.concatenate([part[side] for part in self.parts]) for side in (0, 1))
        cut = int(self.rows * LEARN_SHARE / (LEARN_SHARE + CHOOSE_SHARE)) if learning else 0
        return (left[:cut], right[:cut]) if learning else None, (left[cut:], right[cut:])
