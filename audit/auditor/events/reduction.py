"""Few numbers in place of very many coordinates, for outputs too wide to try everything on.

A reduction is a fixed function of the output, so a bound on reduced outputs is a bound on the outputs.  It is
learned from its own draws, block by block: memory grows with the width, not with the number of draws.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np

from audit.auditor.events.mixed import Both, Pair
from audit.auditor.events.protocol import READERS, Score, filled, score_all
from audit.auditor.events.quantiser import Quantiser, finite_of
from audit.auditor.events.scores import (
    FINE_BINS,
    AdditiveScore,
    LikelihoodRatioScore,
    LogisticScore,
    places_among,
    smoothed,
)
from reference.common.arrays import FloatArray, IntArray

WIDEST = 512
"""Outputs with more coordinates are reduced."""

KEPT = 128
"""Coordinates that a reduction keeps: those whose distributions differ most."""

QUANTILES = (0.0, 0.02, 0.1, 0.25, 0.5, 0.75, 0.9, 0.98, 1.0)
"""Those of a first block of draws, at which the distributions of a coordinate are compared."""

TOGETHER = 64
"""Coordinates whose grids and thresholds are found together: little memory, and a limit of time holds."""

BINNED_VALUES = 2**17
"""Numbers on each input that place the bins for all coordinates together."""


Each: TypeAlias = Callable[[Callable[[int], Pair], int], Iterator[Pair]]


@dataclass(frozen=True, eq=False)
class Reduction:
    """Some coordinates as they are, and scores of all of them.

    Parameters
    ----------
    coordinates : ndarray of int, shape (m,)
    scores : tuple of Score
        Of the whole output, quantised: a sum over coordinates must not see float noise in any.
    quantiser : Quantiser
        Of all coordinates.
    rows : int
        Outputs per input that chose it.
    """

    coordinates: IntArray
    scores: tuple[Score, ...]
    quantiser: Quantiser
    rows: int

    def __call__(self, outputs: FloatArray) -> FloatArray:
        """Return the reduced outputs: (n, k) -> (n, m + number of scores)."""
        rounded = self.quantiser(outputs)
        columns = [score_all(score, rounded) for score in self.scores]
        return np.column_stack([outputs[:, self.coordinates], *columns])

    @property
    def width(self) -> int:
        """Numbers of a reduced output."""
        return len(self.coordinates) + len(self.scores)

    @cached_property
    def asks_subject(self) -> bool:
        """Whether a score is the subject's own likelihood ratio."""
        return any(isinstance(score, LikelihoodRatioScore) for score in self.scores)

    def of_both(self, both: Both) -> tuple[FloatArray, FloatArray]:
        """Return the reduced outputs of both inputs, mixed where the subject is asked."""
        return both.mixed(self) if self.asks_subject else (self(both.left), self(both.right))

    def described(self, place: int) -> str:
        """Describe one of the numbers in words."""
        if place < len(self.coordinates):
            return f"output[{self.coordinates[place]}]"
        return f"{self.scores[place - len(self.coordinates)].name} score of all coordinates"

    def to_json(self) -> dict[str, Any]:
        """Return the parameters."""
        return {
            "coordinates": self.coordinates.tolist(),
            "scores": [{"score": score.name, **score.to_json()} for score in self.scores],
            "quantised_to": self.quantiser.steps.tolist(),
            "screened": self.rows,
        }


def reduction_from_json(document: dict[str, Any], subject: object) -> Reduction:
    """Build a reduction from what :meth:`Reduction.to_json` wrote; the subject gives an exact likelihood ratio."""
    scores = tuple(
        LikelihoodRatioScore.of(subject) if one["score"] == "likelihood_ratio" else READERS[one["score"]](one)
        for one in document["scores"]
    )
    steps = np.array(document["quantised_to"], dtype=np.float64)
    kept = np.array(document["coordinates"], dtype=np.intp)
    return Reduction(kept, scores, Quantiser(steps), document["screened"])


