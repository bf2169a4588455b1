"""The file of a release ledger: its lines as types, its lock, and the digests that chain the lines.

The first line says what the ledger is for; each other line counts a release and holds the total so far.  Lines
are only appended, so a release reads the last lines only, however many there are.
"""

from __future__ import annotations

import contextlib
import hashlib
import itertools
import json
import os
import stat
import tempfile
import uuid
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any, TypeVar

from reference.accounting import METHODS, Privacy, Total
from reference.budgets import parse_delta, parse_epsilon
from reference.common.documents import Document, converted, json_of_text, plain
from reference.common.errors import (
    CorruptLedgerError,
    DeltaError,
    DocumentError,
    LedgerError,
    MissingLedgerError,
    ParameterError,
    ReadingError,
    UncountableReleaseError,
)
from reference.common.numbers import RealLike
from reference.common.printable import is_writable
from reference.common.processes import end_copy
from reference.readings import ADJACENCIES, Adjacency, RowsPerPerson, require_rows_per_person

_Line = TypeVar("_Line", bound=Document)

WINDOW = 2**14
"""Bytes at the end of a file that a release reads: its last lines, or all of them while they are few."""

LONGEST_LINE = 2**13
"""Most bytes of a line; names, statements and totals need some two thousand."""


class CountedRelease(Document, frozen=True, omit_defaults=True):
    """A release, or the intention to make one.

    Parameters
    ----------
    mechanism : str
    adjacency : str
    privacy : Privacy
        Its published statement and its exact loss, known before any noise is drawn.
    time : str
        When it was reserved, in UTC; the ledger fills it in.
    seeded : bool
        A seeded release is refused.
    noise : str
        numpy's noise is refused.
    rows_per_person : int
        The largest number of records in which neighbours differ.
    """

    mechanism: str
    adjacency: str
    privacy: Privacy
    time: str = ""
    seeded: bool = False
    noise: str = "hardened"
    rows_per_person: RowsPerPerson = 1


class ReleaseLine(Document, frozen=True, kw_only=True, omit_defaults=True):
    """A line of a ledger's file, other than the first.

    Parameters
    ----------
    release : int
        Its number, counted from 1.
    mechanism, adjacency, privacy, time, rows_per_person
        As in :class:`CountedRelease`.
    total : Total
        Of this release and all before it, by the ledger's method.
    """

    release: int
    mechanism: str
    adjacency: Adjacency
    privacy: Privacy
    time: str
    rows_per_person: RowsPerPerson = 1
    total: Total

    @property
    def counted(self) -> CountedRelease:
        """The release that the line counts."""
        rows = self.rows_per_person
        return CountedRelease(self.mechanism, self.adjacency, self.privacy, self.time, rows_per_person=rows)


class LedgerTerms(Document, frozen=True, omit_defaults=True):
    """The terms that a ledger was opened for, fixed for its life.

    Parameters
    ----------
    data : str
        The data set that all releases are about, named by its holder.
    adjacency : {'replace_one', 'add_or_remove_one'}
    epsilon, delta : Fraction
        The ceiling.
    method : {'basic', 'gdp', 'zcdp'}
        How releases are composed.
    rows_per_person : int
        How many records of the data set one person may have.
    """

    data: str
    adjacency: Adjacency
    epsilon: Fraction
    delta: Fraction
    method: str
    rows_per_person: RowsPerPerson = 1

    @classmethod
    def stated(
        cls,
        *,
        data: str,
        adjacency: str,
        epsilon: RealLike,
        delta: RealLike,
        method: str,
        rows_per_person: int = 1,
    ) -> LedgerTerms:
        """Return the terms that a user states, checked."""
        ceiling = parse_delta("delta", delta)
        return cls(data, adjacency, parse_epsilon("epsilon", epsilon), ceiling, method, rows_per_person)

    def __post_init__(self) -> None:
        name: object = self.data
        if not isinstance(name, str) or not name.strip() or not is_writable(name):
            raise ReadingError("data", self.data, "the name of the data set that the releases are about")
        if self.adjacency not in ADJACENCIES:
            raise ReadingError("adjacency", self.adjacency, "one of " + ", ".join(ADJACENCIES))
        if self.method not in METHODS:
            raise ReadingError("method", self.method, "one of " + ", ".join(METHODS))
        require_rows_per_person(self.rows_per_person)
        parse_epsilon("epsilon", self.epsilon)
        parse_delta("delta", self.delta)
        if self.method != "basic" and self.delta == 0:
            raise DeltaError("delta", "0", f"positive with {self.method}")


class LedgerHeader(
    Document, frozen=True, kw_only=True, omit_defaults=True, tag_field="schema", tag="release_ledger_v2"
):
    """The first line of a ledger's file.

    Parameters
    ----------
    id : str
        Drawn at random: no two ledgers share one.
    data, adjacency, epsilon, delta, method, rows_per_person
        As in :class:`LedgerTerms`.
    """

    id: str
    data: str
    adjacency: Adjacency
    epsilon: Fraction
    delta: Fraction
    method: str
    rows_per_person: RowsPerPerson = 1

    @property
    def terms(self) -> LedgerTerms:
        """The terms that the ledger was opened for."""
        return LedgerTerms(**{name: getattr(self, name) for name in LedgerTerms.__struct_fields__})


