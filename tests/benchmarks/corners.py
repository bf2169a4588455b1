"""Gradients measured with less noise, by a strategy of the matrix mechanism (Li et al., VLDB J. 2015).

A gradient is to tell which category the records have, not that they have one, which all attributes say alike.  So
the corners of a one-hot attribute are moved half of the way to their centre: they are shorter, and can be
stretched again.  Attributes of more categories are stretched more, as their gradient has more entries with noise.
No record grows longer than 1, so that the l2-sensitivity of a gradient stays.  For Gaussian noise only.

What tells categories apart then has .62 to .87 of the noise's variance on the tables of the frontier.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any, NamedTuple

from reference.common.arrays import FloatArray, NumberArray
from reference.common.grid import DATA_STEPS
from reference.domain import Domain
from reference.records import Records
from reference.repaired.algorithm import noisy_descent
from reference.repaired.curator import Curator
from reference.repaired.descent import one_hot_blocks
from reference.repaired.spent import GRADIENT

LESS = 1 - 2.0**-40
"""Corners are shorter by this, which is more than floats round."""


class Corners(NamedTuple):
    """How the category of one attribute is measured: all multiples of 1/DATA_STEPS.

    Parameters
    ----------
    columns : slice
    entry : Fraction
        What an encoded record has in the column of its category; 0 in the others.
    own, other : Fraction
        What is measured instead: `own` there, and `-other` in the others.
    """

    columns: slice
    entry: Fraction
    own: Fraction
    other: Fraction

    @property
    def width(self) -> int:
        """Number of categories."""
        return int(self.columns.stop - self.columns.start)


def corners_of(domain: Domain) -> tuple[Corners, ...]:
    """Return how gradients are measured: attributes of k categories are stretched by c k^(1/4)."""
    blocks = one_hot_blocks(domain)
    entry = _on_grid(domain.column_factor)
    widths = [block.stop - block.start for block in blocks]
    # the squared length of a corner less half of the centre is f^2 (1 - 3 / (4 k))
    squares = sum(math.sqrt(k) * (1 - 3 / (4 * k)) for k in widths)
    found = []
    for block, k in zip(blocks, widths, strict=True):
        stretched = math.sqrt(len(blocks) / squares * math.sqrt(k)) * float(entry) * LESS
        other = stretched / (2 * k)
        found.append(Corners(block, entry, _on_grid(stretched - other), _on_grid(other)))
    return tuple(found)


def measured(gradient: NumberArray, corners: tuple[Corners, ...]) -> NumberArray:
    """Return what is measured of a gradient, exactly: the sum over records of r times their corners."""
    found = gradient.copy()
    for one in corners:
        # sum r, over the records of each category
        residuals = gradient[one.columns] / one.entry
        found[one.columns] = (one.own + one.other) * residuals - one.other * residuals.sum()
    return found


def estimated(answers: FloatArray, corners: tuple[Corners, ...]) -> FloatArray:
    """Return the gradient from noisy answers: the inverse of :func:`measured`."""
    found = answers.copy()
    for one in corners:
        entry, own, other = float(one.entry), float(one.own), float(one.other)
        # sum r, over the records of all categories
        total = answers[one.columns].sum() / (own - (one.width - 1) * other)
        found[one.columns] = (answers[one.columns] + other * total) * (entry / (own + other))
    return found


class _ByCorners:
    """A curator that measures gradients so."""

    def __init__(self, curator: Curator, corners: tuple[Corners, ...]) -> None:
        self.deviation = curator.deviation
        self._curator, self._corners = curator, corners

    def release(self, values: NumberArray, *given: Any) -> FloatArray:
        """Return values plus noise."""
        if given[-1] != GRADIENT:
            return self._curator.release(values, *given)
        return estimated(self._curator.release(measured(values, self._corners), *given), self._corners)


def descent_by_corners(
    records: Records, target: FloatArray, curator: Any, share: Fraction, rounds: int
) -> tuple[FloatArray, FloatArray]:
    """Descend as the mechanism does, but for how gradients are measured."""
    return noisy_descent(records, target, _ByCorners(curator, corners_of(records.domain)), share, rounds)  # type: ignore[arg-type]


def _on_grid(value: float) -> Fraction:
    """Return a positive number rounded down."""
    return Fraction(math.floor(value * DATA_STEPS), DATA_STEPS)
