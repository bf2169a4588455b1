"""The bound with calls as clusters holds where outputs of one call depend on each other, and says something."""

from __future__ import annotations

import math
from itertools import product

import numpy as np
import pytest
from scipy.stats import binom, norm

from audit.auditor.verdict import seen_by_event
from audit.bounds import Counts, cluster_epsilon_lower_bound, epsilon_lower_bound
from audit.bounds.clusters import lower_limit_of_mean
from audit.bounds.counts import Calls
from audit.bounds.e_value import STAKES
from audit.evidence.ball_arithmetic import cluster_holds
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
    # taken as independent, rows would say more than is there
    with pytest.raises(ValueError, match=r"repeats rows: .* or take calls whole, by outputs_per_call"):
        bound_of_arrays(left, right)


@pytest.mark.parametrize("per_call", [0, 3, 2.0, True])
def test_calls_that_are_not_whole_are_refused(per_call):
    with pytest.raises(ValueError, match=r"outputs_per_call must (divide|be a whole number, at least 1)"):
        bound_of_arrays(np.zeros(800), np.zeros(800), outputs_per_call=per_call)


# --- From counts by calls -------------------------------------------------------------------------------------


def counts_of(left, right):
    """Return the counts of shares of calls."""
    return Counts.of_calls(
        *(np.bincount(np.rint(side * PER_CALL).astype(int), minlength=PER_CALL + 1) for side in (left, right))
    )


@pytest.mark.parametrize("noises", [1, 2, 8])
def test_counts_by_calls_give_the_bound_of_the_shares(noises):
    rng = np.random.default_rng(noises)
    left, right = (shares(rng, probability, noises, 600) for probability in (LIKELY, UNLIKELY))
    counts = counts_of(left, right)
    bound = epsilon_lower_bound(counts, 0.01, 0.05, "cluster_betting")
    assert bound == pytest.approx(cluster_epsilon_lower_bound(left, right, 0.01, 0.05))
    assert cluster_holds(counts, bound, 0.01, 0.05)
    assert cluster_holds(counts, bound + 1e-6, 0.01, 0.05) is False


def test_effective_draws_are_one_for_each_noise():
    rng = np.random.default_rng(4)
    for noises in (1, 2, 4, 8):
        found = counts_of(shares(rng, LIKELY, noises, 20_000), shares(rng, UNLIKELY, noises, 20_000)).effective
        assert found.likely_draws == pytest.approx(20_000 * noises, rel=0.05)
        assert found.likely / found.likely_draws == pytest.approx(LIKELY, abs=0.02)


@pytest.mark.parametrize("noises", [1, 8])
def test_event_shows_what_is_called_detectable_in_nine_runs_of_ten(noises):
    rng = np.random.default_rng(noises)
    found = counts_of(shares(rng, LIKELY, noises, 1_000), shares(rng, UNLIKELY, noises, 1_000))
    detectable = seen_by_event(1.0, found, 0.0, 0.05, "cluster_betting")
    likely = UNLIKELY * math.exp(detectable)
    refuted = sum(
        cluster_epsilon_lower_bound(
            shares(rng, likely, noises, 1_000), shares(rng, UNLIKELY, noises, 1_000), 0, 0.05
        )
        > 1.0
        for _ in range(100)
    )
    assert 80 <= refuted <= 99


@pytest.mark.parametrize(
    "calls",
    [
        Calls(2, ((0, 1), (1, 2)), ((0, 3),)),
        Calls(4, ((0, 1), (3, 1)), ((0, 2),)),
        Calls(2, ((2, 1), (0, 2), (0, 1)), ((0, 4),)),
        Calls(1, ((0, 6), (1, 2)), ((0, 8),)),
        Calls(2, ((3, 1), (-1, 1), (0, 2)), ((0, 4),)),
    ],
)
def test_calls_that_come_to_other_counts_are_refused(calls):
    Counts(2, 8, 0, 8, Calls(2, ((0, 2), (1, 2)), ((0, 4),)))
    with pytest.raises(ValueError, match="calls that come to"):
        Counts(2, 8, 0, 8, calls)


def test_bound_holds_whenever_one_stops():
    """Calls one after another, looked at 30 times; the worst look counts."""
    rng = np.random.default_rng(9)
    runs, errors = 100, 0
    for _ in range(runs):
        left, right = shares(rng, LIKELY, 2, 300), shares(rng, UNLIKELY, 2, 300)
        looks = range(10, 301, 10)
        errors += any(cluster_epsilon_lower_bound(left[:n], right[:n], 0, SIGNIFICANCE) > 1.0 for n in looks)
    assert binom.sf(errors - 1, runs, SIGNIFICANCE) > 1e-3
