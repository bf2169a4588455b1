"""The entries as a sceptic reads them: legal neighbours, no worse output, every outcome at its frequency."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import chisquare, geom, laplace

from audit.subjects.catalogue import CATALOGUE, SparseVectorIndex
from audit.subjects.catalogue.functional.calibrated import NoisyObjective
from audit.subjects.catalogue.functional.scales import InterceptOutsideNorm, ScaledByMaximum
from audit.subjects.catalogue.selection import _NoisyMaxIndex
from audit.subjects.catalogue.sparse_vector import _SparseVector

FALSE_ALARM = 1e-9
"""Per test of frequencies."""

ORDINARY = {name: kind for name, kind in CATALOGUE.items() if not issubclass(kind, NoisyObjective)}
FUNCTIONAL = {name: kind for name, kind in CATALOGUE.items() if issubclass(kind, NoisyObjective)}


# --- Neighbours -------------------------------------------------------------------------------------------------


def differing(left: list[Any], right: list[Any]) -> tuple[int, int]:
    """Return how many elements of each multiset the other one lacks."""
    one, other = Counter(left), Counter(right)
    return (one - other).total(), (other - one).total()


LEGAL = {"replace_one": {(1, 1)}, "add_or_remove_one": {(0, 1), (1, 0)}}


def are_neighbours(entry: Any, left: Any, right: Any) -> bool:
    """Whether two inputs are neighbours under the entry's adjacency."""
    if entry.adjacency == "any_two":
        return bool(left.shape == right.shape and left.sum() == right.sum() == 2)
    if entry.adjacency == "answers":
        # one number stands for answers that are all the same
        return bool(np.shape(left) == np.shape(right) and (np.abs(np.subtract(left, right)) <= 1).all())
    if entry.adjacency == "value":
        # one number stands for each coordinate, of which a vector has `dimension` and others one
        length = getattr(entry, "dimension", 1)
        return bool(0 < np.abs(np.asarray(left) - right).sum() * length <= 1)
    # NaN is a value like any other to whoever sends it
    return differing(*([str(value) for value in side] for side in (left, right))) in LEGAL[entry.adjacency]


@pytest.mark.parametrize("name", ORDINARY)
def test_inputs_are_neighbours(name):
    entry = ORDINARY[name]()
    assert are_neighbours(entry, *entry.inputs())


@pytest.mark.parametrize(
    ("name", "pair"),
    [
        ("laplace", (0.0, 1.5)),
        ("laplace_product", (0.0, 0.2)),
        ("noisy_max_value", (0.0, 1.1)),
        ("sparse_vector_1", (np.zeros(6), np.array([2.0, 0, 0, 0, 0, 0]))),
        ("private_mean", (np.zeros(20), np.array([1.0, 1.0, *[0.0] * 18]))),
        ("private_mean", (np.zeros(20), np.zeros(19))),
        ("unnoised_count", (np.zeros(20), np.ones(20))),
        ("rappor", (np.zeros(8), np.ones(8))),
    ],
)
def test_other_pairs_are_not_neighbours(name, pair):
    """Broken control."""
    assert not are_neighbours(CATALOGUE[name](), *pair)


def records(rows: Any) -> list[Any]:
    """Return every record, equal ones as often as they occur."""
    return [(tuple(row["x"]), row["y"], row["z"]) for row in rows for _ in range(row["count"])]


@pytest.mark.parametrize("name", FUNCTIONAL)
def test_data_sets_are_neighbours_in_the_declared_domain(name):
    entry: Any = FUNCTIONAL[name]()
    if isinstance(entry, ScaledByMaximum):
        # the mistake comes after the data sets are chosen
        sides = [[(x, y, z) for x, y, z, count in rows for _ in range(count)] for rows in entry.raw]
    else:
        sides = [records(side.to_json()) for side in (entry.neighbours.left, entry.neighbours.right)]
    assert differing(*sides) in LEGAL[entry.adjacency]
    assert entry.adjacency == entry.setting.adjacency == entry.readings.adjacency
    assert max(map(len, sides)) == entry.setting.records
    for x, y, z in itertools.chain(*sides):
        assert y in (0, 1)
        assert z in (0, 1, None)
        if isinstance(entry, InterceptOutsideNorm):
            # the declared domain: a unit ball, and a column of ones that the norm forgets
            *features, intercept = x
            assert intercept == 1
            assert math.hypot(*features) <= 1 + 1e-12
        elif entry.setting.norm == "unit_ball":
            assert min(x) >= 0
            assert math.hypot(*x) <= 1 + 1e-12
        else:
            assert 0 <= min(x) <= max(x) <= 1


