"""Scores for repeating outputs, and for outputs that are not numbers."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from audit.auditor.events.protocol import READERS, StoredByItsFields
from audit.auditor.events.quantiser import QUANTISED_BITS
from audit.auditor.events.ranks import most_often, repeated
from audit.auditor.events.units import Unit
from reference.common.arrays import BoolArray, FloatArray, IntArray, NumberArray

LARGEST_TABLE = 4096
"""Most repeated values in a table, which keeps the most informative."""

LARGEST_SET, ENOUGH_TO_REPEAT = 2**16, 2**12
"""Most numbers in a set that only one input had; among this many rows two are equal if most rows repeat."""

MODULI_ROWS, CLEAR_EXCESS, FEW_MODULI = 2**13, 8.0, 3
"""Rows of each sample that moduli are judged on, the excess that is clear, and how many moduli are returned."""

FEW_REPEATED, ERRORS = 30, 2.0
"""Fewer rare values that are expected on both inputs say nothing about the others; standard errors to a limit."""

HASH_FACTOR = np.uint64(0x9E3779B97F4A7C15)
"""An odd number without pattern (2^64 over the golden ratio)."""

NOT_FINITE = ("nan", "+inf", "-inf", "any")


@dataclass(frozen=True)
class NotFiniteScore(StoredByItsFields):
    """1 where some coordinate is NaN, +infinity, -infinity, or any of these; else 0.

    Parameters
    ----------
    kind : {'nan', '+inf', '-inf', 'any'}
    coordinate : int or None
        The only one that is looked at; None looks at all.
    """

    kind: str
    coordinate: int | None = None
    name: ClassVar[str] = "not_finite"
    learned: ClassVar[bool] = False
    sees_all: ClassVar[bool] = True
    binary: ClassVar[bool] = True

    def __call__(self, outputs: FloatArray) -> FloatArray:
        """Return the indicators."""
        if self.coordinate is not None:
            outputs = outputs[:, [self.coordinate]]
        if self.kind == "any":
            matches = ~np.isfinite(outputs)
        elif self.kind == "nan":
            matches = np.isnan(outputs)
        else:
            matches = np.asarray(outputs == (np.inf if self.kind == "+inf" else -np.inf))
        indicators: FloatArray = np.asarray(matches.any(axis=1), dtype=np.float64)
        return indicators


@dataclass(frozen=True, eq=False)
class CategoryScore(StoredByItsFields):
    """The log ratio of counts of each repeated value; all other values together are one category.

    Parameters
    ----------
    coordinates : tuple of int
        Those that make up a value.
    values : ndarray, shape (m, len(coordinates))
        Repeated values, in lexicographic order.
    log_ratios : ndarray, shape (m,)
    other : float
        Log ratio of everything else.
    """

    coordinates: tuple[int, ...]
    values: FloatArray
    log_ratios: FloatArray
    other: float
    name: ClassVar[str] = "category"
    learned: ClassVar[bool] = True
    sees_all: ClassVar[bool] = False

    @classmethod
    def learn(
        cls, left: FloatArray, right: FloatArray, coordinates: tuple[int, ...], ordered: FloatArray | None = None
    ) -> CategoryScore | None:
        """Return the score for two samples of shape (n, k); None where no value repeats.

        The numbers of a single coordinate may be given in order.
        """
        keys = np.concatenate([_keys(sample[:, coordinates] + 0.0) for sample in (left, right)])
        # more often than a quantised continuous value repeats by chance
        chance = len(keys) * 2.0**-QUANTISED_BITS
        often = 2 + chance + 4 * np.sqrt(chance)
        if not most_often(np.sort(keys) if ordered is None else ordered, int(often) + 1):
            return None
        distinct, first, where = np.unique(keys, return_index=True, return_inverse=True)
        counts = [np.bincount(part, minlength=len(distinct)) for part in (where[: len(left)], where[len(left) :])]
        total = counts[0] + counts[1]
        repeated = np.flatnonzero(total > often)
        if repeated.size > LARGEST_TABLE:
            contrast = np.abs(counts[0] - counts[1]) / np.sqrt(total)
            repeated = repeated[np.argsort(-contrast[repeated], kind="stable")[:LARGEST_TABLE]]
        repeated = repeated[np.argsort(distinct[repeated])]
        kept = [count[repeated] for count in counts]
        others = [len(sample) - int(part.sum()) for sample, part in zip((left, right), kept, strict=True)]
        prior = np.log(len(left) / len(right))
        log_ratios = np.log((kept[0] + 0.5) / (kept[1] + 0.5)) - prior
        other = float(np.log((others[0] + 0.5) / (others[1] + 0.5)) - prior)
        values = np.concatenate([left, right])[first[repeated]]
        return cls(coordinates, values[:, coordinates] + 0.0, log_ratios, other)

    def __call__(self, outputs: FloatArray) -> FloatArray:
        """Return the log ratio of each output's category."""
        keys = _keys(outputs[:, self.coordinates] + 0.0)
        table = _keys(self.values)
        place = np.minimum(np.searchsorted(table, keys), len(table) - 1)
        return np.where(table[place] == keys, self.log_ratios[place], self.other)


