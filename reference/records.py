"""Records: a data set that has passed every check of its domain.

A ``Records`` object cannot exist unless its entries are finite, inside the norm, and its labels and groups
are 0 or 1; every later step relies on that.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
import numpy.typing as npt

from reference.errors import (
    DomainMismatchError,
    EmptyDataError,
    GroupError,
    InfiniteValueError,
    LabelError,
    NegativeEntryError,
    NormError,
    NotANumberError,
    ShapeError,
)

if TYPE_CHECKING:
    from reference.domain import Domain

FloatArray: TypeAlias = npt.NDArray[np.float64]

BLOCK_ROWS = 4096
"""Rows handled at a time: small enough to stay in cache."""

DATA_STEPS = 2**20
"""On the grid, x holds multiples of 1/DATA_STEPS; a block of 2^12 products then sums up exactly in a float."""


@dataclass(frozen=True, eq=False, repr=False)
class Records:
    """Checked, encoded records of one domain.

    Parameters
    ----------
    domain : Domain
    x : ndarray, shape (n, d), float64
        Encoded features, each row inside the domain's norm; nonnegative but in the `symmetric_ball`.
    y : ndarray, shape (n,), float64
        Labels, 0 or 1.
    z : ndarray, shape (n,), float64, or None
        Group memberships, 0 or 1; None when the domain declares no group.

    Raises
    ------
    reference.errors.DataError
        One subclass per reason, with row, column and value.
    """

    domain: Domain
    x: FloatArray
    y: FloatArray
    z: FloatArray | None

    def __post_init__(self) -> None:
        for name in ("x", "y", "z"):
            # a read-only view: what was checked cannot be changed through this object
            values = getattr(self, name)
            if values is not None:
                view = values.view()
                view.flags.writeable = False
                object.__setattr__(self, name, view)
        _check_shapes(self)
        _check_zero_or_one(self.y, LabelError, "label is not 0 or 1", self.domain.label)
        if self.z is not None:
            _check_zero_or_one(self.z, GroupError, "group is not 0 or 1", self.domain.group)
        _check_entries(self)

    def __repr__(self) -> str:
        # no row may reach a log by accident
        return f"Records({len(self)} x {self.domain.dimension})"

    def __len__(self) -> int:
        return len(self.y)

    def on_grid(self) -> Records:
        """Return the records with x rounded towards zero to multiples of 1/:data:`DATA_STEPS`.

        A function of each record alone.  The result is inside the norm in exact arithmetic: no slack of
        :func:`norm_slack` is left, because sums of squares are whole multiples of 1/DATA_STEPS^2.

        Raises
        ------
        reference.errors.NormError
            When that fails, which needs thousands of columns.
        """
        x = np.trunc(self.x * DATA_STEPS) / DATA_STEPS
        if self.domain.norm != "unit_box":
            # multiples of 2^-40 far below 2^13: exact
            outside = np.einsum("ij,ij->i", x, x) > 1.0
            if outside.any():
                raise NormError("|x|_2 above 1 on the grid", row=int(np.flatnonzero(outside)[0]))
        return Records(domain=self.domain, x=x, y=self.y, z=self.z)

    def take(self, rows: npt.NDArray[np.integer] | slice) -> Records:
        """Return the records at the given rows, in that order."""
        z = None if self.z is None else self.z[rows]
        return Records(domain=self.domain, x=self.x[rows], y=self.y[rows], z=z)


def norm_slack(dimension: int) -> float:
    """Return how far a computed |x|_2^2 may exceed 1: the rounding error of computing it.

    A row whose exact norm is at most 1 is never rejected; one that passes has an exact squared norm of at most
    1 plus twice this.  Rows that :meth:`reference.domain.Domain.encode` makes need no slack.
    """
    return (dimension + 2) * 2.0**-52


def _check_shapes(records: Records) -> None:
    domain, x, y, z = records.domain, records.x, records.y, records.z
    for name, values in (("x", x), ("y", y), ("z", z)):
        if values is not None and values.dtype != np.float64:
            raise ShapeError(f"{name} holds {values.dtype} where float64 is needed; use Domain.check")
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
    if x.shape[0] == 0:
        raise EmptyDataError("there is no record")


def _check_zero_or_one(
    values: FloatArray, error: type[LabelError | GroupError], problem: str, column: str | None
) -> None:
    wrong = (values != 0.0) & (values != 1.0)
    if wrong.any():
        row = int(np.flatnonzero(wrong)[0])
        raise error(problem, row=row, column=column, value=values[row].item())


def _check_entries(records: Records) -> None:
    """Reject NaN, infinities, negative entries and rows outside the norm, one block at a time."""
    in_ball = records.domain.norm != "unit_box"
    lowest = -1.0 if records.domain.norm == "symmetric_ball" else 0.0
    limit = 1.0 + norm_slack(records.domain.dimension) if in_ball else 1.0
    for start in range(0, len(records), BLOCK_ROWS):
        block = records.x[start : start + BLOCK_ROWS]
        size = np.einsum("ij,ij->i", block, block).max() if in_ball else block.max()
        # NaN and infinity make a comparison fail too, so a block that passes is sound.
        if not (block.min() >= lowest * limit and size <= limit):
            _report_first_bad_entry(records, start, limit)


def _report_first_bad_entry(records: Records, start: int, limit: float) -> None:
    block = records.x[start : start + BLOCK_ROWS]
    columns = records.domain.columns
    for offset, row_values in enumerate(block):
        row = start + offset
        for column, value in zip(columns, row_values.tolist(), strict=True):
            if np.isnan(value):
                raise NotANumberError("NaN", row=row, column=column, value=value)
            if np.isinf(value):
                raise InfiniteValueError("infinite value", row=row, column=column, value=value)
            if value < 0.0 and records.domain.norm != "symmetric_ball":
                raise NegativeEntryError("the domain has no negative entries", row=row, column=column, value=value)
            if records.domain.norm == "unit_box" and value > 1.0:
                raise NormError("entry above 1 in the unit box", row=row, column=column, value=value)
        squared_norm = float(np.einsum("j,j->", row_values, row_values))
        if records.domain.norm != "unit_box" and not squared_norm <= limit:
            raise NormError("|x|_2 above 1 in the unit ball", row=row, value=float(np.sqrt(squared_norm)))
