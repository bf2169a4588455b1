"""What all tests share: drawn examples, no terminal, and a visible skip of tests that are run elsewhere."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator

import pytest
from hypothesis import settings

settings.register_profile("project", deadline=None, derandomize=True, max_examples=100)
settings.load_profile("project")

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    # a shell starts what it puts in the background so; commands that tests interrupt would inherit it and not end
    signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Skip exhaustive tests unless CHECK_ALL=1 is set, and lengthy ones, unless they are chosen by `-m`."""
    chosen = config.getoption("-m")
    left_out = {"lengthy": "LENGTHY PART NOT RUN: `make soak` runs it, or choose it by -m lengthy"}
    if os.environ.get("CHECK_ALL") != "1":
        left_out["exhaustive"] = "EXHAUSTIVE PART NOT RUN: set CHECK_ALL=1, or choose it by -m exhaustive"
    for marker, reason in left_out.items():
        for item in items if marker not in chosen else ():
            if item.get_closest_marker(marker) is not None:
                item.add_marker(pytest.mark.skip(reason=reason))


@pytest.fixture(autouse=True)
def interruptible() -> Iterator[None]:
    """Let no test change what Ctrl-C does: later tests start commands, which inherit it."""
    before = signal.getsignal(signal.SIGINT)
    yield
    after = signal.getsignal(signal.SIGINT)
    signal.signal(signal.SIGINT, before)
    assert after is before


@pytest.fixture(autouse=True)
def no_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let no command fold its text to the terminal that the tests are started from."""
    monkeypatch.delenv("COLUMNS", raising=False)
