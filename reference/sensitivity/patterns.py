"""Sign patterns of the quadratic change: the maxima, each over one record, behind an l1 supremum on the balls.

Order the coordinates by |x'_e - x_e| / |x'_e + x_e|, the most changed first.  Then x'_e x'_l - x_e x_l has the
sign of the more changed of the two coordinates (Lemma E of ``proofs/sensitivities_balls.md``).  So after renaming
a pattern is a sequence of signs, and coordinates of equal sign in a row form one *type*, whose entries are equal.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import product

import numpy as np

from reference.common.arrays import FloatArray


@dataclass(frozen=True)
class CoordinateType:
    """Coordinates that agree in everything.

    Parameters
    ----------
    run : int
        Place in the order; a lower run is more changed.
    is_s : bool
        Whether this is the coordinate x_s, with its own weight.
    choice : int
        Which coefficients of the fairness reading apply.
    count : int
    """

    run: int
    is_s: bool
    choice: int
    count: int


@dataclass(frozen=True)
class Pattern:
    """The signs of the runs, and the types."""

    signs: tuple[int, ...]
    types: tuple[CoordinateType, ...]

    def matrix(self, weight_s: float, weight_n: float) -> FloatArray:
        """Return M: y'My = (1/8) sum of weight * sign * x_e x_l, y holding sqrt(count) times each type's entry."""
        run = np.array([t.run for t in self.types])
        is_s = np.array([t.is_s for t in self.types])
        count = np.sqrt([t.count for t in self.types])
        sign = np.array(self.signs, dtype=np.float64)[np.minimum.outer(run, run)]
        weight = np.where(np.logical_or.outer(is_s, is_s), weight_s, weight_n)
        matrix: FloatArray = sign * weight * np.outer(count, count) / 8
        return matrix

    def weights(self, weight_s: float, weight_n: float) -> FloatArray:
        """Return each type's weight times sqrt(count)."""
        weights: FloatArray = np.where([t.is_s for t in self.types], weight_s, weight_n) * np.sqrt(
            [t.count for t in self.types]
        )
        return weights


def compositions(total: int) -> Iterator[tuple[int, ...]]:
    """Yield the ordered ways to write `total` as a sum of positive numbers."""
    if total == 0:
        yield ()
    for first in range(1, total + 1):
        for rest in compositions(total - first):
            yield (first, *rest)


def patterns(
    lengths_of_runs: Iterable[tuple[int, ...]],
    choices: int,
    *,
    with_s: bool,
    signs: tuple[int, ...] = (1, -1),
    pure: bool = False,
) -> Iterator[Pattern]:
    """Yield the patterns with runs of the given lengths and alternating signs.

    Parameters
    ----------
    lengths_of_runs : iterable of tuple of int
        All :func:`compositions` of the dimension for all patterns.
    choices : int
        How many coefficients a coordinate may choose from.
    with_s : bool
        Whether x_s has its own weight, and so its own type.
    signs : tuple of int
        Signs that the first run may have.
    pure : bool
        Only patterns in which a whole run, x_s aside, makes the same choice.
    """
    for lengths in lengths_of_runs:
        for first in signs:
            alternating = tuple(first * (-1) ** run for run in range(len(lengths)))
            for place in range(len(lengths)) if with_s else (-1,):
                options = [
                    list(_types_of_run(run, length, choices, holds_s=run == place, pure=pure))
                    for run, length in enumerate(lengths)
                ]
                for picked in product(*options):
                    yield Pattern(alternating, tuple(t for types in picked for t in types))


def count_patterns(dimension: int, choices: int, *, with_s: bool) -> int:
    """Return how many :func:`patterns` the compositions of a dimension have, without listing them."""

    def ways(length: int, *, holds_s: bool) -> int:
        rest = length - holds_s
        distributions = 1
        for i in range(1, choices):
            distributions = distributions * (rest + i) // i
        return distributions * (choices if holds_s else 1)

    # totals[m]: (without x_s so far, with x_s placed) over compositions of m
    totals = [(1, 0)]
    for m in range(1, dimension + 1):
        plain = sum(totals[m - n][0] * ways(n, holds_s=False) for n in range(1, m + 1))
        before = sum(totals[m - n][1] * ways(n, holds_s=False) for n in range(1, m + 1))
        placed = before + sum(totals[m - n][0] * ways(n, holds_s=True) for n in range(1, m + 1))
        totals.append((plain, placed))
    return 2 * totals[dimension][1 if with_s else 0]


def _types_of_run(
    run: int, length: int, choices: int, *, holds_s: bool, pure: bool
) -> Iterator[tuple[CoordinateType, ...]]:
    """Yield the ways in which the coordinates of a run choose their coefficients."""
    rest = length - holds_s
    for split in _splits(rest, choices, pure=pure):
        types = tuple(CoordinateType(run, False, choice, n) for choice, n in enumerate(split) if n)
        if not holds_s:
            yield types
            continue
        for choice in range(choices):
            yield (*types, CoordinateType(run, True, choice, 1))


def _splits(total: int, parts: int, *, pure: bool) -> Iterator[tuple[int, ...]]:
    """Yield the ways to write `total` as an ordered sum of `parts` numbers, or of one number and zeros."""
    if pure or parts == 1:
        for i in range(parts if total else 1):
            yield tuple(total if j == i else 0 for j in range(parts))
        return
    for first in range(total + 1):
        for rest in _splits(total - first, parts - 1, pure=False):
            yield (first, *rest)