@dataclass(frozen=True)
class ResidueScore(StoredByItsFields):
    """The log ratio of counts of each residue of a coordinate's multiples of a unit, too many to count one by one.

    Parameters
    ----------
    coordinate, modulus : int
    log_ratios : tuple of float
        By residue, `modulus` of them; or of some residues.
    unit : float
    other : float or None
        Log ratio of numbers that are no multiples, and of other residues.  None takes the nearest multiple.
    residues : tuple of int
        The ones that `log_ratios` are of, ascending; empty for all.
    """

    coordinate: int
    modulus: int
    log_ratios: tuple[float, ...]
    unit: float = 1.0
    other: float | None = None
    residues: tuple[int, ...] = ()
    name: ClassVar[str] = "residue"
    learned: ClassVar[bool] = True
    sees_all: ClassVar[bool] = False

    def __post_init__(self) -> None:
        """Check that each residue has its ratio."""
        if self.modulus < 2 or len(self.log_ratios) != (len(self.residues) or self.modulus):
            raise ValueError("a residue score needs a modulus of at least 2 and a ratio for each residue")
        if not 0 < self.unit < math.inf:
            raise ValueError("a unit is a number above 0")
        if self.residues and (self.other is None or not _ascend(self.residues, self.modulus)):
            raise ValueError("some residues, in ascending order, need a ratio of all others")

    @classmethod
    def learn(
        cls,
        left: IntArray,
        right: IntArray,
        coordinate: int,
        modulus: int,
        unit: float = 1.0,
        others: tuple[int, int] | None = None,
    ) -> ResidueScore:
        """Return the score for two samples of a coordinate's multiples of the unit, and so many other numbers."""
        counts = [np.bincount(side % modulus, minlength=modulus) + 0.5 for side in (left, right)]
        beside = (0, 0) if others is None else others
        rows = len(left) + beside[0], len(right) + beside[1]
        shares = [count / row for count, row in zip(counts, rows, strict=True)]
        other = [(count + 0.5) / row for count, row in zip(beside, rows, strict=True)]
        apart = None if others is None else math.log(other[0] / other[1])
        return cls(coordinate, modulus, tuple(np.log(shares[0] / shares[1]).tolist()), unit, apart)

    def __call__(self, outputs: FloatArray) -> FloatArray:
        """Return the log ratio of each output's residue."""
        values, ratios = outputs[:, self.coordinate], np.array(self.log_ratios)
        with np.errstate(over="ignore", invalid="ignore"):
            found = _residues(values / self.unit, self.modulus)
        if self.other is None:
            return np.asarray(ratios[found])
        if not self.residues:
            return np.where(Unit(self.unit).divides(values), ratios[found], self.other)
        place = np.minimum(np.searchsorted(self.residues, found), len(ratios) - 1)
        return np.where(np.array(self.residues)[place] == found, ratios[place], self.other)


def _ascend(residues: tuple[int, ...], modulus: int) -> bool:
    pairs = zip(residues, (*residues[1:], modulus), strict=True)
    return residues[0] >= 0 and all(one < next_one for one, next_one in pairs)


