"""What other constants would reach on Adult, in hindsight: ``python -m tests.benchmarks.hindsight``.

Each setting replaces constants of the descent, for the model without fairness, on the frontier's splits with its
seeds.  It shows what the choice of constants costs.  It is not used to choose them: Adult is what we report.
"""

from __future__ import annotations

import argparse
import sys
from functools import partial
from pathlib import Path
from typing import Any

from reference.budgets import Budget
from reference.common.files import json_text, write_whole
from reference.domain import Domain
from reference.experiments.frontier import FrontierDesign
from reference.records import Records
from reference.repaired import repaired_logistic, schedule
from tests.benchmarks.constants import COMMITTED, Choice, using
from tests.benchmarks.noise_cost import measure


def steps(curvature: float, ridge: float, averaged: float = 0.4, neighbours: float = 0.5) -> Choice:
    """Return these constants of the descent; the curvature is a fraction's denominator."""
    return {
        "descent.CURVATURE": 1 / curvature,
        "descent.RIDGE": ridge,
        "descent.AVERAGED": averaged,
        "descent.NEIGHBOURS": neighbours,
    }


def rounds_by(power: float, n: int, domain: Domain, budget: Budget, share: Any, most: int | None = None) -> int:
    """Return the signal to this power, within the schedule's limits."""
    wanted = round(schedule.signal_of(n, domain, budget, share) ** power)
    return min(most or schedule.MOST_ROUNDS, max(schedule.FEWEST_ROUNDS, wanted))


SETTINGS: dict[str, Choice] = {
    COMMITTED: {},
    "ridge 1.5": steps(4, 1.5),
    "ridge 3": steps(4, 3),
    "neighbours .7": steps(4, 2, neighbours=0.7),
    "average of .6": steps(4, 2, averaged=0.6),
    "curvature 1/5, ridge 2.2": steps(5, 2.2),
    "curvature 1/6": steps(6, 2),
    "curvature 1/6, ridge 2.5": steps(6, 2.5),
    "curvature 1/6, ridge 2.5, average of .5": steps(6, 2.5, 0.5),
    "curvature 1/6, ridge 2.5, neighbours .7": steps(6, 2.5, neighbours=0.7),
    "curvature 1/6, ridge 3, average of .5": steps(6, 3, 0.5),
    "curvature 1/8, ridge 3": steps(8, 3),
    "curvature 1/8, ridge 2.5, average of .5, neighbours .6": steps(8, 2.5, 0.5, 0.6),
    "curvature 1/10, ridge 4, average of .5, neighbours .6": steps(10, 4, 0.5, 0.6),
    "rounds: signal to the power .45": {"schedule.rounds_of": partial(rounds_by, 0.45)},
    "rounds: signal to the power .55": {"schedule.rounds_of": partial(rounds_by, 0.55)},
    "rounds: signal to the power .6": {"schedule.rounds_of": partial(rounds_by, 0.6)},
}


def on_split(train: Records, test: Records, budget: Budget, seed: int) -> dict[str, float]:
    """Return the accuracy of each setting."""
    accuracy = {}
    for name, setting in SETTINGS.items():
        with using(setting):
            model = repaired_logistic(train, budget, noise="numpy", rng=seed)
        accuracy[name] = float((model.predict(test.x, test.z) == test.y).mean())
    return accuracy


def main() -> int:
    """Measure, write and print."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.hindsight", description=__doc__)
    parser.add_argument("--out", type=Path, required=True)
    asked = parser.parse_args()
    found = measure(FrontierDesign("adult"), "public", "1", each=on_split, schema="hindsight_v1")
    write_whole(asked.out, json_text(found))
    for name, one in found["numbers"].items():
        print(f"{name}: {one['mean']:.5f} ± {one['error']:.5f}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
