"""Limits of the difference between groups, from released probes and public noise: post-processing.

A probe measures the thresholds at which it was made.  It tells of the final ones

* if both predict alike every row that the domain encodes: then they choose the same people.  If there are too many
  rows to look at, only probes at the final thresholds count;
* as an upper or a lower limit where predictions use the group, because the higher a group's threshold is, the
  fewer of its members are chosen.

Else it tells nothing, and the limits are 0 and 1.  What the probes found decides which of them are averaged, and
where a fit ends; so the limits hold for every set of probes at once (Bonferroni).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import NamedTuple, TypeAlias

import numpy as np
from scipy.special import ndtri

from reference.common.arrays import BoolArray, FloatArray
from reference.domain import Domain
from reference.repaired.cells import SMALLEST_CELL, Cells
from reference.repaired.model import Model
from reference.repaired.spent import CELL_COUNTS, deviation_of

CONFIDENCE = 0.95
"""How often, at least, the difference among the fitted records is between the limits."""

MOST_ROWS = 2**14
"""Domains with more rows are not looked at row by row."""

MOST_COUNTED = 1000
"""More probes count as so many: their limits are 0 and 1 anyway."""

Ends: TypeAlias = tuple[float, float]


class Limits(NamedTuple):
    """Limits of a difference."""

    low: float
    high: float

    @property
    def known(self) -> bool:
        """Whether probes say anything."""
        return self.low > 0.0 or self.high < 1.0

    @property
    def rounded(self) -> tuple[float, float]:
        """Both, rounded outwards to three digits."""
        return math.floor(self.low * 1000) / 1000, math.ceil(self.high * 1000) / 1000

    def __str__(self) -> str:
        """Return both, rounded outwards."""
        low, high = self.rounded
        return f"{low:.3g} to {high:.3g}"


UNKNOWN = Limits(0.0, 1.0)


def noisiest(model: Model) -> tuple[float, float | None] | None:
    """Return the noise of one probe where it is largest, and the released size of that cell; None without probes.

    Of the cells that count: for two groups the noise is that of their difference, which has no size.
    """
    cells = model.cells
    if cells is None:
        return (model.probes[0].noise, None) if model.probes else None
    noise, sizes = (
        np.array(one).reshape(cells.seen.shape)[cells.seen] for one in (cells.probes[0].noise, cells.sizes)
    )
    if not len(noise):
        return None
    place = int(noise.argmax())
    return float(noise[place]), float(sizes[place])


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
        return _of_cells(model, model.cells, domain)
    if model.zbar is None:
        return UNKNOWN
    final, at = model.multiplier, np.array([one.multiplier for one in model.probes])
    probed = [replace(model, multiplier=one.multiplier) for one in model.probes]
    alike: BoolArray = np.all(_alike(model, domain, probed), axis=1)
    above, below = alike, alike
    if model.group_weights is None:
        # the difference falls as the multiplier rises
        above, below = above | (at <= final), below | (at >= final)
    width = _width(1, len(at), laplace=not model.delta)
    low, high = _limits(
        np.array([one.difference for one in model.probes]),
        np.abs(at - final),
        (above, below),
        # the noise of zbar moves all probes
        lambda mean, probes: _ends(
            mean, width, math.hypot(model.probes[0].noise / math.sqrt(probes), model.noise_of_share)
        ),
    )
    low, high = (min(1.0, max(-1.0, limit)) for limit in (low, high))
    nearest = 0.0 if low <= 0.0 <= high else min(abs(low), abs(high))
    return Limits(nearest, max(abs(low), abs(high)))


def width_of_noise(model: Model) -> float:
    """Return how wide limits are, at most, of one probe at the final thresholds: of the two noisiest cells."""
    cells, laplace = model.cells, not model.delta
    if cells is None:
        return (
            2
            * _width(1, len(model.probes), laplace=laplace)
            * math.hypot(model.probes[0].noise, model.noise_of_share)
        )
    errors = np.hypot(np.array(cells.probes[0].noise), _errors_of_sizes(model, cells) / 2)[cells.seen.ravel()]
    width = _width(len(errors), len(cells.probes), laplace=laplace)
    return float(2 * width * np.sort(errors)[-2:].sum())


def _alike(model: Model, domain: Domain, probed: Sequence[Model]) -> BoolArray:
    """Return for each probe whether the model predicts every row as at the probe, shape (probes, groups).

    Where predictions do not use the group, all groups have one answer.

    Parameters
    ----------
    model : Model
    domain : Domain
    probed : sequence of Model
        At the thresholds of each probe.
    """
    x, groups = every_row(domain), np.arange(domain.groups)
    if x is None:
        return np.array([np.full(len(groups), _places(one) == _places(model)) for one in probed])
    if not domain.keep_group:
        final = model.predict(x)
        return np.array([np.full(len(groups), (one.predict(x) == final).all()) for one in probed])
    z = encoded_groups(x, domain)
    final = model.predict(x, z)
    otherwise = [z[one.predict(x, z) != final] for one in probed]
    return np.array([~np.isin(groups, one) for one in otherwise])


def encoded_groups(x: FloatArray, domain: Domain) -> FloatArray:
    """Return the groups of encoded records that keep them, shape (n,)."""
    z = x[:, -domain.groups :].argmax(axis=1) if domain.group_values else x[:, -1] > 0
    return z.astype(np.float64)


def _places(model: Model) -> tuple[float, ...]:
    return (model.multiplier,) if model.cells is None else model.cells.thresholds


def every_row(domain: Domain) -> FloatArray | None:
    """Return every row that a domain encodes; None if some are numbers, or more than MOST_ROWS."""
    choices = [np.eye(len(attribute.columns)) for attribute in domain.attributes]
    if domain.prescaled or any(len(one) == 1 for one in choices):
        return None
    if domain.intercept:
        choices.insert(0, np.ones((1, 1)))
    if domain.keep_group:
        choices.append(np.eye(domain.groups) if domain.group_values else np.array([[0.0], [1.0]]))
    if math.prod(map(len, choices)) > MOST_ROWS:
        return None
    rows = np.ones((1, 0))
    for one in choices:
        rows = np.hstack([np.repeat(rows, len(one), axis=0), np.tile(one, (len(rows), 1))])
    return rows * domain.column_factor


def _of_cells(model: Model, cells: Cells, domain: Domain) -> Limits:
    final, at = np.array(cells.thresholds), np.array([one.thresholds for one in cells.probes])
    probed = [replace(model, cells=replace(cells, thresholds=one.thresholds)) for one in cells.probes]
    above = below = alike = _alike(model, domain, probed)
    if model.group_weights is None:
        # fewer of a group are chosen the higher its threshold is
        above, below = alike | (at <= final), alike | (at >= final)
    seen = cells.seen
    width = _width(int(seen.sum()), len(at), laplace=not model.delta)
    # of sizes that were not made smaller
    kept = _kept_of_sizes(model, cells)
    above_half = kept * (np.array([one.rates for one in cells.probes]).reshape(len(at), *seen.shape) - 0.5)
    noise = kept * np.array(cells.probes[0].noise).reshape(seen.shape)
    of_size = _errors_of_sizes(model, cells).reshape(seen.shape)
    low, high = np.zeros(seen.shape), np.ones(seen.shape)
    for group, label in zip(*np.nonzero(seen), strict=True):
        deviation, more = float(noise[group, label]), float(of_size[group, label])

        def ends(mean: float, probes: int, deviation: float = deviation, more: float = more) -> Ends:
            return _ends(mean, width, deviation / math.sqrt(probes), more)

        sides = (above[:, group], below[:, group])
        own = _limits(above_half[:, group, label], np.abs(at - final)[:, group], sides, ends)
        low[group, label], high[group, label] = np.clip(0.5 + np.array(own), 0.0, 1.0)
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


def _kept_of_sizes(model: Model, cells: Cells) -> float:
    """Return the factor by which cell sizes were scaled down when small cells were raised to the minimum.

    Sizes were made to add up to n by one factor: the smallest tells it, if it was such a cell.  If none was, the
    factor is 1.
    """
    return min(1.0, min(cells.sizes) / (SMALLEST_CELL * model.n))


def _errors_of_sizes(model: Model, cells: Cells) -> FloatArray:
    """Return the standard deviation that noise in each cell's size causes in its shares, per unit of |r - 1/2|.

    Where a share r is chosen of N records, the probe finds 1/2 + (N / n) (r - 1/2) for a released size n.
    """
    scale = next((one.scale for one in model.spent if one.what == CELL_COUNTS), 0.0)
    sizes = np.array(cells.sizes)
    found: FloatArray = deviation_of(scale, model.delta) / sizes
    # as large as a size is taken to be at least: nobody may be there
    return np.where(sizes > SMALLEST_CELL * model.n * (1 + 1e-3), found, np.maximum(found, 1.0))


def _ends(mean: float, width: float, deviation: float, of_size: float = 0.0) -> Ends:
    """Return limits of the numbers u, |u| <= 1/2, with |mean - u| <= width sqrt(deviation^2 + (of_size u)^2).

    Without `of_size` u is any number.
    """
    error = width * math.hypot(deviation, of_size / 2)
    low, high = mean - error, mean + error
    left = 1 - (width * of_size) ** 2
    if left > 0:
        # between the roots of a quadratic in u
        scaled = of_size * mean
        # Python raises where a square has no float
        square = scaled**2 if abs(scaled) < 1e150 else math.inf
        error = width * math.sqrt(left * deviation**2 + square)
        low, high = max(low, (mean - error) / left), min(high, (mean + error) / left)
    return low, high


def _limits(
    found: FloatArray,
    distance: FloatArray,
    sides: tuple[BoolArray, BoolArray],
    ends: Callable[[float, int], Ends],
) -> Ends:
    """Return limits of a number from probes that are at least as large (the first side), and at most as large.

    Parameters
    ----------
    found, distance : ndarray, shape (probes,)
        What probes say, and how far they are from what is wanted: the nearest are averaged.
    sides : two ndarrays
    ends : callable
        Limits from the mean of so many probes.
    """
    order, limits = np.argsort(distance, kind="stable"), [-math.inf, math.inf]
    for place, (side, sign) in enumerate(zip(reversed(sides), (-1, 1), strict=True)):
        for probes, mean in enumerate(_means(found[order][side[order]]), start=1):
            limit = ends(mean, probes)[place]
            limits[place] = max(limits[place], limit) if sign < 0 else min(limits[place], limit)
    # beyond what the confidence allows, they may cross
    return min(limits), max(limits)


def _means(values: FloatArray) -> list[float]:
    """Return the means of the first one, two, three ... values."""
    means: list[float] = (np.cumsum(values) / np.arange(1, len(values) + 1)).tolist()
    return means


def _width(numbers: int, probes: int, *, laplace: bool) -> float:
    """Return how many standard deviations the limits span, to hold for so many numbers and all sets of probes."""
    chance = (1 - CONFIDENCE) / (max(1, numbers) * (2.0 ** min(probes, MOST_COUNTED) - 1))
    # of all sums of independent noise, that of one probe has the widest Laplace tail
    return -math.log(chance) / math.sqrt(2) if laplace else -float(ndtri(chance / 2))
