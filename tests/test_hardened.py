"""Hardened noise: exact sums, bounds on what is computed, the distribution that is drawn, and what is refused."""

from __future__ import annotations

import subprocess
import sys
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from reference.accounting import exact_privacy
from reference.budgets import Budget, SplitBudget
from reference.coefficients import Layout
from reference.discrete import delta_ends, epsilon_ends, log_density_gap
from reference.domain import Domain
from reference.errors import (
    GridError,
    HardenedNoiseMissingError,
    NormError,
    ReadingError,
    SeededHardenedNoiseError,
)
from reference.grid import RELEASE_STEPS, data_change, l1_slack, widened_l1, widened_l2_squared, with_l2_slack
from reference.mechanisms import functional
from reference.moments import Moments
from reference.noise import HardenedSampler, Noise, NumpySampler, draw
from reference.noise.hardened import on_steps
from reference.objective import layout, objective
from reference.readings import BASES, FAIRNESS, Readings
from reference.records import DATA_STEPS, Records
from reference.registry import MECHANISMS
from reference.sensitivity import Setting, Supremum, exact_l1, exact_l2_squared, setting_of
from tests.strategies import data_sets, random_records, readings

PRIVATE = [name for name, spec in MECHANISMS.items() if spec.private]
RECORDS = random_records(300, 5, 11)


def budget_for(name: str, epsilon="1"):
    delta = "1e-3" if MECHANISMS[name].needs_delta else 0
    return SplitBudget.equal(epsilon, delta) if MECHANISMS[name].split_budget else Budget(epsilon, delta)


def hardened(name: str, records: Records = RECORDS, epsilon="1", **changes):
    chosen = MECHANISMS[name].readings.with_(noise="hardened", **changes)
    options = {"x_s": 1} if MECHANISMS[name].split_budget else {}
    return MECHANISMS[name].run(records, budget_for(name, epsilon), chosen, **options)


# --- Exact sums ----------------------------------------------------------------------------------------------


@given(data_sets(max_records=6, max_dimension=3))
def test_records_on_the_grid_are_rounded_towards_zero_and_inside_the_norm(records):
    rounded = records.on_grid()
    for before, after in zip(records.x.ravel().tolist(), rounded.x.ravel().tolist(), strict=True):
        assert (Fraction(after) * DATA_STEPS).denominator == 1
        assert 0 <= Fraction(before) - Fraction(after) < Fraction(1, DATA_STEPS)
    if records.domain.norm == "unit_ball":
        assert all(sum(Fraction(v) ** 2 for v in row) <= 1 for row in rounded.x.tolist())


def test_records_on_the_grid_are_rounded_towards_zero_on_the_symmetric_ball():
    domain = Domain.of_columns(["a", "b"], norm="symmetric_ball")
    rounded = domain.check([[-0.3, 0.3]], [1], [0]).on_grid().x[0]
    assert -0.3 < rounded[0] == -rounded[1]


def test_a_row_that_is_admitted_by_rounding_alone_is_inside_the_norm_on_the_grid():
    x = np.full(3, np.nextafter(np.sqrt(1 / 3), 1))
    assert sum(Fraction(v) ** 2 for v in x.tolist()) > 1
    domain = Domain.of_columns(["a", "b", "c"])
    assert sum(Fraction(v) ** 2 for v in domain.check([x], [1], [0]).on_grid().x[0].tolist()) < 1


def test_a_row_outside_the_norm_on_the_grid_is_rejected():
    domain = Domain.of_columns(["a", "b"])
    records = domain.check([[0.5, 0.5]], [1], [0])
    # past the check, as no constructor allows
    object.__setattr__(records, "x", np.array([[1.0, 0.5]]))
    with pytest.raises(NormError, match="row 0"):
        records.on_grid()


@given(data_sets(max_records=8, max_dimension=3))
def test_exact_moments_are_the_sums_of_fractions(records):
    moments = Moments.of(records, exact=True)
    rows = [[Fraction(v) for v in row] for row in records.on_grid().x.tolist()]
    y, z, d = records.y.astype(int).tolist(), records.z.astype(int).tolist(), records.domain.dimension
    for weights, found in (([1] * len(rows), moments.sum_x), (y, moments.sum_yx), (z, moments.sum_zx)):
        assert found.tolist() == [sum(w * r[j] for w, r in zip(weights, rows, strict=True)) for j in range(d)]
    assert moments.sum_xx.tolist() == [[sum(r[j] * r[k] for r in rows) for k in range(d)] for j in range(d)]


