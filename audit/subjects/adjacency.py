"""Decides whether two inputs are neighbours, if they are records or the subject gives a relation."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import fields, is_dataclass
from typing import Any, TypeAlias

import numpy as np

from audit.auditor.subject import FAILURES, SubjectError
from audit.common.keys import Level, attributes_of, key_of, proof_of, proofs_of, same
from audit.subjects.tables import besides_of_table, is_labelled, is_table, records_of_table
from reference.common.errors import ReadingError
from reference.common.printable import in_brief
from reference.readings import ADJACENCIES

Relation: TypeAlias = str | Callable[[Any, Any], Any]
"""`replace_one`, `add_or_remove_one`, or a function that returns True if its two inputs are neighbours."""

PLAIN = (int, float, str, bytes, np.generic, np.ndarray, list, tuple, dict, set, frozenset)
"""Types whose values are told apart by all that they hold."""

MOST_LEVELS = 6
"""Levels of nested parts in which tables are looked for: parts may share parts."""

_PLAIN_INPUTS = (list, tuple, np.ndarray, np.memmap)
_OF_MASKS = ("_mask", "_sharedmask", "_isfield", "_baseclass", "_basedict")

NO_NEIGHBOURS = "the two inputs are not neighbours under"

UNCHECKED = "nobody checked that these are neighbours"
"""The note on a pair without a relation."""

OF_FORM = (
    "several records differ only in types, shapes, units, labels or the signs of zeros, which a mechanism may "
    "tell apart: use one type on both sides, or give a function as adjacency"
)
"""The note on inputs that are neighbours by their values, as `[1, 2]` and `[1.0, 3.0]` are."""

EQUAL = "both inputs are equal: on this pair nothing can be lost, so nothing is tested"
"""The note on a pair of one input."""

INCOMPARABLE = (
    "records do not show all that they hold, or hold more objects than are looked into, so nobody compared them: "
    "give a function as adjacency"
)
"""The note on objects, in place of numbers, texts, or collections, tables and classes of such."""

OF_ATTRIBUTES = (
    "the inputs have more than their records, such as a class, attributes or types of columns, and nobody found "
    "that to be the same on both sides: give a function as adjacency"
)
"""The note on inputs of other classes than lists, tuples and arrays, unless all else that they hold is equal."""

SAME_VALUES = "both inputs are equal in value: at most their types, shapes or order are tested"
"""The note on inputs as `[3]` and `[3.0]`, which a mechanism may tell apart."""


def notes_on_pair(left: Any, right: Any, relation: Any = None) -> tuple[str, ...]:
    """Return notes on two inputs: that they are one, and how records were counted if that may surprise.

    Numbers, texts, and lists and tables of such are compared; other objects are equal if they are one object.
    What :func:`require_neighbours` returns is a further note.
    """
    equal: tuple[str, ...] = ()
    if left is right:
        equal = (EQUAL,)
    elif isinstance(left, PLAIN) and isinstance(right, PLAIN) and _equal(left, right, Level.VALUES):
        equal = (EQUAL if _equal(left, right, Level.FORM) else SAME_VALUES,)
    if not (isinstance(relation, str) and relation in ADJACENCIES):
        return equal
    return (*equal, *_counted(left))


def noted_equal(notes: Iterable[str]) -> str | None:
    """Return the note that both inputs are equal, so that a claim which is not refuted is not tested; or None."""
    return next((note for note in notes if note in (EQUAL, SAME_VALUES)), None)


def _equal(left: Any, right: Any, level: Level) -> bool:
    return same(proof_of(left, level), proof_of(right, level)) is True


def _counted(given: Any) -> tuple[str, ...]:
    """Return a note if every record is a sequence: it may as well be a column."""
    if not _is_listed(given) or not given or any(_depth(record) == 0 for record in given):
        return ()
    sizes = sorted({_length(record) for record in given})
    of_size = f"of {sizes[0]}" if len(sizes) == 1 else f"of {sizes[0]} to {sizes[-1]}"
    counted = f"records counted on left: {len(given)}, each a sequence {of_size}"
    return (f"{counted}: if these are columns, pass an array",)


def _is_listed(given: Any) -> bool:
    """Return whether the records of an input are the elements of a list, and not rows of one array or several."""
    return isinstance(given, list | tuple) and not _is_tuple_of_arrays(given)


def _is_tuple_of_arrays(given: Any) -> bool:
    parts = given if isinstance(given, tuple) else ()
    return bool(parts) and all(isinstance(part, np.ndarray) and part.ndim for part in parts)


def _depth(given: Any, levels: int = MOST_LEVELS) -> int:
    """Return how many indices reach a value, up to a limit: 1 for a row or a column, 2 for a table."""
    if isinstance(given, list | tuple):
        return 1 + (min((_depth(part, levels - 1) for part in given), default=0) if levels else 0)
    return 0 if isinstance(given, np.generic) else int(getattr(given, "ndim", 0))


def _length(given: Any) -> int:
    """Return how many rows or elements there are; a sparse matrix has no length."""
    shape = getattr(given, "shape", None)
    return int(shape[0]) if isinstance(shape, tuple) and shape else len(given)


def _rows_within(record: Any, levels: int = MOST_LEVELS) -> int:
    """Return how many rows the largest table has that a record is or contains, or else 0."""
    if _depth(record) > 1:
        return _length(record)
    if is_dataclass(record) and not isinstance(record, type):
        record = {entry.name: getattr(record, entry.name) for entry in fields(record)}
    if not isinstance(record, dict | list | tuple) or not levels:
        return 0
    parts = list(record.values()) if isinstance(record, dict) else record
    # columns with names are a table, too
    sizes = {_length(part) if _depth(part) else 0 for part in parts} if isinstance(record, dict) else set()
    return max(
        [*(_rows_within(part, levels - 1) for part in parts), *(sizes if len(sizes) == 1 else ())], default=0
    )


def _has_fields(record: Any) -> bool:
    return isinstance(record, dict) or (is_dataclass(record) and not isinstance(record, type))


def require_several(left: Any, right: Any) -> None:
    """Refuse two inputs likewise: one that has several records shows that the other has records, too.

    Raises
    ------
    audit.auditor.subject.SubjectError
    """
    several = any(_is_listed(side) and len(side) > 1 for side in (left, right))
    for side in (left, right):
        require_records(side, several=several)


def require_unchanged(inputs: tuple[Any, Any], before: list[Any]) -> None:
    """Refuse a mechanism that has changed its inputs; `before` is their :func:`audit.common.keys.key_of`.

    Raises
    ------
    audit.auditor.subject.SubjectError
    """
    if [key_of(given) for given in inputs] != before:
        raise SubjectError("the mechanism changes its input, so later outputs are of other data: copy it first")


def require_records(given: Any, *, several: bool = False) -> None:
    """Refuse a list of a table and its columns: all their rows would count as few records.

    Tables of one shape may be records, such as images, if there are more of them than each has rows.  Several
    dictionaries, or objects with fields, are records.

    Parameters
    ----------
    given : object
    several : bool
        Whether the other input has several records.

    Raises
    ------
    audit.auditor.subject.SubjectError
    """
    if not _is_listed(given) or ((several or len(given) > 1) and all(map(_has_fields, given))):
        return
    tables = [_rows_within(record) for record in given]
    sizes = {rows or _length(record) for rows, record in zip(tables, given, strict=True) if rows or _depth(record)}
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
    """Return None if the inputs are neighbours, and else a note on why nobody can tell.

    Order counts: a permuted data set is a different one, since a mechanism may look at the order.  If records of
    equal values differ in types, shapes or the sign of a zero, such as 1, 1.0 and True, nobody can tell; but an
    array of integers may have a neighbour of floats.  The order of names in a dict does not count.

    Parameters
    ----------
    left, right : object
        For a named relation: an array, a table or a list, one record a row, or a tuple of arrays of one length.
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
    return _undecided(left, right, relation)


