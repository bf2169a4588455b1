"""Domain files with bins from public knowledge of a table; each bin names a source outside the table."""

from __future__ import annotations

from pathlib import Path

from reference.common.errors import ReadingError
from reference.domain.file import DomainFile, load_domain_file

FOLDER = Path(__file__).parent / "public"

ENDINGS = ("", "_main", "_coarse")
"""Of file names, the finest bins first."""

PUBLIC = tuple(sorted(path.stem for path in FOLDER.glob("*.json") if not path.stem.endswith(ENDINGS[1:])))
"""Data sets that have such files."""


def public_domains(name: str) -> tuple[DomainFile, ...]:
    """Return the domain files of a data set with public bins and groups of categories, the finest first.

    Raises
    ------
    reference.common.errors.ReadingError
        When the data set has none.
    """
    if name not in PUBLIC:
        raise ReadingError("data", name, "one of " + ", ".join(PUBLIC))
    paths = (FOLDER / f"{name}{ending}.json" for ending in ENDINGS)
    return tuple(load_domain_file(path) for path in paths if path.is_file())
