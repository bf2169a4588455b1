"""Arrays and data frames of every kind: the same release, no copy of the whole, and errors with their place."""

from __future__ import annotations

import datetime
import tracemalloc
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars
import pyarrow
import pytest
import scipy.sparse
from hypothesis import given, settings
from hypothesis import strategies as st

from reference.accounting.release_ledger import ReleaseLedger
from reference.budgets import LargeEpsilonWarning
from reference.classifier import NoPrivacyClassifier, PDFCClassifier
from reference.common.errors import (
    DataError,
    DataHolderWarning,
    InputError,
    NotANumberError,
    OutOfBoundsError,
    ParameterError,
)
from reference.datasets.from_arrays import Arrays
from reference.domain import Domain
from reference.domain.attributes import Binned, Numeric, OneHot, Ordinal
from reference.domain.declaration import one_column
from reference.domain.markers import numbers_of, remedy
from reference.domain.values import Coded, codes_of
from reference.fairness import predict
from reference.moments import Moments
from reference.records import BLOCK_ROWS, encode_table

N = BLOCK_ROWS * 2 + 17
RANDOM = np.random.default_rng(0)
X = RANDOM.integers(0, 256, (N, 3)) / 256
Y, Z = (X[:, 0] > X[:, 1]).astype(np.int64), RANDOM.integers(0, 2, N)
NAMES = ("a", "b", "c")


def w_of(x: Any, y: Any = Y, z: Any = Z, **options: Any) -> tuple[float, ...]:
    settings = {"epsilon": 1, "bounds": (0, 1), "random_state": 0, **options}
    fitted = PDFCClassifier(**settings).fit(x, y, sensitive_features=z)
    assert fitted.release_.w is not None
    return fitted.release_.w


EXPECTED = w_of(X)

KINDS = {
    "Fortran order": np.asfortranarray(X),
    "float32": X.astype(np.float32),
    "float16": X.astype(np.float16),
    "every second row of more": np.repeat(X, 2, axis=0)[::2],
    "objects": X.astype(object),
    "rows of lists": X.tolist(),
    "pandas": pd.DataFrame(X, columns=NAMES),
    "pandas of float32": pd.DataFrame(X.astype(np.float32), columns=NAMES),
    "pandas with an index of its own": pd.DataFrame(X, columns=NAMES, index=np.arange(N)[::-1]),
    "pandas with nullable columns": pd.DataFrame(X, columns=NAMES).convert_dtypes(),
    "pyarrow": pyarrow.table(dict(zip(NAMES, X.T, strict=True))),
    "pyarrow in chunks": pyarrow.concat_tables(
        [pyarrow.table(dict(zip(NAMES, x.T, strict=True))) for x in (X[:9], X[9:])]
    ),
}


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_table_gives_the_same_release(kind: str) -> None:
    assert w_of(KINDS[kind]) == EXPECTED


COLUMN = {
    "a frame": pd.DataFrame({"group": Z}),
    "an array": Z[:, None],
    "polars": polars.DataFrame({"group": Z}),
    "pyarrow": pyarrow.table({"group": Z}),
}


@pytest.mark.parametrize("kind", COLUMN)
def test_a_table_of_one_column_is_a_group(kind: str) -> None:
    assert w_of(X, z=COLUMN[kind]) == EXPECTED
    assert np.asarray(one_column("sensitive_features", COLUMN[kind])).tolist() == Z.tolist()


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"x": polars.LazyFrame(dict(zip(NAMES, X.T, strict=True)))}, "X must be loaded, .* give X.collect"),
        ({"x": dict(zip(NAMES, X.T, strict=True))}, "a table or an array, .* give pandas.DataFrame"),
        ({"z": pd.DataFrame({"a": Z, "b": Z})}, "must be one column, .* not 'a table of 2 columns'"),
        ({"z": Z[None, :]}, "must be one column, .* not 'an array of shape"),
        ({"z": polars.LazyFrame({"a": Z})}, "give sensitive_features.collect"),
    ],
)
def test_tables_that_are_lazy_or_too_wide_are_told_what_to_do(changed: dict[str, Any], said: str) -> None:
    with pytest.raises(ParameterError, match=said):
        w_of(changed.get("x", X), z=changed.get("z", Z))


