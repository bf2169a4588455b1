"""Whether an answer is right: inside the enclosure, or equal to an exact value."""

from __future__ import annotations

import re
from collections.abc import Iterator
from fractions import Fraction
from functools import lru_cache
from typing import Any

from audit.vectors.sources.numbers import Answer, number, read_number

LONGEST_NUMBER = 4000
"""Most characters of an answered number, and its largest exponent: ``1e999999999`` is not computed."""

_EXPONENT = re.compile(r"[eE]([+-]?[0-9]+)$")


def number_of(value: Any) -> Fraction | None:
    """Return an answered number exactly, from a text or a number of JSON; None if it is not a number."""
    if isinstance(value, bool) or not isinstance(value, (str, int, float)):
        return None
    if isinstance(value, str):
        return None if len(value) > LONGEST_NUMBER else _of_text(value.strip())
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
        return read_number(text)
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
    # 17 digits determine a double, though their decimal value differs from it
    return value == wanted or (isinstance(found, str) and "/" not in found and _as_double(value) == wanted)


def _as_double(value: Fraction) -> Fraction | None:
    try:
        return Fraction(float(value))
    except OverflowError:
        return None


def leaves(expected: Any, found: Any, place: str = "") -> Iterator[tuple[str, Any, Any]]:
    """Yield each expected value with its place and the answer there."""
    whole = isinstance(expected, list) and isinstance(found, list) and len(found) == len(expected)
    if not whole:
        yield place, expected, found
    else:
        for index, (one, other) in enumerate(zip(expected, found, strict=True)):
            yield from leaves(one, other, f"{place}[{index}]")


def wrong_values(expected: Answer, found: Answer) -> list[tuple[str, Any, Any]]:
    """Return the wrong values of an answer: place, right value, and answer; none for a right answer."""
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
