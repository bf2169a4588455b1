"""The bounds cover the truth as often as they say: exact sums over all counts, no simulation."""

from __future__ import annotations

import math
from functools import cache
from itertools import pairwise

import numpy as np
import pytest
from flint import arb
from scipy.stats import binom, binomtest, norm

from audit.bounds import (
    ANYTIME,
    METHODS,
    METHODS_AT_ZERO,
    AnytimeBound,
    Counts,
    Method,
    delta_lower_bound,
    detectable_by_event,
    detectable_epsilon,
    epsilon_curve,
    epsilon_lower_bound,
    largest_certifiable_epsilon,
    log_e_value,
    lower_bound_on_probability,
    p_value,
    power_of_event,
    upper_bound_on_probability,
)
from audit.bounds.counts import MARGIN, at_least
from audit.bounds.joint import LARGEST_SCORE, Region, Strip
from audit.evidence.ball_arithmetic import clopper_pearson_holds, joint_holds
from reference.common.balls import working_precision

SIGNIFICANCE = 0.05

SIZES = [(12, 12, 0.0), (16, 5, 0.1), (5, 16, 0.0)]
"""Draws on the likely and the unlikely input, and delta."""

NUISANCE = np.concatenate([np.geomspace(1e-3, 0.5, 40), np.linspace(0.52, 0.999, 12)])


@cache
def table(bound: str, likely_draws: int, unlikely_draws: int, level: float, other: float) -> np.ndarray:
    """Return a bound for every pair of counts; `other` is delta, or epsilon for a bound on delta."""
    bounds = {
        "joint": lambda counts: epsilon_lower_bound(counts, other, level, "joint"),
        "clopper_pearson": lambda counts: epsilon_lower_bound(counts, other, level, "clopper_pearson"),
        "delta": lambda counts: delta_lower_bound(counts, other, level, "joint"),
        "point_estimate": lambda counts: math.log(
            max(counts.likely / likely_draws - other, 1e-9) / max(counts.unlikely / unlikely_draws, 1e-9)
        ),
        "p_value": lambda counts: p_value(counts, 0.5, other, "joint"),
        "clopper_pearson_p_value": lambda counts: p_value(counts, 0.5, other, "clopper_pearson"),
    }
    return np.array(
        [
            [bounds[bound](Counts(k, likely_draws, m, unlikely_draws)) for m in range(unlikely_draws + 1)]
            for k in range(likely_draws + 1)
        ]
    )


def probability(wrong: np.ndarray, likely: float, unlikely: float) -> float:
    """Return the probability of a set of counts."""
    first, second = (np.arange(size) for size in wrong.shape)
    left = binom.pmf(first, wrong.shape[0] - 1, likely)
    right = binom.pmf(second, wrong.shape[1] - 1, unlikely)
    return float(left @ wrong @ right)


def probabilities(wrong: np.ndarray, likely: np.ndarray, unlikely: float) -> np.ndarray:
    """Return the probability of a set of counts for each p_likely, which has a set of its own."""
    first, second = (np.arange(size) for size in wrong.shape[1:])
    left = binom.pmf(first, len(first) - 1, likely[:, None])
    right = binom.pmf(second, len(second) - 1, unlikely)
    found: np.ndarray = np.einsum("pk,pkm,m->p", left, wrong, right)
    return found


def worst_error(bounds: np.ndarray, delta: float) -> float:
    """Return the largest probability, over a grid of pairs, that a bound exceeds the pair's own epsilon."""
    likely = np.concatenate([np.linspace(delta + 1e-3, 1, 50), 1 - np.geomspace(1e-4, 0.05, 6)])
    first, second = (np.arange(size) for size in bounds.shape)
    left = binom.pmf(first, bounds.shape[0] - 1, likely[:, None])
    worst = 0.0
    for unlikely in NUISANCE:
        truths = np.maximum(np.log((likely - delta) / unlikely), 0.0)
        wrong = bounds > truths[:, None, None] + 1e-12
        right = binom.pmf(second, bounds.shape[1] - 1, unlikely)
        worst = max(worst, float(np.einsum("pk,pkm,m->p", left, wrong, right).max()))
    return worst


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("method", METHODS)
def test_bound_exceeds_the_truth_at_most_as_often_as_stated(method, size):
    likely_draws, unlikely_draws, delta = size
    assert worst_error(table(method, likely_draws, unlikely_draws, SIGNIFICANCE, delta), delta) <= SIGNIFICANCE


