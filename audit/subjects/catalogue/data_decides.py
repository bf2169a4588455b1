"""Mistakes around the noise: data decide what should be public, or budgets do not add up."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import ClassVar

import numpy as np

from audit.subjects.catalogue.entry import Entry
from audit.subjects.catalogue.laplace import WIDE, Unbounded
from reference.common.arrays import FloatArray, IntArray


@dataclass(frozen=True)
class LimitedCount(Unbounded):
    """A count capped at ten, whose noise shrinks with what is left to the cap and ends there.  Broken.

    Exact loss: with ten records the scale is 0, and the output is 10 always; with nine it is 10 almost never.  The
    loss is infinite.
    """

    adjacency = "add_or_remove_one"
    source = "Dwork and Roth (2014), definition 3.3: the scale is a function of public numbers"
    limit: ClassVar[int] = 10

    def inputs(self) -> tuple[FloatArray, FloatArray]:
        """Return nine records and ten."""
        return np.ones(self.limit - 1), np.ones(self.limit)

    def sample(self, data: FloatArray, count: int, rng: np.random.Generator) -> FloatArray:
        """Return `count` noisy counts, shape (count, 1)."""
        scale = min(1.0, float(self.limit - len(data))) / self.epsilon
        return len(data) + rng.laplace(scale=scale, size=(count, 1))


@dataclass(frozen=True)
class HistogramOfSeenValues(Unbounded):
    """A noisy histogram of the categories that occur in the data only; the others have no number.  Broken.

    Exact loss: the third category has a number on the right only.  The loss is infinite.
    """

    adjacency = "replace_one"
    source = "Korolova, Kenthapadi, Mishra, Ntoulas, Releasing search queries and clicks privately (WWW 2009)"
    categories: ClassVar[int] = 3

    def inputs(self) -> tuple[FloatArray, FloatArray]:
        """Return the category of each record."""
        return np.array([0.0, 0, 0, 1, 1, 1]), np.array([0.0, 0, 0, 1, 1, 2])

    def sample(self, data: FloatArray, count: int, rng: np.random.Generator) -> FloatArray:
        """Return `count` histograms, shape (count, 3); NaN where a category is missing."""
        exact = np.bincount(data.astype(np.int64), minlength=self.categories)
        # a replaced record moves two counts
        noisy = exact + rng.laplace(scale=2 / self.epsilon, size=(count, self.categories))
        return np.where(exact > 0, noisy, np.nan)


@dataclass(frozen=True)
class CommonNoiseScale(Unbounded):
    """Wide noise, released by itself and once more with Laplace noise whose scale is taken from the data.  Broken.

    Exact loss: the difference v of the outputs has scale 1 / epsilon on the left and 2 / epsilon on the right, so
    the density ratio, 2 exp(-epsilon |v| / 2), has no lower bound above 0: the loss is infinite.
    """

    source = "Nissim, Raskhodnikova, Smith, Smooth sensitivity and sampling in private data analysis (STOC 2007)"

    def sample(self, data: float, count: int, rng: np.random.Generator) -> FloatArray:
        """Return `count` outputs, shape (count, 2)."""
        common = rng.normal(0.0, WIDE, size=(count, 1))
        return np.hstack([common, common + rng.laplace(scale=(1 + data) / self.epsilon, size=(count, 1))])


@dataclass(frozen=True)
class WholeNoiseOnHalves(Unbounded):
    """A sum of halves with wide noise in whole steps, which hides whole numbers only.  Broken.

    Exact loss: outputs are whole on the left, and half a step off on the right.  The loss is infinite.
    """

    source = "Canonne, Kamath, Steinke, The discrete Gaussian for differential privacy (2020): for whole numbers"

    def inputs(self) -> tuple[float, float]:
        """Return two sums."""
        return 0.0, 0.5

    def sample(self, data: float, count: int, rng: np.random.Generator) -> FloatArray:
        """Return `count` noisy sums, shape (count, 1)."""
        one, other = rng.geometric(self.epsilon * 2.0**-20, size=(2, count, 1))
        return np.asarray(data + (one - other))


@dataclass(frozen=True)
class SharedByChance(Unbounded):
    """Noise on two answers; now and then they share it, on the right only.  Broken.

    Exact loss: the answers are equal with probability .1 on the right, never on the left.  The loss is infinite.
    """

    source = "Dwork and Roth (2014), theorem 3.6: one draw for each coordinate"
    share: ClassVar[float] = 0.1

    def sample(self, data: float, count: int, rng: np.random.Generator) -> FloatArray:
        """Return `count` pairs of answers, shape (count, 2)."""
        noise = rng.laplace(scale=1 / self.epsilon, size=(count, 2))
        shared = rng.random((count, 1)) < data * self.share
        return np.where(shared, noise[:, :1], noise)


@dataclass(frozen=True)
class MeanOfPrivateSize(Unbounded):
    """A mean whose noise is scaled by the number of records, which is private: it may change by one.  Broken.

    Two values of 1/2 against one of them, noise Lap(1 / (n epsilon)) as if n were public.

    Exact loss: both means are 1/2.  At v -> infinity the densities fall like exp(-2 epsilon v) and
    exp(-epsilon v), so their ratio is unbounded and the loss infinite.
    """

    adjacency = "add_or_remove_one"
    source = "Dwork and Roth (2014), definition 2.3: data sets whose numbers of records differ are neighbours"

    def inputs(self) -> tuple[FloatArray, FloatArray]:
        """Return two values and one."""
        return np.array([0.5, 0.5]), np.array([0.5])

    def sample(self, data: FloatArray, count: int, rng: np.random.Generator) -> FloatArray:
        """Return `count` noisy means, shape (count, 1)."""
        mean = float(np.clip(data, 0.0, 1.0).mean())
        return mean + rng.laplace(scale=1 / (len(data) * self.epsilon), size=(count, 1))


@dataclass(frozen=True)
class UnclippedCovariance(Entry):
    """Second moments of two columns, with noise for rows of norm 1, but rows are not clipped.  Broken.

    For rows of norm 1 the squares and the product change by at most 3/2 together; the scale is 3 / (2 epsilon).

    Exact loss: the row (2, 1) in place of (0, 0) moves the squares by 4 and 1, the product by 2: 7 in all, which
    is 14 / 3 epsilon, attained where all three are below the moments on the left.  Longer rows lose more.
    """

    broken_at = "ideal"
    adjacency = "replace_one"
    source = "Dwork, Talwar, Thakurta, Zhang, Analyze Gauss (STOC 2014), section 1: rows have norm at most 1"

    @property
    def true_epsilon(self) -> float:
        """The loss on this pair."""
        return 14 * self.epsilon / 3

    def inputs(self) -> tuple[FloatArray, FloatArray]:
        """Return the two data sets."""
        left = np.array([[0.6, 0.8], [0.0, 1.0], [0.0, 0.0]])
        right = left.copy()
        right[2] = 2.0, 1.0
        return left, right

    def sample(self, data: FloatArray, count: int, rng: np.random.Generator) -> FloatArray:
        """Return `count` noisy moments, shape (count, 3)."""
        moments = (data.T @ data)[np.triu_indices(2)]
        return np.asarray(moments + rng.laplace(scale=1.5 / self.epsilon, size=(count, 3)))


@dataclass(frozen=True)
class ThreeReportedAsOne(Entry):
    """Three answers to one query, each with noise for the whole budget, but only the last is counted.  Broken.

    Exact loss: the noise of the answers is independent, so their losses add up: 3 epsilon, attained where all
    three are <= 0.
    """

    broken_at = "ideal"
    source = "Dwork and Roth (2014), theorem 3.16 (basic composition)"
    answers: ClassVar[int] = 3
    spent: ClassVar[float] = 1.0
    """Share of the budget that each answer has noise for."""

    @property
    def true_epsilon(self) -> float:
        """The loss of all answers together."""
        return self.answers * self.spent * self.epsilon

    def sample(self, data: float, count: int, rng: np.random.Generator) -> FloatArray:
        """Return `count` times all answers, shape (count, answers)."""
        return rng.laplace(data, 1 / (self.spent * self.epsilon), size=(count, self.answers))


@dataclass(frozen=True)
class ComposedByRoot(ThreeReportedAsOne):
    """Four answers at epsilon / 2 each, claimed to lose epsilon, by the square root of their number.  Broken.

    Exact loss: at delta 0 the losses of independent answers add up, to 2 epsilon, attained where all are <= 0.
    """

    source = "Dwork and Roth (2014), theorem 3.20: advanced composition needs a delta, and has a second term"
    answers: ClassVar[int] = 4
    spent: ClassVar[float] = 0.5


@dataclass(frozen=True)
class ExponentOfCauchy(Entry):
    """The exponential of a number with too little Cauchy noise: many outputs are astronomical.  Broken.

    Exact loss: the exponential loses nothing.  Shifted by t, the log ratio of Cauchy densities is at most
    2 asinh(t / 2), at (t - sqrt(t^2 + 4)) / 2 (the derivative is 0 there).  With t = 2 sinh(3 epsilon / 2) that
    is 3 epsilon.  Floats hold exponents from -745 to 709, far from there.
    """

    broken_at = "ideal"
    source = "Nissim, Raskhodnikova, Smith, Smooth sensitivity (STOC 2007): Cauchy noise; here on a log scale"

    @property
    def true_epsilon(self) -> float:
        """Three times the claim."""
        return 3 * self.epsilon

    def sample(self, data: float, count: int, rng: np.random.Generator) -> FloatArray:
        """Return `count` outputs, shape (count, 1)."""
        shift = 2 * math.sinh(1.5 * self.epsilon)
        with np.errstate(over="ignore"):
            return np.exp(data * shift + rng.standard_cauchy(size=(count, 1)))


@lru_cache(maxsize=1)
def _powers() -> IntArray:
    """Return 5^1, 5^2, ... modulo 10,007: all 10,006 are different."""
    return np.array([pow(5, k, 10_007) for k in range(1, 10_007)])


@dataclass(frozen=True)
class RareCodes(Unbounded):
    """Codes below 1,000, but with probability 1/50 one of 5,000 that only this input has.  Broken.

    Exact loss: of 10,006 further codes, in an order without pattern, the first 5,000 occur on the left only and
    the next 5,000 on the right only: infinite.  Each has probability 4e-6.
    """

    source = "Dwork and Roth (2014), definition 2.4, at answers that name their record once in a while"
    draws = 2_000_000
    share: ClassVar[float] = 0.02

    @property
    def excess_delta(self) -> float:
        """The share: without it the claim holds, and no such code occurs on both inputs."""
        return self.share

    def sample(self, data: float, count: int, rng: np.random.Generator) -> FloatArray:
        """Return `count` codes, shape (count, 1)."""
        places = int(5_000 * data) + rng.integers(5_000, size=(count, 1))
        # a generator of the multiplicative group of this prime: its powers have no pattern
        own = 1_000 + _powers()[places]
        shared = rng.integers(1_000, size=(count, 1))
        return np.asarray(np.where(rng.random((count, 1)) < self.share, own, shared), dtype=np.float64)


class RarePairs(RareCodes):
    """Two equal numbers, but with probability 1/50 one of 5,000 pairs that only this input has.  Broken.

    Exact loss: pairs of numbers below 100 of even sum occur on the left only, those of odd sum on the right only:
    infinite.  Each number by itself has the same law on both inputs, and each such pair has probability 4e-6.
    """

    source = "Dwork and Roth (2014), definition 2.4, at quasi-identifiers that name their record together"

    def sample(self, data: float, count: int, rng: np.random.Generator) -> FloatArray:
        """Return `count` pairs, shape (count, 2)."""
        first = rng.integers(100, size=count)
        second = 2 * rng.integers(50, size=count) + (first + int(data)) % 2
        shared = 100 + rng.integers(30, size=(count, 1))
        own = np.column_stack([first, second])
        return np.asarray(np.where(rng.random((count, 1)) < self.share, own, shared), dtype=np.float64)
