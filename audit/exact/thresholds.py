"""The points at which the published sensitivities stop holding.

Claims L2.alpha and L2.sign, the Delta_1 that Theorem 3 needs, and the step at which the proofs of Lemmas 2 and 4
fail.  The proofs are in ``proofs/sensitivities.md``, Propositions 9 and 10, and ``proofs/theorem_3.md``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from audit.exact.data_sets import Repeated
from reference.common.arrays import FloatArray
from reference.common.balls import square_root
from reference.common.errors import ReadingError
from reference.common.numbers import Enclosure
from reference.domain import Domain
from reference.moments import Moments
from reference.objective import TAYLOR_LINEAR
from reference.records import check_matrix
from reference.sensitivity import (
    Setting,
    Supremum,
    exact_l1,
    exact_l2_squared,
    published_l1_sensitivity,
    published_l2_sensitivity_squared,
)

HALF, SIXTY_FOURTH = Fraction(1, 2), Fraction(1, 64)

BISECTIONS = 40

STEP = Fraction(1, 100)
"""How far from a threshold the command line shows data sets: more than the 1/1000 that a witness of 1000 records
falls short of the limit's drift."""

DIGITS = 16
"""Significant digits of printed enclosures, rounded outwards."""


def alpha_threshold(setting: Setting, norm: str) -> Enclosure:
    """Return the alpha_1 up to which the published bound holds; beyond it the bound fails (Proposition 9).

    Parameters
    ----------
    setting : Setting
        Its fairness weight is not used.
    norm : {'l1', 'l2'}

    Returns
    -------
    Enclosure
        Closed forms, enclosed to 1e-40 where irrational; the l1 change on a ball by bisection.

    Raises
    ------
    reference.common.errors.ReadingError
        Where alpha_1 has no effect on the change.
    """
    if setting.fairness not in ("absolute", "covariance"):
        raise ReadingError("fairness", setting.fairness, "absolute or covariance: alpha_1 moves nothing else")
    if setting.nu == 0:
        raise ReadingError("records", setting.records, "at least 2: one record alone has no drift")
    closed = _closed_threshold(setting, norm)
    if closed is None:
        return _searched_threshold(setting, norm)
    return Enclosure(closed.lower / setting.nu, closed.upper / setting.nu)


def _closed_threshold(setting: Setting, norm: str) -> Enclosure | None:
    """Return the drift e = alpha_1 (N - 1)/N at which supremum and bound meet, where a closed form is known."""
    if setting.norm == "unit_box":
        multiple = 2 if setting.fairness == "absolute" else 1
        root = _box_l1_root(setting) if norm == "l1" else _box_l2_root(setting)
        return Enclosure((root.lower - HALF) / multiple, (root.upper - HALF) / multiple)
    if norm == "l1":
        return _ball_l1_drift(setting)
    return _ball_l2_replaced_drift(setting) if setting.replaces else _ball_l2_added_drift(setting)


def _box_l1_root(setting: Setting) -> Enclosure:
    """Return A with d A + d^2/8 + kappa_d = d^2/4 + 3d."""
    d = setting.dimension
    gain = (Fraction(3, 8) if d == 1 else HALF) if setting.replaces else Fraction(0)
    value = (published_l1_sensitivity(setting.fairness, d) - Fraction(d * d, 8) - gain) / d
    return Enclosure(value, value)


def _box_l2_root(setting: Setting) -> Enclosure:
    """Return the smallest A, over k, with d A^2 + k (A + 1/4) + R_k = d^2/16 + 9d."""
    d = setting.dimension
    bound = published_l2_sensitivity_squared(setting.fairness, d)
    roots = []
    for k in range(d + 1) if setting.replaces else (0,):
        if setting.basis == "matrix":
            rest = Fraction(d * d - k * k, 64)
        else:
            rest = Fraction(2 * d * d - d - 2 * k * k + k, 64)
        root = square_root(k * k - 4 * d * (Fraction(k, 4) + rest - bound))
        roots.append(Enclosure((root.lower - k) / (2 * d), (root.upper - k) / (2 * d)))
    return _smallest(roots)


def _ball_l2_replaced_drift(setting: Setting) -> Enclosure:
    """Solve (1 + 2e)^2 = bound, or (1 + e)^2 + e^2 = bound where the others stand aside."""
    d = setting.dimension
    bound = published_l2_sensitivity_squared(setting.fairness, d)
    if setting.fairness == "absolute" or setting.norm == "symmetric_ball":
        return _affine(square_root(bound), -1, Fraction(1, 2))
    if d == 1:
        return _affine(square_root(bound), -1, Fraction(1))
    return _affine(square_root(2 * bound - 1), -1, Fraction(1, 2))


def _ball_l2_added_drift(setting: Setting) -> Enclosure:
    """Solve (1/2 + 2e)^2 + q_d = bound; aside: (1/2 + e)^2 + q_d and (1/2 + e)^2 + e^2 + q_(d-1)."""
    d = setting.dimension
    bound = published_l2_sensitivity_squared(setting.fairness, d)

    def quadratic(k: int) -> Fraction:
        return SIXTY_FOURTH if setting.basis == "matrix" else (2 - Fraction(1, k)) * SIXTY_FOURTH

    if setting.fairness == "absolute" or setting.norm == "symmetric_ball":
        return _affine(square_root(bound - quadratic(d)), -HALF, Fraction(1, 2))
    roots = [_affine(square_root(bound - quadratic(d)), -HALF, Fraction(1))]
    if d > 1:
        roots.append(_affine(square_root(8 * (bound - quadratic(d - 1)) - 1), -1, Fraction(1, 4)))
    return _smallest(roots)


