"""Repeated random splits: train a mechanism, measure it on the rest, count what was spent."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np

from reference.budgets import Budget, SplitBudget
from reference.errors import ReadingError
from reference.fairness import ConstantPredictorWarning, Metrics, evaluate
from reference.mechanisms import MechanismSpec
from reference.noise import RandomSource, generator
from reference.readings import Readings
from reference.records import Records
from reference.release import Release

NOT_PRIVATE = "not private: for the data holder"


@dataclass(frozen=True)
class Evaluation:
    """Releases of one mechanism on several random splits, with exact metrics on the held-out parts.

    Parameters
    ----------
    releases : tuple of Release
        One per split.
    metrics : tuple of Metrics
        One per release that has a w.
    seed : int or None
        None for the operating system's entropy.
    """

    releases: tuple[Release, ...]
    metrics: tuple[Metrics, ...]
    seed: int | None

    @property
    def constant_predictors(self) -> int:
        """Number of splits on which every held-out record got the same label."""
        return sum(metric.positive_rate in (0.0, 1.0) for metric in self.metrics)

    def summary(self, name: str) -> dict[str, float | None]:
        """Return mean and standard deviation (n - 1 in the denominator) of one metric over the splits."""
        values = [getattr(metric, name) for metric in self.metrics]
        known = np.array([value for value in values if value is not None])
        return {
            "mean": float(known.mean()) if known.size else None,
            "std": float(known.std(ddof=1)) if known.size > 1 else None,
        }

    def to_json(self) -> dict[str, Any]:
        """Return the contract's object for one mechanism; `w` and `status` are the first split's."""
        first = self.releases[0]
        document = first.to_json()
        published = first.privacy
        names = Metrics.__dataclass_fields__
        return {
            "mechanism": document["mechanism"],
            "status": document["status"],
            "w": document["w"],
            "columns": document["columns"],
            "privacy": {
                "published": {
                    "per_release": None if published is None else published.to_json(),
                    "composed": None if published is None else published.composed(len(self.releases)).to_json(),
                },
                "exact": None,
            },
            "readings": document["readings"],
            "metrics": {"note": NOT_PRIVATE, **{name: self.summary(name) for name in names}},
            "splits": len(self.releases),
            "unbounded": sum(release.status == "unbounded" for release in self.releases),
            "constant_predictors": self.constant_predictors,
            "seed": self.seed,
            "releases": [release.to_json() for release in self.releases],
        }


def evaluate_splits(
    spec: MechanismSpec,
    records: Records,
    budget: Budget | SplitBudget | None,
    readings: Readings,
    *,
    splits: int = 1,
    test_share: float = 0.2,
    x_s: str | int | None = None,
    rng: RandomSource = None,
) -> Evaluation:
    """Train on a random part and measure on the rest, `splits` times.

    Parameters
    ----------
    spec : MechanismSpec
    records : Records
    budget : Budget, SplitBudget or None
        Spent once per split.
    readings : Readings
    splits : int
    test_share : float
        Share of the records held out, in [0, 1); 0 trains and measures on all records.
    x_s, rng
        As for the mechanisms.
    """
    if splits < 1:
        raise ReadingError("splits", splits, "at least 1")
    if not 0 <= test_share < 1:
        raise ReadingError("test_share", test_share, "in [0, 1)")
    held_out = round(len(records) * test_share)
    if test_share > 0 and not 0 < held_out < len(records):
        raise ReadingError("test_share", test_share, f"such that {len(records)} records can be split; try 0")
    random, seeded = generator(rng)
    releases: list[Release] = []
    metrics: list[Metrics] = []
    for _ in range(splits):
        order = random.permutation(len(records))
        train = records.take(order[held_out:])
        test = records.take(order[:held_out]) if held_out else train
        release = spec.run(train, budget, readings, x_s=x_s, rng=random if seeded else None)
        releases.append(release)
        if release.w is not None:
            with warnings.catch_warnings():
                # counted and reported as a whole by constant_predictors
                warnings.simplefilter("ignore", ConstantPredictorWarning)
                metrics.append(evaluate(release.w, test))
    return Evaluation(tuple(releases), tuple(metrics), int(rng) if isinstance(rng, (int, np.integer)) else None)
