"""How far float noise may reach into a coordinate: nothing finer counts for the ideal mechanism."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from audit.auditor.events.units import Unit
from reference.common.arrays import BoolArray, FloatArray, IntArray

USUAL = 0.99
"""The size of a coordinate's numbers is this quantile of their absolute values."""

OF_THEIR_SIZE, OF_SINGLE = 2.0**-44, 2.0**-15
"""Shares of the size beyond which differences are more than float noise, of double and of single precision.

They are 256 to 512 units in the last place.  Rounding moves one of 256 outputs of a cell to the next one, which
changes an event of this coordinate by too little to be seen.
"""

FEW_OF_SINGLE = 16
"""Units in the last place of single precision in the pitch of such numbers, at most: whole ones have more."""

ALONE, TOGETHER = 2.0**8, 2.0**20
"""Units in the last place that a step has at least, in events of one coordinate and of several.

Where another coordinate tells where in its cell an output is, rounding moves it across an edge on one input alone.
That happens in about one output of as many as a step has units: so rarely that no event rests on it.
"""

NARROW, AWAY = 16, 2.0**-3
"""Cells that the spread must cover, and the share of the size that it has at most if single precision counts."""

LATTICE_ROWS, FINEST, CLEARLY_COARSER, MOST_OF = 1024, 2.0**-48, 64.0, 0.1
"""Outputs of each input that show a lattice; its pitch is a power of two, and 64 times 2^-48 of the size or more.

All but one number of ten must be on it.
"""

FRACTIONS, ROUNDING, INEXACT = 256, 1 / 8, 0.01
"""Parts of a pitch at which a lattice of exact multiples may be, as odd ones are; what rounding moves them by.

Of multiples fewer than one of a hundred are off by so little.
"""

ODD_AND_EVEN = (0.15, 0.85)
"""Limits to the share of odd multiples among the larger half: small floats have even ones there."""

DOUBTED, DOUBTED_BESIDE, FINE = 0.125, 2.0**-12, 2.0**-10
"""A pitch of 1/8 or less, or of less than 1 and than this share of the spread, may be that of doubles.

``(offset + noise) - offset`` leaves multiples of the offset's last bit: of 2^-12 with milliseconds since 1970, of
1/8 with an offset of 1e15.  Nothing tells them from noise that is made of such multiples.
So they count in events of one coordinate only, and not if the pitch is less than 2^-10 and the spread few of them.
With a fraction of the pitch added, as an input is after the offset, they never count.
"""

RESIDUE, RESIDUE_OF_SINGLE, NOT_WHOLE = 2.0**-40, 2.0**-16, 2.0**-10
"""Shares of the larger numbers, or of 1, that rounding leaves at most, of double and of single precision.

Its lowest bit is mostly below 2^-10: whole numbers and sixteenths beside very large ones are no residues.
"""

LOWEST, LOWEST_OF_SINGLE = 2.0**-48, FEW_OF_SINGLE * 2.0**-23
"""Shares of the larger numbers, or of 1, that the lowest bit of a rounding error mostly has at most.

So a sign times 2^-44 is no rounding error, though some errors are as large.
"""

SMALLEST_NORMAL = float(np.finfo(np.float64).smallest_normal)
"""The lowest bit is mostly at least this."""

SMALLEST_SCALED = 2.0**-64
"""Share of the usual size that half of the scaled numbers are above: smaller ones are in units of their own."""

FEW_SIZES = 2
"""Signs, flags and votes of three have at most so many sizes.

Rounding errors have more, or else are sometimes 0, and of either sign.
"""

LOOKED_AT_ROWS = 4096
"""Outputs of each input that show what a coordinate's numbers look like."""

FEW_BITS, SOME_BITS = 5, 12
"""Rounding errors have at most this many significant bits in half of the cases (single, double precision)."""

TOP = 0.01
"""The most bits are those that this share of the numbers has, or exceeds."""

OF_ROUNDED = 0.4
"""If at least this share has the most bits, the numbers are floats of few bits: half of such floats have all."""

