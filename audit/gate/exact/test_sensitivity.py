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

from audit.exact.witnesses import readings_of, witness
from audit.gate.exact.sensitivity_settings import ADJACENCIES, FAIRNESS, SUPREMA, observed
from audit.gate.needs import exhaustively
from reference.objective import objective
from reference.sensitivity import (
    Setting,
    ball_l1,
    box,
    exact_l1,
    exact_l2_squared,
)

WEIGHTS = ((1, 1), (1, 0), (0, 1), (3, 1), (1, 3), (40, 1))


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
    """Return whether a proved maximiser has entries k/grid: always for l2; for l1 when q and t allow it."""
    if norm == "l2" or not setting.replaces or setting.dimension == 1 or weights == (1, 1):
        # in l1 and d = 1 the maximiser is q = 1; with equal weights the q's add up to 2
        return True
    d, (w_s, w_n) = setting.dimension, weights
    # an edge with a stationary t that is not a multiple of 1/grid may beat the vertices
    stationary = [2 - Fraction(w_s, w_n) * q for q in (0, 1)] if w_n else []
    return all(not 0 < t < d - 1 or (t * grid).denominator == 1 for t in stationary)


@pytest.mark.exhaustive
@pytest.mark.parametrize(("d", "n", "grid"), SIZES)
def test_no_small_data_set_exceeds_the_supremum_and_vertices_attain_it(d, n, grid):
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
    for _ in range(40):
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


def test_vertex_search_of_larger_data_never_exceeds_the_box_supremum():
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


@pytest.mark.parametrize("records", [2, pytest.param(3, marks=pytest.mark.lengthy), *exhaustively(1000)])
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
            if d == 3 and alpha != 1:
                continue
            setting = Setting(d, fairness, norm, fairness_weight=alpha)
            best = ball_l1._Problem(setting, *weights).every_pattern(None)[0]
            assert best <= ball_l1._Problem(setting, *weights).cauchy_schwarz() * (1 + 1e-9)
