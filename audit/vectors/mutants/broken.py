"""The base of all broken variants."""

from __future__ import annotations

import inspect
from typing import ClassVar, Literal, TypeAlias

from audit.vectors.steps import Steps

BugType: TypeAlias = Literal[
    "BASIC",
    "EDGE_CASE",
    "KNOWN_BUG",
    "MISSING_STEP",
    "SENSITIVITY",
    "ADJACENCY",
    "BUDGET",
    "DATA_DEPENDENT",
    "RANDOMNESS",
    "ROUNDING",
    "POSTPROCESSING",
    "FAIRNESS",
    "MALFORMED",
]


class Broken(Steps):
    """The reference with one step done wrongly."""

    bug_type: ClassVar[BugType] = "BASIC"
    claims: ClassVar[tuple[str, ...]] = ()
    links: ClassVar[tuple[str, ...]] = ()

    @classmethod
    def told(cls) -> tuple[str, str]:
        """Return the bug and its effect, in words."""
        bug, _, effect = inspect.cleandoc(cls.__doc__ or "").partition("\n\n")
        return " ".join(bug.split()), " ".join(effect.split())
