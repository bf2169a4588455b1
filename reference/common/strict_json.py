"""JSON by the standard: Python's reader also takes NaN, and the last of several members of one name."""

from __future__ import annotations

import json
import math
from decimal import Decimal
from typing import Any, NoReturn

SAFE_DIGITS = 16
"""Shorter whole numbers have a float each."""


def parsed(text: str, constants: str, *, numbers: bool = False) -> Any:
    """Return what a JSON text says.

    Parameters
    ----------
    text : str
    constants : str
        The message about NaN, Infinity and -Infinity, after their name.
    numbers : bool
        Read every number as a float: the sign of -0 is kept, and a number beyond all floats is infinite.

    Raises
    ------
    ValueError, RecursionError
        When it is not JSON, two members of an object have the same name, or a whole number would lose digits.
    """

    def refuse(constant: str) -> NoReturn:
        raise ValueError(f"{constant} {constants.format(constant)}")

    return json.loads(
        text,
        parse_constant=refuse,
        parse_int=_as_float if numbers else None,
        object_pairs_hook=unique_members,
    )


def _as_float(text: str) -> float:
    """Return a whole number as a float, if it is one: in full, or its shortest digits with zeros after them."""
    value = float(text)
    if len(text) < SAFE_DIGITS or math.isinf(value):
        return value
    if int(text) not in (int(value), int(Decimal(repr(value)))):
        raise ValueError(f"no 64-bit float holds {text[:40]}: take a constant off first")
    return value


def unique_members(members: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return an object from its members; ValueError when two of them have the same name."""
    found = dict(members)
    if len(found) < len(members):
        names = [name for name, _ in members]
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"{twice!a} is given twice")
    return found
