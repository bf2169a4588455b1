"""An event: a half-line of a score of the output, which is rounded to a public grid or taken bit for bit."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

import numpy as np

from audit.auditor.events.bits import BitScore, quick_test
from audit.auditor.events.mixed import Both, Function, Pair
from audit.auditor.events.protocol import READERS, Score, score_all
from audit.auditor.events.quantiser import Quantiser
from audit.auditor.events.reduction import Reduction, reduction_from_json
from audit.auditor.events.scores import (
    AdditiveScore,
    CoordinateScore,
    LikelihoodRatioScore,
    LogisticScore,
    check_same,
)
from audit.auditor.events.stored import StoredEvent, stored_event
from reference.common.arrays import BoolArray, FloatArray, IntArray
from reference.common.documents import plain

RESCORED, TELLING, RESCORED_SHARE = 256, 32, 16
"""Outputs of an input, and of those with the event, that are scored again: at most so many, or one in so many."""


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
        return self._of_reduced(outputs if self.reduction is None else self.reduction(outputs))

    def _of_reduced(self, outputs: FloatArray) -> FloatArray:
        return score_all(self.score, outputs if self.quantiser is None else self.quantiser(outputs))

    def within(self, scores: FloatArray) -> BoolArray:
        """Return whether the event occurs, per score."""
        return scores >= self.threshold if self.at_least else scores <= self.threshold

    def occurs(self, outputs: FloatArray) -> BoolArray:
        """Return whether the event occurs, per output of an array of shape (n, k)."""
        (found,) = occurrences([self], outputs)
        return found

    @property
    def scored_by(self) -> tuple[int, int, int]:
        """What events with the same scores share."""
        return id(self.score), id(self.quantiser), id(self.reduction)

    @cached_property
    def asks_subject(self) -> bool:
        """Whether it rests on the subject's own likelihood ratio."""
        reduced = self.reduction is not None and self.reduction.asks_subject
        return reduced or isinstance(self.score, LikelihoodRatioScore)

    def scores_of_both(self, both: Both) -> Pair:
        """Return the scores on left and right, for counts that certify.

        Where the subject is asked, outputs of both are mixed, and some are scored again among others.

        Raises
        ------
        audit.auditor.subject.SubjectError
            When a score depends on other outputs.
        """
        if not self.asks_subject:
            return self.scores(both.left), self.scores(both.right)
        # reduced outputs are compared as they are: a score may tell what rounding has made of them
        reduced = None if isinstance(self.score, LikelihoodRatioScore) else self.reduction
        asked = self.scores if reduced is None else reduced
        answers = both.mixed(asked)
        scores = answers if reduced is None else (self._of_reduced(answers[0]), self._of_reduced(answers[1]))
        self._check_again(both, asked, scores, answers)
        return scores

    def _check_again(self, both: Both, asked: Function, scores: Pair, answers: Pair) -> None:
        """Ask the subject again for some outputs, in the company of left ones, then of right ones, then alone."""
        sides = (both.left, both.right)
        telling = [self._telling(some) for some in scores]
        company = np.arange(_rescored(RESCORED, len(both.left)))
        for of in (0, 1):
            places = [np.append(some, company) if side == of else some for side, some in enumerate(telling)]
            outputs, before = (
                np.concatenate([values[some] for values, some in zip(pair, places, strict=True)])
                for pair in (sides, answers)
            )
            order = both.rng.permutation(len(outputs))
            check_same(before[order], asked(outputs[order]))
        for outputs, before, some in zip(sides, answers, telling, strict=True):
            for row in some[:2]:
                check_same(before[[row]], asked(outputs[[row]]))

    def _telling(self, scores: FloatArray) -> IntArray:
        """Return the places of the least and the largest score, and of some outputs with the event."""
        happened = np.flatnonzero(self.within(scores))[: _rescored(TELLING, len(scores))]
        return np.concatenate([[scores.argmin(), scores.argmax()], happened])

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
        if event.scored_by not in known:
            quick = event.quick_scores if finite else None
            known[event.scored_by] = event.scores(outputs) if quick is None else quick(outputs)
        yield event.within(known[event.scored_by])


def occurrences_of_both(events: Sequence[Event], both: Both) -> Iterator[tuple[BoolArray, BoolArray]]:
    """Yield the same on left and right, which are mixed where the subject is asked."""
    others = [event for event in events if not event.asks_subject]
    pairs = zip(occurrences(others, both.left), occurrences(others, both.right), strict=True)
    known: dict[tuple[int, int, int], Pair] = {}
    for event in events:
        if not event.asks_subject:
            yield next(pairs)
            continue
        if event.scored_by not in known:
            known[event.scored_by] = event.scores_of_both(both)
        left, right = known[event.scored_by]
        yield event.within(left), event.within(right)


def _rescored(most: int, rows: int) -> int:
    return min(most, max(1, rows // RESCORED_SHARE))


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
