"""Moments: the additive sufficient statistics of a data set.

The only code between records and a private release that reads records.  Moments of parts add up to the
moments of the whole, in any order, so a file, a stream and a cluster are the same code: fold blocks with +.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from reference.common.arrays import NumberArray
from reference.common.errors import DomainMismatchError, EmptyDataError, GridError
from reference.domain import Domain
from reference.records import BLOCK_ROWS, Records


@dataclass(frozen=True, eq=False, repr=False)
class Moments:
    """Sums over the records of one data set.

    Since z is 0 or 1 they express every fairness reading:
    sum |z_i - zbar| x_i = (1 - 2 zbar) sum z_i x_i + zbar sum x_i.

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
        if exact:
            records = records.on_grid()
        n, d = records.x.shape
        # One row each for 1, y and z, so that a single product gives sum x, sum yx and sum zx.
        weights = np.ones((3, n))
        weights[1] = records.y
        weights[2] = 0.0 if records.z is None else records.z
        first, second = _zeros((3, d), exact=exact), _zeros((d, d), exact=exact)
        for start in range(0, n, BLOCK_ROWS):
            block = records.x[start : start + BLOCK_ROWS]
            # on the grid: at most 2^12 multiples of 2^-40 up to 1, whose float sum is exact in any order
            first = first + _numbers(weights[:, start : start + BLOCK_ROWS] @ block, exact=exact)
            second = second + _numbers(block.T @ block, exact=exact)
        sum_z = int(weights[2].sum())
        return cls(records.domain, n, sum_z, first[0], first[1], first[2], second)

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


def _zeros(shape: tuple[int, ...], *, exact: bool) -> NumberArray:
    return np.full(shape, Fraction(0), dtype=object) if exact else np.zeros(shape)


def _numbers(floats: NumberArray, *, exact: bool) -> NumberArray:
    """Return an array as it stands, or as Fractions with the same values."""
    if not exact:
        return floats
    return np.array([Fraction(value) for value in floats.ravel().tolist()], dtype=object).reshape(floats.shape)
