"""Each kind of bad input has an error of its own, with row, column and value."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reference.common import errors
from reference.common.errors import (
    CsvRowError,
    DataError,
    DomainMismatchError,
    EmptyDataError,
    ExtraColumnError,
    GroupError,
    InfiniteValueError,
    InputError,
    LabelError,
    MissingColumnError,
    NegativeEntryError,
    NormError,
    NotANumberError,
    OutOfBoundsError,
    ShapeError,
    UnreadableFileError,
    UnseenCategoryError,
)
from reference.datasets.adult import FILES, read_files
from reference.domain import Domain
from reference.moments import Moments
from reference.records import BLOCK_ROWS, check_matrix, encode_table
from tests.small_tables import DOMAIN, TABLE, columns_of

# its claim is false in few dimensions; that it then warns is tested in test_pflr.py
pytestmark = pytest.mark.filterwarnings("ignore:pflr.*false")


def table_with(column: str, row: int, value: Any) -> dict[str, list[Any]]:
    """Return the valid table with one entry replaced."""
    changed = {name: list(values) for name, values in TABLE.items()}
    changed[column][row] = value
    return changed


def same(value: Any, other: Any) -> bool:
    """Compare values, NaN being equal to itself."""
    both_nan = isinstance(value, float) and isinstance(other, float) and math.isnan(value) and math.isnan(other)
    return both_nan or value is other or bool(value == other)


def assert_reported(caught: pytest.ExceptionInfo[Any], row: int, column: str | None, value: Any) -> None:
    """Check the attributes of a data error, and that the message states them."""
    error = caught.value
    assert (error.row, error.column) == (row, column)
    assert same(error.value, value), error.value
    assert f"row {row}" in str(error)
    assert column is None or repr(column) in str(error)


# --- One entry of a table ------------------------------------------------------------------------------------

BAD_ENTRIES: list[tuple[str, Any, type[DataError]]] = [
    ("age", math.nan, NotANumberError),
    ("age", "thirty", NotANumberError),
    ("age", "", NotANumberError),
    ("age", pd.NA, NotANumberError),
    ("age", 1j, NotANumberError),
    ("age", 10**400, NotANumberError),
    ("age", {}, NotANumberError),
    ("age", math.inf, InfiniteValueError),
    ("age", -math.inf, InfiniteValueError),
    ("age", 100.5, OutOfBoundsError),
    ("age", -1, OutOfBoundsError),
    ("school", "much", UnseenCategoryError),
    ("school", "None", UnseenCategoryError),
    ("school", 0, UnseenCategoryError),
    ("school", ["none"], UnseenCategoryError),
    ("school", (1, ["none"]), UnseenCategoryError),
    ("school", None, NotANumberError),
    ("school", math.nan, NotANumberError),
    ("school", pd.NA, NotANumberError),
    ("school", pd.NaT, NotANumberError),
    ("colour", "red ", UnseenCategoryError),
    ("colour", np.array(["red"]), UnseenCategoryError),
    ("y", 2, LabelError),
    ("y", -1, LabelError),
    ("y", 0.5, LabelError),
    ("y", "yes", NotANumberError),
    ("y", math.nan, NotANumberError),
    ("y", math.inf, InfiniteValueError),
    ("z", 2, GroupError),
    ("z", 1 + 1e-15, GroupError),
    ("z", math.nan, NotANumberError),
    ("z", "male", NotANumberError),
]


@pytest.mark.parametrize("row", [0, 2])
@pytest.mark.parametrize(("column", "value", "error"), BAD_ENTRIES)
def test_bad_entry_is_reported_with_row_column_and_value(
    column: str, value: Any, error: type[DataError], row: int
) -> None:
    with pytest.raises(DataError) as caught:
        encode_table(DOMAIN, table_with(column, row, value))
    assert caught.type is error
    assert_reported(caught, row, column, value)


def test_valid_table_passes() -> None:
    assert len(encode_table(DOMAIN, TABLE)) == 3


@pytest.mark.parametrize(("column", "value", "error"), BAD_ENTRIES)
def test_clipping_forgives_nothing_but_bounds(column: str, value: Any, error: type[DataError]) -> None:
    changed = table_with(column, 1, value)
    if error is OutOfBoundsError:
        assert len(encode_table(DOMAIN, changed, clip=True)) == 3
    else:
        with pytest.raises(error):
            encode_table(DOMAIN, changed, clip=True)


def test_missing_value_of_a_nullable_column_is_reported() -> None:
    frame = pd.DataFrame(TABLE).astype({"age": "Int64"})
    frame.loc[1, "age"] = pd.NA
    with pytest.raises(NotANumberError) as caught:
        encode_table(DOMAIN, frame)
    assert (caught.value.row, caught.value.column) == (1, "age")


def test_masked_entry_is_missing_whatever_lies_under_the_mask() -> None:
    table = {**TABLE, "age": np.ma.masked_array([1.0, 2.0, 3.0], mask=[False, True, False])}
    with pytest.raises(NotANumberError) as caught:
        encode_table(DOMAIN, table)
    assert (caught.value.row, caught.value.column) == (1, "age")


def test_complex_column_is_rejected_and_not_cast() -> None:
    with pytest.raises(NotANumberError):
        encode_table(DOMAIN, {**TABLE, "age": np.array([1, 2, 3j])})


# --- The columns of a table ----------------------------------------------------------------------------------


@pytest.mark.parametrize("column", TABLE)
def test_missing_column_is_named(column: str) -> None:
    with pytest.raises(MissingColumnError) as caught:
        encode_table(DOMAIN, {name: values for name, values in TABLE.items() if name != column})
    assert caught.value.column == column


def test_extra_column_is_named() -> None:
    with pytest.raises(ExtraColumnError) as caught:
        encode_table(DOMAIN, {**TABLE, "weight": [1, 2, 3]})
    assert caught.value.column == "weight"


@pytest.mark.parametrize("column", TABLE)
def test_column_given_twice_is_named(column: str) -> None:
    frame = pd.DataFrame(TABLE)
    with pytest.raises(ExtraColumnError, match="more than once") as caught:
        encode_table(DOMAIN, pd.concat([frame, frame[[column]]], axis=1))
    assert caught.value.column == column


def test_group_column_without_a_declared_group_is_extra() -> None:
    with pytest.raises(ExtraColumnError) as caught:
        encode_table(DOMAIN.with_(group=None), TABLE)
    assert caught.value.column == "z"


@pytest.mark.parametrize("column", ["age", "school", "colour", "z"])
def test_column_of_another_length_is_named(column: str) -> None:
    with pytest.raises(ShapeError) as caught:
        encode_table(DOMAIN, {**TABLE, column: TABLE[column][:2]})
    assert caught.value.column == column
    assert "2 values where the label has 3" in str(caught.value)


@pytest.mark.parametrize("values", [[[1], [2], [3]], np.zeros((3, 1)), "123"])
def test_column_that_is_not_one_dimensional_is_a_shape_error(values: Any) -> None:
    with pytest.raises(ShapeError) as caught:
        encode_table(DOMAIN, {**TABLE, "age": values})
    assert caught.value.column == "age"


def test_table_without_records_is_empty_data() -> None:
    with pytest.raises(EmptyDataError):
        encode_table(DOMAIN, {name: [] for name in TABLE})
    with pytest.raises(EmptyDataError):
        check_matrix(Domain.of_columns(["a"]), np.zeros((0, 1)), [], [])


def test_part_without_records_is_empty_data() -> None:
    with pytest.raises(EmptyDataError):
        encode_table(DOMAIN, TABLE).take(slice(0, 0))


# --- Already encoded matrices --------------------------------------------------------------------------------


@dataclass(frozen=True)
class Planted:
    """A bad value, and the class and place it must be reported with."""

    norm: str
    value: float
    error: type[DataError]
    whole_row: bool = False
    """The report names a row and its norm, not a column."""


PLANTED = [
    Planted("unit_ball", math.nan, NotANumberError),
    Planted("unit_box", math.nan, NotANumberError),
    Planted("unit_ball", math.inf, InfiniteValueError),
    Planted("unit_box", math.inf, InfiniteValueError),
    Planted("unit_ball", -math.inf, InfiniteValueError),
    Planted("unit_ball", -1e-300, NegativeEntryError),
    Planted("unit_ball", -5e-324, NegativeEntryError),
    Planted("unit_box", -0.25, NegativeEntryError),
    Planted("unit_box", math.nextafter(1.0, 2.0), NormError),
    Planted("unit_box", 1e300, NormError),
    Planted("unit_ball", 1.0 + 1e-12, NormError, whole_row=True),
    Planted("unit_ball", 1e200, NormError, whole_row=True),
]


def matrix(n: int, dimension: int, seed: int) -> np.ndarray:
    """Return rows inside the unit ball, hence inside the unit box."""
    x = np.random.default_rng(seed).random((n, dimension))
    return x / np.sqrt(dimension) * (1 - 1e-12)


def check_planted(planted: Planted, n: int, dimension: int, row: int, column: int, seed: int) -> None:
    """Plant one bad value and check that exactly this one is reported; without it, nothing is."""
    domain = Domain.of_columns(columns_of(dimension), norm=planted.norm)
    x = matrix(n, dimension, seed)
    y = np.random.default_rng(seed + 1).integers(0, 2, n)
    assert len(check_matrix(domain, x, y, 1 - y)) == n
    x[row, column] = planted.value
    with pytest.raises(DataError) as caught:
        check_matrix(domain, x, y, 1 - y)
    assert caught.type is planted.error
    if planted.whole_row:
        error = caught.value
        assert (error.row, error.column) == (row, None)
        assert error.value > 1.0
    else:
        assert_reported(caught, row, f"c{column}", planted.value)


@given(st.sampled_from(PLANTED), st.integers(1, 40), st.integers(1, 6), st.integers(0, 2**32 - 2), st.data())
def test_planted_entry_is_the_one_reported(
    planted: Planted, n: int, dimension: int, seed: int, data: st.DataObject
) -> None:
    row, column = data.draw(st.integers(0, n - 1)), data.draw(st.integers(0, dimension - 1))
    check_planted(planted, n, dimension, row, column, seed)


@pytest.mark.parametrize("row", [0, BLOCK_ROWS - 1, BLOCK_ROWS, 2 * BLOCK_ROWS, 2 * BLOCK_ROWS + 4])
@pytest.mark.parametrize("planted", PLANTED)
def test_planted_entry_is_reported_beyond_the_first_block(planted: Planted, row: int) -> None:
    check_planted(planted, n=2 * BLOCK_ROWS + 5, dimension=3, row=row, column=row % 3, seed=row)


@given(st.integers(1, 30), st.integers(0, 2**32 - 2), st.booleans(), st.data())
def test_planted_label_or_group_is_the_one_reported(
    n: int, seed: int, is_label: bool, data: st.DataObject
) -> None:
    domain = Domain.of_columns(["c0", "c1"])
    x, random = matrix(n, 2, seed), np.random.default_rng(seed)
    marks = {"label": random.integers(0, 2, n).astype(float), "group": random.integers(0, 2, n).astype(float)}
    row = data.draw(st.integers(0, n - 1))
    value = data.draw(st.floats(width=64).filter(lambda number: number not in (0.0, 1.0)))
    column = "label" if is_label else "group"
    marks[column][row] = value
    with pytest.raises(LabelError if is_label else GroupError) as caught:
        check_matrix(domain, x, marks["label"], marks["group"])
    assert_reported(caught, row, column, value)


def test_first_bad_entry_is_reported_when_there_are_several() -> None:
    x = matrix(2 * BLOCK_ROWS, 3, 0)
    x[BLOCK_ROWS + 7, 2] = -1.0
    x[BLOCK_ROWS + 7, 1] = math.nan
    x[BLOCK_ROWS + 9, 0] = math.inf
    zeros = np.zeros(len(x))
    with pytest.raises(NotANumberError) as caught:
        check_matrix(Domain.of_columns(columns_of(3)), x, zeros, zeros)
    assert_reported(caught, BLOCK_ROWS + 7, "c1", math.nan)


def test_norm_error_gives_the_norm_of_the_row() -> None:
    with pytest.raises(NormError) as caught:
        check_matrix(Domain.of_columns(["a", "b"]), [[0.6, 0.8], [3.0, 4.0]], [0, 0], [0, 0])
    assert (caught.value.row, caught.value.value) == (1, 5.0)


@given(st.integers(1, 40), st.integers(0, 2**32 - 1))
def test_row_inside_the_ball_in_exact_arithmetic_is_never_rejected(dimension: int, seed: int) -> None:
    x = np.random.default_rng(seed).random((1, dimension))
    x /= np.linalg.norm(x)
    while sum(Fraction(entry) ** 2 for entry in x[0].tolist()) > 1:
        x *= 1 - 2**-53
    assert len(check_matrix(Domain.of_columns(columns_of(dimension)), x, [0], [0])) == 1


BAD_MATRICES: list[tuple[Any, Any, Any, type[DataError]]] = [
    ([["x", 0.0]], [0], [0], NotANumberError),
    ([[10**400, 0.0]], [0], [0], NotANumberError),
    (np.array([[1j, 0.0]]), [0], [0], NotANumberError),
    ([[0.0, 0.0]], ["x"], [0], NotANumberError),
    ([[0.0, 0.0]], [0], ["x"], NotANumberError),
    ([[0.0, 0.0]], [10**400], [0], NotANumberError),
    ([[0.0, 0.0], [0.0]], [0, 0], [0, 0], ShapeError),
    ([["x", 0.0, 0.0]], [0], [0], ShapeError),
    ([0.0, 0.0], [0], [0], ShapeError),
    ([[[0.0, 0.0]]], [0], [0], ShapeError),
    ([[0.0]], [0], [0], ShapeError),
    ([[0.0, 0.0, 0.0]], [0], [0], ShapeError),
    ([[0.0, 0.0]], [0, 1], [0], ShapeError),
    ([[0.0, 0.0]], [0], [0, 1], ShapeError),
    ([[0.0, 0.0]], [[0]], [0], ShapeError),
    ([[0.0, 0.0]], 0, 0, ShapeError),
    ("x", [0], [0], ShapeError),
    ([np.zeros((1, 2)), np.zeros((1, 3))], [0, 0], [0, 0], ShapeError),
]


@pytest.mark.parametrize(("x", "y", "z", "error"), BAD_MATRICES)
def test_bad_matrix_is_rejected_by_class(x: Any, y: Any, z: Any, error: type[DataError]) -> None:
    with pytest.raises(DataError) as caught:
        check_matrix(Domain.of_columns(["a", "b"]), x, y, z)
    assert caught.type is error
    if error is NotANumberError:
        assert caught.value.row == 0
        assert caught.value.column in {"a", "label", "group"}


def test_entry_of_a_matrix_that_is_no_number_is_reported() -> None:
    with pytest.raises(NotANumberError) as caught:
        check_matrix(Domain.of_columns(["a", "b"]), [[0.0, 0.0], [0.5, "half"]], [0, 1], [0, 1])
    assert_reported(caught, 1, "b", "half")


# --- Domain and records that do not belong together ----------------------------------------------------------


def test_group_missing_from_the_records_is_a_mismatch() -> None:
    with pytest.raises(DomainMismatchError, match="records have none"):
        check_matrix(Domain.of_columns(["a"]), [[0.0]], [0])


def test_group_missing_from_the_domain_is_a_mismatch() -> None:
    with pytest.raises(DomainMismatchError, match="domain declares none"):
        check_matrix(Domain.of_columns(["a"], with_group=False), [[0.0]], [0], [0])


def test_moments_of_different_domains_do_not_add_up() -> None:
    one = Moments.of(check_matrix(Domain.of_columns(["a"]), [[0.5]], [0], [0]))
    other = Moments.of(check_matrix(Domain.of_columns(["b"]), [[0.5]], [0], [0]))
    with pytest.raises(DomainMismatchError):
        one + other


# --- Files ---------------------------------------------------------------------------------------------------


def test_bad_row_of_a_file_is_reported_with_its_line(tmp_path: Path) -> None:
    for name in FILES:
        (tmp_path / name).write_text("\n1, 2, 3\n", encoding="ascii")
    with pytest.raises(CsvRowError) as caught:
        read_files(tmp_path)
    assert (caught.value.file, caught.value.row) == (str(tmp_path / FILES[0]), 2)
    assert caught.value.value == "1,2,3"


def test_unreadable_file_is_reported_by_name(tmp_path: Path) -> None:
    (tmp_path / FILES[0]).mkdir()
    with pytest.raises(UnreadableFileError) as caught:
        read_files(tmp_path)
    assert caught.value.file == str(tmp_path / FILES[0])
    assert str(tmp_path / FILES[0]) in str(caught.value)


# --- The errors themselves -----------------------------------------------------------------------------------


def error_classes(base: type[InputError] = InputError) -> list[type[InputError]]:
    """Return every class below `base`."""
    return [found for child in base.__subclasses__() for found in (child, *error_classes(child))]


def test_every_error_is_an_input_error_of_its_own() -> None:
    classes = {value for value in vars(errors).values() if isinstance(value, type)}
    declared = {one for one in classes if one.__module__ == errors.__name__ and not issubclass(one, Warning)}
    # audit has errors of its own
    raised = {error for error in error_classes() if error.__module__.startswith("reference.")}
    assert declared == {InputError, *raised}
    assert issubclass(InputError, ValueError)
    reasons = error_classes(DataError)
    assert not any(issubclass(one, other) for one in reasons for other in reasons if one is not other)
