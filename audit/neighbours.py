"""Neighbouring data sets that try to be as far apart as the domain allows."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import permutations, product
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from reference.domain import Domain, ball_corner
from reference.moments import Moments
from reference.noise import Noise
from reference.objective import objective
from reference.readings import Readings
from reference.records import Records

FloatArray: TypeAlias = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Pair:
    """Two data sets that share all records but one.

    Parameters
    ----------
    base : Moments
        Of the records that both share.
    description : str
        What these are.
    left, right : Records or None
        The record of its own that each side adds; None for the smaller side of `add_or_remove_one`.
    """

    base: Moments
    description: str
    left: Records | None
    right: Records | None

    @property
    def domain(self) -> Domain:
        """The domain that both data sets are checked against."""
        return self.base.domain

    @property
    def moments(self) -> tuple[Moments, Moments]:
        """Moments of the two data sets, zbar recomputed on each."""
        left = self.base if self.left is None else self.base + Moments.of(self.left)
        right = self.base if self.right is None else self.base + Moments.of(self.right)
        return left, right

    def to_json(self) -> dict[str, Any]:
        """Return the pair in a form from which it can be built again."""
        return {
            "shared_records": self.description,
            "left_record": _record_json(self.left),
            "right_record": _record_json(self.right),
        }


def extreme_pair(records: Records, description: str, readings: Readings, noise: Noise) -> Pair:
    """Return the pair of extreme records that, put in place of the last one, moves the coefficients most.

    "Most" is measured in units of the noise: the sum of |change| / scale for Laplace noise, which is the exact
    privacy loss of that pair, and the Mahalanobis length for Gaussian noise.  The candidates are the origin,
    the record with every attribute at its upper end, and the unit vectors; all labels and groups.

    Parameters
    ----------
    records : Records
        At least two for `replace_one`.
    description : str
        Name of the data.
    readings : Readings
    noise : Noise
    """
    candidates = list(_extreme_records(records.domain))
    if readings.adjacency == "replace_one":
        base = Moments.of(records.take(slice(0, -1))) if len(records) > 1 else Moments.zero(records.domain)
        text = f"{description} without its last record ({base.n} records)"
        pairs = [Pair(base, text, left, right) for left, right in permutations(candidates, 2)]
    else:
        base = Moments.of(records)
        text = f"{description} ({base.n} records)"
        pairs = [Pair(base, text, left, None) for left in candidates]
    return max(pairs, key=lambda pair: _distance(pair, readings, noise))


def _distance(pair: Pair, readings: Readings, noise: Noise) -> float:
    left, right = (objective(moments, readings).values for moments in pair.moments)
    change = (left - right) / noise.scales
    return float(np.abs(change).sum() if noise.kind == "laplace" else np.linalg.norm(change))


def _extreme_records(domain: Domain) -> Iterator[Records]:
    d = domain.dimension
    highest = np.full(d, 1.0 if domain.norm == "unit_box" else ball_corner(d))
    groups = (0.0, 1.0) if domain.group is not None else (None,)
    for x, y, z in product([np.zeros(d), highest, *np.eye(d)], (0.0, 1.0), groups):
        yield domain.check(x[None, :], [y], None if z is None else [z])


def _record_json(record: Records | None) -> dict[str, Any] | None:
    if record is None:
        return None
    return {
        "x": dict(zip(record.domain.columns, record.x[0].tolist(), strict=True)),
        "y": int(record.y[0]),
        "z": None if record.z is None else int(record.z[0]),
    }