def test_joint_bound_spends_more_of_the_significance_than_clopper_pearson():
    errors = {method: worst_error(table(method, 12, 12, SIGNIFICANCE, 0.0), 0.0) for method in METHODS}
    assert errors["joint"] > 0.4 * SIGNIFICANCE > errors["clopper_pearson"]


@pytest.mark.parametrize(("bound", "level"), [("point_estimate", SIGNIFICANCE), ("joint", 3 * SIGNIFICANCE)])
def test_coverage_check_fires_on_point_estimate_and_tripled_significance(bound, level):
    assert worst_error(table(bound, 12, 12, level, 0.0), 0.0) > SIGNIFICANCE


def test_delta_bound_exceeds_the_truth_at_most_as_often_as_stated():
    ratio, bounds = math.exp(0.5), table("delta", 12, 12, SIGNIFICANCE, 0.5)
    tripled = table("delta", 12, 12, 3 * SIGNIFICANCE, 0.5)
    errors, broken = [], []
    for unlikely in NUISANCE[NUISANCE * ratio < 1]:
        likely = np.linspace(ratio * unlikely, 1, 40)
        truths = (likely - ratio * unlikely + 1e-12)[:, None, None]
        errors.append(probabilities(bounds > truths, likely, unlikely).max())
        broken.append(probabilities(tripled > truths, likely, unlikely).max())
    assert 0.3 * SIGNIFICANCE < max(errors) <= SIGNIFICANCE < max(broken)


def p_value_excess(values: np.ndarray, level: float) -> float:
    """Return the largest probability on the edge of the hypothesis that a p-value is at most `level`, less it."""
    edge = [(min(1.0, math.exp(0.5) * unlikely + 0.1), unlikely) for unlikely in NUISANCE]
    return max(probability(values <= level, *pair) for pair in edge) - level


@pytest.mark.parametrize("kind", ["p_value", "clopper_pearson_p_value"])
def test_p_value_is_no_smaller_than_uniform_on_the_edge_of_the_hypothesis(kind):
    values = table(kind, 12, 12, SIGNIFICANCE, 0.1)
    assert all(p_value_excess(values, level) <= 0 for level in (0.01, 0.05, 0.2, 0.5))


def test_p_value_check_fires_on_a_third_of_the_p_value():
    values = table("p_value", 12, 12, SIGNIFICANCE, 0.1)
    assert p_value_excess(values / 3, 0.05) > 0


@pytest.mark.parametrize("size", SIZES)
def test_bounds_grow_with_the_likely_count_and_fall_with_the_unlikely_one(size):
    for method in METHODS:
        bounds = table(method, size[0], size[1], SIGNIFICANCE, size[2])
        assert (np.diff(bounds, axis=0) >= -1e-9).all()
        assert (np.diff(bounds, axis=1) <= 1e-9).all()


