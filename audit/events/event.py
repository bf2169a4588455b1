"""An event: a half-line of a score of the output, the output rounded to a public grid or taken bit for bit."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol, TypeAlias

import numpy as np
import numpy.typing as npt

FloatArray: TypeAlias = npt.NDArray[np.float64]
BoolArray: TypeAlias = npt.NDArray[np.bool_]

QUANTISED_BITS = 16
"""A grid step is the spread of a coordinate, rounded down to a power of two, times 2^-16.

Float noise lives near 2^-53 of the scale: 37 bits below the step.
"""


class Score(Protocol):
    """A real-valued function of outputs; serialisable, so that an event can be tested again elsewhere."""

    name: ClassVar[str]
    learned: ClassVar[bool]
    """Whether fitted to the learning draws: then those must not help to choose its threshold."""
    sees_all: ClassVar[bool]
    """Whether it takes outputs that are not finite; the others never get to see them."""

    def __call__(self, outputs: FloatArray) -> FloatArray:
        """Return one score per output: (n, k) -> (n,)."""
        ...

    def to_json(self) -> dict[str, Any]:
        """Return the parameters, without the name."""
        ...


READERS: dict[str, Callable[[dict[str, Any]], Score]] = {}
"""How to read each kind of score back, by name."""


@dataclass(frozen=True, eq=False)
class Quantiser:
    """Rounds each coordinate to a multiple of its step: what the *ideal* mechanism is judged on.

    Rounding is post-processing, so a bound on the rounded outputs is a bound on the outputs.  What it cannot see
    are the low bits, where a sampler's floats differ from the real numbers that they stand for.

    Parameters
    ----------
    steps : ndarray, shape (k,)
        Powers of two; 0 leaves a coordinate as it is.
    """

    steps: FloatArray

    @classmethod
    def of(cls, left: FloatArray, right: FloatArray) -> Quantiser:
        """Return the grid for two samples of shape (n, k): 2^-16 of each coordinate's spread.

        The spread is the mean absolute distance from the median, of finite outputs of both together.
        """
        steps = np.zeros(left.shape[1])
        for k in range(left.shape[1]):
            values = np.concatenate([left[:, k], right[:, k]])
            values = values[np.isfinite(values)]
            # finite numbers may have a spread that is not
            with np.errstate(over="ignore"):
                spread = float(np.abs(values - np.median(values)).mean()) if values.size else 0.0
            if 0.0 < spread < math.inf:
                steps[k] = 2.0 ** (math.floor(math.log2(spread)) - QUANTISED_BITS)
        return cls(steps)

    def __call__(self, outputs: FloatArray) -> FloatArray:
        """Return the rounded outputs, in a new array."""
        if (self.steps > 0).all():
            rounded = outputs * (1.0 / self.steps)
            np.rint(rounded, out=rounded)
            rounded *= self.steps
            return rounded
        safe = np.where(self.steps > 0, self.steps, 1.0)
        return np.where(self.steps > 0, np.rint(outputs / safe) * safe, outputs)


def score_all(score: Score, outputs: FloatArray) -> FloatArray:
    """Return one score per output; -infinity where a score of finite outputs meets another."""
    # a finite sum has finite terms, and is much quicker than a look at each
    with np.errstate(invalid="ignore", over="ignore"):
        if score.sees_all or math.isfinite(float(outputs.sum())):
            return score(outputs)
    finite = np.isfinite(outputs).all(axis=1)
    if finite.all():
        return score(outputs)
    scores = np.full(len(outputs), -np.inf)
    if finite.any():
        scores[finite] = score(outputs[finite])
    return scores


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
    """

    score: Score
    threshold: float
    at_least: bool
    likely_input: str
    quantiser: Quantiser | None = None

    def scores(self, outputs: FloatArray) -> FloatArray:
        """Return one score per output, the output quantised first."""
        return score_all(self.score, outputs if self.quantiser is None else self.quantiser(outputs))

    def within(self, scores: FloatArray) -> BoolArray:
        """Return whether the event occurs, per score."""
        return scores >= self.threshold if self.at_least else scores <= self.threshold

    def occurs(self, outputs: FloatArray) -> BoolArray:
        """Return whether the event occurs, per output of an array of shape (n, k)."""
        return self.within(self.scores(outputs))

    def to_json(self) -> dict[str, Any]:
        """Return the event in a form from which it can be built again."""
        return {
            "score": self.score.name,
            **self.score.to_json(),
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
            from audit.events.scores import LikelihoodRatioScore

            score: Score = LikelihoodRatioScore.of(subject)
        else:
            score = READERS[document["score"]](document)
        steps = document["quantised_to"]
        return Event(
            score,
            float(document["threshold"]),
            {">=": True, "<=": False}[document["relation"]],
            {"left": "left", "right": "right"}[document["likely_input"]],
            None if steps is None else Quantiser(np.array(steps, dtype=np.float64)),
        )
    except (KeyError, TypeError, ValueError) as problem:
        raise ValueError(f"not an event: {problem!r}") from problem
