"""The rule and the cells of the code are those that ``proofs/coq`` speaks of: a transcription, compared with it.

The functions here repeat the definitions of ``StoufferRule.v``, ``StoufferBound.v``, ``WeightArc.v`` and
``JointCells.v`` under their names there, with other library functions than the code's.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest
from flint import arb
from scipy.stats import binom, norm

from audit.bounds.counts import Counts
from audit.bounds.joint import FINEST, LARGEST_SCORE, LOWEST_SCORE, TAIL_SHARE, Region, Strip, _levels_below
from audit.evidence.ball_arithmetic import _score

SIGNIFICANCE = 0.05
COUNTS = [Counts(60, 100, 10, 90), Counts(3, 3, 0, 2), Counts(1, 40, 7, 9), Counts(900, 1_000, 2, 5)]
AGREE = 1e-6
"""The code moves tails and threshold by relative margins of 1e-8."""

Ends = tuple[float, float]


def score(probability: float, complement: float) -> float:
    # a probability near 1 has lost its digits; its complement has them
    normal = norm.ppf(probability) if probability < 0.5 else norm.isf(complement)
    return float(np.clip(normal, LOWEST_SCORE, LARGEST_SCORE))


def combined(a: float, b: float, x: float, y: float) -> float:
    return (a * x + b * y) / math.hypot(a, b) if math.hypot(a, b) > 0 else x


def larger_end(least: Ends, most: Ends, x: float, y: float) -> float:
    return max(combined(most[0], least[1], x, y), combined(least[0], most[1], x, y))


def largest_combined(least: Ends, most: Ends, x: float, y: float) -> float:
    return math.hypot(x, y) if x > 0 and y > 0 else larger_end(least, most, x, y)


def smallest_spread(draws: int, low: float, high: float) -> float:
    return math.sqrt(min(low * (1 - low), high * (1 - high)) / draws)


def largest_spread(draws: int, low: float, high: float) -> float:
    inside = low <= 0.5 <= high
    return math.sqrt((0.25 if inside else max(low * (1 - low), high * (1 - high))) / draws)


def worst_score(
    counts: Counts, strip: Strip, low: float, high: float, largest: Callable[[Ends, Ends, float, float], float]
) -> float:
    """Return the score of a cell's worst corner; of one pair where all intervals are points."""
    n, m = counts.likely_draws, counts.unlikely_draws
    ratio, wider = (float(end) for end in strip.ratio)
    lowest = float(np.clip(ratio * low + strip.delta[0], 0, 1))
    highest = float(np.clip(wider * high + strip.delta[1], 0, 1))
    return largest(
        (smallest_spread(n, lowest, highest), ratio * smallest_spread(m, low, high)),
        (largest_spread(n, lowest, highest), wider * largest_spread(m, low, high)),
        score(binom.sf(counts.likely - 1, n, highest), binom.cdf(counts.likely - 1, n, highest)),
        score(binom.cdf(counts.unlikely, m, low), binom.sf(counts.unlikely, m, low)),
    )


def threshold() -> float:
    """Return the largest T of ``threshold_at``."""
    return float(norm.ppf(SIGNIFICANCE * (1 - 2 * TAIL_SHARE) - 2 * norm.cdf(-LARGEST_SCORE)))


def cells(counts: Counts) -> list[tuple[Strip, float, float]]:
    """Return cells and single pairs that no count alone rejects, pairs at the ends of [0, 1] among them."""
    region = Region.of(counts, SIGNIFICANCE)
    random = np.random.default_rng(0)
    found = [(Strip((1.0, 1.0), (delta, delta)), 0.0, 0.0) for delta in (0.99, 1.0)]
    for _ in range(300):
        low, high = np.sort(random.uniform(0, region.highest_unlikely, 2))
        ratio, wider = np.sort(random.uniform(0, 4, 2))
        delta, larger = np.sort(random.uniform(-0.2, 0.6, 2))
        found.append((Strip((ratio, wider), (delta, larger)), low, high))
        found.append((Strip((ratio, ratio), (larger, larger)), low, low))
    return [
        (strip, low, high)
        for strip, low, high in found
        if strip.ratio[1] * high + strip.delta[1] > region.lowest_likely
    ]


def gaps(counts: Counts, largest: Callable[[Ends, Ends, float, float], float]) -> list[float]:
    """Return by how much the code's excess is above the transcribed one, for every cell."""
    region = Region.of(counts, SIGNIFICANCE)
    return [
        float(region.excess(np.array([low]), np.array([high]), strip)[0])
        - (worst_score(counts, strip, low, high, largest) - threshold())
        for strip, low, high in cells(counts)
    ]


@pytest.mark.parametrize("counts", COUNTS)
def test_cells_are_judged_as_the_proof_says_and_rounded_upwards(counts):
    found = gaps(counts, largest_combined)
    assert len(found) > 100
    assert 0 <= min(found) <= max(found) < AGREE


@pytest.mark.parametrize("counts", COUNTS)
def test_judging_an_arc_by_its_ends_alone_is_found(counts):
    """Control: where both scores are positive the largest sum lies inside the arc."""
    assert max(gaps(counts, larger_end)) > AGREE


def test_levels_start_by_the_finest_step_and_double():
    steps = 1.5 - np.array(_levels_below(1.5, -0.5))
    assert steps[:4].tolist() == [0.0, FINEST, 2 * FINEST, 4 * FINEST]
    assert steps[-1] == 2.0


def test_score_of_a_tail_that_may_be_anything_is_all_scores():
    assert _score(arb(0.5, 0.6)) == (-math.inf, LARGEST_SCORE)
