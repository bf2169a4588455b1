"""Inputs whose difference is easy to lose: units, attributes, digits, parts that share parts; and tables."""

from __future__ import annotations

import json
import time
from collections import namedtuple
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy.sparse import csr_matrix

from audit.auditor.subject import SubjectError
from audit.common.keys import Level, key_of, proof_of, proofs_of
from audit.epsilon_estimate import main
from audit.evidence.certificate import Certificate
from audit.gate.requests import verify_command
from audit.subjects.adjacency import INCOMPARABLE, OF_ATTRIBUTES, OF_FORM, require_neighbours
from audit.subjects.stated import as_json
from reference.common.documents import plain

HERE = "audit.gate.subjects.test_told_apart"


def said(left: Any, right: Any, relation: str = "replace_one") -> str | None:
    """Return what is said of two inputs: `refused`, a note, or nothing."""
    try:
        return require_neighbours(left, right, relation)
    except SubjectError as problem:
        return "refused" if "not neighbours under" in str(problem) else str(problem)


# --- Times ----------------------------------------------------------------------------------------------------

NS, PS = np.array([1, 2, 3], "M8[ns]"), np.array([1, 2, 3], "M8[ps]")


@pytest.mark.parametrize(
    ("left", "right"),
    [
        (NS, PS),
        (list(NS), list(PS)),
        (np.array([1, 2, 3], "m8[Y]"), np.array([1, 2, 3], "m8[M]")),
        (np.array([1, 2, 3], "M8[10ns]"), NS),
        (np.array([(1,), (2,)], [("at", "M8[ns]")]), np.array([(1,), (2,)], [("at", "M8[ps]")])),
        (
            np.array([(1, 0), (2, 0)], [("at", "m8[s]"), ("x", int)]),
            np.array([(1, 0), (2, 0)], [("at", "m8[D]"), ("x", int)]),
        ),
    ],
)
def test_times_of_other_units_are_other_times(left, right):
    assert said(left, right) == "refused"
    # the null control
    assert said(left, left.copy()) is None


@pytest.mark.parametrize(("coarse", "fine"), [("s", "ns"), ("D", "s"), ("M", "D"), ("Y", "M"), ("W", "h")])
def test_equal_times_of_two_units_are_not_refused(coarse, fine):
    ours = np.array(["1969-01-01", "2000-03-01", "NaT", "2024-02-29"], "M8[D]").astype(f"M8[{coarse}]")
    others = ours.astype(f"M8[{fine}]")
    others[1] = np.datetime64("2030-01-01", "D")
    # a mechanism that takes their numbers tells them apart
    assert said(ours, others) == OF_FORM
    others[3] += 1
    assert said(ours, others) == "refused"


def test_times_that_numpy_cannot_compare_are_other_times():
    assert said(np.array([1, 2], "m8[M]"), np.array([30, 60], "m8[D]")) == "refused"
    moment = np.array(["2000-01-01"], "M8[D]")
    before = key_of(moment)
    assert before == key_of(moment.astype("M8[s]"))
    moment += 1
    assert before != key_of(moment)
    assert key_of(np.array([1], "M8[s]")) != key_of(np.array([1], "m8[s]"))


# --- Attributes of an input -----------------------------------------------------------------------------------


class Measured(np.ndarray):
    unit: str


class Kept(list[float]):
    among: str


First, Second = namedtuple("First", "x y"), namedtuple("Second", "y x")


def measured(values: list[float], unit: str) -> Any:
    made = np.array(values).view(Measured)
    made.unit = unit
    return made


def kept(values: list[float], among: str) -> Any:
    made = Kept(values)
    made.among = among
    return made


@pytest.mark.parametrize("make", [measured, kept, lambda values, unit: (measured(values, unit), np.zeros(2))])
def test_attributes_of_inputs_are_compared(make):
    assert said(make([1.0, 2.0], "m"), make([1.0, 3.0], "km")) == OF_ATTRIBUTES
    # the null controls
    assert said(make([1.0, 2.0], "m"), make([1.0, 3.0], "m")) is None
    assert said(make([1.0, 2.0], "m"), make([4.0, 3.0], "m")) == "refused"


