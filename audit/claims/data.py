"""The data sets of checks and their controls, each read once in a process."""

from __future__ import annotations

from functools import lru_cache

from reference import datasets
from reference.datasets import Encoding
from reference.records import Records


@lru_cache(maxsize=4)
def load(name: str, choices: Encoding | None = None, *, records: int | None = None) -> Records:
    """Load a data set as :func:`reference.datasets.load` does; records cannot change, so all share them."""
    return datasets.load(name, choices, records=records)
