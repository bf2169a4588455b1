"""Repeated random splits: fit a mechanism, measure it on the rest, count what was spent."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np

from reference.accounting import NOT_PRIVATE, PrivacyStatement, PublishedStatementWarning, basic_composition
from reference.accounting.release import Release
from reference.budgets import Budget, SplitBudget
from reference.common.arrays import BoolArray
from reference.common.documents import plain
from reference.common.errors import ReadingError
from reference.common.repeated import mean_and_deviation
from reference.datasets.record_blocks import RecordBlocks, in_memory, part_of
from reference.fairness import ConstantPredictorWarning, Metrics, evaluate
from reference.fairness.metrics import SAMPLING_ERROR
from reference.fairness.private_metrics import PrivateMetrics, composed, private_metrics
from reference.noise import Recorded, Source, generator, with_sampler
from reference.readings import Readings
from reference.records import Records
from reference.registry import MechanismSpec


@dataclass(frozen=True)
class Evaluation:
    """Releases of one mechanism on several random splits, with exact metrics on the held-out parts.

    Parameters
    ----------
    releases : tuple of Release
        One per split.
    metrics : tuple of Metrics
        One per release that has a w, where a record was held out.
    seed : int or None
        None for the operating system's entropy.
    private : PrivateEvaluation or None
        Metrics with their own noise, if asked for.
    """

    releases: tuple[Release, ...]
    metrics: tuple[Metrics, ...]
    seed: int | None
    private: PrivateEvaluation | None = None

    @property
    def constant_predictors(self) -> int:
        """Number of splits on which every held-out record got the same label."""
        return sum(metric.positive_rate in (0.0, 1.0) for metric in self.metrics)

    def summary(self, name: str) -> dict[str, float | None]:
        """Return mean and standard deviation (n - 1 in the denominator) of one metric over the splits."""
        return mean_and_deviation(getattr(metric, name) for metric in self.metrics)

    @property
    def sampling_error(self) -> float | None:
        """Standard error of the risk difference of a single split; None for several, which have a deviation."""
        return self.metrics[0].risk_difference_error if len(self.releases) == len(self.metrics) == 1 else None

    def to_json(self) -> dict[str, Any]:
        """Return the contract's object for one mechanism; `w` and `status` are the first split's."""
        first = self.releases[0]
        document = plain(first)
        metrics: dict[str, Any] = {
            name: self.summary(name) for name in Metrics.__dataclass_fields__ if name != "risk_difference_error"
        }
        if self.sampling_error is not None:
            metrics["risk_difference"][SAMPLING_ERROR] = self.sampling_error
        return {
            "mechanism": document["mechanism"],
            "status": document["status"],
            "w": document["w"],
            "columns": document["columns"],
            "privacy": {
                "published": {
                    "per_release": document["privacy"]["published"],
                    "composed": plain(self.composed),
                },
                "exact": {
                    "per_release": document["privacy"]["exact"],
                    "composed": plain(self.composed_exact),
                },
            },
            "readings": document["readings"],
            "metrics": {
                "note": NOT_PRIVATE,
                **metrics,
                "constant_predictors": self.constant_predictors,
            },
            **({} if self.private is None else {"private_metrics": self.private.to_json()}),
            "splits": len(self.releases),
            "unbounded": sum(release.status == "unbounded" for release in self.releases),
            "seed": self.seed,
            "releases": plain(self.releases),
        }

    @property
    def composed(self) -> PrivacyStatement | None:
        """The published statement of all releases together; None unless every one of them states something."""
        return basic_composition([release.privacy.published for release in self.releases])

    @property
    def composed_exact(self) -> PrivacyStatement | None:
        """The exact epsilons at the budget's delta, composed in the same way: an upper bound, not a supremum."""
        return basic_composition([_exact_statement(release) for release in self.releases])


