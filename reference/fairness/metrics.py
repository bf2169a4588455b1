"""Fairness and accuracy of a predictor: exact metrics, not private, for the data holder."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterable
from dataclasses import dataclass
from functools import partial, reduce
from operator import add

import numpy as np
import numpy.typing as npt

from reference.accounting import NOT_PRIVATE
from reference.common.arrays import BoolArray, FloatArray
from reference.common.errors import ParameterError
from reference.common.scores import decision_scores
from reference.datasets.record_blocks import RecordBlocks, blocks_of, folded
from reference.records import Records

NEARLY_ALL = 0.99
"""From this share of equal predictions on, fairness and accuracy say little of a model."""


class ConstantPredictorWarning(UserWarning):
    """A predictor gives every record the same label: a low risk difference is then no evidence of fairness."""


@dataclass(frozen=True)
class Metrics:
    """Exact metrics of one predictor on one data set: not private.

    Parameters
    ----------
    accuracy, majority_accuracy, gain_over_majority : float
        Share of correct predictions; that of predicting the more frequent class; the difference.
    positive_rate : float
        Share of records predicted 1.
    positive_rate_group_0, positive_rate_group_1 : float or None
        The same per group; None without members.
    risk_difference : float or None
        |P(y-hat = 1 | z = 1) - P(y-hat = 1 | z = 0)|; None when a group has no members.
    boundary_covariance : float or None
        sum (z_i - zbar) x_i.w, the paper's g(D, w); None without groups.
    risk_difference_error : float or None
        Standard error of the risk difference, taking the records as a sample; None where there is none.
    """

    accuracy: float
    majority_accuracy: float
    gain_over_majority: float
    positive_rate: float
    positive_rate_group_0: float | None
    positive_rate_group_1: float | None
    risk_difference: float | None
    boundary_covariance: float | None
    risk_difference_error: float | None = None


def predict(w: npt.ArrayLike, x: FloatArray) -> BoolArray:
    """Return rho(x, w) > 1/2, which is x.w > 0: shape (n,); each from its own row alone."""
    prediction: BoolArray = decision_scores(w, x) > 0.0
    return prediction


def positive_rate(prediction: BoolArray, members: BoolArray) -> float | None:
    """Return the share of `members` predicted 1; None without members."""
    return float(prediction[members].mean()) if members.any() else None


def risk_difference(prediction: BoolArray, z: FloatArray, groups: int = 2) -> float | None:
    """Return the largest minus the smallest P(y-hat = 1 | z) of all groups; None when one has no members.

    For two groups the paper's RD; fairlearn calls it `demographic_parity_difference`.
    """
    rates = [rate for group in range(groups) if (rate := positive_rate(prediction, z == group)) is not None]
    return max(rates) - min(rates) if len(rates) == groups else None


def risk_difference_error(prediction: BoolArray, z: FloatArray, groups: int = 2) -> float:
    """Return the standard error of a sample's risk difference, from the two groups that differ most.

    Where all or none of a group are selected, its rate counts as (k + 1) / (m + 2) for k of m: a small group that
    is selected entirely says little.
    """
    parts = [prediction[z == group] for group in range(groups)]
    rates = sorted((float(part.mean()), len(part)) for part in parts if len(part))
    return _difference_error(rates[0], rates[-1])


def _difference_error(*rates: tuple[float, int]) -> float:
    inside = [(rate if 0 < rate < 1 else (rate * size + 1) / (size + 2), size) for rate, size in rates]
    return math.sqrt(sum(rate * (1 - rate) / size for rate, size in inside))


def equalized_odds_difference(
    prediction: BoolArray, y: FloatArray, z: FloatArray, groups: int = 2
) -> float | None:
    """Return the larger of the differences of P(y-hat = 1 | z, y) for y = 0 and 1; None when a cell is empty.

    The name is fairlearn's.
    """
    found = [risk_difference(prediction[y == label], z[y == label], groups) for label in (0.0, 1.0)]
    known = [one for one in found if one is not None]
    return max(known) if len(known) == len(found) else None


MEASURES = ("accuracy", "gain", "risk_difference", "positive_rate")
ODDS = "equalized_odds_difference"
SAMPLING_ERROR = "sampling_error"
ONE_ERROR = "one standard error"
OVER_SPLITS = "standard deviation over the splits"
"""What a number after ± is: of one split, and of several."""


def measures(prediction: BoolArray, y: FloatArray, z: FloatArray | None, groups: int = 2) -> dict[str, float]:
    """Return the measures of any predictions; `gain` is over the more frequent class."""
    accuracy, positives = float((prediction == y).mean()), float(y.mean())
    found = {"accuracy": accuracy, "gain": accuracy - max(positives, 1 - positives)}
    if z is not None:
        differences = {
            "risk_difference": risk_difference(prediction, z, groups),
            ODDS: equalized_odds_difference(prediction, y, z, groups),
        }
        found |= {name: value for name, value in differences.items() if value is not None}
    return {**found, "positive_rate": float(prediction.mean())}


def boundary_covariance(w: npt.ArrayLike, x: FloatArray, z: FloatArray) -> float:
    """Return g(D, w) = sum (z_i - zbar) x_i.w (equation (4) for logistic regression)."""
    return float((z - z.mean()) @ decision_scores(w, x))


@dataclass(frozen=True)
class Tally:
    """Counts of one predictor's outcomes on some records; the counts of parts add up to those of the whole.

    Parameters
    ----------
    n, positives, predicted, correct : int
        Records; those with label 1; those predicted 1; those predicted rightly.
    members, members_predicted : int or None
        Records of group 1, and those among them predicted 1; None without groups.
    sum_score, sum_z_score : float
        sum x_i.w and sum z_i x_i.w.
    """

    n: int
    positives: int
    predicted: int
    correct: int
    members: int | None
    members_predicted: int | None
    sum_score: float
    sum_z_score: float

    @classmethod
    def of(cls, w: npt.ArrayLike, records: Records) -> Tally:
        """Count on some records."""
        scores = decision_scores(w, records.x)
        prediction = scores > 0.0
        z = records.z
        return cls(
            n=len(records),
            positives=int(records.y.sum()),
            predicted=int(prediction.sum()),
            correct=int((prediction == (records.y == 1.0)).sum()),
            members=None if z is None else int(z.sum()),
            members_predicted=None if z is None else int(prediction[z == 1.0].sum()),
            sum_score=float(scores.sum()),
            sum_z_score=0.0 if z is None else float(z @ scores),
        )

    @classmethod
    def over(cls, w: npt.ArrayLike, blocks: Iterable[Records]) -> Tally:
        """Count on all records of some blocks."""
        return reduce(add, (cls.of(w, block) for block in blocks))

    def __add__(self, other: Tally) -> Tally:
        if not isinstance(other, Tally):
            return NotImplemented
        return Tally(
            self.n + other.n,
            self.positives + other.positives,
            self.predicted + other.predicted,
            self.correct + other.correct,
            None if self.members is None or other.members is None else self.members + other.members,
            None
            if self.members_predicted is None or other.members_predicted is None
            else self.members_predicted + other.members_predicted,
            self.sum_score + other.sum_score,
            self.sum_z_score + other.sum_z_score,
        )

    def metrics(self) -> Metrics:
        """Return the metrics of everything counted."""
        majority = max(self.positives, self.n - self.positives)
        rate_0, rate_1, covariance, error = None, None, None, None
        if self.members is not None and self.members_predicted is not None:
            others, others_predicted = self.n - self.members, self.predicted - self.members_predicted
            rate_0 = others_predicted / others if others else None
            rate_1 = self.members_predicted / self.members if self.members else None
            if rate_0 is not None and rate_1 is not None:
                error = _difference_error((rate_0, others), (rate_1, self.members))
            # sum (z_i - zbar) x_i.w
            covariance = self.sum_z_score - self.members / self.n * self.sum_score
        return Metrics(
            accuracy=self.correct / self.n,
            majority_accuracy=majority / self.n,
            gain_over_majority=(self.correct - majority) / self.n,
            positive_rate=self.predicted / self.n,
            positive_rate_group_0=rate_0,
            positive_rate_group_1=rate_1,
            risk_difference=None if rate_0 is None or rate_1 is None else abs(rate_1 - rate_0),
            boundary_covariance=covariance,
            risk_difference_error=error,
        )


def evaluate(w: npt.ArrayLike | None, records: Records | RecordBlocks) -> Metrics:
    """Return all metrics of the predictor w on a data set.

    Raises
    ------
    reference.common.errors.ParameterError
        When there is no w because the objective was unbounded.

    Warns
    -----
    ConstantPredictorWarning
        When every record gets the same label.
    """
    if w is None:
        raise ParameterError("w", None, "a vector: an unbounded release predicts nothing")
    metrics = folded(records, partial(Tally.over, w)).metrics()
    if metrics.positive_rate in (0.0, 1.0):
        warnings.warn(
            f"every record is predicted {int(metrics.positive_rate)}: a risk difference of 0 says nothing about "
            "fairness here",
            ConstantPredictorWarning,
            stacklevel=2,
        )
    return metrics


def warn_if_constant(w: npt.ArrayLike, records: Records | RecordBlocks) -> None:
    """Warn the data holder of a model that gives every record the same label; not part of a release.

    Warns
    -----
    ConstantPredictorWarning
    """
    if _is_constant(w, records):
        what = "every training record gets the same class" if np.any(w) else "w is 0"
        said = f"{what}: the model tells no two apart ({NOT_PRIVATE})"
        warnings.warn(said, ConstantPredictorWarning, stacklevel=3)


def constant_warnings(found: list[dict[str, float]]) -> tuple[str, ...]:
    """Warn if some model gives nearly every record the same prediction: not private, for the data holder."""
    shares = [max(one["positive_rate"], 1 - one["positive_rate"]) for one in found]
    constant = sum(share >= NEARLY_ALL for share in shares)
    if not constant:
        return ()
    which = "the model says" if len(found) == 1 else f"{constant} of {len(found)} models say"
    of = "every record" if min(share for share in shares if share >= NEARLY_ALL) == 1 else "nearly every record"
    said = f"{which} the same of {of}, so that a small difference says nothing about fairness"
    return (f"{said}; scores still rank them ({NOT_PRIVATE})",)


def _is_constant(w: npt.ArrayLike, records: Records | RecordBlocks) -> bool:
    if records.domain.norm != "symmetric_ball" and (np.asarray(w) <= 0.0).all():
        # no entry of x is negative, so no score is positive
        return True
    if isinstance(records, RecordBlocks) and records.on_one_side is not None:
        seen = records.on_one_side(w)
        if seen is not None:
            return seen
    found: set[bool] = set()
    for block in blocks_of(records):
        predicted = predict(w, block.x)
        found |= {bool(predicted.min()), bool(predicted.max())}
        if len(found) == 2:
            return False
    return bool(found)