BITS_OF_ROUNDED, BITS_OF_SINGLE = 3, 20
"""Bits that the longest of floats of few bits have at least, and those of single precision."""


@dataclass(frozen=True)
class Reach:
    """Smallest grid steps at which a coordinate may count as more than float noise, powers of two.

    Parameters
    ----------
    alone, together : float
        In events of this coordinate, and in those of several.
    moved : bool
        Whether it is on a doubtful lattice, which units would show.
    partly : bool
        Whether most numbers are float noise, and others are not.
    """

    alone: float
    together: float
    moved: bool = False
    partly: bool = False

    @classmethod
    def of(cls, left: FloatArray, right: FloatArray, unit: Unit | None, spread: float) -> Reach:
        """Return the reach of float noise into finite numbers of both inputs, with this unit and spread."""
        values = np.concatenate([left, right])
        size = usual_size(values)
        alone, together = OF_THEIR_SIZE * size, OF_THEIR_SIZE / ALONE * TOGETHER * size
        if unit is None and spread < AWAY * size and _rounded_to_single(values, size):
            together = OF_SINGLE / ALONE * TOGETHER * size
            # whole numbers may be of no floats
            alone = OF_SINGLE * size if common_pitch(values) < 1 else alone
        lattices = _lattice(left, size), _lattice(right, size)
        pitch = max(lattices[0][0], lattices[1][0])
        doubted = min(one[0] for one in lattices) > 0 and (
            pitch <= DOUBTED or pitch < min(1.0, DOUBTED_BESIDE * spread)
        )
        # where the spread is a few multiples, rounding the input to one of them changes the loss
        few = pitch < FINE and spread < NARROW * ALONE * pitch
        moved = doubted and (few or not all(at_zero for _, at_zero in lattices))
        if unit is not None and unit.binary and common_pitch(values) < unit.size < RESIDUE:
            # what rounding left of numbers of several sizes
            doubted, moved, pitch = True, True, max(pitch, unit.size)
        if doubted:
            together = max(together, TOGETHER * pitch)
        if moved:
            alone = max(alone, ALONE * pitch)
        return cls(power_above(alone), power_above(together), moved)


def cancelled(left: FloatArray, right: FloatArray) -> tuple[Reach | None, ...]:
    """Return, for each coordinate that is mostly rounding error, how far that error reaches; None for the others.

    Such a coordinate is 0 in real numbers, as ``(y + 1) - 1 - y`` is.  Its numbers are tiny beside others of the
    same output, or beside 1, and few bits are left of them.  The power of two that these count depends on the size
    of y, so that no one lattice has them all.  What single precision leaves counts only beside a coordinate of it.

    Parameters
    ----------
    left, right : ndarray, shape (n, k)
    """
    few = np.concatenate([left[:LOOKED_AT_ROWS], right[:LOOKED_AT_ROWS]])
    width = int(left.shape[1])
    found: list[Reach | None] = [None] * width
    if not len(few):
        return tuple(found)
    few[~np.isfinite(few)] = 0.0
    usual = np.quantile(np.abs(few), USUAL, axis=0)
    beside = _largest_other(usual)
    small, smaller = (
        _mostly_within(few, share * np.maximum(1.0, beside)) for share in (RESIDUE_OF_SINGLE, RESIDUE)
    )
    if not small.any():
        return tuple(found)
    single = np.array([_of_single_precision(few[:, k], float(usual[k])) for k in range(width)])
    of_single = _largest_other(np.where(single, usual, 0.0))
    sizes, sizes_of_single = (_largest_of_each(left[:, some], right[:, some]) for some in (slice(None), single))
    for k in np.flatnonzero(small):
        values = np.concatenate([left[:, k], right[:, k]])
        if smaller[k]:
            found[k] = _residue(values, few[:, k], sizes, float(beside[k]))
        if found[k] is None and of_single[k] > 0:
            found[k] = _residue_of_single(values, few[:, k], sizes_of_single, max(1.0, float(of_single[k])))
    return tuple(found)


