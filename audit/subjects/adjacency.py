"""Decides whether two inputs are neighbours, if they are records or the subject gives a relation."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields, is_dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from audit.auditor.subject import FAILURES, SubjectError
from reference.common.errors import ReadingError
from reference.common.printable import in_brief
from reference.readings import ADJACENCIES

Relation: TypeAlias = str | Callable[[Any, Any], Any]
"""`replace_one`, `add_or_remove_one`, or a function that returns True if its two inputs are neighbours."""

AnyArray: TypeAlias = npt.NDArray[Any]

PLAIN = (int, float, str, bytes, np.generic, np.ndarray, list, tuple, dict)
"""Types whose values are told apart by all that they hold."""

LARGEST_EXACT = 2**53
"""Whole numbers below it are doubles."""

NO_NEIGHBOURS = "the two inputs are not neighbours under"

UNCHECKED = "nobody checked that these are neighbours"
"""The note on a pair without a relation."""


EQUAL = "both inputs are equal: on this pair nothing can be lost, so nothing is tested"
"""The note on a pair of one input."""


def notes_on_pair(left: Any, right: Any) -> tuple[str, ...]:
    """Return a note if two inputs of numbers, texts, and lists and tables of such, are equal."""
    plain = isinstance(left, PLAIN) and type(left) is type(right)
    return (EQUAL,) if plain and key_of(left) == key_of(right) else ()


def require_neighbours(left: Any, right: Any, relation: Relation | None) -> str | None:
    """Return None if the inputs are neighbours, and a note if that cannot be checked.

    Order counts: a permuted data set is a different one, since a mechanism may look at the order.

    Parameters
    ----------
    left, right : object
        For a named relation: an array or a list, one record a row, or a tuple of arrays of the same length.
    relation : {'replace_one', 'add_or_remove_one'} or callable, optional

    Raises
    ------
    audit.auditor.subject.SubjectError
        When they are not neighbours, or the function fails or returns neither True nor False.
    reference.common.errors.ReadingError
        When the relation is unknown.
    """
    if relation is None:
        return UNCHECKED
    if callable(relation):
        _require_related(left, right, relation)
        return None
    if relation not in ADJACENCIES:
        raise ReadingError("adjacency", relation, f"one of {', '.join(ADJACENCIES)}, or a function of both inputs")
    ours, others = _records(left), _records(right)
    if relation == "replace_one":
        if len(ours) != len(others):
            raise SubjectError(f"{NO_NEIGHBOURS} {relation}: {len(ours)} records and {len(others)}")
        different = [place for place, pair in enumerate(zip(ours, others, strict=True)) if pair[0] != pair[1]]
        if len(different) > 1:
            raise SubjectError(
                f"{NO_NEIGHBOURS} {relation}: records {different[0]} and {different[1]} differ, "
                f"{len(different)} in all"
            )
        return None
    more, fewer = sorted((ours, others), key=len, reverse=True)
    first = next((place for place, key in enumerate(fewer) if key != more[place]), len(fewer))
    if len(more) != len(fewer) + 1 or more[first + 1 :] != fewer[first:]:
        raise SubjectError(f"{NO_NEIGHBOURS} {relation}: {len(ours)} records and {len(others)}, not one more")
    return None


def _require_related(left: Any, right: Any, relation: Callable[[Any, Any], Any]) -> None:
    """Raise unless a function says that the inputs are neighbours."""
    try:
        neighbours = relation(left, right)
    except FAILURES as problem:
        raise SubjectError(f"the neighbour relation failed: {type(problem).__name__}: {problem}") from problem
    # every text would count as True, "no" among them
    if not isinstance(neighbours, bool | np.bool_):
        raise SubjectError(f"the neighbour relation must return True or False, not {in_brief(neighbours)}")
    if not neighbours:
        raise SubjectError("the two inputs are not neighbours: their relation says so")


def _records(given: Any) -> list[Any]:
    """Return one key for each record: equal for records that are equal digit for digit, -0.0 taken as 0."""
    if isinstance(given, tuple) and given and all(isinstance(part, np.ndarray) for part in given):
        if len({len(part) for part in given}) > 1:
            raise SubjectError("the arrays of an input must have one row for each record")
        return [[key_of(row) for row in rows] for rows in zip(*given, strict=True)]
    if isinstance(given, list | tuple) or (isinstance(given, np.ndarray) and given.ndim):
        return [key_of(row) for row in given]
    raise SubjectError(
        f"a named adjacency needs records, one a row of an array or a list, not {in_brief(given)}; "
        "give a function instead"
    )


def key_of(record: Any) -> Any:
    """Return what tells a record, or records, from others: numbers by all their digits, wherever they stand.

    How numpy shows an array would hide the later digits, and most of a long one.  Other objects are told apart by
    how Python shows them.
    """
    match record:
        case int() | float() | np.generic() | np.ndarray():
            return _of_numbers(np.asarray(record))
        case list() | tuple():
            return [type(record).__name__, *map(key_of, record)]
        case dict():
            return [(repr(name), key_of(record[name])) for name in sorted(record, key=repr)]
        case _ if is_dataclass(record) and not isinstance(record, type):
            return [type(record).__name__, *(key_of(getattr(record, entry.name)) for entry in fields(record))]
        case _ if hasattr(record, "__array__"):
            return [type(record).__name__, key_of(np.asarray(record))]
    return repr(record)


def _of_numbers(values: AnyArray) -> Any:
    if values.dtype.kind not in "fiub" or values.dtype.itemsize > np.dtype(np.float64).itemsize:
        plain = values.tolist()
        return repr(plain) if not isinstance(plain, list) else [key_of(value) for value in plain]
    if values.dtype.kind in "iu" and values.size and int(np.abs(values).max()) not in range(LARGEST_EXACT):
        # as doubles some of them would be one
        return repr(values.tolist())
    return (values.astype(np.float64) + 0.0).tobytes()
