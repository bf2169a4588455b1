"""CSV and Parquet files: what they hold, where they are wrong, and the same answer for every block size."""

from __future__ import annotations

import decimal
import gzip
import math
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyarrow import parquet

from reference.commands.evaluation import Plan, evaluate_splits
from reference.common.errors import (
    CsvRowError,
    DataError,
    EmptyDataError,
    ExtraColumnError,
    GroupError,
    LabelError,
    MissingColumnError,
    MissingDataError,
    NotANumberError,
    OutOfBoundsError,
    ReadingError,
    UnreadableFileError,
    UnseenCategoryError,
)
from reference.datasets import record_blocks as blocks_module
from reference.datasets.from_file import encode_raw, record_blocks
from reference.datasets.opening import open_table
from reference.datasets.record_blocks import RecordBlocks
from reference.domain import Domain
from reference.domain.attributes import Numeric
from reference.domain.file import DomainFile, domain_file_of
from reference.domain.markers import Marker
from reference.fairness import boundary_covariance, evaluate, risk_difference
from reference.moments import Moments
from reference.records import EXACT_ROWS, Records, check_matrix, encode_table
from reference.registry import MECHANISMS

DECLARED = domain_file_of(
    {
        "schema": "domain_v1",
        "attributes": [
            {"name": "age", "kind": "numeric", "lower": 0, "upper": 100},
            {"name": "school", "kind": "one_hot", "categories": ["none", "a, b"]},
        ],
        "label": {"column": "y", "one": ["yes"], "zero": ["no"]},
        "group": {"column": "z"},
        "ignore": ["id"],
    }
)
HEADER = "id,age,school,y,z\n"
ROWS = 'a,20,none,no,1\nb,50.5,"a, b",yes,0\nc,100,none,yes,1\n'


def csv_file(folder: Path, content: str | bytes, name: str = "data.csv") -> Path:
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def parquet_file(folder: Path, columns: dict[str, Any], name: str = "data.parquet", **options: Any) -> Path:
    parquet.write_table(pyarrow.table(columns), folder / name, **options)
    return folder / name


def read(path: Path, declared: DomainFile = DECLARED, **options: Any) -> Records:
    return record_blocks(open_table(path), declared, **options).collect()


COLUMNS: dict[str, list[Any]] = {
    "id": ["a", "b", "c"],
    "age": [20, 50.5, 100.0],
    "school": ["none", "a, b", "none"],
    "y": ["no", "yes", "yes"],
    "z": [1, 0, 1],
}
EXPECTED = encode_raw(DECLARED, COLUMNS)


def assert_expected(records: Records) -> None:
    assert np.array_equal(records.x, EXPECTED.x)
    assert records.y.tolist() == [0, 1, 1]
    assert records.z is not None
    assert records.z.tolist() == [1, 0, 1]


# --- What is read --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "content",
    [
        HEADER + ROWS,
        (HEADER + ROWS).rstrip("\n"),
        (HEADER + ROWS).replace("\n", "\r\n"),
        "\ufeff" + HEADER + ROWS,
        (HEADER + ROWS).replace("\nb", "\n\n\nb") + "\n\n",
        (HEADER + ROWS).replace("id,", '"id",').replace("20", '"20"'),
        'z,y,school,age\n1,no,none,20\n0,yes,"a, b",50.5\n1,yes,none,1e2\n',
    ],
)
def test_csv_is_read(content: str, tmp_path: Path) -> None:
    assert_expected(read(csv_file(tmp_path, content)))


def test_compressed_csv_is_read(tmp_path: Path) -> None:
    assert_expected(read(csv_file(tmp_path, gzip.compress((HEADER + ROWS).encode()), "DATA.CSV.GZ")))


@pytest.mark.parametrize(
    "change",
    [
        {},
        {"age": pyarrow.array([20, 50.5, 100.0], pyarrow.float32())},
        {"age": pyarrow.array([decimal.Decimal(20), decimal.Decimal("50.5"), decimal.Decimal(100)])},
        {"z": [True, False, True]},
        {"school": pyarrow.array(["none", "a, b", "none"]).dictionary_encode()},
        {"y": pyarrow.array(["no", "yes", "yes"], pyarrow.large_string())},
    ],
)
def test_parquet_is_read(change: dict[str, Any], tmp_path: Path) -> None:
    assert_expected(read(parquet_file(tmp_path, COLUMNS | change)))


