"""Blocks of numeric columns as records.

Whole numbers are encoded when they are used: exact sums need x on the grid only, which takes half the operations.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cached_property, lru_cache

import numpy as np
from msgspec import UNSET

from reference.common.arrays import FloatArray, NumberArray
from reference.common.grid import DATA_STEPS
from reference.domain import Domain
from reference.domain.attributes import Numeric
from reference.records import EXACT_ROWS, Records, corner_steps

MOST_TRIED = 2**16
"""Attributes with more whole numbers are not tried number by number before any record is read."""

CACHED = 2**17
"""Entries of x that stay in a core's own cache while they are encoded and added up; fewer take more calls."""


class NumericEncoder:
    """Encodes blocks of numeric columns at once, to the floats that :meth:`Numeric.encode` gives column by column.

    Parameters
    ----------
    domain : Domain
        Every attribute is Numeric, none is clipped, and none may be missing.
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
        """Return the encoder of a domain; None for one that has categories, or columns that are clipped."""
        plain = all(
            type(entry) is Numeric and not entry.clip and entry.missing is UNSET for entry in domain.attributes
        )
        return cls(domain) if plain and not domain.group_values else None

    def encode(self, raw: FloatArray, x: FloatArray, z: FloatArray | None) -> bool:
        """Write a block of rows into x, shape (n, d); False when a number is outside its bounds."""
        if not self._same:
            return self.encode_columns(list(raw.T), x, z)
        self._complete(x, z)
        return self._encode(raw, x[:, self.columns])

    def encode_columns(self, columns: Sequence[NumberArray], x: FloatArray, z: FloatArray | None) -> bool:
        """Write a block of columns, each held, into x, shape (n, d); False when a number is outside its bounds."""
        places = x[:, self.columns].T
        _cast(columns, places)
        self._complete(x, z)
        return self._encode(places, places)

    def admits(self, columns: Sequence[NumberArray]) -> bool:
        """Return whether columns, none of them empty, all hold whole numbers within their bounds."""
        return all(
            column.dtype.kind in "iu" and lower <= int(column.min()) and int(column.max()) <= upper
            for column, (lower, upper) in zip(columns, self._bounds, strict=True)
        )

    def encode_admitted(self, columns: Sequence[NumberArray], x: FloatArray, z: FloatArray | None) -> None:
        """Write a block of columns, all admitted, into x."""
        places = x[:, self.columns].T
        _cast(columns, places)
        _scale(places, self._lower, self._upper, self._factor, places)
        self._complete(x, z)

    @cached_property
    def grid(self) -> tuple[FloatArray, FloatArray] | None:
        """Lower bounds and factors, shape (columns, 1): trunc((v - lower) factor) is x on the grid, in steps.

        Every whole number v within the bounds was tried.  None where the formula fails for one of them, or they
        are too many to try.
        """
        found = [_factor_of_steps(lower, upper, self._factor) for lower, upper in self._bounds]
        in_box = self.domain.norm == "unit_box"
        inside = in_box or self._factor * DATA_STEPS <= corner_steps(self.domain.dimension)
        if None in found or not inside:
            return None
        lower, _ = np.array(self._bounds).T[:, :, None]
        return lower, np.array(found, dtype=np.float64)[:, None]

    def write_steps(
        self,
        columns: Sequence[NumberArray],
        z: FloatArray | None,
        grid: tuple[FloatArray, FloatArray],
        out: FloatArray,
    ) -> None:
        """Write a block of columns, all admitted, into out, shape (d, n): x on the grid, in steps."""
        places, (lower, factor) = out[self.columns], grid
        _cast(columns, places)
        if lower.any():
            np.subtract(places, lower, out=places)
        np.multiply(places, factor, out=places)
        np.trunc(places, out=places)
        one = math.trunc(self._factor * DATA_STEPS)
        if self.domain.intercept:
            out[0] = one
        if self.domain.keep_group and z is not None:
            np.multiply(z, one, out=out[-1])

    def _encode(self, raw: FloatArray, out: FloatArray) -> bool:
        if not _is_within(raw, self._lower, self._upper):
            return False
        _scale(raw, self._lower, self._upper, self._factor, out)
        return True

    def _complete(self, x: FloatArray, z: FloatArray | None) -> None:
        """Write the intercept and the kept group."""
        if self.domain.intercept:
            x[:, 0] = self._factor
        if self.domain.keep_group and z is not None:
            np.multiply(z, self._factor, out=x[:, -1])


class WholeNumbers(Records):
    """Records of whole numbers within their bounds, which prove that every row is inside the norm."""

    _encoder: NumericEncoder
    _columns: Sequence[NumberArray]

    @classmethod
    def of(
        cls, encoder: NumericEncoder, columns: Sequence[NumberArray], y: FloatArray, z: FloatArray | None
    ) -> WholeNumbers:
        """Return the records of columns that the encoder admits, with marks of 0 and 1."""
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
        """Encoded features, shape (n, d)."""
        x = np.empty((len(self), self.domain.dimension), order="F")
        self._encoder.encode_admitted(self._columns, x, self.z)
        x.flags.writeable = False
        return x

    def steps(self, rows: slice) -> FloatArray:
        """Return the same as of encoded records."""
        grid = self._encoder.grid
        if grid is None:
            return super().steps(rows)
        z = None if self.z is None else self.z[rows]
        columns = [values[rows] for values in self._columns]
        steps = np.empty((self.domain.dimension, len(columns[0])))
        self._encoder.write_steps(columns, z, grid, steps)
        return steps.T


def is_held(values: NumberArray) -> bool:
    """Return whether an encoder takes numbers as they are: float64, or whole numbers that it holds exactly."""
    return values.dtype == np.float64 or (values.dtype.kind in "iu" and values.dtype.itemsize < 8)


def _cast(columns: Sequence[NumberArray], places: FloatArray) -> None:
    for column, place in zip(columns, places, strict=True):
        # arithmetic on whole numbers would cast them piece by piece
        place[:] = column


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
