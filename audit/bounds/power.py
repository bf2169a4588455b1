"""What so many draws can show at best."""

from __future__ import annotations

import math

import numpy as np
from scipy.stats import beta, binom

from audit.bounds.choice import METHODS, Method, epsilon_lower_bound
from audit.bounds.counts import Counts, FloatArray, check_epsilon, check_levels
from audit.bounds.joint import joint_rejects

POWER = 0.9
"""Power that `detectable` is stated for."""

EVENTS = 24
"""Event probabilities that `detectable_epsilon` goes through."""

QUANTILES = 100
"""Equally likely values that stand for the unlikely count."""


def largest_certifiable_epsilon(
    draws_per_input: int, delta: float, significance: float, method: Method = "joint"
) -> float:
    """Return the bound of a perfect event, which always occurs on one input and never on the other.

    A test with so many draws cannot refute a claim above this.
    """
    perfect = Counts(draws_per_input, draws_per_input, 0, draws_per_input)
    return epsilon_lower_bound(perfect, delta, significance, method)


def detectable_epsilon(
    claimed_epsilon: float, draws_per_input: int, delta: float, significance: float, method: Method = "joint"
) -> float | None:
    """Return the smallest true epsilon at which a test of this size refutes the claim, with power 0.9.

    The smallest over all events, by their probability on the unlikely input; an auditor that does not find the
    best event needs more.

    Parameters
    ----------
    claimed_epsilon : float
        At least 0.
    draws_per_input : int
        That certify.
    delta, significance : float
    method : {'joint', 'clopper_pearson'}

    Returns
    -------
    float or None
        None when no event can refute the claim with so many draws.
    """
    unlikely = np.geomspace(0.1 / draws_per_input, 0.5, EVENTS)
    found = detectable_by_event(claimed_epsilon, draws_per_input, delta, significance, method, unlikely)
    smallest = float(np.nanmin(found)) if np.isfinite(found).any() else math.nan
    return None if math.isnan(smallest) else smallest


def detectable_by_event(
    claimed_epsilon: float,
    draws_per_input: int,
    delta: float,
    significance: float,
    method: Method,
    unlikely: FloatArray,
) -> FloatArray:
    """Return the smallest epsilon detectable with power 0.9 by an event, for each of its probabilities.

    Parameters
    ----------
    claimed_epsilon : float
        At least 0.
    draws_per_input : int
    delta, significance : float
    method : {'joint', 'clopper_pearson'}
    unlikely : array of shape (events,)
        Probability of the event on the input where it is less likely.

    Returns
    -------
    array of shape (events,)
        NaN where an event of this probability cannot refute the claim.

    Notes
    -----
    The power is a mean over :data:`QUANTILES` values of the unlikely count.  The likely count that refutes beside
    each is found for some values and interpolated between them, in units of its standard error.
    """
    if method not in METHODS:
        raise ValueError(f"power is stated for {', '.join(METHODS)}, got {method!r}")
    check_levels(delta, significance)
    n = draws_per_input
    if claimed_epsilon > largest_certifiable_epsilon(n, delta, significance, method):
        return np.full(len(unlikely), np.nan)
    check_epsilon(claimed_epsilon)
    levels = (np.arange(QUANTILES) + 0.5) / QUANTILES
    counts = np.asarray(binom.ppf(levels, n, unlikely[:, None]))
    needed = _refuting_counts(counts, claimed_epsilon, n, delta, significance, method)

    def power(likely: FloatArray) -> FloatArray:
        powers: FloatArray = np.asarray(binom.sf(needed - 1, n, likely[:, None])).mean(axis=1)
        return powers

    low = np.minimum(math.exp(claimed_epsilon) * unlikely + delta, 1.0)
    high = np.ones_like(low)
    # p_likely, by bisection: the power grows with it
    for _ in range(40):
        middle = (low + high) / 2
        enough = power(middle) >= POWER
        low, high = np.where(enough, low, middle), np.where(enough, middle, high)
    epsilon = np.log(np.maximum(high - delta, 0.0) / unlikely, out=np.full_like(high, np.nan), where=high > delta)
    return np.where(power(high) >= POWER, epsilon, np.nan)


def power_of_event(
    claimed_epsilon: float,
    draws_per_input: int,
    delta: float,
    significance: float,
    method: Method,
    likely: FloatArray,
    unlikely: FloatArray,
) -> FloatArray:
    """Return the chance that an event of these probabilities refutes the claim.

    Parameters
    ----------
    claimed_epsilon : float
        At least 0.
    draws_per_input : int
    delta, significance : float
    method : {'joint', 'clopper_pearson'}
    likely, unlikely : array of shape (events,)
        Probabilities of the events on the two inputs, the unlikely count seldom above 100: for rare events.

    Returns
    -------
    array of shape (events,)

    Notes
    -----
    A sum over the unlikely counts.  The likely count that refutes beside each is exact up to 8, and interpolated
    for some of the larger ones.
    """
    n = draws_per_input
    most = int(binom.isf(1e-9, n, unlikely.max())) + 1
    counts = np.arange(float(most))
    needed = _refuting_counts(counts, claimed_epsilon, n, delta, significance, method)
    given = np.asarray(binom.sf(needed - 1, n, likely[:, None]))
    powers: FloatArray = (np.asarray(binom.pmf(counts, n, unlikely[:, None])) * given).sum(axis=1)
    return powers


def _refuting_counts(
    unlikely: FloatArray, claim: float, draws: int, delta: float, significance: float, method: Method
) -> FloatArray:
    """Return the smallest likely counts that refute the claim beside unlikely counts; above `draws`: none does."""
    ratio = math.exp(claim)

    def clopper_pearson(count: FloatArray) -> FloatArray:
        ceiling = beta.isf(significance / 2, count + 1, np.maximum(draws - count, 1e-300))
        needed = np.asarray(binom.isf(significance / 2, draws, np.minimum(ratio * ceiling + delta, 1.0)))
        return np.asarray(needed + 1)

    if method == "clopper_pearson":
        return clopper_pearson(unlikely)

    def standard_error(count: FloatArray) -> FloatArray:
        likely = np.minimum(ratio * (count + 1) + delta * draws, draws)
        return np.asarray(np.sqrt(likely + ratio**2 * (count + 1)))

    largest = float(unlikely.max())
    nodes = np.unique(np.concatenate([np.arange(min(largest, 8) + 1), np.geomspace(1, largest + 2, 24).round()]))
    # nothing refutes beside a larger count than this
    nodes = nodes[ratio * nodes + delta * draws < draws]
    enough = np.minimum(2 * clopper_pearson(nodes) - ratio * nodes - delta * draws, draws + 1)
    exact = np.array(
        [
            _refuting_count(int(node), int(high), claim, draws, delta, significance)
            for node, high in zip(nodes, enough, strict=True)
        ]
    )
    margins = (exact - ratio * nodes - delta * draws) / standard_error(nodes)
    between = ratio * unlikely + delta * draws + np.interp(unlikely, nodes, margins) * standard_error(unlikely)
    return np.where(unlikely <= nodes[-1], np.ceil(between - 1e-6), draws + 1.0)


def _refuting_count(
    unlikely: int, enough: int, claim: float, draws: int, delta: float, significance: float
) -> int:
    """Return the smallest likely count, up to `enough`, at which the joint test refutes."""
    low, high = int(math.exp(claim) * unlikely + delta * draws), enough
    while high - low > 1:
        middle = (low + high) // 2
        refuted = joint_rejects(Counts(middle, draws, unlikely, draws), claim, delta, significance)
        low, high = (low, middle) if refuted else (middle, high)
    return high