def test_scaled_by_the_maximum_has_the_mistake_that_it_names():
    entry: Any = CATALOGUE["functional_scaled_by_maximum"]()
    seen = [records(side.to_json()) for side in (entry.neighbours.left, entry.neighbours.right)]
    assert differing(*seen) == (39, 39)
    for raw, scaled in zip(entry.raw, seen, strict=True):
        largest = max(value for x, *_ in raw for value in x)
        expected = [(tuple(v / largest for v in x), y, z) for x, y, z, count in raw for _ in range(count)]
        assert Counter(expected) == Counter(scaled)


# --- Nowhere more than stated -----------------------------------------------------------------------------------


def released_after(scale: float, left: float, right: float) -> Callable[[float], float]:
    """Return the log density ratio of Laplace noise that is drawn until the output is positive."""
    divisors = laplace.logsf(0, left, scale) - laplace.logsf(0, right, scale)
    return lambda v: laplace.logpdf(v, left, scale) - laplace.logpdf(v, right, scale) - divisors


POINTS = np.unique(np.concatenate([np.linspace(-6, 6, 241), np.linspace(-60, 60, 41), np.geomspace(1e-9, 60, 60)]))


def retried() -> Any:
    return [released_after(1.0, 0.0, 1.0)(v) for v in POINTS[POINTS >= 0]]


def retried_coefficients(scale: float) -> Any:
    """The linear coefficient 0 against 1/2 loses on its own; the square 0 against 1/8 where it is positive."""
    linear = [laplace.logpdf(v, 0, scale) - laplace.logpdf(v, 0.5, scale) for v in POINTS]
    square = [released_after(scale, 0.0, 0.125)(v) for v in POINTS[POINTS >= 0]]
    return np.add.outer(linear, square)


def geometric() -> Any:
    """The two-sided geometric probability at k, from the convolution of two geometric variates."""
    p, far = -math.expm1(-1.0), np.arange(1, 400)

    def chance(k: int) -> float:
        return float((geom.pmf(far, p) * geom.pmf(far - k, p)).sum())

    return [math.log(chance(k) / chance(k - 1)) for k in range(-20, 21)]


def rappor() -> Any:
    """All 256 reports: a bit is 1 with probability 3/4 or 1/4 after the permanent one."""
    odds = math.exp(0.25)
    randomised = 3 - 4 * odds / (1 + odds)
    one = {
        bit: 0.75 * (randomised / 2 + (1 - randomised) * bit)
        + 0.25 * (1 - randomised / 2 - (1 - randomised) * bit)
        for bit in (0, 1)
    }
    left, right = CATALOGUE["rappor"]().inputs()

    def log_chance(bits: Any, report: Any) -> float:
        return sum(math.log(one[b] if r else 1 - one[b]) for b, r in zip(bits, report, strict=True))

    return [log_chance(left, report) - log_chance(right, report) for report in itertools.product((0, 1), repeat=8)]


def maximum() -> Any:
    """The density of a maximum of five is 5 f F^4."""

    def log_density(v: Any, at: float) -> Any:
        return laplace.logpdf(v, at, 2) + 4 * laplace.logcdf(v, at, 2)

    return log_density(POINTS, 0) - log_density(POINTS, 1)


def released_answer() -> Any:
    """Index i with value v, by adaptive integrals over the threshold below v."""

    def density(index: int, v: float, at: float) -> float:
        def integrand(t: float) -> float:
            return float(laplace.pdf(t, 0, 2) * laplace.cdf(t, at, 2) ** index)

        edges = [e for e in (-80.0, 0.0, 1.0) if e < v] + [v]
        below = sum(quad(integrand, a, b, epsabs=0, epsrel=1e-11)[0] for a, b in itertools.pairwise(edges))
        return float(laplace.pdf(v, at, 2)) * below

    values = np.concatenate([np.linspace(-4, 6, 6), [-20.0, 20.0]])
    return [math.log(density(i, v, 0) / density(i, v, 1)) for i in range(5) for v in values]


def running_sums() -> Any:
    """The outputs and the noisy quantities determine each other; two of these move by 1, with scale 2."""
    one = laplace.logpdf(POINTS, 0, 2) - laplace.logpdf(POINTS, 1, 2)
    return np.add.outer(one, one)


WORST: dict[str, Callable[[], Any]] = {
    "geometric": geometric,
    "smart_sum": running_sums,
    "rappor": rappor,
    "laplace_retried": retried,
    "noisy_max_value": maximum,
    "sparse_vector_3": released_answer,
    "functional_retried_until_definite": lambda: retried_coefficients(5 / 32),
    "functional_slack_retried_until_definite": lambda: retried_coefficients(5 / 16),
}


@pytest.mark.parametrize("name", WORST)
def test_no_output_loses_more_than_stated_and_one_loses_that_much(name):
    """The log ratio of the densities themselves, over a grid of outputs; events could miss a worse one."""
    found = float(np.abs(WORST[name]()).max())
    assert found == pytest.approx(CATALOGUE[name]().true_epsilon, rel=1e-6)


