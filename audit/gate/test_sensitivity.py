"""The exact sensitivities against every data set of small sizes, against search, and against broken formulas."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from functools import cache
from itertools import combinations_with_replacement, product
from typing import Any

import numpy as np
import pytest
from scipy.optimize import minimize

from audit.thresholds import (
    alpha_threshold,
    coefficients_with_chosen_sign,
    drift_counterexamples,
    sign_from_the_data,
    smallest_l1_sensitivity,
)
from audit.witnesses import readings_of, witness
from reference.errors import ReadingError
from reference.objective import objective
from reference.readings import Readings
from reference.sensitivity import (
    Setting,
    ball_l1,
    box,
    exact_l1,
    exact_l2_squared,
    published_l1_sensitivity,
    published_l2_sensitivity_squared,
)

FAIRNESS = ("none", "absolute", "covariance", "separate")
ADJACENCIES = ("replace_one", "add_or_remove_one")
WEIGHTS = ((1, 1), (1, 0), (0, 1), (3, 1), (1, 3), (40, 1))
SUPREMA = {"l1": exact_l1, "l2": exact_l2_squared}

# --- Every data set of small sizes, in integers, from the definitions -------------------------------------------


def coefficients(x, y, z, fairness, alpha, unit):
    """Return unit times (c, g) and 8 times the upper triangle of M, for data sets along the last axis of y and z.

    x has shape (..., N, d); `unit` clears all denominators.
    """
    n = y.shape[-1]
    members = z.sum(axis=-1, keepdims=True)
    # unit * (z - zbar) = unit/N * (N z - members)
    deviation = (unit // n) * (n * z - members)
    weight = (unit // 2) * (1 - 2 * y)
    # a multiple of alpha's denominator, as `unit` is of N (N - 1) times it
    weighted = deviation // alpha.denominator * alpha.numerator
    if fairness == "absolute":
        weight = weight + np.abs(weighted)
    elif fairness == "covariance":
        weight = weight + weighted
    linear = (weight[..., None] * x).sum(axis=-2)
    covariance = (deviation[..., None] * x).sum(axis=-2) if fairness == "separate" else 0 * linear
    e, k = np.triu_indices(x.shape[-1])
    return linear, covariance, (x[..., e] * x[..., k]).sum(axis=-2)


@cache
def largest_changes(setting: Setting, grid: int) -> dict[Any, Fraction]:
    """Return the largest changes over all data sets with entries k/grid, for both norms, bases and all WEIGHTS."""
    d, n, alpha = setting.dimension, setting.records, setting.fairness_weight
    assert n is not None
    values = range(grid + 1)
    kinds = [(x, y, z) for x in product(values, repeat=d) for y in (0, 1) for z in (0, 1)]
    X, Y, Z = (np.array([kind[i] for kind in kinds]) for i in range(3))
    unit = 2 * n * max(n - 1, 1) * alpha.denominator
    best: dict[Any, Fraction] = {}
    for base in combinations_with_replacement(range(len(kinds)), n - 1):
        with_last = np.array([[*base, last] for last in range(len(kinds))])
        sets = [tuple(v[with_last] for v in (X, Y, Z))]
        if not setting.replaces:
            only = np.array([base])
            sets.append(tuple(v[only] for v in (X, Y, Z)))
        parts = []
        for x, y, z in sets:
            linear, covariance, quadratic = coefficients(x, y, z, setting.fairness, alpha, unit)
            parts.append((np.concatenate([linear, covariance], axis=-1), quadratic))
        first, second = parts[0], parts[-1]
        change = np.abs((first[0][:, None] - second[0][None]).reshape(-1, 2 * d))
        quadratic = np.abs((first[1][:, None] - second[1][None]).reshape(-1, d * (d + 1) // 2))
        _keep_largest(best, change, quadratic, d, unit * grid, 8 * grid * grid)
    return best


def _keep_largest(best, linear, quadratic, d, linear_unit, quadratic_unit):
    """Add the weighted changes of one batch; both parts are brought to one denominator."""
    common = linear_unit * quadratic_unit
    linear, quadratic = linear * quadratic_unit, quadratic * linear_unit
    e, k = np.triu_indices(d)
    on_s = np.arange(2 * d) % d == 0
    with_s = e == 0
    own = e == k
    twice = np.where(own, 1, 2)
    s1 = linear[:, on_s].sum(axis=1) + (quadratic * twice)[:, with_s].sum(axis=1)
    n1 = linear[:, ~on_s].sum(axis=1) + (quadratic * twice)[:, ~with_s].sum(axis=1)
    for basis, factor in (("matrix", twice), ("monomial", twice**2)):
        s2 = (linear[:, on_s] ** 2).sum(axis=1) + (quadratic**2 * factor)[:, with_s].sum(axis=1)
        n2 = (linear[:, ~on_s] ** 2).sum(axis=1) + (quadratic**2 * factor)[:, ~with_s].sum(axis=1)
        for weights in WEIGHTS:
            l1, l2 = (int((weights[0] * s + weights[1] * n).max()) for s, n in ((s1, n1), (s2, n2)))
            for norm, value in (("l1", Fraction(l1, common)), ("l2", Fraction(l2, common**2))):
                key = (norm, basis, weights)
                best[key] = max(best.get(key, Fraction(0)), value)


SIZES = (
    (1, 1, 1), (1, 2, 1), (1, 3, 1), (1, 4, 1), (2, 1, 1), (2, 2, 1), (2, 3, 1), (3, 1, 1), (3, 2, 1), (4, 1, 1),
    (1, 2, 2), (1, 3, 2), (2, 2, 2),
)  # fmt: skip
"""(d, N, grid): entries are k/grid."""


def small_settings(d: int, n: int) -> Iterator[Setting]:
    """Yield the box settings of a size, with weights of the fairness term where it has one."""
    for fairness, adjacency in product(FAIRNESS, ADJACENCIES):
        if adjacency == "add_or_remove_one" and n < 2:
            continue
        for alpha in (
            (Fraction(1, 5), Fraction(1), Fraction(3)) if fairness in ("absolute", "covariance") else (1,)
        ):
            yield Setting(d, fairness, "unit_box", adjacency, "matrix", Fraction(alpha), n)


def vertex_is_best(setting: Setting, norm: str, weights: tuple[int, int], grid: int) -> bool:
    """Tell whether a proved maximiser has entries k/grid: always for l2; for l1 when q and t allow it."""
    if norm == "l2" or not setting.replaces or setting.dimension == 1 or weights == (1, 1):
        # in l1 and d = 1 the maximiser is q = 1; with equal weights the q's add up to 2
        return True
    d, (w_s, w_n) = setting.dimension, weights
    # an edge with a stationary t that is no multiple of 1/grid may beat the vertices
    stationary = [2 - Fraction(w_s, w_n) * q for q in (0, 1)] if w_n else []
    return all(not 0 < t < d - 1 or (t * grid).denominator == 1 for t in stationary)


@pytest.mark.exhaustive
@pytest.mark.parametrize(("d", "n", "grid"), SIZES)
def test_no_data_set_of_a_small_size_exceeds_the_supremum_and_vertices_attain_it(d, n, grid):
    for setting in small_settings(d, n):
        for (norm, basis, weights), found in largest_changes(setting, grid).items():
            exact = SUPREMA[norm](replace(setting, basis=basis), *map(Fraction, weights))
            assert exact.is_exact
            if vertex_is_best(setting, norm, weights, grid):
                assert found == exact.lower, (setting, norm, basis, weights)
            else:
                assert found <= exact.lower, (setting, norm, basis, weights)


def exceeded(formula, norm: str) -> int:
    """Return on how many small settings some data set exceeds a formula."""
    count = 0
    for d, n in ((1, 2), (2, 2), (2, 3)):
        for setting in small_settings(d, n):
            for (which, basis, weights), found in largest_changes(setting, 1).items():
                if which == norm and basis == "matrix" and weights == (1, 1):
                    count += found > formula(setting)
    return count


def without_drift(setting: Setting) -> Setting:
    """Return the setting with zbar held fixed at an extreme: e enters once, as in the paper's proofs."""
    return replace(setting, fairness_weight=setting.fairness_weight / 2)


