"""Fresh copies of a subject, as it was before its first draw."""

from __future__ import annotations

import copy
import enum
import gc
import random
import re
import sys
from dataclasses import dataclass
from numbers import Number
from types import BuiltinFunctionType, FunctionType, ModuleType
from typing import Any

import numpy as np

from audit.auditor.subject import FAILURES, Subject

MOST_OBJECTS, MOST_BYTES = 10_000, 2**28
"""Objects of a subject, and bytes of its arrays, beyond which it is not copied: each copy would take long."""

MOST_ITEMS = 100_000
"""Items of the inputs among which parts of a subject are looked for."""

ATOMS = (
    type,
    enum.Enum,
    FunctionType,
    BuiltinFunctionType,
    ModuleType,
    str,
    bytes,
    Number,
    re.Pattern,
    type(None),
)
"""What a copy has in common with its original."""

GENERATORS = (
    np.random.Generator,
    np.random.BitGenerator,
    np.random.RandomState,
    np.random.SeedSequence,
    random.Random,
)
"""What it must not."""


@dataclass(frozen=True)
class NoCopy:
    """Stands for a copy that nobody could make.

    Parameters
    ----------
    reason : str
    """

    reason: str


@dataclass(frozen=True, eq=False)
class Pristine:
    """A copy of a subject from before its first draw, of which copies are made.

    Parameters
    ----------
    subject : Subject
    generators : tuple
        Those of its own.
    kept : tuple
        In common with the original, which may tell them by their identity: the inputs and what they hold, which no
        draw may change, and markers, which hold nothing.
    """

    subject: Subject
    generators: tuple[Any, ...]
    kept: tuple[Any, ...]

    @classmethod
    def of(cls, subject: Subject, inputs: tuple[Any, ...]) -> Pristine | NoCopy:
        """Return a copy, or why there is none: none can be made, it is too large, or does harm when it ends.

        A subject whose attribute `as_made` is itself before earlier draws is copied as it was then.
        """
        try:
            subject = getattr(subject, "as_made", subject)
            items = _items(inputs)
            kept = (*inputs, *(one for one in _parts(subject, inputs) if id(one) in items or _is_marker(one)))
            parts = _parts(subject, kept)
            size = sum(part.nbytes for part in parts if isinstance(part, np.ndarray))
            if len(parts) > MOST_OBJECTS:
                return NoCopy(f"it has more than {MOST_OBJECTS:,} parts")
            if size > MOST_BYTES:
                return NoCopy(f"its arrays take more than {MOST_BYTES:,} bytes")
            if ends := {type(part).__name__ for part in parts if hasattr(type(part), "__del__")}:
                named = ", ".join(sorted(ends))
                return NoCopy(f"copies would call the method __del__ of {named} when they end")
            unchanged = [part for part in parts if isinstance(part, random.SystemRandom)]
            made = copy.deepcopy(subject, {id(part): part for part in (*unchanged, *kept)})
            of_copy, given = _parts(made, kept), set(map(id, parts)) - set(map(id, unchanged))
            if type(made) is not type(subject) or any(
                id(part) in given and hasattr(part, "__deepcopy__") for part in of_copy
            ):
                return NoCopy("a copy of it, or of a part, is the original itself, or of another class")
            own = tuple(part for part in of_copy if isinstance(part, GENERATORS))
            return cls(made, own, kept)
        except FAILURES as problem:
            # the name alone: a message may hold an address, which differs in each run
            return NoCopy(f"copy.deepcopy of it raises {type(problem).__name__}")

    def copy(self, rng: np.random.Generator) -> Subject:
        """Return a fresh copy; its own generators have new seeds: else all copies draw the same noise."""
        memo = {id(one): one for one in self.kept}
        memo |= {id(one): _anew(one, int(rng.integers(2**63))) for one in self.generators}
        return copy.deepcopy(self.subject, memo)


def _parts(subject: object, apart_from: tuple[Any, ...]) -> list[object]:
    """Return the objects that a copy would copy, up to a few more than the most."""
    unseen, kept = [subject], dict[int, object]()
    known = {id(one) for one in apart_from}
    while unseen and len(kept) <= MOST_OBJECTS:
        one = unseen.pop()
        if id(one) in kept or id(one) in known or isinstance(one, ATOMS):
            continue
        # while it is kept, no other object has its number
        kept[id(one)] = one
        if not isinstance(one, GENERATORS):
            unseen += gc.get_referents(one)
    return list(kept.values())


def _items(inputs: tuple[Any, ...]) -> set[int]:
    """Return the numbers of what lists and tables in the inputs hold, apart from generators, up to some looks."""
    unseen, found = list(inputs), set[int]()
    for _ in range(MOST_ITEMS):
        if not unseen:
            break
        match unseen.pop():
            case list() | tuple() as held:
                items = held[:MOST_ITEMS]
            case dict() as table:
                items = list(table.values())[:MOST_ITEMS]
            case _:
                continue
        unseen += items
        found |= {id(item) for item in items if not isinstance(item, GENERATORS)}
    return found


def _is_marker(part: object) -> bool:
    """Return whether an object says something by its identity alone, as a default that stands for no value.

    It is a plain `object()`, or one without attributes and methods that the module of its class holds.
    """
    kind = type(part)
    if kind is object:
        return True
    if kind.__mro__ != (kind, object) or kind.__module__ == "builtins" or getattr(part, "__dict__", {}):
        return False
    module = vars(sys.modules.get(kind.__module__, object))
    return (
        any(held is part for held in module.values())
        and not getattr(kind, "__slots__", ())
        and not any(
            callable(attribute) and (not name.startswith("__") or name == "__call__")
            for name, attribute in vars(kind).items()
        )
    )


def _anew(found: object, seed: int) -> object:
    """Return a generator of the same kind with another seed."""
    match found:
        case np.random.Generator():
            return np.random.Generator(type(found.bit_generator)(seed))
        case np.random.RandomState():
            return np.random.RandomState(np.random.MT19937(seed))
        case np.random.BitGenerator() | np.random.SeedSequence():
            return type(found)(seed)
        case random.SystemRandom():
            return found
    return random.Random(seed)
