"""What a fit of the recommended estimator takes on Adult: ``python -m tests.benchmarks.repaired`` renews its part.

From a pandas table of all 48,842 records as the files have it, with the shipped domain file and hardened noise;
beside scikit-learn's logistic regression on the same table, one-hot and scaled, in the same rounds.
``make bench`` measures it, too, where ``CFM_DATA`` has Adult.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.compose import make_column_transformer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from reference.common.documents import plain
from reference.common.files import json_text
from reference.datasets import SOURCES
from reference.datasets.adult import BOUNDS, FILES, HEADER
from reference.datasets.source import data_folder
from reference.repaired.classifier import RepairedClassifier
from tests.benchmarks.page import kept, write

ROUNDS = 7

OPTIONS: dict[str, dict[str, Any]] = {
    "group used": {},
    "group not used": {"group_at_prediction": False},
    "equalised odds": {"fairness": "equalised_odds"},
    "no fairness": {"fairness": "none"},
}


def adult() -> pd.DataFrame | None:
    """Return the table, or None where its files are missing."""
    folder = data_folder() / "adult"
    if not all((folder / name).is_file() for name in FILES):
        return None
    read: dict[str, Any] = {"names": HEADER, "skipinitialspace": True, "comment": "|", "keep_default_na": False}
    table = pd.concat([pd.read_csv(folder / name, **read) for name in FILES], ignore_index=True)
    return table.assign(income=table["income"].str.rstrip("."))


def spent(work: Callable[[], object]) -> tuple[float, float]:
    wall, cpu = time.perf_counter(), time.process_time()
    work()
    return time.perf_counter() - wall, time.process_time() - cpu


def measure() -> dict[str, Any] | None:
    """Return seconds and ratios of processor time, medians over rounds; None without Adult."""
    table = adult()
    if table is None:
        return None
    declared = SOURCES["adult"].domain_file("one_hot")
    label, group = declared.label.column, declared.group.column
    x, y, z = table.drop(columns=[label, group]), table[label], table[group]
    one_hot = [name for name in HEADER if name not in (*BOUNDS, label, "fnlwgt")]
    columns = make_column_transformer((OneHotEncoder(), one_hot), (StandardScaler(), list(BOUNDS)))

    def regression() -> None:
        make_pipeline(columns, LogisticRegression(max_iter=1000)).fit(table, y)

    def fit(options: dict[str, Any]) -> None:
        model = RepairedClassifier(domain=declared, **options)
        if options.get("fairness") == "none":
            model.fit(table.drop(columns=label), y)
        else:
            model.fit(x, y, sensitive_features=z)

    works = {name: lambda options=options: fit(options) for name, options in OPTIONS.items()}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for work in (regression, *works.values()):
            work()
        rounds = [
            {"regression": spent(regression)} | {n: spent(work) for n, work in works.items()}
            for _ in range(ROUNDS)
        ]

    def median(name: str, kind: int) -> float:
        return float(np.median([one[name][kind] for one in rounds]))

    def row(name: str) -> dict[str, float]:
        ratio = float(np.median([one[name][1] / one["regression"][1] for one in rounds]))
        found = {"cpu": ratio, "seconds": median(name, 0), "processor_seconds": median(name, 1)}
        return {key: round(value, 3) for key, value in found.items()}

    return {
        "records": len(table),
        "load": round(os.getloadavg()[0], 1),
        "regression": {"seconds": round(median("regression", 0), 3)},
        "works": {f"RepairedClassifier, {name}": row(name) for name in OPTIONS},
        "command": command(table, plain(declared)),
    }


def command(table: pd.DataFrame, declared: Any) -> dict[str, float]:
    """Return what the whole `fit` command takes on a CSV file, start included: seconds and processor seconds."""
    found = []
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        table.to_csv(place / "adult.csv", index=False)
        (place / "domain.json").write_text(json_text(declared), encoding="utf-8")
        words = (
            "-m reference fit --mechanism repaired --data adult.csv --domain domain.json --test-share 0 --release"
        )
        for at in range(5):
            arguments = [sys.executable, *words.split(), f"{at}.json"]
            path = os.pathsep.join([str(Path(__file__).parents[2]), os.environ.get("PYTHONPATH", "")])
            before, wall = os.times(), time.perf_counter()
            subprocess.run(
                arguments, check=True, capture_output=True, cwd=place, env={**os.environ, "PYTHONPATH": path}
            )
            after = os.times()
            cpu = after.children_user + after.children_system - before.children_user - before.children_system
            found.append((time.perf_counter() - wall, cpu))
    wall, cpu = np.median(found, axis=0)
    return {"seconds": round(float(wall), 2), "processor_seconds": round(float(cpu), 2)}


def main() -> None:
    argparse.ArgumentParser(prog="python -m tests.benchmarks.repaired", description=__doc__).parse_args()
    found = measure()
    if found is None:
        raise SystemExit("CFM_DATA has no Adult")
    print(json.dumps(found, indent=1))
    write({**kept(), "repaired": found})


if __name__ == "__main__":
    main()
