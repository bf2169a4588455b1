"""Theorems 2, 3 and 5: where they hold, exactly, and what holds instead."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TypeVar

import mpmath
import pytest
from scipy.optimize import brentq
from scipy.special import log_ndtr

from audit.privacy import judge
from audit.theorems import (
    OpenTop,
    RatioInterval,
    failing_ratio,
    holds_for_all_budgets,
    privacy_at,
    ratio_interval,
    repaired_adfc,
    repaired_pdfc,
    sensitivity_power,
    smallest_sensitivity_power,
)
from audit.witnesses import domain_of, readings_of
from reference.accounting import Enclosure
from reference.budgets import SplitBudget
from reference.errors import ReadingError
from reference.gaussian import delta_of_shift
from reference.moments import Moments
from reference.noise import extended_gaussian_sigma
from reference.objective import objective
from reference.registry import MECHANISMS
from reference.sensitivity import Setting, exact_l1, exact_l2_squared, published_l2_sensitivity_squared

ONE = Fraction(1)
TRUE = ("proved", "enclosed")


T = TypeVar("T")


def some(value: T | None) -> T:
    """Return what is there."""
    assert value is not None
    return value


def top(interval: RatioInterval) -> Enclosure:
    """Return the upper end of an interval that certainly has one."""
    assert isinstance(interval.upper, Enclosure)
    return interval.upper


def ends(theorem: str, setting: Setting, sensitivity="published") -> tuple[float, float]:
    interval = ratio_interval(theorem, setting, sensitivity)
    upper = math.inf if interval.upper is None else float(top(interval).lower + top(interval).upper) / 2
    return float(interval.lower.lower + interval.lower.upper) / 2, upper


# --- T2: the exact delta of the extended Gaussian mechanism --------------------------------------------------


@pytest.mark.parametrize("epsilon", ["0.01", "1", "30"])
@pytest.mark.parametrize("delta", ["0.79", "0.1", "1e-6", "1e-300"])
def test_t2_exact_delta_in_closed_form(epsilon, delta):
    """(delta/2)(r(a) - r(a + mu)), r the Mills ratio, a = sqrt(2 log(sqrt(2/pi)/delta)), mu = Delta/sigma."""
    sigma = extended_gaussian_sigma(ONE, Fraction(epsilon), Fraction(delta))
    exact = delta_of_shift(1 / Fraction(sigma) ** 2, Fraction(epsilon))
    with mpmath.workdps(60):
        a = mpmath.sqrt(2 * mpmath.log(mpmath.sqrt(2 / mpmath.pi) / mpmath.mpf(delta)))
        mu = 1 / mpmath.mpf(sigma)

        def mills(x):
            return mpmath.ncdf(-x) / mpmath.npdf(x)

        closed = mpmath.mpf(delta) / 2 * (mills(a) - mills(a + mu))
        assert abs(closed / (mpmath.mpf(exact.numerator) / exact.denominator) - 1) < 1e-12
    # r <= sqrt(pi/2): never more than 0.627 of the claimed delta
    assert exact < Fraction(627, 1000) * Fraction(delta)


def test_t4_proof_needs_delta_below_a_constant_each_step_has_its_own():
    """Its tail bound gives delta/2 up to sqrt(2/pi) exp(-pi/2) = 0.1659; the tail itself up to 0.7622."""

    def r_over_sigma(delta: float) -> float:
        """With Delta = 1 the proof's r = (2 sigma^2 epsilon - 1)/2 is sigma sqrt(2 L), whatever epsilon is."""
        values = []
        for epsilon in (0.1, 1.0, 10.0):
            sigma = extended_gaussian_sigma(ONE, Fraction(str(epsilon)), Fraction(str(delta)))
            values.append(sigma * epsilon - 1 / (2 * sigma))
        assert max(values) - min(values) < 1e-9
        return values[0]

    def paper_tail(a: float) -> float:
        return math.exp(-a * a / 2) / (math.sqrt(2) * a)

    largest = math.sqrt(2 / math.pi) * math.exp(-math.pi / 2)
    assert largest == pytest.approx(0.16587, abs=1e-5)
    assert paper_tail(r_over_sigma(largest * 0.999)) <= largest * 0.999 / 2
    assert paper_tail(r_over_sigma(largest * 1.001)) > largest * 1.001 / 2
    largest = brentq(lambda delta: math.exp(log_ndtr(-r_over_sigma(delta))) - delta / 2, 0.5, 0.79)
    assert largest == pytest.approx(0.7622, abs=1e-4)


