"""Moments: the additive sufficient statistics of a data set.

A mechanism of the paper reads records only here.  Moments of parts add up to the moments of the whole, in any
order, so a file, a stream and a cluster are the same code: fold blocks with +.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np

from reference.common.arrays import FloatArray, NumberArray
from reference.common.errors import DomainMismatchError, EmptyDataError, GridError, MomentsTableError
from reference.common.grid import DATA_STEPS
from reference.domain import Domain
from reference.records import BLOCK_ROWS, EXACT_ROWS, Records

BLOCKS_CARRIED = 1_000
"""Exact sums of up to so many blocks fit into 64 bits: each is at most 2^53."""


@dataclass(frozen=True, eq=False, repr=False)
class Moments:
    """Sums over the records of one data set.

    Since z is 0 or 1 they express every fairness reading:
    ``sum |z_i - zbar| x_i = (1 - 2 zbar) sum z_i x_i + zbar sum x_i``.

    Parameters
    ----------
    domain : Domain
        The domain that the records were checked against.
    n : int
        Number of records.
    sum_z : int
        Members of group 1 (0 when the domain has no group).
    sum_x, sum_yx, sum_zx : ndarray, shape (d,)
    sum_xx : ndarray, shape (d, d)
        sum x x', symmetric.

    All four hold floats, or Fractions for hardened noise; the two kinds do not add up.
    """

    domain: Domain
    n: int
    sum_z: int
    sum_x: NumberArray
    sum_yx: NumberArray
    sum_zx: NumberArray
    sum_xx: NumberArray

    def __post_init__(self) -> None:
        self.domain.require_of_paper()

    def __repr__(self) -> str:
        # exact statistics may not reach a log by accident
        return f"Moments(of {self.domain.dimension} columns)"

    @classmethod
    def zero(cls, domain: Domain, *, exact: bool = False) -> Moments:
        """Return the moments of no records: the start of a fold."""
        d = domain.dimension
        first, second = _zeros((d,), exact=exact), _zeros((d, d), exact=exact)
        return cls(domain, 0, 0, first, first, first, second)

    @classmethod
    def of(cls, records: Records, *, exact: bool = False) -> Moments:
        """Return the moments of checked records.

        Parameters
        ----------
        records : Records
        exact : bool
            First round x to the grid, :meth:`reference.records.Records.on_grid`; then every sum is exact.
        """
        return sum_of([records], records.domain, exact=exact)

    def __add__(self, other: Moments) -> Moments:
        if not isinstance(other, Moments):
            return NotImplemented
        if self.domain != other.domain:
            raise DomainMismatchError("moments of different domains do not add up")
        if self.exact != other.exact:
            raise GridError("moments", "mixed", "all exact, or all floats, to add up")
        return Moments(
            self.domain,
            self.n + other.n,
            self.sum_z + other.sum_z,
            self.sum_x + other.sum_x,
            self.sum_yx + other.sum_yx,
            self.sum_zx + other.sum_zx,
            self.sum_xx + other.sum_xx,
        )

    def table(self) -> dict[str, int]:
        """Return exact moments as whole numbers by name, which no format rounds.

        `n`, `sum_z`; `x_j`, `yx_j`, `zx_j` in units of 1/DATA_STEPS; `xx_i_j` for i <= j in its square.
        """
        if not self.exact:
            raise GridError("moments", "floats", "exact, to be whole numbers")
        values = {"n": self.n, "sum_z": self.sum_z}
        for name, steps, place in _places(self.domain):
            values[name] = int(getattr(self, place[0])[place[1:]] * steps)
        return values

    @classmethod
    def from_table(cls, domain: Domain, table: Any) -> Moments:
        """Read exact moments as :meth:`table` or the query of :mod:`reference.domain.sql` returns them.

        Parameters
        ----------
        domain : Domain
        table : mapping, pandas or pyarrow table, or iterable of (name, value)
            One row with a column for each name, or a row for each name.  `refused`, where it is there, counts
            records outside the domain.

        Raises
        ------
        reference.common.errors.MomentsTableError
            When a name is missing or unknown, a value is not a whole number, or no records have these moments.
        """
        table, places = _whole_numbers(table), _places(domain)
        names = ["n", "sum_z", *(name for name, _, _ in places)]
        for name in names:
            if name not in table:
                raise MomentsTableError("is missing", name)
        for name in table:
            if name not in names and name != "refused":
                raise MomentsTableError("is not a moment of this domain", name)
        if table.get("refused", 0):
            raise MomentsTableError("the domain does not admit these records", "refused", table["refused"])
        zero = cls.zero(domain, exact=True)
        sums = {name: getattr(zero, name).copy() for name in ("sum_x", "sum_yx", "sum_zx", "sum_xx")}
        for name, steps, (which, *place) in places:
            sums[which][tuple(place)] = sums[which][tuple(place[::-1])] = Fraction(table[name], steps)
        moments = cls(domain, table["n"], table["sum_z"], **sums)
        _require_possible(moments)
        return moments

    @property
    def exact(self) -> bool:
        """Whether the sums are exact ones of records on the grid."""
        return self.sum_x.dtype == np.object_

    @property
    def zbar(self) -> float | Fraction:
        """The paper's z-bar, the average of the protected attribute; undefined without records."""
        if self.n == 0:
            raise EmptyDataError("there is no record, so zbar is undefined")
        return Fraction(self.sum_z, self.n) if self.exact else self.sum_z / self.n