BROKEN = {
    "l1 without the drift": ("l1", lambda s: exact_l1(without_drift(s)).lower),
    "l2 without the drift": ("l2", lambda s: exact_l2_squared(without_drift(s)).lower),
    "l1 without the replaced record's gain": (
        "l1",
        lambda s: exact_l1(s).lower - (box._replacement_gain(s.dimension, Fraction(1), Fraction(1)) / 2),
    ),
    "l1 of an added record": (
        "l1",
        lambda s: exact_l1(replace(s, adjacency="add_or_remove_one", records=max(2, s.records))).lower,
    ),
    "l2 with x = 0 only": (
        "l2",
        lambda s: s.dimension * box.linear_change(s) ** 2 + Fraction(s.dimension**2, 64),
    ),
}


@pytest.mark.parametrize("norm", ["l1", "l2"])
def test_enumeration_is_silent_on_the_right_formula(norm):
    assert exceeded(lambda setting: SUPREMA[norm](setting).lower, norm) == 0


@pytest.mark.parametrize("name", BROKEN)
def test_enumeration_fires_on_a_broken_formula(name):
    norm, formula = BROKEN[name]
    assert exceeded(formula, norm) > 0


# --- Search over whole data sets ------------------------------------------------------------------------------


def change_of(x, y, z, setting: Setting, norm: str, weight_s: float, weight_n: float) -> float:
    """Return the weighted change from the definitions; the last record replaces the one before, or is added."""
    d = setting.dimension

    def parts(rows):
        xs, ys, zs = x[rows], y[rows], z[rows]
        deviation = zs - zs.mean()
        a = float(setting.fairness_weight)
        term = {"none": 0 * deviation, "absolute": a * np.abs(deviation), "covariance": a * deviation}
        linear = (0.5 - ys + term.get(setting.fairness, 0 * deviation)) @ xs
        apart = deviation @ xs if setting.fairness == "separate" else np.zeros(d)
        return linear, apart, xs.T @ xs / 8

    n = len(y)
    before = list(range(n - 1))
    after = [*range(n - 2), n - 1] if setting.replaces else list(range(n))
    linear, apart, quadratic = (b - a for a, b in zip(parts(before), parts(after), strict=True))
    weight = np.full(d, weight_n)
    weight[0] = weight_s
    pair = np.full((d, d), weight_n)
    pair[0], pair[:, 0] = weight_s, weight_s
    if norm == "l1":
        return float(weight @ (np.abs(linear) + np.abs(apart)) + (pair * np.abs(quadratic)).sum())
    twice = np.ones((d, d)) if setting.basis == "matrix" else 2 - np.eye(d)
    return float(weight @ (linear**2 + apart**2) + (pair * twice * quadratic**2).sum())