MARKS: dict[str, tuple[Any, Any]] = {
    "bool": (np.array([False, True]), (False, True)),
    "int8": (np.array([0, 1], np.int8), (0, 1)),
    "uint64": (np.array([3, 2**63], np.uint64), (3, 2**63)),
    "negative": (np.array([-1, 1]), (-1, 1)),
    "float": (np.array([0.1, 0.3]), (0.1, 0.3)),
    "letters": (np.array(["a", "b"]), ("a", "b")),
    "words": (np.array(["no", "yes"]), ("no", "yes")),
    "other scripts": (np.array(["ß", "日本"]), ("ß", "日本")),
    "objects": (np.array(["no", "yes"], dtype=object), ("no", "yes")),
    "big-endian": (np.array(["no", "yes"]).astype(">U3"), ("no", "yes")),
}


@pytest.mark.parametrize("kind", MARKS)
@pytest.mark.parametrize("holder", [np.asarray, pd.Series, list])
def test_every_kind_of_mark_gives_the_same_release(kind: str, holder: Any) -> None:
    values, pair = MARKS[kind]
    options = {"classes": pair, "groups": pair}
    assert w_of(X, holder(values[Y]), holder(values[Z]), **options) == EXPECTED


@pytest.mark.parametrize("kind", ["letters", "negative", "objects"])
def test_observed_classes_give_the_same_release(kind: str) -> None:
    assert w_of(X, MARKS[kind][0][Y], classes="observed") == EXPECTED


@pytest.mark.parametrize("clip", [False, True])
def test_blocks_are_encoded_as_a_table_is(clip: bool) -> None:
    """Own bounds for each column, an intercept and a kept group: bit for bit what the column encoders give."""
    attributes = (Numeric("a", -0.1, 1.3), Numeric("b", 0, 7), Numeric("c", -1e9, 1))
    domain = Domain(attributes, "y", "z", intercept=True, keep_group=True)
    table = {name: X[:, j] for j, name in enumerate(NAMES)} | {"y": Y, "z": Z}
    expected = encode_table(domain, table, clip=clip)
    found = Arrays(domain, X, Y == 1, Z == 1, clip).records()
    assert np.array_equal(found.collect().x, expected.x)
    for exact in (False, True):
        assert (found.moments(exact=exact).sum_xx == Moments.of(expected, exact=exact).sum_xx).all()


def test_categories_of_a_frame_are_read_by_their_codes() -> None:
    domain = Domain((Ordinal("a", ("low", "high")), OneHot("b", (1, 2, 3))), "(label)", "(group)")
    texts, numbers = np.array(["low", "high"])[Y], RANDOM.integers(1, 4, N)
    plain = {"a": texts.astype(object), "b": numbers}
    frames = [
        pd.DataFrame(plain),
        pd.DataFrame(plain).astype({"a": "category", "b": "category"}),
        pd.DataFrame(plain).astype({"a": "string"}),
        pyarrow.table(plain),
    ]
    expected = encode_table(domain, {**plain, "(label)": Y, "(group)": Z})
    for frame in frames:
        found = Arrays(domain, frame, Y == 1, Z == 1).records().collect()
        assert np.array_equal(found.x, expected.x)
    assert codes_of(Coded(["x", "low"], np.array([1, -1, 0])), {"low": 7}).tolist() == [7, -1, -1]


def test_bins_of_numbers_are_no_plain_numbers() -> None:
    domain = Domain((Numeric("a", 0, 1), Binned("b", 0, 1, edges=(0.5,))), "(label)", "(group)")
    x = {"a": X[:, 0], "b": X[:, 1]}
    expected = encode_table(domain, {**x, "(label)": Y, "(group)": Z})
    for features in (X[:, :2], pd.DataFrame(x)):
        assert np.array_equal(Arrays(domain, features, Y == 1, Z == 1).records().collect().x, expected.x)


# (what is wrong, class, row, column)
BAD = [
    ((5000, 1, np.nan), NotANumberError),
    ((0, 0, np.inf), DataError),
    ((N - 1, 2, 1.0 + 2**-50), OutOfBoundsError),
    ((4096, 2, -5e-324), OutOfBoundsError),
    ((4095, 0, -np.inf), DataError),
]


@pytest.mark.parametrize(("planted", "error"), BAD)
@pytest.mark.parametrize("kind", ["array", "Fortran order", "pandas", "pyarrow"])
def test_bad_value_is_named_with_row_and_column(planted: tuple[int, int, float], error: Any, kind: str) -> None:
    row, column, value = planted
    x: Any = X.copy()
    x[row, column] = value
    x = np.asfortranarray(x) if kind == "Fortran order" else x
    x = pd.DataFrame(x, columns=NAMES) if kind == "pandas" else x
    x = pyarrow.table(dict(zip(NAMES, x.T, strict=True))) if kind == "pyarrow" else x
    with pytest.raises(error) as caught:
        w_of(x)
    name = NAMES[column] if kind in ("pandas", "pyarrow") else f"x{column}"
    assert (caught.value.row, caught.value.column) == (row, name)
    assert caught.value.value == value or value != value


