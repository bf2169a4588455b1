"""What the ledger's checks measure with: exact small data sets, exact conditioning, and bounds that cover."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from scipy.stats import binom

from audit.claims.ledger import find
from audit.claims.rows import algorithms, definitions, objective, sensitivities, steps, theorems
from audit.claims.rows.algorithms import (
    AT_ZERO,
    CLOSE,
    CORRELATED,
    UNTIED,
    WITH_ONE_MORE,
    Share,
    acceptance,
    draws_again,
    one_dimensional_probability,
    reaches_records,
    resampling_loss,
    resampling_loss_of_w,
    retry_loss,
    same_records,
    share_without_minimum,
    takes_more_than_public,
)
from audit.claims.rows.tuples import (
    Database,
    inverse,
    l1_change,
    l2_squared_change,
    minimum,
    penalised_minimum,
    record,
)
from reference.coefficients import NoisyCoefficients
from reference.domain import Domain
from reference.fairness import boundary_covariance, risk_difference
from reference.minimiser import minimise
from reference.moments import Moments
from reference.noise import Noise
from reference.objective import layout
from reference.objective import objective as reference_objective
from reference.readings import Readings
from reference.records import check_matrix

SMALL = Database.of(
    record(["1/2", "1/4"], 0, 1),
    record(["1/4", "3/4"], 1, 0),
    record(["1/8", "1/2"], 1, 1),
    record(["3/4", 0], 0, 0),
)
OTHER = Database.of(*SMALL.records[:-1], record(["1/2", "1/2"], 1, 1))


def checked(data: Database):
    domain = Domain.of_columns([f"x{index + 1}" for index in range(data.dimension)])
    x = [[float(v) for v in t.x] for t in data.records]
    return check_matrix(domain, x, [t.y for t in data.records], [t.z for t in data.records])


# --- Exact data sets against the reference ----------------------------------------------------------------------


@pytest.mark.parametrize("fairness", ["none", "absolute", "covariance"])
@pytest.mark.parametrize("weight", ["1", "5/2"])
def test_exact_coefficients_are_those_of_a_release(fairness, weight):
    readings = Readings(fairness=fairness, fairness_weight=Fraction(weight), basis="matrix")
    values = reference_objective(Moments.of(checked(SMALL)), readings)
    assert [float(v) for v in SMALL.linear(fairness, Fraction(weight))] == pytest.approx(list(values.linear))
    assert np.array(SMALL.quadratic, dtype=float) == pytest.approx(values.quadratic)


@pytest.mark.parametrize("fairness", ["none", "absolute", "covariance"])
@pytest.mark.parametrize("basis", ["monomial", "matrix"])
def test_exact_changes_are_those_of_a_release(fairness, basis):
    readings = Readings(fairness=fairness, basis=basis)
    one, other = (reference_objective(Moments.of(checked(data)), readings).values for data in (SMALL, OTHER))
    assert float(l1_change(SMALL, OTHER, fairness)) == pytest.approx(np.abs(one - other).sum())
    exact = l2_squared_change(SMALL, OTHER, fairness, basis=basis)
    assert float(exact) == pytest.approx(((one - other) ** 2).sum())


def test_exact_fairness_measures_are_those_of_the_reference():
    records = checked(SMALL)
    for w in ([1, -1], [-1, 2], [0, 0], [1, 1]):
        exact = [Fraction(v) for v in w]
        assert float(SMALL.boundary_covariance(exact)) == pytest.approx(
            boundary_covariance(w, records.x, records.z)
        )
        prediction = records.x @ np.array(w, dtype=float) > 0
        assert float(SMALL.risk_difference(exact)) == pytest.approx(risk_difference(prediction, records.z))


@pytest.mark.parametrize("fairness", ["none", "absolute", "covariance", "separate"])
@pytest.mark.parametrize("tau", ["0", "1/20"])
def test_exact_minimum_is_that_of_the_minimiser(fairness, tau):
    readings = Readings(fairness=fairness, basis="matrix", repair="none", tau=Fraction(tau))
    records = checked(SMALL)
    values = reference_objective(Moments.of(records), readings).values
    public = layout(records.domain, readings)
    expected = minimise(NoisyCoefficients(public, values, Noise.uniform("none", 0.0, public.size)), readings).w
    if fairness == "separate":
        found = penalised_minimum(SMALL, Fraction(1), Fraction(tau))
    else:
        found = minimum(SMALL, SMALL.linear(fairness))
    assert [float(v) for v in found] == pytest.approx(expected, rel=1e-9)


def test_exact_inverse_is_an_inverse_and_a_singular_matrix_has_none():
    matrix = [[Fraction(2), Fraction(1)], [Fraction(1, 3), Fraction(5)]]
    solved = inverse(matrix)
    for i, k in product(range(2), repeat=2):
        assert sum(matrix[i][j] * solved[j][k] for j in range(2)) == (i == k)
    assert inverse([[Fraction(1), Fraction(2)], [Fraction(2), Fraction(4)]]) is None
    assert inverse([[Fraction(0), Fraction(1)], [Fraction(1), Fraction(0)]]) == [[0, 1], [1, 0]]


@pytest.mark.parametrize(
    "pair",
    [sensitivities.SMALLEST_EXAMPLE, CORRELATED, (AT_ZERO, WITH_ONE_MORE)],
    ids=["alpha", "x_s", "resample"],
)
def test_counterexamples_are_neighbours_in_the_unit_ball(pair):
    left, right = pair
    for t in left.records + right.records:
        assert min(t.x) >= 0
        assert sum(v * v for v in t.x) <= 1
    shared = [t for t in left.records if t in right.records]
    assert max(len(left.records), len(right.records)) - len(shared) <= 1


# --- Repairs ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("epsilon", [0.5, 1.0, 10.0])
def test_resampling_loss_is_that_of_simulated_draws(epsilon):
    """Through draws until q-hat > 0, with a wide window so that the event is not rare."""
    rng, scale = np.random.default_rng(7), 0.625 / epsilon
    counts = []
    for c, q in ((0.0, 0.0), (0.5, 0.125)):
        noisy_q = q + scale * rng.laplace(size=2_000_000)
        kept = noisy_q[noisy_q > 0]
        below = 0.5 if c == 0 else math.exp(-c / scale) / 2
        counts.append(below * np.mean(kept <= 0.1))
    expected = float(resampling_loss(Fraction(str(epsilon))).upper) - 0.1 / scale + float(CLOSE) / scale
    assert math.log(counts[0] / counts[1]) == pytest.approx(expected, abs=0.02)


def test_resampling_loss_of_w_is_that_of_simulated_draws():
    rng, scale, threshold = np.random.default_rng(11), 0.625, 2
    shares = []
    for c, q in ((0.0, 0.0), (0.5, 0.125)):
        noise = scale * rng.laplace(size=(2, 4_000_000))
        kept = q + noise[1] > 0
        shares.append(np.mean(-(c + noise[0][kept]) / (2 * (q + noise[1][kept])) > threshold))
    found = resampling_loss_of_w(Fraction(1), Fraction(threshold))
    assert math.log(shares[0] / shares[1]) == pytest.approx(float(found.upper), abs=0.02)


def test_resampling_loss_of_w_grows_to_the_same_limit():
    limit = 1 + math.log(2 - math.exp(-0.2))
    found = [float(resampling_loss_of_w(Fraction(1), Fraction(10) ** k).upper) for k in (1, 3, 6)]
    assert found == sorted(found)
    assert limit - 1e-5 < found[-1] < limit


@pytest.mark.parametrize(("lemma", "holding", "failing"), [("L1", 1, 0), ("L2", 3, 1), ("L3", 1, 0), ("L4", 9, 8)])
def test_bound_of_a_lemma_holds_and_a_smaller_one_fails(lemma, holding, failing):
    assert not sensitivities.bound_fails(lemma, holding)
    assert sensitivities.bound_fails(lemma, failing)


@pytest.mark.parametrize("basis", ["matrix", "monomial"])
@pytest.mark.parametrize("domain", ["unit_box", "unit_ball"])
@pytest.mark.parametrize("fairness", ["none", "absolute"])
def test_twice_the_largest_is_the_maximum_over_tuples(basis, domain, fairness):
    """Random tuples never exceed it; the uniform point of the box or sphere, or a unit vector, reaches it."""
    rng, d = np.random.default_rng(5), 3
    x = rng.random((20_000, d))
    x[0], x[1] = 1.0, np.eye(d)[0]
    if domain == "unit_ball":
        x[1:] /= np.maximum(1.0, np.linalg.norm(x[1:], axis=1, keepdims=True))
        x[0] /= math.sqrt(d)
    linear = 0.5 + (1.0 if fairness == "absolute" else 0.0)
    pairs = np.sum((x[:, :, None] * x[:, None, :]) ** 2, axis=(1, 2))
    if basis == "monomial":
        pairs = 2 * pairs - np.sum(x**4, axis=1)
    found = 4 * (linear**2 * np.sum(x**2, axis=1) + pairs / 64)
    expected = float(sensitivities.twice_the_largest("l2", d, fairness, basis, domain))
    assert found.max() == pytest.approx(expected, rel=1e-9)


def test_retry_loss_is_the_ratio_of_two_geometric_tails():
    scale = 0.625
    reject = [math.exp(-q / scale) / 2 for q in (0.0, 0.125)]
    assert float(retry_loss(Fraction(1), 7)) == pytest.approx(7 * math.log(reject[0] / reject[1]))


def test_acceptance_in_one_dimension_agrees_with_the_closed_form():
    """Never above it but with the stated chance, and near it with many draws."""
    exact = 1.0 + math.log(2 - math.exp(-0.2))
    found = acceptance(1, 1.0, 400_000, 3)["loss is at least"]
    assert exact - 0.02 < found <= exact


@pytest.mark.parametrize(
    ("source", "reaches"),
    [
        ("from reference.readings import Readings\n", False),
        ("from reference.moments import Moments\n", True),
        ("def f():\n    import reference.datasets\n", True),
        ("from reference.mechanisms import pdfc\n", True),
        (
            "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from reference.moments import Moments\n",
            False,
        ),
    ],
)
def test_reach_of_a_module_is_found_through_its_imports(source, reaches):
    assert reaches_records(source) is reaches


def test_arguments_that_are_not_public_are_found():
    def takes_moments(moments: Moments, readings: Readings):
        raise NotImplementedError

    assert takes_more_than_public(takes_moments)
    assert not takes_more_than_public(minimise)
    assert draws_again(share_without_minimum)


# --- Shares without a minimum -----------------------------------------------------------------------------------


@pytest.mark.parametrize("probability", [0.001, 0.3, 0.98])
def test_bounds_on_a_share_cover_with_the_stated_probability(probability):
    """Summed over all outcomes, exactly; half the interval's width on either side does not cover."""
    draws, significance = 200, 0.05
    outcomes = np.arange(draws + 1)
    weights = binom.pmf(outcomes, draws, probability)
    bounds = [Share(int(k), draws, significance).bounds for k in outcomes]
    covered = sum(w for w, (low, high) in zip(weights, bounds, strict=True) if low <= probability <= high)
    assert covered >= 1 - significance
    middles = [((3 * low + high) / 4, (low + 3 * high) / 4) for low, high in bounds]
    narrow = sum(w for w, (low, high) in zip(weights, middles, strict=True) if low <= probability <= high)
    assert narrow < 1 - significance


