"""An event: a half-line of a score of the output, the output rounded to a public grid or taken bit for bit."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, TypeAlias

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from audit.events.reduction import Reduction

FloatArray: TypeAlias = npt.NDArray[np.float64]
BoolArray: TypeAlias = npt.NDArray[np.bool_]

QUANTISED_BITS = 16
"""A grid step is the spread of a coordinate, rounded down to a power of two, times 2^-16.

Float noise lives near 2^-53 of the scale: 37 bits below the step.
"""


SMALLEST_STEP = -1074
"""Exponent of the smallest step: that of the smallest number above 0."""


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
            spread, shift = _spread(values), 0
            if math.isinf(spread):
                # finite numbers too large to be added up: in units of 2^64 they are not
                spread, shift = _spread(np.ldexp(values, -64)), 64
            if spread > 0.0:
                steps[k] = 2.0 ** max(math.floor(math.log2(spread)) + shift - QUANTISED_BITS, SMALLEST_STEP)
        return cls(steps)

    def __call__(self, outputs: FloatArray) -> FloatArray:
        """Return the rounded outputs, in a new array."""
        if (self.steps > 0).all():
            return self._rounded(outputs, self.steps)
        safe = np.where(self.steps > 0, self.steps, 1.0)
        return np.where(self.steps > 0, self._rounded(outputs, safe), outputs)

    @staticmethod
    def _rounded(outputs: FloatArray, steps: FloatArray) -> FloatArray:
        # steps are powers of two, so only rint rounds; dividing, since the inverse of a tiny step is infinite
        with np.errstate(over="ignore"):
            rounded = outputs / steps
        np.rint(rounded, out=rounded)
        rounded *= steps
        # too many steps to count: such an output is a multiple of its step already
        uncounted = np.isinf(rounded)
        if uncounted.any():
            rounded[uncounted] = outputs[uncounted]
        return rounded


def _spread(values: FloatArray) -> float:
    """Return the mean absolute distance from the median; 0 of nothing, infinite where it overflows."""
    with np.errstate(over="ignore"):
        return float(np.abs(values - np.median(values)).mean()) if values.size else 0.0


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
            from audit.events.scores import LikelihoodRatioScore

            score: Score = LikelihoodRatioScore.of(subject)
        else:
            score = READERS[document["score"]](document)
        steps = document["quantised_to"]
        if "reduced_to" in document:
            from audit.events.reduction import reduction_from_json

            reduction = reduction_from_json(document["reduced_to"], subject)
        else:
            reduction = None
        return Event(
            score,
            float(document["threshold"]),
            {">=": True, "<=": False}[document["relation"]],
            {"left": "left", "right": "right"}[document["likely_input"]],
            None if steps is None else Quantiser(np.array(steps, dtype=np.float64)),
            reduction,
        )
    except (KeyError, TypeError, ValueError) as problem:
        raise ValueError(f"not an event: {problem!r}") from problem
