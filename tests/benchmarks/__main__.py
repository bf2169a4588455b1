"""``make bench``: how a whole fit, checks included, compares with one matrix product.

Run with one BLAS thread (the Makefile sets it).  Each round times both, one after the other, so that a slow moment
of the machine meets both; the median of the rounds' ratios is printed.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np
import pyarrow
from pyarrow import csv as arrow_csv
from pyarrow import parquet

from reference.budgets import SplitBudget
from reference.classifier import PDFCClassifier
from reference.common.arrays import FloatArray
from reference.datasets.from_file import record_blocks
from reference.datasets.table import ROWS_READ
from reference.datasets.table_file import open_table
from reference.domain import Domain
from reference.domain.attributes import Numeric
from reference.domain.file import DomainFile
from reference.domain.markers import Marker
from reference.mechanisms import adfc, pdfc
from reference.moments import Moments
from reference.records import check_matrix

RECORDS, DIMENSION, ROUNDS = 370_000, 14, 15


def seconds(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def main() -> None:
    random = np.random.default_rng(0)
    x = random.random((RECORDS, DIMENSION)) / np.sqrt(DIMENSION)
    y = random.integers(0, 2, RECORDS).astype(float)
    z = random.integers(0, 2, RECORDS).astype(float)
    domain = Domain.of_columns([f"x{i}" for i in range(DIMENSION)])
    works: dict[str, Callable[[], object]] = {
        "check only": lambda: check_matrix(domain, x, y, z),
        "check + moments": lambda: Moments.of(check_matrix(domain, x, y, z)),
        "pdfc, whole": lambda: pdfc(Moments.of(check_matrix(domain, x, y, z), exact=True), SplitBudget(1, 1)),
        "adfc, whole": lambda: adfc(
            Moments.of(check_matrix(domain, x, y, z), exact=True), SplitBudget.equal(1, "1e-3")
        ),
    }
    estimator = PDFCClassifier(epsilon=1, bounds=(0, 1), random_state=0)
    letters = PDFCClassifier(epsilon=1, bounds=(0, 1), random_state=0, classes=("a", "b"), groups=("a", "b"))
    marks, groups, names = y.astype(int), z.astype(int), np.array(["a", "b"])
    works |= {
        "estimator, int64": lambda: estimator.fit(x, marks, sensitive_features=groups),
        "estimator, bool": lambda: estimator.fit(x, y == 1, sensitive_features=z == 1),
        "estimator, text": lambda: letters.fit(x, names[marks], sensitive_features=names[groups]),
    }
    product = lambda: x.T @ x  # noqa: E731
    product()
    print(f"n = {RECORDS:,}, d = {DIMENSION}, {ROUNDS} rounds; ratio to X.T @ X in the same round")
    print(f"{'work':<16} {'min':>6} {'median':>7} {'max':>6}   median seconds")
    for name, work in works.items():
        work()
        pairs = [(seconds(work), seconds(product)) for _ in range(ROUNDS)]
        ratios = [one / other for one, other in pairs]
        median = float(np.median([one for one, _ in pairs]))
        print(f"{name:<16} {min(ratios):6.2f} {np.median(ratios):7.2f} {max(ratios):6.2f}   {median:.4f}")
    print(f"X.T @ X: {float(np.median([seconds(product) for _ in range(ROUNDS)])):.4f} s")
    with tempfile.TemporaryDirectory() as folder:
        rates_of_files(Path(folder), x, y, z)


def summed(path: Path, declared: DomainFile) -> Moments:
    return record_blocks(open_table(path), declared).moments()


def rates_of_files(folder: Path, x: FloatArray, y: FloatArray, z: FloatArray) -> None:
    """Print the rate of checked moments from a file beside that of pyarrow's own decoding of it, on one thread."""
    columns = {f"x{j}": x[:, j] for j in range(DIMENSION)} | {"y": y.astype(np.int8), "z": z.astype(np.int8)}
    table = pyarrow.table(columns)
    arrow_csv.write_csv(table, folder / "x.csv")
    parquet.write_table(table, folder / "x.parquet")
    alone = {
        "x.csv": lambda path: arrow_csv.read_csv(path, arrow_csv.ReadOptions(use_threads=False)),
        "x.parquet": lambda path: [
            None for _ in parquet.ParquetFile(path, pre_buffer=False).iter_batches(ROWS_READ, use_threads=False)
        ],
    }
    attributes = tuple(Numeric(f"x{j}", 0, 1) for j in range(DIMENSION))
    declared = DomainFile(attributes=attributes, label=Marker("y"), group=Marker("z"))
    for name, decode in alone.items():
        path = folder / name
        pairs = [(seconds(partial(decode, path)), seconds(partial(summed, path, declared))) for _ in range(ROUNDS)]
        print(f"{name}: {np.median([one / other for one, other in pairs]):.2f} of the rate of pyarrow alone")


if __name__ == "__main__":
    main()
