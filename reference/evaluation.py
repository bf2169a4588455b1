"""Repeated random splits: train a mechanism, measure it on the rest, count what was spent."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from reference.accounting import PrivacyStatement, PublishedStatementWarning, basic_composition
from reference.budgets import Budget, SplitBudget
from reference.errors import ReadingError
from reference.fairness import ConstantPredictorWarning, Metrics, evaluate
from reference.mechanisms import MechanismSpec
from reference.noise import RandomSource, generator
from reference.readings import Readings
from reference.record_blocks import RecordBlocks, part_of
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
        names = Metrics.__dataclass_fields__
        return {
            "mechanism": document["mechanism"],
            "status": document["status"],
            "w": document["w"],
            "columns": document["columns"],
            "privacy": {
                "published": {
                    "per_release": document["privacy"]["published"],
                    "composed": None if self.composed is None else self.composed.to_json(),
                },
                "exact": {
                    "per_release": document["privacy"]["exact"],
                    "composed": None if self.composed_exact is None else self.composed_exact.to_json(),
                },
            },
            "readings": document["readings"],
            "metrics": {
                "note": NOT_PRIVATE,
                **{name: self.summary(name) for name in names},
                "constant_predictors": self.constant_predictors,
            },
            "splits": len(self.releases),
            "unbounded": sum(release.status == "unbounded" for release in self.releases),
            "seed": self.seed,
            "releases": [release.to_json() for release in self.releases],
        }

    @property
    def composed(self) -> PrivacyStatement | None:
        """The published statement of all releases together; None unless every one of them states something."""
        return basic_composition([release.privacy.published for release in self.releases])

    @property
    def composed_exact(self) -> PrivacyStatement | None:
        """The exact epsilons at the budget's delta, composed in the same way: an upper bound, not a supremum."""
        return basic_composition(
            [
                None
                if release.privacy.exact is None
                else PrivacyStatement(
                    release.privacy.exact.epsilon.upper,
                    release.privacy.exact.at_delta,
                    str(release.readings["adjacency"]),
                    ("exact",),
                )
                for release in self.releases
            ]
        )


def evaluate_splits(
    spec: MechanismSpec,
    records: Records | RecordBlocks,
    budget: Budget | SplitBudget | None,
    readings: Readings,
    *,
    splits: int = 1,
    test_share: float = 0.2,
    x_s: str | int | None = None,
    rng: RandomSource = None,
    on_release: Callable[[Release, npt.NDArray[np.bool_]], None] | None = None,
) -> Evaluation:
    """Train on a random part and measure on the rest, `splits` times.

    Parameters
    ----------
    spec : MechanismSpec
    records : Records or RecordBlocks
        In memory, or read in blocks once or twice for every split.
    budget : Budget, SplitBudget or None
        Spent once per split.
    readings : Readings
    splits : int
    test_share : float
        Share of the records held out, in [0, 1); 0 trains and measures on all records.
    x_s, rng
        As for the mechanisms.
    on_release : callable, optional
        Told after each split its release, and which records were held out, shape (n,).
    """
    if splits < 1:
        raise ReadingError("splits", splits, "at least 1")
    if not 0 <= test_share < 1:
        raise ReadingError("test_share", test_share, "in [0, 1)")
    n, seed = len(records), int(rng) if isinstance(rng, (int, np.integer)) else None
    random, seeded = generator(rng, "splits")
    releases: list[Release] = []
    metrics: list[Metrics] = []
    for split in range(splits):
        held_out = _held_out(n, test_share, readings.adjacency, random)
        train = part_of(records, ~held_out)
        test = part_of(records, held_out) if held_out.any() else train
        # a seed gives every split, and every mechanism, a stream of its own
        source = random if isinstance(rng, np.random.Generator) else None
        if seed is not None:
            source = generator(seed, f"{spec.name} {budget} {readings} {x_s} {split}")[0]
        with warnings.catch_warnings():
            # counted and reported as a whole: by constant_predictors, and by the exact privacy
            warnings.simplefilter("ignore", ConstantPredictorWarning)
            warnings.simplefilter("ignore", PublishedStatementWarning)
            release = spec.run(train, budget, readings, x_s=x_s, rng=source)
            if release.w is not None:
                metrics.append(evaluate(release.w, test))
        assert release.seeded == (seeded and spec.private)
        releases.append(release)
        if on_release is not None:
            on_release(release, held_out)
    return Evaluation(tuple(releases), tuple(metrics), seed)


def _held_out(n: int, test_share: float, adjacency: str, random: np.random.Generator) -> npt.NDArray[np.bool_]:
    """Return which records are held out, shape (n,).

    Under `replace_one` a fixed number at random places.  Under `add_or_remove_one` each record by a coin of its
    own: with a fixed number, one more record would change which others are trained on, and the training sets
    of neighbours would not be neighbours.
    """
    if test_share == 0:
        return np.zeros(n, dtype=np.bool_)
    if adjacency == "add_or_remove_one":
        held_out: npt.NDArray[np.bool_] = random.random(n) < test_share
    else:
        held_out = np.zeros(n, dtype=np.bool_)
        held_out[random.permutation(n)[: round(n * test_share)]] = True
    if held_out.all() or not held_out.any():
        raise ReadingError("test_share", test_share, f"0, or such that {n} records leave some on both sides")
    return held_out
