"""One-run auditing: the bound errs no more often than stated, and a point estimate errs more."""

from __future__ import annotations

import copy
import math
import pickle

import numpy as np
import pytest
from scipy.optimize import linprog
from scipy.special import ndtr
from scipy.stats import binom

from audit import canary_lower_bound, canary_mu_lower_bound, epsilon_lower_bound
from audit.bounds import canary_epsilon_bound, canary_mu_bound, canary_p_value, lower_bound_on_probability
from audit.evidence.lower_bound import LowerBound
from audit.validity.given import attained_law

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


def attained(guesses: int, epsilon: float, delta: float, threshold: int) -> np.ndarray:
    """Return the law that attains the bound, of a mechanism that keeps epsilon and delta."""
    found = attained_law(guesses, epsilon, delta, threshold)
    counts = np.arange(1, guesses + 1)
    # what the guesses of one mechanism lose that depends on the number of right ones alone
    excess = counts * found[1:] - math.exp(epsilon) * (guesses - counts + 1) * found[:-1]
    assert excess.clip(0).sum() / guesses == pytest.approx(delta, rel=1e-9)
    assert found.sum() == pytest.approx(1)
    return found


@pytest.mark.parametrize(("guesses", "epsilon", "delta"), [(60, 0.5, 1e-3), (200, 1.0, 1e-3), (200, 0.0, 1e-2)])
def test_bound_is_attained_and_errs_without_delta(guesses, epsilon, delta):
    def chance(right: int, allowed: float) -> float:
        return canary_p_value(right, guesses, guesses, epsilon, allowed)

    for allowed, errs in ((delta, False), (0.0, True)):
        # the bound is above epsilon from so many right guesses on
        threshold = next(v for v in range(guesses + 1) if chance(v, allowed) <= SIGNIFICANCE)
        wrong = float(attained(guesses, epsilon, delta, threshold)[threshold:].sum())
        assert chance(threshold, delta) == pytest.approx(wrong, rel=1e-6)
        assert (wrong > SIGNIFICANCE) is errs


def test_attained_bound_is_tighter_than_that_of_2023():
    gains = []
    for guesses, canaries, delta in ((20, 20, 1e-3), (200, 10_000, 1e-5), (200, 1_000, 1e-3), (300, 900, 0.0)):
        for share in (0.75, 0.9, 1.0):
            new, old = (
                canary_epsilon_bound(int(share * guesses), guesses, canaries, delta, SIGNIFICANCE, method)
                for method in ("flips", "runs")
            )
            assert new >= old
            gains.append(new - old)
    assert max(gains) > 0.3


def right_of_gaussian(mu: float, canaries: int, guesses: int, runs: int) -> np.ndarray:
    """Return the right guesses in runs of noise that is mu-GDP for each canary."""
    rng = np.random.default_rng(6)
    members = rng.random((runs, canaries)) < 0.5
    order = np.argsort(mu * members + rng.normal(size=members.shape), axis=1)
    sorted_members = np.take_along_axis(members, order, axis=1)
    half = guesses // 2
    right = sorted_members[:, -half:].sum(axis=1) + (~sorted_members[:, :half]).sum(axis=1)
    return np.asarray(right, dtype=int)


def test_mu_is_bounded_for_gaussian_noise_and_found_too_large():
    runs = right_of_gaussian(1.0, 400, 80, 500)
    bounds = {v: canary_mu_bound(v, 80, 400, SIGNIFICANCE) for v in map(int, np.unique(runs))}
    assert sum(bounds[int(v)] > 1 for v in runs) <= 500 * SIGNIFICANCE
    # found: noise of mu 4 that claims mu 1
    leaks = right_of_gaussian(4.0, 400, 80, 100)
    assert all(canary_mu_bound(int(v), 80, 400, SIGNIFICANCE) > 1 for v in np.unique(leaks))
    assert all(np.diff(list(bounds.values())) >= 0)


@pytest.mark.parametrize("mu", [0.5, 1.0, 3.0])
def test_mu_of_one_canary_is_exact(mu):
    """Of one canary the likelihood ratio guesses right with chance Phi(mu / 2): the largest there is."""
    share = float(ndtr(mu / 2))
    assert canary_mu_bound(1, 1, 1, share) == pytest.approx(mu, abs=1e-6)
    assert canary_mu_bound(1, 1, 1, share * 1.01) > mu
    assert canary_mu_bound(0, 1, 1, share) == 0


def test_sum_that_refutes_mu_is_that_of_a_linear_programme():
    """No law of the right guesses has the tails that (3) asks for, and a larger chance than the significance."""
    guesses, canaries, mu = 12, 30, 0.8
    curve = [
        (e, float(ndtr(mu / 2 - e / mu) - math.exp(e) * ndtr(-mu / 2 - e / mu))) for e in np.linspace(0, 6, 200)
    ]
    for right in (10, 11, 12):
        rows, limits = [], []
        for count in range(1, right + 1):
            for epsilon, delta in curve:
                row = np.zeros(guesses + 1)
                for t in range(count, guesses + 1):
                    row[t] += t
                    row[t - 1] -= math.exp(epsilon) * (guesses - t + 1)
                rows.append(row)
                limits.append(canaries * delta)
        tail = np.where(np.arange(guesses + 1) >= right, -1.0, 0.0)
        most = -linprog(tail, rows, limits, [np.ones(guesses + 1)], [1]).fun
        assert canary_mu_bound(right, guesses, canaries, most * 0.99) <= mu + 1e-3
        assert canary_mu_bound(right, guesses, canaries, most * 1.02) > mu - 1e-3


