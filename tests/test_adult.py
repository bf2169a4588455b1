"""The Adult data: loaders on tiny files, OpenML's copy, the real files where they are."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest
import sklearn.datasets

from reference import datasets
from reference.commands.evaluation import Plan, evaluate_splits
from reference.common.errors import (
    CsvRowError,
    DataError,
    EmptyDataError,
    LabelError,
    MissingDataError,
    NotANumberError,
    OutOfBoundsError,
    UnreadableFileError,
    UnseenCategoryError,
)
from reference.datasets import Encoding, load
from reference.datasets.adult import CATEGORIES, FILES, HEADER, LABELS, SEXES, data_folder, read_files
from reference.fairness import evaluate
from reference.mechanisms import no_privacy
from reference.moments import Moments
from reference.readings import Readings
from reference.records import Records
from reference.registry import MECHANISMS

pytestmark = pytest.mark.usefixtures("never_fetch")

ROWS = (
    "39, State-gov, 77516, Bachelors, 13, Never-married, Sales, Husband, White, Male, 2174, 0, 40, England, <=50K",
    "28, Private, 338409, Bachelors, 13, Married-civ-spouse, Sales, Wife, Black, Female, 0, 0, 40, Cuba, >50K",
    "17, ?, 226802, 11th, 7, Never-married, ?, Own-child, Black, Male, 0, 1902, 99, ?, <=50K",
    "90, Local-gov, 336951, Preschool, 1, Widowed, Sales, Unmarried, Other, Female, 99999, 0, 1, Hong, >50K",
)


def with_field(row: str, name: str, value: str) -> str:
    """Return a line with one field replaced."""
    fields = row.split(", ")
    fields[HEADER.index(name)] = value
    return ", ".join(fields)


def write_adult(folder: Path, train: Sequence[str] = ROWS[:2], test: Sequence[str] = ROWS[2:]) -> Path:
    """Write both files as the original ones are written; return the folder for ``CFM_DATA``."""
    (folder / "adult").mkdir(exist_ok=True)
    (folder / "adult" / "adult.data").write_text("".join(f"{row}\n" for row in train) + "\n", encoding="latin-1")
    body = "".join(f"{row}.\n" for row in test)
    (folder / "adult" / "adult.test").write_text(f"|1x3 Cross validator\n{body}\n", encoding="latin-1")
    return folder


def openml_frame(rows: Sequence[str] = ROWS) -> pd.DataFrame:
    """Return rows as OpenML's version 2 gives them: `class`, categorical columns, NaN for what is missing."""
    frame = pd.DataFrame([row.split(", ") for row in rows], columns=HEADER).rename(columns={"income": "class"})
    for name in frame.columns:
        if name in {"age", "fnlwgt", "education-num", "capital-gain", "capital-loss", "hours-per-week"}:
            frame[name] = frame[name].astype("int64")
        else:
            frame[name] = frame[name].where(frame[name] != "?").astype("category")
    return frame


