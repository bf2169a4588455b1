"""What sorted values tell: a sort takes less time than a search for each value, or numpy's own quantiles."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from reference.common.arrays import BoolArray, FloatArray, IntArray, NumberArray

A_FEW = 100
"""Values to look at before all others."""

CLOSE = 2
"""Multiples of a step are counted if no more than this many, for each value, lie between the ends."""


def ascending(values: FloatArray) -> bool:
    """Return whether finite values never fall."""
    # the first few mostly tell
    return all(bool((some[1:] >= some[:-1]).all()) for some in (values[:A_FEW], values))


def in_order(values: FloatArray, step: float = 0.0) -> FloatArray:
    """Return values sorted, which may be the same array; multiples of a step that lie close together are counted.

    Parameters
    ----------
    values : ndarray
        Finite.
    step : float
        A power of two that divides all of them; 0 or less tells of none.
    """
    if ascending(values):
        return values
    low = float(values.min())
    if step <= 0 or not (float(values.max()) - low) / step < CLOSE * len(values):
        return np.sort(values)
    places = values - low
    places /= step
    counts = np.bincount(places.astype(np.intp))
    multiples = np.arange(len(counts), dtype=np.float64)
    multiples *= step
    multiples += low
    return np.repeat(multiples, counts)


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
    with np.errstate(over="ignore", invalid="ignore"):
        found: FloatArray = np.where(rest < 0.5, low + (high - low) * rest, high - (high - low) * (1 - rest))
    # a difference of two finite values may be beyond all floats
    return (
        found if np.isfinite(found).all() else np.where(np.isfinite(found), found, low * (1 - rest) + high * rest)
    )


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


RANK = np.int32
"""Of ranks: there are several for each value."""

Ranks: TypeAlias = tuple[npt.NDArray[np.int32], npt.NDArray[np.int32]]
"""For each of some values, how many of a sample are below it, and how many at or below it."""


def mutual_ranks(one: FloatArray, other: FloatArray, of_one: Ranks, of_other: Ranks) -> tuple[Ranks, Ranks]:
    """Return the ranks of one sorted sample among another, and those of the other among the first.

    Parameters
    ----------
    one, other : ndarray
    of_one, of_other : Ranks
        Of each among its own values (:func:`runs`).
    """
    first = np.argsort(np.concatenate([one, other]), kind="stable") < len(one)
    # equal ones of the first come before those of the second
    below = (np.flatnonzero(first) - np.arange(len(one))).astype(RANK)
    until = (np.flatnonzero(~first) - np.arange(len(other))).astype(RANK)
    at_most, less = below.copy(), until.copy()
    tied = np.flatnonzero(np.append(other, np.nan)[below] == one)
    at_most[tied] = of_other[1][below[tied]]
    tied = np.flatnonzero(np.append(np.nan, one)[until] == other)
    less[tied] = of_one[0][until[tied] - 1]
    return (below, at_most), (less, until)


def runs(ordered: FloatArray) -> Ranks:
    """Return the ranks of sorted values among themselves."""
    places = np.arange(len(ordered), dtype=RANK)
    new = ordered[1:] != ordered[:-1]
    first, last = places.copy(), places + 1
    first[1:] *= new
    last[:-1] = np.where(new, last[:-1], len(ordered))
    return np.maximum.accumulate(first), np.minimum.accumulate(last[::-1])[::-1]
