"""Units: what all numbers of a coordinate are multiples of, or most of them."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from audit.auditor.events.ranks import A_FEW
from reference.common.arrays import BoolArray, FloatArray, IntArray

UNITS = (1.0, 0.5, 0.25, 0.125, 0.1, 0.05, 0.01, 0.005, 0.001)
"""Units, in descending order, that are tried first."""

DECIMALS = (0.1, 0.05, 0.01, 0.005, 0.001, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8, 1e-9)
"""Decimals, in descending order, that most numbers may be multiples of."""

LIMITS = MOST_BINARY_UNITS, MOST_DECIMAL_UNITS = 2.0**40, 2.0**32
"""Up to so many units of a power of two, or of a decimal, multiples are far above float noise."""

LARGEST_BINARY, LARGEST_DECIMAL = 2.0**53, 2.0**45
"""Up to so many units floats still show all multiples."""

NEARLY = 0.97
"""Share of the numbers that are multiples, where their size is why no event looks at them."""

OFF = 2.0**-6
"""Share of a decimal by which float noise and the grid may move its multiples."""

FLOAT_BITS, PRINTED_BITS = (8, 11, 24), 22
"""Significant bits of floats smaller than doubles, and those of single precision that decimals still show."""

FREE_OF_BITS = 17
"""Multiples of 10^-d below 2^(17 - d) may have been rounded from sums with numbers of single precision.

The last bits of these, at most 2^-(d + 6), then fall on 64 or more places between the multiples.
"""

MOST, MOST_OF_FEW = 0.4, 0.28
"""Share of the numbers other than 0, and of a few of them, that must be multiples."""

ODD, BELOW, NEXT_BELOW = 1 / 10, 1 / 4, 8
"""Of all numbers a unit divides at least the first share that twice it does not.

The next eight powers of two below have at most the second share of these.  Sums of small floats are multiples of
one power about as often as of the next.
"""

ATOM, DIFFERENT, ENOUGH = 1 / 64, 64, 4096
"""Share of a value that is one by itself, fewest different multiples of a unit, and values to look at for both."""

SMALLEST_POWER = -1000
"""Exponent of the smallest unit."""

SIGNIFICAND = 53
"""Bits of a double's significand."""


@dataclass(frozen=True)
class Unit:
    """A unit, and whether all numbers are multiples of it, or only most.

    Parameters
    ----------
    size : float
    of_all : bool
    """

    size: float
    of_all: bool = True

    @property
    def binary(self) -> bool:
        """Whether it is a power of two."""
        return math.frexp(self.size)[0] == 0.5

    @property
    def step(self) -> float:
        """A grid's step that keeps its multiples apart, and recognisable as such among other numbers."""
        return self.size if self.binary and self.of_all else 2.0 ** math.floor(math.log2(self.size * OFF))

    def divides(self, values: FloatArray, limits: tuple[float, float] = LIMITS) -> BoolArray:
        """Return which values are multiples, of so few units that float noise is far below, or of other limits."""
        with np.errstate(over="ignore", invalid="ignore"):
            multiples = values / self.size
            off = np.abs(multiples - np.rint(multiples))
        most, allowed = (limits[0], 0.0) if self.binary else (limits[1], OFF)
        found: BoolArray = (off <= allowed) & (np.abs(multiples) <= most)
        return found

    def tells(self, modulus: int) -> bool:
        """Return whether residues show no last bits of small floats, as those by five of small decimals do."""
        return self.binary or self.size >= UNITS[-1] or modulus % 5 > 0

    def multiples(self, values: FloatArray) -> IntArray:
        """Return how many units each value is, of values that are multiples."""
        return np.rint(values / self.size).astype(np.int64)


def unit_of(values: FloatArray) -> Unit | None:
    """Return the unit that all values are multiples of, or else most of them, unless small floats may be why."""
    unit = likely_unit(values)
    if unit is not None and _rounded_by_floats(values, unit):
        unit = _larger(values, unit)
    return unit


