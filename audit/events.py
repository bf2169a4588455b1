"""Events: half-lines of a score of the output.  Scores are learned on draws that certify nothing."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias

import numpy as np
import numpy.typing as npt

FloatArray: TypeAlias = npt.NDArray[np.float64]
BoolArray: TypeAlias = npt.NDArray[np.bool_]

ADDITIVE_BINS = 32


class Score(Protocol):
    """A real-valued function of finite outputs, or an indicator of outputs that are not finite."""

    def __call__(self, outputs: FloatArray) -> FloatArray:
        """Return one score per output: (n, k) -> (n,)."""
        ...

    def to_json(self) -> dict[str, Any]:
        """Return the score in a form from which it can be built again."""
        ...


@dataclass(frozen=True)
class CoordinateScore:
    """One coordinate of the output."""

    coordinate: int

    def __call__(self, outputs: FloatArray) -> FloatArray:
        """Return the coordinate."""
        return outputs[:, self.coordinate]

    def to_json(self) -> dict[str, Any]:
        """Return the coordinate's index."""
        return {"score": "coordinate", "coordinate": self.coordinate}


@dataclass(frozen=True, eq=False)
class LinearScore:
    """A weighted sum of coordinates: the mean difference in units of the variance."""

    weights: FloatArray

    @classmethod
    def learn(cls, left: FloatArray, right: FloatArray) -> LinearScore:
        """Return the score for two samples of shape (n, k)."""
        variance = (left.var(axis=0) + right.var(axis=0)) / 2
        difference = left.mean(axis=0) - right.mean(axis=0)
        return cls(np.divide(difference, variance, out=np.zeros_like(difference), where=variance > 0))

    def __call__(self, outputs: FloatArray) -> FloatArray:
        """Return the weighted sums."""
        return outputs @ self.weights

    def to_json(self) -> dict[str, Any]:
        """Return the weights."""
        return {"score": "linear", "weights": self.weights.tolist()}


@dataclass(frozen=True, eq=False)
class AdditiveScore:
    """A sum over coordinates of binned log likelihood ratios: near the best there is for independent noise."""

    edges: FloatArray
    ratios: FloatArray

    @classmethod
    def learn(cls, left: FloatArray, right: FloatArray) -> AdditiveScore:
        """Return the score for two samples of shape (n, k), bins by quantiles of both together."""
        levels = np.linspace(0, 1, ADDITIVE_BINS + 1)[1:-1]
        edges = np.quantile(np.concatenate([left, right]), levels, axis=0).T
        ratios = np.empty((edges.shape[0], ADDITIVE_BINS))
        for k, cuts in enumerate(edges):
            counts = [
                np.bincount(np.searchsorted(cuts, sample[:, k], side="right"), minlength=ADDITIVE_BINS)
                for sample in (left, right)
            ]
            shares = [(count + 0.5) / (count.sum() + ADDITIVE_BINS / 2) for count in counts]
            ratios[k] = np.log(shares[0] / shares[1])
        return cls(edges, ratios)

    def __call__(self, outputs: FloatArray) -> FloatArray:
        """Return the summed log ratios."""
        total = np.zeros(len(outputs))
        for k, (cuts, ratios) in enumerate(zip(self.edges, self.ratios, strict=True)):
            total += ratios[np.searchsorted(cuts, outputs[:, k], side="right")]
        return total

    def to_json(self) -> dict[str, Any]:
        """Return bin edges and log ratios per coordinate."""
        return {"score": "additive", "edges": self.edges.tolist(), "log_ratios": self.ratios.tolist()}


@dataclass(frozen=True)
class AtomScore:
    """1 where some coordinate is NaN (or +infinity, or -infinity), else 0: outcomes that are no numbers.

    Parameters
    ----------
    kind : {'nan', '+inf', '-inf'}
    """

    kind: str

    def __call__(self, outputs: FloatArray) -> FloatArray:
        """Return the indicators."""
        if self.kind == "nan":
            matches = np.asarray(np.isnan(outputs))
        else:
            matches = np.asarray(outputs == (np.inf if self.kind == "+inf" else -np.inf))
        indicators: FloatArray = np.asarray(matches.any(axis=1), dtype=np.float64)
        return indicators

    def to_json(self) -> dict[str, Any]:
        """Return the kind."""
        return {"score": "atom", "kind": self.kind}


def score_all(score: Score, outputs: FloatArray) -> FloatArray:
    """Return one score per output; -infinity where an output is not finite and the score is no atom's."""
    if isinstance(score, AtomScore):
        return score(outputs)
    finite = np.isfinite(outputs).all(axis=1)
    if finite.all():
        return score(outputs)
    scores = np.full(len(outputs), -np.inf)
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
    """

    score: Score
    threshold: float
    at_least: bool
    likely_input: str

    def occurs(self, outputs: FloatArray) -> BoolArray:
        """Return whether the event occurs, per output."""
        scores = score_all(self.score, outputs)
        return scores >= self.threshold if self.at_least else scores <= self.threshold

    def to_json(self) -> dict[str, Any]:
        """Return the event in a form from which it can be built again."""
        relation = ">=" if self.at_least else "<="
        return {
            **self.score.to_json(),
            "relation": relation,
            "threshold": self.threshold,
            "likely_input": self.likely_input,
        }


def learned_scores(left: FloatArray, right: FloatArray) -> Iterator[Score]:
    """Yield the scores to choose from, learned on the finite outputs of two samples of shape (n, k)."""
    finite = [sample[np.isfinite(sample).all(axis=1)] for sample in (left, right)]
    if all(len(sample) > 1 for sample in finite):
        yield LinearScore.learn(*finite)
        yield AdditiveScore.learn(*finite)
    for coordinate in range(left.shape[1]):
        yield CoordinateScore(coordinate)
    if any(len(sample) < len(whole) for sample, whole in zip(finite, (left, right), strict=True)):
        yield from (AtomScore(kind) for kind in ("nan", "+inf", "-inf"))
