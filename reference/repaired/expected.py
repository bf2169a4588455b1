"""What released counts predict about a threshold: post-processing.

Records are drawn from the released counts of (cell, label), as if attributes were independent for each label.
They only show where a probe is worth its noise; the probes' results correct them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from reference.common.arrays import BoolArray, FloatArray
from reference.common.grid import rounded_to_grid
from reference.domain import Domain
from reference.repaired.descent import one_hot_blocks

DRAWN = 8192
"""How many records to draw; the generator is public."""

LARGEST_MULTIPLIER = 32.0
HALVINGS = 30


class Drawn(NamedTuple):
    """Records that nobody gave: drawn from releases."""

    x: FloatArray
    target: BoolArray


def drawn_records(noisy_sums: FloatArray, domain: Domain, n: int) -> Drawn:
    """Return records with the released counts (see :func:`reference.repaired.sums.label_sums`)."""
    random, full = np.random.default_rng(0), n * domain.column_factor
    blocks = one_hot_blocks(domain)
    constant = int(domain.intercept)
    single = np.setdiff1d(
        np.arange(constant, domain.dimension), [j for block in blocks for j in range(block.start, block.stop)]
    )
    least = np.where(domain.signed, -full, 0.0)
    ones, zeros = (np.clip(part, least, full) for part in np.split(noisy_sums, 2))
    wholes = [(ones[block].sum(), zeros[block].sum()) for block in blocks] + [(full / 2, full / 2)]
    # the share of label 1: the mean over attributes
    share = float(np.mean([one / max(one + zero, 1e-300) for one, zero in wholes[: max(1, len(blocks))]]))
    target = np.arange(DRAWN) < round(DRAWN * share)
    x = np.zeros((DRAWN, domain.dimension))
    x[:, :constant] = 1.0
    for label, totals in ((True, ones), (False, zeros)):
        rows = np.flatnonzero(target == label)
        expected = full * (share if label else 1 - share)
        for j in single:
            mean = totals[j] / max(expected, 1e-300)
            # with signs, the place between the bounds
            mean = float(np.clip((mean + 1) / 2 if domain.signed[j] else mean, 0.01, 0.99))
            if domain.keep_group and not domain.group_values and j == domain.dimension - 1:
                x[rows, j] = random.random(len(rows)) < mean
            else:
                # the variance is taken to be a third of the largest one
                place = random.beta(2 * mean, 2 * (1 - mean), len(rows))
                x[rows, j] = 2 * place - 1 if domain.signed[j] else place
        for block in blocks:
            cells = totals[block]
            p = cells / cells.sum() if cells.sum() > 0 else np.full(len(cells), 1 / len(cells))
            x[rows, block.start + random.choice(len(p), size=len(rows), p=p)] = 1.0
    return Drawn(rounded_to_grid(x * domain.column_factor), target)


def expected_difference(
    advantage: FloatArray, belonging: FloatArray, members: BoolArray
) -> Callable[[float], float]:
    """Return the signed risk difference as a function of the multiplier; it falls."""

    def difference(multiplier: float) -> float:
        chosen = advantage > multiplier * belonging
        if members.all() or not members.any():
            return 0.0
        return float(chosen[members].mean() - chosen[~members].mean())

    return difference


def crossing(difference: Callable[[float], float], level: float) -> float:
    """Find by halving where a falling function crosses a level."""
    low, high = bracket(difference, level)
    return (low + high) / 2


def bracket(difference: Callable[[float], float], level: float) -> tuple[float, float]:
    """Find by halving two close places between which a falling function crosses a level."""
    low, high = -LARGEST_MULTIPLIER, LARGEST_MULTIPLIER
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        low, high = (middle, high) if difference(middle) > level else (low, middle)
    return low, high
