"""Draws that scores are judged on: held, or let go as soon as they are scored, since wide outputs take memory."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from threading import Lock
from typing import TypeAlias

import numpy as np

from audit.auditor.events import Quantiser, Score, score_all
from audit.auditor.events.bits import BitScore, bits_in_order
from audit.auditor.events.protocol import filled
from audit.auditor.events.ranks import in_order, merged
from audit.auditor.events.scores import AdditiveScore, CoordinateScore, IntervalScore
from reference.common.arrays import FloatArray

ROUNDED_VALUES = 2**17
"""Numbers that are rounded together for a score of whole outputs."""

Pair: TypeAlias = tuple[FloatArray, FloatArray]
"""Outputs of both inputs, or numbers made of them."""


@dataclass(frozen=True, eq=False)
class Scored:
    """Scores of outputs that were let go, if there are any.

    Parameters
    ----------
    rows : int
        Outputs per input.
    by_score : mapping
        By a score's `id`, its values on both inputs; of a binary one how many are 1, and how many 0.
    """

    rows: int = 0
    by_score: Mapping[int, Sequence[FloatArray]] = field(default_factory=dict)

    def with_held(self, score: Score, held: list[FloatArray]) -> list[FloatArray]:
        """Return what a score gives on these outputs and on others, which are held."""
        others = self.by_score.get(id(score))
        if others is None:
            return held
        pairs = zip(held, others, strict=True)
        return [one + other if score.binary else np.concatenate([one, other]) for one, other in pairs]


NONE_SCORED = Scored()


def scored_by(score: Score, left: FloatArray, right: FloatArray) -> list[FloatArray]:
    """Return the values of a score on outputs of both inputs; of a binary one how many are 1, and how many 0."""
    sides = [np.array(score_all(score, side)) for side in (left, right)]
    if not score.binary:
        return sides
    ones = [int(np.count_nonzero(side >= 1.0)) for side in sides]
    return [np.array([one, len(side) - one], dtype=np.float64) for one, side in zip(ones, sides, strict=True)]


class InOrder:
    """Sorted columns of arrays, of one coordinate at a time: those of all would take much memory.

    Parameters
    ----------
    grid : Quantiser or None
        That they are rounded to first: a rounded copy of all coordinates would take much memory too.
    """

    def __init__(self, grid: Quantiser | None = None) -> None:
        self.grid = grid
        self._coordinate = -1
        self._columns: dict[int, _Column] = {}
        self._lock = Lock()

    def column(self, outputs: FloatArray, k: int) -> FloatArray:
        """Return a column of some outputs, sorted; threads that ask for the same one wait for the first."""
        with self._lock:
            if self._coordinate != k:
                self._coordinate, self._columns = k, {}
            column = self._columns.setdefault(id(outputs), _Column(outputs))
        return column.in_order(k, self.grid)


class _Column:
    """A column, sorted once; the outputs stay with it, so that no others have their `id`."""

    def __init__(self, outputs: FloatArray) -> None:
        self._outputs = outputs
        self._sorted: FloatArray | None = None
        self._lock = Lock()

    def in_order(self, k: int, grid: Quantiser | None) -> FloatArray:
        with self._lock:
            found = self._sorted
            if found is None:
                found = self._outputs[:, k]
                step = 0.0 if grid is None else float(grid.steps[k])
                if grid is not None:
                    found = grid.of_one(k)(found[:, np.newaxis])[:, 0]
                self._sorted = found = in_order(found, step)
            return found


@dataclass(frozen=True, eq=False)
class Outputs:
    """Draws that scores are judged on: parts whose order, and that of their rows, plays no part.

    Parameters
    ----------
    parts : sequence of (left, right)
        As scores for finite outputs meet them, but for the grid.
    drawn : sequence of (left, right)
        As they are: the same parts if all numbers are finite.
    scored : Scored
    in_order : InOrder
        Columns of the parts on their grid, sorted.
    """

    parts: Sequence[Pair]
    drawn: Sequence[Pair]
    scored: Scored
    in_order: InOrder

    @classmethod
    def of(
        cls,
        left: FloatArray,
        right: FloatArray,
        *,
        held: Pair | None = None,
        scored: Scored = NONE_SCORED,
        in_order: InOrder | None = None,
    ) -> Outputs:
        """Return two samples, joined with others, and with the scores of those that were let go.

        Others that look at the same arrays may have sorted some columns.
        """
        given = [(left, right)] if held is None else [held, (left, right)]
        # most scores look at one coordinate
        drawn = [(np.asfortranarray(one), np.asfortranarray(other)) for one, other in given]
        parts = [(filled(one), filled(other)) for one, other in drawn]
        return cls(parts, drawn, scored, InOrder() if in_order is None else in_order)

    @property
    def rows(self) -> int:
        """Outputs per input."""
        return self._held + self.scored.rows

    @property
    def _held(self) -> int:
        return sum(len(left) for left, _ in self.parts)

    def ordered(self, score: Score) -> list[FloatArray]:
        """Return the scores on both inputs, sorted."""
        sides = self.scored.with_held(score, self._values(score))
        # in place would spoil columns that others take
        return [in_order(side) for side in sides]

    def _values(self, score: Score) -> list[FloatArray]:
        parts = self.drawn if score.sees_all else self.parts
        if isinstance(score, CoordinateScore):
            return self._columns(parts, score.coordinate)
        if isinstance(score, BitScore):
            return [bits_in_order(score, [part[side] for part in parts]) for side in (0, 1)]
        if parts[0][0].shape[1] > 1:
            sides = zip(*parts, strict=True)
            return [np.concatenate([one for part in side for one in self._of_rows(score, part)]) for side in sides]
        if isinstance(score, AdditiveScore):
            return [score.in_order(column) for column in self._columns(parts, 0)]
        # scores of sorted numbers are quicker to find
        return [np.array(score(column[:, np.newaxis])) for column in self._columns(parts, 0)]

    def _of_rows(self, score: Score, outputs: FloatArray) -> Iterator[FloatArray]:
        """Yield the scores of outputs, which are rounded some at a time."""
        grid = self.in_order.grid
        rows = max(1, len(outputs) if grid is None else ROUNDED_VALUES // outputs.shape[1])
        for start in range(0, len(outputs), rows):
            some = outputs[start : start + rows]
            yield score(some if grid is None else grid(some))

    def binary(self, score: Score) -> list[FloatArray]:
        """Return of a score of 0 or 1 on both inputs how many are 1, and how many 0."""
        if isinstance(score, IntervalScore):
            ones = [score.count(column) for column in self._columns(self.parts, score.coordinate)]
        else:
            ones = [int(np.count_nonzero(side >= 1.0)) for side in self._values(score)]
        counts = [np.array([one, self._held - one], dtype=np.float64) for one in ones]
        return self.scored.with_held(score, counts)

    def _columns(self, parts: Sequence[Pair], k: int) -> list[FloatArray]:
        """Return a coordinate on both inputs, sorted; scores of one coordinate follow each other."""
        return [merged([self.in_order.column(part[side], k) for part in parts]) for side in (0, 1)]