@settings(max_examples=200)
@given(st.lists(st.sampled_from([-1.0, -1e-12, -1e-300, 0.0, 1e-300, 1e-12, 0.3, 1.0]), min_size=4, max_size=4))
def test_quick_look_at_the_sides_agrees_with_the_predictions(w: list[float]) -> None:
    domain = Domain([Numeric(name, -1, 3) for name in NAMES], "y", None, intercept=True)
    arrays = Arrays(domain, X * 4 - 1, Y == 1, None)
    positive = np.concatenate([predict(w, block.x) for block in arrays.read()])
    assert arrays.on_one_side(w) in (None, positive.all() or not positive.any())


def test_quick_look_at_the_sides_tells_where_it_can() -> None:
    def seen(x: Any, w: list[float], **options: Any) -> bool | None:
        domain = Domain([Numeric(name, 0, 1) for name in NAMES], "y", None)
        return Arrays(domain, x, Y == 1, None, **options).on_one_side(w)

    assert seen(X + 1e-3, [1, 1, 0]) is seen(X + 1e-3, [-1, -1, 0]) is True
    assert seen(X, [1, -1, 0]) is False
    # one record on the border, no difference between records, numbers that a bound will change, other kinds
    assert seen(X - X.min(), [1, 0, 0]) is seen(X, [0, 0, 0]) is seen(X, [1, -1, 0], clip=True) is None
    assert seen(X.astype(np.float32), [1, -1, 0]) is seen(KINDS["pandas"], [1, -1, 0]) is None


def test_minus_zero_is_zero() -> None:
    x = X.copy()
    x[x == 0] = -0.0
    assert w_of(x) == EXPECTED


def test_nulls_of_all_columns_are_in_one_message() -> None:
    x = pd.DataFrame(X, columns=NAMES)
    x.loc[[3, 8000], "b"] = np.nan
    x.loc[7, "c"] = np.nan
    with pytest.raises(
        NotANumberError, match="what it counts as with `missing`; missing values: b 2, c 1"
    ) as caught:
        w_of(x)
    assert (caught.value.row, caught.value.column) == (3, "b")


@pytest.mark.parametrize("gap", [np.datetime64("NaT"), np.timedelta64("NaT")])
def test_a_missing_date_of_numpy_is_no_number(gap: Any) -> None:
    """numpy makes -2^63 of it, which clipping would turn into the lower bound."""
    for values in ([gap, 2.0], np.array([gap, 2.0], dtype=object)):
        with pytest.raises(NotANumberError) as caught:
            numbers_of("age", values)
        assert caught.value.row == 0
        assert np.isnan(numbers_of("age", values, or_missing=True)[0])


def test_a_missing_category_has_another_remedy_than_a_missing_number() -> None:
    attributes = (Numeric("age", 0, 90), OneHot("job", ("a", "b")))
    said = [remedy(attributes, *cell).partition("; ")[2] for cell in (("age", None), ("age", "NA"), ("age", "x"))]
    assert said == [
        *2 * ["fill it in, or declare what it counts as with `missing`"],
        "correct it, or declare the column's categories",
    ]
    assert remedy(attributes, "job", None) == "; give it a text, and declare that as a category"
    for gap in (None, np.nan, pd.NA):
        assert remedy((OneHot("job", ("a", "")),), "job", gap) == '; fill it in with "", which is declared'
    of_dates = "count days or seconds, or move the column from `attributes` to `ignore`"
    for date in (datetime.date(2024, 1, 5), np.datetime64("2024-01-05"), np.timedelta64(3, "D")):
        assert remedy(attributes, "age", date) == f"; it is a date or a time: {of_dates}"
    for text in ("2024-01-05", "5.1.2024", "2024-01-05T12:30", "12:30:00", "3:10"):
        assert remedy(attributes, "age", text) == f"; if it is a date or a time, {of_dates}"
    # the null control
    for text in ("10.0.0.1", "1:1000", "1/2", "-1-2", "1,5"):
        assert remedy(attributes, "age", text) == "; correct it, or declare the column's categories"
    assert remedy(attributes, "job", "") == '; fill it in, or declare "" as a category'
    assert [remedy(attributes, *cell) for cell in (("job", "c"), ("age", 99.0), ("label", None))] == 3 * [""]