def _undecided(left: Any, right: Any, relation: str) -> str | None:
    """Return why nobody can tell whether two inputs are neighbours under a named relation; None if they are."""
    require_several(left, right)
    level = Level.ROWS if _is_array(left) and _is_array(right) else Level.KINDS
    labelled = is_labelled(left) or is_labelled(right)
    ours, others = (_records(side, level, labelled=labelled) for side in (left, right))
    possible, proved = _NEIGHBOURS[relation](ours, others)
    if not possible:
        # one other number makes a whole column one of floats
        alike = (_records(left, Level.VALUES), _records(right, Level.VALUES))
        if not _NEIGHBOURS[relation](*alike)[0]:
            raise SubjectError(f"{NO_NEIGHBOURS} {relation}: {_difference(relation, (ours, others))}")
        return OF_FORM
    if not proved:
        return INCOMPARABLE
    return None if same(_besides(left), _besides(right)) else OF_ATTRIBUTES


def _besides(given: Any) -> list[Any]:
    """Return what an input has besides its records, for :func:`audit.common.keys.same`."""
    parts = [_besides(part) for part in given] if _is_tuple_of_arrays(given) else []
    if type(given) in _PLAIN_INPUTS:
        return parts
    if is_table(given):
        return [besides_of_table(given)]
    own = attributes_of(given)
    if isinstance(given, np.ma.MaskedArray):
        # the mask is in the records
        own = {name: value for name, value in own.items() if name not in _OF_MASKS}
    return [*parts, type(given), proof_of(own, Level.KINDS)]


