"""Blocks of a typed file: empty ones, and a reading that nobody ends."""

from __future__ import annotations

import gc
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow
import pytest
from pyarrow import parquet

from reference.common.errors import EmptyDataError
from reference.datasets.from_file import encode_raw, record_blocks
from reference.datasets.opening import open_table
from reference.domain.attributes import Numeric
from reference.domain.file import DomainFile
from reference.domain.markers import Marker

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


@pytest.mark.timeout(60)
def test_reading_that_only_the_garbage_collector_ends_waits_for_nobody(tmp_path: Path) -> None:
    path = written(tmp_path / "a.parquet", *[100] * 9)
    reading: list[Any] = [record_blocks(open_table(path), DECLARED).read()]
    next(reading[0])
    reading.append(reading)
    del reading
    gc.collect()
    assert not [one for one in threading.enumerate() if one.name.startswith("decode")]
