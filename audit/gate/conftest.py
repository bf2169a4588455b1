"""What several files of the gate share: one clean build of the machine-checked proofs."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from audit.gate.needs import require_or_skip
from audit.proofs.build import build, copy_sources, missing
from audit.proofs.releases.check import needed_sources
from audit.proofs.sources import PROJECT


@pytest.fixture(scope="session")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return compiled proofs that no other process writes to; they are compiled once in a run."""
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
    return shutil.copytree(folder, tmp_path_factory.mktemp("compiled") / "proofs")


def copy_compiled(built: Path, folder: Path, names: list[str]) -> None:
    """Copy what Coq made of some files."""
    for name in names:
        for suffix in (".vo", ".glob"):
            shutil.copy((built / name).with_suffix(suffix), folder)


@pytest.fixture(scope="session")
def library(built: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a compiled copy of what certificates of releases need."""
    folder = tmp_path_factory.mktemp("certificates") / "coq"
    modules = "BoxSensitivity SplitCertificates SigmaBound BallCertificate HardenedCertificates PrivacyInLaw"
    copy_compiled(built, folder, needed_sources(folder, f"From CFM Require Import {modules}."))
    return folder
