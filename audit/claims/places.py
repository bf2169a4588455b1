"""Where the pages made from the ledger lead: files of the code, and headings."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]


def source_file(name: str) -> str:
    """Return the file of a dotted name, below the root: that of its longest part that is a module."""
    parts = name.split(".")
    for length in range(len(parts), 0, -1):
        stem = ROOT.joinpath(*parts[:length])
        for path in (stem.with_suffix(".py"), stem / "__init__.py"):
            if path.is_file():
                return path.relative_to(ROOT).as_posix()
    raise ModuleNotFoundError(name)


def anchor(heading: str) -> str:
    """Return what a link to a heading ends in."""
    return "#" + re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-")
