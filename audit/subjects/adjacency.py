"""Decides whether two inputs are neighbours, if they are records or the subject gives a relation."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import fields, is_dataclass
from typing import Any, TypeAlias

import numpy as np

from audit.auditor.subject import FAILURES, SubjectError
from audit.common.keys import key_of
from reference.common.errors import ReadingError
from reference.common.printable import in_brief
from reference.readings import ADJACENCIES

Relation: TypeAlias = str | Callable[[Any, Any], Any]
"""`replace_one`, `add_or_remove_one`, or a function that returns True if its two inputs are neighbours."""

PLAIN = (int, float, str, bytes, np.generic, np.ndarray, list, tuple, dict, set, frozenset)
"""Types whose values are told apart by all that they hold."""

NO_NEIGHBOURS = "the two inputs are not neighbours under"

UNCHECKED = "nobody checked that these are neighbours"
"""The note on a pair without a relation."""


EQUAL = "both inputs are equal: on this pair nothing can be lost, so nothing is tested"
"""The note on a pair of one input."""

SAME_VALUES = "both inputs are equal in value: at most their types, shapes or order are tested"
"""The note on inputs as `[3]` and `[3.0]`, which a mechanism may tell apart."""


def notes_on_pair(left: Any, right: Any, relation: Any = None) -> tuple[str, ...]:
    """Return notes on two inputs: that they are one, and how records were counted if that may surprise.

    Numbers, texts, and lists and tables of such are compared; other objects are equal if they are one object.
    """
    equal: tuple[str, ...] = ()
    if left is right:
        equal = (EQUAL,)
    elif isinstance(left, PLAIN) and isinstance(right, PLAIN) and key_of(left) == key_of(right):
        equal = (EQUAL if _form(left) == _form(right) else SAME_VALUES,)
    counted = _counted(left) if isinstance(relation, str) and relation in ADJACENCIES else ()
    return (*equal, *counted)


def noted_equal(notes: Iterable[str]) -> str | None:
    """Return the note that both inputs are equal, so that a claim which is not refuted is not tested; or None."""
    return next((note for note in notes if note in (EQUAL, SAME_VALUES)), None)


def _form(given: Any) -> Any:
    """Return what can tell inputs of equal values apart: types, shapes, the order of names, the sign of a zero."""
    match given:
        case np.ndarray() if given.dtype == object:
            return given.shape, [_form(part) for part in given.ravel().tolist()]
        case np.ndarray():
            return given.dtype, given.shape, given.tobytes()
        case list() | tuple():
            return type(given), [_form(part) for part in given]
        case dict():
            return type(given), [(repr(name), _form(part)) for name, part in given.items()]
        case set() | frozenset():
            return type(given), sorted(repr(_form(part)) for part in given)
    return type(given), repr(given)


def _counted(given: Any) -> tuple[str, ...]:
    """Return a note if every record is a sequence: it may as well be a column."""
    if not _is_listed(given) or not given or any(_depth(record) == 0 for record in given):
        return ()
    sizes = sorted({len(record) for record in given})
    of_size = f"of {sizes[0]}" if len(sizes) == 1 else f"of {sizes[0]} to {sizes[-1]}"
    counted = f"records counted on left: {len(given)}, each a sequence {of_size}"
    return (f"{counted}: if these are columns, pass an array",)


def _is_listed(given: Any) -> bool:
    """Return whether the records of an input are the elements of a list, and not rows of one array or several."""
    return isinstance(given, list | tuple) and not _is_tuple_of_arrays(given)


def _is_tuple_of_arrays(given: Any) -> bool:
    return isinstance(given, tuple) and bool(given) and all(isinstance(part, np.ndarray) for part in given)


def _depth(given: Any) -> int:
    """Return how many indices reach a value: 1 for a row or a column, 2 for a table."""
    if isinstance(given, list | tuple):
        return 1 + min(map(_depth, given), default=0)
    return 0 if isinstance(given, np.generic) else int(getattr(given, "ndim", 0))


def _rows_within(record: Any) -> int:
    """Return how many rows the largest table has that a record is or contains, or else 0."""
    if _depth(record) > 1:
        return len(record)
    if is_dataclass(record) and not isinstance(record, type):
        record = {entry.name: getattr(record, entry.name) for entry in fields(record)}
    if not isinstance(record, dict | list | tuple):
        return 0
    parts = list(record.values()) if isinstance(record, dict) else record
    # columns with names are a table, too
    sizes = {len(part) if _depth(part) else 0 for part in parts} if isinstance(record, dict) else set()
    return max([*map(_rows_within, parts), *(sizes if len(sizes) == 1 else ())], default=0)


def require_unchanged(inputs: tuple[Any, Any], before: list[Any]) -> None:
    """Refuse a mechanism that has changed its inputs; `before` is their :func:`audit.common.keys.key_of`.

    Raises
    ------
    audit.auditor.subject.SubjectError
    """
    if [key_of(given) for given in inputs] != before:
        raise SubjectError("the mechanism changes its input, so later outputs are of other data: copy it first")


def require_records(given: Any) -> None:
    """Refuse a list of a table and its columns: all their rows would count as few records.

    Tables of one shape may be records, such as images, if there are more of them than each has rows.

    Raises
    ------
    audit.auditor.subject.SubjectError
    """
    if not _is_listed(given):
        return
    tables = [_rows_within(record) for record in given]
    sizes = {rows or len(record) for rows, record in zip(tables, given, strict=True) if rows or _depth(record)}
    if len(sizes) != 1 or max(sizes) < 2:
        return
    mixed = isinstance(given, tuple) and any(isinstance(part, np.ndarray) and part.ndim for part in given)
    alike = all(tables) and len({_depth(record) for record in given}) == 1
    if mixed or (any(tables) and not (alike and max(sizes) < len(given))):
        counted = f"the elements of this {type(given).__name__} count as records, {len(given)} in all"
        raise SubjectError(
            f"{counted}, and they have {max(sizes)} rows: pass an array, a tuple of arrays or a list of "
            "records, or give a function as adjacency"
        )


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
    if _is_tuple_of_arrays(given):
        if len({len(part) for part in given}) > 1:
            raise SubjectError("the arrays of an input must have one row for each record")
        return [[key_of(row) for row in rows] for rows in zip(*given, strict=True)]
    if isinstance(given, np.ndarray) and given.ndim and given.dtype == object:
        given = list(given)
    require_records(given)
    if isinstance(given, list | tuple) or (isinstance(given, np.ndarray) and given.ndim):
        return [key_of(row) for row in given]
    converted = "pass its .to_numpy(), " if hasattr(given, "to_numpy") else ""
    converted += 'its .to_dict("records"), ' if hasattr(given, "itertuples") else ""
    raise SubjectError(
        f"a named adjacency needs records, one a row of an array or a list, not {in_brief(given)}; "
        f"{converted}{'or ' if converted else ''}give a function instead"
    )
