"""Scales against independent formulas; draws against their distribution, with broken controls."""

from __future__ import annotations

import math
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from reference.budgets import Budget, SplitBudget
from reference.common.errors import DeltaError
from reference.moments import Moments
from reference.noise import (
    Noise,
    add_noise,
    analytic_gaussian_sigma,
    draw,
    extended_gaussian_sigma,
    generator,
    laplace_scale,
    perturb,
)
from reference.noise.profile import delta_of_shift, epsilon_of_shift
from reference.objective import layout, objective
from reference.readings import Readings
from reference.registry import MECHANISMS
from tests.strategies import data_sets, random_records, readings

EPSILONS = st.fractions(Fraction(1, 1000), 100, max_denominator=10**6)
DELTAS = st.integers(1, 400).map(lambda exponent: Fraction(79, 10 ** (exponent + 2)))


def published_sigma(l2_squared: Fraction, epsilon: Fraction, delta: Fraction) -> mpmath.mpf:
    """Theorem 2's formula, typed again, at 60 digits."""
    with mpmath.workdps(60):
        e, s = mpmath.mpf(epsilon.numerator) / epsilon.denominator, mpmath.mpf(l2_squared.numerator)
        d = mpmath.mpf(delta.numerator) / delta.denominator
        logarithm = mpmath.log(mpmath.sqrt(2 / mpmath.pi) / d)
        sensitivity = mpmath.sqrt(s / l2_squared.denominator)
        root = mpmath.sqrt(logarithm) + mpmath.sqrt(logarithm + e)
        return mpmath.sqrt(2) * sensitivity / (2 * e) * root


@given(EPSILONS, st.integers(1, 60))
def test_laplace_scale_is_the_quotient_rounded_up(epsilon, d):
    bound = Fraction(d * d, 4) + 3 * d
    scale = laplace_scale(bound, epsilon)
    assert Fraction(scale) >= bound / epsilon > Fraction(math.nextafter(scale, 0))


@given(EPSILONS, DELTAS, st.integers(1, 60))
def test_extended_gaussian_sigma_is_the_formula_rounded_up(epsilon, delta, d):
    bound = Fraction(d * d, 16) + 9 * d
    sigma = extended_gaussian_sigma(bound, epsilon, delta)
    expected = published_sigma(bound, epsilon, delta)
    assert mpmath.mpf(math.nextafter(sigma, 0)) < expected <= mpmath.mpf(sigma)


@pytest.mark.parametrize("delta", ["0", "0.798", "0.99"])
def test_extended_gaussian_sigma_rejects_delta_beyond_its_formula(delta):
    with pytest.raises(DeltaError, match="sqrt"):
        extended_gaussian_sigma(Fraction(1), Fraction(1), Fraction(delta))


def test_extended_gaussian_sigma_accepts_delta_up_to_root_2_over_pi():
    just_below = Fraction(math.nextafter(math.sqrt(2 / math.pi), 0))
    # log(...) is 0 there, so sigma = sqrt(2) / (2 epsilon) sqrt(epsilon)
    assert extended_gaussian_sigma(Fraction(1), Fraction(4), just_below) == pytest.approx(
        math.sqrt(2) / 4, rel=1e-6
    )


@pytest.mark.parametrize("epsilon", ["1e-80", "0.01", "1", "15"])
@pytest.mark.parametrize("delta", ["0.5", "1e-3", "1e-30", "1e-80", "1e-400"])
def test_analytic_gaussian_sigma_is_the_smallest_private_one(epsilon, delta):
    sigma = analytic_gaussian_sigma(Fraction(9, 4), Fraction(epsilon), Fraction(delta))
    with mpmath.workdps(400):
        at = [
            profile(mpmath.mpf(3) / 2 / mpmath.mpf(s), mpmath.mpf(epsilon)) for s in (sigma, sigma * (1 - 1e-12))
        ]
        assert at[0] <= mpmath.mpf(delta) < at[1]


