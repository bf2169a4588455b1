"""What rivals need that their libraries leave to others: tables of columns, and private thresholds by group."""

from __future__ import annotations

import numpy as np

from reference.common.arrays import BoolArray, FloatArray
from reference.records import Records

LARGEST_SCORE = 4.0
"""Scores are cut to it: log odds."""

BINS = 16


def table_of(records: Records) -> tuple[FloatArray, list[str], dict[int, tuple[float, float]]]:
    """Return a column for each attribute and a kept group, what each is, and the declared bounds of numbers."""
    domain, at = records.domain, int(records.domain.intercept)
    columns, kinds, bounds = [], [], {}
    for place, attribute in enumerate(domain.attributes):
        count = len(attribute.columns)
        part = records.x[:, at : at + count] / domain.column_factor
        at += count
        if count == 1:
            lower, upper = float(attribute.lower), float(attribute.upper)  # type: ignore[union-attr]
            columns.append(lower + part[:, 0] * (upper - lower))
            kinds.append("continuous")
            bounds[place] = (lower, upper)
        else:
            columns.append(part.argmax(axis=1).astype(float))
            kinds.append("nominal")
    if domain.keep_group:
        assert records.z is not None
        columns.append(records.z)
        kinds.append("nominal")
    return np.column_stack(columns), kinds, bounds


def bounded(scores: FloatArray) -> FloatArray:
    """Return scores within public limits."""
    found: FloatArray = np.clip(scores, -LARGEST_SCORE, LARGEST_SCORE)
    return found


def histogram_thresholds(
    scores: FloatArray, y: FloatArray, members: BoolArray, epsilon: float, seed: int
) -> tuple[float, float]:
    """Return thresholds of group 0 and 1 that select the same share of each, where noisy counts say it is best.

    Counts by (group, label, bin of the score) change by 1 with a record that is added or removed: Laplace noise of
    scale 1/epsilon is private.  Within a bin scores are taken to be spread evenly.
    """
    random = np.random.default_rng([seed, 17])
    edges = np.linspace(-LARGEST_SCORE, LARGEST_SCORE, BINS + 1)
    above = {}
    for group in (0, 1):
        for label in (0, 1):
            part = scores[(members == group) & (y == label)]
            noisy = np.histogram(part, edges)[0] + random.laplace(0, 1 / epsilon, BINS)
            counts = np.maximum(noisy, 0.0)
            # how many are above each edge
            above[group, label] = np.append(np.cumsum(counts[::-1])[::-1], 0.0)
    fine = np.linspace(-LARGEST_SCORE, LARGEST_SCORE, 50 * BINS + 1)
    curve = {cell: np.interp(fine, edges, counts) for cell, counts in above.items()}
    chosen = {group: curve[group, 0] + curve[group, 1] for group in (0, 1)}
    right = {group: curve[group, 1] - curve[group, 0] for group in (0, 1)}
    best = (-np.inf, (0.0, 0.0))
    for share in np.linspace(0.005, 0.995, 199):
        places = [int(np.argmin(np.abs(chosen[group] - share * chosen[group][0]))) for group in (0, 1)]
        gain = sum(float(right[group][place]) for group, place in enumerate(places))
        best = max(best, (gain, (float(fine[places[0]]), float(fine[places[1]]))))
    return best[1]
