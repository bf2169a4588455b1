"""The most that this many draws can show."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Literal, TypeAlias

import numpy as np
from scipy.optimize import brentq
from scipy.special import betainccinv, ndtri

from audit.bounds.anytime import LARGEST_LEVEL
from audit.bounds.binomial import above, exactly, upper_quantile
from audit.bounds.choice import Method, check_method, epsilon_lower_bound
from audit.bounds.clusters import CLUSTERS, ClusterMethod, cluster_bound_of_counts
from audit.bounds.conditional import conditional_rejects
from audit.bounds.counts import LARGEST_EPSILON, Counts, check_epsilon, check_levels
from audit.bounds.e_value import ANYTIME, log_e_value
from audit.bounds.joint import joint_excess, joint_rejects
from reference.common.arrays import FloatArray

Certifier: TypeAlias = Method | ClusterMethod | Literal["anytime_betting"]
"""The ways to certify a bound: a method for a fixed size, the one for calls, or the anytime one at its last look.

For calls the draws are the equivalent number of independent ones (:attr:`audit.bounds.counts.Counts.effective`).
"""

POWER = 0.9
"""The power for which `detectable` is stated."""

EVENTS = 24
"""Event probabilities that `detectable_epsilon` tries."""

LIKELY_COUNTS = 60
"""Likely counts to try for the largest certifiable loss of the conditional bound."""

CONDITIONAL_STEPS = 40
"""Likely probabilities at which to compute the power of the conditional bound first."""

QUANTILES = 100
"""Equally likely values that stand for the unlikely count."""


def largest_certifiable_epsilon(
    draws_per_input: int, delta: float, significance: float, method: Certifier = "joint"
) -> float:
    """Return the bound of the best possible counts: the event never occurs on the unlikely input.

    A test with this many draws cannot refute a claim above it.  "Always on the likely input" is best but for the
    conditional bound, which says nothing about events that are common there.

    Parameters
    ----------
    draws_per_input : int
        That certify.
    delta, significance : float
    method : {'joint', 'clopper_pearson', 'conditional', 'cluster_betting', 'anytime_betting'}
    """
    n = draws_per_input
    if method == ANYTIME:
        return _highest_level(n, delta, significance)
    if method == "conditional":
        check_method(method, delta)
        counts = np.unique(np.geomspace(1, n, LIKELY_COUNTS).round().astype(int))
        return max(epsilon_lower_bound(Counts(int(k), n, 0, n), 0.0, significance, method) for k in counts)
    return epsilon_lower_bound(Counts(n, n, 0, n), delta, significance, method)


def _highest_level(draws: int, delta: float, significance: float) -> float:
    """Return the highest level that the e-value of a perfect event reaches, up to the step between levels."""
    perfect = Counts(draws, draws, 0, draws)
    low, high = 0.0, LARGEST_LEVEL
    if not _rejects(perfect, low, delta, significance, ANYTIME):
        return 0.0
    while high - low > 1e-6:
        middle = (low + high) / 2
        rejected = _rejects(perfect, middle, delta, significance, ANYTIME)
        low, high = (middle, high) if rejected else (low, middle)
    return low


def detectable_epsilon(
    claimed_epsilon: float, draws_per_input: int, delta: float, significance: float, method: Certifier = "joint"
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
    method : {'joint', 'clopper_pearson', 'conditional', 'cluster_betting', 'anytime_betting'}
        That certifies; the anytime bound is taken at its last look alone, so its power is at least what is stated.

    Returns
    -------
    float or None
        None when no event can refute the claim with this many draws.
    """
    unlikely = np.geomspace(0.1 / draws_per_input, 0.5, EVENTS)
    found = detectable_by_event(claimed_epsilon, draws_per_input, delta, significance, method, unlikely)
    return float(np.nanmin(found)) if np.isfinite(found).any() else None


