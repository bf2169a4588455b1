"""Blocks of a file: empty ones, texts between two, and a reading that nobody ends."""

from __future__ import annotations

import gc
import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow
import pytest
from pyarrow import csv as arrow_csv
from pyarrow import feather, parquet
from threadpoolctl import threadpool_info, threadpool_limits

from reference.commands.large_files import LargeFileOptions
from reference.common.errors import DataError, EmptyDataError, NotANumberError
from reference.datasets import csv_table
from reference.datasets import record_blocks as record_blocks_module
from reference.datasets.from_file import encode_raw, record_blocks
from reference.datasets.opening import open_table
from reference.domain.attributes import Numeric
from reference.domain.file import DomainFile
from reference.domain.markers import Marker
from reference.moments import Moments
from reference.records import Records

DECLARED = DomainFile(attributes=(Numeric("a", 0, 1),), label=Marker("y"))
SCHEMA = pyarrow.schema({"a": pyarrow.int16(), "y": pyarrow.int8()})


def written(path: Path, *counts: int) -> Path:
    """Write blocks of so many records each."""
    parts = [pyarrow.array(np.arange(n, dtype=np.int16) % 2) for n in counts]
    open_file: Any = parquet.ParquetWriter if path.suffix == ".parquet" else pyarrow.ipc.new_file
    with open_file(path, SCHEMA) as file:
        for part in parts:
            file.write_batch(pyarrow.record_batch([part, part.cast(pyarrow.int8())], schema=SCHEMA))
    return path


@pytest.mark.parametrize("ending", [".parquet", ".arrow"])
def test_blocks_without_records_change_nothing(ending: str, tmp_path: Path) -> None:
    whole, with_empty = (
        record_blocks(open_table(path), DECLARED).moments(exact=True).table()
        for path in (
            written(tmp_path / f"one{ending}", 30, 20),
            written(tmp_path / f"other{ending}", 0, 30, 0, 0, 20, 0),
        )
    )
    assert whole == with_empty
    assert whole["n"] == 50
    with pytest.raises(EmptyDataError):
        record_blocks(open_table(written(tmp_path / f"none{ending}", 0)), DECLARED).moments(exact=True)


def test_a_table_of_no_numbers_is_empty() -> None:
    with pytest.raises(EmptyDataError):
        encode_raw(DECLARED, {"a": np.zeros(0, np.int16), "y": np.zeros(0, np.int16)})


@pytest.mark.parametrize("kind", [np.float64, np.int16])
def test_masked_numbers_are_looked_at(kind: type) -> None:
    # numpy leaves masked numbers out of a maximum, but not out of a sum
    numbers = np.ma.array(np.array([0, 7, 1], kind), mask=[False, True, False])
    assert numbers.max() == 1
    with pytest.raises(NotANumberError, match="row 1, column 'a'"):
        encode_raw(DECLARED, {"a": numbers, "y": np.array([0, 1, 0])})


@pytest.mark.parametrize("kind", [np.float64, np.int16])
@pytest.mark.parametrize("short", ["a", "b", "y"])
def test_one_value_does_not_stand_for_a_column(kind: type, short: str) -> None:
    # numpy would repeat it
    declared = DomainFile(attributes=(Numeric("a", 0, 1), Numeric("b", 0, 1)), label=Marker("y"))
    columns = {"a": np.ones(4, kind), "b": np.ones(4, kind), "y": np.ones(4, np.int8)}
    assert len(encode_raw(declared, columns)) == 4
    for wrong in (columns[short][:1], columns[short][:3], columns[short][:0]):
        with pytest.raises(DataError, match=r"values where the label has"):
            encode_raw(declared, {**columns, short: wrong})


@pytest.mark.parametrize("kind", [np.float64, np.int16])
def test_columns_may_change_after_they_are_checked(kind: type) -> None:
    numbers = np.array([0, 1, 1], kind)
    records = encode_raw(DECLARED, {"a": numbers, "y": np.array([0, 1, 0])})
    numbers[:] = 9
    assert Moments.of(records, exact=True).sum_x.tolist() == [2]


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf, 1.0000000000000002, -5e-324])
@pytest.mark.parametrize("lower", [0, -0.5])
def test_doubles_of_a_file_are_within_their_bounds(value: float, lower: float, tmp_path: Path) -> None:
    declared = DomainFile(attributes=(Numeric("a", lower, 1), Numeric("b", lower, 1)), label=Marker("y"))
    numbers = np.zeros(20_000)
    numbers[-1] = 1.0
    columns = {"a": numbers, "b": numbers.copy(), "y": np.zeros(20_000, np.int8)}
    path = tmp_path / "a.parquet"
    parquet.write_table(pyarrow.table(columns), path)
    assert record_blocks(open_table(path), declared).moments(exact=True).n == 20_000
    columns["b"][12_345] = value
    parquet.write_table(pyarrow.table(columns), path)
    if lower < value < 0:
        assert record_blocks(open_table(path), declared).moments(exact=True).n == 20_000
        return
    with pytest.raises(DataError, match="12346, column 'b'"):
        record_blocks(open_table(path), declared).moments(exact=True)


def test_parquet_file_that_is_replaced_is_read_anew(tmp_path: Path) -> None:
    path = written(tmp_path / "a.parquet", 30, 20)
    table = open_table(path)
    assert record_blocks(table, DECLARED).moments().n == 50
    written(path, 7, 40, 3)
    assert record_blocks(table, DECLARED).moments().n == 50
    assert table.group_starts() == [1, 8, 48, 51]


