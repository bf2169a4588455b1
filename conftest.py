"""What is left out unless everything is asked for: tests marked `exhaustive`, each a visible skip."""

from __future__ import annotations

import os

import pytest


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Skip the exhaustive tests unless CHECK_ALL=1 is set, or they are chosen by `-m`."""
    if os.environ.get("CHECK_ALL") == "1" or "exhaustive" in config.getoption("-m"):
        return
    left_out = pytest.mark.skip(reason="EXHAUSTIVE PART NOT RUN: set CHECK_ALL=1, or choose it by -m exhaustive")
    for item in items:
        if item.get_closest_marker("exhaustive") is not None:
            item.add_marker(left_out)
