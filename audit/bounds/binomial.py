"""Probabilities and quantiles of a binomial count; `scipy.stats` has them, but is slow to load."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from scipy.special import betainc, betaincc, betaln, xlog1py, xlogy

from reference.common.arrays import FloatArray


def above(count: Any, draws: Any, probability: Any) -> FloatArray:
    """Return P(B > count) of whole numbers, elementwise, to full relative accuracy.

    Parameters
    ----------
    count, draws, probability : array_like
        Broadcast together; a count may be negative, or above the draws.
    """
    inside = np.clip(count, 0, np.subtract(draws, 1))
    tail = betainc(inside + 1.0, np.maximum(draws - inside, 1.0), probability)
    return np.where(np.less(count, 0), 1.0, np.where(np.greater_equal(count, draws), 0.0, tail))


def up_to(count: Any, draws: Any, probability: Any) -> FloatArray:
    """Return P(B <= count) of whole numbers, elementwise, to full relative accuracy; arguments as above."""
    inside = np.clip(count, 0, np.subtract(draws, 1))
    tail = betaincc(inside + 1.0, np.maximum(draws - inside, 1.0), probability)
    return np.where(np.less(count, 0), 0.0, np.where(np.greater_equal(count, draws), 1.0, tail))


def exactly(count: Any, draws: Any, probability: Any) -> FloatArray:
    """Return P(B = count) of whole numbers from 0 to the draws, elementwise."""
    rest = np.subtract(draws, count)
    chosen = -betaln(np.add(count, 1.0), rest + 1.0) - np.log1p(draws)
    return np.asarray(np.exp(chosen + xlogy(count, probability) + xlog1py(rest, np.negative(probability))))


def upper_quantile(level: Any, draws: int, probability: Any) -> FloatArray:
    """Return the smallest count that B exceeds with probability at most `level`, elementwise.

    Parameters
    ----------
    level, probability : array_like
        Broadcast together.
    draws : int
    """
    level, probability = np.broadcast_arrays(level, probability)
    low, high = np.full(level.shape, -1.0), np.full(level.shape, float(draws))
    for _ in range(math.ceil(math.log2(draws + 1)) + 1):
        middle = np.floor((low + high) / 2)
        enough = above(middle, draws, probability) <= level
        low, high = np.where(enough, low, middle), np.where(enough, middle, high)
    return high
