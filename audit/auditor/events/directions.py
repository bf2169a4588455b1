"""Directions: weighted sums of coordinates, whose differences common noise hides in each coordinate."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import ClassVar

import numpy as np

from audit.auditor.events.protocol import READERS, Score, StoredByItsFields
from audit.auditor.events.ranks import repeated
from audit.auditor.events.scores import LogisticScore, as_finite
from reference.common.arrays import BoolArray, FloatArray

DIRECTION_ROWS, DIRECTION_VALUES = 2**14, 2**19
"""Most outputs, and numbers, of each input that directions are learned from."""

FEWEST, FEW_LEFT = 8, 8
"""Fewer outputs for each coordinate, or of either input in either half, give no direction."""

BOUNDED_BY, TRIMMED = 2**11, 1e-3
"""Outputs that say what is far, and the share of them that is, at either end."""

FAR = 1e9
"""Coordinates are clipped to so many times the range of most outputs."""

SINGULAR = 1e-14
"""Directions with a smaller share of the largest variance are rounding errors."""

CLEAR, HELPFUL = 25.0, 2.0
"""A proposed direction shows at least so much, and so many times what coordinates show (:func:`_shown`)."""

NARROW, NARROWEST = 0.1, 3
"""Up to three directions so narrow beside all coordinates are proposed anyway: rare leaks show little."""

HIDDEN, NARROWEST_HIDDEN = 2.0**-12, 2.0**-26
"""Shares of the range of two coordinates: between them, that of their sum or difference is looked at apart.

