"""The proofs' sums over one tuple's coefficients, for symbolic d, beside the four published bounds.

t is |z - zbar| (0 without a fairness term); the paper takes it to be 1, which it approaches as N grows.  A
tuple's linear coefficients are (1/2 - y + t) x, largest for y = 0; its quadratic ones x_e x_l/8 over ordered
pairs (`matrix`) or x_e x_l/4 for e < l and x_e^2/8 (`monomial`).  On the box the maximum over x is at x = (1,
..., 1); on the unit ball of a sum it is at x = (1, ..., 1)/sqrt(d).  Claims: L1, L2, L3, L4, L.2max, T3.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import sympy as sp

from audit.exact.symbolic.inequalities import d

Expression: TypeAlias = Any

t = sp.Symbol("t", nonnegative=True)
j, l = sp.symbols("j l", integer=True, positive=True)  # noqa: E741

HALF, EIGHTH, QUARTER = sp.Rational(1, 2), sp.Rational(1, 8), sp.Rational(1, 4)

PUBLISHED = {
    "L1": d**2 / 4 + d,
    "L2": d**2 / 4 + 3 * d,
    "L3": d**2 / 16 + d,
    "L4": d**2 / 16 + 9 * d,
}
"""Delta_1 of Lemmas 1 and 2, the square of Delta_2 of Lemmas 3 and 4."""


def pairs_sum(summand: Expression, *, ordered: bool) -> Expression:
    """Return the sum of a constant over the pairs e != l (ordered) or e < l."""
    inner = sp.summation(summand, (l, 1, d)) - summand if ordered else sp.summation(summand, (l, j + 1, d))
    return sp.expand(sp.summation(inner, (j, 1, d)))


def box_l1() -> Expression:
    """Return 2 max_t |lambda_t|_1 on the box: d (1 + 2t) + d^2/4, in both bases."""
    linear = sp.summation(HALF + t, (j, 1, d))
    quadratic = sp.summation(EIGHTH, (j, 1, d)) + pairs_sum(EIGHTH, ordered=True)
    return sp.expand(2 * (linear + quadratic))


def box_l2_squared(basis: str) -> Expression:
    """Return (2 max_t |lambda_t|_2)^2 on the box."""
    linear = sp.summation((HALF + t) ** 2, (j, 1, d))
    diagonal = sp.summation(EIGHTH**2, (j, 1, d))
    off = pairs_sum(EIGHTH**2, ordered=True) if basis == "matrix" else pairs_sum(QUARTER**2, ordered=False)
    return sp.expand(4 * (linear + diagonal + off))


def ball_l2_squared(basis: str) -> Expression:
    """Return (2 max_t |lambda_t|_2)^2 on the unit ball, at |x| = 1.

    The quadratic part is |x|^4/64 in the matrix basis; in the monomial one (2 |x|^4 - sum x_e^4)/64, where the
    sum is at least |x|^4/d, reached by equal entries.
    """
    quadratic = EIGHTH**2 * (1 if basis == "matrix" else 2 - 1 / d)
    return sp.expand(4 * ((HALF + t) ** 2 + quadratic))


def ball_l1(root: Expression) -> Expression:
    """Return 2 max_t |lambda_t|_1 on the unit ball for d = root^2: root (1 + 2t) + root^2/4, in both bases."""
    # |x|_1 <= root, and the quadratic part is |x|_1^2/8
    return sp.expand(2 * ((HALF + t) * root + EIGHTH * root**2))


def phi_s_sum(domain: str) -> Expression:
    """Return the sum over Phi_s of 2 max_t |lambda_(phi t)|, each monomial with its own maximum.

    As in T3's proof.  Box: each x_e x_l reaches 1.  Unit ball: x_e reaches 1, x_e x_l (e != l) reaches 1/2.
    """
    pair = sp.Integer(1) if domain == "unit_box" else HALF
    linear, square = HALF + t, EIGHTH
    with_others = sp.summation(QUARTER * pair, (j, 2, d))
    return sp.expand(2 * (linear + square + with_others))


def phi_n_sum(domain: str) -> Expression:
    """Return the same sum over Phi_n, the monomials of the other d - 1 coordinates."""
    pair = sp.Integer(1) if domain == "unit_box" else HALF
    single = sp.summation(HALF + t + EIGHTH, (j, 2, d))
    pairs = pairs_sum(EIGHTH * pair, ordered=True).subs(d, d - 1)
    return sp.expand(2 * (single + pairs))


def ratio_grows(pair: tuple[str, str] = ("L2", "L4")) -> Expression:
    """Return the numerator of the derivative of Delta_1^2/Delta_2^2 in d: positive means that it grows."""
    l1, l2_squared = (PUBLISHED[lemma] for lemma in pair)
    # both denominators are squares
    return sp.expand(sp.diff(l1**2, d) * l2_squared - l1**2 * sp.diff(l2_squared, d))


def noise_boundary_holds() -> bool:
    """Return whether epsilon = 4 rho (rho - c) solves c + sqrt(c^2 + epsilon) = 2 rho for 0 <= c <= 2 rho.

    Squaring sqrt(c^2 + epsilon) = 2 rho - c loses nothing there, and the left side grows with epsilon.
    """
    rho, c = sp.symbols("rho c", nonnegative=True)
    epsilon = 4 * rho * (rho - c)
    return bool(sp.expand(c**2 + epsilon - (2 * rho - c) ** 2) == 0)
