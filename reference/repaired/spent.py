"""What is public about a release besides its values."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import NamedTuple

COUNTS, GRADIENT, GROUP_COUNT, PROBE = "counts by label", "gradient", "group count", "probe"
CELL_COUNTS, CELL_PROBE = "counts of cells", "probe of cells"
"""What is released."""

SUM_STEPS = 2**40
"""Released sums are multiples of 1/SUM_STEPS: products of two numbers on the grid of the records."""


class Change(NamedTuple):
    """How much one record, or all records of one person, can change a sum."""

    l1_sensitivity: Fraction
    l2_sensitivity_squared: Fraction

    def times(self, rows: int) -> Change:
        """Return how far this many records can change it together."""
        return Change(rows * self.l1_sensitivity, rows**2 * self.l2_sensitivity_squared)


class Spent(NamedTuple):
    """One release: public."""

    what: str
    share: Fraction
    change: Change
    scale: float
    size: int


def deviation_of(scale: float, delta: Fraction) -> float:
    """Return the standard deviation of noise: its scale is sigma, or for delta 0 that of Laplace noise."""
    return scale * (1.0 if delta else math.sqrt(2))
