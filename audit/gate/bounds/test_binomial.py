"""Binomial probabilities and quantiles are those of scipy.stats."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import binom

from audit.bounds.binomial import above, exactly, up_to, upper_quantile

PROBABILITIES = np.array([0.0, 1e-300, 1e-6, 0.02, 0.5, 1 - 1e-9, 1.0])


@pytest.mark.parametrize("draws", [1, 7, 2_000, 20_000_000])
def test_probabilities_are_scipys_in_both_tails(draws):
    counts = np.unique(np.array([-2, -1, 0, 1, 3, draws // 50, draws // 2, draws - 1, draws, draws + 3]))[:, None]
    inside = np.unique(np.clip(counts, 0, draws))[:, None]
    law = binom(draws, PROBABILITIES)
    close = {"rtol": 1e-8, "atol": 1e-300}
    np.testing.assert_allclose(
        above(counts, draws, PROBABILITIES), binom.sf(counts, draws, PROBABILITIES), **close
    )
    np.testing.assert_allclose(
        up_to(counts, draws, PROBABILITIES), binom.cdf(counts, draws, PROBABILITIES), **close
    )
    ours, theirs = exactly(inside, draws, PROBABILITIES), law.pmf(inside)
    np.testing.assert_allclose(ours, theirs, rtol=1e-6, atol=1e-300)


@pytest.mark.parametrize("draws", [1, 7, 2_000, 20_000_000])
@pytest.mark.parametrize("level", [0.9, 0.5, 0.025, 1e-9])
def test_quantile_is_the_first_count_that_is_exceeded_so_seldom(draws, level):
    found = upper_quantile(level, draws, PROBABILITIES)
    assert (above(found, draws, PROBABILITIES) <= level).all()
    assert (above(found - 1, draws, PROBABILITIES) > level).all()
