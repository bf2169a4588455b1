"""A sampler whose floats reveal more than the real numbers they stand for."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from audit.subjects.catalogue.entry import Entry
from reference.common.arrays import FloatArray


@dataclass(frozen=True)
class FloatLaplace(Entry):
    """numpy's Laplace noise in double precision, judged at the bits.  Broken there.

    Exact loss: effectively infinite.  1 + L is rounded to the grid of its larger term, so every output on input 1
    is a multiple of 2^-53: for L below -1/2 the subtraction is exact and L has that grid, above it the sum is at
    least 1/2.  On input 0 an output below 1/2 in size has 53 bits of its own: most are not multiples.
    """

    broken_at = "bits"
    source = "Mironov, On significance of the least significant bits for differential privacy (CCS 2012)"

    @property
    def true_epsilon(self) -> float:
        """Infinite."""
        return math.inf

    def sample(self, data: float, count: int, rng: np.random.Generator) -> FloatArray:
        """Return `count` outputs, shape (count, 1)."""
        return rng.laplace(data, 1 / self.epsilon, size=(count, 1))
