"""All else stands in pyproject.toml; this ships proofs/, and the results that the report shows, inside `audit`."""

from __future__ import annotations

import shutil
from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py

PROOFS, DOCS = Path("proofs"), Path("docs")

RESULTS = ("auditor-validity.json", "catalogue.*", "experiments.json", "experiments_peers.json")
MEASURED = ("data/frontier-*.json", "data/rivals-*.json", "figures/*.json")


class BuildWithProofs(build_py):
    """Copy into the wheel what `certify` and `proofs` compile, and what `report` shows."""

    def run(self) -> None:
        """Build; an editable install finds all of it at its place."""
        super().run()
        if not self.editable_mode:
            for ending in ("*.md", "*.v", "_CoqProject", "Makefile"):
                for path in PROOFS.rglob(ending):
                    self.ship(path, Path("proofs", "shipped", path.relative_to(PROOFS)))
            for pattern in (*RESULTS, *MEASURED):
                for path in DOCS.glob(pattern):
                    self.ship(path, Path("commands", "report", "shipped", path))

    def ship(self, path: Path, place: Path) -> None:
        """Copy a file to a place below the package `audit`."""
        target = Path(self.build_lib, "audit", place)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, target)


setup(cmdclass={"build_py": BuildWithProofs})
