"""``make bench``: how a whole fit, checks included, compares with one matrix product.

Run with one BLAS thread (the Makefile sets it).  Each round times both, one after the other, so that a slow moment
of the machine meets both; the median of the rounds' ratios is printed.
"""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np

from reference.budgets import SplitBudget
from reference.domain import Domain
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
        "pdfc, whole": lambda: pdfc(Moments.of(check_matrix(domain, x, y, z)), SplitBudget(1, 1)),
        "adfc, whole": lambda: adfc(Moments.of(check_matrix(domain, x, y, z)), SplitBudget.equal(1, "1e-3")),
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


if __name__ == "__main__":
    main()
