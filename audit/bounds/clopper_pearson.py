"""The baseline: each probability bounded by Clopper and Pearson at half the significance."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache

import numpy as np
from scipy.optimize import brentq
from scipy.special import betainccinv, betaincinv

from audit.bounds.binomial import above, up_to
from audit.bounds.counts import MARGIN, Counts, at_least, at_most, check_epsilon, check_levels
from reference.common.arrays import FloatArray


@lru_cache(maxsize=1024)  # searches for one count ask for the limits of the other again and again
def lower_bound_on_probability(occurrences: int, draws: int, significance: float) -> float:
    """Return the one-sided Clopper-Pearson lower bound, rounded down.

    Not scipy's `proportion_ci`: it stops within 2e-12 of the limit, on either side, a lot for a small one.

    Parameters
    ----------
    occurrences, draws : int
    significance : float
        Chance that the probability is below the bound.
    """
    if occurrences == 0:
        return 0.0
    limit = float(betaincinv(occurrences, draws - occurrences + 1, significance))
    while _tail(at_least, occurrences, draws, limit) > significance:
        limit *= 1 - MARGIN
    return limit


@lru_cache(maxsize=1024)
def upper_bound_on_probability(occurrences: int, draws: int, significance: float) -> float:
    """Return the one-sided Clopper-Pearson upper bound, rounded up; at most 1.

    Parameters
    ----------
    occurrences, draws : int
    significance : float
        Chance that the probability is above the bound.
    """
    if occurrences == draws:
        return 1.0
    limit = float(betainccinv(occurrences + 1, draws - occurrences, significance))
    while limit < 1 and _tail(at_most, occurrences, draws, limit) > significance:
        limit = min(1.0, limit * (1 + MARGIN))
    return limit


def _tail(
    tail: Callable[[int, int, FloatArray], tuple[FloatArray, FloatArray]],
    occurrences: int,
    draws: int,
    probability: float,
) -> float:
    """Return a tail probability, rounded up."""
    return float(tail(occurrences, draws, np.array([probability]))[0][0]) * (1 + MARGIN)


def clopper_pearson_epsilon_lower_bound(counts: Counts, delta: float, significance: float) -> float:
    """Return log((low - delta) / high) for the two bounds on the probabilities; at least 0."""
    check_levels(delta, significance)
    low, high = _limits(counts, significance)
    return max(0.0, math.log((low - delta) / high)) if low > delta else 0.0


def clopper_pearson_delta_lower_bound(counts: Counts, epsilon: float, significance: float) -> float:
    """Return low - exp(epsilon) high for the two bounds on the probabilities; at least 0."""
    check_epsilon(epsilon)
    check_levels(0.0, significance)
    low, high = _limits(counts, significance)
    return max(0.0, low - math.exp(epsilon) * high)


def clopper_pearson_p_value(counts: Counts, epsilon: float, delta: float) -> float:
    """Return the smallest significance at which p_likely <= exp(epsilon) p_unlikely + delta is rejected."""
    check_epsilon(epsilon)
    check_levels(delta, 0.5)
    ratio = math.exp(epsilon)

    def tails(unlikely: float) -> tuple[float, float]:
        likely = min(1.0, ratio * unlikely + delta)
        return (
            float(above(counts.likely - 1, counts.likely_draws, likely)),
            float(up_to(counts.unlikely, counts.unlikely_draws, unlikely)),
        )

    def difference(unlikely: float) -> float:
        first, second = tails(unlikely)
        return first - second

    # the first tail grows with the nuisance and the second falls: the smaller of them is largest where they cross
    if difference(0.0) >= 0:
        return min(1.0, 2 * tails(0.0)[1])
    if difference(1.0) <= 0:
        return min(1.0, 2 * tails(1.0)[0])
    crossing = float(brentq(difference, 0.0, 1.0, xtol=1e-300, rtol=1e-12))
    return min(1.0, 2 * max(tails(crossing)))


def _limits(counts: Counts, significance: float) -> tuple[float, float]:
    return (
        lower_bound_on_probability(counts.likely, counts.likely_draws, significance / 2),
        upper_bound_on_probability(counts.unlikely, counts.unlikely_draws, significance / 2),
    )