def _largest_other(usual: FloatArray) -> FloatArray:
    """Return for each coordinate the largest of the others' sizes, or 0."""
    *_, second, first = np.sort(np.append(0.0, usual))
    return np.asarray(np.where(usual == first, second, first))


def _mostly_within(few: FloatArray, limits: FloatArray) -> BoolArray:
    """Return for each coordinate whether at least half of its numbers other than 0 are within its limit."""
    within = np.count_nonzero((few != 0) & (np.abs(few) <= limits), axis=0)
    return np.asarray(2 * within >= np.count_nonzero(few, axis=0))


def _largest_of_each(*sides: FloatArray) -> FloatArray:
    """Return the largest absolute value of each output; 0 where it is not finite."""
    largest = [
        np.maximum(-np.fmin.reduce(side, axis=1, initial=0.0), np.fmax.reduce(side, axis=1, initial=0.0))
        for side in sides
    ]
    both = np.concatenate(largest)
    return np.where(np.isfinite(both), both, 0.0)


def _residue(values: FloatArray, few: FloatArray, sizes: FloatArray, beside: float) -> Reach | None:
    """Return how far float noise reaches into a coordinate that cancels to 0, or None if it does not.

    Parameters
    ----------
    values, few : ndarray
        All of its numbers, and some.
    sizes : ndarray
        Of the outputs that the values are of.
    beside : float
        The largest usual size of another coordinate, or 0.
    """
    usual = max(1.0, beside)
    if _of_few_bits(few[np.abs(few) <= RESIDUE * usual], LOWEST * usual, SOME_BITS):
        return _reach(values, RESIDUE * usual, sizes / usual)
    if not (beside > 0 and _are_scaled(few) and not _are_codes(few, LOWEST * usual)):
        return None
    usual = min(1.0, beside)
    reach = _reach(values, RESIDUE * usual, sizes / beside, SMALLEST_SCALED * usual)
    return None if reach is None or reach.partly else reach


def _residue_of_single(values: FloatArray, few: FloatArray, sizes: FloatArray, usual: float) -> Reach | None:
    """Return how far float noise of single precision reaches, as :func:`_residue` does, beside this usual size."""
    within = few[np.abs(few) <= RESIDUE_OF_SINGLE * usual]
    if not within.min(initial=0.0) < 0 < within.max(initial=0.0) or _are_codes(few, LOWEST * usual):
        return None
    if not _of_few_bits(within, LOWEST_OF_SINGLE * usual, FEW_BITS):
        return None
    return _reach(values, RESIDUE_OF_SINGLE * usual, sizes / usual)


def _reach(values: FloatArray, limit: float, scales: FloatArray, least: float = 0.0) -> Reach | None:
    """Return the reach of rounding errors within a limit, or None if they are the minority, or mostly too small.

    An output that is far away leaves more, by its scale.
    """
    known = (values != 0) & ~np.isnan(values)
    some = np.abs(values[known])
    found = np.isfinite(some) & (some <= limit * np.fmax(1.0, scales[known]))
    count = int(np.count_nonzero(found))
    if not count or 2 * count < len(found) or (least > 0 and float(np.median(some)) < least):
        return None
    reach = power_above(2 * max(limit, float(some[found].max())))
    return Reach(reach, reach, moved=True, partly=count < len(found))


def _of_few_bits(values: FloatArray, largest: float, most: int) -> bool:
    """Return whether rounding may have left numbers with a lowest bit of this size at most, and so few bits."""
    lowest, bits = _bits(values[values != 0])
    if not len(bits):
        return False
    # the smallest floats have few bits themselves
    pitch = 2.0 ** float(np.median(lowest))
    if pitch > largest or not SMALLEST_NORMAL <= pitch < NOT_WHOLE:
        return False
    half, longest = (float(np.quantile(bits, one, method="lower")) for one in (0.5, 1 - TOP))
    rounded = longest >= BITS_OF_ROUNDED and float((bits >= longest).mean()) >= OF_ROUNDED
    return half <= most and not rounded


