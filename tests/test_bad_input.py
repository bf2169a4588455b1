"""Each kind of bad input has an error of its own, with row, column and value; odd but legal data pass."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reference import errors
from reference.attributes import Numeric, OneHot, Ordinal
from reference.budgets import Budget, SplitBudget
from reference.datasets.adult import FILES, read_files
from reference.domain import Domain
from reference.errors import (
    CsvRowError,
    DataError,
    DeltaError,
    DomainMismatchError,
    EmptyDataError,
    EpsilonError,
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
    UnknownAttributeError,
    UnreadableFileError,
    UnseenCategoryError,
)
from reference.mechanisms import adfc, functional, pdfc, relaxed_functional
from reference.moments import Moments
from reference.noise import draws
from reference.readings import Readings
from reference.records import BLOCK_ROWS, Records
from reference.registry import MECHANISMS
from reference.release import Release

# its claim is false in few dimensions; that it then warns is tested in test_pflr.py
pytestmark = pytest.mark.filterwarnings("ignore:pflr.*false")

DOMAIN = Domain(
    (Numeric("age", 0, 100), Ordinal("school", ("none", "some")), OneHot("colour", ("red", "green", "blue"))),
    label="y",
    group="z",
)
TABLE: dict[str, list[Any]] = {
    "age": [1, 2, 3],
    "school": ["none", "some", "none"],
    "colour": ["red", "green", "blue"],
    "y": [0, 1, 0],
    "z": [1, 0, 1],
}


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
        DOMAIN.encode(table_with(column, row, value))
    assert caught.type is error
    assert_reported(caught, row, column, value)


def test_valid_table_passes() -> None:
    assert len(DOMAIN.encode(TABLE)) == 3


@pytest.mark.parametrize(("column", "value", "error"), BAD_ENTRIES)
def test_clipping_forgives_nothing_but_bounds(column: str, value: Any, error: type[DataError]) -> None:
    changed = table_with(column, 1, value)
    if error is OutOfBoundsError:
        assert len(DOMAIN.encode(changed, clip=True)) == 3
    else:
        with pytest.raises(error):
            DOMAIN.encode(changed, clip=True)


def test_missing_value_of_a_nullable_column_is_reported() -> None:
    frame = pd.DataFrame(TABLE).astype({"age": "Int64"})
    frame.loc[1, "age"] = pd.NA
    with pytest.raises(NotANumberError) as caught:
        DOMAIN.encode(frame)
    assert (caught.value.row, caught.value.column) == (1, "age")


def test_masked_entry_is_missing_whatever_lies_under_the_mask() -> None:
    table = {**TABLE, "age": np.ma.masked_array([1.0, 2.0, 3.0], mask=[False, True, False])}
    with pytest.raises(NotANumberError) as caught:
        DOMAIN.encode(table)
    assert (caught.value.row, caught.value.column) == (1, "age")


def test_complex_column_is_rejected_and_not_cast() -> None:
    with pytest.raises(NotANumberError):
        DOMAIN.encode({**TABLE, "age": np.array([1, 2, 3j])})


# --- The columns of a table ----------------------------------------------------------------------------------


@pytest.mark.parametrize("column", TABLE)
def test_missing_column_is_named(column: str) -> None:
    with pytest.raises(MissingColumnError) as caught:
        DOMAIN.encode({name: values for name, values in TABLE.items() if name != column})
    assert caught.value.column == column


def test_extra_column_is_named() -> None:
    with pytest.raises(ExtraColumnError) as caught:
        DOMAIN.encode({**TABLE, "weight": [1, 2, 3]})
    assert caught.value.column == "weight"


@pytest.mark.parametrize("column", TABLE)
def test_column_given_twice_is_named(column: str) -> None:
    frame = pd.DataFrame(TABLE)
    with pytest.raises(ExtraColumnError, match="more than once") as caught:
        DOMAIN.encode(pd.concat([frame, frame[[column]]], axis=1))
    assert caught.value.column == column


def test_group_column_without_a_declared_group_is_extra() -> None:
    with pytest.raises(ExtraColumnError) as caught:
        DOMAIN.with_(group=None).encode(TABLE)
    assert caught.value.column == "z"


@pytest.mark.parametrize("column", ["age", "school", "colour", "z"])
def test_column_of_another_length_is_named(column: str) -> None:
    with pytest.raises(ShapeError) as caught:
        DOMAIN.encode({**TABLE, column: TABLE[column][:2]})
    assert caught.value.column == column
    assert "2 values where the label has 3" in str(caught.value)


@pytest.mark.parametrize("values", [[[1], [2], [3]], np.zeros((3, 1)), "123"])
def test_column_that_is_not_one_dimensional_is_a_shape_error(values: Any) -> None:
    with pytest.raises(ShapeError) as caught:
        DOMAIN.encode({**TABLE, "age": values})
    assert caught.value.column == "age"


def test_table_without_records_is_empty_data() -> None:
    with pytest.raises(EmptyDataError):
        DOMAIN.encode({name: [] for name in TABLE})
    with pytest.raises(EmptyDataError):
        Domain.of_columns(["a"]).check(np.zeros((0, 1)), [], [])


def test_part_without_records_is_empty_data() -> None:
    with pytest.raises(EmptyDataError):
        DOMAIN.encode(TABLE).take(slice(0, 0))


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


def columns_of(dimension: int) -> list[str]:
    return [f"c{index}" for index in range(dimension)]


def check_planted(planted: Planted, n: int, dimension: int, row: int, column: int, seed: int) -> None:
    """Plant one bad value and check that exactly this one is reported; without it, nothing is."""
    domain = Domain.of_columns(columns_of(dimension), norm=planted.norm)
    x = matrix(n, dimension, seed)
    y = np.random.default_rng(seed + 1).integers(0, 2, n)
    assert len(domain.check(x, y, 1 - y)) == n
    x[row, column] = planted.value
    with pytest.raises(DataError) as caught:
        domain.check(x, y, 1 - y)
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
        domain.check(x, marks["label"], marks["group"])
    assert_reported(caught, row, column, value)


def test_first_bad_entry_is_reported_when_there_are_several() -> None:
    x = matrix(2 * BLOCK_ROWS, 3, 0)
    x[BLOCK_ROWS + 7, 2] = -1.0
    x[BLOCK_ROWS + 7, 1] = math.nan
    x[BLOCK_ROWS + 9, 0] = math.inf
    zeros = np.zeros(len(x))
    with pytest.raises(NotANumberError) as caught:
        Domain.of_columns(columns_of(3)).check(x, zeros, zeros)
    assert_reported(caught, BLOCK_ROWS + 7, "c1", math.nan)


def test_norm_error_gives_the_norm_of_the_row() -> None:
    with pytest.raises(NormError) as caught:
        Domain.of_columns(["a", "b"]).check([[0.6, 0.8], [3.0, 4.0]], [0, 0], [0, 0])
    assert (caught.value.row, caught.value.value) == (1, 5.0)


@given(st.integers(1, 40), st.integers(0, 2**32 - 1))
def test_row_inside_the_ball_in_exact_arithmetic_is_never_rejected(dimension: int, seed: int) -> None:
    x = np.random.default_rng(seed).random((1, dimension))
    x /= np.linalg.norm(x)
    while sum(Fraction(entry) ** 2 for entry in x[0].tolist()) > 1:
        x *= 1 - 2**-53
    assert len(Domain.of_columns(columns_of(dimension)).check(x, [0], [0])) == 1


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
        Domain.of_columns(["a", "b"]).check(x, y, z)
    assert caught.type is error
    if error is NotANumberError:
        assert caught.value.row == 0
        assert caught.value.column in {"a", "label", "group"}


def test_entry_of_a_matrix_that_is_no_number_is_reported() -> None:
    with pytest.raises(NotANumberError) as caught:
        Domain.of_columns(["a", "b"]).check([[0.0, 0.0], [0.5, "half"]], [0, 1], [0, 1])
    assert_reported(caught, 1, "b", "half")


# --- Domain and records that do not belong together ----------------------------------------------------------


def test_group_missing_from_the_records_is_a_mismatch() -> None:
    with pytest.raises(DomainMismatchError, match="records have none"):
        Domain.of_columns(["a"]).check([[0.0]], [0])


def test_group_missing_from_the_domain_is_a_mismatch() -> None:
    with pytest.raises(DomainMismatchError, match="domain declares none"):
        Domain.of_columns(["a"], with_group=False).check([[0.0]], [0], [0])


def test_moments_of_different_domains_do_not_add_up() -> None:
    one = Moments.of(Domain.of_columns(["a"]).check([[0.5]], [0], [0]))
    other = Moments.of(Domain.of_columns(["b"]).check([[0.5]], [0], [0]))
    with pytest.raises(DomainMismatchError):
        one + other


# --- Privacy parameters --------------------------------------------------------------------------------------

BAD_EPSILONS: list[Any] = [
    0, 0.0, -1, "-1", "0", math.nan, math.inf, -math.inf, "nan", "inf", "one", "", True, False, None, 1j, [1],
    np.float64("nan"), "1e400", "1e-400", "1e999999999",
]  # fmt: skip
BAD_DELTAS: list[Any] = [
    1, 1.0, "1", 1.5, -1e-300, "-1e-400", math.nan, math.inf, "nan", "tiny", "", True, None, 1j, "1e-999999999",
]  # fmt: skip


@pytest.mark.parametrize("bad", BAD_EPSILONS)
@pytest.mark.parametrize(
    ("name", "make"),
    [
        ("epsilon", Budget),
        ("epsilon_s", lambda bad: SplitBudget(bad, 1)),
        ("epsilon_n", lambda bad: SplitBudget(1, bad)),
        ("epsilon", SplitBudget.equal),
        ("epsilon", lambda bad: SplitBudget.from_ratio(bad, 1, 3)),
        ("epsilon_ratio", lambda bad: SplitBudget.from_ratio(1, bad, 3)),
    ],
)
def test_bad_epsilon_is_an_epsilon_error(name: str, make: Callable[[Any], object], bad: Any) -> None:
    with pytest.raises(EpsilonError) as caught:
        make(bad)
    assert caught.value.name == name
    assert caught.value.value is bad


@pytest.mark.parametrize("bad", BAD_DELTAS)
@pytest.mark.parametrize(
    ("name", "make"),
    [
        ("delta", lambda bad: Budget(1, bad)),
        ("delta_s", lambda bad: SplitBudget(1, 1, bad, 0)),
        ("delta_n", lambda bad: SplitBudget(1, 1, 0, bad)),
        ("delta", lambda bad: SplitBudget.equal(1, bad)),
        ("delta", lambda bad: SplitBudget.from_ratio(1, 1, 3, bad)),
    ],
)
def test_bad_delta_is_a_delta_error(name: str, make: Callable[[Any], object], bad: Any) -> None:
    with pytest.raises(DeltaError) as caught:
        make(bad)
    assert caught.value.name == name
    assert caught.value.value is bad


# sqrt(2/pi) = 0.797884560802865...
GOOD_MOMENTS = Moments.of(DOMAIN.encode(TABLE))


@pytest.mark.parametrize("delta", ["0", "0.79788456080286536", "0.9"])
def test_delta_outside_the_extended_range_is_a_delta_error(delta: str) -> None:
    with pytest.raises(DeltaError, match="sqrt"):
        relaxed_functional(GOOD_MOMENTS, Budget(1, delta), rng=0)
    with pytest.raises(DeltaError, match="sqrt") as caught:
        adfc(GOOD_MOMENTS, SplitBudget(1, 1, "1e-3", delta), rng=0)
    assert caught.value.name == "delta_n"


def test_delta_at_the_end_of_the_extended_range_is_accepted() -> None:
    assert relaxed_functional(GOOD_MOMENTS, Budget(1, "0.79788456080286535"), rng=0).status == "ok"


def test_delta_of_a_pure_mechanism_is_a_delta_error() -> None:
    with pytest.raises(DeltaError, match="purely private"):
        functional(GOOD_MOMENTS, Budget(1, "1e-400"), rng=0)
    with pytest.raises(DeltaError, match="purely private"):
        pdfc(GOOD_MOMENTS, SplitBudget(1, 1, 0, "1e-400"), rng=0)


@pytest.mark.parametrize("bad", ["nope", "y", 5, -1])
def test_unknown_x_s_is_rejected_by_name(bad: str | int) -> None:
    for mechanism, delta in ((pdfc, 0), (adfc, "1e-3")):
        with pytest.raises(UnknownAttributeError) as caught:
            mechanism(GOOD_MOMENTS, SplitBudget.equal(1, delta), x_s=bad, rng=0)
        assert (caught.value.name, caught.value.value) == ("x_s", bad)


def test_bad_input_is_found_before_any_noise_is_drawn(monkeypatch: pytest.MonkeyPatch) -> None:
    def unexpected(*_arguments: object) -> None:
        raise AssertionError("noise was drawn")

    monkeypatch.setattr(draws, "draw", unexpected)
    with pytest.raises(DeltaError):
        adfc(GOOD_MOMENTS, SplitBudget(1, 1, "1e-3", 0), rng=0)
    with pytest.raises(UnknownAttributeError):
        pdfc(GOOD_MOMENTS, SplitBudget.equal(1), x_s="nope", rng=0)
    with pytest.raises(AssertionError, match="noise was drawn"):
        pdfc(GOOD_MOMENTS, SplitBudget.equal(1), rng=0)


def test_mechanism_of_no_records_is_empty_data() -> None:
    with pytest.raises(EmptyDataError):
        functional(Moments.zero(DOMAIN), Budget(1), rng=0)


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
    declared = {value for value in vars(errors).values() if getattr(value, "__module__", "") == errors.__name__}
    # audit has errors of its own
    raised = {error for error in error_classes() if error.__module__.startswith("reference.")}
    assert declared == {InputError, *raised}
    assert issubclass(InputError, ValueError)
    reasons = error_classes(DataError)
    assert not any(issubclass(one, other) for one in reasons for other in reasons if one is not other)


# --- Odd, but legal ------------------------------------------------------------------------------------------


def columns_and_marks(x: Sequence[Sequence[float]], y: Sequence[int], z: Sequence[int]) -> Records:
    return Domain.of_columns(columns_of(len(x[0]))).check(x, y, z)


ROWS = [[0.1, 0.2], [0.5, 0.1], [0.3, 0.3], [0.0, 0.6]]
LEGAL: Mapping[str, Records] = {
    "nobody in group 1": columns_and_marks(ROWS, [0, 1, 0, 1], [0, 0, 0, 0]),
    "nobody in group 0": columns_and_marks(ROWS, [0, 1, 0, 1], [1, 1, 1, 1]),
    "no positive": columns_and_marks(ROWS, [0, 0, 0, 0], [0, 1, 0, 1]),
    "no negative": columns_and_marks(ROWS, [1, 1, 1, 1], [0, 1, 0, 1]),
    "one record": columns_and_marks(ROWS[:1], [1], [0]),
    "one record of zeros": columns_and_marks([[0.0, 0.0]], [0], [1]),
    "duplicate columns": columns_and_marks([[0.1, 0.1], [0.5, 0.5], [0.3, 0.3]], [0, 1, 0], [0, 1, 1]),
    "a column of zeros": columns_and_marks([[0.1, 0.0], [0.5, 0.0], [0.3, 0.0]], [0, 1, 0], [0, 1, 1]),
    "only zeros": columns_and_marks([[0.0, 0.0]] * 3, [0, 1, 0], [0, 1, 1]),
    "one attribute": columns_and_marks([[0.1], [1.0], [0.3]], [0, 1, 0], [0, 1, 1]),
    "every record alike": columns_and_marks([[0.6, 0.8]] * 4, [1, 1, 1, 1], [1, 1, 1, 1]),
}


def run(name: str, records: Records, readings: Readings | None = None) -> Release:
    """Run a mechanism with a fixed seed and an ordinary budget."""
    spec = MECHANISMS[name]
    delta = "1e-3" if spec.needs_delta else 0
    budget = SplitBudget.equal(1, delta) if spec.split_budget else Budget(1, delta)
    return spec.run(records, budget if spec.private else None, readings or spec.readings, rng=1)


@pytest.mark.parametrize("case", LEGAL)
@pytest.mark.parametrize("name", MECHANISMS)
def test_mechanism_runs_on_legal_but_odd_data(name: str, case: str) -> None:
    release = run(name, LEGAL[case])
    if MECHANISMS[name].private:
        assert release.privacy is not None
        assert release.status == "ok"
    if release.status == "ok":
        assert release.w is not None
        assert np.isfinite(release.w).all()
        assert len(release.w) == LEGAL[case].domain.dimension
    else:
        assert release.w is None


@pytest.mark.parametrize("case", LEGAL)
@pytest.mark.parametrize("repair", ["none", "trim", "ball"])
@pytest.mark.parametrize("name", [name for name, spec in MECHANISMS.items() if spec.private])
def test_statement_does_not_depend_on_odd_data(name: str, repair: str, case: str) -> None:
    readings = MECHANISMS[name].readings.with_(repair=repair)
    odd = run(name, LEGAL[case], readings)
    ordinary = run(
        name, columns_and_marks([row[: len(odd.columns)] for row in ROWS], [0, 1, 0, 1], [0, 1, 1, 0]), readings
    )
    assert odd.privacy == ordinary.privacy
    assert odd.noise == ordinary.noise
    assert odd.status in {"ok", "unbounded"}
    assert (odd.status == "unbounded") == (odd.w is None)


def test_singular_moments_give_the_minimum_norm_minimiser() -> None:
    release = run("no_privacy", LEGAL["duplicate columns"], Readings(repair="none"))
    assert release.w is not None
    assert release.w[0] == pytest.approx(release.w[1], rel=1e-9)


@settings(max_examples=40)
@given(st.sampled_from(sorted(MECHANISMS)), st.integers(1, 5), st.integers(1, 3), st.integers(0, 2**32 - 1))
def test_mechanism_runs_on_any_tiny_data(name: str, n: int, dimension: int, seed: int) -> None:
    random = np.random.default_rng(seed)
    x = random.integers(0, 2, (n, dimension)) / np.sqrt(dimension) * (1 - 1e-15)
    records = Domain.of_columns(columns_of(dimension)).check(x, random.integers(0, 2, n), random.integers(0, 2, n))
    release = run(name, records)
    assert release.status in {"ok", "unbounded"}
    assert release.w is None or bool(np.isfinite(release.w).all())


def test_checked_records_cannot_be_changed_through_the_object() -> None:
    records = Domain.of_columns(["a"]).check([[0.5]], [1], [0])
    for values in (records.x, records.y, records.z):
        with pytest.raises(ValueError, match="read-only"):
            values[0] = 7.0


def test_records_of_another_number_type_are_rejected() -> None:
    domain = Domain.of_columns(["a"])
    with pytest.raises(ShapeError, match="float32"):
        Records(domain, np.zeros((1, 1), dtype=np.float32), np.zeros(1), np.zeros(1))
