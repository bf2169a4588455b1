"""Files of the checkout that commands read: a wheel has them in one archive, at a seventh of their size."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from io import BytesIO
from pathlib import Path
from typing import TypeAlias
from zipfile import BadZipFile, ZipFile
from zipfile import Path as ZipPath

from reference.common.errors import UnreadableFileError

CHECKOUT = Path(__file__).parents[2]

ARCHIVE = Path(__file__).with_name("packed.zip.xz")
"""A zip file of uncompressed members, compressed as a whole; only in a wheel."""

Place: TypeAlias = Path | ZipPath
"""A file or a folder, to read from."""


def place_of(place: str = "") -> Place:
    """Return a file or a folder by its place in the checkout; by default the root."""
    return _root() / place


@cache
def _root() -> Place:
    if not ARCHIVE.is_file():
        if not (CHECKOUT / "pyproject.toml").is_file():
            raise UnreadableFileError("is not there: install the package again", file=str(ARCHIVE))
        return CHECKOUT
    import lzma

    try:
        archive = ZipFile(BytesIO(lzma.decompress(ARCHIVE.read_bytes())))
    except (lzma.LZMAError, BadZipFile) as problem:
        raise UnreadableFileError("is damaged: install the package again", file=str(ARCHIVE)) from problem
    # begins the text of every path
    archive.filename = str(ARCHIVE)
    return ZipPath(archive)


def members(folder: Place) -> list[Place]:
    """Return what a folder holds, by name."""
    there: Iterator[Place] = folder.iterdir()
    return sorted(there, key=lambda path: path.name)
