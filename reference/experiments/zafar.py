"""Zafar's constraint: logistic regression whose boundary covariance is bounded.  Not private, and not the paper's.

The paper's fairness term turns this constraint into a penalty; here is the constraint as its authors state it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import expit

from reference.common.arrays import FloatArray
from reference.common.errors import ReadingError

FEASIBLE = 1e-7
"""Tolerance of a constraint, in units of the mean covariance."""


class NotSolvedError(RuntimeError):
    """The solver stopped before it found a minimum that satisfies the constraint."""


@dataclass(frozen=True)
class Constrained:
    """A minimiser.

    Parameters
    ----------
    w : ndarray, shape (d,)
    loss : float
        Mean logistic loss.
    covariance : float
        (1/n) sum (z_i - zbar) x_i.w, within the bound.
    """

    w: FloatArray
    loss: float
    covariance: float


def mean_loss(w: FloatArray, x: FloatArray, y: FloatArray) -> float:
    """Return (1/n) sum log(1 + exp(x_i.w)) - y_i x_i.w."""
    scores = x @ w
    return float(np.mean(np.logaddexp(0.0, scores) - y * scores))


def mean_covariance(x: FloatArray, z: FloatArray) -> FloatArray:
    """Return the vector g with g.w = (1/n) sum (z_i - zbar) x_i.w, shape (d,)."""
    covariance: FloatArray = (z - z.mean()) @ x / len(z)
    return covariance


def constrained_regression(x: FloatArray, y: FloatArray, z: FloatArray, bound: float) -> Constrained:
    """Minimise the logistic loss subject to |(1/n) sum (z_i - zbar) x_i.w| <= bound.

    *Implements* Zafar, Valera, Gomez Rodriguez and Gummadi, "Fairness constraints: mechanisms for fair
    classification" (AISTATS 2017), the constraint on the covariance, for one binary group.  The problem is convex;
    the solver is scipy's SLSQP.

    Parameters
    ----------
    x : ndarray, shape (n, d)
    y, z : ndarray, shape (n,)
        Labels and groups, 0 or 1.
    bound : float
        At least 0; infinity leaves the constraint out.

    Raises
    ------
    reference.common.errors.ReadingError
        For a negative bound.
    NotSolvedError
    """
    if not bound >= 0:
        raise ReadingError("bound", bound, "at least 0")
    from scipy.optimize import LinearConstraint, minimize

    g = mean_covariance(x, z)
    # one unit for all coordinates and g, so that the solver's tolerances mean the same on every table
    unit = np.maximum(np.abs(x).max(axis=0, initial=0.0), 1e-300)
    scaled = x / unit
    g_scaled = g / unit
    size = float(np.linalg.norm(g_scaled)) or 1.0

    def gradient(w: FloatArray) -> FloatArray:
        found: FloatArray = (expit(scaled @ w) - y) @ scaled / len(y)
        return found

    # |g.w| <= c
    constraints = [] if np.isinf(bound) else [LinearConstraint(g_scaled / size, -bound / size, bound / size)]
    found = minimize(
        mean_loss,
        np.zeros(x.shape[1]),
        args=(scaled, y),
        jac=lambda w, *_: gradient(w),
        method="SLSQP",
        constraints=constraints,
        options={"maxiter": 1000, "ftol": 1e-12},
    )
    w = found.x / unit
    covariance = float(g @ w)
    if not found.success or abs(covariance) > bound + FEASIBLE:
        raise NotSolvedError(f"{found.message}; covariance {covariance}, bound {bound}")
    return Constrained(w, mean_loss(w, x, y), covariance)
