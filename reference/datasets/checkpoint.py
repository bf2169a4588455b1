"""Checkpoints: exact moments of the records read so far, so that a stopped reading can go on.

Exact sums do not depend on the order, so a reading that was stopped ends with the same bits.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from reference import __version__
from reference.common.documents import Document, plain, read_file
from reference.common.errors import CheckpointError, MomentsTableError
from reference.common.files import json_text, write_whole
from reference.datasets.file_identity import FileIdentity
from reference.datasets.from_file import FileReader
from reference.datasets.table import Place, unchanged
from reference.domain.file import DomainFile
from reference.moments import Moments, sum_of

EVERY = 5.0
"""Seconds between two checkpoints; more if writing one takes more than a twentieth of that."""

NOTE = "exact sums of records: not private, for the data holder"


class Checkpoint(Document, frozen=True, kw_only=True, tag_field="schema", tag="checkpoint_v1"):
    """Exact moments of the records before a place of a table.

    Parameters
    ----------
    note : str
    files : tuple of FileIdentity
    domain : str
        Digest of the domain file with the columns and options that complete it.
    version : str
        Of this package: another may encode differently.
    behind : Place
        Where reading goes on.
    ended : bool
        Whether it holds all records.
    moments : dict
        As :meth:`reference.moments.Moments.table` names them.
    digest : str
        Of all other fields.
    """

    note: str
    files: tuple[FileIdentity, ...]
    domain: str
    version: str
    behind: Place
    ended: bool
    moments: dict[str, int]
    digest: str


@dataclass
class CheckpointedSum:
    """Adds up a table and keeps the sums so far in a file.

    Parameters
    ----------
    path : str
        The checkpoint.
    seconds : float
        Between two checkpoints.
    sums : callable, optional
        Another way to go on from a place: yields exact moments of parts, and where each ends.
    """

    path: str
    seconds: float = field(default_factory=lambda: EVERY)
    sums: Callable[[FileReader, Place | None], Iterator[tuple[Moments, Place]]] | None = None

    def moments(self, reader: FileReader) -> Moments:
        """Return the exact moments of all records, including those of an earlier reading.

        Raises
        ------
        reference.common.errors.CheckpointError
            When the checkpoint is damaged, of another file or domain, or cannot be written.
        reference.common.errors.DataError
            As reading raises it; the checkpoint then holds what was read before.
        """
        with unchanged(*reader.table.paths):
            return self._sum(reader, tuple(map(FileIdentity.of, reader.table.paths)))

    def _sum(self, reader: FileReader, files: tuple[FileIdentity, ...]) -> Moments:
        domain = reader.declared.domain
        zero = Moments.zero(domain, exact=True)
        total, behind, ended = zero, None, False
        if Path(self.path).exists():
            found = self._found(files, reader.declared)
            total, behind, ended = _moments(found, reader.declared, self.path), found.behind, found.ended
        if ended:
            return total
        blocks = _Stretches(reader.placed(behind) if self.sums is None else self.sums(reader, behind))
        pace = self.seconds
        while not blocks.ended:
            more = blocks.stretch(pace)
            total += sum_of(more, domain, exact=True) if self.sums is None else sum(more, zero)
            start = time.monotonic()
            self._write(files, reader.declared, total, blocks)
            pace = max(self.seconds, 20 * (time.monotonic() - start))
        return total

    def _found(self, files: tuple[FileIdentity, ...], declared: DomainFile) -> Checkpoint:
        found = read_file(self.path, Checkpoint, CheckpointError)
        if found.digest != _digest(found):
            raise CheckpointError("is damaged: its digest is not that of its content", file=self.path)
        if len(found.files) != len(files):
            problem = f"belongs to another table: its number of files is {len(found.files):,}, not {len(files):,}"
            raise CheckpointError(problem, file=self.path)
        for old, new in zip(found.files, files, strict=True):
            self._require_same(old, new)
        if found.version != __version__:
            problem = f"is of version {found.version} of this package, not {__version__}: remove it to start over"
            raise CheckpointError(problem, file=self.path)
        if found.domain != domain_digest(declared):
            raise CheckpointError("belongs to another domain file, or to other options", file=self.path)
        return found

    def _require_same(self, old: FileIdentity, new: FileIdentity) -> None:
        for fact in ("path", "size", "modified", "ends", "changed"):
            there, needed = getattr(old, fact), getattr(new, fact)
            if there != needed:
                raise CheckpointError(
                    f"belongs to another file, or to one that has changed since: its {fact} is {there!r} where "
                    f"{new.path} has {needed!r}",
                    file=self.path,
                )

    def _write(
        self, files: tuple[FileIdentity, ...], declared: DomainFile, total: Moments, blocks: _Stretches
    ) -> None:
        unsigned = Checkpoint(
            note=NOTE,
            files=files,
            domain=domain_digest(declared),
            version=__version__,
            behind=blocks.behind,
            ended=blocks.ended,
            moments=total.table(),
            digest="",
        )
        document = {**plain(unsigned), "digest": _digest(unsigned)}
        try:
            write_whole(self.path, json_text(document))
        except OSError as problem:
            raise CheckpointError(f"cannot be written: {problem.strerror}", file=self.path) from problem


class _Stretches:
    """Records, or their moments, in stretches that end where reading can resume."""

    def __init__(self, blocks: Iterator[tuple[Any, Place | None]]) -> None:
        self._blocks = blocks
        self.behind = Place()
        self.ended = False

    def stretch(self, seconds: float) -> Iterator[Any]:
        """Yield them for some seconds, up to the next place."""
        until = time.monotonic() + seconds
        for found, behind in self._blocks:
            yield found
            if behind is not None:
                self.behind = behind
                if time.monotonic() >= until:
                    return
        self.ended = True


def domain_digest(declared: DomainFile) -> str:
    """Return a digest of what encodes the records."""
    return hashlib.sha256(json_text(plain(declared)).encode()).hexdigest()


def _digest(checkpoint: Checkpoint) -> str:
    return hashlib.sha256(json_text({**plain(checkpoint), "digest": ""}).encode()).hexdigest()


def _moments(found: Checkpoint, declared: DomainFile, path: str) -> Moments:
    try:
        return Moments.from_table(declared.domain, found.moments)
    except MomentsTableError as problem:
        raise CheckpointError(str(problem), file=path) from problem
