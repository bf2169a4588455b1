"""The query of a domain: DuckDB finds the same moments, to the last bit, and refuses the same records."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pyarrow
import pytest
from pyarrow import parquet

from reference.budgets import SplitBudget
from reference.common.errors import DataError, MomentsTableError, ReadingError
from reference.common.exit_codes import EXIT_FINE, EXIT_USAGE
from reference.common.grid import DATA_STEPS
from reference.datasets.from_file import encode_raw
from reference.domain.attributes import Binned, Grouped, Numeric, OneHot, Ordinal
from reference.domain.file import DomainFile, domain_file_of, load_domain_file
from reference.domain.markers import Marker
from reference.domain.sql import moments_query
from reference.mechanisms import pdfc
from reference.moments import Moments
from tests.command_lines import ROOT
from tests.file_commands import DOMAIN, Run

ROWS = 5_000

DECLARED = DomainFile(
    attributes=(
        Numeric("age", 17, 90),
        Numeric("ga'in", 0, 1e5, clip=True),
        Numeric("share", -0.1, 0.7),
        Binned("hours", lower=0, upper=99, edges=(20, 40.5)),
        Ordinal('sch"ool', ("no'ne", "some", "much")),
        OneHot("code", (1, 2, 7)),
        Grouped("town", {"north": ("a", "b"), "south": ("c",)}),
    ),
    label=Marker("income", above=25_000.5),
    group=Marker("sex", one=("M",), zero=("F", "X")),
    ignore=("id",),
)


def columns(seed: int = 3) -> dict[str, Any]:
    random = np.random.default_rng(seed)

    def some(*values: Any) -> Any:
        return np.array(values)[random.integers(0, len(values), ROWS)]

    return {
        "id": np.arange(ROWS),
        "age": random.integers(17, 91, ROWS),
        "ga'in": random.random(ROWS) * 2e5 - 5e4,
        "share": random.random(ROWS) * 0.8 - 0.1,
        "hours": some(0, 19.5, 20, 40.5, 41, 99),
        'sch"ool': some("no'ne", "some", "much"),
        "code": some(1, 2, 7),
        "town": some("a", "b", "c"),
        "income": random.random(ROWS) * 5e4,
        "sex": some("M", "F", "X"),
    }


def asked(declared: DomainFile, held: dict[str, Any]) -> Any:
    """Return DuckDB's answer; threads may add up in any order."""
    with duckdb.connect() as database:
        database.execute("SET threads = 2")
        database.register("people", pyarrow.table(held))
        return database.sql(moments_query(declared, "people", DATA_STEPS)).to_arrow_table()


DOMAINS: dict[str, DomainFile] = {
    "every kind of attribute": DECLARED,
    "unit box": DECLARED.with_(norm="unit_box"),
    "intercept and group": DECLARED.with_(intercept=True, keep_group=True),
    "no group": DECLARED.with_(group=None, ignore=("id", "sex")),
    "others and a group of two values": DECLARED.with_(
        attributes=(
            OneHot("code", (1, 2), otherwise=2),
            Grouped("town", {"north": ("a",), "south": ("c",)}, otherwise="south"),
        ),
        group=Marker("sex", values=("M", "F")),
        label=Marker("income", above=25_000.5),
        ignore=tuple(name for name in columns() if name not in ("code", "town", "income", "sex")),
    ),
    "missing numbers": DECLARED.with_(
        attributes=(
            Numeric("age", 17, 90, missing=20.5),
            Numeric("ga'in", 0, 1e5, clip=True, missing=7),
            Binned("hours", lower=0, upper=99, edges=(20, 40.5), missing="own_bin"),
            Binned("share", lower=0, upper=0.5, edges=(0.25,), missing="own_bin", clip=True),
        ),
        ignore=("id", 'sch"ool', "code", "town"),
    ),
    "a clipped bin": DECLARED.with_(
        attributes=(Binned("hours", lower=10, upper=50, edges=(20,), clip=True),),
        ignore=tuple(name for name in columns() if name not in ("hours", "income", "sex")),
    ),
}


@pytest.mark.parametrize("name", list(DOMAINS))
def test_query_finds_the_same_moments(name: str) -> None:
    declared, held = DOMAINS[name], columns()
    if name == "missing numbers":
        for place, (column, absent) in enumerate(
            (("age", None), ("ga'in", math.nan), ("hours", None), ("share", None))
        ):
            held[column] = [absent if row % 5 == place else value for row, value in enumerate(held[column])]
    if declared.group is not None and declared.group.meanings.keys() == {"M", "F"}:
        held["sex"] = np.where(held["sex"] == "X", "F", held["sex"])
    expected = Moments.of(encode_raw(declared, held), exact=True)
    assert Moments.from_table(declared.domain, asked(declared, held)).table() == expected.table()


def test_release_follows_from_the_sums_of_a_database() -> None:
    release = pdfc(Moments.from_table(DECLARED.domain, asked(DECLARED, columns())), SplitBudget(1, 1))
    assert release.readings.noise == "hardened"
    assert release.w is not None


