"""Groups of more than two values on Adult, used at prediction or not: ``python -m tests.benchmarks.groups``.

Any categorical column is the group in place of sex; bins are the generic ones, noise is numpy's, from a seed.
"""

from __future__ import annotations

import argparse

import numpy as np

from reference.budgets import Budget
from reference.datasets import SOURCES
from reference.datasets.adult import CATEGORIES
from reference.domain.binning import binned
from reference.domain.markers import Marker
from reference.experiments.splits import SplitSpec
from reference.fairness.metrics import measures
from reference.records import Records, encode_table
from reference.repaired import repaired_logistic


def by(column: str, *, keep: bool) -> Records:
    """Return Adult's records with another group; sex is left out."""
    values = CATEGORIES[column]
    file = binned(SOURCES["adult"].domain_file("one_hot"))
    domain = file.with_(
        attributes=tuple(one for one in file.attributes if one.name != column),
        group=Marker(column=column, values=values),
        keep_group=keep,
    ).domain
    columns = dict(SOURCES["adult"].table().columns)
    del columns["male"]
    return encode_table(domain, {**columns, column: [values.index(one) for one in columns[column]]})


def main() -> None:
    """Print mean and standard error of accuracy and of the largest difference of selection rates."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.groups", description=__doc__)
    parser.add_argument("--group", choices=sorted(CATEGORIES), default="race")
    parser.add_argument("--splits", type=int, default=10)
    parser.add_argument("--epsilon", default="1")
    asked = parser.parse_args()
    budget, groups = Budget(asked.epsilon, "1e-5"), len(CATEGORIES[asked.group])
    for fairness, keep in (("none", True), ("demographic_parity", True), ("demographic_parity", False)):
        records = by(asked.group, keep=keep)
        found = []
        for split in range(asked.splits):
            rows = SplitSpec("adult", split=split, seed=0, test_share=0.2).rows(len(records))
            train, test = (records.take(part) for part in rows)
            model = repaired_logistic(train, budget, fairness=fairness, rng=split)
            one = measures(model.predict(test.x, test.z), test.y, test.z, groups)
            found.append((one["accuracy"], one["risk_difference"]))
        means, errors = np.mean(found, axis=0), np.std(found, axis=0, ddof=1) / len(found) ** 0.5
        which = fairness if fairness == "none" else f"{fairness}, group {'' if keep else 'not '}used"
        accuracy, difference = (f"{m:.4f} ± {e:.4f}" for m, e in zip(means, errors, strict=True))
        print(f"{which}: accuracy {accuracy}, difference {difference}", flush=True)


if __name__ == "__main__":
    main()
