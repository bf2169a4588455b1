"""Exact numbers in and out, and the one place where a scale is rounded: up.

Budgets and bounds are rational numbers.  ``exact`` reads them, ``decimal_text`` writes them back without
loss (a delta of 1e-400 survives), ``rounded_up`` turns an exact scale into the float that is used.
"""

from __future__ import annotations

import math
import re
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from fractions import Fraction
from typing import Any, Final, TypeAlias

import numpy as np

from reference.common.errors import ReadingError

RealLike: TypeAlias = int | float | str | Decimal | Fraction
"""The types accepted where an exact number is meant."""

LARGEST_EXPONENT = 4000
"""Larger decimal exponents are refused: Python writes integers of at most 4,300 digits."""

LONGEST_NUMBER = 10_000
"""Most characters of a number: enough for both parts of the longest rational number that is written."""

_DECIMAL = r"[0-9]++(?:\.[0-9]*+)?+|\.[0-9]++"
_EXPONENT = r"(?:[eE][+-]?+[0-9]++)?+"
# possessive: no character is looked at twice, so a long field costs no more than its length
_NUMBER = re.compile(rf"[+-]?+(?:{_DECIMAL}){_EXPONENT}")
_EXACT = re.compile(rf"[+-]?+(?:[0-9]++/[0-9]++|(?:{_DECIMAL}){_EXPONENT})")
BLANKS = " \t"
"""Blanks that may surround a text in a table: not those of other alphabets."""

LARGEST_PARAMETER = Fraction(10**100)
"""Parameters that become floats lie between the inverse of this and this, so no product overflows."""


def exact(name: str, value: Any) -> Fraction:
    """Read a number exactly.

    A float is read by its shortest decimal form, so that ``0.1`` means one tenth; strings may be decimal
    (``"1e-400"``) or rational (``"2/3"``).

    Raises
    ------
    reference.common.errors.ReadingError
        When `value` is not a finite number.
    """
    try:
        if isinstance(value, bool):
            raise ValueError("a truth value is not a number")
        if isinstance(value, str):
            value = value.strip(BLANKS)
            if not is_exact_text(value):
                raise ValueError("not written as a number")
        if isinstance(value, (float, np.floating)):
            return Fraction(repr(float(value)))
        if isinstance(value, np.integer):
            return Fraction(int(value))
        if isinstance(value, Decimal) or (isinstance(value, str) and "/" not in value):
            number = Decimal(value)
            # before the power of ten is written out: 1e-999999999 would fill the memory, and 0e999999999 too
            if number == 0:
                return Fraction(0)
            if abs(number.adjusted()) > LARGEST_EXPONENT:
                raise ValueError("exponent out of range")
        return Fraction(value)
    except (ValueError, TypeError, ArithmeticError):
        raise ReadingError(name, value, "a finite number") from None


def require_whole(name: str, value: object, least: int, most: int | None = None) -> None:
    """Raise unless a value is a whole number, of type int, within these limits.

    Raises
    ------
    reference.common.errors.ReadingError
    """
    if (
        isinstance(value, bool)
        or not isinstance(value, int)
        or value < least
        or (most is not None and value > most)
    ):
        limits = f"of at least {least}" if most is None else f"from {least} to {most}"
        raise ReadingError(name, value, f"a whole number {limits}")


def is_number_text(text: str) -> bool:
    """Return whether a text is a decimal number: the grammar of tables, options and documents.

    ASCII digits, a point, an exponent, a sign; blanks around it are passed over.  Not ``1_0``, ``inf`` or ``nan``.
    """
    return len(text) <= LONGEST_NUMBER and _NUMBER.fullmatch(text.strip(BLANKS)) is not None


def is_exact_text(text: str) -> bool:
    """Return whether a text, without blanks around it, is an exact number: a decimal one, or ``p/q``."""
    return len(text) <= LONGEST_NUMBER and _EXACT.fullmatch(text) is not None


def in_float_range(value: Fraction) -> bool:
    """Return whether |value| is 0 or within the range that parameters may have."""
    return value == 0 or 1 / LARGEST_PARAMETER <= abs(value) <= LARGEST_PARAMETER


