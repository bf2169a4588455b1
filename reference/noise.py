"""Noise: the scale from (epsilon, delta, sensitivity), the draw, and the perturbation.

Scales are computed exactly or enclosed, and rounded up once.  The perturbation is a deterministic function of
the coefficients and of unit variates, so that it can be replayed and compared across languages.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from reference.coefficients import BoolArray, Coefficients, NoisyCoefficients
from reference.errors import DeltaError, ParameterError
from reference.gaussian import RELATIVE_ERROR, delta_of_shift
from reference.numbers import (
    decimal_text,
    interval,
    interval_functions,
    lower_end,
    rounded_up,
    upper_end,
)

FloatArray: TypeAlias = npt.NDArray[np.float64]
RandomSource: TypeAlias = int | np.integer | np.random.Generator | None


@dataclass(frozen=True, eq=False)
class Noise:
    """The noise of one mechanism: public, and independent of the data.

    Parameters
    ----------
    kind : {'laplace', 'gaussian', 'none'}
    scale_s, scale_n : float
        Laplace scale, or Gaussian sigma, on the coefficients inside and outside Phi_s.
    in_s : ndarray of bool, shape (size,)
        Which coefficients are in Phi_s.
    """

    kind: str
    scale_s: float
    scale_n: float
    in_s: BoolArray

    @classmethod
    def uniform(cls, kind: str, scale: float, size: int) -> Noise:
        """Return one scale for every coefficient."""
        return cls(kind, scale, scale, np.zeros(size, dtype=np.bool_))

    @property
    def scales(self) -> FloatArray:
        """Scale per coefficient, shape (size,)."""
        return np.where(self.in_s, self.scale_s, self.scale_n)

    @property
    def largest_standard_deviation(self) -> float:
        """The standard deviation of the noisier of the two groups, in the unit of the coefficients."""
        unit = float(np.sqrt(2.0)) if self.kind == "laplace" else 1.0
        return unit * float(self.scales.max())


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
    reference.errors.DeltaError
    """
    require_delta_in_extended_range("delta", delta)
    functions = interval_functions()
    # log(sqrt(2/pi) / delta), at least 0; sigma grows with it, so its upper end gives an upper end of sigma
    enclosure = functions.log(functions.sqrt(2 / functions.pi) / interval(delta))
    logarithm = interval(max(Fraction(0), upper_end(enclosure)))
    # sigma <- sqrt(2) Delta_2 / (2 epsilon) (sqrt(log(...)) + sqrt(log(...) + epsilon))
    factor = functions.sqrt(2 * interval(l2_sensitivity_squared)) / (2 * interval(epsilon))
    sigma = factor * (functions.sqrt(logarithm) + functions.sqrt(logarithm + interval(epsilon)))
    return rounded_up(upper_end(sigma))


def require_delta_in_extended_range(name: str, delta: Fraction) -> None:
    """Raise :class:`reference.errors.DeltaError` unless 0 < delta <= sqrt(2/pi)."""
    functions = interval_functions()
    if not 0 < delta <= lower_end(functions.sqrt(2 / functions.pi)):
        raise DeltaError(name, decimal_text(delta), "in (0, sqrt(2/pi)], where Theorem 2's sigma is defined")


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
        """Tell whether sigma = ratio * Delta_2 suffices."""
        return delta_of_shift(1 / Fraction(ratio) ** 2, epsilon) * (1 + RELATIVE_ERROR) <= delta

    high = 1.0
    while not is_private(high):
        high *= 2
    low = high / 2
    while is_private(low):
        low, high = low / 2, low
    while (middle := (low + high) / 2) not in (low, high):
        low, high = (low, middle) if is_private(middle) else (middle, high)
    sigma = interval_functions().sqrt(interval(l2_sensitivity_squared)) * interval(Fraction(high))
    return rounded_up(upper_end(sigma))


def generator(rng: RandomSource, purpose: str) -> tuple[np.random.Generator, bool]:
    """Return a random generator, and whether it is a caller's (seeded) one.

    Parameters
    ----------
    rng : None, int or numpy.random.Generator
        None takes the operating system's entropy.
    purpose : str
        Everything public about the use: one integer seed gives unrelated streams for different purposes.  (With
        one stream for all, two releases under one secret seed would be two equations for the same noise.)
    """
    if rng is None:
        return np.random.default_rng(), False
    if isinstance(rng, np.random.Generator):
        return rng, True
    given: object = rng
    if isinstance(given, bool) or not isinstance(given, (int, np.integer)) or given < 0:
        raise ParameterError("rng", rng, "None, a whole number of at least 0, or a numpy Generator")
    return np.random.default_rng([int(given), *purpose.encode()]), True


def draw(noise: Noise, rng: np.random.Generator, count: int = 1) -> FloatArray:
    """Draw independent unit variates, shape (count, size)."""
    shape = (count, *noise.in_s.shape)
    if noise.kind == "laplace":
        return rng.laplace(size=shape)
    if noise.kind == "gaussian":
        return rng.standard_normal(size=shape)
    return np.zeros(shape)


def add_noise(values: FloatArray, noise: Noise, unit_variates: FloatArray) -> FloatArray:
    """Return lambda-hat = lambda + scale * unit variate, for one draw or for many (last axis: size)."""
    # lambda_hat <- sum_i lambda + Lap(scale) or N(0, sigma^2)
    return values + noise.scales * unit_variates


def perturb(coefficients: Coefficients, noise: Noise, unit_variates: FloatArray) -> NoisyCoefficients:
    """Return the noisy coefficients for given unit variates.

    *Implements* Algorithm 1, lines 14-23; Algorithm 2, lines 4-9; Algorithm 3, lines 15-24: fully, given the
    variates.

    Parameters
    ----------
    coefficients : Coefficients
    noise : Noise
    unit_variates : ndarray, shape (size,)
        Independent standard variates of the noise's kind; zeros give the coefficients back.
    """
    values = add_noise(coefficients.values, noise, unit_variates)
    return NoisyCoefficients(coefficients.layout, values, noise)
