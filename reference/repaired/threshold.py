"""Which multiplier makes predictions fair, from released probes and public noise: post-processing."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from reference.common.arrays import FloatArray
from reference.repaired.expected import LARGEST_MULTIPLIER, bracket

TRUSTED = 0.3
"""A probe is trusted like a noisy one at this share of its distance from the target."""

PRIOR_ERROR, PRIOR_SCALE = 0.2, 0.7
"""Assumed errors of the expected curve: of its level, and of its steepness as a share."""

FLATTEST, STEEPEST = 0.3, 4.0
"""Limits of the scale by which the true curve differs from the expected one."""

LEAST_VARIANCE = 1e-12
"""Least variance of a probe: the equations then have a solution whatever the budget is."""

WORTH = 2.0
"""Accuracy that a unit of difference between groups is worth in the end, both by forecast.

It is a judgement: constants are compared by accuracy less difference, which takes it for 1.  At 1, fits of US gave
up a parity that their probes had shown.
"""

SHOWN = 2.0
"""Probes show a smaller difference if it fell by this many standard deviations of the noise."""


class Probe(NamedTuple):
    """One released risk difference."""

    multiplier: float
    difference: float
    noise: float


class Root:
    """The multiplier at which the risk difference is estimated to be the slack.

    Parameters
    ----------
    probes : sequence of Probe
        At least one, the first at 0; a difference is signed, and its noise the standard deviation.
    slack : float
        Tolerated risk difference.
    expected : callable
        The curve that earlier releases predict; it falls.
    free : float
        Multipliers up to here need no probe to show their effect.
    cost : callable
        The accuracy that earlier releases expect a multiplier to cost; nothing unless given.
    """

    def __init__(
        self,
        probes: Sequence[Probe],
        slack: float,
        expected: Callable[[float], float],
        free: float = LARGEST_MULTIPLIER,
        cost: Callable[[float], float] = lambda _: 0.0,
    ) -> None:
        self._multipliers, differences, self._noise = (np.array(column) for column in zip(*probes, strict=True))
        self._found = np.clip(differences, -1.0, 1.0)
        # fairness is approached from the side of the first probe, and never overshot on purpose
        self._level = float(np.sign(self._found[0]) * min(slack, abs(self._found[0])))
        self._expected, self._free, self._cost, self._slack = expected, free, cost, slack
        self._curve = np.array([expected(multiplier) for multiplier in self._multipliers.tolist()])
        self._error, self._scale = self._fitted()

    def next(self) -> float:
        """Return where to probe next: at most twice a multiplier that was shown to help."""
        return self._crossing(2.0)

    def best(self) -> float:
        """Choose the final multiplier: 0 if probes show it to be tolerated, else what is fairest for its cost.

        That is the crossing or a probe: if few rows are distinct, a step of the true curve may lie between them.
        If guesses of the group are mostly noise, probes tell far multipliers apart by their noise alone.
        """
        difference, variance = self.estimate(0.0)
        if min(1.0, abs(difference) + SHOWN * math.sqrt(variance)) <= self._slack:
            return 0.0

        def lost(multiplier: float) -> float:
            estimate, variance = self.estimate(multiplier)
            return WORTH * math.sqrt((estimate - self._level) ** 2 + variance) + self._cost(multiplier)

        places: tuple[float, ...] = (self._crossing(1.0), *self._multipliers.tolist())
        return min(places, key=lost)

    def wanted(self) -> float:
        """Return where the corrected curve crosses the level."""
        sides = bracket(self._expected, (self._level - self._error) / self._scale)
        # where the expected curve has a step, its better side
        return min(sides, key=lambda multiplier: abs(self.estimate(multiplier)[0] - self._level))

    def allowed(self, reach: float = 1.0) -> float:
        """Return the largest multiplier that is free, or so many times one that was shown to help."""
        misses = np.abs(self._found - self._level)
        shown = misses[0] - misses > SHOWN * math.sqrt(2) * self._noise
        return float(max([self._free, *(reach * np.abs(self._multipliers[shown]))]))

    def estimate(self, multiplier: float, wary: float = TRUSTED) -> tuple[float, float]:
        """Return the risk difference at a multiplier, and its variance: of probes carried along the curve."""
        moved = self._scale * (self._expected(multiplier) - self._curve)
        estimate, variance = carried(self._found, self._noise, moved, wary)
        return float(estimate), float(variance)

    def _crossing(self, reach: float) -> float:
        """Return where the corrected curve crosses the level, as far as probes allow."""
        allowed = self.allowed(reach)
        return float(np.clip(self.wanted(), -allowed, allowed))

    def _fitted(self) -> tuple[float, float]:
        """Return a and b of the risk difference a + b times the expected curve.

        Every probe observes it; a and b are posterior means, with normal priors around 0 and 1.
        """
        found, curve = self._found, self._curve
        precision = 1 / (self._noise**2 + (TRUSTED * (found - self._level)) ** 2 + LEAST_VARIANCE)
        # posterior of (a, b - 1): found - curve = a + (b - 1) curve + noise
        design = np.column_stack([np.ones(len(curve)), curve])
        information = design.T @ (design * precision[:, None]) + np.diag([PRIOR_ERROR**-2, PRIOR_SCALE**-2])
        _, steeper = np.linalg.solve(information, design.T @ (precision * (found - curve)))
        scale = float(np.clip(1 + steeper, FLATTEST, STEEPEST))
        # where b moved to a limit, the level follows
        return float((precision * (found - scale * curve)).sum() / (precision.sum() + PRIOR_ERROR**-2)), scale


def carried(
    found: FloatArray, noise: FloatArray, moved: FloatArray, wary: float = TRUSTED
) -> tuple[FloatArray, FloatArray]:
    """Return the mean of probes carried to another place, and its variance.

    Parameters
    ----------
    found, noise : ndarray, shape (probes, ...)
    moved : ndarray, shape (probes, ...)
        What is expected to change from each probe to that place: the farther, the less the probe is trusted.
    wary : float
        Share of that change that counts as one more standard deviation.
    """
    precision = 1 / (noise**2 + (wary * moved) ** 2 + LEAST_VARIANCE)
    total = precision.sum(axis=0)
    return (precision * (found + moved)).sum(axis=0) / total, 1 / total
