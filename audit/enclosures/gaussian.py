"""The exact privacy profile of Gaussian noise, enclosed by ball arithmetic.

The same two numbers as :mod:`reference.gaussian`, which evaluates them at 50 digits and relies on a margin.
Here each rounding error is inside the ball, so an end is certain.  Claims: T2, T5.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

from flint import arb

from audit.enclosures.balls import Ball, ball, ends, refined, sign, upper_end
from reference.accounting import Enclosure
from reference.errors import DeltaError
from reference.gaussian import FARTHEST_TAIL, SMALLEST_DELTA
from reference.noise import Noise
from reference.sensitivity import Setting, exact_l2_squared

ZERO = Fraction(0)


def normal_cdf(point: Ball) -> Ball:
    """Return Phi of a ball: erfc(-x/sqrt(2))/2."""
    return (-point / arb(2).sqrt()).erfc() / 2


def normal_pdf(point: Ball) -> Ball:
    """Return the standard normal density of a ball."""
    return (-point * point / 2).exp() / (2 * arb.pi()).sqrt()


def mills_ratio(point: Ball) -> Ball:
    """Return Phi(-x)/phi(x) of a ball."""
    return normal_cdf(-point) / normal_pdf(point)


def profile(shift: Ball, epsilon: Ball) -> Ball:
    """Return Phi(mu/2 - epsilon/mu) - exp(epsilon) Phi(-mu/2 - epsilon/mu) for balls, mu > 0."""
    half, ratio = shift / 2, epsilon / shift
    return normal_cdf(half - ratio) - epsilon.exp() * normal_cdf(-half - ratio)


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
        At least 60 correct bits; [0, SMALLEST_DELTA] where the value is certainly below SMALLEST_DELTA because
        epsilon/mu - mu/2 exceeds FARTHEST_TAIL.
    """
    if squared_shift == 0:
        return Enclosure(ZERO, ZERO)

    def distance_to_far_tail() -> Ball:
        shift = ball(squared_shift).sqrt()
        return ball(epsilon) / shift - shift / 2 - FARTHEST_TAIL

    # delta <= Phi(-z) <= exp(-z^2 / 2) / 2 with z = epsilon/mu - mu/2
    if sign(distance_to_far_tail) > 0:
        return Enclosure(ZERO, SMALLEST_DELTA)
    return ends(refined(lambda: profile(ball(squared_shift).sqrt(), ball(epsilon))))


def epsilon_of_shift(
    squared_shift: Fraction, delta: Fraction, relative_width: Fraction = Fraction(1, 2**60)
) -> Enclosure:
    """Enclose the smallest epsilon at `delta` for a shift of this squared Mahalanobis length.

    The profile falls in epsilon, so bisection with certain signs encloses its root.

    Parameters
    ----------
    squared_shift : Fraction
    delta : Fraction
        In (0, 1).
    relative_width : Fraction
    """
    if not 0 < delta < 1:
        raise DeltaError("delta", str(delta), "in (0, 1)")

    def is_private(epsilon: Fraction) -> bool:
        return sign(lambda: profile(ball(squared_shift).sqrt(), ball(epsilon)) - ball(delta)) < 0

    if squared_shift == 0 or is_private(ZERO):
        return Enclosure(ZERO, ZERO)

    def above() -> Ball:
        shift = ball(squared_shift).sqrt()
        return shift * (shift / 2 + (-2 * ball(delta).log()).sqrt())

    # delta <= Phi(mu/2 - epsilon/mu) <= exp(-(epsilon/mu - mu/2)^2 / 2) / 2 bounds epsilon from above
    low, high = ZERO, upper_end(refined(above))
    while high - low > relative_width * high:
        middle = (low + high) / 2
        low, high = (low, middle) if is_private(middle) else (middle, high)
    return Enclosure(low, high)


def shift_of_budget(
    epsilon: Fraction, delta: Fraction, relative_width: Fraction = Fraction(1, 2**40)
) -> Enclosure:
    """Enclose the largest (epsilon, delta)-private shift Delta_2/sigma: the analytic Gaussian mechanism's.

    Parameters
    ----------
    epsilon : Fraction
        Positive.
    delta : Fraction
        In (0, 1).
    relative_width : Fraction
    """
    if not 0 < delta < 1:
        raise DeltaError("delta", str(delta), "in (0, 1)")
    return largest_private_shift(lambda: ball(epsilon), lambda: ball(delta), relative_width)


def largest_private_shift(
    epsilon: Callable[[], Ball], delta: Callable[[], Ball], relative_width: Fraction = Fraction(1, 2**40)
) -> Enclosure:
    """Enclose the shift at which the profile meets delta, by bisection: the profile grows in the shift.

    Parameters
    ----------
    epsilon, delta : callable
        Return the two numbers as balls at the current precision.
    relative_width : Fraction
    """

    def is_private(shift: Fraction) -> bool:
        return sign(lambda: profile(ball(shift), epsilon()) - delta()) < 0

    high = Fraction(1)
    while is_private(high):
        high *= 2
    low = high / 2
    while not is_private(low):
        low, high = low / 2, low
    while high - low > relative_width * high:
        middle = (low + high) / 2
        low, high = (middle, high) if is_private(middle) else (low, middle)
    return Enclosure(low, high)


def certified_delta(setting: Setting, noise: Noise, epsilon: Fraction) -> Enclosure:
    """Enclose the exact delta of Gaussian noise over all neighbouring data sets of a setting.

    What :func:`reference.accounting.exact_privacy` evaluates, from the same longest shift.

    Parameters
    ----------
    setting : Setting
    noise : Noise
        Gaussian.
    epsilon : Fraction
    """
    scale_s = Fraction(noise.scale_s) if noise.in_s.any() else Fraction(noise.scale_n)
    squared = exact_l2_squared(setting, 1 / scale_s**2, 1 / Fraction(noise.scale_n) ** 2)
    low, high = delta_of_shift(squared.lower, epsilon), delta_of_shift(squared.upper, epsilon)
    return Enclosure(low.lower, high.upper)


def certified_verdict(setting: Setting, noise: Noise, epsilon: Fraction, delta: Fraction) -> str:
    """Judge an (epsilon, delta) claim on Gaussian noise: `enclosed`, `refuted` or `undecided`.

    Parameters
    ----------
    setting : Setting
    noise : Noise
        Gaussian.
    epsilon, delta : Fraction
        The claim.
    """
    found = certified_delta(setting, noise, epsilon)
    if found.upper <= delta:
        return "enclosed"
    return "refuted" if found.lower > delta else "undecided"
