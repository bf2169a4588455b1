"""The capped logistic loss: logistic where a prediction is right, its tangent where it is wrong.

With the margin m = s for label 1 and m = -s for label 0 it is log(1 + exp(-m)) for m >= 0 and log 2 - m/2 for
m < 0.  It is convex, and no record pulls with more than half its features: that halves the sensitivity of a
gradient, and makes it the same for every w (proofs/repaired.md, Lemma 1).
"""

from __future__ import annotations

import numpy as np
from scipy.special import expit

from reference.common.arrays import FloatArray

LARGEST_RESIDUAL = 0.5
"""The largest residual: the slope of the loss at margin 0."""


def residual(scores: FloatArray, target: FloatArray) -> FloatArray:
    """Return the derivative of the loss in the score s = x.w, shape (n,); in [-1/2, 1/2].

    Parameters
    ----------
    scores : ndarray, shape (n,)
    target : ndarray, shape (n,)
        0 or 1.
    """
    # r <- clip(1/(1 + exp(-s)) - t, -1/2, 1/2)
    capped: FloatArray = np.clip(expit(scores) - target, -LARGEST_RESIDUAL, LARGEST_RESIDUAL)
    return capped


def probability(scores: FloatArray) -> FloatArray:
    """Return P(t = 1) for which a score minimises the expected loss, shape (n,).

    For s >= 0 the expected slope -p (1 - rho) + (1 - p)/2, rho = 1/(1 + exp(-s)), vanishes at
    p = 1/(3 - 2 rho); for s < 0 labels change places.  It is 1/2 at s = 0: the sign of s predicts.
    """
    likelier = 1 / (3 - 2 * expit(np.abs(scores)))
    return np.where(scores >= 0, likelier, 1 - likelier)