def _places(domain: Domain) -> list[tuple[str, int, tuple[Any, ...]]]:
    """Return each whole number's name, the inverse of its unit, and its place: a field and indices."""
    d = range(domain.dimension)
    first = [(f"{kind}_{j}", DATA_STEPS, (f"sum_{kind}", j)) for kind in ("x", "yx", "zx") for j in d]
    return first + [(f"xx_{i}_{j}", DATA_STEPS**2, ("sum_xx", i, j)) for i in d for j in d if i <= j]


def _require_possible(moments: Moments) -> None:
    """Raise where single sums show that no records inside the domain have these moments."""
    n, diagonal = moments.n, moments.sum_xx.diagonal()
    if n <= 0 or not 0 <= moments.sum_z <= (n if moments.domain.group else 0):
        raise MomentsTableError("there is no record, or sum_z is not in [0, n]", "n", n)
    for j, name in enumerate(moments.domain.columns):
        sums = [abs(sums[j]) for sums in (moments.sum_x, moments.sum_yx, moments.sum_zx)]
        # Cauchy-Schwarz: the square of a sum of n terms
        if not (0 <= diagonal[j] <= n and all(value**2 <= n * diagonal[j] for value in sums)):
            raise MomentsTableError(f"no {n:,} records have such sums of {name!r}", f"xx_{j}_{j}")


def sum_of(parts: Iterable[Records], domain: Domain, *, exact: bool = False) -> Moments:
    """Return the moments of all parts, added up block by block in order.

    Parameters
    ----------
    parts : iterable of Records
        Each but the last has a whole number of blocks of :data:`reference.records.BLOCK_ROWS` rows, so floating
        sums do not depend on the parts.
    domain : Domain
    exact : bool
        As for :meth:`Moments.of`.
    """
    sums = _ExactSums(domain) if exact else _Sums(domain)
    n, sum_z = 0, 0
    for records in parts:
        n += len(records)
        sum_z += 0 if records.z is None else int(records.z.sum())
        for start in range(0, len(records), sums.rows):
            sums.add(records, slice(start, start + sums.rows))
    first, second = sums.total()
    sum_x, sum_yx, sum_zx = first
    return Moments(domain, n, sum_z, sum_x, sum_yx, sum_zx, second)


