"""The box's closed forms derived by sympy for symbolic d, and the published bounds' slack for every d.

A is the linear change of one coordinate with x' = 1 and x = 0 (``reference.sensitivity.box.linear_change``).
The proofs of ``proofs/sensitivities.md`` reduce the suprema to the sums below; from there on sympy does
the algebra.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import sympy as sp

from audit.exact.symbolic import inequalities
from audit.exact.symbolic.inequalities import nonnegative_from

Expression: TypeAlias = Any

d = inequalities.d
k = sp.Symbol("k", integer=True, nonnegative=True)
A, w_s, w_n = sp.symbols("A w_s w_n", positive=True)
q, t = sp.symbols("q t", nonnegative=True)
e, l = sp.symbols("e l", integer=True, positive=True)  # noqa: E741

HALF, EIGHTH = sp.Rational(1, 2), sp.Rational(1, 8)


def box_l1() -> Expression:
    """Return w_s |D_s|_1 + w_n |D_n|_1 at x' = 1, x_s = q, the others of x adding up to t (Proposition 1).

    For added records x is absent: q = t = 0.
    """
    others = sp.summation(1, (l, 2, d))
    linear = w_s * (A + q / 2) + w_n * (sp.summation(A, (e, 2, d)) + t / 2)
    # ordered pairs that contain s, and the others; the sums of x_e x_l factor
    with_s = EIGHTH * (1 + 2 * others - (q**2 + 2 * q * t))
    without_s = EIGHTH * (sp.summation(sp.summation(1, (l, 2, d)), (e, 2, d)) - t**2)
    return sp.expand(linear + w_s * with_s + w_n * without_s)


def box_l1_equal_weights() -> Expression:
    """Return the l1-sensitivity for replaced records and d >= 2: the maximum over the sum T = q + t."""
    total = sp.Symbol("T", nonnegative=True)
    value = sp.expand(box_l1().subs({w_s: 1, w_n: 1}).subs(t, total - q))
    # only the sum matters
    assert not value.has(q)
    (best,) = sp.solve(sp.diff(value, total), total)
    assert sp.diff(value, total, 2) < 0
    return sp.expand(value.subs(total, best))


def box_l2(basis: str, ones: Expression = k) -> Expression:
    """Return the squared l2 change at x' = 1 and x with `ones` entries 1, the others 0 (Proposition 2).

    For `separate` A is 1/2 and d times the squared drift comes on top.
    """
    linear = sp.summation((A + HALF) ** 2, (e, 1, ones)) + sp.summation(A**2, (e, ones + 1, d))
    changed_diagonal = d - ones
    changed_pairs = sp.binomial(d, 2).expand(func=True) - sp.binomial(ones, 2).expand(func=True)
    pair = sp.Rational(1, 16) if basis == "monomial" else sp.Rational(2, 64)
    return sp.expand(sp.simplify(linear + changed_diagonal / sp.Integer(64) + pair * changed_pairs))


def slack(lemma: str) -> Expression:
    """Return a lower bound, in d, on the published bound minus the exact value, for alpha_1 = 1 and any N.

    L1, L2: Delta_1 minus :func:`box_l1_equal_weights`.  L3, L4: Delta_2^2 minus d A^2 + d (A + 1/4) + d^2/32,
    which is at least :func:`box_l2` for each k <= d and both bases (:func:`box_l2_excess`).  A is at most 1/2
    without a fairness term and 5/2 with one.
    """
    largest = HALF if lemma in ("L1", "L3") else sp.Rational(5, 2)
    multiple = {"L1": 1, "L2": 3, "L3": 1, "L4": 9}[lemma]
    if lemma in ("L1", "L2"):
        return sp.expand(d**2 / 4 + multiple * d - box_l1_equal_weights().subs(A, largest))
    exact = d * largest**2 + d * (largest + sp.Rational(1, 4)) + d**2 / 32
    return sp.expand(d**2 / 16 + multiple * d - exact)


def box_l2_excess(basis: str) -> Expression:
    """Return d A^2 + d (A + 1/4) + d^2/32 - box_l2 with d = k + j: nonnegative coefficients in A, j and k."""
    j = sp.Symbol("j", integer=True, nonnegative=True)
    excess = d * A**2 + d * (A + sp.Rational(1, 4)) + d**2 / 32 - box_l2(basis)
    return sp.expand(excess.subs(d, k + j))


def is_positive_from_one(polynomial: Expression) -> bool:
    """Return whether a polynomial in d is known to be positive for every whole d >= 1; False proves nothing."""
    return nonnegative_from(polynomial, strict=True).verdict == "proved"
