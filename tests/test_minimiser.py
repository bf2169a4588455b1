"""Minima against scipy's optimisers, and the outcomes where there is none."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize

from reference.coefficients import Layout, NoisyCoefficients
from reference.common.errors import ReadingError
from reference.minimiser import minimise
from reference.noise import Noise
from reference.readings import Readings


def noisy_polynomial(
    quadratic, linear, covariance=None, *, scale: float = 0.0, kind: str = "laplace"
) -> NoisyCoefficients:
    """Return w'Sw + c.w (and g) as coefficients in the matrix basis."""
    d = len(linear)
    layout = Layout(tuple(f"x{i}" for i in range(d)), "matrix", covariance is not None)
    parts = [np.asarray(linear, float), np.asarray(quadratic, float).ravel()]
    parts += [] if covariance is None else [np.asarray(covariance, float)]
    return NoisyCoefficients(layout, np.concatenate(parts), Noise.uniform(kind, scale, layout.size))


def random_quadratic(seed: int, d: int, lowest: float = 0.1) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return a symmetric matrix with eigenvalues from `lowest` up, and two vectors."""
    random = np.random.default_rng(seed)
    basis, _ = np.linalg.qr(random.normal(size=(d, d)))
    eigenvalues = np.linspace(lowest, lowest + 3, d)
    return basis @ np.diag(eigenvalues) @ basis.T, random.normal(size=d), random.normal(size=d)


TENTHS = st.integers(0, 30).map(lambda tenths: tenths / 10)
SEEDS = st.integers(0, 2**32 - 1)
PLAIN = Readings(repair="none")


@given(SEEDS, st.integers(1, 6))
def test_positive_definite_minimum_equals_scipys(seed, d):
    quadratic, linear, _ = random_quadratic(seed, d)
    found = minimise(noisy_polynomial(quadratic, linear), PLAIN)
    numeric = minimize(
        lambda w: linear @ w + w @ quadratic @ w, np.zeros(d), method="BFGS", options={"gtol": 1e-9}
    )
    assert found.status == "ok"
    np.testing.assert_allclose(found.w, numeric.x, atol=1e-5)


@given(SEEDS, st.integers(1, 6), TENTHS, TENTHS)
def test_separate_minimum_is_no_worse_than_scipys_and_any_neighbour(seed, d, weight, tau):
    quadratic, linear, covariance = random_quadratic(seed, d)
    readings = Readings("separate", fairness_weight=weight, tau=tau, repair="none", sensitivity=1)

    def value(w):
        return linear @ w + w @ quadratic @ w + weight * abs(covariance @ w - tau)

    found = minimise(noisy_polynomial(quadratic, linear, covariance), readings)
    w = np.array(found.w)
    for start in (np.zeros(d), w + 0.1):
        assert value(w) <= minimize(value, start, method="Nelder-Mead", options={"maxiter": 2000}).fun + 1e-7
    for step in np.random.default_rng(seed).normal(size=(50, d)):
        assert value(w) <= value(w + 1e-3 * step) + 1e-12


def test_indefinite_without_repair_is_unbounded_with_its_eigenvalues():
    found = minimise(noisy_polynomial([[1, 0], [0, -1]], [1, 1]), PLAIN)
    assert (found.status, found.w) == ("unbounded", None)
    assert found.eigenvalues == (-1.0, 1.0)


def test_triangular_and_full_matrices_have_the_same_minimum():
    full, linear, _ = random_quadratic(3, 4)
    lopsided = np.triu(full) + np.triu(full, 1)
    same = minimise(noisy_polynomial(lopsided, linear), PLAIN)
    np.testing.assert_allclose(same.w, minimise(noisy_polynomial(full, linear), PLAIN).w, rtol=1e-12)


def test_trim_drops_nonpositive_eigenvectors_and_solves_on_the_rest():
    quadratic, linear, _ = random_quadratic(4, 5, lowest=-1.0)
    found = minimise(noisy_polynomial(quadratic, linear), Readings(repair="trim"))
    values, vectors = np.linalg.eigh(quadratic)
    assert (values < 0).any()
    w = np.array(found.w)
    np.testing.assert_allclose(vectors[:, values < 0].T @ w, 0, atol=1e-12)
    np.testing.assert_allclose(vectors[:, values > 0].T @ (linear + 2 * quadratic @ w), 0, atol=1e-12)


@pytest.mark.parametrize(("kind", "deviation"), [("laplace", np.sqrt(2) * 0.05), ("gaussian", 0.05)])
def test_shift_and_trim_adds_four_standard_deviations_to_the_diagonal(kind, deviation):
    quadratic, linear, _ = random_quadratic(5, 3)
    found = minimise(noisy_polynomial(quadratic, linear, scale=0.05, kind=kind), Readings(repair="shift_and_trim"))
    shifted = quadratic + 4 * deviation * np.eye(3)
    np.testing.assert_allclose(found.w, -np.linalg.solve(shifted, linear) / 2, rtol=1e-9)


def test_shift_and_trim_trims_what_stays_nonpositive():
    found = minimise(
        noisy_polynomial(np.diag([-10.0, 1.0]), [1, 1], scale=0.25, kind="gaussian"),
        Readings(repair="shift_and_trim"),
    )
    np.testing.assert_allclose(found.w, [0, -1 / (2 * (1 + 1))])


def in_ball_by_search(quadratic, linear, radius: float) -> float:
    """Return the smallest value over many starts on and in the ball."""
    random = np.random.default_rng(0)
    best = np.inf
    for start in random.normal(size=(8, len(linear))):

        def value(v):
            w = radius * v / max(1.0, np.linalg.norm(v))
            return linear @ w + w @ quadratic @ w

        best = min(best, minimize(value, 2 * start, method="BFGS").fun, minimize(value, 0.1 * start).fun)
    return best


@settings(max_examples=50)
@given(SEEDS, st.integers(1, 4), st.floats(-2, 0.5), st.floats(0.1, 5))
def test_ball_minimum_is_inside_and_no_worse_than_a_search(seed, d, lowest, radius):
    quadratic, linear, _ = random_quadratic(seed, d, lowest)
    found = minimise(noisy_polynomial(quadratic, linear), Readings(repair="ball", ball_radius=radius))
    w = np.array(found.w)
    assert np.linalg.norm(w) <= radius * (1 + 1e-12)
    value = linear @ w + w @ quadratic @ w
    assert value <= in_ball_by_search(quadratic, linear, radius) + 1e-6 * max(1, abs(value))


def test_ball_hard_case_goes_along_the_lowest_eigenvector():
    found = minimise(noisy_polynomial(np.diag([-1.0, 1.0]), [0, 1]), Readings(repair="ball", ball_radius=2))
    # on the circle u1^2 + u2^2 = 4: -u1^2 + u2^2 + u2 = 2 u2^2 + u2 - 4 is smallest at u2 = -1/4
    np.testing.assert_allclose(np.abs(found.w), [np.sqrt(4 - 1 / 16), 1 / 4])


def test_ball_of_the_zero_polynomial_is_the_origin():
    assert minimise(noisy_polynomial(np.zeros((2, 2)), [0, 0]), Readings(repair="ball")).w == (0.0, 0.0)


def test_ball_is_not_offered_with_the_separate_penalty():
    with pytest.raises(ReadingError, match="trim"):
        Readings("separate", repair="ball", sensitivity=1)


@pytest.mark.parametrize("repair", ["none", "trim", "shift_and_trim"])
def test_singular_bounded_quadratic_gives_the_minimum_norm_minimiser(repair):
    found = minimise(noisy_polynomial([[1, 1], [1, 1]], [1, 1]), Readings(repair=repair))
    np.testing.assert_allclose(found.w, [-0.25, -0.25], atol=1e-12)


def test_singular_quadratic_with_a_slope_in_its_null_space_is_unbounded():
    assert minimise(noisy_polynomial([[1, 1], [1, 1]], [1, -1]), PLAIN).status == "unbounded"


def test_zero_quadratic_with_zero_slope_is_minimised_by_zero():
    assert minimise(noisy_polynomial(np.zeros((2, 2)), [0, 0]), PLAIN).w == (0.0, 0.0)


@pytest.mark.parametrize(("slope", "status"), [(0.5, "ok"), (-0.5, "ok"), (2.0, "unbounded")])
def test_separate_penalty_can_bound_a_flat_direction(slope, status):
    readings = Readings("separate", fairness_weight=1, tau=3, repair="none", sensitivity=1)
    found = minimise(noisy_polynomial(np.diag([1.0, 0.0]), [2, slope], [0, 1]), readings)
    assert found.status == status
    if status == "ok":
        # along the flat direction slope * u + |u - 3| is smallest at u = 3
        np.testing.assert_allclose(found.w, [-1, 3], atol=1e-12)


def test_separate_penalty_of_weight_zero_is_no_penalty():
    readings = Readings("separate", fairness_weight=0, repair="none", sensitivity=1)
    quadratic, linear = 0.01 * np.array([[4, -2], [-2, 1]]), np.array([-0.002, 0.001])
    found = minimise(noisy_polynomial(quadratic, linear, [0, -200]), readings)
    assert found.w == pytest.approx(minimise(noisy_polynomial(quadratic, linear), PLAIN).w, abs=1e-9)


@pytest.mark.parametrize("size", [1e-150, 1.0, 1e150])
def test_separate_minimum_does_not_depend_on_the_unit_of_the_objective(size):
    quadratic, linear, covariance = random_quadratic(8, 3)
    readings = Readings("separate", fairness_weight=1, tau=0, repair="none", sensitivity=1)
    w = minimise(noisy_polynomial(quadratic, linear, covariance), readings).w
    scaled = minimise(noisy_polynomial(size * quadratic, size * linear, size * covariance), readings).w
    np.testing.assert_allclose(scaled, w, rtol=1e-9)


def test_a_small_slope_in_the_null_space_of_a_large_quadratic_is_unbounded():
    assert minimise(noisy_polynomial(np.diag([1e6, 0.0]), [0, 1e-4]), PLAIN).status == "unbounded"


def test_a_rounding_error_in_the_null_space_is_not():
    found = minimise(noisy_polynomial(np.diag([1.0, 1e-18]), [1.0, 1e-17]), PLAIN)
    assert (found.status, found.w) == ("ok", (-0.5, 0.0))


def test_ball_uses_a_small_slope_in_the_null_space():
    found = minimise(noisy_polynomial(np.diag([1.0, 0.0]), [0, 1e-9]), Readings(repair="ball", ball_radius=1000))
    np.testing.assert_allclose(found.w, [0, -1000], rtol=1e-9)


def test_shift_takes_the_noisier_group():
    layout = Layout(("a", "b"), "matrix")
    noisy = NoisyCoefficients(
        layout, np.array([1.0, 1.0, 1, 0, 0, 1]), Noise("gaussian", 0.25, 0.01, layout.contains(0))
    )
    np.testing.assert_allclose(minimise(noisy, Readings(repair="shift_and_trim")).w, -1 / (2 * (1 + 1)))
