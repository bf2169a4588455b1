"""Real data sets with one record replaced by the worst in their domain."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import combinations, product
from typing import Any

import numpy as np

from audit.exact.neighbours import Neighbours
from reference.domain import Domain, ball_corner
from reference.domain.attributes import OWN_BIN, Attribute, Numeric
from reference.moments import Moments
from reference.noise import Noise
from reference.readings import Readings
from reference.records import Records, check_matrix, encode_table


@dataclass(frozen=True, eq=False)
class Extended:
    """Real records, known by their moments, and at most one further record.

    Parameters
    ----------
    base : Moments
        Of the real records; exact ones for hardened noise.
    description : str
        Of these, in words.
    record : Records or None
        One record; None for the smaller side of `add_or_remove_one`.
    """

    base: Moments
    description: str
    record: Records | None

    def __len__(self) -> int:
        return self.base.n + (self.record is not None)

    @property
    def domain(self) -> Domain:
        """The domain that all records were checked against."""
        return self.base.domain

    @property
    def moments(self) -> Moments:
        """Moments of all records; zbar follows from them."""
        return self.base if self.record is None else self.base + Moments.of(self.record, exact=self.base.exact)

    def to_json(self) -> list[dict[str, Any]]:
        """Return the description of the real records, and the further one in full."""
        shared: dict[str, Any] = {"count": self.base.n, "records": self.description}
        return [shared] if self.record is None else [shared, {"count": 1, **record_json(self.record)}]


def extreme_pair(records: Records, description: str, readings: Readings, noise: Noise) -> Neighbours:
    """Return the pair of extreme records that, in place of the last one, moves the coefficients most.

    "Most" is measured in units of the noise, by :func:`distance`.  The candidates are encodings of rows that the
    domain admits, so that a refutation speaks of real data: every attribute at its lower end, at its upper end,
    and one attribute at its upper end; all labels and groups.  Over all points of the norm's domain
    :func:`audit.exact.neighbours.extreme_neighbours` finds pairs that are farther apart.

    Parameters
    ----------
    records : Records
        At least two for `replace_one`.
    description : str
        Name of the data.
    readings : Readings
    noise : Noise
    """
    candidates, exact = list(_extreme_records(records.domain)), noise.steps is not None
    if readings.adjacency == "replace_one":
        base = Moments.zero(records.domain, exact=exact)
        if len(records) > 1:
            base = Moments.of(records.take(slice(0, -1)), exact=exact)
        text = f"{description} without its last record"
        pairs: Iterable[tuple[Records, Records | None]] = combinations(candidates, 2)
    else:
        base, text = Moments.of(records, exact=exact), description
        pairs = ((candidate, None) for candidate in candidates)
    neighbours = (
        Neighbours(Extended(base, text, left), Extended(base, text, right), readings) for left, right in pairs
    )
    return max(neighbours, key=lambda pair: distance(pair, noise))


def distance(neighbours: Neighbours, noise: Noise) -> float:
    """Return the distance between the coefficients of two data sets, in units of the noise.

    The sum of |change| / scale for Laplace noise, which is the pair's exact privacy loss, and the root of the sum
    of (change / sigma)^2 for Gaussian noise, its Mahalanobis length; in floats, for comparisons.
    """
    change = neighbours.change / noise.scales
    return float(np.abs(change).sum() if noise.kind == "laplace" else np.linalg.norm(change))


def _extreme_records(domain: Domain) -> Iterator[Records]:
    groups = (0, 1) if domain.group is not None else (None,)
    for y, z in product((0, 1), groups):
        if domain.prescaled and domain.norm == "unit_ball":
            # any point of the ball is a row
            d = domain.dimension
            for x in (np.zeros(d), np.full(d, ball_corner(d)), *np.eye(d)):
                yield check_matrix(domain, x[None, :], [y], None if z is None else [z])
            continue
        group = {} if domain.group is None else {domain.group: [z]}
        for row in _extreme_rows(domain):
            yield encode_table(domain, {**row, domain.label: [y], **group})


def _extreme_rows(domain: Domain) -> Iterator[dict[str, list[Any]]]:
    """Yield one-row tables: all attributes low, all high, and each one high with the others low."""
    ends = {attribute.name: _ends(attribute) for attribute in domain.attributes}
    for high in (set(), set(ends), *({name} for name in ends)):
        yield {name: [upper if name in high else lower] for name, (lower, upper) in ends.items()}


def _ends(attribute: Attribute) -> tuple[Any, Any]:
    if isinstance(attribute, Numeric):
        return attribute.lower, None if attribute.missing == OWN_BIN else attribute.upper
    return attribute.categories[0], attribute.categories[-1]


def record_json(record: Records) -> dict[str, Any]:
    """Return one record, its coordinates by name."""
    return {
        "x": dict(zip(record.domain.columns, record.x[0].tolist(), strict=True)),
        "y": int(record.y[0]),
        "z": None if record.z is None else int(record.z[0]),
    }