def test_t4_proof_hides_delta_2_equal_to_1():
    """|V| <= (2 sigma^2 epsilon - 1)/2 bounds the loss by epsilon when Delta_2 = 1, not when it is 2."""
    sigma, epsilon = Fraction(1), Fraction(3)
    v = (2 * sigma**2 * epsilon - 1) / 2
    for bound, kept in ((1, True), (2, False)):
        assert ((bound**2 + 2 * v * bound) / (2 * sigma**2) <= epsilon) is kept


# --- T3 -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("norm", ["unit_box", "unit_ball"])
@pytest.mark.parametrize("fairness", ["none", "absolute", "covariance"])
@pytest.mark.parametrize("adjacency", ["replace_one", "add_or_remove_one"])
def test_t3_holds_for_all_budgets_with_the_published_bound(norm, fairness, adjacency):
    for d in (1, 2, 3, 5, 13) if norm == "unit_ball" else (*range(1, 30), 100, 1000):
        for records in (2, 1000, None):
            setting = Setting(d, fairness, norm, adjacency, records=records)
            assert holds_for_all_budgets("T3", setting) is True, setting
            assert ratio_interval("T3", setting).holds_for_all is True


@pytest.mark.parametrize("d", [1, 2, 3, 13, 40])
@pytest.mark.parametrize("records", [2, 1000, None])
def test_t3_smallest_sensitivity_on_the_box_in_closed_form(d, records):
    setting = Setting(d, "absolute", "unit_box", records=records)
    nu = setting.nu
    expected = Fraction(d * d, 4) + (Fraction(3, 4) + 2 * nu) * d
    found = smallest_sensitivity_power("T3", setting)
    assert found.lower == found.upper == (1 + 2 * nu if d == 1 else expected)
    added = Setting(d, "absolute", "unit_box", "add_or_remove_one", records=records)
    if d > 1:
        expected = d * (Fraction(1, 2) + 2 * nu) + Fraction(d * d, 4) - Fraction(d, 8)
        assert smallest_sensitivity_power("T3", added).lower == expected


@pytest.mark.parametrize("d", [2, 3, 13])
def test_t3_smallest_sensitivity_is_the_least(d):
    setting = Setting(d, "absolute", "unit_box")
    least = smallest_sensitivity_power("T3", setting).lower
    assert holds_for_all_budgets("T3", setting, str(least)) is True
    below = str(least * (1 - Fraction(1, 1000)))
    assert holds_for_all_budgets("T3", setting, below) is False
    assert privacy_at(setting, Fraction(10**6), ONE, sensitivity=below, theorem="T3").verdict == "refuted"
    assert privacy_at(setting, Fraction(10**6), ONE, sensitivity=str(least), theorem="T3").verdict in TRUE


@pytest.mark.parametrize("d", [2, 3, 7, 40])
@pytest.mark.parametrize("records", [2, 100, None])
def test_t3_weight_from_which_the_published_bound_no_longer_suffices(d, records):
    """alpha_1 nu <= 9/8, whatever d is."""
    nu = Setting(d, records=records).nu
    for factor, holds in ((1, True), (Fraction(1001, 1000), False)):
        weight = Fraction(9, 8) / nu * factor
        setting = Setting(d, "absolute", "unit_box", fairness_weight=weight, records=records)
        if exact_l1(setting).upper <= sensitivity_or_none("T3", setting):
            assert holds_for_all_budgets("T3", setting) is holds


def sensitivity_or_none(theorem: str, setting: Setting) -> Fraction:
    try:
        return sensitivity_power(theorem, setting)
    except ReadingError:
        return Fraction(-1)


@pytest.mark.parametrize("d", [2, 3, 5, 13])
def test_t3_with_the_exact_sensitivity_on_the_box_fails_above_one_only(d):
    setting = Setting(d, "absolute", "unit_box")
    lower, upper = ends("T3", setting, "exact")
    assert lower == 0
    assert upper == pytest.approx(1, abs=1e-10)
    assert privacy_at(setting, Fraction(1001, 1000), ONE, sensitivity="exact", theorem="T3").verdict == "refuted"
    for ratio in ("1", "0.999", "0.5", "0.001"):
        assert privacy_at(setting, Fraction(ratio), ONE, sensitivity="exact", theorem="T3").verdict in TRUE


