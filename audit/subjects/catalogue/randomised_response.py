"""Local reports."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from audit.subjects.catalogue.entry import Entry
from reference.common.arrays import FloatArray
from reference.common.errors import ReadingError


@dataclass(frozen=True)
class Rappor(Entry):
    """One report of RAPPOR: permanent randomised bits of a Bloom filter, then instantaneous ones.

    Eight bits, of which a value sets two; the two values set disjoint pairs.  An instantaneous bit is 1 with
    probability 3/4 where the permanent one is 1, and with probability 1/4 elsewhere.  A permanent bit is random
    with probability f, half of the time 1.

    Exact loss: a set bit reports 1 with probability q = f / 2 + (1 - f) 3/4, an unset one with probability
    p = f / 2 + (1 - f) / 4 = 1 - q.  Two bits go from set to unset and two the other way, so the largest ratio is
    (q / (1 - q))^4.  f = 3 - 4 q with q / (1 - q) = exp(epsilon / 4) makes it exp(epsilon).
    """

    source = "Erlingsson, Pihur, Korolova, RAPPOR (CCS 2014), sections 2 and 3"
    adjacency = "any_two"
    bits: ClassVar[int] = 8

    def __post_init__(self) -> None:
        """Reject an epsilon that no f gives."""
        if not 0 <= self.randomised <= 1:
            raise ReadingError("epsilon", self.epsilon, f"between 0 and 4 log 3 = {4 * math.log(3):.4f}")

    @property
    def randomised(self) -> float:
        """The paper's f, between 0 and 1."""
        odds = math.exp(self.epsilon / 4)
        return 3 - 4 * odds / (1 + odds)

    def inputs(self) -> tuple[FloatArray, FloatArray]:
        """Return the Bloom filters of the two values."""
        left, right = np.zeros(self.bits), np.zeros(self.bits)
        left[[0, 3]] = right[[1, 6]] = 1.0
        return left, right

    def sample(self, data: FloatArray, count: int, rng: np.random.Generator) -> FloatArray:
        """Return `count` first reports of a person, shape (count, 8)."""
        shape = (count, self.bits)
        permanent = np.where(rng.random(shape) < self.randomised, rng.integers(0, 2, shape), data)
        return np.asarray((rng.random(shape) < np.where(permanent == 1, 0.75, 0.25)).astype(np.float64))
