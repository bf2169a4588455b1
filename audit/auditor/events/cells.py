"""Places of values among ascending edges, found in a table of equal cells."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from reference.common.arrays import FloatArray, IntArray

MOST_CELLS = 2**14
"""Most cells of a table: it should stay in the processor's cache."""

SMALLEST_TABLE = 8
"""With fewer edges a search is as quick."""


@dataclass(frozen=True, eq=False)
class EdgeTable:
    """The number of edges at or below each value: ``searchsorted(edges, values, side="right")``, quicker.

    A value's cell is the whole part of (value - low) * scale.  That number never falls as the value grows,
    however it is rounded.  So edges of lower cells are at or below the value, edges of higher ones above it, and
    at most one edge, that of its cell, is left to compare.

    Parameters
    ----------
    edges : ndarray, shape (m + 1,)
        Ascending, infinity last.
    low, scale : float
    first : ndarray of int, shape (cells,)
        Edges of lower cells.
    """

    edges: FloatArray
    low: float
    scale: float
    first: IntArray

    @classmethod
    def of(cls, edges: FloatArray) -> EdgeTable | None:
        """Return the table of finite edges; None if there would be too many cells with at most one edge each."""
        if len(edges) < SMALLEST_TABLE:
            return None
        low, width = float(edges[0]), float(edges[-1]) - float(edges[0])
        if not 0 < width < math.inf:
            return None
        cells = 4 * len(edges)
        while cells <= MOST_CELLS:
            scale = cells / width
            found = cls(np.append(edges, np.inf), low, scale, np.zeros(cells, dtype=np.intp))
            if math.isinf(scale):
                return None
            counts = np.bincount(found._places(edges), minlength=cells)
            if counts.max() <= 1:
                first = np.concatenate([[0], np.cumsum(counts)[:-1]]).astype(np.intp)
                return cls(found.edges, found.low, found.scale, first)
            cells *= 2
        return None

    def __call__(self, values: FloatArray) -> IntArray:
        """Return how many edges are at or below each of some finite values."""
        places = self.first.take(self._places(values))
        places += values >= self.edges.take(places)
        return places

    def _places(self, values: FloatArray) -> IntArray:
        with np.errstate(over="ignore"):
            places = values - self.low
            places *= self.scale
        np.clip(places, 0.0, len(self.first) - 1.0, out=places)
        return places.astype(np.intp)
