"""The lower bound on epsilon covers the truth as often as it says: exact sums over binomials."""

from __future__ import annotations

import math
from functools import cache

import numpy as np
import pytest
from scipy.stats import binom
from statsmodels.stats.proportion import proportion_confint

from audit.bounds import (
    Counts,
    detectable_epsilon,
    epsilon_lower_bound,
    largest_certifiable_epsilon,
    lower_bound_on_probability,
    upper_bound_on_probability,
)

DRAWS = 40
SIGNIFICANCE = 0.05


def exact_error(p_likely: float, p_unlikely: float, delta: float, bound) -> float:
    """Return the exact probability that `bound(k, l)` exceeds log((p_likely - delta) / p_unlikely)."""
    truth = math.log((p_likely - delta) / p_unlikely) if p_likely > delta else -math.inf
    return sum(
        binom.pmf(k, DRAWS, p_likely) * binom.pmf(m, DRAWS, p_unlikely)
        for k in range(DRAWS + 1)
        for m in range(DRAWS + 1)
        if bound(k, m, delta) > max(truth, 0.0)
    )


@cache
def certified(k: int, m: int, delta: float) -> float:
    return epsilon_lower_bound(Counts(k, DRAWS, m, DRAWS), delta, SIGNIFICANCE)


@cache
def point_estimate(k: int, m: int, delta: float) -> float:
    return math.log(max(k / DRAWS - delta, 1e-9) / (m / DRAWS)) if m else math.inf


GRID = [(0.9, 0.1), (0.5, 0.05), (0.5, 0.5), (0.2, 0.02), (0.99, 0.9), (0.05, 0.01)]


@pytest.mark.parametrize(("p_likely", "p_unlikely"), GRID)
@pytest.mark.parametrize("delta", [0.0, 0.01])
def test_bound_exceeds_the_truth_at_most_as_often_as_stated(p_likely, p_unlikely, delta):
    assert exact_error(p_likely, p_unlikely, delta, certified) <= SIGNIFICANCE


def test_coverage_check_fires_on_the_point_estimate():
    assert exact_error(0.5, 0.05, 0.0, point_estimate) > 5 * SIGNIFICANCE


def test_probability_bounds_are_on_their_own_sides():
    low, high = lower_bound_on_probability(30, 100, 0.025), upper_bound_on_probability(30, 100, 0.025)
    # the defining tail equations of Clopper and Pearson
    assert low < 0.3 < high
    assert binom.sf(29, 100, low) == pytest.approx(0.025, rel=1e-6)
    assert binom.cdf(30, 100, high) == pytest.approx(0.025, rel=1e-6)


def test_bound_is_zero_when_the_event_says_nothing():
    assert epsilon_lower_bound(Counts(10, 100, 12, 100), 0.0, 0.05) == 0.0
    assert epsilon_lower_bound(Counts(0, 100, 0, 100), 0.0, 0.05) == 0.0
    assert epsilon_lower_bound(Counts(5, 1000, 0, 1000), 0.01, 0.05) == 0.0


def test_delta_lowers_the_bound():
    counts = Counts(500, 1000, 50, 1000)
    assert epsilon_lower_bound(counts, 0.1, 0.05) < epsilon_lower_bound(counts, 0.0, 0.05)


def test_largest_certifiable_epsilon_grows_with_the_draws():
    few, many = (largest_certifiable_epsilon(n, 0.0, 0.05, "clopper_pearson") for n in (1_000, 100_000))
    # a perfect event: log of about n / log(2 / significance)
    assert few == pytest.approx(math.log(1_000 / math.log(40)), abs=0.01)
    assert many - few == pytest.approx(math.log(100), abs=0.01)


def best_power(epsilon: float, claim: float, draws: int) -> float:
    """Return the largest simulated power over events, by the event's probability on the unlikely input."""
    random, runs = np.random.default_rng(0), 1_000
    unlikely = np.geomspace(1e-3 / draws, 0.5, 400)[:, None]
    likely = math.exp(epsilon) * unlikely
    possible = (likely <= 1).ravel()
    sizes = (int(possible.sum()), runs)
    k, m = (random.binomial(draws, share[possible], sizes) for share in (likely, unlikely))
    # both probabilities bounded at half the significance, as in epsilon_lower_bound
    low = proportion_confint(k, draws, alpha=SIGNIFICANCE, method="beta")[0]
    high = proportion_confint(m, draws, alpha=SIGNIFICANCE, method="beta")[1]
    return float((low > math.exp(claim) * high).mean(axis=1).max())


@pytest.mark.parametrize(("claim", "draws"), [(1.0, 600), (1.0, 20_000), (3.0, 5_000)])
def test_detectable_epsilon_is_refuted_with_the_stated_power_and_less_is_not(claim, draws):
    detectable = detectable_epsilon(claim, draws, 0.0, SIGNIFICANCE, "clopper_pearson")
    assert best_power(detectable, claim, draws) > 0.9
    assert best_power(claim + 0.6 * (detectable - claim), claim, draws) < 0.9


def test_detectable_epsilon_is_none_when_no_event_can_refute_the_claim():
    assert detectable_epsilon(9.0, 300, 0.0, SIGNIFICANCE) is None
    assert largest_certifiable_epsilon(300, 0.0, SIGNIFICANCE) < 9.0
