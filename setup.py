"""All else stands in pyproject.toml; this ships proofs/ inside the package `audit.proofs`."""

from __future__ import annotations

import shutil
from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py

PROOFS = Path("proofs")


class BuildWithProofs(build_py):
    """Copy the Coq files and their pages into the wheel: `certify` and `proofs` compile them there."""

    def run(self) -> None:
        """Build; an editable install finds proofs/ at its place."""
        super().run()
        if not self.editable_mode:
            sources = [
                path for ending in ("*.md", "*.v", "_CoqProject", "Makefile") for path in PROOFS.rglob(ending)
            ]
            for path in sources:
                target = Path(self.build_lib, "audit", "proofs", "shipped", path.relative_to(PROOFS))
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(path, target)


setup(cmdclass={"build_py": BuildWithProofs})