def test_parquet_reads_declared_columns_only(tmp_path: Path) -> None:
    nested = pyarrow.array([{"a": 1}, {"a": 2}, {"a": 3}])
    assert_expected(read(parquet_file(tmp_path, {**COLUMNS, "id": nested})))


# --- What is wrong -------------------------------------------------------------------------------------------

# (content, class, record, line, column, value)
BAD_CSV: list[tuple[str | bytes, type[DataError], int | None, int | None, str | None, Any]] = [
    ("", EmptyDataError, None, None, None, None),
    ("\n\n", EmptyDataError, None, None, None, None),
    (HEADER, EmptyDataError, None, None, None, None),
    ("id,age,school,y\n" + ROWS, MissingColumnError, None, None, "z", None),
    ("id;age;school;y;z\na;20;none;no;1\n", MissingColumnError, None, None, "age", None),
    ("id,age,school,y,z,w\n", ExtraColumnError, None, None, "w", None),
    ("id,age,school,y,z,\n", ExtraColumnError, None, None, "", None),
    ("id,age,school,y,z,age\n", ExtraColumnError, None, 1, "age", None),
    (HEADER + ROWS + "d,30,none,no\n", CsvRowError, 4, 5, None, "d,30,none,no"),
    (HEADER + ROWS + "d,30,none,no,1,2\n", CsvRowError, 4, 5, None, "d,30,none,no,1,2"),
    (HEADER + '\n"a\n",20,none,no,1\nb\n', CsvRowError, 2, 5, None, "b"),
    (HEADER + ROWS + 'd,30,"no"ne,no,1\n', UnreadableFileError, 4, 5, None, None),
    (HEADER + 'a,"20,none,no,1\n' + ROWS, UnreadableFileError, 1, 2, None, None),
    (HEADER.encode() + b"a,20,caf\xe9,no,1\n", UnreadableFileError, None, 2, None, None),
    ((HEADER + ROWS).encode("utf-16"), UnreadableFileError, None, 1, None, None),
    (HEADER + ROWS + "d,,none,no,1\n", NotANumberError, 4, 5, "age", ""),
    (HEADER + ROWS + "d,NaN,none,no,1\n", NotANumberError, 4, 5, "age", "NaN"),
    (HEADER + "\n" + ROWS + "d,inf,none,no,1\n", NotANumberError, 4, 6, "age", "inf"),
    (HEADER + ROWS + "d,101,none,no,1\n", OutOfBoundsError, 4, 5, "age", 101.0),
    (HEADER + ROWS + "d,10,some,no,1\n", UnseenCategoryError, 4, 5, "school", "some"),
    (HEADER + ROWS + "d,10, none,no,1\n", UnseenCategoryError, 4, 5, "school", " none"),
    (HEADER + ROWS + "d,10,none,maybe,1\n", LabelError, 4, 5, "y", "maybe"),
    (HEADER + ROWS + "d,10,none,no,2\n", GroupError, 4, 5, "z", "2"),
    (HEADER + '"a\nlong\nname",20,none,no,1\nb,20,none,perhaps,1\n', LabelError, 2, 5, "y", "perhaps"),
]


@pytest.mark.parametrize("rows", [1, 2, 65_536])
@pytest.mark.parametrize(("content", "error", "record", "line", "column", "value"), BAD_CSV)
def test_bad_csv_is_reported_with_its_place(
    content: str | bytes,
    error: type[DataError],
    record: int | None,
    line: int | None,
    column: str | None,
    value: Any,
    rows: int,
    tmp_path: Path,
) -> None:
    path = csv_file(tmp_path, content)
    with pytest.raises(DataError) as caught:
        read(path, rows=rows)
    found = caught.value
    assert caught.type is error
    assert (found.file, found.record, found.row, found.column, found.value) == (
        str(path),
        record,
        line,
        column,
        value,
    )
    message = str(found)
    assert f"file {path}" in message
    assert record is None or f"row {record}, line {line}" in message
    assert "\n" not in message


