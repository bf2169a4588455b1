"""Every derived loss of the catalogue by another road: an event of known probabilities that attains it.

The probabilities are written down here from distribution functions, adaptive integrals and records, not from the
catalogue's code; the samplers must show them, and their log ratio must be the loss.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.optimize import brentq
from scipy.stats import binomtest, cauchy, laplace, norm

from audit.subjects.catalogue import CATALOGUE
from audit.subjects.catalogue.laplace import _unit_variates

DRAWS = 40_000
FALSE_ALARM = 1e-9
"""Per comparison of a frequency with its probability: about 1e-7 for all."""

BALL_D3, FAIR_BALL_D3 = 1.948622308098, 5.372268681029
"""Exact Delta_1 on the unit ball with d = 3: without fairness term, and `absolute`."""


@dataclass(frozen=True)
class Case:
    """An event with its probabilities on the two inputs.

    `gap` is how far its log ratio stays below the loss: 0 where the event attains it.
    """

    event: Callable[[Any], Any]
    left: float
    right: float
    gap: float = 1e-9


def below(threshold: float = 0.0) -> Callable[[Any], Any]:
    return lambda v: (v <= threshold).all(axis=1)


def equals(*values: float) -> Callable[[Any], Any]:
    return lambda v: (v[:, : len(values)] == values).all(axis=1)


# --- Selection and sparse vector ------------------------------------------------------------------------------


def integral(function: Callable[[float], float], kinks: list[float], reach: float = 150.0) -> float:
    edges = [-reach, *sorted(set(kinks)), reach]
    return sum(quad(function, a, b, epsabs=1e-14, limit=200)[0] for a, b in pairwise(edges))


def laplace_tail(x: float) -> float:
    """Return P(noise <= x) for Laplace noise of scale 1, as plain floats: it is integrated over point by point."""
    return math.exp(x) / 2 if x <= 0 else 1 - math.exp(-x) / 2


def sparse_probability(data: Any, places: tuple[int, ...], stop: int | None, scales: Any, refresh: bool) -> float:
    """Return the chance that exactly these answers are above, in order, the threshold being Laplace around `t`."""
    t, threshold_scale, answer_scale = scales
    asked = places[-1] + 1 if len(places) == stop else len(data)
    parts, start = [], 0
    for end in places if refresh else ():
        parts.append((start, end + 1))
        start = end + 1
    if start < asked:
        parts.append((start, asked))

    def chance(first: int, last: int) -> float:
        def density(x: float) -> float:
            value: float = math.exp(-abs(x - t) / threshold_scale) / (2 * threshold_scale)
            for j in range(first, last):
                value *= laplace_tail((data[j] - x if j in places else x - data[j]) / answer_scale)
            return value

        return integral(density, [t, 0.0, 1.0, -1.0])

    return math.prod(chance(*part) for part in parts)


def worst_sparse(name: str, stop: int | None, scales: Any, refresh: bool = False) -> Case:
    entry: Any = CATALOGUE[name]()
    left, right = entry.inputs()
    all_left, all_right = entry.probabilities(left), entry.probabilities(right)
    assert all_left.sum() == pytest.approx(1, abs=1e-9)
    assert all_right.sum() == pytest.approx(1, abs=1e-9)
    places = list(entry.outputs())[int(np.abs(np.log(all_left / all_right)).argmax())]
    if stop is None:
        shown = tuple(float(j in places) for j in range(len(left)))
    else:
        shown = tuple(float(p) for p in (*places, *[len(left)] * (stop - len(places))))
    p, q = (sparse_probability(data, places, stop, scales, refresh) for data in (left, right))
    return Case(equals(*shown), p, q, 1e-7)


def numerical_sparse() -> Case:
    """Index i with a value on the far side of its answer: half of both, times exp(1/2) between them."""
    left, right = CATALOGUE["sparse_vector_numerical"]().inputs()
    scales = (0.5, 4.0, 8.0)
    pairs = [[sparse_probability(data, (i,), 1, scales, False) for data in (left, right)] for i in range(5)]
    i = int(np.argmax([abs(math.log(p / q)) for p, q in pairs]))
    p, q = pairs[i]
    more, less = (left, right) if p > q else (right, left)
    sign = 1.0 if more[i] < less[i] else -1.0

    def event(v: Any) -> Any:
        return (v[:, 0] == i) & (sign * (v[:, 1] - more[i]) <= 0)

    far = math.exp(-0.5)
    return Case(event, p / 2 * (1 if p > q else far), q / 2 * (far if p > q else 1), 1e-7)


def gap_sparse() -> Case:
    """The first answer is the one above: less than the loss, which gaps reach (see the test of densities)."""
    left, right = CATALOGUE["sparse_vector_gap"]().inputs()
    p, q = (sparse_probability(data, (0,), 1, (0.5, 2.0, 4.0), False) for data in (left, right))
    return Case(lambda v: v[:, 0] == 0, p, q, math.inf)


def test_gap_densities_add_up_to_the_probability_of_their_index():
    entry: Any = CATALOGUE["sparse_vector_gap"]()
    data = entry.inputs()[0]
    gaps = np.concatenate([np.linspace(0, 8, 161), np.linspace(8.25, 120, 448)])
    total = np.trapezoid(entry.densities(data, gaps), gaps, axis=1)
    for index in (0, 2, 5):
        expected = sparse_probability(data, (index,), 1, (0.5, 2.0, 4.0), False)
        assert total[index] == pytest.approx(expected, rel=1e-3)
    # and no output loses more than the claim
    assert entry.true_epsilon <= 1.0


def laplace_maximum(data: Any) -> float:
    def density(t: float) -> float:
        return math.exp(-abs(t - data[0]) / 2) / 4 * math.prod(laplace_tail((t - other) / 2) for other in data[1:])

    return integral(density, [0.0, 1.0])


# --- Functional mechanisms --------------------------------------------------------------------------------------


def coefficients(rows: list[dict[str, Any]], fairness: str) -> Any:
    """Return the monomial coefficients, record by record, as equation (6) has them."""
    n = sum(row["count"] for row in rows)
    zbar = sum(row["count"] * row["z"] for row in rows) / n
    d = len(rows[0]["x"])
    pairs = [(e, k) for e in range(d) for k in range(e, d)]
    total = np.zeros(d + len(pairs))
    for row in rows:
        fair = abs(row["z"] - zbar) if fairness == "absolute" else 0.0
        linear = [(0.5 - row["y"] + fair) * x for x in row["x"]]
        square = [row["x"][e] * row["x"][k] / (8 if e == k else 4) for e, k in pairs]
        total += row["count"] * np.array(linear + square)
    return total


def change(name: str) -> tuple[Any, Any]:
    pair: Any = CATALOGUE[name]().neighbours  # type: ignore[attr-defined]
    left, right = (coefficients(side.to_json(), pair.readings.fairness) for side in (pair.left, pair.right))
    return left, np.where(np.abs(right - left) < 1e-9, 0.0, right - left)


def corner(name: str, scales: Any, repeats: int = 1) -> Case:
    """All changed coefficients beyond the left ones: half each on the left, and half exp(-|change| / scale)."""
    left, moved = change(name)
    scales = np.broadcast_to(scales, moved.shape)
    changed = moved != 0

    def event(v: Any) -> Any:
        beyond = np.tile(np.where(changed, np.sign(moved), 0.0), repeats) * (v - np.tile(left, repeats))
        # a change of 0 is not a condition; rounding of sums of records is not one either
        return (beyond <= 1e-9).all(axis=1)

    p = 0.5 ** (repeats * int(changed.sum()))
    return Case(event, p, p * math.exp(-repeats * float((np.abs(moved) / scales).sum())), 1e-6)


def split_scales(l1_sensitivity: float, ratio: float) -> Any:
    """d = 3 and epsilon = 1: the coefficients of w_1 are the first, and the first three products."""
    epsilon_n = 3 / (ratio + 2)
    in_s = np.array([1, 0, 0, 1, 1, 1, 0, 0, 0], dtype=bool)
    return np.where(in_s, l1_sensitivity / (ratio * epsilon_n), l1_sensitivity / epsilon_n)


def gaussian_sigma(l2_squared: float, epsilon: float, delta: float) -> float:
    """Theorem 2, from its formula."""
    logarithm = math.log(math.sqrt(2 / math.pi) / delta)
    return math.sqrt(2 * l2_squared) / (2 * epsilon) * (math.sqrt(logarithm) + math.sqrt(logarithm + epsilon))


def shifted(name: str, sigmas: Any, delta: float) -> Case:
    """The log likelihood ratio at its best threshold, which solves log((p - delta) / q) = threshold."""
    left, moved = change(name)
    weights = moved / np.broadcast_to(sigmas, moved.shape) ** 2
    mu = math.sqrt(float(moved @ weights))

    def excess(epsilon: float) -> float:
        upper, lower = norm.cdf(mu / 2 - epsilon / mu), norm.cdf(-mu / 2 - epsilon / mu)
        return float(upper - math.exp(epsilon) * lower - delta)

    best = brentq(excess, 0.0, 60.0, xtol=1e-13)

    def event(v: Any) -> Any:
        return mu * mu / 2 - (v - left) @ weights >= best

    return Case(event, float(norm.cdf(mu / 2 - best / mu)), float(norm.cdf(-mu / 2 - best / mu)), 1e-6)


def gaussian(sigma: float, epsilon: float) -> Case:
    """Low outputs, up to where the density ratio is exp(epsilon)."""
    at = 0.5 - epsilon * sigma**2
    return Case(below(at), float(norm.cdf(at / sigma)), float(norm.cdf((at - 1) / sigma)), 1e-6)


def analytic_sigma() -> float:
    def excess(sigma: float) -> float:
        mu = 1 / sigma
        return float(norm.cdf(mu / 2 - 1 / mu) - math.e * norm.cdf(-mu / 2 - 1 / mu) - 1e-3)

    return float(brentq(excess, 0.5, 10, xtol=1e-13))


def adfc_sigmas(ratio: float) -> Any:
    d, part = 13, 1 - math.sqrt(1 - 1e-3)
    epsilon_n = d / (ratio + d - 1)
    sigma_s, sigma_n = (gaussian_sigma(d * d / 16 + 9 * d, e, part) for e in (ratio * epsilon_n, epsilon_n))
    in_s = [e == 0 for e in range(d)] + [e == 0 for e in range(d) for _ in range(e, d)]
    return np.where(in_s, sigma_s, sigma_n)


def retried_until_definite(b: float) -> Case:
    """A square within 0.01 of 0, and a linear coefficient below 0, with noise of scale b."""
    h = 0.01
    p = 0.5 * (laplace.cdf(h / b) - 0.5) / 0.5
    window = laplace.cdf((h - 0.125) / b) - laplace.cdf(-0.125 / b)
    q = 0.5 * math.exp(-0.5 / b) * window / (1 - 0.5 * math.exp(-0.125 / b))
    return Case(lambda v: (v[:, 0] <= 0) & (v[:, 1] <= h), p, q, 2 * h / b)


def first_retried() -> Case:
    h = 0.05
    p, q = 2 * (laplace.cdf(h) - 0.5), (laplace.cdf(h - 1) - laplace.cdf(-1)) / (1 - 0.5 * math.exp(-1))
    return Case(below(h), p, q, 2 * h)


def constant(name: str, columns: list[int]) -> Case:
    """Coordinates without noise, as they are on the left; records give them, up to the rounding of sums."""
    left, _ = change(name)
    return Case(lambda v: (np.abs(v[:, columns] - left[columns]) < 1e-9).all(axis=1), 1.0, 0.0)


def one_variate() -> Case:
    left, _ = change("functional_one_variate")
    return Case(lambda v: np.abs(v[:, 0] - v[:, 2] - (left[0] - left[2])) < 1e-9, 1.0, 0.0)


def unnoised_fairness() -> Case:
    """All of group 0 on the left: no covariance at all."""
    return Case(lambda v: (v[:, 5:] == 0).all(axis=1), 1.0, 0.0)


def permute_and_flip() -> Case:
    """The first answer is the largest on the left, and accepted with exp(-1/2) and only if first on the right."""
    accepted = math.exp(-0.5)
    return Case(equals(0), sum((1 - accepted) ** k for k in range(5)) / 5, accepted / 5)


def exponent_of_cauchy() -> Case:
    """A short interval around the output where the density ratio is largest; its log ratio is even there."""
    shift, h = 2 * math.sinh(1.5), 0.02
    at = (shift - math.sqrt(shift * shift + 4)) / 2
    p, q = (float(cauchy.cdf(at + h - moved) - cauchy.cdf(at - h - moved)) for moved in (0.0, shift))
    return Case(lambda v: (v[:, 0] >= math.exp(at - h)) & (v[:, 0] <= math.exp(at + h)), p, q, h * h)


def left_codes() -> Any:
    codes = [1]
    for _ in range(10_006):
        codes.append(codes[-1] * 5 % 10_007)
    assert len(set(codes[1:])) == 10_006
    return 1_000 + np.array(codes[1:5_001])


def variates_of_bytes() -> Any:
    return np.sort([np.random.default_rng(seed).laplace() for seed in range(256)])


E1 = math.exp(-1)
ROOT = math.exp(0.5)
HALF_BIT = math.exp(0.25) / (1 + math.exp(0.25))

CASES: dict[str, Callable[[], Case]] = {
    "laplace": lambda: Case(below(), 0.5, 0.5 * E1),
    "laplace_scored": lambda: Case(below(), 0.5, 0.5 * E1),
    "laplace_product": lambda: Case(below(), 0.5**8, float(laplace.cdf(-1 / 8)) ** 8),
    "laplace_common_noise": lambda: Case(lambda v: v[:, 1] <= v[:, 0], 0.5, 0.5 * E1),
    "parity": lambda: Case(lambda v: v[:, 0] % 2 == 0, 0.9, 0.1),
    "residue_of_seven": lambda: Case(lambda v: v[:, 0] % 7 == 0, 0.6, 0.4 / 6),
    "geometric": lambda: Case(below(), 1 / (1 + E1), E1 / (1 + E1)),
    "gaussian": lambda: gaussian(analytic_sigma(), 1.0),
    "noisy_max_index_laplace": lambda: Case(
        equals(0), laplace_maximum(np.array([1.0, 0, 0, 0, 0])), laplace_maximum(np.array([0.0, 1, 1, 1, 1])), 1e-7
    ),
    "noisy_max_index_exponential": permute_and_flip,
    "noisy_max_index_gumbel": lambda: Case(equals(0), ROOT / (ROOT + 4), 1 / (1 + 4 * ROOT)),
    "sparse_vector_1": lambda: worst_sparse("sparse_vector_1", 2, (0.5, 2.0, 8.0)),
    "sparse_vector_2": lambda: worst_sparse("sparse_vector_2", 2, (0.5, 4.0, 8.0), refresh=True),
    "sparse_vector_numerical": numerical_sparse,
    "sparse_vector_gap": gap_sparse,
    "smart_sum": lambda: Case(lambda v: (v[:, [0, 2]] <= 0).all(axis=1), 0.25, 0.25 * E1),
    "rappor": lambda: Case(
        lambda v: (v[:, [0, 3, 1, 6]] == [1, 1, 0, 0]).all(axis=1), HALF_BIT**4, (1 - HALF_BIT) ** 4
    ),
    "private_mean": lambda: Case(below(0.475), 0.5, 0.5 * E1, 1e-6),
    "functional_published": lambda: corner("functional_published", 21 / 4),
    "functional_exact": lambda: corner("functional_exact", 6.0),
    "relaxed_functional_published": lambda: shifted(
        "relaxed_functional_published", gaussian_sigma(9 / 16 + 3, 1.0, 1e-3), 1e-3
    ),
    "pdfc_published": lambda: corner("pdfc_published", split_scales(45 / 4, 20)),
    "pdfc_exact_equal_budgets": lambda: corner("pdfc_exact_equal_budgets", split_scales(FAIR_BALL_D3, 1)),
    "adfc_equal_budgets": lambda: shifted("adfc_equal_budgets", adfc_sigmas(1), 1e-3),
    "functional_slack_wrong_factor": lambda: corner("functional_slack_wrong_factor", 21 / 8),
    "functional_slack_wrong_dimension": lambda: corner("functional_slack_wrong_dimension", 3.0),
    "functional_slack_intercept": lambda: corner("functional_slack_intercept", 21 / 4),
    "laplace_half_noise": lambda: Case(below(), 0.5, 0.5 * E1**2),
    "laplace_inverted_scale": lambda: Case(below(), 0.5, 0.5 * E1**2),
    "laplace_double_spending": lambda: Case(below(), 0.25, 0.25 * E1**2),
    "laplace_leaky": lambda: Case(equals(101), 0.0, 1e-4),
    "laplace_zero_sensitivity": lambda: Case(equals(0), 1.0, 0.0),
    "laplace_bounds_from_data": lambda: Case(
        lambda v: v[:, 0] >= 1.5, float(laplace.sf(149)), float(laplace.sf(0.5)), math.inf
    ),
    "laplace_nan_through_clipping": lambda: Case(lambda v: np.isnan(v[:, 0]), 0.0, 1.0),
    "laplace_low_entropy_seed": lambda: Case(lambda v: np.isin(v[:, 0], variates_of_bytes()), 1.0, 0.0),
    "laplace_retried": first_retried,
    "gaussian_classic": lambda: gaussian(
        math.sqrt(2 * math.log(1250)) / 15, CATALOGUE["gaussian_classic"]().true_epsilon
    ),
    "gaussian_classic_within_reach": lambda: gaussian(
        math.sqrt(2 * math.log(12.5)) / 8, CATALOGUE["gaussian_classic_within_reach"]().true_epsilon
    ),
    "noisy_max_value": lambda: Case(below(), 0.5**5, 0.5**5 * math.exp(-2.5)),
    "sparse_vector_3": lambda: Case(
        lambda v: (v[:, 0] == 4) & (v[:, 1] <= 0), 0.5**6 / 30, 0.5**6 / 30 * math.exp(-2.5)
    ),
    "sparse_vector_4": lambda: worst_sparse("sparse_vector_4", 1, (0.5, 4.0, 4 / 3)),
    "sparse_vector_5": lambda: Case(equals(0, 0, 0, 0, 0, 1, 1, 1, 1, 1), 1 - math.exp(-0.25), 0.0),
    "sparse_vector_6": lambda: worst_sparse("sparse_vector_6", None, (0.0, 2.0, 2.0)),
    "prefix_sum": lambda: Case(below(), 0.5**5, (0.5 * E1) ** 5),
    "limited_count": lambda: Case(equals(10), 0.0, 1.0),
    "histogram_of_seen_values": lambda: Case(lambda v: np.isnan(v[:, 2]), 1.0, 0.0),
    # beyond 1/2 by 120: exp(-240) against exp(-120)
    "mean_of_private_size": lambda: Case(
        lambda v: np.abs(v[:, 0] - 0.5) >= 120, math.exp(-240), math.exp(-120), math.inf
    ),
    # beyond 400: exp(-400) against exp(-200)
    "common_noise_scale": lambda: Case(
        lambda v: np.abs(v[:, 1] - v[:, 0]) >= 400, math.exp(-400), math.exp(-200), math.inf
    ),
    "whole_noise_on_halves": lambda: Case(lambda v: v[:, 0] % 1 == 0, 1.0, 0.0),
    "shared_by_chance": lambda: Case(lambda v: v[:, 0] == v[:, 1], 0.0, 0.1),
    "unclipped_covariance": lambda: Case(
        lambda v: (v <= [0.36, 0.48, 1.64]).all(axis=1), 0.125, 0.125 * math.exp(-14 / 3)
    ),
    "three_reported_as_one": lambda: Case(below(), 0.5**3, (0.5 * E1) ** 3),
    "composed_by_root": lambda: Case(below(), 0.5**4, (0.5 * math.exp(-0.5)) ** 4),
    "exponent_of_cauchy": exponent_of_cauchy,
    "rare_codes": lambda: Case(lambda v: np.isin(v[:, 0], left_codes()), 0.02, 0.0),
    "rare_pairs": lambda: Case(lambda v: (v[:, 0] < 100) & (v.sum(axis=1) % 2 == 0), 0.02, 0.0),
    "unnoised_count": lambda: Case(lambda v: v[:, 1] == 20, 1.0, 0.0),
    "functional_wrong_factor": lambda: corner("functional_wrong_factor", 3.0),
    "functional_wrong_dimension": lambda: corner("functional_wrong_dimension", 6.0),
    "functional_unnoised_label": lambda: constant("functional_unnoised_label", [0, 1]),
    "functional_unnoised_fairness": unnoised_fairness,
    "functional_unnoised_diagonal": lambda: constant("functional_unnoised_diagonal", [2, 4]),
    "functional_lower_bound_twice": lambda: constant("functional_lower_bound_twice", [0, 1, 2, 3, 4]),
    "functional_scaled_by_maximum": lambda: corner("functional_scaled_by_maximum", 6.0),
    "functional_trimmed_on_exact_eigenvalues": lambda: Case(lambda v: v[:, 1] == 0, 1.0, 0.0),
    "functional_one_variate": one_variate,
    "functional_intercept_outside_norm": lambda: corner("functional_intercept_outside_norm", BALL_D3),
    "functional_redrawn_per_pass": lambda: corner("functional_redrawn_per_pass", 6.0, repeats=3),
    "functional_public_zbar": lambda: corner("functional_public_zbar", 4.0),
    # Delta_1 / epsilon: 5/8 over 4, and 5/4 over 4
    "functional_retried_until_definite": lambda: retried_until_definite(5 / 32),
    "functional_slack_retried_until_definite": lambda: retried_until_definite(5 / 16),
    "functional_slack_redrawn_per_pass": lambda: corner("functional_slack_redrawn_per_pass", 21 / 4, repeats=2),
    "functional_statistics_left": lambda: Case(lambda v: v[:, -1] == 0, 1.0, 0.0),
    "pdfc_theorem_3_tightened": lambda: corner("pdfc_theorem_3_tightened", split_scales(FAIR_BALL_D3, 20)),
    "adfc_theorem_5_budgets": lambda: shifted("adfc_theorem_5_budgets", adfc_sigmas(100), 1e-3),
}

UPPER = "only an upper bound of the loss is stated"

ELSEWHERE = {
    "laplace_float": "test_float_laplace_has_outputs_that_the_other_input_cannot_have",
    "functional_trimmed_weights": UPPER,
    "pdfc_thinly_noised_weights": UPPER,
}


def test_every_entry_has_another_road():
    assert set(CASES) | set(ELSEWHERE) == set(CATALOGUE)
    assert not set(CASES) & set(ELSEWHERE)
    bounded = {name for name, kind in CATALOGUE.items() if not kind().loss_is_exact}
    assert bounded == {name for name, where in ELSEWHERE.items() if where == UPPER}


def log_ratio(case: Case, delta: float) -> float:
    likely, unlikely = max(case.left, case.right), min(case.left, case.right)
    return math.inf if unlikely == 0 else math.log((likely - delta) / unlikely)


@cache
def case_of(name: str) -> Case:
    """Return the case of an entry; both of its tests look at it."""
    return CASES[name]()


@pytest.mark.parametrize("name", CASES)
def test_loss_is_the_log_ratio_of_an_event(name):
    entry, case = CATALOGUE[name](), case_of(name)
    found = log_ratio(case, float(entry.claimed_delta))
    truth = entry.true_epsilon
    assert found <= truth * (1 + 1e-6) + 1e-6
    if not math.isinf(case.gap):
        assert found >= truth - case.gap - 1e-6 * min(truth, 1e3)
    elif math.isinf(truth):
        assert found > 100


@pytest.mark.parametrize("name", CASES)
def test_sampler_shows_the_probabilities_of_the_event(name):
    entry, case = CATALOGUE[name](), case_of(name)
    rng = np.random.default_rng([7, *name.encode()])
    for data, probability in zip(entry.inputs(), (case.left, case.right), strict=True):
        occurrences = int(np.count_nonzero(case.event(entry.sample(data, DRAWS, rng))))
        if probability in (0.0, 1.0):
            assert occurrences == DRAWS * probability
        else:
            assert binomtest(occurrences, DRAWS, probability).pvalue > FALSE_ALARM


@pytest.mark.parametrize("name", ["laplace", "functional_exact", "sparse_vector_1", "rappor"])
def test_another_sampler_would_not_show_them(name):
    """Broken control: an entry that claims 1.3 does not have the probabilities of one that claims 1."""
    entry, case = CATALOGUE[name](epsilon=1.3), case_of(name)
    rng = np.random.default_rng(3)
    chances = [
        binomtest(int(np.count_nonzero(case.event(entry.sample(data, 20 * DRAWS, rng)))), 20 * DRAWS, p).pvalue
        for data, p in zip(entry.inputs(), (case.left, case.right), strict=True)
    ]
    assert min(chances) < FALSE_ALARM


def test_float_laplace_has_outputs_that_the_other_input_cannot_have():
    entry = CATALOGUE["laplace_float"]()
    rng = np.random.default_rng(1)
    left, right = (entry.sample(data, DRAWS, rng) * 2.0**53 for data in entry.inputs())
    assert (right == np.rint(right)).all()
    assert (left != np.rint(left)).mean() > 0.2


def test_low_entropy_outputs_of_the_two_inputs_are_disjoint():
    variates = _unit_variates()
    assert (np.sort(variates) == variates_of_bytes()).all()
    assert not np.isin(variates, variates + 1.0).any()