def test_classes_of_inputs_are_compared_where_they_say_something():
    left, right = (np.zeros(2), np.zeros(2)), (np.zeros(2), np.array([0.0, 1.0]))
    assert said(First(*left), Second(*right)) == OF_ATTRIBUTES
    assert said(First(*left), First(*right)) is None
    assert said([1.0, 2.0], (1.0, 3.0)) is None
    masked = [np.ma.array([1.0, 2.0, 3.0], mask=[0, place == 1, 0], fill_value=9) for place in (0, 1)]
    assert said(*masked) is None
    masked[1].fill_value = 8
    assert said(*masked) == OF_ATTRIBUTES


# --- Digits ---------------------------------------------------------------------------------------------------

FAR = 2**53


@pytest.mark.parametrize(
    "make",
    [
        lambda at: pd.DataFrame({"id": [FAR + at], "x": [0.5]}),
        lambda at: pd.Series(pd.array([FAR + at, None], "Int64")),
        lambda at: pd.Series([FAR + at, None], dtype="int64[pyarrow]"),
        lambda at: pd.Series([1.0], index=pd.MultiIndex.from_tuples([(1, at)])),
        lambda at: np.array([1, 2], np.longdouble) / 3 + np.longdouble(2.0**-60) * at,
        lambda at: np.array([np.clongdouble(1j) / 3 + np.longdouble(2.0**-60) * at]),
        lambda at: 10**400 + at,
        lambda at: 10**5000 + at,
    ],
)
def test_no_digits_are_lost(make):
    assert said([make(0)] * 2, [make(1)] * 2) == "refused"
    assert said([make(0)] * 2, [make(0), make(1)]) is None
    assert said([make(0), make(0)], [make(0), make(0)]) is None


def test_categories_and_attributes_of_columns_are_parts_of_a_record():
    def column(categories, **attributes):
        made = pd.Series(pd.Categorical(["a"], categories=list(categories)))
        made.attrs.update(attributes)
        return made

    assert said([column("ab")] * 3, [column("ac")] * 3) == OF_FORM
    assert said([column("ab")] * 3, [column("ab", weight=3)] * 3) == "refused"
    assert said([column("ab")] * 3, [column("ab"), column("ab"), column("ac")]) is None


def test_whole_numbers_that_are_floats_are_equal_to_these():
    stamps = np.array([[1_700_000_000 * 10**9, 1], [1_700_000_001 * 10**9, 2], [1_700_000_002 * 10**9, 2]])
    others = stamps.astype(float)
    others[2, 1] = 2.5
    assert said(stamps, others) is None
    others[1, 0] = np.nextafter(others[1, 0], 0)
    assert said(stamps, others) == "refused"
    for largest in (np.array([2**63 - 1]), np.array([2**64 - 1], np.uint64), np.array([-(2**63)])):
        exact = float(largest[0]) == int(largest[0])
        assert (key_of(largest) == key_of(largest.astype(float))) is exact
    assert key_of(2**70) == key_of(2.0**70) != key_of(2**70 + 1)


def test_signs_of_nan_are_form():
    ours, others = np.array([np.nan, np.nan, 1.0]), -np.array([np.nan, np.nan, 1.0])
    others[2] = 2.0
    assert said(ours, others) == OF_FORM
    assert said(ours.tolist(), others.tolist()) == OF_FORM
    assert said(ours, np.array([np.nan, 5.0, 1.0])) is None
    assert said(ours, np.array([5.0, np.nan, 2.0])) == "refused"


def test_stored_zeros_are_form():
    rows = [csr_matrix([[1.0, 0.0]]) for _ in "abc"]
    stored = [csr_matrix(([1.0, 0.0], ([0, 0], [0, 1])), shape=(1, 2)) for _ in "abc"]
    assert said(rows, stored) == OF_FORM
    assert said(rows, [csr_matrix([[1.0, 2.0]]) for _ in "abc"]) == "refused"


# --- Parts that share parts -----------------------------------------------------------------------------------


def tangled(leaf: Any, levels: int = 40) -> Any:
    made = {"at": leaf}
    for _ in range(levels):
        made = {"left": made, "right": made}
    return made


