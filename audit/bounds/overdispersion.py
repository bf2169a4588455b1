"""A test whether counts of an event vary more between calls than independent outputs allow.

Given the number of occurrences in all, independent outputs place them anywhere with the same
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
from scipy.optimize.elementwise import find_root
from scipy.special import gammaln, logsumexp, softmax

from reference.common.arrays import FloatArray, IntArray


def log_p_value(sides: Sequence[IntArray]) -> float:
    """Return the log of a bound on the chance that independent outputs vary this much between calls.

    Parameters
    ----------
    sides : sequence of ndarray of int, shape (outputs per call + 1,)
        Per input: entry k is how many calls had the event in k of their outputs.
    """
    told = [side for side in sides if 0 < side @ np.arange(len(side)) < side.sum() * (len(side) - 1)]
    if not told:
        return 0.0
    tilts = np.concatenate([[0.0], np.geomspace(1e-3, 4.0, 40) / (len(told[0]) - 1)])
    return min(0.0, float(np.min(sum(_log_bounds(side, tilts) for side in told))))


def _log_bounds(calls: IntArray, tilts: FloatArray) -> FloatArray:
    """Return the log of the bound of one input at each s, at the best z.

    At the best z the mean of k, with weights C(m, k) exp(s k^2) z^k, is T / N.  With s = 0 that z is the odds of
    the event; with s > 0 it lies between these odds and exp(-2 s m) of them.  Another z gives a larger bound.
    """
    per_call, number = len(calls) - 1, int(calls.sum())
    counts = np.arange(per_call + 1)
    total, squares = int(calls @ counts), float(calls @ counts**2)

    def log_weights(log_z: FloatArray, tilt: FloatArray) -> FloatArray:
        return _log_choose(per_call, counts) + tilt[..., np.newaxis] * counts**2 + log_z[..., np.newaxis] * counts

    def excess(log_z: FloatArray, tilt: FloatArray) -> FloatArray:
        return np.asarray(softmax(log_weights(log_z, tilt), axis=-1) @ counts - total / number)

    odds = np.log(total / (number * per_call - total))
    bracket = (odds - 2.0 * tilts * per_call - 1e-3, odds + 1e-3)
    log_z = find_root(excess, bracket, args=(tilts,), tolerances={"xatol": 1e-9}).x
    log_series = logsumexp(log_weights(log_z, tilts), axis=-1)
    return np.asarray(
        number * log_series - total * log_z - tilts * squares - _log_choose(number * per_call, np.array(total))
    )


def _log_choose(n: int, k: IntArray) -> FloatArray:
    return np.asarray(gammaln(n + 1) - gammaln(k + 1) - gammaln(n - k + 1))


def variance_ratio(sides: Sequence[IntArray]) -> float:
    """Return the largest variance of a call's count over that of independent outputs; 1 if there is none."""
    found = [1.0]
    for calls in sides:
        counts, number = np.arange(len(calls)), calls.sum()
        mean = float(calls @ counts / number)
        usual = mean * (1 - mean / (len(calls) - 1))
        if usual > 0:
            found.append(float(calls @ (counts - mean) ** 2 / number) / usual)
    return max(found)
