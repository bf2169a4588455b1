"""Theorem 5 fails on the released w itself; where it holds, and with less noise, the same test says so."""

from __future__ import annotations

import numpy as np
import pytest

from audit.exact.neighbours import Neighbours
from audit.exact.released_weights import READINGS, released_weights, spread_neighbours, weights_result
from reference.budgets import SplitBudget
from reference.coefficients import NoisyCoefficients
from reference.common.errors import ReadingError
from reference.domain import Domain
from reference.minimiser import minimise
from reference.noise import add_noise, draw
from reference.objective import layout, objective
from reference.registry import MECHANISMS

DOMAIN = Domain.of_columns([f"x{index + 1}" for index in range(13)])
NEIGHBOURS = spread_neighbours(DOMAIN, 3_000_000, 0.9)
FALSE_HERE, TRUE_HERE = SplitBudget("10", "0.1", "1e-3", "1e-3"), SplitBudget("1.5", "0.1", "1e-3", "1e-3")
DRAWS = 100_000


def result(budget: SplitBudget, seed: int = 1, noise_factor: float = 1.0):
    rng = np.random.default_rng(seed)
    return weights_result(NEIGHBOURS, budget, draws=DRAWS, rng=rng, noise_factor=noise_factor)


def test_released_w_violates_t5():
    found = result(FALSE_HERE)
    assert found.verdict == "refuted"
    assert found.delta_lower_bound > 1.5 * float(found.claim.delta)
    assert found.minimum_lower_bound > 0.999
    assert found.significance == 1e-6


def test_released_w_is_not_refuted_where_t5_holds():
    found = result(TRUE_HERE)
    assert found.verdict == "not refuted"
    # the event does occur, so the silence means something
    assert found.left.event > 1000


def test_the_same_event_refutes_a_quarter_of_the_noise():
    assert result(TRUE_HERE, noise_factor=0.25).verdict == "refuted"


def test_rare_minimum_is_undecided():
    few = spread_neighbours(DOMAIN, 50_000, 0.9)
    found = weights_result(few, FALSE_HERE, draws=2_000, rng=np.random.default_rng(0))
    assert found.verdict == "undecided"


# with few records some draws are indefinite
@pytest.mark.parametrize(("neighbours", "seed"), [(NEIGHBOURS, 3), (spread_neighbours(DOMAIN, 200_000, 0.9), 4)])
def test_vectorised_minimiser_is_the_one_that_releases(neighbours: Neighbours, seed: int):
    noise = MECHANISMS["adfc"].noise(DOMAIN, FALSE_HERE, READINGS, 0)
    exact = objective(neighbours.left.moments, READINGS).values
    noisy = add_noise(exact, noise, draw(noise, np.random.default_rng(seed), 50))
    w, definite = released_weights(noisy, noise, DOMAIN.dimension)
    for row, point, defined in zip(noisy, w, definite, strict=True):
        released = minimise(NoisyCoefficients(layout(DOMAIN, READINGS), row, noise), READINGS).w
        assert (released is not None) == defined
        if released is not None:
            np.testing.assert_allclose(point, released, rtol=1e-9, atol=1e-12)


def test_neighbours_have_the_stated_size_and_differ_in_one_record():
    for records, share in ((3_000_000, 0.9), (1_001, 0.5)):
        pair = spread_neighbours(DOMAIN, records, share)
        assert len(pair.left) == len(pair.right) == records
        assert pair.left.to_json()[:-1] == pair.right.to_json()[:-1]
    with pytest.raises(ReadingError):
        spread_neighbours(DOMAIN, 20, 0.9)