def test_parts_that_share_parts_come_to_an_end():
    start = time.perf_counter()
    assert said([tangled(1), tangled(2)], [tangled(1), tangled(3)]) == INCOMPARABLE
    assert key_of([tangled(1)]) == key_of([tangled(1)])
    assert len(json.dumps(as_json([tangled(1)]))) < 10**6
    as_lists = [1]
    for _ in range(40):
        as_lists = [as_lists, as_lists]
    assert said([as_lists] * 3, [as_lists] * 3) is None
    assert time.perf_counter() - start < 60
    # the null controls: a few shared parts, and many that have no parts
    assert said([tangled(1, 4)] * 2, [tangled(1, 4), tangled(2, 4)]) is None
    pair = ("a", 1)
    assert said([{"at": [pair] * 10_000}] * 2, [{"at": [pair] * 10_000}, {"at": []}]) is None
    assert said([{"at": [tangled(k, 2) for k in range(500)]}] * 2, [{"at": []}] * 2) == "refused"


def test_flat_parts_are_shown_however_often_they_are_met():
    row = [1.0, 2.0]
    ours, others = {"x": [row] * 5_000}, {"x": [row] * 4_999 + [[1.0, 9.0]]}
    assert as_json(ours) == ours
    assert as_json(others) == others


def test_texts_that_read_alike_are_shown_apart():
    half = "\ud800"
    assert as_json([half]) != as_json([ascii(half)]) == [ascii(half)]


@pytest.mark.parametrize("level", [Level.VALUES, Level.ROWS, Level.KINDS])
@pytest.mark.parametrize(
    "rows",
    [
        np.array([[0.0, -0.0], [np.nan, -np.nan], [1.5, np.inf]]),
        np.array([1.5, -0.0, np.nan], np.float32),
        np.array([[FAR, 1], [FAR + 1, 2], [3, 4]]),
        np.array([2**64 - 1, 0], np.uint64),
        np.array([True, False]),
        np.array([1, "NaT"], "M8[ns]"),
        np.array([[1, 2], [3, 4]], ">m8[3h]"),
        np.arange(3_000.0).reshape(2, -1),
        np.arange(4.0).reshape(2, 2)[:, ::-1],
        np.zeros((3, 0)),
        np.zeros((0, 3)),
        np.array([1, 2], np.longdouble) / 3,
        np.array([1, "a"], object),
    ],
)
def test_keys_of_all_rows_are_those_of_each(rows, level):
    assert repr(proofs_of(rows, level)) == repr([proof_of(row, level) for row in rows])


# --- Records and tables ---------------------------------------------------------------------------------------


def test_dictionaries_in_a_list_are_records():
    many = [{"at": [float(k)] * 128} for k in range(100)]
    assert said(many, [*many[:99], {"at": [0.0] * 128}]) is None
    assert said(many, [*many[:98], *[{"at": [0.0] * 128}] * 2]) == "refused"
    two = [{"name": "a", "at": {"x": [1, 2], "y": [3, 4]}}, {"name": "b", "at": {"x": [5, 6], "y": [7, 8]}}]
    assert said(two, [two[0], {"name": "c", "at": {}}]) is None
    assert said(two, two[:1], "add_or_remove_one") is None
    # one alone is a table with names
    with pytest.raises(SubjectError, match="pass an array, a tuple of arrays or a list of records"):
        require_neighbours([{"x": [1, 2], "y": [3, 4]}], [{"x": [5, 6], "y": [7, 8]}], "replace_one")


def test_arrays_without_rows_are_records():
    assert said((np.array(1.0), np.array(2.0)), (np.array(1.0), np.array(3.0))) is None
    assert said((np.array(1.0), np.array(2.0)), (np.array(5.0), np.array(3.0))) == "refused"


TABLE = pd.DataFrame({"id": [1, 2, FAR + 1], "x": [0.5, np.nan, 2.5], "name": ["a", None, "c"]})


def replaced(place: int, name: str, value: Any) -> Any:
    made = TABLE.copy()
    made.loc[place, name] = value
    return made