def test_without_the_drift_of_zbar_a_record_moves_the_coefficients_by_4():
    """`functional_public_zbar` is right but for zbar: its constant is the supremum for a fixed one."""
    grid = np.linspace(0, 1, 5)
    best = 0.0
    for zbar in (0.0, 0.25, 0.5, 1.0):
        moved = np.array(
            [
                [*((0.5 - y + abs(z - zbar)) * np.array(x)), x[0] ** 2 / 8, x[0] * x[1] / 4, x[1] ** 2 / 8]
                for x in itertools.product(grid, grid)
                for y in (0, 1)
                for z in (0, 1)
            ]
        )
        best = max(best, float(np.abs(moved[:, None] - moved).sum(axis=2).max()))
    assert best == 4.0
    entry: Any = CATALOGUE["functional_public_zbar"]()
    assert entry.noise.scale_n == 4.0
    assert np.abs(entry.neighbours.change).sum() == pytest.approx(5.96, rel=1e-12)


# --- Every outcome at its frequency -----------------------------------------------------------------------------


def frequencies(entry: Any, data: Any, outputs: Any, probabilities: Any, draws: int = 60_000) -> float:
    """Return the chance of frequencies as far from the probabilities as the sampler's, by Pearson's test."""
    shown: list[tuple[float, ...]]
    if isinstance(entry, _NoisyMaxIndex):
        shown = [(float(index),) for index in range(len(data))]
    elif entry.stop is None:
        shown = [tuple(float(j in places) for j in range(len(data))) for places in outputs]
    else:
        shown = [tuple(map(float, (*p, *[len(data)] * (entry.stop - len(p))))) for p in outputs]
    width = len(shown[0])
    rows = entry.sample(data, draws, np.random.default_rng(17))[:, :width]
    different, times = np.unique(rows, axis=0, return_counts=True)
    counts = Counter(dict(zip(map(tuple, different.tolist()), times.tolist(), strict=True)))
    assert set(counts) <= set(shown)
    expected = probabilities * draws
    observed = np.array([counts[output] for output in shown])
    # cells that expect little are put together
    common = expected >= 10
    if not common.all():
        expected = np.append(expected[common], expected[~common].sum())
        observed = np.append(observed[common], observed[~common].sum())
    return float(chisquare(observed, expected * draws / expected.sum()).pvalue)


OUTCOMES = {n: kind for n, kind in CATALOGUE.items() if issubclass(kind, _SparseVector | _NoisyMaxIndex)}


@pytest.mark.parametrize("name", OUTCOMES)
def test_sampler_shows_every_outcome_as_often_as_its_integral_says(name):
    entry: Any = OUTCOMES[name]()
    outputs = list(entry.outputs()) if isinstance(entry, _SparseVector) else None
    for data in entry.inputs():
        probabilities = entry.probabilities(data)
        assert probabilities.sum() == pytest.approx(1, abs=1e-8)
        assert frequencies(entry, data, outputs, probabilities) > FALSE_ALARM


def test_other_noise_would_not_show_them():
    """Broken control: an algorithm at epsilon 1.4 against the integrals at epsilon 1."""
    entry: Any = CATALOGUE["sparse_vector_4"]()
    other: Any = CATALOGUE["sparse_vector_4"](epsilon=1.4)

    class Mixed(SparseVectorIndex):
        def sample(self, data, count, rng):
            return other.sample(data, count, rng)

    data = entry.inputs()[0]
    assert frequencies(Mixed(), data, list(entry.outputs()), entry.probabilities(data)) < FALSE_ALARM


def test_algorithms_have_the_noise_that_lyu_su_and_li_print():
    """Scales of the threshold and of the answers, for sensitivity 1 and c answers above."""
    one: Any = CATALOGUE["sparse_vector_1"](epsilon=0.5)
    assert (one.threshold_scale, one.answer_scale) == (2 / 0.5, 4 * 2 / 0.5)
    two: Any = CATALOGUE["sparse_vector_2"](epsilon=0.5)
    assert (two.threshold_scale, two.answer_scale) == (2 * 2 / 0.5, 4 * 2 / 0.5)
    four: Any = CATALOGUE["sparse_vector_4"](epsilon=0.5)
    assert (four.threshold_scale, four.answer_scale) == (4 / 0.5, 4 / (3 * 0.5))
    six: Any = CATALOGUE["sparse_vector_6"](epsilon=0.5)
    assert (six.threshold_scale, six.answer_scale, six.stop) == (2 / 0.5, 2 / 0.5, None)


@pytest.mark.parametrize("epsilon", [-1.0, 4.4, 10.0])
def test_rappor_refuses_an_epsilon_without_a_randomised_share(epsilon):
    with pytest.raises(ValueError, match="4 log 3"):
        CATALOGUE["rappor"](epsilon=epsilon)
