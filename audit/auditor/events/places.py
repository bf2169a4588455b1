"""Places within a grid's cells: where most outputs are at a few of them, the grid hides what a finer one shows."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from audit.auditor.events.noise import OF_THEIR_SIZE, usual_size
from audit.auditor.events.protocol import Score
from audit.auditor.events.quantiser import MOST_MULTIPLES, Quantiser, finite_of
from audit.auditor.events.values import CLEAR_EXCESS, MODULI_ROWS, ResidueScore
from reference.common.arrays import FloatArray, IntArray

HEAVY = 1 / 32
"""Share of the outputs at a place that is no chance.

Within a cell of 2^-16 of their spread numbers of single precision have about a hundred places, and none as many.
"""

A_FEW, OF_FEW = 256, 8
"""Outputs of each input to look at before all others, and how many of these a heavy place has."""

FEWEST_PLACES = 2**8
"""Among fewer places heavy ones may be chance."""

SMALLEST_PERIOD = 0.5
"""In smaller cells that are no unit, places may be those of doubles, as in ``((1e10 + noise) - 1e10) / 3``."""

NEARLY_ALL = 0.9
"""Where so many numbers are of single precision, places may be its own."""


@dataclass(frozen=True, eq=False)
class Places:
    """Heavy places of a coordinate, and how many outputs of both inputs together are there.

    Parameters
    ----------
    score : ResidueScore
        Of the places in a period: a place is the nearest multiple of the score's unit.
    share : float
    telling : bool
        Whether they tell the inputs apart.
    """

    score: ResidueScore
    share: float
    telling: bool


def learn_places(left: FloatArray, right: FloatArray, quantiser: Quantiser) -> Iterator[Score]:
    """Yield the scores, on the finer grid, of places that tell two samples of shape (n, k) apart."""
    for k in range(left.shape[1]):
        found = places_of(left[:, k], right[:, k], quantiser, k)
        if found is not None and found.telling:
            yield found.score


def places_of(left: FloatArray, right: FloatArray, quantiser: Quantiser, k: int) -> Places | None:
    """Return the heavy places of a coordinate, given its numbers; None where fewer than two are.

    The period is the unit that the grid knows, unless nothing is hidden between its multiples, or else a cell.
    """
    step, unit = float(quantiser.steps[k]), quantiser.units[k] if quantiser.units else None
    finer = quantiser.finer
    if step <= 0 or k in quantiser.hidden or finer is None or (unit is not None and unit.binary and unit.of_all):
        return None
    sides = finite_of(left[:MODULI_ROWS]), finite_of(right[:MODULI_ROWS])
    period = step if unit is None else unit.size
    if unit is None and period < SMALLEST_PERIOD:
        return None
    modulus = _modulus(period, float(finer.steps[k]), np.concatenate(sides))
    if modulus < FEWEST_PLACES:
        return None
    width = period / modulus
    few = np.concatenate([side[:A_FEW] for side in sides])
    if np.unique(_places(few, width) % modulus, return_counts=True)[1].max(initial=0) < OF_FEW:
        return None
    places = _places(sides[0], width), _places(sides[1], width)
    # values that repeat count once: the grid tells them from others
    different = np.unique(np.concatenate(places)) % modulus
    kinds, counts = np.unique(different, return_counts=True)
    heavy = kinds[counts >= max(HEAVY * len(different), OF_FEW)]
    # neighbours are one place, whose edge is between them
    apart = np.count_nonzero(np.diff(heavy, append=heavy[:1] + modulus) > 1)
    if apart < 2 or _mostly_of_single_precision(np.concatenate(sides)):
        return None
    residues = places[0] % modulus, places[1] % modulus
    return _told(*residues, heavy, k, width, modulus) if min(map(len, residues)) else None


def in_places(score: Score, left: FloatArray, right: FloatArray) -> bool:
    """Return whether a score is of places that :func:`learn_places` may propose, by other draws."""
    if not isinstance(score, ResidueScore) or not score.residues:
        return False
    values = finite_of(np.concatenate([left[:, score.coordinate], right[:, score.coordinate]]))
    if _noise(values) > 2 * score.unit or _mostly_of_single_precision(values):
        return False
    found = np.isin(_places(values, score.unit) % score.modulus, score.residues)
    # by luck a place may have had more than its share
    return float(found.mean()) > HEAVY / 2 * len(score.residues)


def _modulus(period: float, finest: float, values: FloatArray) -> int:
    """Return the largest number of places, a power of two, that are no finer than a grid and float noise."""
    width = max(finest, _noise(values))
    if not 0 < width <= period:
        return 0
    return int(2.0 ** math.floor(math.log2(min(period / width, MOST_MULTIPLES))))


def _noise(values: FloatArray) -> float:
    return OF_THEIR_SIZE * usual_size(values) if len(values) else math.inf


def _places(values: FloatArray, width: float) -> IntArray:
    """Return multiples of a width, where they are numbers that floats count."""
    with np.errstate(over="ignore"):
        places = np.rint(values / width)
    return places[np.abs(places) < MOST_MULTIPLES].astype(np.int64)


def _mostly_of_single_precision(values: FloatArray) -> bool:
    with np.errstate(over="ignore"):
        return float((values.astype(np.float32) == values).mean()) > NEARLY_ALL


def _told(left: IntArray, right: IntArray, heavy: IntArray, k: int, width: float, modulus: int) -> Places:
    """Return heavy residues with what they tell of two samples of residues."""
    counts = [np.array([np.count_nonzero(side == one) for one in heavy]) for side in (left, right)]
    rows = len(left), len(right)
    counts = [np.append(some, row - some.sum()) for some, row in zip(counts, rows, strict=True)]
    ratios = np.log((counts[0] + 0.5) / (counts[1] + 0.5) * rows[1] / rows[0])
    score = ResidueScore(k, modulus, tuple(ratios[:-1].tolist()), width, float(ratios[-1]), tuple(heavy.tolist()))
    share = float((counts[0] + counts[1])[:-1].sum() / sum(rows))
    # by the excess of the chi-squared statistic, as of moduli
    total = np.maximum(counts[0] + counts[1], 1)
    weight = math.sqrt(rows[1] / rows[0])
    statistic = float(((counts[0] * weight - counts[1] / weight) ** 2 / total).sum())
    excess = (statistic - len(heavy)) / math.sqrt(2 * len(heavy))
    return Places(score, share, excess >= CLEAR_EXCESS)