def require_locks(path: Path) -> None:
    """Raise where the system has no POSIX file locks."""
    try:
        import fcntl  # noqa: F401
    except ImportError:
        raise LedgerError("a release ledger needs POSIX file locks, which this system lacks", str(path)) from None


def path_of(name: str | Path) -> Path:
    """Return the path of a ledger, with links resolved."""
    try:
        path = Path(name).resolve()
        path.exists()
    except (OSError, ValueError, RuntimeError) as problem:
        raise MissingLedgerError(f"is not a file name: {_said(problem)}", ascii(str(name))[1:-1]) from problem
    return path


# --- Locks -----------------------------------------------------------------------------------------------------

_held: set[int] = set()
"""Handles under a lock of this process."""


def _close_inherited() -> None:
    """In the child of a fork: give up the locks that other threads of the parent hold."""
    while _held:
        # no unlocking: the lock is the parent's
        with contextlib.suppress(OSError):
            os.close(_held.pop())


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_close_inherited)


@contextmanager
def locked(path: Path, *, exclusive: bool) -> Iterator[int]:
    """Open the file and hold its lock, which a crash ends too.

    `flock` belongs to the open file, not to the process, so threads of one process exclude each other too.  A
    child forked meanwhile has the same open file, so the lock is released by name, not by closing.
    """
    import fcntl

    handle = _opened(path, os.O_RDWR | os.O_APPEND if exclusive else os.O_RDONLY)
    _held.add(handle)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX if exclusive else fcntl.LOCK_SH)
        yield handle
    finally:
        if handle in _held:
            _held.discard(handle)
            fcntl.flock(handle, fcntl.LOCK_UN)
            os.close(handle)


def _opened(path: Path, flags: int) -> int:
    try:
        # a pipe would wait for a reader or a writer
        handle = os.open(path, flags | os.O_NONBLOCK)
    except (OSError, ValueError) as problem:
        remedy = "; make one with `cfm ledger create`" if isinstance(problem, FileNotFoundError) else ""
        raise MissingLedgerError(f"cannot be opened: {_said(problem)}{remedy}", str(path)) from problem
    if not stat.S_ISREG(os.fstat(handle).st_mode):
        os.close(handle)
        raise MissingLedgerError("is a folder or a device, not a file", str(path))
    return handle


# --- Writing ---------------------------------------------------------------------------------------------------


def create(path: Path, terms: LedgerTerms) -> bool:
    """Make the file with its header, at once: nobody sees half of it.  Return False if there is one already."""
    import fcntl

    stated = {name: getattr(terms, name) for name in LedgerTerms.__struct_fields__}
    header = line_of(LedgerHeader(id=uuid.uuid4().hex, **stated), b"")
    require_length(header, path)
    try:
        scratch, name = tempfile.mkstemp(dir=path.parent, prefix=_scratch_prefix(path))
        try:
            # if it is unlocked, its maker is gone
            fcntl.flock(scratch, fcntl.LOCK_EX)
            _write_all(scratch, header)
            os.fsync(scratch)
            os.link(name, path)
        except FileExistsError:
            return False
        finally:
            os.close(scratch)
            Path(name).unlink(missing_ok=True)
        folder = os.open(path.parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)
    except OSError as problem:
        raise MissingLedgerError(f"cannot be made: {problem.strerror}", str(path)) from problem
    return True


def _scratch_prefix(path: Path) -> str:
    # of bounded length, however long the name is
    return f".ledger-{hashlib.sha256(os.fsencode(path.name)).hexdigest()[:16]}-"


def sweep(path: Path) -> None:
    """Remove what a killed maker of this ledger left behind."""
    import fcntl

    with contextlib.suppress(OSError):
        for left in path.parent.glob(_scratch_prefix(path) + "*"):
            with contextlib.suppress(OSError):
                handle = _opened(left, os.O_RDONLY)
                try:
                    fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    left.unlink()
                finally:
                    os.close(handle)


def append(handle: int, line: bytes, path: Path) -> None:
    """Append one line and wait until it is on disk; on failure, leave nothing of it."""
    end_copy()
    require_length(line, path)
    size = os.fstat(handle).st_size
    try:
        _write_all(handle, line)
        os.fsync(handle)
    except OSError as problem:
        os.ftruncate(handle, size)
        raise MissingLedgerError(f"cannot be written: {problem.strerror}", str(path)) from problem


def _write_all(handle: int, text: bytes) -> None:
    """Write everything, even if the system takes a part at a time."""
    while text:
        text = text[os.write(handle, text) :]


def require_length(line: bytes, path: Path) -> None:
    """Raise for a line longer than what is read back."""
    if len(line) > LONGEST_LINE:
        raise UncountableReleaseError(f"needs a line of {len(line)} bytes, above {LONGEST_LINE}", str(path))


