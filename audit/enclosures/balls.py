"""Real balls of Arb (python-flint) to and from exact rationals.

Every operation on :class:`flint.arb` returns a ball that contains the exact result for all points of its
operands. A comparison of balls is True only when it holds for all their points.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any, TypeAlias

from flint import arb, ctx, fmpq

from reference.accounting import Enclosure

Ball: TypeAlias = Any

FIRST_BITS = 128
"""Working precision that a computation starts with."""

END_BITS = 256
"""Precision to which an end is rounded outwards."""

MOST_BITS = 1 << 15
"""Precision at which a computation gives up."""


class UndecidedError(ArithmeticError):
    """No verdict at the largest working precision."""


def ball(value: Fraction | int) -> Ball:
    """Return a ball that contains a rational number, at the current precision."""
    number = Fraction(value)
    return arb(fmpq(number.numerator, number.denominator))


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
    mantissa, exponent = point.man_exp()
    return Fraction(int(mantissa)) * Fraction(2) ** int(exponent)


def at_precision(bits: int, compute: Callable[[], Any]) -> Any:
    """Return what a function of no arguments gives at a working precision of so many bits."""
    with ctx.workprec(bits):
        return compute()


def refined(compute: Callable[[], Ball], relative_bits: int = 60) -> Ball:
    """Return a ball of at least so many correct leading bits, raising the precision as needed.

    Parameters
    ----------
    compute : callable
        Of no arguments; computes at the current precision, from exact inputs.
    relative_bits : int

    Raises
    ------
    UndecidedError
        When MOST_BITS do not suffice, as for a value that is 0.
    """
    bits = max(FIRST_BITS, 2 * relative_bits)
    while bits <= MOST_BITS:
        result = at_precision(bits, compute)
        if result.rel_accuracy_bits() >= relative_bits:
            return result
        bits *= 2
    raise UndecidedError(f"less than {relative_bits} correct bits at a precision of {MOST_BITS}")


def sign(compute: Callable[[], Ball]) -> int:
    """Return the certain sign, -1 or 1, of what a function of no arguments computes.

    Raises
    ------
    UndecidedError
        When the ball contains 0 at MOST_BITS.
    """
    bits = FIRST_BITS
    while bits <= MOST_BITS:
        result = at_precision(bits, compute)
        if result > 0:
            return 1
        if result < 0:
            return -1
        bits *= 2
    raise UndecidedError(f"the sign is not certain at a precision of {MOST_BITS} bits")
