"""Hardened noise: exact sums, bounds on what is computed, and what is refused."""

from __future__ import annotations

import itertools
import math
import subprocess
import sys
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import UNSET

from audit.epsilon_estimate import main
from reference.accounting import exact_privacy
from reference.accounting.discrete import BEYOND, delta_ends, epsilon_ends, grid_shift, log_density_gap
from reference.accounting.statements import PublishedStatementWarning
from reference.budgets import Budget, SplitBudget
from reference.coefficients import Layout
from reference.common.errors import (
    GridError,
    HardenedNoiseMissingError,
    NormError,
    ReadingError,
    SeededHardenedNoiseError,
)
from reference.common.grid import DATA_STEPS
from reference.domain import Domain
from reference.mechanisms import functional
from reference.moments import Moments
from reference.noise import HardenedSampler, Noise, draw
from reference.noise.grid import (
    RELEASE_STEPS,
    data_change,
    encoded_change,
    l1_slack,
    widened_l1,
    widened_l2_squared,
    with_l2_slack,
)
from reference.noise.hardened import on_steps
from reference.noise.profile import delta_of_shift
from reference.objective import layout, objective
from reference.readings import BASES, FAIRNESS, Readings
from reference.records import EXACT_ROWS, Records, check_matrix
from reference.registry import MECHANISMS
from reference.sensitivity import Setting, Supremum, exact_l1, exact_l2_squared, setting_of
from tests.command_lines import reference
from tests.hardened_releases import RECORDS
from tests.strategies import data_sets, random_records, readings

PRIVATE = [name for name, spec in MECHANISMS.items() if spec.private]


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


def test_records_on_the_symmetric_ball_are_rounded_towards_zero():
    domain = Domain.of_columns(["a", "b"], norm="symmetric_ball")
    rounded = check_matrix(domain, [[-0.3, 0.3]], [1], [0]).on_grid().x[0]
    assert -0.3 < rounded[0] == -rounded[1]


def test_row_admitted_by_rounding_alone_is_inside_the_norm_on_the_grid():
    x = np.full(3, np.nextafter(np.sqrt(1 / 3), 1))
    assert sum(Fraction(v) ** 2 for v in x.tolist()) > 1
    domain = Domain.of_columns(["a", "b", "c"])
    assert sum(Fraction(v) ** 2 for v in check_matrix(domain, [x], [1], [0]).on_grid().x[0].tolist()) < 1


def test_a_row_outside_the_norm_on_the_grid_is_rejected():
    domain = Domain.of_columns(["a", "b"])
    records = check_matrix(domain, [[0.5, 0.5]] * 2, [1] * 2, [0] * 2)
    # past the check, as no constructor allows
    object.__setattr__(records, "x", np.array([[0.5, 0.5], [1.0, 0.5]]))
    for read in (records.on_grid, lambda: Moments.of(records, exact=True)):
        with pytest.raises(NormError, match="row 1"):
            read()


@given(data_sets(max_records=8, max_dimension=3))
def test_exact_moments_are_the_sums_of_fractions(records):
    moments = Moments.of(records, exact=True)
    rows = [[Fraction(v) for v in row] for row in records.on_grid().x.tolist()]
    y, z, d = records.y.astype(int).tolist(), records.z.astype(int).tolist(), records.domain.dimension
    for weights, found in (([1] * len(rows), moments.sum_x), (y, moments.sum_yx), (z, moments.sum_zx)):
        assert found.tolist() == [sum(w * r[j] for w, r in zip(weights, rows, strict=True)) for j in range(d)]
    assert moments.sum_xx.tolist() == [[sum(r[j] * r[k] for r in rows) for k in range(d)] for j in range(d)]


def test_exact_moments_are_exact_over_several_full_blocks(monkeypatch):
    """Ones and a 2^-20: a float would lose the last bit of the sum of squares."""
    monkeypatch.setattr("reference.moments.BLOCKS_CARRIED", 2)
    x = np.ones((3 * EXACT_ROWS + 7, 2))
    x[:, 1] = 2.0**-20
    records = check_matrix(Domain.of_columns(["a", "b"], norm="unit_box"), x, np.ones(len(x)), np.ones(len(x)))
    moments = Moments.of(records, exact=True)
    assert moments.sum_xx[0, 1] == Fraction(len(x), 2**20)
    assert moments.sum_xx[1, 1] == Fraction(len(x), 2**40)
    assert moments.sum_x.tolist() == [len(x), Fraction(len(x), 2**20)]
    random = np.random.default_rng(0).integers(0, DATA_STEPS + 1, (EXACT_ROWS, 2)) / DATA_STEPS
    block = Moments.of(Records(records.domain, random, np.ones(EXACT_ROWS), np.ones(EXACT_ROWS)), exact=True)
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
    pair = [check_matrix(domain, x, [*others, 1 - side], [*others, side]) for side in (0, 1)]
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


