"""Integrals over one noise variable whose density has kinks."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
from numpy.polynomial.legendre import leggauss

from reference.common.arrays import FloatArray

ORDER = 24


def nodes(kinks: Sequence[float], scale: float, widest: float | None = None) -> tuple[FloatArray, FloatArray]:
    """Return points and weights of a composite Gauss rule: pieces between the kinks, no longer than `scale`.

    Parameters
    ----------
    kinks : sequence of float
        Where the integrand is not smooth.
    scale : float
        Smallest scale of the densities in the integrand.
    widest : float, optional
        Largest scale, the smallest by default; the rule goes 60 of these beyond the kinks.
    """
    reach = 60 * (widest or scale)
    corners = np.unique([min(kinks) - reach, *kinks, max(kinks) + reach])
    pieces = [np.linspace(low, high, 2 + int((high - low) / scale)) for low, high in pairwise(corners.tolist())]
    edges = np.unique(np.concatenate(pieces))
    at, weight = leggauss(ORDER)
    half = np.diff(edges)[:, None] / 2
    middle = (edges[:-1] + edges[1:])[:, None] / 2
    return (middle + half * at).ravel(), (half * weight).ravel()


def largest_log_ratio(left: FloatArray, right: FloatArray) -> float:
    """Return the largest |log(left / right)| over outputs with positive probabilities."""
    return float(np.abs(np.log(left) - np.log(right)).max())
