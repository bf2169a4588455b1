"""Fairness and accuracy of predictions, exactly or privately."""

from reference.fairness.metrics import (
    NOT_PRIVATE,
    ConstantPredictorWarning,
    Metrics,
    Tally,
    boundary_covariance,
    evaluate,
    positive_rate,
    predict,
    risk_difference,
    warn_if_constant,
)

__all__ = [
    "NOT_PRIVATE",
    "ConstantPredictorWarning",
    "Metrics",
    "Tally",
    "boundary_covariance",
    "evaluate",
    "positive_rate",
    "predict",
    "risk_difference",
    "warn_if_constant",
]