@pytest.mark.parametrize(
    ("column", "value"),
    [
        ("age", 91),
        ("age", None),
        ("share", math.nan),
        ("ga'in", math.nan),
        ("ga'in", math.inf),
        ("hours", -1),
        ('sch"ool', "None"),
        ("code", 3),
        ("town", None),
        ("income", math.nan),
        ("income", None),
        ("sex", "m"),
    ],
)
def test_query_refuses_the_records_that_the_domain_refuses(column: str, value: Any) -> None:
    held = {name: list(values) for name, values in columns().items()}
    held[column][1234] = value
    with pytest.raises(DataError):
        encode_raw(DECLARED, held)
    with pytest.raises(MomentsTableError, match=r"does not admit these records \(refused, value 1\)"):
        Moments.from_table(DECLARED.domain, asked(DECLARED, held))


def test_prescaled_rows_outside_the_ball_are_refused() -> None:
    attributes = (Numeric("a", 0, 1), Numeric("b", 0, 1))
    declared = DomainFile(attributes=attributes, label=Marker("y"), prescaled=True)
    inside = {"a": [0.6, 0.0], "b": [0.8, 1.0], "y": [0, 1]}
    assert Moments.from_table(declared.domain, asked(declared, inside)).n == 2
    with pytest.raises(MomentsTableError, match="refused"):
        Moments.from_table(declared.domain, asked(declared, {**inside, "a": [0.61, 0.0]}))


def test_no_record_is_said() -> None:
    held = {name: pyarrow.array(values)[:0] for name, values in columns().items()}
    with pytest.raises(MomentsTableError, match="is NULL, as of no record"):
        Moments.from_table(DECLARED.domain, asked(DECLARED, held))


def test_example_of_the_docs_runs(files: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(files)
    text = (ROOT / "docs" / "files.md").read_text(encoding="utf-8")
    (code,) = [block for block in re.findall(r"```python\n(.*?)```", text, re.DOTALL) if "from_table" in block]
    exec(code, names := {**globals(), "load_domain_file": load_domain_file})
    assert names["release"].w is not None


FORMS: dict[str, Callable[[dict[str, int]], Any]] = {
    "dict": lambda table: table,
    "dict of columns": lambda table: {name: [value] for name, value in table.items()},
    "rows": lambda table: list(table.items()),
    "decimals": lambda table: {name: Decimal(value) for name, value in table.items()},
    "Arrow": lambda table: pyarrow.table({"name": list(table), "value": list(table.values())}),
    "pandas": lambda table: pyarrow.table({name: [value] for name, value in table.items()}).to_pandas(),
}


@pytest.mark.parametrize("form", list(FORMS))
def test_tables_of_every_form_are_read(form: str) -> None:
    moments = Moments.of(encode_raw(DECLARED, columns()), exact=True)
    assert Moments.from_table(DECLARED.domain, FORMS[form](moments.table())).table() == moments.table()


@pytest.mark.parametrize("value", [0.5, True, None, 2.0**60, "7", [1, 2], Decimal("0.5"), math.nan])
def test_value_that_is_no_whole_number_is_refused(value: Any) -> None:
    table = Moments.of(encode_raw(DECLARED, columns()), exact=True).table()
    with pytest.raises(MomentsTableError, match="x_0"):
        Moments.from_table(DECLARED.domain, {**table, "x_0": value})


@pytest.mark.parametrize("text", ["\\' OR 1 = 1 --", "ends in \\", "two\nlines", "nothing\0"])
@pytest.mark.parametrize("place", ["category", "column", "label"])
def test_text_that_some_database_reads_otherwise_is_refused(text: str, place: str) -> None:
    category, column = ("a", "code") if place != "category" else (text, "code")
    declared = DomainFile(
        attributes=(Ordinal(text if place == "column" else column, (category, "b")),),
        label=Marker("y", one=(text if place == "label" else "1",), zero=("0",)),
    )
    with pytest.raises(ReadingError, match="backslash"):
        moments_query(declared, "people", DATA_STEPS)


def test_command_prints_the_query(run: Run, files: Path) -> None:
    code, out, err = run("domain", "--check", "domain.json", "--sql", "'people.parquet'")
    assert (code, err) == (EXIT_FINE, "")
    declared = domain_file_of(DOMAIN)
    assert out == moments_query(declared, "'people.parquet'", DATA_STEPS)
    found = duckdb.connect().sql(out.replace("'people.parquet'", f"'{files / 'people.parquet'}'"))
    moments = Moments.from_table(declared.domain, found.to_arrow_table())
    assert moments.n == parquet.read_metadata(files / "people.parquet").num_rows
    for words in (["--sql", "people"], ["--check", "domain.json", "--sql", "people", "--data", "people.csv"]):
        code, _, err = run("domain", *words)
        assert (code, err.count("\n")) == (EXIT_USAGE, 1)
    marked = {**DOMAIN["label"], "from_data": True}
    (files / "marked.json").write_text(json.dumps({**DOMAIN, "label": marked}))
    assert run("domain", "--check", "marked.json", "--sql", "people")[0] == EXIT_USAGE