def test_parquet_without_records_or_with_a_column_twice(tmp_path: Path) -> None:
    with pytest.raises(EmptyDataError):
        read(
            parquet_file(
                tmp_path,
                {name: values[:0] for name, values in COLUMNS.items()}
                | {
                    "age": pyarrow.array([], pyarrow.int64()),
                    "z": pyarrow.array([], pyarrow.int64()),
                    "school": pyarrow.array([], pyarrow.string()),
                    "y": pyarrow.array([], pyarrow.string()),
                },
            )
        )
    table = pyarrow.table([[1], [2]], names=["age", "age"])
    parquet.write_table(table, tmp_path / "twice.parquet")
    with pytest.raises(ExtraColumnError, match="more than once"):
        read(tmp_path / "twice.parquet")


@pytest.mark.parametrize("name", ["data.parquet", "data.csv.gz"])
@pytest.mark.parametrize("content", [b"", b"no such format", b"PAR1" + b"\0" * 20 + b"PAR1"])
def test_file_of_another_format_is_reported(name: str, content: bytes, tmp_path: Path) -> None:
    path = csv_file(tmp_path, content, name)
    with pytest.raises(DataError) as caught:
        read(path)
    assert caught.type in (UnreadableFileError, EmptyDataError)
    assert caught.value.file == str(path)


@pytest.mark.parametrize("share", [0.3, 0.6, 0.95])
@pytest.mark.parametrize("name", ["data.parquet", "data.csv.gz"])
def test_truncated_file_is_reported(name: str, share: float, tmp_path: Path) -> None:
    random = np.random.default_rng(0)
    columns = {
        "age": random.random(5000) * 100,
        "school": ["none"] * 5000,
        "y": ["no"] * 5000,
        "z": random.integers(0, 2, 5000),
    }
    if name.endswith("gz"):
        rows = "".join(f"{age},none,no,{z}\n" for age, z in zip(columns["age"], columns["z"], strict=True))
        whole = gzip.compress(("age,school,y,z\n" + rows).encode())
    else:
        whole = parquet_file(tmp_path, columns, row_group_size=500).read_bytes()
    path = csv_file(tmp_path, whole[: int(share * len(whole))], name)
    with pytest.raises(UnreadableFileError) as caught:
        read(path)
    assert caught.value.file == str(path)


def test_parquet_page_that_is_damaged_is_reported(tmp_path: Path) -> None:
    columns = {**{k: v * 2000 for k, v in COLUMNS.items()}, "age": np.random.default_rng(0).random(6000) * 100}
    path = parquet_file(tmp_path, columns, compression="gzip", write_page_checksum=True)
    damaged = bytearray(path.read_bytes())
    middle = len(damaged) // 2
    damaged[middle : middle + 200] = bytes(200)
    path.write_bytes(damaged)
    with pytest.raises(UnreadableFileError):
        read(path)


def test_path_that_is_no_table_file_is_reported(tmp_path: Path) -> None:
    with pytest.raises(MissingDataError, match="no such file"):
        open_table(tmp_path / "missing.csv")
    (tmp_path / "folder.csv").mkdir()
    with pytest.raises(MissingDataError, match="the folder has no file"):
        open_table(tmp_path / "folder.csv")
    os.mkfifo(tmp_path / "pipe.csv")
    with pytest.raises(UnreadableFileError, match="not a regular file"):
        open_table(tmp_path / "pipe.csv")
    with pytest.raises(ReadingError, match="ends in"):
        open_table(tmp_path / "data.xlsx")


# --- Blocks --------------------------------------------------------------------------------------------------