def line_of(document: Document, before: bytes) -> bytes:
    """Return a line: the document, and the digest of it and the line before."""
    fields = plain(document)
    return json.dumps({**fields, "digest": _digest(fields, before)}, allow_nan=False).encode() + b"\n"


def _digest(document: dict[str, Any], before: bytes) -> str:
    return hashlib.sha256(before + b"\n" + json.dumps(document).encode()).hexdigest()


# --- Reading ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Written:
    """The contents of a ledger's file.

    Parameters
    ----------
    header : LedgerHeader
    lines : tuple of ReleaseLine
        All of them, or the last ones.
    last : bytes
        The last line, from which the next one follows.
    """

    header: LedgerHeader
    lines: tuple[ReleaseLine, ...]
    last: bytes

    @property
    def total(self) -> Total:
        """The total of all releases up to the last one."""
        return self.lines[-1].total if self.lines else Total()


def read_ledger(handle: int, path: Path, *, whole: bool) -> Written:
    """Read the header and all lines, or the header and the last lines.

    Each line carries the digest of itself and of the line before, and the total of the line before and of itself.
    What is read is checked; lines before the last ones are checked where the whole file is read.

    Raises
    ------
    reference.common.errors.CorruptLedgerError
        The file is left as it is: nothing is repaired, nothing is lost.
    reference.common.errors.MissingLedgerError
        When another file is now at its path.
    """
    try:
        here = path.stat()
        if not os.path.samestat(here, os.fstat(handle)):
            raise MissingLedgerError("was replaced by another file meanwhile", str(path))
        size = here.st_size
        start = 0 if whole else max(0, size - WINDOW)
        text = _read(handle, start, size)
        front = _read(handle, 0, LONGEST_LINE) if start else text
    except OSError as problem:
        raise MissingLedgerError(f"is gone: {problem.strerror}", str(path)) from problem
    if not text.endswith(b"\n"):
        raise CorruptLedgerError(
            "the last line is incomplete; nothing more is released until its holder mends the file",
            str(path),
            text.count(b"\n") + 1 if start == 0 else None,
        )
    first, _, _ = front.partition(b"\n")
    header = _read_line(first, b"", LedgerHeader, path, 1)
    # a window begins within a line
    lines = text[:-1].split(b"\n")[0 if start == 0 else 1 :]
    return _following(header, lines, path, from_header=start == 0)


def _read(handle: int, start: int, stop: int) -> bytes:
    parts, place = [], start
    while place < stop and (part := os.pread(handle, stop - place, place)):
        parts.append(part)
        place += len(part)
    return b"".join(parts)


def _following(header: LedgerHeader, lines: Sequence[bytes], path: Path, *, from_header: bool) -> Written:
    """Check that each line follows from the one before; the first one given is the header, or is trusted."""
    number: int | None = 0 if from_header else None
    total = Total() if from_header else None
    found: list[ReleaseLine] = []
    for before, line in itertools.pairwise(lines):
        release = _read_line(line, before, ReleaseLine, path, None if number is None else number + 2)
        if number is not None and release.release != number + 1:
            raise CorruptLedgerError(f"it is release {release.release}, not {number + 1}", str(path), number + 2)
        number = release.release
        if release.adjacency != header.adjacency or release.rows_per_person < header.rows_per_person:
            raise CorruptLedgerError("it is for other neighbours than the ledger", str(path), number + 1)
        if total is not None and release.total != _with_release(total, release, header, path):
            raise CorruptLedgerError("its total is not that of the releases", str(path), number + 1)
        total = release.total
        found.append(release)
    if not from_header and not found:
        raise CorruptLedgerError("its last lines are too long", str(path))
    return Written(header, tuple(found), lines[-1])


def _with_release(total: Total, release: ReleaseLine, header: LedgerHeader, path: Path) -> Total:
    exact = release.privacy.exact
    if exact is None:
        raise CorruptLedgerError("it counts no exact privacy", str(path), release.release + 1)
    try:
        return total.plus(exact, header.method)
    except ReadingError as problem:
        raise CorruptLedgerError(str(problem), str(path), release.release + 1) from problem


def _read_line(line: bytes, before: bytes, kind: type[_Line], path: Path, number: int | None) -> _Line:
    try:
        document = json_of_text(line.decode())
        digest = document.pop("digest")
        follows = digest == _digest(document, before)
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as problem:
        raise CorruptLedgerError(f"not a line of a ledger: {_said(problem)}", str(path), number) from problem
    if not follows:
        raise CorruptLedgerError(
            "the line was changed, or does not follow from the one before it", str(path), number
        )
    try:
        found = converted(document, kind)
        if isinstance(found, LedgerHeader):
            _ = found.terms
        return found
    except (DocumentError, ParameterError) as problem:
        what = "header" if kind is LedgerHeader else "release"
        raise CorruptLedgerError(f"not a {what} of a ledger: {problem}", str(path), number) from problem


def _said(problem: Exception) -> str:
    """Return what an error says, without the file's name, which the message has already."""
    return problem.strerror or "no reason given" if isinstance(problem, OSError) else str(problem)[:200]
