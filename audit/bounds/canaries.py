"""One run with many canaries: lower bounds from the number of right guesses of membership.

Each of m canaries is in the data with probability one half, independently; the run is seen once; r memberships are
guessed, of which v are right.  The mechanism is (epsilon, delta)-private, or mu-GDP, when one record is added or
removed.  B is binomial, of r trials of probability e^epsilon / (1 + e^epsilon).

- `runs`: Steinke, Nasr and Jagielski, Privacy auditing with one (1) training run (NeurIPS 2023), theorem 5.2,

      P(v or more right) <= P(B >= v) + 2 m delta max_{i >= 1} P(v - i <= B < v) / i.

- `flips`: P(v or more right) <= P(B >= v) + m delta P(B >= v) P(B < v) / (v P(B = v)), which a mechanism attains.
- Gaussian privacy: Mahloujifar, Melis and Chaudhuri, Auditing f-differential privacy in one run (ICML 2025).

The proofs of the last two: ``proofs/auditor_bounds.md``.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Literal, get_args

import numpy as np
from scipy.special import ndtr, ndtri

from audit.bounds.binomial import above, exactly
from audit.bounds.counts import LARGEST_EPSILON, MARGIN, check_levels

CanaryMethod = Literal["flips", "runs"]
"""How right guesses bound epsilon."""

CLOSE_ENOUGH = 1e-9
"""Width at which the search for the bound ends, at its lower end."""

LARGEST_MU = 100.0
"""No larger mu is refuted."""


def canary_p_value(
    right: int, guesses: int, canaries: int, epsilon: float, delta: float, method: CanaryMethod = "flips"
) -> float:
    """Return the largest chance of so many right guesses if epsilon and delta hold, rounded up.

    Parameters
    ----------
    right, guesses, canaries : int
    epsilon, delta : float
    method : {'flips', 'runs'}
    """
    if right == 0:
        return 1.0
    share = 1 / (1 + math.exp(-epsilon))
    tail = float(above(right - 1, guesses, share))
    if method == "flips":
        # P(B = t + 1) / P(B = t), for t from the right guesses on
        ratios = math.exp(epsilon) * np.arange(guesses - right, 0, -1) / np.arange(right + 1, guesses + 1)
        with np.errstate(over="ignore"):
            beyond = 1 + float(np.cumprod(ratios).sum())
        worst = (1 - tail) * beyond / right if tail < 1 else 0.0
    else:
        steps = np.arange(1, right + 1)
        below = np.cumsum(exactly(right - steps, guesses, share))
        worst = 2 * float((below / steps).max(initial=0.0))
    # the worst may be infinite
    spent = canaries * delta * worst if delta else 0.0
    return min(1.0, (tail + spent) * (1 + MARGIN))


def canary_epsilon_bound(
    right: int,
    guesses: int,
    canaries: int,
    delta: float,
    significance: float,
    method: CanaryMethod = "flips",
) -> float:
    """Return a bound that epsilon exceeds, except with a chance of at most the significance.

    Parameters
    ----------
    right, guesses, canaries : int
        How many guesses were right, of how many (fixed beforehand), on how many canaries.
    delta, significance : float
    method : {'flips', 'runs'}

    Raises
    ------
    ValueError
        When the numbers do not fit each other.
    """
    _check(right, guesses, canaries, delta, significance)
    if method not in get_args(CanaryMethod):
        raise ValueError(f"the bound must be one of {', '.join(get_args(CanaryMethod))}, not {method!r}")

    def refuted(epsilon: float) -> bool:
        return canary_p_value(right, guesses, canaries, epsilon, delta, method) <= significance

    return _largest(refuted, LARGEST_EPSILON)


def canary_mu_bound(right: int, guesses: int, canaries: int, significance: float) -> float:
    """Return a bound that mu exceeds if the mechanism is mu-GDP, except with a chance of the significance.

    Parameters
    ----------
    right, guesses, canaries : int
    significance : float

    Raises
    ------
    ValueError
        When the numbers do not fit each other.
    """
    _check(right, guesses, canaries, 0.0, significance)
    return _largest(lambda mu: _least_mass(right, guesses, canaries, mu, significance) > 1 + MARGIN, LARGEST_MU)


def _least_mass(right: int, guesses: int, canaries: int, mu: float, significance: float) -> float:
    """Return the least total probability of all numbers of right guesses, if `right` has the significance.

    Above 1 is impossible.  From each number to the next lower one, the chance that a guess is right and the
    number at least this bounds from below the chance that it is wrong and the number at least the lower one.
    """
    of_right, of_wrong = significance * right / canaries, significance * (guesses - right) / canaries
    mass = significance
    for count in range(right - 1, -1, -1):
        # P(some event) <= Phi(Phi^-1(P(it without the record)) + mu); beyond 1 is impossible
        missing = float(ndtr(ndtri(min(of_right, 1.0)) - mu)) - of_wrong
        if missing > 0:
            here = missing * canaries / (guesses - count)
            mass += here
            of_wrong += missing
            of_right += here * count / canaries
        if mass > 1 + MARGIN:
            break
    return mass


def _check(right: int, guesses: int, canaries: int, delta: float, significance: float) -> None:
    check_levels(delta, significance)
    if not 0 <= right <= guesses <= canaries or guesses < 1:
        raise ValueError(f"{right} right of {guesses} guesses on {canaries} canaries: each at most the next")


def _largest(refuted: Callable[[float], bool], most: float) -> float:
    """Return where refuting ends, approached from below."""
    low, high = 0.0, 1.0
    if not refuted(low):
        return 0.0
    while high < most and refuted(high):
        low, high = high, min(2 * high, most)
    while high - low > CLOSE_ENOUGH:
        middle = (low + high) / 2
        low, high = (middle, high) if refuted(middle) else (low, middle)
    return low
