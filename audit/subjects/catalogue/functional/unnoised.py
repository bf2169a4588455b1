"""Noise that is missing somewhere, or the same everywhere: each of these loses without bound."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np

from audit.exact.neighbours import Neighbours
from audit.subjects.catalogue.functional.calibrated import Functional, explicit
from reference.common.arrays import FloatArray
from reference.noise import add_noise
from reference.readings import Readings
from reference.sensitivity import Setting

SOURCE = "the paper's algorithms add noise to every coefficient: Algorithm 1, lines 14 to 22"


def _to_the_corner(setting: Setting) -> Neighbours:
    """Return data sets of 99 records at (1, 1) and one at the origin, which on the right is at (1, 1), too."""
    shared = [((1.0, 1.0), 0, 0, 99)]
    return explicit(setting, shared, [((0.0, 0.0), 0, 0, 1)], [((1.0, 1.0), 0, 0, 1)])


class _Bare(Functional):
    """Some coefficients get no noise.

    Exact loss: the coordinates without noise are constants on each input, and differ; infinite.
    """

    broken_at = "ideal"
    source = SOURCE
    bare: ClassVar[tuple[int, ...]]
    """Which coordinates."""

    @property
    def true_epsilon(self) -> float:
        """Infinite."""
        return math.inf

    def sample(self, data: FloatArray, count: int, rng: np.random.Generator) -> FloatArray:
        """Return `count` coefficient vectors, some coordinates of them exact."""
        released = super().sample(data, count, rng)
        places = list(self.bare)
        released[:, places] = data[places]
        return released


@dataclass(frozen=True)
class UnnoisedLabel(_Bare):
    """The linear coefficients, which hold the labels, get no noise.  Broken.

    Exact loss: the pair differs in label and group, which moves both linear coefficients; infinite.
    """

    bare = (0, 1)


@dataclass(frozen=True)
class UnnoisedDiagonal(_Bare):
    """The squares w_1^2 and w_2^2 get no noise, the product w_1 w_2 does.  Broken.

    Exact loss: one of 100 records moves from 0 to (1, 1), which moves both coefficients by 1/8; infinite.
    """

    bare = (2, 4)

    @cached_property
    def neighbours(self) -> Neighbours:
        """One record moves from the origin to the corner."""
        return _to_the_corner(self.setting)


@dataclass(frozen=True)
class UnnoisedFairness(_Bare):
    """Fairness `separate`, where the covariance with the group gets no noise.  Broken.

    Exact loss: the pair differs in the group, which moves the covariance; infinite.
    """

    readings = Readings(fairness="separate", sensitivity="exact", repair="none")
    setting = Setting(2, "separate", "unit_box", records=100)
    bare = (5, 6)


@dataclass(frozen=True)
class OneVariate(Functional):
    """One unit variate for all coefficients: a generator seeded alike for each.  Broken.

    Exact loss: all coefficients have the same scale, so the differences between coefficients carry no noise.  One
    of 100 records moves from 0 to (1, 1), which moves linear and quadratic ones by different amounts; infinite.
    """

    broken_at = "ideal"
    source = "independence of the noise: Theorem 1"

    @property
    def true_epsilon(self) -> float:
        """Infinite."""
        return math.inf

    @cached_property
    def neighbours(self) -> Neighbours:
        """One record moves from the origin to the corner."""
        return _to_the_corner(self.setting)

    def sample(self, data: FloatArray, count: int, rng: np.random.Generator) -> FloatArray:
        """Return `count` coefficient vectors, each moved by one variate."""
        return add_noise(data, self.noise, np.tile(rng.laplace(size=(count, 1)), len(data)))


@dataclass(frozen=True)
class StatisticsLeft(Functional):
    """The noisy coefficients with the exact share of the group left in the result.  Broken.

    Exact loss: the share is 0 on the left and 1/100 on the right, and has no noise; infinite.
    """

    broken_at = "ideal"
    source = "a release may hold nothing of the data but its noisy coefficients"

    @property
    def true_epsilon(self) -> float:
        """Infinite."""
        return math.inf

    def inputs(self) -> tuple[tuple[FloatArray, float], tuple[FloatArray, float]]:
        """Return the exact coefficients and the share of the group, for the two data sets."""
        left, right = super().inputs()
        shares = [float(side.moments.zbar) for side in (self.neighbours.left, self.neighbours.right)]
        return (left, shares[0]), (right, shares[1])

    def sample(self, data: tuple[FloatArray, float], count: int, rng: np.random.Generator) -> FloatArray:
        """Return `count` noisy coefficient vectors with the exact share."""
        return np.column_stack([super().sample(data[0], count, rng), np.full(count, data[1])])
