"""Tells values from others by all that they hold: records, and inputs before and after a draw."""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

LARGEST_EXACT = 2**53
"""Whole numbers below it are doubles."""


def key_of(record: Any) -> Any:
    """Return what tells a record, or records, from others: numbers by all their digits, wherever they stand.

    How numpy shows an array would hide the later digits, and most of a long one.  Other objects are told apart by
    how Python shows them.
    """
    match record:
        case int() | float() | np.generic() | np.ndarray():
            return _of_numbers(np.asarray(record))
        case list() | tuple():
            return [type(record).__name__, *map(key_of, record)]
        case dict():
            named = [(repr(key_of(name)), key_of(value)) for name, value in record.items()]
            return sorted(named, key=lambda pair: pair[0])
        case set() | frozenset():
            # in another process they may stand in another order
            return [type(record).__name__, *sorted(map(key_of, record), key=repr)]
        case _ if is_dataclass(record) and not isinstance(record, type):
            return [type(record).__name__, *(key_of(getattr(record, entry.name)) for entry in fields(record))]
        case _ if hasattr(record, "__array__"):
            return [type(record).__name__, key_of(np.asarray(record))]
    return repr(record)


def _of_numbers(values: npt.NDArray[Any]) -> Any:
    if values.dtype.kind not in "fiub" or values.dtype.itemsize > np.dtype(np.float64).itemsize:
        plain = values.tolist()
        return repr(plain) if not isinstance(plain, list) else [key_of(value) for value in plain]
    if values.dtype.kind in "iu" and values.size and int(np.abs(values).max()) not in range(LARGEST_EXACT):
        # as doubles some of them would be one
        return repr(values.tolist())
    return (values.astype(np.float64) + 0.0).tobytes()
