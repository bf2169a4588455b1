"""Other libraries under our auditor: what loses more than it claims is caught, the others are not.

The mechanisms draw from entropy of their own, so each run is a new one.  The significance is small enough that a
right mechanism is refuted less than once in ten thousand runs of a test.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from diffprivlib import mechanisms
from diffprivlib.models import LinearRegression

from audit.auditor.choose import Prospect
from audit.auditor.distinguish import Estimate, Terms, estimate
from audit.subjects.adapters import DiffprivlibMechanism, EstimatorSubject
from audit.subjects.search import DataSets, Effort, search

SIGNIFICANCE = 1e-4


def audit(subject: Any, draws: int, **choices: Any) -> Estimate:
    return estimate(
        subject,
        Terms(delta=float(subject.claimed_delta), draws=draws, significance=SIGNIFICANCE, **choices),
        np.random.default_rng(1),
    )


# --- LinearRegression -----------------------------------------------------------------------------------------

# One record of four is replaced: its feature is 1/10 on one side and 1 on the other, all else is 0.
SMALL, LARGE = np.zeros((4, 1)), np.zeros((4, 1))
SMALL[0], LARGE[0] = 0.1, 1.0
LABELS = np.zeros(4)


def regression(lower: float, claim: float = 1.0) -> EstimatorSubject:
    """Return diffprivlib's regression on one feature in [lower, 1], without intercept."""
    estimator = LinearRegression(epsilon=claim, bounds_X=(lower, 1), bounds_y=(0, 1), fit_intercept=False)
    return EstimatorSubject(estimator, (SMALL, LABELS), (LARGE, LABELS), attribute="coef_")


def second_degree(lower: float) -> list[float]:
    """Return the noisy sum of squares of ten fits, whose exact value is 1."""
    subject = regression(lower)
    observed = EstimatorSubject(
        subject.estimator, *subject.inputs(), attribute=lambda fitted: fitted._obj_coefs[2]
    )
    return observed.sample(subject.right_data, 10, np.random.default_rng()).ravel().tolist()


def test_linear_regression_adds_no_noise_to_squares_at_lower_bound_0():
    """The sensitivity of sum x^2 is taken from the lower bound alone: 0 here, 1 where the lower bound is -1."""
    assert second_degree(0.0) == [1.0] * 10
    assert len(set(second_degree(-1.0))) == 10


def test_linear_regression_with_lower_bound_0_is_refuted_with_a_witness():
    """coef_ = (noise of scale 3) / (sum x^2, exact): typical size 300 where x = 1/10, and 3 where x = 1."""
    subject = regression(0.0)
    assert subject.claimed_epsilon == 1.0
    found = audit(subject, 4_000, families=("coordinates", "additive"))
    assert found.verdict(1.0) == "refuted"
    assert found.epsilon_lower_bound > 3.0
    assert found.counts.likely > 20 * found.counts.unlikely


class Searched(EstimatorSubject):
    """The regression over all data sets of two records with x in [1/10, 1] and y in [0, 1]."""

    neighbourhood = DataSets((0.1, 0.0), (1.0, 1.0), 2)

    def sample(self, data, count, rng):
        table = data.array()
        return super().sample((table[:, :-1], table[:, -1]), count, rng)


def test_a_search_finds_neighbours_that_refute_linear_regression():
    subject = Searched(regression(0.0).estimator, None, None)
    rng = np.random.default_rng(2)
    prospect = Prospect(1_500, 0.0, SIGNIFICANCE)
    pair = search(subject, subject.neighbourhood, Effort(2_000), prospect, rng).pair
    at_pair = EstimatorSubject(
        subject.estimator, *((data.array()[:, :-1], data.array()[:, -1]) for data in pair), attribute="coef_"
    )
    assert audit(at_pair, 4_000, families=("coordinates", "additive")).verdict(1.0) == "refuted"


def test_linear_regression_with_symmetric_bounds_is_not_refuted():
    """Null control: with lower bound -1 the lower bound alone gives the right sensitivity."""
    found = audit(regression(-1.0), 8_000, families=("coordinates", "additive"))
    assert found.verdict(1.0) == "not refuted"


# --- Mechanisms -----------------------------------------------------------------------------------------------

MECHANISMS = {
    "laplace": (mechanisms.Laplace(epsilon=1, sensitivity=1), 0.0, 1.0),
    "laplace_truncated": (mechanisms.LaplaceTruncated(epsilon=1, sensitivity=1, lower=-1, upper=2), 0.0, 1.0),
    "laplace_folded": (mechanisms.LaplaceFolded(epsilon=1, sensitivity=1, lower=0, upper=3), 0.0, 1.0),
    "staircase": (mechanisms.Staircase(epsilon=1, sensitivity=1), 0.0, 1.0),
    "snapping": (mechanisms.Snapping(epsilon=1, sensitivity=1, lower=-8, upper=8), 0.0, 1.0),
    "geometric": (mechanisms.Geometric(epsilon=1), 0, 1),
    "geometric_truncated": (mechanisms.GeometricTruncated(epsilon=1, lower=0, upper=4), 1, 2),
    "gaussian": (mechanisms.Gaussian(epsilon=1, delta=1e-2, sensitivity=1), 0.0, 1.0),
    "gaussian_analytic": (mechanisms.GaussianAnalytic(epsilon=1, delta=1e-2, sensitivity=1), 0.0, 1.0),
    "gaussian_discrete": (mechanisms.GaussianDiscrete(epsilon=1, delta=1e-2), 0, 1),
}


@pytest.mark.parametrize("name", MECHANISMS)
def test_diffprivlib_mechanism_is_not_refuted_at_its_claim(name, record_property):
    """At the ideal level.  What the bits show is recorded with the test's result, and not asserted."""
    subject = DiffprivlibMechanism(*MECHANISMS[name])
    found = audit(subject, 40_000)
    assert found.verdict(subject.claimed_epsilon) == "not refuted"
    record_property("epsilon_lower_bound", found.epsilon_lower_bound)
    record_property("epsilon_lower_bound_of_the_bits", found.implementation.epsilon_lower_bound)


def test_binary_mechanism_is_audited_by_the_place_of_its_answer():
    """Randomised response: the probabilities are known, so the bound is near the claim."""
    mechanism = mechanisms.Binary(epsilon=1, value0="no", value1="yes")
    found = audit(DiffprivlibMechanism(mechanism, "no", "yes", outcomes=("no", "yes")), 40_000)
    assert 0.8 < found.epsilon_lower_bound <= 1.0


@pytest.mark.parametrize("name", ["laplace", "geometric", "snapping"])
def test_the_same_mechanism_is_refuted_at_half_its_claim(name):
    """Broken control: a claim of one half, where the loss is near 1."""
    found = audit(DiffprivlibMechanism(*MECHANISMS[name]), 40_000)
    assert found.verdict(0.5) == "refuted"
