"""The grid of hardened noise: the cost of rounding for Laplace noise, and whether Gaussian noise is wide enough.

The slack of Laplace noise is part of its scale.  Gaussian noise pays from the slack of the paper's sigma, so
its scale is compared with the paper's formula, and the grid must be fine: ``grid_suffices`` of
``proofs/coq/HardenedCertificates.v``.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

from audit.proofs.releases.comparison import Comparison, ScaleName
from audit.proofs.releases.exported import Exported
from reference.common.balls import Ball, ball, enclosed, square_root

BITS = 10
"""Bits after the binary point of `reach` and `inverse`."""

LARGEST_DELTA = Fraction(1, 2)
LARGEST_COST = Fraction(1, 8)


def l1_slack(release: Exported) -> Fraction:
    """Return what rounding adds to Delta_1: d |Phi_s| steps; 0 for noise with a density."""
    if release.steps is None:
        return Fraction(0)
    d = release.setting.dimension
    in_s = 2 * d if release.setting.basis == "matrix" else d + 1
    return Fraction(d * in_s, release.steps)


def coefficients(release: Exported) -> int:
    """Return the number of coefficients, without the reading `separate`."""
    d = release.setting.dimension
    return d + (d * d if release.setting.basis == "matrix" else d * (d + 1) // 2)


@dataclass(frozen=True)
class WideGrid:
    """The numbers with which Coq compares Gaussian noise with its grid.

    Parameters
    ----------
    count, steps : int
        Coefficients, and steps per unit.
    epsilon, delta : Fraction
    least : Fraction
        The smallest scale.
    reach : Fraction
        T: noise is compared with rounded noise on T scales around its centre.
    inverse : Fraction
        At least 1 over the shift that the scales allow.
    part : ScaleName
        The scale from which that follows, by
    ratio : Fraction
        at least 1, and at least its epsilon over `epsilon`.
    """

    count: int
    steps: int
    epsilon: Fraction
    delta: Fraction
    least: Fraction
    reach: Fraction
    inverse: Fraction
    part: ScaleName
    ratio: Fraction

    @property
    def suffices(self) -> bool:
        """Whether the grid costs no more than the slack of the paper's sigma; `reach` bounds the tails."""
        gap = self.count * (self.reach + 1) / (2 * self.least * self.steps)
        once = self.epsilon * self.inverse
        cost = 1 + once**2 * self.inverse + 2 * once * self.inverse + once / 2
        return self.delta <= LARGEST_DELTA and gap * cost <= LARGEST_COST


def wide_grid(
    release: Exported, epsilon: Fraction, l2_squared: Fraction, comparisons: tuple[Comparison, ...]
) -> WideGrid:
    """Return the numbers for a release of Gaussian noise on a grid.

    Parameters
    ----------
    release : Exported
    epsilon : Fraction
        Certified.
    l2_squared : Fraction
        The square of Delta_2.
    comparisons : tuple of Comparison
    """
    if release.steps is None:
        raise ValueError("the noise is not on a grid")
    count, delta = coefficients(release), comparisons[0].delta

    def tails() -> Ball:
        # 32 k exp(epsilon - T^2 / 2) <= delta
        return (2 * (ball(32 * count / delta).log() + ball(epsilon))).sqrt()

    bounds = []
    for one in comparisons:
        ratio = max(Fraction(1), one.epsilon / epsilon)
        bounds.append((square_root((ratio * one.scale) ** 2 / l2_squared).upper, ratio, one.name))
    inverse, ratio, part = min(bounds)
    return WideGrid(
        count=count,
        steps=release.steps,
        epsilon=epsilon,
        delta=delta,
        least=min(one.scale for one in comparisons),
        # one more step, for the error of Coq's exponential
        reach=_rounded_up(enclosed(tails).upper) + Fraction(1, 2**BITS),
        inverse=_rounded_up(inverse),
        part=part,
        ratio=ratio,
    )


def _rounded_up(value: Fraction) -> Fraction:
    return Fraction(math.ceil(value * 2**BITS), 2**BITS)