@pytest.mark.parametrize(("scale", "low", "high"), [(0.5, 0.3, 2.0), (5.0, 0.0, 0.2)])
def test_scores_of_noisy_memberships_give_a_bound_below_the_loss(scale, low, high):
    """A membership with Laplace noise of this scale loses 1 / scale."""
    rng = np.random.default_rng(1)
    members = rng.random(2_000) < 0.5
    found = canary_lower_bound(members + rng.laplace(scale=scale, size=2_000), members, guesses=300)
    assert low <= found <= min(high, 1 / scale)
    # scores that know nothing
    for bound in (canary_lower_bound, canary_mu_lower_bound):
        assert bound(rng.normal(size=2_000), members, guesses=300) == 0


@pytest.mark.parametrize("kinds", [1, 2, 5])
@pytest.mark.parametrize("last", [True, False])
def test_order_of_canaries_of_equal_scores_tells_nothing(kinds, last):
    """Members that stood together were told by their places: a bound of 4.6 from scores that know nothing."""
    rng = np.random.default_rng(2)
    members = np.sort(rng.random(2_000) < 0.5)[:: 1 if last else -1]
    for bound in (canary_lower_bound, canary_mu_lower_bound):
        assert bound(rng.integers(kinds, size=2_000), members, guesses=300, significance=1e-6) == 0
    # equal scores that know something still show it
    assert canary_lower_bound(members & (rng.random(2_000) < 0.9), members, guesses=300) > 1.0


def test_copies_of_a_bound_keep_what_it_rests_on():
    rng = np.random.default_rng(1)
    arrays = rng.laplace(size=600), rng.laplace(size=600) + 3
    members = rng.random(600) < 0.5
    for bound in (epsilon_lower_bound(*arrays), canary_lower_bound(members, members, guesses=100)):
        assert {"significance", "assumes"} < set(vars(bound))
        for again in (copy.copy(bound), copy.deepcopy(bound), pickle.loads(pickle.dumps(bound))):
            assert (type(again), again, vars(again)) == (type(bound), bound, vars(bound))
        assert isinstance(bound, LowerBound)


@pytest.mark.parametrize("bound", [canary_lower_bound, canary_mu_lower_bound])
def test_bound_names_what_it_assumes_and_an_order_that_does_not_show_it(bound):
    rng = np.random.default_rng(3)

    def told(scores, members):
        found = bound(scores, members, guesses=100)
        assert (found.guesses, found.canaries, found.significance) == (100, 600, SIGNIFICANCE)
        for words in ("fair coin", "added or removed", "`guesses` was fixed", "place of its canary"):
            assert words in found.assumes
        assert ("Gaussian" in found.assumes) is (bound is canary_mu_lower_bound)
        said = {"stand in blocks", "alternate", "scores is sorted"}
        return {words for words in said if words in found.assumes}

    # null controls: coins, whatever the scores
    for _ in range(40):
        members = rng.random(600) < 0.5
        assert told(members + rng.laplace(size=600), members) == set()
    half = np.arange(600) < 300
    assert told(half + rng.laplace(size=600), half) == {"stand in blocks"}
    assert told(rng.laplace(size=600), np.arange(600) % 2) == {"alternate"}
    scores = members + rng.laplace(size=600)
    order = np.argsort(scores)
    # sorted together nothing is lost, apart from each other all of it
    assert bound(scores[order], members[order], guesses=100) == bound(scores, members, guesses=100)
    assert told(np.sort(scores), np.sort(members)) == {"stand in blocks", "scores is sorted"}
    assert told(np.sort(rng.laplace(size=600)), members) == {"scores is sorted"}


@pytest.mark.parametrize(
    ("scores", "members", "guesses", "said"),
    [
        (np.zeros(4), np.zeros(3), 2, "one entry for each"),
        (np.full(4, np.nan), np.zeros(4), 2, "NaN"),
        (np.zeros(4), np.full(4, 2), 2, "0 or 1"),
        (np.zeros(4), np.zeros(4), 3, "even"),
        (np.zeros(4), np.zeros(4), 2.0, "a whole number"),
        (np.zeros(4), np.zeros(4), 6, "from 2 to 4"),
    ],
)
def test_what_is_no_run_with_canaries_is_refused(scores, members, guesses, said):
    with pytest.raises(ValueError, match=said):
        canary_lower_bound(scores, members, guesses=guesses)


def test_numbers_that_do_not_fit_are_refused():
    with pytest.raises(ValueError, match="each at most the next"):
        canary_epsilon_bound(5, 4, 10, 0.0, SIGNIFICANCE)
    with pytest.raises(ValueError, match="one of flips, runs"):
        canary_epsilon_bound(4, 4, 10, 0.0, SIGNIFICANCE, "2023")
