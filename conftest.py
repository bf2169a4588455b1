"""What all tests share: drawn examples, no terminal, and a visible skip of tests marked `exhaustive`."""

from __future__ import annotations

import os

import pytest
from hypothesis import settings

settings.register_profile("project", deadline=None, derandomize=True, max_examples=100)
settings.load_profile("project")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Skip the exhaustive tests unless CHECK_ALL=1 is set, or they are chosen by `-m`."""
    if os.environ.get("CHECK_ALL") == "1" or "exhaustive" in config.getoption("-m"):
        return
    left_out = pytest.mark.skip(reason="EXHAUSTIVE PART NOT RUN: set CHECK_ALL=1, or choose it by -m exhaustive")
    for item in items:
        if item.get_closest_marker("exhaustive") is not None:
            item.add_marker(left_out)


@pytest.fixture(autouse=True)
def no_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let no command fold its text to the terminal that the tests are started from."""
    monkeypatch.delenv("COLUMNS", raising=False)