def telling_moduli(left: IntArray, right: IntArray, moduli: Iterable[int]) -> list[int]:
    """Return the few moduli whose residues differ most between two samples of whole numbers.

    By the excess of the chi-squared statistic over its mean, in standard deviations: at least
    :data:`CLEAR_EXCESS`, so that samples of one distribution propose nothing.
    """
    samples = [sample[:MODULI_ROWS] for sample in (left, right)]
    weights = [math.sqrt(len(samples[1 - side]) / len(samples[side])) for side in (0, 1)]
    excesses: dict[int, float] = {}
    for modulus in moduli:
        counts = [np.bincount(sample % modulus, minlength=modulus) for sample in samples]
        total = np.maximum(counts[0] + counts[1], 1)
        statistic = ((counts[0] * weights[0] - counts[1] * weights[1]) ** 2 / total).sum()
        excesses[modulus] = float((statistic - (modulus - 1)) / math.sqrt(2 * (modulus - 1)))
    clear = [modulus for modulus in excesses if excesses[modulus] >= CLEAR_EXCESS]
    return sorted(clear, key=lambda modulus: -excesses[modulus])[:FEW_MODULI]


def _residues(values: FloatArray, modulus: int) -> IntArray:
    # rounding may give the modulus itself where a value is not a whole number
    found = np.mod(np.rint(values), modulus)
    # a number that is too large for its unit
    found[np.isnan(found)] = 0.0
    return found.astype(np.int64) % modulus


def _listed(values: NumberArray, table: NumberArray) -> BoolArray:
    """Return whether each value is in an ascending table."""
    place = np.minimum(np.searchsorted(table, values), len(table) - 1)
    found: BoolArray = table[place] == values
    return found


@dataclass(frozen=True, eq=False)
class UnseenScore(StoredByItsFields):
    """1 where a coordinate's value is not in a table: off the grid on which the other outputs lie.

    Parameters
    ----------
    coordinate : int
    values : ndarray, shape (m,)
        Ascending.
    """

    coordinate: int
    values: FloatArray
    name: ClassVar[str] = "unseen"
    learned: ClassVar[bool] = True
    sees_all: ClassVar[bool] = False
    binary: ClassVar[bool] = True

    def __call__(self, outputs: FloatArray) -> FloatArray:
        """Return the indicators."""
        return (~_listed(outputs[:, self.coordinate], self.values)).astype(np.float64)


@dataclass(frozen=True, eq=False)
class OneSidedScore(StoredByItsFields):
    """1 where a coordinate's value is in a table of those that the learning draws had on only one input.

    Each may be far too rare to count by itself; together they may be common.

    Parameters
    ----------
    coordinate : int
    values : ndarray, shape (m,)
        Ascending.
    """

    coordinate: int
    values: FloatArray
    name: ClassVar[str] = "one_sided"
    learned: ClassVar[bool] = True
    sees_all: ClassVar[bool] = False
    binary: ClassVar[bool] = True

    @classmethod
    def learn(
        cls, own: FloatArray, others: FloatArray, coordinate: int, *, least: int = 1
    ) -> OneSidedScore | None:
        """Return the score of values that the first of two samples of shape (n,) has, the other never; or None.

        It has each of them at least so many times.
        """
        values, counts = np.unique(own, return_counts=True)
        alone = ~np.isin(values, others) & (counts >= least)
        values, counts = values[alone], counts[alone]
        if not len(values):
            return None
        most = np.argsort(-counts, kind="stable")[:LARGEST_SET]
        return cls(coordinate, np.sort(values[most]))

    def __call__(self, outputs: FloatArray) -> FloatArray:
        """Return the indicators."""
        return _listed(outputs[:, self.coordinate], self.values).astype(np.float64)


