"""Whether the rows of given arrays may be independent draws, as far as their order shows.

Independent draws of one law are as likely in any other order.  So each test here compares the order with others
and needs no law.  All tests of one call together refuse independent draws with probability at most
:data:`CHANCE`.  No test can show independence: rows drawn again at random, or shuffled, look independent.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import scipy
from scipy.special import gammaln

from audit.auditor.probe import check_reuse
from audit.auditor.subject import SubjectError
from audit.evidence.lags import likeness_by_distance
from audit.evidence.nearness import p_value_of_order
from reference.common.arrays import FloatArray, IntArray

CHANCE = 1e-9
"""Largest chance of refusing two arrays of independent draws."""

SHARE = CHANCE / 9
"""What each kind of test may spend on one array: four kinds on two arrays, and one on both."""

MOST_COLUMNS = 256
"""Columns to look at."""

MOST_ROWS, MOST_OF_SEVERAL, MOST_NUMBERS = 2**18, 2**16, 2**20
"""Rows of one column to look at, of each of several, and numbers in all; whole rows are looked for among all."""

FEWEST_BLOCKS = 64
"""Blocks that are compared with each other."""

CALLS = 16
"""Parts of an array, each of which may have values that only this part repeats."""

MULTIPLIER = 0x9E3779B97F4A7C15
"""Odd: rows are told apart by sums of its powers.  Rows that this confuses change no chance."""


@dataclass(frozen=True, eq=False)
class Rows:
    """The rows of one array, of independent draws if all is well.

    Parameters
    ----------
    name : str
        Of the array, in messages.
    values : ndarray, shape (n, k)
        If calls of several rows are independent, the first row of each.
    remedy : str
        What else to do, in messages.
    may_be_sorted : bool
        Whether the order of one column plays no part.
    """

    name: str
    values: FloatArray
    remedy: str = ""
    may_be_sorted: bool = True

    @cached_property
    def is_sorted(self) -> bool:
        """Whether somebody sorted them: a column rises, or falls, more than chance would let it."""
        return any(_sorted_by_hand(column, SHARE / self.values.shape[1]) for column in self.values.T)

    def assumed(self, assumes: str) -> str:
        """Return what a bound assumes, with a word on rows that nobody could check."""
        if self.is_sorted:
            assumes += f"; {self.name} is sorted, so its order shows nothing"
        if any(_come_again_in_full(column[:MOST_ROWS]) for column in self.values[:, :MOST_COLUMNS].T):
            assumes += (
                f"; numbers of {self.name} come again in all digits: they must not be few draws, drawn from again"
            )
        return assumes

    def check(self) -> None:
        """Refuse rows whose order shows that they depend on each other.

        The order of one sorted column shows nothing, and is passed over.

        Raises
        ------
        audit.auditor.subject.SubjectError
        """
        if self.is_sorted:
            if self.values.shape[1] == 1 and self.may_be_sorted:
                return
            raise SubjectError(
                f"{self.name} is sorted, or a column numbers its rows: leave out what is not drawn, and give the "
                "rows in the order in which they were drawn"
            )
        several = self.values.shape[1] > 1
        looks_at = self.values[:, :MOST_COLUMNS]
        rows = min(MOST_OF_SEVERAL, MOST_NUMBERS // looks_at.shape[1]) if several else MOST_ROWS
        columns = looks_at[:rows].T
        looked_at = [_codes_of_rows(self.values), *(_codes(column) for column in columns if several)]
        for codes in looked_at:
            self._check_reuse(codes, len(looked_at))
        for place, column in enumerate(columns):
            if _p_value_of_likeness(column) * len(columns) < SHARE:
                where = f" in column {place}" if several else ""
                raise SubjectError(
                    f"{self.name} has rows that are more alike the nearer they are{where}, as in a random walk or "
                    "with noise that several rows share: each row must be an independent draw, in the order "
                    f"drawn{self.remedy}"
                )
        log_chance, where = likeness_by_distance(np.nan_to_num(looks_at.T))
        if log_chance < math.log(SHARE):
            raise SubjectError(
                f"{self.name} has rows that depend on others {where}, as where the outputs of calls stand "
                f"interleaved; each row must be an independent draw{self.remedy}"
            )

    def _check_reuse(self, codes: IntArray, tests: int) -> None:
        for gap, near, far in _reused(codes):
            (equal, pairs), (again, others) = near, far
            # the gap was chosen among all, in two phases
            if 2 * len(codes) * tests * _tail(equal, pairs, again, others) < SHARE:
                raise SubjectError(
                    f"{self.name} repeats rows: of rows that are {gap:,} apart, {equal:,} of {pairs:,} pairs "
                    f"are equal, and {again:,} of {others:,} if paired at random; each row must be an independent "
                    f"draw{self.remedy}"
                )
        rows = len(codes) // CALLS
        if rows < 2:
            return
        try:
            check_reuse([part.astype(np.float64)[:, None] for part in codes[: rows * CALLS].reshape(CALLS, rows)])
        except SubjectError:
            raise SubjectError(
                f"{self.name} repeats rows: values come again near each other, and nowhere else; each row "
                f"must be an independent draw{self.remedy}"
            ) from None


def check_apart(left: Rows, right: Rows) -> None:
    """Refuse arrays whose rows of the same place share noise, as when both come from one seed.

    If they are independent, each row of the left array is as likely beside any row of the right one.  So the
    number of places where both are above their middle is hypergeometric.

    Raises
    ------
    audit.auditor.subject.SubjectError
    """
    if left.is_sorted or right.is_sorted:
        return
    rows = min(len(left.values), len(right.values), MOST_ROWS)
    sides = [one.values[:rows, :MOST_COLUMNS].T for one in (left, right)]
    for ours, others in zip(*sides, strict=True):
        above = [column > np.sort(column)[rows // 2] for column in (ours, others)]
        both, first, second = int((above[0] & above[1]).sum()), int(above[0].sum()), int(above[1].sum())
        law = scipy.stats.hypergeom(rows, first, second)
        if 2 * len(sides[0]) * min(float(law.cdf(both)), float(law.sf(both - 1))) < SHARE:
            raise SubjectError(
                f"{left.name} and {right.name} share noise, row by row: draw each with random numbers of its own, "
                "not from the same seed"
            )


def _sorted_by_hand(column: FloatArray, share: float) -> bool:
    """Return whether a column rises or falls throughout, though independent draws do so with a smaller chance."""
    if not ((column[1:] >= column[:-1]).all() or (column[1:] <= column[:-1]).all()):
        return False
    _, counts = np.unique(column, return_counts=True)
    # of all orders of these values, two at most
    orders = gammaln(len(column) + 1) - gammaln(counts + 1).sum()
    return bool(np.log(2) - orders < np.log(share))


def _come_again_in_full(column: FloatArray) -> bool:
    """Return whether most of many values are of no short number, and yet come again: a pool of draws does that.

    So do functions of whole numbers, and no order tells them apart.
    """
    values = np.unique(np.nan_to_num(column))
    if not FEWEST_BLOCKS < len(values) <= len(column) // 2:
        return False
    with np.errstate(over="ignore"):
        short = (values == values.astype(np.float32)) | (values == np.round(values, 6))
    return bool(short.mean() < 0.5)


def _codes(column: FloatArray) -> IntArray:
    return np.asarray(np.unique(column, return_inverse=True)[1].ravel())


def _codes_of_rows(values: FloatArray) -> IntArray:
    if values.shape[1] == 1:
        return _codes(values[:, 0])
    # without the sign of zeros, by which equal numbers differ
    bits = np.ascontiguousarray(np.nan_to_num(values, posinf=np.inf, neginf=-np.inf) + 0.0).view(np.uint64)
    mixed = np.zeros(len(bits), dtype=np.uint64)
    for column in bits.T:
        mixed = (mixed ^ (column ^ (column >> np.uint64(29)))) * np.uint64(MULTIPLIER)
        mixed ^= mixed >> np.uint64(32)
    return np.asarray(np.unique(mixed, return_inverse=True)[1].ravel())


def _reused(codes: IntArray) -> Iterator[tuple[int, tuple[int, int], tuple[int, int]]]:
    """Yield the gap at which values come again most often, with its equal pairs and those of a random pairing.

    Half of the disjoint pairs at this gap keep their partners and the other half get new ones, by places alone.
    So of independent rows all pairs are alike, and any choice of the equal ones among them is as likely.
    """
    order = np.argsort(codes, kind="stable")
    again = codes[order[1:]] == codes[order[:-1]]
    if not again.any():
        return
    gap = int(np.bincount((order[1:] - order[:-1])[again]).argmax())
    places = np.arange(len(codes) - gap)
    for phase in (0, 1):
        first = places[places // gap % 2 == phase]
        kept, parted = first[::2], first[1::2]
        partners = np.random.default_rng(phase).permutation(parted) + gap
        equal = int((codes[kept] == codes[kept + gap]).sum())
        by_chance = int((codes[parted] == codes[partners]).sum())
        yield gap, (equal, len(kept)), (by_chance, len(parted))


def _tail(equal: int, pairs: int, again: int, others: int) -> float:
    """Return the chance of so many of all equal pairs among the kept ones."""
    return float(scipy.stats.hypergeom(pairs + others, equal + again, pairs).sf(equal - 1))


def _p_value_of_likeness(column: FloatArray) -> float:
    """Return a bound on the chance that independent numbers are so alike near each other.

    Blocks of independent draws are independent draws, too.  Of each block counts where its values rank, and how
    far from the middle; :func:`audit.evidence.nearness.p_value_of_order` looks at the order of the blocks.
    """
    values = np.nan_to_num(column)
    # equal values rank alike, wherever they stand
    ranks = np.searchsorted(np.sort(values), values) - len(values) // 2
    found = []
    for each in (ranks, np.abs(ranks)):
        size = 1
        while len(each) // size >= FEWEST_BLOCKS:
            blocks = each[: len(each) // size * size].reshape(-1, size).sum(axis=1, dtype=np.float64)
            found.append(p_value_of_order([blocks[:, None]]))
            size *= 2
    return len(found) * min(found) if found else 1.0