@pytest.mark.timeout(60)
def test_reading_that_only_the_garbage_collector_ends_waits_for_nobody(tmp_path: Path) -> None:
    path = written(tmp_path / "a.parquet", *[100] * 9)
    reading: list[Any] = [record_blocks(open_table(path), DECLARED).read()]
    next(reading[0])
    reading.append(reading)
    del reading
    gc.collect()
    assert not [one for one in threading.enumerate() if one.name.startswith("decode")]


def threads() -> set[int]:
    """Return how many threads numpy multiplies in."""
    return {one["num_threads"] for one in threadpool_info() if one["user_api"] == "blas"}


def test_sums_and_commands_leave_the_other_cores_to_the_decoder(tmp_path: Path) -> None:
    blocks = record_blocks(open_table(written(tmp_path / "a.parquet", 7)), DECLARED)
    during: list[set[int]] = []

    def read() -> Iterator[Records]:
        during.append(threads())
        yield from blocks.read()

    with threadpool_limits(2):
        before = threads()
        assert before != {1}
        for exact in (False, True):
            replace(blocks, read=read, _sums={}).moments(exact=exact)
        with LargeFileOptions(checkpoint=None, scheduler=None).way():
            during.append(threads())
        assert during == [{1}] * 3
        assert threads() == before


def test_sums_at_once_leave_the_threads_of_products_as_they_were(tmp_path: Path) -> None:
    """The second begins during the first, which ends before it."""
    blocks = record_blocks(open_table(written(tmp_path / "a.parquet", 7)), DECLARED)
    begun, go_on = threading.Event(), threading.Event()

    def read_second() -> Iterator[Records]:
        begun.set()
        go_on.wait(9)
        yield from blocks.read()

    second = threading.Thread(target=replace(blocks, read=read_second, _sums={}).moments)

    def read_first() -> Iterator[Records]:
        second.start()
        assert begun.wait(9)
        yield from blocks.read()

    def limit(count: int) -> None:
        # a thread that has ended keeps no other from setting them
        ended = threading.Thread(target=threadpool_limits, args=(count,))
        ended.start()
        ended.join()

    usual = max(threads())
    limit(2)
    try:
        replace(blocks, read=read_first, _sums={}).moments()
        go_on.set()
        second.join()
        assert threads() == {2}
    finally:
        limit(usual)


def test_text_means_the_same_wherever_pyarrow_begins(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Between its blocks it would drop half of a quoted CRLF; at the start of a piece, a byte order mark."""
    monkeypatch.setattr(csv_table, "BLOCK_PARSED", 24)
    path = tmp_path / "a.csv"
    for before in range(1, 24):
        for texts in (["-" * before, "a\r\nb", "c"], ["\ufeff1", "-" * before]):
            lines = [f'"{text}"' if "\r" in text else text for text in ["t", *texts]]
            path.write_text("\n".join(lines), encoding="utf-8", newline="")
            assert [text for one in open_table(path).blocks("t") for text in one.columns["t"]] == texts


@pytest.mark.parametrize("ending", [".csv", ".parquet", ".arrow"])
def test_group_that_only_some_blocks_have_counts(ending: str, tmp_path: Path) -> None:
    """Blocks of ten records: the first ones have one group, one in the middle has both, and the last ones one."""
    groups = ["f"] * 25 + ["m"] * 15
    held = {"a": [k % 2 for k in range(40)], "y": [1] * 20 + [0] * 20, "z": groups}
    table, path = pyarrow.table(held), tmp_path / f"a{ending}"
    if ending == ".csv":
        arrow_csv.write_csv(table, path)
    elif ending == ".parquet":
        parquet.write_table(table, path, row_group_size=10)
    else:
        feather.write_feather(table, path, chunksize=10)
    declared = DomainFile(
        attributes=(Numeric("a", 0, 1),), label=Marker("y"), group=Marker("z", one=("m",), zero=("f",))
    )
    records = record_blocks(open_table(path), declared, rows=10)
    assert [None if one.z is None else one.z.sum() for one in records.read()] == [0, 0, 5, 10]
    for exact in (False, True):
        found = records.moments(exact=exact)
        of_memory = Moments.of(encode_raw(declared, held), exact=exact)
        assert (found.n, found.sum_z) == (of_memory.n, of_memory.sum_z) == (40, 15)
        assert (found.sum_zx == of_memory.sum_zx).all()


@pytest.mark.parametrize("kept", [0, 2**29])
def test_records_are_counted_and_added_up_in_one_pass(
    kept: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(record_blocks_module, "KEPT_BYTES", kept)
    blocks, passes = record_blocks(open_table(written(tmp_path / "a.parquet", 7, 30)), DECLARED), []

    def read() -> Iterator[Records]:
        passes.append(None)
        yield from blocks.read()

    counted = replace(blocks, read=read)
    counted.moments(exact=True, again=True)
    assert len(counted) == 37
    assert (
        counted.where(np.ones(37, dtype=np.bool_)).moments(exact=True).table()
        == blocks.moments(exact=True).table()
    )
    assert len(passes) == 1
    part = counted.where(np.arange(37) < 30)
    assert part.where(np.ones(37, dtype=np.bool_)).moments(exact=True).n == 37
    assert part.moments(exact=True).n == 30
    assert len(passes) == 1 + 2 * (kept == 0)
    # sums that nobody asked for can cost more than reading
    assert len(alone := record_blocks(open_table(tmp_path / "a.parquet"), DECLARED)) == 37
    assert not alone._sums
