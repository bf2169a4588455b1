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


def box_l1(*, replaces: bool = True) -> Expression:
    """Return w_s |D_s|_1 + w_n |D_n|_1 at x' = 1, x_s = q, the others of x adding up to t (Proposition 1).

    For added records x is absent: q = t = 0.
    """
    others = sp.summation(1, (l, 2, d))
    linear = w_s * (A + q / 2) + w_n * (sp.summation(A, (e, 2, d)) + t / 2)
    # ordered pairs that contain s, and the others; the sums of x_e x_l factor
    with_s = EIGHTH * (1 + 2 * others - (q**2 + 2 * q * t))
    without_s = EIGHTH * (sp.summation(sp.summation(1, (l, 2, d)), (e, 2, d)) - t**2)
    value = sp.expand(linear + w_s * with_s + w_n * without_s)
    return value if replaces else value.subs({q: 0, t: 0})


def box_l1_edges() -> list[tuple[Expression, Expression]]:
    """Return the points (q, t) among which the maximum of :func:`box_l1` lies, before clipping to the edges.

    The Hessian has determinant w_s (w_n - w_s)/16: for w_n < w_s a stationary point is a saddle, and otherwise
    the function is concave with its stationary point on the edge q = 0 or beyond.
    """
    value = box_l1()
    points: list[tuple[Expression, Expression]] = []
    for fixed in (0, 1):
        points += [(sp.Integer(fixed), sp.Integer(0)), (sp.Integer(fixed), d - 1)]
        stationary = sp.solve(sp.diff(value.subs(q, fixed), t), t)
        points += [(sp.Integer(fixed), root) for root in stationary]
    for fixed_t in (sp.Integer(0), d - 1):
        stationary = sp.solve(sp.diff(value.subs(t, fixed_t), q), q)
        points += [(root, fixed_t) for root in stationary]
    return points


def box_l1_hessian() -> Expression:
    """Return the determinant of the Hessian of :func:`box_l1` in (q, t)."""
    return sp.factor(sp.hessian(box_l1(), (q, t)).det())


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


def box_l2_step(basis: str) -> Expression:
    """Return the gain from k to k + 1 ones; it decreases in k, so the best k is the first without gain."""
    step = sp.expand(box_l2(basis, k + 1) - box_l2(basis, k))
    assert sp.diff(step, k) < 0
    return step


def box_l2_best_ones(basis: str) -> Expression:
    """Return the real number whose ceiling is the best k, where that is at most d."""
    (root,) = sp.solve(box_l2_step(basis), k)
    return sp.expand(root)


def box_l2_convexity() -> Expression:
    """Return the smallest second derivative, in one entry of x, of linear part and own square: positive.

    The off-diagonal terms (1 - q_e q_l)^2 are convex in each entry.  So a maximising x is a vertex.
    """
    second = sp.diff((A + q / 2) ** 2 + (1 - q**2) ** 2 / 64, q, 2)
    # increasing in q >= 0
    assert sp.expand(sp.diff(second, q)) == sp.Rational(3, 8) * q
    return second.subs(q, 0)


def slack(lemma: str) -> Expression:
    """Return a lower bound, in d, on the published bound minus the exact value, for alpha_1 = 1 and any N.

    L1, L2: Delta_1 minus d A + d^2/8 + 1/2.  L3, L4: Delta_2^2 minus d A^2 + d (A + 1/4) + d^2/32, which is at
    least :func:`box_l2` for each k <= d and both bases (:func:`box_l2_excess`).  A is at most 1/2 without a
    fairness term and 5/2 with one.
    """
    largest = HALF if lemma in ("L1", "L3") else sp.Rational(5, 2)
    multiple = {"L1": 1, "L2": 3, "L3": 1, "L4": 9}[lemma]
    if lemma in ("L1", "L2"):
        return sp.expand(d**2 / 4 + multiple * d - (d * largest + d**2 / 8 + HALF))
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


def alpha_threshold_l1(multiple: int, gain: Expression) -> Expression:
    """Return the drift at which d (1/2 + multiple * drift) + d^2/8 + gain meets d^2/4 + 3d (Proposition 9)."""
    drift = sp.Symbol("drift")
    (root,) = sp.solve(d * (HALF + multiple * drift) + d**2 / 8 + gain - d**2 / 4 - 3 * d, drift)
    return sp.expand(root)


def frobenius_square() -> Expression:
    """Return |x'x'T - xxT|_F^2 for |x| = r, |x'| = s, x.x' = c r s, from two coordinates that span x and x'."""
    r, s, c = sp.symbols("r s c", real=True)
    x = sp.Matrix([r, 0])
    after = sp.Matrix([s * c, s * sp.sqrt(1 - c**2)])
    change = after * after.T - x * x.T
    return sp.expand(sp.simplify((change.T * change).trace()))


def one_angle(others: int) -> Expression:
    """Return the quadratic in p = x_s^2 of Proposition 5, from an explicit record with this many other entries."""
    p, u_s, u_n, linear = sp.symbols("p u_s u_n linear", positive=True)
    x = [sp.sqrt(p)] + [sp.sqrt((1 - p) / others)] * others
    on_s = linear * x[0] ** 2 + (x[0] ** 4 + 4 * sum((x[0] * v) ** 2 for v in x[1:])) / 64
    off_s = linear * sum(v**2 for v in x[1:]) + sum(v**4 for v in x[1:]) / sp.Integer(64)
    for i in range(1, others + 1):
        off_s += sum(4 * (x[i] * v) ** 2 for v in x[i + 1 :]) / sp.Integer(64)
    return sp.expand(u_s * on_s + u_n * off_s)
