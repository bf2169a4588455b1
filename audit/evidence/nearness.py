"""Two signs of reused noise in further outputs of a refuted subject: a pool of noise, and noise that lingers.

A table of noise that a process draws once makes its values recur, exactly or nearly, and another process has
other values.  Noise that successive outputs share in part makes these outputs alike.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import scipy

from audit.auditor.dependence import MOST_CHECKED_SINGLY
from audit.auditor.subject import SubjectError
from reference.common.arrays import BoolArray, FloatArray

CUTS = (2, 8, 32, 128)
"""The outputs that count as near: the nearest half, eighth, ... of all."""

CHANCE = 1e-9
"""Chance that independent draws are said to differ between processes, in each of several checks."""


def check_more(ours: Sequence[FloatArray], theirs: Sequence[FloatArray]) -> None:
    """Refuse outputs that resemble the one before, or that recur here and not in other processes.

    Parameters
    ----------
    ours, theirs : pair of ndarray, shape (n, k)
        Of left and right, in the order of the draws.

    Raises
    ------
    audit.auditor.subject.SubjectError
    """
    half = len(ours[0]) // 2
    if not half or not len(theirs[0]):
        return
    if p_value_of_order(ours) < CHANCE:
        raise SubjectError(
            "successive outputs of a call resemble each other: draw all randomness again for each output, "
            "or take calls whole, by outputs_per_call"
        )
    if p_value_of_nearness([side[:half] for side in ours], [side[half:] for side in ours], theirs) < CHANCE:
        raise SubjectError(
            "outputs recur that other processes never give: noise comes from a pool that is kept; "
            "draw all randomness again for each output"
        )


def p_value_of_nearness(
    known: Sequence[FloatArray], again: Sequence[FloatArray], there: Sequence[FloatArray]
) -> float:
    """Return a bound on the chance that independent outputs come so near to known ones more often here than there.

    Given the known ones, the distance of an output depends on that output alone.  So if all outputs are
    independent and have one law, all choices of the nearest among `again` and `there` are equally likely.  The
    best cut counts, and pays for all.

    Parameters
    ----------
    known, again, there : pair of ndarray, shape (n, k)
        Of left and right; the first two of one process, `there` of others.
    """
    found = [1.0]
    for side in zip(known, again, there, strict=True):
        for k in range(min(side[0].shape[1], MOST_CHECKED_SINGLY)):
            others, *looked_at = (np.nan_to_num(outputs[:, k]) for outputs in side)
            ours, theirs = (_distances(np.sort(others), values) for values in looked_at)
            both = np.sort(np.concatenate([ours, theirs]))
            for cut in CUTS:
                limit = both[len(both) // cut]
                limit = limit if limit < both[-1] else np.nextafter(limit, -np.inf)
                near, all_near = int((ours <= limit).sum()), int((both <= limit).sum())
                found.append(float(scipy.stats.hypergeom(len(both), all_near, len(ours)).sf(near - 1)))
    return min(1.0, len(found) * min(found))


def _distances(known: FloatArray, values: FloatArray) -> FloatArray:
    """Return the distance of each value to the nearest of the sorted known ones."""
    place = np.searchsorted(known, values)
    with np.errstate(over="ignore"):
        below = values - known[np.maximum(place - 1, 0)]
        above = known[np.minimum(place, len(known) - 1)] - values
    return np.asarray(np.minimum(np.abs(below), np.abs(above)))


def p_value_of_order(outputs: Sequence[FloatArray]) -> float:
    """Return a bound on the chance that independent outputs change sides of the middle as seldom as these.

    Given how many are above the middle, the number of their runs is hypergeometric (Wald and Wolfowitz, 1940).

    Parameters
    ----------
    outputs : pair of ndarray, shape (n, k)
        Of left and right, in the order of the draws.
    """
    found = [1.0]
    for side in outputs:
        for values in side.T[:MOST_CHECKED_SINGLY]:
            above = _above_middle(values)
            many = int(above.sum())
            runs = int(above[0]) + int((above[1:] & ~above[:-1]).sum())
            if 0 < many < len(above):
                law = scipy.stats.hypergeom(len(above), len(above) - many + 1, many)
                found.append(float(law.cdf(runs)))
    return min(1.0, len(found) * min(found))


def _above_middle(values: FloatArray) -> BoolArray:
    middle = np.sort(values)[len(values) // 2]
    above = values > middle
    return np.asarray(above if above.any() else values >= middle)
