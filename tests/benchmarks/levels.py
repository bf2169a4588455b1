"""How detailed public bins should be, chosen on US: ``python -m tests.benchmarks.levels --out FILE``.

Bins are the classes that a named official table prints.  Such tables have detailed and main rows; both are
compared on 20,000 records, on the same splits with the same seeds, as `tests.benchmarks.constants` compares
constants.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np

from reference.budgets import Budget
from reference.common.documents import plain
from reference.common.files import json_text, write_whole
from reference.datasets.public_bins import public_domains
from reference.domain.file import DomainFile, domain_file_of
from reference.experiments import frontier
from reference.repaired import signal_of
from tests.benchmarks.constants import COMMITTED, COMPARED, Place, gains

EPSILONS = ("0.1", "1")
PLACE = Place("us", EPSILONS, 20_000)

DETAILED: dict[str, Any] = {
    # Current Population Survey, tables 3 and 19; Educational Attainment, table 1; PUMS data dictionary
    "AGEP": [18, 20, 25, 30, 35, 40, 45, 50, 55, 60, 65, 70, 75],
    "WKHP": [1, 5, 15, 30, 35, 40, 41, 49, 60],
    "SCHL": [
        [1, 2, 3],
        [4, 5, 6, 7],
        [8, 9],
        [10, 11],
        [12],
        [13],
        [14, 15],
        [16, 17],
        [18, 19],
        *([k] for k in range(20, 25)),
    ],
    "MAR": [[1], [2], [3], [4], [5]],
}
MAIN: dict[str, Any] = {
    # tables E-15, 19 and 7; Employment and Earnings
    "AGEP": [20, 25, 35, 45, 55, 65],
    "WKHP": [1, 35],
    "SCHL": [list(range(1, 16)), [16, 17], [18, 19, 20], [21, 22, 23, 24]],
    "MAR": [[1], [2, 3, 4], [5]],
}


def with_classes(classes: dict[str, Any]) -> DomainFile:
    """Return US' domain file with other classes of these columns."""
    document = plain(public_domains("us")[0])
    for attribute in document["attributes"]:
        found = classes.get(attribute["name"])
        if found is None:
            continue
        if attribute["kind"] == "binned":
            attribute["edges"] = found
        else:
            attribute["groups"] = {str(place): values for place, values in enumerate(found)}
    return domain_file_of(document)


def measure(splits: int, seed: int) -> dict[str, Any]:
    """Return by how much detailed rows are better than main ones, with the signal of each."""
    files = {"detailed": with_classes(DETAILED), "main": with_classes(MAIN)}
    found = {}
    for name, file in files.items():
        frontier._wholes.cache_clear()
        with mock.patch.object(frontier, "public_domains", lambda _, file=file: (file,)):
            found[name] = np.array(gains(PLACE, {COMMITTED: {}}, splits, seed)[COMMITTED])
    frontier._wholes.cache_clear()
    better = (found["detailed"] - found["main"]).reshape(splits, len(EPSILONS), len(COMPARED)).mean(axis=2)
    train = 16_000
    domains = {name: file.with_(keep_group=True).domain for name, file in files.items()}
    return {
        "schema": "levels_v1",
        "data": "us",
        "records": 20_000,
        "splits": splits,
        "seed": seed,
        "better": "detailed rows over main ones: "
        "accuracy, less the difference between groups where fairness is asked for",
        "rows": [
            {
                "epsilon": epsilon,
                "better": float(better[:, at].mean()),
                "error": float(better[:, at].std(ddof=1) / np.sqrt(splits)),
                "signal": {n: round(signal_of(train, d, Budget(epsilon, "1e-5")), 1) for n, d in domains.items()},
            }
            for at, epsilon in enumerate(EPSILONS)
        ],
    }


def main() -> int:
    """Measure and write."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.levels", description=__doc__)
    parser.add_argument("--splits", type=int, default=12)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--out", type=Path, required=True)
    asked = parser.parse_args()
    found = measure(asked.splits, asked.seed)
    write_whole(asked.out, json_text(found))
    sys.stdout.write(json.dumps(found["rows"]) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
