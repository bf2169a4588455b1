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

OF_DOUBLE, SMALLEST_NORMAL = RESIDUE / ALONE, float(np.finfo(np.float64).smallest_normal)
"""The lowest bit of double precision is mostly this share of the larger numbers at most; the least such bit."""

SMALLEST_SCALED = 2.0**-64
"""Share of the usual size that half of the scaled numbers are above: smaller ones are in units of their own."""

FEW_BITS, SOME_BITS, LOOKED_AT_ROWS = 5, 12, 4096
"""Significant bits of half of the numbers that rounding leaves, of single and of double precision, at most."""

TOP, OF_ROUNDED = 0.01, 0.4
"""Share of the numbers with the most bits, and the least share that has as many if floats of few bits are why.

Half of these floats have all of their bits.
"""


@dataclass(frozen=True)
class Reach:
    """The least steps of a coordinate's grid, powers of two.

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


def residues(left: FloatArray, right: FloatArray) -> tuple[Reach | None, ...]:
    """Return the reach of float noise into each coordinate that mostly shows what rounding left, or else None.

    Such a coordinate is 0 in real numbers, as ``(y + 1) - 1 - y`` is.  Its numbers are tiny beside others of the
    same output, or beside 1, and few bits are left of them.  The power of two that these count depends on the size
    of y, so that no one lattice has them all.

    Parameters
    ----------
    left, right : ndarray, shape (n, k)
    """
    few = np.abs(np.concatenate([left[:LOOKED_AT_ROWS], right[:LOOKED_AT_ROWS]]))
    none = (None,) * int(left.shape[1])
    if not len(few):
        return none
    few[~np.isfinite(few)] = 0.0
    usual = np.quantile(few, USUAL, axis=0)
    *_, second, first = np.sort(np.append(0.0, usual))
    beside = np.where(usual == first, second, first).tolist()
    small = [
        _mostly(one[one > 0] <= RESIDUE_OF_SINGLE * max(1.0, size))
        for one, size in zip(few.T, beside, strict=True)
    ]
    if not any(small):
        return none
    sizes = np.concatenate([_largest_of_each(left), _largest_of_each(right)])
    columns = (np.concatenate([left[:, k], right[:, k]]) for k in range(len(small)))
    return tuple(
        _residue(values, sizes, size) if may_be else None
        for values, size, may_be in zip(columns, beside, small, strict=True)
    )


def _mostly(found: BoolArray) -> bool:
    return 2 * int(np.count_nonzero(found)) >= len(found)


def _largest_of_each(outputs: FloatArray) -> FloatArray:
    """Return the largest absolute value of each output; 0 where it is not finite."""
    largest: FloatArray = np.maximum(np.fmax.reduce(outputs, axis=1), -np.fmin.reduce(outputs, axis=1))
    return np.where(np.isfinite(largest), largest, 0.0)


def _residue(values: FloatArray, sizes: FloatArray, beside: float) -> Reach | None:
    """Return the reach of float noise into numbers, by their outputs' sizes and the usual one beside them."""
    known = (values != 0) & ~np.isnan(values)
    some, usual = values[known], max(1.0, beside)
    if not len(some):
        return None
    share = _share_left(
        some[np.abs(some) <= RESIDUE_OF_SINGLE * np.fmax(sizes[known], usual)][:LOOKED_AT_ROWS], usual
    )
    scaled = not share and beside > 0 and _mostly_repeated(values[:LOOKED_AT_ROWS])
    if scaled:
        # divided by three, say: all bits are there, and few numbers
        share, usual = RESIDUE, min(1.0, beside)
    sizes_by_usual = np.fmax(1.0, sizes[known] / (beside if scaled else usual))
    # an output that is far away leaves more
    found = np.isfinite(some) & (np.abs(some) <= share * usual * sizes_by_usual)
    left_alone = bool(found.all())
    if scaled:
        left_alone &= float(np.median(np.abs(some))) >= SMALLEST_SCALED * usual
    if not left_alone and (scaled or not _mostly(found)):
        return None
    reach = power_above(2 * max(share * usual, float(np.abs(some[found]).max())))
    return Reach(reach, reach, moved=True, partly=not left_alone)


def _mostly_repeated(values: FloatArray) -> bool:
    return 2 * len(np.unique(values)) <= len(values)


def _share_left(values: FloatArray, usual: float) -> float:
    """Return the share of the usual size that rounding leaves at most if it left some numbers, or 0."""
    lowest, bits = _bits(values)
    pitch = 2.0 ** float(np.median(lowest)) if len(bits) else 0.0
    # the smallest floats have few bits themselves
    if not SMALLEST_NORMAL <= pitch < NOT_WHOLE:
        return 0.0
    half, most = (float(np.quantile(bits, one, method="lower")) for one in (0.5, 1 - TOP))
    if pitch > OF_DOUBLE * usual:
        return RESIDUE_OF_SINGLE if half <= FEW_BITS and values.min() < 0 < values.max() else 0.0
    rounded = float((bits >= most).mean()) >= OF_ROUNDED
    return RESIDUE if half <= FEW_BITS or (half <= SOME_BITS and not rounded) else 0.0


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