def many_rows(count: int) -> str:
    random = np.random.default_rng(5)
    lines = [
        f"{index},{age!r},{school},{label},{group}\n"
        for index, age, school, label, group in zip(
            range(count),
            (random.random(count) * 100).tolist(),
            np.where(random.random(count) < 0.5, "none", '"a, b"'),
            np.where(random.random(count) < 0.4, "yes", "no"),
            random.integers(0, 2, count),
            strict=True,
        )
    ]
    return HEADER + "".join(lines)


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a file of 10,000 records: more than two of the blocks that are summed."""
    return csv_file(tmp_path_factory.mktemp("large"), many_rows(10_000))


def same_moments(one: Moments, other: Moments) -> bool:
    fields = ("sum_x", "sum_yx", "sum_zx", "sum_xx")
    return (one.n, one.sum_z) == (other.n, other.sum_z) and all(
        np.array_equal(getattr(one, field), getattr(other, field)) for field in fields
    )


@pytest.mark.parametrize("rows", [700, 4095, 4096, 9_999])
def test_moments_do_not_depend_on_the_rows_read_at_a_time(large: Path, rows: int) -> None:
    whole = read(large)
    blocks = record_blocks(open_table(large), DECLARED, rows=rows)
    assert max(len(block) for block in blocks.read()) == rows < len(whole)
    # to the last bit, and the same as those of records in memory
    assert same_moments(blocks.moments(), Moments.of(whole))
    assert same_moments(blocks.moments(exact=True), Moments.of(whole, exact=True))


@pytest.mark.parametrize("bounds", [(0, 1000), (-3, 7)])
@pytest.mark.parametrize("value", [-0.0, math.nan, 1000.5])
def test_numbers_in_the_middle_of_a_block_are_all_read(
    value: float, bounds: tuple[int, int], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # the steps are of EXACT_ROWS records
    monkeypatch.setattr("reference.datasets.numeric_columns.CACHED", 1)
    random, row = np.random.default_rng(0), EXACT_ROWS + 1000
    a, b = random.random(3 * EXACT_ROWS), random.integers(0, 8, 3 * EXACT_ROWS, np.int16)
    y, a[row] = b > 3, value
    declared = DomainFile(attributes=(Numeric("a", 0, 1000), Numeric("b", *bounds)), label=Marker("y"))
    path = parquet_file(tmp_path, {"a": a, "b": b, "y": y})
    if value == 0:
        expected = encode_table(declared.domain, {"a": a, "b": b, "y": y})
        assert np.array_equal(read(path, declared).x, expected.x)
        return
    with pytest.raises(DataError) as problem:
        record_blocks(open_table(path), declared).moments(exact=True)
    assert (problem.value.record, problem.value.column) == (row + 1, "a")
    assert str(problem.value.value) == str(value)


@settings(max_examples=30)
@given(st.lists(st.integers(1, 40), min_size=1, max_size=8), st.integers(1, 50), st.integers(0, 2**32 - 1))
def test_blocks_are_cut_anew_without_losing_a_record(sizes: list[int], rows: int, seed: int) -> None:
    domain = Domain.of_columns(["a"])
    random = np.random.default_rng(seed)
    parts = [
        check_matrix(domain, random.random((size, 1)), random.integers(0, 2, size), random.integers(0, 2, size))
        for size in sizes
    ]
    found = list(blocks_module._cut_anew(iter(parts), rows))
    assert all(len(block) == rows for block in found[:-1])
    assert 1 <= len(found[-1]) <= rows
    assert np.array_equal(np.concatenate([block.x for block in found]), np.concatenate([part.x for part in parts]))


@pytest.mark.parametrize("mechanism", ["pdfc", "adfc", "no_privacy", "lr"])
@pytest.mark.parametrize("adjacency", ["replace_one", "add_or_remove_one"])
def test_evaluation_does_not_depend_on_the_rows_read_at_a_time(
    large: Path, mechanism: str, adjacency: str
) -> None:
    from reference.budgets import SplitBudget

    spec = MECHANISMS[mechanism]
    budget = SplitBudget.equal(1, "1e-3" if spec.needs_delta else 0) if spec.private else None
    readings = spec.readings.with_(adjacency=adjacency)
    plan = Plan(spec=spec, budget=budget, readings=readings, splits=2)
    found = [
        evaluate_splits(plan, record_blocks(open_table(large), DECLARED, rows=rows), rng=7)
        for rows in (999, 65_536)
    ]
    assert found[0].to_json() == found[1].to_json()
    # records in memory are counted in one block, so a sum of scores may differ in its last bits
    in_memory = evaluate_splits(plan, read(large), rng=7)
    assert [release.w for release in in_memory.releases] == [release.w for release in found[0].releases]
    for one, other in zip(in_memory.metrics, found[0].metrics, strict=True):
        assert one.risk_difference == other.risk_difference
        assert one.boundary_covariance == pytest.approx(other.boundary_covariance, rel=1e-9)


def test_file_too_large_to_keep_is_read_again_with_the_same_answer(
    large: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    passes: list[int] = []

    def told(count: int, _share: float | None) -> None:
        passes.append(count)

    def counted(limit: int) -> Moments:
        monkeypatch.setattr(blocks_module, "KEPT_BYTES", limit)
        passes.clear()
        blocks = record_blocks(open_table(large), DECLARED, rows=3000, on_block=told)
        assert len(blocks) == 10_000
        chosen = np.arange(10_000) % 3 == 0
        assert len(blocks.where(chosen)) == 3_334
        return blocks.where(chosen).moments() + blocks.where(~chosen).moments()

    kept = counted(2**29)
    assert passes == [3000, 3000, 3000, 1000]
    # y and z are kept beside x
    for limit in (1000, 10_000 * 8 * DECLARED.domain.dimension):
        read_again = counted(limit)
        assert passes == [3000, 3000, 3000, 1000] * 3
        assert same_moments(kept, read_again)


def test_large_file_never_has_more_than_a_few_blocks_in_memory(
    large: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What stays alive while the moments are summed is bounded by the rows read, not by the file."""
    import weakref

    monkeypatch.setattr(blocks_module, "KEPT_BYTES", 0)
    alive: list[weakref.ref[Records]] = []
    most = 0
    plain = record_blocks(open_table(large), DECLARED, rows=100)

    def watched() -> Iterator[Records]:
        nonlocal most
        for block in plain.read():
            alive.append(weakref.ref(block))
            most = max(most, sum(reference() is not None for reference in alive))
            yield block

    moments = RecordBlocks(DECLARED.domain, watched).moments()
    assert same_moments(moments, plain.moments())
    assert len(alive) == 100
    assert most <= 4


