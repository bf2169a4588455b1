"""Is an answer right?  Inside the enclosure, or equal where the value is exact."""

from __future__ import annotations

import re
from collections.abc import Iterator
from fractions import Fraction
from functools import lru_cache
from typing import Any

from audit.vectors.sources.numbers import Answer, number, read_number

LONGEST_NUMBER = 4000
"""Characters of an answered number; its exponent is at most this, too: ``1e999999999`` is not computed."""

_EXPONENT = re.compile(r"[eE]([+-]?[0-9]+)$")


def number_of(value: Any) -> Fraction | None:
    """Return an answered number exactly: a text or a number of JSON; None where it is none."""
    if isinstance(value, bool) or not isinstance(value, (str, int, float)):
        return None
    if isinstance(value, str):
        return None if len(value) > LONGEST_NUMBER else _of_text(value)
    try:
        return Fraction(value)
    except (ValueError, OverflowError):
        return None


@lru_cache(maxsize=2**14)
def _of_text(text: str) -> Fraction | None:
    power = _EXPONENT.search(text)
    if power is not None and abs(int(power[1])) > LONGEST_NUMBER:
        return None
    try:
        return read_number(text.strip())
    except (ValueError, OverflowError):
        return None


def is_right(expected: Any, found: Any) -> bool:
    """Return whether one value is right."""
    if isinstance(expected, dict):
        value = number_of(found)
        return value is not None and number(expected["lo"]) <= value <= number(expected["hi"])
    if expected == found:
        return True
    value, wanted = number_of(found), number_of(expected)
    if value is None or wanted is None:
        return False
    # a double printed with 17 digits is that double, though its decimal is another number
    return value == wanted or (isinstance(found, str) and "/" not in found and _as_double(value) == wanted)


def _as_double(value: Fraction) -> Fraction | None:
    try:
        return Fraction(float(value))
    except OverflowError:
        return None


def leaves(expected: Any, found: Any, place: str = "") -> Iterator[tuple[str, Any, Any]]:
    """Yield every value that is expected: where it is, what it is, and what was answered there."""
    whole = isinstance(expected, list) and isinstance(found, list) and len(found) == len(expected)
    if not whole:
        yield place, expected, found
    else:
        for index, (one, other) in enumerate(zip(expected, found, strict=True)):
            yield from leaves(one, other, f"{place}[{index}]")


def wrong_values(expected: Answer, found: Answer) -> list[tuple[str, Any, Any]]:
    """Return where an answer is wrong: place, what is right, and what was answered; empty for a right answer."""
    return list(_wrong(expected, found))


def _wrong(expected: Answer, found: Answer) -> Iterator[tuple[str, Any, Any]]:
    for name, value in expected.items():
        for place, right, got in leaves(value, found.get(name), name):
            if isinstance(right, list) or not is_right(right, got):
                yield place, right, got


def passes(expected: Answer | None, found: Answer) -> bool:
    """Return whether an answer is right; None expects an error."""
    if expected is None:
        return "error" in found
    return "error" not in found and next(_wrong(expected, found), None) is None
