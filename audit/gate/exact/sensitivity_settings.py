"""The settings of the sensitivities, and the change of a release between two data sets."""

from __future__ import annotations

import numpy as np

from audit.exact.data_sets import Repeated
from audit.exact.witnesses import readings_of
from reference.objective import objective
from reference.records import Records
from reference.sensitivity import (
    Setting,
    exact_l1,
    exact_l2_squared,
)

FAIRNESS = ("none", "absolute", "covariance", "separate")

ADJACENCIES = ("replace_one", "add_or_remove_one")

SUPREMA = {"l1": exact_l1, "l2": exact_l2_squared}


def written_out(data: Repeated) -> Records:
    """Return all records of a data set."""
    return data.distinct.take(np.repeat(np.arange(len(data.counts)), data.counts))


def observed(found, setting: Setting, norm: str, weight_s, weight_n) -> float:
    """Return the weighted change of the released coefficients."""
    left, right = (objective(side.moments, readings_of(setting)) for side in (found.left, found.right))
    weights = np.where(left.layout.contains(0), float(weight_s), float(weight_n))
    change = np.abs(right.values - left.values)
    return float(weights @ (change if norm == "l1" else change**2))