def detectable_by_event(
    claimed_epsilon: float,
    draws_per_input: int,
    delta: float,
    significance: float,
    method: Certifier,
    unlikely: FloatArray,
) -> FloatArray:
    """Return the smallest epsilon detectable with power 0.9 by an event, for each of its probabilities.

    Parameters
    ----------
    claimed_epsilon : float
        At least 0.
    draws_per_input : int
    delta, significance : float
    method : {'joint', 'clopper_pearson', 'conditional', 'cluster_betting', 'anytime_betting'}
        That certifies; the anytime bound is taken at its last look alone, so its power is at least what is stated.
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
    if method not in (ANYTIME, CLUSTERS):
        check_method(method, delta)
    check_levels(delta, significance)
    n = draws_per_input
    if claimed_epsilon > LARGEST_EPSILON or not _refutable(claimed_epsilon, n, delta, significance, method):
        return np.full(len(unlikely), np.nan)
    levels = (np.arange(QUANTILES) + 0.5) / QUANTILES
    counts = upper_quantile(1 - levels, n, unlikely[:, None])
    needed = _refuting_counts(counts, claimed_epsilon, n, delta, significance, method)

    def power(likely: FloatArray) -> FloatArray:
        powers: FloatArray = above(needed - 1, n, likely[:, None]).mean(axis=1)
        return powers

    low = np.minimum(math.exp(claimed_epsilon) * unlikely + delta, 1.0)
    high = np.ones_like(low)
    if method == "conditional":
        # it gives up on common events: the power falls again, and the bisection stays below
        for share in np.linspace(0.0, 1.0, CONDITIONAL_STEPS):
            high = np.where(power(low**share) >= POWER, low**share, high)
    # p_likely, by bisection: the power grows with it
    for _ in range(40):
        middle = (low + high) / 2
        enough = power(middle) >= POWER
        low, high = np.where(enough, low, middle), np.where(enough, middle, high)
    epsilon = np.log(np.maximum(high - delta, 0.0) / unlikely, out=np.full_like(high, np.nan), where=high > delta)
    return np.where(power(high) >= POWER, epsilon, np.nan)


def _refutable(claim: float, draws: int, delta: float, significance: float, method: Certifier) -> bool:
    """Return whether the best possible counts refute a claim; quicker than the largest one that they refute."""
    check_epsilon(claim)
    if method in ("clopper_pearson", "conditional"):
        return claim <= largest_certifiable_epsilon(draws, delta, significance, method)
    return _rejects(Counts(draws, draws, 0, draws), claim, delta, significance, method)


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
    most = int(upper_quantile(1e-9, n, unlikely.max())) + 1
    counts = np.arange(float(most))
    needed = _refuting_counts(counts, claimed_epsilon, n, delta, significance, method)
    given = above(needed - 1, n, likely[:, None])
    powers: FloatArray = (exactly(counts, n, unlikely[:, None]) * given).sum(axis=1)
    return powers


def _refuting_counts(
    unlikely: FloatArray, claim: float, draws: int, delta: float, significance: float, method: Certifier
) -> FloatArray:
    """Return the smallest likely counts that refute the claim beside unlikely counts; above `draws`: none does."""
    ratio = math.exp(claim)

    if method == "clopper_pearson":
        ceiling = betainccinv(unlikely + 1, np.maximum(draws - unlikely, 1e-300), significance / 2)
        return upper_quantile(significance / 2, draws, np.minimum(ratio * ceiling + delta, 1.0)) + 1
    last = _last_refutable(int(unlikely.max()), claim, draws, delta, significance, method)
    if last < 0:
        return np.full_like(unlikely, draws + 1.0)
    nodes = np.unique(np.concatenate([np.arange(min(last, 8) + 1), np.geomspace(1, max(last, 1), 24).round()]))
    nodes = nodes[nodes <= last]
    # those on either side of each count; no other plays a part
    after = np.searchsorted(nodes, np.minimum(unlikely, nodes[-1]))
    nodes = nodes[np.unique([after, np.maximum(after - 1, 0)])]
    exact = np.array([_smallest_count(int(node), claim, draws, delta, significance, method) for node in nodes])
    margins = (exact - ratio * nodes - delta * draws) / _standard_error(nodes, claim, draws, delta)
    between = (
        ratio * unlikely
        + delta * draws
        + np.interp(unlikely, nodes, margins) * _standard_error(unlikely, claim, draws, delta)
    )
    # the conditional bound gives up suddenly on common events: do not interpolate up to there
    hopeless = (np.interp(unlikely, nodes, exact > draws) > 0) & (method == "conditional")
    return np.where((unlikely <= nodes[-1]) & ~hopeless, np.ceil(between - 1e-6), draws + 1.0)


def _standard_error(unlikely: FloatArray, claim: float, draws: int, delta: float) -> FloatArray:
    """Return approximately the standard error of likely - exp(claim) unlikely beside unlikely counts."""
    ratio = math.exp(claim)
    likely = np.minimum(ratio * (unlikely + 1) + delta * draws, draws)
    return np.asarray(np.sqrt(likely + ratio**2 * (unlikely + 1)))


@lru_cache(maxsize=1024)
def _last_refutable(
    largest: int, claim: float, draws: int, delta: float, significance: float, method: Certifier
) -> int:
    """Return the largest unlikely count, up to `largest`, beside which some likely count refutes, or -1."""
    if method == "conditional":
        # it needs counts below all draws: try every count that leaves room
        return min(largest, int((draws - 1) / math.exp(claim)))

    def refutable(count: int) -> bool:
        return _rejects(Counts(draws, draws, count, draws), claim, delta, significance, method)

    if refutable(largest):
        return largest
    low, high = -1, largest
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if refutable(middle) else (low, middle)
    return low


@lru_cache(maxsize=4096)  # audits of the same size and claim ask for the same counts
def _smallest_count(
    unlikely: int, claim: float, draws: int, delta: float, significance: float, method: Certifier
) -> int:
    """Return the smallest likely count that refutes the claim, or draws + 1, by steps that double and secants.

    If a count refutes, so do larger ones, except with the conditional bound, which gives up where the event
    gets common.  A step over all counts that refute there understates the power.
    """
    if method == ANYTIME:
        return _smallest_count_of_e_value(unlikely, claim, draws, delta, significance)

    def excess(likely: int) -> float:
        counts = Counts(likely, draws, unlikely, draws)
        if method == "joint":
            return joint_excess(counts, claim, delta, significance)
        return -math.inf if _rejects(counts, claim, delta, significance, method) else math.inf

    low = int(math.exp(claim) * unlikely + delta * draws)
    width = max(1, int(2 * _standard_error(np.array(unlikely), claim, draws, delta)))
    # roughly: a normal score that changes by 1 with each standard error
    at_low = float(-ndtri(significance))
    while (at_high := excess(high := min(draws, low + width))) >= 0:
        if high == draws:
            return draws + 1
        low, at_low, width = high, at_high, 2 * width
    below = None
    while high - low > 1:
        # where a line meets 0; in the middle where there is none
        share = at_low / (at_low - at_high) if 0 < at_low - at_high < math.inf else 0.5
        middle = min(max(low + round(share * (high - low)), low + 1), high - 1)
        found = excess(middle)
        again = below == (found < 0)
        below = found < 0
        # an end that stays for the second time counts half (the Illinois rule)
        if below:
            high, at_high, at_low = middle, found, at_low / 2 if again else at_low
        else:
            low, at_low, at_high = middle, found, at_high / 2 if again else at_high
    return high


def _smallest_count_of_e_value(unlikely: int, claim: float, draws: int, delta: float, significance: float) -> int:
    """Return the same for the anytime bound, whose e-value grows smoothly with the count."""

    def excess(likely: float) -> float:
        return log_e_value(likely, draws, unlikely, draws, claim, delta) + math.log(significance)

    step = float(_standard_error(np.array(unlikely), claim, draws, delta))
    low = math.exp(claim) * unlikely + delta * draws
    high, width = min(draws, low + 4 * step), 4 * step
    while excess(high) < 0:
        if high == draws:
            return draws + 1
        width *= 2
        low, high = high, min(draws, high + width)
    return math.ceil(float(brentq(excess, low, high, xtol=0.01 * step)))


def _rejects(counts: Counts, epsilon: float, delta: float, significance: float, method: Certifier) -> bool:
    if method == ANYTIME:
        found = (counts.likely, counts.likely_draws, counts.unlikely, counts.unlikely_draws)
        return log_e_value(*found, epsilon, delta) >= -math.log(significance)
    if method == CLUSTERS:
        return cluster_bound_of_counts(counts, delta, significance) > epsilon
    if method == "conditional":
        return conditional_rejects(counts, epsilon, significance)
    return joint_rejects(counts, epsilon, delta, significance)
