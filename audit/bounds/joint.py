"""The joint bound: both counts share one significance, exact in finite samples.

Derivation, proof, and what Coq checks of it: ``proofs/joint_bound.md``.  In short, for a
pair (p_likely, p_unlikely) with p_likely = r p_unlikely + delta, the two one-sided binomial p-values

    P_likely = P(Bin(n_likely, p_likely) >= likely),    P_unlikely = P(Bin(n_unlikely, p_unlikely) <= unlikely)

are independent and no smaller than uniform.  Stouffer's sum of their normal scores, with weights that depend on
the pair but not on the counts, is therefore a valid p-value for that pair.  The pairs that are not rejected are a
confidence region, and the smallest epsilon in it is the bound.  The pairs are searched in cells, and each cell
is judged at its worst corner.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import TypeAlias

import numpy as np
from scipy.optimize import brentq
from scipy.special import ndtr, ndtri

from audit.bounds.clopper_pearson import lower_bound_on_probability, upper_bound_on_probability
from audit.bounds.counts import LARGEST_EPSILON, MARGIN, Counts, at_least, at_most, check_epsilon, check_levels
from reference.common.arrays import FloatArray

TAIL_SHARE = 1e-3
"""Share of the significance at which each count alone rejects a pair; it keeps the nuisance bounded."""

LARGEST_SCORE = 8.0
"""Normal scores are cut here, at the cost of twice the normal tail beyond."""

LOWEST_SCORE = -30.0
"""Lower scores are raised to this, which is safe."""

CELLS, COARSE_CELLS = 512, 64
"""Cells of the nuisance on the edge of the hypothesis, and below it, where fewer suffice."""

NEAR_CERTAIN = np.concatenate([[0.0], np.geomspace(1e-12, 0.3, 100)])
"""Relative distances from p_likely = 1 at which further cells end."""

FINEST = 2.0**-9
"""Width of the strip of hypotheses next to the edge, relative to all of them."""

ROUNDS, BATCH = 40, 256
"""How often cells below the edge are cut, if needed, and how many cells at a time."""

Values: TypeAlias = float | FloatArray


@dataclass(frozen=True, eq=False)
class Strip:
    """Pairs with p_likely = r p_unlikely + delta, for r and delta in intervals.

    Parameters
    ----------
    ratio : (float, float)
        Interval of r = exp(epsilon); at least 0.
    delta : (float, float)
        Interval of delta.
    """

    ratio: tuple[Values, Values]
    delta: tuple[Values, Values]


@dataclass(frozen=True)
class Region:
    """The pairs that the counts do not reject at a significance.

    Parameters
    ----------
    counts : Counts
    significance : float
    lowest_likely, highest_unlikely : float
        Outside these a count alone rejects, at :data:`TAIL_SHARE` of the significance.
    threshold : float
        Normal score below which the two counts together reject.
    """

    counts: Counts
    significance: float
    lowest_likely: float
    highest_unlikely: float
    threshold: float

    @classmethod
    def of(cls, counts: Counts, significance: float) -> Region:
        """Return the region of the counts."""
        alone = TAIL_SHARE * significance
        together = significance - 2 * alone - 2 * float(ndtr(-LARGEST_SCORE))
        return cls(
            counts,
            significance,
            lower_bound_on_probability(counts.likely, counts.likely_draws, alone),
            upper_bound_on_probability(counts.unlikely, counts.unlikely_draws, alone),
            float(ndtri(together)) - MARGIN,
        )

    def smallest_nuisance(self, highest: Strip) -> float:
        """Return a p_unlikely below which the likely count alone rejects every pair in or below a strip."""
        low = (self.lowest_likely - float(highest.delta[1])) / float(highest.ratio[1]) * (1 - MARGIN)
        return min(max(0.0, low), self.highest_unlikely)

    def edge_excess(self, strip: Strip, cells: int, higher: Strip | None = None) -> float:
        """Return an upper bound on score minus threshold over a whole strip, in equal cells of the nuisance.

        Parameters
        ----------
        strip : Strip
        cells : int
        higher : Strip, optional
            Whose cells to use.
        """
        nuisance = np.linspace(self.smallest_nuisance(higher or strip), self.highest_unlikely, cells + 1)
        # the score of the likely count grows without bound where p_likely nears 1
        certain = (1 - float(strip.delta[1])) / float(strip.ratio[1])
        if nuisance[0] < certain < nuisance[-1]:
            close = certain * (1 - NEAR_CERTAIN)
            nuisance = np.sort(np.concatenate([nuisance, close[close > nuisance[0]]]))
        return float(self.excess(nuisance[:-1], nuisance[1:], strip).max())

    def excess(self, low: FloatArray, high: FloatArray, strip: Strip) -> FloatArray:
        """Return an upper bound on score minus threshold; negative: all pairs of the cell are rejected.

        Parameters
        ----------
        low, high : array of shape (cells,)
            Intervals of p_unlikely.
        strip : Strip
            One for all cells, or arrays of shape (cells,).
        """
        counts = self.counts
        lowest_likely = np.clip(strip.ratio[0] * low + strip.delta[0], 0.0, 1.0)
        highest_likely = np.clip(strip.ratio[1] * high + strip.delta[1], 0.0, 1.0)
        # P_likely grows with p_likely, P_unlikely falls with p_unlikely: the worst corner
        likely = _score(*at_least(counts.likely, counts.likely_draws, highest_likely))
        # cells of other levels have the same nuisance, and probabilities far out in a tail take long
        lows, where = np.unique(low, return_inverse=True)
        unlikely = _score(*at_most(counts.unlikely, counts.unlikely_draws, lows))[where]
        spread_likely = _spread(lowest_likely, highest_likely, counts.likely_draws)
        spread_unlikely = _spread(low, high, counts.unlikely_draws)
        # the direction of the weights runs over an arc; its two ends bound a sum that is not positive
        first = _combined(likely, unlikely, spread_likely[1], strip.ratio[0] * spread_unlikely[0])
        last = _combined(likely, unlikely, spread_likely[0], strip.ratio[1] * spread_unlikely[1])
        both_positive = (likely > 0) & (unlikely > 0)
        largest = np.where(both_positive, np.hypot(likely, unlikely), np.maximum(first, last))
        alone = (highest_likely <= self.lowest_likely) | (low >= self.highest_unlikely)
        return np.where(alone, LOWEST_SCORE, largest) - self.threshold


def _score(probability: FloatArray, complement: FloatArray) -> FloatArray:
    """Return the normal score of a probability, rounded up, from the smaller tail."""
    small = np.minimum(probability * (1 + MARGIN), 0.5)
    scores = np.where(probability < 0.5, ndtri(small), -ndtri(np.minimum(complement, 0.5) * (1 - MARGIN)))
    # raising a very low score is safe
    return np.clip(scores, LOWEST_SCORE, LARGEST_SCORE)


def _spread(low: FloatArray, high: FloatArray, draws: int) -> tuple[FloatArray, FloatArray]:
    """Return the smallest and largest standard error of a share for probabilities in [low, high]."""
    ends = low * (1 - low), high * (1 - high)
    largest = np.where((low <= 0.5) & (high >= 0.5), 0.25, np.maximum(*ends))
    return np.sqrt(np.minimum(*ends) / draws), np.sqrt(largest / draws)


def _combined(likely: FloatArray, unlikely: FloatArray, weight_l: FloatArray, weight_u: FloatArray) -> FloatArray:
    """Return the weighted sum of two scores in units of its standard deviation."""
    length = np.hypot(weight_l, weight_u)
    # without spread on either side the likely count alone decides
    weight_l = np.where(length > 0, weight_l, 1.0)
    return np.asarray((weight_l * likely + weight_u * unlikely) / np.where(length > 0, length, 1.0))


Family = Callable[[Values, Values], Strip]
"""The strip of hypotheses between a lower and a higher level of epsilon, or of delta."""


@lru_cache(maxsize=256)  # one event often serves two verdicts
def joint_epsilon_lower_bound(counts: Counts, delta: float, significance: float) -> float:
    """Return the smallest epsilon in the region of the counts, rounded down; at least 0.

    Parameters
    ----------
    counts : Counts
    delta : float
        In [0, 1).
    significance : float
        In [1e-12, 1).
    """
    check_levels(delta, significance)
    if says_nothing(counts):
        return 0.0
    region = Region.of(counts, significance)
    above_delta = region.lowest_likely - delta
    # below `lowest` a count alone rejects; p_likely = 1 is not rejected at `highest`
    lowest = math.log(above_delta / region.highest_unlikely) if above_delta > 0 else -math.inf
    together = float(ndtr(region.threshold))
    highest = math.log((1 - delta) / upper_bound_on_probability(counts.unlikely, counts.unlikely_draws, together))

    def strip(lower: Values, higher: Values) -> Strip:
        return Strip((np.exp(lower), np.exp(higher)), (delta, delta))

    return _last_rejected(region, strip, lowest, highest)


def joint_delta_lower_bound(counts: Counts, epsilon: float, significance: float) -> float:
    """Return the smallest delta in the region of the counts at a given epsilon, rounded down; at least 0.

    Parameters
    ----------
    counts : Counts
    epsilon : float
        At least 0.
    significance : float
        In [1e-12, 1).
    """
    check_epsilon(epsilon)
    check_levels(0.0, significance)
    if says_nothing(counts):
        return 0.0
    ratio, region = math.exp(epsilon), Region.of(counts, significance)
    lowest = region.lowest_likely - ratio * region.highest_unlikely

    def strip(lower: Values, higher: Values) -> Strip:
        return Strip((ratio, ratio), (lower, higher))

    return _last_rejected(region, strip, lowest, 1.0)


def joint_rejects(counts: Counts, epsilon: float, delta: float, significance: float) -> bool:
    """Return whether p_likely <= exp(epsilon) p_unlikely + delta is certainly rejected; coarse and quick."""
    return joint_excess(counts, epsilon, delta, significance) < 0


def joint_excess(counts: Counts, epsilon: float, delta: float, significance: float) -> float:
    """Return a normal score, negative where p_likely <= exp(epsilon) p_unlikely + delta is certainly rejected."""
    check_epsilon(epsilon)
    check_levels(delta, significance)
    if says_nothing(counts):
        return math.inf
    ratio, region = math.exp(epsilon), Region.of(counts, significance)
    return region.edge_excess(Strip((ratio, ratio), (delta, delta)), 2 * COARSE_CELLS)


def joint_p_value(counts: Counts, epsilon: float, delta: float) -> float:
    """Return the smallest significance that rejects p_likely <= exp(epsilon) p_unlikely + delta, rounded up.

    Parameters
    ----------
    counts : Counts
    epsilon : float
        At least 0.
    delta : float
        In [0, 1).
    """
    smallest, largest = 1e-12, 0.999
    check_epsilon(epsilon)
    check_levels(delta, largest)
    if says_nothing(counts):
        return 1.0
    ratio = math.exp(epsilon)
    edge = Strip((ratio, ratio), (delta, delta))

    def excess(minus_log: float) -> float:
        return Region.of(counts, math.exp(-minus_log)).edge_excess(edge, CELLS)

    start = -math.log(largest)
    root = _root(excess, start, -math.log(smallest), 1e-9)
    return math.exp(-root) if root > start else 1.0


def says_nothing(counts: Counts) -> bool:
    """Return whether the counts cannot show any loss: never on the likely input, or always on the other."""
    return counts.likely == 0 or counts.unlikely == counts.unlikely_draws


def _last_rejected(region: Region, strip: Family, lowest: float, highest: float) -> float:
    """Return the largest level up to which all hypotheses are rejected, rounded down; at least 0.

    Parameters
    ----------
    region : Region
    strip : callable
        Of the hypotheses at levels between two.
    lowest, highest : float
        Levels at and below which a count alone rejects, and at which nothing rejects.
    """

    @cache  # the ends of a search are looked at before it and in it
    def edge(level: float, count: int, stop: float) -> float:
        below = level - FINEST * min(level - lowest, 1.0)
        return region.edge_excess(strip(below, level), count, strip(stop, stop))

    start = max(0.0, lowest)
    if highest <= start:
        return start
    rough = _root(lambda level: edge(level, COARSE_CELLS, level), start, highest, 1e-6)
    # the coarse root is a little low; with few draws it may be much too low
    reach = 0.1 * min(rough - lowest, 1.0) + 1e-6
    stop = min(highest, rough + reach)
    while stop < highest and edge(stop, CELLS, stop) < 0:
        reach *= 2
        stop = min(highest, rough + reach)
    level = _root(lambda level: edge(level, CELLS, stop), rough, stop, 1e-13)
    return max(start, _rejected_below(region, strip, lowest, level)) if level > start else start


def _rejected_below(region: Region, strip: Family, lowest: float, level: float) -> float:
    """Return a level, `level` if possible, below which everything is rejected except the strip at the edge.

    Cells of levels and nuisance that are not rejected as a whole are cut in four, those of low level first.
    """
    levels = _levels_below(level, lowest)[1:]
    nuisance = np.linspace(
        region.smallest_nuisance(strip(level, level)), region.highest_unlikely, COARSE_CELLS + 1
    )
    low_levels, low = (grid.ravel() for grid in np.meshgrid(levels[1:], nuisance[:-1]))
    high_levels, high = (grid.ravel() for grid in np.meshgrid(levels[:-1], nuisance[1:]))
    cells = np.array([low_levels, high_levels, low, high])
    waiting = np.empty((4, 0))
    for _ in range(ROUNDS):
        cells = cells[:, region.excess(cells[2], cells[3], strip(cells[0], cells[1])) >= 0]
        cells = np.concatenate([cells, waiting], axis=1)
        if not cells.shape[1]:
            return level
        cells = cells[:, np.argsort(cells[0], kind="stable")]
        cells, waiting = _quarters(cells[:, :BATCH]), cells[:, BATCH:]
    return float(np.concatenate([cells, waiting], axis=1)[0].min())


def _quarters(cells: FloatArray) -> FloatArray:
    """Return cells of shape (4, n) cut in the middle of both intervals: shape (4, 4 n)."""
    low_level, high_level, low, high = cells
    level = np.where(np.isinf(low_level), high_level - 1, (low_level + high_level) / 2)
    middle = (low + high) / 2
    return np.concatenate(
        [
            [first, second, third, fourth]
            for first, second in ((low_level, level), (level, high_level))
            for third, fourth in ((low, middle), (middle, high))
        ],
        axis=1,
    )


def _levels_below(level: float, lowest: float) -> list[float]:
    """Return levels from `level` down to `lowest`, their distances from `level` doubling."""
    width = FINEST * min(level - lowest, 1.0)
    levels = [level]
    while levels[-1] > max(lowest, -LARGEST_EPSILON):
        levels.append(max(level - width, lowest))
        width *= 2
    return levels if levels[-1] == lowest else [*levels, lowest]


def _root(excess: Callable[[float], float], start: float, stop: float, tolerance: float) -> float:
    """Return a level in [start, stop] with negative excess, close to the change of sign; else `start`."""

    def finite(level: float) -> float:
        return max(excess(level), LOWEST_SCORE)

    if stop <= start or excess(start) >= 0:
        return start
    if excess(stop) < 0:
        return stop
    root, step = float(brentq(finite, start, stop, xtol=tolerance)), tolerance
    while root > start and excess(root) >= 0:
        root, step = max(start, root - step), 2 * step
    return root
