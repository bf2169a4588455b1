"""What several files of the gate share: one clean build of the machine-checked proofs."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from audit.proofs.build import build, copy_sources, missing
from audit.proofs.sources import PROJECT
from tests.conftest import require_or_skip


@pytest.fixture(scope="session")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a copy of the proofs, compiled once in a run, also when several processes share the tests."""
    reason = missing()
    require_or_skip(reason is None, str(reason))
    import fcntl  # on Unix only, as coqc is where this is reached

    root = tmp_path_factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        root = root.parent
    folder, done = root / "proofs", root / "proofs-done"
    with (root / "proofs-lock").open("w", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not done.exists():
            shutil.rmtree(folder, ignore_errors=True)
            build(copy_sources(PROJECT, folder))
            done.touch()
    return folder
