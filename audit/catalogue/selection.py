"""Mechanisms that select: noisy maximum and sparse vector, in variants that lose more than they claim.

The two variants of sparse vector are among those that Lyu, Su and Li compare (PVLDB 10(6), 2017).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy.integrate import quad
from scipy.stats import laplace

from audit.events import FloatArray

ANSWERS = 10
THRESHOLD = 0.5


@dataclass(frozen=True)
class NoisyMaxValue:
    """Report noisy maximum that releases the noisy value instead of its index.  Broken.

    Five answers, all 0 against all 1, with Laplace noise of scale 2 / epsilon each; enough for the index.

    Exact loss: P(max <= t) = F(t)^5 on all 0 and F(t - 1)^5 on all 1.  For t <= 0 the ratio is
    exp(epsilon / 2)^5, the largest there is (each factor of the density f F^4 has at most its share), so the
    loss is 5 epsilon / 2.
    """

    epsilon: float = 1.0
    claimed_delta = "0"
    answers = 5

    @property
    def claimed_epsilon(self) -> float:
        """What the mechanism says of itself."""
        return self.epsilon

    @property
    def true_epsilon(self) -> float:
        """What it loses."""
        return self.answers * self.epsilon / 2

    def inputs(self) -> tuple[float, float]:
        """Return the value of all answers on the two inputs."""
        return 0.0, 1.0

    def sample(self, data: float, count: int, rng: np.random.Generator) -> FloatArray:
        """Return `count` noisy maxima, shape (count, 1)."""
        noisy = rng.laplace(data, 2 / self.epsilon, size=(count, self.answers))
        return np.asarray(noisy.max(axis=1, keepdims=True))


@dataclass(frozen=True)
class SparseVectorNoQueryNoise:
    """Sparse vector that perturbs the threshold only.  Broken.

    Ten answers, five 0s then five 1s against the reverse; threshold 1/2 + Lap(2 / epsilon); the output is the ten
    comparisons.

    Exact loss: where the noisy threshold is in (0, 1], which has positive probability, the output on one input is
    five 0s then five 1s; on the other it never is.  The loss is infinite.
    """

    epsilon: float = 1.0
    claimed_delta = "0"

    @property
    def claimed_epsilon(self) -> float:
        """What the mechanism says of itself."""
        return self.epsilon

    @property
    def true_epsilon(self) -> float:
        """Infinite."""
        return math.inf

    def inputs(self) -> tuple[FloatArray, FloatArray]:
        """Return the answers on the two inputs."""
        answers = np.repeat([0.0, 1.0], ANSWERS // 2)
        return answers, answers[::-1].copy()

    def sample(self, data: FloatArray, count: int, rng: np.random.Generator) -> FloatArray:
        """Return `count` vectors of comparisons, 1 for at or above, shape (count, 10)."""
        threshold = THRESHOLD + rng.laplace(scale=2 / self.epsilon, size=(count, 1))
        return (data >= threshold).astype(np.float64)


@dataclass(frozen=True)
class SparseVectorIndex:
    """Sparse vector with too little noise on the answers; the output is the index of the first one above.  Broken.

    Ten answers: all 0 and the last one 1, against all 1 and the last one 0.  Noise Lap(4 / epsilon) on the
    threshold 1/2 and Lap(4 / (3 epsilon)) on each answer.

    Exact loss: at most 7 epsilon / 4 on these inputs.  Shift the noisy threshold by 1 (epsilon / 4) and the noise
    of the answer that is above by 2 (2 x 3 epsilon / 4); the answers below need no shift.  :attr:`true_epsilon`
    is the loss itself, the largest log ratio of an output's probabilities, integrated over the threshold.
    """

    epsilon: float = 1.0
    claimed_delta = "0"

    @property
    def claimed_epsilon(self) -> float:
        """What the mechanism says of itself."""
        return self.epsilon

    @property
    def true_epsilon(self) -> float:
        """The loss, by numerical integration."""
        left, right = (self.probabilities(data) for data in self.inputs())
        return float(np.abs(np.log(left / right)).max())

    def probabilities(self, data: FloatArray) -> FloatArray:
        """Return the probability of each output on one input, shape (11,)."""
        noise, far = laplace(scale=4 / (3 * self.epsilon)), 60 / self.epsilon

        def first_above(index: int) -> float:
            def density(threshold: float) -> float:
                below = float(np.prod(noise.cdf(threshold - data[:index])))
                above = noise.sf(threshold - data[index]) if index < ANSWERS else 1.0
                return float(laplace.pdf(threshold, THRESHOLD, 4 / self.epsilon) * below * above)

            return float(quad(density, -far, far, points=[0.0, THRESHOLD, 1.0], limit=200, epsabs=1e-13)[0])

        return np.array([first_above(index) for index in range(ANSWERS + 1)])

    def inputs(self) -> tuple[FloatArray, FloatArray]:
        """Return the answers on the two inputs."""
        answers = np.zeros(ANSWERS)
        answers[-1] = 1.0
        return answers, 1.0 - answers

    def sample(self, data: FloatArray, count: int, rng: np.random.Generator) -> FloatArray:
        """Return `count` indices of the first answer above, 10 for none, shape (count, 1)."""
        threshold = THRESHOLD + rng.laplace(scale=4 / self.epsilon, size=(count, 1))
        above = data + rng.laplace(scale=4 / (3 * self.epsilon), size=(count, ANSWERS)) >= threshold
        first = np.where(above.any(axis=1), above.argmax(axis=1), ANSWERS)
        return first[:, None].astype(np.float64)
