"""The public grid on which the ideal mechanism is judged."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from audit.auditor.events.noise import (
    NARROW,
    OF_THEIR_SIZE,
    Reach,
    cancelled,
    common_pitch,
    power_above,
    usual_size,
)
from audit.auditor.events.protocol import Score
from audit.auditor.events.units import UNITS, Unit, unit_of
from reference.common.arrays import FloatArray

QUANTISED_BITS = 16
"""A grid step is the spread of a coordinate, rounded down to a power of two, times 2^-16.

Float noise lives near 2^-53 of the scale: 37 bits below the step.
"""

FINER_BITS = 17
"""Bits by which the grid is finer for sums in which wide noise cancels: still 20 bits above float noise."""

SMALLEST_STEP = -1074
"""Exponent of the smallest step: that of the smallest number above 0."""

LOOKED_AT, FEWEST_STEPS = 4096, 8
"""Outputs per input to compare with the grid, and grid steps that their middle half should cover."""

MOST_MULTIPLES = 2.0**50
"""Up to this many steps, halves are floats."""

KNOWN_STEP = Unit(UNITS[-1]).step
"""Finer grids keep all of :data:`UNITS` apart."""

MOST_HIDDEN = 1023
"""Exponent of the largest step."""

SMALL = 0.1
"""Share of the outputs below the value that sets the smallest growing step."""


@dataclass(frozen=True, eq=False)
class Quantiser:
    """Rounds each coordinate to a multiple of its step, for judging the *ideal* mechanism.

    Rounding is post-processing, so a bound on the rounded outputs is a bound on the outputs.  What it cannot see
    are the low bits, where a sampler's floats differ from the real numbers that they stand for.

    If rare far values would make the grid too coarse for most outputs, its steps grow with the outputs: a value
    v is rounded to a multiple of 2^-16 times the power of two at or below |v|, and of the smallest step.  Its
    float noise is about 2^-53 of it, or of the values that it was computed from.

    No step is finer than float noise may reach (:class:`audit.auditor.events.noise.Reach`): of numbers of their
    size, or of those that cancelled.  If it leaves few cells, one step covers all of the outputs.

    Parameters
    ----------
    steps : ndarray, shape (k,)
        Powers of two; 0 leaves a coordinate as it is.  A negative one is minus the smallest step of a grid whose
        steps grow.
    units : tuple of Unit or None
        Of the coordinates of the outputs that the grid was made for; empty where it was not.
    least : ndarray, shape (k,), or None
        Steps no finer than float noise may reach.
    hidden : tuple of int
        Coordinates that one step covers.
    joint : Quantiser or None
        The grid for events of several coordinates, if that is another one.
    """

    steps: FloatArray
    units: tuple[Unit | None, ...] = ()
    least: FloatArray | None = None
    hidden: tuple[int, ...] = ()
    joint: Quantiser | None = None

    @classmethod
    def of(cls, left: FloatArray, right: FloatArray) -> Quantiser:
        """Return the grid for two samples of shape (n, k): 2^-16 of each coordinate's spread.

        The spread is the mean absolute distance from the median, of finite outputs of both together.  The grid of
        a coordinate whose numbers, or most of them, are multiples of a unit, as whole numbers are, keeps them
        apart: their parity is not float noise.  A step that is too coarse for the middle half of the outputs gives
        way to steps that grow.
        """
        pairs = [(finite_of(left[:, k]), finite_of(right[:, k])) for k in range(left.shape[1])]
        of_all = [_Coordinate.of(*pair, reach) for pair, reach in zip(pairs, cancelled(left, right), strict=True)]
        alone = cls._with(of_all, alone=True)
        others = len(of_all) > 1 and any(one.needs(one.reach.together) for one in of_all)
        joint = cls._with(of_all, alone=False) if others else alone
        other = not np.array_equal(joint.steps, alone.steps)
        return replace(alone, joint=joint if other else None)

    @classmethod
    def _with(cls, of_all: Sequence[_Coordinate], *, alone: bool) -> Quantiser:
        least = [one.reach.alone if alone else one.reach.together for one in of_all]
        found = [one.grid(floor, alone=alone) for one, floor in zip(of_all, least, strict=True)]
        hidden = tuple(k for k, (_, _, covers) in enumerate(found) if covers)
        steps = np.array([step for step, _, _ in found])
        return cls(steps, tuple(unit for _, unit, _ in found), np.array(least), hidden)

    def __call__(self, outputs: FloatArray) -> FloatArray:
        """Return the rounded outputs, in a new array."""
        if self.even:
            # one number is faster than one for each coordinate
            return self._rounded(outputs, float(self.steps[0]) if self.alike else self.steps)
        steps = np.where(self.steps != 0, np.abs(self.steps), 1.0)
        if (self.steps < 0).any():
            exponents = np.maximum(np.frexp(outputs)[1] - 1 - QUANTISED_BITS, SMALLEST_STEP)
            growing = np.maximum(np.ldexp(1.0, exponents), steps)
            steps = np.where(self.steps < 0, growing, steps)
        return np.where(self.steps != 0, self._rounded(outputs, steps), outputs)

    @property
    def grids(self) -> tuple[Quantiser, ...]:
        """The grid itself, and that for events of several coordinates if it is another one."""
        return (self,) if self.joint is None else (self, self.joint)

    @property
    def finer(self) -> Quantiser | None:
        """The grid for sums in which wide noise cancels; None if steps grow, or are too small for it."""
        steps = self.steps * 2.0**-FINER_BITS
        if self.least is not None:
            steps = np.where(self.steps > 0, np.maximum(steps, self.least), steps)
        fit = (self.steps == 0) | (steps >= np.finfo(np.float64).smallest_normal)
        return Quantiser(steps) if fit.all() else None

    def for_score(self, score: Score) -> Quantiser:
        """Return the grid for events of a score: another one if it looks at several coordinates."""
        one = getattr(score, "coordinate", None) is not None or len(getattr(score, "coordinates", ())) == 1
        return self if one or self.joint is None else self.joint

    def of_one(self, k: int) -> Quantiser:
        """Return the grid of one coordinate."""
        return Quantiser(self.steps[[k]])

    @property
    def even(self) -> bool:
        """Whether every coordinate is rounded to multiples of one step."""
        return bool((self.steps > 0).all())

    @property
    def alike(self) -> bool:
        """Whether all coordinates have the same step."""
        return bool((self.steps == self.steps[0]).all())

    def lowest(self, coordinate: int, values: FloatArray) -> FloatArray | None:
        """Return the lowest outputs of a coordinate that round to each value or above.

        None if steps are not even, or a value is so many steps away that half steps are not floats.
        """
        step = self.steps[coordinate]
        if step <= 0:
            return None
        with np.errstate(over="ignore"):
            multiples = np.ceil(values / step)
        if not (np.abs(multiples) < MOST_MULTIPLES).all():
            return None
        halves = (multiples - 0.5) * step
        # a tie goes to the even multiple
        lowest: FloatArray = np.where(multiples % 2 == 0, halves, np.nextafter(halves, np.inf))
        return lowest

    @staticmethod
    def _rounded(outputs: FloatArray, steps: FloatArray | float) -> FloatArray:
        # steps are powers of two, so only rint rounds; dividing, since the inverse of a tiny step is infinite
        with np.errstate(over="ignore"):
            rounded = outputs / steps
            np.rint(rounded, out=rounded)
            rounded *= steps
        # too many steps to count: such an output already is a multiple of its step
        with np.errstate(invalid="ignore", over="ignore"):
            finite = math.isfinite(float(rounded.sum()))
        if not finite:
            uncounted = np.isinf(rounded)
            rounded[uncounted] = outputs[uncounted]
        return rounded


@dataclass(frozen=True, eq=False)
class _Coordinate:
    """What sets the grid of a coordinate: its finite numbers, a few of them, and the step by their spread."""

    values: FloatArray
    some: FloatArray
    step: float
    spread: float
    unit: Unit | None
    reach: Reach

    @classmethod
    def of(cls, left: FloatArray, right: FloatArray, residue: Reach | None) -> _Coordinate:
        values, some = np.concatenate([left, right]), np.concatenate([left[:LOOKED_AT], right[:LOOKED_AT]])
        spread, shift = _spread(values), 0
        if math.isinf(spread):
            # finite numbers too large to add up, except in units of 2^64
            spread, shift = _spread(np.ldexp(values, -64)), 64
        if spread == 0:
            return cls(values, some, 0.0, 0.0, None, Reach(0.0, 0.0))
        step = 2.0 ** max(math.floor(math.log2(spread)) + shift - QUANTISED_BITS, SMALLEST_STEP)
        with np.errstate(over="ignore"):
            spread = float(np.ldexp(spread, shift))
        if residue is not None:
            return cls(values, some, step, spread, None, residue)
        unit = unit_of(values)
        return cls(values, some, step, spread, unit, Reach.of(left, right, unit, spread))

    def needs(self, least: float) -> bool:
        """Return whether a least step makes the grid another one."""
        return self.reach.moved or least > min(self.step, math.inf if self.unit is None else self.unit.size)

    def grid(self, least: float, *, alone: bool) -> tuple[float, Unit | None, bool]:
        """Return the step that is no finer than the least, the unit that it keeps, and whether it covers all.

        Whole numbers and multiples of the least stay apart however narrow they are; in events of several
        coordinates whole numbers may be rounded sums, whose float noise others show.
        """
        if self.step == 0:
            return 0.0, None, False
        unit = None if self.unit is not None and (self.reach.moved or self.unit.size < least) else self.unit
        own = self.step if unit is None else step_with(unit, self.values)
        if unit is not None and self.step > min(own, KNOWN_STEP):
            return min(self.step, own), unit, False
        if least > self.step:
            if self.spread >= NARROW * least or self.reach.partly:
                return least, unit, False
            pitch = 0.0 if self.reach.moved else common_pitch(self.values)
            if pitch >= (min(1.0, least) if alone else least):
                return min(pitch, least), unit, False
            top = math.ceil(math.log2(max(least, float(np.abs(self.values).max()))))
            return 2.0 ** min(top + 2, MOST_HIDDEN), None, True
        growing = not self.reach.partly and _too_coarse(self.step, self.some)
        return -smallest_step(self.some) if growing else self.step, unit, False


def finite_of(values: FloatArray) -> FloatArray:
    """Return the finite ones of some values, which may be the same array."""
    finite = np.isfinite(values)
    return values if finite.all() else values[finite]


def step_with(unit: Unit, values: FloatArray) -> float:
    """Return the step of a grid that keeps multiples of a unit apart, and other values by their own spread."""
    others = values[:0] if unit.of_all else values[~unit.divides(values)]
    spread = _spread(others)
    if not 0 < spread < math.inf:
        return unit.step
    step = 2.0 ** max(math.floor(math.log2(spread)) - QUANTISED_BITS, SMALLEST_STEP)
    # nearly all may be 0, whose noise is 0
    return min(unit.step, max(step, power_above(OF_THEIR_SIZE * usual_size(values))))


def _too_coarse(step: float, values: FloatArray) -> bool:
    """Return whether the middle half of some values covers few steps."""
    if not len(values):
        return False
    low, high = np.quantile(values, [0.25, 0.75], method="nearest")
    # halves of finite numbers have a finite difference
    return bool(high > low and step / 2 * FEWEST_STEPS > high / 2 - low / 2)


def smallest_step(values: FloatArray, share: float = SMALL) -> float:
    """Return the smallest growing step, a power of two: 2^-16 of a low quantile of the values."""
    sizes = np.abs(values[values != 0])
    small = float(np.quantile(sizes, share, method="lower")) if len(sizes) else 1.0
    return float(2.0 ** max(math.floor(math.log2(small)) - QUANTISED_BITS, SMALLEST_STEP))


def _spread(values: FloatArray) -> float:
    """Return the mean absolute distance from the median; 0 for no values, infinite if it overflows."""
    with np.errstate(over="ignore"):
        return float(np.abs(values - np.median(values)).mean()) if values.size else 0.0
