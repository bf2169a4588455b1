"""``make bench``: what this code costs, as ratios to what others need for the same data in the same round.

Run with one BLAS thread (the Makefile sets it).  Each round times both, one after the other, so that a slow moment
of the machine meets both; the median of the rounds' ratios counts.  ``--write`` renews ``docs/benchmarks``.
"""

from __future__ import annotations

import argparse
import json
import logging
import os
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any, cast

import numpy as np
import pyarrow
from pyarrow import csv as arrow_csv
from pyarrow import feather, parquet
from sklearn.linear_model import LogisticRegression

from reference.accounting import statements
from reference.budgets import SplitBudget
from reference.classifier import PDFCClassifier
from reference.datasets.cluster import Cluster
from reference.datasets.from_file import FileReader, record_blocks
from reference.datasets.opening import open_table
from reference.datasets.table import ROWS_READ
from reference.domain import Domain
from reference.domain.attributes import Numeric
from reference.domain.file import DomainFile
from reference.domain.markers import Marker
from reference.fairness import ConstantPredictorWarning
from reference.mechanisms import pdfc, pdfc_noise
from reference.moments import Moments
from reference.readings import Readings
from reference.records import check_matrix
from reference.sensitivity import ball_l1, declared_of
from tests.benchmarks import repaired
from tests.benchmarks.page import kept, slope, text_of, write

RECORDS, DIMENSION, ROUNDS = 370_000, 14, 9
SIZES, WIDTHS = (50_000, 100_000, 200_000, 400_000), (16, 32, 64, 128, 256)
MORE, GROUPS = 12, 72
"""How many times the records are in the files of one process, and in that of several."""

PEER, PEERS = (
    "diffprivlib's LogisticRegression, in its own environment",
    Path(__file__).parents[2] / ".venv-peers/bin/python",
)
"""A private rival, and the Python that has it."""

WIDE = 40_000
"""Records of the tables of several widths."""

Work = Callable[[], object]


def seconds(work: Work) -> tuple[float, float]:
    """Return wall and processor time."""
    wall, cpu = time.perf_counter(), time.process_time()
    work()
    return time.perf_counter() - wall, time.process_time() - cpu


def ratio(work: Work, unit: Work, rounds: int = ROUNDS) -> dict[str, float]:
    """Return how often a work takes as long as another: by the clock, and in processor time of all threads."""
    work()
    unit()
    pairs = [(seconds(work), seconds(unit)) for _ in range(rounds)]
    found = (float(np.median([one[kind] / other[kind] for one, other in pairs])) for kind in (0, 1))
    return dict(zip(("wall", "cpu"), (round(value, 3) for value in found), strict=True))


def data(n: int, d: int) -> tuple[Any, Any, Any]:
    random = np.random.default_rng(0)
    return random.random((n, d)), random.integers(0, 2, n), random.integers(0, 2, n)


def of_arrays() -> dict[str, dict[str, float]]:
    """Compare fits from arrays with one matrix product."""
    x, y, z = data(RECORDS, DIMENSION)
    names = np.array(["a", "b"])
    bools, texts = (y == 1, z == 1), (names[y], names[z])
    scaled, domain = x / np.sqrt(DIMENSION), Domain.of_columns([f"x{j}" for j in range(DIMENSION)])
    seeded = PDFCClassifier(epsilon=1, bounds=(0, 1), random_state=0)
    letters = PDFCClassifier(epsilon=1, bounds=(0, 1), random_state=0, classes=("a", "b"), groups=("a", "b"))
    hardened = PDFCClassifier(epsilon=1, bounds=(0, 1))
    works: dict[str, Work] = {
        "check and add up": lambda: Moments.of(check_matrix(domain, scaled, y, z)),
        "check and add up exactly": lambda: Moments.of(check_matrix(domain, scaled, y, z), exact=True),
        "PDFCClassifier, int64 labels": lambda: seeded.fit(x, y, sensitive_features=z),
        "PDFCClassifier, bool labels": lambda: seeded.fit(x, bools[0], sensitive_features=bools[1]),
        "PDFCClassifier, texts": lambda: letters.fit(x, texts[0], sensitive_features=texts[1]),
        "PDFCClassifier, hardened": lambda: hardened.fit(x, y, sensitive_features=z),
    }
    found = {name: ratio(work, lambda: x.T @ x) for name, work in works.items()}
    found["scikit-learn's LogisticRegression"] = ratio(lambda: LogisticRegression().fit(x, y), lambda: x.T @ x, 3)
    return {**found, PEER: of_peer()}


