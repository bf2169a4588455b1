"""What tests of proofs and of certified releases share: an honest project, and the embedded data."""

from __future__ import annotations

from typing import Any

import pytest

from audit.gate.proofs.toys import require_coq, toy
from audit.proofs.build import ask, build
from audit.proofs.check import document
from reference import datasets
from reference.records import Records


@pytest.fixture(scope="session")
def affairs() -> Records:
    return datasets.load("affairs")


@pytest.fixture(scope="session")
def honest(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """Return what is committed of a small project, to compare with."""
    require_coq()
    folder = toy(tmp_path_factory.mktemp("honest") / "toy")
    build(folder)
    answers = ask(folder)
    assert answers.unexplained == ()
    return document(answers)
