"""Counts of the certifying draws, and the bounds that they give."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from audit.auditor.curve import between
from audit.auditor.deadline import Deadline
from audit.auditor.events import Event
from audit.auditor.events.event import occurrences_of_both
from audit.auditor.events.mixed import Both, Coins
from audit.auditor.events.reduction import Reduction
from audit.auditor.selection import Selection
from audit.auditor.subject import DrawingError
from audit.bounds import ANYTIME, CLUSTERS, Counts, Method, epsilon_lower_bound
from audit.bounds.anytime import AnytimeBound
from audit.bounds.power import Certifier
from reference.common.arrays import FloatArray, IntArray

LOOKS_OF_VERDICT = 12
"""To find what an event could have shown takes about as long as so many looks at it."""


@dataclass(frozen=True)
class CertifiedEvent:
    """One certified event.

    Parameters
    ----------
    event : Event
        Chosen before the certifying draws.
    counts : Counts
        Of the certifying draws.
    epsilon_lower_bound : float
    decided_by : Counts
        The counts that give the bound: all of them or, for an anytime bound, those of the look at which its level
        was passed.
    method : {'joint', 'clopper_pearson', 'conditional', 'anytime_betting'}
        The one that gave the bound; fixed before the certifying draws, or anytime.  If only calls are independent,
        'cluster_betting', which also holds at any look.
    share : float
        Of the significance: the certifying stage's, divided if a sturdy event was certified beside the chosen one.
    """

    event: Event
    counts: Counts
    epsilon_lower_bound: float
    decided_by: Counts
    method: Certifier
    share: float = 1.0

    def of(self, reduction: Reduction | None) -> CertifiedEvent:
        """Return the same with its event on whole outputs, if reduced ones were counted."""
        return replace(self, event=replace(self.event, reduction=reduction))


@dataclass
class Pace:
    """How long looks have taken, in all stages of a run."""

    seconds: float = 0.0
    looks: int = 0

    @property
    def mean(self) -> float:
        """Seconds of a look; 0 before the first."""
        return self.seconds / max(1, self.looks)


class EventTally:
    """Counts of the certifying draws, wave by wave.

    Parameters
    ----------
    selection : Selection
    with_curve : bool
        Whether to count between the levels of the curve too.
    outputs_per_call : int
        With more than one, rows are calls.
    starts : iterable of (Event, AnytimeBound)
        Bounds before any draw, where looks are planned.  The first, of the ideal event, is looked at with each
        wave; the others too if all are `looked_at`, else in the end.
    pace : Pace
    looked_at : bool

    Attributes
    ----------
    waves : list of Wave
    failure : DrawingError or None
        What ended the draws.
    """

    def __init__(
        self,
        selection: Selection,
        *,
        with_curve: bool,
        outputs_per_call: int = 1,
        starts: Iterable[tuple[Event, AnytimeBound]] = (),
        pace: Pace | None = None,
        looked_at: bool = True,
    ) -> None:
        self.selection = selection
        self.events = selection.events
        # each with the waves that it was looked at with
        self._levels = {(self._place(event), start.significance): (start, 0) for event, start in starts}
        self._pace, self.looked_at = pace or Pace(), looked_at
        self.calls = np.zeros((len(self.events), 2, outputs_per_call + 1), dtype=np.int64)
        self.levels = selection.levels if with_curve else None
        self.waves: list[Wave] = []
        self.failure: DrawingError | None = None
        self.histogram = np.zeros((2, len(selection.levels) + 1), dtype=np.int64)

    def _place(self, event: Event) -> int:
        return next(place for place, one in enumerate(self.events) if one is event)

    @property
    def rows(self) -> int:
        """Draws per input so far."""
        return self.waves[-1].until if self.waves else 0

    @property
    def seconds_to_result(self) -> float:
        """Seconds that a result takes after one more wave, as long as looks took.

        All events are looked at in the end, wave by wave, and verdicts tell which one is reported.
        """
        due = sum(len(self.waves) + 1 - seen + LOOKS_OF_VERDICT for _, seen in self._levels.values())
        return due * self._pace.mean

    @property
    def looked(self) -> AnytimeBound | None:
        """The anytime bound of the ideal event after all waves, where looks are planned."""
        return next((level for level, _ in self._levels.values()), None)

    def _look(self) -> None:
        """Look at the first event, or at all, with the waves that it was not looked at with yet."""
        for key in list(self._levels)[: None if self.looked_at else 1]:
            start, (level, seen) = Deadline.now(), self._levels[key]
            self._levels[key] = self._level(key[0], level), len(self.waves)
            self._pace.seconds += Deadline.now() - start
            self._pace.looks += len(self.waves) - seen

    def count(self, left: FloatArray, right: FloatArray, coins: Coins) -> ChunkCounts:
        """Return the counts of one chunk, without adding them; the coins mix outputs of both inputs."""
        both = Both(left, right, coins, self.outputs_per_call)
        if self.outputs_per_call > 1:
            return self._count_calls(both)
        happened = occurrences_of_both(self.events, both)
        found = [[np.count_nonzero(side) for side in pair] for pair in happened]
        histogram = np.zeros_like(self.histogram)
        if self.levels is not None:
            for side, scores in enumerate(self.events[0].scores_of_both(both)):
                histogram[side] = between(self.levels, scores)
        return ChunkCounts(len(left), np.array(found, dtype=np.int64).reshape(-1, 2), histogram)

    def _count_calls(self, both: Both) -> ChunkCounts:
        """Count, for each event and input, the calls by their outputs with the event."""
        per_call = self.outputs_per_call
        calls = np.zeros_like(self.calls)
        for place, pair in enumerate(occurrences_of_both(self.events, both)):
            for side, happened in enumerate(pair):
                found = happened.reshape(-1, per_call).sum(axis=1)
                calls[place, side] = np.bincount(found, minlength=per_call + 1)
        occurred = calls @ np.arange(per_call + 1)
        return ChunkCounts(len(both.left) // per_call, occurred, np.zeros_like(self.histogram), calls)

    @property
    def outputs_per_call(self) -> int:
        """Outputs that may depend on each other."""
        return self.calls.shape[2] - 1

    def add(self, blocks: Sequence[ChunkCounts]) -> None:
        """Add the counts of a wave."""
        rows = sum(block.rows for block in blocks)
        occurrences = np.sum([block.occurrences for block in blocks], axis=0)
        self.waves.append(Wave(rows, self.rows + rows, occurrences))
        self.histogram += np.sum([block.histogram for block in blocks], axis=0)
        for block in blocks:
            if block.calls is not None:
                self.calls += block.calls
        self._look()

    def _level(self, place: int, level: AnytimeBound) -> AnytimeBound:
        """Return the anytime bound of an event, given that before any draw, after all waves."""
        level, seen = self._levels.get((place, level.significance), (level, 0))
        for wave in self.waves[seen:]:
            level = level.after(self.counts(place, [wave]))
        return level

    def counts(self, place: int, waves: Sequence[Wave] | None = None) -> Counts:
        """Return the counts of an event, by default of all waves."""
        waves = self.waves if waves is None else waves
        left, right = (int(sum(wave.occurrences[place, side] for wave in waves)) for side in (0, 1))
        return Counts.of(left, right, sum(wave.rows for wave in waves), self.events[place].likely_input)

    def counts_of(self, event: Event) -> Counts:
        """Return the counts of one of the events of all waves."""
        return self.counts(self._place(event))

    def certified(self, event: Event, start: AnytimeBound, method: Method | None) -> CertifiedEvent:
        """Return the certified event, by a method of a fixed size or, for None, by the anytime bound."""
        counts = self.counts(place := self._place(event))
        if method is not None:
            bound = epsilon_lower_bound(counts, start.delta, start.significance, method)
            return CertifiedEvent(event, counts, bound, counts, method)
        level = self._level(place, start)
        return CertifiedEvent(event, counts, level.epsilon_lower_bound, level.decided_by or counts, ANYTIME)

    def certified_by_calls(self, event: Event, start: AnytimeBound) -> CertifiedEvent:
        """Return the certified event if only calls are independent; the bound holds whenever drawing stops."""
        place = self._place(event)
        sides = (0, 1) if event.likely_input == "left" else (1, 0)
        likely, unlikely = (self.calls[place, side] for side in sides)
        counts = Counts.of_calls(likely, unlikely)
        bound = epsilon_lower_bound(counts, start.delta, start.significance, CLUSTERS)
        return CertifiedEvent(event, counts, bound, counts, CLUSTERS)


@dataclass(frozen=True, eq=False)
class ChunkCounts:
    """Counts of one chunk: occurrences[event, input], histogram[input, bin] and calls[event, input, outputs]."""

    rows: int
    occurrences: IntArray
    histogram: IntArray
    calls: IntArray | None = None


@dataclass(frozen=True, eq=False)
class Wave:
    """Counts of the chunks in one look, and the draws per input up to their end."""

    rows: int
    until: int
    occurrences: IntArray