def of_peer() -> Any:
    """Compare the fit of a library that needs another environment; without it, return what is kept."""
    if not PEERS.is_file():
        return kept()["arrays"][PEER]
    words = [str(PEERS), "-m", "tests.benchmarks.peer"]
    return json.loads(subprocess.run(words, check=True, stdout=subprocess.PIPE, text=True).stdout)


def of_releases() -> dict[str, dict[str, float]]:
    """Compare a hardened release with one of numpy's noise, from the same sums."""
    x, y, z = data(10_000, DIMENSION)
    domain = Domain.of_columns([f"x{j}" for j in range(DIMENSION)])
    records = check_matrix(domain, x / np.sqrt(DIMENSION), y, z)
    exact, rounded = Moments.of(records, exact=True), Moments.of(records)
    budget = SplitBudget(1, 1)
    return {"hardened noise": ratio(lambda: pdfc(exact, budget), lambda: pdfc(rounded, budget, rng=0))}


def of_statements() -> dict[str, dict[str, float]]:
    """Compare the exact privacy of a release, computed anew, with the fit that states it."""
    x, y, z = data(WIDE, DIMENSION)
    domain = Domain.of_columns([f"x{j}" for j in range(DIMENSION)])
    readings, budget = Readings("covariance", noise="hardened"), SplitBudget(1, 1)
    where, noise = declared_of(domain, readings, s=0), pdfc_noise(domain, budget, readings, 0)

    def anew() -> None:
        for cached in (statements._exact_privacy, statements._exact_privacy_on_grid, ball_l1._solve):
            cached.cache_clear()
        statements.privacy_of(where, noise, None, Fraction(0))

    def fit() -> None:
        anew()
        pdfc(Moments.of(check_matrix(domain, x / np.sqrt(DIMENSION), y, z), exact=True), budget, readings)

    return {"privacy": ratio(anew, fit), "records": {"cpu": WIDE}}


def declared(upper: int = 1) -> DomainFile:
    attributes = tuple(Numeric(f"x{j}", 0, upper) for j in range(DIMENSION))
    return DomainFile(attributes=attributes, label=Marker("y"), group=Marker("z"))


def busy() -> dict[str, Any]:
    """Return the load, and whether this process goes first."""
    return {"load": round(os.getloadavg()[0], 1), "first": os.sched_getscheduler(0) != os.SCHED_OTHER}


def of_files(folder: Path) -> dict[str, Any]:
    """Compare checked, exact sums of a file with pyarrow's decoding of it: the share of its rate."""
    x, y, z = data(RECORDS, DIMENSION)
    marks = {"y": y.astype(np.int8), "z": z.astype(np.int8)}
    doubles = pyarrow.table({f"x{j}": x[:, j] for j in range(DIMENSION)} | marks)
    whole = pyarrow.table({f"x{j}": (x[:, j] * 1000).astype(np.int16) for j in range(DIMENSION)} | marks)
    arrow_csv.write_csv(doubles, folder / "doubles.csv")
    # of formats that are read faster, more
    doubles, whole = (pyarrow.concat_tables([table] * MORE) for table in (doubles, whole))
    parquet.write_table(doubles, folder / "doubles.parquet")
    parquet.write_table(whole, folder / "int16.parquet")
    feather.write_feather(doubles, folder / "doubles.arrow", compression="lz4")

    def decoded(path: Path, threads: int) -> None:
        pyarrow.set_cpu_count(threads)
        if path.suffix == ".csv":
            arrow_csv.read_csv(path, arrow_csv.ReadOptions(use_threads=threads > 1))
        elif path.suffix == ".parquet":
            for _ in parquet.ParquetFile(path, pre_buffer=False).iter_batches(ROWS_READ, use_threads=threads > 1):
                pass
        else:
            file = pyarrow.ipc.open_file(pyarrow.OSFile(str(path)))
            for index in range(file.num_record_batches):
                file.get_batch(index)

    def summed(path: Path) -> Moments:
        # after two threads of pyarrow, which it keeps
        upper = 1000 if path.name.startswith("int16") else 1
        return record_blocks(open_table(path), declared(upper)).moments(exact=True)

    def shares(path: Path) -> dict[str, float]:
        rounds = []
        for _ in range(21):
            one, two = (seconds(partial(decoded, path, threads)) for threads in (1, 2))
            wall, cpu = seconds(partial(summed, path))
            rounds.append((one[0] / wall, two[0] / wall, one[1] / cpu))
        # the first round warms the cache
        found = np.median(rounds[1:], axis=0)
        return dict(zip(("clock", "two", "cpu"), (round(float(value), 3) for value in found), strict=True))

    names = ("doubles.csv", "doubles.parquet", "int16.parquet", "doubles.arrow")
    return {**busy(), **{name: shares(folder / name) for name in names}}


