"""Sums of the levels of several columns: the aggregate that an l1 supremum depends on.

A column that is encoded by rank stands on one of the levels 0, 1/n, ..., 1; a numeric one anywhere in [0, 1].
One shift of a bit set per level gives the sums of such columns, exactly and quickly.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np

from reference.common.arrays import FloatArray

LARGEST_BITS = 2_000_000
"""Most sums that a fit tells apart; beyond them only a bound is known."""


@dataclass(frozen=True)
class Sums:
    """The sums of one level of each column.

    Parameters
    ----------
    steps : tuple of int
        Of each column: the number of steps from 0 to 1, or 0 where it may stand anywhere.
    """

    steps: tuple[int, ...]

    @property
    def most(self) -> int:
        """The largest sum."""
        return len(self.steps)

    @property
    def is_interval(self) -> bool:
        """Whether every number from 0 to the largest sum is a sum: no step is wider than one column."""
        return not self.steps or 0 in self.steps

    @cached_property
    def unit(self) -> int:
        """All sums are multiples of 1 / `unit`."""
        return math.lcm(*(step for step in self.steps if step), 1)

    @property
    def is_large(self) -> bool:
        """Whether there are too many sums to list in a fit."""
        return not self.is_interval and self.unit * self.most > LARGEST_BITS

    @cached_property
    def _bits(self) -> list[int]:
        """Sums of the first columns, one more each time: bit k is set where k units are a sum."""
        found = [1]
        for step in self.steps:
            # levels 0 to `reach`, doubled until the last
            shifted, reach, width = found[-1], 0, self.unit // step
            while reach < step:
                further = min(reach + 1, step - reach)
                shifted |= shifted << (further * width)
                reach += further
            found.append(shifted)
        return found

    def near(self, target: Fraction) -> list[Fraction]:
        """Return the sums next to a number: the largest up to it, and the smallest from it on."""
        if target <= 0:
            return [Fraction(0)]
        if target >= self.most:
            return [Fraction(self.most)]
        if self.is_interval:
            return [Fraction(target)]
        place = math.floor(target * self.unit)
        bits = self._bits[-1]
        below = (bits & ((1 << (place + 1)) - 1)).bit_length() - 1
        if Fraction(below, self.unit) == target:
            return [Fraction(below, self.unit)]
        rest = bits >> (place + 1)
        above = place + 1 + ((rest & -rest).bit_length() - 1)
        return [Fraction(below, self.unit), Fraction(above, self.unit)]

    def around(self, targets: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the sums just below and above given numbers, nearly: floats may take the next sum but one."""
        if self.is_interval:
            inside = np.clip(targets, 0, self.most)
            return inside, inside
        place = np.searchsorted(self._every, targets)
        last = len(self._every) - 1
        return self._every[np.clip(place - 1, 0, last)], self._every[np.clip(place, 0, last)]

    @cached_property
    def _every(self) -> FloatArray:
        """The sums in ascending order."""
        bits = self._bits[-1]
        of_bytes = np.frombuffer(bits.to_bytes(-(-bits.bit_length() // 8), "little"), dtype=np.uint8)
        every: FloatArray = np.flatnonzero(np.unpackbits(of_bytes, bitorder="little")) / self.unit
        return every

    def split(self, total: Fraction) -> list[Fraction]:
        """Return one level for each column; together they add up to a sum."""
        if self.is_interval:
            return self._split_interval(total)
        levels, rest = [], int(total * self.unit)
        for column in range(len(self.steps) - 1, -1, -1):
            width = self.unit // self.steps[column]
            before = self._bits[column]
            level = next(
                n for n in range(self.steps[column] + 1) if rest >= n * width and before >> (rest - n * width) & 1
            )
            levels.append(Fraction(level, self.steps[column]))
            rest -= level * width
        return levels[::-1]

    def _split_interval(self, total: Fraction) -> list[Fraction]:
        """Place whole ones first, and the rest on a column that may stand anywhere."""
        ranked = [column for column, step in enumerate(self.steps) if step]
        anywhere = [column for column, step in enumerate(self.steps) if not step]
        levels = [Fraction(0)] * len(self.steps)
        for column in (*ranked, *anywhere):
            if self.steps[column] == 0:
                levels[column] = min(Fraction(1), total)
            elif total >= 1:
                levels[column] = Fraction(1)
            total -= levels[column]
        return levels


def ends_only(steps: Sequence[int]) -> Sums:
    """Return the sums of columns that stand at 0 or 1."""
    return Sums((1,) * len(steps))
