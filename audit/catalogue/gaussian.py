"""Gaussian noise on a value of l2 sensitivity 1."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np

from audit.catalogue.entry import Entry
from audit.events import FloatArray
from reference.gaussian import epsilon_of_shift
from reference.noise import analytic_gaussian_sigma
from reference.numbers import exact


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
        """The delta that goes with epsilon."""
        return self.delta

    @cached_property
    def sigma(self) -> float:
        """Standard deviation of the noise."""
        return analytic_gaussian_sigma(Fraction(1), Fraction(self.epsilon), exact("delta", self.delta))

    def sample(self, data: float, count: int, rng: np.random.Generator) -> FloatArray:
        """Return `count` outputs, shape (count, 1)."""
        return rng.normal(data, self.sigma, size=(count, 1))


@dataclass(frozen=True)
class ClassicGaussian(Gaussian):
    """The classic Gaussian formula, sigma = sqrt(2 log(1.25 / delta)) / epsilon, beyond epsilon = 1.  Broken.

    Exact loss: the profile of Balle and Wang (2018) at the shift 1 / sigma.  At epsilon 15 and delta 1e-3 the
    exact delta is 0.0231.  Evaluated at 50 digits.
    """

    epsilon: float = 15.0
    broken_at = "ideal"
    source = "Dwork and Roth (2014), theorem A.1, which assumes epsilon < 1"
    draws = 2_000_000_000

    @cached_property
    def sigma(self) -> float:
        """Standard deviation of the noise."""
        return math.sqrt(2 * math.log(1.25 / float(self.delta))) / self.epsilon

    @property
    def true_epsilon(self) -> float:
        """What it loses at the claimed delta."""
        return float(epsilon_of_shift(1 / Fraction(self.sigma) ** 2, exact("delta", self.delta)))

    def log_likelihood_ratio(self, outputs: FloatArray) -> FloatArray:
        """Return log density at 0 less log density at 1, (1 - 2 v) / (2 sigma^2)."""
        return np.asarray((1 - 2 * outputs[:, 0]) / (2 * self.sigma**2))
