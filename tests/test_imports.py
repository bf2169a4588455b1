"""Contracts of who imports whom (`make lint`) fire on a forbidden import; light rooms load no heavy library."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent

PLANTED = {
    "reference/records.py": ("import audit.bounds", "Rooms of the reference"),
    "reference/minimiser.py": ("import reference.moments", "The minimiser cannot reach data"),
    "audit/bounds/counts.py": ("import audit.auditor", "Rooms of the audit"),
    "audit/auditor/draws.py": ("import audit.subjects", "Rooms of the audit"),
    "audit/exact/privacy.py": ("import click", "Only commands read options"),
    "reference/moments.py": ("import pandas", "Data frames stay in the datasets"),
    "audit/evidence/verify.py": ("import opendp", "Released noise comes from one module"),
    "audit/vectors/sources/scales.py": ("import reference.common.numbers", "The second source of the vectors"),
    "audit/claims/ledger.py": ("import audit.commands", "Rooms of the audit"),
}
"""Of each file an import that no contract allows, and the contract that says so."""


def broken(root: Path) -> set[str]:
    """Return the names of the contracts that a tree breaks."""
    linter = Path(sys.executable).with_name("lint-imports")
    done = subprocess.run(
        [linter, "--no-cache", "--no-logo"], cwd=root, check=False, capture_output=True, text=True
    )
    lines = done.stdout.replace("\n", " ").split("Contracts:")[0].split("KEPT")
    found = {name for line in lines for name in line.split("BROKEN")[:-1]}
    assert (done.returncode == 0) == (not found), done.stdout + done.stderr
    return found


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """Return a copy of both packages without their tests."""
    for package in ("reference", "audit"):
        shutil.copytree(ROOT / package, tmp_path / package, ignore=shutil.ignore_patterns("test_*", "__pycache__"))
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    return tmp_path


def test_contracts_are_kept_by_the_tree_and_broken_by_planted_imports(tree: Path) -> None:
    assert broken(tree) == set()
    for name, (line, _) in PLANTED.items():
        file = tree / name
        # under TYPE_CHECKING: that counts, too
        text = f"\nfrom typing import TYPE_CHECKING\n\nif TYPE_CHECKING:\n    {line}\n"
        file.write_text(file.read_text(encoding="utf-8") + text, encoding="utf-8")
    found = " ".join(broken(tree))
    for name, (_, contract) in PLANTED.items():
        assert contract in found, name


@pytest.mark.parametrize(
    ("rooms", "absent"),
    [
        (
            "reference.domain reference.moments reference.minimiser reference.noise",
            "pandas pyarrow statsmodels sklearn",
        ),
        (
            "reference.minimiser",
            "reference.moments reference.objective reference.records reference.domain reference.datasets",
        ),
    ],
)
def test_light_rooms_load_nothing_heavy(rooms: str, absent: str) -> None:
    code = (
        f"import sys, {', '.join(rooms.split())}\n"
        f"loaded = [name for name in {absent.split()} if name in sys.modules]\n"
        "sys.exit(str(loaded) if loaded else 0)"
    )
    done = subprocess.run([sys.executable, "-c", code], check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