def profile(shift: mpmath.mpf, epsilon: mpmath.mpf) -> mpmath.mpf:
    """Balle and Wang's Theorem 8, typed again, at the working precision."""
    lower = mpmath.exp(epsilon) * mpmath.ncdf(-shift / 2 - epsilon / shift)
    return mpmath.ncdf(shift / 2 - epsilon / shift) - lower


@pytest.mark.parametrize("squared_shift", ["1e-60", "1e-6", "1", "2500"])
@pytest.mark.parametrize("epsilon", ["0", "1e-20", "1", "90"])
def test_delta_of_shift_keeps_its_digits(squared_shift, epsilon):
    enclosure = delta_of_shift(Fraction(squared_shift), Fraction(epsilon))
    if float(epsilon) / float(squared_shift) ** 0.5 - float(squared_shift) ** 0.5 / 2 > 136:
        # below exp(-136^2 / 2) / 2
        assert (enclosure.lower, enclosure.upper) == (0, Fraction(1, 10**4000))
        return
    with mpmath.workdps(600):
        expected = profile(mpmath.sqrt(mpmath.mpf(squared_shift)), mpmath.mpf(epsilon))
        for found in (enclosure.lower, enclosure.upper):
            assert abs(mpmath.mpf(found.numerator) / found.denominator / expected - 1) < mpmath.mpf(10) ** -20


@pytest.mark.parametrize("squared_shift", ["1e-10", "1", "2500", "1e6"])
@pytest.mark.parametrize("delta", ["0.1", "1e-9", "1e-400"])
def test_epsilon_of_shift_is_the_smallest_private_one(squared_shift, delta):
    found = epsilon_of_shift(Fraction(squared_shift), Fraction(delta)).upper
    assert delta_of_shift(Fraction(squared_shift), found).upper <= Fraction(delta)
    if found > 0:
        less = found * (1 - Fraction(1, 10**14))
        assert delta_of_shift(Fraction(squared_shift), less).lower > Fraction(delta)


def test_analytic_gaussian_sigma_is_below_the_extended_one():
    for epsilon, delta in (("0.1", "1e-3"), ("1", "1e-5"), ("10", "1e-7")):
        pair = Fraction(epsilon), Fraction(delta)
        assert analytic_gaussian_sigma(Fraction(1), *pair) < extended_gaussian_sigma(Fraction(1), *pair)


def test_gaussian_delta_agrees_with_numerical_integration():
    shift, epsilon = 0.7, 0.4
    points = np.linspace(-12, 12, 2_000_001)
    excess = stats.norm.pdf(points, shift) - math.exp(epsilon) * stats.norm.pdf(points)
    integral = np.trapezoid(np.maximum(excess, 0), points)
    assert float(delta_of_shift(Fraction(shift) ** 2, Fraction(epsilon)).upper) == pytest.approx(
        integral, abs=1e-9
    )


@given(data_sets(), readings())
def test_zero_variates_are_the_identity(records, chosen):
    coefficients = objective(Moments.of(records), chosen)
    noise = Noise.uniform("laplace", 3.0, coefficients.layout.size)
    noisy = perturb(coefficients, noise, np.zeros(coefficients.layout.size))
    np.testing.assert_array_equal(noisy.values, coefficients.values)


def test_no_noise_has_variates_that_are_zero():
    assert not draw(Noise.uniform("none", 0.0, 3), np.random.default_rng(0), 2).any()


def test_perturbation_adds_scale_times_variate_in_each_group():
    records = random_records(6, 3, 5)
    chosen = Readings("absolute")
    coefficients = objective(Moments.of(records), chosen)
    in_s = coefficients.layout.contains(1)
    noisy = perturb(coefficients, Noise("laplace", 10.0, 2.0, in_s), np.ones(in_s.size))
    np.testing.assert_allclose(noisy.values - coefficients.values, np.where(in_s, 10.0, 2.0), rtol=1e-12)


# --- Distributions: Kolmogorov-Smirnov at significance 1e-6; 100,000 values find a scale wrong by 10 % ---------

SIGNIFICANCE = 1e-6
VALUES = 100_000
BUDGET = SplitBudget("2", "1/2", "1e-3", "1e-5")