def into_domain(values, norm: str):
    """Return records of a domain for any real numbers."""
    if norm == "unit_box":
        return np.clip(values, 0, 1)
    values = values if norm == "symmetric_ball" else np.abs(values)
    return values / np.maximum(1, np.linalg.norm(values, axis=1))[:, None]


def climb(setting: Setting, norm: str, weights: tuple[float, float], random, starts: int) -> float:
    """Return the largest change found by gradient ascent over all records, from random data sets."""
    rows, d = (setting.records or 1) + setting.replaces, setting.dimension
    best = 0.0
    for _ in range(starts):
        y, z = random.integers(0, 2, (2, rows)).astype(float)
        if random.random() < 0.7:
            z[:], z[-1], y[-1], y[-2] = 0, 1, 0, random.integers(0, 2)

        def loss(t, y=y, z=z):
            return -change_of(into_domain(t.reshape(rows, d), setting.norm), y, z, setting, norm, *weights)

        start = random.normal(size=rows * d) * 2 * (random.random(rows * d) < random.choice([0.4, 0.7, 1.0]))
        if setting.norm == "unit_box":
            start = random.random(rows * d)
        bounds = [(0, 1)] * (rows * d) if setting.norm == "unit_box" else None
        found = minimize(loss, start + 1e-3, method="L-BFGS-B", bounds=bounds, options={"maxiter": 100})
        best = max(best, -float(found.fun))
    return best


