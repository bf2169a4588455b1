"""Sorted columns of the draws that scores are learned from: many families ask for the same ones."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable
from threading import Lock

import numpy as np

from audit.auditor.events.quantiser import LOOKED_AT, Quantiser
from audit.auditor.events.ranks import merged, most_often
from audit.auditor.events.units import Unit, known_unit
from reference.common.arrays import FloatArray

KEPT_COLUMNS = 8
"""Up to so many sorted columns are kept; of wider outputs none, as the samples themselves take enough memory."""


class Columns:
    """The columns of two samples of shape (n, k), sorted when they are asked for.

    Parameters
    ----------
    left, right : ndarray, shape (n, k)
    units : tuple of Unit or None
        Of the coordinates, if others have found them in outputs that were not rounded.
    """

    def __init__(self, left: FloatArray, right: FloatArray, units: tuple[Unit | None, ...] = ()) -> None:
        self._samples = left, right
        self._kept: dict[tuple[int, int], FloatArray] = {}
        self._locks = [(Lock(), Lock()) for _ in range(left.shape[1])]
        self._grid: Quantiser | None = None
        self.units = units
        self._only: FloatArray | None = None

    def rounded(self, quantiser: Quantiser) -> Columns:
        """Return the columns of the rounded samples: rounding keeps the order."""
        found = Columns(*self._samples, quantiser.units)
        found._kept, found._locks, found._grid = self._kept, self._locks, quantiser
        return found

    def unit(self, k: int) -> Unit | None:
        """Return the unit of a coordinate; if nobody has found one, by the numbers here."""
        found = self.units[k] if self.units else None
        return known_unit(self.both(k)) if found is None else found

    @property
    def kept(self) -> bool:
        """Whether sorted columns are kept."""
        return len(self._locks) <= KEPT_COLUMNS

    def sort(self, each: Callable[[Callable[[int], FloatArray], int], Iterable[FloatArray]]) -> None:
        """Sort the columns that are kept; `each(work, number)` yields `work(0)`, `work(1)`, ... of any threads."""
        if self.kept:
            deque(each(lambda place: self.in_order(place // 2, place % 2), 2 * len(self._locks)), maxlen=0)

    def sides(self, k: int) -> tuple[FloatArray, FloatArray]:
        """Return a coordinate of both samples, each sorted."""
        left, right = (self.on_grid(k, self.in_order(k, side)) for side in (0, 1))
        return left, right

    def in_order(self, k: int, side: int) -> FloatArray:
        """Return a coordinate of one sample as it is, sorted; threads that ask for the same wait for the first."""
        with self._locks[k][side]:
            found = self._kept.get((k, side))
            if found is None:
                found = np.sort(self._samples[side][:, k])
                if self.kept:
                    self._kept[k, side] = found
        return found

    def on_grid(self, k: int, values: FloatArray) -> FloatArray:
        """Return values of a coordinate on its grid."""
        return values if self._grid is None else self._grid.of_one(k)(values[:, np.newaxis])[:, 0]

    def repeats(self, k: int) -> bool:
        """Return whether, of a few numbers of a coordinate, any are the same before rounding."""
        some = np.sort(np.concatenate([side[:LOOKED_AT, k] for side in self._samples]))
        return most_often(some, 2)

    def both(self, k: int) -> FloatArray:
        """Return a coordinate of both samples together, sorted."""
        found = merged(self.sides(k)) if self._only is None else self._only
        if self._samples[0].shape[1] == 1:
            # families ask for it in turn
            self._only = found
        return found

    def together(self) -> tuple[FloatArray, FloatArray]:
        """Return all numbers of each sample, sorted."""
        found = np.empty(self._samples[0].size), np.empty(self._samples[1].size)
        width = self._samples[0].shape[1]
        for k in range(width):
            for whole, side in zip(found, self.sides(k), strict=True):
                whole[k * len(side) : (k + 1) * len(side)] = side
        for whole in found:
            # finds the runs and merges them
            whole.sort(kind="stable")
        return found
