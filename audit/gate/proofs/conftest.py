"""What tests of certified releases share: the embedded data."""

from __future__ import annotations

import pytest

from reference import datasets
from reference.records import Records


@pytest.fixture(scope="session")
def affairs() -> Records:
    return datasets.load("affairs")
