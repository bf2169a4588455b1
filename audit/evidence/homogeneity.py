"""Whether two pairs of counts come from the same two probabilities."""

from __future__ import annotations

import math

import numpy as np
from scipy.special import gammaln

from audit.bounds import Counts
from reference.common.arrays import FloatArray, IntArray


def homogeneity(first: Counts, second: Counts) -> float:
    """Return a p-value of the hypothesis that both counts come from the same two probabilities.

    Fisher's exact test per input, two-sided by doubling, and doubled once more for two inputs.
    """
    tables = [
        (first.likely, first.likely_draws, second.likely, second.likely_draws),
        (first.unlikely, first.unlikely_draws, second.unlikely, second.unlikely_draws),
    ]
    return min(1.0, 4 * min(_tail(*table) for table in tables))


def _tail(count: int, draws: int, other: int, other_draws: int) -> float:
    """Return the smaller tail of a hypergeometric count, `other` included."""
    # how the occurrences may be divided, given their number: as far from the mean as a share of 1e-300 reaches
    total = count + other
    share = other_draws / (draws + other_draws)
    mean, far = total * share, 40 * (math.sqrt(total * share * (1 - share)) + 1)
    low, high = max(0, total - draws, math.floor(mean - far)), min(total, other_draws, math.ceil(mean + far))
    places = np.arange(low, high + 1)
    logs = _log_choices(other_draws, places) + _log_choices(draws, total - places)
    shares = np.exp(logs - logs.max())
    shares /= shares.sum()
    return float(min(shares[places <= other].sum(), shares[places >= other].sum()))


def _log_choices(draws: int, counts: IntArray) -> FloatArray:
    """Return the logs of binomial coefficients."""
    found: FloatArray = gammaln(draws + 1) - gammaln(counts + 1) - gammaln(draws - counts + 1)
    return found