@pytest.mark.parametrize(("count", "epsilon"), [(1, "1"), (100, "1"), (200, "0.1")])
def test_measured_share_agrees_with_the_closed_form_in_one_dimension(count, epsilon):
    exact = one_dimensional_probability(count, Fraction(epsilon))
    share = share_without_minimum(
        same_records(count, 1.0), "pdfc", epsilon, draws=20_000, seed=1, significance=1e-9
    )
    low, high = share.bounds
    assert low <= float(exact.lower) <= float(exact.upper) <= high


# --- Definitions, objective, theorems ---------------------------------------------------------------------------


@pytest.mark.parametrize("factor", ["1", "3/2", "2", "3"])
def test_smallest_delta_for_events_is_the_maximum_over_all_events(factor):
    mechanism = definitions.randomised_response(Fraction(3, 4))
    found = definitions.smallest_delta(mechanism, Fraction(factor))
    left, right = found.witness
    p, q = mechanism(left), mechanism(right)
    outputs = list(p)
    best = max(
        sum(p[s] for s in event) - Fraction(factor) * sum(q[s] for s in event)
        for event in (
            [s for s, kept in zip(outputs, mask, strict=True) if kept] for mask in product((0, 1), repeat=8)
        )
    )
    assert found.events == max(best, 0)