def unit_of_small_floats(values: FloatArray) -> Unit | None:
    """Return the unit that :func:`unit_of` passes over, as small floats may be why values are multiples."""
    unit = likely_unit(values)
    return unit if unit is not None and _rounded_by_floats(values, unit) else None


def known_unit(values: FloatArray) -> Unit | None:
    """Return the largest of :data:`UNITS` that all values are multiples of, unless small floats may be why."""
    unit = _largest(values)
    return None if unit is None or _rounded_by_floats(values, unit) else unit


def likely_unit(values: FloatArray) -> Unit | None:
    """Return the unit of finite values, whatever may be why: the largest of :data:`UNITS`, or else another one.

    Another one is a power of two or a decimal.  Where not all numbers are multiples, most must be, 0 aside.
    """
    found = _largest(values)
    if (found is not None and not _next_to_one(values, found)) or not len(values):
        return found
    few = _few(values)
    return _power_of_two(few, values) or _decimal(few, values)


def _next_to_one(values: FloatArray, unit: Unit) -> bool:
    """Return whether values are close to a single multiple of a decimal, as all small ones are to 0."""
    return not unit.binary and bool(np.rint(values.min() / unit.size) == np.rint(values.max() / unit.size))


def _larger(values: FloatArray, unit: Unit) -> Unit | None:
    """Return a unit that small floats do not explain, where they explain this one; or None.

    Multiples of .02 are those of .01, too; and where half of all numbers are whole, the others may nearly be.
    """
    found = _power_of_two(_few(values), values)
    if found is None and unit.of_all and not unit.binary:
        found = Unit(unit.size * int(np.gcd.reduce(unit.multiples(values))))
    return None if found is None or _rounded_by_floats(values, found) else found


