"""Scalar Laplace noise on a value of sensitivity 1."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from audit.events import FloatArray


@dataclass(frozen=True)
class Laplace:
    """The Laplace mechanism on 0 against 1, scale 1 / epsilon.

    Exact loss: the density ratio exp(-epsilon |v - 1|) / exp(-epsilon |v|) is at most exp(epsilon), and equals
    it for v <= 0, so the loss is exactly epsilon.

    Parameters
    ----------
    epsilon : float
        Claimed and true.
    """

    epsilon: float = 1.0

    @property
    def claimed_epsilon(self) -> float:
        """What the mechanism says of itself."""
        return self.epsilon

    @property
    def true_epsilon(self) -> float:
        """What it loses."""
        return self.epsilon

    @property
    def scale(self) -> float:
        """Laplace scale."""
        return 1.0 / self.true_epsilon

    def inputs(self) -> tuple[float, float]:
        """Return the two neighbouring values."""
        return 0.0, 1.0

    def sample(self, data: float, count: int, rng: np.random.Generator) -> FloatArray:
        """Return `count` outputs, shape (count, 1)."""
        return data + rng.laplace(scale=self.scale, size=(count, 1))


@dataclass(frozen=True)
class HalfNoiseLaplace(Laplace):
    """The Laplace mechanism with half the noise it needs.  Broken.

    Exact loss: scale 1 / (2 epsilon) loses 2 epsilon, by the argument of :class:`Laplace`.
    """

    @property
    def true_epsilon(self) -> float:
        """Twice the claim."""
        return 2 * self.epsilon
