"""Between which limits the difference of groups lies, from released probes and public noise: post-processing.

A probe tells of the thresholds at which it was made.  It tells of the final ones

* if no drawn record is predicted otherwise there: then both thresholds choose the same people;
* as an upper or a lower limit where predictions use the group, because fewer members of a group are chosen the
  higher their threshold is.

Else it tells nothing, and the limits are 0 and 1.  Which probes are averaged depends on what they found, and so
does where a fit ends; the limits hold for every set of probes at once (Bonferroni).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy.special import ndtri

from reference.common.arrays import BoolArray, FloatArray
from reference.domain import Domain
from reference.repaired.cells import SMALLEST_CELL, Cells, Curves
from reference.repaired.expected import drawn_records
from reference.repaired.model import Model, margins
from reference.repaired.spent import CELL_COUNTS

CONFIDENCE = 0.95
"""How often, at least, the difference among the fitted records is between the limits."""

MOST_COUNTED = 1000
"""More probes count as so many: their limits are 0 and 1 anyway."""


class Limits(NamedTuple):
    """Between which limits a difference lies."""

    low: float
    high: float

    @property
    def known(self) -> bool:
        """Whether probes say anything."""
        return self.low > 0.0 or self.high < 1.0

    def __str__(self) -> str:
        """Return both, rounded outwards."""
        low, high = math.floor(self.low * 1000) / 1000, math.ceil(self.high * 1000) / 1000
        return f"{low:.3g} to {high:.3g}"


UNKNOWN = Limits(0.0, 1.0)


def limits_of(model: Model, domain: Domain) -> Limits:
    """Return limits of the difference that a released model leaves among the fitted records.

    Parameters
    ----------
    model : Model
        With fairness.
    domain : Domain
        Of the release.
    """
    if model.cells is not None:
        return _of_cells(model, model.cells, model.expected_cells(domain))
    if model.zbar is None:
        return UNKNOWN
    final, at = model.multiplier, np.array([one.multiplier for one in model.probes])
    above = below = _alike(model, domain)
    if model.group_weights is None:
        # the difference falls as the multiplier rises
        above, below = above | (at <= final), below | (at >= final)
    low, high = _limits(
        np.array([one.difference for one in model.probes]),
        np.abs(at - final),
        (above, below),
        # the noise of zbar moves all probes
        lambda probes: math.hypot(model.probes[0].noise / math.sqrt(probes), model.noise_of_share),
        _width(1, len(at), laplace=not model.delta),
    )
    low, high = (min(1.0, max(-1.0, limit)) for limit in (low, high))
    nearest = 0.0 if low <= 0.0 <= high else min(abs(low), abs(high))
    return Limits(nearest, max(abs(low), abs(high)))


def _alike(model: Model, domain: Domain) -> BoolArray:
    """Return for each probe whether the final multiplier predicts all drawn records as that of the probe does."""
    assert model.zbar is not None
    drawn = drawn_records(model.counts, domain, model.n)
    z = (drawn.x[:, -1] > 0).astype(np.float64)
    advantage, belonging = margins(model.w, model.group_weights, float(model.zbar), drawn.x, z)

    def chosen(multiplier: float) -> BoolArray:
        found: BoolArray = advantage - multiplier * belonging > 0.0
        return found

    final = chosen(model.multiplier)
    return np.array([bool((chosen(one.multiplier) == final).all()) for one in model.probes])


def _of_cells(model: Model, cells: Cells, expected: Curves) -> Limits:
    final, at = np.array(cells.thresholds), np.array([one.thresholds for one in cells.probes])
    alike = np.array([expected.alike(one, final) for one in at])
    above = below = alike
    if not expected.joint:
        # fewer of a group are chosen the higher its threshold is
        above, below = alike | (at <= final), alike | (at >= final)
    seen = cells.seen
    width = _width(int(seen.sum()), len(at), laplace=not model.delta)
    rates = np.array([one.rates for one in cells.probes]).reshape(len(at), *seen.shape)
    noise = np.array(cells.probes[0].noise).reshape(seen.shape)
    of_size = _errors_of_sizes(model, cells).reshape(seen.shape)
    low, high = np.zeros(seen.shape), np.ones(seen.shape)
    for group, label in zip(*np.nonzero(seen), strict=True):
        deviation, more = float(noise[group, label]), float(of_size[group, label])

        def error(probes: int, deviation: float = deviation, more: float = more) -> float:
            return math.hypot(deviation / math.sqrt(probes), more)

        sides = (above[:, group], below[:, group])
        own = _limits(rates[:, group, label], np.abs(at - final)[:, group], sides, error, width)
        low[group, label], high[group, label] = np.clip(own, 0.0, 1.0)
    pairs = [
        (low[i, label] - high[k, label], high[i, label] - low[k, label])
        for label in range(seen.shape[1])
        for i in np.flatnonzero(seen[:, label])
        for k in np.flatnonzero(seen[:, label])
        if i != k
    ]
    if not pairs:
        return UNKNOWN
    lows, highs = zip(*pairs, strict=True)
    return Limits(float(max(0.0, *lows)), float(max(highs)))


def _errors_of_sizes(model: Model, cells: Cells) -> FloatArray:
    """Return the standard deviation of what the noise of each cell's size adds to its shares, at most.

    Where a share r is chosen of N records, the probe finds 1/2 + (N / n) (r - 1/2) for a released size n.
    """
    scale = next((one.scale for one in model.spent if one.what == CELL_COUNTS), 0.0)
    sizes = np.array(cells.sizes)
    found: FloatArray = scale * (1.0 if model.delta else math.sqrt(2)) / (2 * sizes)
    # as large as a size is taken to be at least: nobody may be there
    return np.where(sizes > SMALLEST_CELL * model.n * (1 + 1e-3), found, np.maximum(found, 0.5))


def _limits(
    found: FloatArray,
    distance: FloatArray,
    sides: tuple[BoolArray, BoolArray],
    error: Callable[[int], float],
    width: float,
) -> tuple[float, float]:
    """Return limits of a number from probes that are at least as large (the first side), and at most as large.

    Parameters
    ----------
    found, distance : ndarray, shape (probes,)
        What probes say, and how far they are from what is wanted: the nearest are averaged.
    sides : two ndarrays
    error : callable
        The standard deviation of the mean of so many probes.
    width : float
        Standard deviations to allow.
    """
    order, limits = np.argsort(distance, kind="stable"), [-math.inf, math.inf]
    for place, (side, sign) in enumerate(zip(reversed(sides), (-1, 1), strict=True)):
        for probes, mean in enumerate(_means(found[order][side[order]]), start=1):
            limit = mean + sign * width * error(probes)
            limits[place] = max(limits[place], limit) if sign < 0 else min(limits[place], limit)
    # beyond what the confidence allows, they may cross
    return min(limits), max(limits)


def _means(values: FloatArray) -> list[float]:
    """Return the means of the first one, two, three ... values."""
    means: list[float] = (np.cumsum(values) / np.arange(1, len(values) + 1)).tolist()
    return means


def _width(numbers: int, probes: int, *, laplace: bool) -> float:
    """Return how many standard deviations hold for so many numbers and every set of their probes at once."""
    chance = (1 - CONFIDENCE) / (max(1, numbers) * (2.0 ** min(probes, MOST_COUNTED) - 1))
    # of all sums of independent noise, that of one probe has the widest Laplace tail
    return -math.log(chance) / math.sqrt(2) if laplace else -float(ndtri(chance / 2))
