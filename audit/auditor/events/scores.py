"""Scores of finite outputs: a coordinate, an interval, and learned approximations of the likelihood ratio."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any, ClassVar

import numpy as np
from scipy.optimize import isotonic_regression

from audit.auditor.events.cells import EdgeTable
from audit.auditor.events.columns import Columns
from audit.auditor.events.protocol import READERS, StoredByItsFields
from audit.auditor.events.quantiser import SMALLEST_STEP, Quantiser
from audit.auditor.events.ranks import between, quantiles
from audit.auditor.subject import FAILURES, SubjectError
from reference.common.arrays import FloatArray, IntArray

BINS, FINE_BINS = 32, 256
"""Bins per coordinate of an additive score: free ones, and ones smoothed to rise or fall."""

ADDABLE = 2.0**32
"""Log ratios are multiples of one part in this many: a sum below 2^20 has no rounding error.  Weights likewise."""

ADDED_VALUES = 2**17
"""Numbers that an additive score looks at together: few beside the draws of a selection."""

SMALLEST_SAFE, LARGEST_SAFE = 2.0**-300, 2.0**300
"""Weights and steps of such sizes multiply without loss."""

COMPARED = 1024
"""Outputs of each chunk whose likelihood ratios are computed a second time, apart from the others."""


@dataclass(frozen=True)
class CoordinateScore(StoredByItsFields):
    """One coordinate of the output."""

    coordinate: int
    name: ClassVar[str] = "coordinate"
    learned: ClassVar[bool] = False
    sees_all: ClassVar[bool] = False

    def __call__(self, outputs: FloatArray) -> FloatArray:
        """Return the coordinate."""
        return outputs[:, self.coordinate]


@dataclass(frozen=True)
class IntervalScore(StoredByItsFields):
    """1 where a coordinate lies in [low, high], else 0."""

    coordinate: int
    low: float
    high: float
    name: ClassVar[str] = "interval"
    learned: ClassVar[bool] = True
    sees_all: ClassVar[bool] = False
    binary: ClassVar[bool] = True

    def __call__(self, outputs: FloatArray) -> FloatArray:
        """Return the indicators."""
        values = outputs[:, self.coordinate]
        indicators: FloatArray = ((values >= self.low) & (values <= self.high)).astype(np.float64)
        return indicators

    def count(self, ordered: FloatArray) -> int:
        """Return how many of a coordinate's sorted values lie in the interval."""
        return int(np.searchsorted(ordered, self.high, side="right") - np.searchsorted(ordered, self.low))


@dataclass(frozen=True, eq=False)
class LogisticScore(StoredByItsFields):
    """A weighted sum of coordinates, by logistic regression of the input on the output, or along a direction."""

    weights: FloatArray
    name: ClassVar[str] = "logistic"
    learned: ClassVar[bool] = True
    sees_all: ClassVar[bool] = False

    @classmethod
    def learn(cls, left: FloatArray, right: FloatArray) -> LogisticScore:
        """Return the score for two samples of shape (n, k)."""
        from sklearn.linear_model import LogisticRegression

        # half the size does for a score that is learned; the solver holds several copies
        standard = np.empty((len(left) + len(right), left.shape[1]), dtype=np.float32)
        unit = np.ones(left.shape[1])
        for k in range(left.shape[1]):
            column = np.concatenate([left[:, k], right[:, k]])
            spread = column.std()
            unit[k] = spread if spread > 0 else 1.0
            # one far value must not squeeze all the others together
            standard[:, k] = np.clip((column - np.median(column)) / unit[k], -8.0, 8.0)
        labels = np.repeat([1, 0], [len(left), len(right)])
        model = LogisticRegression(max_iter=200, tol=1e-3, solver="newton-cholesky").fit(standard, labels)
        weights = model.coef_[0].astype(np.float64)
        # in powers of two: sums of few-digit numbers are then exact, as those of log ratios are (:func:`_addable`)
        exponents = np.frexp(np.abs(weights).max())[1] - np.frexp(unit)[1] - round(math.log2(ADDABLE))
        part = np.ldexp(1.0, np.maximum(exponents, SMALLEST_STEP))
        return cls(np.rint(weights / unit / part) * part)

    def __call__(self, outputs: FloatArray) -> FloatArray:
        """Return the weighted sums."""
        with np.errstate(invalid="ignore", over="ignore"):
            return as_finite(outputs @ self.weights)

    def of_rounded(self, steps: FloatArray) -> Callable[[FloatArray], FloatArray] | None:
        """Return the scores of finite outputs once rounded to multiples of powers of two, to the last bit.

        A product with a power of two is exact: so the steps may multiply the weights.  None if a number could
        leave the range of doubles on the way.
        """
        sizes = np.abs(self.weights[self.weights != 0])
        extremes = [float(some) for part in (sizes, steps) if len(part) for some in (part.min(), part.max())]
        if not all(SMALLEST_SAFE <= size <= LARGEST_SAFE for size in extremes):
            return None
        inverse = float(1 / steps[0]) if (steps == steps[0]).all() else 1 / steps
        weights = self.weights * steps

        def scores(outputs: FloatArray) -> FloatArray:
            with np.errstate(invalid="ignore", over="ignore"):
                multiples = outputs * inverse
                np.rint(multiples, out=multiples)
                found: FloatArray = multiples @ weights
                whole = math.isfinite(float(found.sum()))
            # a number that is too large to be counted in steps
            return found if whole else self(Quantiser(steps)(outputs))

        return scores


