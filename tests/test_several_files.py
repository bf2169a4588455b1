"""Several files as one table: the sums of all, and errors that name the one file."""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow
import pytest
from pyarrow import csv as arrow_csv
from pyarrow import feather, parquet

from reference.common.errors import (
    CheckpointError,
    ColumnTypeError,
    DataError,
    EmptyDataError,
    ExtraColumnError,
    MissingColumnError,
    MissingDataError,
    NotANumberError,
    ReadingError,
    UnreadableFileError,
)
from reference.common.exit_codes import EXIT_FINE, EXIT_USAGE
from reference.datasets.checkpoint import CheckpointedSum
from reference.datasets.cluster import Cluster, answer
from reference.datasets.from_file import FileReader, encode_raw, record_blocks
from reference.datasets.opening import open_table
from reference.domain.attributes import Numeric, OneHot
from reference.domain.file import DomainFile
from reference.domain.markers import Marker
from reference.moments import Moments
from tests.file_commands import Run

DECLARED = DomainFile(
    attributes=(Numeric("a", 0, 10), OneHot("school", ("none", "some"))), label=Marker("y"), group=Marker("z")
)
ROWS = 900
CUTS = (0, 200, 200, 500, ROWS)
"""The second file has no record, and the group 1 is in the third alone."""