@pytest.mark.parametrize("ratio", ["1", "1.01", "1.5", "2"])
def test_t3_excess_on_the_box_in_two_dimensions(ratio):
    """(R - 1)^2/8 over Delta_1, the exact sensitivity."""
    setting, r = Setting(2, "absolute", "unit_box"), Fraction(ratio)
    excess = exact_l1(setting, r, ONE).upper - sensitivity_power("T3", setting, "exact") * (r + 1) / 2
    assert excess == (r - 1) ** 2 / 8


@pytest.mark.parametrize(("d", "lower_end"), [(2, 1.0), (3, 0.896202), (4, 0.958957), (5, 0.832428)])
def test_t3_with_the_exact_sensitivity_on_the_ball_fails_on_both_sides(d, lower_end):
    setting = Setting(d, "absolute", "unit_ball")
    lower, upper = ends("T3", setting, "exact")
    assert lower == pytest.approx(lower_end, abs=1e-6)
    assert upper == pytest.approx(1, abs=1e-6)
    for ratio in (lower * 0.99, 1.01):
        verdict = privacy_at(setting, Fraction(str(ratio)), ONE, sensitivity="exact", theorem="T3").verdict
        assert verdict == "refuted"


def test_t3_lower_end_is_undecided_where_the_supremum_is_enclosed_too_widely():
    """At ratio 0 the enclosure straddles the line; nothing may be claimed there."""
    setting = Setting(20, "none", "unit_ball")
    interval = ratio_interval("T3", setting, "exact")
    assert interval.lower.lower == 0 < interval.lower.upper < 1
    assert interval.holds_up_to_one is None
    # the other end is certain
    assert top(interval).lower >= 1
    assert interval.holds_for_all is False
    inside = privacy_at(setting, interval.lower.upper, ONE, sensitivity="exact", theorem="T3")
    assert inside.verdict in TRUE


def test_t3_is_undecided_with_a_number_inside_the_enclosure():
    setting = Setting(3, "absolute", "unit_ball")
    needed = smallest_sensitivity_power("T3", setting)
    assert needed.lower < needed.upper
    number = (needed.lower + needed.upper) / 2
    assert holds_for_all_budgets("T3", setting, str(number)) is None
    interval = ratio_interval("T3", setting, str(number))
    assert interval.holds_for_all is None
    assert isinstance(interval.upper, OpenTop)
    assert interval.upper.lower >= 1
    assert interval.to_json()["upper"]["hi"] is None
    for sensitivity, holds in ((needed.upper, True), (needed.lower * Fraction(999, 1000), False)):
        assert ratio_interval("T3", setting, str(sensitivity)).holds_for_all is holds


@pytest.mark.parametrize(
    ("lower", "upper", "below", "always"),
    [
        ((0, 0), None, True, True),
        ((0, 1), None, None, None),
        ((1, 1), None, False, False),
        ((0, 0), OpenTop(ONE), True, None),
        ((0, 1), OpenTop(ONE), None, None),
        ((1, 1), OpenTop(ONE), False, False),
        ((0, 1), Enclosure(ONE, ONE), None, False),
    ],
)
def test_an_interval_tells_undecided_from_both(lower, upper, below, always):
    interval = RatioInterval(Enclosure(*map(Fraction, lower)), upper)
    assert interval.holds_up_to_one is below
    assert interval.holds_for_all is always


def test_t3_proof_drops_the_drift_of_zbar():
    """The last tuples contribute 0 on both sides, and the coefficient moves by 1/2."""
    domain = domain_of(Setting(1, "absolute", "unit_box"))
    data = [domain.check([[1.0], [0.0]], [0, 0], [0, z]) for z in (0, 1)]
    linear = [objective(Moments.of(records), readings_of(Setting(1))).linear[0] for records in data]
    assert linear == [0.5, 1.0]


