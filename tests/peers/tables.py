"""The repaired mechanism on made tables that it was not tuned for: ``python -m tests.peers.tables --out FILE``.

It needs the environment of ``make peers``.  Beside it are diffprivlib's logistic regression as it comes, given the
same declared bounds and categories and a delta of 0, and one that is not private.
"""

from __future__ import annotations

import argparse
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from sklearn.datasets import load_breast_cancer, load_digits, make_classification
from sklearn.linear_model import LogisticRegression

from reference.common.arrays import FloatArray, IntArray
from reference.common.files import json_text, write_whole
from reference.domain.attributes import Numeric, OneHot
from reference.domain.file import DomainFile
from reference.domain.markers import Marker
from reference.repaired.classifier import RepairedClassifier

EPSILONS = ("0.1", "1")


class Table(NamedTuple):
    """Columns by name, labels 0 and 1, and what is declared of the columns."""

    columns: dict[str, Any]
    y: IntArray
    attributes: tuple[Numeric | OneHot, ...]

    def take(self, rows: IntArray) -> dict[str, Any]:
        """Return some of the rows."""
        return {name: values[rows] for name, values in self.columns.items()}


def numbers(x: FloatArray, y: IntArray, bounds: list[tuple[float, float]]) -> Table:
    """Return a table of numbers."""
    names = [f"c{place}" for place in range(x.shape[1])]
    declared = (Numeric(name, *pair, clip=True) for name, pair in zip(names, bounds, strict=True))
    return Table(dict(zip(names, x.T, strict=True)), y, tuple(declared))


def drawn(random: np.random.Generator, scores: FloatArray) -> IntArray:
    """Return labels from log odds."""
    return (random.random(len(scores)) < 1 / (1 + np.exp(-scores))).astype(int)


def separated(n: int, wide: float, rare: float = 0.5) -> Table:
    """Return clusters of numbers within wide bounds."""
    x, y = make_classification(n, 10, n_informative=5, weights=[1 - rare], random_state=11)
    return numbers(x, y, [(-wide, wide)] * 10)


def balances(n: int) -> Table:
    """Return amounts around 0 with wide bounds."""
    random = np.random.default_rng(6)
    x = random.laplace(0, 1, (n, 6)) * [500, 2000, 100, 10, 5, 3000]
    y = drawn(random, np.sign(x) * np.log1p(np.abs(x)) @ [0.3, -0.2, 0.3, 0.5, -0.5, 0.1])
    return numbers(x, y, [(-most, 2 * most) for most in (1e4, 1e5, 1e3, 100, 50, 1e5)])


def amounts(n: int) -> Table:
    """Return skewed amounts from 0 on."""
    random = np.random.default_rng(1)
    logs = random.normal(0, 1.5, (n, 6)) * [1, 1, 2, 0.5, 1, 1] + [3, 6, 2, 1, 0, 8]
    scores = logs @ [0.8, -0.6, 0.3, 0, 1, -0.7]
    y = drawn(random, 1.5 * (scores - np.median(scores)))
    return numbers(np.exp(logs), y, [(0, most) for most in (1e4, 1e6, 1e5, 100, 1e3, 1e7)])


def levels(n: int) -> Table:
    """Return columns of many categories, and an age."""
    random = np.random.default_rng(2)
    columns: dict[str, Any] = {"age": random.integers(18, 90, n)}
    attributes: list[Numeric | OneHot] = [Numeric("age", 0, 120)]
    scores = (columns["age"] - 50) / 15 - 1
    for name, count in (("zip", 150), ("job", 40), ("school", 8)):
        codes = random.choice(count, n, p=random.dirichlet(np.full(count, 0.7)))
        scores = scores + random.normal(0, 1, count)[codes]
        columns[name] = np.array([f"{name} {code}" for code in codes])
        attributes.append(OneHot(name, tuple(f"{name} {code}" for code in range(count))))
    return Table(columns, drawn(random, scores), tuple(attributes))


def body(n: int) -> Table:
    """Return measures that fill a small part of their declared bounds."""
    random = np.random.default_rng(5)
    x = random.normal([170, 75, 125, 50, 200], [10, 15, 15, 12, 35], (n, 5))
    scores = (x[:, 2] - 125) / 12 + (x[:, 1] - 75) / 12 + (x[:, 3] - 50) / 15 + (x[:, 4] - 200) / 50
    return numbers(x, drawn(random, scores), [(0, 300), (0, 300), (0, 300), (0, 120), (0, 600)])


