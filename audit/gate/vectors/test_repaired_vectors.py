"""The repaired mechanism behind the vectors is the one that is released."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from audit.vectors.answers import answer
from audit.vectors.format import VectorCase, load
from audit.vectors.judge import passes
from audit.vectors.repaired_answers import descent_domain
from audit.vectors.steps import Steps, floats
from reference.common.arrays import FloatArray, NumberArray
from reference.records import Records
from reference.repaired.algorithm import noisy_descent, prepared
from reference.repaired.spent import COUNTS, GRADIENT, Change
from reference.repaired.sums import label_sums_change


class GivenNoise:
    """A curator that adds the variates of a case."""

    def __init__(self, inputs: dict[str, Any], of_counts: Change) -> None:
        self._of_counts = of_counts
        self._units = np.array(floats(inputs["unitVariates"]))
        counts, gradient = floats([inputs["scaleCounts"], inputs["scaleGradient"]])
        self._scales = {COUNTS: counts, GRADIENT: gradient}
        self._spread = 2**0.5 if inputs["noise"] == "laplace" else 1.0

    def deviation(self, change: object, _share: object) -> float:
        """Return the standard deviation of the noise of a sum."""
        return self._scales[COUNTS if change == self._of_counts else GRADIENT] * self._spread

    def release(self, values: NumberArray, _change: object, _share: object, what: str) -> FloatArray:
        """Return values plus noise."""
        units, self._units = np.split(self._units, [len(values)])
        return np.array([float(value) for value in values]) + self._scales[what] * units


DESCENTS = [case for case in load("RepairedDescent").cases if case.given["kind"] == "descent"]


@pytest.mark.parametrize("case", [*DESCENTS[::3], *DESCENTS[-4:]], ids=lambda case: str(case.tc_id))
def test_descent_of_the_vectors_is_the_one_that_is_released(case: VectorCase):
    inputs, d = case.given, len(case.given["x"][0])
    domain = descent_domain(inputs)
    x, target = np.array([floats(row) for row in inputs["x"]]), np.array(floats(inputs["target"]))
    records = prepared(Records(domain, x, target, np.zeros(len(x))))
    curator: Any = GivenNoise(inputs, label_sums_change(domain))
    w, counts, _ = noisy_descent(records, target, curator, Fraction(1), int(inputs["rounds"]))
    found = answer(Steps(), "RepairedDescent", inputs)
    assert floats(found["w"]) == pytest.approx(w.tolist(), rel=1e-13, abs=1e-13)
    assert floats(found["counts"]) == counts.tolist()
    assert len(found["iterates"]) == int(inputs["rounds"])
    assert len(found["w"]) == d


def test_residual_that_is_not_on_the_grid_is_noticed():
    case = next(case for case in load("RepairedDescent").cases if "ResidualNotOnGrid" in case.flags)
    assert case.right is not None
    right = answer(Steps(), "RepairedDescent", case.given)
    assert passes(case.right, right)
    moved = {"gradient": [float(value) + 2.0**-30 for value in right["gradient"]]}
    assert not passes(case.right, moved)
