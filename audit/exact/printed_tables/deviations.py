"""Find the `mean +- standard deviation` entries that no ten numbers in [0, 1] can have, however rounded.

For n numbers in [0, U] with mean m the standard deviation is largest when all but one are 0 or U (proof:
``proofs/printed_tables.md``).  Everything is compared as squares of rationals.  Claims: E.sd.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from audit.exact.enclosures import rational, written
from reference.common.balls import square_root
from reference.experiments.printed import RUNS, PrintedEntry, distinct_entries

ONE = Fraction(1)

CONVENTIONS = ("n", "n - 1")
"""The divisors of the sum of squares."""

ROUNDINGS = {"nearest": Fraction(1, 2), "any": ONE}
"""Largest distance of the true number from the printed one, in units of the last printed digit.

`nearest` allows ties either way, `any` also cutting off and rounding up.
"""


def largest_variance(
    mean: Fraction, count: int = RUNS, convention: str = "n - 1", upper: Fraction | None = ONE
) -> Fraction:
    """Return the largest variance of `count` numbers in [0, upper] with a given mean.

    Parameters
    ----------
    mean : Fraction
        Between 0 and `upper`.
    count : int
        n, at least 2.
    convention : {'n', 'n - 1'}
    upper : Fraction or None
        None requires nonnegativity only.
    """
    total = count * mean
    if mean < 0 or (upper is not None and mean > upper):
        raise ValueError("no such numbers have this mean")
    if upper is None:
        squares = total**2
    else:
        full = math.floor(total / upper)
        squares = full * upper**2 + (total - full * upper) ** 2
    divisor = count if convention == "n" else count - 1
    return (squares - count * mean**2) / divisor


def largest_variance_between(
    low: Fraction, high: Fraction, count: int = RUNS, convention: str = "n - 1", upper: Fraction | None = ONE
) -> Fraction:
    """Return the maximum of :func:`largest_variance` over all means in [low, high].

    Between neighbouring multiples of upper/n it is convex in the mean, so the ends and the multiples suffice.
    """
    places = {low, high}
    if upper is not None:
        step = upper / count
        places |= {k * step for k in range(math.ceil(low / step), math.floor(high / step) + 1)}
    return max(largest_variance(place, count, convention, upper) for place in places)


@dataclass(frozen=True)
class EntryJudgement:
    """The judgement on an entry: possible or not.

    Parameters
    ----------
    entry : PrintedEntry
    convention : {'n', 'n - 1'}
    rounding : {'nearest', 'any'}
    smallest_variance : Fraction
        The square of the smallest deviation that is printed this way.
    largest_variance : Fraction
        The largest variance of ten numbers in [0, 1] whose mean is printed this way.
    """

    entry: PrintedEntry
    convention: str
    rounding: str
    smallest_variance: Fraction
    largest_variance: Fraction

    @property
    def impossible(self) -> bool:
        """Whether no such numbers exist."""
        return self.smallest_variance > self.largest_variance

    def to_json(self) -> dict[str, Any]:
        """Return both sides, exactly and as deviations."""
        root = square_root(self.largest_variance)
        return {
            "entry": self.entry.name,
            "line": self.entry.line,
            "printed": f"{self.entry.mean} +- {self.entry.deviation}",
            "convention": self.convention,
            "rounding": self.rounding,
            "impossible": self.impossible,
            "smallest_variance_printed_so": rational(self.smallest_variance),
            "largest_variance_possible": rational(self.largest_variance),
            "largest_deviation_possible": written(root.lower, root.upper, 4),
            "runs_needed": runs_needed(self.entry, self.convention, self.rounding),
        }


def unit(text: str) -> Fraction:
    """Return one unit of the last printed digit."""
    return Fraction(1, 10 ** len(text.partition(".")[2]))


def judge(
    entry: PrintedEntry,
    convention: str = "n - 1",
    rounding: str = "nearest",
    count: int = RUNS,
    upper: Fraction | None = ONE,
) -> EntryJudgement:
    """Compare an entry with what is possible, for the most favourable numbers printed this way.

    Parameters
    ----------
    entry : PrintedEntry
    convention : {'n', 'n - 1'}
    rounding : {'nearest', 'any'}
    count : int
        Runs.
    upper : Fraction or None
        The largest value of one run; None for no bound.
    """
    low, high, least = _printed_so(entry, rounding, upper)
    largest = largest_variance_between(low, high, count, convention, upper)
    return EntryJudgement(entry, convention, rounding, least, largest)


def runs_needed(
    entry: PrintedEntry, convention: str = "n - 1", rounding: str = "nearest", most: int = 1000
) -> int | None:
    """Return the smallest number of runs in [0, 1] for which an entry is possible, if at most `most`."""
    low, high, least = _printed_so(entry, rounding, ONE)
    for runs in range(2, most + 1):
        if largest_variance_between(low, high, runs, convention) >= least:
            return runs
    return None


def _printed_so(entry: PrintedEntry, rounding: str, upper: Fraction | None) -> tuple[Fraction, Fraction, Fraction]:
    """Return the smallest and largest mean and the smallest variance that round to the entry."""
    share = ROUNDINGS[rounding]
    around_mean, around_deviation = share * unit(entry.mean), share * unit(entry.deviation)
    high = entry.exact_mean + around_mean
    return (
        max(Fraction(0), entry.exact_mean - around_mean),
        high if upper is None else min(upper, high),
        max(Fraction(0), entry.exact_deviation - around_deviation) ** 2,
    )


def impossible_entries(
    convention: str = "n - 1", rounding: str = "nearest", entries: Iterable[PrintedEntry] | None = None
) -> tuple[EntryJudgement, ...]:
    """Return the judgements of the entries that are impossible.

    Parameters
    ----------
    convention, rounding
        As in :func:`judge`.
    entries : iterable of PrintedEntry, optional
        Those of table 2, which contains table 1.
    """
    chosen = distinct_entries() if entries is None else entries
    judged = (judge(one, convention, rounding) for one in chosen)
    return tuple(found for found in judged if found.impossible)
