"""Numbers of a typed file stay as they are until they are used: the same records, sums and errors."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow
import pytest
from pyarrow import feather, parquet

from reference.common.errors import DataError
from reference.common.grid import DATA_STEPS
from reference.datasets import numeric_columns
from reference.datasets.from_file import record_blocks
from reference.datasets.numeric_columns import Numbers
from reference.datasets.opening import open_table
from reference.datasets.record_blocks import RecordBlocks
from reference.domain.attributes import Numeric, Ordinal
from reference.domain.file import DomainFile
from reference.domain.markers import Marker
from reference.domain.values import codes_of
from reference.moments import Moments
from reference.records import encode_table

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


DOMAINS: tuple[tuple[dict[str, Any], tuple[tuple[float, float], ...]], ...] = (
    ({}, ((0, 1000), (0, 127), (-3, 7))),
    ({"norm": "unit_box"}, ((0, 49), (0, 1), (0, 1000))),
    ({"norm": "symmetric_ball", "keep_group": True}, ((-1.5, 9.25), (0, 4))),
    ({"intercept": True, "keep_group": True}, ((0, 96),) * 23),
    ({"intercept": True}, ((0, 2**17),)),
)


def domain_file(options: dict[str, Any], bounds: Any) -> DomainFile:
    attributes = tuple(Numeric(f"x{place}", *ends) for place, ends in enumerate(bounds))
    return DomainFile(attributes=attributes, label=Marker("y"), group=Marker("z"), **options)


def moments_of_numbers(kind: str, options: dict[str, Any], bounds: Any, path: Path) -> dict[str, int]:
    """Return the exact moments of all whole numbers within the bounds, at least once each."""
    random = np.random.default_rng(0)
    n = max(math.floor(upper) - math.ceil(lower) for lower, upper in bounds) + 20_000
    marks = {name: random.integers(0, 2, n) for name in ("y", "z")}
    every = [np.resize(np.arange(math.ceil(lower), math.floor(upper) + 1), n) for lower, upper in bounds]
    held = {f"x{place}": values.astype(kind) for place, values in enumerate(every)}
    file = path.with_suffix(".parquet")
    parquet.write_table(pyarrow.table(held | marks), file)
    return record_blocks(open_table(file), domain_file(options, bounds)).moments(exact=True).table()


def test_thread_that_comes_late_gets_what_another_encoded(tmp_path: Path) -> None:
    path, marks = tmp_path / "a.parquet", np.arange(9, dtype=np.int16) % 2
    parquet.write_table(pyarrow.table({"x0": marks, "y": marks, "z": marks}), path)
    (block,) = record_blocks(open_table(path), domain_file({}, ((0, 9),))).read()
    assert isinstance(block, Numbers)
    first = block.x
    assert vars(Numbers)["x"].func(block) is first


@pytest.mark.parametrize(("options", "bounds"), DOMAINS)
def test_exact_sums_of_whole_numbers_are_those_of_floats(
    options: dict[str, Any], bounds: Any, tmp_path: Path
) -> None:
    whole, floats = (moments_of_numbers(kind, options, bounds, tmp_path / kind) for kind in ("int32", "float64"))
    assert whole == floats


def test_a_factor_that_nobody_looked_at_gives_other_sums(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    options, bounds = DOMAINS[1]
    right = moments_of_numbers("int32", options, bounds, tmp_path / "one.parquet")
    monkeypatch.setattr(numeric_columns, "_factor_of_steps", lambda _, upper, factor: factor / upper * DATA_STEPS)
    assert moments_of_numbers("int32", options, bounds, tmp_path / "other.parquet") != right


@pytest.mark.parametrize("kind", ["int32", "float64"])
@pytest.mark.parametrize(("options", "bounds"), DOMAINS)
def test_only_sums_on_the_grid_do_without_encoded_numbers(
    kind: str, options: dict[str, Any], bounds: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Numbers, "x", property(lambda _: 1 / 0))
    file = tmp_path / "data"
    moments_of_numbers(kind, options, bounds, file)
    with pytest.raises(ZeroDivisionError):
        record_blocks(open_table(file.with_suffix(".parquet")), domain_file(options, bounds)).moments()


@pytest.mark.parametrize("options", [{}, {"norm": "unit_box"}, {"intercept": True, "keep_group": True}])
@pytest.mark.parametrize("ends", [(0, 1), (0, 3), (-1e-3, 7), (5e-324, 1e308)])
def test_exact_sums_of_doubles_are_those_of_encoded_records(
    options: dict[str, Any], ends: tuple[float, float], tmp_path: Path
) -> None:
    random, (lower, upper) = np.random.default_rng(0), ends
    edges = [
        lower,
        np.nextafter(lower, upper),
        lower / 2 + upper / 2,
        1e-305,
        1e-12,
        np.nextafter(upper, 0),
        upper,
    ]
    held = {f"x{place}": random.uniform(lower, upper, 9000) for place in range(3)}
    for values in held.values():
        values[: len(edges)] = random.permutation(np.clip(edges, lower, upper))
    held |= {name: random.integers(0, 2, 9000).astype(float) for name in ("y", "z")}
    parquet.write_table(pyarrow.table(held), tmp_path / "data.parquet")
    declared = domain_file(options, (ends,) * 3)
    found = record_blocks(open_table(tmp_path / "data.parquet"), declared).moments(exact=True)
    encoded = encode_table(declared.domain, held)
    assert found.table() == Moments.of(encoded, exact=True).table()
    part = next(iter(record_blocks(open_table(tmp_path / "data.parquet"), declared).read()))
    before = part.steps(slice(5, None)).tolist()
    assert part.x.tolist() == encoded.x[: len(part)].tolist()
    assert part.steps(slice(5, None)).tolist() == before


@pytest.mark.parametrize("kind", ["bool", *KINDS])
@pytest.mark.parametrize("meaning", [{0.5: 1, 0: 0}, {1.5: 1, 300: 0, 1: 2}, {-2: 1, True: 0, 2**40: 2}])
def test_fractions_among_the_keys_of_whole_numbers(kind: str, meaning: dict[Any, int]) -> None:
    for keys in (meaning, {**meaning, **dict.fromkeys(np.arange(20) + 0.25, 9)}):
        values = np.array([0, 1, 1, 0], dtype=kind)
        assert codes_of(values, keys).tolist() == [keys.get(value, -1) for value in values.tolist()]
