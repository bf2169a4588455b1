"""Bins for every declared number: by the rule of :mod:`reference.domain.edges`."""

from __future__ import annotations

from reference.domain.attributes import Attribute, Binned, Numeric
from reference.domain.file import DomainFile


def binned(declared: DomainFile) -> DomainFile:
    """Return the domain file with each plain number put into bins; all else stays, a centred number too."""
    return declared.with_(attributes=tuple(_binned(attribute) for attribute in declared.attributes))


def _binned(attribute: Attribute) -> Attribute:
    if type(attribute) is not Numeric or attribute.centred:
        return attribute
    return Binned(
        attribute.name,
        attribute.lower,
        attribute.upper,
        clip=attribute.clip,
        from_data=attribute.from_data,
        missing=attribute.missing,
        source="the declared bounds",
    )