def test_gradient_search_over_whole_data_sets_never_exceeds_the_upper_end():
    random = np.random.default_rng(7)
    shortfalls = []
    for _ in range(90):
        norm_of_x = str(random.choice(["unit_box", "unit_ball", "unit_ball", "symmetric_ball"]))
        fairness = str(random.choice([f for f in FAIRNESS if (f, norm_of_x) != ("absolute", "symmetric_ball")]))
        setting = Setting(
            int(random.integers(1, 5)),
            fairness,
            norm_of_x,
            str(random.choice(ADJACENCIES)),
            str(random.choice(["matrix", "monomial"])),
            Fraction(int(random.integers(1, 12)), 4),
            int(random.integers(2, 5)),
        )
        norm = str(random.choice(["l1", "l2"]))
        weights = [(1, 1), (1, 3), (3, 1), (0, 1), (1, 0)][random.integers(5)]
        found = climb(setting, norm, weights, random, 2)
        exact = SUPREMA[norm](setting, *map(Fraction, weights))
        assert found <= float(exact.upper) * (1 + 1e-9) + 1e-9, (setting, norm, weights)
        shortfalls.append(1 - found / max(float(exact.lower), 1e-9) if exact.lower else 0.0)
    # a search that never comes near would show nothing
    assert np.mean(np.array(shortfalls) < 1e-3) > 0.4


def test_vertex_search_over_larger_data_sets_never_exceeds_the_box_supremum():
    """One record at a time is moved to its best vertex, label and group, until nothing improves: d = 5, N = 6."""
    random = np.random.default_rng(3)
    corners = np.array(list(product((0.0, 1.0), repeat=5)))
    for fairness, adjacency, norm in product(FAIRNESS, ADJACENCIES, ("l1", "l2")):
        setting = Setting(5, fairness, "unit_box", adjacency, "monomial", Fraction(1), 6)
        rows = 6 + setting.replaces
        x = corners[random.integers(0, len(corners), rows)]
        y, z = random.integers(0, 2, (2, rows)).astype(float)
        best = change_of(x, y, z, setting, norm, 1, 1)
        for row in [*range(rows - 1, -1, -1)] * 2:
            for corner, label, group in product(corners, (0.0, 1.0), (0.0, 1.0)):
                kept = x[row].copy(), y[row], z[row]
                x[row], y[row], z[row] = corner, label, group
                value = change_of(x, y, z, setting, norm, 1, 1)
                if value > best:
                    best = value
                else:
                    x[row], y[row], z[row] = kept
        exact = SUPREMA[norm](setting)
        assert best <= float(exact.upper) * (1 + 1e-12)
        assert best >= 0.7 * float(exact.lower)


# --- Witnesses, through Moments and objective -----------------------------------------------------------------


def witness_settings(records) -> Iterator[Setting]:
    """Yield readings at a number of records."""
    for fairness, norm, adjacency, basis, d in product(
        FAIRNESS, ("unit_box", "unit_ball", "symmetric_ball"), ADJACENCIES, ("monomial", "matrix"), (1, 2, 4)
    ):
        if not (fairness == "absolute" and norm == "symmetric_ball"):
            yield Setting(d, fairness, norm, adjacency, basis, Fraction(3, 2), records)


def observed(found, setting: Setting, norm: str, weight_s, weight_n) -> float:
    """Return the weighted change of the released coefficients."""
    layout = objective(found.left.moments, readings_of(setting)).layout
    weights = np.where(layout.contains(0), float(weight_s), float(weight_n))
    change = np.abs(found.change)
    return float(weights @ (change if norm == "l1" else change**2))


@pytest.mark.parametrize("records", [2, 3, 1000])
@pytest.mark.parametrize("norm", ["l1", "l2"])
def test_witness_attains_the_supremum_through_the_released_coefficients(records, norm):
    for setting in witness_settings(records):
        for weights in ((1, 1), (5, 2), (2, 5)) if setting.dimension < 4 else ((1, 1), (2, 5)):
            weight_s, weight_n = map(Fraction, weights)
            exact = SUPREMA[norm](setting, weight_s, weight_n)
            found = witness(setting, norm, weight_s, weight_n)
            value = observed(found, setting, norm, weight_s, weight_n)
            closed = exact.method.startswith("closed form")
            assert value == pytest.approx(float(exact.lower), rel=1e-12 if closed else 1e-9), (setting, weights)
            assert value <= float(exact.upper) * (1 + 1e-11)
            assert float(found.value) == pytest.approx(value, rel=1e-12)


