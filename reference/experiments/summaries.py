"""Summaries of the runs of one point: means, deviations and counts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from reference.common.repeated import mean_and_deviation
from reference.experiments.study import UNBOUNDED, RunResult
from reference.fairness import Metrics

METRICS = ("accuracy", "majority_accuracy", "gain_over_majority", "risk_difference", "positive_rate")

FIRST_RUNS = 10
"""The paper's number of runs; where there are more, all are reported beside the first so many."""


@dataclass(frozen=True)
class Summary:
    """Runs of one point, one per split.

    Parameters
    ----------
    results : tuple of RunResult
    """

    results: tuple[RunResult, ...]

    @property
    def metrics(self) -> list[Metrics]:
        """Metrics of the runs that have a predictor."""
        return [result.metrics for result in self.results if result.metrics is not None]

    @property
    def unbounded(self) -> int:
        """Runs without a minimum."""
        return sum(result.status == UNBOUNDED for result in self.results)

    @property
    def constant(self) -> int:
        """Runs whose predictor gives every held-out record the same label."""
        return sum(metrics.positive_rate in (0.0, 1.0) for metrics in self.metrics)

    def values(self, name: str) -> list[float]:
        """Return one metric of the runs that have it."""
        found = [getattr(metrics, name) for metrics in self.metrics]
        return [value for value in found if value is not None]

    def summary(self, name: str) -> dict[str, float | None]:
        """Return mean and standard deviation (n - 1 in the denominator) of one metric; None where undefined."""
        return mean_and_deviation(self.values(name))

    def to_json(self) -> dict[str, Any]:
        """Return counts, means and deviations."""
        return {
            "runs": len(self.results),
            "unbounded": self.unbounded,
            "constant": self.constant,
            **{name: self.summary(name) for name in METRICS},
        }


def first_and_all(results: Sequence[RunResult]) -> tuple[Summary, ...]:
    """Return the summary of the paper's number of runs, and of all where there are more."""
    counts = sorted({min(FIRST_RUNS, len(results)), len(results)})
    return tuple(Summary(tuple(results[:count])) for count in counts)
