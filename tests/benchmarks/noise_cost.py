"""What noise costs the model without fairness, release by release: ``python -m tests.benchmarks.noise_cost``.

Each model is fitted on the frontier's splits with its seeds, all with the schedule and the ridge of the budget.  A
release without noise is for study only.  Differences are taken split by split.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias
from unittest import mock

from sklearn.linear_model import LogisticRegression

from reference.accounting import NOT_PRIVATE
from reference.budgets import Budget
from reference.common.arrays import FloatArray, NumberArray
from reference.common.files import json_text, write_whole
from reference.experiments import frontier
from reference.experiments.frontier import FrontierDesign, finest, split_of
from reference.records import Records
from reference.repaired import algorithm, repaired_logistic
from reference.repaired.curator import Curator
from reference.repaired.spent import COUNTS, GRADIENT
from tests.benchmarks.ceiling import summed

REGRESSION = "logistic regression"
SILENT = {"descent without noise": (COUNTS, GRADIENT), "noise of the counts": (GRADIENT,)}
SILENT |= {"noise of the later gradients": (COUNTS,), "ours": ()}
"""Models, each with what it releases without noise."""


def curator_without(silent: tuple[str, ...]) -> type[Curator]:
    """Return a curator that draws the same noise, and leaves it out of some releases."""

    class Quiet(Curator):
        def release(self, values: NumberArray, *given: Any) -> FloatArray:
            noisy = super().release(values, *given)
            return values.astype(float) if given[-1] in silent else noisy

    return Quiet


def on_split(train: Records, test: Records, budget: Budget, seed: int) -> dict[str, float]:
    """Return the accuracy of each model, and what it loses to the one before."""
    scale = 1 / train.domain.column_factor
    exact = LogisticRegression(C=100, solver="newton-cholesky", tol=1e-8).fit(train.x * scale, train.y)
    found = {REGRESSION: float((exact.predict(test.x * scale) == test.y).mean())}
    for name, silent in SILENT.items():
        with mock.patch.object(algorithm, "Curator", curator_without(silent)):
            model = repaired_logistic(train, budget, noise="numpy", rng=seed)
        found[name] = float((model.predict(test.x, test.z) == test.y).mean())
    still = found["descent without noise"]
    costs = {f"{name}, cost": still - found[name] for name, silent in SILENT.items() if len(silent) < 2}
    return found | {"descent, cost": found[REGRESSION] - still} | costs


OnSplit: TypeAlias = Callable[[Records, Records, Budget, int], dict[str, float]]


def measure(
    design: FrontierDesign,
    encoding: str,
    epsilon: str,
    *,
    each: OnSplit = on_split,
    schema: str = "noise_cost_v1",
) -> dict[str, Any]:
    """Return mean and standard error of each number that a split gives."""
    found, budget = [], Budget(epsilon, "1e-5")
    for split in range(design.splits):
        trains, tests = split_of(design, encoding, split)
        place = finest(trains, budget)
        # as the frontier fits the model without fairness: the group is a feature like others
        train, test = trains[place].by_group[True], tests[place].by_group[True]
        found.append(each(train, test, budget, design.seed + split))
        sys.stderr.write(f"{design.data}, {encoding}: {split + 1} of {design.splits} splits\n")
    return {
        "schema": schema,
        "note": NOT_PRIVATE,
        "data": design.data,
        "encoding": encoding,
        "epsilon": epsilon,
        "delta": "1e-5",
        "splits": design.splits,
        "seed": design.seed,
        "numbers": summed(found),
    }


def main() -> int:
    """Measure, write and print."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.noise_cost", description=__doc__)
    parser.add_argument("--data", choices=frontier.DATA, default="adult")
    parser.add_argument("--encoding", choices=("public", "generic"), default="public")
    parser.add_argument("--epsilon", default="1")
    parser.add_argument("--splits", type=int, default=frontier.SPLITS)
    parser.add_argument("--out", type=Path, required=True)
    asked = parser.parse_args()
    found = measure(FrontierDesign(asked.data, splits=asked.splits), asked.encoding, asked.epsilon)
    write_whole(asked.out, json_text(found))
    for name, one in found["numbers"].items():
        print(f"{name}: {one['mean']:.4f} ± {one['error']:.4f}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