@dataclass(frozen=True, eq=False)
class OneSidedRowsScore(StoredByItsFields):
    """1 where the whole output is in a table of those that the learning draws had on one input only.

    Its coordinates, each by itself, may be common on both inputs.

    Parameters
    ----------
    values : ndarray, shape (m, k)
        Ascending by key.
    """

    values: FloatArray
    name: ClassVar[str] = "one_sided_rows"
    learned: ClassVar[bool] = True
    sees_all: ClassVar[bool] = False

    @classmethod
    def learn(cls, own: FloatArray, others: FloatArray) -> OneSidedRowsScore | None:
        """Return the score of rows in the first of two samples of shape (n, k) only; None if there are none."""
        rows = own + 0.0
        keys, first, counts = np.unique(_keys(rows), return_index=True, return_counts=True)
        alone = np.flatnonzero(~np.isin(keys, _keys(others + 0.0)))
        if not alone.size:
            return None
        most = alone[np.argsort(-counts[alone], kind="stable")[: LARGEST_SET // rows.shape[1]]]
        return cls(rows[first[np.sort(most)]])

    def __call__(self, outputs: FloatArray) -> FloatArray:
        """Return the indicators."""
        return _listed(_keys(outputs + 0.0), _keys(self.values)).astype(np.float64)


def may_repeat(some: FloatArray) -> bool:
    """Return whether any of a few rows is there twice: if numbers never repeat, a few of them show it."""
    keys = np.sort(_keys(some + 0.0))
    return len(keys) < 2 or most_often(keys, 2)


def mostly_repeated(*samples: FloatArray) -> bool:
    """Return whether most rows of some samples occur three times or more in all of them together."""
    if not may_repeat(samples[0][:ENOUGH_TO_REPEAT]):
        return False
    keys = np.sort(np.concatenate([_keys(sample + 0.0) for sample in samples]))
    return repeated(keys, 3) > len(keys) / 2


def share_of_new(known: FloatArray, rows: FloatArray) -> float:
    """Return the share of the rows that are not among the known ones."""
    return float((~np.isin(_keys(rows + 0.0), _keys(known + 0.0))).mean())


def largest_share_alone(left: NumberArray, right: NumberArray) -> float:
    """Return an upper limit for the share of rare values that only one of two inputs has; 1 if too few repeat.

    A value that occurs two or three times in two samples of one size is in both with probability 1/2 or 3/4 if
    both inputs have it alike, and never if one has it alone.  The limit is two standard errors up.

    Values that occur once tell nothing: :func:`share_beyond_a_tail` says how many there are.
    """
    both = np.concatenate([left, right])
    _, place, counts = np.unique(both, return_inverse=True, return_counts=True)
    on_left = np.bincount(place[: len(left)], minlength=len(counts))
    rare = (counts == 2) | (counts == 3)
    expected = np.where(counts[rare] == 2, 0.5, 0.75)
    if expected.sum() < FEW_REPEATED:
        return 1.0
    on_both = np.count_nonzero((on_left[rare] > 0) & (on_left[rare] < counts[rare]))
    error = math.sqrt(float((expected * (1 - expected)).sum()))
    return float(np.clip(1 - (on_both - ERRORS * error) / expected.sum(), 0.0, 1.0))


def share_beyond_a_tail(values: NumberArray) -> float:
    """Return the share of values that occur once, less twice the number of those that occur twice.

    In a tail that falls off like a geometric one, or faster, there are at most twice as many of the first as of
    the second.  More may be codes that no input ever repeats.  The share is two standard errors up.
    """
    _, counts = np.unique(values, return_counts=True)
    once, twice = np.count_nonzero(counts == 1), np.count_nonzero(counts == 2)
    # as the counts of a Poisson law
    more = once - 2 * twice + ERRORS * math.sqrt(once + 4 * twice)
    return max(0.0, more / len(values))


def _keys(values: FloatArray) -> NumberArray:
    """Return one sortable key per row: the value itself, or for several coordinates a 64-bit hash.

    A collision merges two categories, which makes another event, equally valid.
    """
    if values.shape[1] == 1:
        return values[:, 0]
    keys = np.zeros(len(values), dtype=np.uint64)
    for column in values.T:
        keys ^= np.ascontiguousarray(column).view(np.uint64)
        keys *= HASH_FACTOR
        keys ^= keys >> np.uint64(29)
    return keys


READERS["not_finite"] = lambda document: NotFiniteScore(str(document["kind"]), document.get("coordinate"))
READERS["category"] = lambda document: CategoryScore(
    tuple(document["coordinates"]),
    np.array(document["values"], dtype=np.float64),
    np.array(document["log_ratios"], dtype=np.float64),
    float(document["other"]),
)
READERS["residue"] = lambda document: ResidueScore(
    int(document["coordinate"]),
    int(document["modulus"]),
    tuple(map(float, document["log_ratios"])),
    float(document.get("unit", 1)),
    document.get("other"),
    tuple(document.get("residues", ())),
)
READERS["one_sided"] = lambda document: OneSidedScore(int(document["coordinate"]), np.array(document["values"]))
READERS["one_sided_rows"] = lambda document: OneSidedRowsScore(np.array(document["values"], dtype=np.float64))
READERS["unseen"] = lambda document: UnseenScore(int(document["coordinate"]), np.array(document["values"]))
