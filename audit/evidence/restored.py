"""Learnt events as a certificate states them, in place of those that a replay learns again.

Linear algebra and logarithms may differ between machines in their last digits, and so may the weights and
thresholds of a learnt score.  Nobody can compare such numbers exactly.  But the event as it is stated can be
counted on the repeated draws, and all counts are compared exactly.  Events of coordinates, steps of grids and
inputs are no such numbers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import msgspec
import numpy as np

from audit.auditor.events import Event, StoredEvent, event_of
from audit.auditor.events.reduction import Reduction, reduction_from_json
from audit.auditor.selection import Selection, ToCertify
from audit.common.compare import differences, nowhere
from audit.evidence.certificate import StoredCurve
from reference.common.arrays import FloatArray
from reference.common.documents import plain

LEARNT = ("logistic", "distance", "additive", "likelihood_ratio", "category", "residue", "trees")
"""Scores with weights or logarithms, which another machine may compute otherwise."""


@dataclass(frozen=True, eq=False)
class Stated:
    """The events, and the curve, that a certificate and its result state.

    Parameters
    ----------
    events : tuple of StoredEvent
    curve : StoredCurve or None
    subject : object
        Has the likelihood ratio, if an event is of that.
    """

    events: tuple[StoredEvent, ...]
    curve: StoredCurve | None
    subject: object

    def reduced(self, learnt: Reduction) -> Reduction:
        """Return the stated reduction of wide outputs, if it is the learnt one but for rounding."""
        for stated in self.events:
            if stated.reduced_to is not None and _is_rounded(plain(stated.reduced_to), learnt.to_json()):
                try:
                    return reduction_from_json(plain(stated.reduced_to), self.subject)
                except ValueError:
                    return learnt
        return learnt

    def selected(self, learnt: Selection) -> Selection:
        """Return a selection with the stated events, and thresholds of the curve, that are so likewise."""
        # one event may be certified for both objects, and is counted once
        made = {id(event): self._event(event) for event in learnt.events}

        def of(some: Sequence[ToCertify]) -> tuple[ToCertify, ...]:
            return tuple(replace(one, event=made[id(one.event)]) for one in some)

        levels = self._levels(learnt)
        return replace(learnt, ideal=of(learnt.ideal), implementation=of(learnt.implementation), levels=levels)

    def _event(self, learnt: Event) -> Event:
        for stated in self.events:
            # outputs are reduced already
            own = msgspec.structs.replace(stated, reduced_to=None)
            if _may_differ(stated) and _is_rounded(plain(own), plain(learnt.stored)):
                try:
                    return event_of(own, self.subject)
                except ValueError:
                    return learnt
        return learnt

    def _levels(self, learnt: Selection) -> FloatArray:
        if self.curve is None or len(learnt.cuts) != len(self.curve.points) or not _may_differ_in(learnt):
            return learnt.levels
        levels = learnt.levels.copy()
        for point, cut in zip(self.curve.points, learnt.cuts, strict=True):
            if _is_rounded(point.threshold, float(levels[cut.level])):
                levels[cut.level] = point.threshold
        return levels if (np.diff(levels) > 0).all() else learnt.levels


def _may_differ(stated: StoredEvent) -> bool:
    """Return whether an event has numbers that another machine may compute otherwise."""
    return stated.score in LEARNT or (stated.reduced_to is not None and bool(stated.reduced_to.scores))


def _may_differ_in(learnt: Selection) -> bool:
    return learnt.ideal[0].event.score.name in LEARNT


def _is_rounded(stated: Any, learnt: Any) -> bool:
    """Return whether two documents differ in how numbers were rounded, and in nothing else."""
    if not list(differences(learnt, stated, computed=nowhere)):
        return False
    return not list(differences(learnt, stated, computed=lambda place: "quantised_to" not in place))
