"""Enclosures, and their text: exact or rounded outwards.

Ball arithmetic is :mod:`reference.common.balls`, the Gaussian profile :mod:`reference.noise.profile`.  ``regions``
covers a region by certified boxes, ``extended_gaussian`` does so for Theorem 2, ``taylor`` encloses the error of
the loss's polynomial, ``noise_comparison`` the boundary between Gaussian and Laplace noise.
"""

from __future__ import annotations

from fractions import Fraction

from reference.common.numbers import decimal_above, decimal_below, decimal_text


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


def rational(value: Fraction) -> str:
    """Return "p/q", even where q is 1."""
    return f"{value.numerator}/{value.denominator}"
