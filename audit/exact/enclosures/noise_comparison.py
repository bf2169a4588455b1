"""Where Gaussian noise is smaller than Laplace noise, for one budget (epsilon, delta) on all coefficients.

"Smaller" has two senses.  `deviation`: the standard deviation of one coefficient's noise, sigma against
sqrt(2) b; with the same number of coefficients on both sides this is also the root of the expected squared
length of the whole noise vector.  `length`: the expected l2 length of that vector.  Laplace noise has scale b =
Delta_1/epsilon.  The two sigmas are Theorem 2's and the smallest one (analytic).  Claims: A.noise.  Proofs:
``proofs/noise_comparison.md``.
"""

from __future__ import annotations

from fractions import Fraction

from flint import arb

from audit.exact.enclosures.extended_gaussian import logarithm_at
from reference.common.balls import Ball, ball, enclosed, ends, refined
from reference.common.numbers import Enclosure
from reference.noise.profile import delta_of_shift
from reference.sensitivity import (
    Setting,
    exact_l1,
    exact_l2_squared,
    published_l1_sensitivity,
    published_l2_sensitivity_squared,
)

MEASURES = ("deviation", "length")


def coefficient_count(dimension: int) -> int:
    """Return the number m of monomials of degree 1 and 2 in d variables: d + d (d + 1)/2."""
    return dimension + dimension * (dimension + 1) // 2


def published_ratio_squared(fairness: str, dimension: int) -> Enclosure:
    """Return (Delta_1/Delta_2)^2 of the published bounds, exactly."""
    value = published_l1_sensitivity(fairness, dimension) ** 2
    exactly = value / published_l2_sensitivity_squared(fairness, dimension)
    return Enclosure(exactly, exactly)


def exact_ratio_squared(setting: Setting) -> Enclosure:
    """Enclose (Delta_1/Delta_2)^2 of the exact suprema."""
    l1, l2_squared = exact_l1(setting), exact_l2_squared(setting)
    return Enclosure(l1.lower**2 / l2_squared.upper, l1.upper**2 / l2_squared.lower)


def length_factor(count: int) -> Enclosure:
    """Enclose the squared factor by which comparing lengths differs from comparing deviations.

    For m independent variates, E|Gaussian|_2 = sigma sqrt(2) Gamma((m + 1)/2)/Gamma(m/2) exactly, and
    E|Laplace|_2 lies between b sqrt(2 m) sqrt(m/(m + 5)) and b sqrt(2 m).  The Gaussian's is smaller iff
    sigma^2 < 2 b^2 times a number in this enclosure.
    """

    def gaussian_length() -> Ball:
        m = arb(count)
        return arb(2).sqrt() * ((m + 1) / 2).gamma() / (m / 2).gamma()

    root = ends(refined(gaussian_length))
    above = count / root.lower**2
    return Enclosure(Fraction(count, count + 5) * count / root.upper**2, above)


def scaled(ratio_squared: Enclosure, dimension: int, measure: str) -> Enclosure:
    """Return the squared ratio to compare with: for lengths, times :func:`length_factor`."""
    if measure == "deviation":
        return ratio_squared
    factor = length_factor(coefficient_count(dimension))
    return Enclosure(ratio_squared.lower * factor.lower, ratio_squared.upper * factor.upper)


def largest_epsilon(ratio_squared: Enclosure, delta: Fraction) -> Enclosure:
    """Enclose the epsilon below which Theorem 2's sigma is smaller: 4 rho (rho - sqrt(L)), at least 0.

    sigma < sqrt(2) Delta_1/epsilon is sqrt(L) + sqrt(L + epsilon) < 2 rho with rho = Delta_1/Delta_2.

    Parameters
    ----------
    ratio_squared : Enclosure
        Of rho^2.
    delta : Fraction
        In (0, sqrt(2/pi)).
    """
    L = logarithm_at(delta)

    def at(squared: Fraction, logarithm: Fraction) -> Enclosure:
        return enclosed(lambda: 4 * ball(squared).sqrt() * (ball(squared).sqrt() - ball(logarithm).sqrt()))

    # for rho > sqrt(L) it grows with rho, and it falls with L; elsewhere it is not positive
    low, high = at(ratio_squared.lower, L.upper).lower, at(ratio_squared.upper, L.lower).upper
    return Enclosure(max(Fraction(0), low), max(Fraction(0), high))


def smallest_delta_analytic(ratio_squared: Enclosure, epsilon: Fraction) -> Enclosure:
    """Enclose the delta above which the analytic Gaussian's sigma is smaller.

    sigma < sqrt(2) Delta_1/epsilon is a shift Delta_2/sigma above epsilon/(sqrt(2) rho), so the profile there
    is the boundary.
    """
    low = delta_of_shift(epsilon**2 / (2 * ratio_squared.upper), epsilon)
    high = delta_of_shift(epsilon**2 / (2 * ratio_squared.lower), epsilon)
    return Enclosure(low.lower, high.upper)


def is_gaussian_smaller(
    ratio_squared: Enclosure, epsilon: Fraction, delta: Fraction, *, calibration: str = "extended"
) -> bool | None:
    """Return whether the Gaussian noise is smaller; None where the enclosures do not decide.

    Parameters
    ----------
    ratio_squared : Enclosure
        Of rho^2, after :func:`scaled`.
    epsilon, delta : Fraction
    calibration : {'extended', 'analytic'}
    """
    if calibration == "extended":
        boundary = largest_epsilon(ratio_squared, delta)
        if epsilon < boundary.lower:
            return True
        return False if epsilon >= boundary.upper else None
    least = smallest_delta_analytic(ratio_squared, epsilon)
    if delta > least.upper:
        return True
    return False if delta <= least.lower else None


def smallest_dimension(fairness: str, epsilon: Fraction, delta: Fraction, measure: str = "deviation") -> Enclosure:
    """Enclose the first dimension in which Theorem 2's noise is smaller, with the published sensitivities.

    For deviations it is smaller in all later ones too: rho^2 grows with d
    (``audit.exact.symbolic.published.ratio_grows``).

    Returns
    -------
    Enclosure
        Between the first d that is not certainly larger and the first that is certainly smaller.
    """
    first_open = None
    dimension = 1
    while True:
        found = is_gaussian_smaller(
            scaled(published_ratio_squared(fairness, dimension), dimension, measure), epsilon, delta
        )
        if found is not False and first_open is None:
            first_open = dimension
        if found:
            return Enclosure(Fraction(first_open or dimension), Fraction(dimension))
        dimension += 1
