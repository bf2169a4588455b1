"""Blocks of numeric columns as records.

Columns are encoded when they are used: exact sums need x on the grid only, which takes half the operations.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from functools import cached_property, lru_cache
from typing import TypeGuard

import numpy as np
from msgspec import UNSET

from reference.common.arrays import FloatArray, NumberArray
from reference.common.grid import DATA_STEPS
from reference.domain import Domain
from reference.domain.attributes import Numeric
from reference.domain.values import Column
from reference.records import EXACT_ROWS, Records

MOST_TRIED = 2**16
"""Attributes with more whole numbers are not tried number by number before any record is read."""

CACHED = 2**17
"""Entries of x that stay in a core's own cache while they are encoded and added up; fewer take more calls."""


class NumericEncoder:
    """Encodes blocks of numeric columns at once, to the floats that :meth:`Numeric.encode` gives column by column.

    Parameters
    ----------
    domain : Domain
        Every attribute is Numeric, none is clipped or centred, and none may be missing.
    """

    def __init__(self, domain: Domain) -> None:
        bounds = [(entry.lower, entry.upper) for entry in domain.attributes if type(entry) is Numeric]
        self.domain = domain
        self.columns = slice(int(domain.intercept), int(domain.intercept) + len(bounds))
        lower, upper = np.array(bounds, dtype=np.float64).T[:, :, None]
        self._same = bool((lower == lower[0]).all() and (upper == upper[0]).all())
        self._lower, self._upper = (lower[0, 0], upper[0, 0]) if self._same else (lower, upper)
        self._factor = domain.column_factor
        self._bounds = [(float(low), float(high)) for low, high in bounds]

    @classmethod
    def of(cls, domain: Domain) -> NumericEncoder | None:
        """Return the encoder of a domain; None for one that has categories, or clipped or centred columns."""
        plain = all(
            type(entry) is Numeric and not entry.clip and not entry.centred and entry.missing is UNSET
            for entry in domain.attributes
        )
        return cls(domain) if plain and not domain.group_values else None

    def encode(self, raw: FloatArray, x: FloatArray, z: FloatArray | None) -> bool:
        """Write a block of rows into x, shape (n, d); False when a number is outside its bounds."""
        out = x[:, self.columns]
        if not self._same:
            out = out.T
            raw = _cast(raw.T, out)
        if not _is_within(raw, self._lower, self._upper):
            return False
        _scale(raw, self._lower, self._upper, self._factor, out)
        self._complete(x, z)
        return True

    def admits(self, columns: list[NumberArray]) -> bool:
        """Return whether columns that are held, none of them empty, are within their bounds."""
        return all(map(_column_is_within, columns, self._bounds))

    def encode_columns(self, columns: list[NumberArray], x: FloatArray, z: FloatArray | None) -> None:
        """Write columns, all within their bounds, into x, shape (n, d)."""
        places = x[:, self.columns].T
        _cast(columns, places)
        _scale(places, self._lower, self._upper, self._factor, places)
        self._complete(x, z)

    @cached_property
    def factors(self) -> FloatArray | None:
        """Shape (columns, 1): trunc((v - lower) factor) is x on the grid, in steps, for whole numbers v.

        Every v within the bounds was tried.  None where the formula fails for one of them, or they are too many
        to try.
        """
        found = [_factor_of_steps(lower, upper, self._factor) for lower, upper in self._bounds]
        return None if None in found else np.array(found, dtype=np.float64)[:, None]

    def write_steps(self, columns: list[NumberArray], z: FloatArray | None, out: FloatArray) -> None:
        """Write columns, all within their bounds, into out, shape (d, n): x on the grid, in steps."""
        places = _cast(columns, out[self.columns])
        if self.factors is None or not all(map(is_whole, columns)):
            # a power of two changes no rounding, and what it lifts from below the normal numbers stays below 1
            _scale(places, self._lower, self._upper, self._factor * DATA_STEPS, places)
        else:
            if self._lower.any():
                np.subtract(places, self._lower, out=places)
            np.multiply(places, self.factors, out=places)
        np.trunc(places, out=places)
        one = math.trunc(self._factor * DATA_STEPS)
        if self.domain.intercept:
            out[0] = one
        if self.domain.keep_group and z is not None:
            np.multiply(z, one, out=out[-1])

    def _complete(self, x: FloatArray, z: FloatArray | None) -> None:
        """Write the intercept and the kept group."""
        if self.domain.intercept:
            x[:, 0] = self._factor
        if self.domain.keep_group and z is not None:
            np.multiply(z, self._factor, out=x[:, -1])


