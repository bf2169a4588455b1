"""What tells a file from others, and from itself after a change."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

from reference.common.documents import Document

_END = 2**16
"""Bytes at each end of a file that belong to its identity: a Parquet file's last ones describe all others."""


class FileIdentity(Document, frozen=True, kw_only=True):
    """A file at some moment; `ends` is a digest of its first and last bytes.

    Both times are in nanoseconds: `modified` can be set by anyone, `changed` moves with every write.
    """

    path: str
    size: int
    modified: int
    changed: int
    ends: str

    @classmethod
    def of(cls, path: Path) -> FileIdentity:
        """Look at a file."""
        with path.open("rb") as file:
            state = os.fstat(file.fileno())
            digest = hashlib.sha256(file.read(_END))
            file.seek(max(state.st_size - _END, 0))
            digest.update(file.read(_END))
        return cls(
            path=str(path.resolve()),
            size=state.st_size,
            modified=state.st_mtime_ns,
            changed=state.st_ctime_ns,
            ends=digest.hexdigest(),
        )
