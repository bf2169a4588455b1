"""Whether counts of an event vary more between calls than independent outputs allow.

Given how often the event occurred in all, independent outputs put these occurrences anywhere with the same
probability, whatever the law.  So the law of the counts k_i of N calls of m outputs, given their sum T, is known:
that of N m places of which T are taken at random.  For every s >= 0 and z > 0

    P(sum of k_i^2 >= S | T) <= exp(-s S) z^-T f(s, z)^N / C(N m, T),

where f(s, z) is the sum of C(m, k) exp(s k^2) z^k over k = 0 to m,
by Markov's inequality and because all terms of the power series are positive.  The two inputs are independent, so
their bounds are multiplied at one s.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.optimize import minimize_scalar
from scipy.special import gammaln, logsumexp

from reference.common.arrays import IntArray


def log_p_value(sides: Sequence[IntArray]) -> float:
    """Return the log of a bound on the chance that independent outputs vary so much between calls.

    Parameters
    ----------
    sides : sequence of ndarray of int, shape (outputs per call + 1,)
        Per input: entry k is how many calls had the event in k of their outputs.
    """
    told = [side for side in sides if 0 < side @ np.arange(len(side)) < side.sum() * (len(side) - 1)]
    if not told:
        return 0.0
    tilts = np.concatenate([[0.0], np.geomspace(1e-3, 4.0, 40) / (len(told[0]) - 1)])
    bounds = [sum(_log_bound(side, tilt) for side in told) for tilt in tilts]
    return min(0.0, *bounds)


def _log_bound(calls: IntArray, tilt: float) -> float:
    """Return the log of the bound of one input at one s, at the best z."""
    per_call, number = len(calls) - 1, int(calls.sum())
    counts = np.arange(per_call + 1)
    total, squares = int(calls @ counts), float(calls @ counts**2)
    weights = _log_choose(per_call, counts) + tilt * counts**2

    def at(log_z: float) -> float:
        return number * float(logsumexp(weights + log_z * counts)) - total * log_z

    odds = float(np.log(total / (number * per_call - total)))
    best = minimize_scalar(at, bracket=(odds - 1.0, odds)).fun
    return float(best) - tilt * squares - float(_log_choose(number * per_call, np.array(total)))


def _log_choose(n: int, k: IntArray) -> IntArray:
    return np.asarray(gammaln(n + 1) - gammaln(k + 1) - gammaln(n - k + 1))


def variance_ratio(sides: Sequence[IntArray]) -> float:
    """Return the largest variance of a call's count over that of independent outputs; 1 where nothing is told."""
    found = [1.0]
    for calls in sides:
        counts, number = np.arange(len(calls)), calls.sum()
        mean = float(calls @ counts / number)
        usual = mean * (1 - mean / (len(calls) - 1))
        if usual > 0:
            found.append(float(calls @ (counts - mean) ** 2 / number) / usual)
    return max(found)
