"""Gaussian noise."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np

from audit.events import FloatArray
from reference.noise import analytic_gaussian_sigma
from reference.numbers import exact


@dataclass(frozen=True)
class Gaussian:
    """The analytic Gaussian mechanism on 0 against 1.

    Exact loss: sigma is the smallest float at which the exact profile of Balle and Wang (2018) is at most delta at
    epsilon, so the loss at that delta is epsilon, up to the rounding of sigma.

    Parameters
    ----------
    epsilon : float
        Claimed and true.
    delta : str
        A decimal number.
    """

    epsilon: float = 1.0
    delta: str = "1e-3"

    @property
    def claimed_epsilon(self) -> float:
        """What the mechanism says of itself."""
        return self.epsilon

    @property
    def claimed_delta(self) -> str:
        """The delta that goes with it."""
        return self.delta

    @property
    def true_epsilon(self) -> float:
        """What it loses at the claimed delta."""
        return self.epsilon

    @cached_property
    def sigma(self) -> float:
        """Standard deviation of the noise."""
        return analytic_gaussian_sigma(Fraction(1), Fraction(self.epsilon), exact("delta", self.delta))

    def inputs(self) -> tuple[float, float]:
        """Return the two neighbouring values."""
        return 0.0, 1.0

    def sample(self, data: float, count: int, rng: np.random.Generator) -> FloatArray:
        """Return `count` outputs, shape (count, 1)."""
        return rng.normal(data, self.sigma, size=(count, 1))
