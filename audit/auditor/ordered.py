"""Scores in order: a sort per coordinate serves every score of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

import numpy as np

from audit.auditor.events import Score, score_all
from audit.auditor.events.bits import BitScore
from audit.auditor.events.scores import AdditiveScore, CoordinateScore, IntervalScore
from reference.common.arrays import FloatArray

Pair: TypeAlias = tuple[FloatArray, FloatArray]


@dataclass(frozen=True, eq=False)
class Outputs:
    """Draws that scores are judged on: parts whose order, and that of their rows, plays no part.

    Parameters
    ----------
    parts : sequence of (left, right)
    finite : bool
        Whether all numbers are: one look at them instead of one per score.
    """

    parts: Sequence[Pair]
    finite: bool

    @classmethod
    def of(cls, left: FloatArray, right: FloatArray, more: Pair | None) -> Outputs:
        """Return two samples, and two more, as the parts of one."""
        parts = [(left, right)] if more is None else [more, (left, right)]
        finite = all(np.isfinite(side).all() for part in parts for side in part)
        # most scores look at one coordinate
        return cls([(np.asfortranarray(one), np.asfortranarray(other)) for one, other in parts], finite)

    @property
    def rows(self) -> int:
        """Outputs per input."""
        return sum(len(left) for left, _ in self.parts)

    def ordered(self, score: Score) -> list[FloatArray]:
        """Return the scores on both inputs, sorted."""
        evaluate = _directly if self.finite else score_all
        if self.parts[0][0].shape[1] > 1 or isinstance(score, BitScore):
            sides = [np.concatenate([evaluate(score, part[side]) for part in self.parts]) for side in (0, 1)]
        elif self.finite and isinstance(score, CoordinateScore | AdditiveScore):
            return [score.in_order(column) for column in self._columns(0)]
        else:
            # scores of sorted numbers are quicker to find
            sides = [np.array(evaluate(score, column[:, np.newaxis])) for column in self._columns(0)]
        for side in sides:
            side.sort()
        return sides

    def binary(self, score: Score) -> list[FloatArray]:
        """Return of a score of 0 or 1, or -infinity, on both inputs how many are at least 1, and at most 0."""
        if self.finite and isinstance(score, IntervalScore):
            ones = [score.count(column) for column in self._columns(score.coordinate)]
        else:
            # the ones are last
            ones = [len(side) - int(np.searchsorted(side, 1.0)) for side in self.ordered(score)]
        return [np.array([one, self.rows - one], dtype=np.float64) for one in ones]

    def _columns(self, k: int) -> list[FloatArray]:
        """Return a coordinate on both inputs, sorted; scores of one coordinate follow each other."""
        columns = self._sorted.get(k)
        if columns is None:
            columns = [np.concatenate([part[side][:, k] for part in self.parts]) for side in (0, 1)]
            for column in columns:
                column.sort()
            self._sorted.clear()
            self._sorted[k] = columns
        return columns

    @cached_property
    def _sorted(self) -> dict[int, list[FloatArray]]:
        return {}


def _directly(score: Score, outputs: FloatArray) -> FloatArray:
    return score(outputs)
