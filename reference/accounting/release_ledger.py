"""Release ledger: a file that counts every release about one data set, under a ceiling.

A fit reserves its privacy before any noise is drawn: a crash afterwards leaves the release counted.  The ledger
object holds the name of the file and no count, so copies of it (scikit-learn's ``clone``, pickles in worker
processes) all count in the same file, under an advisory lock.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from fractions import Fraction
from pathlib import Path

from reference.accounting import Composition, compose
from reference.accounting.ledger_file import (
    CountedRelease,
    LedgerTerms,
    ReleaseLine,
    append,
    create,
    line_of,
    locked,
    parse,
    read_ledger,
    require_locks,
)
from reference.common.documents import Document, plain
from reference.common.errors import CeilingError, OtherLedgerError, ReadingError, UncountableReleaseError
from reference.common.numbers import RealLike, decimal_above, decimal_text

NOT_COUNTED = (
    "Not counted: scores on held-out records, and whatever was chosen by looking at them or at the data "
    "(hyperparameters, folds by label, classes, bounds)."
)


class LedgerReport(Document, frozen=True, kw_only=True, tag_field="schema", tag="release_ledger_v1"):
    """A ledger as one document: terms, total and releases."""

    terms: LedgerTerms
    spent: Composition | None
    releases: tuple[CountedRelease, ...]
    note: str


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
    reference.common.errors.OtherLedgerError, reference.common.errors.CorruptLedgerError,
    reference.common.errors.MissingLedgerError
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
        terms = LedgerTerms.stated(data=data, adjacency=adjacency, epsilon=epsilon, delta=delta, method=method)
        self._open(Path(path).resolve(), terms)

    @classmethod
    def open(cls, path: str | Path) -> ReleaseLedger:
        """Return the ledger in an existing file, whatever its terms are."""
        ledger = cls.__new__(cls)
        ledger._open(Path(path).resolve(), None)
        return ledger

    def _open(self, path: Path, terms: LedgerTerms | None) -> None:
        require_locks(path)
        self.path = path
        if terms is not None and not path.exists():
            create(path, terms)
        with locked(path, exclusive=False) as handle:
            self._header = parse(read_ledger(handle, path), path)[0]
        self.terms = self._header.terms
        if terms is not None and terms != self.terms:
            raise OtherLedgerError(f"the ledger's terms are {plain(self.terms)}, not {plain(terms)}", str(path))

    def __repr__(self) -> str:
        return f"ReleaseLedger({str(self.path)!r}, data={self.terms.data!r})"

    def __str__(self) -> str:
        return self.report()

    @property
    def releases(self) -> tuple[CountedRelease, ...]:
        """All releases counted so far, in order."""
        with locked(self.path, exclusive=False) as handle:
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
        with locked(self.path, exclusive=False) as handle:
            self._require_room(self._releases(handle)[0], release)

    def reserve(self, release: CountedRelease) -> int:
        """Count a release before its noise is drawn; return its number.

        When this returns, the count is on disk.

        Raises
        ------
        reference.common.errors.CeilingError
            When the ceiling would be exceeded; nothing is written.
        reference.common.errors.UncountableReleaseError, reference.common.errors.CorruptLedgerError
        """
        with locked(self.path, exclusive=True) as handle:
            releases, last = self._releases(handle)
            self._require_room(releases, release)
            entry = ReleaseLine(
                release=len(releases) + 1,
                mechanism=release.mechanism,
                adjacency=release.adjacency,
                privacy=release.privacy,
                time=datetime.now(UTC).isoformat(timespec="seconds"),
            )
            append(handle, line_of(entry, last), self.path)
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
        lines.append(_publishedline_of(releases, terms))
        return "\n".join([*lines, NOT_COUNTED])

    def document(self) -> LedgerReport:
        """Return terms, total and releases."""
        releases = self.releases
        spent = _composed(releases, self.terms) if releases else None
        return LedgerReport(terms=self.terms, spent=spent, releases=releases, note=NOT_COUNTED)

    def _releases(self, handle: int) -> tuple[tuple[CountedRelease, ...], bytes]:
        """Return the releases of the locked file, and its last line."""
        text = read_ledger(handle, self.path)
        header, lines = parse(text, self.path)
        if header != self._header:
            raise OtherLedgerError("another ledger has taken the place of this one", str(self.path))
        return tuple(line.counted for line in lines), text.splitlines()[-1]

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
    releases: Sequence[CountedRelease], terms: LedgerTerms, method: str | None = None, statement: str = "exact"
) -> Composition:
    chosen = method or ("basic" if statement == "published" else terms.method)
    return compose(releases, chosen, delta=None if chosen == "basic" else terms.delta, statement=statement)


def _publishedline_of(releases: Sequence[CountedRelease], terms: LedgerTerms) -> str:
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
