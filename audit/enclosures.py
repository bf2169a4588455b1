"""Enclosures as text: short decimals, rounded outwards."""

from __future__ import annotations

from fractions import Fraction

from reference.numbers import decimal_above, decimal_below, decimal_text


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
