"""What sorted values tell is what numpy's own functions say, in less time."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

from audit.auditor.distinguish import Terms, estimate
from audit.auditor.events import ranks
from audit.bounds import Counts, better_method, epsilon_lower_bound

SAMPLES = {
    "continuous": lambda rng: rng.normal(size=5_000),
    "few values": lambda rng: rng.integers(0, 40, size=5_000).astype(float),
    "some ties": lambda rng: np.round(rng.normal(size=5_000), 3),
    "one value": lambda rng: np.full(50, rng.random()),
    "two": lambda rng: np.sort(rng.random(2)),
}


@pytest.fixture(params=SAMPLES)
def values(request: pytest.FixtureRequest) -> np.ndarray:
    return np.sort(SAMPLES[request.param](np.random.default_rng(1)))


def test_quantiles_are_those_of_numpy(values):
    """Of two samples together, whichever way the values are divided."""
    shares, rng = np.linspace(0, 1, 257), np.random.default_rng(3)
    expected = np.quantile(values, shares)
    for part in (0.0, 0.1, 0.5, 1.0):
        first = rng.random(len(values)) < part
        assert (ranks.quantiles(values[first], values[~first], shares) == expected).all()
    # one all below the other
    half = len(values) // 2
    assert (ranks.quantiles(values[half:], values[:half], shares) == expected).all()


def test_values_whose_difference_is_beyond_all_floats_have_quantiles():
    largest = np.finfo(np.float64).max
    values, shares = np.array([-largest, largest]), np.linspace(0, 1, 5)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = ranks.quantiles(values[:1], values[1:], shares)
        subject = Far()
        assert estimate(subject, Terms(draws=6_000), np.random.default_rng(1)).epsilon_lower_bound > 0.1
    assert found == pytest.approx(largest * (2 * shares - 1))


class Far:
    """Outputs near the largest floats, of either sign."""

    def inputs(self):
        return 1.0, 3.0

    def sample(self, data, count, rng):
        far = rng.standard_cauchy((count, 6)).clip(-0.8, 0.8)
        return np.column_stack([far * 1e308 * (data / 2), np.where(far[:, 0] > 0.3 * data, 1.7e308, -1.7e308)])


@pytest.mark.parametrize("times", [1, 2, 3, 20])
def test_repeated_values_are_those_counted_one_by_one(values, times):
    counts = np.unique(values, return_counts=True)[1]
    assert ranks.repeated(values, times) == counts[counts >= times].sum()
    assert ranks.most_often(values, times) == (counts.max() >= times)


def test_ranks_are_those_of_a_search(values):
    others = np.sort(np.concatenate([values[::3], [values[0] - 1, values[-1] + 1], values[::7] + 0.01]))
    for one, other, both in ((values, others, False), (others, values, True)):
        found = ranks.mutual_ranks(values, others, ranks.runs(values), ranks.runs(others))[both]
        for some, side in zip(found, ("left", "right"), strict=True):
            assert (some == np.searchsorted(other, one, side=side)).all()
    for found, side in zip(ranks.runs(values), ("left", "right"), strict=True):
        assert (found == np.searchsorted(values, values, side=side)).all()


def test_values_between_levels_are_those_of_a_search(values):
    levels = np.unique(values[:: max(1, len(values) // 20)])
    shuffled = np.random.default_rng(2).permutation(values)
    expected = np.bincount(np.searchsorted(levels, shuffled, side="right"), minlength=len(levels) + 1)
    assert (ranks.between(levels, values) == expected).all()


@pytest.mark.parametrize("counts", [(500, 200), (20, 0), (3, 1), (900, 890), (0, 0), (5, 40)])
def test_better_method_is_that_of_the_larger_bound(counts):
    found = Counts(counts[0], 1_000, counts[1], 1_000)
    bounds = {method: epsilon_lower_bound(found, 0.0, 0.05, method) for method in ("joint", "conditional")}
    assert bounds[better_method(found, 0.05)] == max(bounds.values())
