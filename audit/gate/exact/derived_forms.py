"""The closed forms of the sensitivities by another road: derived by sympy, for symbolic d where there is one.

The proofs of ``proofs/sensitivities.md`` reduce the suprema to these sums; from there on sympy does the algebra.
"""

from __future__ import annotations

import sympy as sp

from audit.exact.symbolic.sensitivity import HALF, A, Expression, box_l1, box_l2, d, k, q, t


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
