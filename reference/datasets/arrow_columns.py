"""Arrow arrays as columns: numbers exactly, each distinct text decoded once."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from reference.common.arrays import FloatArray, NumberArray
from reference.common.errors import NotANumberError, UnreadableFileError
from reference.common.extras import needed_for
from reference.datasets.table import BLOCK_BYTES
from reference.domain.values import BEYOND, LARGEST_WHOLE, Coded

_FEW = 1_000
"""Up to so many distinct texts are decoded whether or not they occur."""


def arrow() -> Any:
    """Return pyarrow, imported when it is used.

    Raises
    ------
    reference.common.errors.MissingExtraError
    """
    with needed_for("a table in a file"):
        import pyarrow
    return pyarrow


def kind_of(held: Any) -> str:
    """Return `number`, `text`, `null` (nothing but nulls), or the name of a type that no attribute can have."""
    types = arrow().types
    if types.is_dictionary(held):
        held = held.value_type
    if types.is_integer(held) or types.is_floating(held) or types.is_decimal(held) or types.is_boolean(held):
        return "number"
    texts = types.is_string(held) or types.is_large_string(held) or types.is_string_view(held)
    return "text" if texts else str(held)


def numbers_in(array: Any) -> FloatArray:
    """Return an array of numbers as float64, shape (n,); a null is NaN.

    Raises
    ------
    reference.common.errors.NotANumberError
        When a whole number is beyond 2^53, where floats round.
    """
    pyarrow = arrow()
    if pyarrow.types.is_dictionary(array.type):
        array = array.dictionary_decode()
    try:
        if not pyarrow.types.is_decimal(array.type):
            converted: FloatArray = array.cast(pyarrow.float64()).to_numpy(zero_copy_only=False)
            return converted
    except pyarrow.ArrowInvalid:
        values = array.to_pylist()
        row = next(row for row, value in enumerate(values) if value is not None and abs(value) > LARGEST_WHOLE)
        raise NotANumberError(BEYOND, row=row, value=values[row]) from None
    # pyarrow's own conversion of a decimal may be off by a rounding
    return np.array([math.nan if value is None else float(value) for value in array.to_pylist()], dtype=np.float64)


def numbers_held(array: Any) -> NumberArray:
    """Return the same, but leave short whole numbers and float64 without nulls as they are."""
    types = arrow().types
    exact = types.is_float64(array.type) or (types.is_integer(array.type) and array.type.bit_width < 64)
    # a cast lets another thread run, and waits for it, even where it has nothing to do
    held: NumberArray = array.to_numpy() if exact and not array.null_count else numbers_in(array)
    return held


def coded(array: Any) -> Coded:
    """Return an array of texts with its distinct values.

    Raises
    ------
    reference.common.errors.UnreadableFileError
        When a text is not UTF-8 or not in its dictionary, or the distinct ones are too large.
    """
    pyarrow = arrow()
    if not pyarrow.types.is_dictionary(array.type):
        array = array.dictionary_encode()
    codes = array.indices.fill_null(-1).to_numpy(zero_copy_only=False).astype(np.int64)
    distinct = array.dictionary
    outside = (codes < -1) | (codes >= len(distinct))
    if outside.any():
        row = int(np.flatnonzero(outside)[0])
        raise UnreadableFileError("the text is not in its dictionary: the file is damaged", row=row)
    if distinct.nbytes > BLOCK_BYTES:
        raise UnreadableFileError(
            f"the distinct texts of a block have {distinct.nbytes:,} bytes; at most {BLOCK_BYTES:,} are read"
        )
    if len(distinct) > _FEW:
        used, codes = np.unique(codes, return_inverse=True)
        distinct, codes = distinct.take(pyarrow.array(used[used >= 0])), codes - int((used < 0).any())
    try:
        return Coded(distinct.to_pylist(), codes)
    except UnicodeDecodeError:
        return _without_undecodable(distinct, codes)


def _without_undecodable(distinct: Any, codes: Any) -> Coded:
    """Return the same if texts that are not UTF-8 do not occur."""
    pyarrow = arrow()
    large = pyarrow.types.is_large_string(distinct.type)
    held = distinct.cast(pyarrow.large_binary() if large else pyarrow.binary()).to_pylist()
    texts = []
    for code, value in enumerate(held):
        try:
            texts.append(None if value is None else value.decode())
        except UnicodeDecodeError:
            if (codes == code).any():
                row = int(np.flatnonzero(codes == code)[0])
                raise UnreadableFileError("the text is not UTF-8", row=row, value=value[:100]) from None
            texts.append(None)
    return Coded(texts, codes)
