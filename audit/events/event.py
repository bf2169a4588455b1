"""An event: a half-line of a score of the output, the output rounded to a public grid or taken bit for bit."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from audit.events.protocol import READERS, BoolArray, FloatArray, Score, score_all
from audit.events.quantiser import Quantiser
from audit.events.reduction import Reduction, reduction_from_json
from audit.events.scores import LikelihoodRatioScore


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
        return self.within(self.scores(outputs))

    def to_json(self) -> dict[str, Any]:
        """Return the event in a form from which it can be built again."""
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


def event_from_json(document: dict[str, Any], subject: object = None) -> Event:
    """Build an event from what :meth:`Event.to_json` wrote.

    Parameters
    ----------
    document : dict
    subject : object
        Only for an exact likelihood ratio, which is the subject's own function.

    Raises
    ------
    ValueError
        When the document describes no event.
    """
    try:
        if document["score"] == "likelihood_ratio":
            score: Score = LikelihoodRatioScore.of(subject)
        else:
            score = READERS[document["score"]](document)
        steps = document["quantised_to"]
        reduced = document.get("reduced_to")
        return Event(
            score,
            float(document["threshold"]),
            {">=": True, "<=": False}[document["relation"]],
            {"left": "left", "right": "right"}[document["likely_input"]],
            None if steps is None else Quantiser(np.array(steps, dtype=np.float64)),
            None if reduced is None else reduction_from_json(reduced, subject),
        )
    except (KeyError, TypeError, ValueError) as problem:
        raise ValueError(f"not an event: {problem!r}") from problem
