"""What all tests share: drawn examples, no terminal, and a visible skip of tests that are run elsewhere."""

from __future__ import annotations

import gc
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


LONGEST = (
    # builds the proofs on both cores; what waits for programs of its own goes on beside it
    "audit/gate/proofs/test_proofs.py",
    "audit/gate/subjects/test_misbehaving_programs.py",
    "audit/gate/conformance/test_programs.py",
    "audit/gate/commands/test_report_page.py",
    "audit/gate/subjects/test_programs.py",
    "tests/test_soak.py",
    "tests/test_mutants.py",
    "tests/test_cluster.py",
    "audit/gate/claims/test_claims.py",
    "audit/gate/proofs/test_repaired_certificates.py",
    "audit/gate/proofs/test_certify.py",
    "audit/gate/subjects/test_catalogue.py",
    "audit/gate/proofs/test_verdicts.py",
    "audit/gate/conformance/test_ports.py",
    "audit/gate/evidence/test_copies.py",
    "tests/test_command_family.py",
    "tests/test_distributions.py",
    "tests/test_sensitivity.py",
    "tests/test_examples.py",
    "audit/gate/commands/test_output.py",
)
"""Files of ten seconds and more.  They come first: one that came last would leave the other process idle."""


def pytest_collection() -> None:
    """Make thousands of test items without looking for garbage among them."""
    gc.disable()


def pytest_collection_finish() -> None:
    """Look for garbage again, but never among the items: each look of a whole run would walk through them all."""
    gc.enable()
    gc.freeze()


def pytest_sessionfinish() -> None:
    """Let what was kept be freed at the end, as in any other program."""
    gc.unfreeze()


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Skip exhaustive tests unless CHECK_ALL=1 is set, and lengthy ones, unless they are chosen by `-m`."""
    place = {str(config.rootpath / name): number for number, name in enumerate(LONGEST)}
    items.sort(key=lambda item: place.get(str(item.path), len(LONGEST)))
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
