"""How far float noise may reach into a coordinate: nothing finer counts for the ideal mechanism."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from audit.auditor.events.units import Unit
from reference.common.arrays import FloatArray

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


@dataclass(frozen=True)
class Reach:
    """The least steps of a coordinate's grid, powers of two.

    Parameters
    ----------
    alone, together : float
        In events of this coordinate, and in those of several.
    moved : bool
        Whether it is on a doubtful lattice, which units would show.
    """

    alone: float
    together: float
    moved: bool = False

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
        if doubted:
            together = max(together, TOGETHER * pitch)
        if moved:
            alone = max(alone, ALONE * pitch)
        return cls(power_above(alone), power_above(together), moved)


def usual_size(values: FloatArray) -> float:
    """Return the size of some finite values."""
    return float(np.quantile(np.abs(values), USUAL)) if len(values) else 0.0


def power_above(value: float) -> float:
    """Return the smallest power of two that is a float and at least a value; 0 for 0."""
    return 2.0 ** min(max(math.ceil(math.log2(value)), -1074), 1023) if value > 0 else 0.0


def common_pitch(values: FloatArray) -> float:
    """Return the largest power of two that divides all finite values but 0; infinite if there are none."""
    significands, tops = np.frexp(values[values != 0])
    if not len(tops):
        return math.inf
    whole = np.abs(np.ldexp(significands, 53)).astype(np.int64)
    lowest = tops - 53 + np.bitwise_count((whole & -whole) - 1).astype(np.int64)
    return math.ldexp(1.0, int(lowest.min()))


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
