"""An event: a half-line of a score of the output, which is rounded to a public grid or taken bit for bit."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

import numpy as np

from audit.auditor.events.bits import BitScore, quick_test
from audit.auditor.events.protocol import READERS, Score, score_all
from audit.auditor.events.quantiser import Quantiser
from audit.auditor.events.reduction import Reduction, reduction_from_json
from audit.auditor.events.scores import (
    AdditiveScore,
    CoordinateScore,
    LikelihoodRatioScore,
    LogisticScore,
)
from audit.auditor.events.stored import StoredEvent, stored_event
from reference.common.arrays import BoolArray, FloatArray
from reference.common.documents import plain


@dataclass(frozen=True)
class Event:
    """{score >= threshold} or {score <= threshold}, and the input on which it is more likely.

    Parameters
    ----------
    score : Score
    threshold : float
    at_least : bool
    likely_input : {'left', 'right'}
    quantiser : Quantiser or None
        Applied to the output first; None takes every bit.
    reduction : Reduction or None
        Of outputs that are too wide; applied before the quantiser.
    """

    score: Score
    threshold: float
    at_least: bool
    likely_input: str
    quantiser: Quantiser | None = None
    reduction: Reduction | None = None

    def scores(self, outputs: FloatArray) -> FloatArray:
        """Return one score per output, the output reduced and quantised first."""
        if self.reduction is not None:
            outputs = self.reduction(outputs)
        return score_all(self.score, outputs if self.quantiser is None else self.quantiser(outputs))

    def within(self, scores: FloatArray) -> BoolArray:
        """Return whether the event occurs, per score."""
        return scores >= self.threshold if self.at_least else scores <= self.threshold

    def occurs(self, outputs: FloatArray) -> BoolArray:
        """Return whether the event occurs, per output of an array of shape (n, k)."""
        (found,) = occurrences([self], outputs)
        return found

    @cached_property
    def quick_test(self) -> Callable[[FloatArray], BoolArray] | None:
        """A test of the same event on finite outputs that needs no score; None where there is none.

        An output is rounded to at least a value if it is at least the lowest one that is.
        """
        grid, score = self.quantiser, self.score
        if isinstance(score, BitScore) and grid is None and self.reduction is None:
            return quick_test(score, self.threshold, at_least=self.at_least)
        if self.reduction is not None or grid is None or not grid.even or not isinstance(score, CoordinateScore):
            return None
        step = 0.0 if self.at_least else float(grid.steps[score.coordinate])
        # not above a value: below everything that rounds to the next multiple
        beyond = np.floor(self.threshold / step) * step + step if step else self.threshold
        edge = grid.lowest(score.coordinate, np.array([beyond]))
        if edge is None:
            return None
        return partial(_from if self.at_least else _below, k=score.coordinate, edge=float(edge[0]))

    @cached_property
    def quick_scores(self) -> Callable[[FloatArray], FloatArray] | None:
        """The same scores of finite outputs without rounding each number first; None where there are none."""
        grid, score = self.quantiser, self.score
        if self.reduction is not None or grid is None or not grid.even:
            return None
        if isinstance(score, LogisticScore):
            return score.of_rounded(grid.steps)
        if isinstance(score, AdditiveScore):
            # one row of edges serves all coordinates
            rows = [
                np.broadcast_to(part, (len(grid.steps), part.shape[1])) for part in (score.edges, score.log_ratios)
            ]
            edges = [grid.lowest(k, row) for k, row in enumerate(rows[0])]
            found = [row for row in edges if row is not None]
            if len(found) == len(edges):
                return AdditiveScore(np.array(found), rows[1])
        return None

    @property
    def stored(self) -> StoredEvent:
        """The event as a document, from which :func:`event_of` builds it again."""
        return stored_event(self.to_json())

    def to_json(self) -> dict[str, Any]:
        """Return the event as JSON."""
        reduced = {} if self.reduction is None else {"reduced_to": self.reduction.to_json()}
        return {
            "score": self.score.name,
            **self.score.to_json(),
            **reduced,
            "relation": ">=" if self.at_least else "<=",
            "threshold": self.threshold,
            "likely_input": self.likely_input,
            "quantised_to": None if self.quantiser is None else self.quantiser.steps.tolist(),
        }


def occurrences(events: Sequence[Event], outputs: FloatArray) -> Iterator[BoolArray]:
    """Yield whether each event occurs, per output; events of one score and grid share the scores."""
    with np.errstate(invalid="ignore", over="ignore"):
        finite = math.isfinite(float(outputs.sum()))
    known: dict[tuple[int, int, int], FloatArray] = {}
    for event in events:
        if finite and event.quick_test is not None:
            yield event.quick_test(outputs)
            continue
        key = (id(event.score), id(event.quantiser), id(event.reduction))
        if key not in known:
            quick = event.quick_scores if finite else None
            known[key] = event.scores(outputs) if quick is None else quick(outputs)
        yield event.within(known[key])


def _from(outputs: FloatArray, k: int, edge: float) -> BoolArray:
    return outputs[:, k] >= edge


def _below(outputs: FloatArray, k: int, edge: float) -> BoolArray:
    return outputs[:, k] < edge


def event_of(stored: StoredEvent, subject: object = None) -> Event:
    """Build an event from its document.

    Parameters
    ----------
    stored : StoredEvent
    subject : object
        Needed only for an exact likelihood ratio, which is the subject's own function.

    Raises
    ------
    ValueError
        When the document's numbers make no event.
    """
    document = plain(stored)
    try:
        if stored.score == "likelihood_ratio":
            score: Score = LikelihoodRatioScore.of(subject)
        else:
            score = READERS[stored.score](document)
        steps, reduced = stored.quantised_to, document.get("reduced_to")
        return Event(
            score,
            stored.threshold,
            stored.relation == ">=",
            stored.likely_input,
            None if steps is None else Quantiser(np.array(steps, dtype=np.float64)),
            None if reduced is None else reduction_from_json(reduced, subject),
        )
    except (KeyError, TypeError, ValueError) as problem:
        raise ValueError(f"not an event: {problem!r}") from problem
