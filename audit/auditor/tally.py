"""Counts of the certifying draws, and the bounds that they give."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from audit.auditor.curve import between
from audit.auditor.deadline import Deadline
from audit.auditor.events import Event
from audit.auditor.events.event import occurrences
from audit.auditor.events.reduction import Reduction
from audit.auditor.selection import Selection
from audit.auditor.subject import DrawingError
from audit.bounds import ANYTIME, CLUSTERS, Counts, Method, epsilon_lower_bound
from audit.bounds.anytime import AnytimeBound
from audit.bounds.power import Certifier
from reference.common.arrays import FloatArray, IntArray

LOOKS_OF_VERDICT = 6
"""What an event could have shown takes about as long as so many looks at it."""


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


class EventTally:
    """Counts of the certifying draws, wave by wave.

    Parameters
    ----------
    selection : Selection
    with_curve : bool
        Whether to count between the levels of the curve too.
    outputs_per_call : int
        With more than one, rows are calls.
    start : AnytimeBound, optional
        Before any draw, where looks are planned: then the ideal event is looked at with each wave, not at the end.
    timed : bool
        Whether the clock may end the draws, so that the result needs time.

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
        start: AnytimeBound | None = None,
        timed: bool = False,
    ) -> None:
        self.selection = selection
        self.looked = start
        # the mean of ever rarer trials
        self._trial, self._trials, self._seconds = start if timed else None, 0, 0.0
        self.events = selection.events
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
        """Seconds that a result takes after one more wave, as long as looks took; 0 where no clock ends draws.

        All events but the first are looked at in the end, wave by wave, and verdicts tell which one is reported.
        """
        certified = (*self.selection.ideal, *self.selection.implementation)
        number = len({(id(one.event), one.share) for one in certified})
        return self._seconds * ((number - 1) * (len(self.waves) + 1) + number * LOOKS_OF_VERDICT)

    def _time_a_look(self) -> None:
        """Look at the last event's counts since the trial before: that shows how long a look takes, no more."""
        if self._trial is None or len(self.waves).bit_count() > 1:
            return
        start, tried = Deadline.now(), 2 ** (self._trials - 1) if self._trials else 0
        self._trial = self._trial.after(self.counts(len(self.events) - 1, self.waves[tried:]))
        self._trials += 1
        self._seconds += (Deadline.now() - start - self._seconds) / self._trials

    def count(self, left: FloatArray, right: FloatArray) -> ChunkCounts:
        """Return the counts of one chunk, without adding them."""
        if self.outputs_per_call > 1:
            return self._count_calls(left, right)
        found = np.zeros((len(self.events), 2), dtype=np.int64)
        histogram = np.zeros_like(self.histogram)
        for side, outputs in enumerate((left, right)):
            found[:, side] = [np.count_nonzero(some) for some in occurrences(self.events, outputs)]
            if self.levels is not None:
                histogram[side] = between(self.levels, self.events[0].scores(outputs))
        return ChunkCounts(len(left), found, histogram)

    def _count_calls(self, left: FloatArray, right: FloatArray) -> ChunkCounts:
        """Count, for each event and input, the calls by their outputs with the event."""
        per_call = self.outputs_per_call
        calls = np.zeros_like(self.calls)
        for place, event in enumerate(self.events):
            for side, outputs in enumerate((left, right)):
                found = event.occurs(outputs).reshape(-1, per_call).sum(axis=1)
                calls[place, side] = np.bincount(found, minlength=per_call + 1)
        occurred = calls @ np.arange(per_call + 1)
        return ChunkCounts(len(left) // per_call, occurred, np.zeros_like(self.histogram), calls)

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
        if self.looked is not None:
            self.looked = self.looked.after(self.counts(0, self.waves[-1:]))
        self._time_a_look()

    def _looked_at(self, place: int, start: AnytimeBound) -> AnytimeBound:
        """Return the anytime bound of an event after all waves; the first one's may be known already."""
        # the same event may be certified for the implementation too, at another share of the significance
        if self.looked is not None and place == 0 and self.looked.significance == start.significance:
            return self.looked
        level = start
        for wave in self.waves:
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
        level = self._looked_at(place, start)
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
