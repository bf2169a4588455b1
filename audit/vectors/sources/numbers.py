"""Numbers of the vectors: texts in, exact texts or enclosures out."""

from __future__ import annotations

import re
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from fractions import Fraction
from functools import lru_cache
from typing import Any, TypeAlias

import mpmath

Answer: TypeAlias = dict[str, Any]
"""Named outputs: texts, ``{"lo": , "hi": }``, or lists of these."""

DIGITS = 17
"""Significant digits of the ends of an enclosure, rounded outwards."""

UNIT = Fraction(1, 2**52)
"""Distance of 1 to the next double."""

WORK = mpmath.MPContext()
WORK.dps = 60

_NUMBER = re.compile(r"[+-]?(\d+/[1-9]\d*|(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?)", re.ASCII)


class RefusedError(ValueError):
    """A right program refuses the input; the message is the error's name."""


def read_number(text: str) -> Fraction:
    """Return the exact value of ``"3"``, ``"2/3"`` or ``"1e-300"``."""
    if _NUMBER.fullmatch(text) is None:
        raise ValueError(f"{text!r} is not an exact number")
    return Fraction(text)


@lru_cache(maxsize=2**16)
def number(text: str) -> Fraction:
    """Return the value of one of our texts; cached, as they recur."""
    return read_number(text)


def numbers(texts: list[str]) -> list[Fraction]:
    """Return the exact values of a list."""
    return [number(text) for text in texts]


def flag(text: str) -> bool:
    """Return whether a yes-or-no input says yes."""
    return text == "1"


def exactly(value: Fraction | int) -> str:
    """Return the text of an exact number: whole, or p/q in lowest terms."""
    return str(Fraction(value))


def between(lower: Fraction, upper: Fraction) -> str | dict[str, str]:
    """Return an enclosure, its ends rounded outwards to :data:`DIGITS` digits."""
    if lower == upper:
        return exactly(lower)
    return {"lo": _rounded(lower, ROUND_FLOOR), "hi": _rounded(upper, ROUND_CEILING)}


def around(value: Fraction, spread: Fraction) -> str | dict[str, str]:
    """Return the enclosure of every number within `spread` of a value."""
    return between(value - spread, value + spread)


def from_work(value: Any) -> Fraction:
    """Return the exact rational of an mpmath number."""
    sign, mantissa, exponent, _ = WORK.mpf(value)._mpf_
    return Fraction((-1) ** sign * int(mantissa)) * Fraction(2) ** int(exponent)


def to_work(value: Fraction) -> Any:
    """Return an mpmath number within its precision of a rational."""
    return WORK.mpf(value.numerator) / value.denominator


def _rounded(value: Fraction, rounding: str) -> str:
    context = Context(prec=DIGITS, rounding=rounding)
    found = context.divide(Decimal(value.numerator), Decimal(value.denominator)).normalize(context)
    text = str(found).lower()
    return "0" if found == 0 else format(found, "f") if -6 < found.adjusted() < DIGITS else text
