"""Release ledger: a file that counts every release about one data set, under a ceiling.

A fit reserves its privacy before any noise is drawn: a crash afterwards leaves the release counted.  The ledger
object holds the name of the file and no count, so copies of it (scikit-learn's ``clone``, pickles in worker
processes) all count in the same file, under an advisory lock.
"""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
import uuid
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from fractions import Fraction
from pathlib import Path
from typing import Any

from reference.accounting import METHODS, Composition, Privacy, compose
from reference.budgets import parse_delta, parse_epsilon
from reference.errors import (
    CeilingError,
    CorruptLedgerError,
    DeltaError,
    LedgerError,
    MissingLedgerError,
    OtherLedgerError,
    ReadingError,
    UncountableReleaseError,
)
from reference.numbers import RealLike, decimal_above, decimal_text
from reference.readings import ADJACENCIES

SCHEMA = "release_ledger_v1"

NOT_COUNTED = (
    "Not counted: scores on held-out records, and whatever was chosen by looking at them or at the data "
    "(hyperparameters, folds by label, classes, bounds)."
)


@dataclass(frozen=True)
class CountedRelease:
    """One line of a ledger: a release, or the intention to make one.

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
    seeded: bool = False
    time: str = ""

    def to_json(self) -> dict[str, Any]:
        """Return the line as a JSON document."""
        return {
            "mechanism": self.mechanism,
            "adjacency": self.adjacency,
            "privacy": self.privacy.to_json(),
            "time": self.time,
        }

    @classmethod
    def from_json(cls, document: dict[str, Any]) -> CountedRelease:
        """Read back what :meth:`to_json` wrote."""
        privacy = Privacy.from_json(document["privacy"])
        return cls(document["mechanism"], document["adjacency"], privacy, time=document["time"])


@dataclass(frozen=True)
class Terms:
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
    adjacency: str
    epsilon: Fraction
    delta: Fraction
    method: str

    def to_json(self) -> dict[str, str]:
        """Return the terms; exact numbers are strings."""
        return {
            "data": self.data,
            "adjacency": self.adjacency,
            "epsilon": decimal_text(self.epsilon),
            "delta": decimal_text(self.delta),
            "method": self.method,
        }

    @classmethod
    def stated(cls, *, data: str, adjacency: str, epsilon: RealLike, delta: RealLike, method: str) -> Terms:
        """Check the terms that a user states."""
        name: object = data
        if not isinstance(name, str) or not name.strip():
            raise ReadingError("data", data, "the name of the data set that the releases are about")
        if adjacency not in ADJACENCIES:
            raise ReadingError("adjacency", adjacency, "one of " + ", ".join(ADJACENCIES))
        if method not in METHODS:
            raise ReadingError("method", method, "one of " + ", ".join(METHODS))
        ceiling = parse_delta("delta", delta)
        if method != "basic" and ceiling == 0:
            raise DeltaError("delta", "0", f"positive with {method}")
        return cls(data, adjacency, parse_epsilon("epsilon", epsilon), ceiling, method)


class ReleaseLedger:
    """Count of all releases about one data set, kept in a file.

    A new file is made where there is none.  Where there is one, it goes on with its count, and the terms must be
    the file's.  Needs POSIX advisory locks (Linux, macOS) and a file system on which they work.

    Parameters
    ----------
    path : str or path
    data : str
        The data set that all releases are about.  Nothing checks that it is: a mark of the data would itself be
        a release.
    epsilon : number
        The ceiling, at least what all releases together may lose.
    delta : number
        The ceiling's delta.  With `gdp` and `zcdp` epsilon is evaluated there.
    adjacency : {'replace_one', 'add_or_remove_one'}
        Releases for other neighbours are refused.
    method : {'basic', 'gdp', 'zcdp'}
        See :func:`reference.accounting.compose`.  The exact privacy is counted, not the published claim.

    Raises
    ------
    reference.errors.OtherLedgerError, reference.errors.CorruptLedgerError, reference.errors.MissingLedgerError
    """

    def __init__(
        self,
        path: str | Path,
        *,
        data: str,
        epsilon: RealLike,
        delta: RealLike = 0,
        adjacency: str = "replace_one",
        method: str = "basic",
    ) -> None:
        terms = Terms.stated(data=data, adjacency=adjacency, epsilon=epsilon, delta=delta, method=method)
        self._open(Path(path).resolve(), terms)

    @classmethod
    def open(cls, path: str | Path) -> ReleaseLedger:
        """Return the ledger in an existing file, whatever its terms are."""
        ledger = cls.__new__(cls)
        ledger._open(Path(path).resolve(), None)
        return ledger

    def _open(self, path: Path, terms: Terms | None) -> None:
        _require_locks(path)
        self.path = path
        if terms is not None and not path.exists():
            _create(path, terms)
        with _locked(path, exclusive=False) as handle:
            self._header = _parse(_read(handle, path), path)[0]
        self.terms = _terms_of(self._header, path)
        if terms is not None and terms != self.terms:
            raise OtherLedgerError(
                f"the ledger's terms are {self.terms.to_json()}, not {terms.to_json()}", str(path)
            )

    def __repr__(self) -> str:
        return f"ReleaseLedger({str(self.path)!r}, data={self.terms.data!r})"

    def __str__(self) -> str:
        return self.report()

    @property
    def releases(self) -> tuple[CountedRelease, ...]:
        """All releases counted so far, in order."""
        with _locked(self.path, exclusive=False) as handle:
            return self._releases(handle)[0]

    def spent(self, method: str | None = None, statement: str = "exact") -> Composition | None:
        """Return what was spent; None before the first release.

        Parameters
        ----------
        method : str, optional
            Another method than the ledger's, to compare; the ceiling is judged by the ledger's own.
        statement : {'exact', 'published'}
            `published` adds up the claims as printed, with their verdicts.
        """
        releases = self.releases
        return _composed(releases, self.terms, method, statement) if releases else None

    def check(self, release: CountedRelease) -> None:
        """Raise what :meth:`reserve` would raise, and write nothing."""
        with _locked(self.path, exclusive=False) as handle:
            self._require_room(self._releases(handle)[0], release)

    def reserve(self, release: CountedRelease) -> int:
        """Count a release before its noise is drawn; return its number.

        When this returns, the count is on disk.

        Raises
        ------
        reference.errors.CeilingError
            When the ceiling would be exceeded; nothing is written.
        reference.errors.UncountableReleaseError, reference.errors.CorruptLedgerError
        """
        with _locked(self.path, exclusive=True) as handle:
            releases, last = self._releases(handle)
            self._require_room(releases, release)
            entry = {
                "release": len(releases) + 1,
                "previous": _digest(last),
                **release.to_json(),
                "time": datetime.now(UTC).isoformat(timespec="seconds"),
            }
            _append(handle, _line(entry), self.path)
            return len(releases) + 1

    def report(self) -> str:
        """Return what was spent, in words."""
        terms, releases = self.terms, self.releases
        lines = [
            f"Release ledger {self.path}",
            f"data: {terms.data}; neighbours: {terms.adjacency}; composition: {terms.method}",
            f"ceiling: epsilon {_shown(terms.epsilon)}, delta {_shown(terms.delta)}",
        ]
        if not releases:
            return "\n".join([*lines, "spent: nothing, no release", NOT_COUNTED])
        total = _composed(releases, terms)
        lines.append(
            f"spent: epsilon {_shown(total.epsilon)}, delta {_shown(total.delta)} "
            f"by {len(releases)} release(s), exact privacy, an upper bound"
        )
        names = [release.mechanism for release in releases]
        lines += [f"  {names.count(name)} x {name}" for name in dict.fromkeys(names)]
        lines.append(_published_line(releases, terms))
        return "\n".join([*lines, NOT_COUNTED])

    def to_json(self) -> dict[str, Any]:
        """Return terms, total and releases as a JSON document."""
        releases = self.releases
        return {
            "schema": SCHEMA,
            "terms": self.terms.to_json(),
            "spent": _composed(releases, self.terms).to_json() if releases else None,
            "releases": [release.to_json() for release in releases],
            "note": NOT_COUNTED,
        }

    def _releases(self, handle: int) -> tuple[tuple[CountedRelease, ...], bytes]:
        """Return the releases of the locked file, and its last line."""
        text = _read(handle, self.path)
        header, *entries = _parse(text, self.path)
        if header != self._header:
            raise OtherLedgerError("another ledger has taken the place of this one", str(self.path))
        try:
            return tuple(CountedRelease.from_json(entry) for entry in entries), text.splitlines()[-1]
        except (KeyError, TypeError, ValueError) as problem:
            raise CorruptLedgerError(f"a line is no release: {problem}", str(self.path)) from problem

    def _require_room(self, releases: Sequence[CountedRelease], release: CountedRelease) -> None:
        """Raise unless one more release can be counted and stays below the ceiling."""
        if release.seeded:
            raise UncountableReleaseError(
                "a seeded release is not counted: one seed draws the same noise for every fold, and who knows it "
                "removes the noise; leave random_state=None",
                str(self.path),
            )
        if release.adjacency != self.terms.adjacency:
            raise UncountableReleaseError(
                f"a release for {release.adjacency} does not compose with {self.terms.adjacency}", str(self.path)
            )
        try:
            total = _composed([*releases, release], self.terms)
        except ReadingError as problem:
            raise UncountableReleaseError(str(problem), str(self.path)) from problem
        if total.epsilon > self.terms.epsilon or total.delta > self.terms.delta:
            raise CeilingError(
                f"release {len(releases) + 1} ({release.mechanism}) would spend epsilon {_shown(total.epsilon)}, "
                f"delta {_shown(total.delta)} of {_shown(self.terms.epsilon)}, {_shown(self.terms.delta)}",
                str(self.path),
            )


def _composed(
    releases: Sequence[CountedRelease], terms: Terms, method: str | None = None, statement: str = "exact"
) -> Composition:
    chosen = method or ("basic" if statement == "published" else terms.method)
    return compose(releases, chosen, delta=None if chosen == "basic" else terms.delta, statement=statement)


def _published_line(releases: Sequence[CountedRelease], terms: Terms) -> str:
    if any(release.privacy.published is None for release in releases):
        return "published statements: none for some release"
    claimed = _composed(releases, terms, statement="published")
    return (
        f"published statements add up to epsilon {_shown(claimed.epsilon)}, delta {_shown(claimed.delta)} "
        f"(each: {', '.join(claimed.verdicts)})"
    )


def _shown(value: Fraction) -> str:
    """Return a number in six digits, rounded up."""
    return decimal_text(decimal_above(value, 6))


# --- The file ------------------------------------------------------------------------------------------------


def _require_locks(path: Path) -> None:
    try:
        import fcntl  # noqa: F401
    except ImportError:
        raise LedgerError("a release ledger needs POSIX file locks, which this system lacks", str(path)) from None


@contextmanager
def _locked(path: Path, *, exclusive: bool) -> Iterator[int]:
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


def _create(path: Path, terms: Terms) -> None:
    """Make the file with its header, at once: nobody ever sees half of it, and an existing file wins."""
    header = {"schema": SCHEMA, "id": uuid.uuid4().hex, **terms.to_json()}
    try:
        scratch, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
        try:
            os.write(scratch, _line(header))
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


def _read(handle: int, path: Path) -> bytes:
    """Return the whole file, unless it is no longer the one at its path."""
    try:
        here = path.stat()
    except OSError as problem:
        raise MissingLedgerError(f"is gone: {problem.strerror}", str(path)) from problem
    if not os.path.samestat(here, os.fstat(handle)):
        raise MissingLedgerError("was replaced by another file meanwhile", str(path))
    return os.pread(handle, here.st_size, 0)


def _append(handle: int, line: bytes, path: Path) -> None:
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


def _line(document: dict[str, Any]) -> bytes:
    return json.dumps(document, allow_nan=False).encode() + b"\n"


def _digest(line: bytes) -> str:
    return hashlib.sha256(line).hexdigest()


def _parse(text: bytes, path: Path) -> list[dict[str, Any]]:
    """Return header and entries; every line carries the digest of the line before it.

    Raises
    ------
    reference.errors.CorruptLedgerError
        The file is left as it is: nothing is repaired, nothing is lost.
    """
    if not text.endswith(b"\n"):
        raise CorruptLedgerError(
            "the last line is torn; nothing more is released until its holder has mended the file",
            str(path),
            text.count(b"\n") + 1,
        )
    documents: list[dict[str, Any]] = []
    lines = text[:-1].split(b"\n")
    for number, line in enumerate(lines, start=1):
        try:
            document = json.loads(line)
            if number == 1:
                sound = document["schema"] == SCHEMA
            else:
                sound = (document["release"], document["previous"]) == (number - 1, _digest(lines[number - 2]))
        except (ValueError, KeyError, TypeError) as problem:
            raise CorruptLedgerError(f"no line of a ledger: {problem}", str(path), number) from problem
        if not sound:
            raise CorruptLedgerError("the line does not follow from the one before it", str(path), number)
        documents.append(document)
    return documents


def _terms_of(header: dict[str, Any], path: Path) -> Terms:
    try:
        return Terms.stated(**{name: header[name] for name in Terms.__dataclass_fields__})
    except (KeyError, TypeError, ValueError) as problem:
        raise CorruptLedgerError(f"no header of a ledger: {problem}", str(path), 1) from problem
