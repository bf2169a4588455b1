"""Theorem 5: where it holds, exactly, and what holds instead."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TypeVar

import mpmath
import pytest
from scipy.optimize import brentq
from scipy.special import log_ndtr

from audit.exact.privacy import judge
from audit.exact.theorems import (
    failing_ratio,
    privacy_at,
    ratio_interval,
    repaired_adfc,
    sensitivity_power,
)
from audit.exact.witnesses import readings_of
from audit.gate.exact.ratio_ends import ONE, TRUE, ends, holds_for_all, holds_up_to_one, top
from reference.budgets import SplitBudget
from reference.noise import extended_gaussian_sigma
from reference.registry import MECHANISMS
from reference.sensitivity import Setting, exact_l2_squared, published_l2_sensitivity_squared

T = TypeVar("T")


def some(value: T | None) -> T:
    """Return what is there."""
    assert value is not None
    return value


# --- T3 -------------------------------------------------------------------------------------------------------


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
    assert holds_up_to_one(ratio_interval("T5", Setting(12, "absolute", "unit_box"))) is False
    assert holds_up_to_one(ratio_interval("T5", Setting(13, "absolute", "unit_box"))) is True


@pytest.mark.parametrize(
    ("fairness", "norm", "failing"),
    [
        ("none", "unit_ball", {2}),
        ("none", "unit_box", {2, 3, 4}),
        ("covariance", "unit_ball", set()),
        ("covariance", "unit_box", set()),
    ],
)
@pytest.mark.parametrize(
    "dimensions",
    [
        pytest.param(range(2, 20), id="d below 20"),
        pytest.param(range(20, 60), id="d from 20 to 59", marks=pytest.mark.lengthy),
    ],
)
def test_t5_regime_below_one_in_other_readings(fairness, norm, failing, dimensions):
    for d in dimensions:
        interval = ratio_interval("T5", Setting(d, fairness, norm))
        assert holds_up_to_one(interval) == (d not in failing), d
        # with the sign fixed, two dimensions need nothing else
        assert holds_for_all(interval) == (fairness == "covariance" and d == 2), d


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


def verdict_at(ratio: Fraction, setting: Setting, epsilon_n: Fraction, delta: Fraction) -> str:
    return str(privacy_at(setting, ratio, epsilon_n, delta).verdict)


@pytest.mark.parametrize(("d", "delta"), [(2, 1e-3), (5, 1e-3), (13, 1e-3), (13, 1e-6), (50, 1e-6)])
def test_t5_failing_ratio_against_scipy(d, delta):
    case = Setting(d, "absolute", "unit_ball"), Fraction(1, 10), Fraction(str(delta))
    found = some(failing_ratio(*case))
    expected = brentq(lambda ratio: excess_in_floats(d, ratio, 0.1, delta), 1.5, 1000)
    assert float(found.holds_at) * (1 - 1e-5) <= expected <= float(found.fails_at) * (1 + 1e-5)
    assert verdict_at(found.holds_at, *case) in TRUE
    assert verdict_at(found.fails_at, *case) == "refuted"
    assert found.fails_at - found.holds_at <= found.holds_at / 10**6


def test_t5_failing_ratio_below_one():
    case = Setting(2, "absolute", "unit_ball"), ONE, Fraction(1, 10**6)
    found = some(failing_ratio(*case, above=False))
    assert found.fails_at < found.holds_at < 1
    assert verdict_at(found.fails_at, *case) == "refuted"
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


# --- The repaired theorems and bad input ---------------------------------------------------------------------


def test_t5_fix_is_what_the_mechanism_loses():
    setting = Setting(4, "covariance", "unit_ball", records=50)
    exact = privacy_at(setting, Fraction(30), Fraction(1, 10), Fraction(1, 10**6))
    squared = published_l2_sensitivity_squared("covariance", 4)
    sigma_s, sigma_n = (
        Fraction(extended_gaussian_sigma(squared, e, Fraction(1, 10**6))) for e in (Fraction(3), Fraction(1, 10))
    )
    repaired = repaired_adfc(setting, sigma_s, sigma_n, some(exact.at_epsilon))
    assert repaired.lower == pytest.approx(some(exact.delta).lower, rel=1e-12)


def test_t5_fix_below_the_smallest_delta_starts_at_zero():
    repaired = repaired_adfc(Setting(2), Fraction(1000), Fraction(1000), Fraction(100))
    assert repaired.lower == 0 < repaired.upper
