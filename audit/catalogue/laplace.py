"""Laplace noise on values of l1 sensitivity 1."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

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
    claimed_delta: ClassVar[str] = "0"

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
        return rng.laplace(data, self.scale, size=(count, 1))


@dataclass(frozen=True)
class ScoredLaplace(Laplace):
    """:class:`Laplace` with its log likelihood ratio, (|v - 1| - |v|) / scale."""

    def log_likelihood_ratio(self, outputs: FloatArray) -> FloatArray:
        """Return log density at 0 less log density at 1, shape (n,)."""
        values = outputs[:, 0]
        ratio = np.abs(values - 1.0)
        ratio -= np.abs(values)
        ratio /= self.scale
        return np.asarray(ratio)


@dataclass(frozen=True)
class HalfNoiseLaplace(Laplace):
    """The Laplace mechanism with half the noise it needs.  Broken.

    Exact loss: scale 1 / (2 epsilon) loses 2 epsilon, by the argument of :class:`Laplace`.
    """

    @property
    def true_epsilon(self) -> float:
        """Twice the claim."""
        return 2 * self.epsilon


@dataclass(frozen=True)
class LeakyLaplace(Laplace):
    """The Laplace mechanism that with probability `leak` releases 100 + the raw answer.  Broken.

    Exact loss: the output 101 has probability `leak` on input 1 and 0 on input 0, so the loss is infinite.

    Parameters
    ----------
    leak : float
        1e-4 unless told.
    """

    leak: float = 1e-4

    @property
    def true_epsilon(self) -> float:
        """Infinite."""
        return math.inf

    @property
    def scale(self) -> float:
        """Of the honest outputs."""
        return 1.0 / self.epsilon

    def sample(self, data: float, count: int, rng: np.random.Generator) -> FloatArray:
        """Return `count` outputs, shape (count, 1)."""
        honest = super().sample(data, count, rng)
        return np.where(rng.random((count, 1)) < self.leak, 100.0 + data, honest)


@dataclass(frozen=True)
class ProductLaplace(Laplace):
    """The Laplace mechanism on a vector: 0 against one of l1 length 1, spread evenly.

    Exact loss: each coordinate's density ratio is at most exp(epsilon / dimension), attained for v <= 0, so the
    product attains exp(epsilon) where all are <= 0, with probability 2^-dimension.

    Parameters
    ----------
    dimension : int
        8 unless told.
    """

    dimension: int = 8

    def inputs(self) -> tuple[float, float]:
        """Return the value of every coordinate on the two inputs."""
        return 0.0, 1.0 / self.dimension

    def sample(self, data: float, count: int, rng: np.random.Generator) -> FloatArray:
        """Return `count` outputs, shape (count, dimension)."""
        return rng.laplace(data, self.scale, size=(count, self.dimension))
