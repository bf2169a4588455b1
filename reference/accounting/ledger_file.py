"""The file of a release ledger: its lines as types, its lock, and the digests that chain the lines.

The first line says what the ledger is for, every other one counts a release.  Lines are only ever appended.
"""

from __future__ import annotations

import hashlib
import itertools
import json
import os
import tempfile
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from fractions import Fraction
from pathlib import Path
from typing import Any, TypeVar

from reference.accounting import METHODS, Privacy
from reference.budgets import parse_delta, parse_epsilon
from reference.common.documents import Document, converted, json_of_text, plain
from reference.common.errors import (
    CorruptLedgerError,
    DeltaError,
    DocumentError,
    LedgerError,
    MissingLedgerError,
    ReadingError,
)
from reference.common.numbers import RealLike
from reference.readings import ADJACENCIES, Adjacency

_Line = TypeVar("_Line", bound=Document)


class CountedRelease(Document, frozen=True, omit_defaults=True):
    """A release, or the intention to make one.

    Parameters
    ----------
    mechanism : str
    adjacency : str
    privacy : Privacy
        What it claims and what is true, known before any noise is drawn.
    seeded : bool
        A seeded release is refused.
    time : str
        When it was reserved, in UTC; the ledger fills it in.
    """

    mechanism: str
    adjacency: str
    privacy: Privacy
    time: str = ""
    seeded: bool = False


class ReleaseLine(Document, frozen=True, kw_only=True):
    """A line of a ledger's file but the first.

    Parameters
    ----------
    release : int
        Its number, counted from 1.
    mechanism, adjacency, privacy, time
        As in :class:`CountedRelease`.
    """

    release: int
    mechanism: str
    adjacency: Adjacency
    privacy: Privacy
    time: str

    @property
    def counted(self) -> CountedRelease:
        """The release that the line counts."""
        return CountedRelease(self.mechanism, self.adjacency, self.privacy, self.time)


class LedgerTerms(Document, frozen=True):
    """What a ledger was opened for; fixed for its life.

    Parameters
    ----------
    data : str
        The data set that all releases are about, named by its holder.
    adjacency : {'replace_one', 'add_or_remove_one'}
    epsilon, delta : Fraction
        The ceiling.
    method : {'basic', 'gdp', 'zcdp'}
        How releases are composed.
    """

    data: str
    adjacency: Adjacency
    epsilon: Fraction
    delta: Fraction
    method: str

    @classmethod
    def stated(cls, *, data: str, adjacency: str, epsilon: RealLike, delta: RealLike, method: str) -> LedgerTerms:
        """Return the terms that a user states, checked."""
        ceiling = parse_delta("delta", delta)
        return cls(data, adjacency, parse_epsilon("epsilon", epsilon), ceiling, method)

    def __post_init__(self) -> None:
        name: object = self.data
        if not isinstance(name, str) or not name.strip():
            raise ReadingError("data", self.data, "the name of the data set that the releases are about")
        if self.adjacency not in ADJACENCIES:
            raise ReadingError("adjacency", self.adjacency, "one of " + ", ".join(ADJACENCIES))
        if self.method not in METHODS:
            raise ReadingError("method", self.method, "one of " + ", ".join(METHODS))
        parse_epsilon("epsilon", self.epsilon)
        parse_delta("delta", self.delta)
        if self.method != "basic" and self.delta == 0:
            raise DeltaError("delta", "0", f"positive with {self.method}")


class LedgerHeader(Document, frozen=True, kw_only=True, tag_field="schema", tag="release_ledger_v1"):
    """The first line of a ledger's file.

    Parameters
    ----------
    id : str
        Drawn at random, so that one ledger is no other.
    data, adjacency, epsilon, delta, method
        As in :class:`LedgerTerms`.
    """

    id: str
    data: str
    adjacency: Adjacency
    epsilon: Fraction
    delta: Fraction
    method: str

    @property
    def terms(self) -> LedgerTerms:
        """What the ledger was opened for."""
        return LedgerTerms(self.data, self.adjacency, self.epsilon, self.delta, self.method)


def require_locks(path: Path) -> None:
    """Raise where the system has no POSIX file locks."""
    try:
        import fcntl  # noqa: F401
    except ImportError:
        raise LedgerError("a release ledger needs POSIX file locks, which this system lacks", str(path)) from None


