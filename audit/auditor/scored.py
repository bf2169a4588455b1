"""Draws that scores are judged on: held, or let go as soon as they are scored, since wide outputs take memory."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from threading import Lock

import numpy as np

from audit.auditor.events import Quantiser, Score, score_all
from audit.auditor.events.bits import BitScore, bits_in_order
from audit.auditor.events.mixed import Pair
from audit.auditor.events.protocol import filled
from audit.auditor.events.ranks import in_order, merged
from audit.auditor.events.scores import AdditiveScore, CoordinateScore, IntervalScore
from reference.common.arrays import FloatArray

ROUNDED_VALUES = 2**17
"""Numbers that are rounded together for a score of whole outputs."""


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

    def with_held(self, score: Score, side: int, held: FloatArray) -> FloatArray:
        """Return what a score gives on these outputs of one input and on others, which are held."""
        others = self.by_score.get(id(score))
        if others is None:
            return held
        return held + others[side] if score.binary else np.concatenate([held, others[side]])


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

    def of_input(self, score: Score, side: int) -> FloatArray:
        """Return the scores on one input, sorted; of a score of 0 or 1 how many are 1, and how many 0."""
        held = self._ones_and_zeros(score, side) if score.binary else self._values(score, side)
        found = self.scored.with_held(score, side, held)
        # in place would spoil columns that others take
        return found if score.binary else in_order(found)

    def _values(self, score: Score, side: int) -> FloatArray:
        parts = [pair[side] for pair in (self.drawn if score.sees_all else self.parts)]
        if isinstance(score, CoordinateScore):
            return self._column(parts, score.coordinate)
        if isinstance(score, BitScore):
            return bits_in_order(score, parts)
        if parts[0].shape[1] > 1:
            return np.concatenate([some for part in parts for some in self._of_rows(score, part)])
        if isinstance(score, AdditiveScore):
            return score.in_order(self._column(parts, 0))
        # scores of sorted numbers are quicker to find
        return np.array(score(self._column(parts, 0)[:, np.newaxis]))

    def _of_rows(self, score: Score, outputs: FloatArray) -> Iterator[FloatArray]:
        """Yield the scores of outputs, which are rounded some at a time."""
        grid = self.in_order.grid
        rows = max(1, len(outputs) if grid is None else ROUNDED_VALUES // outputs.shape[1])
        for start in range(0, len(outputs), rows):
            some = outputs[start : start + rows]
            yield score(some if grid is None else grid(some))

    def _ones_and_zeros(self, score: Score, side: int) -> FloatArray:
        if isinstance(score, IntervalScore):
            ones = score.count(self._column([pair[side] for pair in self.parts], score.coordinate))
        else:
            ones = int(np.count_nonzero(self._values(score, side) >= 1.0))
        return np.array([ones, self._held - ones], dtype=np.float64)

    def _column(self, parts: Sequence[FloatArray], k: int) -> FloatArray:
        """Return a coordinate of some outputs, sorted; scores of one coordinate follow each other."""
        return merged([self.in_order.column(part, k) for part in parts])