class _Sums:
    """Floating sums of blocks."""

    rows = BLOCK_ROWS

    def __init__(self, domain: Domain) -> None:
        d = domain.dimension
        # sum x, sum yx, sum zx, and below them sum x x'
        self._sums: NumberArray = np.zeros((3 + d, d))
        # 1, y and z of a block, and its columns where they come as columns
        self._work = np.empty((3 + d, self.rows))
        self._work[0] = 1.0

    def add(self, records: Records, rows: slice) -> None:
        """Add a block of at most `rows` rows."""
        work = self._work[:, : len(records.y[rows])]
        work[1] = records.y[rows]
        work[2] = 0.0 if records.z is None else records.z[rows]
        self._add(self._products(records, rows, work))

    def total(self) -> tuple[NumberArray, NumberArray]:
        """Return sum x, sum yx and sum zx, shape (3, d), and sum x x', shape (d, d)."""
        return self._sums[:3], self._sums[3:]

    def _products(self, records: Records, rows: slice, work: FloatArray) -> FloatArray:
        """Return the sums of a block, shape (3 + d, d)."""
        # the last bits of a product depend on the order of x in memory
        return _products_of_rows(work[:3], np.ascontiguousarray(records.x[rows]))

    def _add(self, products: FloatArray) -> None:
        self._sums += products


class _ExactSums(_Sums):
    """Sums of x on the grid as whole numbers: of multiples of 1/DATA_STEPS, and of its square."""

    rows = EXACT_ROWS

    def __init__(self, domain: Domain) -> None:
        super().__init__(domain)
        self._sums = self._sums.astype(np.int64)
        self._carried: NumberArray = self._sums.astype(object)
        self._waiting = 0

    def total(self) -> tuple[NumberArray, NumberArray]:
        """Return the same as Fractions."""
        whole = self._sums + self._carried
        return _fractions(whole[:3], DATA_STEPS), _fractions(whole[3:], DATA_STEPS**2)

    def _products(self, records: Records, rows: slice, work: FloatArray) -> FloatArray:
        # whole numbers add up in any order
        if not records.in_columns:
            return _products_of_rows(work[:3], records.steps(rows))
        products: FloatArray = work @ records.steps(rows, work[3:])
        return products

    def _add(self, products: FloatArray) -> None:
        self._sums += products.astype(np.int64)
        self._waiting += 1
        if self._waiting == BLOCKS_CARRIED:
            self._waiting = 0
            self._carried = self._carried + self._sums
            self._sums[:] = 0


def _products_of_rows(marks: FloatArray, block: FloatArray) -> FloatArray:
    # a product of a matrix with its transpose is symmetric to the last bit
    return np.vstack([*(mark @ block for mark in marks), block.T @ block])


def _zeros(shape: tuple[int, ...], *, exact: bool) -> NumberArray:
    return np.full(shape, Fraction(0), dtype=object) if exact else np.zeros(shape)


def _fractions(whole: NumberArray, steps: int) -> NumberArray:
    parts = [Fraction(int(value), steps) for value in whole.ravel().tolist()]
    return np.array(parts, dtype=object).reshape(whole.shape)


def _whole_numbers(table: Any) -> dict[str, int]:
    """Return the whole numbers of a table by name."""
    if hasattr(table, "to_pydict"):
        table = table.to_pydict()
    elif hasattr(table, "to_dict"):
        table = table.to_dict("list")
    columns = dict(table) if isinstance(table, Mapping) else dict(list(table))
    if set(columns) == {"name", "value"}:
        columns = dict(zip(columns["name"], columns["value"], strict=True))
    return {str(name): _whole(str(name), value) for name, value in columns.items()}


def _whole(name: str, value: Any) -> int:
    if isinstance(value, (list, tuple, np.ndarray)):
        if len(value) != 1:
            raise MomentsTableError(f"has {len(value)} values where one is needed", name)
        value = value[0]
    if isinstance(value, (bool, np.bool_)):
        raise MomentsTableError("is not a whole number", name, value)
    if isinstance(value, (int, np.integer)):
        return int(value)
    if isinstance(value, (float, np.floating)) and float(value).is_integer() and abs(float(value)) <= 2**53:
        return int(value)
    if isinstance(value, Decimal) and value.is_finite() and value == int(value):
        return int(value)
    if value is None:
        raise MomentsTableError("is NULL, as of no record", name)
    problem = "is not a whole number, or one that a float has rounded: read it as Arrow or as rows"
    raise MomentsTableError(problem, name, value)
