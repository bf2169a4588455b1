"""All else stands in pyproject.toml; this packs what the commands of `audit` read into one file of the wheel."""

from __future__ import annotations

import io
import lzma
import zipfile
from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py

READ = (
    *("proofs/**/*.md", "proofs/**/*.v", "proofs/**/_CoqProject", "proofs/**/Makefile"),
    *("docs/auditor-validity.json", "docs/catalogue.*", "docs/experiments.json", "docs/experiments_peers.json"),
    *("docs/data/frontier-*.json", "docs/data/rivals-*.json", "docs/figures/*.json"),
    *("audit/claims/*.json", "audit/proofs/*.json", "audit/vectors/v1/*.json"),
    *("audit/commands/report/*.json", "audit/commands/report/assets/**/*"),
)
"""Files that :mod:`audit.common.packed` finds."""


class BuildWithArchive(build_py):
    """Pack into the wheel what `certify`, `proofs`, `claims`, `conformance` and `report` read."""

    def run(self) -> None:
        """Build; an editable install finds all of it at its place."""
        super().run()
        if not self.editable_mode:
            content = io.BytesIO()
            with zipfile.ZipFile(content, "w") as archive:
                for path in sorted({path for pattern in READ for path in Path().glob(pattern) if path.is_file()}):
                    # without the time of the build
                    archive.writestr(zipfile.ZipInfo(path.as_posix()), path.read_bytes())
            Path(self.build_lib, "audit/common/packed.zip.xz").write_bytes(lzma.compress(content.getvalue()))


setup(cmdclass={"build_py": BuildWithArchive})