class Numbers(Records):
    """Records of numbers within their bounds, which prove that every row is inside the norm."""

    _encoder: NumericEncoder
    _columns: list[NumberArray] | None

    @classmethod
    def of(
        cls,
        encoder: NumericEncoder,
        columns: list[NumberArray],
        y: FloatArray,
        z: FloatArray | None,
    ) -> Numbers:
        """Return the records of columns that are held and within their bounds, with marks of 0 and 1."""
        found = object.__new__(cls)
        given = {"domain": encoder.domain, "y": y, "z": z, "_encoder": encoder, "_columns": columns}
        for name, value in given.items():
            object.__setattr__(found, name, value)
        for marks in (y, z):
            if marks is not None:
                marks.flags.writeable = False
        return found

    @cached_property
    def x(self) -> FloatArray:
        """Encoded features, shape (n, d); they take the place of the columns."""
        columns = self._columns
        if columns is None:
            # another thread has encoded them already
            found: FloatArray = vars(self)["x"]
            return found
        x = np.empty((len(self), self.domain.dimension), order="F")
        self._encoder.encode_columns(columns, x, self.z)
        x.flags.writeable = False
        vars(self)["x"] = x
        object.__setattr__(self, "_columns", None)
        return x

    @property
    def in_columns(self) -> bool:
        """Always: also where x is not encoded yet."""
        return True

    def steps(self, rows: slice, out: FloatArray | None = None) -> FloatArray:
        """Return the same as of encoded records."""
        held, z = self._columns, None if self.z is None else self.z[rows]
        if held is None:
            return super().steps(rows, out)
        steps = np.empty((self.domain.dimension, len(self.y[rows]))) if out is None else out
        self._encoder.write_steps([values[rows] for values in held], z, steps)
        return steps.T


def is_held(values: Column) -> TypeGuard[NumberArray]:
    """Return whether an encoder takes numbers as they are: float64, or whole numbers that it holds exactly."""
    # a masked array's largest number need not be the largest that it holds
    if type(values) is not np.ndarray:
        return False
    return values.dtype == np.float64 or (is_whole(values) and values.dtype.itemsize < 8)


def is_whole(values: NumberArray) -> bool:
    """Return whether numbers are held as whole ones."""
    return values.dtype.kind in "iu"


def _cast(columns: Iterable[NumberArray], places: FloatArray) -> FloatArray:
    for column, place in zip(columns, places, strict=True):
        # arithmetic on whole numbers would cast them piece by piece
        place[:] = column
    return places


@lru_cache(maxsize=1024)
def _factor_of_steps(lower: float, upper: float, factor: float) -> float | None:
    """Return what whole numbers above the lower bound are multiplied by to be steps of x, before truncation."""
    first, last = math.ceil(lower), math.floor(upper)
    if last - first >= MOST_TRIED:
        return None
    whole = np.arange(first, last + 1, dtype=np.float64)
    x = np.empty_like(whole)
    _scale(whole, np.float64(lower), np.float64(upper), factor, x)
    steps = np.trunc(x * DATA_STEPS)
    near = factor / (upper - lower) * DATA_STEPS
    # where x is on the grid, a product may be below it by a rounding
    tried = (near, math.nextafter(near, math.inf))
    return next((one for one in tried if np.array_equal(np.trunc((whole - lower) * one), steps)), None)


def _is_within(raw: FloatArray, lower: FloatArray | np.float64, upper: FloatArray | np.float64) -> bool:
    """Return whether all numbers are within the bounds: one pair, or one for each row."""
    axis = -1 if np.ndim(lower) else None
    if not lower.any():
        # the bits of floats from 0 on are in their order; those of -0, of less than 0 and of NaN are above
        bits = raw.view(np.uint64).max(axis, keepdims=axis is not None)
        return bool((bits <= upper.view(np.uint64)).all())
    # NaN makes a comparison fail too
    least, most = (find(raw, axis, keepdims=axis is not None) for find in (np.min, np.max))
    return bool((least >= lower).all() and (most <= upper).all())


def _column_is_within(column: NumberArray, bounds: tuple[float, float]) -> bool:
    """Return the same of one column that is held, in few calls: each of them lets another thread run."""
    lower, upper = bounds
    if lower == 0.0 and not is_whole(column):
        return bool(column.view(np.uint64).max() <= np.float64(upper).view(np.uint64))
    return bool(lower <= column.min() and column.max() <= upper)


def _scale(
    raw: FloatArray, lower: FloatArray | np.float64, upper: FloatArray | np.float64, factor: float, out: FloatArray
) -> None:
    """Write (raw - lower) / (upper - lower) times a factor, of numbers within the bounds."""
    if lower.any():
        np.divide(np.subtract(raw, lower, out=out), upper - lower, out=out)
        # the quotient of two rounded differences can exceed 1 by one rounding
        raw = np.clip(out, 0.0, 1.0, out=out)
    elif (upper != 1.0).any():
        # a quotient of at most 1 is not rounded above it
        raw = np.divide(raw, upper, out=out)
    np.multiply(raw, factor, out=out)


def rows_in_cache(dimension: int) -> int:
    """Return how many rows of x to encode and add up at a time: whole blocks, also of exact sums."""
    return max(CACHED // (dimension * EXACT_ROWS), 1) * EXACT_ROWS