def test_true_penalty_never_has_a_larger_covariance_in_two_dimensions():
    for data in objective.data_sets(objective.GRID_2, 3):
        assert not objective.less_fair(data, "separate")


@pytest.mark.lengthy
def test_true_penalty_never_has_a_larger_covariance_with_four_records():
    for data in objective.data_sets(objective.GRID_2, 4):
        assert not objective.less_fair(data, "separate")


def test_positivity_from_a_start_is_certain_or_silent():
    d = theorems.d
    assert theorems.is_positive_from(d - 1, 2)
    assert not theorems.is_positive_from(d - 2, 2)
    assert not theorems.is_positive_from(-(d**2) + 100, 2)


@pytest.mark.parametrize(("shift", "epsilon"), [(0.3, 0.5), (2.0, 1.0), (0.05, 0.2)])
def test_delta_by_scipy_is_the_integral_of_the_excess(shift, epsilon):
    t = np.linspace(-12, 12, 2_000_001)
    excess = np.exp(-((t - shift) ** 2) / 2) - np.exp(epsilon - t * t / 2)
    integral = np.trapezoid(np.maximum(excess, 0), t) / math.sqrt(2 * math.pi)
    assert theorems.delta_by_scipy(shift, epsilon) == pytest.approx(integral, rel=1e-4, abs=1e-12)


