"""All digits of the numbers and times of an array, so that different ones are never told alike."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from reference.common.arrays import BoolArray, FloatArray

MOST_BYTES = 4_096
"""Longer arrays are told by a digest: many objects may refer to one."""

_DOUBLE = np.dtype(np.float64)


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
        return Times(values) if by_value else _in_short(_ticks(values).tobytes())
    if kind == "c":
        return [digits_of(part, by_value=by_value) for part in (values.real, values.imag)]
    if kind == "f" and dtype.itemsize > _DOUBLE.itemsize:
        return _long(values, by_value=by_value)
    if kind in "biuf":
        doubles, inexact = as_doubles(values)
        # as doubles some of them would be one
        return repr(values.tolist()) if inexact.any() else _packed(doubles, by_value=by_value)
    return [repr(one) for one in values.ravel().tolist()]


def digits_of_rows(values: npt.NDArray[Any], *, by_value: bool) -> list[Any]:
    """Return the same of each row or element of an array, which has at least one."""
    kind, dtype = values.dtype.kind, values.dtype
    if not values.size or kind not in "biufmM" or dtype.itemsize > _DOUBLE.itemsize or (kind in "mM" and by_value):
        return [digits_of(np.asarray(row), by_value=by_value) for row in values]
    if kind in "mM":
        told, inexact = _ticks(values).tobytes(), np.zeros(values.shape, dtype=bool)
    else:
        doubles, inexact = as_doubles(values)
        told = bits_of(doubles, by_value=by_value).tobytes()
    size = len(told) // len(values)
    found: list[Any] = [_in_short(told[start : start + size]) for start in range(0, len(told), size)]
    for place in np.flatnonzero(inexact.reshape(len(values), -1).any(axis=1)):
        found[place] = digits_of(np.asarray(values[place]), by_value=by_value)
    return found


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


@dataclass(eq=False)
class Times:
    """Times that are equal to those of another unit if numpy says so."""

    values: npt.NDArray[Any]

    __hash__ = None  # type: ignore[assignment]

    def __post_init__(self) -> None:
        # the input itself may change
        self.values = self.values.copy()

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Times):
            return NotImplemented
        ours, others = self.values, other.values
        if (ours.dtype.kind, ours.size) != (others.dtype.kind, others.size):
            return False
        try:
            alike = ours.ravel() == others.ravel()
        except (TypeError, OverflowError):
            # months and days, or beyond the finer unit
            return False
        return bool(np.all(alike | (np.isnat(ours) & np.isnat(others)).ravel()))

    def __repr__(self) -> str:
        return f"{kind_of_times(self.values.dtype)}{_ticks(self.values).tolist()}"


def _ticks(values: npt.NDArray[Any]) -> npt.NDArray[np.int64]:
    return np.ascontiguousarray(values.astype(values.dtype.newbyteorder("="))).view(np.int64)


def _packed(doubles: FloatArray, *, by_value: bool) -> bytes:
    return _in_short(bits_of(doubles, by_value=by_value).tobytes())


def _in_short(told: bytes) -> bytes:
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
