"""The Gaussian profile by mpmath: the second road, which shares no arithmetic with the balls of Arb."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

from mpmath.ctx_iv import MPIntervalContext
from mpmath.ctx_mp import MPContext

DIGITS = 50
"""Significant decimal digits that are left after cancellation."""


def delta_by_mpmath(squared_shift: Fraction, epsilon: Fraction) -> Fraction:
    """Evaluate the profile to about :data:`DIGITS` digits, without an enclosure; below 1e-4000 it is 0.

    The two terms agree in about log10((1 + epsilon) / mu^2) leading digits, and more in the far tail.
    """
    lost = _log10(1 + epsilon) + max(0.0, -_log10(squared_shift))
    context = MPContext()
    context.dps = DIGITS + 2 * math.ceil(lost)
    shift = context.sqrt(context.mpf(squared_shift.numerator) / squared_shift.denominator)
    target = context.mpf(epsilon.numerator) / epsilon.denominator
    upper = context.ncdf(shift / 2 - target / shift)
    value = upper - context.exp(target) * context.ncdf(-shift / 2 - target / shift)
    return Fraction(0) if value < context.mpf(10) ** -4000 else _fraction(value._mpf_)


def intervals(bits: int) -> MPIntervalContext:
    """Return mpmath's interval arithmetic at a precision."""
    context = MPIntervalContext()
    context.prec = bits
    return context


def interval(context: MPIntervalContext, value: Fraction) -> Any:
    """Return an interval that contains a rational number."""
    return context.mpf(value.numerator) / context.mpf(value.denominator)


def interval_ends(enclosure: Any) -> tuple[Fraction, Fraction]:
    """Return both ends of an interval as exact rationals."""
    low, high = enclosure._mpi_
    return _fraction(low), _fraction(high)


def interval_profile(context: MPIntervalContext, shift: Any, epsilon: Any) -> Any:
    """Enclose the profile at intervals for mu and epsilon."""
    above = interval_cdf(context, shift / 2 - epsilon / shift)
    return above - context.exp(epsilon) * interval_cdf(context, -shift / 2 - epsilon / shift)


def interval_cdf(context: MPIntervalContext, point: Any) -> Any:
    """Enclose Phi from phi(x) sum x^(2k+1)/(2k+1)!!: positive terms, then a geometric tail."""
    if interval_ends(point)[1] <= 0:
        return 1 - interval_cdf(context, -point)
    term, total, odd = point, context.mpf(0), 1
    square, size = point * point, float(interval_ends(point)[1])
    # until the ratio of neighbouring terms is below 1/2, and the tail at most twice a small term
    while odd < 2 * size**2 + 3 or float(interval_ends(term)[1]) > 1e-250:
        total += term
        odd += 2
        term = term * square / odd
    tail = context.mpf([0, 2]) * term
    density = context.exp(-square / 2) / context.sqrt(2 * context.pi)
    return context.mpf(1) / 2 + density * (total + tail)


def _fraction(parts: tuple[int, int, int, int]) -> Fraction:
    sign, mantissa, exponent, _ = parts
    if not mantissa and exponent:
        raise OverflowError("an infinite or undefined end has no rational value")
    value = Fraction(int(mantissa)) * Fraction(2) ** int(exponent)
    return -value if sign else value


def _log10(value: Fraction) -> float:
    return math.log10(value.numerator) - math.log10(value.denominator)