def decimal_text(value: Fraction) -> str:
    """Write a rational number as a string that :func:`exact` reads back unchanged.

    Terminating decimals are written as such, in the shorter of plain and scientific form; all others as
    ``"p/q"``.
    """
    if value.denominator == 1 and abs(value.numerator) < 10**16:
        return str(value.numerator)
    twos, fives, rest = 0, 0, value.denominator
    while rest % 2 == 0:
        rest, twos = rest // 2, twos + 1
    while rest % 5 == 0:
        rest, fives = rest // 5, fives + 1
    if rest != 1:
        return f"{value.numerator}/{value.denominator}"
    places = max(twos, fives)
    digits = str(abs(value.numerator) * 10**places // value.denominator)
    sign = "-" if value < 0 else ""
    stripped = digits.rstrip("0") or "0"
    exponent = len(digits) - 1 - places
    scientific = f"{sign}{stripped[0]}{'.' + stripped[1:] if stripped[1:] else ''}e{exponent}"
    padded = digits.rjust(places + 1, "0")
    plain = f"{sign}{padded[: len(padded) - places]}{'.' + padded[len(padded) - places :] if places else ''}"
    return plain if len(plain) <= max(len(scientific), 18) else scientific


def rounded_up(value: Fraction) -> float:
    """Return the smallest float that is at least `value`."""
    nearest = float(value)
    return nearest if Fraction(nearest) >= value else math.nextafter(nearest, math.inf)


def rounded_down(value: Fraction) -> float:
    """Return the largest float that is at most `value`."""
    return -rounded_up(-value)


def decimal_below(value: Fraction, digits: int) -> Fraction:
    """Return the largest number with this many significant decimal digits that is at most `value`."""
    return _to_digits(value, digits, ROUND_FLOOR)


def decimal_above(value: Fraction, digits: int) -> Fraction:
    """Return the smallest number with this many significant decimal digits that is at least `value`."""
    return _to_digits(value, digits, ROUND_CEILING)


LARGEST_PLAIN = 1e15
"""Larger numbers are written as 1.5E+300: no bound is as large, but a file may hold one."""


FLOAT_DIGITS = 15
"""Digits that a float shows of any decimal."""


def text_below(value: float, places: int) -> str:
    """Write a number with this many decimal places, rounded down: a lower bound stays one."""
    if abs(value) >= LARGEST_PLAIN:
        return str(Context(prec=6, rounding=ROUND_FLOOR).create_decimal(value))
    return f"{Decimal(value).quantize(Decimal(1).scaleb(-places), ROUND_FLOOR):f}"


def _to_digits(value: Fraction, digits: int, rounding: str) -> Fraction:
    context = Context(prec=digits, rounding=rounding, Emin=-999_999, Emax=999_999)
    return Fraction(context.divide(Decimal(value.numerator), Decimal(value.denominator)))


def short_text(value: Fraction, digits: int = 6) -> str:
    """Write a number in a few digits for reading; a delta of 1e-400 does not become 0."""
    if digits <= FLOAT_DIGITS and (value == 0 or 1e-300 < abs(value) < Fraction(10) ** 300):
        return f"{float(value):.{digits}g}"
    number = Context(prec=digits).divide(Decimal(value.numerator), Decimal(value.denominator))
    return f"{number.normalize():g}"


class Enclosure:
    """A number between two rationals; with equal ends it is known exactly.

    Not a dataclass: where it is known exactly, a document holds it as one string.

    Parameters
    ----------
    lower, upper : Fraction
    """

    def __init__(self, lower: Fraction, upper: Fraction) -> None:
        self.lower: Final = lower
        self.upper: Final = upper

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Enclosure):
            return NotImplemented
        return (self.lower, self.upper) == (other.lower, other.upper)

    def __hash__(self) -> int:
        return hash((self.lower, self.upper))

    def __repr__(self) -> str:
        return f"Enclosure(lower={self.lower!r}, upper={self.upper!r})"

    def float_above(self) -> float:
        """Return the smallest float that is at least the upper end: infinity beyond the largest float."""
        return rounded_up(self.upper) if in_float_range(self.upper) else math.inf
