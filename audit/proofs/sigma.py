"""Rational upper bounds with which Coq compares a sigma with the paper's formula.

The formula has a logarithm, two square roots and pi.  ``proofs/coq/SigmaBound.v`` decides a comparison by integer
arithmetic, given rational upper bounds of the logarithm and of the roots.  It trusts none of them: a bound that
is too small, or not small enough, makes the comparison fail.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import isqrt

from reference.noise.scales import extended_logarithm

BITS = (80, 140)
"""Bits after the binary point to try, fewest first; Coq works with 256, and with 60 digits of pi."""


@dataclass(frozen=True)
class SigmaBounds:
    """Upper bounds for one comparison.

    Parameters
    ----------
    logarithm : Fraction
        Of log(sqrt(2/pi) / delta).
    root, root_after : Fraction
        Of the square roots of `logarithm` and of `logarithm` + epsilon.
    factor : Fraction
        Of the square root of Delta_2^2 / 2.
    """

    logarithm: Fraction
    root: Fraction
    root_after: Fraction
    factor: Fraction

    def formula(self, epsilon: Fraction) -> Fraction:
        """Return an upper bound of sigma = Delta_2 / (sqrt(2) epsilon) (sqrt(log) + sqrt(log + epsilon))."""
        return self.factor * (self.root + self.root_after) / epsilon

    def arguments(self) -> str:
        """Return the bounds in Coq's notation."""
        return " ".join(
            f"({quotient(bound)})" for bound in (self.logarithm, self.root, self.root_after, self.factor)
        )


def sigma_bounds(l2_squared: Fraction, epsilon: Fraction, delta: Fraction, sigma: Fraction) -> SigmaBounds:
    """Return the coarsest bounds that show that a sigma suffices, or the finest if none do.

    Parameters
    ----------
    l2_squared : Fraction
        The square of Delta_2.
    epsilon : Fraction
        Positive.
    delta : Fraction
        In (0, sqrt(2/pi)].
    sigma : Fraction
    """
    bounds = [_bounds(l2_squared, epsilon, delta, bits) for bits in BITS]
    return next((found for found in bounds if found.formula(epsilon) <= sigma), bounds[-1])


def quotient(value: Fraction) -> str:
    """Return a rational number in the notation of Coq's type Q."""
    return f"{value.numerator} # {value.denominator}"


def _bounds(l2_squared: Fraction, epsilon: Fraction, delta: Fraction, bits: int) -> SigmaBounds:
    # a step above the nearest, so that exp(logarithm) exceeds the ratio by more than Coq's rounding errors
    logarithm = _ceiling(max(Fraction(0), extended_logarithm(delta).upper), bits) + Fraction(1, 2**bits)
    return SigmaBounds(
        logarithm, _root(logarithm, bits), _root(logarithm + epsilon, bits), _root(l2_squared / 2, bits)
    )


def _ceiling(value: Fraction, bits: int) -> Fraction:
    return Fraction(-((-value.numerator << bits) // value.denominator), 2**bits)


def _root(value: Fraction, bits: int) -> Fraction:
    """Return an upper bound of a square root, too large by less than two steps of 2^-bits."""
    return Fraction(isqrt((value.numerator << 2 * bits) // value.denominator) + 1, 2**bits)
