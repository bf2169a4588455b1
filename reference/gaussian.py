"""The exact privacy profile of Gaussian noise (Balle and Wang, ICML 2018, Theorem 8).

A Gaussian mechanism whose outputs under two inputs differ by a shift of Mahalanobis length mu is
(epsilon, delta)-private for this pair exactly when
delta >= Phi(mu/2 - epsilon/mu) - exp(epsilon) Phi(-mu/2 - epsilon/mu).
The right side grows with mu, so the worst pair is the one with the longest shift.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

from mpmath.ctx_mp import MPContext

from reference.numbers import fraction_of

DIGITS = 50
"""Significant decimal digits that are left after cancellation."""

SMALLEST_DELTA = Fraction(1, 10**4000)
"""No smaller delta is told apart from 0."""

FARTHEST_TAIL = 136
"""exp(-136^2 / 2) / 2 is below :data:`SMALLEST_DELTA`."""

RELATIVE_ERROR = Fraction(1, 10**15)
"""Far above the error of any value returned here."""


def delta_of_shift(squared_shift: Fraction, epsilon: Fraction) -> Fraction:
    """Return the smallest delta at `epsilon` for a shift of this squared Mahalanobis length.

    Parameters
    ----------
    squared_shift : Fraction
        mu^2, at least 0.
    epsilon : Fraction
        At least 0.

    Returns
    -------
    Fraction
        To a relative error of :data:`RELATIVE_ERROR`; :data:`SMALLEST_DELTA` where the true value is below it.
    """
    if squared_shift == 0:
        return Fraction(0)
    context = _context(squared_shift, epsilon)
    shift, target = context.sqrt(_mpf(context, squared_shift)), _mpf(context, epsilon)
    # delta <= Phi(-z) <= exp(-z^2 / 2) / 2 with z = epsilon/mu - mu/2
    if target / shift - shift / 2 > FARTHEST_TAIL:
        return SMALLEST_DELTA
    return fraction_of(_delta(shift, target, context))


def epsilon_of_shift(squared_shift: Fraction, delta: Fraction) -> Fraction:
    """Return the smallest epsilon at `delta` for a shift of this squared Mahalanobis length, rounded up.

    Parameters
    ----------
    squared_shift : Fraction
    delta : Fraction
        In (0, 1).

    Returns
    -------
    Fraction
        Private, and by less than a relative :data:`RELATIVE_ERROR` too large.
    """
    if squared_shift == 0 or delta_of_shift(squared_shift, Fraction(0)) <= delta:
        return Fraction(0)
    context = _context(squared_shift, Fraction(1))
    shift, target = context.sqrt(_mpf(context, squared_shift)), context.log(_mpf(context, delta))
    # delta <= Phi(mu/2 - epsilon/mu) <= exp(-(epsilon/mu - mu/2)^2 / 2) / 2 bounds epsilon from above
    high = shift * (shift / 2 + context.sqrt(-2 * target))
    context.dps += max(0, math.ceil(2 * float(context.log10(1 + high))))

    def excess(epsilon: Any) -> Any:
        return context.log(_delta(shift, epsilon, context)) - target

    tolerance = context.mpf(10) ** (10 - context.dps)
    root = context.findroot(excess, (context.mpf(0), high), solver="anderson", tol=tolerance, verify=False)
    margin = context.mpf(10) ** -18 * root
    while excess(root + margin) > 0:
        margin *= 2
    return fraction_of(root + margin)


def _delta(shift: Any, epsilon: Any, context: MPContext) -> Any:
    # Phi(mu/2 - epsilon/mu) - exp(epsilon) Phi(-mu/2 - epsilon/mu)
    upper = context.ncdf(shift / 2 - epsilon / shift)
    return upper - context.exp(epsilon) * context.ncdf(-shift / 2 - epsilon / shift)


def _context(squared_shift: Fraction, epsilon: Fraction) -> MPContext:
    """Return a context of its own that keeps :data:`DIGITS` digits.

    The two terms agree in about log10((1 + epsilon) / mu^2) leading digits, and more in the far tail.
    """
    lost = _log10(1 + epsilon) + max(0.0, -_log10(squared_shift))
    context = MPContext()
    context.dps = DIGITS + 2 * math.ceil(lost)
    return context


def _mpf(context: MPContext, value: Fraction) -> Any:
    return context.mpf(value.numerator) / context.mpf(value.denominator)


def _log10(value: Fraction) -> float:
    return math.log10(value.numerator) - math.log10(value.denominator)