def test_witness_approaches_the_limit_as_records_grow():
    for setting in witness_settings(None):
        if setting.basis == "monomial":
            continue
        limit = float(exact_l1(setting).lower)
        gaps = [
            limit - observed(witness(replace(setting, records=n), "l1"), setting, "l1", 1, 1)
            for n in (10, 100, 10_000)
        ]
        assert gaps[0] >= gaps[1] >= gaps[2] - 1e-9
        assert gaps[2] < 1e-3 * limit


def test_witness_check_fires_on_data_sets_that_do_not_attain_the_value():
    setting = Setting(3, "absolute", "unit_ball", records=10)
    right, wrong = witness(setting, "l2"), witness(replace(setting, fairness="covariance"), "l2")
    assert observed(right, setting, "l2", 1, 1) == pytest.approx(float(exact_l2_squared(setting).lower))
    assert observed(wrong, setting, "l2", 1, 1) > 0
    readings = readings_of(setting)
    left, other = (objective(side.moments, readings).values for side in (wrong.left, wrong.right))
    assert float(((left - other) ** 2).sum()) < 0.9 * float(exact_l2_squared(setting).lower)


def test_cauchy_schwarz_bound_is_not_exceeded_by_the_best_patterns():
    for fairness, norm, d in product(FAIRNESS, ("unit_ball", "symmetric_ball"), (1, 2, 3)):
        if fairness == "absolute" and norm == "symmetric_ball":
            continue
        for alpha, weights in product(
            (Fraction(1, 10), Fraction(1), Fraction(5)), ((1.0, 1.0), (1.0, 0.2), (0.2, 1.0))
        ):
            setting = Setting(d, fairness, norm, fairness_weight=alpha)
            best = ball_l1._Problem(setting, *weights).every_pattern(None)[0]
            assert best <= ball_l1._Problem(setting, *weights).cauchy_schwarz() * (1 + 1e-9)


# --- Claims L1 to L4, L2.alpha, L2.sign, Theorem 3's smallest Delta_1 -------------------------------------------


def test_published_bounds_hold_strictly_with_fairness_weight_one():
    for fairness, adjacency, basis in product(
        ("none", "absolute", "covariance"), ADJACENCIES, ("matrix", "monomial")
    ):
        for norm in ("unit_box", "unit_ball", "symmetric_ball"):
            if (fairness, norm) == ("absolute", "symmetric_ball"):
                continue
            for d in (*range(1, 30), 44, 45, 60, 88, 89, 150):
                setting = Setting(d, fairness, norm, adjacency, basis)
                assert exact_l2_squared(setting).upper < published_l2_sensitivity_squared(fairness, d)
                if norm == "unit_box" or d in (1, 2, 13, 60):
                    assert exact_l1(setting).upper < published_l1_sensitivity(fairness, d)


THRESHOLDS = {
    (1, "unit_box", "replace_one", "l1"): 9 / 8,
    (13, "unit_box", "replace_one", "l1"): 425 / 208,
    (2, "unit_box", "add_or_remove_one", "l1"): 11 / 8,
    (13, "unit_box", "replace_one", "l2"): 1.0662463,
    (13, "unit_ball", "replace_one", "l2"): 5.1471779,
    (5, "unit_ball", "replace_one", "l1"): 4.179268,
    (13, "unit_ball", "add_or_remove_one", "l1"): 10.792001,
}


@pytest.mark.parametrize("key", THRESHOLDS)
def test_alpha_threshold_has_the_known_value(key):
    d, norm_of_x, adjacency, norm = key
    found = alpha_threshold(Setting(d, "absolute", norm_of_x, adjacency, "matrix"), norm)
    assert float(found.lower) == pytest.approx(THRESHOLDS[key], abs=2e-6)
    assert found.upper - found.lower < Fraction(1, 10**6)


