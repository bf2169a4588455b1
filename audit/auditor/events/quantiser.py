"""The public grid on which the ideal mechanism is judged."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from reference.common.arrays import FloatArray

QUANTISED_BITS = 16
"""A grid step is the spread of a coordinate, rounded down to a power of two, times 2^-16.

Float noise lives near 2^-53 of the scale: 37 bits below the step.
"""


LARGEST_WHOLE = 2.0**40
"""Up to here whole numbers stay whole: their low bits are far above the float noise of what was rounded."""

SMALLEST_STEP = -1074
"""Exponent of the smallest step: that of the smallest number above 0."""


@dataclass(frozen=True, eq=False)
class Quantiser:
    """Rounds each coordinate to a multiple of its step: what the *ideal* mechanism is judged on.

    Rounding is post-processing, so a bound on the rounded outputs is a bound on the outputs.  What it cannot see
    are the low bits, where a sampler's floats differ from the real numbers that they stand for.

    Parameters
    ----------
    steps : ndarray, shape (k,)
        Powers of two; 0 leaves a coordinate as it is.
    """

    steps: FloatArray

    @classmethod
    def of(cls, left: FloatArray, right: FloatArray) -> Quantiser:
        """Return the grid for two samples of shape (n, k): 2^-16 of each coordinate's spread.

        The spread is the mean absolute distance from the median, of finite outputs of both together.  The grid of
        a coordinate of whole numbers is not coarser than 1: their parity is not float noise.
        """
        steps = np.zeros(left.shape[1])
        for k in range(left.shape[1]):
            values = np.concatenate([left[:, k], right[:, k]])
            values = values[np.isfinite(values)]
            spread, shift = _spread(values), 0
            if math.isinf(spread):
                # finite numbers too large to be added up: in units of 2^64 they are not
                spread, shift = _spread(np.ldexp(values, -64)), 64
            if spread > 0.0:
                steps[k] = 2.0 ** max(math.floor(math.log2(spread)) + shift - QUANTISED_BITS, SMALLEST_STEP)
                if steps[k] > 1 and are_whole(values):
                    steps[k] = 1.0
        return cls(steps)

    def __call__(self, outputs: FloatArray) -> FloatArray:
        """Return the rounded outputs, in a new array."""
        if (self.steps > 0).all():
            return self._rounded(outputs, self.steps)
        safe = np.where(self.steps > 0, self.steps, 1.0)
        return np.where(self.steps > 0, self._rounded(outputs, safe), outputs)

    @staticmethod
    def _rounded(outputs: FloatArray, steps: FloatArray) -> FloatArray:
        # steps are powers of two, so only rint rounds; dividing, since the inverse of a tiny step is infinite
        with np.errstate(over="ignore"):
            rounded = outputs / steps
        np.rint(rounded, out=rounded)
        rounded *= steps
        # too many steps to count: such an output is a multiple of its step already
        uncounted = np.isinf(rounded)
        if uncounted.any():
            rounded[uncounted] = outputs[uncounted]
        return rounded


def are_whole(values: FloatArray) -> bool:
    """Return whether all values are whole numbers that a grid of step 1 keeps apart."""
    return bool((np.abs(values) <= LARGEST_WHOLE).all() and (values == np.rint(values)).all())


def _spread(values: FloatArray) -> float:
    """Return the mean absolute distance from the median; 0 of nothing, infinite where it overflows."""
    with np.errstate(over="ignore"):
        return float(np.abs(values - np.median(values)).mean()) if values.size else 0.0
