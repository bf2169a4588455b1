"""What numpy's noise shows at its bits: its sampler is inverted, double by double."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from audit.exact import float_samplers

DRAWS = 2000

UNIFORM_STEPS = 2**53
"""numpy's sampler maps one of so many uniform numbers j/2^53."""


def laplace_of(j: int) -> float:
    """Return numpy's Laplace variate of unit scale for U = j/2^53, in its own order of operations."""
    u = j / UNIFORM_STEPS
    return -math.log(2.0 - u - u) if u >= 0.5 else math.log(u + u)


def is_possible(output: float, value: float, scale: float) -> bool:
    """Tell whether some U gives value + scale * X = output, by trying every U whose X can be near."""
    middle = (output - value) / scale
    near = (np.spacing(abs(output)) + np.spacing(abs(output - value))) / scale + 4 * np.spacing(abs(middle))
    first, last = (math.floor(stats.laplace.cdf(middle + sign * near) * UNIFORM_STEPS) for sign in (-1, 1))
    tried = range(max(1, first - 3), min(UNIFORM_STEPS - 1, last + 4) + 1)
    return any(value + scale * laplace_of(j) == output for j in tried)


def share_impossible(value: float, neighbour: float, scale: float) -> tuple[float, float]:
    """Return the exact 95 % interval for the share of releases of `value` that `neighbour` cannot give."""
    outputs = value + scale * np.random.default_rng(1).laplace(size=DRAWS)
    count = sum(not is_possible(output, neighbour, scale) for output in outputs.tolist())
    found = stats.binomtest(count, DRAWS).proportion_ci(0.95, "exact")
    return found.low, found.high


@pytest.mark.parametrize("neighbour", [0.0, 0.5, 100.25])
def test_every_release_is_possible_on_its_own_data(neighbour):
    """The null control: an inversion that misses a U would call it impossible."""
    assert share_impossible(neighbour, neighbour, 1.25)[0] == 0


@pytest.mark.parametrize("scale", [1.25, 12.5, 125.0, 1250.0])
@pytest.mark.parametrize("neighbour", [0.5, 1 / 80])
def test_four_fifths_of_the_releases_are_impossible_on_the_neighbour(scale, neighbour):
    """README's figure, at d = 1: whatever the scale is."""
    low, high = share_impossible(0.0, neighbour, scale)
    assert 0.75 < low < high < 0.86


def test_the_ledger_inverts_the_samplers_as_this_does():
    outputs = (1.25 * np.random.default_rng(2).laplace(size=400)).tolist()
    both = [(is_possible(one, 0.5, 1.25), float_samplers.can_give_by_laplace(one, 0.5, 1.25)) for one in outputs]
    assert {mine == other for mine, other in both} == {True}
    assert {mine for mine, _ in both} == {True, False}


@pytest.mark.parametrize("sigma", [0.7, 4.0, 300.0])
def test_gaussian_releases_are_possible_on_their_own_data_only(sigma):
    noise = sigma * np.random.default_rng(3).standard_normal(1000)
    assert float_samplers.impossible("gaussian", noise - 0.5, -0.5, sigma) == 0
    assert 50 < float_samplers.impossible("gaussian", noise, -0.5, sigma) < 600
    assert float_samplers.reproduces_numpy()


def test_every_draw_of_a_toy_sampler_is_tried():
    assert len(float_samplers.toy_releases(0.0, 1.25, on_grid=False)) == 2047
    assert float_samplers.toy_impossible(0.0, -0.5, 1.25, on_grid=False) == 1657
    for value, other in ((0.0, -0.5), (-0.5, 0.0), (0.25, 0.25)):
        assert float_samplers.toy_impossible(value, other, 1.25, on_grid=True) == 0


def test_few_releases_are_impossible_where_the_sum_is_thirty_scales():
    low, high = share_impossible(37.5, 37.0, 1.25)
    assert 0.01 < low < high < 0.05
