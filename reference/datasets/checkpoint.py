"""Checkpoints: exact moments of the records read so far, so that a stopped reading goes on where it was.

Exact sums do not depend on the order, so a reading that was stopped ends with the same bits.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from reference import __version__
from reference.common.documents import Document, plain, read_file
from reference.common.errors import CheckpointError, MomentsTableError
from reference.common.files import json_text, write_whole
from reference.datasets.file_identity import FileIdentity
from reference.datasets.from_file import FileReader
from reference.datasets.table import Place, unchanged
from reference.domain.file import DomainFile
from reference.moments import Moments, sum_of
from reference.records import Records

EVERY = 5.0
"""Seconds between two checkpoints, or more where writing one takes more than a twentieth of that."""

NOTE = "exact sums of records: not private, for the data holder"


class Checkpoint(Document, frozen=True, kw_only=True, tag_field="schema", tag="checkpoint_v1"):
    """Exact moments of the records before a place of a file.

    Parameters
    ----------
    note : str
    file : FileIdentity
    domain : str
        Digest of the domain file with the columns and options that complete it.
    version : str
        Of this package: another one may encode otherwise.
    behind : Place
        Where reading goes on.
    ended : bool
        All records are in it.
    moments : dict
        As :meth:`reference.moments.Moments.table` names them.
    digest : str
        Of all other fields.
    """

    note: str
    file: FileIdentity
    domain: str
    version: str
    behind: Place
    ended: bool
    moments: dict[str, int]
    digest: str


@dataclass
class CheckpointedSum:
    """Adds up a file, and keeps the sums so far in another file.

    Parameters
    ----------
    path : str
        The checkpoint.
    seconds : float
        Between two checkpoints.
    """

    path: str
    seconds: float = field(default_factory=lambda: EVERY)

    def moments(self, reader: FileReader) -> Moments:
        """Return the exact moments of all records, those of an earlier reading among them.

        Raises
        ------
        reference.common.errors.CheckpointError
            When the checkpoint is damaged, of another file or domain, or cannot be written.
        reference.common.errors.DataError
            As reading raises it; the checkpoint then holds what was read before.
        """
        with unchanged(reader.table.path):
            return self._sum(reader, FileIdentity.of(reader.table.path))

    def _sum(self, reader: FileReader, file: FileIdentity) -> Moments:
        domain = reader.declared.domain
        total, behind, ended = Moments.zero(domain, exact=True), None, False
        if Path(self.path).exists():
            found = self._found(file, reader.declared)
            total, behind, ended = _moments(found, reader.declared, self.path), found.behind, found.ended
        if ended:
            return total
        blocks, pace = _Stretches(reader.placed(behind)), self.seconds
        while not blocks.ended:
            total += sum_of(blocks.stretch(pace), domain, exact=True)
            start = time.monotonic()
            self._write(file, reader.declared, total, blocks)
            pace = max(self.seconds, 20 * (time.monotonic() - start))
        return total

    def _found(self, file: FileIdentity, declared: DomainFile) -> Checkpoint:
        found = read_file(self.path, Checkpoint, CheckpointError)
        if found.digest != _digest(found):
            raise CheckpointError("is damaged: its digest is not that of its content", file=self.path)
        for fact in ("path", "size", "modified", "ends", "changed"):
            there, needed = getattr(found.file, fact), getattr(file, fact)
            if there != needed:
                raise CheckpointError(
                    f"is of another file, or of one that has changed since: its {fact} is {there!r} where "
                    f"{file.path} has {needed!r}",
                    file=self.path,
                )
        if found.version != __version__:
            problem = f"is of version {found.version} of this package, not {__version__}: remove it to begin again"
            raise CheckpointError(problem, file=self.path)
        if found.domain != domain_digest(declared):
            raise CheckpointError("is of another domain file, or of other options", file=self.path)
        return found

    def _write(self, file: FileIdentity, declared: DomainFile, total: Moments, blocks: _Stretches) -> None:
        unsigned = Checkpoint(
            note=NOTE,
            file=file,
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
    """Blocks, in stretches that end where reading can begin again."""

    def __init__(self, blocks: Iterator[tuple[Records, Place | None]]) -> None:
        self._blocks = blocks
        self.behind = Place()
        self.ended = False

    def stretch(self, seconds: float) -> Iterator[Records]:
        """Yield blocks for some seconds, and to the next place."""
        until = time.monotonic() + seconds
        for records, behind in self._blocks:
            yield records
            if behind is not None:
                self.behind = behind
                if time.monotonic() >= until:
                    return
        self.ended = True


def domain_digest(declared: DomainFile) -> str:
    """Return a digest of what the records are encoded by."""
    return hashlib.sha256(json_text(plain(declared)).encode()).hexdigest()


def _digest(checkpoint: Checkpoint) -> str:
    return hashlib.sha256(json_text({**plain(checkpoint), "digest": ""}).encode()).hexdigest()


def _moments(found: Checkpoint, declared: DomainFile, path: str) -> Moments:
    try:
        return Moments.from_table(declared.domain, found.moments)
    except MomentsTableError as problem:
        raise CheckpointError(str(problem), file=path) from problem
