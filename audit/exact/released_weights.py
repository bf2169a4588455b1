"""Decide whether ADFC's released w keeps Theorem 5.

The coefficients that a release perturbs are not published: w = arg min of the noisy objective is.  Here many
records are spread over the coordinates so that the noisy quadratic is positive definite almost surely, no repair
is needed, and w_s still shows one record's change of the linear coefficient of w_s.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass
from typing import Any

import numpy as np

from audit.bounds import lower_bound_on_probability, upper_bound_on_probability
from audit.exact.data_sets import Repeated
from audit.exact.neighbours import Neighbours
from reference.accounting import PrivacyStatement
from reference.budgets import SplitBudget
from reference.common.arrays import BoolArray, FloatArray
from reference.common.documents import plain
from reference.common.errors import ReadingError
from reference.common.numbers import decimal_text
from reference.domain import Domain
from reference.noise import Noise, add_noise, draw
from reference.objective import objective
from reference.readings import Readings
from reference.records import check_matrix
from reference.registry import MECHANISMS

READINGS = Readings(fairness="absolute", repair="none")
SIGNIFICANCE = 1e-6
SMALLEST_SHARE_WITH_MINIMUM = 0.99
EVENT = "the noisy objective has a minimum and w[x1] < threshold"
BLOCK = 20_000
"""Draws processed at a time."""


def spread_neighbours(domain: Domain, records: int, share: float) -> Neighbours:
    """Return neighbouring data sets whose quadratic is large in every direction.

    A share of the records lies at e_1, the first coordinate being x_s; the others lie evenly at the other unit
    vectors.  All have z = 0, and half of them y = 1, so that the linear coefficients cancel and w is near 0.
    The record that differs lies at e_1: (y, z) = (1, 0) on the left, (0, 1) on the right.

    Parameters
    ----------
    domain : Domain
    records : int
        N.
    share : float
        In (0, 1).
    """
    d = domain.dimension
    each = round(records * (1 - share) / (2 * max(d - 1, 1))) if d > 1 else 0
    at_s = records - 1 - 2 * each * (d - 1)
    if at_s < 2 or (d > 1 and each < 1):
        raise ReadingError("records", records, f"enough for every coordinate of {d} at share {share}")
    rows = [(0, 0, 0, at_s // 2), (0, 1, 0, at_s - at_s // 2)]
    rows += [(e, y, 0, each) for e in range(1, d) for y in (0, 1)]

    def data(y: int, z: int) -> Repeated:
        all_rows = [*rows, (0, y, z, 1)]
        x = np.eye(d)[[row[0] for row in all_rows]]
        distinct = check_matrix(domain, x, [row[1] for row in all_rows], [row[2] for row in all_rows])
        return Repeated(distinct, tuple(row[3] for row in all_rows))

    return Neighbours(data(1, 0), data(0, 1), READINGS)


def released_weights(values: FloatArray, noise: Noise, dimension: int) -> tuple[FloatArray, BoolArray]:
    """Minimise many noisy objectives: w = -S^{-1} c / 2, and whether S is positive definite.

    The vectorised form of :func:`reference.minimiser.minimise` without repair; a test compares them.

    Parameters
    ----------
    values : ndarray, shape (count, size)
        Noisy coefficients in the monomial basis.
    noise : Noise
        Only its size is used.
    dimension : int
    """
    d = dimension
    if values.shape[1] != noise.in_s.size:
        raise ValueError("values and noise belong to different layouts")
    rows, columns = np.triu_indices(d)
    symmetric = np.zeros((len(values), d, d))
    half = np.where(rows == columns, 1.0, 0.5) * values[:, d:]
    symmetric[:, rows, columns] = half
    symmetric[:, columns, rows] = half
    definite = np.linalg.eigvalsh(symmetric)[:, 0] > 0
    w = np.full((len(values), d), np.nan)
    w[definite] = np.linalg.solve(symmetric[definite], -values[definite, :d, None] / 2)[..., 0]
    return w, definite


LARGEST_EPSILON = 700
"""exp of more is not a float."""


@dataclass(frozen=True)
class Side:
    """Counts on one data set."""

    draws: int
    with_minimum: int
    event: int


@dataclass(frozen=True, eq=False)
class WeightsResult:
    """The finding about the released weights.

    Parameters
    ----------
    neighbours : Neighbours
    claim : PrivacyStatement
    threshold : float
        The event is "w exists and w_s < threshold".
    left, right : Side
    significance : float
    seconds : float
    """

    neighbours: Neighbours
    claim: PrivacyStatement
    threshold: float
    left: Side
    right: Side
    significance: float
    seconds: float

    @property
    def delta_lower_bound(self) -> float:
        """Lower bound on P_right(event) - exp(epsilon) P_left(event).

        The verdict rests on this and on :attr:`minimum_lower_bound`: four bounds in all, each at a quarter of the
        significance.
        """
        low = lower_bound_on_probability(self.right.event, self.right.draws, self.significance / 4)
        high = upper_bound_on_probability(self.left.event, self.left.draws, self.significance / 4)
        if self.claim.epsilon > LARGEST_EPSILON:
            return -1.0
        return low - math.exp(float(self.claim.epsilon)) * high

    @property
    def minimum_lower_bound(self) -> float:
        """Lower bound on the probability that the noisy quadratic is positive definite, on either side."""
        sides = (self.left, self.right)
        return min(lower_bound_on_probability(s.with_minimum, s.draws, self.significance / 4) for s in sides)

    @property
    def verdict(self) -> str:
        """`refuted`, `not refuted`, or `undecided` if a minimum is too rare."""
        if self.minimum_lower_bound < SMALLEST_SHARE_WITH_MINIMUM:
            return "undecided"
        return "refuted" if self.delta_lower_bound > float(self.claim.delta) else "not refuted"

    def to_json(self) -> dict[str, Any]:
        """Return the counts and what they prove."""
        return {
            "mechanism": "adfc",
            "claim": self.claim.claim,
            "claimed_epsilon": decimal_text(self.claim.epsilon),
            "claimed_delta": decimal_text(self.claim.delta),
            "delta_lower_bound": self.delta_lower_bound,
            "minimum_lower_bound": self.minimum_lower_bound,
            "significance": self.significance,
            "draws": self.left.draws + self.right.draws,
            "seconds": self.seconds,
            "verdict": self.verdict,
            "witness": {
                **self.neighbours.to_json(),
                "event": {
                    "what": EVENT,
                    "threshold": self.threshold,
                },
                "counts": {"left": vars(self.left), "right": vars(self.right)},
            },
            "readings": plain(READINGS),
        }


def weights_result(
    neighbours: Neighbours,
    budget: SplitBudget,
    *,
    draws: int,
    rng: np.random.Generator,
    significance: float = SIGNIFICANCE,
    noise_factor: float = 1.0,
) -> WeightsResult:
    """Draw ADFC's released w on both data sets and bound the delta that they show at the claimed epsilon.

    Claims: T5.

    Parameters
    ----------
    neighbours : Neighbours
        Of :func:`spread_neighbours`; x_s is the first coordinate.
    budget : SplitBudget
    draws : int
        On each side.
    rng : numpy.random.Generator
    significance : float
        Chance that the bound is wrong; half for each side.
    noise_factor : float
        1 is the mechanism; less is a broken one, for the control.
    """
    start = time.perf_counter()
    domain = neighbours.left.domain
    spec = MECHANISMS["adfc"]
    claim = spec.formula(domain, budget, READINGS)
    right_noise = spec.noise(domain, budget, READINGS, 0)
    noise = Noise(
        "gaussian", right_noise.scale_s * noise_factor, right_noise.scale_n * noise_factor, right_noise.in_s
    )
    values = [objective(side.moments, READINGS).values for side in (neighbours.left, neighbours.right)]
    threshold = event_threshold(values[0], values[1], noise, float(claim.epsilon), domain.dimension)
    left, right = (_count(side, noise, domain.dimension, threshold, draws, rng) for side in values)
    seconds = round(time.perf_counter() - start, 3)
    return WeightsResult(neighbours, claim, threshold, left, right, significance, seconds)


def event_threshold(left: FloatArray, right: FloatArray, noise: Noise, epsilon: float, dimension: int) -> float:
    """Return the w_s below which the right data set is more than exp(epsilon) times as likely, for w near 0.

    There w_s = -(c_s + noise)/(2 S_ss) up to terms of the order of w, so the best event is that of the linear
    coefficient alone: c_s above its left value by sigma_s (epsilon/mu + mu/2).  It does not depend on draws.
    """
    mu = float(right[0] - left[0]) / noise.scale_s
    largest = float(left[0]) + noise.scale_s * (epsilon / mu + mu / 2)
    return -largest / (2 * float(left[dimension]))


def _count(
    values: FloatArray, noise: Noise, dimension: int, threshold: float, draws: int, rng: np.random.Generator
) -> Side:
    with_minimum = event = 0
    for start in range(0, draws, BLOCK):
        noisy = add_noise(values, noise, draw(noise, rng, min(BLOCK, draws - start)))
        w, definite = released_weights(noisy, noise, dimension)
        with_minimum += int(definite.sum())
        event += int((w[definite, 0] < threshold).sum())
    return Side(draws, with_minimum, event)
