"""The data sets that checks and their controls look at, each read once in a process."""

from __future__ import annotations

from functools import lru_cache

from reference import datasets
from reference.datasets import Encoding
from reference.records import Records


@lru_cache(maxsize=4)
def load(name: str, choices: Encoding | None = None, *, records: int | None = None) -> Records:
    """Return what :func:`reference.datasets.load` does; nobody can change records, so all may share them."""
    return datasets.load(name, choices, records=records)
