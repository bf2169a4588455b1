"""From noisy coefficients to w: a minimum, or the statement that there is none.

Everything here post-processes a release: it sees noisy coefficients and public constants, and it
cannot reach the records (a test enforces the imports).  It never draws noise again.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import eigh

from reference.coefficients import NoisyCoefficients
from reference.common.arrays import BoolArray, FloatArray
from reference.readings import Readings

RELATIVE_ZERO = 1e-12
"""Eigenvalues below this multiple of the largest one are rounding errors of zero."""

RELATIVE_NULL = 1e-9
"""The same for the part of a linear coefficient that lies in the null space."""


@dataclass(frozen=True)
class Minimum:
    """Outcome of minimising a noisy objective.

    Parameters
    ----------
    status : {'ok', 'unbounded'}
    w : tuple of float or None
        None when unbounded.
    eigenvalues : tuple of float
        Of the noisy quadratic before any repair, ascending.
    """

    status: str
    w: tuple[float, ...] | None
    eigenvalues: tuple[float, ...]


def minimise(noisy: NoisyCoefficients, readings: Readings) -> Minimum:
    """Minimise c.w + w'Qw, plus alpha_1 |g.w - tau| for `separate`, with the repair that the readings name.

    *Implements* Algorithm 1, line 24; Algorithm 2, line 10; Algorithm 3, line 25, *except* that the arg min
    does not exist when the noisy quadratic is indefinite.  Then `none` reports `unbounded`; `shift_and_trim`
    adds four standard deviations of the noise (of the noisier group) to the diagonal and drops eigenvectors
    whose eigenvalue stays nonpositive (Zhang et al., PVLDB 2012, section 6); `trim` only drops; `ball`
    minimises over |w|_2 <= ball_radius.  A singular but bounded quadratic gives its minimum-norm minimiser.
    Claims: A.argmin, A.fix.

    Parameters
    ----------
    noisy : NoisyCoefficients
    readings : Readings
        `repair`, `ball_radius`, `fairness_weight` and `tau` are used.
    """
    symmetric = (noisy.quadratic + noisy.quadratic.T) / 2
    eigenvalues, eigenvectors = eigh(symmetric)
    spectrum = tuple(eigenvalues.tolist())
    if readings.repair == "shift_and_trim":
        eigenvalues = eigenvalues + 4 * noisy.noise.largest_standard_deviation
    # w = V u: in the eigenbasis the objective is c.u + sum lambda u^2 (+ alpha_1 |g.u - tau|)
    linear = eigenvectors.T @ noisy.linear
    covariance = None if noisy.covariance is None else eigenvectors.T @ noisy.covariance
    if readings.repair == "ball":
        solution: FloatArray | None = _minimum_in_ball(eigenvalues, linear, float(readings.ball_radius))
    else:
        zero = RELATIVE_ZERO * float(np.abs(eigenvalues).max(initial=0.0))
        kept = eigenvalues > zero
        if readings.repair == "none" and (eigenvalues < -zero).any():
            solution = None
        elif covariance is None:
            solution = _plain_minimum(eigenvalues, linear, kept, drop=readings.repair != "none")
        else:
            solution = _penalised_minimum(
                eigenvalues,
                linear,
                covariance,
                kept,
                drop=readings.repair != "none",
                weight=float(readings.fairness_weight),
                tau=float(readings.tau),
            )
    if solution is None:
        return Minimum("unbounded", None, spectrum)
    w = eigenvectors @ solution
    return Minimum("ok", tuple(w.tolist()), spectrum)


def _negligible(part: FloatArray, linear: FloatArray, eigenvalues: FloatArray) -> bool:
    """Return whether the null-space part of a linear coefficient is a rounding error of zero.

    The part is compared with the linear coefficient itself, and with the rounding of sums as large as the
    eigenvalues.
    """
    largest = float(np.abs(linear).max(initial=0.0))
    rounding = 64 * float(np.finfo(np.float64).eps) * float(np.abs(eigenvalues).max(initial=0.0))
    return bool(np.abs(part).max(initial=0.0) <= RELATIVE_NULL * largest + rounding)


def _plain_minimum(
    eigenvalues: FloatArray, linear: FloatArray, kept: BoolArray, *, drop: bool
) -> FloatArray | None:
    """Minimise c.u + sum lambda u^2 over the kept eigenvectors: u = -c / (2 lambda)."""
    if not drop and not _negligible(linear[~kept], linear, eigenvalues):
        return None
    solution = np.zeros_like(linear)
    # w_hat <- -S^{-1} c / 2
    solution[kept] = -linear[kept] / (2 * eigenvalues[kept])
    return solution


def _penalised_minimum(
    eigenvalues: FloatArray,
    linear: FloatArray,
    covariance: FloatArray,
    kept: BoolArray,
    *,
    drop: bool,
    weight: float,
    tau: float,
) -> FloatArray | None:
    """Minimise c.u + sum lambda u^2 + weight |g.u - tau|, by the multiplier m in [-weight, weight] of g.u - tau.

    For a fixed m the minimiser is u(m) = -(c + m g) / (2 lambda), and g.u(m) falls as m grows; the right m is
    where g.u(m) = tau, clipped to the interval.  g is scaled to a largest entry of 1, and the objective to a
    largest coefficient of 1, so that no product overflows.
    """
    g_unit = float(np.abs(covariance).max(initial=0.0))
    if weight == 0.0 or g_unit == 0.0:
        return _plain_minimum(eigenvalues, linear, kept, drop=drop)
    unit = max(float(np.abs(eigenvalues).max()), float(np.abs(linear).max()))
    if unit == 0.0:
        unit = 1.0
    eigenvalues, linear, covariance = eigenvalues / unit, linear / unit, covariance / g_unit
    weight, tau = weight / unit * g_unit, tau / g_unit
    null_linear, null_covariance = linear[~kept], covariance[~kept]
    c, g, lam = linear[kept], covariance[kept], eigenvalues[kept]
    solution = np.zeros_like(linear)
    if drop or _negligible(null_covariance, covariance, eigenvalues):
        if not drop and not _negligible(null_linear, linear, eigenvalues):
            return None
        curvature = float(np.sum(g**2 / lam))
        at_zero = -float(np.sum(g * c / lam)) / 2
        multiplier = 0.0 if curvature == 0.0 else float(np.clip(2 * (at_zero - tau) / curvature, -weight, weight))
        solution[kept] = -(c + multiplier * g) / (2 * lam)
        return solution
    # g has a part in the null space: bounded only if c + m g vanishes there for some |m| <= weight
    multiplier = -float(null_linear @ null_covariance) / float(null_covariance @ null_covariance)
    if abs(multiplier) > weight * (1 + RELATIVE_NULL):
        return None
    if not _negligible(null_linear + multiplier * null_covariance, linear, eigenvalues):
        return None
    solution[kept] = -(c + multiplier * g) / (2 * lam)
    gap = tau - float(g @ solution[kept])
    inside = abs(multiplier) < weight * (1 - RELATIVE_NULL)
    if inside or gap * multiplier > 0:
        # the shortest step along the null space to g.u = tau
        solution[~kept] = null_covariance * gap / float(null_covariance @ null_covariance)
    return solution


def _minimum_in_ball(eigenvalues: FloatArray, linear: FloatArray, radius: float) -> FloatArray:
    """Minimise c.u + sum lambda u^2 over |u|_2 <= radius, convex or not.

    The minimiser is u = -c / (2 (lambda + m)) for the smallest m >= max(0, -lambda_min) that puts it inside
    (More and Sorensen 1983); in the hard case the rest of the length goes along the lowest eigenvector.
    """
    largest = float(np.abs(eigenvalues).max())
    if largest == 0.0 and not linear.any():
        return np.zeros_like(linear)
    lowest = float(eigenvalues.min())
    start = max(0.0, -lowest)
    gaps = eigenvalues + start
    solid = gaps > RELATIVE_ZERO * largest
    if _negligible(linear[~solid], linear, np.zeros(1)):
        solution = np.zeros_like(linear)
        solution[solid] = -linear[solid] / (2 * gaps[solid])
        length = float(np.linalg.norm(solution))
        if length <= radius:
            if start > 0.0:
                # hard case: indefinite, and the linear part does not point along the lowest eigenvector
                solution[int(eigenvalues.argmin())] += np.sqrt(radius**2 - length**2)
            return solution

    def solution_at(multiplier: float) -> FloatArray:
        denominator = 2 * (gaps + multiplier)
        return -np.divide(linear, denominator, out=np.zeros_like(linear), where=linear != 0.0)

    def beyond(multiplier: float) -> float:
        return float(np.linalg.norm(solution_at(multiplier))) - radius

    from scipy.optimize import brentq

    # |u_i(m)| >= radius for some i at the lower end, and |u(m)| <= |c| / (2 m) = radius at the upper end
    low = max(0.0, float((np.abs(linear) / (2 * radius) - gaps).max())) * (1 - 1e-9)
    high = float(np.linalg.norm(linear)) / (2 * radius) * (1 + 1e-9)
    solution = solution_at(brentq(beyond, low, high, xtol=1e-14 * high, rtol=1e-14))
    return solution * min(1.0, radius / float(np.linalg.norm(solution)))
