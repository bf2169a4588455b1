"""Data sets of few distinct records, each with a count: compact, explicit, and as large as needed."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from reference.domain import Domain
from reference.moments import Moments
from reference.records import Records


@dataclass(frozen=True, eq=False)
class Repeated:
    """A data set given by its distinct records and how often each occurs.

    Parameters
    ----------
    distinct : Records
        Checked against their domain.
    counts : tuple of int
        One per distinct record, at least 1.
    exact : bool
        Whether :attr:`moments` are those of hardened noise, which rounds x to the grid.
    """

    distinct: Records
    counts: tuple[int, ...]
    exact: bool = False

    def __post_init__(self) -> None:
        if len(self.counts) != len(self.distinct) or min(self.counts) < 1:
            raise ValueError("each distinct record needs a count of at least 1")

    def __len__(self) -> int:
        return sum(self.counts)

    @property
    def domain(self) -> Domain:
        """The domain that the records were checked against."""
        return self.distinct.domain

    @property
    def moments(self) -> Moments:
        """Moments of the whole data set: blocks of equal records, added up."""
        total = Moments.zero(self.domain, exact=self.exact)
        for row, count in enumerate(self.counts):
            record = self.distinct.take(slice(row, row + 1))
            total = total + times(Moments.of(record, exact=self.exact), count)
        return total

    def to_json(self) -> list[dict[str, Any]]:
        """Return the distinct records with their counts."""
        z = self.distinct.z
        return [
            {
                "count": count,
                "x": [int(value) if value == int(value) else value for value in self.distinct.x[row].tolist()],
                "y": int(self.distinct.y[row]),
                "z": None if z is None else int(z[row]),
            }
            for row, count in enumerate(self.counts)
        ]


def times(moments: Moments, count: int) -> Moments:
    """Return the moments of `count` copies: their sum, rounded once."""
    return Moments(
        moments.domain,
        moments.n * count,
        moments.sum_z * count,
        moments.sum_x * count,
        moments.sum_yx * count,
        moments.sum_zx * count,
        moments.sum_xx * count,
    )


def rows_text(rows: Iterable[dict[str, Any]]) -> str:
    """Write the distinct records of a data set with their counts."""
    shown = (f"{row['count']:,} x (x = {vector_text(row['x'])}, y = {row['y']}, z = {row['z']})" for row in rows)
    return " + ".join(shown)


def vector_text(x: Sequence[float]) -> str:
    """Write a vector, equal neighbouring entries once."""
    runs = [(value, len(list(run))) for value, run in groupby(x)]
    return "(" + ", ".join(f"{value:.6g}" + (f" x {count}" if count > 1 else "") for value, count in runs) + ")"
