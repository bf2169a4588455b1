"""Records: a data set that has passed every check of its domain.

A ``Records`` object cannot exist unless its entries are finite, inside the norm, and its labels and groups
are 0 or 1; every later step relies on that.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import InitVar, dataclass
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from reference.common.arrays import FloatArray
from reference.common.errors import (
    DomainMismatchError,
    EmptyDataError,
    ExtraColumnError,
    GroupError,
    InfiniteValueError,
    LabelError,
    MissingColumnError,
    NegativeEntryError,
    NormError,
    NotANumberError,
    NotEncodedError,
    ShapeError,
)
from reference.common.grid import DATA_STEPS, rounded_to_grid
from reference.domain import Domain, ball_corner
from reference.domain.attributes import Ordinal
from reference.domain.values import Column, as_floats, as_matrix, as_numbers

BLOCK_ROWS = 4096
"""Rows handled at a time: small enough to stay in cache."""

EXACT_ROWS = 2 * BLOCK_ROWS
"""Rows that an exact sum takes at a time: 2^13 whole numbers up to 2^40 add up in a float, in any order."""


@dataclass(frozen=True, eq=False, repr=False)
class Records:
    """Checked, encoded records of one domain.

    Parameters
    ----------
    domain : Domain
    x : ndarray, shape (n, d), float64
        Encoded features, each row inside the domain's norm; nonnegative unless :attr:`Domain.signed`.
    y : ndarray, shape (n,), float64
        Labels, 0 or 1.
    z : ndarray, shape (n,), float64, or None
        Group memberships, whole numbers below `domain.groups`: 0 or 1 for two; None without a declared group.
    inside : bool
        The encoding proves that every row is inside the norm, so x is not checked again.
    empty : bool
        Whether there may be no records.
    marked : bool
        Every y and z is known to be 0 or 1.

    Raises
    ------
    reference.common.errors.DataError
        One subclass per reason, with row, column and value.
    """

    domain: Domain
    x: FloatArray
    y: FloatArray
    z: FloatArray | None
    inside: InitVar[bool] = False
    empty: InitVar[bool] = False
    marked: InitVar[bool] = False

    def __post_init__(self, inside: bool, empty: bool, marked: bool) -> None:
        for name in ("x", "y", "z"):
            # a read-only view: what was checked cannot be changed through this object
            values = getattr(self, name)
            if values is not None:
                view = values.view()
                view.flags.writeable = False
                object.__setattr__(self, name, view)
        _check_shapes(self)
        if not empty and not len(self):
            raise EmptyDataError("there are no records")
        if not marked:
            _check_zero_or_one(self.y, LabelError, "label is not 0 or 1", self.domain.label)
        if self.z is not None and not marked:
            _check_group(self.z, self.domain)
        if not inside:
            _check_entries(self)

    def __repr__(self) -> str:
        # no row may reach a log by accident
        return f"Records({len(self)} x {self.domain.dimension})"

    def __len__(self) -> int:
        return len(self.y)

    def on_grid(self, *, by_columns: bool = False) -> Records:
        """Return the records with x rounded towards zero to multiples of 1/:data:`DATA_STEPS`.

        A function of each record alone; `by_columns` stores it column by column.
        The result is inside the norm in exact arithmetic: no slack of
        :func:`norm_slack` is left, because sums of squares are whole multiples of 1/DATA_STEPS^2.

        Raises
        ------
        reference.common.errors.NormError
            When that fails, which needs thousands of columns.
        """
        x = rounded_to_grid(self.x, by_columns=by_columns)
        if self.domain.norm != "unit_box":
            # multiples of 2^-40 far below 2^13: exact
            outside = np.einsum("ij,ij->i", x, x) > 1.0
            if outside.any():
                raise NormError("|x|_2 above 1 on the grid", row=int(np.flatnonzero(outside)[0]))
        return Records(domain=self.domain, x=x, y=self.y, z=self.z, inside=True)

    @property
    def in_columns(self) -> bool:
        """Whether x lies in memory column by column."""
        return self.x.flags.f_contiguous

    def steps(self, rows: slice, out: FloatArray | None = None) -> FloatArray:
        """Return x of some rows on the grid, times DATA_STEPS: whole numbers, shape (rows, d).

        Parameters
        ----------
        rows : slice
        out : ndarray, shape (d, rows), optional
            Where to write them, a row a column of x.

        Raises
        ------
        reference.common.errors.NormError
            As :meth:`on_grid` raises it.
        """
        # x DATA_STEPS is exact; what is left after truncation is the record on the grid, times DATA_STEPS
        steps: FloatArray = np.multiply(self.x[rows], DATA_STEPS, out=None if out is None else out.T)
        np.trunc(steps, out=steps)
        norm, corner = self.domain.norm, corner_steps(self.domain.dimension)
        at_corner = steps.max() <= corner and (norm != "symmetric_ball" or steps.min() >= -corner)
        if norm != "unit_box" and not at_corner and np.einsum("ij,ij->i", steps, steps).max() > DATA_STEPS**2:
            # the message names the row
            self.on_grid()
        return steps

    def take(self, rows: npt.NDArray[np.integer] | slice) -> Records:
        """Return the records at the given rows, in that order; what was checked is not checked again."""
        part = object.__new__(Records)
        object.__setattr__(part, "domain", self.domain)
        for name in ("x", "y", "z"):
            values = getattr(self, name)
            values = None if values is None else values[rows]
            if values is not None:
                values.flags.writeable = False
            object.__setattr__(part, name, values)
        if len(part) == 0:
            raise EmptyDataError("there are no records")
        return part

    @classmethod
    def none_of(cls, domain: Domain) -> Records:
        """Return no records: a random part of a data set may be empty."""
        group = None if domain.group is None else np.zeros(0)
        x = np.zeros((0, domain.dimension))
        return cls(domain=domain, x=x, y=np.zeros(0), z=group, inside=True, empty=True)


def encode_table(domain: Domain, table: Mapping[str, Column], *, clip: bool = False) -> Records:
    """Check a table against the domain and encode it.

    Parameters
    ----------
    domain : Domain
    table : mapping from column name to values
        A dict of sequences or a pandas DataFrame: exactly the declared columns, each of length n.
    clip : bool
        Move out-of-bounds numbers to the nearest bound instead of rejecting them.

    Returns
    -------
    Records
        x of shape (n, d), y and z of shape (n,).

    Raises
    ------
    reference.common.errors.DataError
        One subclass per reason, with row, column and value; nothing is computed before all is checked.
    """
    n = _length(domain, table)
    y = as_numbers(domain.label, table[domain.label])
    z = None if domain.group is None else as_numbers(domain.group, table[domain.group])
    x = np.ones((n, domain.dimension))
    column = int(domain.intercept)
    for attribute in domain.attributes:
        width = len(attribute.columns)
        x[:, column : column + width] = attribute.encode(table[attribute.name], clip=clip)
        column += width
    if domain.keep_group and z is not None:
        x[:, column:] = z[:, None] == np.arange(domain.groups) if domain.group_values else z[:, None]
    x *= domain.column_factor
    return Records(domain=domain, x=x, y=y, z=z, inside=is_inside(domain))


def check_matrix(domain: Domain, x: npt.ArrayLike, y: npt.ArrayLike, z: npt.ArrayLike | None = None) -> Records:
    """Check a matrix that is already encoded.

    Parameters
    ----------
    domain : Domain
    x : array_like, shape (n, d)
        Encoded coordinates, in the order of the domain's columns.
    y, z : array_like, shape (n,)
        Label and group, 0 or 1.

    Raises
    ------
    reference.common.errors.DataError
        Also for a record that the domain does not encode, unless it is `prescaled`: no statement covers one.
    """
    records = Records(
        domain=domain,
        x=as_matrix(domain.columns, x),
        y=as_floats(domain.label, y),
        z=None if z is None else as_floats(domain.group or "group", z),
    )
    if not domain.prescaled:
        _require_encoded(records)
    return records


def _require_encoded(records: Records) -> None:
    """Raise unless :func:`encode_table` makes every record from some row."""
    domain, corner = records.domain, records.domain.column_factor
    fine, column = np.ones_like(records.x, dtype=bool), int(domain.intercept)
    fine[:, :column] = records.x[:, :column] == corner
    for attribute in domain.attributes:
        part = slice(column, column + len(attribute.columns))
        column = part.stop
        entries = records.x[:, part]
        if entries.shape[1] > 1:
            fine[:, part] = ((entries == 0) | (entries == corner)) & (entries.sum(axis=1) == corner)[:, None]
        elif isinstance(attribute, Ordinal):
            levels = np.arange(len(attribute.categories)) / (len(attribute.categories) - 1) * corner
            fine[:, part] = np.isin(entries, levels)
        else:
            lowest = -corner if domain.signed[part.start] else 0.0
            fine[:, part] = (entries >= lowest) & (entries <= corner)
    if domain.keep_group and records.z is not None:
        own = records.z[:, None] == np.arange(domain.groups) if domain.group_values else records.z[:, None]
        fine[:, column:] = records.x[:, column:] == own * corner
    if not fine.all():
        row, found = (int(index[0]) for index in np.nonzero(~fine))
        raise NotEncodedError(
            "the domain encodes no such entry; give the table, or declare a prescaled domain",
            row=row,
            column=domain.columns[found],
            value=records.x[row, found].item(),
        )


def require_names(domain: Domain, features: Iterable[str]) -> None:
    """Raise unless the names are those of the domain's attributes, each once."""
    _check_names([attribute.name for attribute in domain.attributes], features)


