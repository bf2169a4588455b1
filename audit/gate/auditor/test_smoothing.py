"""Counts of rare events from a fit of log ratios to the score: nearer the truth, or none if they contradict it."""

from __future__ import annotations

import numpy as np

from audit.auditor.smoothing import Smoothed, smoothed_counts
from reference.common.arrays import FloatArray

ROWS = 50_000

THRESHOLDS = np.linspace(-4, 4, 161)


def fitted(left: FloatArray, right: FloatArray, *, at_least: bool) -> Smoothed | None:
    counts = [
        np.array([np.count_nonzero(side >= t if at_least else side <= t) for t in THRESHOLDS], dtype=np.float64)
        for side in (left, right)
    ]
    return smoothed_counts(
        counts, [np.append(0.0, np.cumsum(np.sort(side))) for side in (left, right)], at_least=at_least
    )


def test_fit_is_nearer_the_true_ratio_of_a_rare_event_than_its_counts():
    """Gaussian scores at distance 1, whose log likelihood ratio is a line: far out, over twenty samples."""
    rng, place = np.random.default_rng(1), 150
    truth = np.log(0.00621 / 0.000233)
    by_fit, by_counts = [], []
    for _ in range(20):
        left, right = rng.normal(1.0, 1.0, ROWS), rng.normal(0.0, 1.0, ROWS)
        found = fitted(left, right, at_least=True)
        if found is None:
            continue
        assert found.enough[place]
        by_fit.append(np.log(found.counts[0][place] / found.counts[1][place]) - truth)
        seen = [np.count_nonzero(side >= THRESHOLDS[place]) for side in (left, right)]
        by_counts.append(np.log(seen[0] / max(seen[1], 0.5)) - truth)
        # as far off as it says
        assert abs(by_fit[-1]) < 4 * found.error[place]
    assert len(by_fit) >= 16
    assert np.std(by_fit) < 0.7 * np.std(by_counts)


def test_either_side_is_fitted_alike():
    rng = np.random.default_rng(2)
    left, right = rng.normal(0.3, 1.0, ROWS), rng.normal(0.0, 1.0, ROWS)
    above, below = fitted(left, right, at_least=True), fitted(-left, -right, at_least=False)
    assert above is not None
    assert below is not None
    assert np.allclose(above.counts, np.array(below.counts)[:, ::-1], rtol=1e-6, atol=1e-3)
    assert np.allclose(above.error, below.error[::-1], rtol=1e-4, atol=1e-6)


def test_counts_that_contradict_the_fit_stand_alone():
    """Broken controls: a leak far out, scores that are not finite, and scores that say nothing."""
    rng = np.random.default_rng(3)
    left, right = rng.normal(0.3, 1.0, ROWS), rng.normal(0.0, 1.0, ROWS)
    leaking = left.copy()
    leaking[:100] = 3.9
    assert fitted(left, right, at_least=True) is not None
    assert fitted(leaking, right, at_least=True) is None
    assert fitted(np.append(left, np.inf), right, at_least=True) is None
    assert fitted(np.zeros(ROWS), np.zeros(ROWS), at_least=True) is None