def test_rows_of_a_table_are_its_records():
    assert said(TABLE, TABLE.copy()) is None
    assert said(TABLE, replaced(2, "x", 9.5)) is None
    assert said(TABLE, replaced(2, "name", "d")) is None
    assert said(TABLE, replaced(2, "id", FAR + 2)) is None
    # one other number makes all of them floats
    assert said(TABLE[:2], TABLE[:2].assign(id=[1.5, 2.0])) is None
    assert said(TABLE, replaced(0, "x", 9.5).assign(name=["a", None, "d"])) == "refused"
    assert said(TABLE, TABLE.assign(id=[1, 3, FAR + 2])) == "refused"
    assert said(TABLE, TABLE[:2], "add_or_remove_one") is None
    assert said(TABLE, TABLE.drop(1), "add_or_remove_one") is None
    assert said(TABLE, TABLE[1:].reset_index(drop=True), "add_or_remove_one") is None
    assert said(TABLE, TABLE[:1], "add_or_remove_one") == "refused"


def test_labels_and_types_of_a_table_are_form():
    assert said(TABLE, TABLE.set_axis([5, 6, 7])) == OF_FORM
    assert said(TABLE.set_axis([5, 6, 7]), TABLE.set_axis([5, 6, 8])) is None
    assert said(TABLE, TABLE.astype({"name": object})) == OF_ATTRIBUTES
    kinds = [TABLE.assign(name=pd.Categorical(["a", "b", "a"], categories=list(one))) for one in ("ab", "abc")]
    assert said(*kinds) == OF_ATTRIBUTES
    assert said(kinds[0], kinds[0].copy()) is None


def with_own(table: Any, value: Any) -> Any:
    object.__setattr__(table, "unit", value)
    return table


DAYS = ["2024-01-01", "2024-01-02"]
BESIDES: dict[str, Callable[[Any, Any], Any]] = {
    "attributes": lambda table, value: table.attrs.update(unit=value) or table,
    "flags": lambda table, value: table.set_flags(allows_duplicate_labels=value == "m"),
    "own": with_own,
    "columns": lambda table, value: table.set_axis([value], axis=1),
    "name of columns": lambda table, value: table.rename_axis(columns=value),
    "type of columns": lambda table, value: table.set_axis(pd.CategoricalIndex(["a"], ["a", value]), axis=1),
    "name of index": lambda table, value: table.rename_axis(value),
    "names of index": lambda table, value: table.set_axis(
        pd.MultiIndex.from_arrays([[1, 2]] * 2, names=[0, value])
    ),
    "type of index": lambda table, value: table.set_axis(pd.CategoricalIndex(["x", "y"], ["x", "y", value])),
    "type of labels": lambda table, value: table.set_axis(pd.Index([1, 2], dtype=int if value == "m" else float)),
    "frequency": lambda table, value: table.set_axis(
        pd.date_range(DAYS[0], periods=2) if value == "m" else pd.DatetimeIndex(DAYS)
    ),
    "name": lambda table, value: table["a"].rename(value),
    "categories": lambda _, value: pd.Series(pd.Categorical([0.0], [0.0, 1.0 + 1e-12 * (value == "m")])),
    "empty": lambda table, value: table[:0].rename(columns={"a": value}),
    "one row": lambda table, value: table[:1].rename(columns={"a": value}),
}


@pytest.mark.parametrize("name", BESIDES)
def test_what_a_table_has_besides_its_rows_is_compared(name):
    ours, same, others = (BESIDES[name](pd.DataFrame({"a": [1, 2]}), value) for value in ("m", "m", "km"))
    assert said(ours, others) == OF_ATTRIBUTES
    # the null control
    assert said(ours, same) is None


@pytest.mark.parametrize("dtype", ["Int64", "int64[pyarrow]"])
def test_no_digits_of_labels_and_nullable_cells_are_lost(dtype):
    def numbered(at, *values):
        index = pd.Index(pd.array([FAR + at, None, FAR + 7], dtype))
        return pd.DataFrame({"a": pd.array([FAR + at, *values], dtype)}, index=index)

    assert said(numbered(0, 1, 0), numbered(0, 1, None)) is None
    assert said(numbered(0, 1, 0), numbered(0, None, None)) == "refused"
    ours, others = numbered(0, 5, 6), numbered(1, 5, 6)
    assert said(ours, others) is None
    assert said(ours, others.assign(a=ours["a"].to_list()[::-1])) == "refused"
    assert said(ours, ours.set_axis(others.index).assign(a=pd.array([FAR, 9, 6], dtype))) == OF_FORM
    assert key_of(numbered(0, 1, 0)) != key_of(numbered(0, 1, None))