def _check_names(declared: list[str], names: Iterable[str]) -> None:
    present = Counter(names)
    for name in declared:
        if name not in present:
            raise MissingColumnError("a declared column is missing", column=name)
    known = set(declared)
    for name, times in present.items():
        if name not in known:
            raise ExtraColumnError("the domain does not declare this column", column=name)
        if times > 1:
            raise ExtraColumnError("the column was given more than once", column=name)


def _length(domain: Domain, table: Mapping[str, Column]) -> int:
    """Return n, after checking that the table has exactly the declared columns, each of length n."""
    declared = [attribute.name for attribute in domain.attributes] + [domain.label]
    declared += [] if domain.group is None else [domain.group]
    _check_names(declared, list(table))
    lengths = {name: _length_of_column(name, table[name]) for name in declared}
    for name, length in lengths.items():
        if length != lengths[domain.label]:
            raise ShapeError(f"{length} values where the label has {lengths[domain.label]}", column=name)
    return lengths[domain.label]


def _length_of_column(name: str, values: Any) -> int:
    try:
        return len(values)
    except TypeError:
        raise ShapeError("a column is a sequence of values", column=name, value=values) from None


@lru_cache(maxsize=64)
def corner_steps(dimension: int) -> float:
    """Return how many steps every entry of a row may have, if the row is to be inside the ball exactly."""
    return ball_corner(dimension) * DATA_STEPS


