"""What can be audited: anything with two inputs and a sampler."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol, TypeAlias

import numpy as np
import numpy.typing as npt

from audit.neighbours import Pair
from reference.budgets import Budget, SplitBudget
from reference.coefficients import Layout
from reference.mechanisms import MechanismSpec
from reference.noise import Noise, add_noise, draw
from reference.objective import layout, objective
from reference.readings import Readings

FloatArray: TypeAlias = npt.NDArray[np.float64]


class Subject(Protocol):
    """A mechanism with a pair of neighbouring inputs.

    This is all the auditor gets: it never sees the noise, the scale or the coefficients.
    """

    def inputs(self) -> tuple[Any, Any]:
        """Return the two neighbouring inputs, left and right."""
        ...

    def sample(self, data: Any, count: int, rng: np.random.Generator) -> FloatArray:
        """Return `count` independent outputs on one input, shape (count, k)."""
        ...


@dataclass(frozen=True)
class CoefficientRelease:
    """The noisy coefficients of one of our mechanisms on a pair of data sets.

    The w that a mechanism returns is computed from them, so it can lose no more privacy than they do.

    Parameters
    ----------
    spec : MechanismSpec
    budget : Budget or SplitBudget
    readings : Readings
    x_s : int
        Coordinate with a budget of its own.
    pair : Pair
        Neighbouring data sets.
    """

    spec: MechanismSpec
    budget: Budget | SplitBudget
    readings: Readings
    x_s: int
    pair: Pair

    @cached_property
    def noise(self) -> Noise:
        """What the mechanism adds: a function of public things only."""
        return self.spec.noise(self.pair.domain, self.budget, self.readings, self.x_s)

    @property
    def layout(self) -> Layout:
        """Which coefficients an output holds."""
        return layout(self.pair.domain, self.readings)

    def inputs(self) -> tuple[FloatArray, FloatArray]:
        """Return the exact coefficients of the two data sets."""
        left, right = self.pair.moments
        return objective(left, self.readings).values, objective(right, self.readings).values

    def sample(self, data: FloatArray, count: int, rng: np.random.Generator) -> FloatArray:
        """Return `count` noisy coefficient vectors, by the code that makes a release."""
        return add_noise(data, self.noise, draw(self.noise, rng, count))
