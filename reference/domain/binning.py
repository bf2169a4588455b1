"""A rule that bins every declared number: from its bounds alone, so that nothing about the data is needed."""

from __future__ import annotations

from reference.domain.attributes import Attribute, Binned, Numeric
from reference.domain.file import DomainFile

PARTS = 8
"""Equal parts of the declared range; the lowest is halved until a part is narrower than 1."""


def edges_of(lower: float, upper: float) -> tuple[float, ...]:
    """Return where the bins of a range part: at its eighths, and at halves of the lowest eighth down to 1.

    Counts and amounts have most of their values near their lower end, and are declared in ones.
    """
    width = upper - lower
    edges = [width * part / PARTS for part in range(1, PARTS)]
    part = width / PARTS / 2
    while part >= 1:
        edges.append(part)
        part /= 2
    return tuple(sorted({lower + edge for edge in edges}))


def binned(declared: DomainFile) -> DomainFile:
    """Return the domain file with each plain number put into bins; all else stays."""
    return declared.with_(attributes=tuple(_binned(attribute) for attribute in declared.attributes))


def _binned(attribute: Attribute) -> Attribute:
    if type(attribute) is not Numeric:
        return attribute
    return Binned(
        attribute.name,
        attribute.lower,
        attribute.upper,
        clip=attribute.clip,
        from_data=attribute.from_data,
        edges=edges_of(attribute.lower, attribute.upper),
        source="the declared bounds",
    )
