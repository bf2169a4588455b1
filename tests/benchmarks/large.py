"""One hundred million records of a Parquet file, once: ``python -m tests.benchmarks.large FOLDER int16 doubles``.

The folder needs 2 GB for whole numbers of two bytes, 12 GB for doubles; the file is removed at the end.  Each pass
runs in a process of its own, whose memory is that pass's: pyarrow's decoding on one thread, the checked and exact
sums, and, of whole numbers, the query of a database.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow
from pyarrow import parquet

from reference.common.grid import DATA_STEPS
from reference.datasets.from_file import record_blocks
from reference.datasets.opening import open_table
from reference.datasets.table import ROWS_READ
from reference.domain.attributes import Numeric
from reference.domain.file import DomainFile
from reference.domain.markers import Marker
from reference.domain.sql import moments_query
from tests.benchmarks.page import kept, write

RECORDS, DIMENSION, UPPER = 100_000_000, 14, 1000
GROUP = 2**20

DECLARED = DomainFile(
    attributes=tuple(Numeric(f"x{j}", 0, UPPER) for j in range(DIMENSION)), label=Marker("y"), group=Marker("z")
)

NUMBERS: dict[str, tuple[str, Callable[[np.random.Generator, int], Any]]] = {
    "int16": ("int16", lambda random, rows: random.integers(0, UPPER + 1, rows, np.int16)),
    "doubles": ("double", lambda random, rows: random.uniform(0, UPPER, rows)),
}


def write_file(path: Path, records: int, kind: str) -> None:
    """Write numbers of a kind, new ones for each row group."""
    random = np.random.default_rng(0)
    names, (held, made) = [f"x{j}" for j in range(DIMENSION)], NUMBERS[kind]
    schema = pyarrow.schema([(name, held) for name in names] + [("y", "int8"), ("z", "int8")])
    with parquet.ParquetWriter(path, schema) as writer:
        for start in range(0, records, GROUP):
            rows = min(GROUP, records - start)
            columns = [made(random, rows) for _ in names]
            columns += [random.integers(0, 2, rows, np.int8) for _ in "yz"]
            writer.write_table(pyarrow.table(columns, schema=schema), GROUP)


def decode(path: Path) -> None:
    for _ in parquet.ParquetFile(path, pre_buffer=False).iter_batches(ROWS_READ, use_threads=False):
        pass


def add_up(path: Path) -> dict[str, int]:
    return record_blocks(open_table(path), DECLARED).moments(exact=True).table()


def query(path: Path) -> dict[str, int]:
    import duckdb

    database = duckdb.connect(config={"threads": 1, "memory_limit": "1GB"})
    found = database.sql(moments_query(DECLARED, f"'{path}'", DATA_STEPS)).to_arrow_table().to_pylist()[0]
    return {name: int(value) for name, value in found.items() if name != "refused"}


PASSES = {"nothing": lambda _: None, "decode": decode, "add up": add_up, "query": query}


def measured(name: str, path: Path) -> dict[str, Any]:
    """Run one pass in a process of its own."""
    words = [sys.executable, "-m", "tests.benchmarks.large", str(path), "--pass", name]
    return dict(json.loads(subprocess.run(words, check=True, capture_output=True, text=True).stdout))


def one_pass(name: str, path: Path) -> dict[str, Any]:
    wall, cpu = time.perf_counter(), time.process_time()
    found = PASSES[name](path)
    spent = {"wall": round(time.perf_counter() - wall, 2), "cpu": round(time.process_time() - cpu, 2)}
    return {**spent, "mebibytes": peak(), "found": found}


def peak() -> int:
    """Return the most memory that this process has held."""
    state = Path("/proc/self/status").read_text(encoding="ascii")
    return int(state.split("VmHWM:")[1].split()[0]) // 1024


def of_kind(kind: str, folder: Path) -> dict[str, Any]:
    """Return what each pass over a file takes."""
    path = folder / f"{kind}.parquet"
    try:
        write_file(path, RECORDS, kind)
        names = [name for name in PASSES if name != "query" or kind == "int16"]
        found: dict[str, Any] = {name: measured(name, path) for name in names}
        size = path.stat().st_size
    finally:
        path.unlink(missing_ok=True)
    sums = [found[name].pop("found") for name in names][2:]
    assert all(one == sums[0] for one in sums), "the query finds other sums"
    assert sums[0]["n"] == RECORDS
    return found | {"records": RECORDS, "bytes": size, "load": round(os.getloadavg()[0], 1)}


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.large", description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("kinds", nargs="*", metavar="KIND", help=" or ".join(NUMBERS) + "; all unless told")
    # of a file, by a process of its own
    parser.add_argument("--pass", dest="alone", choices=PASSES, help=argparse.SUPPRESS)
    asked = parser.parse_args()
    # argparse's own choices refuse an empty list
    if unknown := sorted(set(asked.kinds) - set(NUMBERS)):
        parser.error(f"unknown kind: {', '.join(unknown)}")
    if asked.alone:
        print(json.dumps(one_pass(asked.alone, asked.folder)))
        return
    for kind in asked.kinds or NUMBERS:
        found = of_kind(kind, asked.folder)
        print(json.dumps({kind: found}, indent=1))
        write({**kept(), "large": kept()["large"] | {kind: found}})


if __name__ == "__main__":
    main()
