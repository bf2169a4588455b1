"""One more step from what is already released, compared on other tables than Adult.

``python -m tests.benchmarks.last_step --out FILE``

The step starts at the mean of the last iterates.  Its gradient is the mean of the last released ones, carried
there by the curvature of records drawn from the released counts; the same curvature, with a ridge as large as
that gradient's noise, gives its length.  It is post-processing, and costs no privacy.  The rule is that of
:mod:`tests.benchmarks.constants`.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
from scipy.linalg import solve

from reference.common.arrays import FloatArray, NumberArray
from reference.common.files import json_text, write_whole
from reference.records import Records
from reference.repaired import algorithm, descent, sums
from reference.repaired.curator import Curator
from reference.repaired.spent import GRADIENT, Change
from reference.repaired.uncertainty import curvature_at
from tests.benchmarks.constants import COMMITTED, COMPARED, OTHERS, compared, gains

ENOUGH_ROUNDS = 7
"""With fewer the gradients are too noisy: the signal is not near the best."""

STEPS = {"last 40 %, whole step": (0.4, 1.0), "last 60 %, whole step": (0.6, 1.0), "last 80 %, half": (0.8, 0.5)}
"""The share of gradients that are averaged, and the part of the step that is taken."""

Descent = Callable[..., tuple[FloatArray, FloatArray]]


class Recording:
    """A curator that keeps the released gradients."""

    def __init__(self, curator: Curator) -> None:
        self.deviation = curator.deviation
        self.gradients: list[FloatArray] = []
        self._curator = curator

    def release(self, values: NumberArray, change: Change, share: Fraction, what: str = "") -> FloatArray:
        """Release, and keep a gradient."""
        noisy = self._curator.release(values, change, share, what)
        if what == GRADIENT:
            self.gradients.append(noisy)
        return noisy


def descent_and_step(averaged: float, part: float, least: int = ENOUGH_ROUNDS) -> Descent:
    """Return :func:`reference.repaired.algorithm.noisy_descent` with one more step."""
    plain = algorithm.noisy_descent

    def found(
        records: Records, target: FloatArray, curator: Curator, share: Fraction, rounds: int
    ) -> tuple[FloatArray, FloatArray]:
        recording: Any = Recording(curator)
        with mock.patch.object(descent, "averaged", wraps=descent.averaged) as mean:
            w, counts = plain(records, target, recording, share, rounds)
        if rounds < least:
            return w, counts
        kept = min(rounds - 1, max(1, round(averaged * rounds)))
        # the last iterate has no gradient
        places = mean.call_args.args[0][:-1][-kept:]
        curvature = curvature_at(w, counts, records.domain, len(records))
        gradient = np.mean(recording.gradients[-kept:], axis=0) + curvature @ (w - np.mean(places, axis=0))
        deviation = curator.deviation(sums.gradient_change(records.domain), share / rounds) / np.sqrt(kept)
        ridge = descent.RIDGE * deviation * np.eye(len(w))
        return w - part * solve(curvature + ridge, gradient, assume_a="pos"), counts

    return found


def measure(splits: int, seed: int) -> dict[str, Any]:
    """Compare on the other tables: all models, and those without fairness."""
    choices = {COMMITTED: {}} | {
        name: {"algorithm.noisy_descent": descent_and_step(*step)} for name, step in STEPS.items()
    }
    by_table = {place.data: gains(place, choices, splits, seed) for place in OTHERS}
    free = [one.fairness == "none" for one in COMPARED]
    document: dict[str, Any] = {"schema": "last_step_v1", "splits": splits, "seed": seed}
    for kind, wanted in (("all", [True] * len(COMPARED)), ("without fairness", free)):
        chosen = {
            data: {
                name: [[gain for at, gain in enumerate(row) if wanted[at % len(COMPARED)]] for row in rows]
                for name, rows in found.items()
            }
            for data, found in by_table.items()
        }
        together = {
            name: [[float(np.mean(found[name][split])) for found in chosen.values()] for split in range(splits)]
            for name in choices
        }
        tables = {data: compared(found, COMMITTED) for data, found in chosen.items()}
        document[kind] = {"together": compared(together, COMMITTED), **tables}
    return document


def main() -> int:
    """Measure, write and print."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.last_step", description=__doc__)
    parser.add_argument("--splits", type=int, default=80)
    parser.add_argument("--seed", type=int, default=2, help="of the splits (the frontier's is 0)")
    parser.add_argument("--out", type=Path, required=True)
    asked = parser.parse_args()
    found = measure(asked.splits, asked.seed)
    write_whole(asked.out, json_text(found))
    for kind in ("all", "without fairness"):
        for table, rows in found[kind].items():
            for name in STEPS:
                print(f"{kind}, {table}, {name}: {rows[name]['better']:+.4f} ± {rows[name]['error']:.4f}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
