"""All digits of the numbers and times of an array, so that different ones are never told alike."""

from __future__ import annotations

import hashlib
from typing import Any

import numpy as np
import numpy.typing as npt

from reference.common.arrays import BoolArray, FloatArray

MOST_BYTES = 4_096
"""Longer arrays are told by a digest: many objects may refer to one."""

_DOUBLE = np.dtype(np.float64)

_ATTOSECONDS = {
    **{unit: 10 ** (3 * place) for place, unit in enumerate(("as", "fs", "ps", "ns", "us", "ms", "s"))},
    **{unit: size * 10**18 for unit, size in (("m", 60), ("h", 3_600), ("D", 86_400), ("W", 604_800))},
}
_MONTHS = {"Y": 12, "M": 1}
_NO_TIME = int(np.datetime64("NaT").view(np.int64))


def digits_of(values: npt.NDArray[Any], *, by_value: bool) -> Any:
    """Return what tells the elements of an array from those of others.

    Parameters
    ----------
    values : ndarray
        Neither of objects nor with names.
    by_value : bool
        Whether both zeros are equal, and all NaN.
    """
    kind, dtype = values.dtype.kind, values.dtype
    if kind in "mM":
        return _times(values)
    if kind == "c":
        return [digits_of(part, by_value=by_value) for part in (values.real, values.imag)]
    if kind == "f" and dtype.itemsize > _DOUBLE.itemsize:
        return _long(values, by_value=by_value)
    if kind in "biuf":
        doubles, inexact = as_doubles(values)
        # as doubles some of them would be one
        return repr(values.tolist()) if inexact.any() else _packed(doubles, by_value=by_value)
    return [repr(one) for one in values.ravel().tolist()]


def digits_of_whole(number: int, *, by_value: bool) -> Any:
    """Return the same of one whole number of any size."""
    try:
        exact = float(number) == number
    except OverflowError:
        exact = False
    # in decimals, very long ones are not shown
    return _packed(np.array(float(number)), by_value=by_value) if exact else hex(number)


def as_doubles(values: npt.NDArray[Any]) -> tuple[FloatArray, BoolArray]:
    """Return numbers as 64-bit floats, and which of them are others as such."""
    doubles = values.astype(np.float64)
    if values.dtype.kind not in "iu":
        return doubles, np.zeros(values.shape, dtype=bool)
    # beyond the type, the way back has no result
    inside = doubles < 2.0 ** (63 if values.dtype.kind == "i" else 64)
    back = np.where(inside, doubles, 0.0).astype(values.dtype)
    return doubles, ~inside | (back != values)


def bits_of(doubles: FloatArray, *, by_value: bool) -> npt.NDArray[np.uint64]:
    """Return the bits of 64-bit floats; by value, both zeros have the same, and so has every NaN."""
    if by_value:
        doubles = np.where(np.isnan(doubles), np.nan, doubles + 0.0)
    return np.ascontiguousarray(doubles).view(np.uint64)


def kind_of_times(dtype: np.dtype[Any]) -> str:
    """Return the kind of times, with their unit, which a mechanism that takes their numbers can tell."""
    unit, count = np.datetime_data(dtype)
    return f"{dtype.kind}[{count}{unit}]"


def _packed(doubles: FloatArray, *, by_value: bool) -> bytes:
    told = bits_of(doubles, by_value=by_value).tobytes()
    return told if len(told) <= MOST_BYTES else hashlib.blake2b(told).digest()


def _long(values: npt.NDArray[Any], *, by_value: bool) -> Any:
    """Return a float of more than 64 bits as the sum of two doubles, if it is one."""
    with np.errstate(all="ignore"):
        high = values.astype(np.float64)
        low = np.where(np.isfinite(values), values - high, 0.0).astype(np.float64)
        whole = ((high + low.astype(values.dtype)) == values) | np.isnan(values)
    if not whole.all():
        return [repr(one) for one in values.ravel()]
    parts = [high, low] if low.any() else [high]
    told = [_packed(part, by_value=by_value) for part in parts]
    return told if low.any() else told[0]


def _times(values: npt.NDArray[Any]) -> list[Any]:
    """Return times in attoseconds, or in months, whatever their unit."""
    kind, (unit, count) = values.dtype.kind, np.datetime_data(values.dtype)
    whole = values.astype(values.dtype.newbyteorder("=")).ravel().view(np.int64)
    ticks = [None if one == _NO_TIME else count * one for one in whole.tolist()]
    if unit in _MONTHS:
        months = [None if one is None else _MONTHS[unit] * one for one in ticks]
        if kind == "m":
            return ["months", *months]
        ticks, unit = [None if one is None else _days(one) for one in months], "D"
    size = _ATTOSECONDS.get(unit)
    if size is None:
        return [kind, unit, *ticks]
    return [kind, *(None if one is None else size * one for one in ticks)]


def _days(months: int) -> int:
    """Return how many days the first of a month is after that of January 1970."""
    # of a year that begins in March, so that a leap day is its last
    year, month = divmod(months + 10, 12)
    year += 1969
    return 365 * year + year // 4 - year // 100 + year // 400 + (153 * month + 2) // 5 - 719_468
