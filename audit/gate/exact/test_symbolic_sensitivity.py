"""The sympy derivations against the code, for many d, and the slack of the published bounds for every d."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import pytest
import sympy as sp

from audit.exact.symbolic import sensitivity as symbolic
from audit.exact.symbolic.inequalities import nonnegative_from
from audit.exact.thresholds import alpha_threshold
from audit.gate.exact import derived_forms
from reference.sensitivity import Setting, exact_l1, exact_l2_squared
from reference.sensitivity.ball import _one_angle
from reference.sensitivity.box import linear_change

DIMENSIONS = (*range(1, 15), 43, 44, 45, 46, 87, 88, 89, 150)


def rational(value: Fraction | int) -> sp.Rational:
    return sp.Rational(Fraction(value).numerator, Fraction(value).denominator)


def box_settings(d: int, basis: str = "matrix"):
    for fairness, records in product(("none", "absolute", "covariance"), (2, None)):
        yield Setting(d, fairness, "unit_box", "replace_one", basis, Fraction(1), records)


def test_box_l1_formula_is_the_derived_one():
    derived = symbolic.box_l1_equal_weights()
    for d in DIMENSIONS[1:]:
        for setting in box_settings(d):
            value = derived.subs({symbolic.d: d, symbolic.A: rational(linear_change(setting))})
            assert rational(exact_l1(setting).lower) == value


@pytest.mark.parametrize("weights", [(1, 1), (3, 2), (2, 3), (1, 0), (0, 1), (40, 1), (1, 40)])
def test_weighted_box_l1_formula_is_the_maximum_over_the_derived_edges(weights):
    w_s, w_n = weights
    value = symbolic.box_l1()
    for d in (1, 2, 3, 4, 7, 13):
        setting = Setting(d, "absolute", "unit_box")
        known = {symbolic.d: d, symbolic.A: rational(linear_change(setting)), symbolic.w_s: w_s, symbolic.w_n: w_n}
        found = []
        for q, t in derived_forms.box_l1_edges():
            if w_n == 0 and t.has(symbolic.w_n):
                continue
            point = (min(max(q.subs(known), 0), 1), min(max(t.subs(known), 0), d - 1))
            found.append(value.subs(known).subs({symbolic.q: point[0], symbolic.t: point[1]}))
        assert rational(exact_l1(setting, Fraction(w_s), Fraction(w_n)).lower) == max(found)


def test_weighted_box_l1_has_no_interior_maximum():
    expected = symbolic.w_s * (symbolic.w_n - symbolic.w_s) / 16
    assert sp.simplify(derived_forms.box_l1_hessian() - expected) == 0
    # concave case: the gradient vanishes only where q = 0
    value = symbolic.box_l1()
    (point,) = sp.solve(
        [sp.diff(value, symbolic.q), sp.diff(value, symbolic.t)], [symbolic.q, symbolic.t], dict=True
    )
    assert point[symbolic.q] == 0


def test_added_box_l1_formula_is_the_derived_one():
    derived = symbolic.box_l1().subs({symbolic.q: 0, symbolic.t: 0})
    for d in DIMENSIONS:
        setting = Setting(d, "covariance", "unit_box", "add_or_remove_one")
        known = {symbolic.d: d, symbolic.A: rational(linear_change(setting)), symbolic.w_s: 5, symbolic.w_n: 2}
        assert rational(exact_l1(setting, Fraction(5), Fraction(2)).lower) == derived.subs(known)


@pytest.mark.parametrize("basis", ["matrix", "monomial"])
def test_box_l2_formula_is_the_derived_one_at_the_derived_vertex(basis):
    value, root = symbolic.box_l2(basis), derived_forms.box_l2_best_ones(basis)
    for d in DIMENSIONS:
        for setting in box_settings(d, basis):
            A = rational(linear_change(setting))
            ones = min(d, sp.ceiling(root.subs(symbolic.A, A)))
            expected = value.subs({symbolic.d: d, symbolic.A: A, symbolic.k: ones})
            assert rational(exact_l2_squared(setting).lower) == expected


def test_maximising_vertices_follow_from_convexity():
    assert derived_forms.box_l2_convexity() == sp.Rational(7, 16)


@pytest.mark.parametrize("lemma", ["L1", "L2", "L3", "L4"])
def test_published_bound_exceeds_the_exact_value_for_every_dimension(lemma):
    assert nonnegative_from(symbolic.slack(lemma), strict=True).verdict == "proved"


@pytest.mark.parametrize("basis", ["matrix", "monomial"])
def test_bound_behind_the_l2_slack_holds_for_every_vertex(basis):
    excess = sp.Poly(symbolic.box_l2_excess(basis))
    assert all(coefficient >= 0 for coefficient in excess.coeffs())


def test_slack_proof_fires_on_a_bound_that_is_too_small():
    for too_small in (symbolic.slack("L2") - symbolic.d / 2, symbolic.slack("L4") - symbolic.d**2 / 32):
        decision = nonnegative_from(too_small, strict=True)
        assert decision.verdict == "refuted"
        assert not too_small.subs(symbolic.d, decision.counterexample) > 0


@pytest.mark.parametrize(("fairness", "multiple"), [("absolute", 2), ("covariance", 1)])
def test_alpha_threshold_of_the_box_is_the_derived_one(fairness, multiple):
    for d in DIMENSIONS:
        for adjacency, records in product(("replace_one", "add_or_remove_one"), (2, 50)):
            replaced = sp.Rational(3, 8) if d == 1 else sp.Rational(1, 2)
            derived = derived_forms.alpha_threshold_l1(multiple, replaced if adjacency == "replace_one" else 0)
            setting = Setting(d, fairness, "unit_box", adjacency, records=records)
            found = alpha_threshold(setting, "l1")
            assert found.lower == found.upper
            assert rational(found.lower * setting.nu) == derived.subs(symbolic.d, d)


def test_quadratic_change_of_two_records_has_the_stated_length():
    r, s, c = sp.symbols("r s c", real=True)
    assert sp.expand(derived_forms.frobenius_square() - (r**4 + s**4 - 2 * c**2 * r**2 * s**2)) == 0


@pytest.mark.parametrize("others", [1, 2, 5])
def test_one_angle_formula_is_the_derived_one(others):
    p, u_s, u_n, linear = sp.symbols("p u_s u_n linear", positive=True)
    derived = derived_forms.one_angle(others)
    for weights in ((1, 1), (5, 1), (1, 5), (1, 0)):
        known = {u_s: weights[0], u_n: weights[1], linear: sp.Rational(9, 16)}
        in_p = sp.Poly(derived.subs(known), p)
        points = [0, 1]
        if in_p.degree() == 2 and in_p.LC() < 0:
            points.append(min(max(-in_p.coeff_monomial(p) / (2 * in_p.LC()), 0), 1))
        expected = max(in_p.eval(point) for point in points)
        assert rational(_one_angle(*map(Fraction, weights), Fraction(9, 16), others)) == expected