def require_on_grid(records: Records) -> None:
    """Raise unless x is as :meth:`Records.on_grid` returns it.

    Raises
    ------
    reference.common.errors.NormError
    """
    for start in range(0, len(records), BLOCK_ROWS):
        steps = records.x[start : start + BLOCK_ROWS] * DATA_STEPS
        off = (steps != np.trunc(steps)).any(axis=1)
        if off.any():
            raise NormError("x is not on the grid", row=start + int(np.flatnonzero(off)[0]))


def is_inside(domain: Domain) -> bool:
    """Return whether :attr:`Domain.column_factor` keeps every encoded record inside the norm."""
    return domain.norm == "unit_box" or not domain.prescaled


def norm_slack(dimension: int) -> float:
    """Return how far a computed |x|_2^2 may exceed 1: the rounding error of computing it.

    A row whose exact norm is at most 1 is never rejected; one that passes has an exact squared norm of at most
    1 plus twice this.  Rows that :func:`encode_table` makes need no slack.
    """
    return (dimension + 2) * 2.0**-52


def _check_shapes(records: Records) -> None:
    domain, x, y, z = records.domain, records.x, records.y, records.z
    for name, values in (("x", x), ("y", y), ("z", z)):
        if values is not None and values.dtype != np.float64:
            raise ShapeError(f"{name} is {values.dtype} where float64 is needed; use check_matrix")
    if x.ndim != 2:
        raise ShapeError(f"x has {x.ndim} dimensions where 2 are needed")
    if x.shape[1] != domain.dimension:
        raise ShapeError(f"x has {x.shape[1]} columns where the domain declares {domain.dimension}")
    if y.shape != (x.shape[0],):
        raise ShapeError(f"y has shape {y.shape} where ({x.shape[0]},) is needed")
    if (z is None) != (domain.group is None):
        raise DomainMismatchError(
            "the domain declares a group but the records have none"
            if z is None
            else "the records have a group but the domain declares none"
        )
    if z is not None and z.shape != (x.shape[0],):
        raise ShapeError(f"z has shape {z.shape} where ({x.shape[0]},) is needed")


