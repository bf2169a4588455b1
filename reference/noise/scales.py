"""Scales from (epsilon, delta, sensitivity): computed exactly or enclosed, and rounded up once."""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache

from reference.common.balls import Ball, ball, enclosed, is_positive, pi, square_root
from reference.common.errors import DeltaError
from reference.common.numbers import Enclosure, decimal_text, rounded_up
from reference.noise.profile import is_private_shift


def laplace_scale(l1_sensitivity: Fraction, epsilon: Fraction) -> float:
    """Return the scale of Laplace noise, Delta_1 / epsilon.

    *Implements* Theorem 1 (Algorithm 1, lines 17 and 19), *except* that the float is rounded up.  Claims: T1.
    """
    # b <- Delta_1 / epsilon
    return rounded_up(l1_sensitivity / epsilon)


def extended_gaussian_sigma(l2_sensitivity_squared: Fraction, epsilon: Fraction, delta: Fraction) -> float:
    """Return sigma of the extended Gaussian mechanism.

    *Implements* Theorem 2 (Algorithm 2, line 6; Algorithm 3, lines 18 and 20), *except* that the float is
    rounded up, and that delta > sqrt(2/pi), where the formula is the root of a negative number, is rejected.
    Claims: T2.

    Parameters
    ----------
    l2_sensitivity_squared : Fraction
        The square of Delta_2.
    epsilon : Fraction
    delta : Fraction
        In (0, sqrt(2/pi)].

    Raises
    ------
    reference.common.errors.DeltaError
    """
    require_delta_in_extended_range("delta", delta)
    # at least 0; sigma grows with it, so its upper end gives an upper end of sigma
    logarithm = max(Fraction(0), extended_logarithm(delta).upper)

    def sigma() -> Ball:
        # sigma <- sqrt(2) Delta_2 / (2 epsilon) (sqrt(log(...)) + sqrt(log(...) + epsilon))
        factor = ball(2 * l2_sensitivity_squared).sqrt() / (2 * ball(epsilon))
        return factor * (ball(logarithm).sqrt() + ball(logarithm + epsilon).sqrt())

    return rounded_up(enclosed(sigma).upper)


def extended_logarithm(delta: Fraction) -> Enclosure:
    """Enclose log(sqrt(2/pi) / delta), whose root Theorem 2's sigma takes."""

    def logarithm() -> Ball:
        return (_largest_delta() / ball(delta)).log()

    return enclosed(logarithm)


def require_delta_in_extended_range(name: str, delta: Fraction) -> None:
    """Raise :class:`reference.common.errors.DeltaError` unless 0 < delta <= sqrt(2/pi)."""
    if delta <= 0 or not is_positive(lambda: _largest_delta() - ball(delta)):
        raise DeltaError(name, decimal_text(delta), "in (0, sqrt(2/pi)], where Theorem 2's sigma is defined")


def _largest_delta() -> Ball:
    return (2 / pi()).sqrt()


@lru_cache(maxsize=256)
def analytic_gaussian_sigma(l2_sensitivity_squared: Fraction, epsilon: Fraction, delta: Fraction) -> float:
    """Return the smallest sigma that gives (epsilon, delta), rounded up.

    *Implements* the analytic Gaussian mechanism of Balle and Wang (ICML 2018), by bisection on their exact
    condition down to neighbouring floats.

    Parameters
    ----------
    l2_sensitivity_squared, epsilon : Fraction
        Positive.
    delta : Fraction
        In (0, 1).
    """
    if not 0 < delta < 1:
        raise DeltaError("delta", decimal_text(delta), "in (0, 1)")

    def is_private(ratio: float) -> bool:
        """Return whether sigma = ratio * Delta_2 suffices."""
        return is_private_shift(1 / Fraction(ratio) ** 2, epsilon, delta)

    high = 1.0
    while not is_private(high):
        high *= 2
    low = high / 2
    while is_private(low):
        low, high = low / 2, low
    while (middle := (low + high) / 2) not in (low, high):
        low, high = (low, middle) if is_private(middle) else (middle, high)
    return rounded_up(square_root(l2_sensitivity_squared).upper * Fraction(high))
