"""numpy's sampler: as plain as the paper, repeatable with a seed, and not safe at the bits.

The perturbation is a deterministic function of the coefficients and of unit variates, so that it can be
replayed and compared across languages.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Final, TypeAlias

import numpy as np

from reference.coefficients import Coefficients, NoisyCoefficients
from reference.common.arrays import FloatArray, NumberArray
from reference.common.errors import ParameterError, ReadingError
from reference.noise.kinds import Noise
from reference.noise.recorded import Recorded, Source

ENTROPY: Final = "entropy"
"""numpy's noise from the operating system's entropy: for study, and only on request."""

RandomSource: TypeAlias = Source | Recorded


class StudyNoiseWarning(UserWarning):
    """numpy's noise was drawn without a seed: the result is for study, but looks like a release."""


def source_of(random_state: Any, noise: str | None) -> RandomSource:
    """Return the source that scikit-learn's `random_state` names; a legacy RandomState gives a seed.

    Warns
    -----
    StudyNoiseWarning
        Where numpy's noise is drawn without a seed.
    """
    if isinstance(random_state, np.random.RandomState):
        return int(random_state.randint(np.iinfo(np.int32).max))
    if random_state is None and noise == "numpy":
        said = "noise='numpy' leaks at its bits: it is for study; leave it out for a release"
        warnings.warn(said, StudyNoiseWarning, stacklevel=3)
        return ENTROPY
    source: RandomSource = random_state
    return source


def generator(rng: RandomSource, purpose: str) -> tuple[np.random.Generator, bool]:
    """Return a random generator, and whether it is the caller's (seeded) one.

    Parameters
    ----------
    rng : None, 'entropy', int or numpy.random.Generator
        None and 'entropy' take the operating system's entropy.
    purpose : str
        Everything public about the use: one integer seed gives unrelated streams for different purposes.  (With
        one stream for all, two releases under one secret seed would be two equations for the same noise.)
    """
    if rng is None or (isinstance(rng, str) and rng == ENTROPY):
        return np.random.default_rng(), False
    if isinstance(rng, np.random.Generator):
        return rng, True
    given: object = rng
    if isinstance(given, bool) or not isinstance(given, (int, np.integer)) or given < 0:
        raise ParameterError("rng", rng, "None, a whole number of at least 0, or a numpy Generator")
    return np.random.default_rng([int(given), *purpose.encode()]), True


def draw(noise: Noise, rng: np.random.Generator, count: int = 1) -> FloatArray:
    """Draw independent unit variates, shape (count, size).

    Raises
    ------
    reference.common.errors.ReadingError
        For hardened noise, which takes no generator.
    """
    if noise.steps is not None:
        raise ReadingError("noise", "hardened", "'numpy' where noise comes from a generator")
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
    values = add_noise(coefficients.values.astype(np.float64), noise, unit_variates)
    return NoisyCoefficients(coefficients.layout, values, noise)


@dataclass(frozen=True)
class NumpySampler:
    """Continuous noise from a numpy generator.

    Parameters
    ----------
    random : numpy.random.Generator
        Also for public random choices, such as x_s.
    seeded : bool
        Whether the generator is the caller's.
    """

    random: np.random.Generator
    seeded: bool

    def perturb(self, coefficients: Coefficients, noise: Noise) -> NoisyCoefficients:
        """Return the noisy coefficients of one release."""
        return perturb(coefficients, noise, draw(noise, self.random)[0])

    def add(self, values: NumberArray, noise: Noise) -> list[Fraction]:
        """Return numbers plus noise."""
        noisy = add_noise(values.astype(np.float64), noise, draw(noise, self.random)[0])
        return [Fraction(value) for value in noisy.tolist()]