def _are_scaled(few: FloatArray) -> bool:
    """Return whether numbers may be rounding errors that were divided by three, say: few, but with all bits."""
    _, bits = _bits(few[few != 0])
    return 2 * len(np.unique(few)) <= len(few) and (not len(bits) or float(np.median(bits)) > SOME_BITS)


def _are_codes(few: FloatArray, error: float) -> bool:
    """Return whether numbers are signs, votes or flags, of few sizes that are all above an error."""
    sizes = np.unique(np.abs(few))
    other = sizes[sizes > 0]
    one_sided = few.min() == 0 or few.max() == 0
    return 0 < len(other) <= FEW_SIZES and float(other[0]) > error and (sizes[0] > 0 or one_sided)


def usual_size(values: FloatArray) -> float:
    """Return the size of some finite values."""
    return float(np.quantile(np.abs(values), USUAL)) if len(values) else 0.0


def power_above(value: float) -> float:
    """Return the smallest power of two that is a float and at least a value; 0 for 0."""
    return 2.0 ** min(max(math.ceil(math.log2(value)), -1074), 1023) if value > 0 else 0.0


def common_pitch(values: FloatArray) -> float:
    """Return the largest power of two that divides all finite values but 0; infinite if there are none."""
    lowest, _ = _bits(values[values != 0])
    return math.ldexp(1.0, int(lowest.min())) if len(lowest) else math.inf


def _bits(values: FloatArray) -> tuple[IntArray, IntArray]:
    """Return the exponents of the lowest bits of finite numbers other than 0, and how many bits each has."""
    significands, tops = np.frexp(values)
    whole = np.abs(np.ldexp(significands, 53)).astype(np.int64)
    lowest = tops - 53 + np.bitwise_count((whole & -whole) - 1).astype(np.int64)
    return lowest, tops - lowest


def _rounded_to_single(values: FloatArray, size: float) -> bool:
    """Return whether all values are floats of 32 bits, and not because they are on a coarser lattice."""
    with np.errstate(over="ignore"):
        single = bool((values.astype(np.float32) == values).all())
    return single and common_pitch(values) <= FEW_OF_SINGLE * 2.0**-23 * size


def _of_single_precision(values: FloatArray, size: float) -> bool:
    """Return whether finite values are floats of 32 bits, the longest of which have nearly all of their bits."""
    if not _rounded_to_single(values, size):
        return False
    _, bits = _bits(values[values != 0])
    return len(bits) > 0 and float(np.quantile(bits, 1 - TOP, method="lower")) >= BITS_OF_SINGLE


def _lattice(values: FloatArray, size: float) -> tuple[float, bool]:
    """Return the pitch of the lattice that most values are on, or 0, and whether it has 0 or a nearby fraction."""
    finest = power_above(FINEST * size)
    some = np.unique(values[:LATTICE_ROWS])
    some = some[np.abs(some) <= 4 * size] / (finest or 1.0)
    if len(some) < 2:
        return 0.0, False
    far = np.abs(some - np.median(some))
    far = far > np.median(far)
    for base in some[[len(some) // 2, len(some) // 4, 3 * len(some) // 4]]:
        multiples = np.rint(some - base).astype(np.int64)
        other = multiples[multiples != 0]
        zeros = np.bitwise_count((other & -other) - 1)
        pitch = 2.0 ** float(np.quantile(zeros, MOST_OF, method="lower")) if len(other) else 0.0
        if pitch < CLEARLY_COARSER:
            continue
        odd = float((np.rint(multiples[far] / pitch) % 2).mean()) if far.any() else 0.0
        if ODD_AND_EVEN[0] <= odd <= ODD_AND_EVEN[1]:
            parts = some / max(1.0, pitch / FRACTIONS)
            off = np.abs(parts - np.rint(parts)) * max(1.0, pitch / FRACTIONS)
            near = off <= ROUNDING
            # multiples, and not nearly
            exact = np.count_nonzero(near & (off > 0)) <= INEXACT * len(off)
            return pitch * finest, bool(near.mean() >= 1 - 2 * MOST_OF and exact)
    return 0.0, False