@pytest.mark.parametrize("d", [1, 2, 3, 13])
def test_t3_proof_last_equality_holds_in_one_dimension_only(d):
    """On the box and the matrix basis, 2 max summed over Phi_s against Delta_1 / d."""
    over_s = 2 * Fraction(3, 2) + 2 * Fraction(2 * d - 1, 8)
    delta_1 = Fraction(d * d, 4) + 3 * d
    assert (over_s == delta_1 / d) == (d == 1)
    assert (over_s > delta_1 / d) == (d > 1)
    # what the change on Phi_s can be is less than both, by a quarter
    assert exact_l1(Setting(d, "absolute", "unit_box"), ONE, Fraction(0)).upper <= delta_1 / d - (
        d > 1
    ) * Fraction(1, 4)


def test_t5_proof_bounds_the_change_on_phi_s_by_delta_over_d():
    """Three records of the unit ball, d = 2: the change of c_s is 7/3, and Delta_2'/2 is 2.14."""
    setting = Setting(2, "absolute", "unit_ball", records=3)
    squared = exact_l2_squared(setting, ONE, Fraction(0)).lower
    assert squared == Fraction(7, 3) ** 2
    assert squared > sensitivity_power("T5", setting) / 4
    two = exact_l2_squared(Setting(2, "absolute", "unit_ball", records=2), ONE, Fraction(0)).upper
    assert two < sensitivity_power("T5", setting) / 4


# --- T5: the interval -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("basis", ["monomial", "matrix"])
@pytest.mark.parametrize("d", [2, 3, 4, 5, 13, 100])
def test_t5_interval_on_the_ball_in_closed_form(basis, d):
    root = math.sqrt(d * d / 16 + 9 * d)
    lower, upper = ends("T5", Setting(d, "absolute", "unit_ball", basis=basis))
    assert upper == pytest.approx((d - 1) * root / (3 * d - root), rel=1e-9)
    assert lower == pytest.approx(6 / root - 1 if d == 2 else 0, rel=1e-9)


@pytest.mark.parametrize("basis", ["monomial", "matrix"])
@pytest.mark.parametrize("d", [2, 5, 12, 13, 20])
def test_t5_interval_on_the_box_in_closed_form(basis, d):
    """Roots of 9 R^2 + 9 (d - 1) = (1/16 + 9/d)(R + d - 1)^2, as long as x = x' = 1 is extreme."""
    c = 1 / 16 + 9 / d
    f = [9 - c, -2 * c * (d - 1), 9 * (d - 1) - c * (d - 1) ** 2]
    low, high = sorted(float(root) for root in mpmath.polyroots(f))
    lower, upper = ends("T5", Setting(d, "absolute", "unit_box", basis=basis))
    assert upper == pytest.approx(high, rel=1e-9)
    assert lower == pytest.approx(low if low > 0 else 0.0, rel=1e-7)


def test_t5_regime_below_one():
    """epsilon_s <= epsilon_n: on the box it holds from d = 13 on (d (d - 1) >= 144), on the ball but for d = 2."""
    for d in (*range(2, 120), 300, 1000):
        for basis in ("monomial", "matrix"):
            on_box = Setting(d, "absolute", "unit_box", basis=basis)
            squared = sensitivity_power("T5", on_box) * Fraction(d - 1, d) ** 2
            assert (exact_l2_squared(on_box, Fraction(0), ONE).upper <= squared) == (d * (d - 1) >= 144), d
            on_ball = Setting(d, "absolute", "unit_ball", basis=basis)
            assert (exact_l2_squared(on_ball, Fraction(0), ONE).upper <= squared) == (d != 2), d
    assert ratio_interval("T5", Setting(12, "absolute", "unit_box")).holds_up_to_one is False
    assert ratio_interval("T5", Setting(13, "absolute", "unit_box")).holds_up_to_one is True


@pytest.mark.parametrize(
    ("fairness", "norm", "failing"),
    [
        ("none", "unit_ball", {2}),
        ("none", "unit_box", {2, 3, 4}),
        ("covariance", "unit_ball", set()),
        ("covariance", "unit_box", set()),
    ],
)
def test_t5_regime_below_one_in_other_readings(fairness, norm, failing):
    for d in range(2, 60):
        interval = ratio_interval("T5", Setting(d, fairness, norm))
        assert interval.holds_up_to_one == (d not in failing), d
        # with the sign fixed, two dimensions need nothing else
        assert interval.holds_for_all == (fairness == "covariance" and d == 2), d


INSIDE = [(norm, d) for norm in ("unit_ball", "unit_box") for d in (2, 5, 13)]


