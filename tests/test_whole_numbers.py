"""Whole numbers of a typed file stay whole numbers: the same records and errors as of floats."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow
import pytest
from pyarrow import feather, parquet

from reference.common.errors import DataError
from reference.datasets.from_file import record_blocks
from reference.datasets.record_blocks import RecordBlocks
from reference.datasets.table_file import open_table
from reference.domain.attributes import Numeric, Ordinal
from reference.domain.file import DomainFile
from reference.domain.markers import Marker
from reference.domain.values import codes_of

N = 500
KINDS = ("int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64")
WRONG = (("a", 101), ("b", None), ("c", 3), ("y", 2), ("z", 2), ("z", None))


def declared(lower: int) -> DomainFile:
    return DomainFile(
        attributes=(Numeric("a", lower, 100), Numeric("b", 0, 127), Ordinal("c", (0, 0.5, 1))),
        label=Marker("y", one=(1, 7), zero=(0, 0.5)),
        group=Marker("z"),
    )


def columns(lower: int) -> dict[str, list[int | None]]:
    random = np.random.default_rng(0)
    ends = {"a": (lower, 101), "b": (0, 128), "c": (0, 2), "y": (0, 2), "z": (0, 2)}
    return {name: random.integers(*end, N).tolist() for name, end in ends.items()}


def blocks(path: Path, kind: str, held: dict[str, Any], lower: int) -> RecordBlocks:
    """Write columns of one type, and return their records."""
    table = pyarrow.table({name: pyarrow.array(values, kind) for name, values in held.items()})
    (feather.write_feather if path.suffix == ".arrow" else parquet.write_table)(table, path)
    return record_blocks(open_table(path), declared(lower), rows=170)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", ["data.parquet", "data.arrow"])
@pytest.mark.parametrize("lower", [0, 2])
def test_whole_numbers_are_read_as_floats_are(kind: str, name: str, lower: int, tmp_path: Path) -> None:
    held = columns(lower)
    one, other = (blocks(tmp_path / f"{of} {name}", of, held, lower).collect() for of in (kind, "float64"))
    for part in ("x", "y", "z"):
        assert np.array_equal(getattr(one, part), getattr(other, part))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("column", "value"), WRONG)
def test_wrong_whole_number_is_named_as_a_float_is(
    kind: str, column: str, value: int | None, tmp_path: Path
) -> None:
    held = columns(0)
    held[column][400] = value
    found = []
    for of in (kind, "float64"):
        with pytest.raises(DataError) as caught:
            blocks(tmp_path / f"{of}.parquet", of, held, 0).collect()
        found.append(caught.value)
    one, other = found
    assert (one.record, one.column) == (other.record, other.column) == (401, column)
    assert (type(one), one.problem) == (type(other), other.problem)
    assert one.value == other.value or np.isnan(one.value)


@pytest.mark.parametrize("kind", ["bool", *KINDS])
@pytest.mark.parametrize("meaning", [{0.5: 1, 0: 0}, {1.5: 1, 300: 0, 1: 2}, {-2: 1, True: 0, 2**40: 2}])
def test_fractions_among_the_keys_of_whole_numbers(kind: str, meaning: dict[Any, int]) -> None:
    for keys in (meaning, {**meaning, **dict.fromkeys(np.arange(20) + 0.25, 9)}):
        values = np.array([0, 1, 1, 0], dtype=kind)
        assert codes_of(values, keys).tolist() == [keys.get(value, -1) for value in values.tolist()]
