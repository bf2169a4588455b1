"""How fair a predictor is: exact metrics, not private, for the data holder."""

from __future__ import annotations

import warnings
from dataclasses import asdict, dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from reference.errors import ParameterError
from reference.records import Records

FloatArray: TypeAlias = npt.NDArray[np.float64]
BoolArray: TypeAlias = npt.NDArray[np.bool_]


class ConstantPredictorWarning(UserWarning):
    """A predictor gives every record the same label, so a low risk difference is no evidence of fairness."""


@dataclass(frozen=True)
class Metrics:
    """Exact metrics of one predictor on one data set: not private.

    Parameters
    ----------
    accuracy, majority_accuracy, gain_over_majority : float
        Share of correct predictions; the same for the more frequent class; their difference.
    positive_rate : float
        Share of records predicted 1.
    positive_rate_group_0, positive_rate_group_1 : float or None
        The same per group; None without members.
    risk_difference : float or None
        |P(y-hat = 1 | z = 1) - P(y-hat = 1 | z = 0)|; None when a group has no members.
    boundary_covariance : float or None
        sum (z_i - zbar) x_i.w, the paper's g(D, w); None without groups.
    """

    accuracy: float
    majority_accuracy: float
    gain_over_majority: float
    positive_rate: float
    positive_rate_group_0: float | None
    positive_rate_group_1: float | None
    risk_difference: float | None
    boundary_covariance: float | None

    def to_json(self) -> dict[str, float | None]:
        """Return the metrics as plain JSON values."""
        return asdict(self)


def predict(w: npt.ArrayLike, x: FloatArray) -> BoolArray:
    """Return rho(x, w) > 1/2, which is x.w > 0: shape (n,)."""
    prediction: BoolArray = x @ np.asarray(w, dtype=np.float64) > 0.0
    return prediction


def positive_rate(prediction: BoolArray, members: BoolArray) -> float | None:
    """Return the share of `members` predicted 1; None without members."""
    return float(prediction[members].mean()) if members.any() else None


def risk_difference(prediction: BoolArray, z: FloatArray) -> float | None:
    """Return |P(y-hat = 1 | z = 1) - P(y-hat = 1 | z = 0)|; None when a group has no members.

    Implements the paper's RD; fairlearn calls it `demographic_parity_difference`.
    """
    rate_1, rate_0 = positive_rate(prediction, z == 1.0), positive_rate(prediction, z == 0.0)
    return None if rate_1 is None or rate_0 is None else abs(rate_1 - rate_0)


def boundary_covariance(w: npt.ArrayLike, x: FloatArray, z: FloatArray) -> float:
    """Return g(D, w) = sum (z_i - zbar) x_i.w (equation (4) for logistic regression)."""
    return float((z - z.mean()) @ (x @ np.asarray(w, dtype=np.float64)))


def evaluate(w: npt.ArrayLike | None, records: Records) -> Metrics:
    """Return all metrics of the predictor w on a data set.

    Raises
    ------
    reference.errors.ParameterError
        When there is no w because the objective was unbounded.

    Warns
    -----
    ConstantPredictorWarning
        When every record gets the same label.
    """
    if w is None:
        raise ParameterError("w", None, "a vector: an unbounded release predicts nothing")
    prediction = predict(w, records.x)
    z = records.z
    rate = float(prediction.mean())
    if rate in (0.0, 1.0):
        warnings.warn(
            f"every record is predicted {int(rate)}: a risk difference of 0 says nothing about fairness here",
            ConstantPredictorWarning,
            stacklevel=2,
        )
    n, positives = len(records), int(records.y.sum())
    correct, majority = int((prediction == (records.y == 1.0)).sum()), max(positives, n - positives)
    return Metrics(
        accuracy=correct / n,
        majority_accuracy=majority / n,
        gain_over_majority=(correct - majority) / n,
        positive_rate=rate,
        positive_rate_group_0=None if z is None else positive_rate(prediction, z == 0.0),
        positive_rate_group_1=None if z is None else positive_rate(prediction, z == 1.0),
        risk_difference=None if z is None else risk_difference(prediction, z),
        boundary_covariance=None if z is None else boundary_covariance(w, records.x, z),
    )