def test_parquet_is_not_fetched_as_a_whole(tmp_path: Path) -> None:
    random = np.random.default_rng(0)
    columns = {name: random.random(200_000) for name in ("a", "b", "c")}
    path = parquet_file(tmp_path, columns, row_group_size=10_000)
    before = pyarrow.total_allocated_bytes()
    held = [pyarrow.total_allocated_bytes() - before for _ in open_table(path).blocks(["a", "b", "c"], 10_000)]
    assert len(held) == 20
    # a row group is a twentieth of the file
    assert max(held) < path.stat().st_size / 4


def test_file_that_changes_between_two_passes_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(blocks_module, "KEPT_BYTES", 0)
    path = csv_file(tmp_path, HEADER + ROWS)
    blocks = record_blocks(open_table(path), DECLARED)
    assert len(blocks) == blocks.moments().n == 3
    csv_file(tmp_path, HEADER + ROWS + ROWS)
    with pytest.raises(UnreadableFileError, match="changed while it was read: 3 records, then 6"):
        list(blocks.blocks())


def test_metrics_of_blocks_are_those_of_the_definitions(large: Path) -> None:
    records = read(large)
    assert records.z is not None
    w = (0.4, -1.0, 0.1)
    found = evaluate(w, record_blocks(open_table(large), DECLARED, rows=123))
    prediction = records.x @ np.array(w) > 0
    assert 0.1 < prediction.mean() < 0.9
    assert found.accuracy == np.mean(prediction == (records.y == 1))
    assert found.positive_rate == prediction.mean()
    assert found.risk_difference == risk_difference(prediction, records.z)
    assert found.boundary_covariance == pytest.approx(boundary_covariance(w, records.x, records.z), rel=1e-9)


def test_repr_shows_no_record(large: Path) -> None:
    assert repr(record_blocks(open_table(large), DECLARED)) == "RecordBlocks(of 3 columns)"
