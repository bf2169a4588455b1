"""Records of tables and columns of pandas and polars: their rows."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

import numpy as np

from audit.common.digits import as_doubles, bits_of
from audit.common.keys import Level, proof_of

NUMBERS, PACKAGES = "biuf", ("pandas", "polars")


def is_table(given: Any) -> bool:
    """Return whether an input is a table or a column of pandas or polars."""
    return any(_is_of(package, given) for package in PACKAGES)


def is_labelled(given: Any) -> bool:
    """Return whether the rows of an input have labels, and are not just numbered."""
    return _is_of("pandas", given) and not _is_numbered(given.index)


def records_of_table(given: Any, level: Level, *, labelled: bool) -> list[Any]:
    """Return one key for each row, for :func:`audit.common.keys.same`.

    The names of columns are parts of a record.  Its label, and the types of the columns, are its form.

    Parameters
    ----------
    given : object
        Of :func:`is_table`.
    level : Level
    labelled : bool
        Whether the rows of this input, or of the other one, have labels.
    """
    by_value = level == Level.VALUES
    if _is_of("polars", given):
        names, columns = (given.columns, given.get_columns()) if hasattr(given, "columns") else ([], [given])
        kinds, labels, cells = [str(one.dtype) for one in columns], [], [one.to_list() for one in columns]
        cells = [[proof_of(value, _of_cells(level)) for value in column] for column in cells]
    else:
        names, columns = _columns_of_pandas(given)
        kinds, cells = [_kind(one.dtype) for one in columns], [_cells(one, level) for one in columns]
        labels = _labels(given.index) if labelled and not by_value else []
    # one text: the same for every row
    # a table may have a column that is called so
    named = None if hasattr(given, "columns") else given.name
    frame = repr([proof_of(list(names), _of_cells(level)), [] if by_value else [kinds, named]])
    rows = [list(row) for row in zip(*cells, strict=True)] if cells else [[] for _ in range(len(given))]
    return [[frame, *row, label] for row, label in zip(rows, labels or [None] * len(rows), strict=True)]


def besides_of_table(given: Any) -> Any:
    """Return what a table has besides its rows, for :func:`audit.common.keys.same`."""
    attributes = proof_of(dict(getattr(given, "attrs", {})), Level.KINDS)
    # nobody knows what a class of the user's own has
    own = [] if type(given).__module__.partition(".")[0] in PACKAGES else [proof_of(object(), Level.KINDS)]
    return [type(given), attributes, *own]


def _is_of(package: str, given: Any) -> bool:
    library = sys.modules.get(package)
    return library is not None and isinstance(given, (library.DataFrame, library.Series))


def _columns_of_pandas(given: Any) -> tuple[Sequence[Any], list[Any]]:
    if not hasattr(given, "columns"):
        return [], [given]
    return list(given.columns), [given.iloc[:, place] for place in range(given.shape[1])]


def _kind(dtype: Any) -> str:
    """Return the type of a column; one other number makes all of them floats."""
    if isinstance(dtype, np.dtype) and dtype.kind in NUMBERS:
        return "number"
    categories = getattr(dtype, "categories", None)
    # of many categories pandas shows the first ones and the last
    return repr(dtype) if categories is None else repr([dtype.ordered, list(categories)])


def _cells(column: Any, level: Level) -> list[Any]:
    """Return one key for each value of a column."""
    if not isinstance(column.dtype, np.dtype) or column.dtype.kind == "O":
        return [_cell(value, level) for value in column.array]
    values = column.to_numpy()
    if column.dtype.kind not in NUMBERS:
        return [proof_of(value, level) for value in values]
    doubles, inexact = as_doubles(values)
    found: list[Any] = bits_of(doubles, by_value=level == Level.VALUES).tolist()
    for place in np.flatnonzero(inexact):
        found[place] = repr(int(values[place]))
    return found


def _cell(value: Any, level: Level) -> Any:
    told = proof_of(value, _of_cells(level))
    # by value, a number of a column of objects may be one of a column of numbers
    return int.from_bytes(told, sys.byteorder) if isinstance(told, bytes) and len(told) == 8 else told


def _labels(index: Any) -> list[Any]:
    names = repr(index.names)
    return [[names, proof_of(label, Level.KINDS)] for label in index.to_numpy()]


def _is_numbered(index: Any) -> bool:
    return type(index).__name__ == "RangeIndex" and (index.start, index.step) == (0, 1)


def _of_cells(level: Level) -> Level:
    """Return at which level a value is told that is no number of a column of numbers."""
    return Level.KINDS if level == Level.ROWS else level