@dataclass(frozen=True, eq=False)
class AdditiveScore(StoredByItsFields):
    """A sum over coordinates of binned log likelihood ratios: nearly optimal for independent noise.

    Parameters
    ----------
    edges : ndarray, shape (k, bins - 1)
        Ascending; a single row serves every coordinate.
    log_ratios : ndarray, shape (k, bins)
    """

    edges: FloatArray
    log_ratios: FloatArray
    name: ClassVar[str] = "additive"
    learned: ClassVar[bool] = True
    sees_all: ClassVar[bool] = False

    @classmethod
    def learn(cls, left: FloatArray, right: FloatArray, *, monotone: bool) -> AdditiveScore:
        """Return the score for two samples of shape (n, k), bins by quantiles of both together.

        Parameters
        ----------
        left, right : ndarray, shape (n, k)
        monotone : bool
            Fine bins whose ratios rise or fall (noise whose density is log-concave), or fewer free ones.
        """
        return cls.of_sorted(map(Columns(left, right).sides, range(left.shape[1])), monotone=monotone)

    @classmethod
    def of_sorted(cls, sides: Iterable[Sequence[FloatArray]], *, monotone: bool) -> AdditiveScore:
        """Return the same for each coordinate's numbers, sorted on left and right."""
        bins = FINE_BINS if monotone else BINS
        shares = np.linspace(0, 1, bins + 1)[1:-1]
        edges, log_ratios = [], []
        for left, right in sides:
            edges.append(quantiles(left, right, shares))
            counts = between(edges[-1], left), between(edges[-1], right)
            log_ratios.append(smoothed(*counts) if monotone else _free(*counts))
        return cls(np.array(edges), np.array(log_ratios))

    def __call__(self, outputs: FloatArray) -> FloatArray:
        """Return the summed log ratios."""
        total, rows = np.zeros(len(outputs)), max(1, ADDED_VALUES // outputs.shape[1])
        for start in range(0, len(outputs), rows):
            self._add(outputs[start : start + rows], total[start : start + rows])
        return total

    def _add(self, outputs: FloatArray, total: FloatArray) -> None:
        if len(self.edges) == 1:
            places = self._places[0](outputs.ravel()).reshape(outputs.shape)
            total += self.log_ratios[0].take(places).sum(axis=1)
            return
        for k, (places_of, log_ratios) in enumerate(zip(self._places, self.log_ratios, strict=True)):
            total += log_ratios.take(places_of(outputs[:, k]))

    def in_order(self, ordered: FloatArray) -> FloatArray:
        """Return the sorted scores of finite outputs of one number, sorted too."""
        log_ratios, counts = self.log_ratios[0] + 0.0, between(self.edges[0], ordered)
        order = np.argsort(log_ratios)
        return np.repeat(log_ratios[order], counts[order])

    @cached_property
    def _places(self) -> list[Callable[[FloatArray], IntArray]]:
        """The number of edges at or below each value, by row of edges."""
        return [places_among(cuts) for cuts in self.edges]


def places_among(cuts: FloatArray) -> Callable[[FloatArray], IntArray]:
    """Return the function that counts the cuts at or below each of some finite values."""
    return EdgeTable.of(cuts) or partial(_places_among, cuts)


def _places_among(cuts: FloatArray, values: FloatArray) -> IntArray:
    return np.searchsorted(cuts, values, side="right")


def _free(left: IntArray, right: IntArray) -> FloatArray:
    bins = len(left)
    shares = [(counts + 0.5) / (counts.sum() + bins / 2) for counts in (left, right)]
    return _addable(np.log(shares[0] / shares[1]))


def smoothed(left: IntArray, right: IntArray) -> FloatArray:
    """Return the log ratios of the best rising or falling fit to the share of left outputs per bin."""
    both = left + right
    share = np.divide(left, both, out=np.full(len(left), 0.5), where=both > 0)
    fits = []
    for increasing in (True, False):
        fit = isotonic_regression(share, weights=both + 1e-9, increasing=increasing).x
        fits.append((float(np.sum(both * (share - fit) ** 2)), increasing, fit))
    fit = min(fits)[2]
    # half an observation on either side keeps the ends finite
    fit = (fit * both.sum() + 0.5) / (both.sum() + 1.0)
    prior = left.sum() / right.sum()
    return _addable(np.log(fit / (1 - fit) / prior))


def _addable(log_ratios: FloatArray) -> FloatArray:
    """Return log ratios whose sums are exact, in any order.

    Many outputs may have one sum, which may be the threshold: on whichever side of it rounding had some of them
    when the event was chosen, it would have others when they are counted in another order.
    """
    return np.asarray(np.rint(log_ratios * ADDABLE) / ADDABLE)


@dataclass(frozen=True, eq=False)
class LikelihoodRatioScore:
    """The subject's own log likelihood ratio, left over right."""

    function: Callable[[FloatArray], FloatArray]
    name: ClassVar[str] = "likelihood_ratio"
    learned: ClassVar[bool] = False
    sees_all: ClassVar[bool] = True
    binary: ClassVar[bool] = False

    @classmethod
    def of(cls, subject: object) -> LikelihoodRatioScore:
        """Return the score of a subject that has a `log_likelihood_ratio`."""
        function = getattr(subject, "log_likelihood_ratio", None)
        if function is None:
            raise ValueError("the subject gives no log_likelihood_ratio")
        return cls(function)

    def __call__(self, outputs: FloatArray) -> FloatArray:
        """Return the log ratios; NaN stays below every threshold."""
        try:
            scores = np.asarray(self.function(outputs), dtype=np.float64)
        except FAILURES as problem:
            raise SubjectError(f"log_likelihood_ratio failed: {type(problem).__name__}: {problem}") from problem
        if scores.shape != (len(outputs),):
            raise SubjectError(f"log_likelihood_ratio returned shape {scores.shape} for {len(outputs)} outputs")
        if len(outputs) > 1:
            # some of the rows, in another order and without the others; and the first row alone
            for some in (_some_of(len(outputs)), [0]):
                check_same(scores[some], np.asarray(self.function(outputs[some])))
        # a sum of infinite terms of both signs is NaN too; then nothing is replaced
        with np.errstate(invalid="ignore"):
            suspicious = np.isnan(scores.sum())
        return np.where(np.isnan(scores), -np.inf, scores) if suspicious else scores

    def to_json(self) -> dict[str, Any]:
        """Return nothing: the function belongs to the subject."""
        return {}


def _some_of(rows: int) -> IntArray:
    """Return at most half of the places in an array, in another order; all of them are not shuffled if many."""
    rng = np.random.default_rng(rows)
    few = rows < 4 * COMPARED
    some: IntArray = rng.permutation(rows)[: rows // 2] if few else rng.integers(rows, size=COMPARED)
    return some[:COMPARED]


def check_same(first: FloatArray, second: FloatArray) -> None:
    """Refuse scores of the same outputs, once among some and once among others, that differ.

    Raises
    ------
    audit.auditor.subject.SubjectError
    """
    if not _same(first, second):
        raise SubjectError("log_likelihood_ratio of an output must not depend on the other outputs")


def as_finite(scores: FloatArray) -> FloatArray:
    """Return the scores, with a finite number in place of each that is not finite."""
    return scores if math.isfinite(float(scores.sum())) else np.nan_to_num(scores)


def _same(first: FloatArray, second: FloatArray) -> bool:
    """Return whether scores agree up to the order of a sum."""
    return bool(np.allclose(first, second, rtol=1e-6, atol=1e-9, equal_nan=True))


READERS["coordinate"] = lambda document: CoordinateScore(int(document["coordinate"]))
READERS["interval"] = lambda document: IntervalScore(
    int(document["coordinate"]), float(document["low"]), float(document["high"])
)
READERS["logistic"] = lambda document: LogisticScore(np.array(document["weights"], dtype=np.float64))
READERS["additive"] = lambda document: AdditiveScore(np.array(document["edges"]), np.array(document["log_ratios"]))
