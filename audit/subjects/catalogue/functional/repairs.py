"""Repairs of an indefinite quadratic: those that read noisy coefficients only, and those that read the data."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from audit.exact.neighbours import Neighbours
from audit.subjects.catalogue.entry import Level
from audit.subjects.catalogue.functional.calibrated import Functional, NoisyObjective, explicit
from audit.subjects.releases import minimisers
from reference.coefficients import NoisyCoefficients
from reference.common.arrays import FloatArray
from reference.objective import layout
from reference.readings import Readings
from reference.sensitivity import Setting

TRIMMED = Readings(fairness="absolute", sensitivity="exact", repair="trim")


@dataclass(frozen=True)
class TrimmedWeights(Functional):
    """w without the eigenvectors of nonpositive noisy eigenvalues: right, as post-processing.

    A hundred records at (1, 0), of which one moves to (0, 1).

    Loss: at most that of the noisy coefficients, since w is computed from them.  How much less is unknown.
    """

    source = "claim A.fix; Zhang et al., Functional mechanism (PVLDB 2012), section 6"
    loss_is_exact = False
    readings = TRIMMED

    @cached_property
    def neighbours(self) -> Neighbours:
        """One of a hundred records moves from the first axis to the second."""
        shared = [((1.0, 0.0), 0, 0, 99)]
        return explicit(self.setting, shared, [((1.0, 0.0), 0, 0, 1)], [((0.0, 1.0), 0, 0, 1)])

    def sample(self, data: FloatArray, count: int, rng: np.random.Generator) -> FloatArray:
        """Return `count` minimisers, shape (count, 2)."""
        noisy = super().sample(data, count, rng)
        return minimisers(noisy, self.noise, layout(self.domain, self.readings), self.readings)


@dataclass(frozen=True)
class TrimmedOnExactEigenvalues(TrimmedWeights):
    """w without the eigenvectors of zero *exact* eigenvalues.  Broken.

    Exact loss: on the left all records are on the first axis, so the second eigenvalue is 0 and w_2 is exactly 0;
    on the right it is 1/8 and w_2 has a density.  Infinite.
    """

    broken_at = "ideal"
    source = "claim A.fix: the choice of what to drop must not read the data"
    loss_is_exact = True

    @property
    def true_epsilon(self) -> float:
        """Infinite."""
        return math.inf

    @property
    def mended(self) -> NoisyObjective:
        """The same with the noisy eigenvalues."""
        return TrimmedWeights(self.epsilon)

    def sample(self, data: FloatArray, count: int, rng: np.random.Generator) -> FloatArray:
        """Return `count` minimisers within the eigenvectors that the exact quadratic keeps."""
        public = layout(self.domain, self.readings)
        exact = NoisyCoefficients(public, data, self.noise).quadratic
        eigenvalues, eigenvectors = np.linalg.eigh((exact + exact.T) / 2)
        kept = eigenvectors[:, eigenvalues > 1e-9]
        noisy = Functional.sample(self, data, count, rng)
        quadratic = np.zeros((count, 2, 2))
        quadratic[(slice(None), *public.pairs)] = noisy[:, 2:]
        inside = kept.T @ (quadratic + quadratic.swapaxes(1, 2)) / 2 @ kept
        # w_hat <- -V (V'SV)^{-1} V'c / 2
        solution = np.linalg.solve(inside, -(noisy[:, :2] @ kept)[..., None] / 2)[..., 0]
        return np.asarray(solution @ kept.T)


@dataclass(frozen=True)
class RetriedUntilDefinite(Functional):
    """Noise drawn again until the noisy quadratic is positive definite.  Broken.

    d = 1, without fairness term; neighbours add or remove a record: one record at 0, against that and one at 1.
    The exact Delta_1 is 1/2 + 1/8, which this pair attains.

    Exact loss: the released density is that of the noisy coefficients divided by the chance of a positive square,
    1/2 on the left and 1 - exp(-epsilon / 5) / 2 on the right (1/8 is epsilon / 5 scales).  At a square just above
    0 the left density is the larger one by exp(epsilon), and the divisors add log(2 - exp(-epsilon / 5)).
    """

    broken_at: ClassVar[Level | None] = "ideal"
    source = "claim A.fix: resampling until the objective is bounded"
    adjacency = "add_or_remove_one"
    epsilon: float = 4.0
    draws = 1_000_000
    readings = Readings(fairness="none", sensitivity="exact", repair="none", adjacency="add_or_remove_one")
    setting = Setting(1, "none", "unit_box", "add_or_remove_one", records=2)

    @cached_property
    def neighbours(self) -> Neighbours:
        """One record more on the right."""
        return explicit(self.setting, [((0.0,), 0, 0, 1)], [], [((1.0,), 0, 0, 1)])

    @property
    def true_epsilon(self) -> float:
        """The loss of the noisy coefficients, and the log ratio of the two divisors."""
        return float(self.neighbours.loss(self.noise)) + math.log(2 - math.exp(-0.125 / self.noise.scale_n))

    def sample(self, data: Any, count: int, rng: np.random.Generator) -> FloatArray:
        """Return `count` noisy coefficient vectors with a positive square."""
        released = super().sample(data, count, rng)
        while (again := released[:, 1] <= 0).any():
            released[again] = super().sample(data, int(again.sum()), rng)
        return released


@dataclass(frozen=True)
class RetriedUntilDefiniteWithSlack(RetriedUntilDefinite):
    """:class:`RetriedUntilDefinite` with the published constant 5/4: right, by the constant's slack only.

    For all neighbours, of any number of records: a record moves the coefficients by at most 5/8 together, and the
    square by at most 1/8.  The divisor is a probability under the noise of the square alone, so it changes by at
    most the factor exp(1/8 / scale).  Together at most (5/8 + 1/8) / (5/4) = 3/5 epsilon.

    Exact loss: on the same pair epsilon / 2 + log(2 - exp(-epsilon / 10)), which is 2.2849 for epsilon = 4.
    """

    broken_at = None
    draws = 40_000
    readings = Readings(fairness="none", repair="none", adjacency="add_or_remove_one")
