"""Noise: the scale from (epsilon, delta, sensitivity), the draw, and the perturbation.

`scales` computes what is needed, `kinds` defines a noise, `draws` is numpy's sampler and `hardened`
OpenDP's.
"""

from __future__ import annotations

from typing import TypeAlias

from reference.noise.draws import (
    ENTROPY,
    NumpySampler,
    RandomSource,
    StudyNoiseWarning,
    add_noise,
    draw,
    generator,
    perturb,
    source_of,
)
from reference.noise.hardened import HardenedSampler
from reference.noise.kinds import Noise
from reference.noise.recorded import Recorded, RecordingSampler, Source
from reference.noise.scales import (
    analytic_gaussian_sigma,
    extended_gaussian_sigma,
    laplace_scale,
    require_delta_in_extended_range,
)
from reference.noise.signal import DrownedSignalWarning, drowned, records_needed
from reference.readings import Readings

__all__ = [
    "ENTROPY",
    "DrownedSignalWarning",
    "HardenedSampler",
    "Noise",
    "NumpySampler",
    "RandomSource",
    "Recorded",
    "Sampler",
    "Source",
    "StudyNoiseWarning",
    "add_noise",
    "analytic_gaussian_sigma",
    "draw",
    "drowned",
    "extended_gaussian_sigma",
    "generator",
    "laplace_scale",
    "perturb",
    "records_needed",
    "require_delta_in_extended_range",
    "sampler_of",
    "source_of",
    "with_sampler",
]

Sampler: TypeAlias = NumpySampler | HardenedSampler | RecordingSampler


def sampler_of(source: str, rng: RandomSource, purpose: str) -> Sampler:
    """Return the sampler that a reading names.

    Parameters
    ----------
    source : {'numpy', 'hardened'}
    rng : None, int or numpy.random.Generator
        None takes the operating system's entropy; `hardened` takes nothing else.  A :class:`Recorded` one records
        what it perturbs.
    purpose : str
        As for :func:`generator`.
    """
    if isinstance(rng, Recorded):
        return rng.around(_sampler_of(source, rng.source, purpose))
    return _sampler_of(source, rng, purpose)


def _sampler_of(source: str, rng: RandomSource, purpose: str) -> NumpySampler | HardenedSampler:
    return HardenedSampler(rng) if source == "hardened" else NumpySampler(*generator(rng, purpose))


def with_sampler(readings: Readings, rng: RandomSource) -> Readings:
    """Return the readings of a run; without a seed its noise is hardened.

    numpy's noise is for study.  It is drawn where a seed, a generator or :data:`ENTROPY` is given.
    """
    source = rng.source if isinstance(rng, Recorded) else rng
    return readings.with_(noise="hardened") if source is None else readings
