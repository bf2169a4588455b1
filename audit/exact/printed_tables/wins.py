"""How often each method has the smaller risk difference, counted from the printed means.  Claims: E.wins."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from audit.exact.printed_tables.deviations import impossible_entries
from reference.experiments.printed import ENTRIES, PrintedEntry, distinct_entries

RIVALS = ("pdfc", "adfc")


@dataclass(frozen=True)
class Count:
    """Wins, ties and losses against PFLR*.

    Parameters
    ----------
    wins, ties, losses : int
        The printed mean is smaller than, equal to or larger than PFLR*'s.
    """

    wins: int
    ties: int
    losses: int

    @property
    def cases(self) -> int:
        """All comparisons."""
        return self.wins + self.ties + self.losses

    @property
    def is_most(self) -> bool:
        """Whether more than half are wins; a tie does not count."""
        return 2 * self.wins > self.cases

    @property
    def could_be_most(self) -> bool:
        """The same if every tie, at three decimals, counts as a win."""
        return 2 * (self.wins + self.ties) > self.cases

    @property
    def needed(self) -> int:
        """Wins that "most" would need."""
        return self.cases // 2 + 1

    def to_json(self) -> dict[str, Any]:
        """Return the counts and whether they are most."""
        return {
            "wins": self.wins,
            "ties": self.ties,
            "losses": self.losses,
            "cases": self.cases,
            "needed_for_most": self.needed,
            "most": self.is_most,
            "most_if_ties_win": self.could_be_most,
        }


def _by_case(entries: Iterable[PrintedEntry]) -> dict[tuple[int, str, str], dict[str, PrintedEntry]]:
    cases: dict[tuple[int, str, str], dict[str, PrintedEntry]] = {}
    for one in entries:
        cases.setdefault((one.table, one.data, one.epsilon), {})[one.mechanism] = one
    return cases


def count(rivals: Iterable[str], entries: Iterable[PrintedEntry] | None = None, data: str | None = None) -> Count:
    """Count, over every rival and every case (data set, epsilon), which printed mean is smaller.

    Parameters
    ----------
    rivals : iterable of {'pdfc', 'adfc'}
    entries : iterable of PrintedEntry, optional
        Those of table 2.
    data : {'us', 'adult'}, optional
        Both by default.
    """
    results = [0, 0, 0]
    names = tuple(rivals)
    for case, found in _by_case(distinct_entries() if entries is None else entries).items():
        if data not in (None, case[1]):
            continue
        for rival in names:
            if rival in found and "pflr" in found:
                results[_outcome(found[rival], found["pflr"])] += 1
    return Count(*results)


def count_both(entries: Iterable[PrintedEntry] | None = None) -> Count:
    """Count the cases in which PDFC and ADFC both win; one loss makes a loss, else one tie makes a tie."""
    results = [0, 0, 0]
    for found in _by_case(distinct_entries() if entries is None else entries).values():
        results[max(_outcome(found[rival], found["pflr"]) for rival in RIVALS)] += 1
    return Count(*results)


def _outcome(rival: PrintedEntry, baseline: PrintedEntry) -> int:
    """Return 0 for a win, 1 for a tie, 2 for a loss."""
    if rival.exact_mean == baseline.exact_mean:
        return 1
    return 0 if rival.exact_mean < baseline.exact_mean else 2


def readings() -> dict[str, Count]:
    """Return the count under each reading of "PDFC and ADFC produce less risk difference in most cases"."""
    impossible = {found.entry.name for found in impossible_entries()}
    possible = [one for one in distinct_entries() if one.name not in impossible]
    return {
        "all sixteen comparisons together": count(RIVALS),
        "PDFC alone": count(["pdfc"]),
        "ADFC alone": count(["adfc"]),
        "both at once": count_both(),
        "on Adult, both": count(RIVALS, data="adult"),
        "on US, both": count(RIVALS, data="us"),
        "PDFC alone, repeated rows counted twice": count(["pdfc"], ENTRIES),
        "ADFC alone, repeated rows counted twice": count(["adfc"], ENTRIES),
        "PDFC alone, without impossible entries": count(["pdfc"], possible),
        "ADFC alone, without impossible entries": count(["adfc"], possible),
    }
