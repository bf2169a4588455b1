"""What every data source offers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from reference.attributes import OneHot, Ordinal
from reference.domain import Domain
from reference.errors import ReadingError


@dataclass(frozen=True)
class Table:
    """Columns as they were read.

    Parameters
    ----------
    columns : mapping from name to values
        The declared columns, each of length n.
    places : sequence of (file, line), optional
        Where each record was read, for messages.
    """

    columns: Mapping[str, Sequence[Any]]
    places: Sequence[tuple[str, int]] | None = None


@dataclass(frozen=True)
class Source:
    """A named data set: how to read it, and its public domain.

    Subclasses implement :meth:`domain` and :meth:`table`.
    """

    name: str

    def domain(self, encoding: str) -> Domain:
        """Return the public domain, with categories as `ordinal` ranks or `one_hot` coordinates."""
        raise NotImplementedError

    def table(self) -> Table:
        """Read the data."""
        raise NotImplementedError

    def sized(self, records: int | None, dimension: int | None, seed: int) -> Source:
        """Return the source with a size; only generated data have one to choose."""
        for option, value in (("records", records), ("dimension", dimension)):
            if value is not None:
                raise ReadingError(option, value, f"left out for {self.name}, whose size is given")
        return self


def categorical(name: str, categories: Sequence[Any], encoding: str) -> Ordinal | OneHot:
    """Return an attribute with declared categories in the asked encoding."""
    if encoding == "one_hot":
        return OneHot(name, tuple(categories))
    if encoding == "ordinal":
        return Ordinal(name, tuple(categories))
    raise ReadingError("encoding", encoding, "ordinal or one_hot")
