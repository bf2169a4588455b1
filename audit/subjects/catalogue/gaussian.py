"""Gaussian noise on a value of l2 sensitivity 1."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np

from audit.subjects.catalogue.entry import Entry
from reference.common.arrays import FloatArray
from reference.common.numbers import exact
from reference.noise import analytic_gaussian_sigma
from reference.noise.profile import delta_of_shift, epsilon_of_shift


@dataclass(frozen=True)
class Gaussian(Entry):
    """The analytic Gaussian mechanism on 0 against 1.

    Exact loss: sigma is the smallest float at which the exact profile of Balle and Wang (2018) is at most delta at
    epsilon, so the loss at that delta is epsilon, up to the rounding of sigma.

    Parameters
    ----------
    delta : str
        A decimal number.
    """

    delta: str = "1e-3"
    source = "Balle and Wang, Improving the Gaussian mechanism (ICML 2018), theorem 8"

    @property
    def claimed_delta(self) -> str:
        """The claimed delta."""
        return self.delta

    @cached_property
    def sigma(self) -> float:
        """Standard deviation of the noise."""
        return analytic_gaussian_sigma(Fraction(1), Fraction(self.epsilon), exact("delta", self.delta))

    @property
    def excess_delta(self) -> float:
        """The delta beyond the claimed one, by the exact profile; the same in both directions."""
        profile = delta_of_shift(1 / Fraction(self.sigma) ** 2, Fraction(self.epsilon)).upper
        return max(float(profile - exact("delta", self.delta)), 0.0)

    def sample(self, data: float, count: int, rng: np.random.Generator) -> FloatArray:
        """Return `count` outputs, shape (count, 1)."""
        return rng.normal(data, self.sigma, size=(count, 1))


@dataclass(frozen=True)
class ClassicGaussian(Gaussian):
    """The classic Gaussian formula, sigma = sqrt(2 log(1.25 / delta)) / epsilon, beyond epsilon = 1.  Broken.

    Exact loss: the profile of Balle and Wang (2018) at the shift 1 / sigma.  At epsilon 15 and delta 1e-3 the
    exact delta is 0.0231.  Evaluated in ball arithmetic.

    Out of reach of 40,000 draws: a pair that keeps the claim is within exp(-15) (0.0231 - 0.001) = 6.8e-9 of this
    one in total variation, so no valid auditor flags it with a chance of more than 0.0003 above its significance,
    and none with a chance of 0.9 by fewer than 2.8e8 draws (:func:`audit.subjects.catalogue.reach.largest_power`).

    The joint bound of the best event needs 1e9 draws per input, as many as it is checked for: then it refutes with
    probability 0.896 (:func:`audit.bounds.power.power_of_event`).  That event, outputs below -0.505, has
    probability 1.1e-9 on the one input and 0.022 on the other.  An auditor that chooses its event by what it saw
    in fewer draws cannot tell it from events a thousand times likelier; ours refutes only if told the event.
    """

    epsilon: float = 15.0
    broken_at = "ideal"
    source = "Dwork and Roth (2014), theorem A.1, which assumes epsilon < 1"

    @cached_property
    def sigma(self) -> float:
        """Standard deviation of the noise."""
        return math.sqrt(2 * math.log(1.25 / float(self.delta))) / self.epsilon

    @property
    def true_epsilon(self) -> float:
        """The loss at the claimed delta."""
        return float(epsilon_of_shift(1 / Fraction(self.sigma) ** 2, exact("delta", self.delta)).upper)

    def log_likelihood_ratio(self, outputs: FloatArray) -> FloatArray:
        """Return log density at 0 less log density at 1, (1 - 2 v) / (2 sigma^2)."""
        return np.asarray((1 - 2 * outputs[:, 0]) / (2 * self.sigma**2))


@dataclass(frozen=True)
class ClassicGaussianWithinReach(ClassicGaussian):
    """:class:`ClassicGaussian` at epsilon 8 and delta 0.1, where the same mistake can be seen.  Broken.

    Exact loss: the same profile.  The exact delta is 0.2358.
    """

    epsilon: float = 8.0
    delta: str = "0.1"
    draws = 4_000_000
