"""Compare two pieces of evidence."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Any

from reference.common.errors import ReadingError
from reference.common.numbers import exact

TOLERANCE = 1e-6
"""Relative difference of floats in evidence that another machine's linear algebra may cause."""


LAST_DIGITS = 1e-12
"""The same of data that a subject computes, which are otherwise compared exactly: nobody can tell."""


def everywhere(_: str) -> bool:
    """Say of every place that its numbers are computed."""
    return True


def nowhere(_: str) -> bool:
    """Say of every place that its numbers are data."""
    return False


def differences(
    old: Any, new: Any, place: str = "evidence", *, computed: Callable[[str], bool] = everywhere
) -> Iterator[str]:
    """Yield where two pieces of evidence differ.

    Floats and ends of enclosures that are computed may differ by :data:`TOLERANCE`; all other numbers, and their
    types, are the same.  The order of keys says nothing: in a dict made from a set it is another in each process.

    Parameters
    ----------
    old, new : object
        As JSON.
    place : str
    computed : callable
        Whether the numbers at a place are computed, and not just written down.
    """
    if isinstance(old, dict) and isinstance(new, dict):
        if old.keys() != new.keys():
            yield f"the keys of {place}"
        elif all(ends := [_ends(part) for part in (old, new)]) and computed(place):
            # the width of a certified enclosure depends on linear algebra, too
            if not _may_be_of_one_number(*ends):
                yield place
        else:
            for key in old:
                yield from differences(old[key], new[key], f"{place}.{key}", computed=computed)
    elif isinstance(old, list) and isinstance(new, list):
        if len(old) != len(new):
            yield f"the length of {place}"
        else:
            for index, (left, right) in enumerate(zip(old, new, strict=True)):
                yield from differences(left, right, f"{place}[{index}]", computed=computed)
    elif not (_same(old, new) or (computed(place) and _nearly(old, new))):
        yield place


def same_but_for_last_digits(old: Any, new: Any) -> bool:
    """Return whether floats differ by :data:`LAST_DIGITS` at most, and nothing else, not even in its type."""
    if isinstance(old, dict) and isinstance(new, dict):
        return old.keys() == new.keys() and all(same_but_for_last_digits(old[key], new[key]) for key in old)
    if isinstance(old, list) and isinstance(new, list):
        return len(old) == len(new) and all(map(same_but_for_last_digits, old, new))
    if isinstance(old, float) and isinstance(new, float):
        return math.isclose(old, new, rel_tol=LAST_DIGITS)
    return _same(old, new)


def _ends(part: dict[str, Any]) -> list[Fraction]:
    """Return the ends of a certified enclosure; nothing of any other dict, or of one that no audit wrote."""
    if set(part) != {"lo", "hi"} or not all(isinstance(end, str) for end in part.values()):
        return []
    try:
        return [exact(end, part[end]) for end in ("lo", "hi")]
    except ReadingError:
        return []


def _may_be_of_one_number(old: list[Fraction], new: list[Fraction]) -> bool:
    """Return whether the ends are close, and some number lies in both enclosures, of which neither is empty."""
    return all(map(_close, old, new)) and max(old[0], new[0]) <= min(old[1], new[1])


def _same(old: Any, new: Any) -> bool:
    # both zeros are equal, and are told apart by their texts
    return type(old) is type(new) and bool(old == new) and (not isinstance(old, float) or repr(old) == repr(new))


def _nearly(old: Any, new: Any) -> bool:
    numbers = [isinstance(value, (int, float)) and not isinstance(value, bool) for value in (old, new)]
    return all(numbers) and (isinstance(old, float) or isinstance(new, float)) and _close(old, new)


def _close(old: float | Fraction, new: float | Fraction) -> bool:
    try:
        return old == new or math.isclose(old, new, rel_tol=TOLERANCE, abs_tol=1e-12)
    except OverflowError:
        # a whole number, or an end, beyond all floats
        return False