@dataclass(frozen=True)
class PrivateEvaluation:
    """Private metrics on every split, and what was spent with them.

    Parameters
    ----------
    metrics : tuple of PrivateMetrics or None
        One per release; None where there is no w.
    published, exact : PrivacyStatement or None
        Of all releases and all metrics together, from the published and from the exact statements of the fits;
        None where a fit has none.
    same_records : bool
        Whether the metrics are of the records that the fit used.
    """

    metrics: tuple[PrivateMetrics | None, ...]
    published: PrivacyStatement | None
    exact: PrivacyStatement | None
    same_records: bool

    def to_json(self) -> dict[str, Any]:
        """Return the object under `private_metrics`."""
        return {
            "splits": [None if metrics is None else metrics.to_json() for metrics in self.metrics],
            "measured_on": "training records" if self.same_records else "held-out records",
            "composed_with_fit": {
                "published": plain(self.published),
                "exact": plain(self.exact),
            },
        }


def _exact_statement(release: Release) -> PrivacyStatement | None:
    exact = release.privacy.exact
    if exact is None:
        return None
    adjacency, rows = str(release.adjacency), release.readings.rows_per_person
    return PrivacyStatement(exact.epsilon.upper, exact.at_delta, adjacency, ("exact",), rows_per_person=rows)


def _private_evaluation(
    releases: Sequence[Release],
    metrics: Sequence[PrivateMetrics | None],
    spent: PrivacyStatement,
    *,
    same_records: bool,
) -> PrivateEvaluation:
    """Compose fits and metrics split by split; a split without w is counted as if it had been measured."""
    published, exact = (
        basic_composition([composed(fit, spent, same_records=same_records) for fit in fits])
        for fits in ([r.privacy.published for r in releases], [_exact_statement(r) for r in releases])
    )
    return PrivateEvaluation(tuple(metrics), published, exact, same_records)


@dataclass(frozen=True, kw_only=True)
class Plan:
    """One mechanism with one budget, and how often it is run and measured.

    Parameters
    ----------
    spec : MechanismSpec
    budget : Budget, SplitBudget or None
        Spent once per split; None for the baselines.
    readings : Readings
    x_s : str or int, optional
        As for the mechanisms.
    splits : int
    test_share : float
        Share of the records held out, in [0, 1); 0 trains and measures on all records.
    split_seed : int, optional
        Seeds the splits alone.
    private_epsilon : Fraction, optional
        Also release accuracy and risk difference on every split, with their own noise and this epsilon each.
    record : Recorded, optional
        Keeps what the noise of the last split was added to: for a trace.
    """

    spec: MechanismSpec
    budget: Budget | SplitBudget | None
    readings: Readings
    x_s: str | int | None = None
    splits: int = 1
    test_share: float = 0.2
    split_seed: int | None = None
    private_epsilon: Fraction | None = None
    record: Recorded | None = None

    def check(self) -> None:
        """Raise unless the plan can be carried out."""
        if self.splits < 1:
            raise ReadingError("splits", self.splits, "at least 1")
        if not 0 <= self.test_share < 1:
            raise ReadingError("test_share", self.test_share, "in [0, 1)")
        if self.split_seed is not None and self.test_share and self.readings.adjacency == "add_or_remove_one":
            # known coins belong to places: one more record gives all later ones other coins
            allowed = "left out with add_or_remove_one, whose splits must not be known, or --test-share 0"
            raise ReadingError("split_seed", self.split_seed, allowed)