def _replaced(ours: Sequence[Any], others: Sequence[Any]) -> tuple[bool, bool]:
    """Return whether at most one record may differ, and whether that is proved."""
    if len(ours) != len(others):
        return False, False
    found = list(map(same, ours, others))
    return found.count(False) < 2, found.count(True) >= len(found) - 1


def _one_more(ours: Sequence[Any], others: Sequence[Any]) -> tuple[bool, bool]:
    """Return whether one side may have just one record more, and whether that is proved."""
    fewer, more = sorted((ours, others), key=len)
    if len(more) != len(fewer) + 1:
        return False, False
    before, after = list(map(same, fewer, more)), list(map(same, fewer, more[1:]))

    def fits(allowed: tuple[bool | None, ...]) -> bool:
        first = next((place for place, one in enumerate(before) if one not in allowed), len(fewer))
        return all(one in allowed for one in after[first:])

    return fits((True, None)), fits((True,))


_NEIGHBOURS = {"replace_one": _replaced, "add_or_remove_one": _one_more}


def _difference(relation: str, compared: tuple[list[Any], list[Any]]) -> str:
    """Return, in words, why two inputs are not neighbours."""
    sizes = f"{len(compared[0])} records and {len(compared[1])}"
    if relation != "replace_one":
        return f"{sizes}, not one more"
    if len(compared[0]) != len(compared[1]):
        return sizes
    different = [place for place, found in enumerate(map(same, *compared)) if found is False]
    return f"records {different[0]} and {different[1]} differ, {len(different)} in all"


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


def _is_array(given: Any) -> bool:
    return isinstance(given, np.ndarray) or _is_tuple_of_arrays(given)


def _records(given: Any, level: Level, *, labelled: bool = False) -> list[Any]:
    """Return one key for each record, for :func:`audit.common.keys.same`."""
    if is_table(given):
        return records_of_table(given, level, labelled=labelled)
    if _is_tuple_of_arrays(given):
        if len({len(part) for part in given}) > 1:
            raise SubjectError("the arrays of an input must have one row for each record")
        return [list(row) for row in zip(*(_rows(part, level) for part in given), strict=True)]
    if isinstance(given, np.ndarray) and given.ndim:
        if given.dtype == object:
            require_records(list(given))
        return _rows(given, level)
    if isinstance(given, list | tuple):
        return [proof_of(record, level) for record in given]
    raise SubjectError(
        "a named adjacency needs records, one a row of an array or a table, or one an element of a list, not "
        f"{in_brief(given)}; give a function instead: adjacency=f, where f(left, right) returns True if they are "
        "neighbours"
    )


def _rows(given: np.ndarray[Any, Any], level: Level) -> list[Any]:
    """Return the keys of an array's rows; one record can change the type of all numbers, so that tells nothing."""
    if isinstance(given, np.ma.MaskedArray):
        values, mask = _rows(np.ma.getdata(given), level), _rows(np.ma.getmaskarray(given), level)
        return [["masked", *row] for row in zip(values, mask, strict=True)]
    if given.dtype == object and level == Level.ROWS:
        level = Level.KINDS
    return proofs_of(np.asarray(given), level)
