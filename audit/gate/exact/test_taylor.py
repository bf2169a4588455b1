"""Taylor polynomials of log(1 + exp t): coefficients, no polynomial, remainder from both sides."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest
import sympy as sp

from audit.claims.rows import attributes
from audit.exact.enclosures import taylor as enclosed
from audit.exact.symbolic import taylor as symbolic


@pytest.mark.parametrize("degree", range(2, 13))
def test_coefficient_has_two_derivations(degree):
    assert symbolic.coefficient(degree) == sp.Rational(*attributes.taylor(degree).as_integer_ratio())


def test_coefficients_are_those_of_sympys_series():
    t = symbolic.t
    series = sp.series(sp.log(1 + sp.exp(t)), t, 0, 7).removeO()
    assert sp.simplify(series - symbolic.taylor_polynomial(6)) == 0
    # the paper's: 1/2 and 1/8
    assert (symbolic.coefficient(1), symbolic.coefficient(2)) == (sp.Rational(1, 2), sp.Rational(1, 8))


@pytest.mark.parametrize("order", range(1, 10))
def test_derivative_polynomial_is_the_derivative(order):
    t = symbolic.t
    direct = sp.diff(sp.log(1 + sp.exp(t)), t, order)
    logistic = 1 / (1 + sp.exp(-t))
    for point in (sp.Rational(-7, 3), sp.Integer(0), sp.Rational(5, 2)):
        difference = direct.subs(t, point) - symbolic.derivative(order).subs(symbolic.s, logistic.subs(t, point))
        assert abs(sp.N(difference, 40)) < 1e-30


def test_no_derivative_vanishes_so_the_loss_is_no_polynomial():
    """The leading coefficient of p_n is (-1)^(n-1) (n-1)! for every n, by induction with a symbolic step."""
    assert symbolic.leading_coefficient(1) == 1
    step = symbolic.induction_step_for_leading_coefficient()
    (n,) = step.free_symbols
    assert step == -n
    for order in range(1, 12):
        expected = (-1) ** (order - 1) * sp.factorial(order - 1)
        assert symbolic.leading_coefficient(order) == expected
        assert sp.degree(symbolic.derivative(order), symbolic.s) == order


def test_remainder_of_degree_two_is_negative_on_both_sides():
    shifted, cofactor = symbolic.remainder_sign()
    h = symbolic.h
    assert sp.expand(shifted + h * cofactor) == 0
    # -(2h - 1)(2h + 1)/2 > 0 for |h| < 1/2
    assert sp.expand(cofactor - (1 - 4 * h**2) / 2) == 0
    for t in (Fraction(1, 100), Fraction(1), Fraction(30)):
        for point in (t, -t):
            assert enclosed.error_at(point, 2).upper < 0


def test_error_of_degree_two_is_concave_and_above_minus_t4_over_192():
    s = symbolic.s
    assert sp.expand(symbolic.second_derivative_of_error() + (s - sp.Rational(1, 2)) ** 2) == 0
    for t in (Fraction(1, 10), Fraction(1), Fraction(5), Fraction(50)):
        error = enclosed.error_at(t, 2)
        assert -(t**4) / 192 <= error.lower <= error.upper <= 0
    # 1/192 is the best constant: 1/193 fails near 0
    near = Fraction(1, 10)
    assert enclosed.error_at(near, 2).upper < -(near**4) / 193


@pytest.mark.parametrize(("order", "expected"), [(1, 1.0), (2, 0.25), (3, math.sqrt(3) / 18), (4, 0.125)])
def test_largest_derivative_in_closed_form(order, expected):
    found = enclosed.largest_derivative(order)
    assert float(found.lower) == pytest.approx(expected, rel=1e-12)
    assert found.upper - found.lower < Fraction(1, 10**12)


@pytest.mark.parametrize("order", range(1, 9))
def test_largest_derivative_is_not_exceeded(order):
    most = enclosed.largest_derivative(order).upper
    polynomial = sp.Poly(symbolic.derivative(order), symbolic.s)
    for k in range(201):
        assert abs(polynomial.eval(sp.Rational(k, 200))) <= sp.Rational(most.numerator, most.denominator)


@pytest.mark.parametrize("R", ["1/2", "1", "3", "10"])
@pytest.mark.parametrize("degree", [1, 2, 3, 4, 6])
def test_error_on_an_interval_is_enclosed(R, degree):
    radius = Fraction(R)
    found = enclosed.taylor_error(degree, radius)
    assert 0 < found.lower <= found.upper
    assert found.upper <= enclosed.lagrange_bound(degree, radius) * (1 + Fraction(1, 10**9))
    for k in range(-20, 21):
        error = enclosed.error_at(radius * k / 20, degree)
        # the certain part of |error|
        assert max(error.lower, -error.upper) <= found.upper


def test_degree_two_error_is_reached_at_both_ends():
    for R in (Fraction(1, 3), Fraction(2), Fraction(25)):
        found = enclosed.degree_two_error(R)
        for point in (R, -R):
            error = enclosed.error_at(point, 2)
            assert -error.upper <= found.upper
            assert found.lower <= -error.lower
        assert found.upper - found.lower < found.lower / 10**15
    assert enclosed.degree_two_error(Fraction(0)).upper == 0


def test_a_higher_degree_is_worse_far_out_and_better_near():
    """The series converges for |t| < pi only: more terms do not help beyond."""
    near, far = Fraction(1), Fraction(5)
    assert enclosed.taylor_error(6, near).upper < enclosed.taylor_error(2, near).lower
    assert enclosed.taylor_error(6, far).lower > enclosed.taylor_error(2, far).upper


def test_a_bound_that_is_too_small_is_exceeded():
    """The broken control: a quarter and a tenth of Lagrange's bound."""
    R = Fraction(1)
    for factor in (Fraction(1, 4), Fraction(1, 10)):
        assert enclosed.degree_two_error(R).lower > factor * enclosed.lagrange_bound(2, R)


def test_order_zero_is_refused():
    with pytest.raises(ValueError, match="at least 1"):
        symbolic.derivative(0)
