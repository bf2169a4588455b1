"""A cell of a Parquet file that the domain does not admit is named with row, column and value."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from reference.common.errors import (
    ColumnTypeError,
    DataError,
    ExtraColumnError,
    GroupError,
    LabelError,
    NotANumberError,
    OutOfBoundsError,
    UnseenCategoryError,
)
from tests.test_table_files import COLUMNS, parquet_file, read

# (columns to change, class, record, column, value)
BAD_PARQUET: list[tuple[dict[str, Any], type[DataError], int | None, str | None, Any]] = [
    ({"age": ["20", "30", "40"]}, ColumnTypeError, 1, "age", "20"),
    ({"age": [None, "30", "x"]}, ColumnTypeError, 3, "age", "x"),
    ({"age": [None, "30", "40"]}, ColumnTypeError, 2, "age", "30"),
    ({"age": [None, None, None]}, ColumnTypeError, 1, "age", None),
    (
        {"age": np.array(["2020-01-01"] * 3, "datetime64[s]")},
        ColumnTypeError,
        1,
        "age",
        np.datetime64("2020-01-01", "s").item(),
    ),
    ({"school": [None, 2, 3]}, ColumnTypeError, 2, "school", 2),
    ({"school": [["none"]] * 3}, ColumnTypeError, 1, "school", ["none"]),
    ({"y": [0, 1, 1]}, ColumnTypeError, 1, "y", 0),
    ({"z": ["1", "0", "m"]}, ColumnTypeError, 3, "z", "m"),
    ({"age": [20, None, 30]}, NotANumberError, 2, "age", None),
    ({"age": [20.0, None, 30.0]}, NotANumberError, 2, "age", None),
    ({"age": [20.0, 30.0, float("nan")]}, NotANumberError, 3, "age", math.nan),
    ({"age": [20.0, math.nan, None]}, NotANumberError, 2, "age", math.nan),
    ({"age": [20, 30, -1]}, OutOfBoundsError, 3, "age", -1.0),
    ({"school": ["none", None, "none"]}, NotANumberError, 2, "school", None),
    ({"school": ["none", "none", "high"]}, UnseenCategoryError, 3, "school", "high"),
    ({"y": ["no", "yes", "maybe"]}, LabelError, 3, "y", "maybe"),
    ({"y": ["no", None, "yes"]}, LabelError, 2, "y", None),
    ({"z": [0, 1, 2]}, GroupError, 3, "z", 2.0),
    ({"z": [0, None, 1]}, GroupError, 2, "z", None),
    ({"extra": [0, 1, 2]}, ExtraColumnError, None, "extra", None),
]


@pytest.mark.parametrize("rows", [1, 65_536])
@pytest.mark.parametrize(("change", "error", "record", "column", "value"), BAD_PARQUET)
def test_bad_parquet_is_reported_with_its_place(
    change: dict[str, Any],
    error: type[DataError],
    record: int | None,
    column: str,
    value: Any,
    rows: int,
    tmp_path: Path,
) -> None:
    path = parquet_file(tmp_path, COLUMNS | change)
    with pytest.raises(DataError) as caught:
        read(path, rows=rows)
    kind, found = caught.type, caught.value
    assert (kind, found.file, found.record, found.row, found.column) == (error, str(path), record, None, column)
    assert repr(found.value) == repr(value)
    is_missing = issubclass(error, (NotANumberError, LabelError, GroupError)) and (value is None or value != value)
    assert ("missing value" in str(found), "NaN" in str(found)) == (is_missing, repr(value) == "nan")
    assert record is None or f"file {path}, row {record}, column" in str(found)
    assert ("it is a date or a time" in str(found), "from 0" in str(found)) == ("datetime64" in str(change), False)