def test_values_of_a_column_are_its_records():
    column = pd.Series([1.0, 2.0, 3.0])
    assert said(column, pd.Series([1.0, 2.0, 4.0])) is None
    assert said(column, pd.Series([1.0, 5.0, 4.0])) == "refused"
    assert said(column, pd.Series([1, 2, 3], dtype="Int64")) == OF_ATTRIBUTES
    assert as_json(column) == [1.0, 2.0, 3.0]
    labelled = column.set_axis(["columns", "name", "iloc"])
    assert said(labelled, labelled.copy()) is None
    assert key_of(labelled) == key_of(column)
    for array in (pd.array([1, None], "Int64"), pd.Categorical(["a", None]), pd.array([0.5]), pd.array(["a"])):
        assert key_of(array) == key_of(array.copy()) != key_of(array[:0])


def test_tables_of_polars_are_no_records():
    """Their lists lose digits of times."""
    for made in (pl.Series([1, 2]), pl.DataFrame({"a": [1, 2]})):
        assert "give a function instead: adjacency=f" in str(said(made, made.clone()))


class Own(pd.DataFrame):
    @property
    def _constructor(self):
        return Own


def test_tables_of_classes_of_the_users_own_are_not_called_equal():
    assert said(Own(TABLE), Own(TABLE)) == OF_ATTRIBUTES


# --- Certificates ---------------------------------------------------------------------------------------------


class Word(str):
    def __str__(self):
        return "another word"


class Count(int):
    pass


class Measure(float):
    pass


def deep(leaf: Any) -> Any:
    made = [leaf]
    for _ in range(80):
        made = [made]
    return made


class OfPair:
    adjacency, claimed_epsilon = "replace_one", 1
    last: Any = (0, 1)

    def inputs(self):
        return [self.last[0], self.last[0]], [self.last[0], self.last[1]]

    def sample(self, data, count, rng):
        return float(bool(data[1] == self.last[0])) + rng.laplace(size=(count, 1)) * 0.4


AWKWARD = {
    "words": (Word("a"), Word("b")),
    "counts": (Count(1), Count(2)),
    "measures": (Measure(1.0), Measure(2.0)),
    "long": (np.longdouble(1) / 3, np.longdouble(2) / 3),
    "large": (10**400, 10**400 + 1),
    "larger": (10**5000, 10**5000 + 1),
    "half": ("\ud800", "\ud800b"),
    "name": ({"\ud800": 1}, {"\ud800": 2}),
    "deep": (deep(1), deep(2)),
}
WORDS, COUNTS, MEASURES, LONG, LARGE, LARGER, HALF, NAME, DEEP = (
    type("Of", (OfPair,), {"last": pair}) for pair in AWKWARD.values()
)


@pytest.mark.parametrize("name", AWKWARD)
def test_certificates_can_be_read_whatever_the_inputs_are(name, tmp_path, capsys):
    out = tmp_path / "certificate.json"
    assert main([f"{HERE}:{name.upper()}", "--draws", "3000", "--seed", "1", "--out", str(out)]) == 1
    assert Certificate.read(out).verdict == "refuted"
    assert verify_command([str(out), "--replay"]) == 0
    assert "replay: holds" in capsys.readouterr().out


def test_texts_of_a_class_of_its_own_are_shown_as_they_are():
    assert as_json([Word("a"), Count(3), Measure(0.5), True]) == ["a", 3, 0.5, True]
    assert plain({"at": Word("a")}) == {"at": "a"}
    assert as_json(np.array([0.5, 1.0]).astype(np.longdouble)) == [0.5, 1.0]
    assert proof_of(np.longdouble(0.5), Level.VALUES) == proof_of(0.5, Level.VALUES)


class OfCounted(OfPair):
    """Counts how often its pairs are compared."""

    compared = 0

    def candidates(self):
        return [([0, place], [0, place + 1]) for place in range(3)]

    def adjacency(self, left, right):
        type(self).compared += 1
        return len(left) == len(right)

    def sample(self, data, count, rng):
        return data[1] + rng.laplace(size=(count, 1))


def test_listed_pairs_are_compared_once():
    OfCounted.compared = 0
    assert main([f"{HERE}:OfCounted", "--draws", "10000", "--seed", "1", "--search", "--epsilon", "2"]) == 0
    assert OfCounted.compared == 3