def test_ends_over_an_enclosed_shift_are_those_of_its_ends():
    grid, delta = (Fraction(1, 4000), 1, 1), Fraction("1e-3")
    enclosed = Supremum(Fraction(1), Fraction(4), "")
    for ends, at in ((epsilon_ends, (delta,)), (delta_ends, (Fraction(1), delta))):
        near, far = (ends(Supremum.exactly(it), *grid, *at) for it in (enclosed.lower, enclosed.upper))
        found = ends(enclosed, *grid, *at)
        assert near[0] * Fraction(99, 100) < found[0] <= near[1]
        assert found[1] == far[1]


def test_every_coefficient_counts_at_the_scale_of_its_group():
    setting, in_s = Setting(3, "none", basis="monomial"), np.array([True, True, False, False, False])
    found = exact_privacy(setting, Noise("laplace", 4.0, 8.0, in_s, 1024), None, Fraction(0)).epsilon
    loss = widened_l1(exact_l1(setting, Fraction(1, 4), Fraction(1, 8)), setting, Fraction(7, 8), 1024)
    assert found.lower <= loss.lower <= loss.upper <= found.upper
    assert found.upper - loss.upper < Fraction(1, 10**15)


@pytest.mark.parametrize(
    ("shifts", "scales"), [((4000,), (4000.0,)), ((20,), (200.0,)), ((150, 50), (100.0, 115.0))]
)
def test_discrete_gaussian_is_gdp_but_for_a_gap(shifts, scales):
    squared = sum((Fraction(a) / Fraction(s)) ** 2 for a, s in zip(shifts, scales, strict=True))
    inverse = sum(1 / Fraction(s) for s in scales)
    widened = grid_shift(Supremum.exactly(squared), inverse, len(scales), 1)
    assert squared < widened
    for epsilon in (1e-9, 0.1, 1.0, 2.0):
        true = discrete_delta(shifts, scales, epsilon)
        assert true <= delta_of_shift(widened, Fraction(epsilon)).upper
        # a tenth less of a shift is too little
        assert true < 1e-12 or true > delta_of_shift(squared * Fraction(81, 100), Fraction(epsilon)).upper


def test_a_grid_widens_a_shift_by_enough():
    gap = (math.sqrt(2 * math.log(6 / BEYOND)) + 1) * (1 / 400) / 2
    more = math.sqrt(grid_shift(Supremum.exactly(Fraction(1)), Fraction(1, 400), 1, 1)) - 1
    assert 4 * math.sqrt(2 * math.pi) * gap < more < 1.001 * 4 * math.sqrt(2 * math.pi) * gap


def test_a_grid_that_is_too_coarse_has_no_gaussian_shift():
    assert grid_shift(Supremum.exactly(Fraction(1)), Fraction(1, 10), 1, 1) is None


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


# --- Releases, and what is refused -----------------------------------------------------------------------------


@pytest.mark.parametrize("name", PRIVATE)
def test_hardened_releases_differ_and_say_what_they_are(name):
    one, two = hardened(name), hardened(name)
    assert one.w != two.w
    assert (one.readings.noise, one.seeded, one.status) == ("hardened", False, "ok")


@pytest.mark.parametrize("name", PRIVATE)
@pytest.mark.parametrize("rng", [0, np.random.default_rng(0)])
def test_seeded_hardened_noise_is_refused(name, rng):
    chosen = MECHANISMS[name].readings.with_(noise="hardened")
    with pytest.raises(SeededHardenedNoiseError, match="no seed"):
        MECHANISMS[name].run(RECORDS, budget_for(name), chosen, rng=rng)


@pytest.mark.parametrize("run", [lambda *words: reference("fit", *words), lambda *words: main(["pdfc", *words])])
def test_command_line_refuses_a_seed_with_hardened_noise(run, capsys):
    assert run("--noise", "hardened", "--seed", "1") == 2
    last = capsys.readouterr().err.splitlines()[-1]
    assert last.startswith("error: ")
    assert "hardened" in last