@pytest.mark.parametrize(("norm", "d"), INSIDE)
def test_t5_holds_inside_for_every_budget(norm, d):
    setting = Setting(d, "absolute", norm)
    interval = ratio_interval("T5", setting)
    for ratio in (top(interval).lower, interval.lower.upper or Fraction(1, 10**6), ONE):
        for epsilon_n in ("0.001", "1", "50"):
            for delta in ("0.5", "1e-3", "1e-50", "1e-1000"):
                exact = privacy_at(setting, ratio, Fraction(epsilon_n), Fraction(delta))
                assert exact.verdict == "enclosed", (ratio, epsilon_n, delta)


@pytest.mark.parametrize(
    ("norm", "d", "factor", "exponent"),
    [
        ("unit_ball", 13, "1.1", 200),
        ("unit_ball", 2, "1.1", 1000),
        ("unit_box", 13, "1.1", 1000),
        ("unit_box", 2, "1.5", 2000),
    ],
)
def test_t5_fails_outside_for_small_delta(norm, d, factor, exponent):
    setting = Setting(d, "absolute", norm)
    outside = top(ratio_interval("T5", setting)).upper * Fraction(factor)
    for epsilon_n in ("0.1", "1", "10"):
        assert privacy_at(setting, outside, Fraction(epsilon_n), Fraction(1, 10**exponent)).verdict == "refuted"


def test_t5_fails_below_the_lower_end_too():
    setting = Setting(2, "absolute", "unit_ball")
    ratio = ratio_interval("T5", setting).lower.lower * Fraction(9, 10)
    assert privacy_at(setting, ratio, ONE, Fraction(1, 10**200)).verdict == "refuted"
    # the same ratio is harmless where the dimension is in the regime
    assert privacy_at(Setting(3, "absolute", "unit_ball"), ratio, ONE, Fraction(1, 10**200)).verdict == "enclosed"


@pytest.mark.parametrize("delta", ["1e-20", "1e-80"])
def test_t5_takes_the_larger_of_two_deltas(delta):
    """Inside the interval unequal deltas do no harm."""
    setting = Setting(5, "absolute", "unit_box")
    ratio = top(ratio_interval("T5", setting)).lower
    readings, spec = readings_of(setting), MECHANISMS["adfc"]
    for pair in ((delta, "1e-3"), ("1e-3", delta)):
        small = Setting(5, "absolute", "unit_box", records=1000)
        assert judge(spec, small, SplitBudget(ratio, 1, *pair), readings).verdict == "enclosed"


# --- T5 at a fixed delta --------------------------------------------------------------------------------------


def excess_in_floats(d: int, ratio: float, epsilon_n: float, delta: float) -> float:
    """Log of exact over claimed delta on the ball, `absolute`, by scipy."""
    root = math.log(math.sqrt(2 / math.pi) / delta)
    bound = math.sqrt(d * d / 16 + 9 * d)
    f = math.sqrt(2) * (math.sqrt(root + ratio * epsilon_n) - math.sqrt(root))
    mu, epsilon = 3 * f / bound, epsilon_n * (ratio + d - 1) / d
    first, second = log_ndtr(mu / 2 - epsilon / mu), epsilon + log_ndtr(-mu / 2 - epsilon / mu)
    return float(first + math.log1p(-math.exp(second - first)) - math.log(1 - (1 - delta) ** 2))


@pytest.mark.parametrize(("d", "delta"), [(2, 1e-3), (5, 1e-3), (13, 1e-3), (13, 1e-6), (50, 1e-6)])
def test_t5_failing_ratio_against_scipy(d, delta):
    found = some(failing_ratio(Setting(d, "absolute", "unit_ball"), Fraction(1, 10), Fraction(str(delta))))
    expected = brentq(lambda ratio: excess_in_floats(d, ratio, 0.1, delta), 1.5, 1000)
    assert float(found.holds_at) * (1 - 1e-5) <= expected <= float(found.fails_at) * (1 + 1e-5)
    assert str(found.at_holds.verdict) in TRUE
    assert found.at_fails.verdict == "refuted"
    assert found.fails_at - found.holds_at <= found.holds_at / 10**6


