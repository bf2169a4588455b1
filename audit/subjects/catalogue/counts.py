"""Counts, sums and means."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from audit.subjects.catalogue.entry import Adjacency, Entry
from reference.common.arrays import FloatArray


@dataclass(frozen=True)
class Geometric(Entry):
    """The geometric mechanism on the counts 0 against 1.

    Exact loss: P(noise = k) is proportional to exp(-epsilon |k|), so the ratio at an output v <= 0 is exactly
    exp(epsilon), and nowhere more.
    """

    source = "Ghosh, Roughgarden, Sundararajan, Universally utility-maximizing privacy mechanisms (STOC 2009)"

    def sample(self, data: float, count: int, rng: np.random.Generator) -> FloatArray:
        """Return `count` noisy counts, shape (count, 1)."""
        # the difference of two geometric variates is two-sided geometric
        one, other = rng.geometric(-math.expm1(-self.epsilon), size=(2, count, 1))
        return np.asarray(data + one - other)


@dataclass(frozen=True)
class PrivateMean(Entry):
    """The mean of n values in [0, 1], n public, with noise Lap(1 / (n epsilon)); neighbours replace one value.

    Exact loss: replacing 0 by 1 moves the mean by 1 / n, which is epsilon scales; epsilon, for v below both means.
    """

    adjacency: ClassVar[Adjacency] = "replace_one"
    n: ClassVar[int] = 20

    def inputs(self) -> tuple[FloatArray, FloatArray]:
        """Return the two data sets; the values are clipped to [0, 1]."""
        left = np.full(self.n, 0.5)
        right = left.copy()
        left[0], right[0] = -3.0, 7.0
        return left, right

    def sample(self, data: FloatArray, count: int, rng: np.random.Generator) -> FloatArray:
        """Return `count` noisy means, shape (count, 1)."""
        mean = float(np.clip(data, 0.0, 1.0).mean())
        return mean + rng.laplace(scale=1 / (self.n * self.epsilon), size=(count, 1))


@dataclass(frozen=True)
class UnnoisedCount(PrivateMean):
    """A noisy sum of values in [0, 1] beside their exact number; neighbours add or remove a value.  Broken.

    Exact loss: the number alone tells the inputs apart, so the loss is infinite.
    """

    broken_at = "ideal"
    adjacency = "add_or_remove_one"
    source = (
        "Dwork and Roth (2014), definition 3.1: the number of records has sensitivity 1 where one may be added"
    )

    @property
    def true_epsilon(self) -> float:
        """Infinite."""
        return math.inf

    def inputs(self) -> tuple[FloatArray, FloatArray]:
        """Return the two data sets."""
        return np.full(self.n, 0.5), np.full(self.n - 1, 0.5)

    def sample(self, data: FloatArray, count: int, rng: np.random.Generator) -> FloatArray:
        """Return `count` pairs of noisy sum and exact number, shape (count, 2)."""
        total = data.sum() + rng.laplace(scale=1 / self.epsilon, size=count)
        return np.column_stack([total, np.full(count, float(len(data)))])


@dataclass(frozen=True)
class SmartSum(Entry):
    """Running sums by blocks: each value is in one noisy increment and in one noisy block total at most.

    Six values in blocks of three.  Within a block the running sum is the last block's plus noisy values; at the
    end of a block it is the last block's plus the noisy block total.  All noise is Lap(2 / epsilon).

    Exact loss: the outputs and the noisy values and totals determine each other.  Changing the first value by 1
    moves one noisy value and one total by 1, epsilon / 2 each, so the loss is epsilon, attained where both noisy
    quantities are below both of their means.
    """

    adjacency = "replace_one"
    source = "Chan, Shi, Song, Private and continual release of statistics (TISSEC 2011), two levels of blocks"
    values: ClassVar[int] = 6
    block: ClassVar[int] = 3

    def inputs(self) -> tuple[FloatArray, FloatArray]:
        """Return the two streams."""
        return np.zeros(self.values), np.eye(self.values)[0]

    def sample(self, data: FloatArray, count: int, rng: np.random.Generator) -> FloatArray:
        """Return `count` streams of running sums, shape (count, 6)."""
        noise = rng.laplace(scale=2 / self.epsilon, size=(count, self.values))
        sums = np.empty((count, self.values))
        finished = np.zeros(count)
        for start in range(0, self.values, self.block):
            last = start + self.block - 1
            within = data[start:last] + noise[:, start:last]
            sums[:, start:last] = finished[:, None] + np.cumsum(within, axis=1)
            finished = finished + data[start : last + 1].sum() + noise[:, last]
            sums[:, last] = finished
        return sums


@dataclass(frozen=True)
class PrefixSum(Entry):
    """All running sums of five values, each with noise for one of them.  Broken.

    Exact loss: changing the first value by 1 moves all five sums by 1, epsilon each: 5 epsilon, attained where
    all noisy sums are below both of their means.
    """

    broken_at = "ideal"
    adjacency = "replace_one"
    source = (
        "Dwork, Naor, Pitassi, Rothblum, Differential privacy under continual observation (STOC 2010), the task"
    )
    values: ClassVar[int] = 5

    @property
    def true_epsilon(self) -> float:
        """The exact loss."""
        return self.values * self.epsilon

    def inputs(self) -> tuple[FloatArray, FloatArray]:
        """Return the two streams."""
        return np.zeros(self.values), np.eye(self.values)[0]

    def sample(self, data: FloatArray, count: int, rng: np.random.Generator) -> FloatArray:
        """Return `count` streams of noisy sums, shape (count, 5)."""
        return np.asarray(np.cumsum(data) + rng.laplace(scale=1 / self.epsilon, size=(count, self.values)))


@dataclass(frozen=True)
class Parity(Entry):
    """A whole number of twenty bits whose parity follows the input nine times of ten.  Broken.

    Exact loss: all numbers of one parity are equally likely, with .9 of the mass on one input and .1 on the other:
    log 9 at every output.
    """

    broken_at = "ideal"
    source = "Dwork and Roth (2014), definition 2.4, at an answer that keeps a low bit of its record"
    modulus: ClassVar[int] = 2
    numbers: ClassVar[int] = 2**20

    @property
    def true_epsilon(self) -> float:
        """Log 9, whatever the modulus."""
        return math.log(9)

    def sample(self, data: float, count: int, rng: np.random.Generator) -> FloatArray:
        """Return `count` numbers, shape (count, 1)."""
        # the input's residue has nine times the mass of every other one
        told = rng.random((count, 1)) < 9 / (self.modulus + 8)
        others = (int(data) + rng.integers(1, self.modulus, size=(count, 1))) % self.modulus
        residues = np.where(told, int(data), others)
        blocks = rng.integers(self.numbers // self.modulus, size=(count, 1))
        return np.asarray(self.modulus * blocks + residues, dtype=np.float64)


@dataclass(frozen=True)
class ResidueOfSeven(Parity):
    """The same with the residue mod 7, which the input decides six times of ten.  Broken.

    Exact loss: .6 of the mass on one residue, .4 / 6 on every other one: log 9 at the residues 0 and 1.
    """

    modulus: ClassVar[int] = 7
