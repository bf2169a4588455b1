"""Atoms of sums: values that a sum or difference of two coordinates has often, however seldom either repeats."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from audit.auditor.events.directions import MOST_LOOKED, MOST_PAIRS, DistanceScore
from audit.auditor.events.noise import common_pitch
from audit.auditor.events.protocol import Score
from reference.common.arrays import BoolArray, FloatArray, IntArray

MOST_PAIRED = 64
"""Most coordinates whose pairs are looked at."""

LARGEST = 2.0**1000
"""Larger numbers are clipped to it: sums may be beyond all floats."""

FACTORS = (1.0, -1.0, 2.0, -2.0, 0.5, -0.5)
"""The first coordinate is added to so many times the second: of multiples of a step such sums are exact."""

MOST_ROWS, MOST_SUMS = 2**12, 2**23
"""Most outputs of each input that pairs are looked at in, and most sums of each input at a first look."""

FEWEST_TOGETHER, SHARE_TOGETHER = 5, 2.0**-9
"""So many sums, and this share of them, within a grid's rounding of each other may be an atom."""

COARSE = 2.0**-12
"""Share of the spread that a grid's step has at most."""

TELLING_BITS = 10
"""Sums are put into so many bits of kinds, by their own bits, to tell which pairs to look at first."""

CLEAR = 4.0
"""Standard errors required both of an atom's excess and of the difference between the inputs."""


@dataclass(frozen=True, order=True)
class _Atom:
    """A value that a sum has often, and the standard deviations by which the counts of both inputs differ."""

    clear: float
    first: int
    second: int
    factor: float
    value: float

    def score(self, width: int) -> DistanceScore:
        weights = np.zeros(width)
        weights[self.first], weights[self.second] = 1.0, self.factor
        return DistanceScore(weights, self.value)


def learn_atoms(left: FloatArray, right: FloatArray) -> Iterator[Score]:
    """Yield scores of how far sums of two coordinates are from an atom that tells two samples (n, k) apart.

    The samples are on a grid: float noise moves a sum of multiples of its steps as seldom as a coordinate.  Atoms
    that sums of unrelated outputs have too are of a coordinate, or of whole numbers, and other scores see them.
    """
    width, rows = left.shape[1], min(len(left), len(right), MOST_ROWS)
    if not 1 < width <= MOST_PAIRED:
        return
    columns = np.clip(np.stack([left[:rows].T, right[:rows].T], axis=1), -LARGEST, LARGEST)
    found = [atom for i, j, factor in _repeating(columns) for atom in _atoms(columns, i, j, factor)]
    for atom in sorted(found, reverse=True)[: 2 * MOST_PAIRS]:
        yield atom.score(width)


def _repeating(columns: FloatArray) -> list[tuple[int, int, float]]:
    """Return the pairs (i, j, factor) whose sums cluster more than those of continuous outputs.

    Those whose sums cluster though the outputs are unrelated are the last, and are left out if there are many.
    """
    width = len(columns)
    few = max(1, min(columns.shape[2], 2 * MOST_SUMS // (len(FACTORS) * width * max(1, width - 1))))
    few_columns = np.ascontiguousarray(columns[:, :, :few])
    some = few_columns.reshape(width, -1)
    unrelated = np.roll(some, 1, axis=1)
    steps = np.array([_step(column) for column in some])
    found = []
    for i in range(width - 1):
        later = slice(i + 1, width)
        for factor in FACTORS:
            rounding = steps[i] + abs(factor) * steps[later]
            together = _together(some[i], factor * some[later], rounding)
            places = np.flatnonzero(together)
            by_chance = _together(some[i], factor * unrelated[later][places], rounding[places])
            found += [
                (bool(chance), i, i + 1 + int(k), factor) for k, chance in zip(places, by_chance, strict=True)
            ]
    if len(found) > MOST_LOOKED:
        # whole numbers come together in all pairs
        others = np.roll(few_columns, 1, axis=2)
        found.sort(key=lambda one: (one[0], -_telling(few_columns, others, *one[1:])))
    return [(i, j, factor) for _, i, j, factor in found[:MOST_LOOKED]]


def _telling(columns: FloatArray, unrelated: FloatArray, i: int, j: int, factor: float) -> float:
    """Return about how clearly a sum has an atom, and the counts of both inputs differ there."""
    kinds = _kinds(columns[i] + factor * columns[j])
    by_chance = _kinds(columns[i] + factor * unrelated[j])
    left, right, chance = (np.bincount(some, minlength=1 << TELLING_BITS) for some in (*kinds, by_chance.ravel()))
    both = left + right
    excess = (both - chance) / np.sqrt(np.maximum(both + chance, 1))
    return float(np.minimum(excess, np.abs(left - right) / np.sqrt(np.maximum(both, 1))).max())


def _kinds(sums: FloatArray) -> IntArray:
    """Return small numbers that are equal where sums are, and seldom elsewhere."""
    # adding 0 leaves one 0 of two
    spread = (sums + 0.0).view(np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    return (spread >> np.uint64(64 - TELLING_BITS)).astype(np.int64)


def _step(values: FloatArray) -> float:
    """Return the step of the grid that values are on; 0 if it is as coarse as one of whole numbers."""
    low, high = np.quantile(values, [0.1, 0.9], method="nearest")
    step = common_pitch(values)
    # halves of finite numbers have a finite difference
    return step if step / 2 <= COARSE * (high / 2 - low / 2) else 0.0


def _together(one: FloatArray, others: FloatArray, rounding: FloatArray) -> BoolArray:
    """Return, for each row, whether many of its sums fall within the rounding of each other."""
    sums = np.sort(one + others, axis=1)
    many = max(FEWEST_TOGETHER, math.ceil(SHARE_TOGETHER * sums.shape[1]))
    near = sums[:, many - 1 :] - sums[:, : max(0, sums.shape[1] - many + 1)] <= rounding[:, np.newaxis]
    return np.asarray(near.any(axis=1))


def _atoms(columns: FloatArray, i: int, j: int, factor: float) -> Iterator[_Atom]:
    """Yield the atom of a sum that tells most in favour of either input, if one does."""
    sums = columns[i] + factor * columns[j]
    unrelated = np.sort(columns[i] + factor * np.roll(columns[j], 1, axis=1), axis=None)
    starts = np.unique(sums)
    ends = starts + _step(columns[i]) + abs(factor) * _step(columns[j])
    left, right, chance = (
        np.searchsorted(some, ends, side="right") - np.searchsorted(some, starts)
        for some in (*np.sort(sums, axis=1), unrelated)
    )
    both = left + right
    atoms = both - chance > CLEAR * np.sqrt(both + chance)
    tells = np.where(atoms, (left - right) / np.sqrt(np.maximum(both, 1)), 0.0)
    for sign in (1, -1):
        best = int((sign * tells).argmax())
        own = columns[i][(sums >= starts[best]) & (sums <= ends[best])]
        # else it is an atom of the coordinate
        several = 2 * np.unique(own, return_counts=True)[1].max(initial=0) <= len(own)
        if several and sign * tells[best] >= CLEAR:
            yield _Atom(sign * float(tells[best]), i, j, factor, float((starts[best] + ends[best]) / 2))
