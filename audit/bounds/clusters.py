"""A bound for outputs that may depend on each other within a call; calls are independent.

The share X of a call's outputs with an event lies in [0, 1], and its mean is the event's probability, however
the outputs of one call depend on each other.  For a fixed stake 0 < b < 1 and calls whose mean is at most m,

    K(m) = product over calls of (1 - b + b X / m)

has expectation at most 1, and so has a fixed mixture over stakes.  By Markov's inequality it reaches 1 / s with
probability at most s.  K falls with m: all m at which it reaches 1 / s are below the lower limit of the mean.  The
upper limit is that of 1 - X.  After Waudby-Smith and Ramdas, Estimating means of bounded random variables by
betting (2024).
"""

from __future__ import annotations

import math
from typing import Final, Literal, TypeAlias

import numpy as np

from audit.bounds.counts import Counts, check_levels
from audit.bounds.e_value import STAKES
from reference.common.arrays import FloatArray

ClusterMethod: TypeAlias = Literal["cluster_betting"]

CLUSTERS: Final = "cluster_betting"
"""The name of this bound in a certificate."""

HALVINGS = 40
"""Steps of the search for a limit, from its safe side."""

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
    return _lower_limit(values, counts.astype(np.float64), significance)


def _lower_limit(values: FloatArray, counts: FloatArray, significance: float) -> float:
    """Return the same for shares given as values and how often each occurs."""
    number = float(counts.sum())

    def reached(mean: float) -> bool:
        logs = np.log1p(STAKES[:, None] * (values / mean - 1)) @ counts
        peak = float(logs.max())
        wealth = peak + math.log(float(np.exp(logs - peak).mean()))
        return wealth - ROUNDING * (number + abs(wealth)) >= -math.log(significance)

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
    return _bound(low, high, delta)


def cluster_bound_of_counts(counts: Counts, delta: float, significance: float) -> float:
    """Return the same from counts by calls; without calls, each draw is a call of one output.

    Calls may be looked at one by one: the bound holds whenever you stop, by Ville's inequality.
    """
    check_levels(delta, significance)
    (ours, weights), (others, other_weights) = shares_of_counts(counts)
    low = _lower_limit(ours, weights, significance / 2)
    high = 1 - _lower_limit(1 - others, other_weights, significance / 2)
    return _bound(low, high, delta)


def cluster_most_of_counts(counts: Counts, delta: float, significance: float) -> float:
    """Return a limit that the event's loss is above with probability at most the significance; may be infinite."""
    check_levels(delta, significance)
    (ours, weights), (others, other_weights) = shares_of_counts(counts)
    high = 1 - _lower_limit(1 - ours, weights, significance / 2)
    low = _lower_limit(others, other_weights, significance / 2)
    return most_between(high, low, delta)


def most_between(likely: float, unlikely: float, delta: float) -> float:
    """Return log((likely - delta) / unlikely), at least 0; infinite if only `unlikely` is 0."""
    if likely <= delta:
        return 0.0
    return max(0.0, math.log((likely - delta) / unlikely)) if unlikely else math.inf


def shares_of_counts(counts: Counts) -> tuple[tuple[FloatArray, FloatArray], tuple[FloatArray, FloatArray]]:
    """Return, for the likely and the other input, the shares that calls have and how many have each."""
    calls = counts.calls
    if calls is None:
        each = np.array([0.0, 1.0])
        k, m = counts.likely, counts.unlikely
        return (
            (each, np.array([counts.likely_draws - k, k], dtype=np.float64)),
            (each, np.array([counts.unlikely_draws - m, m], dtype=np.float64)),
        )
    likely, unlikely = (np.array(side, dtype=np.float64).T for side in (calls.likely, calls.unlikely))
    per_call = calls.outputs_per_call
    return (likely[0] / per_call, likely[1]), (unlikely[0] / per_call, unlikely[1])


def _bound(low: float, high: float, delta: float) -> float:
    return max(0.0, math.log((low - delta) / high)) if low > delta else 0.0
