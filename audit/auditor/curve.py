"""The epsilon(delta) curve of an audit: nested events of one score, one for each delta, counted together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from audit.auditor.choose import Prospect, promised
from audit.auditor.events import ranks
from audit.bounds import Counts, Method
from audit.bounds.curve import EpsilonCurve, epsilon_curve
from reference.common.arrays import FloatArray, IntArray

CURVE_DELTAS = (0.0, 1e-5, 1e-4, 1e-3, 1e-2, 1e-1)
"""The deltas at which the curve is certified, besides the claimed one."""

LEVELS = 256
"""Thresholds of the score that the events of the curve are chosen from."""


@dataclass(frozen=True)
class Cut:
    """The event {score >= level} or {score < level}, for one delta.

    Parameters
    ----------
    delta : float
    level : int
        Index of the threshold.
    at_least : bool
    likely : int
        0 where the left input is the likely one, 1 where the right one is.
    """

    delta: float
    level: int
    at_least: bool
    likely: int

    def counts(self, histogram: IntArray) -> Counts:
        """Return the counts of the event, from counts between levels of shape (2, levels + 1)."""
        inside = histogram[:, self.level + 1 :] if self.at_least else histogram[:, : self.level + 1]
        found, rows = inside.sum(axis=1), histogram.sum(axis=1)
        return Counts(
            int(found[self.likely]),
            int(rows[self.likely]),
            int(found[1 - self.likely]),
            int(rows[1 - self.likely]),
        )


def levels_of(scores: FloatArray) -> FloatArray:
    """Return thresholds, evenly by rank and ever farther out in both tails."""
    finite = np.sort(scores[np.isfinite(scores)])
    if not finite.size:
        return np.zeros(1)
    tail = np.geomspace(1e-5, 0.5, LEVELS // 2)
    places = np.concatenate([tail, 1 - tail]) * (len(finite) - 1)
    return np.unique(finite[places.astype(int)])


def between(levels: FloatArray, scores: FloatArray) -> IntArray:
    """Return how many scores have 0, 1, 2, ... levels at or below them."""
    return ranks.between(levels, np.sort(scores))


def best_cut(histogram: IntArray, prospect: Prospect) -> Cut:
    """Return the cut that promises the largest bound at the prospect's delta."""
    below = np.cumsum(histogram, axis=1)[:, :-1].astype(np.float64)
    rows = int(histogram[0].sum())
    found = []
    for at_least, counts in ((False, below), (True, rows - below)):
        for likely in (0, 1):
            promises = promised(counts[likely], counts[1 - likely], rows, prospect)
            best = int(promises.argmax())
            found.append((float(promises[best]), best, at_least, likely))
    _, level, at_least, likely = max(found)
    return Cut(prospect.delta, level, at_least, likely)


def certified_curve(cuts: Sequence[Cut], histogram: IntArray, significance: float, method: Method) -> EpsilonCurve:
    """Return bounds at all deltas that hold together, from certifying counts between levels."""
    return epsilon_curve(
        [cut.counts(histogram) for cut in cuts], [cut.delta for cut in cuts], significance, method
    )
