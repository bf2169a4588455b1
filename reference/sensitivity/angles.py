"""An enclosure of the one l2 supremum without a known closed form: a maximum over two angles."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np

from reference.sensitivity.setting import Supremum

WIDTH = 1e-10
"""Relative width of the enclosure."""

ROUNDING = 1e-12
"""Relative margin for the rounding of a dozen floating-point operations."""

LARGEST_FRONT = 2_000_000


def two_angles(
    u_s: Fraction, u_n: Fraction, own: Fraction, along: Fraction, drift: Fraction, others: int
) -> Supremum:
    """Enclose the maximum of u_s f_s + u_n f_n over angles a, b in [0, pi/2].

    f_s = own cos^2 a + (along cos a + drift cos b)^2 + (4 cos^2 a - 3 cos^4 a)/64,
    f_n = own sin^2 a + (along sin a + drift sin b)^2 + (2 - 1/others) sin^4 a/64,

    by branch and bound: on a cell of half-width r the value is at most the value at its centre, plus r times
    the absolute gradient, plus r^2 times a bound on the second derivatives.

    Parameters
    ----------
    u_s, u_n : Fraction
        Weights; scaled to a largest of 1 here.
    own, along, drift : Fraction
    others : int
        Coordinates besides x_s, at least 1.
    """
    unit = max(u_s, u_n)
    w_s, w_n = float(u_s / unit), float(u_n / unit)
    c, b, e, spread = float(own), float(along), float(drift), 2 - 1 / others
    # second derivatives: each squared trigonometric term contributes at most twice its square
    curvature = 2 * c + 2 * (b + e) ** 2 + 4 * b * e + 2.0
    centres = np.array([[math.pi / 4, math.pi / 4]])
    half, best, ceiling = math.pi / 4, 0.0, math.inf
    corners = np.array([[-1, -1], [-1, 1], [1, -1], [1, 1]])
    while True:
        value, gradient = _value_and_gradient(centres, w_s, w_n, c, b, e, spread)
        best = max(best, float(value.max()))
        bound = value + half * gradient + half * half * curvature
        ceiling = min(ceiling, max(best, float(bound.max())))
        tolerance = WIDTH * best
        open_cells = bound > best + tolerance
        if not open_cells.any():
            ceiling = min(ceiling, best + tolerance)
            break
        if 4 * int(open_cells.sum()) > LARGEST_FRONT:
            break
        half /= 2
        centres = (centres[open_cells][:, None, :] + half * corners).reshape(-1, 2)
    lower = Fraction(best * (1 - ROUNDING)) * unit
    upper = Fraction(ceiling * (1 + ROUNDING)) * unit
    return Supremum(lower, upper, "branch and bound over two angles")


def _value_and_gradient(
    centres: np.ndarray, w_s: float, w_n: float, c: float, b: float, e: float, spread: float
) -> tuple[np.ndarray, np.ndarray]:
    """Return the value and the l1 norm of the gradient at each centre."""
    cos_a, cos_b = np.cos(centres).T
    sin_a, sin_b = np.sin(centres).T
    on_s, on_n = b * cos_a + e * cos_b, b * sin_a + e * sin_b
    value = w_s * (c * cos_a**2 + on_s**2 + (4 * cos_a**2 - 3 * cos_a**4) / 64)
    value += w_n * (c * sin_a**2 + on_n**2 + spread * sin_a**4 / 64)
    by_a = 2 * sin_a * cos_a * (w_n - w_s) * c - 2 * w_s * on_s * b * sin_a + 2 * w_n * on_n * b * cos_a
    by_a += w_s * (-8 * cos_a * sin_a + 12 * cos_a**3 * sin_a) / 64 + w_n * spread * 4 * sin_a**3 * cos_a / 64
    by_b = -2 * w_s * on_s * e * sin_b + 2 * w_n * on_n * e * cos_b
    return value, np.abs(by_a) + np.abs(by_b)