def _ball_l1_drift(setting: Setting) -> Enclosure | None:
    """Solve sqrt(d) (1/2 + 2e) + d/8 = bound for an added record; None where that is not the supremum."""
    d = setting.dimension
    if setting.replaces or (setting.fairness == "covariance" and setting.norm == "unit_ball"):
        return None
    bound = published_l1_sensitivity(setting.fairness, d) - Fraction(d, 8)
    # bound / sqrt(d) = bound sqrt(d) / d
    root = square_root(Fraction(d))
    return _affine(Enclosure(root.lower * bound / d, root.upper * bound / d), -HALF, Fraction(1, 2))


def _affine(value: Enclosure, shift: int | Fraction, factor: Fraction) -> Enclosure:
    return Enclosure((value.lower + shift) * factor, (value.upper + shift) * factor)


def _smallest(values: list[Enclosure]) -> Enclosure:
    return Enclosure(min(value.lower for value in values), min(value.upper for value in values))


def _searched_threshold(setting: Setting, norm: str) -> Enclosure:
    """Bisect: below `lower` the bound certainly holds, above `upper` it certainly fails."""
    if norm == "l1":
        bound = published_l1_sensitivity(setting.fairness, setting.dimension)
        supremum: Callable[[Setting], Supremum] = exact_l1
    else:
        bound = published_l2_sensitivity_squared(setting.fairness, setting.dimension)
        supremum = exact_l2_squared

    def holds(alpha: Fraction) -> bool:
        return supremum(replace(setting, fairness_weight=alpha)).upper <= bound

    def may_hold(alpha: Fraction) -> bool:
        return supremum(replace(setting, fairness_weight=alpha)).lower <= bound

    return Enclosure(_last(holds)[0], _last(may_hold)[1])


def _last(holds: Callable[[Fraction], bool]) -> tuple[Fraction, Fraction]:
    """Return two close numbers around the point from which on a condition fails; it holds at the first."""
    low, high = Fraction(0), Fraction(1)
    while holds(high):
        low, high = high, 2 * high
    for _ in range(BISECTIONS):
        middle = (low + high) / 2
        low, high = (middle, high) if holds(middle) else (low, middle)
    return low, high


@dataclass(frozen=True, eq=False)
class SignFlip:
    """Neighbouring data sets on which the sign of g.w, chosen from the data, flips.

    Parameters
    ----------
    left, right : Repeated
    change : Fraction
        The l1 change of the coefficients.
    """

    left: Repeated
    right: Repeated
    change: Fraction


def sign_from_the_data(
    half: int, fairness_weight: Fraction = Fraction(1), norm: str = "unit_ball", dimension: int = 2
) -> SignFlip:
    """Return neighbouring data sets of N = 2 half + 1 records, alpha_1 (N - 1) apart in l1 (Proposition 10).

    The objective's coefficient of w is alpha_1 sgn(g.(1, ..., 1)) g with g = sum (z - zbar) x.  Shared: `half`
    records (e_1, y=0, z=1) and `half` records (e_2, 0, 0); the last record (0, 0, z) has z = 1 or z = 0.
    """
    domain = Domain.of_columns([f"x{index + 1}" for index in range(dimension)], norm=norm)
    x = np.eye(3, dimension)
    x[2] = 0

    def data(z: int) -> Repeated:
        return Repeated(check_matrix(domain, x, [0, 0, 0], [1, 0, z]), (half, half, 1))

    return SignFlip(data(1), data(0), 2 * half * fairness_weight)


def coefficients_with_chosen_sign(moments: Moments, fairness_weight: float, direction: FloatArray) -> FloatArray:
    """Return the linear coefficients when |g.w| is read as sgn(g.direction) g.w: the refuted reading."""
    covariance = moments.sum_zx - moments.zbar * moments.sum_x
    sign = float(np.sign(covariance @ direction))
    plain: FloatArray = float(TAYLOR_LINEAR) * moments.sum_x - moments.sum_yx
    return plain + fairness_weight * sign * covariance


def drift_counterexamples() -> Iterator[tuple[Repeated, Repeated, Fraction, Fraction]]:
    """Yield data sets on which the second line of the proofs of Lemmas 2 and 4 is false.

    The proofs replace the change of a sum over all tuples by the change of the last tuple's term, which drops
    the movement of zbar in the other terms.

    Yields
    ------
    left, right : Repeated
    change : Fraction
        The true change of the coefficient of w_1.
    last_terms : Fraction
        The change of the last tuple's term, which the proofs use instead.
    """
    domain = Domain.of_columns(["x1"])

    def data(x: float, y: int, z: int) -> Repeated:
        return Repeated(check_matrix(domain, [[1.0], [x]], [0, y], [0, z]), (1, 1))

    # both last terms are 0, and yet the coefficient moves from 1/2 to 1
    yield data(0.0, 0, 0), data(0.0, 0, 1), Fraction(1, 2), Fraction(0)
    # last terms -1/2 and 1; the coefficient moves from 0 to 2
    yield data(1.0, 1, 0), data(1.0, 0, 1), Fraction(2), Fraction(3, 2)
