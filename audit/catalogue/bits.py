"""A sampler whose floats say more than the real numbers they stand for."""

from __future__ import annotations

import math

from audit.catalogue.laplace import Laplace


class FloatLaplace(Laplace):
    """numpy's Laplace noise in double precision, judged at the bits.  Broken there.

    Exact loss: infinite in effect.  1 + L is rounded to the grid of its larger term, so every output on input 1
    is a multiple of 2^-53: for L below -1/2 the subtraction is exact and L has that grid, above it the sum is at
    least 1/2.  On input 0 an output below 1/2 in size has 53 bits of its own: most are no multiples.
    """

    @property
    def true_epsilon(self) -> float:
        """Infinite."""
        return math.inf

    @property
    def scale(self) -> float:
        """As for the ideal mechanism, which loses epsilon."""
        return 1.0 / self.epsilon
