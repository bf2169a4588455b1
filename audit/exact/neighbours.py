"""The loss of a pair of neighbouring data sets under a mechanism's noise, and the worst pair."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from audit.exact.data_sets import Repeated
from audit.exact.witnesses import readings_of, witness
from reference.common.arrays import FloatArray
from reference.common.errors import ReadingError
from reference.domain import Domain
from reference.moments import Moments
from reference.noise import Noise
from reference.objective import objective
from reference.readings import Readings
from reference.records import check_matrix
from reference.sensitivity import Setting


class CountedRecords(Protocol):
    """Records known by their moments."""

    def __len__(self) -> int:
        """Return the number of records."""
        ...

    @property
    def domain(self) -> Domain:
        """The domain that the records were checked against."""
        ...

    @property
    def moments(self) -> Moments:
        """The moments of all records."""
        ...

    def to_json(self) -> list[dict[str, Any]]:
        """Return records with counts, from which the data set can be built again."""
        ...


@dataclass(frozen=True, eq=False)
class Neighbours:
    """Two data sets that differ in one record.

    Parameters
    ----------
    left, right : CountedRecords
    readings : Readings
    """

    left: CountedRecords
    right: CountedRecords
    readings: Readings

    @property
    def domain(self) -> Domain:
        """The domain that both data sets were checked against."""
        return self.left.domain

    @property
    def change(self) -> FloatArray:
        """Change of every released coefficient from left to right, zbar's drift included."""
        left, right = (objective(side.moments, self.readings).values for side in (self.left, self.right))
        # the exact moments of hardened noise give Fractions
        return np.asarray(right - left, dtype=np.float64)

    def loss(self, noise: Noise) -> Fraction:
        """Return sum |change| / scale for Laplace noise, sum (change / sigma)^2 for Gaussian noise.

        Exact for the coefficients and scales as floats: the privacy loss of this pair, or the square
        of its Mahalanobis length.
        """
        scales = {True: Fraction(noise.scale_s), False: Fraction(noise.scale_n)}
        pairs = zip(self.change.tolist(), noise.in_s.tolist(), strict=True)
        units = [abs(Fraction(change)) / scales[in_s] for change, in_s in pairs]
        return sum((unit if noise.kind == "laplace" else unit * unit for unit in units), Fraction(0))

    def to_json(self) -> dict[str, Any]:
        """Return both data sets, record by record with counts."""
        return {
            "columns": list(self.left.domain.columns),
            "left": self.left.to_json(),
            "right": self.right.to_json(),
        }


def scales(noise: Noise) -> tuple[Fraction, Fraction]:
    """Return the scales on Phi_s and Phi_n; the same where a mechanism has only one."""
    return Fraction(noise.scale_s if noise.in_s.any() else noise.scale_n), Fraction(noise.scale_n)


def extreme_neighbours(setting: Setting, noise: Noise, x_s: int = 0) -> Neighbours:
    """Return the neighbouring data sets with the largest known loss under this noise.

    They attain the supremum if it is known exactly, else the lower end of its enclosure.

    Parameters
    ----------
    setting : Setting
        With a number of records: each data set has as many (the smaller one of `add_or_remove_one` one less).
    noise : Noise
        Laplace or Gaussian; noise on a grid gives data sets with exact moments.
    x_s : int
        Coordinate with its own scale.
    """
    if setting.records is None:
        raise ReadingError("records", None, "a number: data sets are finite")
    scale_s, scale_n = scales(noise)
    if noise.kind == "laplace":
        found = witness(setting, "l1", 1 / scale_s, 1 / scale_n)
    else:
        found = witness(setting, "l2", 1 / scale_s**2, 1 / scale_n**2)
    # a witness has x_s first
    order = np.argsort([x_s, *(e for e in range(setting.dimension) if e != x_s)])
    left, right = (_placed(side, order, exact=noise.steps is not None) for side in (found.left, found.right))
    return Neighbours(left, right, readings_of(setting))


def _placed(data: Repeated, order: npt.NDArray[np.intp], *, exact: bool) -> Repeated:
    """Return a data set with its coordinates in another order."""
    distinct = data.distinct
    placed = check_matrix(distinct.domain, distinct.x[:, order], distinct.y, distinct.z)
    return Repeated(placed, data.counts, exact)