@contextmanager
def locked(path: Path, *, exclusive: bool) -> Iterator[int]:
    """Open the file and hold its lock; the lock ends with the file handle, also in a crash.

    `flock` belongs to the open file, not to the process, so threads of one process exclude each other too.
    """
    import fcntl

    try:
        handle = os.open(path, os.O_RDWR | os.O_APPEND if exclusive else os.O_RDONLY)
    except OSError as problem:
        raise MissingLedgerError(f"cannot be opened: {problem.strerror}", str(path)) from problem
    try:
        fcntl.flock(handle, fcntl.LOCK_EX if exclusive else fcntl.LOCK_SH)
        yield handle
    finally:
        os.close(handle)


def create(path: Path, terms: LedgerTerms) -> None:
    """Make the file with its header, at once: nobody ever sees half of it, and an existing file wins."""
    stated = {name: getattr(terms, name) for name in LedgerTerms.__struct_fields__}
    header = LedgerHeader(id=uuid.uuid4().hex, **stated)
    try:
        scratch, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
        try:
            os.write(scratch, line_of(header, b""))
            os.fsync(scratch)
            os.link(name, path)
        except FileExistsError:
            return
        finally:
            os.close(scratch)
            Path(name).unlink()
        folder = os.open(path.parent, os.O_RDONLY)
        os.fsync(folder)
        os.close(folder)
    except OSError as problem:
        raise MissingLedgerError(f"cannot be made: {problem.strerror}", str(path)) from problem


def read_ledger(handle: int, path: Path) -> bytes:
    """Return the whole file, unless it is no longer the one at its path."""
    try:
        here = path.stat()
    except OSError as problem:
        raise MissingLedgerError(f"is gone: {problem.strerror}", str(path)) from problem
    if not os.path.samestat(here, os.fstat(handle)):
        raise MissingLedgerError("was replaced by another file meanwhile", str(path))
    return os.pread(handle, here.st_size, 0)


def append(handle: int, line: bytes, path: Path) -> None:
    """Append one line and wait until it is on disk; on failure nothing is left of it."""
    size = os.fstat(handle).st_size
    try:
        written = os.write(handle, line)
        os.fsync(handle)
    except OSError as problem:
        os.ftruncate(handle, size)
        raise MissingLedgerError(f"cannot be written: {problem.strerror}", str(path)) from problem
    if written < len(line):
        os.ftruncate(handle, size)
        raise MissingLedgerError("cannot be written: no space left", str(path))


def line_of(document: Document, before: bytes) -> bytes:
    """Return a line: the document, and the digest of it and of the line before."""
    fields = plain(document)
    return json.dumps({**fields, "digest": _digest(fields, before)}, allow_nan=False).encode() + b"\n"


def _digest(document: dict[str, Any], before: bytes) -> str:
    return hashlib.sha256(before + b"\n" + json.dumps(document).encode()).hexdigest()


def parse(text: bytes, path: Path) -> tuple[LedgerHeader, tuple[ReleaseLine, ...]]:
    """Return header and releases; every line carries the digest of itself and of the line before it.

    Raises
    ------
    reference.common.errors.CorruptLedgerError
        The file is left as it is: nothing is repaired, nothing is lost.
    """
    if not text.endswith(b"\n"):
        raise CorruptLedgerError(
            "the last line is torn; nothing more is released until its holder has mended the file",
            str(path),
            text.count(b"\n") + 1,
        )
    header, *lines = text[:-1].split(b"\n")
    found = _read_line(header, b"", LedgerHeader, path, 1)
    releases = []
    for number, (before, line) in enumerate(itertools.pairwise([header, *lines]), start=1):
        releases.append(_read_line(line, before, ReleaseLine, path, number + 1))
        if releases[-1].release != number:
            raise CorruptLedgerError(f"it is release {releases[-1].release}, not {number}", str(path), number + 1)
    return found, tuple(releases)


def _read_line(line: bytes, before: bytes, kind: type[_Line], path: Path, number: int) -> _Line:
    try:
        document = json_of_text(line.decode())
        digest = document.pop("digest")
    except (ValueError, KeyError, TypeError, AttributeError) as problem:
        raise CorruptLedgerError(f"no line of a ledger: {problem}", str(path), number) from problem
    if digest != _digest(document, before):
        raise CorruptLedgerError(
            "the line was changed, or does not follow from the one before it", str(path), number
        )
    try:
        return converted(document, kind)
    except DocumentError as problem:
        what = "header" if kind is LedgerHeader else "release"
        raise CorruptLedgerError(f"no {what} of a ledger: {problem}", str(path), number) from problem
