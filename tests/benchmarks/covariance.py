"""Covariance zero without noise: ``python -m tests.benchmarks.covariance --data adult --out FILE``.

Logistic regression on the frontier's splits with g.w = 0, which makes prediction scores and group uncorrelated: in
the space orthogonal to g.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import numpy as np
from scipy.linalg import null_space
from sklearn.linear_model import LogisticRegression

from reference.common.arrays import FloatArray
from reference.common.files import json_text, write_whole
from reference.experiments import frontier
from reference.experiments.frontier import FrontierDesign, split_of
from reference.fairness.metrics import boundary_covariance, measures
from reference.records import Records
from tests.benchmarks.ceiling import summed


def uncorrelated(train: Records) -> FloatArray:
    """Return weights with covariance zero, and next to no penalty."""
    assert train.z is not None
    # g(w) is linear: its coefficients are those of unit vectors
    g = np.array([boundary_covariance(unit, train.x, train.z) for unit in np.eye(train.x.shape[1])])
    basis = null_space(g[None]) / train.domain.column_factor
    exact = LogisticRegression(C=100, solver="newton-cholesky", tol=1e-8, fit_intercept=False)
    w: FloatArray = basis @ exact.fit(train.x @ basis, train.y).coef_[0]
    return w


def on_split(design: FrontierDesign, encoding: str, split: int) -> dict[str, float]:
    """Return accuracy and risk difference of held-out records, with and without the group among the features."""
    trains, tests = split_of(design, encoding, split)
    found = {}
    for used in (True, False):
        train, test = trains[0].by_group[used], tests[0].by_group[used]
        assert test.z is not None
        numbers = measures(test.x @ uncorrelated(train) > 0, test.y, test.z)
        name = "group used" if used else "group not used"
        found |= {f"{name}, {what}": numbers[what] for what in ("accuracy", "risk_difference", "positive_rate")}
    return found


def main() -> int:
    """Measure, write and print."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.covariance", description=__doc__)
    parser.add_argument("--data", choices=frontier.DATA, default="adult")
    parser.add_argument("--splits", type=int, default=frontier.REFERENCE_SPLITS)
    parser.add_argument("--out", type=Path)
    asked = parser.parse_args()
    design, rows = FrontierDesign(asked.data, splits=asked.splits), {}
    for encoding in frontier.encodings(asked.data):
        rows[encoding] = summed([on_split(design, encoding, split) for split in range(design.splits)])
        for name, one in rows[encoding].items():
            print(f"{asked.data}, {encoding}, {name}: {one['mean']:.4f} ± {one['error']:.4f}")
    if asked.out is not None:
        write_whole(asked.out, json_text({"data": asked.data, "splits": design.splits, "encodings": rows}))
    return 0


if __name__ == "__main__":
    sys.exit(main())
