"""A search for a pair, and a sum with too little noise where one record is rare."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from audit.auditor.choose import Prospect
from audit.auditor.distinguish import silent
from audit.subjects.search import Effort, Vectors, search, searchable


def find(subject: Any, draws: int, seed: int = 0, progress: Any = silent, **choices: Any):
    """Search a subject for the pair of neighbours that tells most."""
    subject, neighbourhood = searchable(subject)
    return search(
        subject,
        neighbourhood,
        Effort(draws, **choices),
        Prospect(draws, 0.0, 0.05),
        np.random.default_rng([seed, 1]),
        progress,
    )


@dataclass(frozen=True)
class NoisySum:
    """The sum of numbers in [0, 1] of which one changes; Laplace noise of scale 1 loses at most 1.

    Broken at one corner only, if there is a `secret` one: there the noise has a tenth of its scale.
    """

    secret: tuple[float, ...] | None = None
    neighbourhood = Vectors(3, norm="l1")
    claimed_epsilon = 1.0

    def inputs(self):
        """Return a pair at which nothing is broken."""
        return np.zeros(3), np.array([1.0, 0.0, 0.0])

    def sample(self, data, count, rng):
        """Return noisy sums."""
        scale = 0.1 if self.secret is not None and tuple(data) == self.secret else 1.0
        return data.sum() + rng.laplace(scale=scale, size=(count, 1))