def group_samples(name: str, seed: int, factor: float = 1.0) -> dict[str, np.ndarray]:
    """Return what a mechanism adds inside and outside Phi_s, in units of the published scale."""
    domain, chosen = random_records(4, 5, 0).domain, MECHANISMS[name].readings
    budget = SplitBudget("2", "1/2") if name == "pdfc" else BUDGET
    noise = MECHANISMS[name].noise(domain, budget, chosen, 2)
    rows = VALUES // 5
    zero = np.zeros(layout(domain, chosen).size)
    outputs = add_noise(zero, noise, draw(noise, np.random.default_rng(seed), rows)) * factor
    bound_1, bound_2 = Fraction(25, 4) + 15, Fraction(25, 16) + 45
    if name == "pdfc":
        published = {"s": float(bound_1 / 2), "n": float(bound_1 * 2)}
    else:
        published = {
            "s": float(published_sigma(bound_2, Fraction(2), Fraction("1e-3"))),
            "n": float(published_sigma(bound_2, Fraction(1, 2), Fraction("1e-5"))),
        }
    in_s = np.array(["[x2]" in label for label in layout(domain, chosen).names])
    return {
        "s": (outputs[:, in_s] / published["s"]).ravel()[:VALUES],
        "n": (outputs[:, ~in_s] / published["n"]).ravel()[:VALUES],
    }


@pytest.mark.parametrize(("name", "distribution"), [("pdfc", stats.laplace), ("adfc", stats.norm)])
@pytest.mark.parametrize("group", ["s", "n"])
def test_added_noise_has_the_published_distribution_in_each_group(name, distribution, group):
    sample = group_samples(name, 20_260)[group]
    assert len(sample) == VALUES
    assert stats.kstest(sample, distribution.cdf).pvalue > SIGNIFICANCE


@pytest.mark.parametrize(("name", "distribution"), [("pdfc", stats.laplace), ("adfc", stats.norm)])
@pytest.mark.parametrize("factor", [0.9, 1.1])
def test_distribution_test_rejects_a_scale_wrong_by_a_tenth(name, distribution, factor):
    for sample in group_samples(name, 20_261, factor).values():
        assert stats.kstest(sample, distribution.cdf).pvalue < SIGNIFICANCE


@pytest.mark.parametrize("name", ["pdfc", "adfc"])
def test_added_noise_is_uncorrelated_between_coefficients(name):
    domain, chosen = random_records(4, 3, 0).domain, MECHANISMS[name].readings
    noise = MECHANISMS[name].noise(domain, BUDGET if name == "adfc" else SplitBudget(1, 1), chosen, 0)
    correlations = np.corrcoef(draw(noise, np.random.default_rng(7), VALUES), rowvar=False)
    off_diagonal = correlations[~np.eye(len(correlations), dtype=bool)]
    # 36 pairs at 1e-6 in all: |r| sqrt(n) is below 5.6 under independence
    assert np.abs(off_diagonal).max() * math.sqrt(VALUES) < 5.6


@pytest.mark.parametrize(
    ("name", "budget"), [("functional", Budget(2)), ("relaxed_functional", Budget(2, "1e-3"))]
)
def test_one_budget_gives_one_scale(name, budget):
    domain = random_records(4, 5, 0).domain
    noise = MECHANISMS[name].noise(domain, budget, MECHANISMS[name].readings, 2)
    expected = {
        "functional": float((Fraction(25, 4) + 5) / 2),
        "relaxed_functional": float(published_sigma(Fraction(25, 16) + 5, Fraction(2), Fraction("1e-3"))),
    }[name]
    np.testing.assert_allclose(noise.scales, expected, rtol=1e-15)


def test_generator_without_seed_is_unseeded_and_never_the_same():
    first, seeded = generator(None, "test")
    second, _ = generator(None, "test")
    assert not seeded
    assert first.integers(2**63) != second.integers(2**63)


def test_generator_with_seed_repeats():
    first, seeded = generator(5, "test")
    assert seeded
    assert first.random() == generator(5, "test")[0].random()