@pytest.fixture
def tiny(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Make ``CFM_DATA`` name a folder with two tiny files."""
    monkeypatch.setenv("CFM_DATA", str(tmp_path))
    return write_adult(tmp_path)


# --- Adult, tiny files ---------------------------------------------------------------------------------------


def test_adult_reads_both_files_in_order(tiny: Path) -> None:
    table = read_files(tiny / "adult").columns
    assert table["age"] == ["39", "28", "17", "90"]
    assert table["income_above_50k"] == [0, 1, 0, 1]
    assert table["male"] == [1, 0, 1, 0]
    assert table["workclass"] == ["State-gov", "Private", "?", "Local-gov"]
    assert table["native-country"] == ["England", "Cuba", "?", "Hong"]
    assert "fnlwgt" not in table


def test_adult_has_the_papers_twelve_unprotected_features(tiny: Path) -> None:
    assert data_folder() == tiny
    records = load("adult")
    assert records.domain.columns == tuple(name for name in HEADER if name not in {"fnlwgt", "sex", "income"})
    assert records.domain.dimension == 12
    assert records.x.shape == (4, 12)


def test_adult_encodes_by_public_bounds_and_ranks(tiny: Path) -> None:
    assert data_folder() == tiny
    records = load("adult", Encoding(norm="unit_box"))
    values = dict(zip(records.domain.columns, records.x.T.tolist(), strict=True))
    assert values["age"] == pytest.approx([22 / 73, 11 / 73, 0, 1], abs=1e-15)
    assert values["education"] == pytest.approx([12 / 15, 12 / 15, 6 / 15, 0], abs=1e-15)
    # in school order, education says what education-num says
    assert values["education"] == pytest.approx(values["education-num"], abs=1e-15)
    assert values["capital-gain"] == pytest.approx([2174 / 99_999, 0, 0, 1], abs=1e-15)
    assert values["native-country"][2] == 1.0


def test_adult_one_hot_has_a_coordinate_per_category(tiny: Path) -> None:
    assert data_folder() == tiny
    records = load("adult", Encoding(norm="unit_box", encoding="one_hot"))
    assert records.domain.dimension == 5 + sum(len(names) for names in CATEGORIES.values())
    column = records.domain.columns.index("native-country=?")
    assert records.x[:, column].tolist() == [0, 0, 1, 0]


def test_adult_keeps_the_group_only_when_asked(tiny: Path) -> None:
    assert data_folder() == tiny
    assert "male" not in load("adult").domain.columns
    kept = load("adult", Encoding(keep_group=True, intercept=True))
    assert kept.domain.columns[-1] == "male"
    assert kept.domain.dimension == 14


@pytest.mark.parametrize("file", FILES)
@pytest.mark.parametrize(
    ("line", "error", "column", "value"),
    [
        ("39, State-gov, 77516", CsvRowError, None, "39,State-gov,77516"),
        (ROWS[0] + ", more", CsvRowError, None, None),
        ("   ", CsvRowError, None, ""),
        (with_field(ROWS[0], "income", "50K"), LabelError, "income", "50K"),
        (with_field(ROWS[0], "income", "<=50K.."), LabelError, "income", "<=50K."),
        (with_field(ROWS[0], "income", ""), LabelError, "income", ""),
        (with_field(ROWS[0], "sex", "male"), UnseenCategoryError, "sex", "male"),
        (with_field(ROWS[0], "sex", "?"), UnseenCategoryError, "sex", "?"),
    ],
)
def test_adult_bad_line_is_reported_with_file_and_line(
    tmp_path: Path, file: str, line: str, error: type[DataError], column: str | None, value: str | None
) -> None:
    write_adult(tmp_path)
    path = tmp_path / "adult" / file
    lines = path.read_text(encoding="latin-1").splitlines()
    # a blank line is passed over, but it counts
    path.write_text("\n".join([*lines[:2], "", line, *lines[2:]]) + "\n", encoding="latin-1")
    with pytest.raises(DataError) as caught:
        read_files(tmp_path / "adult")
    assert caught.type is error
    assert (caught.value.file, caught.value.row, caught.value.column) == (str(path), 4, column)
    assert value is None or caught.value.value == value
    assert f"file {path}, line 4" in str(caught.value)


def test_adult_stray_quotation_mark_does_not_swallow_lines(tmp_path: Path) -> None:
    write_adult(tmp_path, train=[with_field(ROWS[0], "workclass", '"Private'), ROWS[1], "short"])
    with pytest.raises(CsvRowError) as caught:
        read_files(tmp_path / "adult")
    assert (caught.value.row, caught.value.value) == (3, "short")


@pytest.mark.parametrize(
    ("name", "value", "error", "given"),
    [
        ("workclass", "Freelance", UnseenCategoryError, "Freelance"),
        ("education", "?", UnseenCategoryError, "?"),
        ("age", "old", NotANumberError, "old"),
        ("age", "?", NotANumberError, "?"),
        ("age", "91", OutOfBoundsError, 91.0),
        ("age", "16", OutOfBoundsError, 16.0),
        ("hours-per-week", "0", OutOfBoundsError, 0.0),
        ("capital-loss", "-1", OutOfBoundsError, -1.0),
    ],
)
def test_adult_undeclared_value_is_reported_with_row_and_column(
    tiny: Path, name: str, value: str, error: type[DataError], given: object
) -> None:
    write_adult(tiny, test=[ROWS[2], with_field(ROWS[3], name, value)])
    with pytest.raises(DataError) as caught:
        load("adult")
    assert caught.type is error
    # rows count from 0 over both files
    assert (caught.value.row, caught.value.column, caught.value.value) == (3, name, given)


def test_adult_file_that_is_not_ascii_is_unreadable(tiny: Path) -> None:
    write_adult(tiny, test=[with_field(ROWS[2], "workclass", "Privé")])
    with pytest.raises(UnreadableFileError, match="ascii") as caught:
        load("adult")
    assert caught.value.file == str(tiny / "adult" / "adult.test")


def test_adult_without_records_is_empty_data(tiny: Path) -> None:
    write_adult(tiny, train=[], test=[])
    with pytest.raises(EmptyDataError):
        load("adult")


@pytest.mark.parametrize("present", [(), FILES[:1], FILES[1:]])
def test_adult_missing_file_says_where_and_how_to_get_it(tiny: Path, present: tuple[str, ...]) -> None:
    for name in set(FILES) - set(present):
        (tiny / "adult" / name).unlink()
    with pytest.raises(MissingDataError) as caught:
        load("adult")
    message = str(caught.value)
    for hint in (str(tiny / "adult"), *FILES, "UCI", "Download", "CFM_DATA", "OpenML", "ConnectionError"):
        assert hint in message
    assert isinstance(caught.value.__cause__, ConnectionError)


def test_adult_folder_is_resolved_against_the_working_directory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_adult(tmp_path)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("CFM_DATA", ".")
    assert len(load("adult")) == 4
    monkeypatch.delenv("CFM_DATA")
    assert data_folder() == tmp_path / ".." / "shared" / "data"


# --- Adult, OpenML's copy ------------------------------------------------------------------------------------


def offer(monkeypatch: pytest.MonkeyPatch, folder: Path, frame: pd.DataFrame) -> list[dict[str, Any]]:
    """Let OpenML have `frame` and the folder have nothing; return the calls that are made."""
    calls: list[dict[str, Any]] = []

    def fetch(name: str, **options: Any) -> SimpleNamespace:
        calls.append({"name": name, **options})
        return SimpleNamespace(frame=frame)

    monkeypatch.setattr(sklearn.datasets, "fetch_openml", fetch)
    monkeypatch.setenv("CFM_DATA", str(folder / "nothing"))
    return calls


def test_adult_from_openml_is_the_same_table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CFM_DATA", str(write_adult(tmp_path)))
    from_files = load("adult")
    calls = offer(monkeypatch, tmp_path, openml_frame())
    fetched = load("adult")
    assert (calls[0]["name"], calls[0]["version"]) == ("adult", 2)
    assert fetched.domain == from_files.domain
    assert np.array_equal(fetched.x, from_files.x)
    assert np.array_equal(fetched.y, from_files.y)
    assert fetched.z is not None
    assert from_files.z is not None
    assert np.array_equal(fetched.z, from_files.z)


@pytest.mark.parametrize(
    "frame",
    [
        openml_frame().drop(columns="race"),
        openml_frame().rename(columns={"class": "income"}),
        openml_frame([with_field(ROWS[0], "income", "<=50K.")]),
        openml_frame([with_field(ROWS[0], "sex", "?")]),
    ],
    ids=["no race", "no class", "label with a dot", "sex missing"],
)
def test_adult_from_openml_of_another_shape_is_unreadable(
    frame: pd.DataFrame, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    offer(monkeypatch, tmp_path, frame)
    with pytest.raises(UnreadableFileError, match="OpenML"):
        load("adult")


def test_adult_files_are_preferred_to_the_network(tiny: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    calls = offer(monkeypatch, tiny, openml_frame())
    monkeypatch.setenv("CFM_DATA", str(tiny))
    assert len(load("adult")) == 4
    assert calls == []


# --- Adult, real ---------------------------------------------------------------------------------------------

# The categories in the order of adult.names, written down apart from reference/; "?" stands last.
RANKED = {
    "workclass": "Private, Self-emp-not-inc, Self-emp-inc, Federal-gov, Local-gov, State-gov, Without-pay, "
    "Never-worked, ?",
    "marital-status": "Married-civ-spouse, Divorced, Never-married, Separated, Widowed, Married-spouse-absent, "
    "Married-AF-spouse",
    "occupation": "Tech-support, Craft-repair, Other-service, Sales, Exec-managerial, Prof-specialty, "
    "Handlers-cleaners, Machine-op-inspct, Adm-clerical, Farming-fishing, Transport-moving, Priv-house-serv, "
    "Protective-serv, Armed-Forces, ?",
    "relationship": "Wife, Own-child, Husband, Not-in-family, Other-relative, Unmarried",
    "race": "White, Asian-Pac-Islander, Amer-Indian-Eskimo, Other, Black",
    "native-country": "United-States, Cambodia, England, Puerto-Rico, Canada, Germany, "
    "Outlying-US(Guam-USVI-etc), India, Japan, Greece, South, China, Cuba, Iran, Honduras, Philippines, Italy, "
    "Poland, Jamaica, Vietnam, Mexico, Portugal, Ireland, France, Dominican-Republic, Laos, Ecuador, Taiwan, "
    "Haiti, Columbia, Hungary, Guatemala, Nicaragua, Scotland, Thailand, Yugoslavia, El-Salvador, "
    "Trinadad&Tobago, Peru, Hong, Holand-Netherlands, ?",
}


def adult_by_pandas() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Read and encode the raw files without a line of reference/."""
    parts = [
        pd.read_csv(
            data_folder() / "adult" / name, names=list(HEADER), skipinitialspace=True, skiprows=skip, dtype=str
        )
        for name, skip in (("adult.data", 0), ("adult.test", 1))
    ]
    frame = pd.concat(parts, ignore_index=True)
    number = {name: frame[name].astype(float).to_numpy() for name in frame if frame[name].str.isdigit().all()}
    rank = {
        name: frame[name].map({text: i for i, text in enumerate(order.split(", "))}).to_numpy(float)
        / (len(order.split(", ")) - 1)
        for name, order in RANKED.items()
    }
    x = np.column_stack(
        [
            (number["age"] - 17) / 73,
            rank["workclass"],
            # in school order, education is education-num in words
            (number["education-num"] - 1) / 15,
            (number["education-num"] - 1) / 15,
            rank["marital-status"],
            rank["occupation"],
            rank["relationship"],
            rank["race"],
            number["capital-gain"] / 99_999,
            number["capital-loss"] / 5_000,
            (number["hours-per-week"] - 1) / 98,
            rank["native-country"],
        ]
    )
    y = frame["income"].str.startswith(">50K").to_numpy(float)
    z = (frame["sex"] == "Male").to_numpy(float)
    return x / np.sqrt(12), y, z


@pytest.mark.data
def test_adult_has_the_documented_counts(adult: Records) -> None:
    assert len(adult) == 48_842
    assert adult.y.sum() == 11_687
    assert adult.z is not None
    assert adult.z.sum() == 32_650
    assert adult.domain.dimension == 12


@pytest.mark.data
def test_adult_encoding_equals_an_independent_one(adult: Records) -> None:
    x, y, z = adult_by_pandas()
    assert adult.x == pytest.approx(x, abs=1e-15)
    assert np.array_equal(adult.y, y)
    assert adult.z is not None
    assert np.array_equal(adult.z, z)


@pytest.mark.data
def test_adult_no_privacy_metrics_equal_an_independent_route(adult: Records) -> None:
    x, y, z = adult_by_pandas()
    # sum (1/2 - y) x.w + (x.w)^2 / 8 is, up to a constant, sum (x.w - 4 (y - 1/2))^2 / 8: least squares
    w, *_ = np.linalg.lstsq(x, 4 * (y - 0.5))
    predicted = x @ w > 0
    # education stands twice, so that w is not unique and only the predictions can be compared
    release = no_privacy(Moments.of(adult))
    assert release.w is not None
    metrics = evaluate(release.w, adult)
    assert x @ w == pytest.approx(adult.x @ np.array(release.w), abs=1e-6)
    assert metrics.accuracy == pytest.approx(np.mean(predicted == (y == 1)), abs=1e-9)
    gap = abs(predicted[z == 1].mean() - predicted[z == 0].mean())
    assert metrics.risk_difference == pytest.approx(gap, abs=1e-9)
    # a predictor worth the name: neither constant nor equal to the majority
    assert metrics.gain_over_majority > 0.02
    assert gap > 0.02


@pytest.mark.data
def test_adult_no_privacy_evaluation_equals_the_independent_route(adult: Records) -> None:
    x, y, z = adult_by_pandas()
    w, *_ = np.linalg.lstsq(x, 4 * (y - 0.5))
    predicted = x @ w > 0
    summary = evaluate_splits(
        Plan(spec=MECHANISMS["no_privacy"], budget=None, readings=Readings(), test_share=0.0), adult
    )
    assert summary.summary("accuracy")["mean"] == pytest.approx(np.mean(predicted == (y == 1)), abs=1e-9)
    gap = abs(predicted[z == 1].mean() - predicted[z == 0].mean())
    assert summary.summary("risk_difference")["mean"] == pytest.approx(gap, abs=1e-9)


# --- All of them ---------------------------------------------------------------------------------------------


def test_adult_categories_are_those_of_the_documentation() -> None:
    ranked = {name: tuple(order.split(", ")) for name, order in RANKED.items()}
    assert {name: names for name, names in CATEGORIES.items() if name != "education"} == ranked
    assert len(CATEGORIES["education"]) == 16
    assert not any(re.search(r"\s|,", category) for names in CATEGORIES.values() for category in names)
    assert (LABELS, SEXES) == ({"<=50K": 0, ">50K": 1}, {"Female": 0, "Male": 1})


@pytest.mark.parametrize(
    ("old", "new", "column"), [("39,", "x39,", "age"), ("39,", "139,", "age"), ("Private", "Pirate", "workclass")]
)
def test_adult_bad_value_is_reported_with_file_and_line(tiny, monkeypatch, old, new, column) -> None:
    path = tiny / "adult" / "adult.data"
    lines = path.read_text(encoding="ascii").splitlines(keepends=True)
    line = next(number for number, text in enumerate(lines, start=1) if old in text)
    lines[line - 1] = lines[line - 1].replace(old, new, 1)
    path.write_text("".join(lines), encoding="ascii")
    monkeypatch.setenv("CFM_DATA", str(tiny))
    with pytest.raises(DataError) as caught:
        datasets.load("adult")
    assert (caught.value.file, caught.value.row, caught.value.column) == (str(path), line, column)