@pytest.mark.parametrize("draws", [1_000, 1_000_000, 10**9])
def test_one_more_occurrence_never_lowers_the_bound(draws):
    counts = [Counts(draws // 2 + k, draws, draws // 5, draws) for k in range(4)]
    found = [epsilon_lower_bound(one, 1e-3, SIGNIFICANCE) for one in counts]
    assert all(second >= first for first, second in pairwise(found))


@pytest.mark.parametrize("size", SIZES)
def test_joint_bound_is_nowhere_below_clopper_pearson_at_small_sizes(size):
    joint, baseline = (table(method, size[0], size[1], SIGNIFICANCE, size[2]) for method in METHODS)
    assert (joint >= baseline - 1e-9).all()
    assert (joint > baseline + 0.01).any()


EVENTS = [(0.5, 0.5 / math.e, 0.0), (0.05, 0.05 / math.e, 0.0), (0.9, 0.3, 0.0), (0.4, 0.1, 0.01), (1.0, 0.0, 0.0)]


@pytest.mark.parametrize("draws", [1_000, 100_000, 10_000_000])
def test_joint_bound_closes_a_quarter_or_more_of_clopper_pearsons_gap(draws):
    """A third at the threshold of a Laplace mechanism; less where one count carries most of the uncertainty."""
    closed = []
    for likely, unlikely, delta in EVENTS[:4]:
        counts = Counts(round(draws * likely), draws, round(draws * unlikely), draws)
        joint, baseline = (epsilon_lower_bound(counts, delta, SIGNIFICANCE, method) for method in METHODS)
        limit = math.log((counts.likely / draws - delta) / (counts.unlikely / draws))
        closed.append((joint - baseline) / (limit - baseline))
    assert 0.35 < closed[0] < 0.39
    assert all(0.25 < share < 0.4 for share in closed)


@pytest.mark.parametrize("draws", [1, 2, 50, 10_000, 10**9])
def test_joint_bound_is_no_lower_than_clopper_pearson_at_any_size(draws):
    for likely, unlikely, delta in EVENTS:
        counts = Counts(round(draws * likely), draws, round(draws * unlikely), draws)
        joint, baseline = (epsilon_lower_bound(counts, delta, SIGNIFICANCE, method) for method in METHODS)
        assert joint >= baseline


@pytest.mark.parametrize(
    "counts",
    [Counts(10, 10, 0, 10), Counts(30, 60, 5, 40), Counts(990, 1_000, 2, 1_000), Counts(60, 10**6, 1, 10**6)],
)
def test_ball_arithmetic_confirms_the_bounds_and_no_more(counts):
    for delta in (0.0, 1e-5):
        joint, baseline = (epsilon_lower_bound(counts, delta, SIGNIFICANCE, method) for method in METHODS)
        assert joint_holds(counts, joint, delta, SIGNIFICANCE) is True
        assert joint_holds(counts, 1.2 * joint + 0.1, delta, SIGNIFICANCE) is False
        assert clopper_pearson_holds(counts, baseline, delta, SIGNIFICANCE) is True
        assert clopper_pearson_holds(counts, baseline + 1e-6, delta, SIGNIFICANCE) is False


def test_a_strip_is_rejected_only_if_each_of_its_pairs_is():
    """The judgement of a cell is at least that of any pair inside it."""
    region = Region.of(Counts(60, 100, 10, 90), SIGNIFICANCE)
    random = np.random.default_rng(0)
    for _ in range(200):
        low = random.uniform(0.05, 0.3)
        high, ratio = low + random.uniform(0, 0.1), random.uniform(1, 3)
        wider = ratio + random.uniform(0, 1)
        whole = region.excess(np.array([low]), np.array([high]), Strip((ratio, wider), (0.0, 0.01)))[0]
        unlikely, r, delta = random.uniform([low, ratio, 0.0], [high, wider, 0.01])
        pair = region.excess(np.array([unlikely]), np.array([unlikely]), Strip((r, r), (delta, delta)))[0]
        assert pair <= whole + 1e-12


@pytest.mark.parametrize("draws", [10, 1_000, 10**6, 10**9])
@pytest.mark.parametrize("share", [1e-3, 0.2, 0.5, 0.97])
@working_precision(160)
def test_tail_probabilities_err_by_less_than_a_tenth_of_their_margin(draws, share):
    count = max(1, round(draws * share))
    spread = math.sqrt(share * (1 - share) / draws)
    points = np.clip(count / draws + spread * np.linspace(-7, 7, 5), 1e-12, 1 - 1e-12)
    for tail, fails in zip(at_least(count, draws, points), (False, True), strict=True):
        for probability, found in zip(points, tail, strict=True):
            exact = arb(float(probability)).beta_lower(count, draws - count + 1, 1)
            exact = 1 - exact if fails else exact
            # smaller tails are cut, or rejected by one count alone
            assert exact < 1e-16 or abs(arb(float(found)) - exact) <= MARGIN / 10 * exact


def test_probability_bounds_are_on_their_own_sides():
    low, high = lower_bound_on_probability(30, 100, 0.025), upper_bound_on_probability(30, 100, 0.025)
    # the defining tail equations of Clopper and Pearson
    assert low < 0.3 < high
    assert binom.sf(29, 100, low) == pytest.approx(0.025, rel=1e-6)
    assert binom.cdf(30, 100, high) == pytest.approx(0.025, rel=1e-6)


@pytest.mark.parametrize(
    ("occurrences", "draws"),
    [(0, 10**9), (3, 10**9), (2, 26_299_823), (30, 100), (86_049, 86_049), (10**9, 10**9)],
)
@pytest.mark.parametrize("significance", [0.5, 0.025, 5e-13])
@working_precision(160)
def test_probability_bounds_are_rounded_outwards_also_where_they_are_tiny(occurrences, draws, significance):
    """An absolute tolerance of 2e-12, scipy's, is much of an upper bound of 4e-9."""
    low = lower_bound_on_probability(occurrences, draws, significance)
    if low > 0:
        shape = occurrences, draws - occurrences + 1
        assert at_or_below(low, *shape) <= significance
        # and no farther down than the margin asks for
        assert at_or_below(low * (1 + 3 * MARGIN), *shape) > significance
    high = upper_bound_on_probability(occurrences, draws, significance)
    if high < 1:
        shape = occurrences + 1, draws - occurrences
        assert 1 - at_or_below(high, *shape) <= significance
        assert 1 - at_or_below(high * (1 - 3 * MARGIN), *shape) > significance


@working_precision(160)
def test_probability_bounds_of_scipy_are_not_rounded_outwards():
    """The control of the test above."""
    interval = binomtest(2, 26_299_823, alternative="less").proportion_ci(0.975, "exact")
    assert 1 - at_or_below(interval.high, 3, 26_299_821) > 0.025


@working_precision(160)
def at_or_below(probability: float, first: int, second: int) -> arb:
    return arb(float(probability)).beta_lower(first, second, 1)


@pytest.mark.parametrize("method", METHODS)
def test_bound_is_zero_when_the_event_says_nothing(method):
    for counts, delta in (
        (Counts(10, 100, 12, 100), 0.0),
        (Counts(0, 100, 0, 100), 0.0),
        (Counts(100, 100, 100, 100), 0.0),
        (Counts(5, 1000, 0, 1000), 0.01),
        (Counts(1, 1, 0, 1), 0.0),
    ):
        assert epsilon_lower_bound(counts, delta, SIGNIFICANCE, method) == 0.0
        assert delta_lower_bound(counts, 3.0, SIGNIFICANCE, method) == 0.0
        assert p_value(counts, 0.0, delta, method) > SIGNIFICANCE


@pytest.mark.parametrize("method", METHODS)
def test_bound_p_value_and_delta_bound_agree(method):
    counts, delta = Counts(5_000, 10_000, 1_000, 9_000), 0.01
    bound = epsilon_lower_bound(counts, delta, SIGNIFICANCE, method)
    assert p_value(counts, bound, delta, method) == pytest.approx(SIGNIFICANCE, rel=0.01)
    assert delta_lower_bound(counts, bound, SIGNIFICANCE, method) == pytest.approx(delta, rel=0.02)
    assert epsilon_lower_bound(counts, 0.1, SIGNIFICANCE, method) < bound


@pytest.mark.parametrize(
    ("arguments", "words"),
    [((3, 2, 0, 2), "likely must be"), ((0, 0, 0, 2), "likely_draws"), ((0, 2, -1, 2), "unlikely must be")],
)
def test_impossible_counts_are_rejected(arguments, words):
    with pytest.raises(ValueError, match=words):
        Counts(*arguments)


@pytest.mark.parametrize(
    ("delta", "significance", "method", "words"),
    [
        (1.0, 0.05, "joint", "delta"),
        (0.0, 0.0, "joint", "significance"),
        (0.0, 0.05, "wald", "joint, clopper_pearson"),
    ],
)
def test_impossible_levels_and_methods_are_rejected(delta, significance, method, words):
    with pytest.raises(ValueError, match=words):
        epsilon_lower_bound(Counts(1, 2, 1, 2), delta, significance, method)


# What this many draws can show.


def test_largest_certifiable_epsilon_grows_with_the_draws():
    """A perfect event: the log of n / log(1 / significance), Clopper-Pearson paying for both sides."""
    for method, share in (("joint", 1), ("clopper_pearson", 2)):
        few, many = (largest_certifiable_epsilon(n, 0.0, SIGNIFICANCE, method) for n in (1_000, 100_000))
        assert few == pytest.approx(math.log(1_000 / math.log(share / SIGNIFICANCE)), abs=0.03)
        assert many - few == pytest.approx(math.log(100), abs=0.03)


@cache
def refutes(counts: Counts, claim: float, method: Method) -> bool:
    return epsilon_lower_bound(counts, 0.0, SIGNIFICANCE, method) > claim


def power(epsilon: float, claim: float, draws: int, unlikely: float, method: Method) -> float:
    """Return the exact power of one event, over the unlikely counts that matter."""
    likely = math.exp(epsilon) * unlikely
    total, needed = 0.0, 0
    for m in range(int(binom.ppf(1e-3, draws, unlikely)), int(binom.isf(1e-3, draws, unlikely)) + 1):
        # the likely count needed grows with the unlikely one
        while needed <= draws and not refutes(Counts(needed, draws, m, draws), claim, method):
            needed += 1
        total += binom.pmf(m, draws, unlikely) * binom.sf(needed - 1, draws, likely)
    return total


@pytest.mark.parametrize(
    ("claim", "draws", "unlikely", "method"),
    [
        *(
            (claim, draws, p, method)
            for claim, draws, p in ((1.0, 100, 0.05), (2.0, 150, 0.01))
            for method in METHODS
        ),
        (1.0, 300, 0.02, "conditional"),
        (1.5, 500, 0.01, "conditional"),
    ],
)
def test_detectable_epsilon_is_refuted_with_the_stated_power(claim, draws, unlikely, method):
    found = float(detectable_by_event(claim, draws, 0.0, SIGNIFICANCE, method, np.array([unlikely]))[0])
    assert 0.89 < power(found, claim, draws, unlikely, method) < 0.95
    assert power(claim + 0.7 * (found - claim), claim, draws, unlikely, method) < 0.85


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(("claim", "draws", "unlikely"), [(1.0, 100, 0.05), (2.0, 150, 0.01)])
def test_power_of_events_is_the_sum_over_counts_that_refute(claim, draws, unlikely, method):
    for true in (claim, claim + 0.8, claim + 1.5):
        likely = math.exp(true) * unlikely
        found = power_of_event(
            claim,
            draws,
            0.0,
            SIGNIFICANCE,
            method,
            np.array([likely, 2 * unlikely]),
            np.array([unlikely, unlikely]),
        )
        # the sum leaves out a thousandth at each end of the unlikely counts; beyond 8 of them it is interpolated
        assert found[0] == pytest.approx(power(true, claim, draws, unlikely, method), abs=6e-3)
        # twice as likely is within the claim: a valid bound seldom refutes it
        assert found[1] <= SIGNIFICANCE


def test_detectable_epsilon_falls_with_the_joint_bound_and_more_draws():
    joint, baseline = (detectable_epsilon(1.0, 10_000, 0.0, SIGNIFICANCE, method) for method in METHODS)
    assert 1 < detectable_epsilon(1.0, 1_000_000, 0.0, SIGNIFICANCE) < joint < baseline


def test_detectable_epsilon_of_rare_events_depends_on_the_bound():
    found = {
        method: float(detectable_by_event(1.0, 10_000, 0.0, SIGNIFICANCE, method, np.array([1e-3]))[0])
        for method in ("joint", "conditional", ANYTIME)
    }
    assert 1.5 < found["conditional"] < found["joint"] < found[ANYTIME]


def test_power_of_the_anytime_bound_at_its_last_look_is_the_stated_one():
    """Exact, over the counts that matter; what refutes is asked of the e-value itself."""
    claim, draws, unlikely = 1.0, 60, 0.1
    found = float(detectable_by_event(claim, draws, 0.0, SIGNIFICANCE, ANYTIME, np.array([unlikely]))[0])
    likely, total, needed = math.exp(found) * unlikely, 0.0, 0
    for m in range(int(binom.isf(1e-3, draws, unlikely)) + 1):
        while needed <= draws and log_e_value(needed, draws, m, draws, claim, 0.0) < -math.log(SIGNIFICANCE):
            needed += 1
        total += binom.pmf(m, draws, unlikely) * binom.sf(needed - 1, draws, likely)
    assert 0.89 < total < 0.95


@pytest.mark.parametrize("method", ["joint", "clopper_pearson", "conditional", ANYTIME])
def test_no_counts_certify_more_than_the_largest_certifiable_epsilon(method):
    """All likely counts of 40 draws beside none; one of them comes close."""
    draws = 40
    largest = largest_certifiable_epsilon(draws, 0.0, SIGNIFICANCE, method)
    found = []
    for likely in (1, 5, 10, 15, 20, 30, 40):
        counts = Counts(likely, draws, 0, draws)
        if method == ANYTIME:
            found.append(AnytimeBound(1.0, 0.0, SIGNIFICANCE).after(counts).epsilon_lower_bound)
        else:
            found.append(epsilon_lower_bound(counts, 0.0, SIGNIFICANCE, method))
    assert largest - 0.1 < max(found) <= largest + 1e-9


def test_rare_events_detect_larger_losses_only():
    found = detectable_by_event(1.0, 10_000, 0.0, SIGNIFICANCE, "joint", np.array([1e-4, 1e-3, 1e-2, 0.1]))
    assert (np.diff(found) < 0).all()


@pytest.mark.parametrize("method", [*METHODS_AT_ZERO, ANYTIME])
def test_detectable_epsilon_is_none_when_no_event_can_refute_the_claim(method):
    assert detectable_epsilon(9.0, 300, 0.0, SIGNIFICANCE, method) is None
    assert largest_certifiable_epsilon(300, 0.0, SIGNIFICANCE, method) < 9.0


# Several deltas at once.


def nested_error(share: float) -> float:
    """Return the exact probability that some bound of a curve of two nested events is above its truth.

    The larger event has probabilities 1/2 and 1/4, the smaller 1/5 and 1/20, on 12 draws a side; both truths are
    at their deltas.  `share` is the part of the significance that each gets.
    """
    draws, likely, unlikely = 12, (0.2, 0.3, 0.5), (0.05, 0.2, 0.75)
    deltas = (0.02, 0.1)
    truths = (math.log((0.2 - deltas[0]) / 0.05), math.log((0.5 - deltas[1]) / 0.25))
    wrong = [
        table("joint", draws, draws, share, delta) > truth for delta, truth in zip(deltas, truths, strict=True)
    ]
    cells = [(a, b) for a in range(draws + 1) for b in range(draws + 1 - a)]

    def law(shares):
        ways = np.array([math.comb(draws, a) * math.comb(draws - a, b) for a, b in cells])
        return ways * np.array([shares[0] ** a * shares[1] ** b * shares[2] ** (draws - a - b) for a, b in cells])

    left, right = law(likely), law(unlikely)
    inner, outer = np.array([a for a, _ in cells]), np.array([a + b for a, b in cells])
    either = wrong[0][np.ix_(inner, inner)] | wrong[1][np.ix_(outer, outer)]
    return float(left @ either @ right)


def test_curve_is_right_at_all_deltas_together_and_the_check_can_fire():
    assert nested_error(SIGNIFICANCE / 2) <= SIGNIFICANCE
    assert nested_error(5 * SIGNIFICANCE) > SIGNIFICANCE


def test_curve_certifies_each_point_at_its_share_of_significance():
    counts = [Counts(5_000, 10_000, 1_000, 10_000), Counts(2_000, 10_000, 100, 10_000)]
    curve = epsilon_curve(counts, [0.1, 1e-3], SIGNIFICANCE)
    assert [point.delta for point in curve.points] == [1e-3, 0.1]
    for point in curve.points:
        assert point.epsilon_lower_bound == epsilon_lower_bound(point.counts, point.delta, SIGNIFICANCE / 2)
    assert curve.at(0.01) == curve.points[1].epsilon_lower_bound
    assert curve.at(0.0) == curve.points[0].epsilon_lower_bound > curve.at(0.01)
    assert curve.at(0.5) == 0.0


@pytest.mark.parametrize("significance", [1e-12, 1e-3, 0.05, 0.5, 0.999])
@pytest.mark.parametrize(
    "counts", [Counts(1, 1, 0, 1), Counts(40, 100, 3, 1_000), Counts(700_000, 10**6, 1, 10**6)]
)
def test_shares_of_the_significance_add_up_to_no_more_than_it(counts, significance):
    """What the counts together, each alone, and the cut scores may cost; no simulation sees a share of 0.2 %."""
    region = Region.of(counts, significance)
    alone = [
        binom.sf(counts.likely - 1, counts.likely_draws, region.lowest_likely),
        binom.cdf(counts.unlikely, counts.unlikely_draws, region.highest_unlikely),
    ]
    spent = norm.cdf(region.threshold) + 2 * norm.sf(LARGEST_SCORE) + sum(alone)
    assert 0.999 * significance < spent <= significance