@pytest.mark.parametrize("name", ["lr", "no_privacy"])
def test_baselines_have_no_noise_to_harden(name):
    chosen = MECHANISMS[name].readings
    plain, same = (MECHANISMS[name].run(RECORDS, None, r) for r in (chosen, chosen.with_(noise="hardened")))
    assert plain == same
    assert plain.readings.noise is UNSET


def test_drawing_hardened_noise_from_a_generator_is_refused():
    with pytest.raises(ReadingError, match="numpy"):
        draw(Noise.uniform("laplace", 1.0, 3, RELEASE_STEPS), np.random.default_rng(0))


def test_inexact_moments_are_refused():
    with pytest.raises(GridError, match="exact=True"):
        functional(Moments.of(RECORDS), Budget(1), Readings(noise="hardened"))


def test_continuous_noise_is_refused_by_the_hardened_sampler():
    with pytest.raises(GridError, match="continuous"):
        HardenedSampler().add(np.array([Fraction(0)], dtype=object), Noise.uniform("laplace", 1.0, 1))


def test_a_scale_beyond_64_bits_is_refused():
    with pytest.raises(GridError, match="larger epsilon"):
        hardened("functional", epsilon="1e-9")


@pytest.mark.parametrize("value", [2**30, Fraction(2**30) + Fraction(1, 2), 10**30, -(10**30), 1, 0])
def test_every_number_is_released_and_clamped_to_the_grid(value):
    largest = 2**30
    whole = np.array([Fraction(value)], dtype=object)
    released = HardenedSampler().add(whole, Noise.uniform("laplace", 1.0, 1, RELEASE_STEPS))[0]
    assert abs(released - max(-largest, min(largest, Fraction(value)))) < 100


def test_clamping_moves_no_two_numbers_farther_apart():
    values = [Fraction(s * v) for v in (0, 1, 2**30 - 1, 2**30, 2**30 + 1, 2**40) for s in (1, -1)]
    for left, right in itertools.combinations(values, 2):
        whole = on_steps(np.array([left, right], dtype=object), RELEASE_STEPS)
        assert abs(whole[0] - whole[1]) <= abs(left - right) * RELEASE_STEPS


def test_whether_a_release_comes_out_does_not_depend_on_the_data():
    """A fairness weight that carries the coefficients of one data set beyond the grid, and not its neighbour's."""
    weight = Fraction(10**9)
    x = np.array([[1.0], [1.0], [0.0], [0.0]])
    for z in ([1.0, 1.0, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0], [0.0, 0.0, 0.0, 0.0]):
        records = check_matrix(Domain.of_columns(["a"], norm="unit_box", with_group=True), x, [0, 1, 0, 1], z)
        readings = MECHANISMS["pdfc"].readings.with_(fairness="absolute", fairness_weight=weight, noise="hardened")
        # L2.alpha: with such a weight the published sensitivity is too small
        with pytest.warns(PublishedStatementWarning):
            release = MECHANISMS["pdfc"].run(records, SplitBudget(1, 1), readings)
        assert release.privacy.exact is not None


def test_absent_opendp_is_reported_with_the_remedy(monkeypatch):
    monkeypatch.setitem(sys.modules, "opendp", None)
    with pytest.raises(HardenedNoiseMissingError, match="pip install opendp"):
        hardened("functional")


def test_opendp_is_loaded_for_hardened_noise_only():
    code = (
        "import sys, reference.mechanisms, reference.commands.evaluation\n"
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


def test_lower_end_of_a_squared_shift_is_the_square_of_a_difference():
    setting = Setting(1, "none")
    one = 1 / (data_change(setting) + 1) ** 2
    # (2 - 1)^2
    assert 1 - Fraction(1, 10**9) < widened_l2_squared(Supremum.exactly(Fraction(4)), setting, one, 1).lower <= 1


def test_data_change_follows_the_fairness_weight():
    assert data_change(Setting(3, "none")) == Fraction(1, DATA_STEPS)
    assert data_change(Setting(3, "separate", fairness_weight=Fraction(9))) == Fraction(4, DATA_STEPS)
    assert data_change(Setting(3, "covariance", fairness_weight=Fraction(2))) == Fraction(7, DATA_STEPS)


def test_encoding_costs_more_than_roundings_and_less_than_a_millionth():
    setting = Setting(3, "none")
    assert 2**-32 < encoded_change(setting) / data_change(setting) - 1 < 10**-6
