"""The anytime bound errs at most as often as it says, over all looks together: exact sums over paths."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import cache
from itertools import pairwise

import numpy as np
import pytest
from msgspec import structs
from scipy.optimize import brentq
from scipy.special import logsumexp
from scipy.stats import binom

from audit.auditor.distinguish import Estimate, Terms, estimate
from audit.bounds import (
    ANYTIME,
    ANYTIME_METHODS,
    AnytimeBound,
    AnytimeMethod,
    Counts,
    StoppingRule,
    log_e_value,
    refutes,
)
from audit.bounds.conditional import conditional_rejects
from audit.bounds.e_value import (
    EARLIER_TILTS,
    MISSED,
    REACHED,
    STAKES,
    TILTS,
    TILTS_SHARE,
    UNKNOWN,
    Bets,
    quick_decisions,
)
from audit.bounds.joint import joint_rejects
from audit.evidence.ball_arithmetic import anytime_holds
from audit.subjects.catalogue import CATALOGUE
from reference.common.arrays import FloatArray

SIGNIFICANCE = 0.05

LOOKS, BLOCK = 12, 3
"""Looks at a growing sample, and draws per input between two of them."""

RARE_LOOKS, RARE_BLOCK, MOST = 8, 200, 50
"""The same for rare events, and occurrences beyond which every path counts as rejected."""


def ever_rejected(rejects, likely, unlikely, blocks=(BLOCK, BLOCK), looks=LOOKS, most=10**9):
    """Return the exact probability that some look rejects, by recursion over the counts not rejected so far.

    Tests that reject do so with more likely or fewer unlikely occurrences, too: how many are needed says it all.
    """

    def needed(first, second, columns):
        """Yield the smallest likely count that rejects beside each unlikely one."""
        k = 0
        for m in range(columns):
            while k <= min(first, most) and not rejects(Counts(k, first, m, second)):
                k += 1
            yield k

    def moves(block, share, before, after):
        """Return the probabilities of so many occurrences more, from each count before to each after."""
        return binom.pmf(np.arange(after) - np.arange(before)[:, None], block, share)

    alive = np.ones((1, 1))
    for look in range(1, looks + 1):
        draws = [look * block for block in blocks]
        sizes = [min(number, most) + 1 for number in draws]
        likely_moves, unlikely_moves = (
            moves(*step) for step in zip(blocks, (likely, unlikely), alive.shape, sizes, strict=True)
        )
        grown = likely_moves.T @ alive @ unlikely_moves
        ceilings = np.array([*needed(*draws, sizes[1])])
        alive = np.where(np.arange(sizes[0])[:, None] < ceilings, grown, 0.0)
    return 1 - float(alive.sum())


def anytime_rejects(epsilon, delta, significance, method=ANYTIME):
    @cache
    def rejects(counts):
        found = (counts.likely, counts.likely_draws, counts.unlikely, counts.unlikely_draws)
        return log_e_value(*found, epsilon, delta, method) >= -math.log(significance)

    return rejects


@pytest.mark.parametrize("method", ANYTIME_METHODS)
@pytest.mark.parametrize(("epsilon", "delta"), [(0.0, 0.0), (1.0, 0.1)])
def test_e_value_ever_reaches_its_limit_at_most_as_often_as_stated(epsilon, delta, method):
    rejects, errors = anytime_rejects(epsilon, delta, SIGNIFICANCE, method), []
    for unlikely in (0.01, 0.1, 0.2, 0.33, 0.6, 0.9):
        likely = math.exp(epsilon) * unlikely + delta
        if likely <= 1:
            errors.append(ever_rejected(rejects, likely, unlikely))
    assert 0 < max(errors) <= SIGNIFICANCE


@pytest.mark.parametrize("delta", [0.0, 0.003])
def test_e_value_of_rare_events_reaches_its_limit_as_seldom_as_stated(delta):
    rejects, errors = anytime_rejects(1.0, delta, SIGNIFICANCE), []
    for unlikely in (0.0, 0.0005, 0.002, 0.005):
        likely = math.e * unlikely + delta
        errors.append(ever_rejected(rejects, likely, unlikely, (RARE_BLOCK,) * 2, RARE_LOOKS, MOST))
    assert 0.005 < max(errors) <= SIGNIFICANCE


@pytest.mark.parametrize("blocks", [(4, 2), (2, 4)])
def test_e_value_with_unequal_draws_reaches_its_limit_as_seldom_as_stated(blocks):
    rejects = anytime_rejects(0.5, 0.0, SIGNIFICANCE)
    errors = [ever_rejected(rejects, math.exp(0.5) * q, q, blocks) for q in (0.02, 0.1, 0.3, 0.6)]
    assert 0 < max(errors) <= SIGNIFICANCE


def test_the_check_of_repeated_looks_fires_on_a_test_made_for_one_look():
    """Tests that are right for one look, taken at each; and an e-value held against too low a limit."""

    def joint(counts):
        return counts.likely > counts.unlikely and joint_rejects(counts, 0.0, 0.0, SIGNIFICANCE)

    def conditional(counts):
        return counts.likely > math.e * counts.unlikely and conditional_rejects(counts, 1.0, SIGNIFICANCE)

    assert ever_rejected(joint, 0.5, 0.5) > SIGNIFICANCE
    assert ever_rejected(anytime_rejects(0.0, 0.0, 0.5), 0.5, 0.5) > SIGNIFICANCE
    rare = (RARE_BLOCK,) * 2, RARE_LOOKS, MOST
    assert ever_rejected(conditional, math.e * 0.005, 0.005, *rare) > SIGNIFICANCE
    assert ever_rejected(anytime_rejects(1.0, 0.0, 0.6), math.e * 0.005, 0.005, *rare) > SIGNIFICANCE


def test_check_fires_on_stakes_that_forget_the_expected_win():
    """Without their denominators stakes are fair at delta = 0 with equally many draws, and only there."""

    def forgetful(counts):
        logs = counts.likely * np.log1p(STAKES / math.exp(0.5)) + counts.unlikely * np.log1p(-STAKES)
        return bool(logsumexp(logs) - math.log(len(STAKES)) >= -math.log(SIGNIFICANCE))

    errors = {blocks: ever_rejected(forgetful, math.exp(0.5) * 0.3, 0.3, blocks) for blocks in ((3, 3), (4, 2))}
    assert errors[3, 3] <= SIGNIFICANCE < errors[4, 2]
    # a delta of 0.02 that was not divided by
    assert ever_rejected(forgetful, 0.02, 0.0, (RARE_BLOCK,) * 2, RARE_LOOKS, MOST) > SIGNIFICANCE


def mixture(
    counts: Counts, epsilon: float, nuisance: FloatArray, delta: float, method: AnytimeMethod = ANYTIME
) -> FloatArray:
    """Return the log of the mixture at values of the nuisance, as the proof writes it."""
    ratio, inside = math.exp(epsilon), math.exp(epsilon) * nuisance + delta
    likely, unlikely = counts.likely, counts.unlikely

    def tilted(t: float, s: float) -> FloatArray:
        fair = counts.likely_draws * np.log1p(inside * math.expm1(t))
        found: FloatArray = t * likely - s * unlikely - fair
        found -= counts.unlikely_draws * np.log1p(-nuisance * -math.expm1(-s))
        return found

    def staked(c: float) -> FloatArray:
        fair = counts.likely_draws * np.log1p(inside * c / ratio)
        fair += counts.unlikely_draws * np.log1p(-nuisance * c)
        return likely * math.log1p(c / ratio) + unlikely * math.log1p(-c) - fair

    def mean(logs: list[FloatArray]) -> FloatArray:
        return np.asarray(logsumexp(logs, axis=0)) - math.log(len(logs))

    if method == "anytime":
        return mean([tilted(t, t * ratio) for t in EARLIER_TILTS])
    on_both = mean([staked(c) for c in STAKES]) + math.log(1 - TILTS_SHARE)
    alone = mean([tilted(t, 0.0) for t in TILTS]) + math.log(TILTS_SHARE)
    return np.logaddexp(on_both, alone)


@pytest.mark.parametrize("method", ANYTIME_METHODS)
@pytest.mark.parametrize(
    "counts", [Counts(60, 100, 10, 100), Counts(5_000, 10_000, 1_750, 10_000), Counts(10, 10, 0, 15)]
)
def test_e_value_is_the_smallest_mixture_over_the_nuisance(counts, method):
    for epsilon, delta in ((0.5, 0.0), (1.0, 0.01)):
        grid = np.linspace(0, (1 - delta) / math.exp(epsilon), 1_001)
        smallest = mixture(counts, epsilon, grid, delta, method).min()
        found = (counts.likely, counts.likely_draws, counts.unlikely, counts.unlikely_draws)
        assert smallest - 0.05 < log_e_value(*found, epsilon, delta, method) <= smallest


@pytest.mark.parametrize(("likely", "unlikely"), [(7, 0), (100, 3), (100_000, 36_000)])
def test_the_smallest_mixture_is_found_among_a_billion_draws(likely, unlikely):
    """Where it lies is of the order of the share of occurrences: the search must go down that far."""
    counts = Counts(likely, 10**9, unlikely, 10**9)
    share = likely / math.e / 1e9
    grid = np.concatenate([[0.0], np.linspace(0.2 * share, 3 * share, 600)])
    smallest = mixture(counts, 1.0, grid, 0.0).min()
    assert smallest - 0.02 < log_e_value(likely, 10**9, unlikely, 10**9, 1.0, 0.0) <= smallest


@pytest.mark.parametrize("method", ANYTIME_METHODS)
def test_bets_share_the_whole_capital_and_only_win_with_likely_occurrences(method):
    for epsilon in (0.0, 1.0, 20.0, 700.0):
        bets = Bets.of(method, epsilon)
        assert bets.shares.sum() == pytest.approx(1)
        assert bets.shares.min() > 0
        assert bets.likely.min() >= 0
        assert bets.unlikely.min() >= 0


@pytest.mark.parametrize("method", ANYTIME_METHODS)
def test_one_draw_multiplies_each_bet_by_at_most_one_on_average(method):
    """The step of the supermartingale: on the edge exactly one, below it less, and with p_likely above it more."""
    for ratio, unlikely, delta in ((2.0, 0.3, 0.1), (1.0, 0.5, 0.0), (20.0, 1e-3, 1e-5)):
        bets = Bets.of(method, math.log(ratio))
        for won, lost in zip(np.expm1(bets.likely), -np.expm1(-bets.unlikely), strict=True):
            edge = ratio * unlikely + delta
            means = [(1 + likely * won) / (1 + edge * won) for likely in (edge / 2, edge, edge * 1.2)]
            assert means[0] < means[1] == 1 < means[2]
            assert (1 - unlikely + unlikely * (1 - lost)) / (1 - unlikely * lost) == pytest.approx(1)


COMMON = [(0.5, 0.5 / math.e), (0.75, 0.25), (0.9, 0.3)]

RARE = [(0.02 * math.e, 0.02), (0.05, 1e-3), (0.5, 0.01), (1e-3, 1e-6)]


def highest_level(likely: float, unlikely: float, draws: int, method: AnytimeMethod) -> float:
    """Return the highest level that the expected counts reject, whatever the step between levels."""
    counts = round(likely * draws), draws, round(unlikely * draws), draws

    def excess(epsilon: float) -> float:
        return log_e_value(*counts, epsilon, 0.0, method) + math.log(SIGNIFICANCE)

    return float(brentq(excess, 0.0, 20.0, xtol=1e-6)) if excess(0.0) > 0 else 0.0


@pytest.mark.parametrize("draws", [10_000, 1_000_000])
def test_stakes_leave_no_larger_gap_than_the_earlier_bets(draws):
    for pairs, most in ((COMMON, 1.01), (RARE, 0.92)):
        for pair in pairs:
            true_epsilon = math.log(pair[0] / pair[1])
            gaps = [true_epsilon - highest_level(*pair, draws, method) for method in ANYTIME_METHODS]
            assert 0 < gaps[0] <= most * gaps[1]
    assert highest_level(1e-4, 0.0, 1_000_000, ANYTIME) > 3
    assert highest_level(1e-4, 0.0, 1_000_000, "anytime") == 0


def test_a_loss_that_would_have_shown_refutes_the_claim_once_it_is_there():
    """The stopping rule and the bound ask the same e-value."""
    before, gap = Counts(1_000, 50_000, 400, 50_000), 0.25
    bound = AnytimeBound(1.0, 0.0, SIGNIFICANCE).after(before)
    assert [bound.would_show(other) for other in (gap / 5, gap)] == [False, True]
    assert not replace(bound, method="anytime").would_show(gap)
    # no share is larger by a factor that no float holds
    assert not bound.would_show(1e3)
    shown = structs.replace(before, likely=math.ceil(400 * math.exp(1 + gap)))
    assert AnytimeBound(1.0, 0.0, SIGNIFICANCE).after(shown).refuted


def run(true_epsilon: float, seed: int, gap: float) -> AnytimeBound:
    random, rule = np.random.default_rng(seed), StoppingRule(gap)
    bound = AnytimeBound(1.0, 0.0, SIGNIFICANCE, step=0.02)
    for _ in range(400):
        likely, unlikely = random.binomial(500, 0.5), random.binomial(500, 0.5 / math.exp(true_epsilon))
        bound = bound.after(Counts(int(likely), 500, int(unlikely), 500))
        if rule.reason(bound):
            break
    return bound


def test_broken_mechanism_is_refuted_early_and_a_right_one_runs_on():
    broken, right = run(1.5, 1, 0.05), run(1.0, 1, 0.05)
    assert broken.refuted
    assert "refuted" in str(StoppingRule(0.05).reason(broken))
    assert not right.refuted
    assert "would have shown" in str(StoppingRule(0.05).reason(right))
    assert broken.counts.likely_draws * 5 < right.counts.likely_draws < 200_000
    assert 0.8 < right.epsilon_lower_bound <= 1.0 < broken.epsilon_lower_bound <= 1.5


def audited_until(name: str, workers: int) -> Estimate:
    return estimate(
        CATALOGUE[name](),
        Terms(
            delta=0.0,
            draws=2_500_000,
            significance=SIGNIFICANCE,
            families=("coordinates", "rare"),
            until=StoppingRule(0.05),
        ),
        np.random.default_rng(0),
        workers=workers,
    )


def test_leak_of_one_in_ten_thousand_stops_an_audit_early():
    """The earlier bets saw nothing of it in all the draws; a right mechanism is not refuted."""
    found = [audited_until("laplace_leaky", workers) for workers in (1, 2)]
    assert found[0].counts == found[1].counts
    assert found[0].stopped == found[1].stopped == "the claim is refuted"
    assert found[0].epsilon_lower_bound > 1
    assert found[0].draws < 1_500_000
    earlier = AnytimeBound(1.0, 0.0, SIGNIFICANCE, method="anytime").after(Counts(52, 525_000, 0, 525_000))
    assert earlier.epsilon_lower_bound == 0
    assert audited_until("laplace", 1).epsilon_lower_bound <= 1


def test_levels_ascend_and_hold_the_claim():
    bound = AnytimeBound(0.333, 0.0, SIGNIFICANCE, step=0.1)
    levels = [bound.level(index) for index in range(8)]
    assert levels[:6] == pytest.approx([0, 0.1, 0.2, 0.3, 0.333, 0.4])
    assert all(first < second for first, second in pairwise(levels))
    assert (bound.epsilon_lower_bound, bound.refuted) == (0.0, False)


@pytest.mark.parametrize("claim", [1.0, 1.9, 0.3, 1 / 3, 0.1 + 0.2])
def test_levels_hold_the_claim_once_in_order_and_passing_it_refutes(claim):
    """1.9 / 0.005 is rounded up to above 380, and 380 x 0.005 to above 1.9."""
    bound = AnytimeBound(claim, 0.0, SIGNIFICANCE)
    place = next(index for index in range(1_000) if bound.level(index) >= claim)
    assert bound.level(place) == claim
    assert bound.level(place - 1) < claim <= bound.level(place + 1)
    for passed, refuted in ((place, False), (place + 1, True)):
        there = replace(bound, passed=passed)
        assert there.refuted is refuted
        assert refutes(there.epsilon_lower_bound, claim, ANYTIME) is refuted
    assert not refutes(claim, claim, "joint")


def test_bound_never_falls_as_draws_come_in():
    bounds, bound = [], AnytimeBound(1.0, 0.0, SIGNIFICANCE, step=0.02)
    for likely in (300, 400, 100, 100, 300):
        bound = bound.after(Counts(likely, 500, 50, 500))
        bounds.append(bound.epsilon_lower_bound)
    assert all(first <= second for first, second in pairwise(bounds))
    assert bounds[0] > 0
    assert bound.counts == Counts(1_200, 2_500, 250, 2_500)


@pytest.mark.parametrize("method", ANYTIME_METHODS)
@pytest.mark.parametrize("counts", [Counts(4_000, 8_000, 1_000, 8_000), Counts(4_000, 15_000, 500, 20_000)])
def test_ball_arithmetic_confirms_the_level_and_not_the_next(counts, method):
    bound = AnytimeBound(1.0, 0.001, SIGNIFICANCE, step=0.01, method=method).after(counts)
    level, above = (bound.level(bound.passed + k) for k in (-1, 0))
    assert level == bound.epsilon_lower_bound
    assert anytime_holds(bound.counts, level, 0.001, SIGNIFICANCE, method=method)
    assert not anytime_holds(bound.counts, above, 0.001, SIGNIFICANCE, method=method)


NEAR_THE_LIMIT = [
    (Counts(15, 10**6, 0, 10**6), 1.0, 0.0),
    (Counts(30, 10**9, 1, 10**9), 2.0, 0.0),
    (Counts(500_400_000, 10**9, 500_000_000, 10**9), 0.0, 0.0),
    (Counts(200, 10**4, 30, 10**4), 1.0, 1e-3),
    (Counts(40, 10**4, 0, 2 * 10**4), 0.5, 1e-3),
    (Counts(19, 20, 1, 20), 0.3, 0.0),
    (Counts(20, 20, 4, 40), 0.0, 0.2),
]


@pytest.mark.parametrize("method", ANYTIME_METHODS)
@pytest.mark.parametrize(("counts", "epsilon", "delta"), NEAR_THE_LIMIT)
def test_ball_arithmetic_confirms_the_e_value_and_no_larger_one(counts, epsilon, delta, method):
    found = (counts.likely, counts.likely_draws, counts.unlikely, counts.unlikely_draws)
    value = log_e_value(*found, epsilon, delta, method)
    assert anytime_holds(counts, epsilon, delta, math.exp(-value), method=method)
    assert not anytime_holds(counts, epsilon, delta, math.exp(-value - 1e-3), method=method)


@pytest.mark.parametrize("method", ANYTIME_METHODS)
@pytest.mark.parametrize("delta", [0.0, 1e-12, 0.999])
def test_e_value_of_extreme_counts_and_levels_is_a_number(delta, method):
    # no level above 50 was ever tried with the earlier bets
    highest = 700.0 if method == ANYTIME else 50.0
    for epsilon in (0.0, 1.0, 10.0, highest):
        for found in ((10**9, 10**9, 0, 10**9), (0, 1, 1, 1), (1, 1, 0, 1), (5, 10**9, 10**9, 10**9)):
            assert not math.isnan(log_e_value(*found, epsilon, delta, method))
    assert log_e_value(10**9, 10**9, 0, 10**9, highest, delta, method) < 1


def test_impossible_step_and_gap_are_rejected():
    with pytest.raises(ValueError, match="step"):
        AnytimeBound(1.0, 0.0, SIGNIFICANCE, step=0.0)
    with pytest.raises(ValueError, match="gap"):
        StoppingRule(0.0)


@pytest.mark.parametrize("method", ANYTIME_METHODS)
@pytest.mark.parametrize("delta", [0.0, 1e-5, 0.01])
def test_quick_decisions_are_those_of_the_e_value(method, delta):
    """On counts of all sizes, at levels about the true one: they agree wherever they say something, mostly."""
    rng, decided = np.random.default_rng(0), []
    for _ in range(60):
        draws, share, epsilon = int(10 ** rng.uniform(2, 9)), 10 ** rng.uniform(-6, -0.3), rng.uniform(0, 4)
        likely = int(rng.binomial(draws, min(1.0, math.exp(epsilon) * share + delta)))
        found = (likely, draws, int(rng.binomial(draws, share)), draws)
        levels = [0.0, *np.maximum(0.0, rng.uniform(epsilon - 0.3, epsilon + 0.2, 8)), 10.0]
        threshold = float(rng.choice([3.0, 5.3, 20.0]))
        for level, decision in zip(levels, quick_decisions(found, levels, delta, threshold, method), strict=True):
            decided.append(decision)
            if decision != UNKNOWN:
                reached = log_e_value(*found, level, delta, method) >= threshold
                assert decision == (REACHED if reached else MISSED)
    assert decided.count(UNKNOWN) < 0.25 * len(decided)
    # the earlier bets win little, so few levels are reached at all
    fewest = 0.1 if method == ANYTIME else 0.01
    assert min(decided.count(REACHED), decided.count(MISSED)) > fewest * len(decided)


def test_a_bound_far_above_the_claim_asks_for_few_e_values(monkeypatch):
    """It comes after the time is over: one e-value for each of 2,000 levels took a second."""
    asked = []

    def counted(*found):
        asked.append(found)
        return log_e_value(*found)

    monkeypatch.setattr("audit.bounds.anytime.log_e_value", counted)
    bound = AnytimeBound(1.0, 0.0, SIGNIFICANCE).after(Counts(3_000_000, 10**7, 100, 10**7))
    assert bound.passed > 1_900
    assert len(asked) < 20
    level = bound.epsilon_lower_bound
    counts = (3_000_000, 10**7, 100, 10**7)
    assert log_e_value(*counts, level, 0.0) >= -math.log(SIGNIFICANCE)
    assert log_e_value(*counts, level + 0.005, 0.0) < -math.log(SIGNIFICANCE)
