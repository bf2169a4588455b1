"""The two inputs that a program is audited on."""

from __future__ import annotations

import json
import math
import sys
from pathlib import Path
from typing import Any, Literal

from audit.subjects.adjacency import EQUAL
from reference.common.documents import Document, converted, read_file
from reference.common.errors import DocumentError

DEEPEST = 48
"""Deepest nesting of an input: less than JSON readers accept, so that it fits into a certificate."""


class PairError(DocumentError):
    """A document is not a pair of neighbouring inputs."""

    document = "pair of inputs"


class InputPair(Document, frozen=True):
    """Two inputs, declared to be neighbours; this is checked if both are lists of records.

    Parameters
    ----------
    left, right : object
        Any JSON value.
    adjacency : {'replace_one', 'add_or_remove_one'}

    Raises
    ------
    ValueError
        When an input cannot be sent to a program.
    """

    left: Any
    right: Any
    adjacency: Literal["replace_one", "add_or_remove_one"]

    def __post_init__(self) -> None:
        """Check that both inputs can be sent."""
        for side, given in (("left", self.left), ("right", self.right)):
            if problem := _problem(given):
                raise ValueError(f"{side} contains {problem}")

    @property
    def notes(self) -> tuple[str, ...]:
        """Notes on the pair."""
        # as texts: 1 and true are equal in Python, and not in JSON
        alike = len({json.dumps(side, sort_keys=True) for side in (self.left, self.right)}) == 1
        return (EQUAL,) if alike else ()

    @classmethod
    def of(cls, answer: Any) -> InputPair:
        """Return the pair in a program's answer.

        Raises
        ------
        PairError
        """
        return converted(answer, cls, PairError)

    @classmethod
    def read(cls, path: str | Path) -> InputPair:
        """Return the pair in a file.

        Raises
        ------
        PairError
            When the file cannot be read or does not hold a pair.
        """
        return read_file(path, cls, PairError)


def _problem(given: Any) -> str | None:
    """Return what in an input cannot be sent to a program; None if all of it can.

    Without recursion, as the nesting is among the things to check.
    """
    unseen = [(given, 0)]
    while unseen:
        value, depth = unseen.pop()
        if depth > DEEPEST:
            return f"more than {DEEPEST} nested lists and objects"
        if isinstance(value, dict):
            unseen += [(part, depth + 1) for item in value.items() for part in item]
        elif isinstance(value, list):
            unseen += [(part, depth + 1) for part in value]
        elif isinstance(value, str):
            if any("\ud800" <= character <= "\udfff" for character in value):
                return f"half of a surrogate pair, which no file can store: {ascii(value)[:100]}"
        elif isinstance(value, int | float) and not _is_float(value):
            return "a number too large for a 64-bit float"
    return None


def _is_float(value: float) -> bool:
    """Return whether a number, perhaps a long integer, is within the range of finite floats."""
    return abs(value) <= sys.float_info.max if isinstance(value, int) else math.isfinite(value)
