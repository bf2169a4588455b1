"""Noisy maximum: five answers, each of which may change by 1."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import scipy
from scipy.special import softmax

from audit.subjects.catalogue.entry import Entry
from audit.subjects.catalogue.quadrature import largest_log_ratio, nodes
from reference.common.arrays import FloatArray


class _NoisyMaxIndex(Entry):
    """Index of the largest of five noisy answers, noise of scale 2 / epsilon: right.

    The first answer falls from 1 to 0 while the other four rise from 0 to 1.
    """

    adjacency = "answers"
    source = "Dwork and Roth (2014), section 3.3, report noisy max"

    @property
    def true_epsilon(self) -> float:
        """The loss on these inputs."""
        left, right = (self.probabilities(data) for data in self.inputs())
        return largest_log_ratio(left, right)

    @abstractmethod
    def probabilities(self, data: FloatArray) -> FloatArray:
        """Return the probability of each index, shape (5,)."""

    @abstractmethod
    def noise(self, shape: tuple[int, int], rng: np.random.Generator) -> FloatArray:
        """Return unit noise."""

    def inputs(self) -> tuple[FloatArray, FloatArray]:
        """Return the answers on the two inputs."""
        answers = np.array([1.0, 0.0, 0.0, 0.0, 0.0])
        return answers, 1 - answers

    def sample(self, data: FloatArray, count: int, rng: np.random.Generator) -> FloatArray:
        """Return `count` indices, shape (count, 1)."""
        noisy = data + self.noise((count, len(data)), rng) * (2 / self.epsilon)
        winner: FloatArray = noisy.argmax(axis=1)[:, None].astype(np.float64)
        return winner


@dataclass(frozen=True)
class NoisyMaxIndexLaplace(_NoisyMaxIndex):
    """Report noisy maximum with Laplace noise.

    Exact loss: P(i) is the integral of f(t - a_i) prod F(t - a_j) over t; by a Gauss rule, to 1e-9.  It is at most
    epsilon: fix the noise of the others, and move that of i by 2.
    """

    def probabilities(self, data: FloatArray) -> FloatArray:
        """Return the probability of each index, shape (5,)."""
        return _winners(scipy.stats.laplace(scale=2 / self.epsilon), data, 2 / self.epsilon)

    def noise(self, shape: tuple[int, int], rng: np.random.Generator) -> FloatArray:
        """Return Laplace variates."""
        return rng.laplace(size=shape)


@dataclass(frozen=True)
class NoisyMaxIndexExponential(_NoisyMaxIndex):
    """Report noisy maximum with exponential noise, which is permute-and-flip.

    Exact loss: P(i) as for :class:`NoisyMaxIndexLaplace` with the exponential density; at most epsilon.
    """

    source = (
        "McKenna and Sheldon, Permute-and-flip (NeurIPS 2020); Ding et al., arXiv 2105.07260, on their equality"
    )

    def probabilities(self, data: FloatArray) -> FloatArray:
        """Return the probability of each index, shape (5,)."""
        return _winners(scipy.stats.expon(scale=2 / self.epsilon), data, 2 / self.epsilon)

    def noise(self, shape: tuple[int, int], rng: np.random.Generator) -> FloatArray:
        """Return exponential variates."""
        return rng.exponential(size=shape)


@dataclass(frozen=True)
class NoisyMaxIndexGumbel(_NoisyMaxIndex):
    """Report noisy maximum with Gumbel noise, which is the exponential mechanism.

    Exact loss: P(i) is proportional to exp(epsilon a_i / 2), so on these inputs the first index loses
    log(e (1 + 4 e) / (e + 4)) with e = exp(epsilon / 2): less than epsilon.
    """

    source = "Dwork and Roth (2014), section 3.4"

    def probabilities(self, data: FloatArray) -> FloatArray:
        """Return the probability of each index, shape (5,)."""
        return np.asarray(softmax(self.epsilon * data / 2))

    def noise(self, shape: tuple[int, int], rng: np.random.Generator) -> FloatArray:
        """Return Gumbel variates."""
        return rng.gumbel(size=shape)


def _winners(noise: object, data: FloatArray, scale: float) -> FloatArray:
    points, weights = nodes(sorted(set(data.tolist())), scale)
    cdfs = np.array([noise.cdf(points - answer) for answer in data])  # type: ignore[attr-defined]
    pdfs = np.array([noise.pdf(points - answer) for answer in data])  # type: ignore[attr-defined]
    others = [np.prod(np.delete(cdfs, index, axis=0), axis=0) for index in range(len(data))]
    return np.array([(pdf * other) @ weights for pdf, other in zip(pdfs, others, strict=True)])


@dataclass(frozen=True)
class NoisyMaxValue(Entry):
    """Report noisy maximum that releases the noisy value instead of its index.  Broken.

    Five answers, all 0 against all 1, with Laplace noise of scale 2 / epsilon each; enough for the index.

    Exact loss: P(max <= t) = F(t)^5 on all 0 and F(t - 1)^5 on all 1.  For t <= 0 the ratio is
    exp(epsilon / 2)^5, the largest there is (each factor of the density f F^4 has at most its share), so the
    loss is 5 epsilon / 2.
    """

    broken_at = "ideal"
    adjacency = "answers"
    source = "Dwork and Roth (2014), section 3.3, report noisy max: it returns the index only"
    answers: ClassVar[int] = 5
    draws = 100_000

    @property
    def true_epsilon(self) -> float:
        """The exact loss."""
        return self.answers * self.epsilon / 2

    def sample(self, data: float, count: int, rng: np.random.Generator) -> FloatArray:
        """Return `count` noisy maxima, shape (count, 1)."""
        noisy = rng.laplace(data, 2 / self.epsilon, size=(count, self.answers))
        return np.asarray(noisy.max(axis=1, keepdims=True))
