"""The error of the Taylor polynomials of log(1 + exp t) on |t| <= R, enclosed from both sides.

A record's loss is log(1 + exp(x.w)) - y x.w, so t = x.w, and R bounds |x.w|: |w|_2 on the unit ball, |w|_1 on
the box. Claims: F1.taylor.  Proofs: ``proofs/taylor.md``.
"""

from __future__ import annotations

from fractions import Fraction

import sympy as sp
from flint import arb

from audit.exact.symbolic import taylor as symbolic
from reference.common.balls import FIRST_BITS, Ball, at_precision, ball, ends, refined
from reference.common.numbers import Enclosure

ZERO = Fraction(0)


def softplus(t: Ball) -> Ball:
    """Return log(1 + exp t) of a ball."""
    return t.exp().log1p()


def degree_two_error(R: Fraction) -> Enclosure:
    """Enclose e(R), the largest |f(t) - log 2 - t/2 - t^2/8| over |t| <= R.

    e(R) = R^2/8 - log cosh(R/2), reached at t = R and at t = -R: the error lies in [-e(R), 0] on the whole
    interval.

    Parameters
    ----------
    R : Fraction
        At least 0.
    """
    if R == 0:
        return Enclosure(ZERO, ZERO)
    return ends(refined(lambda: ball(R) ** 2 / 8 - (ball(R) / 2).cosh().log()))


def error_at(t: Fraction, degree: int) -> Enclosure:
    """Enclose the signed error f(t) - (Taylor polynomial of a degree)(t), from the definition; 0 at t = 0."""
    if t == 0:
        return Enclosure(ZERO, ZERO)
    rationals = [_rational(symbolic.coefficient(n)) for n in range(1, degree + 1)]

    def error() -> Ball:
        point = ball(t)
        value = softplus(point) - arb(2).log()
        return value - sum((ball(c) * point ** (n + 1) for n, c in enumerate(rationals)), arb(0))

    return ends(refined(error))


def largest_derivative(order: int) -> Enclosure:
    """Enclose the supremum of |f^(n)| over the real line: the maximum of |p_n| over 0 <= s <= 1."""
    polynomial = sp.Poly(symbolic.derivative(order), symbolic.s)
    coefficients = [_rational(c) for c in polynomial.all_coeffs()]

    def maximum() -> Enclosure:
        found = [ends(at(_rational(a), _rational(b))) for a, b in symbolic.critical_intervals(order)]
        return Enclosure(max(value.lower for value in found), max(value.upper for value in found))

    def at(low: Fraction, high: Fraction) -> Ball:
        point = ball(low).union(ball(high))
        value = arb(0)
        for c in coefficients:
            value = value * point + ball(c)
        return abs(value)

    return at_precision(FIRST_BITS, maximum)


def lagrange_bound(degree: int, R: Fraction) -> Fraction:
    """Return an upper bound of the error of a Taylor polynomial on |t| <= R: sup|f^(n+1)| R^(n+1)/(n+1)!."""
    factorial = Fraction(int(sp.factorial(degree + 1)))
    return largest_derivative(degree + 1).upper * R ** (degree + 1) / factorial


def taylor_error(degree: int, R: Fraction) -> Enclosure:
    """Enclose the largest error of the Taylor polynomial of a degree on |t| <= R.

    From below by the errors at t = R and t = -R, from above by Lagrange's remainder; degree 2 (and 3, the same
    polynomial) in closed form.
    """
    if degree in (2, 3):
        return degree_two_error(R)
    attained = []
    for point in (R, -R):
        error = error_at(point, degree)
        attained.append(max(error.lower, -error.upper))
    return Enclosure(max(attained), lagrange_bound(degree, R))


def _rational(value: sp.Rational) -> Fraction:
    return Fraction(int(value.p), int(value.q))
