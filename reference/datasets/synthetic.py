"""Generated data of any size: features in [0, 1], a group that shifts the first one, a noisy linear label."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from reference.common.errors import ReadingError
from reference.datasets.source import Source, Table
from reference.datasets.table import MOST_COLUMNS
from reference.domain.attributes import Numeric
from reference.domain.file import DomainFile
from reference.domain.markers import Marker

MOST_NUMBERS = 10**8


@dataclass(frozen=True)
class Synthetic(Source):
    """Generator of seeded data.

    Parameters
    ----------
    records, dimension, seed : int
    """

    records: int = 10_000
    dimension: int = 8
    seed: int = 0

    def sized(self, records: int | None, dimension: int | None, seed: int) -> Source:
        """Return the source with a size and a seed."""
        for option, value in (("records", records), ("dimension", dimension)):
            if value is not None and value < 1:
                raise ReadingError(option, value, "at least 1")
        if dimension is not None and dimension > MOST_COLUMNS:
            raise ReadingError("dimension", dimension, f"at most {MOST_COLUMNS:,}")
        found = replace(self, records=records or self.records, dimension=dimension or self.dimension, seed=seed)
        if found.records * found.dimension > MOST_NUMBERS:
            size = f"{found.records:,} records of {found.dimension:,} attributes"
            raise ReadingError("records", size, f"at most {MOST_NUMBERS:,} numbers, which are kept in memory")
        return found

    def domain_file(self, encoding: str) -> DomainFile:
        """Return `dimension` numbers on [0, 1]."""
        attributes = tuple(Numeric(f"x{index}", 0.0, 1.0) for index in range(self.dimension))
        return DomainFile(attributes=attributes, label=Marker("label"), group=Marker("group"))

    def table(self) -> Table:
        """Generate the data."""
        random = np.random.default_rng(self.seed)
        z = random.integers(0, 2, self.records)
        x = random.random((self.records, self.dimension))
        x[:, 0] = (x[:, 0] + z) / 2
        direction = np.where(np.arange(self.dimension) % 2 == 0, 2.0, -2.0)
        score = (x - 0.5) @ direction
        y = (random.random(self.records) < 1 / (1 + np.exp(-3 * score))).astype(int)
        table: dict[str, list[float]] = {f"x{index}": x[:, index].tolist() for index in range(self.dimension)}
        table["label"] = y.tolist()
        table["group"] = z.tolist()
        return Table(table)


SOURCE = Synthetic("synthetic")