def cancer() -> Table:
    """Return 569 records of 30 numbers, each declared up to the next power of ten."""
    x, y = load_breast_cancer(return_X_y=True)
    return numbers(x, y, [(0.0, 10.0 ** np.ceil(np.log10(most))) for most in x.max(axis=0)])


def digits() -> Table:
    """Return 1,797 pictures: is the digit 5 or more?"""
    x, y = load_digits(return_X_y=True)
    return numbers(x, (y >= 5).astype(int), [(0, 16)] * 64)


def months(n: int) -> Table:
    """Return 24 numbers that say nearly the same, as balances of months do."""
    random = np.random.default_rng(8)
    truth = random.normal(size=n)
    x = truth[:, None] + random.normal(0, 0.1, (n, 24))
    return numbers(x, drawn(random, 1.5 * truth - 1), [(-4, 4)] * 24)


TABLES: dict[str, Callable[[], Table]] = {
    "clusters, bounds of 5": lambda: separated(5000, 5),
    "clusters, bounds of 1,000": lambda: separated(5000, 1000),
    "one label in a hundred": lambda: separated(20_000, 10, 0.01),
    "balances around 0": lambda: balances(8000),
    "skewed amounts": lambda: amounts(10_000),
    "many levels": lambda: levels(20_000),
    "measures in wide bounds": lambda: body(5000),
    "24 months alike": lambda: months(20_000),
    "digits": digits,
    "cancer": cancer,
    "300 records": lambda: separated(300, 5),
}


def plain_encoding(table: Table, rows: IntArray) -> FloatArray:
    """Return numbers scaled to [-1, 1] by their bounds and one-hot categories, inside the unit ball."""
    parts = []
    for attribute in table.attributes:
        values = table.columns[attribute.name][rows]
        encoded = attribute.encode(values, clip=True)
        parts.append(encoded * 2 - 1 if isinstance(attribute, Numeric) else encoded)
    return np.hstack(parts) / np.sqrt(len(parts))


def measured(table: Table, split: int) -> dict[str, float]:
    """Return the accuracy of every model on the fifth that is held out, and the number of columns of ours."""
    from diffprivlib.models import LogisticRegression as PrivateRegression

    order = np.random.default_rng([split, 100]).permutation(len(table.y))
    test, train = np.split(order, [len(order) // 5])
    x, held = plain_encoding(table, train), plain_encoding(table, test)
    scale = np.maximum(x.std(axis=0), 1e-3)
    truth, labels = table.y[test], table.y[train]
    known = LogisticRegression(max_iter=300).fit(x / scale, labels)
    found = {
        "majority": float(max(truth.mean(), 1 - truth.mean())),
        "not private": float((known.predict(held / scale) == truth).mean()),
    }
    declared = DomainFile(attributes=table.attributes, label=Marker("y"))
    for epsilon in EPSILONS:
        model = RepairedClassifier(domain=declared, epsilon=epsilon, fairness="none", random_state=split)
        model.fit(table.take(train), labels)
        predicted = model.predict(table.take(test))
        found[f"repaired, {epsilon}"] = float((predicted == truth).mean())
        other = PrivateRegression(epsilon=float(epsilon), data_norm=1.0, random_state=split, max_iter=500)
        found[f"diffprivlib, {epsilon}"] = float((other.fit(x, labels).predict(held) == truth).mean())
    return found


def main() -> int:
    """Measure, and write one document."""
    parser = argparse.ArgumentParser(prog="python -m tests.peers.tables", description=__doc__)
    parser.add_argument("--splits", type=int, default=10)
    parser.add_argument("--out", type=Path, required=True)
    asked = parser.parse_args()
    rows = []
    for name, make in TABLES.items():
        table = make()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = [measured(table, split) for split in range(asked.splits)]
        means = {
            key: {
                "mean": float(np.mean([one[key] for one in found])),
                "std": float(np.std([one[key] for one in found], ddof=1)),
            }
            for key in found[0]
        }
        rows.append({"table": name, "records": len(table.y), "attributes": len(table.attributes), **means})
        sys.stderr.write(f"{name}\n")
    document = {"schema": "made_tables_v1", "splits": asked.splits, "test_share": 0.2, "rows": rows}
    write_whole(asked.out, json_text(document))
    return 0


if __name__ == "__main__":
    sys.exit(main())
