"""Hardened noise: discrete Laplace and discrete Gaussian noise on a public grid, from OpenDP's exact samplers.

OpenDP adds a big integer, drawn in exact rational arithmetic from a cryptographic generator, to an integer, and
casts the sum to 64 bits by saturation.  No sum is rounded and every input can give every output, so the
floating-point attacks of Mironov (2012) find nothing.  Proofs: ``proofs/hardened_noise.md``.
"""

from __future__ import annotations

from fractions import Fraction
from types import SimpleNamespace
from typing import Any

import numpy as np

from reference.coefficients import Coefficients, NoisyCoefficients
from reference.common.arrays import FloatArray, IntArray, NumberArray
from reference.common.errors import GridError, HardenedNoiseMissingError, SeededHardenedNoiseError
from reference.noise.draws import RandomSource
from reference.noise.kinds import Noise

LARGEST_STEP = 2**62
"""Coefficients are clamped to so many steps; with 32 scales, 64 bits hold a sum except with probability e^-31."""

LARGEST_SCALE = 2**57
"""In steps."""


class HardenedSampler:
    """Discrete noise from OpenDP; takes no seed.

    Raises
    ------
    reference.common.errors.SeededHardenedNoiseError
        When a seed or a generator is given.
    reference.common.errors.HardenedNoiseMissingError
        When OpenDP is not installed.
    """

    seeded = False

    def __init__(self, rng: RandomSource = None) -> None:
        if rng is not None:
            raise SeededHardenedNoiseError(
                "rng", rng, "None with hardened noise: it takes the operating system's entropy and no seed"
            )
        self._opendp = opendp_library()
        # for public choices such as x_s only, never for noise
        self.random = np.random.default_rng()

    def perturb(self, coefficients: Coefficients, noise: Noise) -> NoisyCoefficients:
        """Return the noisy coefficients of one release.

        Raises
        ------
        reference.common.errors.GridError
            When the coefficients are not exact, or a scale is beyond the grid.
        """
        return NoisyCoefficients(coefficients.layout, self.perturbed(coefficients.values, noise)[0], noise)

    def perturbed(self, values: NumberArray, noise: Noise, count: int = 1) -> FloatArray:
        """Return the noisy values of so many releases as floats, shape (count, size).

        Raises
        ------
        reference.common.errors.GridError
            As :meth:`perturb` raises it.
        """
        noisy, steps = self._on_grid(values, noise, count)
        # rounding a released number to a float is post-processing; the division is exact
        return np.array(noisy, dtype=np.float64) / steps

    def add(self, values: NumberArray, noise: Noise) -> list[Fraction]:
        """Return exact numbers, rounded to the nearest step, plus discrete noise."""
        noisy, steps = self._on_grid(values, noise, 1)
        return [Fraction(value, steps) for value in noisy[0].tolist()]

    def _on_grid(self, values: NumberArray, noise: Noise, count: int) -> tuple[IntArray, int]:
        """Return the noisy values of so many releases in steps of the grid, and its steps per unit."""
        steps = noise.steps
        if steps is None:
            raise GridError("noise", "continuous", "noise on a grid for the hardened sampler")
        whole = on_steps(values, steps)
        noisy = np.zeros((count, len(whole)), dtype=np.int64)
        for scale, members in ((noise.scale_s, noise.in_s), (noise.scale_n, ~noise.in_s)):
            places = np.flatnonzero(members)
            if len(places):
                # each number gets noise of its own: a long vector has the law of many short ones
                released = self._draw(noise.kind, scale * steps, [whole[i] for i in places] * count)
                noisy[:, places] = np.array(released, dtype=np.int64).reshape(count, -1)
        return noisy, steps

    def _draw(self, kind: str, scale: float, whole: list[int]) -> list[int]:
        """Return integers plus discrete noise; `scale` is in steps, an exact multiple by a power of two."""
        dp = self._opendp
        require_on_grid(scale, 1)
        space = dp.vector_domain(dp.atom_domain(T="i64"))
        if kind == "laplace":
            measurement = dp.m.make_laplace(space, dp.l1_distance(T="i64"), scale=scale)
        else:
            measurement = dp.m.make_gaussian(space, dp.l2_distance(T=float), scale=scale)
        released: list[int] = measurement(whole)
        return released


def require_on_grid(scale: float, steps: int) -> None:
    """Raise where a scale is beyond a grid of so many steps per unit.

    Raises
    ------
    reference.common.errors.GridError
    """
    if scale * steps > LARGEST_SCALE:
        raise GridError("scale", scale, "at most 2^57 steps of the grid; use a larger epsilon")


def on_steps(values: NumberArray, steps: int) -> list[int]:
    """Round exact numbers to the nearest whole steps, clamped to the public grid.

    Clamping moves no two numbers apart, so it adds nothing to a sensitivity, and there is a release for every
    data set, even where a number is beyond the grid.

    Raises
    ------
    reference.common.errors.GridError
    """
    if values.dtype != np.object_:
        raise GridError("moments", "floats", "exact with hardened noise: use Moments.of(records, exact=True)")
    return [max(-LARGEST_STEP, min(LARGEST_STEP, round(value * steps))) for value in values.tolist()]


def opendp_library() -> Any:
    """Return what we call of OpenDP, named as in its prelude, which would load scikit-learn and pandas too."""
    try:
        from opendp import domains, measurements, measures, metrics, mod
    except ImportError:
        raise HardenedNoiseMissingError("hardened noise needs OpenDP: pip install opendp") from None
    mod.enable_features("contrib")
    return SimpleNamespace(
        m=measurements,
        atom_domain=domains.atom_domain,
        vector_domain=domains.vector_domain,
        user_domain=domains.user_domain,
        l1_distance=metrics.l1_distance,
        l2_distance=metrics.l2_distance,
        change_one_distance=metrics.change_one_distance,
        max_divergence=measures.max_divergence,
        fixed_smoothed_max_divergence=measures.fixed_smoothed_max_divergence,
    )
