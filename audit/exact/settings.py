"""The data sets that a supremum is taken over, as a user describes them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from audit.exact.witnesses import domain_of
from reference.common.errors import ReadingError
from reference.common.numbers import decimal_text
from reference.datasets import load
from reference.readings import Readings
from reference.sensitivity import Setting, setting_of

LARGEST_DIMENSION, LARGEST_SIZE = 1000, 10**9
"""Beyond these, a witness cannot be built and checked in double precision within seconds."""


@dataclass(frozen=True, kw_only=True)
class DataSetShape:
    """The data sets that a supremum is taken over.

    Parameters
    ----------
    dimension : int or None
        Coordinates of w, the intercept included; those of the embedded data when None.
    records : int or None
        N; any number, the limit of large N, when None.
    domain : str
        Norm of x.
    """

    dimension: int | None = None
    records: int | None = None
    domain: str = "unit_ball"

    @property
    def checked_dimension(self) -> int:
        """The dimension, after checking that it and the records are small enough to compute with."""
        dimension: int = load().domain.dimension if self.dimension is None else self.dimension
        if not 1 <= dimension <= LARGEST_DIMENSION:
            raise ReadingError("dimension", dimension, f"from 1 to {LARGEST_DIMENSION}")
        if self.records is not None and self.records > LARGEST_SIZE:
            raise ReadingError("records", self.records, f"at most {LARGEST_SIZE:,}, or left out for the limit")
        return dimension


def setting_from(sets: DataSetShape, readings: Readings) -> Setting:
    """Return the setting of the data sets under the readings."""
    shape = Setting(sets.checked_dimension, readings.fairness, sets.domain, readings.adjacency)
    return setting_of(domain_of(shape), readings, sets.records)


def readings_json(setting: Setting) -> dict[str, Any]:
    """Return the readings and the size of a setting for a document."""
    return {
        "fairness": setting.fairness,
        "fairness_weight": decimal_text(setting.fairness_weight),
        "domain": setting.norm,
        "basis": setting.basis,
        "adjacency": setting.adjacency,
        "records": setting.records,
        "dimension": setting.dimension,
    }
