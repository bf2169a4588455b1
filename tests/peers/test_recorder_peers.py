"""The recorder on diffprivlib's linear regression: its issue 105, bounds from data, and a right use."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from diffprivlib.models import LinearRegression
from diffprivlib.utils import PrivacyLeakWarning

from audit.subjects.recorder import NoiseClaim, examine

FEW = np.array([[0.1], [0.0], [0.0], [0.5]])
"""Features; the label of every record is 1/4."""

MUCH = np.array([[1.0], [0.0], [0.0], [0.5]])
"""The same with another first record."""


def fitted(**choices: Any) -> Any:
    """Return a function of the features: what a fit releases."""

    def run(x: Any) -> Any:
        model = LinearRegression(epsilon=1.0, random_state=1, **choices).fit(x, np.full(len(x), 0.25))
        return model.coef_, model.intercept_

    return run


def kinds(run: Any) -> list[tuple[str, str]]:
    found = examine(run, FEW, MUCH, NoiseClaim(1.0))
    return [(one.kind, one.line.rpartition("/")[2].partition(":")[0]) for one in found]


def test_square_is_released_with_the_sensitivity_of_its_lower_bound():
    """Issue 105: sum x^2 on [0, 1] gets no noise at all, and the recorder names the line of the library."""
    run = fitted(bounds_X=(0, 1), bounds_y=(0, 1), fit_intercept=False)
    (found,) = examine(run, FEW, MUCH, NoiseClaim(1.0))
    assert found.kind == "sensitivity"
    assert "linear_regression.py" in found.line
    assert found.said == "data move by 0.99, and LaplaceFolded was given the sensitivity 0"


def test_the_same_regression_on_symmetric_bounds_is_right():
    run = fitted(bounds_X=(-1, 1), bounds_y=(-1, 1), fit_intercept=False)
    assert examine(run, FEW, MUCH, NoiseClaim(1.0)) == []


def test_square_stays_wrong_with_an_intercept():
    """The lower bound is moved by the released mean, and is still the only one that counts."""
    assert set(kinds(fitted(bounds_X=(0, 1), bounds_y=(0, 1)))) == {("sensitivity", "linear_regression.py")}


def test_bounds_from_data_are_found():
    with pytest.warns(PrivacyLeakWarning):
        found = kinds(fitted(fit_intercept=False))
    assert ("public", "linear_regression.py") in found
