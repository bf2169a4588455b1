"""Moments: the additive sufficient statistics of a data set.

The only code between records and a private release that reads records.  Moments of parts add up to the
moments of the whole, in any order, so a file, a stream and a cluster are the same code: fold blocks with +.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from reference.domain import Domain
from reference.errors import DomainMismatchError, EmptyDataError
from reference.records import BLOCK_ROWS, Records

FloatArray: TypeAlias = npt.NDArray[np.float64]


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
    """

    domain: Domain
    n: int
    sum_z: int
    sum_x: FloatArray
    sum_yx: FloatArray
    sum_zx: FloatArray
    sum_xx: FloatArray

    def __repr__(self) -> str:
        # exact statistics may not reach a log by accident
        return f"Moments(of {self.domain.dimension} columns)"

    @classmethod
    def zero(cls, domain: Domain) -> Moments:
        """Return the moments of no records: the start of a fold."""
        d = domain.dimension
        return cls(domain, 0, 0, np.zeros(d), np.zeros(d), np.zeros(d), np.zeros((d, d)))

    @classmethod
    def of(cls, records: Records) -> Moments:
        """Return the moments of checked records."""
        n, d = records.x.shape
        # One row each for 1, y and z, so that a single product gives sum x, sum yx and sum zx.
        weights = np.ones((3, n))
        weights[1] = records.y
        weights[2] = 0.0 if records.z is None else records.z
        first, second = np.zeros((3, d)), np.zeros((d, d))
        for start in range(0, n, BLOCK_ROWS):
            block = records.x[start : start + BLOCK_ROWS]
            first += weights[:, start : start + BLOCK_ROWS] @ block
            second += block.T @ block
        sum_z = int(weights[2].sum())
        return cls(records.domain, n, sum_z, first[0], first[1], first[2], second)

    def __add__(self, other: Moments) -> Moments:
        if not isinstance(other, Moments):
            return NotImplemented
        if self.domain != other.domain:
            raise DomainMismatchError("moments of different domains do not add up")
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
    def zbar(self) -> float:
        """The paper's z-bar, the average of the protected attribute; undefined without records."""
        if self.n == 0:
            raise EmptyDataError("there is no record, so zbar is undefined")
        return self.sum_z / self.n
