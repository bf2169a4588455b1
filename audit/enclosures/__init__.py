"""Enclosures and exact numbers: square roots, and text that is exact or rounded outwards.

``balls`` goes to and from Arb's balls, ``gaussian`` encloses the privacy profile, ``regions`` covers a region by
certified boxes, ``extended_gaussian`` does so for Theorem 2, ``taylor`` encloses the error of the
loss's polynomial, ``noise_comparison`` the boundary between Gaussian and Laplace noise.
"""

from __future__ import annotations

import math
from fractions import Fraction

from reference.numbers import (
    decimal_above,
    decimal_below,
    decimal_text,
    interval,
    interval_functions,
    lower_end,
    upper_end,
)


def written(low: Fraction, high: Fraction, digits: int) -> str | dict[str, str]:
    """Return an exact number as "p/q" or decimal string, an enclosure as `{"lo": , "hi": }`.

    Parameters
    ----------
    low, high : Fraction
        Equal when the number is known exactly.
    digits : int
        Significant decimal digits of the two ends, rounded outwards.
    """
    if low == high:
        return decimal_text(low)
    return {"lo": decimal_text(decimal_below(low, digits)), "hi": decimal_text(decimal_above(high, digits))}


def square_root(value: Fraction) -> tuple[Fraction, Fraction]:
    """Enclose a square root; a rational one exactly."""
    root = Fraction(math.isqrt(value.numerator), math.isqrt(value.denominator))
    if root * root == value:
        return root, root
    enclosure = interval_functions().sqrt(interval(value))
    return lower_end(enclosure), upper_end(enclosure)


def rational(value: Fraction) -> str:
    """Return "p/q", also where q is 1."""
    return f"{value.numerator}/{value.denominator}"
