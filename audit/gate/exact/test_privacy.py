"""The exact privacy: numbers against second sources, and real witnesses."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import norm

from audit.exact.data_sets import Repeated
from audit.exact.neighbours import Neighbours, extreme_neighbours
from audit.exact.privacy import judge, supremum_of
from audit.exact.witnesses import domain_of, readings_of
from audit.gate.exact.sensitivity_settings import written_out
from reference.budgets import Budget, SplitBudget
from reference.common.errors import ReadingError
from reference.moments import Moments
from reference.noise import Noise
from reference.noise.profile import delta_of_shift, epsilon_of_shift
from reference.objective import layout, objective
from reference.records import check_matrix
from reference.registry import MECHANISMS
from reference.sensitivity import Setting


def balle_wang(mu: float, epsilon: float) -> float:
    return float(norm.cdf(mu / 2 - epsilon / mu) - math.exp(epsilon) * norm.cdf(-mu / 2 - epsilon / mu))


# --- Witnesses are real ---------------------------------------------------------------------------------------


def cases() -> list[Any]:
    readings = [
        (domain, fairness, adjacency)
        for domain in ("unit_box", "unit_ball")
        for fairness in ("none", "absolute", "covariance", "separate")
        for adjacency in ("replace_one", "add_or_remove_one")
    ]
    return [pytest.param(*case, id="-".join(case)) for case in readings]


@pytest.mark.parametrize(("domain", "fairness", "adjacency"), cases())
@pytest.mark.parametrize("kind", ["laplace", "gaussian"])
def test_witness_attains_the_supremum(domain, fairness, adjacency, kind):
    """Data sets, through Moments and objective, against the closed forms and enclosures."""
    for basis, d, n, (scale_s, scale_n), weight in itertools.product(
        ("monomial", "matrix"), (1, 3), (2, 1000), ((0.25, 4.0), (4.0, 0.25)), (Fraction(1), Fraction(1, 20))
    ):
        setting = Setting(d, fairness, domain, adjacency, basis, weight, n)
        x_s = d - 1
        in_s = layout(domain_of(setting), readings_of(setting)).contains(x_s)
        noise = Noise(kind, scale_s, scale_n, in_s)
        supremum = supremum_of(setting, noise)
        loss = extreme_neighbours(setting, noise, x_s).loss(noise)
        assert loss <= supremum.upper * (1 + Fraction(1, 10**9)), setting
        assert loss >= supremum.lower * (1 - Fraction(1, 10**9)), setting


def test_attainment_check_fires_on_a_pair_that_is_not_extreme():
    setting = Setting(3, "absolute", "unit_box", records=10)
    noise = Noise("laplace", 1.0, 1.0, layout(domain_of(setting), readings_of(setting)).contains(0))
    domain = domain_of(setting)
    mild = [
        Repeated(check_matrix(domain, [[0.5] * 3, [1.0] * 3], [0, y], [0, z]), (9, 1)) for y, z in ((1, 0), (0, 1))
    ]
    loss = Neighbours(mild[0], mild[1], readings_of(setting)).loss(noise)
    assert loss < supremum_of(setting, noise).lower * Fraction(9, 10)


def test_witness_written_out_is_neighbouring_and_gives_the_same_loss():
    setting = Setting(5, "absolute", "unit_box", records=1000)
    budget = SplitBudget("10", "0.1", "1e-3", "1e-3")
    judgement = judge(MECHANISMS["adfc"], setting, budget, readings_of(setting))
    neighbours = judgement.witness.neighbours
    left, right = written_out(neighbours.left), written_out(neighbours.right)
    assert len(left) == len(right) == 1000
    different = (left.x != right.x).any(axis=1) | (left.y != right.y) | (np.asarray(left.z) != np.asarray(right.z))
    assert different.sum() == 1
    changes = objective(Moments.of(right), neighbours.readings).values
    changes = changes - objective(Moments.of(left), neighbours.readings).values
    assert changes == pytest.approx(neighbours.change, rel=1e-9, abs=1e-12)
    shift = float(np.linalg.norm(changes / judgement.noise.scales))
    assert shift**2 == pytest.approx(float(judgement.witness.loss), rel=1e-9)
    assert judgement.witness.delta is not None
    by_scipy = balle_wang(shift, float(judgement.claim.epsilon))
    assert by_scipy == pytest.approx(float(judgement.witness.delta.lower), rel=1e-7)


def test_repeated_moments_equal_the_moments_of_all_records():
    domain = domain_of(Setting(3, "absolute", "unit_ball"))
    x = np.random.default_rng(0).uniform(0, 0.5, size=(4, 3))
    data = Repeated(check_matrix(domain, x, [0, 1, 0, 1], [0, 0, 1, 1]), (3, 1, 40, 7))
    compact, full = data.moments, Moments.of(written_out(data))
    assert (compact.n, compact.sum_z, len(data)) == (full.n, full.sum_z, 51)
    for name in ("sum_x", "sum_yx", "sum_zx", "sum_xx"):
        assert getattr(compact, name) == pytest.approx(getattr(full, name), rel=1e-13)


# --- Second sources for the profiles -------------------------------------------------------------------------


@pytest.mark.parametrize(("change", "epsilon"), [(0.3, 0.1), (1.0, 0.5), (2.0, 3.0), (0.05, 0.0)])
def test_gaussian_profile_by_integration(change, epsilon):
    """The hockey-stick integral over one output."""
    integral, error = quad(
        lambda t: max(norm.pdf(t - change) - math.exp(epsilon) * norm.pdf(t), 0.0),
        # where the densities cross
        epsilon / change + change / 2,
        10,
        epsabs=1e-12,
    )
    assert error < 1e-9
    assert float(delta_of_shift(Fraction(change) ** 2, Fraction(epsilon)).upper) == pytest.approx(
        integral, abs=1e-9
    )


def two_coefficients(
    density: str, changes: tuple[float, float], scales: tuple[float, float], epsilon: float
) -> float:
    """Integrate max(p - exp(epsilon) q, 0) over two noisy coefficients, by the midpoint rule."""
    step = 0.01
    axis = np.arange(-24, 24, step) + step / 2
    p: list[Any] = []
    q: list[Any] = []
    for change, scale in zip(changes, scales, strict=True):
        for target, centre in ((p, change), (q, 0.0)):
            t = (axis * scale - centre) / scale
            target.append(norm.pdf(t) if density == "gaussian" else np.exp(-np.abs(t)) / 2)
    stick = np.maximum(np.outer(*p) - math.exp(epsilon) * np.outer(*q), 0.0)
    return float(stick.sum() * step * step)


@pytest.mark.parametrize(("scales", "epsilon"), [((1.0, 2.0), 0.3), ((0.7, 5.0), 1.0), ((3.0, 0.5), 2.0)])
def test_two_scales_of_gaussian_noise_by_integration(scales, epsilon):
    changes = (1.0, 0.8)
    squared = sum(((Fraction(c) / Fraction(s)) ** 2 for c, s in zip(changes, scales, strict=True)), Fraction(0))
    integral = two_coefficients("gaussian", changes, scales, epsilon)
    assert float(delta_of_shift(squared, Fraction(epsilon)).upper) == pytest.approx(integral, abs=2e-5)
    # a wrong shift, 5 % longer, is seen
    wrong = delta_of_shift(squared * Fraction(11, 10), Fraction(epsilon)).upper
    assert float(wrong) != pytest.approx(integral, abs=2e-4)


@pytest.mark.parametrize("scales", [(1.0, 2.0), (0.5, 4.0)])
def test_two_scales_of_laplace_noise_by_integration(scales):
    """The loss is the sum of change / scale: nothing beyond it, something at any less."""
    changes = (1.0, 0.8)
    loss = sum(c / s for c, s in zip(changes, scales, strict=True))
    assert two_coefficients("laplace", changes, scales, loss) < 1e-12
    assert two_coefficients("laplace", changes, scales, loss * 0.99) > 1e-6


@pytest.mark.parametrize("exponent", [3, 30, 400])
@pytest.mark.parametrize("squared", ["0.0001", "0.2", "4", "90"])
def test_exact_epsilon_is_enclosed_from_both_sides(squared, exponent):
    delta, shift = Fraction(1, 10**exponent), Fraction(squared)
    epsilon = epsilon_of_shift(shift, delta)
    if epsilon.upper == 0:
        assert delta_of_shift(shift, Fraction(0)).upper <= delta
        return
    assert delta_of_shift(shift, epsilon.lower * (1 + Fraction(1, 10**15))).upper <= delta
    assert delta_of_shift(shift, epsilon.upper * (1 - Fraction(1, 10**15))).lower > delta


# --- Null and broken controls ---------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["functional", "relaxed_functional", "pdfc", "adfc"])
def test_half_the_sensitivity_is_refuted(name):
    setting = Setting(5, "absolute", "unit_box", records=1000)
    spec = MECHANISMS[name]
    delta = "1e-3" if spec.needs_delta else "0"
    budget = SplitBudget(1, 1, delta, delta) if spec.split_budget else Budget(1, delta)
    readings = readings_of(setting)
    enough = judge(spec, setting, budget, readings.with_(sensitivity="exact"))
    power = 1 if name in ("functional", "pdfc") else 2
    exact_scale = float(supremum_of(setting, Noise.uniform("laplace" if power == 1 else "gaussian", 1.0, 1)).upper)
    half = judge(spec, setting, budget, readings.with_(sensitivity=str(exact_scale ** (1 / power) / 2)))
    assert enough.verdict in ("proved", "enclosed")
    assert half.verdict == "refuted"
    assert half.witness.violates(half.claim)


# --- Bad input -----------------------------------------------------------------------------------------------


def test_extremes_need_a_number_of_records():
    setting = Setting(2)
    with pytest.raises(ReadingError):
        extreme_neighbours(setting, Noise.uniform("gaussian", 1.0, 5))
