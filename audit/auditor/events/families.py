"""Families of scores, proposed for a subject from draws that certify nothing."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from audit.auditor.events.atoms import learn_atoms
from audit.auditor.events.bits import KINDS, BitScore, EqualityScore
from audit.auditor.events.columns import Columns
from audit.auditor.events.directions import learn_directions
from audit.auditor.events.protocol import Score, filled
from audit.auditor.events.ranks import Ranks, mutual_ranks, repeated, runs
from audit.auditor.events.scores import (
    AdditiveScore,
    CoordinateScore,
    IntervalScore,
    LikelihoodRatioScore,
    LogisticScore,
)
from audit.auditor.events.trees import TreeScore
from audit.auditor.events.units import Unit
from audit.auditor.events.values import (
    ENOUGH_TO_REPEAT,
    LARGEST_TABLE,
    NOT_FINITE,
    CategoryScore,
    NotFiniteScore,
    OneSidedRowsScore,
    OneSidedScore,
    ResidueScore,
    UnseenScore,
    mostly_repeated,
    telling_moduli,
)
from reference.common.arrays import FloatArray

IDEAL = (
    "coordinates",
    "intervals",
    "additive",
    "logistic",
    "trees",
    "likelihood_ratio",
    "categories",
    "rare",
    "directions",
)
"""Families tried on quantised outputs."""

EXACT = ("bits",)
"""Families tried on every bit."""

FAMILIES = IDEAL + EXACT

SLOW = ("trees", "logistic")
"""Families that take longest to learn."""

QUICK = ("coordinates", "intervals", "additive", "categories", "rare")
"""Families for many audits: one kind of learned score, and none that only changes the choice of event."""

LEARNING_VALUES = 2_000_000
"""Most numbers that the costly learners (logistic regression, trees) take from each input."""

TREE_ROWS = 2**15
"""Most outputs of each input that trees, which take longest, are learned from."""

TELLING = 2.0
"""Standard deviations by which ties must differ: rounding ties coordinates now and then on both inputs."""

FEW = 20
"""Fewer learning draws teach nothing."""

MODULI = (2, 3, 4, 5, 7, 8, 9, 10, 11, 13)
"""Moduli for multiples of a unit that have too many values for a table."""

FURTHER_MODULI = tuple(sorted({*range(2, 257), 1_000} - set(MODULI)))
"""Moduli that are proposed where a few draws already tell the inputs apart by them."""

INTERVALS = 32
"""Intervals that all coordinates propose together, with either input as the likely one; at least one each."""


def proposals(
    families: Sequence[str],
    left: FloatArray,
    right: FloatArray,
    subject: object,
    inputs: tuple[object, object],
) -> Iterator[Score]:
    """Yield the scores to choose from, for two samples of shape (n, k).

    Parameters
    ----------
    families : sequence of str
        Of :data:`FAMILIES`.
    left, right : ndarray, shape (n, k)
        Draws for learning: quantised for :data:`IDEAL`, as they are for :data:`EXACT`.
    subject : object
        May have a `log_likelihood_ratio`.
    inputs : tuple
        If they are numbers, the bits of an output less an input are looked at.
    """
    taught = Taught.of(left, right)
    for family in families:
        yield from taught.proposals(family, subject, inputs)


@dataclass(frozen=True, eq=False)
class Taught:
    """Draws for learning, looked at once for all families.

    Parameters
    ----------
    width : int
    finite : tuple of ndarray
        The outputs on left and right, as scores for finite outputs meet them.
    not_finite : tuple of int
        Coordinates with numbers that are not finite.
    columns : Columns
        Of the finite outputs.
    """

    width: int
    finite: tuple[FloatArray, FloatArray]
    not_finite: tuple[int, ...]
    columns: Columns

    @classmethod
    def of(cls, left: FloatArray, right: FloatArray, columns: Columns | None = None) -> Taught:
        """Return the draws of two samples of shape (n, k), whose sorted columns others may have asked for."""
        finite = filled(left), filled(right)
        if finite[0] is left and finite[1] is right:
            return cls(left.shape[1], finite, (), Columns(left, right) if columns is None else columns)
        everywhere = np.isfinite(left).all(axis=0) & np.isfinite(right).all(axis=0)
        filled_columns = Columns(*finite, () if columns is None else columns.units)
        return cls(left.shape[1], finite, tuple(np.flatnonzero(~everywhere).tolist()), filled_columns)

    def proposals(self, family: str, subject: object, inputs: tuple[object, object]) -> Iterator[Score]:
        """Yield the scores of one family."""
        enough = min(len(sample) for sample in self.finite) >= FEW
        if family == "rare":
            yield from self._not_finite()
            yield from _off_grid(self.width, self.columns) if enough else ()
            yield from _ties(*self.finite) if self.width > 1 else ()
        elif family == "likelihood_ratio":
            if hasattr(subject, "log_likelihood_ratio"):
                yield LikelihoodRatioScore.of(subject)
        elif family == "bits":
            yield from _bits(self.width, inputs)
            if enough:
                yield from _categories(*self.finite, self.columns)
        elif family == "coordinates":
            yield from (CoordinateScore(k) for k in range(self.width))
        elif enough:
            yield from LEARNERS[family](*self.finite, self.columns)

    def _not_finite(self) -> Iterator[Score]:
        """Yield scores of whether an output has a number that is not finite, and where."""
        if self.not_finite:
            yield from (NotFiniteScore(kind) for kind in NOT_FINITE)
        if self.width > 1:
            yield from (NotFiniteScore(kind, k) for k in self.not_finite for kind in NOT_FINITE)


def _intervals(left: FloatArray, _: FloatArray, columns: Columns) -> Iterator[Score]:
    most = max(1, INTERVALS // left.shape[1])
    for k in range(left.shape[1]):
        sides = columns.sides(k)
        among_own = runs(sides[0]), runs(sides[1])
        for some in zip(sides, among_own, mutual_ranks(*sides, *among_own), strict=True):
            yield from (IntervalScore(k, low, high) for low, high in _windows(*some)[:most])


def _windows(likely: FloatArray, among_own: Ranks, among_others: Ranks) -> list[tuple[float, float]]:
    """Return intervals between draws of a sorted sample that hold many of them and few others, by their ranks.

    Windows of 8, 16, 32, ... draws; the best of each size by a pessimistic log ratio, best first.
    """
    found = []
    # those of equal values are alike
    (first, last), (below, until) = among_own, among_others
    size = 8
    while size <= len(likely) // 2:
        step = size // 8
        starts, ends = slice(0, len(likely) - size + 1, step), slice(size - 1, None, step)
        own, inside = last[ends] - first[starts], until[ends] - below[starts] + 1
        ratios = (own - np.sqrt(own)) / (inside + np.sqrt(inside))
        best = int(ratios.argmax())
        found.append((float(ratios[best]), float(likely[starts][best]), float(likely[ends][best])))
        size *= 2
    return [(low, high) for _, low, high in sorted(found, reverse=True)]


def _additive(left: FloatArray, _: FloatArray, columns: Columns) -> Iterator[Score]:
    width = left.shape[1]
    for monotone in (True, False):
        yield AdditiveScore.of_sorted(map(columns.sides, range(width)), monotone=monotone)
    if width > 1:
        yield AdditiveScore.of_sorted([columns.together()], monotone=True)


def _few(sample: FloatArray) -> FloatArray:
    return sample[: max(FEW, LEARNING_VALUES // sample.shape[1])]


def _logistic(left: FloatArray, right: FloatArray, _: Columns) -> Iterator[Score]:
    """Propose a logistic score; with one coordinate it would be that coordinate."""
    if left.shape[1] < 2:
        return
    from sklearn.exceptions import ConvergenceWarning

    with warnings.catch_warnings():
        # separable draws: any direction that separates is good enough
        warnings.simplefilter("ignore", ConvergenceWarning)
        warnings.simplefilter("ignore", RuntimeWarning)
        yield LogisticScore.learn(_few(left), _few(right))


def _trees(left: FloatArray, right: FloatArray, _: Columns) -> Iterator[Score]:
    """Propose trees; with one coordinate the additive score does the same."""
    if left.shape[1] >= 2:
        yield TreeScore.learn(_few(left)[:TREE_ROWS], _few(right)[:TREE_ROWS])


def _directions(left: FloatArray, right: FloatArray, _: Columns) -> Iterator[Score]:
    if left.shape[1] >= 2:
        yield from learn_directions(left, right)
        yield from learn_atoms(left, right)


def _categories(left: FloatArray, right: FloatArray, columns: Columns) -> Iterator[Score]:
    """Yield scores of repeating outputs and coordinates, of those that only one input has, and of residues."""
    width = left.shape[1]
    groups = [tuple(range(width))] if width > 1 else []
    if width > 2:
        # no whole output repeats if one coordinate is continuous; what stands beside it may, as a few tell
        some = np.sort(left[:ENOUGH_TO_REPEAT], axis=0)
        repeating = tuple(k for k in range(width) if repeated(some[:, k], 2) > len(some) / 2)
        groups += [repeating] if 1 < len(repeating) < width else []
    groups += [(k,) for k in range(width)]
    for coordinates in groups:
        ordered = columns.both(coordinates[0]) if len(coordinates) == 1 else None
        score = CategoryScore.learn(left, right, coordinates, ordered)
        if score is not None:
            yield score
    if width > 1 and mostly_repeated(left, right):
        rows = (OneSidedRowsScore.learn(*pair) for pair in ((left, right), (right, left)))
        yield from (score for score in rows if score is not None)
    for k in range(width):
        both = columns.both(k)
        if repeated(both, 3) > len(both) / 2:
            # besides repeating values, some that are too rare to repeat
            yield from _alone(left[:, k], right[:, k], k)
        elif columns.repeats(k):
            # codes beside noise, which rounding may make repeat, too
            for found in _alone(columns.in_order(k, 0), columns.in_order(k, 1), k, least=2):
                yield replace(found, values=np.unique(columns.on_grid(k, found.values)))
        # fewer values repeat often enough to tell them one by one
        if (unit := columns.unit(k)) is not None and len(np.unique(both)) > min(LARGEST_TABLE, len(both) / 4):
            yield from _residues(left[:, k], right[:, k], k, unit)


def _residues(left: FloatArray, right: FloatArray, coordinate: int, unit: Unit) -> Iterator[ResidueScore]:
    """Yield scores of the residues of multiples of a unit, and of whether a number is none."""
    sides = [(side[on], len(side)) for side in (left, right) for on in [unit.divides(side)]]
    multiples = unit.multiples(sides[0][0]), unit.multiples(sides[1][0])
    others = sides[0][1] - len(multiples[0]), sides[1][1] - len(multiples[1])
    if not all(map(len, multiples)):
        return
    moduli = [one for one in (*MODULI, *telling_moduli(*multiples, FURTHER_MODULI)) if unit.tells(one)]
    of_all = unit.of_all and not any(others)
    for modulus in moduli:
        yield ResidueScore.learn(*multiples, coordinate, modulus, unit.size, None if of_all else others)


def _alone(left: FloatArray, right: FloatArray, coordinate: int, *, least: int = 1) -> Iterator[OneSidedScore]:
    """Yield the scores of values that only one of two samples has."""
    for pair in ((left, right), (right, left)):
        score = OneSidedScore.learn(*pair, coordinate, least=least)
        if score is not None:
            yield score


def _off_grid(width: int, columns: Columns) -> Iterator[Score]:
    """Yield scores of values off the grid of all others."""
    for k in range(width):
        both = columns.both(k)
        # a grid: a few values that make up nearly all outputs
        if repeated(both, 3) <= len(both) / 2:
            continue
        values, counts = np.unique(both, return_counts=True)
        usual = values[counts > 2]
        if len(usual) <= LARGEST_TABLE:
            yield UnseenScore(k, usual)


def _ties(left: FloatArray, right: FloatArray) -> Iterator[Score]:
    """Yield the score of equal coordinates, if one input has them more often than the other."""
    score = EqualityScore()
    tied = [int(np.count_nonzero(score(side))) for side in (left, right)]
    if abs(tied[0] - tied[1]) > TELLING * math.sqrt(sum(tied)):
        yield score


def _bits(width: int, inputs: tuple[object, object]) -> Iterator[Score]:
    offsets = [offset for given in inputs if (offset := _as_offsets(given, width)) is not None]
    for k in range(width):
        yield from (BitScore(k, kind) for kind in KINDS)
        for value in sorted({float(offset[k]) for offset in offsets} - {0.0}):
            yield BitScore(k, "divisor", value)
    if width > 1:
        yield EqualityScore()


def _as_offsets(given: object, width: int) -> FloatArray | None:
    """Return an input as numbers that the noise may have been added to, one per coordinate."""
    try:
        offsets = np.broadcast_to(np.asarray(given, dtype=np.float64), (width,))
    except (TypeError, ValueError, OverflowError):
        return None
    return offsets if np.isfinite(offsets).all() else None


LEARNERS = {
    "intervals": _intervals,
    "additive": _additive,
    "logistic": _logistic,
    "trees": _trees,
    "categories": _categories,
    "directions": _directions,
}
