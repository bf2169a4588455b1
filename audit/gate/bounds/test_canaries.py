"""One-run auditing: the bound errs no more often than stated, and a point estimate errs more."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.stats import binom

from audit import canary_lower_bound
from audit.bounds import canary_epsilon_bound, canary_p_value, lower_bound_on_probability

SIGNIFICANCE = 0.05


@pytest.mark.parametrize(("guesses", "epsilon"), [(20, 0.5), (200, 1.0), (200, 3.0)])
def test_bound_errs_as_seldom_as_stated_for_randomised_response(guesses, epsilon):
    """Randomised response keeps epsilon and no less: exact, summed over all numbers of right guesses."""
    share = 1 / (1 + math.exp(-epsilon))
    counts = np.arange(guesses + 1)
    chances = binom.pmf(counts, guesses, share)
    likely = counts[chances > 1e-12]
    bounds = np.array([canary_epsilon_bound(int(v), guesses, guesses, 0.0, SIGNIFICANCE) for v in likely])
    wrong = float(chances[likely][bounds > epsilon].sum())
    assert wrong <= SIGNIFICANCE
    # broken control: the share itself as the bound
    assert float(chances[counts / guesses > share].sum()) > 0.3
    assert (np.diff(bounds) >= 0).all()


def leaky_errors(delta: float, stated: float, runs: int) -> float:
    """Return how often the bound at a stated delta is above 0 for what tells each bit with chance delta."""
    rng = np.random.default_rng(4)
    canaries, wrong = 500, 0
    for _ in range(runs):
        told = rng.random(canaries) < delta
        right = int((told | (rng.random(canaries) < 0.5)).sum())
        wrong += canary_epsilon_bound(right, canaries, canaries, stated, SIGNIFICANCE) > 0
    return wrong / runs


def test_delta_of_the_claim_is_allowed_for_and_a_smaller_one_is_not_enough():
    # at most 5 % is stated; above 8.5 % of 400 has probability below 0.2 %
    assert leaky_errors(0.1, 0.1, 400) <= 0.085
    assert leaky_errors(0.1, 0.0, 100) > 0.5


def test_pure_bound_is_that_of_clopper_and_pearson():
    share = lower_bound_on_probability(170, 200, SIGNIFICANCE)
    found = canary_epsilon_bound(170, 200, 900, 0.0, SIGNIFICANCE)
    assert found == pytest.approx(math.log(share / (1 - share)), abs=1e-5)
    assert (
        canary_p_value(170, 200, 900, found, 0.0)
        <= SIGNIFICANCE
        < canary_p_value(170, 200, 900, found + 1e-6, 0.0)
    )
    # with delta the bound is smaller, the more so with more canaries
    assert found > canary_epsilon_bound(170, 200, 900, 1e-6, SIGNIFICANCE)
    assert canary_epsilon_bound(170, 200, 900, 1e-2, SIGNIFICANCE) == 0


@pytest.mark.parametrize(("scale", "low", "high"), [(0.5, 0.3, 2.0), (5.0, 0.0, 0.2)])
def test_scores_of_noisy_memberships_give_a_bound_below_the_loss(scale, low, high):
    """A membership with Laplace noise of this scale loses 1 / scale."""
    rng = np.random.default_rng(1)
    members = rng.random(2_000) < 0.5
    found = canary_lower_bound(members + rng.laplace(scale=scale, size=2_000), members, guesses=300)
    assert low <= found <= min(high, 1 / scale)
    # scores that know nothing
    assert canary_lower_bound(rng.normal(size=2_000), members, guesses=300) == 0


@pytest.mark.parametrize(
    ("scores", "members", "guesses", "said"),
    [
        (np.zeros(4), np.zeros(3), 2, "one entry for each"),
        (np.full(4, np.nan), np.zeros(4), 2, "NaN"),
        (np.zeros(4), np.full(4, 2), 2, "0 or 1"),
        (np.zeros(4), np.zeros(4), 3, "even"),
        (np.zeros(4), np.zeros(4), 6, "from 2 to 4"),
    ],
)
def test_what_is_no_run_with_canaries_is_refused(scores, members, guesses, said):
    with pytest.raises(ValueError, match=said):
        canary_lower_bound(scores, members, guesses=guesses)


def test_numbers_that_do_not_fit_are_refused():
    with pytest.raises(ValueError, match="each at most the next"):
        canary_epsilon_bound(5, 4, 10, 0.0, SIGNIFICANCE)