def held() -> dict[str, Any]:
    random = np.random.default_rng(8)
    return {
        "a": random.random(ROWS) * 10,
        "school": np.array(["none", "some"])[random.integers(0, 2, ROWS)],
        "y": random.integers(0, 2, ROWS),
        "z": (np.arange(ROWS) // 300 == 1).astype(int),
    }


def write(path: Path, table: Any) -> None:
    if path.suffix == ".csv":
        arrow_csv.write_csv(table, path)
    elif path.suffix == ".parquet":
        parquet.write_table(table, path, row_group_size=100)
    else:
        feather.write_feather(table, str(path), chunksize=100, compression="uncompressed")


def folder_of(path: Path, ending: str, table: Any = None, cuts: tuple[int, ...] = CUTS) -> Path:
    table = pyarrow.table(held()) if table is None else table
    path.mkdir(exist_ok=True)
    for position, (start, stop) in enumerate(pairwise(cuts)):
        write(path / f"part-{position}.{ending}", table.slice(start, stop - start))
    return path


@pytest.fixture(scope="module")
def expected() -> Moments:
    columns = {name: values.tolist() for name, values in held().items()}
    return Moments.of(encode_raw(DECLARED, columns), exact=True)


def sums(path: str | Path, rows: int = 70) -> Moments:
    return record_blocks(open_table(path), DECLARED, rows=rows).moments(exact=True)


@pytest.mark.parametrize("ending", ["csv", "parquet", "arrow"])
def test_several_files_have_the_sums_of_one(tmp_path: Path, expected: Moments, ending: str) -> None:
    folder = folder_of(tmp_path / "people", ending)
    # what programs leave beside their files
    (folder / "_SUCCESS").touch()
    (folder / ".part-0.crc").touch()
    for name in (folder, f"{folder}/", folder / f"part-*.{ending}", folder / f"part-[0-9].{ending}"):
        assert sums(name).table() == expected.table()
    # the null control: one file fewer is another sum
    assert sums(folder / f"part-[0-2].{ending}").n == CUTS[3]


def test_columns_may_have_another_order_in_each_file(tmp_path: Path, expected: Moments) -> None:
    table = pyarrow.table(held())
    folder = folder_of(tmp_path, "parquet", table)
    write(folder / "part-2.parquet", table.select(["z", "y", "school", "a"]).slice(200, 300))
    assert sums(folder).table() == expected.table()


def changed(table: Any, column: str, values: Any) -> Any:
    position = table.column_names.index(column)
    return table.set_column(position, column, values) if values is not None else table.drop_columns([column])


@pytest.mark.parametrize(
    ("column", "values", "error", "said"),
    [
        ("school", None, MissingColumnError, "a column of part-0.parquet is missing"),
        (
            "a",
            pyarrow.array(["1"] * 400),
            ColumnTypeError,
            "contains text where that of part-0.parquet contains number",
        ),
        ("more", pyarrow.array([1] * 400), ExtraColumnError, "part-0.parquet does not have this column"),
    ],
)
def test_file_of_another_schema_is_named_with_its_column(
    tmp_path: Path, column: str, values: Any, error: type[DataError], said: str
) -> None:
    folder = folder_of(tmp_path, "parquet")
    last = pyarrow.table(held()).slice(500)
    other = last.append_column(column, values) if column == "more" else changed(last, column, values)
    write(folder / "part-3.parquet", other)
    with pytest.raises(error, match=said) as caught:
        sums(folder)
    assert (caught.value.file, caught.value.column) == (str(folder / "part-3.parquet"), column)
    assert (caught.value.record, caught.value.value) == ((1, "1") if column == "a" else (None, None))


def test_missing_folder_is_reported(tmp_path: Path) -> None:
    with pytest.raises(MissingDataError, match="there is no such folder"):
        open_table(f"{tmp_path / 'people'}/")
    # the null control: the same name of a folder that is there
    assert sums(f"{folder_of(tmp_path / 'people', 'parquet')}/").n == CUTS[-1]


def test_column_of_a_kind_not_declared_is_named_with_a_file_that_holds_it(tmp_path: Path) -> None:
    texts = changed(pyarrow.table(held()), "a", pyarrow.array(["1"] * CUTS[-1]))
    folder = folder_of(tmp_path, "parquet", texts)
    with pytest.raises(ColumnTypeError, match="where the domain declares number") as caught:
        sums(folder)
    assert (caught.value.file, caught.value.record) == (str(folder / "part-0.parquet"), 1)
    # a text that writes no number is to blame before those that write one
    worse = changed(texts, "a", pyarrow.array(["1"] * 299 + ["x"] + ["1"] * (CUTS[-1] - 300)))
    folder_of(tmp_path, "parquet", worse)
    with pytest.raises(ColumnTypeError) as caught:
        sums(folder)
    assert (caught.value.file, caught.value.record) == (str(folder / "part-2.parquet"), 100)
    # where files differ, one that the domain does not admit is named, and not the one that it admits
    write(folder / "part-3.parquet", pyarrow.table(held()).slice(CUTS[3]))
    with pytest.raises(ColumnTypeError, match="where the domain declares number") as caught:
        sums(folder)
    assert caught.value.file == str(folder / "part-2.parquet")
    folder_of(tmp_path, "parquet", texts)
    # a file of nulls holds no text
    first = changed(texts, "a", pyarrow.nulls(CUTS[-1])).slice(0, CUTS[1])
    write(folder / "part-0.parquet", first)
    with pytest.raises(ColumnTypeError) as caught:
        sums(folder)
    # the next one has no record
    assert (caught.value.file, caught.value.record) == (str(folder / "part-2.parquet"), 1)


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_bad_record_is_named_with_its_file_and_its_row_there(tmp_path: Path, ending: str) -> None:
    values = held()
    values["a"][[333, 777]] = np.nan
    folder = folder_of(tmp_path, ending, pyarrow.table(values))
    with pytest.raises(NotANumberError) as caught:
        sums(folder)
    assert caught.value.file == str(folder / f"part-2.{ending}")
    assert (caught.value.record, caught.value.column) == (134, "a")
    assert caught.value.row == (135 if ending == "csv" else None)


def test_name_that_stands_for_no_table_is_said(tmp_path: Path) -> None:
    with pytest.raises(MissingDataError, match="has no file"):
        open_table(tmp_path)
    with pytest.raises(MissingDataError, match="no file matches"):
        open_table(tmp_path / "*.csv")
    folder_of(tmp_path, "parquet")
    (tmp_path / "notes.txt").touch()
    with pytest.raises(ReadingError, match=r"notes\.txt"):
        open_table(tmp_path)
    (tmp_path / "notes.txt").rename(tmp_path / "more.csv")
    with pytest.raises(UnreadableFileError, match=r"another format than more\.csv"):
        open_table(tmp_path)
    empty = folder_of(tmp_path / "empty", "parquet", cuts=(0, 0, 0))
    with pytest.raises(EmptyDataError):
        sums(empty)


def test_file_with_marks_of_a_pattern_in_its_name_is_itself(tmp_path: Path) -> None:
    write(tmp_path / "people[1].csv", pyarrow.table(held()).slice(0, 10))
    write(tmp_path / "people1.csv", pyarrow.table(held()).slice(0, 20))
    assert sums(tmp_path / "people[1].csv").n == 10


class StoppedError(Exception):
    pass


@pytest.mark.parametrize("ending", ["csv", "parquet", "arrow"])
def test_stopped_reading_goes_on_in_the_file_where_it_was(tmp_path: Path, expected: Moments, ending: str) -> None:
    folder, kept = folder_of(tmp_path / "people", ending), str(tmp_path / "kept.json")
    seen: list[int] = []

    def told(count: int, share: float | None) -> None:
        seen.append(count)
        assert share is None or 0 < share <= 1
        if sum(seen) > stops[0]:
            raise StoppedError

    reader = FileReader(open_table(folder), DECLARED, 70, told)
    stops = [250, 100, 1, ROWS]
    while len(stops) > 1:
        seen.clear()
        with pytest.raises(StoppedError):
            CheckpointedSum(kept, 0.0).moments(reader)
        stops.pop(0)
    before = json.loads(Path(kept).read_text())["moments"]["n"]
    seen.clear()
    assert CheckpointedSum(kept, 0.0).moments(reader).table() == expected.table()
    assert before + sum(seen) == ROWS
    # another file in the folder is another table
    write(folder / f"part-9.{ending}", pyarrow.table(held()).slice(0, 5))
    with pytest.raises(CheckpointError, match="its number of files is 4, not 5"):
        CheckpointedSum(kept, 0.0).moments(FileReader(open_table(folder), DECLARED))


def test_parts_for_workers_are_of_one_file_each(tmp_path: Path, expected: Moments) -> None:
    reader = FileReader(open_table(folder_of(tmp_path, "parquet")), DECLARED, 70)
    parts = Cluster("", 250)._parts(reader)
    assert [part.text for part in parts] == [
        "rows 1 to 200 of part-0.parquet",
        "rows 1 to 300 of part-2.parquet",
        "rows 1 to 300 of part-3.parquet",
        "rows 301 to 400 of part-3.parquet",
    ]

    def work(blocks: Any) -> Moments:
        return sum((Moments.of(block, exact=True) for block in blocks), Moments.zero(DECLARED.domain, exact=True))

    found = [answer(part, work) for part in parts]
    assert sum(found[1:], found[0]).table() == expected.table()


def test_commands_read_a_folder(run: Run, files: Path) -> None:
    table = parquet.read_table(files / "people.parquet")
    folder = folder_of(files / "people", "parquet", table, (0, 100, 300))
    asked = ["fit", "--domain", "domain.json", "--test-share", "0", "--format", "json", "--trace", "trace.json"]
    found = []
    for data in ("people.parquet", "people/", "people/*.parquet"):
        assert run(*asked, "--data", data)[0] == EXIT_FINE
        found.append(json.loads((files / "trace.json").read_text())["moments"])
    assert found[0] == found[1] == found[2]
    code, _, err = run(*asked, "--data", "people/", "--out", "people/part-1.parquet")
    assert (code, "another file than that of data" in err) == (EXIT_USAGE, True)
    code, _, err = run(*asked, "--data", "people/", "--out", "people/part-9.parquet")
    assert (code, "a file outside the folder of data" in err) == (EXIT_USAGE, True)
    write(folder / "part-1.parquet", table.slice(100).drop_columns(["age"]))
    code, out, err = run(*asked[:-2], "--data", "people/")
    assert (code, out, err.count("\n")) == (EXIT_USAGE, "", 1)
    assert "part-1.parquet" in err
    assert "column 'age'" in err


MAY_BE_MISSING = DomainFile(
    attributes=(Numeric("a", 0, 10, missing=0), OneHot("school", ("none", "some"))), label=Marker("y")
)


def with_nulls(**columns: Any) -> Any:
    columns = {"a": pyarrow.array([1.0, 2.0]), "school": pyarrow.array(["none", "some"]), **columns}
    return pyarrow.table({**columns, "y": pyarrow.array([0, 1])})


@pytest.mark.parametrize("ending", ["parquet", "arrow"])
def test_column_of_nulls_is_read_as_its_missing_numbers(tmp_path: Path, ending: str) -> None:
    """Pandas writes a column without any number as one of nulls: whether it is read may not depend on that."""
    typed, untyped = pyarrow.nulls(2, pyarrow.float64()), pyarrow.nulls(2)
    tables = {
        "typed": (typed, typed),
        "untyped": (untyped, untyped),
        "first": (untyped, typed),
        "last": (typed, untyped),
    }
    found = {}
    for name, parts in tables.items():
        (tmp_path / name).mkdir()
        for position, part in enumerate(parts):
            write(tmp_path / name / f"{position}.{ending}", with_nulls(a=part))
        blocks = record_blocks(open_table(tmp_path / name), MAY_BE_MISSING)
        found[name] = blocks.moments(exact=True).table()
    assert found == dict.fromkeys(tables, found["typed"])


@pytest.mark.parametrize(
    ("declared", "columns", "error"),
    [
        (DECLARED, {"a": pyarrow.nulls(2), "z": pyarrow.array([0, 1])}, ColumnTypeError),
        (MAY_BE_MISSING, {"school": pyarrow.nulls(2)}, ColumnTypeError),
        (MAY_BE_MISSING, {"a": pyarrow.array(["1", "2"])}, ColumnTypeError),
    ],
    ids=["a number that may not be missing", "a category", "texts"],
)
def test_other_columns_of_nulls_are_refused(
    tmp_path: Path, declared: DomainFile, columns: Any, error: type
) -> None:
    write(tmp_path / "t.parquet", with_nulls(**columns))
    with pytest.raises(error):
        record_blocks(open_table(tmp_path / "t.parquet"), declared).collect()


def test_nulls_beside_categories_of_another_file_are_missing_values(tmp_path: Path) -> None:
    write(tmp_path / "0.parquet", with_nulls())
    write(tmp_path / "1.parquet", with_nulls(school=pyarrow.nulls(2)))
    with pytest.raises(NotANumberError, match=r"missing value.*1\.parquet"):
        record_blocks(open_table(tmp_path), MAY_BE_MISSING).collect()
