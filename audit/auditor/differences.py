"""How two samples differ most, and whether samples share noise: exact whatever the law."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from audit.bounds.overdispersion import log_p_value
from reference.common.arrays import FloatArray, IntArray

MOST_COMPARED, FEW = 1024, 64
"""Coordinates that are compared; of more, these at equal distances.  Of many, few get more than a quick look."""

QUICK = 256
"""Later outputs for a quick look."""

CELLS = 32
"""Parts of equal size, of all outputs in order: each interval of neighbouring parts is an event."""

DOUBT = 1e-3
"""Chance that copies with noise of their own are said to share it; they are then compared no further."""


@dataclass(frozen=True)
class LargestDifference:
    """The interval in which the shares of first and later outputs differ most.

    Parameters
    ----------
    log_p : float
        Log of a bound on the chance that outputs of one law differ so much, in any interval and coordinate.
    coordinate : int
    low, high : float
        The interval, without its lower end.
    first, later : tuple of int
        Outputs inside, and all.
    """

    log_p: float
    coordinate: int = 0
    low: float = -math.inf
    high: float = math.inf
    first: tuple[int, int] = (0, 0)
    later: tuple[int, int] = (0, 0)

    def __str__(self) -> str:
        """Return the interval and both counts."""
        shares = (f"{inside:,} of {number:,}" for inside, number in (self.first, self.later))
        place = f"output[{self.coordinate}] in ({self.low:.6g}, {self.high:.6g}]"
        return f"{place}: {' of them, and '.join(shares)} later ones"


def difference(first: FloatArray, later: FloatArray) -> LargestDifference:
    """Return where first outputs differ most from later ones.

    Let n of N outputs be the first ones.  If all are independent and have one law, then, whatever the law, any n
    of them are equally likely to be these.  Both ends of an interval are values at fixed ranks of all outputs in
    order, so that K of them are inside; of a random n, a share of at least q > K / N is inside with probability at
    most exp(-n D(q, K / N)), and likewise below (Hoeffding 1963, theorems 1 and 4), where D is the divergence of
    two coins.  All intervals and coordinates share the chance.  Of more than 64 coordinates, those are looked at
    whose shares below the eighths of later outputs differ most; they share it with all others, too.

    Parameters
    ----------
    first, later : ndarray, shape (n, k) and (m, k)
        NaN counts as the largest value.
    """
    found = []
    for k in _most_different(first, later):
        ours = np.sort(first[:, k])
        # stable: quick where the later ones are in order
        both = np.sort(np.concatenate([later[:, k], ours]), kind="stable")
        ends = np.unique(both[np.arange(1, CELLS) * len(both) // CELLS])
        below = [
            np.concatenate([[0], np.searchsorted(side, ends, side="right"), [len(side)]]) for side in (ours, both)
        ]
        start, end = np.triu_indices(len(ends) + 2, 1)
        inside, of_both = (side[end] - side[start] for side in below)
        log_p = -len(ours) * _divergence(inside / len(ours), of_both / len(both))
        best = int(log_p.argmin())
        places = np.concatenate([[-np.inf], ends, [np.inf]])
        counts = int(inside[best]), int(of_both[best] - inside[best])
        found.append(
            LargestDifference(
                float(log_p[best]) + math.log(2 * len(start) * first.shape[1]),
                int(k),
                float(places[start[best]]),
                float(places[end[best]]),
                (counts[0], len(first)),
                (counts[1], len(later)),
            )
        )
    return min(found, key=lambda one: one.log_p)


def _most_different(first: FloatArray, later: FloatArray) -> IntArray:
    """Return the few coordinates in which outputs differ most at a quick look."""
    width = first.shape[1]
    if width <= FEW:
        return np.arange(width)
    ordered = np.sort(later[:: max(1, len(later) // QUICK)], axis=0, kind="stable")
    ends = ordered[np.arange(1, 8) * len(ordered) // 8]
    apart = np.max([np.abs((first <= end).mean(axis=0) - (ordered <= end).mean(axis=0)) for end in ends], axis=0)
    return np.sort(np.argpartition(apart, -FEW)[-FEW:])


def compared(width: int) -> IntArray:
    """Return the coordinates that are compared."""
    return np.unique(np.linspace(0, width - 1, min(width, MOST_COMPARED)).astype(np.intp))


def _divergence(share: FloatArray, expected: FloatArray) -> FloatArray:
    """Return the divergence of coins; an expected 0 or 1 is the share."""
    with np.errstate(divide="ignore", invalid="ignore"):
        terms = share * np.log(share / expected), (1 - share) * np.log((1 - share) / (1 - expected))
    return np.asarray(sum(np.where(np.isfinite(term), term, 0.0) for term in terms))


def later_half(drawn: FloatArray) -> FloatArray:
    """Return the later half of outputs of copies."""
    return drawn[:, drawn.shape[1] // 2 :]


def share_noise(values: FloatArray) -> bool:
    """Return whether copies may share noise, so that they say nothing of each other; shape (copies, outputs).

    What nobody can give a new seed is the same in all copies, as a table of noise.  Then their outputs at one
    place of a call are more alike than at several, or are the same for all copies and others at other places.
    """
    early = values[:, : values.shape[1] // 2]
    same = early[0, (early == early[0]).all(axis=0)]
    return len(np.unique(same)) > 1 or vary_by_row(later_half(values).T)


def vary_by_row(values: FloatArray) -> bool:
    """Return whether rows differ more than independent values in any order; shape (rows, values of each)."""
    found = []
    for middle in np.quantile(values, (0.25, 0.5, 0.75), method="lower"):
        counts = (values > middle).sum(axis=1)
        found.append(log_p_value([np.bincount(counts, minlength=values.shape[1] + 1)]))
    return min(found) < math.log(DOUBT / len(found))
