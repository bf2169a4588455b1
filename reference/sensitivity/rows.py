"""Rows of a declared domain by the places of their attributes, and their exact encoding."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from reference.domain import Domain
from reference.domain.attributes import Attribute, Binned, Grouped, OneHot, Ordinal


@dataclass(frozen=True)
class EncodedRow:
    """One row that a domain encodes.

    Parameters
    ----------
    places : tuple of Fraction
        Of each attribute: how far between its bounds or ranks, or the index of its column.
    y, z : int
    """

    places: tuple[Fraction, ...]
    y: int
    z: int

    def x(self, domain: Domain) -> tuple[Fraction, ...]:
        """Return the encoded row in exact arithmetic; floats round it."""
        corner = Fraction(domain.column_factor)
        entries = [corner] if domain.intercept else []
        for attribute, place in zip(domain.attributes, self.places, strict=True):
            if (width := len(attribute.columns)) > 1:
                entries += [corner if place == column else Fraction(0) for column in range(width)]
            else:
                entries.append(corner * place)
        return (*entries, corner * self.z) if domain.keep_group else tuple(entries)

    def values(self, domain: Domain) -> dict[str, Any]:
        """Return the row of a table; a number between its bounds is rounded to a float."""
        found = {a.name: _value(a, place) for a, place in zip(domain.attributes, self.places, strict=True)}
        found[domain.label] = self.y
        return found if domain.group is None else found | {domain.group: self.z}


@dataclass(frozen=True)
class NeighbouringRows:
    """Two neighbouring data sets: the row that differs on each side, and N - 1 equal ones.

    Parameters
    ----------
    before : EncodedRow or None
        None where the new row is added.
    after, others : EncodedRow
    """

    before: EncodedRow | None
    after: EncodedRow
    others: EncodedRow


def _value(attribute: Attribute, place: Fraction) -> Any:
    if isinstance(attribute, OneHot):
        return attribute.categories[int(place)]
    if isinstance(attribute, Grouped):
        return list(attribute.groups.values())[int(place)][0]
    if isinstance(attribute, Binned):
        # the bin of missing values comes last
        return (attribute.lower, *attribute.edges, None)[int(place)]
    if isinstance(attribute, Ordinal):
        return attribute.categories[int(place * (len(attribute.categories) - 1))]
    lower, upper = Fraction(attribute.lower), Fraction(attribute.upper)
    return min(max(float(lower + place * (upper - lower)), attribute.lower), attribute.upper)