@pytest.mark.parametrize("norm", ["l1", "l2"])
def test_published_bound_holds_below_the_alpha_threshold_and_its_witness_exceeds_it_above(norm):
    """Both sides of L2.alpha: 0.1 % below the bound stands, 0.1 % above real data sets break it."""
    published = {"l1": published_l1_sensitivity, "l2": published_l2_sensitivity_squared}[norm]
    for fairness, norm_of_x, adjacency, d in product(
        ("absolute", "covariance"), ("unit_box", "unit_ball", "symmetric_ball"), ADJACENCIES, (1, 2)
    ):
        if (fairness, norm_of_x) == ("absolute", "symmetric_ball"):
            continue
        for basis, records in (("matrix", 2), ("monomial", 1000)):
            setting = Setting(d, fairness, norm_of_x, adjacency, basis, records=records)
            threshold = alpha_threshold(setting, norm)
            below = replace(setting, fairness_weight=threshold.lower * Fraction(999, 1000))
            above = replace(
                setting, fairness_weight=(threshold.upper * Fraction(1001, 1000)).limit_denominator(10**6)
            )
            bound = published(fairness, d)
            assert SUPREMA[norm](below).upper <= bound, setting
            assert observed(witness(above, norm), above, norm, 1, 1) > bound, setting


def test_alpha_threshold_is_refused_where_alpha_has_no_effect():
    for setting in (Setting(2, "none"), Setting(2, "separate"), Setting(2, "absolute", records=1)):
        with pytest.raises(ReadingError):
            alpha_threshold(setting, "l1")


@pytest.mark.parametrize("domain", ["unit_ball", "unit_box"])
def test_sign_chosen_from_the_data_changes_without_bound_in_the_number_of_records(domain):
    for half, alpha in ((1, 1), (10, 2), (50_000, 1)):
        flip = sign_from_the_data(half, Fraction(alpha), domain)
        left, right = (
            coefficients_with_chosen_sign(side.moments, alpha, np.ones(2)) for side in (flip.left, flip.right)
        )
        assert float(np.abs(left - right).sum()) == pytest.approx(float(flip.change), rel=1e-9)
        assert flip.change == alpha * (len(flip.left) - 1)
    # with the sign fixed the same data sets are close
    plain = Readings(fairness="covariance")
    left, right = (objective(side.moments, plain).values for side in (flip.left, flip.right))
    assert float(np.abs(left - right).sum()) <= float(exact_l1(Setting(2, "covariance", domain)).upper)


def test_second_line_of_the_proofs_of_lemmas_2_and_4_drops_the_drift():
    found = list(drift_counterexamples())
    assert len(found) == 2
    for left, right, change, last_terms in found:
        values = [objective(side.moments, Readings(fairness="absolute")).linear[0] for side in (left, right)]
        assert values[1] - values[0] == float(change)
        terms = []
        for side in (left, right):
            x, y, z = (float(v[-1]) for v in (side.distinct.x[:, 0], side.distinct.y, side.distinct.z))
            terms.append((0.5 - y + abs(z - side.moments.zbar)) * x)
        assert terms[1] - terms[0] == float(last_terms)
        assert change > last_terms


def test_smallest_delta_1_suffices_for_every_budget_and_nothing_less_does():
    for fairness, norm_of_x, adjacency, d in product(FAIRNESS, ("unit_box", "unit_ball"), ADJACENCIES, (1, 2, 3)):
        setting = Setting(d, fairness, norm_of_x, adjacency, records=50)
        needed = smallest_l1_sensitivity(setting)
        assert needed.upper - needed.lower < Fraction(1, 10**6)
        losses = []
        for ratio in (
            Fraction(0),
            Fraction(1, 100),
            Fraction(1, 2),
            Fraction(1),
            Fraction(3),
            Fraction(100),
            None,
        ):
            epsilon_s, epsilon_n = (ratio, Fraction(1)) if ratio is not None else (Fraction(1), Fraction(0))
            claimed = epsilon_s / d + epsilon_n * Fraction(d - 1, d)
            loss = exact_l1(setting, epsilon_s, epsilon_n)
            assert loss.lower / needed.upper <= claimed
            losses.append(loss.upper - claimed * needed.lower)
        assert max(losses) >= 0


def test_smallest_delta_1_is_below_the_published_one_exactly_up_to_nine_eighths_of_drift():
    for d in range(1, 40):
        for alpha, sufficient in ((Fraction(9, 8), True), (Fraction(9, 8) + Fraction(1, 10**9), False)):
            setting = Setting(d, "absolute", "unit_box", fairness_weight=alpha)
            assert (
                smallest_l1_sensitivity(setting).upper <= published_l1_sensitivity("absolute", d)
            ) is sufficient
