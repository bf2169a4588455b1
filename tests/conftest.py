"""Shared fixtures: real data where it is present, and a loud, named skip where it is not."""

from __future__ import annotations

import os
from collections.abc import Callable

import pytest
from hypothesis import settings

from reference import datasets
from reference.datasets.adult import FILES
from reference.datasets.source import CsvSource, data_folder
from reference.records import Records

settings.register_profile("project", deadline=None, derandomize=True, max_examples=100)
settings.load_profile("project")


def require_or_skip(present: bool, reason: str) -> None:
    """Skip a test that needs something absent; with CHECK_ALL=1 that is a failure."""
    if present:
        return
    if os.environ.get("CHECK_ALL") == "1":
        pytest.fail(f"CHECK_ALL=1, but {reason}")
    pytest.skip(reason)


@pytest.fixture(scope="session")
def affairs() -> Records:
    return datasets.load("affairs")


@pytest.fixture(scope="session")
def adult() -> Records:
    folder = data_folder() / "adult"
    present = all((folder / name).is_file() for name in FILES)
    require_or_skip(present, f"REAL DATA NOT TESTED: {folder} lacks {' or '.join(FILES)}; set CFM_DATA")
    return datasets.load("adult")


@pytest.fixture(scope="session")
def documented() -> Callable[[str], Records]:
    """Return a loader of the data sets that are one file under CFM_DATA, each read once."""
    read: dict[str, Records] = {}

    def load(name: str) -> Records:
        source = datasets.SOURCES[name]
        assert isinstance(source, CsvSource)
        path = data_folder() / source.path
        require_or_skip(path.is_file(), f"REAL DATA NOT TESTED: {path} is not there; set CFM_DATA")
        if name not in read:
            read[name] = datasets.load(name)
        return read[name]

    return load
