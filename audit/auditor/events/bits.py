"""Scores of the bits of floats, which show in double precision and not in real numbers.

The set of floats that `value + noise` can give depends on the value (Mironov 2012): a sum is rounded to the grid
of the larger term, so that it is a multiple of a power of two that noise alone need not be.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from audit.auditor.events.protocol import READERS, StoredByItsFields
from reference.common.arrays import BoolArray, FloatArray, IntArray

ZERO_EXPONENT = 2000
"""The exponent of 0, which every power of two divides: above all others."""

SIGNIFICAND_BITS, LARGEST_EXPONENT, EXPONENT_OF_ONE = 52, 2047, 1075
"""Of a double: stored bits of the significand, largest stored exponent, and the one whose last bit is worth 1."""

ONE = 1 << SIGNIFICAND_BITS
"""The leading bit, which is not stored."""

SMALLEST_NORMAL = float(np.finfo(np.float64).smallest_normal)

MOST_EXACT = 1022
"""Powers of two up to this exponent have an inverse that is a normal double."""

KINDS = ("divisor", "trailing_zeros", "low_bits", "negative_zero")

BLOCK = 2**15
"""Outputs whose bits are looked at together: what is made of them stays in the processor's cache."""

LOWEST, HIGHEST = -1074, ZERO_EXPONENT
"""All scores lie between."""


@dataclass(frozen=True)
class BitScore(StoredByItsFields):
    """A number read off the bits of one coordinate, less an offset.

    Parameters
    ----------
    coordinate : int
    kind : {'divisor', 'trailing_zeros', 'low_bits', 'negative_zero'}
        Exponent of the largest power of two that divides the value; trailing zeros of its significand; its last
        three bits as a number; 1 for -0.0.
    offset : float
        Subtracted first, in floating point: a candidate for the value that the noise was added to.
    """

    coordinate: int
    kind: str
    offset: float = 0.0
    name: ClassVar[str] = "bits"
    learned: ClassVar[bool] = False
    sees_all: ClassVar[bool] = False

    def __call__(self, outputs: FloatArray) -> FloatArray:
        """Return the numbers."""
        values = outputs[:, self.coordinate]
        if self.kind == "negative_zero":
            return np.asarray(np.signbit(values) & (values == 0.0), dtype=np.float64)
        if self.offset:
            values = values - self.offset
        bits = np.ascontiguousarray(values, dtype=np.float64).view(np.int64)
        # 0, or below the normal range
        small = np.flatnonzero(np.abs(values) < SMALLEST_NORMAL)
        if self.kind == "low_bits":
            found = bits & 7
            found[small] = _normal(bits[small])[0] & 7
            return found.astype(np.float64)
        marked = bits | ONE
        marked &= -marked
        marked -= 1
        places: FloatArray = np.bitwise_count(marked).astype(np.float64)
        significand, exponent = _normal(bits[small])
        places[small] = np.bitwise_count((significand & -significand) - 1)
        if self.kind == "divisor":
            bits = (bits >> SIGNIFICAND_BITS) & LARGEST_EXPONENT
            bits[small] = exponent
            bits -= EXPONENT_OF_ONE
            places += bits
        places[small[(values[small] == 0.0)]] = ZERO_EXPONENT
        return places

    def divisible_by(self, exponent: float, *, at_least: bool) -> Callable[[FloatArray], BoolArray] | None:
        """Return the event that a power of two divides the value, or that none above it does; else None.

        A double times the inverse of the power is exact, so being whole can be checked.
        """
        exponent = math.ceil(exponent) if at_least else math.floor(exponent) + 1
        if self.kind != "divisor" or not -MOST_EXACT <= exponent <= 0:
            return None
        inverse = math.ldexp(1.0, -exponent)

        def divides(outputs: FloatArray) -> BoolArray:
            values = outputs[:, self.coordinate]
            with np.errstate(over="ignore"):
                values = (values - self.offset if self.offset else values) * inverse
            whole: BoolArray = np.rint(values) == values
            return whole if at_least else ~whole

        return divides


def bits_in_order(score: BitScore, parts: Sequence[FloatArray]) -> FloatArray:
    """Return the scores of all outputs of some arrays, sorted: they are counted."""
    counts = np.zeros(HIGHEST - LOWEST + 1, dtype=np.int64)
    for part in parts:
        for some in _blocks(len(part)):
            counts += np.bincount((score(part[some]) - LOWEST).astype(np.intp), minlength=len(counts))
    found = np.flatnonzero(counts)
    return np.repeat(found + float(LOWEST), counts[found])


def quick_test(score: BitScore, threshold: float, *, at_least: bool) -> Callable[[FloatArray], BoolArray] | None:
    """Return the event that a score is at least a threshold, or at most, found without the score; else None."""
    test = score.divisible_by(threshold, at_least=at_least) or _ends_in_zeros(score, threshold, at_least=at_least)
    if test is None:
        return None

    def in_blocks(outputs: FloatArray) -> BoolArray:
        found = np.empty(len(outputs), dtype=np.bool_)
        for some in _blocks(len(outputs)):
            found[some] = test(outputs[some])
        return found

    return in_blocks


def _ends_in_zeros(
    score: BitScore, threshold: float, *, at_least: bool
) -> Callable[[FloatArray], BoolArray] | None:
    """Return the event that the significand ends in so many zeros, or in fewer; else None."""
    zeros = math.ceil(threshold) if at_least else math.floor(threshold) + 1
    if score.kind != "trailing_zeros" or not 0 < zeros <= SIGNIFICAND_BITS:
        return None

    def ends(outputs: FloatArray) -> BoolArray:
        values = outputs[:, score.coordinate]
        if score.offset:
            values = values - score.offset
        found: BoolArray = np.ascontiguousarray(values).view(np.int64) & ((1 << zeros) - 1) == 0
        small = np.abs(values) < SMALLEST_NORMAL
        if small.any():
            found[small] = score(outputs[small]) >= zeros
        return found if at_least else ~found

    return ends


def _blocks(rows: int) -> Iterator[slice]:
    return (slice(start, start + BLOCK) for start in range(0, rows, BLOCK))


def _normal(bits: IntArray) -> tuple[IntArray, IntArray]:
    """Return significands and exponents of numbers below the normal range, as if it had no end.

    They are shifted until the leading bit is where it always is.  What comes out for 0 means nothing.
    """
    significand = bits & (ONE - 1)
    shifts = SIGNIFICAND_BITS + 1 - np.frexp(significand.astype(np.float64))[1]
    return (significand << shifts) | ONE, 1 - shifts


@dataclass(frozen=True)
class EqualityScore(StoredByItsFields):
    """The number of neighbouring coordinates, in ascending order of value, that are equal bit for bit."""

    name: ClassVar[str] = "equal_coordinates"
    learned: ClassVar[bool] = False
    sees_all: ClassVar[bool] = False

    def __call__(self, outputs: FloatArray) -> FloatArray:
        """Return the counts."""
        ordered = np.sort(outputs, axis=1)
        return np.asarray((ordered[:, 1:] == ordered[:, :-1]).sum(axis=1), dtype=np.float64)


READERS["bits"] = lambda document: BitScore(
    int(document["coordinate"]), str(document["kind"]), float(document["offset"])
)
READERS["equal_coordinates"] = lambda _: EqualityScore()
