"""The conditional bound, for rare events and delta = 0: given the total of both counts, no nuisance is left.

Derivation and proof: ``proofs/auditor_bounds.md``.  In short, given likely + unlikely = total, the likely count
has Fisher's noncentral hypergeometric law, which depends on the two probabilities through their odds ratio

    omega = p_likely (1 - p_unlikely) / (p_unlikely (1 - p_likely))

alone, and p_likely / p_unlikely = p_likely + omega (1 - p_likely).  So a lower limit on omega and an upper limit
on p_likely bound epsilon from below.  The second costs little where the event is rare, and only there.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from scipy.optimize import brentq

from audit.bounds.clopper_pearson import upper_bound_on_probability
from audit.bounds.counts import LARGEST_EPSILON, MARGIN, Counts, check_epsilon, check_levels
from reference.common.arrays import FloatArray

LIMIT_SHARE = 1e-3
"""Share of the significance for the upper limit on p_likely; the odds ratio gets the rest."""

ROUNDING = 1e-12
"""Relative margin on the ratio of the probabilities, for the few operations after the tails."""

REACH, LEAST_REACH = 12, 1_000
"""Terms of the law summed on each side of the count, in square roots of the total; and their least number."""


@dataclass(frozen=True, eq=False)
class OddsTail:
    """P(likely >= the count seen, given the total), as a function of the odds ratio.

    Parameters
    ----------
    above, below : ndarray
        Logs of the weights of the counts seen, seen + 1, ... and seen - 1, seen - 2, ..., relative to the first.
    rest : float
        Log of the weight after the last one above, relative to that; -infinity where there is none.
    """

    above: FloatArray
    below: FloatArray
    rest: float

    @classmethod
    def of(cls, counts: Counts) -> OddsTail:
        """Return the tail of the counts; far terms are left out to the safe side."""
        total = counts.likely + counts.unlikely
        lowest, highest = max(0, total - counts.unlikely_draws), min(total, counts.likely_draws)
        reach = LEAST_REACH + REACH * math.isqrt(total)
        up = np.arange(counts.likely, min(highest, counts.likely + reach), dtype=np.float64)
        down = np.arange(counts.likely - 1, max(lowest, counts.likely - reach) - 1, -1, dtype=np.float64)
        last = counts.likely + reach
        rest = float(_log_steps(np.array([float(last)]), counts)[0]) if last < highest else -math.inf
        return cls(
            np.concatenate([[0.0], np.cumsum(_log_steps(up, counts))]),
            -np.cumsum(_log_steps(down, counts)),
            rest,
        )

    def log_odds(self, log_omega: float) -> float:
        """Return an upper bound on log(P(likely >= seen) / P(likely < seen)) at an odds ratio."""
        above = self.above + log_omega * np.arange(len(self.above))
        below = self.below - log_omega * np.arange(1, len(self.below) + 1)
        if not len(below):
            return math.inf
        largest = above.max()
        weight = float(np.exp(above - largest).sum())
        # the terms fall at least geometrically after the last
        fall = math.exp(min(self.rest + log_omega, 0.0))
        if fall >= 1:
            return math.inf
        weight += math.exp(above[-1] - largest) * fall / (1 - fall)
        lowest = below.max()
        return float(largest + math.log(weight) - lowest - math.log(np.exp(below - lowest).sum()))


def _log_steps(count: FloatArray, counts: Counts) -> FloatArray:
    """Return log of the weight of count + 1 over that of count, at odds ratio 1."""
    total = counts.likely + counts.unlikely
    up = np.log((counts.likely_draws - count) / (count + 1))
    steps: FloatArray = up + np.log((total - count) / (counts.unlikely_draws - total + count + 1))
    return steps


@lru_cache(maxsize=256)  # one event often serves two verdicts
def conditional_epsilon_lower_bound(counts: Counts, significance: float) -> float:
    """Return log(p + omega (1 - p)) for the limits on p_likely and on the odds ratio, rounded down; at least 0.

    For delta = 0.

    Parameters
    ----------
    counts : Counts
    significance : float
        In [1e-12, 1).
    """
    check_levels(0.0, significance)
    limit = highest_likely(counts, LIMIT_SHARE * significance)
    log_omega = _smallest_log_odds_ratio(OddsTail.of(counts), (1 - LIMIT_SHARE) * significance)
    if limit >= 1 or log_omega <= 0:
        return 0.0
    # p + omega (1 - p) without overflow
    ratio = log_omega + math.log(1 - limit + limit * math.exp(-log_omega))
    return max(0.0, ratio + math.log1p(-ROUNDING))


def conditional_rejects(counts: Counts, epsilon: float, significance: float) -> bool:
    """Return whether p_likely <= exp(epsilon) p_unlikely is certainly rejected at a significance.

    Parameters
    ----------
    counts : Counts
    epsilon : float
        In [0, 700].
    significance : float
        In [1e-12, 1).
    """
    check_epsilon(epsilon)
    check_levels(0.0, significance)
    return _excess(OddsTail.of(counts), counts, epsilon, significance) < 0


def _excess(tail: OddsTail, counts: Counts, epsilon: float, significance: float) -> float:
    """Return how far the log odds of the tail exceed those of the significance, for the ratio exp(epsilon)."""
    limit = highest_likely(counts, LIMIT_SHARE * significance)
    if limit >= 1:
        return math.inf
    omega = (math.exp(epsilon) - limit) / (1 - limit) * (1 + ROUNDING)
    return tail.log_odds(math.log(omega)) - _log_odds((1 - LIMIT_SHARE) * significance)


def conditional_p_value(counts: Counts, epsilon: float) -> float:
    """Return the smallest significance that rejects p_likely <= exp(epsilon) p_unlikely, rounded up.

    Parameters
    ----------
    counts : Counts
    epsilon : float
        In [0, 700].
    """
    check_epsilon(epsilon)
    tail, smallest, largest = OddsTail.of(counts), 1e-12, 0.999

    def excess(log_significance: float) -> float:
        return _excess(tail, counts, epsilon, math.exp(log_significance))

    low, high = math.log(smallest), math.log(largest)
    if not excess(high) < 0:
        return 1.0
    if excess(low) < 0:
        return smallest
    root = float(brentq(lambda level: min(excess(level), 1e3), low, high, xtol=1e-12))
    return min(1.0, math.exp(root) * (1 + 1e-9))


def highest_likely(counts: Counts, significance: float) -> float:
    """Return Clopper and Pearson's upper limit on p_likely, rounded up; at most 1."""
    return upper_bound_on_probability(counts.likely, counts.likely_draws, significance)


def _smallest_log_odds_ratio(tail: OddsTail, significance: float) -> float:
    """Return the log of the odds ratio at which the tail is the significance, rounded down; 0 where it is less."""
    level = _log_odds(significance)

    def excess(log_omega: float) -> float:
        return min(tail.log_odds(log_omega) - level, 1e3)

    if excess(0.0) >= 0:
        return 0.0
    if excess(LARGEST_EPSILON) < 0:
        return LARGEST_EPSILON
    root, step = float(brentq(excess, 0.0, LARGEST_EPSILON, xtol=1e-13)), 1e-13
    while root > 0 and excess(root) > 0:
        root, step = max(0.0, root - step), 2 * step
    return root


def _log_odds(significance: float) -> float:
    """Return the log odds of a significance, lowered by the margin."""
    return math.log(significance) - math.log1p(-significance) - 2 * MARGIN
