"""Theorem 3: where it holds, exactly, and what holds instead."""

from __future__ import annotations

from fractions import Fraction

import pytest

from audit.exact.privacy import judge
from audit.exact.theorems import (
    OpenTop,
    RatioInterval,
    holds_for_all_budgets,
    privacy_at,
    ratio_interval,
    repaired_pdfc,
    sensitivity_power,
    smallest_sensitivity_power,
)
from audit.exact.witnesses import domain_of, readings_of
from audit.gate.exact.ratio_ends import ONE, TRUE, ends, holds_for_all, holds_up_to_one, top
from audit.gate.needs import exhaustively
from reference.budgets import SplitBudget
from reference.common.errors import ReadingError
from reference.common.numbers import Enclosure
from reference.moments import Moments
from reference.objective import objective
from reference.records import check_matrix
from reference.registry import MECHANISMS
from reference.sensitivity import Setting, exact_l1

# --- T3 -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("norm", ["unit_box", "unit_ball"])
@pytest.mark.parametrize("fairness", ["none", *exhaustively("absolute", "covariance")])
@pytest.mark.parametrize("adjacency", ["replace_one", "add_or_remove_one"])
def test_t3_holds_for_all_budgets_with_the_published_bound(norm, fairness, adjacency):
    for d in (1, 2, 3, 5, 13) if norm == "unit_ball" else (*range(1, 30), 100, 1000):
        for records in (2, 1000, None):
            setting = Setting(d, fairness, norm, adjacency, records=records)
            assert holds_for_all_budgets("T3", setting) is True, setting
            assert holds_for_all(ratio_interval("T3", setting)) is True


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


@pytest.mark.parametrize(
    ("d", "lower_end"),
    [
        (2, 1.0),
        pytest.param(3, 0.896202, marks=pytest.mark.lengthy),
        pytest.param(4, 0.958957, marks=pytest.mark.lengthy),
        pytest.param(5, 0.832428, marks=pytest.mark.lengthy),
    ],
)
def test_t3_with_the_exact_sensitivity_on_the_ball_fails_on_both_sides(d, lower_end):
    setting = Setting(d, "absolute", "unit_ball")
    lower, upper = ends("T3", setting, "exact")
    assert lower == pytest.approx(lower_end, abs=1e-6)
    assert upper == pytest.approx(1, abs=1e-6)
    for ratio in (lower * 0.99, 1.01):
        verdict = privacy_at(setting, Fraction(str(ratio)), ONE, sensitivity="exact", theorem="T3").verdict
        assert verdict == "refuted"


def test_t3_lower_end_is_undecided_where_the_enclosure_is_too_wide():
    """At ratio 0 the enclosure straddles the line; nothing may be claimed there."""
    setting = Setting(13, "none", "unit_ball")
    interval = ratio_interval("T3", setting, "exact")
    assert interval.lower.lower == 0 < interval.lower.upper < 1
    assert holds_up_to_one(interval) is None
    # the other end is certain
    assert top(interval).lower >= 1
    assert holds_for_all(interval) is False
    inside = privacy_at(setting, interval.lower.upper, ONE, sensitivity="exact", theorem="T3")
    assert inside.verdict in TRUE


def test_t3_is_undecided_with_a_number_inside_the_enclosure():
    setting = Setting(2, "absolute", "unit_ball")
    needed = smallest_sensitivity_power("T3", setting)
    assert needed.lower < needed.upper
    number = (needed.lower + needed.upper) / 2
    assert holds_for_all_budgets("T3", setting, str(number)) is None
    interval = ratio_interval("T3", setting, str(number))
    assert holds_for_all(interval) is None
    assert isinstance(interval.upper, OpenTop)
    assert interval.upper.lower >= 1
    assert interval.to_json()["upper"]["hi"] is None
    for sensitivity, holds in ((needed.upper, True), (needed.lower * Fraction(999, 1000), False)):
        assert holds_for_all(ratio_interval("T3", setting, str(sensitivity))) is holds


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
    assert holds_up_to_one(interval) is below
    assert holds_for_all(interval) is always


def test_t3_proof_drops_the_drift_of_zbar():
    """The last tuples contribute 0 on both sides, and the coefficient moves by 1/2."""
    domain = domain_of(Setting(1, "absolute", "unit_box"))
    data = [check_matrix(domain, [[1.0], [0.0]], [0, 0], [0, z]) for z in (0, 1)]
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


# --- Explicit data sets in the paper's own domain ------------------------------------------------------------


@pytest.mark.parametrize("d", [2, 5, 13])
@pytest.mark.parametrize("ratio", ["10", "0.01"])
def test_neighbours_in_the_unit_ball_refute_t3_with_exact_sensitivity(d, ratio):
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
