"""Files written whole or not at all."""

from __future__ import annotations

import contextlib
import json
import os
import stat
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from reference.common.processes import end_copy

SCRATCH = ".writing-"
"""Start of the names of unfinished files; the target's own name may already have the full length."""

KEPT = ("release_v", "repaired_release_v", "release_ledger_v", "domain_v")
"""Schemas of files that nobody can make again: they cost budget, or were written by hand."""

LARGEST_READ = 1 << 24
"""Characters of a file in which :func:`is_kept` reads a document."""


def write_whole(path: str | Path, content: str | bytes | Iterable[str]) -> None:
    """Write a file, text as UTF-8: afterwards there is all of it, or the old file.

    Symbolic links are followed, so they stay links.  Anything but a regular file (a device, a pipe) is written
    to in place and never replaced.

    Raises
    ------
    OSError
        When the folder does not exist or cannot be written to; the old file is then untouched.
    """
    end_copy()
    chunks = [content] if isinstance(content, (str, bytes)) else content
    if Path(path).exists() and not Path(path).is_file():
        with Path(path).open("wb") as stream:
            stream.writelines(_as_bytes(chunk) for chunk in chunks)
        return
    target = Path(path).resolve()
    try:
        handle, name = tempfile.mkstemp(dir=target.parent, prefix=SCRATCH)
    except OSError as problem:
        # which names a scratch file that nobody asked for
        raise OSError(problem.errno, problem.strerror, str(path)) from None
    scratch = Path(name)
    try:
        with os.fdopen(handle, "wb") as file:
            file.writelines(_as_bytes(chunk) for chunk in chunks)
            file.flush()
            os.fsync(file.fileno())
        scratch.chmod(_mode_of(target))
        scratch.replace(target)
    except BaseException:
        scratch.unlink()
        raise
    _sync_folder(target.parent)


def _mode_of(target: Path) -> int:
    """Return the rights that a file has or, if it is new, gets by default."""
    with contextlib.suppress(OSError):
        return stat.S_IMODE(target.stat().st_mode)
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask


def is_kept(path: Path) -> bool:
    """Return whether a file holds a release without a seed, a release ledger or a domain file.

    A file that starts as JSON does and cannot be read may be any of them, so it is kept.
    """
    try:
        with path.open(encoding="utf-8-sig", errors="replace") as file:
            text = file.read(LARGEST_READ).lstrip()
    except OSError:
        return False
    if not text.startswith(("{", "[")):
        return False
    try:
        # of a ledger, its first line
        return _is_kept(json.JSONDecoder().raw_decode(text)[0])
    except (ValueError, RecursionError):
        return True


def _is_kept(document: Any) -> bool:
    """Return the same for a document, or for a list of results of ``fit``."""
    if isinstance(document, list):
        return any(map(_is_kept, document))
    if not isinstance(document, dict):
        return False
    if str(document.get("schema")).startswith(KEPT):
        # a seed makes the same release again
        return document.get("seeded") is not True
    return _is_kept(document.get("releases"))


def _sync_folder(folder: Path) -> None:
    """Make the new name survive a power failure."""
    if os.name != "posix" or not os.access(folder, os.R_OK):
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _as_bytes(chunk: str | bytes) -> bytes:
    return chunk.encode() if isinstance(chunk, str) else chunk


def json_text(document: Any, *, ascii_only: bool = True) -> str:
    """Return a JSON document as text; NaN and infinity are refused because JSON has neither."""
    return json.dumps(document, indent=2, allow_nan=False, ensure_ascii=ascii_only) + "\n"
