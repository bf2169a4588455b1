"""The anytime bound errs at most as often as it says, over all looks together: exact sums over paths."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
import pytest
from scipy.stats import binom

from audit.ball_arithmetic import anytime_holds
from audit.bounds import AnytimeBound, Counts, StoppingRule, log_e_value
from audit.bounds.joint import joint_rejects

SIGNIFICANCE = 0.05

LOOKS, BLOCK = 12, 3
"""Looks at a growing sample, and draws per input between two of them."""


def ever_rejected(rejects, likely: float, unlikely: float) -> float:
    """Return the exact probability that some look rejects, by recursion over the counts not rejected so far."""
    alive = np.ones((1, 1))
    step = [binom.pmf(np.arange(BLOCK + 1), BLOCK, share) for share in (likely, unlikely)]
    for look in range(1, LOOKS + 1):
        draws = look * BLOCK
        grown = np.zeros((draws + 1, draws + 1))
        for i, first in enumerate(step[0]):
            for j, second in enumerate(step[1]):
                grown[i : i + alive.shape[0], j : j + alive.shape[1]] += first * second * alive
        kept = [[not rejects(draws, k, m) for m in range(draws + 1)] for k in range(draws + 1)]
        alive = grown * np.array(kept)
    return 1 - float(alive.sum())


def anytime_rejects(epsilon: float, delta: float, significance: float):
    found = {}

    def rejects(draws, k, m):
        # fewer than expected never rejects, and saves the time
        if k <= math.exp(epsilon) * m + delta * draws:
            return False
        if (draws, k, m) not in found:
            found[draws, k, m] = log_e_value(k, draws, m, draws, epsilon, delta) >= -math.log(significance)
        return found[draws, k, m]

    return rejects


@pytest.mark.parametrize(("epsilon", "delta"), [(0.0, 0.0), (1.0, 0.1)])
def test_e_value_ever_reaches_its_limit_at_most_as_often_as_stated_whatever_the_nuisance(epsilon, delta):
    rejects, errors = anytime_rejects(epsilon, delta, SIGNIFICANCE), []
    for unlikely in (0.01, 0.1, 0.2, 0.33, 0.6, 0.9):
        likely = math.exp(epsilon) * unlikely + delta
        if likely <= 1:
            errors.append(ever_rejected(rejects, likely, unlikely))
    assert 0 < max(errors) <= SIGNIFICANCE


def test_the_check_of_repeated_looks_fires_on_a_test_made_for_one_look():
    """The joint test, right for one look, taken at each of twelve; and an e-value held against too low a limit."""

    def one_look(draws, k, m):
        return k > m and joint_rejects(Counts(k, draws, m, draws), 0.0, 0.0, SIGNIFICANCE)

    assert ever_rejected(one_look, 0.5, 0.5) > SIGNIFICANCE
    assert ever_rejected(anytime_rejects(0.0, 0.0, 0.5), 0.5, 0.5) > SIGNIFICANCE


def mixture(likely: float, unlikely: float, epsilon: float, nuisance: float, draws: int, delta: float) -> float:
    """Return the log of the mixture at one value of the nuisance, as the proof writes it."""
    from audit.bounds.anytime import TILTS

    ratio, inside = math.exp(epsilon), math.exp(epsilon) * nuisance + delta
    logs = [
        t * (likely - ratio * unlikely)
        - draws * math.log(1 + inside * math.expm1(t))
        - draws * math.log(1 - nuisance * -math.expm1(-t * ratio))
        for t in TILTS
    ]
    return float(np.logaddexp.reduce(logs)) - math.log(len(TILTS))


@pytest.mark.parametrize(("likely", "unlikely", "draws"), [(60, 10, 100), (9_000, 1_000, 10_000), (10, 0, 10)])
def test_e_value_is_the_smallest_mixture_over_the_nuisance(likely, unlikely, draws):
    for epsilon, delta in ((0.5, 0.0), (1.0, 0.01)):
        grid = np.linspace(0, (1 - delta) / math.exp(epsilon), 4_001)
        smallest = min(mixture(likely, unlikely, epsilon, p, draws, delta) for p in grid)
        found = log_e_value(likely, draws, unlikely, draws, epsilon, delta)
        assert smallest - 0.05 < found <= smallest


def test_one_draw_multiplies_the_mixture_by_at_most_one_on_average():
    """The step of the supermartingale, for every tilt: on the edge exactly one, below it less."""
    from audit.bounds.anytime import TILTS

    for t in TILTS[TILTS < 5]:
        for ratio, unlikely, delta in ((2.0, 0.3, 0.1), (1.0, 0.5, 0.0)):
            edge = ratio * unlikely + delta
            for likely in (edge, edge / 2):
                mean = (1 + likely * math.expm1(t)) / (1 + edge * math.expm1(t))
                assert mean <= 1 + 1e-12
            mean = (1 - unlikely + unlikely * math.exp(-t * ratio)) / (1 - unlikely * -math.expm1(-t * ratio))
            assert mean == pytest.approx(1)


def run(true_epsilon: float, seed: int, gap: float) -> AnytimeBound:
    random, rule = np.random.default_rng(seed), StoppingRule(gap)
    bound = AnytimeBound(1.0, 0.0, SIGNIFICANCE, step=0.02)
    for _ in range(400):
        likely, unlikely = random.binomial(500, 0.5), random.binomial(500, 0.5 / math.exp(true_epsilon))
        bound = bound.after(Counts(int(likely), 500, int(unlikely), 500))
        if rule.reason(bound):
            break
    return bound


def test_a_broken_mechanism_is_refuted_early_and_a_right_one_runs_to_the_gap():
    broken, right = run(1.5, 1, 0.05), run(1.0, 1, 0.05)
    assert broken.refuted
    assert "refuted" in str(StoppingRule(0.05).reason(broken))
    assert not right.refuted
    assert "would have shown" in str(StoppingRule(0.05).reason(right))
    assert broken.counts.likely_draws * 5 < right.counts.likely_draws < 200_000
    assert 0.8 < right.epsilon_lower_bound <= 1.0 < broken.epsilon_lower_bound <= 1.5


def test_levels_ascend_and_hold_the_claim():
    bound = AnytimeBound(0.333, 0.0, SIGNIFICANCE, step=0.1)
    levels = [bound.level(index) for index in range(8)]
    assert levels[:6] == pytest.approx([0, 0.1, 0.2, 0.3, 0.333, 0.4])
    assert all(first < second for first, second in pairwise(levels))
    assert (bound.epsilon_lower_bound, bound.refuted) == (0.0, False)


def test_bound_never_falls_as_draws_come_in():
    bounds, bound = [], AnytimeBound(1.0, 0.0, SIGNIFICANCE, step=0.02)
    for likely in (300, 400, 100, 100, 300):
        bound = bound.after(Counts(likely, 500, 50, 500))
        bounds.append(bound.epsilon_lower_bound)
    assert all(first <= second for first, second in pairwise(bounds))
    assert bounds[0] > 0
    assert bound.counts == Counts(1_200, 2_500, 250, 2_500)


def test_ball_arithmetic_confirms_the_level_and_not_the_next():
    bound = AnytimeBound(1.0, 0.001, SIGNIFICANCE, step=0.01).after(Counts(4_000, 8_000, 1_000, 8_000))
    level, above = (bound.level(bound.passed + k) for k in (-1, 0))
    assert level == bound.epsilon_lower_bound
    assert anytime_holds(bound.counts, level, 0.001, SIGNIFICANCE)
    assert not anytime_holds(bound.counts, above, 0.001, SIGNIFICANCE)


def test_impossible_step_and_gap_are_rejected():
    with pytest.raises(ValueError, match="step"):
        AnytimeBound(1.0, 0.0, SIGNIFICANCE, step=0.0)
    with pytest.raises(ValueError, match="gap"):
        StoppingRule(0.0)
