"""What sorted values tell: a sort takes less time than a search for each value, or numpy's own quantiles."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from reference.common.arrays import BoolArray, FloatArray, IntArray, NumberArray

A_FEW = 100
"""Values to look at before all others."""


def ascending(values: FloatArray) -> bool:
    """Return whether finite values never fall."""
    # the first few mostly tell
    return all(bool((some[1:] >= some[:-1]).all()) for some in (values[:A_FEW], values))


def sorted_whole(values: FloatArray) -> FloatArray:
    """Return sorted whole numbers that lie close together: they are counted."""
    if not len(values):
        return values
    low = float(values.min())
    counts = np.bincount((values - low).astype(np.intp))
    return np.repeat(np.arange(len(counts)) + low, counts)


def merged(parts: Sequence[FloatArray]) -> FloatArray:
    """Return sorted samples as one."""
    if len(parts) == 1:
        return parts[0]
    together: FloatArray = np.concatenate(parts)
    # finds the runs and merges them
    together.sort(kind="stable")
    return together


def most_often(ordered: NumberArray, times: int) -> bool:
    """Return whether any of some sorted values occurs so many times, or more."""
    return bool(_starts(ordered, times).any())


def repeated(ordered: NumberArray, times: int) -> int:
    """Return how many of some sorted values occur so many times, or more."""
    starts = _starts(ordered, times)
    found = np.zeros(len(ordered), dtype=np.bool_)
    for shift in range(times):
        found[shift : shift + len(starts)] |= starts
    return int(np.count_nonzero(found))


def _starts(ordered: NumberArray, times: int) -> BoolArray:
    """Return for each place whether so many values from it on are equal; the last places are left out."""
    starts: BoolArray = ordered[times - 1 :] == ordered[: max(0, len(ordered) - times + 1)]
    return starts


def quantiles(one: FloatArray, other: FloatArray, shares: FloatArray) -> FloatArray:
    """Return what ``numpy.quantile`` does of finite values of two samples together, each sorted here."""
    last = len(one) + len(other) - 1
    places = last * shares
    below = np.floor(places).astype(np.intp)
    rest = places - below
    low, high = _at(one, other, below), _at(one, other, np.minimum(below + 1, last))
    found: FloatArray = np.where(rest < 0.5, low + (high - low) * rest, high - (high - low) * (1 - rest))
    return found


def _at(one: FloatArray, other: FloatArray, places: IntArray) -> FloatArray:
    """Return the values at some places of two sorted samples put in one order, without a copy of them."""
    # how many of the values before a place are of `one`: by bisection
    fewest, most = np.maximum(0, places - len(other)), np.minimum(places, len(one))
    while (open_ := fewest < most).any():
        middle = (fewest + most) // 2
        later = one[np.minimum(middle, len(one) - 1)] < other[np.maximum(places - middle - 1, 0)]
        fewest, most = np.where(open_ & later, middle + 1, fewest), np.where(open_ & ~later, middle, most)
    found: FloatArray = np.minimum(_or_infinity(one, fewest), _or_infinity(other, places - fewest))
    return found


def _or_infinity(values: FloatArray, places: IntArray) -> FloatArray:
    """Return the values at some places, and infinity after the last."""
    if not len(values):
        return np.full(len(places), np.inf)
    return np.where(places < len(values), values[np.minimum(places, len(values) - 1)], np.inf)


def between(levels: FloatArray, ordered: FloatArray) -> IntArray:
    """Return how many sorted values have 0, 1, 2, ... ascending levels at or below them."""
    return np.diff(np.searchsorted(ordered, levels, side="left"), prepend=0, append=len(ordered))


def ranks_among(values: FloatArray, others: FloatArray) -> tuple[IntArray, IntArray]:
    """Return how many of some sorted values are below each of others, sorted too, and how many at or below it."""
    order = np.argsort(np.concatenate([others, values]), kind="stable")
    # equal ones of `others` come first
    below = np.flatnonzero(order < len(others)) - np.arange(len(others))
    tied = np.flatnonzero(np.append(values, np.nan)[below] == others)
    until = below.copy()
    until[tied] = np.searchsorted(values, others[tied], side="right")
    return below, until


def runs(ordered: FloatArray) -> tuple[IntArray, IntArray]:
    """Return for each of some sorted values how many are below it, and how many at or below it."""
    starts = np.flatnonzero(np.append(True, ordered[1:] != ordered[:-1]))
    ends = np.append(starts[1:], len(ordered))
    return np.repeat(starts, ends - starts), np.repeat(ends, ends - starts)
