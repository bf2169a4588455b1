"""The repaired mechanism behind the interface of the vectors: one method a step."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import TypeAlias, cast

import numpy as np

from reference.budgets import Budget
from reference.common.arrays import BoolArray, FloatArray
from reference.domain import Domain
from reference.domain.attributes import Attribute, Binned, Numeric, OneHot
from reference.repaired import Schedule, descent, schedule_of, sums
from reference.repaired.account import Account
from reference.repaired.algorithm import noisy_share
from reference.repaired.curator import Curator, planned_scale
from reference.repaired.expected import expected_difference
from reference.repaired.model import margins
from reference.repaired.spent import Change, Spent
from reference.repaired.threshold import Probe, Root

Curve: TypeAlias = tuple[FloatArray, FloatArray, BoolArray]
"""The log odds of each record, the weight of its group, and membership in group 1."""

Pair: TypeAlias = tuple[FloatArray, FloatArray]
"""The noisy gradients before and after a step."""


class _Told:
    """Takes the place of a curator: its noise deviates as told, and it releases given numbers."""

    def __init__(self, noisy: float, deviation: float) -> None:
        self._noisy, self._deviation = noisy, deviation

    def deviation(self, *_: object) -> float:
        """Return the deviation."""
        return self._deviation

    def release(self, *_: object) -> FloatArray:
        """Return the number."""
        return np.array([self._noisy])


class RepairedSteps:
    """The repaired mechanism, step by step."""

    def record_change(self, name: str, domain: Domain, zbar: Fraction) -> Change:
        """Return how far one record can change a released sum."""
        if name == "imbalance":
            return sums.imbalance_change(zbar)
        if name == "group_count":
            return sums.GROUP_COUNT_CHANGE
        return sums.gradient_change(domain) if name == "gradient" else sums.label_sums_change(domain)

    def planned_scale(self, budget: Budget, change: Change, share: Fraction) -> float:
        """Return the scale of the noise for a share of a budget."""
        return planned_scale(budget, change, share)

    def schedule(self, domain: Domain, n: int, budget: Budget, fairness: str) -> Schedule:
        """Return how a budget is divided."""
        return schedule_of(domain, n, budget, fairness)

    def loss(self, budget: Budget, changes: Sequence[Change], scales: Sequence[float]) -> Fraction:
        """Return what releases lose together."""
        spent = (Spent("", Fraction(0), *one, 1) for one in zip(changes, scales, strict=True))
        return Account(budget, tuple(spent), hardened=False).loss

    def label_sums(self, x: FloatArray, target: FloatArray) -> FloatArray:
        """Return the sums by label."""
        return sums.label_sums(x, target).astype(np.float64)

    def gradient(self, x: FloatArray, target: FloatArray, w: FloatArray) -> FloatArray:
        """Return the gradient of the capped loss."""
        return sums.gradient(x, target, w).astype(np.float64)

    def first_gradient(self, counts: FloatArray) -> FloatArray:
        """Return the gradient at 0 from the noisy sums by label."""
        return descent.first_gradient(counts)

    def second_moments(self, counts: FloatArray, domain: Domain, n: int) -> FloatArray:
        """Return the second moments of independent attributes."""
        return descent.independent_second_moments(counts, domain, n)

    def preconditioner(self, second_moments: FloatArray, deviation: float, domain: Domain) -> FloatArray:
        """Return the inverse curvature."""
        return descent.preconditioner(second_moments, deviation, domain)

    def overshot(
        self,
        taken: FloatArray,
        gradients: Pair,
        deviations: tuple[float, float],
        inverse_curvature: FloatArray,
        second_moments: FloatArray,
    ) -> bool:
        """Return whether a step went too far."""
        return descent.overshot(taken, gradients, deviations, inverse_curvature, second_moments)

    def averaged(self, iterates: Sequence[FloatArray]) -> FloatArray:
        """Return the weights from the iterates."""
        return descent.averaged(iterates)

    def share_of_group(self, noisy_count: float, deviation: float, n: int) -> Fraction:
        """Return the released share of group 1, from a count whose noise has this deviation."""
        return noisy_share(np.zeros(n), cast("Curator", _Told(noisy_count, deviation)), Fraction(1))

    def imbalance(self, z: FloatArray, prediction: BoolArray, zbar: Fraction) -> Fraction:
        """Return the sum that a probe releases."""
        found: Fraction = sums.imbalance(z, prediction, zbar)[0]
        return found

    def margins(
        self, w: FloatArray, v: FloatArray | None, zbar: float, x: FloatArray, z: FloatArray | None
    ) -> tuple[FloatArray, FloatArray]:
        """Return the case for a record, and the effect of its group."""
        return margins(w, v, zbar, x, z)

    def next_multiplier(self, probes: Sequence[Probe], slack: float, curve: Curve) -> float:
        """Return the multiplier after some probes."""
        return Root(probes, slack, expected_difference(*curve)).next()


def cells_domain(widths: Sequence[int], norm: str, *, intercept: bool, bins: Sequence[int] = ()) -> Domain:
    """Return a domain of attributes with these numbers of columns.

    One column is a plain number.  Of several, so many are bins of a number, and one more is for missing values;
    without bins they are categories.
    """
    own = [_cells(f"x{i}", *one) for i, one in enumerate(zip(widths, bins or [0] * len(widths), strict=True))]
    return Domain(tuple(own), "y", "z", norm=norm, intercept=intercept)


def _cells(name: str, width: int, bins: int) -> Attribute:
    if width == 1:
        return Numeric(name, 0.0, 1.0)
    if not bins:
        return OneHot(name, tuple(range(width)))
    edges = tuple(range(1, bins))
    if width > bins:
        return Binned(name, 0, bins, edges=edges, missing="own_bin")
    return Binned(name, 0, bins, edges=edges)