@pytest.mark.parametrize("values", [np.arange(N) % 3, np.array(["a", "b", "c"])[np.arange(N) % 3]])
def test_more_than_two_values_are_named_as_such(values: Any) -> None:
    pair = tuple(np.unique(values).tolist()[:2])
    with pytest.raises(InputError, match="3 distinct values occur where 2 are declared") as caught:
        w_of(X, values, classes=pair)
    assert caught.value.row == 2
    with pytest.raises(InputError, match="3 distinct values occur") as caught:
        w_of(X, Y, values, groups=pair)
    assert caught.value.row == 2


@pytest.mark.filterwarnings("ignore::reference.fairness.ConstantPredictorWarning")
@pytest.mark.filterwarnings("ignore::reference.noise.signal.DrownedSignalWarning")
@pytest.mark.parametrize("kind", ["array", "Fortran order", "pandas", "pyarrow"])
@pytest.mark.parametrize("noise", ["numpy", "hardened"])
def test_no_copy_of_the_whole_is_made(kind: str, noise: str) -> None:
    n, d = 150_000, 20
    x: Any = np.random.default_rng(1).random((n, d))
    size, names = x.nbytes, [f"x{j}" for j in range(d)]
    x = np.asfortranarray(x) if kind == "Fortran order" else x
    x = pd.DataFrame(x, columns=names) if kind == "pandas" else x
    x = pyarrow.table(dict(zip(names, x.T, strict=True))) if kind == "pyarrow" else x
    y, z = np.arange(n) % 2, np.arange(n) // 2 % 2
    made = PDFCClassifier(epsilon=1, bounds=(0, 1), noise=noise, random_state=0 if noise == "numpy" else None)
    made.fit(X, Y, sensitive_features=Z)
    tracemalloc.start()
    made.fit(x, y, sensitive_features=z)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    # marks, and some blocks of 4,096 or 16,384 rows
    assert peak < size / 2


def test_many_columns_are_fitted() -> None:
    x = np.random.default_rng(1).random((2_000, 1_000))
    fitted = NoPrivacyClassifier(bounds=(0, 1)).fit(x, Y[:2_000])
    assert fitted.release_.w is not None
    assert len(fitted.release_.w) == 1_000


# --- What scikit-learn's users look for ------------------------------------------------------------------------


@pytest.mark.parametrize("classes", [(0, 1), (1, 0)])
@pytest.mark.parametrize("intercept", [False, True])
def test_coefficients_are_those_of_the_columns(classes: tuple[int, int], intercept: bool) -> None:
    bounds = [(-1, 3), (0, 1), (-5, 2)]
    fitted = NoPrivacyClassifier(bounds=bounds, classes=classes, intercept=intercept).fit(X, Y)
    decisions = X @ fitted.coef_.T + fitted.intercept_
    assert fitted.coef_.shape == (1, 3)
    assert np.allclose(decisions[:, 0], fitted.decision_function(X), atol=1e-9)


def test_coefficients_are_missing_where_columns_are_no_numbers() -> None:
    domain = Domain((Ordinal("a", ("low", "high")),), "y")
    fitted = NoPrivacyClassifier(domain=domain).fit(np.array(["low", "high"])[Y][:, None], Y)
    assert not hasattr(fitted, "coef_")
    assert not hasattr(fitted, "intercept_")


def test_weights_and_sparse_input_are_refused_by_name() -> None:
    model = NoPrivacyClassifier(bounds=(0, 1))
    with pytest.raises(
        InputError, match="sample_weight must be left out: the sensitivity is that of records of weight"
    ):
        model.fit(X, Y, sample_weight=np.ones(N))
    with pytest.raises(TypeError, match="unexpected keyword argument 'weights'"):
        model.fit(X, Y, weights=1)
    assert model.fit(X, Y, sample_weight=None).release_.w is not None
    for call in (model.fit, model.score):
        with pytest.raises(InputError, match=r"sparse input is not taken, so give X.toarray\(\)"):
            call(scipy.sparse.csr_matrix(X), Y)


NOT_PLAIN = {
    "text": (np.full((9, 2), "1_0", dtype=object), "not a number", "1_0"),
    "digits of another script": (np.full((9, 2), "\uff11\uff10"), "not a number", "\uff11\uff10"),
    "bytes": (np.full((9, 2), b"1"), "not a number", b"1"),
    "uint64": (np.full((9, 2), 2**53 + 1, np.uint64), "a whole number beyond 2", 2**53 + 1),
    "int64": (np.full((9, 2), -(2**53) - 1), "a whole number beyond 2", -(2**53) - 1),
    "date": (
        np.full((9, 2), np.datetime64("1970-01-02", "ns")),
        "not a number",
        np.datetime64("1970-01-02", "ns"),
    ),
    "duration": (np.full((9, 2), np.timedelta64(5, "s")), "not a number", np.timedelta64(5, "s")),
}


