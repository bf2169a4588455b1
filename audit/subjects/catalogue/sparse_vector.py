"""Sparse vector: which answers are above a noisy threshold.

The six variants that Lyu, Su and Li compare (Understanding the sparse vector technique, PVLDB 10(6), 2017), by
their number, and two that release more than comparisons.  Each answer may change by 1.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations
from typing import ClassVar

import numpy as np
import scipy

from audit.subjects.catalogue.entry import Entry
from audit.subjects.catalogue.quadrature import largest_log_ratio, nodes
from reference.common.arrays import BoolArray, FloatArray

SOURCE = "Lyu, Su, Li, Understanding the sparse vector technique (PVLDB 2017), algorithm "


class _SparseVector(Entry):
    """Compare noisy answers with a noisy threshold until `stop` are above; None never stops.

    The output is the places of the answers above: `stop` places, the number of answers for an unused one; all
    comparisons if it never stops.
    """

    adjacency = "answers"
    threshold: ClassVar[float] = 0.5
    stop: ClassVar[int | None] = None
    left: ClassVar[tuple[float, ...]]
    right: ClassVar[tuple[float, ...]]

    @property
    def threshold_scale(self) -> float:
        """Laplace scale on the threshold."""
        raise NotImplementedError

    @property
    def answer_scale(self) -> float:
        """Laplace scale on each answer."""
        raise NotImplementedError

    @property
    def true_epsilon(self) -> float:
        """The largest log ratio of an output's probabilities, by a Gauss rule over the threshold, to 1e-9."""
        left, right = (self.probabilities(data) for data in self.inputs())
        return largest_log_ratio(left, right)

    def inputs(self) -> tuple[FloatArray, FloatArray]:
        """Return the answers on the two inputs."""
        return np.array(self.left), np.array(self.right)

    def outputs(self) -> Iterator[tuple[int, ...]]:
        """Yield the places above, for every output."""
        k = len(self.left)
        for number in range((k if self.stop is None else self.stop) + 1):
            yield from combinations(range(k), number)

    def probabilities(self, data: FloatArray) -> FloatArray:
        """Return the probability of each of :meth:`outputs`."""
        kinks = sorted({self.threshold, *data.tolist()})
        scales = sorted((self.threshold_scale, self.answer_scale))
        points, weights = nodes(kinks, *scales)
        density = scipy.stats.laplace.pdf(points, self.threshold, self.threshold_scale) * weights
        below, above = self._beside(points, data)
        found = []
        for places in self.outputs():
            asked = places[-1] + 1 if len(places) == self.stop else len(data)
            factors = [above[j] if j in places else below[j] for j in range(asked)]
            found.append(float(np.prod(factors, axis=0) @ density))
        return np.array(found)

    def _beside(self, thresholds: FloatArray, data: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the chances of each noisy answer to be below, and above, each threshold."""
        below = np.array([scipy.stats.laplace.cdf(thresholds, answer, self.answer_scale) for answer in data])
        above = np.array([scipy.stats.laplace.sf(thresholds, answer, self.answer_scale) for answer in data])
        return below, above

    def sample(self, data: FloatArray, count: int, rng: np.random.Generator) -> FloatArray:
        """Return `count` outputs, shape (count, stop), or (count, answers) if it never stops."""
        threshold = self.threshold + rng.laplace(scale=self.threshold_scale, size=(count, 1))
        above = data + rng.laplace(scale=self.answer_scale, size=(count, len(data))) >= threshold
        return above.astype(np.float64) if self.stop is None else _first_places(above, self.stop)


def _first_places(above: BoolArray, number: int) -> FloatArray:
    """Return the places of the first `number` true entries of each row; the row's length for missing ones."""
    k = above.shape[1]
    places = np.where(above, np.arange(k), k)
    return np.sort(places, axis=1)[:, :number].astype(np.float64)


@dataclass(frozen=True)
class SparseVector1(_SparseVector):
    """Algorithm 1: Lap(2 / epsilon) on the threshold, Lap(4 c / epsilon) on each answer, stop after c above.

    Exact loss: at most epsilon.  Shift the noisy threshold by 1 (epsilon / 2) and the noise of the c answers
    above by 2 (epsilon / (2 c) each).  On these inputs by a Gauss rule over the threshold.
    """

    source = SOURCE + "1"
    stop = 2
    left = (0.0, 0.0, 0.0, 0.0, 1.0, 1.0)
    right = (1.0, 1.0, 1.0, 1.0, 0.0, 0.0)

    @property
    def threshold_scale(self) -> float:
        """Laplace scale on the threshold."""
        return 2 / self.epsilon

    @property
    def answer_scale(self) -> float:
        """Laplace scale on each answer."""
        return 4 * (self.stop or 1) / self.epsilon


@dataclass(frozen=True)
class SparseVector2(SparseVector1):
    """Algorithm 2: a threshold drawn afresh after each answer above, Lap(2 c / epsilon), and Lap(4 c / epsilon).

    Exact loss: the stretches between two answers above are independent, so an output's probability is a product of
    integrals, one per stretch.  At most epsilon: each stretch is Algorithm 1 with c = 1 at epsilon / c.
    """

    source = SOURCE + "2"

    @property
    def threshold_scale(self) -> float:
        """Laplace scale on each threshold."""
        return 2 * (self.stop or 1) / self.epsilon

    def probabilities(self, data: FloatArray) -> FloatArray:
        """Return the probability of each of :meth:`outputs`."""
        points, weights = nodes(sorted({self.threshold, *data.tolist()}), self.threshold_scale)
        density = scipy.stats.laplace.pdf(points, self.threshold, self.threshold_scale) * weights
        below, above = self._beside(points, data)

        def stretch(start: int, end: int) -> float:
            """Return the chance of answers below from `start` on, and of one above at `end` if there is one."""
            last = above[end] if end < len(data) else 1.0
            return float((np.prod(below[start:end], axis=0) * last) @ density)

        found = []
        for places in self.outputs():
            ends = list(places) if len(places) == self.stop else [*places, len(data)]
            starts = [0, *(end + 1 for end in ends[:-1])]
            # nothing follows an answer above at the very end: the empty stretch has chance 1
            found.append(math.prod(stretch(start, end) for start, end in zip(starts, ends, strict=True)))
        return np.array(found)

    def sample(self, data: FloatArray, count: int, rng: np.random.Generator) -> FloatArray:
        """Return `count` outputs, shape (count, 2)."""
        k, number = len(data), self.stop or 1
        noisy = data + rng.laplace(scale=self.answer_scale, size=(count, k))
        places = np.full((count, number), float(k))
        last = np.full((count, 1), -1.0)
        for column in range(number):
            threshold = self.threshold + rng.laplace(scale=self.threshold_scale, size=(count, 1))
            last = _first_places((noisy >= threshold) & (np.arange(k) > last), 1)
            places[:, column] = last[:, 0]
        return places


@dataclass(frozen=True)
class SparseVector3(Entry):
    """Algorithm 3: the noisy answer that was compared is released too.  Broken.

    Threshold 0 + Lap(2 / epsilon), noise Lap(2 / epsilon) on each of five answers, stop at the first above; the
    output is its index and its noisy value.  All answers 0 against all 1.

    Exact loss: index 4 with value v has the density f(v) int_{t <= v} f(t) F(t)^4 dt on the left, and the same
    with f(v - 1) and F(t - 1) on the right.  The value tells that t <= v: for v <= 0 every factor has the full
    ratio exp(epsilon / 2), and nowhere more: 5 epsilon / 2.
    """

    broken_at = "ideal"
    adjacency = "answers"
    source = SOURCE + "3"
    draws = 400_000
    answers: ClassVar[int] = 5

    @property
    def true_epsilon(self) -> float:
        """The loss, which grows with the number of answers."""
        return self.answers * self.epsilon / 2

    def sample(self, data: float, count: int, rng: np.random.Generator) -> FloatArray:
        """Return `count` indices (5 for none) with values (0 for none), shape (count, 2)."""
        threshold = rng.laplace(scale=2 / self.epsilon, size=(count, 1))
        noisy = rng.laplace(data, 2 / self.epsilon, size=(count, self.answers))
        first = _first_places(noisy >= threshold, 1)[:, 0]
        found = first < self.answers
        value = noisy[np.arange(count), np.where(found, first, 0).astype(np.intp)]
        return np.column_stack([first, np.where(found, value, 0.0)])


@dataclass(frozen=True)
class SparseVectorIndex(_SparseVector):
    """Algorithm 4 for one answer above: too little noise on the answers.  Broken.

    Ten answers: all 0 and the last one 1, against all 1 and the last one 0.  Noise Lap(4 / epsilon) on the
    threshold 1/2 and Lap(4 / (3 epsilon)) on each answer.

    Exact loss: at most 7 epsilon / 4 on these inputs.  Shift the noisy threshold by 1 (epsilon / 4) and the noise
    of the answer that is above by 2 (2 x 3 epsilon / 4); the answers below need no shift.  :attr:`true_epsilon`
    is the loss itself, integrated over the threshold.
    """

    broken_at = "ideal"
    source = SOURCE + "4"
    draws = 100_000
    stop = 1
    left = (*[0.0] * 9, 1.0)
    right = (*[1.0] * 9, 0.0)

    @property
    def threshold_scale(self) -> float:
        """Laplace scale on the threshold."""
        return 4 / self.epsilon

    @property
    def answer_scale(self) -> float:
        """Laplace scale on each answer."""
        return 4 / (3 * self.epsilon)


@dataclass(frozen=True)
class SparseVectorNoQueryNoise(Entry):
    """Algorithm 5: noise on the threshold only.  Broken.

    Ten answers, five 0s then five 1s against the reverse; threshold 1/2 + Lap(2 / epsilon); the output is the ten
    comparisons.

    Exact loss: where the noisy threshold is in (0, 1], which has positive probability, the output on one input is
    five 0s then five 1s; on the other it never is.  The loss is infinite.
    """

    broken_at = "ideal"
    adjacency = "answers"
    source = SOURCE + "5"

    @property
    def true_epsilon(self) -> float:
        """Infinite."""
        return math.inf

    def inputs(self) -> tuple[FloatArray, FloatArray]:
        """Return the answers on the two inputs."""
        answers = np.repeat([0.0, 1.0], 5)
        return answers, answers[::-1].copy()

    def sample(self, data: FloatArray, count: int, rng: np.random.Generator) -> FloatArray:
        """Return `count` vectors of comparisons, 1 for at or above, shape (count, 10)."""
        threshold = 0.5 + rng.laplace(scale=2 / self.epsilon, size=(count, 1))
        return (data >= threshold).astype(np.float64)


@dataclass(frozen=True)
class SparseVector6(_SparseVector):
    """Algorithm 6: noise for one answer above, and no stop.  Broken.

    Noise Lap(2 / epsilon) on the threshold 0 and on each of ten answers: all 0, against five 1 and five -1.

    Exact loss: the largest log ratio over the 1024 outputs, integrated over the threshold.  It grows with the
    number of answers: of five answers below and five above, at least one half costs its share at any threshold.
    """

    broken_at = "ideal"
    source = SOURCE + "6"
    threshold = 0.0
    left = (0.0,) * 10
    right = (1.0,) * 5 + (-1.0,) * 5

    @property
    def threshold_scale(self) -> float:
        """Laplace scale on the threshold."""
        return 2 / self.epsilon

    @property
    def answer_scale(self) -> float:
        """Laplace scale on each answer."""
        return 2 / self.epsilon


@dataclass(frozen=True)
class NumericalSparseVector(_SparseVector):
    """Sparse vector that answers the first query above with fresh noise: right.

    Half of epsilon finds the index by Algorithm 1 with c = 1 (Lap(4 / epsilon) on the threshold, Lap(8 / epsilon)
    on each answer), half of it pays for Lap(2 / epsilon) on that answer.

    Exact loss: the value's density ratio is exp(epsilon / 2) to the one side and the other, whatever the index;
    so the loss is epsilon / 2 more than that of the index, which a Gauss rule gives, to 1e-9.
    """

    source = "Dwork and Roth (2014), algorithm 3; " + SOURCE + "1"
    stop = 1
    left = (0.0, 0.0, 0.0, 0.0, 1.0)
    right = (1.0, 1.0, 1.0, 1.0, 0.0)

    @property
    def threshold_scale(self) -> float:
        """Laplace scale on the threshold."""
        return 4 / self.epsilon

    @property
    def answer_scale(self) -> float:
        """Laplace scale on each answer when it is compared."""
        return 8 / self.epsilon

    @property
    def true_epsilon(self) -> float:
        """The loss on these inputs."""
        left, right = (self.probabilities(data) for data in self.inputs())
        losses = np.abs(np.log(left) - np.log(right))
        # the first of outputs() has none above, and no value
        losses[1:] += self.epsilon / 2
        return float(losses.max())

    def sample(self, data: FloatArray, count: int, rng: np.random.Generator) -> FloatArray:
        """Return `count` indices (5 for none) with fresh noisy values (0 for none), shape (count, 2)."""
        first = super().sample(data, count, rng)[:, 0]
        found = first < len(data)
        value = data[np.where(found, first, 0).astype(np.intp)] + rng.laplace(scale=2 / self.epsilon, size=count)
        return np.column_stack([first, np.where(found, value, 0.0)])


@dataclass(frozen=True)
class GapSparseVector(SparseVector1):
    """Sparse vector that also releases how far the first answer is above: right, and the gap is free.

    Algorithm 1 with c = 1; the gap is that between the same noisy answer and the same noisy threshold.

    Exact loss: index i with gap g has the density int f(t) prod_{j < i} F(t - a_j) h(t + g - a_i) dt.  The shifts
    of Algorithm 1 keep the gap, so it is at most epsilon.  On these inputs the largest ratio over a grid of gaps,
    to 1e-4.
    """

    source = "Ding, Wang, Zhang, Kifer, Free gap information (PVLDB 2019)"
    stop = 1
    gaps: ClassVar[FloatArray] = np.concatenate([np.linspace(0, 4, 17), np.geomspace(5, 60, 8)])

    @property
    def true_epsilon(self) -> float:
        """The loss on these inputs."""
        left, right = (self.densities(data, self.gaps) for data in self.inputs())
        none_left, none_right = (self.probabilities(data)[:1] for data in self.inputs())
        return max(largest_log_ratio(left, right), largest_log_ratio(none_left, none_right))

    def densities(self, data: FloatArray, gaps: FloatArray) -> FloatArray:
        """Return the density of each index and gap, shape (6, len(gaps))."""
        found = np.empty((len(data), len(gaps)))
        for column, gap in enumerate(gaps.tolist()):
            kinks = {self.threshold, *data.tolist(), *(data - gap).tolist()}
            points, weights = nodes(sorted(kinks), self.threshold_scale)
            reached = scipy.stats.laplace.pdf(points, self.threshold, self.threshold_scale) * weights
            for index, answer in enumerate(data.tolist()):
                found[index, column] = reached @ scipy.stats.laplace.pdf(points + gap, answer, self.answer_scale)
                reached = reached * scipy.stats.laplace.cdf(points, answer, self.answer_scale)
        return found

    def sample(self, data: FloatArray, count: int, rng: np.random.Generator) -> FloatArray:
        """Return `count` indices (6 for none) with gaps (0 for none), shape (count, 2)."""
        threshold = self.threshold + rng.laplace(scale=self.threshold_scale, size=(count, 1))
        excess = data + rng.laplace(scale=self.answer_scale, size=(count, len(data))) - threshold
        first = _first_places(excess >= 0, 1)[:, 0]
        found = first < len(data)
        gap = excess[np.arange(count), np.where(found, first, 0).astype(np.intp)]
        return np.column_stack([first, np.where(found, gap, 0.0)])
