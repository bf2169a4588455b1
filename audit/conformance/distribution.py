"""Exact tests, of stated size and power, that sampled noise has the stated distribution.

The tests look at noise in scales, u = (noisy - exact) / scale, of each coefficient: location (signs), scale (sums
of |u| or u^2), tails, shape, and independence between coefficients and from draw to draw (agreement of signs).
Under the stated distribution each p-value is exact, so a right program is refuted with a chance of at most the
significance.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
from scipy import stats

from reference.common.arrays import BoolArray, FloatArray
from reference.noise import Noise

TAIL = 0.01
"""Chance of a variate beyond the point from which tails are counted, on both sides together."""

POWER = 0.9

FEWEST = 200
"""Fewer draws detect nothing useful."""


@dataclass(frozen=True)
class SampleCheck:
    """One test of one coefficient, or of two.

    Parameters
    ----------
    check : {'location', 'scale', 'tails', 'shape', 'independence', 'repetition'}
    place : str
    p_value : float
    rejected : bool
    said : str
        What is wrong, in words; empty if nothing is.
    """

    check: str
    place: str
    p_value: float
    rejected: bool
    said: str = ""


@dataclass(frozen=True)
class Detectable:
    """The smallest departures found with power 0.9 in one coefficient.

    Parameters
    ----------
    scale_factor : float
        The noise is this many times too large.
    shift : float
        Its middle is this many scales away.
    agreement : float
        Chance that two coefficients have noise of the same sign, 1/2 when they are independent.
    tail_factor : float
        This many times as many draws are far out.
    """

    scale_factor: float
    shift: float
    agreement: float
    tail_factor: float


def number_of_tests(coefficients: int) -> int:
    """Return how many p-values share the significance."""
    return 5 * coefficients + coefficients * (coefficients - 1) // 2


def check_samples(
    samples: FloatArray, values: FloatArray, noise: Noise, significance: float = 0.05
) -> list[SampleCheck]:
    """Return every test of some draws.

    Parameters
    ----------
    samples : ndarray, shape (draws, coefficients)
        Noisy coefficients.
    values : ndarray, shape (coefficients,)
        Exact ones.
    noise : Noise
        The stated noise.
    significance : float
        Chance that any of the tests refutes a right program; divided among them evenly.
    """
    size = significance / number_of_tests(len(values))
    variates = (samples - values) / noise.scales
    law = stats.laplace if noise.kind == "laplace" else stats.norm
    found = [_repetition(samples)]
    for index, u in enumerate(variates.T):
        place = f"coefficient {index} of {'Phi_s' if noise.in_s[index] else 'Phi_n'}"
        found += [_location(u, place, size), _scale(u, noise, index, place, size)]
        beyond = int((np.abs(u) > law.isf(TAIL / 2)).sum())
        words = f"{beyond} draws are far out, where {TAIL * len(u):.4g} are expected"
        found += [_test("tails", place, stats.binomtest(beyond, len(u), TAIL).pvalue, size, words)]
        shape = float(stats.kstest(u, law.cdf).pvalue)
        found += [_test("shape", place, shape, size, f"the distribution is not {noise.kind}")]
        # disjoint pairs of consecutive draws
        pairs = (u[: len(u) // 2 * 2] > 0).reshape(-1, 2)
        found += [_agreement(pairs[:, 0], pairs[:, 1], f"{place}, one draw and the next", size)]
    for first, second in combinations(range(len(values)), 2):
        signs = variates[:, first] > 0, variates[:, second] > 0
        found += [_agreement(*signs, f"coefficients {first} and {second}", size)]
    return found


def _test(check: str, place: str, p_value: float, size: float, said: str) -> SampleCheck:
    rejected = not p_value > size
    return SampleCheck(check, place, float(p_value), rejected, said if rejected else "")


def _location(u: FloatArray, place: str, size: float) -> SampleCheck:
    above = int((u > 0).sum())
    words = f"{above} of {len(u)} draws are above the exact coefficient"
    return _test("location", place, stats.binomtest(above, len(u)).pvalue, size, words)


def _scale(u: FloatArray, noise: Noise, index: int, place: str, size: float) -> SampleCheck:
    law: Any
    if noise.kind == "laplace":
        # |u| is exponential, a sum of them gamma
        total, law = float(np.abs(u).sum()), stats.gamma(len(u))
        factor, error = total / len(u), 1 / np.sqrt(len(u))
    else:
        total, law = float(u @ u), stats.chi2(len(u))
        factor, error = float(np.sqrt(total / len(u))), 1 / np.sqrt(2 * len(u))
    p_value = 2 * min(law.cdf(total), law.sf(total)) if np.isfinite(total) else 0.0
    causes = [text for text, at in _causes(noise, index) if abs(factor / at - 1) < 5 * error]
    times = f"{factor:.3g} times too large" if factor > 1 else f"{1 / max(factor, 1e-300):.3g} times too small"
    words = f"the noise is {times}{': ' if causes else ''}{', or '.join(causes)}"
    return _test("scale", place, p_value, size, words)


def _causes(noise: Noise, index: int) -> Iterator[tuple[str, float]]:
    """Yield known bugs, with the factor that each would give."""
    scale = float(noise.scales[index])
    other = noise.scale_n if noise.in_s[index] else noise.scale_s
    if other != scale:
        yield f"it is the noise of {'Phi_n' if noise.in_s[index] else 'Phi_s'}", other / scale
    if noise.kind == "gaussian" and scale != 1:
        yield "sigma used as variance", float(np.sqrt(scale)) / scale
        yield "the variance used as sigma", scale
    if noise.kind == "laplace":
        yield "the scale used as standard deviation", float(np.sqrt(0.5))
    yield "noise added twice, or a sensitivity counted twice", 2.0
    yield "the sensitivity of one record instead of two", 0.5
    if scale != 1:
        yield "the scale used as a rate", 1 / scale**2


def _agreement(first: BoolArray, second: BoolArray, place: str, size: float) -> SampleCheck:
    same = int((first == second).sum())
    words = f"the noise has the same sign in {same} of {len(first)} draws: it is not independent"
    return _test("independence", place, stats.binomtest(same, len(first)).pvalue, size, words)


def _repetition(samples: FloatArray) -> SampleCheck:
    """Check that no whole draw is repeated: the chance is 0 for continuous noise, nearly 0 on a fine grid."""
    repeated = len(samples) - len(np.unique(samples, axis=0))
    said = f"{repeated} draws repeat earlier ones" if repeated else ""
    return SampleCheck("repetition", "all coefficients", 0.0 if repeated else 1.0, repeated > 0, said)


def detectable(draws: int, coefficients: int, kind: str, significance: float = 0.05) -> Detectable:
    """Return what this many draws detect with power 0.9 in one coefficient."""
    half = significance / number_of_tests(coefficients) / 2
    law = stats.gamma(draws) if kind == "laplace" else stats.chi2(draws)
    ratio = float(law.isf(half) / law.ppf(1 - POWER))
    above = _smallest_chance(draws, 0.5, half)
    shift = -np.log(2 * (1 - above)) if kind == "laplace" else stats.norm.ppf(above)
    tail = _smallest_chance(draws, TAIL, half) / TAIL
    return Detectable(ratio if kind == "laplace" else float(np.sqrt(ratio)), float(shift), above, tail)


def _smallest_chance(draws: int, chance: float, half: float) -> float:
    """Return the smallest chance above a stated one that a binomial test tells from it with power 0.9."""
    critical = stats.binom.isf(half, draws, chance) + 1
    low, high = chance, 1.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if stats.binom.sf(critical - 1, draws, middle) < POWER else (low, middle)
    return high
