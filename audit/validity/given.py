"""Bounds from given outputs or scores: two arrays, the trade-off band, one run with canaries."""

from __future__ import annotations

import math
from typing import get_args

import numpy as np
from scipy.special import ndtr, ndtri
from scipy.stats import binom

from audit.bounds import CanaryMethod, canary_epsilon_bound
from audit.evidence.one_call import canary_lower_bound, canary_mu_lower_bound, epsilon_lower_bound, trade_off
from audit.validity.known import CONTROL, RESPONSE, SIGNIFICANCE, Known, point_estimate
from reference.common.arrays import FloatArray

METHODS = get_args(CanaryMethod)

GUESSES = 200
"""Guesses on the canaries of a run."""

LEVELS = np.geomspace(1e-4, 0.5, 40)
"""False alarm rates at which to compare a band with the curve."""


def attained_law(guesses: int, epsilon: float, delta: float, threshold: int) -> FloatArray:
    """Return the law of the right guesses on all canaries that attains the bound for this many or more.

    It is the law of an (epsilon, delta)-private mechanism (``proofs/auditor_bounds.md``): the hardest case.

    Raises
    ------
    ValueError
        When no mechanism attains it.
    """
    law = np.asarray(binom.pmf(np.arange(guesses + 1), guesses, 1 / (1 + math.exp(-epsilon))))
    # one step of the ratio to the binomial law spends all of delta
    step = guesses * delta / (threshold * law[threshold])
    low = 1 - step * (1 - law[:threshold].sum())
    if low < 0:
        raise ValueError(f"{threshold} right guesses or more are certain: delta {delta:g} is too large")
    return np.asarray(law * np.where(np.arange(guesses + 1) < threshold, low, low + step))


TOGETHER = attained_law(GUESSES, 1.0, 1e-3, 158)
"""158 right guesses are the fewest that refute (1, 0.001)."""

ARRAYS = (Known("randomised response, two arrays", RESPONSE, RESPONSE.true_epsilon()),)
BANDS = (Known("Gaussian, mu 1", None, 1.0),)
CANARY_RUNS = (
    Known("canaries, randomised response", None, 1.0),
    Known("canaries told together", TOGETHER, 1.0, 1e-3),
)
GAUSSIAN_CANARIES = (Known("canaries, Gaussian, mu 1", None, 1.0),)


def arrays_once(known: Known, draws: int, seed: tuple[int, ...]) -> dict[str, bool]:
    """Return whether the bound from two arrays is above the truth."""
    rng = np.random.default_rng(seed)
    left, right = (known.subject.sample(side, draws // 2, rng) for side in known.subject.inputs())
    found = epsilon_lower_bound(left, right, significance=SIGNIFICANCE, seed=seed[-1])
    return {
        "arrays": found > known.true_epsilon,
        CONTROL: point_estimate(found.counts, 0.0) > known.true_epsilon,
    }


def bands_once(known: Known, draws: int, seed: tuple[int, ...]) -> dict[str, bool]:
    """Return whether the band is anywhere below the curve of Gaussian noise, or refutes its mu."""
    rng, mu = np.random.default_rng(seed), known.true_epsilon
    left, right = rng.normal(0, 1, draws // 2), rng.normal(mu, 1, draws // 2)
    band = trade_off(left, right, significance=SIGNIFICANCE)
    below = bool((band.at(LEVELS) < ndtr(ndtri(1 - LEVELS) - mu) * (1 - 1e-12)).any())
    return {"band": below or band.mu_lower_bound > mu}


def canaries_once(known: Known, draws: int, seed: tuple[int, ...]) -> dict[str, bool]:
    """Return which bounds of one run with as many canaries as draws are above the truth."""
    rng = np.random.default_rng(seed)
    if known.subject is None:
        members = rng.random(draws) < 0.5
        told = rng.random(draws) < 1 / (1 + math.exp(-known.true_epsilon))
        scores = np.where(told, members, ~members)
        bounds: dict[str, float] = {
            method: canary_lower_bound(scores, members, guesses=GUESSES, significance=SIGNIFICANCE, bound=method)
            for method in METHODS
        }
    else:
        right = int(rng.choice(GUESSES + 1, p=known.subject / known.subject.sum()))
        bounds = {
            method: canary_epsilon_bound(right, GUESSES, GUESSES, known.delta, SIGNIFICANCE, method)
            for method in METHODS
        }
        bounds[CONTROL] = math.log(right / (GUESSES - right)) if right < GUESSES else math.inf
    return {name: bound > known.true_epsilon for name, bound in bounds.items()}


def mu_once(known: Known, draws: int, seed: tuple[int, ...]) -> dict[str, bool]:
    """Return whether one run with as many canaries as draws refutes the mu of its Gaussian noise."""
    rng = np.random.default_rng(seed)
    members = rng.random(draws) < 0.5
    scores = rng.normal(known.true_epsilon * members)
    found = canary_mu_lower_bound(scores, members, guesses=GUESSES, significance=SIGNIFICANCE)
    return {"mu": found > known.true_epsilon}
