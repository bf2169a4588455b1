"""JSON by the standard: Python's reader also takes NaN, and the last of several members of one name."""

from __future__ import annotations

import json
from typing import Any, NoReturn


def parsed(text: str, constants: str, *, numbers: bool = False) -> Any:
    """Return what a JSON text says.

    Parameters
    ----------
    text : str
    constants : str
        The message about NaN, Infinity and -Infinity, after their name.
    numbers : bool
        Read every number as a float: the sign of -0 is kept, and a number that no float holds is infinite.

    Raises
    ------
    ValueError, RecursionError
        When it is not JSON, or two members of an object have the same name.
    """

    def refuse(constant: str) -> NoReturn:
        raise ValueError(f"{constant} {constants.format(constant)}")

    return json.loads(
        text,
        parse_constant=refuse,
        parse_int=float if numbers else None,
        object_pairs_hook=unique_members,
    )


def unique_members(members: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return an object from its members; ValueError when two of them have the same name."""
    found = dict(members)
    if len(found) < len(members):
        names = [name for name, _ in members]
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"{twice!a} is given twice")
    return found
