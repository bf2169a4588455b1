"""Our mechanisms with data sets as inputs, so that the pair can be searched."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

import numpy as np

from audit.exact.data_sets import times
from audit.subjects.real_neighbours import Extended, record_json
from audit.subjects.releases import CoefficientRelease
from audit.subjects.search.neighbourhoods import DataSet, DataSets, Row
from reference.common.arrays import FloatArray, NumberArray
from reference.domain import Domain
from reference.domain.attributes import OWN_BIN, Attribute, Binned, Numeric
from reference.moments import Moments
from reference.objective import objective
from reference.records import Records, check_matrix, encode_table


@dataclass(frozen=True, eq=False)
class ReleaseOverDomain:
    """A release as a function of the data set, over the domain that its records declare.

    A row of the search is a point of the unit cube: one number per attribute, then the label and the group.
    :meth:`record` decodes it, so every row is an admissible record.  If the release is of real data, only the
    differing record is searched.

    Parameters
    ----------
    release : CoefficientRelease
        Its own pair of neighbours gives the size, and the real data if there is any.
    """

    release: CoefficientRelease

    @property
    def domain(self) -> Domain:
        """The declared domain."""
        return self.release.neighbours.domain

    @property
    def own_entropy(self) -> bool:
        """Whether the release's noise is hardened."""
        return self.release.own_entropy

    @property
    def most_rows(self) -> int:
        """Outputs to request at a time."""
        return self.release.most_rows

    @cached_property
    def base(self) -> Moments:
        """Moments of the real records that both data sets share."""
        left = self.release.neighbours.left
        return left.base if isinstance(left, Extended) else Moments.zero(self.domain, exact=self.own_entropy)

    @cached_property
    def neighbourhood(self) -> DataSets:
        """All pairs of the stated size, beside the real data."""
        flags = 1 if self.domain.group is None else 2
        columns = len(self.domain.attributes) + flags
        sizes = [len(side) for side in (self.release.neighbours.left, self.release.neighbours.right)]
        cube = (0.0,) * columns, (1.0,) * columns
        records = max(sizes) - self.base.n
        return DataSets(*cube, records, self.release.readings.adjacency, beside=self.base.n, flags=flags)

    @cached_property
    def coefficients(self) -> Callable[[DataSet], NumberArray]:
        """The exact coefficients of a data set, cached."""
        return lru_cache(maxsize=64)(self._coefficients)

    def sample(self, data: DataSet, count: int, rng: np.random.Generator) -> FloatArray:
        """Return `count` outputs of the release, by the code that makes one."""
        return self.release.sample(self.coefficients(data), count, rng)

    def describe(self, data: DataSet) -> list[dict[str, Any]]:
        """Return the records in words and numbers."""
        shared = [] if not self.base.n else [{"count": self.base.n, "records": "the data"}]
        rows = [*data.common, *([] if data.last is None else [(data.last, 1)])]
        return [*shared, *({"count": count, **record_json(self.record(row))} for row, count in rows)]

    def record(self, row: Row) -> Records:
        """Return the record that a point of the unit cube stands for."""
        domain, places = self.domain, list(row)
        z = None if domain.group is None else float(places.pop() >= 0.5)
        y = float(places.pop() >= 0.5)
        if domain.prescaled:
            return check_matrix(
                domain, _inside(np.array(places), domain.norm)[None, :], [y], None if z is None else [z]
            )
        table: dict[str, list[Any]] = {
            attribute.name: [_value(attribute, place)]
            for attribute, place in zip(domain.attributes, places, strict=True)
        }
        group = {} if domain.group is None else {domain.group: [z]}
        return encode_table(domain, {**table, domain.label: [y], **group})

    def _coefficients(self, data: DataSet) -> NumberArray:
        total = self.base
        for row, count in [*data.common, *([] if data.last is None else [(data.last, 1)])]:
            total = total + times(Moments.of(self.record(row), exact=total.exact), count)
        return objective(total, self.release.readings).values


def _inside(place: FloatArray, norm: str) -> FloatArray:
    """Return a point of the norm's domain for a point of the unit cube."""
    if norm == "unit_box":
        return place
    x = 2 * place - 1 if norm == "symmetric_ball" else place
    return np.asarray(x / max(1.0, float(np.linalg.norm(x))))


def _value(attribute: Attribute, place: float) -> Any:
    if isinstance(attribute, Binned) and attribute.missing == OWN_BIN:
        place *= (len(attribute.edges) + 2) / (len(attribute.edges) + 1)
        if place >= 1:
            return None
    if isinstance(attribute, Numeric):
        return min(attribute.upper, attribute.lower + place * (attribute.upper - attribute.lower))
    return attribute.categories[min(int(place * len(attribute.categories)), len(attribute.categories) - 1)]
