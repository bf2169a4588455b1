"""Decides whether two inputs are neighbours, if they are records or the subject gives a relation."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np

from audit.auditor.subject import FAILURES, SubjectError
from reference.common.errors import ReadingError
from reference.readings import ADJACENCIES

Relation: TypeAlias = str | Callable[[Any, Any], Any]
"""`replace_one`, `add_or_remove_one`, or a function that returns True if its two inputs are neighbours."""

NO_NEIGHBOURS = "the two inputs are not neighbours under"

UNCHECKED = "nobody checked that these are neighbours"
"""The note on a pair without a relation."""


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
        When they are not neighbours, or the function fails.
    reference.common.errors.ReadingError
        When the relation is unknown.
    """
    if relation is None:
        return UNCHECKED
    if callable(relation):
        try:
            neighbours = bool(relation(left, right))
        except FAILURES as problem:
            raise SubjectError(f"the neighbour relation failed: {type(problem).__name__}: {problem}") from problem
        if not neighbours:
            raise SubjectError("the two inputs are not neighbours: their relation says so")
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


def _records(given: Any) -> list[bytes]:
    """Return one key for each record: equal for records that are equal bit for bit, -0.0 taken as 0."""
    if isinstance(given, tuple) and given and all(isinstance(part, np.ndarray) for part in given):
        if len({len(part) for part in given}) > 1:
            raise SubjectError("the arrays of an input must have one row for each record")
        return [b"|".join(_key(row) for row in rows) for rows in zip(*given, strict=True)]
    if isinstance(given, list | tuple) or (isinstance(given, np.ndarray) and given.ndim):
        return [_key(row) for row in given]
    raise SubjectError(f"a named adjacency needs records, one a row, not {given!r:.100}; give a function instead")


def _key(record: Any) -> bytes:
    if isinstance(record, int | float | np.generic | np.ndarray):
        values = np.asarray(record)
        if values.dtype.kind in "fiub":
            return (values.astype(np.float64) + 0.0).tobytes()
    return repr(record).encode()