Above, the grid shows it; below, it is too near float noise.
"""

MOST_PAIRS, MOST_LOOKED, NEAR = 3, 256, 16.0
"""The narrowest of so many pairs are proposed; outputs within so many times the range of most show them."""

OF_A_LATTICE = 0.25
"""If so many differences repeat, numbers of few bits may be why: rounding, not the mechanism."""


@dataclass(frozen=True, eq=False)
class DistanceScore(StoredByItsFields):
    """How far a weighted sum of coordinates is from a centre."""

    weights: FloatArray
    centre: float
    name: ClassVar[str] = "distance"
    learned: ClassVar[bool] = True
    sees_all: ClassVar[bool] = False

    def __call__(self, outputs: FloatArray) -> FloatArray:
        """Return the distances."""
        with np.errstate(invalid="ignore", over="ignore"):
            return as_finite(np.abs(outputs @ self.weights - self.centre))


def learn_hidden(left: FloatArray, right: FloatArray) -> Iterator[Score]:
    """Yield scores of sums and differences of two coordinates that are finer than the grid, for samples (n, k).

    Noise that both share cancels in them.  Of floats near each other it does without rounding.
    """
    rows = min(len(left), len(right), DIRECTION_ROWS, DIRECTION_VALUES // left.shape[1])
    values = np.concatenate([left[:rows], right[:rows]])
    found = [
        (*of_pair, i, j, sign)
        for i, j, sign in islice(_alike(values), MOST_LOOKED)
        if (of_pair := _hidden(values[:, i], sign * values[:, j])) is not None
    ]
    for _, centre, i, j, sign in sorted(found)[:MOST_PAIRS]:
        weights = np.zeros(values.shape[1])
        weights[i], weights[j] = 1.0, sign
        yield LogisticScore(weights)
        yield DistanceScore(weights, centre)


def is_hidden(score: Score, left: FloatArray, right: FloatArray, rows: int) -> bool:
    """Return whether a score is of a sum or difference that :func:`learn_hidden` may propose, by other draws.

    Its width is that of the first `rows`, since it may have been learned from no more; all of them tell how often
    it repeats.
    """
    if not isinstance(score, LogisticScore | DistanceScore):
        return False
    pair = np.flatnonzero(score.weights)
    if len(pair) != 2 or (np.abs(score.weights[pair]) != 1).any():
        return False

    def weighted(rows: int | None) -> tuple[FloatArray, FloatArray]:
        one, other = (score.weights[k] * np.concatenate([left[:rows, k], right[:rows, k]]) for k in pair)
        return one, other

    if _hidden(*weighted(min(rows, DIRECTION_ROWS)), luck=2.0) is None:
        return False
    return not _repeat(_sums(*weighted(None)), luck=2.0)


def _sums(one: FloatArray, other: FloatArray) -> FloatArray:
    """Return the sums, sorted."""
    with np.errstate(over="ignore"):
        return np.sort(one + other)


def _repeat(sums: FloatArray, luck: float) -> bool:
    """Return whether sums repeat so often that few bits may be why."""
    return repeated(sums, 2) > luck * OF_A_LATTICE * len(sums)


def _hidden(one: FloatArray, other: FloatArray, luck: float = 1.0) -> tuple[float, float] | None:
    """Return width and median of a sum that is finer than the grid; None if it is not, or few bits may be why."""
    # halves of finite numbers have a finite difference
    low, high = np.quantile(one, [TRIMMED, 1 - TRIMMED], method="nearest") / 2
    sums = _sums(one, other)
    lowest, centre, highest = np.quantile(sums, [TRIMMED, 0.5, 1 - TRIMMED], method="nearest") / 2
    if not high > low:
        return None
    width = float((highest - lowest) / (high - low))
    if not NARROWEST_HIDDEN / luck < width < HIDDEN * luck or _repeat(sums, luck):
        return None
    return width, 2 * float(centre)


def _alike(values: FloatArray) -> Iterator[tuple[int, int, float]]:
    """Yield pairs of columns whose difference (-1) or sum (1) is far narrower than they are, as some rows show."""
    low, high = _quantiles(values, TRIMMED, 1 - TRIMMED) / 2
    unit, some = high - low, values[:: max(1, len(values) // BOUNDED_BY)] / 2
    with np.errstate(all="ignore"):
        # one scale for all: differences keep their size
        some = np.where(unit > 0, (some - (low + high) / 2) / unit.max(), 0.0)
        some = some[(np.abs(some) <= NEAR * unit / unit.max()).all(axis=1)]
    if len(some) < FEWEST:
        return
    shared = _covariance(some)
    own = np.diag(shared)
    larger, smaller = np.maximum.outer(own, own), np.minimum.outer(own, own)
    narrow = (own[:, np.newaxis] + own - 2 * np.abs(shared) < HIDDEN**2 * larger) & (smaller > 0)
    for i, j in np.argwhere(np.triu(narrow, 1)).tolist():
        yield i, j, -float(np.sign(shared[i, j]))


def learn_directions(left: FloatArray, right: FloatArray) -> Iterator[Score]:
    """Yield scores of directions that are narrow, or show more than coordinates do, for samples of shape (n, k).

    Half of the outputs give the directions [1]_: Fisher's, for the location, and for the scale the eigenvectors of
    the difference of the covariance matrices, once their sum is whitened, at both ends of the spectrum.  The other
    half tells whether they show more.  Narrow ones are the last principal components.

    References
    ----------
    .. [1] K. Fukunaga, *Introduction to statistical pattern recognition*, 2nd ed. (1990), chapters 2 and 10.
    """
    rows = min(len(left), len(right), DIRECTION_ROWS, DIRECTION_VALUES // left.shape[1])
    values = np.concatenate([left[:rows], right[:rows]])
    low, middle, high = _quantiles(values, TRIMMED, 0.5, 1 - TRIMMED)
    # halves of finite numbers have a finite difference
    unit = high / 2 - low / 2
    moving = unit > 0
    if not 1 < moving.sum() <= rows / FEWEST:
        return
    with np.errstate(all="ignore"):
        values = np.clip(((values / 2 - middle / 2) / unit)[:, moving], -FAR, FAR)
    is_left, teaches = np.arange(2 * rows) < rows, np.tile(np.arange(rows) % 2 == 0, 2)
    basis, kept = _whitening(values, teaches)
    if not basis.shape[1]:
        return
    values, is_left, teaches = values[kept], is_left[kept], teaches[kept]
    if np.bincount(2 * teaches + is_left, minlength=4).min() < FEW_LEFT:
        return
    taught = [values[teaches & side] @ basis for side in (is_left, ~is_left)]
    apart = taught[0].mean(axis=0) - taught[1].mean(axis=0)
    scales = np.linalg.eigh(_covariance(taught[0]) - _covariance(taught[1]))[1]
    held, held_left = values[~teaches], is_left[~teaches]
    # the longest singular vectors of the basis are the narrowest directions
    axes = np.linalg.svd(basis, full_matrices=False)[0][:, :NARROWEST]
    widths = (held @ axes).std(axis=0)
    thin = (widths > 0) & (widths < NARROW * held.std(axis=0).min())
    narrow = axes[:, thin] / widths[thin]
    found = np.hstack([basis @ np.column_stack([apart, scales[:, 0], scales[:, -1]]), narrow])
    centres = np.median(values[teaches] @ found, axis=0)
    weights = np.zeros((len(unit), found.shape[1]))
    with np.errstate(over="ignore"):
        weights[moving] = found / 2 / unit[moving, np.newaxis]
    if not np.isfinite(weights).all():
        return
    sums, known = held @ found, _shown(np.abs(held), held_left).max()
    if _shown(sums[:, :1], held_left)[0] > max(CLEAR, HELPFUL * _shown(held, held_left).sum()):
        yield LogisticScore(weights[:, 0])
    for place, shown in enumerate(_shown(np.abs(sums - centres), held_left)[1:], start=1):
        if place > 2 or shown > max(CLEAR, HELPFUL * known):
            yield DistanceScore(weights[:, place], float(weights[:, place] @ middle + centres[place]))


def _whitening(values: FloatArray, teaches: BoolArray) -> tuple[FloatArray, BoolArray]:
    """Return uncorrelated directions of unit variance, learned from some rows, and which rows are far in none."""
    basis, kept = np.eye(values.shape[1]), np.ones(len(values), dtype=np.bool_)
    for _ in range(2):
        # the second time without what is far in a direction that is narrow beside the coordinates
        seen = values @ basis
        low, high = _quantiles(seen[kept], TRIMMED, 1 - TRIMMED)
        near = kept & ((seen >= low) & (seen <= high)).all(axis=1)
        # among very many coordinates most rows may be far in one
        kept = near if near.sum() > kept.sum() / 2 else kept
        variances, axes = np.linalg.eigh(_covariance(seen[kept & teaches]))
        # columns that hardly ever vary may leave none
        wide = variances > SINGULAR * variances.max(initial=0.0)
        basis = basis @ (axes[:, wide] / np.sqrt(variances[wide]))
    return basis, kept


def _covariance(values: FloatArray) -> FloatArray:
    centred = values - values.mean(axis=0)
    found: FloatArray = centred.T @ centred / len(values)
    return found


def _quantiles(values: FloatArray, *shares: float) -> FloatArray:
    """Return quantiles of each column, of some of the rows."""
    found: FloatArray = np.quantile(values[:: max(1, len(values) // BOUNDED_BY)], shares, axis=0, method="nearest")
    return found


def _shown(values: FloatArray, is_left: BoolArray) -> FloatArray:
    """Return the squared difference of the means of each column, over its variance; 0 where nothing varies."""
    left, right = values[is_left], values[~is_left]
    variance = left.var(axis=0) / len(left) + right.var(axis=0) / len(right)
    squared = (left.mean(axis=0) - right.mean(axis=0)) ** 2
    shown: FloatArray = np.divide(squared, variance, out=np.zeros_like(squared), where=variance > 0)
    return shown


READERS["distance"] = lambda document: DistanceScore(
    np.array(document["weights"], dtype=np.float64), float(document["centre"])
)