@pytest.mark.parametrize(("weight", "exceeds"), [("1/2", True), ("0.999999", True), ("1", False), ("2", False)])
def test_laplace_loss_is_exceeded_below_the_right_weight_only(weight, exceeds):
    assert theorems.laplace_loss_exceeds(Fraction(weight)) is exceeds


@pytest.mark.exhaustive
def test_post_processing_needs_no_larger_delta_over_a_finer_grid(monkeypatch):
    monkeypatch.setattr(algorithms, "GRID", 6)
    assert not algorithms.processing_loses_more()


# --- A verdict falls when the fact that decides it is taken away ------------------------------------------------


@pytest.mark.parametrize(
    ("name", "place", "replacement"),
    [
        ("D1", "audit.claims.rows.definitions.single_outputs_tell_nothing", lambda *_: False),
        ("T1", "audit.claims.rows.theorems.laplace_scale", lambda *_: 0.0),
        ("T3", "audit.claims.rows.theorems.t3_needs_are_the_exact_ones", lambda: False),
        ("A.fix", "audit.claims.rows.algorithms.draws_again", lambda _: True),
        ("A.argmin", "audit.claims.rows.algorithms.OFTEN", 1.0),
        ("A.xs.data", "audit.claims.rows.algorithms.CORRELATED", UNTIED),
        ("L.2max", "audit.claims.rows.sensitivities.differs", lambda *_: False),
    ],
)
def test_row_is_undecided_without_its_deciding_fact(monkeypatch, name, place, replacement):
    monkeypatch.setattr(place, replacement)
    assert find(name).verdict == "undecided"


def test_choice_from_the_data_needs_an_event_on_the_coefficients_too(monkeypatch):
    none = {"events c_1-hat > t": [{"delta at the claimed epsilon": {"lo": "-1/10", "hi": "0"}}]}
    monkeypatch.setattr("audit.claims.rows.algorithms.hidden_choice_delta", lambda *_: none)
    assert find("A.xs.data").verdict == "undecided"


def test_proof_of_theorem_3_fails_on_the_unit_ball_by_the_drift_alone():
    """Two records of the stated domain; there the maxima themselves are within their shares."""
    finding = find("T3")
    assert finding.proof == "wrong"
    assert finding.evidence["the dropped drift, on the unit ball"]["domain"] == "unit_ball"
    assert not steps.t3_share_exceeds("unit_ball")
