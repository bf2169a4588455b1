"""Theorem 2, and the step of the proof of Theorem 4 that rests on it: exactly."""

from __future__ import annotations

import math
from fractions import Fraction

import mpmath
import pytest
from scipy.optimize import brentq
from scipy.special import log_ndtr

from audit.gate.exact.ratio_ends import ONE
from reference.noise import extended_gaussian_sigma
from reference.noise.profile import delta_of_shift


@pytest.mark.parametrize("epsilon", ["0.01", "1", "30"])
@pytest.mark.parametrize("delta", ["0.79", "0.1", "1e-6", "1e-300"])
def test_t2_exact_delta_in_closed_form(epsilon, delta):
    """(delta/2)(r(a) - r(a + mu)), r the Mills ratio, a = sqrt(2 log(sqrt(2/pi)/delta)), mu = Delta/sigma."""
    sigma = extended_gaussian_sigma(ONE, Fraction(epsilon), Fraction(delta))
    exact = delta_of_shift(1 / Fraction(sigma) ** 2, Fraction(epsilon)).upper
    with mpmath.workdps(60):
        a = mpmath.sqrt(2 * mpmath.log(mpmath.sqrt(2 / mpmath.pi) / mpmath.mpf(delta)))
        mu = 1 / mpmath.mpf(sigma)

        def mills(x):
            return mpmath.ncdf(-x) / mpmath.npdf(x)

        closed = mpmath.mpf(delta) / 2 * (mills(a) - mills(a + mu))
        assert abs(closed / (mpmath.mpf(exact.numerator) / exact.denominator) - 1) < 1e-12
    # r <= sqrt(pi/2): never more than 0.627 of the claimed delta
    assert exact < Fraction(627, 1000) * Fraction(delta)


def test_t4_proof_needs_delta_below_a_constant_each_step_has_its_own():
    """Its tail bound gives delta/2 up to sqrt(2/pi) exp(-pi/2) = 0.1659; the tail itself up to 0.7622."""

    def r_over_sigma(delta: float) -> float:
        """With Delta = 1 the proof's r = (2 sigma^2 epsilon - 1)/2 is sigma sqrt(2 L), whatever epsilon is."""
        values = []
        for epsilon in (0.1, 1.0, 10.0):
            sigma = extended_gaussian_sigma(ONE, Fraction(str(epsilon)), Fraction(str(delta)))
            values.append(sigma * epsilon - 1 / (2 * sigma))
        assert max(values) - min(values) < 1e-9
        return values[0]

    def paper_tail(a: float) -> float:
        return math.exp(-a * a / 2) / (math.sqrt(2) * a)

    largest = math.sqrt(2 / math.pi) * math.exp(-math.pi / 2)
    assert largest == pytest.approx(0.16587, abs=1e-5)
    assert paper_tail(r_over_sigma(largest * 0.999)) <= largest * 0.999 / 2
    assert paper_tail(r_over_sigma(largest * 1.001)) > largest * 1.001 / 2
    largest = brentq(lambda delta: math.exp(log_ndtr(-r_over_sigma(delta))) - delta / 2, 0.5, 0.79)
    assert largest == pytest.approx(0.7622, abs=1e-4)


def test_t4_proof_hides_delta_2_equal_to_1():
    """|V| <= (2 sigma^2 epsilon - 1)/2 bounds the loss by epsilon when Delta_2 = 1, not when it is 2."""
    sigma, epsilon = Fraction(1), Fraction(3)
    v = (2 * sigma**2 * epsilon - 1) / 2
    for bound, kept in ((1, True), (2, False)):
        assert ((bound**2 + 2 * v * bound) / (2 * sigma**2) <= epsilon) is kept
