"""The two inputs that a program is audited on."""

from __future__ import annotations

import json
import math
import sys
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from audit.strict_json import parsed
from reference.errors import InputError
from reference.readings import ADJACENCIES

DEEPEST = 64
"""Nesting of lists and objects in an input: what JSON readers of all languages take."""


class PairError(InputError):
    """A document that is no pair of neighbouring inputs.

    Parameters
    ----------
    where : str
        The file, or the program's answer.
    problem : str
    """

    def __init__(self, where: str, problem: str) -> None:
        self.where = where
        self.problem = problem
        super().__init__(f"{where}: {problem}")


@dataclass(frozen=True)
class InputPair:
    """Two inputs that their giver says are neighbours; nobody here can check that.

    Parameters
    ----------
    left, right : object
        Anything that JSON can say.
    adjacency : {'replace_one', 'add_or_remove_one'}
    """

    left: Any
    right: Any
    adjacency: str

    def to_json(self) -> dict[str, Any]:
        """Return the document."""
        return {"left": self.left, "right": self.right, "adjacency": self.adjacency}

    @property
    def notes(self) -> tuple[str, ...]:
        """What a reader must know about the pair."""
        # as texts: 1 and true are equal in Python, and not in JSON
        alike = len({json.dumps(side, sort_keys=True) for side in (self.left, self.right)}) == 1
        return ("both inputs are equal: on this pair nothing can be lost, so nothing is tested",) if alike else ()

    @classmethod
    def from_json(cls, document: Any, where: str) -> InputPair:
        """Return the pair of a document.

        Raises
        ------
        PairError
            When a field is missing, unknown or wrong, or an input is nothing that a program could be sent.
        """
        names = [field.name for field in fields(cls)]
        if not isinstance(document, dict):
            raise PairError(where, f"must be a JSON object with {', '.join(names)}")
        if sorted(document) != sorted(names):
            raise PairError(where, f"must have {', '.join(names)}, not {', '.join(map(repr, document))}")
        if document["adjacency"] not in ADJACENCIES:
            raise PairError(
                where, f"adjacency must be one of {', '.join(ADJACENCIES)}, not {document['adjacency']!r}"
            )
        for side in ("left", "right"):
            if problem := _problem(document[side]):
                raise PairError(where, f"{side} holds {problem}")
        return cls(**document)

    @classmethod
    def read(cls, path: str | Path) -> InputPair:
        """Return the pair in a file.

        Raises
        ------
        PairError
            When the file cannot be read or holds no pair.
        """
        where = f"pair of inputs {path}"
        try:
            document = parsed(Path(path).read_text(encoding="utf-8"), "is no JSON number")
        except OSError as problem:
            raise PairError(where, f"cannot be read: {problem.strerror}") from problem
        except (ValueError, RecursionError) as problem:
            raise PairError(where, f"is no JSON: {problem}") from problem
        return cls.from_json(document, where)


def _problem(given: Any) -> str | None:
    """Return what in an input cannot be sent to a program; None when all can.

    No recursion: the nesting is one of the things that are looked at.
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
                return f"half of a surrogate pair, which no text can hold: {ascii(value)[:100]}"
        elif isinstance(value, int | float) and not _is_float(value):
            return "a number too large for a 64-bit float"
    return None


def _is_float(value: float) -> bool:
    """Tell whether a number, perhaps a long integer, is within the range of finite floats."""
    return abs(value) <= sys.float_info.max if isinstance(value, int) else math.isfinite(value)
