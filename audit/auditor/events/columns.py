"""Sorted columns of the draws that scores are learned from: many families ask for the same ones."""

from __future__ import annotations

from threading import Lock

import numpy as np

from audit.auditor.events.quantiser import Quantiser
from audit.auditor.events.ranks import merged
from reference.common.arrays import FloatArray

KEPT_COLUMNS = 8
"""Sorted columns are kept where there are no more; the samples of wider outputs take enough memory."""


class Columns:
    """The columns of two samples of shape (n, k), sorted when they are asked for.

    Parameters
    ----------
    left, right : ndarray, shape (n, k)
    """

    def __init__(self, left: FloatArray, right: FloatArray) -> None:
        self._samples = left, right
        self._kept: dict[int, tuple[FloatArray, FloatArray]] = {}
        self._locks = [Lock() for _ in range(left.shape[1])]
        self._grid: Quantiser | None = None
        self._only: FloatArray | None = None

    def rounded(self, quantiser: Quantiser) -> Columns:
        """Return the columns of the rounded samples: rounding keeps the order."""
        found = Columns(*self._samples)
        found._kept, found._locks, found._grid = self._kept, self._locks, quantiser
        return found

    def sides(self, k: int) -> tuple[FloatArray, FloatArray]:
        """Return a coordinate of both samples, each sorted.

        Threads that ask for the same one wait for the first.
        """
        with self._locks[k]:
            found = self._kept.get(k)
            if found is None:
                left, right = self._samples
                found = np.sort(left[:, k]), np.sort(right[:, k])
                if left.shape[1] <= KEPT_COLUMNS:
                    self._kept[k] = found
        if self._grid is None:
            return found
        one = self._grid.of_one(k)
        left, right = (one(side[:, np.newaxis])[:, 0] for side in found)
        return left, right

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
