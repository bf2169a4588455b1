"""The Taylor polynomials of f(t) = log(1 + exp t) of any degree, and their remainder, by sympy.

With s = 1/(1 + exp(-t)) the derivatives are polynomials in s: f' = s, and s' = s (1 - s).  So each statement
about f^(n) on the real line is one about a polynomial on 0 < s < 1.  Proofs: ``proofs/taylor.md``.
Claims: F1.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any, TypeAlias

import sympy as sp

Expression: TypeAlias = Any

s, t, h = sp.symbols("s t h", real=True)


@lru_cache(maxsize=64)
def derivative(order: int) -> Expression:
    """Return p_n with f^(n)(t) = p_n(s(t)), as a polynomial in s.

    Parameters
    ----------
    order : int
        n, at least 1.
    """
    if order < 1:
        raise ValueError("the order of a derivative is at least 1")
    if order == 1:
        return s
    # d/dt p(s) = p'(s) s (1 - s)
    return sp.expand(sp.diff(derivative(order - 1), s) * s * (1 - s))


def coefficient(degree: int) -> Expression:
    """Return the coefficient of t^n in the Taylor series at 0: f^(n)(0)/n!, where s = 1/2."""
    if degree == 0:
        return sp.log(2)
    return derivative(degree).subs(s, sp.Rational(1, 2)) / sp.factorial(degree)


def taylor_polynomial(degree: int) -> Expression:
    """Return the Taylor polynomial of f of a degree, in t."""
    return sum((coefficient(n) * t**n for n in range(degree + 1)), sp.Integer(0))


def leading_coefficient(order: int) -> Expression:
    """Return the coefficient of s^n in p_n: (-1)^(n-1) (n-1)!, so f^(n) is not the zero function for any n."""
    return sp.Poly(derivative(order), s).LC()


def induction_step_for_leading_coefficient() -> Expression:
    """Return c_(n+1)/c_n for p_n = c s^n + lower powers: -n, for symbolic n."""
    n = sp.Symbol("n", integer=True, positive=True)
    # d/ds (s^n) s (1 - s) = s^n (n - n s); lower powers of s give lower powers
    image = sp.expand(sp.simplify(sp.diff(s**n, s) * s * (1 - s) / s**n))
    return image.coeff(s)


def remainder_sign() -> tuple[Expression, Expression]:
    """Return p_3 at s = 1/2 + h, factored, and its cofactor of -h: positive for |h| < 1/2.

    The Lagrange remainder of degree 2 is f'''(xi) t^3/6 with xi between 0 and t; h has the sign of xi, hence of
    t, so the remainder is negative on both sides of 0.
    """
    shifted = sp.factor(derivative(3).subs(s, sp.Rational(1, 2) + h))
    return shifted, sp.factor(-shifted / h)


def second_derivative_of_error() -> Expression:
    """Return E'' for E = f - (degree 2 polynomial), as -(s - 1/2)^2: E is concave, with its maximum 0 at 0."""
    return sp.factor(derivative(2) - sp.diff(taylor_polynomial(2), t, 2))


@lru_cache(maxsize=64)
def critical_intervals(order: int) -> tuple[tuple[Expression, Expression], ...]:
    """Return narrow rational intervals around the places in [0, 1] where |p_n| may be largest.

    The ends 0 and 1, and every real root of p_n' in between, isolated by sympy.
    """
    slope = sp.Poly(sp.diff(derivative(order), s), s)
    found = [(sp.Integer(0), sp.Integer(0)), (sp.Integer(1), sp.Integer(1))]
    if slope.degree() > 0:
        roots = slope.intervals(eps=sp.Rational(1, 10 ** (12 + 2 * order)), inf=0, sup=1)
        found += [ends for ends, _ in roots]
    return tuple(found)