def pin(core: int) -> None:
    """Keep all threads of a process on one core."""
    for thread in Path("/proc/self/task").iterdir():
        os.sched_setaffinity(int(thread.name), {core})


def of_workers(folder: Path) -> dict[str, Any]:
    """Compare one worker process with two, each on a core of its own, on a file that both take from the cache."""
    import distributed

    path = folder / "many.parquet"
    group = parquet.read_table(folder / "int16.parquet").slice(0, RECORDS)
    with parquet.ParquetWriter(path, group.schema) as writer:
        for _ in range(GROUPS):
            writer.write_table(group)
    quiet: dict[str, Any] = {"dashboard_address": "127.0.0.1:0", "silence_logs": logging.CRITICAL}
    made, client_of = cast(Any, distributed.LocalCluster), cast(Any, distributed.Client)
    reader = FileReader(open_table(path), declared(1000))

    def spent(count: int) -> tuple[float, float]:
        """Return the time by the clock, and the most processor time of a worker."""
        # workers that wait take time too, so only those that are measured are there
        workers = made(n_workers=count, threads_per_worker=1, **quiet)
        address = workers.scheduler_address
        with workers, client_of(address) as client, Cluster(address) as used:
            client.wait_for_workers(count)
            for core, worker in enumerate(client.scheduler_info()["workers"]):
                client.run(pin, core, workers=[worker])
            used.moments(reader)
            before = client.run(time.process_time)
            wall = seconds(partial(used.moments, reader))[0]
            after = client.run(time.process_time)
        return wall, max(after[worker] - before[worker] for worker in after)

    rounds = [np.divide(spent(1), spent(2)) for _ in range(7)]
    return {"two workers": dict(zip(("wall", "cpu"), np.median(rounds, axis=0).round(3).tolist(), strict=True))}


def of_imports() -> dict[str, Any]:
    """Return the processor time of imports, each in a process of its own, one after the other: the least of ten.

    Byte code may be written, as installers write it.  scikit-learn imports pandas only where it can.
    """
    environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": ""}
    imports = {name: f"import {name}" for name in ("reference.mechanisms", "reference.classifier", "sklearn.base")}
    imports["without.pandas"] = "sys.modules['pandas'] = None; import reference.classifier"

    def spent(statement: str) -> float:
        words = [sys.executable, "-c", f"import sys, time; {statement}; print(time.process_time())"]
        return float(subprocess.run(words, check=True, capture_output=True, text=True, env=environment).stdout)

    rounds = [{name: spent(statement) for name, statement in imports.items()} for _ in range(10)]
    found = {name: {"cpu": round(min(one[name] for one in rounds), 2)} for name in imports}
    return {**found, "load": round(os.getloadavg()[0], 1)}


def growth() -> dict[str, dict[str, Any]]:
    """Fit the exponents with which a fit's processor time grows in n and in d."""
    estimator = PDFCClassifier(epsilon=1, bounds=(0, 1), random_state=0)

    def spent(n: int, d: int) -> float:
        x, y, z = data(n, d)
        return min(seconds(lambda: estimator.fit(x, y, sensitive_features=z))[1] for _ in range(4))

    found = {}
    for name, values, times in (
        ("n", SIZES, [spent(n, DIMENSION) for n in SIZES]),
        ("d", WIDTHS, [spent(WIDE, d) for d in WIDTHS]),
    ):
        relative = [round(value / times[0], 3) for value in times]
        found[name] = {"values": list(values), "times": relative, "exponent": round(slope(values, times), 2)}
    return found


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks", description=__doc__)
    parser.add_argument("--write", action="store_true", help="renew docs/benchmarks.*")
    asked = parser.parse_args(arguments)
    warnings.simplefilter("ignore", ConstantPredictorWarning)
    with tempfile.TemporaryDirectory() as folder:
        found = {
            **busy(),
            "cores": os.cpu_count(),
            "arrays": of_arrays(),
            "releases": of_releases(),
            "statements": of_statements(),
            "repaired": repaired.measure() or kept()["repaired"],
            "files": of_files(Path(folder)),
            "workers": of_workers(Path(folder)),
            "imports": of_imports(),
            "growth": growth(),
            "large": kept()["large"],
        }
    print(text_of(found))
    if asked.write:
        write(found)


if __name__ == "__main__":
    main()
