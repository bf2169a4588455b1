"""A cell or a mark in memory that is missing or odd is named with its row and value, whatever library holds it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import polars
import pyarrow
import pytest

from reference.common.errors import DataError, LabelError, NotANumberError
from reference.datasets.from_arrays import Arrays
from reference.domain import Domain
from reference.domain.attributes import Numeric
from reference.domain.markers import numbers_of
from reference.records import BLOCK_ROWS
from tests.test_array_input import X, Y, w_of

LIBRARIES: dict[str, Any] = {
    "pyarrow": pyarrow.table,
    "polars": polars.DataFrame,
    "objects of pandas": lambda columns: pd.DataFrame(columns, dtype=object),
    "pandas": pd.DataFrame,
    "pandas with nullable columns": lambda columns: pd.DataFrame(columns).convert_dtypes(),
}
TELLS = ("pyarrow", "polars", "objects of pandas")
"""Libraries that tell NaN from a null."""


@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize("gap", [None, np.nan])
def test_a_gap_in_a_later_block_is_a_missing_value_and_a_null_is_no_nan(library: str, gap: float | None) -> None:
    n, row = 4 * BLOCK_ROWS + 16, 4 * BLOCK_ROWS + 7
    marks, gaps = [0, 1] * (n // 2), [0.5] * row + [gap] + [0.5] * (n - row - 1)
    table = LIBRARIES[library]({"a": [0.25] * n, "b": gaps})
    with pytest.raises(NotANumberError, match=r"missing value; fill it in") as caught:
        w_of(table, marks, marks)
    assert (caught.value.row, caught.value.column) == (row, "b")
    assert library not in TELLS or repr(caught.value.value) == repr(gap)
    assert str(caught.value).startswith("NaN, a ") == ("nan" in str(caught.value))
    # null control: with a meaning it is none
    domain = Domain([Numeric(name, 0, 1, missing=0.5) for name in "ab"], "y", None)
    assert len(Arrays(domain, table, np.array(marks) == 1, None).records()) == n


@pytest.mark.parametrize("given", ["x", "", 2, None, "1"])
def test_an_odd_mark_in_a_list_is_named_and_makes_no_texts_of_the_others(given: Any) -> None:
    marks = [given if place == 7 else mark for place, mark in enumerate(Y.tolist())]
    for changed in ({"y": marks}, {"z": marks}):
        with pytest.raises(DataError) as caught:
            w_of(X, **changed)
        assert (caught.value.row, caught.value.value) == (7, given)


def test_labels_that_are_observed_name_what_is_odd() -> None:
    for odd in (None, np.nan, pd.NA, 2, "x"):
        marks = Y.astype(object)
        marks[7] = odd
        given = marks.astype(np.int64) if isinstance(odd, int) else marks
        with pytest.raises(LabelError) as caught:
            w_of(X, given, classes="observed")
        assert (caught.value.row, caught.value.column) == (None if isinstance(odd, str) else 7, "(label)")


def test_the_first_cell_that_is_no_number_is_named() -> None:
    for values, row, allowed_row in (([1, None, "x"], 1, 2), ([None, 2**60], 0, 1), ([pd.NA, 1j, "1"], 0, 1)):
        for or_missing, expected in ((False, row), (True, allowed_row)):
            with pytest.raises(NotANumberError) as caught:
                numbers_of("age", values, or_missing=or_missing)
            assert (caught.value.row, caught.value.value) == (expected, values[expected])


@pytest.mark.parametrize("gap", [None, np.nan, pd.NA, ""])
def test_a_mark_without_a_value_is_missing(gap: Any) -> None:
    marks = Y.astype(object)
    marks[7] = gap
    for changed in ({"y": marks}, {"z": marks}):
        with pytest.raises(DataError, match=r"^missing value where 0 or 1 is declared \(row 7") as caught:
            w_of(X, **changed)
        assert caught.value.value is gap
