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

from reference.accounting import Composition, Total, compose
from reference.accounting.ledger_file import (
    CountedRelease,
    LedgerTerms,
    ReleaseLine,
    Written,
    append,
    create,
    line_of,
    locked,
    path_of,
    read_ledger,
    require_locks,
    sweep,
)
from reference.common.documents import Document, plain
from reference.common.errors import (
    CeilingError,
    CorruptLedgerError,
    DeltaError,
    OtherLedgerError,
    ParameterError,
    ReadingError,
    UncountableReleaseError,
)
from reference.common.numbers import RealLike, decimal_above, decimal_below, short_text
from reference.common.printable import one_line

NOT_COUNTED = (
    "Not counted: scores on held-out records, and whatever was chosen by looking at them or at the data "
    "(hyperparameters, folds by label, classes, bounds)."
)


class LedgerReport(Document, frozen=True, kw_only=True, tag_field="schema", tag="ledger_report_v1"):
    """A ledger as one document: terms, total, what is left and releases."""

    terms: LedgerTerms
    spent: Composition | None
    left_epsilon: Fraction
    left_delta: Fraction
    releases: tuple[CountedRelease, ...]
    note: str


class ReleaseLedger:
    """Count of all releases about one data set, kept in a file.

    If there is no file, one is made.  If there is one, its count goes on, and the terms must be
    the file's.  Needs POSIX advisory locks (Linux, macOS) and a file system on which they work.

    Parameters
    ----------
    path : str or path
    data : str
        The data set that all releases are about.  Nothing checks this: a mark of the data would itself be
        a release.
    epsilon : number
        The ceiling: the most that all releases together may lose.
    delta : number
        The ceiling's delta.  With `gdp` and `zcdp` epsilon is evaluated there.
    adjacency : {'replace_one', 'add_or_remove_one'}
        Releases for other neighbours are refused.
    method : {'basic', 'gdp', 'zcdp'}
        See :func:`reference.accounting.compose`.  The exact privacy is counted, not the published claim.
    rows_per_person : int
        How many records one person may have.  Releases for fewer are refused.

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
        rows_per_person: int = 1,
    ) -> None:
        terms = LedgerTerms.stated(
            data=data,
            adjacency=adjacency,
            epsilon=epsilon,
            delta=delta,
            method=method,
            rows_per_person=rows_per_person,
        )
        self._open(path_of(path), terms)

    @classmethod
    def open(cls, path: str | Path) -> ReleaseLedger:
        """Return the ledger in an existing file, whatever its terms."""
        ledger = cls.__new__(cls)
        ledger._open(path_of(path), None)
        return ledger

    @classmethod
    def create(cls, path: str | Path, terms: LedgerTerms) -> ReleaseLedger:
        """Make a new file for a ledger, and return the ledger.

        Raises
        ------
        reference.common.errors.OtherLedgerError
            Where there is a file already.
        """
        place = path_of(path)
        require_locks(place)
        if not create(place, terms):
            raise OtherLedgerError("exists already, and is left as it is", str(place))
        return cls.open(place)

    def _open(self, path: Path, terms: LedgerTerms | None) -> None:
        require_locks(path)
        sweep(path)
        self.path = path
        if terms is not None and not path.exists():
            create(path, terms)
        with locked(path, exclusive=False) as handle:
            written = read_ledger(handle, path, whole=False)
        self._header, self._seen = written.header, written.total.releases
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
            return self._releases(handle)

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

    def check(self, *releases: CountedRelease) -> None:
        """Raise what :meth:`reserve` would raise for these releases in turn, and write nothing."""
        with locked(self.path, exclusive=False) as handle:
            total = self._written(handle).total
        for release in releases:
            total = self._with_release(total, release)

    def reserve(self, release: CountedRelease) -> int:
        """Count a release before its noise is drawn; return its number.

        When this returns, the count is on disk.  It reads the last lines of the file only, so it costs the
        same however many releases were counted.

        Raises
        ------
        reference.common.errors.CeilingError
            When the ceiling would be exceeded; nothing is written.
        reference.common.errors.UncountableReleaseError, reference.common.errors.CorruptLedgerError
        """
        with locked(self.path, exclusive=True) as handle:
            written = self._written(handle)
            total = self._with_release(written.total, release)
            entry = ReleaseLine(
                release=total.releases,
                mechanism=release.mechanism,
                adjacency=release.adjacency,
                privacy=release.privacy,
                time=datetime.now(UTC).isoformat(timespec="seconds"),
                rows_per_person=release.rows_per_person,
                total=total,
            )
            append(handle, line_of(entry, written.last), self.path)
            self._seen = total.releases
            return total.releases

    def report(self) -> str:
        """Return what was spent, in words."""
        terms, releases = self.terms, self.releases
        lines = [
            f"Release ledger {self.path}",
            f"data: {one_line(terms.data)}; neighbours: {_neighbours(terms)}; composition: {terms.method}",
            f"ceiling: epsilon {_shown(terms.epsilon)}, delta {_shown(terms.delta)}",
        ]
        if not releases:
            return "\n".join([*lines, "spent: nothing, no release", self._left(None), NOT_COUNTED])
        total = _composed(releases, terms)
        lines.append(
            f"spent: at most epsilon {_shown(total.epsilon)}, delta {_shown(total.delta)}, "
            f"by {len(releases)} release{'' if len(releases) == 1 else 's'}"
        )
        lines.append(self._left(total))
        names = [release.mechanism for release in releases]
        lines += [f"  {names.count(name)} x {name}" for name in dict.fromkeys(names)]
        if any(release.privacy.published is not None for release in releases):
            lines.append(_published_line_of(releases, terms))
        return "\n".join([*lines, NOT_COUNTED])

    def _left(self, spent: Composition | None) -> str:
        epsilon, delta = self._remaining(spent)
        if self.terms.method == "basic":
            return f"left: epsilon {_below(epsilon)}, delta {_below(delta)}"
        return f"left: epsilon {_below(epsilon)} at delta {_shown(delta)}"

    def _remaining(self, spent: Composition | None) -> tuple[Fraction, Fraction]:
        terms = self.terms
        if spent is None:
            return terms.epsilon, terms.delta
        # the other methods evaluate epsilon at the whole delta
        return terms.epsilon - spent.epsilon, terms.delta - (spent.delta if terms.method == "basic" else 0)

    def document(self) -> LedgerReport:
        """Return terms, total, what is left and releases."""
        releases = self.releases
        spent = _composed(releases, self.terms) if releases else None
        epsilon, delta = self._remaining(spent)
        return LedgerReport(
            terms=self.terms,
            spent=spent,
            left_epsilon=epsilon,
            left_delta=delta,
            releases=releases,
            note=NOT_COUNTED,
        )

    def _releases(self, handle: int) -> tuple[CountedRelease, ...]:
        """Return the releases of the locked file, every line checked."""
        return tuple(line.counted for line in self._written(handle, whole=True).lines)

    def _written(self, handle: int, *, whole: bool = False) -> Written:
        """Read the locked file; releases that this object has seen must still be there."""
        written = read_ledger(handle, self.path, whole=whole)
        if written.header != self._header:
            raise OtherLedgerError("another ledger has taken the place of this one", str(self.path))
        count = written.total.releases
        if count < self._seen:
            problem = (
                f"counts {count} release(s), but counted {self._seen} before: it was truncated, or replaced by an "
                "old copy"
            )
            raise CorruptLedgerError(problem, str(self.path))
        self._seen = count
        return written

    def _with_release(self, total: Total, release: CountedRelease) -> Total:
        """Return the total with one more release, if it can be counted and stays below the ceiling."""
        problem = self._uncountable(release)
        if problem is not None:
            raise UncountableReleaseError(problem, str(self.path))
        assert release.privacy.exact is not None
        terms = self.terms
        try:
            more = total.plus(release.privacy.exact, terms.method)
            spent = more.composed(terms.method, terms.adjacency, terms.delta)
        except (ReadingError, DeltaError) as refused:
            raise UncountableReleaseError(str(refused), str(self.path)) from refused
        if spent.epsilon > terms.epsilon or spent.delta > terms.delta:
            raise CeilingError(
                f"release {more.releases} ({release.mechanism}) would spend epsilon {_shown(spent.epsilon)}, "
                f"delta {_shown(spent.delta)} in all, more than the ceiling: epsilon {_shown(terms.epsilon)}, "
                f"delta {_shown(terms.delta)}",
                str(self.path),
            )
        return more

    def _uncountable(self, release: CountedRelease) -> str | None:
        """Return why a release cannot be counted at all."""
        if release.privacy.exact is None:
            return f"{release.mechanism} has no privacy that could be counted"
        if release.seeded:
            return (
                "a seeded release is not counted: one seed draws the same noise for every fold, and whoever "
                "knows it can remove the noise; leave the seed out"
            )
        if release.noise != "hardened":
            return f"a release with {release.noise} noise is not counted: it leaks at its bits, and is for study"
        if release.adjacency != self.terms.adjacency:
            return f"a release for {release.adjacency} does not compose with {self.terms.adjacency}"
        if release.rows_per_person < self.terms.rows_per_person:
            return (
                f"a release for {release.rows_per_person} row(s) per person says nothing about persons with "
                f"{self.terms.rows_per_person}"
            )
        return None


def require_ledger(given: object) -> None:
    """Raise for anything but a ledger or None: a path is a name alone.

    Raises
    ------
    reference.common.errors.ParameterError
    """
    if given is not None and not isinstance(given, ReleaseLedger):
        raise ParameterError("release_ledger", given, "a ReleaseLedger, or None")


def _composed(
    releases: Sequence[CountedRelease], terms: LedgerTerms, method: str | None = None, statement: str = "exact"
) -> Composition:
    chosen = method or ("basic" if statement == "published" else terms.method)
    return compose(releases, chosen, delta=None if chosen == "basic" else terms.delta, statement=statement)


def _neighbours(terms: LedgerTerms) -> str:
    rows = terms.rows_per_person
    return terms.adjacency if rows == 1 else f"{terms.adjacency}, {rows} rows per person"


def _published_line_of(releases: Sequence[CountedRelease], terms: LedgerTerms) -> str:
    if any(release.privacy.published is None for release in releases):
        return "published statements: no published theorem covers some of these releases, so they do not add up"
    if len({release.rows_per_person for release in releases}) > 1:
        return "published statements: for persons with different numbers of rows, so they do not add up"
    claimed = _composed(releases, terms, statement="published")
    return (
        f"published statements add up to epsilon {_shown(claimed.epsilon)}, delta {_shown(claimed.delta)} "
        f"(each: {', '.join(claimed.verdicts)})"
    )


def _shown(value: Fraction) -> str:
    """Return a number in six digits, rounded up."""
    return short_text(decimal_above(value, 6))


def _below(value: Fraction) -> str:
    """Return a number in six digits, rounded down."""
    return short_text(decimal_below(value, 6))
