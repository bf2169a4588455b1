"""The bound with calls as clusters holds where outputs of one call depend on each other, and says something."""

from __future__ import annotations

import math
from itertools import product

import numpy as np
import pytest
from scipy.stats import binom, norm

from audit.bounds import cluster_epsilon_lower_bound
from audit.bounds.clusters import lower_limit_of_mean
from audit.bounds.e_value import STAKES
from audit.evidence.one_call import epsilon_lower_bound as bound_of_arrays

PER_CALL, CALLS, SIGNIFICANCE = 8, 150, 0.1

# the event below 0 of Laplace noise with epsilon 1, which attains it
LIKELY, UNLIKELY = 0.5, 0.5 * math.exp(-1)


def shares(rng, probability, noises, calls=CALLS):
    """Return the shares of calls whose outputs use so many noises between them."""
    events = rng.random((calls, noises)) < probability
    return np.repeat(events, PER_CALL // noises, axis=1).mean(axis=1)


def of_independent_outputs(p, q):
    """Return about the bound that holds where no output depends on another."""
    variance = ((1 - p) / p + (1 - q) / q) / (CALLS * PER_CALL)
    return math.log(p / q) - norm.isf(SIGNIFICANCE) * math.sqrt(variance)


@pytest.mark.parametrize("noises", [1, 2, 8])
def test_bound_errs_as_seldom_as_stated_whatever_a_call_shares(noises):
    rng = np.random.default_rng(noises)
    runs, errors, naive_errors = 120, 0, 0
    for _ in range(runs):
        left, right = shares(rng, LIKELY, noises), shares(rng, UNLIKELY, noises)
        errors += cluster_epsilon_lower_bound(left, right, 0.0, SIGNIFICANCE) > 1.0
        naive_errors += of_independent_outputs(left.mean(), right.mean()) > 1.0
    assert binom.sf(errors - 1, runs, SIGNIFICANCE) > 1e-3
    # broken control: outputs taken as independent; with a noise for each they are
    assert (binom.sf(naive_errors - 1, runs, SIGNIFICANCE) < 1e-4) == (noises < PER_CALL)


@pytest.mark.lengthy
@pytest.mark.parametrize("noises", [1, 2, 8])
@pytest.mark.parametrize("delta", [0.0, 0.1])
def test_bound_errs_as_seldom_as_stated_in_two_thousand_runs(noises, delta):
    rng = np.random.default_rng([noises, int(10 * delta)])
    truth = math.log((LIKELY - delta) / UNLIKELY)
    errors = sum(
        cluster_epsilon_lower_bound(shares(rng, LIKELY, noises), shares(rng, UNLIKELY, noises), delta, 0.05)
        > truth
        for _ in range(2_000)
    )
    assert binom.sf(errors - 1, 2_000, 0.05) > 1e-3


@pytest.mark.parametrize("noises", [1, 2, 8])
def test_noise_for_twice_the_claim_is_refuted(noises):
    rng = np.random.default_rng(noises)
    sides = [shares(rng, probability, noises, 600) for probability in (0.5, 0.5 * math.exp(-2))]
    found = cluster_epsilon_lower_bound(*sides, 0.0, 0.05)
    assert 1.0 < found <= 2.0


def test_outputs_that_are_less_alike_tell_more():
    bounds = []
    for noises in (1, 8):
        rng = np.random.default_rng(3)
        pairs = [(shares(rng, LIKELY, noises), shares(rng, UNLIKELY, noises)) for _ in range(12)]
        bounds.append(np.median([cluster_epsilon_lower_bound(*pair, 0.0, 0.05) for pair in pairs]))
    assert bounds[1] > bounds[0] + 0.1


@pytest.mark.parametrize("mean", [0.01, 0.3, 0.9])
def test_stakes_win_nothing_on_average(mean):
    """Exactly, over all outcomes of four calls: two-valued shares and shares of three values with this mean."""
    for values, chances in (([0.0, 1.0], [1 - mean, mean]), ([0.0, mean, 1.0], [(1 - mean) / 2, 0.5, mean / 2])):
        assert math.isclose(float(np.dot(values, chances)), mean)
        expected = 0.0
        for outcome in product(range(len(values)), repeat=4):
            wealth = np.prod([1 - STAKES + STAKES * values[k] / mean for k in outcome], axis=0).mean()
            expected += wealth * math.prod(chances[k] for k in outcome)
        assert expected == pytest.approx(1.0)


@pytest.mark.parametrize("values", [[], [-0.1, 0.5], [0.5, 1.1]])
def test_what_is_no_share_is_refused(values):
    with pytest.raises(ValueError, match="shares must be"):
        lower_limit_of_mean(np.array(values), 0.05)


def test_limits_at_the_ends():
    assert lower_limit_of_mean(np.zeros(50), 0.05) == 0.0
    assert 0.8 < lower_limit_of_mean(np.ones(50), 0.05) < 1.0
    assert cluster_epsilon_lower_bound(np.zeros(50), np.zeros(50), 0.0, 0.05) == 0.0


# --- From arrays ----------------------------------------------------------------------------------------------


def outputs(rng, value, scale):
    """Return 1,000 calls of eight outputs with one noise each."""
    return np.repeat(rng.laplace(value, scale, 1_000), PER_CALL)


@pytest.mark.parametrize(("scale", "refuted"), [(1.0, False), (0.5, True)])
def test_bound_of_arrays_takes_calls_whole(scale, refuted):
    rng = np.random.default_rng(6)
    left, right = outputs(rng, 0, scale), outputs(rng, 1, scale)
    found = bound_of_arrays(left, right, outputs_per_call=PER_CALL)
    assert (found > 1.0) is refuted
    assert found > 0.3
    # rows taken as independent would say more than is there
    assert bound_of_arrays(left, right) > found


@pytest.mark.parametrize("per_call", [0, 3, 2.0, True])
def test_calls_that_are_not_whole_are_refused(per_call):
    with pytest.raises(ValueError, match="outputs_per_call must divide"):
        bound_of_arrays(np.zeros(800), np.zeros(800), outputs_per_call=per_call)