def test_exact_moments_are_exact_over_several_full_blocks():
    """Ones and a 2^-20: a float would lose the last bit of the sum of squares."""
    x = np.ones((3 * 4096 + 7, 2))
    x[:, 1] = 2.0**-20
    records = Domain.of_columns(["a", "b"], norm="unit_box").check(x, np.ones(len(x)), np.ones(len(x)))
    moments = Moments.of(records, exact=True)
    assert moments.sum_xx[0, 1] == Fraction(len(x), 2**20)
    assert moments.sum_xx[1, 1] == Fraction(len(x), 2**40)
    random = np.random.default_rng(0).integers(0, DATA_STEPS + 1, (4096, 2)) / DATA_STEPS
    block = Moments.of(Records(records.domain, random, np.ones(4096), np.ones(4096)), exact=True)
    whole = [[int(v * DATA_STEPS) for v in row] for row in random.tolist()]
    assert block.sum_xx[0, 1] * DATA_STEPS**2 == sum(a * b for a, b in whole)


def test_exact_moments_add_up_in_any_order_and_not_with_floats():
    parts = [Moments.of(random_records(9, 3, seed), exact=True) for seed in range(3)]
    zero = Moments.zero(parts[0].domain, exact=True)
    left = objective(zero + parts[0] + parts[1] + parts[2], Readings("absolute"))
    right = objective(parts[2] + (parts[1] + parts[0]), Readings("absolute"))
    assert left.values.tolist() == right.values.tolist()
    with pytest.raises(GridError, match="mixed"):
        parts[0] + Moments.zero(parts[0].domain)


