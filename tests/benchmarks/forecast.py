"""The forecast's constant, chosen on other tables than Adult: ``python -m tests.benchmarks.forecast``.

The rule: the constant of least squares, to one decimal, between the measured and the forecast share of the gain
that noise costs, over the frontier's rows without fairness of US, COMPAS and German; each table counts alike.  The
gain without noise is that of logistic regression on the same encoding, on the first splits.  Adult is reported,
beside regression on all splits.
"""

from __future__ import annotations

import argparse
import json
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from reference.budgets import Budget
from reference.experiments.frontier import encodings
from reference.repaired import signal_of
from reference.repaired.advice import LOST_AT_ONE
from tests.benchmarks.ceiling import PLAIN

DATA = Path(__file__).parents[2] / "docs" / "data"
OTHERS, REPORTED = ("us", "compas", "german"), "adult"
RECORDS = {"us": 370_000, "compas": 6_172, "german": 1_000, "adult": 48_842}
"""Of each table; a fit takes four fifths."""

CONSTANTS = np.arange(0.1, 10.0, 0.1)


class Loss(NamedTuple):
    """A row of the frontier without fairness: its signal, and which share of the gain was lost."""

    signal: float
    lost: float
    delta: str
    epsilon: str
    encoding: str


def losses(data: str) -> Iterator[Loss]:
    """Read the rows of a table."""
    document = json.loads((DATA / f"frontier-{data}.json").read_text(encoding="utf-8"))
    whole = regression_of(document)
    records = document["subset_size"] or RECORDS[data]
    train = records - math.ceil(records * document["test_share"])
    for row in document["rows"]:
        if row["fairness"] == "none" and whole[row["encoding"]] > 0:
            file = domain_of(data, row)
            signal = signal_of(train, file, Budget(row["epsilon"], row["delta"]))
            lost = min(1.0, max(0.0, 1 - row["gain"]["mean"] / whole[row["encoding"]]))
            yield Loss(signal, lost, row["delta"], row["epsilon"], row["encoding"])


def regression_of(document: dict[str, Any]) -> dict[str, float]:
    """Return the gain of logistic regression without noise under each encoding."""
    if document["data"] == REPORTED:
        ceiling = json.loads((DATA / f"ceiling-{REPORTED}.json").read_text(encoding="utf-8"))
        one = document["rows"][0]
        commoner = one["accuracy"]["mean"] - one["gain"]["mean"]
        return {name: row["all"][PLAIN]["mean"] - commoner for name, row in ceiling["encodings"].items()}
    return {
        one["encoding"]: one["gain"]["mean"]
        for one in document["references"]
        if one["name"] == "logistic regression, not private"
    }


def domain_of(data: str, row: dict[str, Any]) -> Any:
    """Return the domain of a row, by its number of columns."""
    found = [file.with_(keep_group=True).domain for file in encodings(data)[row["encoding"]]]
    return next(domain for domain in found if domain.dimension == row["columns"])


def forecast(constant: float, signal: float) -> float:
    return min(1.0, constant / (1 + signal))


def chosen() -> float:
    """Return the constant of least squares on the other tables."""
    tables = [list(losses(data)) for data in OTHERS]

    def miss(constant: float) -> float:
        squares = [[(one.lost - forecast(constant, one.signal)) ** 2 for one in table] for table in tables]
        return float(np.mean([np.mean(table) for table in squares]))

    return round(float(min(CONSTANTS, key=miss)), 1)


def main() -> None:
    """Print the choice, and how it does on Adult."""
    argparse.ArgumentParser(prog="python -m tests.benchmarks.forecast", description=__doc__).parse_args()
    constant = chosen()
    print(f"chosen on {', '.join(OTHERS)}: {constant}; committed: {LOST_AT_ONE}")
    for data in (REPORTED, *OTHERS):
        rows = list(losses(data))
        off = [one.lost - forecast(constant, one.signal) for one in rows]
        print(f"{data}: root mean square {np.sqrt(np.mean(np.square(off))):.3f}, mean {np.mean(off):+.3f}")
        for one in rows:
            print(
                f"  {one} forecast {forecast(constant, one.signal):.3f}, {forecast(LOST_AT_ONE, one.signal):.3f}"
            )


if __name__ == "__main__":
    main()
