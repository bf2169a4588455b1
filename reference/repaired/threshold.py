"""Where to look next for the multiplier that makes predictions fair: post-processing of released probes."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from reference.common.arrays import FloatArray

TRUSTED = 0.3
"""A probe is trusted like a noisy one when it is this share of its distance from the target away."""

SHALLOWEST, STEEPEST = 0.1, 3.0
"""The slope lies between these multiples of the prior one."""


def next_multiplier(
    multipliers: Sequence[float], differences: Sequence[float], noise: float, slack: float, reach: float
) -> float:
    """Return the multiplier at which the risk difference is estimated to be the slack.

    Every probe (multiplier, noisy signed risk difference) gives an estimate of the root along one line; they are
    averaged by their precision.

    Parameters
    ----------
    multipliers, differences : sequence of float
        The probes so far, at least one.
    noise : float
        Standard deviation of a difference.
    slack : float
        Risk difference that is tolerated.
    reach : float
        Prior change of the multiplier that removes a risk difference of 1.
    """
    at, found = np.array(multipliers), np.array(differences)
    # fairness is approached from the side of the first probe, and never overshot on purpose
    gaps = found - np.sign(found[0]) * min(slack, abs(found[0]))
    slope = _slope(at, found, noise, 1 / reach)
    precision = 1 / (noise**2 + (TRUSTED * gaps) ** 2 + 1e-300)
    return float((precision * (at + gaps / slope)).sum() / precision.sum())


def _slope(at: FloatArray, found: FloatArray, noise: float, prior: float) -> float:
    """Return by how much the difference falls per unit: its mean given the probes; prior N(prior, prior^2)."""
    centred = at - at.mean()
    pull = (noise / prior) ** 2 + 1e-12
    slope = (pull * prior - centred @ found) / (pull + centred @ centred)
    return float(np.clip(slope, SHALLOWEST * prior, STEEPEST * prior))
