"""One run with many canaries: a lower bound on epsilon from how many memberships were guessed right.

After Steinke, Nasr and Jagielski, Privacy auditing with one (1) training run (NeurIPS 2023), theorem 5.2.  Each of
m canaries is in the data with probability one half, independently; the run is seen once; r memberships are
guessed, of which v are right.  For a mechanism that is (epsilon, delta)-private when one record is added or
removed,

    P(v or more right) <= f(v) + 2 m delta max_{i >= 1} (f(v - i) - f(v)) / i,

with f(k) = P(B >= k) for B binomial, r trials of probability e^epsilon / (1 + e^epsilon).
"""

from __future__ import annotations

import math

import numpy as np
from scipy.stats import binom

from audit.bounds.counts import LARGEST_EPSILON, MARGIN, check_levels

CLOSE_ENOUGH = 1e-9
"""Width at which the search for the bound ends, on its lower side."""


def canary_p_value(right: int, guesses: int, canaries: int, epsilon: float, delta: float) -> float:
    """Return the largest chance of so many right guesses where epsilon and delta are kept, rounded up.

    Parameters
    ----------
    right, guesses, canaries : int
    epsilon, delta : float
    """
    share = 1 / (1 + math.exp(-epsilon))
    tail = float(binom.sf(right - 1, guesses, share))
    steps = np.arange(1, right + 1)
    # f(v - i) - f(v) = P(v - i <= B < v)
    below = np.cumsum(binom.pmf(right - steps, guesses, share))
    worst = float((below / steps).max(initial=0.0))
    return min(1.0, (tail + 2 * canaries * delta * worst) * (1 + MARGIN))


def canary_epsilon_bound(right: int, guesses: int, canaries: int, delta: float, significance: float) -> float:
    """Return a bound that epsilon exceeds, except with a chance of at most the significance.

    Parameters
    ----------
    right, guesses, canaries : int
        How many guesses were right, of how many, which were fixed beforehand, of how many canaries.
    delta, significance : float

    Raises
    ------
    ValueError
        When the numbers do not fit each other.
    """
    check_levels(delta, significance)
    if not 0 <= right <= guesses <= canaries or guesses < 1:
        raise ValueError(f"{right} right of {guesses} guesses on {canaries} canaries: each at most the next")
    low, high = 0.0, 1.0
    if canary_p_value(right, guesses, canaries, low, delta) > significance:
        return 0.0
    while high < LARGEST_EPSILON and canary_p_value(right, guesses, canaries, high, delta) <= significance:
        low, high = high, min(2 * high, LARGEST_EPSILON)
    while high - low > CLOSE_ENOUGH:
        middle = (low + high) / 2
        refuted = canary_p_value(right, guesses, canaries, middle, delta) <= significance
        low, high = (middle, high) if refuted else (low, middle)
    return low