def test_t5_failing_ratio_below_one():
    found = some(failing_ratio(Setting(2, "absolute", "unit_ball"), ONE, Fraction(1, 10**6), above=False))
    assert found.fails_at < found.holds_at < 1
    assert found.at_fails.verdict == "refuted"
    assert failing_ratio(Setting(13, "absolute", "unit_ball"), ONE, Fraction(1, 10**6), above=False) is None


# --- Explicit data sets in the paper's own domain ------------------------------------------------------------


@pytest.mark.parametrize("d", [5, 13])
def test_neighbours_of_1000_records_in_the_unit_ball_refute_t5(d):
    setting = Setting(d, "absolute", "unit_ball", records=1000)
    budget = SplitBudget("10", "0.1", "1e-6", "1e-6")
    judgement = judge(MECHANISMS["adfc"], setting, budget, readings_of(setting))
    assert judgement.verdict == "refuted"
    assert judgement.witness.records == 1000
    assert judgement.witness.violates(judgement.claim)
    equal = judge(MECHANISMS["adfc"], setting, SplitBudget(1, 1, "1e-6", "1e-6"), readings_of(setting))
    assert equal.verdict == "enclosed"
    assert not equal.witness.violates(equal.claim)


@pytest.mark.parametrize("d", [2, 5, 13])
@pytest.mark.parametrize("ratio", ["10", "0.01"])
def test_neighbours_of_1000_records_in_the_unit_ball_refute_t3_with_the_exact_sensitivity(d, ratio):
    setting = Setting(d, "absolute", "unit_ball", records=1000)
    budget = SplitBudget(Fraction(ratio), 1)
    exact = judge(MECHANISMS["pdfc"], setting, budget, readings_of(setting).with_(sensitivity="exact"))
    assert exact.verdict == "refuted"
    assert exact.witness.violates(exact.claim)
    published = judge(MECHANISMS["pdfc"], setting, budget, readings_of(setting))
    assert published.verdict in TRUE
    assert not published.witness.violates(published.claim)


# --- The repaired theorems and bad input ---------------------------------------------------------------------


@pytest.mark.parametrize("ratio", ["100", "1", "0.01"])
def test_t3_fix_is_what_the_mechanism_loses(ratio):
    setting = Setting(4, "absolute", "unit_box", records=50)
    delta_1 = Fraction(7)
    repaired = repaired_pdfc(setting, Fraction(ratio), ONE, delta_1)
    exact = privacy_at(
        setting, Fraction(ratio), ONE, sensitivity="7" if ratio == "1" else "published", theorem="T3"
    )
    published = sensitivity_power("T3", setting)
    scale = delta_1 / (7 if ratio == "1" else published)
    assert float(exact.epsilon.upper) == pytest.approx(float(repaired.upper * scale), rel=1e-12)


def test_t5_fix_is_what_the_mechanism_loses():
    setting = Setting(4, "covariance", "unit_ball", records=50)
    exact = privacy_at(setting, Fraction(30), Fraction(1, 10), Fraction(1, 10**6))
    squared = published_l2_sensitivity_squared("covariance", 4)
    sigma_s, sigma_n = (
        Fraction(extended_gaussian_sigma(squared, e, Fraction(1, 10**6))) for e in (Fraction(3), Fraction(1, 10))
    )
    repaired = repaired_adfc(setting, sigma_s, sigma_n, some(exact.at_epsilon))
    assert repaired.lower == pytest.approx(some(exact.delta).lower, rel=1e-12)


def test_a_sensitivity_below_the_exact_one_is_an_error():
    with pytest.raises(ReadingError, match="at least the exact one"):
        ratio_interval("T5", Setting(3, "absolute", "unit_ball"), "2.9")
    with pytest.raises(ReadingError):
        ratio_interval("T4", Setting(3))


def test_a_sensitivity_inside_the_enclosure_is_refused_as_not_certified():
    setting = Setting(20, "none", "unit_ball")
    with pytest.raises(ReadingError, match="nothing is certified"):
        ratio_interval("T3", setting, "6.9")
    with pytest.raises(ReadingError, match="T2 and T1 fail"):
        ratio_interval("T3", setting, "6.7")


def test_t5_fix_below_the_smallest_delta_starts_at_zero():
    repaired = repaired_adfc(Setting(2), Fraction(1000), Fraction(1000), Fraction(100))
    assert repaired.lower == 0 < repaired.upper
