"""The exact privacy profile of Gaussian noise (Balle and Wang, ICML 2018, Theorem 8), in ball arithmetic.

A Gaussian mechanism whose outputs under two inputs differ by a shift of Mahalanobis length mu is
(epsilon, delta)-private for this pair exactly when
delta >= Phi(mu/2 - epsilon/mu) - exp(epsilon) Phi(-mu/2 - epsilon/mu).
The right side grows with mu, so the worst pair is the one with the longest shift.

Each rounding error is inside the ball, so both returned ends are certain.  Claims: T2, T5.
"""

from __future__ import annotations

from fractions import Fraction

from reference.common.balls import Ball, ball, bisected, ends, is_positive, pi, refined, sign, upper_end
from reference.common.errors import DeltaError
from reference.common.numbers import Enclosure, decimal_text

ZERO, ONE = Fraction(0), Fraction(1)

RELATIVE_BITS = 70
"""Correct leading bits of what is returned: more than the 20 digits that are printed."""

SMALLEST_DELTA = Fraction(1, 10**4000)
"""No smaller delta is told from 0."""

FARTHEST_TAIL = 136
"""exp(-136^2 / 2) / 2 is below :data:`SMALLEST_DELTA`."""

FAR_OUT = 500
"""Beyond this a tail of the normal distribution is computed relative to its density."""


def normal_cdf(point: Ball) -> Ball:
    """Return Phi of a ball: erfc(-x/sqrt(2))/2."""
    return (-point / ball(2).sqrt()).erfc() / 2


def normal_pdf(point: Ball) -> Ball:
    """Return the standard normal density of a ball."""
    return (-point * point / 2).exp() / (2 * pi()).sqrt()


def mills_ratio(point: Ball) -> Ball:
    """Return Phi(-x)/phi(x) of a ball; far out, where Arb's erfc is wide, by U(1/2, 1/2, x^2/2)/sqrt(2)."""
    if point > FAR_OUT:
        half = ball(Fraction(1, 2))
        return (point * point / 2).hypgeom_u(half, half) / ball(2).sqrt()
    return normal_cdf(-point) / normal_pdf(point)


def profile(shift: Ball, epsilon: Ball) -> Ball:
    """Return Phi(mu/2 - epsilon/mu) - exp(epsilon) Phi(-mu/2 - epsilon/mu) for balls, mu > 0."""
    half, ratio = shift / 2, epsilon / shift
    near, far = half - ratio, half + ratio
    # exp(epsilon) phi(far) = phi(near)
    tail = normal_pdf(near) * mills_ratio(far) if far > FAR_OUT else epsilon.exp() * normal_cdf(-far)
    return normal_cdf(near) - tail


def delta_of_shift(squared_shift: Fraction, epsilon: Fraction) -> Enclosure:
    """Enclose the smallest delta at `epsilon` for a shift of this squared Mahalanobis length.

    Parameters
    ----------
    squared_shift : Fraction
        mu^2, at least 0.
    epsilon : Fraction
        At least 0.

    Returns
    -------
    Enclosure
        To :data:`RELATIVE_BITS`; [0, SMALLEST_DELTA] where the value is certainly below SMALLEST_DELTA.
    """
    if squared_shift == 0:
        return Enclosure(ZERO, ZERO)

    def distance_to_far_tail() -> Ball:
        shift = ball(squared_shift).sqrt()
        return ball(epsilon) / shift - shift / 2 - FARTHEST_TAIL

    # delta <= Phi(-z) <= exp(-z^2 / 2) / 2 with z = epsilon/mu - mu/2
    if is_positive(distance_to_far_tail) is not False:
        return Enclosure(ZERO, SMALLEST_DELTA)
    found = ends(refined(lambda: profile(ball(squared_shift).sqrt(), ball(epsilon)), RELATIVE_BITS))
    if found.upper <= SMALLEST_DELTA:
        return Enclosure(ZERO, SMALLEST_DELTA)
    return Enclosure(found.lower, min(ONE, found.upper))


def epsilon_of_shift(squared_shift: Fraction, delta: Fraction) -> Enclosure:
    """Enclose the smallest epsilon at `delta` for a shift of this squared Mahalanobis length.

    The profile falls in epsilon, so bisection with certain signs encloses its root.

    Parameters
    ----------
    squared_shift : Fraction
    delta : Fraction
        In (0, 1).

    Returns
    -------
    Enclosure
        To :data:`RELATIVE_BITS`; the upper end is private.
    """
    _require_probability(delta)
    if squared_shift == 0 or is_private_shift(squared_shift, ZERO, delta):
        return Enclosure(ZERO, ZERO)

    def above() -> Ball:
        shift = ball(squared_shift).sqrt()
        return shift * (shift / 2 + (-2 * ball(delta).log()).sqrt())

    # delta <= Phi(mu/2 - epsilon/mu) <= exp(-(epsilon/mu - mu/2)^2 / 2) / 2 bounds epsilon from above
    return bisected(
        lambda epsilon: not is_private_shift(squared_shift, epsilon, delta),
        ZERO,
        upper_end(refined(above)),
        Fraction(1, 2**RELATIVE_BITS),
    )


def is_private_shift(squared_shift: Fraction, epsilon: Fraction, delta: Fraction) -> bool:
    """Return whether a shift of this squared length above 0 is (epsilon, delta)-private: certainly, either way."""
    return sign(lambda: profile(ball(squared_shift).sqrt(), ball(epsilon)) - ball(delta)) < 0


def _require_probability(delta: Fraction) -> None:
    if not 0 < delta < 1:
        raise DeltaError("delta", decimal_text(delta), "in (0, 1)")
