"""Records of tables and columns of pandas: their rows."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

from audit.common.digits import digits_of_rows
from audit.common.keys import Level, proof_of, proofs_of, values_of_column

NUMBERS = "biuf"

_OF_PANDAS = ("_mgr", "_attrs", "_flags", "_name", "_item_cache", "_cacher", "_is_copy", "_cache")
"""Attributes of each table, and of none in particular."""


def is_table(given: Any) -> bool:
    """Return whether an input is a table or a column of pandas."""
    library = sys.modules.get("pandas")
    return library is not None and isinstance(given, (library.DataFrame, library.Series))


def is_labelled(given: Any) -> bool:
    """Return whether the rows of an input have labels, and are not just numbered."""
    return is_table(given) and not _is_numbered(given.index)


def records_of_table(given: Any, level: Level, *, labelled: bool) -> list[Any]:
    """Return one key for each row, for :func:`audit.common.keys.same`: its values, and its label as its form.

    Parameters
    ----------
    given : object
        Of :func:`is_table`.
    level : Level
    labelled : bool
        Whether the rows of this input, or of the other one, have labels.
    """
    cells = [_cells(one, level) for one in _columns(given)]
    if labelled and level > Level.VALUES:
        cells.append(_cells(given.index, Level.KINDS))
    return [list(row) for row in zip(*cells, strict=True)] if cells else [[] for _ in range(len(given))]


def besides_of_table(given: Any) -> list[Any]:
    """Return what a table has besides its rows, for :func:`audit.common.keys.same`."""
    kinds = [_kind(one.dtype) for one in _columns(given)]
    named = _of_labels(given.columns) if given.ndim > 1 else proof_of(given.name, Level.FORM)
    own = {name: value for name, value in vars(given).items() if name not in _OF_PANDAS}
    attributes = proof_of([dict(given.attrs), own], Level.KINDS)
    # nobody knows what a class of the user's own has
    known = type(given).__module__.partition(".")[0] == "pandas"
    return [
        *(type(given), kinds, named, _of_index(given.index), given.flags.allows_duplicate_labels, attributes),
        *([] if known else [proof_of(object(), Level.KINDS)]),
    ]


def _columns(given: Any) -> list[Any]:
    """Return the columns of a table, of which some may have one name."""
    return [given.iloc[:, place] for place in range(given.shape[1])] if given.ndim > 1 else [given]


def _kind(dtype: Any) -> Any:
    """Return the type of a column; one other number makes all of them floats."""
    if isinstance(dtype, np.dtype) and dtype.kind in NUMBERS:
        return "number"
    return _type(dtype)


def _type(dtype: Any) -> Any:
    categories = getattr(dtype, "categories", None)
    # of many categories pandas shows the first ones and the last
    return repr(dtype) if categories is None else [dtype.ordered, _of_labels(categories)]


def _of_labels(labels: Any) -> list[Any]:
    """Return the labels of columns, or categories, with their types and names."""
    return [_of_index(labels), proof_of(list(labels), Level.FORM)]


def _of_index(index: Any) -> list[Any]:
    """Return what an index has besides its labels; a range is one of numbers."""
    kind = "Index" if type(index).__name__ == "RangeIndex" else type(index).__name__
    names = proof_of(list(index.names), Level.FORM)
    types = [_type(one.dtype) for one in getattr(index, "levels", [index])]
    return [kind, names, types, str(getattr(index, "freq", None))]


def _cells(column: Any, level: Level) -> list[Any]:
    """Return one key for each value of a column."""
    values, missing = values_of_column(column)
    # at the level of rows alone, numbers of all types are one kind
    of_cells = Level.KINDS if level == Level.ROWS else level
    if isinstance(values, list) or values.dtype.kind == "O":
        return [proof_of(value, of_cells) for value in values]
    if values.dtype.kind not in NUMBERS:
        return proofs_of(values, of_cells)
    found = digits_of_rows(values, by_value=level == Level.VALUES)
    for place in () if missing is None else np.flatnonzero(missing):
        found[place] = proof_of(column.dtype.na_value, of_cells)
    return found


def _is_numbered(index: Any) -> bool:
    return type(index).__name__ == "RangeIndex" and (index.start, index.step) == (0, 1)