def evaluate_splits(
    plan: Plan,
    records: Records | RecordBlocks,
    rng: Source = None,
    on_release: Callable[[Release, BoolArray], None] | None = None,
    reserve: Callable[[], None] | None = None,
    coins: int | None = None,
) -> Evaluation:
    """Train on a random part and measure on the rest, once for each split of the plan.

    Parameters
    ----------
    plan : Plan
    records : Records or RecordBlocks
        In memory, or read in blocks once or twice for every split.
    rng
        As for the mechanisms.
    on_release : callable, optional
        Told after each split the release and which records were held out, shape (n,).
    reserve : callable, optional
        Called before each split draws any noise; every record was checked by then.
    coins : int, optional
        Seeds the splits where no seed is given: one for all mechanisms of a call, so that they share splits.
    """
    plan.check()
    seed = int(rng) if isinstance(rng, (int, np.integer)) else None
    readings = with_sampler(plan.readings, rng) if plan.spec.private else plan.readings
    _, seeded = generator(rng, "splits")
    split_seed = coins if plan.split_seed is None and not seeded else plan.split_seed
    random, _ = generator(rng if split_seed is None else split_seed, "splits")
    releases: list[Release] = []
    metrics: list[Metrics] = []
    private: list[PrivateMetrics | None] = []
    for split in range(plan.splits):
        held_out = _held_out(len(records), plan.test_share, readings.adjacency, random)
        train = part_of(records, ~held_out)
        test = part_of(records, held_out) if plan.test_share else train
        # a seed gives every split, and every mechanism, its own stream
        source = noise_of_metrics = rng
        if seed is not None:
            purpose = f"{plan.spec.name} {plan.budget} {readings} {plan.x_s} {split}"
            source = generator(seed, purpose)[0]
            noise_of_metrics = generator(seed, f"private metrics of {purpose}")[0]
        used = source if plan.record is None else plan.record.around_source(source)
        with warnings.catch_warnings():
            # counted and reported as a whole: by constant_predictors, and by the exact privacy
            warnings.simplefilter("ignore", ConstantPredictorWarning)
            warnings.simplefilter("ignore", PublishedStatementWarning)
            if reserve is not None:
                reserve()
            release = plan.spec.run(train, plan.budget, readings, x_s=plan.x_s, rng=used)
            if release.w is not None and len(test):
                metrics.append(evaluate(release.w, test))
        if plan.private_epsilon is not None:
            private.append(_measured(release, test, plan.private_epsilon, readings, noise_of_metrics))
        assert release.seeded == (seeded and plan.spec.private)
        releases.append(release)
        if on_release is not None:
            on_release(release, held_out)
    together = None
    if plan.private_epsilon is not None:
        spent = _stated(plan.private_epsilon, readings)
        together = _private_evaluation(releases, private, spent, same_records=plan.test_share == 0)
    return Evaluation(tuple(releases), tuple(metrics), seed, together)


def _measured(
    release: Release, test: Records | RecordBlocks, epsilon: Fraction, readings: Readings, rng: Source
) -> PrivateMetrics | None:
    if release.w is None:
        return None
    # a person with K rows loses K times what a row does
    found = private_metrics(
        release.w,
        in_memory(test),
        epsilon / readings.rows_per_person,
        adjacency=readings.adjacency,
        noise=readings.noise,
        rng=rng,
    )
    return replace(found, privacy=_stated(epsilon, readings))


def _stated(epsilon: Fraction, readings: Readings) -> PrivacyStatement:
    """Return the statement of metrics published with a release."""
    rows = readings.rows_per_person
    return PrivacyStatement(epsilon, Fraction(0), readings.adjacency, ("T1",), rows_per_person=rows)


def _held_out(n: int, test_share: float, adjacency: str, random: np.random.Generator) -> BoolArray:
    """Return which records are held out, shape (n,).

    Under `replace_one` a fixed number at random places.  Under `add_or_remove_one` each record by a coin of its
    own: with a fixed number, one more record would change which others are trained on, and the training sets
    of neighbours would not be neighbours.  There n is private, and either side may be empty: whether a release
    comes out does not depend on it.
    """
    if test_share == 0:
        return np.zeros(n, dtype=np.bool_)
    if adjacency == "add_or_remove_one":
        coins: BoolArray = random.random(n) < test_share
        return coins
    held_out = np.zeros(n, dtype=np.bool_)
    # the same draw as `permutation`, in half the memory
    order = np.arange(n, dtype=np.uint32 if n < 2**32 else np.uint64)
    random.shuffle(order)
    held_out[order[: round(n * test_share)]] = True
    if held_out.all() or not held_out.any():
        raise ReadingError("test_share", test_share, f"0, or such that {n} records leave some on both sides")
    return held_out
