"""Records of arrays and data frames, encoded block by block, without a copy of the data.

numpy arrays, pandas and polars frames and pyarrow tables are sliced, never converted as a whole.  A block is
checked by its extremes; only one that fails is checked value by value, for an error that names row, column and
value.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from reference.common.arrays import BoolArray, FloatArray, NumberArray
from reference.common.errors import DataError, EmptyDataError, ExtraColumnError, ShapeError
from reference.datasets.arrow_columns import coded, kind_of, numbers_in
from reference.datasets.numeric_columns import NumericEncoder
from reference.datasets.record_blocks import RecordBlocks
from reference.domain import Domain
from reference.domain.attributes import Numeric
from reference.domain.declaration import on_columns
from reference.domain.markers import remedy
from reference.domain.values import Coded, Column, entry, is_missing, missing_values, no_number, real_numbers
from reference.records import BLOCK_ROWS, Records, encode_table, is_inside, require_names

TABLE_ROWS = 4 * BLOCK_ROWS
"""Rows of a table of columns encoded at a time: each column costs a few calls."""


@dataclass(frozen=True, eq=False, repr=False)
class Arrays:
    """Features in memory, with coded marks.

    Parameters
    ----------
    domain : Domain
    features : ndarray of shape (n, columns), or mapping from name to column
        In the order of the domain's attributes, or by their names.
    label : ndarray of bool, shape (n,)
    group : ndarray of bool, shape (n,), optional
    clip : bool
        Move numbers beyond a bound to the bound.
    """

    domain: Domain
    features: NumberArray | Mapping[str, Any]
    label: BoolArray
    group: BoolArray | None
    clip: bool = False

    def records(self) -> RecordBlocks:
        """Return the records; every pass encodes them again."""
        return RecordBlocks(self.domain, self.read, keep=False, on_one_side=self.on_one_side)

    def read(self) -> Iterator[Records]:
        """Yield the records in blocks.

        Raises
        ------
        reference.common.errors.DataError
            With row, column and value.
        """
        for name in self._positions:
            if len(self._column(name)) != len(self.label):
                length = len(self._column(name))
                raise ShapeError(f"{length} values where the label has {len(self.label)}", column=name)
        if self.group is not None and len(self.group) != len(self.label):
            length = len(self.group)
            raise ShapeError(f"{length} values where the label has {len(self.label)}", column=self.domain.group)
        if not len(self.label):
            raise EmptyDataError("there are no records")
        rows = 2 * BLOCK_ROWS if isinstance(self.features, np.ndarray) else TABLE_ROWS
        for start in range(0, len(self.label), rows):
            part = slice(start, min(start + rows, len(self.label)))
            raw = self._raw(part)
            encoded = None if raw is None else self._encoded(raw, part)
            yield self._from_columns(part) if encoded is None else encoded

    def on_one_side(self, w: Any) -> bool | None:
        """Check all records, and return whether x.w has one sign over them; None where rounding may hide it."""
        features = self.features
        if self._encoder is None or self.domain.keep_group or self.clip or not isinstance(features, np.ndarray):
            return None
        if features.dtype != np.float64:
            return None
        slopes, offset = on_columns(self.domain, w)
        ends = np.array([(entry.lower, entry.upper) for entry in self.domain.attributes if type(entry) is Numeric])
        # far above the rounding errors of two ways to compute x.w, which are below (d + 20) / 2^52 of its terms
        margin = 1e-9 * (2 * (np.abs(slopes) @ np.abs(ends).max(axis=1)) + abs(offset))
        low, high = np.inf, -np.inf
        for start in range(0, len(features), TABLE_ROWS):
            scores = features[start : start + TABLE_ROWS] @ slopes + offset
            low, high = min(low, scores.min()), max(high, scores.max())
            if low < -margin and high > margin:
                return False
        return True if low > margin or high < -margin else None

    @cached_property
    def _encoder(self) -> NumericEncoder | None:
        return NumericEncoder.of(self.domain)

    def _raw(self, rows: slice) -> FloatArray | None:
        """Return a block as given, shape (rows, columns); None if it is not a block of numbers."""
        if self._encoder is None:
            return None
        if isinstance(self.features, np.ndarray):
            if self.features.dtype.kind not in "fiub":
                return None
            if type(self.features) is np.ndarray and self.features.dtype == np.float64:
                return np.ascontiguousarray(self.features[rows])
            numbers = real_numbers(self.features[rows])
            return None if numbers is None else np.ascontiguousarray(numbers)
        raw = np.empty((rows.stop - rows.start, len(self._positions)))
        try:
            for name, column in self._positions.items():
                numbers = real_numbers(_part(self._column(name), rows, numeric=True))
                if numbers is None:
                    return None
                raw[:, column] = numbers
        except (TypeError, ValueError, OverflowError):
            return None
        return raw

    def _encoded(self, raw: FloatArray, rows: slice) -> Records | None:
        """Encode a block; None where a number is outside."""
        assert self._encoder is not None
        y, z = self._marks(rows)
        x = np.empty((len(raw), self.domain.dimension))
        if not self._encoder.encode(raw, x, z):
            return None
        return Records(domain=self.domain, x=x, y=y, z=z, inside=is_inside(self.domain), marked=True)

    def _marks(self, rows: slice) -> tuple[FloatArray, FloatArray | None]:
        group = None if self.group is None else self.group[rows].astype(np.float64)
        return self.label[rows].astype(np.float64), group

    def _from_columns(self, rows: slice) -> Records:
        """Encode a block column by column; an error names the first bad value."""
        table: dict[str, Column] = {}
        read: str | None = None
        try:
            for attribute in self.domain.attributes:
                read = attribute.name
                table[read] = _part(self._column(read), rows, numeric=isinstance(attribute, Numeric))
            read = None
            table[self.domain.label], group = self._marks(rows)
            if self.domain.group is not None and group is not None:
                table[self.domain.group] = group
            return encode_table(self.domain, table, clip=self.clip)
        except DataError as problem:
            whole = slice(None)
            said, value = problem.problem, problem.value
            row = None if problem.row is None else rows.start + problem.row
            if row is not None and problem.column in self._positions:
                hint = remedy(self.domain.attributes, problem.column, value)
                if is_missing(value):
                    # a block of numbers has NaN for a null, too
                    value = _held(self._column(problem.column), row)
                    said = no_number(value)
                    hint += missing_values({name: _part(self._column(name), whole) for name in self._positions})
                said += hint
            raise type(problem)(said, row=row, column=problem.column or read, value=value) from problem

    def _column(self, name: str) -> Any:
        if isinstance(self.features, np.ndarray):
            return self.features[:, self._positions[name]]
        return self.features[name]

    @cached_property
    def _positions(self) -> dict[str, int]:
        return {attribute.name: position for position, attribute in enumerate(self.domain.attributes)}


def features_of(
    domain: Domain, X: Any, names: list[str], matrix: Callable[[], NumberArray]
) -> NumberArray | Mapping[str, Any]:
    """Return the features of a table, by name if it has names; columns are not forced into one type.

    Parameters
    ----------
    domain : Domain
    X : array or DataFrame
    names : list of str
        Of its columns, in order.
    matrix : callable
        Returns X as an array.

    Raises
    ------
    reference.common.errors.ExtraColumnError, reference.common.errors.MissingColumnError
        When the names are not those of the domain's attributes.
    """
    for name in (domain.label, domain.group):
        if name in names:
            raise ExtraColumnError("the label and the group are given apart from X", column=name)
    require_names(domain, names)
    # a table of pyarrow keeps the columns themselves under `columns`
    held = set(getattr(X, "column_names", X.columns)) if has_columns(X) else set()
    if held.issuperset(names):
        features: Mapping[str, Any] = X
        return features
    given = matrix()
    in_order = names == [attribute.name for attribute in domain.attributes]
    return given if in_order else dict(zip(names, given.T, strict=True))


def has_columns(X: Any) -> bool:
    """Return whether this is a table with names, and not an array."""
    return hasattr(X, "columns")


def _held(column: Any, row: int) -> Any:
    """Return one value as a column of any library holds it."""
    if hasattr(column, "to_pylist"):
        return column.slice(row, 1).to_pylist()[0]
    return entry(getattr(column, "iloc", column)[row : row + 1], 0)


def _part(column: Any, rows: slice, *, numeric: bool = True) -> Any:
    """Return some rows of a column of any library; categories come with their distinct values where possible."""
    if isinstance(column, np.ndarray):
        return column[rows]
    if hasattr(column, "combine_chunks"):
        start, stop, _ = rows.indices(len(column))
        part = column.slice(start, stop - start).combine_chunks()
        kind = kind_of(part.type)
        return numbers_in(part) if kind == "number" else coded(part) if kind == "text" else part.to_pylist()
    if hasattr(column, "iloc"):
        part = column.iloc[rows]
        if numeric or not hasattr(part, "factorize"):
            return part
        try:
            codes, values = part.factorize()
        except TypeError:
            return part
        return Coded(values.tolist(), codes)
    return column[rows]
