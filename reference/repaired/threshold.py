"""Where to look next for the multiplier that makes predictions fair: post-processing of released probes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from reference.repaired.expected import crossing

TRUSTED = 0.3
"""A probe is trusted like a noisy one when it is this share of its distance from the target away."""

PRIOR_ERROR, PRIOR_SCALE = 0.2, 0.7
"""How far the expected curve is thought to be off: its level, and its steepness as a share."""

FLATTEST, STEEPEST = 0.3, 4.0


class Probe(NamedTuple):
    """One released risk difference."""

    multiplier: float
    difference: float
    noise: float


def next_multiplier(probes: Sequence[Probe], slack: float, expected: Callable[[float], float]) -> float:
    """Return the multiplier at which the risk difference is estimated to be the slack.

    The model of the risk difference is a + b times the expected curve.  Every probe (multiplier, noisy signed risk
    difference) observes it; a and b are posterior means, with normal priors around 0 and 1.

    Parameters
    ----------
    probes : sequence of Probe
        At least one; a difference is signed, and its noise the standard deviation.
    slack : float
        Risk difference that is tolerated.
    expected : callable
        The curve that earlier releases predict; it falls.
    """
    multipliers, differences, noise = (np.array(column) for column in zip(*probes, strict=True))
    found = np.clip(differences, -1.0, 1.0)
    # fairness is approached from the side of the first probe, and never overshot on purpose
    level = float(np.sign(found[0]) * min(slack, abs(found[0])))
    curve = np.array([expected(multiplier) for multiplier in multipliers.tolist()])
    precision = 1 / (noise**2 + (TRUSTED * (found - level)) ** 2 + 1e-12)
    # posterior of (a, b - 1): found - curve = a + (b - 1) curve + noise
    design = np.column_stack([np.ones(len(curve)), curve])
    information = design.T @ (design * precision[:, None]) + np.diag([PRIOR_ERROR**-2, PRIOR_SCALE**-2])
    error, steeper = np.linalg.solve(information, design.T @ (precision * (found - curve)))
    scale = float(np.clip(1 + steeper, FLATTEST, STEEPEST))
    # where b moved to a limit, the level follows
    error = float((precision * (found - scale * curve)).sum() / (precision.sum() + PRIOR_ERROR**-2))
    return crossing(expected, (level - error) / scale)
