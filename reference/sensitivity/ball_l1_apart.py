"""A bound on the l1 change of replaced records on the balls, without fairness and with another weight for x_s.

Proposition 8c of ``proofs/sensitivities_balls.md``: the Cauchy-Schwarz inequality for all coordinates but x_s
leaves three numbers to maximise over, by branch and bound.
"""

from __future__ import annotations

import math
from itertools import product

import numpy as np

from reference.common.arrays import FloatArray
from reference.sensitivity.ball_l1_split import largest_square
from reference.sensitivity.trust_region import ROUNDING

SHARE = 0.0095
"""How far the bound may stay above what is attained."""

FIRST, MOST_CELLS = 16, 2_000_000
"""Parts into which each number's range is first cut, and the number of cells at which the search stops."""


def apart_ceiling(dimension: int, weight_s: float, weight_n: float, attained: float) -> float:
    """Bound the supremum for weights of at most 1; `attained` only decides when to stop."""
    goal, root = attained * (1 + SHARE), math.sqrt(dimension - 1)
    width = np.array([1, 1, 2]) / FIRST
    low = np.array(list(product(*(np.linspace(first, 1, FIRST + 1)[:-1] for first in (0, 0, -1)))))
    closed = 0.0
    while True:
        bounds = _on_cells(low, low + width, (weight_s, weight_n * root, weight_s * root, weight_n * root**2))
        is_open = bounds > goal
        closed = max(closed, float(bounds[~is_open].max(initial=0)))
        if not is_open.any() or 8 * int(is_open.sum()) > MOST_CELLS:
            return max(closed, float(bounds[is_open].max(initial=0))) * (1 + ROUNDING)
        width = width / 2
        corners = np.array(list(product((0, 1), repeat=3))) * width
        low = (low[is_open][:, None] + corners).reshape(-1, 3)


def _on_cells(low: FloatArray, high: FloatArray, weights: tuple[float, float, float, float]) -> FloatArray:
    """Bound the change on each cell of (|x'_s|, |x_s|, product of the rest); 0 where the cell has no row."""
    (a_low, b_low, h_low), (a_high, b_high, h_high) = low.T, high.T
    on_s, on_rest, with_s, without_s = weights
    # the squared lengths of the rest
    rest, other = 1 - a_low**2, 1 - b_low**2
    linear = np.zeros(len(low))
    for sign, largest in ((1, h_high), (-1, -h_low)):
        entry = np.maximum(a_high + sign * (b_high if sign > 0 else b_low), b_high + sign * a_low)
        length = np.sqrt(np.maximum(rest + other + 2 * largest, 0))
        linear = np.maximum(linear, on_s * entry / 2 + on_rest * length / 2)
    diagonal = np.maximum(a_high**2 - b_low**2, b_high**2 - a_low**2)
    least = np.where(h_low >= 0, a_low * b_low * h_low, a_high * b_high * h_low)
    squares = largest_square(a_low, a_high) + largest_square(b_low, b_high)
    cross = np.sqrt(np.maximum(squares - 2 * least, 0))
    smallest = np.maximum(np.maximum(h_low, -h_high), 0)
    frobenius = np.sqrt(np.maximum(rest**2 + other**2 - 2 * smallest**2, 0))
    found: FloatArray = linear + (on_s * diagonal + 2 * with_s * cross + without_s * frobenius) / 8
    # some row has such a product; a margin for rounding
    return np.where(smallest**2 <= rest * other * (1 + ROUNDING) + ROUNDING, found, 0)
