"""Claims L1 to L4, L2.alpha and L2.sign, and the smallest Delta_1 of Theorem 3."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from audit.exact.theorems import smallest_sensitivity_power
from audit.exact.thresholds import (
    alpha_threshold,
    coefficients_with_chosen_sign,
    drift_counterexamples,
    sign_from_the_data,
)
from audit.exact.witnesses import witness
from audit.gate.exact.sensitivity_settings import ADJACENCIES, FAIRNESS, SUPREMA, observed
from reference.common.errors import ReadingError
from reference.objective import objective
from reference.readings import Readings
from reference.sensitivity import (
    Setting,
    exact_l1,
    exact_l2_squared,
    published_l1_sensitivity,
    published_l2_sensitivity_squared,
)
from reference.sensitivity.box import linear_change


def test_published_bounds_hold_strictly_with_fairness_weight_one():
    for fairness, adjacency, basis in product(
        ("none", "absolute", "covariance"), ADJACENCIES, ("matrix", "monomial")
    ):
        for norm in ("unit_box", "unit_ball", "symmetric_ball"):
            if (fairness, norm) == ("absolute", "symmetric_ball"):
                continue
            for d in (*range(1, 30), 44, 45, 60, 88, 89, 150):
                setting = Setting(d, fairness, norm, adjacency, basis)
                assert exact_l2_squared(setting).upper < published_l2_sensitivity_squared(fairness, d)
                if norm == "unit_box" or d in (1, 2, 13, 60):
                    assert exact_l1(setting).upper < published_l1_sensitivity(fairness, d)


THRESHOLDS = {
    (1, "unit_box", "replace_one", "l1"): 9 / 8,
    (13, "unit_box", "replace_one", "l1"): 425 / 208,
    (2, "unit_box", "add_or_remove_one", "l1"): 11 / 8,
    (13, "unit_box", "replace_one", "l2"): 1.0662463,
    (13, "unit_ball", "replace_one", "l2"): 5.1471779,
    (5, "unit_ball", "replace_one", "l1"): 4.179268,
    (13, "unit_ball", "add_or_remove_one", "l1"): 10.792001,
}


@pytest.mark.parametrize("key", THRESHOLDS)
def test_alpha_threshold_has_the_known_value(key):
    d, norm_of_x, adjacency, norm = key
    found = alpha_threshold(Setting(d, "absolute", norm_of_x, adjacency, "matrix"), norm)
    assert float(found.lower) == pytest.approx(THRESHOLDS[key], abs=2e-6)
    assert found.upper - found.lower < Fraction(1, 10**6)


@pytest.mark.parametrize("norm", ["l1", "l2"])
def test_published_bound_holds_up_to_the_alpha_threshold(norm):
    """Both sides of L2.alpha: 0.1 % below the bound stands, 0.1 % above real data sets break it."""
    published = {"l1": published_l1_sensitivity, "l2": published_l2_sensitivity_squared}[norm]
    for fairness, norm_of_x, adjacency, d in product(
        ("absolute", "covariance"), ("unit_box", "unit_ball", "symmetric_ball"), ADJACENCIES, (1, 2)
    ):
        if (fairness, norm_of_x) == ("absolute", "symmetric_ball"):
            continue
        for basis, records in (("matrix", 2),) if d == 1 else (("monomial", 1000),):
            setting = Setting(d, fairness, norm_of_x, adjacency, basis, records=records)
            threshold = alpha_threshold(setting, norm)
            below = replace(setting, fairness_weight=threshold.lower * Fraction(999, 1000))
            above = replace(
                setting, fairness_weight=(threshold.upper * Fraction(1001, 1000)).limit_denominator(10**6)
            )
            bound = published(fairness, d)
            assert SUPREMA[norm](below).upper <= bound, setting
            assert observed(witness(above, norm), above, norm, 1, 1) > bound, setting


def test_alpha_threshold_is_refused_where_alpha_has_no_effect():
    for setting in (Setting(2, "none"), Setting(2, "separate"), Setting(2, "absolute", records=1)):
        with pytest.raises(ReadingError):
            alpha_threshold(setting, "l1")


@pytest.mark.parametrize("domain", ["unit_ball", "unit_box"])
def test_sign_chosen_from_the_data_changes_without_bound(domain):
    for half, alpha in ((1, 1), (10, 2), (50_000, 1)):
        flip = sign_from_the_data(half, Fraction(alpha), domain)
        left, right = (
            coefficients_with_chosen_sign(side.moments, alpha, np.ones(2)) for side in (flip.left, flip.right)
        )
        assert float(np.abs(left - right).sum()) == pytest.approx(float(flip.change), rel=1e-9)
        assert flip.change == alpha * (len(flip.left) - 1)
    # with the sign fixed the same data sets are close
    plain = Readings(fairness="covariance")
    left, right = (objective(side.moments, plain).values for side in (flip.left, flip.right))
    assert float(np.abs(left - right).sum()) <= float(exact_l1(Setting(2, "covariance", domain)).upper)


def test_second_line_of_the_proofs_of_lemmas_2_and_4_drops_the_drift():
    found = list(drift_counterexamples())
    assert len(found) == 2
    for left, right, change, last_terms in found:
        values = [objective(side.moments, Readings(fairness="absolute")).linear[0] for side in (left, right)]
        assert values[1] - values[0] == float(change)
        terms = []
        for side in (left, right):
            x, y, z = (float(v[-1]) for v in (side.distinct.x[:, 0], side.distinct.y, side.distinct.z))
            terms.append((0.5 - y + abs(z - side.moments.zbar)) * x)
        assert terms[1] - terms[0] == float(last_terms)
        assert change > last_terms


def test_smallest_delta_1_suffices_for_every_budget_and_nothing_less_does():
    for fairness, norm_of_x, adjacency, d in product(FAIRNESS, ("unit_box", "unit_ball"), ADJACENCIES, (1, 2, 3)):
        setting = Setting(d, fairness, norm_of_x, adjacency, records=50)
        needed = smallest_sensitivity_power("T3", setting)
        assert needed.upper - needed.lower < Fraction(1, 10**6)
        losses = []
        for ratio in (
            Fraction(0),
            Fraction(1, 100),
            Fraction(1, 2),
            Fraction(1),
            Fraction(3),
            Fraction(100),
            None,
        ):
            epsilon_s, epsilon_n = (ratio, Fraction(1)) if ratio is not None else (Fraction(1), Fraction(0))
            claimed = epsilon_s / d + epsilon_n * Fraction(d - 1, d)
            loss = exact_l1(setting, epsilon_s, epsilon_n)
            assert loss.lower / needed.upper <= claimed
            losses.append(loss.upper - claimed * needed.lower)
        assert max(losses) >= 0


@pytest.mark.parametrize("adjacency", ADJACENCIES)
def test_smallest_delta_1_on_the_box_in_closed_form(adjacency):
    """d A + d^2/4 + d/4 for replaced records, d A + d^2/4 - d/8 for added ones, A being the linear change."""
    for fairness, d in product(FAIRNESS, (1, 2, 13, 100)):
        setting = Setting(d, fairness, "unit_box", adjacency, records=50)
        linear = linear_change(setting) + (setting.drift if fairness == "separate" else 0)
        expected = d * linear + Fraction(d * d, 4) + (Fraction(d, 4) if setting.replaces else -Fraction(d, 8))
        found = smallest_sensitivity_power("T3", setting)
        assert found.lower == found.upper == expected


def test_smallest_delta_1_is_below_the_published_up_to_a_drift_of_9_8():
    for d in range(1, 40):
        for alpha, sufficient in ((Fraction(9, 8), True), (Fraction(9, 8) + Fraction(1, 10**9), False)):
            setting = Setting(d, "absolute", "unit_box", fairness_weight=alpha)
            assert (
                smallest_sensitivity_power("T3", setting).upper <= published_l1_sensitivity("absolute", d)
            ) is sufficient


def test_ends_of_an_irrational_threshold_are_in_order():
    found = alpha_threshold(Setting(2, "absolute", "unit_ball", records=10), "l2")
    assert found.lower < found.upper < found.lower + Fraction(1, 10**40)
