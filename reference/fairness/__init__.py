"""Fairness and accuracy of predictions, exactly or privately."""

from reference.fairness.metrics import (
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