@pytest.mark.parametrize("kind", NOT_PLAIN)
@pytest.mark.parametrize("holder", [np.asarray, pd.DataFrame])
def test_what_numpy_would_convert_is_refused_with_its_place(kind: str, holder: Any) -> None:
    values, problem, value = NOT_PLAIN[kind]
    x = values if holder is np.asarray else holder(values, columns=["x0", "x1"])
    with pytest.raises(NotANumberError, match=problem) as caught:
        NoPrivacyClassifier(bounds=(-(10**17), 10**17)).fit(x, np.arange(9) % 2)
    assert (caught.value.row, caught.value.column) == (0, "x0")
    assert caught.value.value == value


def test_whole_numbers_of_an_arrow_table_are_refused_with_their_place() -> None:
    table = pyarrow.table({"a": np.arange(9), "b": np.full(9, 2**53 + 1)})
    with pytest.raises(NotANumberError, match="beyond 2") as caught:
        NoPrivacyClassifier(bounds=(0, 10**17)).fit(table, np.arange(9) % 2)
    assert (caught.value.row, caught.value.column) == (0, "b")


def test_texts_are_numbers_by_the_grammar_of_files() -> None:
    assert w_of(X.astype(str), bounds=("0", "1")) == w_of(pd.DataFrame(X.astype(str).astype(object))) == EXPECTED
    with pytest.raises(InputError, match="bounds"):
        w_of(X, bounds=("0", "1_0"))


@pytest.mark.parametrize("name", ["classes", "groups"])
def test_half_a_character_is_refused_before_anything_is_counted(name: str, tmp_path: Path) -> None:
    ledger = ReleaseLedger(tmp_path / "ledger", data="d", epsilon=10)
    pair = ("x", "\ud800")
    marks = {"y": np.array(pair, dtype=object)[Y]} if name == "classes" else {"z": np.array(pair, dtype=object)[Z]}
    with pytest.raises(InputError, match="half a character"):
        w_of(X, **marks, **{name: pair}, release_ledger=ledger, random_state=None)
    if name == "classes":
        with pytest.raises(InputError, match="half a character"):
            w_of(X, **marks, classes="observed", release_ledger=ledger, random_state=None)
    assert not ledger.releases


@pytest.mark.parametrize("place", range(3))
def test_masked_arrays_are_refused_with_the_remedy(place: int) -> None:
    given: list[Any] = [X, Y, Z]
    given[place] = np.ma.masked_array(given[place], mask=False)
    with pytest.raises(InputError, match=r"must be without a mask: .* \w+\.filled\(\)"):
        w_of(*given)


def test_sparse_columns_are_refused_by_name() -> None:
    frame = pd.DataFrame(X, columns=NAMES).astype({"b": pd.SparseDtype("float")})
    with pytest.raises(InputError, match=r"the columns b are sparse, .*\.sparse\.to_dense\(\)"):
        w_of(frame)


def test_data_of_one_group_warn_their_holder() -> None:
    with pytest.warns(DataHolderWarning, match="all records have the group 1"):
        w_of(X, Y, np.ones(N, dtype=int))
    w_of(X)


def test_large_epsilon_warns() -> None:
    with pytest.warns(LargeEpsilonWarning, match="above 100"):
        assert w_of(X, epsilon=101)
    assert w_of(X, epsilon=100)


@pytest.mark.parametrize(
    "flat", [X[:, 0], X[:, 0].tolist(), pd.Series(X[:, 0]), pyarrow.array(X[:, 0]), ["0.5"] * N, 0.5]
)
def test_a_single_column_is_refused_without_its_values(flat: Any) -> None:
    """scikit-learn's own message prints them; a message may reach a log."""
    fitted = PDFCClassifier(bounds=(0, 1), random_state=0).fit(X, Y, sensitive_features=Z)
    for refused in (lambda: w_of(flat), lambda: fitted.predict(flat)):
        with pytest.raises(ValueError, match="Reshape your data") as caught:
            refused()
        assert not any(f"{value:.4f}"[:6] in str(caught.value) for value in X[:5, 0])
    # null control: a table of one column is a table
    assert w_of(X[:, :1], fairness="none")


@pytest.mark.parametrize("name", ["clip", "intercept", "keep_group"])
def test_a_switch_is_true_or_false(name: str) -> None:
    for odd in ("no", None, 0):
        with pytest.raises(InputError, match=f"{name} must be True or False"):
            w_of(X, **{name: odd})
    assert w_of(X, **{name: np.False_}) == w_of(X)
