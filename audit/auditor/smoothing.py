"""What the counts of rare events are expected to be, from a fit of log likelihood ratios to a score.

A score that estimates the log likelihood ratio says how an event's occurrences divide between the inputs, up to a
few numbers that all draws fit.  The counts of a rare event alone say much less, and one of many looks better than
it is by luck.  This helps to choose an event, and certifies nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from reference.common.arrays import BoolArray, FloatArray

HINGES = (0.05, 0.95)
"""Shares of the draws at which the fitted line may bend, as where log ratios grow no more."""

STEPS, SMALLEST_INFORMATION = 8, 1e-3
"""Newton's steps of the fit, and what is added to the information for scores that do not reach a bend."""

MISFIT = 2.5
"""Standard errors by which any count may miss the fit; else the counts stand alone."""

FEWEST_FITTED = 16
"""An event that occurs less often on both inputs together is judged by its counts alone."""

LARGEST_LOG_RATIO = 30.0
"""Beyond this the fit is as sure as it can be."""


@dataclass(frozen=True)
class Smoothed:
    """Counts that a fit expects at each threshold.

    Parameters
    ----------
    counts : (ndarray, ndarray)
        On left and right; together they are as many as were seen.
    error : ndarray
        Standard error of the log of their ratio.
    fit : float
        Log likelihood of the inputs given the scores: of several scores the one that tells most has the largest.
    """

    counts: tuple[FloatArray, FloatArray]
    error: FloatArray
    fit: float

    @property
    def enough(self) -> BoolArray:
        """Whether an event was seen often enough."""
        return np.asarray(self.counts[0] + self.counts[1] >= FEWEST_FITTED)


def smoothed_counts(
    counts: Sequence[FloatArray], sums: Sequence[FloatArray], *, at_least: bool
) -> Smoothed | None:
    """Return the counts that a fit of log ratios to the scores expects; None if the counts contradict it.

    The log ratio is a line in the score that may bend at both ends.

    Parameters
    ----------
    counts : (ndarray, ndarray)
        Outputs on left and right on the event's side of each ascending threshold.
    sums : (ndarray, ndarray)
        Of the 0, 1, 2, ... smallest scores on left and right.
    at_least : bool
        Whether the event's side is above the threshold.
    """
    if not all(np.isfinite(side[-1]) for side in sums):
        return None
    (left, left_total), (right, right_total) = (
        _cells(one, side, at_least) for one, side in zip(counts, sums, strict=True)
    )
    both = left + right
    some = both > 0
    middles = np.divide(left_total + right_total, both, out=np.zeros_like(both), where=some)
    spread = float(middles[some].std())
    if not spread > 0:
        return None
    basis = _lines((middles - middles[some].mean()) / spread, both)
    weights = np.zeros(basis.shape[1])
    for _ in range(STEPS):
        share = _share(basis @ weights)
        variance = both * share * (1 - share)
        information = basis.T @ (basis * variance[:, np.newaxis]) + SMALLEST_INFORMATION * np.eye(len(weights))
        weights += np.linalg.solve(information, basis.T @ (left - both * share))
    share = _share(basis @ weights)
    # the last cell is on the other side of all thresholds
    on_left, seen = (np.cumsum(cells)[:-1] for cells in (both * share, both))
    missed = np.abs(np.cumsum(left)[:-1] - on_left)
    if not (missed <= MISFIT * np.sqrt(np.cumsum(variance)[:-1] + 1)).all():
        return None
    on_right = seen - on_left
    slopes = np.cumsum(variance[:, np.newaxis] * basis, axis=0)[:-1]
    error = np.sqrt((slopes * np.linalg.solve(information, slopes.T).T).sum(axis=1))
    error *= seen / np.maximum(on_left * on_right, 1e-300)
    # the order of the thresholds
    step = -1 if at_least else 1
    fit = float(left @ np.log(share) + right @ np.log(1 - share))
    return Smoothed((on_left[::step], on_right[::step]), error[::step], fit)


def _cells(counts: FloatArray, sums: FloatArray, at_least: bool) -> tuple[FloatArray, FloatArray]:
    """Return the outputs between neighbouring thresholds, from the event's far end on, and their summed scores."""
    number = len(sums) - 1
    until = np.append(counts[::-1] if at_least else counts, number)
    places = until.astype(np.intp)
    inside = sums[-1] - sums[number - places] if at_least else sums[places]
    return np.diff(until, prepend=0), np.diff(inside, prepend=0)


def _lines(middles: FloatArray, both: FloatArray) -> FloatArray:
    """Return a constant, the scores, and how far they are beyond either bend."""
    shares = (np.cumsum(both) - both / 2) / both.sum()
    low, high = sorted(np.interp(HINGES, shares, middles))
    return np.column_stack(
        [np.ones(len(middles)), middles, np.maximum(middles - high, 0), np.maximum(low - middles, 0)]
    )


def _share(log_ratios: FloatArray) -> FloatArray:
    return np.asarray(1 / (1 + np.exp(-np.clip(log_ratios, -LARGEST_LOG_RATIO, LARGEST_LOG_RATIO))))
