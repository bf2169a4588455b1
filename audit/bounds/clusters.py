"""A bound for outputs that may depend on each other within a call: calls are independent, outputs need not be.

The share X of a call's outputs that an event has lies in [0, 1], and its mean is the event's probability, however
the outputs of one call depend on each other.  For a fixed stake 0 < b < 1 and calls whose mean is at most m,

    K(m) = product over calls of (1 - b + b X / m)

has expectation at most 1, and so has a fixed mixture over stakes.  By Markov's inequality it reaches 1 / s with
probability at most s.  K falls with m: all m at which it reaches 1 / s are below the lower limit of the mean.  The
upper limit is that of 1 - X.  After Waudby-Smith and Ramdas, Estimating means of bounded random variables by
betting (2024).
"""

from __future__ import annotations

import math

import numpy as np

from audit.bounds.counts import check_levels
from audit.bounds.e_value import STAKES
from reference.common.arrays import FloatArray

HALVINGS = 40
"""Steps of the search for a limit, on its safe side."""

ROUNDING = 1e-12
"""Margin on the log of a factor: floating point errs by less than 1e-15, and on a share by as little."""


def lower_limit_of_mean(shares: FloatArray, significance: float) -> float:
    """Return a number that is above the mean of independent shares with probability at most the significance.

    Parameters
    ----------
    shares : ndarray, shape (calls,)
        In [0, 1].
    significance : float
    """
    values, counts = np.unique(shares, return_counts=True)
    if not len(values) or values[0] < 0 or values[-1] > 1:
        raise ValueError("shares must be numbers in [0, 1], one for each call")

    def reached(mean: float) -> bool:
        logs = np.log1p(STAKES[:, None] * (values / mean - 1)) @ counts
        peak = float(logs.max())
        wealth = peak + math.log(float(np.exp(logs - peak).mean()))
        return wealth - ROUNDING * (len(shares) + abs(wealth)) >= -math.log(significance)

    low, high = 0.0, 1.0
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        low, high = (middle, high) if reached(middle) else (low, middle)
    return low


def cluster_epsilon_lower_bound(
    likely: FloatArray, unlikely: FloatArray, delta: float, significance: float
) -> float:
    """Return a bound that exceeds the true epsilon with probability at most the significance; at least 0.

    Each limit is taken at half of the significance.

    Parameters
    ----------
    likely, unlikely : ndarray, shape (calls,)
        Shares of the outputs of each call in which the event occurred, where it is more likely and on the other
        input.
    delta, significance : float
    """
    check_levels(delta, significance)
    low = lower_limit_of_mean(likely, significance / 2)
    high = 1 - lower_limit_of_mean(1 - unlikely, significance / 2)
    return max(0.0, math.log((low - delta) / high)) if low > delta else 0.0