@dataclass(frozen=True, eq=False)
class Screen:
    """The points at which the two distributions of each coordinate are compared.

    Parameters
    ----------
    quantiser : Quantiser
    thresholds : ndarray, shape (len(QUANTILES), k)
    edges : ndarray, shape (FINE_BINS - 1,)
        Of bins for the values of all coordinates together.
    """

    quantiser: Quantiser
    thresholds: FloatArray
    edges: FloatArray

    @classmethod
    def of(cls, left: FloatArray, right: FloatArray, each: Each) -> Screen:
        """Return the screen for a first block of draws, shape (n, k) on each input.

        Parameters
        ----------
        left, right : ndarray
        each : callable
            Does the work for each few coordinates, while there is time.
        """
        width = left.shape[1]

        def some(place: int) -> Pair:
            columns = slice(place * TOGETHER, (place + 1) * TOGETHER)
            return _grid_and_thresholds(left[:, columns], right[:, columns])

        steps, thresholds = zip(*each(some, -(-width // TOGETHER)), strict=True)
        quantiser, rows = Quantiser(np.concatenate(steps)), max(1, BINNED_VALUES // width)
        values = finite_of(quantiser(np.concatenate([left[:rows], right[:rows]])).ravel())
        edges = np.quantile(values, np.linspace(0, 1, FINE_BINS + 1)[1:-1]) if values.size else np.zeros(1)
        return cls(quantiser, np.concatenate(thresholds, axis=1), np.unique(edges))

    @cached_property
    def _places(self) -> Callable[[FloatArray], IntArray]:
        return places_among(self.edges)

    def count(self, left: FloatArray, right: FloatArray) -> tuple[IntArray, IntArray]:
        """Return counts at or below each threshold, shape (2, len(QUANTILES), k), and counts per bin."""
        rounded = [self.quantiser(side) for side in (left, right)]
        below = np.array([[(side <= row).sum(axis=0) for row in self.thresholds] for side in rounded])
        places = [self._places(filled(side).ravel()) for side in rounded]
        binned = np.array([np.bincount(place, minlength=len(self.edges) + 1) for place in places])
        return below, binned

    def reduction(self, counts: Iterable[tuple[IntArray, IntArray]], subject: object) -> Reduction:
        """Return the reduction that the counts of all draws suggest.

        Its scores: a sum of one function of every coordinate, for an evenly spread loss; a weighted sum,
        for a loss with a different sign in each; the subject's log likelihood ratio, if it has one.
        """
        below, binned = (np.asarray(total) for total in _totals(counts))
        rows = int(binned[0].sum()) // below.shape[-1]
        shares = below / rows
        pooled = shares.mean(axis=0)
        spread = np.sqrt(np.maximum(pooled * (1 - pooled), 1 / rows))
        contrasts = (shares[0] - shares[1]) / spread
        order = np.argsort(-np.abs(contrasts).max(axis=0), kind="stable")
        kept = np.sort(order[:KEPT]).astype(np.intp)
        middle = QUANTILES.index(0.5)
        steps = self.quantiser.steps
        weights = -np.divide(contrasts[middle], steps, out=np.zeros_like(steps), where=steps > 0)
        weights /= np.abs(weights).max() or 1.0
        scores: list[Score] = [
            AdditiveScore(self.edges[np.newaxis], smoothed(*binned)[np.newaxis]),
            LogisticScore(weights),
        ]
        if hasattr(subject, "log_likelihood_ratio"):
            scores.append(LikelihoodRatioScore.of(subject))
        return Reduction(kept, tuple(scores), self.quantiser, rows)


def _grid_and_thresholds(left: FloatArray, right: FloatArray) -> Pair:
    """Return the steps and the thresholds of some coordinates."""
    alone = Quantiser.of(left, right)
    quantiser = alone.joint or alone
    # a value that is not finite is not a threshold: the largest float stands for it
    ordered = np.sort(np.nan_to_num(quantiser(np.concatenate([left, right]))), axis=0)
    ranks = np.rint(np.array(QUANTILES) * (len(ordered) - 1)).astype(int)
    return quantiser.steps, ordered[ranks]


def _totals(counts: Iterable[tuple[IntArray, IntArray]]) -> tuple[IntArray, IntArray]:
    """Return the sums of pairs of arrays, holding few of them at a time."""
    pairs = iter(counts)
    below, binned = next(pairs)
    for more_below, more_binned in pairs:
        below += more_below
        binned += more_binned
    return below, binned
