"""A random source that records what the noise of one run perturbs: exact coefficients, so not private."""

from __future__ import annotations

import copy
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal, Protocol, TypeAlias

import numpy as np

from reference.coefficients import Coefficients, NoisyCoefficients
from reference.common.arrays import NumberArray
from reference.noise.kinds import Noise

Source: TypeAlias = int | np.integer | np.random.Generator | Literal["entropy"] | None


class _Perturbs(Protocol):
    """The sampler that is recorded, of either kind."""

    @property
    def random(self) -> Any:
        """The source of random numbers."""

    @property
    def seeded(self) -> bool:
        """Whether the caller chose the seed."""
        ...

    def perturb(self, coefficients: Coefficients, noise: Noise) -> NoisyCoefficients:
        """Return the noisy coefficients of one release."""
        ...

    def add(self, values: NumberArray, noise: Noise) -> list[Fraction]:
        """Return numbers plus noise."""
        ...


@dataclass(frozen=True, eq=False, repr=False)
class Perturbation:
    """One perturbation: not private.

    Parameters
    ----------
    coefficients : Coefficients
    noise : Noise
    noisy : NoisyCoefficients
    generator : object
        The random generator as it was before the draw.
    """

    coefficients: Coefficients
    noise: Noise
    noisy: NoisyCoefficients
    generator: Any


class Recorded:
    """Takes the place of a random source, and keeps the perturbation made with it.

    Parameters
    ----------
    source : None, int or numpy.random.Generator
        The random source itself.
    """

    def __init__(self, source: Source = None) -> None:
        self.source = source
        self.perturbation: Perturbation | None = None

    def around_source(self, source: Source) -> Recorded:
        """Take another random source, for the next run."""
        self.source = source
        return self

    def around(self, sampler: _Perturbs) -> RecordingSampler:
        """Return a sampler that does the same and is recorded here."""
        return RecordingSampler(sampler, self)


class RecordingSampler:
    """A sampler that reports what it perturbs, and changes nothing."""

    def __init__(self, sampler: _Perturbs, record: Recorded) -> None:
        self._sampler, self._record = sampler, record
        self.random, self.seeded = sampler.random, sampler.seeded

    def perturb(self, coefficients: Coefficients, noise: Noise) -> NoisyCoefficients:
        """Return the noisy coefficients of one release."""
        before = copy.deepcopy(self.random)
        noisy = self._sampler.perturb(coefficients, noise)
        self._record.perturbation = Perturbation(coefficients, noise, noisy, before)
        return noisy

    def add(self, values: NumberArray, noise: Noise) -> list[Fraction]:
        """Return numbers plus noise, unrecorded: they are not coefficients."""
        return self._sampler.add(values, noise)