@given(data_sets(), readings())
def test_exact_coefficients_agree_with_floats(records, chosen):
    exact = objective(Moments.of(records, exact=True), chosen)
    floats = objective(Moments.of(records.on_grid()), chosen)
    assert all(isinstance(value, (int, Fraction)) for value in exact.values.tolist())
    np.testing.assert_allclose(exact.values.astype(float), floats.values, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(exact.quadratic, floats.quadratic, rtol=1e-12, atol=1e-12)


# --- Bounds on what is computed ------------------------------------------------------------------------------


def neighbours(n: int, d: int, seed: int, norm: str, adjacency: str) -> tuple[Records, Records]:
    """Return two random data sets that differ in one record; often records at the corners of the domain."""
    random = np.random.default_rng(seed)
    left = random_records(n, d, seed, norm)
    x = left.x.copy()
    if random.random() < 0.5:
        corners = random.integers(0, 2, x.shape).astype(float)
        x = corners / (np.maximum(1, np.sqrt(corners.sum(axis=1)))[:, None] if norm == "unit_ball" else 1)
    left = Records(left.domain, x, left.y, left.z)
    if adjacency == "add_or_remove_one":
        return left, left.take(slice(0, n - 1))
    other = random_records(1, d, seed + 1, norm)
    return left, Records(
        left.domain,
        np.vstack([x[:-1], other.x]),
        np.append(left.y[:-1], 1 - left.y[-1]),
        np.append(left.z[:-1], 1 - left.z[-1]),
    )


@given(
    st.integers(2, 6),
    st.integers(1, 4),
    st.integers(0, 2**31),
    st.sampled_from(["unit_ball", "unit_box"]),
    st.sampled_from(["replace_one", "add_or_remove_one"]),
    st.sampled_from(FAIRNESS),
    st.sampled_from(BASES),
    st.fractions(0, 3, max_denominator=7),
)
def test_change_of_the_computed_coefficients_obeys_the_bounds(
    n, d, seed, norm, adjacency, fairness, basis, weight
):
    sides = neighbours(n, d, seed, norm, adjacency)
    chosen = Readings(fairness, fairness_weight=weight, basis=basis, adjacency=adjacency, sensitivity=1)
    whole = [on_steps(objective(Moments.of(s, exact=True), chosen).values, RELEASE_STEPS) for s in sides]
    change = [Fraction(abs(a - b), RELEASE_STEPS) for a, b in zip(*whole, strict=True)]
    setting, public = setting_of(sides[0].domain, chosen), layout(sides[0].domain, chosen)
    l1, l2 = exact_l1(setting), exact_l2_squared(setting)
    size = Fraction(public.size)
    assert sum(change) <= widened_l1(l1, setting, size, RELEASE_STEPS).upper <= l1.upper + l1_slack(public)
    squared = widened_l2_squared(l2, setting, size, RELEASE_STEPS).upper
    assert sum(c * c for c in change) <= squared <= with_l2_slack(l2.upper, public)
    # two scales, as Algorithms 1 and 3 have them
    weights = [Fraction(1, 3) if inside else Fraction(2) for inside in public.contains(0)]
    loss = widened_l1(exact_l1(setting, Fraction(1, 3), Fraction(2)), setting, sum(weights), RELEASE_STEPS)
    assert sum(w * c for w, c in zip(weights, change, strict=True)) <= loss.upper


def test_change_of_the_computed_coefficients_needs_the_slack():
    """Rounding alone can move a coefficient by a whole step although it changes by far less than one."""
    below, above = (np.array([Fraction(1, 2) + sign * Fraction(1, 10**9)], dtype=object) for sign in (-1, 1))
    assert on_steps(above, 1)[0] - on_steps(below, 1)[0] == 1


@pytest.mark.parametrize("fairness", ["none", "absolute", "covariance"])
@pytest.mark.parametrize("norm", ["unit_ball", "unit_box"])
def test_lower_end_is_attained_by_records_on_the_grid(norm, fairness):
    """The worst pair for d = 1: x = 1, labels and groups opposed, the others at 1 (`covariance`: at 0)."""
    n = 4000
    domain = Domain.of_columns(["a"], norm=norm)
    x = np.full((n, 1), 1 - 2.0**-30)
    if fairness == "covariance":
        x[:-1] = 0.0
    others = [0] * (n - 1)
    pair = [domain.check(x, [*others, 1 - side], [*others, side]) for side in (0, 1)]
    chosen = Readings(fairness, sensitivity=1)
    whole = [on_steps(objective(Moments.of(side, exact=True), chosen).values, RELEASE_STEPS) for side in pair]
    attained = Fraction(sum(abs(a - b) for a, b in zip(*whole, strict=True)), RELEASE_STEPS)
    setting = setting_of(domain, chosen, records=n)
    found = widened_l1(exact_l1(setting), setting, Fraction(2), RELEASE_STEPS)
    assert found.lower <= attained <= found.upper
    assert found.upper - found.lower < Fraction(1, 10**4)
    assert attained < exact_l1(setting).lower, "rounding the records matters here"


@pytest.mark.parametrize("basis", BASES)
@pytest.mark.parametrize("separate", [False, True])
def test_slack_covers_every_coefficient_and_keeps_theorem_3(basis, separate):
    for d in range(1, 41):
        public = Layout(tuple(f"x{j}" for j in range(d)), basis, separate)
        steps = l1_slack(public) * RELEASE_STEPS
        in_s = int(public.contains(0).sum())
        assert steps >= public.size
        # epsilon_s in_s + epsilon_n others <= steps (epsilon_s / d + epsilon_n (d - 1) / d) for all budgets
        assert steps >= d * in_s
        assert steps * (d - 1) >= d * (public.size - in_s)


@pytest.mark.parametrize("name", [name for name in PRIVATE if name != "pflr"])
@pytest.mark.parametrize("epsilon", ["0.001", "1", "20"])
def test_claim_holds_for_what_is_computed(name, epsilon):
    for sensitivity in ("published", "exact"):
        exact = hardened(name, epsilon=epsilon, sensitivity=sensitivity).privacy.exact
        assert exact.verdict in (("enclosed", "proved") if sensitivity == "published" else (None,))
        if name in ("functional", "relaxed_functional"):
            assert exact.epsilon.upper <= Fraction(epsilon)


@pytest.mark.parametrize("name", [name for name in PRIVATE if not MECHANISMS[name].needs_delta])
def test_enclosure_on_the_grid_contains_the_ideal_one(name):
    domain, chosen = RECORDS.domain, MECHANISMS[name].readings.with_(noise="hardened")
    noise = MECHANISMS[name].noise(domain, budget_for(name), chosen, 0)
    ideal_noise = Noise(noise.kind, noise.scale_s, noise.scale_n, noise.in_s)
    setting = setting_of(domain, chosen)
    found, ideal = (exact_privacy(setting, n, None, Fraction(0)).epsilon for n in (noise, ideal_noise))
    assert found.lower < ideal.lower <= ideal.upper < found.upper
    assert found.upper - ideal.upper < Fraction(1, 10**8)
    assert ideal.lower - found.lower < Fraction(1, 10**4)


# --- Discrete Gaussian noise against the continuous one ------------------------------------------------------


def discrete_delta(shifts: tuple[int, ...], scales: tuple[float, ...], epsilon: float) -> float:
    """Return the hockey-stick integral of shifted discrete Gaussians, by summing over the lattice."""
    ratio, mass = np.zeros(1), np.ones(1)
    for shift, s in zip(shifts, scales, strict=True):
        k = np.arange(-int(9 * s), int(9 * s) + shift + 1)
        weight = np.exp(-((k / s) ** 2) / 2)
        loss = (k**2 - (k - shift) ** 2) / (2 * s * s)
        shifted = np.exp(-(((k - shift) / s) ** 2) / 2) / weight.sum()
        ratio = (ratio[:, None] + loss).ravel()
        mass = (mass[:, None] * shifted).ravel()
    return float((mass * np.maximum(0, 1 - np.exp(epsilon - ratio))).sum())


@pytest.mark.parametrize(
    ("shifts", "scales", "epsilon"),
    [
        ((4000,), (4000.0,), 1.0),
        ((1500,), (5000.0,), 0.3),
        ((1500,), (5000.0,), 1e-9),
        ((300, 100), (200.0, 230.0), 2.0),
    ],
)
def test_discrete_gaussian_lies_in_its_enclosure(shifts, scales, epsilon):
    true = discrete_delta(shifts, scales, epsilon)

    def ends(factor: float) -> tuple[Fraction, Fraction]:
        squared = sum((Fraction(a) / Fraction(s * factor)) ** 2 for a, s in zip(shifts, scales, strict=True))
        inverse = sum(1 / Fraction(s * factor) for s in scales)
        return delta_ends(Supremum.exactly(squared), inverse, len(scales), 1, Fraction(epsilon), Fraction("1e-3"))

    lower, upper = ends(1.0)
    assert lower <= true <= upper
    assert upper - lower < true
    # sigma 20 % off in either direction is told apart
    assert not ends(1.2)[0] <= true <= ends(1.2)[1]
    assert not ends(1 / 1.2)[0] <= true <= ends(1 / 1.2)[1]


def test_epsilon_of_discrete_gaussian_lies_in_its_enclosure():
    shift, s, delta = 4000, 4000.0, Fraction("1e-3")
    lower, upper = epsilon_ends(Supremum.exactly(Fraction(1)), 1 / Fraction(s), 1, 1, delta)
    assert (
        discrete_delta((shift,), (s,), float(upper))
        <= float(delta)
        <= discrete_delta((shift,), (s,), float(lower))
    )
    assert 0 < upper - lower < Fraction(1, 50)


def test_density_gap_covers_the_densities():
    """The proof's inequality at the grid points and half-way between, where it is tightest."""
    s, delta, epsilon = 50.0, Fraction("1e-3"), Fraction(1)
    gap = float(log_density_gap(1 / Fraction(s), 1, 1, epsilon, delta))
    tail = 2 * s * gap - 1
    w = np.arange(-tail * s, tail * s, 0.25)
    k = np.round(w)
    total = np.exp(-((np.arange(-2000, 2001) / s) ** 2) / 2).sum()
    difference = (w**2 - k**2) / (2 * s * s) - np.log(total / (np.sqrt(2 * np.pi) * s))
    assert gap / 2 < np.abs(difference).max() <= gap
    outside = 4 * np.exp(-(tail**2) / 2)
    assert outside <= 1.01 * float(delta) * 2.0**-60 / np.exp(float(epsilon) + 1)


def test_a_grid_that_is_too_coarse_for_gaussian_noise_is_refused():
    with pytest.raises(GridError, match="sigma"):
        log_density_gap(Fraction(1, 10), 1, 1, Fraction(1), Fraction("1e-3"))


# --- What is drawn: size 1e-6 each, on 4,000 values; a scale off by 20 % is found with power over 0.9999 --------

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


def test_numpy_noise_shows_the_value_it_was_added_to_and_hardened_noise_does_not():
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


# --- Releases, and what is refused -----------------------------------------------------------------------------


@pytest.mark.parametrize("name", PRIVATE)
def test_hardened_releases_differ_and_say_what_they_are(name):
    one, two = hardened(name), hardened(name)
    assert one.w != two.w
    assert (one.readings["noise"], one.seeded, one.status) == ("hardened", False, "ok")


@pytest.mark.parametrize("name", PRIVATE)
@pytest.mark.parametrize("rng", [0, np.random.default_rng(0)])
def test_seeded_hardened_noise_is_refused(name, rng):
    chosen = MECHANISMS[name].readings.with_(noise="hardened")
    with pytest.raises(SeededHardenedNoiseError, match="no seed"):
        MECHANISMS[name].run(RECORDS, budget_for(name), chosen, rng=rng)


@pytest.mark.parametrize("command", ["reference fit --mechanism lr", "audit.epsilon_estimate pdfc"])
def test_command_line_refuses_a_seed_with_hardened_noise(command):
    words = f"-m {command} --noise hardened --seed 1".split()
    done = subprocess.run([sys.executable, *words], check=False, capture_output=True, text=True)
    assert done.returncode == 2
    assert done.stderr.splitlines()[-1].startswith("error: ")
    assert "hardened" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("name", ["lr", "no_privacy"])
def test_baselines_have_no_noise_to_harden(name):
    chosen = MECHANISMS[name].readings
    plain, same = (MECHANISMS[name].run(RECORDS, None, r) for r in (chosen, chosen.with_(noise="hardened")))
    assert plain == same
    assert "noise" not in plain.readings


def test_drawing_hardened_noise_from_a_generator_is_refused():
    with pytest.raises(ReadingError, match="numpy"):
        draw(Noise.uniform("laplace", 1.0, 3, RELEASE_STEPS), np.random.default_rng(0))


def test_inexact_moments_are_refused():
    with pytest.raises(GridError, match="exact=True"):
        functional(Moments.of(RECORDS), Budget(1), Readings(noise="hardened"))


def test_continuous_noise_is_refused_by_the_hardened_sampler():
    with pytest.raises(GridError, match="continuous"):
        HardenedSampler().add(np.array([Fraction(0)], dtype=object), Noise.uniform("laplace", 1.0, 1))


def test_numbers_beyond_64_bits_are_refused():
    sampler, large = HardenedSampler(), np.array([Fraction(2**30) + Fraction(1, 2)], dtype=object)
    with pytest.raises(GridError, match="fewer records"):
        sampler.add(large, Noise.uniform("laplace", 1.0, 1, RELEASE_STEPS))
    with pytest.raises(GridError, match="larger epsilon"):
        hardened("functional", epsilon="1e-9")
    almost = np.array([Fraction(2**30)], dtype=object)
    assert abs(sampler.add(almost, Noise.uniform("laplace", 1.0, 1, RELEASE_STEPS))[0] - 2**30) < 100


def test_absent_opendp_is_reported_with_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "opendp.prelude", None)
    with pytest.raises(HardenedNoiseMissingError, match=r"\[hardened\]"):
        hardened("functional")


def test_opendp_is_loaded_for_hardened_noise_only():
    code = (
        "import sys, reference.mechanisms, reference.evaluation\n"
        "assert 'opendp' not in sys.modules\n"
        "from reference.noise import HardenedSampler\n"
        "HardenedSampler()\n"
        "sys.exit('opendp' not in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_lower_end_of_a_shift_below_the_roundings_is_zero():
    setting, tiny = Setting(1, "none"), Supremum.exactly(Fraction(1, 10**30))
    assert widened_l2_squared(tiny, setting, Fraction(2), RELEASE_STEPS).lower == 0
    assert widened_l1(tiny, setting, Fraction(2), RELEASE_STEPS).lower == 0


def test_data_change_follows_the_fairness_weight():
    assert data_change(Setting(3, "none")) == Fraction(1, DATA_STEPS)
    assert data_change(Setting(3, "separate", fairness_weight=Fraction(9))) == Fraction(4, DATA_STEPS)
    assert data_change(Setting(3, "covariance", fairness_weight=Fraction(2))) == Fraction(7, DATA_STEPS)
