"""Fast bounds on the l1 change on the balls, for all sign patterns at once: what a fit states.

Proposition 8 of ``proofs/sensitivities_balls.md``, by the Cauchy-Schwarz inequality.
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np

from reference.common.arrays import FloatArray
from reference.common.balls import square_root
from reference.sensitivity.attained import Extremes, onto_grid, weighted_l1_change
from reference.sensitivity.setting import HALF, Setting
from reference.sensitivity.trust_region import ROUNDING

CELLS = 50_000
"""Intervals of g = x.x' on which the bound for replaced records is taken."""


FAST_CELLS = 100
"""The same in a fit."""

LARGEST_AT_ONCE = 100
"""Columns up to which a fit looks at two pairs."""


def closed_form(setting: Setting, weight_s: Fraction, weight_n: Fraction) -> tuple[Fraction, Fraction] | None:
    """Return the ends of sqrt(d) (1/2 + 2 e) + d/8 for an added record and equal weights (Proposition 6).

    None where that is not the supremum.  The ends agree to about 45 digits.
    """
    d, e = setting.dimension, setting.drift
    aligned = setting.fairness in ("none", "absolute") or setting.norm == "symmetric_ball"
    if setting.replaces or not aligned or (weight_s != weight_n and d > 1):
        return None
    linear, rest = HALF + 2 * e, Fraction(d, 8)
    root = square_root(Fraction(d))
    return weight_s * (linear * root.lower + rest), weight_s * (linear * root.upper + rest)


def at_once(setting: Setting, weight_s: Fraction, weight_n: Fraction) -> Fraction:
    """Return an upper bound over all sign patterns, quick enough for a fit."""
    unit = max(weight_s, weight_n)
    if unit == 0:
        return Fraction(0)
    w_s, w_n = float(weight_s / unit), float(weight_n / unit)
    found = (
        replaced_ceiling(setting, w_s, w_n, FAST_CELLS) if setting.replaces else added_ceiling(setting, w_s, w_n)
    )
    # the weights were divided and rounded once each, the ceiling multiplied once
    return Fraction(found * (1 + ROUNDING)) * unit


def attained_at_once(setting: Setting, weight_s: Fraction, weight_n: Fraction) -> Fraction:
    """Return exactly what two plain pairs attain: a record with equal columns, against 0 and other labels.

    It may be half the supremum, and is 0 where the pairs have too many columns; a statement that it refutes is
    false all the same.
    """
    d = setting.dimension
    if d > LARGEST_AT_ONCE:
        return Fraction(0)
    equal = onto_grid([1 / math.sqrt(d)] * d)
    origin = (0.0,) * d
    befores = (origin, equal) if setting.replaces else (None,)
    return max(
        weighted_l1_change(setting, Extremes(equal, before, equal), weight_s, weight_n) for before in befores
    )


def replaced_ceiling(setting: Setting, w_s: float, w_n: float, cells: int = CELLS) -> float:
    """Bound the supremum for replaced records from above.

    For g = x.x' in [0, 1] the linear part is at most |w|_2 times a reach that depends on g, the quadratic part
    at most Q(g)/8: monotone functions, bounded on a short interval of g by their values at one end.
    """
    g = np.concatenate([[0.0], np.cos(np.linspace(0, math.pi / 2, cells + 1))[-2::-1]])
    left, right = g[:-1], g[1:]
    quadratic = _quadratic_reach(setting, w_s, w_n, (left, right))
    value = float((_length(setting, w_s, w_n) * _reach(setting, left, right) + quadratic / 8).max())
    return value * (1 + ROUNDING)


def added_ceiling(setting: Setting, w_s: float, w_n: float) -> float:
    """Bound the supremum for added records from above (Proposition 8, last paragraph)."""
    e, fairness = float(setting.drift), setting.fairness
    b, positive = 0.5 + e, setting.norm == "unit_ball"
    if fairness == "separate":
        reach = 0.5 + e * (math.sqrt(2) if positive else 2)
    else:
        reach = math.hypot(b, e) if fairness == "covariance" and positive else b + e
    value = _length(setting, w_s, w_n) * reach + _eigenvalues(setting, w_s, w_n)[0] / 8
    return value * (1 + ROUNDING)


def _length(setting: Setting, w_s: float, w_n: float) -> float:
    return math.sqrt(w_s**2 + (setting.dimension - 1) * w_n**2)


def _eigenvalues(setting: Setting, w_s: float, w_n: float) -> tuple[float, float]:
    """Return the positive parts of the two nonzero eigenvalues of the weights' matrix, the larger first."""
    others = setting.dimension - 1
    middle, product = (w_s + others * w_n) / 2, others * w_s * (w_n - w_s)
    first = middle + math.sqrt(max(middle**2 - product, 0))
    return first, max(0.0, product / first)


def _reach(setting: Setting, left: FloatArray, right: FloatArray) -> FloatArray:
    """Bound the length of the linear change for x.x' in [left, right]."""
    e, fairness, positive = float(setting.drift), setting.fairness, setting.norm == "unit_ball"
    b = 0.5 + e
    both: FloatArray = np.sqrt((1 + right) / 2)
    if fairness == "none":
        return both
    if fairness == "separate":
        return both + e * (math.sqrt(2) if positive else 2)
    added: FloatArray = np.sqrt(b * b + 0.25 + b * right)
    if fairness == "absolute" or not positive:
        return e + added
    # covariance: labels 1 -> 0, or both 0
    opposed: FloatArray = b * np.sqrt(1 + np.sqrt(np.maximum(1 - (left / (2 * b)) ** 2, 0)))
    either: FloatArray = np.maximum(np.hypot(added, e), opposed)
    return either


def _quadratic_reach(setting: Setting, w_s: float, w_n: float, g: tuple[FloatArray, FloatArray]) -> FloatArray:
    """Bound the weighted sum of |x'_e x'_l - x_e x_l| for x.x' in an interval."""
    (left, right), d = g, setting.dimension
    frobenius = math.sqrt((2 * d - 1) * w_s**2 + (d - 1) ** 2 * w_n**2)
    spread: FloatArray = frobenius * np.sqrt(2 * (1 - left) * (1 + left))
    if setting.norm != "unit_ball":
        return spread
    first, second = _eigenvalues(setting, w_s, w_n)
    return np.minimum(spread, first * (1 + right) + second * (1 - right))
