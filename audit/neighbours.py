"""Neighbouring data sets that try to be as far apart as the domain allows."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations, product
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from reference.attributes import Attribute, Numeric
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
    privacy loss of that pair, and the Mahalanobis length for Gaussian noise.  The candidates are encodings of
    rows that the domain admits, so that a refutation speaks of real data: every attribute at its lower end,
    at its upper end, and one attribute at its upper end; all labels and groups.

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
        pairs = [Pair(base, text, left, right) for left, right in combinations(candidates, 2)]
    else:
        base = Moments.of(records)
        text = f"{description} ({base.n} records)"
        pairs = [Pair(base, text, left, None) for left in candidates]
    return max(pairs, key=lambda pair: distance(pair, readings, noise))


def distance(pair: Pair, readings: Readings, noise: Noise) -> float:
    """Return how far the coefficients of a pair are apart, in units of the noise.

    The sum of |change| / scale for Laplace noise, the root of the sum of (change / sigma)^2 for Gaussian noise.
    """
    left, right = (objective(moments, readings).values for moments in pair.moments)
    change = (left - right) / noise.scales
    return float(np.abs(change).sum() if noise.kind == "laplace" else np.linalg.norm(change))


def _extreme_records(domain: Domain) -> Iterator[Records]:
    groups = (0, 1) if domain.group is not None else (None,)
    for y, z in product((0, 1), groups):
        if domain.prescaled and domain.norm == "unit_ball":
            # any point of the ball is a row
            d = domain.dimension
            for x in (np.zeros(d), np.full(d, ball_corner(d)), *np.eye(d)):
                yield domain.check(x[None, :], [y], None if z is None else [z])
            continue
        group = {} if domain.group is None else {domain.group: [z]}
        for row in _extreme_rows(domain):
            yield domain.encode({**row, domain.label: [y], **group})


def _extreme_rows(domain: Domain) -> Iterator[dict[str, list[Any]]]:
    """Yield one-row tables: all attributes low, all high, and each one high with the others low."""
    ends = {attribute.name: _ends(attribute) for attribute in domain.attributes}
    for high in (set(), set(ends), *({name} for name in ends)):
        yield {name: [upper if name in high else lower] for name, (lower, upper) in ends.items()}


def _ends(attribute: Attribute) -> tuple[Any, Any]:
    if isinstance(attribute, Numeric):
        return attribute.lower, attribute.upper
    return attribute.categories[0], attribute.categories[-1]


def _record_json(record: Records | None) -> dict[str, Any] | None:
    if record is None:
        return None
    return {
        "x": dict(zip(record.domain.columns, record.x[0].tolist(), strict=True)),
        "y": int(record.y[0]),
        "z": None if record.z is None else int(record.z[0]),
    }