def _check_zero_or_one(
    values: FloatArray, error: type[LabelError | GroupError], problem: str, column: str | None
) -> None:
    wrong = (values != 0.0) & (values != 1.0)
    if wrong.any():
        row = int(np.flatnonzero(wrong)[0])
        raise error(problem, row=row, column=column, value=values[row].item())


def _check_group(z: FloatArray, domain: Domain) -> None:
    if not domain.group_values:
        _check_zero_or_one(z, GroupError, "group is not 0 or 1", domain.group)
        return
    wrong = ~np.isin(z, np.arange(domain.groups))
    if wrong.any():
        row = int(np.flatnonzero(wrong)[0])
        problem = f"group is not a whole number below {domain.groups}"
        raise GroupError(problem, row=row, column=domain.group, value=z[row].item())


def _check_entries(records: Records) -> None:
    """Reject NaN, infinities, negative entries and rows outside the norm, one block at a time."""
    in_ball = records.domain.norm != "unit_box"
    lowest = np.where(records.domain.signed, -1.0, 0.0)
    limit = 1.0 + norm_slack(records.domain.dimension) if in_ball else 1.0
    for start in range(0, len(records), BLOCK_ROWS):
        block = records.x[start : start + BLOCK_ROWS]
        size = np.einsum("ij,ij->i", block, block).max() if in_ball else block.max()
        # NaN and infinity make a comparison fail too, so a block that passes is sound.
        if not ((block.min(axis=0) >= lowest * limit).all() and size <= limit):
            _report_first_bad_entry(records, start, limit)


def _report_first_bad_entry(records: Records, start: int, limit: float) -> None:
    block = records.x[start : start + BLOCK_ROWS]
    columns = records.domain.columns
    for offset, row_values in enumerate(block):
        row = start + offset
        for column, value, signed in zip(columns, row_values.tolist(), records.domain.signed, strict=True):
            if np.isnan(value):
                raise NotANumberError("NaN", row=row, column=column, value=value)
            if np.isinf(value):
                raise InfiniteValueError("infinite value", row=row, column=column, value=value)
            if value < 0.0 and not signed:
                problem = "the domain has no negative entries"
                raise NegativeEntryError(problem, row=row, column=column, value=value)
            if records.domain.norm == "unit_box" and value > 1.0:
                raise NormError("entry above 1 in the unit box", row=row, column=column, value=value)
        squared_norm = float(np.einsum("j,j->", row_values, row_values))
        if records.domain.norm != "unit_box" and not squared_norm <= limit:
            raise NormError("|x|_2 above 1 in the unit ball", row=row, value=float(np.sqrt(squared_norm)))
