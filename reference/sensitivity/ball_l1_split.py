"""A bound on the l1 change of the monomials with w_s alone, on the balls, for unequal weights.

Proposition 8a of ``proofs/sensitivities_balls.md``: only the entries of x_s in both records and the lengths of the
rest matter: two numbers to maximise over, cell by cell of a grid.
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import lru_cache
from itertools import product

import numpy as np

from reference.common.arrays import FloatArray
from reference.sensitivity.setting import HALF, Setting
from reference.sensitivity.trust_region import ROUNDING

CELLS = 1000
"""Cells of each of the two numbers; the bound is then less than 1 % too large up to d = 30."""


@lru_cache(maxsize=256)
def only_s_ceiling(setting: Setting, cells: int = CELLS) -> Fraction:
    """Bound sup |D_s|_1 on the unit ball or the symmetric ball."""
    grid = np.linspace(0, 1, cells + 1)
    low, high = grid[:-1], grid[1:]
    # an added record replaces nothing
    old_low, old_high = (low, high) if setting.replaces else (grid[:1], grid[:1])
    squares, old_squares = largest_square(low, high), largest_square(old_low, old_high)
    if setting.norm == "unit_ball":
        apart = np.sqrt(squares[:, None] + old_squares[None, :])
    else:
        apart = np.sqrt(squares)[:, None] + np.sqrt(old_squares)[None, :]
    own = np.maximum(high[:, None] ** 2 - old_low[None, :] ** 2, old_high[None, :] ** 2 - low[:, None] ** 2)
    quadratic = (own + 2 * math.sqrt(setting.dimension - 1) * apart) / 8
    # the linear part is convex in both numbers: largest at a corner of the cell
    linear = np.zeros_like(quadratic)
    for to, from_ in product((low, high), (old_low, old_high)):
        linear = np.maximum(linear, _linear(setting, to[:, None], from_[None, :]))
    return Fraction(float((linear + quadratic).max()) * (1 + ROUNDING))


def largest_square(low: FloatArray, high: FloatArray) -> FloatArray:
    """Return the largest a^2 (1 - a^2) on each cell: at a^2 = 1/2 where that lies in it."""
    squares: FloatArray = np.maximum(low**2 * (1 - low**2), high**2 * (1 - high**2))
    squares[(low**2 <= 0.5) & (high**2 >= 0.5)] = 0.25
    return squares


def _linear(setting: Setting, to: FloatArray, from_: FloatArray) -> FloatArray:
    """Bound the change of c_s and g_s for |x'_s| = `to` and |x_s| = `from_`."""
    e, half = float(setting.drift), float(HALF)
    plain: FloatArray = half * (to + from_)
    if setting.fairness == "none":
        return plain
    if setting.fairness == "separate":
        farthest: FloatArray = np.maximum(to, 1 - to) if setting.norm == "unit_ball" else to + 1
        return plain + e * farthest
    if setting.fairness == "absolute" or setting.norm == "symmetric_ball":
        return plain + e * to + e
    cases = [
        abs((to_sign * half + e) * to + from_sign * half * from_ - e * x)
        for to_sign, from_sign, x in product((1, -1), (1, -1), (0, 1))
    ]
    largest: FloatArray = np.max(cases, axis=0)
    return largest
