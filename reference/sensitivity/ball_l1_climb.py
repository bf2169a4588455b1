"""A climb to pairs of records far apart in l1 on the balls: a bound from below for many columns.

All signs are read off the rows, and each step maximises a concave function that touches the change from below.
What it finds counts only by what it attains, in exact arithmetic.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product

import numpy as np

from reference.common.arrays import FloatArray
from reference.sensitivity.variants import LinearVariant

STARTS, ROUNDS = 150, 80

GAIN = 1e-7
"""A move must gain at least this share."""

BEST = 4
"""The best rows, from which moves are tried."""

MOST_PLACES = 7
"""Distinct coordinates among which a move copies one onto another."""

LARGEST = 40
"""Columns up to which it is tried: each step costs their square."""


@dataclass(frozen=True)
class RowClimb:
    """The change of one variant, as a function of x', x and the mean X of the other records.

    Parameters
    ----------
    variant : LinearVariant
    weights : ndarray, shape (d,)
        Of each coordinate; x_s is the first.
    pairs : ndarray, shape (d, d)
        Of each pair.
    drift : float
    positive : bool
        Whether entries are nonnegative.
    """

    variant: LinearVariant
    weights: FloatArray
    pairs: FloatArray
    drift: float
    positive: bool

    def best(self) -> tuple[float, FloatArray]:
        """Return the largest change found, with x', x and X (X with the signs of its entries)."""
        values, rows = self._climbed(self._starts())
        best, found = -1.0, rows[:, 0]
        # then copy one coordinate onto another, as long as that gains
        while values.max() > best * (1 + GAIN):
            best, found = float(values.max()), rows[:, values.argmax()].copy()
            _, first = np.unique(values.round(6), return_index=True)
            moved = [self._moved(rows[:, place]) for place in first[-BEST:]]
            values, rows = self._climbed(np.concatenate(moved, axis=1))
        found[2] *= np.array(self.variant.drifts)[self._linear(found).argmax(axis=-1)]
        return best, found

    def _linear(self, rows: FloatArray) -> FloatArray:
        """Return the linear change of each coordinate, by choice."""
        after, before, mean = rows[..., None]
        to, from_ = (np.array([float(v) for v in part]) for part in (self.variant.to, self.variant.from_))
        found: FloatArray = to * after + from_ * before + self.drift * abs(np.array(self.variant.drifts)) * mean
        return found

    def _climbed(self, rows: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the changes reached from some rows, and the rows reached."""
        to, from_ = (np.array([float(v) for v in part]) for part in (self.variant.to, self.variant.from_))
        served = abs(np.array(self.variant.drifts))
        curvature = float(self.pairs.sum()) / len(self.weights) / 4
        for _ in range(ROUNDS):
            after, before, _ = rows
            choice = self._linear(rows).argmax(axis=-1)
            sign = np.sign(after[:, :, None] * after[:, None] - before[:, :, None] * before[:, None]) * self.pairs
            up = self.weights * to[choice] / 2 + (sign @ after[..., None])[..., 0] / 8
            down = self.weights * from_[choice] / 2 - (sign @ before[..., None])[..., 0] / 8
            mean = self.weights * served[choice]
            rows = np.stack(
                [
                    _inside(after + up / curvature, positive=self.positive),
                    _inside(before + down / curvature, positive=self.positive),
                    mean / np.maximum(np.linalg.norm(mean, axis=-1, keepdims=True), 1e-300),
                ]
            )
        after, before, _ = rows
        change = abs(after[:, :, None] * after[:, None] - before[:, :, None] * before[:, None])
        values = self._linear(rows).max(axis=-1) @ self.weights + (change * self.pairs).sum(axis=(1, 2)) / 8
        return values, rows

    def _moved(self, rows: FloatArray) -> FloatArray:
        """Return the rows with one coordinate copied onto another, for every two places; x_s stays."""
        _, first = np.unique(rows.round(3), axis=1, return_index=True)
        moved = []
        for to, from_ in product(first[:MOST_PLACES], first[:MOST_PLACES]):
            if from_ and from_ != to:
                moved.append(rows.copy())
                moved[-1][:, from_] = rows[:, to]
        return np.stack(moved or [rows], axis=1)

    def _starts(self) -> FloatArray:
        """Return rows of few different entries, always the same: x_s, apart or not, and three sets of others."""
        rng, d = np.random.default_rng(0), len(self.weights)
        # few coordinates may hold all of the mean, or many
        of_mean = np.minimum(rng.choice([0, 1, 1, 2, 3, d // 4, d // 2], STARTS), d - 1)
        turn = of_mean + rng.integers(0, d - of_mean + 1)
        place = np.tile(np.arange(d), (STARTS, 1))
        group = 1 + (place >= of_mean[:, None]) + (place >= turn[:, None])
        group[:, 0] = rng.integers(0, 4, STARTS)
        levels = rng.random((3, STARTS, 4)) * (rng.random((3, STARTS, 4)) < 0.7)
        # one set where a record is alone, one where the other is larger: best in many settings
        levels[:2, ::2, 2:] = np.array([[1, 0.6], [0, 1]])[:, None]
        levels[:2, ::4] = levels[1::-1, ::4]
        levels[2, :, 1] = 1
        if not self.positive:
            levels[:2, 1::2] *= rng.choice([-1, 1], levels[:2, 1::2].shape)
        rows = np.take_along_axis(levels, np.broadcast_to(group, (3, STARTS, d)), axis=2)
        return _inside(1e3 * rows, positive=self.positive)


def _inside(rows: FloatArray, *, positive: bool) -> FloatArray:
    kept = np.maximum(rows, 0) if positive else rows
    inside: FloatArray = kept / np.maximum(1, np.linalg.norm(kept, axis=-1, keepdims=True))
    return inside
