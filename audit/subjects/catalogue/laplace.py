"""Laplace noise on values of l1 sensitivity 1: right, and with typical mistakes."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from audit.subjects.catalogue.entry import Entry
from reference.common.arrays import FloatArray

WIDE = 1_000.0
"""Standard deviation of noise that hides, in each output by itself, whatever else is in it."""


@dataclass(frozen=True)
class Laplace(Entry):
    """The Laplace mechanism on 0 against 1, scale 1 / epsilon.

    Exact loss: the density ratio exp(-epsilon |v - 1|) / exp(-epsilon |v|) is at most exp(epsilon), and equals
    it for v <= 0, so the loss is exactly epsilon.
    """

    @property
    def scale(self) -> float:
        """Laplace scale."""
        return 1.0 / self.true_epsilon

    def sample(self, data: Any, count: int, rng: np.random.Generator) -> FloatArray:
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
class ProductLaplace(Laplace):
    """The Laplace mechanism on a vector: 0 against one of l1 length 1, spread evenly.

    Exact loss: each coordinate's density ratio is at most exp(epsilon / dimension), attained for v <= 0, so the
    product attains exp(epsilon) where all are <= 0, with probability 2^-dimension.

    Parameters
    ----------
    dimension : int
        8 by default.
    """

    dimension: int = 8

    def inputs(self) -> tuple[float, float]:
        """Return the value of every coordinate on the two inputs."""
        return 0.0, 1.0 / self.dimension

    def sample(self, data: float, count: int, rng: np.random.Generator) -> FloatArray:
        """Return `count` outputs, shape (count, dimension)."""
        return rng.laplace(data, self.scale, size=(count, self.dimension))


@dataclass(frozen=True)
class CommonNoiseLaplace(Laplace):
    """Wide noise, released by itself and once more with the value and Laplace noise on it.

    Exact loss: the wide noise has one law on both inputs, and given it the second output is :class:`Laplace`, so
    the loss is exactly epsilon.
    """

    def sample(self, data: Any, count: int, rng: np.random.Generator) -> FloatArray:
        """Return `count` outputs, shape (count, 2)."""
        common = rng.normal(0.0, WIDE, size=(count, 1))
        return np.hstack([common, common + super().sample(data, count, rng)])


@dataclass(frozen=True)
class HalfNoiseLaplace(Laplace):
    """The Laplace mechanism with half the noise it needs.  Broken.

    Exact loss: scale 1 / (2 epsilon) loses 2 epsilon, by the argument of :class:`Laplace`.
    """

    broken_at = "ideal"

    @property
    def true_epsilon(self) -> float:
        """Twice the claim."""
        return 2 * self.epsilon


@dataclass(frozen=True)
class InvertedScaleLaplace(Laplace):
    """The Laplace mechanism with scale epsilon instead of 1 / epsilon.  Broken for epsilon < 1.

    Exact loss: scale epsilon loses 1 / epsilon, by the argument of :class:`Laplace`.
    """

    broken_at = "ideal"
    epsilon: float = 0.5

    @property
    def true_epsilon(self) -> float:
        """The inverse of the claim."""
        return 1 / self.epsilon


@dataclass(frozen=True)
class DoubleSpendingLaplace(Laplace):
    """Two answers to one query, each of which spends the whole budget.  Broken.

    Exact loss: the noise of the answers is independent, so their losses add up: 2 epsilon, attained where both
    are <= 0.
    """

    broken_at = "ideal"
    source = "Dwork and Roth (2014), section 3.5 (composition)"

    @property
    def true_epsilon(self) -> float:
        """Twice the claim."""
        return 2 * self.epsilon

    def sample(self, data: float, count: int, rng: np.random.Generator) -> FloatArray:
        """Return `count` pairs of answers, shape (count, 2)."""
        return rng.laplace(data, 1 / self.epsilon, size=(count, 2))


class Unbounded(Entry):
    """A broken mechanism whose loss is infinite."""

    broken_at = "ideal"

    @property
    def true_epsilon(self) -> float:
        """Infinite."""
        return math.inf


@dataclass(frozen=True)
class LeakyLaplace(Unbounded):
    """The Laplace mechanism that with probability `leak` releases 100 + the raw answer.  Broken.

    Exact loss: the output 101 has probability `leak` on input 1 and 0 on input 0, so the loss is infinite.

    Parameters
    ----------
    leak : float
        1e-4 by default.
    """

    leak: float = 1e-4
    draws = 4_000_000

    @property
    def excess_delta(self) -> float:
        """The leak: without it the claim holds, and the two leaked outputs differ."""
        return self.leak

    def sample(self, data: float, count: int, rng: np.random.Generator) -> FloatArray:
        """Return `count` outputs, shape (count, 1)."""
        honest = rng.laplace(data, 1 / self.epsilon, size=(count, 1))
        return np.where(rng.random((count, 1)) < self.leak, 100.0 + data, honest)


@dataclass(frozen=True)
class ZeroSensitivityLaplace(Unbounded):
    """Noise for a sensitivity taken from the lower bound alone, which is 0.  Broken.

    A sum of values in [0, 1] whose sensitivity is taken as |lower| = 0: the scale is 0.

    Exact loss: the output is the raw answer, 0 on one input and 1 on the other, so the loss is infinite.
    """

    source = "IBM/differential-privacy-library, issue 105 (2026): a bound of squares taken from the lower end"

    def sample(self, data: float, count: int, rng: np.random.Generator) -> FloatArray:
        """Return `count` outputs, shape (count, 1)."""
        return data + rng.laplace(scale=0.0 / self.epsilon, size=(count, 1))


@dataclass(frozen=True)
class BoundsFromDataLaplace(Unbounded):
    """A sum whose sensitivity is the range that the data show.  Broken.

    Ten values in [0, 1], all 0 but one: 0.01 on the left, 1 on the right.  Scale: the largest value / epsilon.

    Exact loss: at v -> infinity the densities fall like exp(-100 epsilon v) on the left and exp(-epsilon v) on
    the right, so their ratio is unbounded and the loss infinite.
    """

    adjacency = "replace_one"
    source = "Dwork and Roth (2014), definition 3.1: the sensitivity is over all data sets"

    def inputs(self) -> tuple[FloatArray, FloatArray]:
        """Return the two data sets."""
        left, right = np.zeros(10), np.zeros(10)
        left[0], right[0] = 0.01, 1.0
        return left, right

    def sample(self, data: FloatArray, count: int, rng: np.random.Generator) -> FloatArray:
        """Return `count` noisy sums, shape (count, 1)."""
        shown = float(data.max() - data.min())
        return rng.laplace(data.sum(), shown / self.epsilon, size=(count, 1))


@dataclass(frozen=True)
class NanThroughClipping(Unbounded):
    """A sum clipped to [0, 1] per value, where clipping lets NaN pass.  Broken.

    Exact loss: with a value that is NaN the output always is, without it never, so the loss is infinite.
    """

    adjacency = "replace_one"
    source = "IEEE 754: comparisons with NaN are false, so that neither bound applies"

    def inputs(self) -> tuple[FloatArray, FloatArray]:
        """Return the two data sets."""
        return np.array([0.5, 0.5, 0.0]), np.array([0.5, 0.5, np.nan])

    def sample(self, data: FloatArray, count: int, rng: np.random.Generator) -> FloatArray:
        """Return `count` noisy sums, shape (count, 1)."""
        total = float(np.clip(data, 0.0, 1.0).sum())
        return total + rng.laplace(scale=1 / self.epsilon, size=(count, 1))


SEEDS = 256
"""Seeds that the low-entropy generator can have."""


@lru_cache(maxsize=1)
def _unit_variates() -> FloatArray:
    return np.array([np.random.default_rng(seed).laplace() for seed in range(SEEDS)])


@dataclass(frozen=True)
class LowEntropySeed(Unbounded):
    """Laplace noise from a generator that is seeded with one byte.  Broken.

    Exact loss: there are 256 outputs on each input, and the two sets are disjoint unless two of the 256 variates
    differ by exactly epsilon, which a test excludes.  The loss is infinite.
    """

    source = "Garfinkel and Leclerc, Randomness concerns when deploying differential privacy (WPES 2020)"

    def sample(self, data: float, count: int, rng: np.random.Generator) -> FloatArray:
        """Return `count` outputs, shape (count, 1)."""
        seeds = rng.integers(0, SEEDS, (count, 1))
        return np.asarray(data + _unit_variates()[seeds] / self.epsilon)


@dataclass(frozen=True)
class RetriedLaplace(Entry):
    """The Laplace mechanism, drawn again until the output is not negative.  Broken.

    Exact loss: the output has the Laplace density divided by P(v >= 0), which is 1/2 on input 0 and
    1 - exp(-epsilon) / 2 on input 1.  At v = 0 the ratio of the densities is the largest, exp(epsilon), and the
    ratio of the divisors adds log(2 - exp(-epsilon)).
    """

    broken_at = "ideal"
    source = (
        "Croft, Sack, Shi, Differential privacy via a truncated and normalized Laplace mechanism (2019): "
        "the divisor depends on the data"
    )

    @property
    def true_epsilon(self) -> float:
        """The exact loss."""
        return self.epsilon + math.log(2 - math.exp(-self.epsilon))

    def sample(self, data: float, count: int, rng: np.random.Generator) -> FloatArray:
        """Return `count` outputs, shape (count, 1)."""
        outputs = rng.laplace(data, 1 / self.epsilon, size=(count, 1))
        while (again := outputs < 0).any():
            outputs[again] = rng.laplace(data, 1 / self.epsilon, size=int(again.sum()))
        return outputs
