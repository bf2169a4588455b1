"""Hardened noise: the distribution that is drawn."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

from reference.accounting.discrete import epsilon_ends
from reference.moments import Moments
from reference.noise import HardenedSampler, Noise, NumpySampler
from reference.noise.grid import (
    RELEASE_STEPS,
)
from reference.objective import objective
from reference.readings import Readings
from reference.sensitivity import Supremum
from tests.hardened_releases import RECORDS

VALUES, SIZE = 4000, 1e-6


def drawn(kind: str, scale: float, steps: int = RELEASE_STEPS, count: int = VALUES) -> np.ndarray:
    noise = Noise.uniform(kind, scale, count, steps)
    zeros = np.array([Fraction(0)] * count, dtype=object)
    return np.array([float(value) for value in HardenedSampler().add(zeros, noise)])


def scale_is_refuted(kind: str, values: np.ndarray, scale: float) -> bool:
    """Test the scale: 2 n mean|X| / b is chi2(2n) for Laplace noise, sum (X / sigma)^2 is chi2(n) for Gaussian."""
    n = len(values)
    if kind == "laplace":
        statistic, freedom = 2 * np.abs(values).sum() / scale, 2 * n
    else:
        statistic, freedom = ((values / scale) ** 2).sum(), n
    return not stats.chi2.ppf(SIZE / 2, freedom) <= statistic <= stats.chi2.ppf(1 - SIZE / 2, freedom)


@pytest.mark.parametrize("kind", ["laplace", "gaussian"])
def test_scale_of_hardened_noise_is_the_stated_one(kind):
    scale = 33.25
    values = drawn(kind, scale)
    assert not scale_is_refuted(kind, values, scale)
    assert scale_is_refuted(kind, drawn(kind, scale * 1.2), scale)
    assert scale_is_refuted(kind, drawn(kind, scale / 1.2), scale)


@pytest.mark.parametrize("kind", ["laplace", "gaussian"])
def test_shape_of_hardened_noise_is_the_stated_one(kind):
    """Kolmogorov-Smirnov at 1e-6; finds the other shape, 0.06 away at equal variance, with power over 0.9999."""
    values = drawn(kind, 33.25, count=16_000)
    laplace, gaussian = stats.laplace(0, 33.25), stats.norm(0, 33.25)
    right = laplace if kind == "laplace" else gaussian
    wrong = stats.norm(0, laplace.std()) if kind == "laplace" else stats.laplace(0, 33.25 / np.sqrt(2))
    assert stats.kstest(values, right.cdf).pvalue > SIZE > stats.kstest(values, wrong.cdf).pvalue


def test_scale_test_has_its_stated_power():
    for freedom, factor in ((2 * VALUES, 1.2), (VALUES, 1.2**2)):
        low, high = stats.chi2.ppf([SIZE / 2, 1 - SIZE / 2], freedom)
        for ratio in (factor, 1 / factor):
            assert stats.chi2.cdf(high / ratio, freedom) - stats.chi2.cdf(low / ratio, freedom) < 1e-4


def test_two_scales_go_to_their_own_coefficients():
    in_s = np.arange(VALUES) % 2 == 0
    zeros = np.array([Fraction(0)] * VALUES, dtype=object)
    noise = Noise("laplace", 5.0, 80.0, in_s, RELEASE_STEPS)
    values = np.array([float(value) for value in HardenedSampler().add(zeros, noise)])
    assert not scale_is_refuted("laplace", values[in_s], 5.0)
    assert not scale_is_refuted("laplace", values[~in_s], 80.0)


def test_discrete_laplace_on_whole_numbers_has_the_geometric_ratio():
    """Scale 2: P(k) = P(0) exp(-|k| / 2); chi-squared over |k| at 1e-6, and against the scale 2.4."""
    values = drawn("laplace", 2.0, steps=1)
    assert (values == np.round(values)).all()
    found = np.bincount(np.minimum(np.abs(values), 12).astype(int), minlength=13)

    def p_value(scale: float) -> float:
        ratio = np.exp(-1 / scale)
        k = np.arange(12)
        probability = (1 - ratio) / (1 + ratio) * ratio**k * np.where(k == 0, 1, 2)
        expected = VALUES * np.append(probability, 1 - probability.sum())
        return float(stats.chisquare(found, expected).pvalue)

    assert p_value(2.0) > SIZE > p_value(2.4)


@pytest.mark.parametrize("kind", ["laplace", "gaussian"])
def test_support_is_the_grid_on_both_sides_whatever_the_value(kind):
    """Every output is a multiple of the step; the lowest bit is even or odd with equal chance (size 1e-6)."""
    for value in (Fraction(0), Fraction(1, 3), Fraction(7**9, 3)):
        values = np.array([value] * VALUES, dtype=object)
        steps = [
            v * RELEASE_STEPS
            for v in HardenedSampler().add(values, Noise.uniform(kind, 7.5, VALUES, RELEASE_STEPS))
        ]
        assert all(step.denominator == 1 for step in steps)
        assert min(steps) < value * RELEASE_STEPS < max(steps)
        odd = sum(int(step) % 2 for step in steps)
        assert stats.binomtest(odd, VALUES).pvalue > SIZE


def test_support_check_sees_that_numpy_noise_is_not_on_the_grid():
    values = np.array([Fraction(1, 3)] * 100, dtype=object)
    noisy = NumpySampler(np.random.default_rng(0), True).add(values, Noise.uniform("laplace", 7.5, 100))
    assert any((v * RELEASE_STEPS).denominator > 1 for v in noisy)


def test_numpy_noise_shows_its_value_and_hardened_noise_does_not():
    """Near 0, noise of scale 2^20 on 0 has fine bits that noise on 2^20 cannot have."""
    scale, steps = 2.0**20, 2**33
    share = {}
    for name in ("numpy", "hardened"):
        noise = Noise.uniform("laplace", scale, VALUES, RELEASE_STEPS if name == "hardened" else None)
        for value in (0, 2**20):
            sampler = HardenedSampler() if name == "hardened" else NumpySampler(np.random.default_rng(3), True)
            noisy = sampler.add(np.array([Fraction(value)] * VALUES, dtype=object), noise)
            near = [v for v in noisy if abs(v) < 2**14]
            assert len(near) > 5
            share[name, value] = sum((v * steps).denominator > 1 for v in near) / len(near)
    assert share["numpy", 0] > 0.5 > share["numpy", 2**20] == 0
    assert share["hardened", 0] == share["hardened", 2**20] == 0


def test_released_coefficients_are_floats_on_the_grid():
    moments = Moments.of(RECORDS, exact=True)
    coefficients = objective(moments, Readings("absolute"))
    noise = Noise.uniform("laplace", 9.0, coefficients.layout.size, RELEASE_STEPS)
    noisy = HardenedSampler().perturb(coefficients, noise)
    assert noisy.values.dtype == np.float64
    assert all((Fraction(v) * RELEASE_STEPS).denominator == 1 for v in noisy.values.tolist())


@pytest.mark.parametrize("shift", [40, 4000, 9000])
def test_opendp_states_no_less_than_the_enclosures(shift):
    """An independent accountant: exact for Laplace noise, and through zero-concentrated privacy for Gaussian."""
    import opendp.prelude as dp

    HardenedSampler()
    space, s, delta = dp.vector_domain(dp.atom_domain(T="i64")), 4000.0, Fraction("1e-3")
    laplace = dp.m.make_laplace(space, dp.l1_distance(T="i64"), scale=s)
    assert laplace.map(shift) == pytest.approx(shift / s, rel=1e-14)
    gaussian = dp.c.make_zCDP_to_approxDP(dp.m.make_gaussian(space, dp.l2_distance(T=float), scale=s))
    lower, upper = epsilon_ends(Supremum.exactly(Fraction(shift, 4000) ** 2), 1 / Fraction(s), 1, 1, delta)
    stated = gaussian.map(float(shift)).epsilon(float(delta))
    assert lower <= upper <= stated
    assert stated < 1.5 * float(upper) + 0.02
