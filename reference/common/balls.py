"""Ball arithmetic over Arb (python-flint), from exact rationals and back: the only interval arithmetic here.

Every operation on :class:`flint.arb` returns a ball that contains the exact result for all points of its
operands, and a comparison of balls is True only if it holds for all their points.  So whatever the working
precision, both ends are certain; precision only decides how close they are.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from fractions import Fraction
from threading import RLock
from typing import Any, TypeAlias, TypeVar

from reference.common.numbers import Enclosure

Ball: TypeAlias = Any
Result = TypeVar("Result")

FIRST_BITS = 128
"""Working precision that a comparison starts with."""

WORKING_BITS = 192
"""Working precision where it is not raised."""

END_BITS = 256
"""Precision to which ends are rounded outwards."""

MOST_BITS = 1 << 15
"""Precision at which a computation gives up."""

_PRECISION = RLock()
"""Held while the working precision is changed: Arb has one for all threads."""


class UndecidedError(ArithmeticError):
    """No verdict at the largest working precision."""


# --- To balls and back ----------------------------------------------------------------------------------------


def ball(value: Fraction | int) -> Ball:
    """Return a ball that contains a rational number, at the current precision."""
    # imported when used: most of what is built on this module computes no ball
    from flint import arb, fmpq

    return arb(fmpq(value.numerator, value.denominator))


def pi() -> Ball:
    """Return a ball that contains pi, at the current precision."""
    from flint import arb

    return arb.pi()


def lower_end(enclosure: Ball) -> Fraction:
    """Return a rational that is at most every point of a ball, its lower end rounded down."""
    return _dyadic(at_precision(END_BITS, enclosure.lower))


def upper_end(enclosure: Ball) -> Fraction:
    """Return a rational that is at least every point of a ball, its upper end rounded up."""
    return _dyadic(at_precision(END_BITS, enclosure.upper))


def ends(enclosure: Ball) -> Enclosure:
    """Return both ends of a ball."""
    return Enclosure(lower_end(enclosure), upper_end(enclosure))


def _dyadic(point: Ball) -> Fraction:
    if not point.is_finite():
        raise OverflowError("an infinite or undefined end has no rational value")
    mantissa, exponent = (int(part) for part in point.man_exp())
    return Fraction(mantissa << exponent) if exponent >= 0 else Fraction(mantissa, 1 << -exponent)


# --- Working precision ----------------------------------------------------------------------------------------


@contextmanager
def working_precision(bits: int) -> Iterator[None]:
    """Compute at a precision of this many bits; also a decorator.  Another thread waits."""
    from flint import ctx

    with _PRECISION, ctx.workprec(bits):
        yield


def at_precision(bits: int, compute: Callable[[], Result]) -> Result:
    """Call a function of no arguments at a working precision of this many bits."""
    with working_precision(bits):
        return compute()


def enclosed(compute: Callable[[], Ball]) -> Enclosure:
    """Return both ends of the ball that a function computes at :data:`WORKING_BITS`.

    Certain, but wide where digits cancel: see :func:`refined`.
    """
    return ends(at_precision(WORKING_BITS, compute))


def refined(compute: Callable[[], Ball], relative_bits: int = 60) -> Ball:
    """Return a ball of at least this many correct leading bits, raising the precision as needed.

    Parameters
    ----------
    compute : callable
        Of no arguments; computes at the current precision, from exact inputs.
    relative_bits : int

    Raises
    ------
    UndecidedError
        When MOST_BITS do not suffice, for instance if the value is 0.
    """
    bits = max(FIRST_BITS, 2 * relative_bits)
    while bits <= MOST_BITS:
        result = at_precision(bits, compute)
        if result.rel_accuracy_bits() >= relative_bits:
            return result
        bits *= 2
    raise UndecidedError(f"less than {relative_bits} correct bits at a precision of {MOST_BITS}")


# --- Comparisons ----------------------------------------------------------------------------------------------


def is_positive(compute: Callable[[], Ball]) -> bool | None:
    """Return whether a function's value is above 0, raising the precision until that is decided.

    Returns
    -------
    bool or None
        False when it is certainly below 0; None when the ball contains 0 at :data:`MOST_BITS`.
    """
    bits = FIRST_BITS
    while bits <= MOST_BITS:
        result = at_precision(bits, compute)
        if result > 0:
            return True
        if result < 0:
            return False
        bits *= 2
    return None


def sign(compute: Callable[[], Ball]) -> int:
    """Return the sign, -1 or 1, of the value of a function of no arguments, with certainty.

    Raises
    ------
    UndecidedError
        When the ball contains 0 at :data:`MOST_BITS`.
    """
    found = is_positive(compute)
    if found is None:
        raise UndecidedError(f"the sign is not certain at a precision of {MOST_BITS} bits")
    return 1 if found else -1


def bisected(
    is_below: Callable[[Fraction], bool], low: Fraction, high: Fraction, relative_width: Fraction
) -> Enclosure:
    """Enclose the number at which a condition, true at `low` and false at `high`, changes."""
    while high - low > relative_width * high:
        middle = (low + high) / 2
        low, high = (middle, high) if is_below(middle) else (low, middle)
    return Enclosure(low, high)


# --- Roots ----------------------------------------------------------------------------------------------------


def square_root(value: Fraction) -> Enclosure:
    """Enclose a square root; a rational one exactly."""
    root = Fraction(math.isqrt(value.numerator), math.isqrt(value.denominator))
    if root * root == value:
        return Enclosure(root, root)
    return enclosed(lambda: ball(value).sqrt())