def _few(values: FloatArray) -> FloatArray:
    # in whatever order they are
    return values[:: max(1, len(values) // A_FEW)]


def unit_of_any(values: FloatArray) -> Unit | None:
    """Return the largest unit on the lists that nearly all values are multiples of, however large they are."""
    limits = LARGEST_BINARY, LARGEST_DECIMAL
    units = map(Unit, (*UNITS, *(size for size in DECIMALS if size < UNITS[-1])))
    few = NEARLY * max(1, len(values))
    return next((unit for unit in units if np.count_nonzero(unit.divides(values, limits)) >= few), None)


def unit_of_large(values: FloatArray) -> Unit | None:
    """Return the unit of :func:`unit_of_any` if some values are too large for its grid."""
    if _largest(values) is not None or (unit := unit_of_any(values)) is None:
        return None
    # sixty-fourths are millionths, too
    if unit.size < UNITS[-1] and likely_unit(values) is not None:
        return None
    far = unit.divides(values, (LARGEST_BINARY, LARGEST_DECIMAL)) & ~unit.divides(values)
    return unit if far.any() else None


def _largest(values: FloatArray) -> Unit | None:
    return next((unit for unit in map(Unit, UNITS) if _are_multiples(values, unit)), None)


def _are_multiples(values: FloatArray, unit: Unit) -> bool:
    # continuous values are told by a few
    return all(unit.divides(some).all() for some in (values[:A_FEW], values))


def _power_of_two(few: FloatArray, values: FloatArray) -> Unit | None:
    """Return the power of two of which most values are multiples, and many are odd ones."""
    if _of_few_bits(few, MOST_OF_FEW) is None or (found := _of_few_bits(values, MOST)) is None:
        return None
    powers, rows = found
    lowest = int(powers.min())
    shares = np.bincount(powers - lowest) / rows
    often = np.flatnonzero(shares >= ODD)
    if not len(often):
        return None
    place = int(often[0])
    if shares[max(0, place - NEXT_BELOW) : place].sum() > BELOW * shares[place] or lowest + place < SMALLEST_POWER:
        return None
    return _of_most(values, 2.0 ** (lowest + place))


def _of_few_bits(values: FloatArray, share: float) -> tuple[IntArray, int] | None:
    """Return the exponents of the powers of two that divide the values of few bits, and how many values are not 0.

    None if fewer than this share of these have few bits.
    """
    significands, tops = np.frexp(values[values != 0])
    whole = np.abs(np.ldexp(significands, SIGNIFICAND)).astype(np.int64)
    powers = tops - SIGNIFICAND + np.bitwise_count((whole & -whole) - 1).astype(np.int64)
    kept = powers[tops - powers <= math.log2(MOST_BINARY_UNITS)]
    return (kept, len(powers)) if len(kept) and len(kept) >= share * len(powers) else None


def _decimal(few: FloatArray, values: FloatArray) -> Unit | None:
    """Return the largest decimal that most values are multiples of."""
    few = few[few != 0]
    for size in DECIMALS:
        if np.count_nonzero(_multiples(few, size)) < MOST_OF_FEW * len(few):
            continue
        unit = _of_most(values, size)
        # halves are five times .1: then floats of few bits would have it
        if unit is not None and _of_few_bits(values[_multiples(values, size)], MOST) is None:
            return unit
    return None


def _multiples(values: FloatArray, size: float) -> BoolArray:
    return Unit(size).divides(values) & (np.abs(values) > size / 2)


def _of_most(values: FloatArray, size: float) -> Unit | None:
    """Return the unit if most values other than 0 are multiples, of which there are many."""
    some = _without_atoms(values[values != 0])
    multiples = some[_multiples(some, size)]
    if not len(some) or len(multiples) < MOST * len(some):
        return None
    few = np.rint(multiples[:: max(1, len(multiples) // ENOUGH)] / size)
    if len(np.unique(few)) < min(DIFFERENT, len(few) / 2):
        return None
    return Unit(size, of_all=bool(Unit(size).divides(values).all()))


def _without_atoms(values: FloatArray) -> FloatArray:
    """Return the values but for those that make up more than one of 64: these show no unit."""
    some, counts = np.unique(values[:: max(1, len(values) // ENOUGH)], return_counts=True)
    often = some[counts > max(2.0, ATOM * counts.sum())]
    return values[~np.isin(values, often)] if len(often) else values


def _rounded_by_floats(values: FloatArray, unit: Unit) -> bool:
    """Return whether floats of few bits may be why values are multiples of a unit.

    A sum with a float of b bits is a multiple of about 2^-b of its size, however small the sum.  That is float
    noise, not the mechanism's.
    """
    whole = np.abs(unit.multiples(values if unit.of_all else values[unit.divides(values)]))
    whole = whole[whole != 0]
    if not len(whole):
        return False
    size = float(np.quantile(whole, 0.75))
    if not unit.binary and unit.size >= UNITS[-1]:
        return size >= 2.0 ** (PRINTED_BITS - 1)
    if not unit.binary:
        return _printed_of_floats(values, unit, size)
    needed = int((whole // (whole & -whole)).max()).bit_length()
    bits = next((bits for bits in FLOAT_BITS if needed <= bits), None)
    return bits is not None and size >= 2.0 ** (bits - 1)


def _printed_of_floats(values: FloatArray, unit: Unit, size: float) -> bool:
    """Return whether small floats may be why values are multiples of a small decimal, three quarters of no more.

    They may if most values are what single precision shows of a number, or if its last bits might show in
    residues.
    """
    decimals = round(-math.log10(unit.size))
    if size * unit.size >= 2.0 ** (FREE_OF_BITS - decimals):
        return True
    if size < 2.0 ** (PRINTED_BITS - 1):
        return False
    with np.errstate(over="ignore"):
        off = np.abs(values - values.astype(np.float32))
    return float((off <= (0.5 + OFF) * unit.size).mean()) > 1 - OFF
