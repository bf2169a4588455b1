"""Columns of raw values -> arrays of numbers, naming the first value that is none.

Nothing here knows a domain; it only keeps numpy from guessing: no complex part is dropped, no masked entry
used, no huge integer overflows, and no missing value passes for a number.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from reference.common.arrays import FloatArray
from reference.common.errors import InfiniteValueError, NotANumberError, ShapeError


def as_numbers(name: str, values: Sequence[Any]) -> FloatArray:
    """Return a column as finite float64, shape (n,), naming the first value that is none."""
    numbers = as_floats(name, values)
    if numbers.ndim != 1:
        raise ShapeError(f"a column has one dimension, not {numbers.ndim}", column=name)
    bad = ~np.isfinite(numbers)
    if bad.any():
        row = int(np.flatnonzero(bad)[0])
        if np.isnan(numbers[row]):
            raise NotANumberError("NaN", row=row, column=name, value=numbers[row].item())
        raise InfiniteValueError("infinite value", row=row, column=name, value=numbers[row].item())
    return numbers


def as_floats(name: str, values: npt.ArrayLike) -> FloatArray:
    """Return a column as float64 of any shape, naming the first value that is no real number."""
    numbers = _converted(values)
    if numbers is not None:
        return numbers
    for row, value in enumerate(_as_objects(values, name)):
        if not _is_number(value):
            raise NotANumberError("not a number", row=row, column=name, value=value)
    raise ShapeError("not a column of numbers", column=name)


def as_matrix(columns: tuple[str, ...], values: npt.ArrayLike) -> FloatArray:
    """Return a table as contiguous float64, naming the first entry that is no real number."""
    numbers = _converted(values)
    if numbers is not None:
        return np.ascontiguousarray(numbers)
    objects = _as_objects(values, None)
    if objects.ndim == 2 and objects.shape[1] == len(columns):
        for row, entries in enumerate(objects):
            for column, value in zip(columns, entries, strict=True):
                if not _is_number(value):
                    raise NotANumberError("not a number", row=row, column=column, value=value)
    raise ShapeError(f"x is no table of numbers with {len(columns)} columns")


def _converted(values: npt.ArrayLike) -> FloatArray | None:
    """Return float64, or None when some value is no real number (or too large a one for a float)."""
    if np.ma.isMaskedArray(values):
        # a masked entry is a missing one, whatever number lies under the mask
        values = np.ma.filled(values.astype(object), np.nan)
    try:
        # a complex array would be cast with a warning only; a list with a complex entry raises by itself
        if hasattr(values, "dtype") and np.iscomplexobj(values):
            return None
        return np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        return None


def _as_objects(values: npt.ArrayLike, column: str | None) -> npt.NDArray[np.object_]:
    try:
        return np.atleast_1d(np.asarray(values, dtype=object))
    except ValueError:
        raise ShapeError("rows of different lengths", column=column) from None


def _is_number(value: Any) -> bool:
    try:
        float(value)
    except (TypeError, ValueError, OverflowError):
        return False
    return not isinstance(value, (complex, np.complexfloating))


def is_finite(value: Any) -> bool:
    """Tell whether a value is a number that a finite float can hold."""
    try:
        return math.isfinite(value)
    except (TypeError, OverflowError):
        return False


def is_hashable(value: Any) -> bool:
    """Tell whether a value can be a category."""
    try:
        hash(value)
    except TypeError:
        return False
    return True


def is_missing(value: Any) -> bool:
    """Tell None, NaN, NaT and pandas' NA, whose comparison with itself is neither true nor false."""
    try:
        return value is None or bool(value != value)
    except TypeError:
        return True
