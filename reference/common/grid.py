"""The grid of features: exact sums, and models fitted to them, see x rounded to it."""

from __future__ import annotations

import numpy as np

from reference.common.arrays import FloatArray

DATA_STEPS = 2**20
"""On the grid, x holds multiples of 1/DATA_STEPS; a block of 2^13 products then sums up exactly in a float."""


def rounded_to_grid(x: FloatArray, *, by_columns: bool = False) -> FloatArray:
    """Return entries rounded towards zero to multiples of 1/:data:`DATA_STEPS`.

    `by_columns` stores them column by column.
    """
    rounded: FloatArray = np.multiply(x, float(DATA_STEPS), order="F" if by_columns else "K")
    np.trunc(rounded, out=rounded)
    rounded /= DATA_STEPS
    return rounded
