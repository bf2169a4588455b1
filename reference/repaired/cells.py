"""A threshold for each group, from released counts of cells: post-processing.

A cell is a group, or for equalised odds a group and a label; every record is in one.  The released counts of
(column, label) tell what share of a cell to expect above a threshold; noisy probes of the cells correct that.
`guessed` has the curves to expect where predictions do not use the group.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import NamedTuple, Protocol

import numpy as np
from scipy.special import expit, logit

from reference.common.arrays import BoolArray, FloatArray
from reference.common.scores import decision_scores
from reference.domain import Domain
from reference.repaired.expected import crossing, drawn_records
from reference.repaired.threshold import FLATTEST, SHOWN, STEEPEST, WORTH, carried

SMALLEST_CELL = 1 / 512
"""Released counts are taken to be at least this share of all records."""

PRIOR_LEVEL, PRIOR_SCALE = 1.0, 0.7
"""Assumed errors of the expected log odds: of their level, and of their scale as a share."""

LEAST_VARIANCE = 1e-6
"""Least variance of a probe: the equations then have a solution whatever the budget is."""

TRUSTED = 0.3
"""A probe is trusted like a noisy one at this share of its distance from the last one."""

HIDDEN = 0.2
"""A cell with more noise in each probe is left out: its released count may be noise alone."""

CERTAIN = 0.02
"""No share counts as nearer to 0 or 1, where its noise is translated to log odds."""

STEPS = 1024
"""How many thresholds to compare."""

PATH_STEPS = 32
"""Parts of the way from no thresholds to fair ones, where some difference is tolerated."""


class CellProbe(NamedTuple):
    """The released share of each cell that is chosen, at a threshold for each group."""

    thresholds: tuple[float, ...]
    rates: tuple[float, ...]
    noise: tuple[float, ...]

    def difference(self, groups: int) -> tuple[float, float]:
        """Return the largest difference between groups, within a label where cells have one, and its noise.

        The noise is that of the two groups with the largest noise.
        """
        rates, noise = (np.array(one).reshape(groups, -1) for one in (np.clip(self.rates, 0.0, 1.0), self.noise))
        label = int(np.argmax(np.ptp(rates, axis=0)))
        return float(np.ptp(rates[:, label])), float(np.linalg.norm(np.sort(noise[:, label])[-2:]))


@dataclass(frozen=True)
class Cells:
    """What is released about cells, and the thresholds chosen from it.

    Parameters
    ----------
    odds : bool
        Cells are pairs of group and label, the label running faster; otherwise groups.
    sizes : tuple of float
        Released counts, made to add up to the number of records.
    thresholds : tuple of float
        One for each group: of the score, or of the probability where the group is guessed.
    probes : tuple of CellProbe
    """

    odds: bool
    sizes: tuple[float, ...]
    thresholds: tuple[float, ...]
    probes: tuple[CellProbe, ...] = ()

    @property
    def groups(self) -> int:
        """The number of groups."""
        return len(self.sizes) // (2 if self.odds else 1)

    @property
    def by_group(self) -> FloatArray:
        """Sizes, shape (groups, 1), or for equalised odds (groups, 2)."""
        return np.array(self.sizes).reshape(self.groups, -1)

    @property
    def seen(self) -> BoolArray:
        """Whether the share of each cell shows through its noise, shape (groups, 1 or 2)."""
        return (np.array(self.probes[0].noise) < HIDDEN).reshape(self.groups, -1)

    @property
    def hidden(self) -> bool:
        """Whether noise hides the share of some cell."""
        return not self.seen.all()

    def after(self, rates: FloatArray, noise: FloatArray) -> Cells:
        """Return what is known after one more probe, made at the thresholds."""
        probe = CellProbe(self.thresholds, tuple(rates.tolist()), tuple(noise.tolist()))
        return replace(self, probes=(*self.probes, probe))


class Curves(Protocol):
    """What earlier releases predict about thresholds."""

    @property
    def joint(self) -> bool:
        """Whether a threshold moves all cells, not only those of its group."""

    def rates(self, thresholds: FloatArray, *, odds: bool) -> FloatArray:
        """Return the share of each cell that is chosen, shape (groups, 1 or 2, ...); thresholds: (groups, ...)."""

    def cost(self, thresholds: tuple[float, ...]) -> float:
        """Return the accuracy that thresholds cost because the group is guessed."""

    def fair(self, cells: Cells, off: Errors) -> FloatArray:
        """Return a threshold for each group that treats all alike once errors are corrected."""


class Expected(NamedTuple):
    """The scores that earlier releases predict, where predictions use the group.

    Parameters
    ----------
    scores : two ndarrays
        Of records of label 0 and of label 1, ascending, without what their group adds.
    added : ndarray, shape (groups,)
        What the group adds.
    positive : ndarray, shape (groups,)
        The share of label 1 in each group.
    """

    scores: tuple[FloatArray, FloatArray]
    added: FloatArray
    positive: FloatArray

    def rates(self, thresholds: FloatArray, *, odds: bool) -> FloatArray:
        """Return the share of each cell above its threshold; `thresholds` has shape (groups, ...).

        The result has shape (groups, 1 or 2, ...).
        """
        rates = []
        for group, positive in enumerate(self.positive):
            moved = thresholds[group] - self.added[group]
            zero, one = (1 - np.searchsorted(known, moved, side="right") / len(known) for known in self.scores)
            rates.append([zero, one] if odds else [positive * one + (1 - positive) * zero])
        return np.array(rates)

    @property
    def joint(self) -> bool:
        """Each threshold moves its own group only."""
        return False

    def cost(self, _thresholds: tuple[float, ...]) -> float:
        """Return 0: the group is known."""
        return 0.0

    def fair(self, cells: Cells, off: Errors) -> FloatArray:
        """Return a threshold for each group."""
        low = min(float(known[0]) for known in self.scores) + self.added.min() - 1
        high = max(float(known[-1]) for known in self.scores) + self.added.max() + 1
        grid = np.linspace(low, high, STEPS)
        rates = off.corrected(self.rates(np.tile(grid, (cells.groups, 1)), odds=cells.odds))
        if cells.odds:
            return _one_point(rates, grid, cells.by_group, np.all(cells.seen, axis=1))
        return _one_rate(rates[:, 0], grid, cells.by_group)


def sizes_of(noisy: FloatArray, n: int) -> tuple[float, ...]:
    """Return noisy counts of cells as sizes that add up to n."""
    # the difference to n is shared out
    positive = np.maximum(noisy + (n - noisy.sum()) / len(noisy), SMALLEST_CELL * n)
    return tuple((positive * (n / positive.sum())).tolist())


def expected_of(w: FloatArray, counts: FloatArray, domain: Domain, n: int) -> Expected:
    """Return the scores to expect, for a domain that keeps the group among its features.

    Parameters
    ----------
    w : ndarray, shape (d,)
    counts : ndarray, shape (2 d,)
        Released sums over the records of each label.
    """
    drawn = drawn_records(counts, domain, n)
    own = domain.dimension - max(1, len(domain.group_values))
    base = decision_scores(w[:own], drawn.x[:, :own])
    zero, one = (np.sort(part) if len(part) else np.zeros(1) for part in (base[~drawn.target], base[drawn.target]))
    scores = (zero, one)
    if not domain.group_values:
        # one column: group 1 has it
        return Expected(scores, np.array([0.0, domain.column_factor * w[own]]), np.full(2, np.nan))
    ones, zeros = (np.maximum(part[own:], domain.column_factor) for part in np.split(counts, 2))
    return Expected(scores, domain.column_factor * w[own:], ones / (ones + zeros))


def fair_thresholds(cells: Cells, expected: Curves, slack: float) -> tuple[float, ...]:
    """Return a threshold for each group, with no difference or a tolerated one.

    Parameters
    ----------
    cells : Cells
        With at least one probe.
    expected : Curves
    slack : float
        Largest difference between groups of the share that is chosen, for equalised odds within each label.
    """
    off = errors(cells, expected)
    fair = expected.fair(cells, off)
    # the shortest part of the way to them at which the difference is tolerated
    way = fair[:, None] * np.linspace(0, 1, PATH_STEPS + 1)
    differences = np.ptp(off.corrected(expected.rates(way, odds=cells.odds)), axis=0).max(axis=0)
    step = int(np.argmax(differences <= slack)) if (differences <= slack).any() else PATH_STEPS
    return tuple(way[:, step].tolist())


def best_thresholds(cells: Cells, expected: Curves, slack: float) -> tuple[float, ...]:
    """Choose the final thresholds: 0 if probes show it to be tolerated, else those fairest for their cost.

    These are the next or probed ones: if few rows are distinct, a step of the true curve may lie between fair
    probes and the next thresholds.
    """
    difference, unmoved = differences(cells, expected), (0.0,) * cells.groups
    estimate, variance = difference(unmoved)
    # what noise hides may be any difference
    most = 1.0 if cells.hidden else min(1.0, estimate + SHOWN * math.sqrt(variance))
    if most <= slack:
        return unmoved
    level = min(slack, difference(cells.probes[0].thresholds)[0])

    def lost(thresholds: tuple[float, ...]) -> float:
        estimate, variance = difference(thresholds)
        return WORTH * math.sqrt((estimate - level) ** 2 + variance) + expected.cost(thresholds)

    return min((fair_thresholds(cells, expected, slack), *(one.thresholds for one in cells.probes)), key=lost)


def differences(cells: Cells, expected: Curves) -> Callable[[tuple[float, ...]], tuple[float, float]]:
    """Return a function from thresholds to the difference that all probes say is there, and its variance."""
    shares = carried_shares(cells, expected)
    return lambda thresholds: spread(*shares(thresholds), cells)


def carried_shares(
    cells: Cells, expected: Curves, wary: float = TRUSTED
) -> Callable[[tuple[float, ...]], tuple[FloatArray, FloatArray]]:
    """Return a function from thresholds to what all probes say is chosen of each cell, and its variance."""
    off = errors(cells, expected)

    def rates(thresholds: tuple[float, ...]) -> FloatArray:
        return off.corrected(expected.rates(np.array(thresholds), odds=cells.odds)).ravel()

    found, noise = (np.array([getattr(one, name) for one in cells.probes]) for name in ("rates", "noise"))
    thought = np.array([rates(one.thresholds) for one in cells.probes])

    def shares(thresholds: tuple[float, ...]) -> tuple[FloatArray, FloatArray]:
        return carried(np.clip(found, 0.0, 1.0), noise, rates(thresholds) - thought, wary)

    return shares


def spread(rates: FloatArray, variances: FloatArray, cells: Cells) -> tuple[float, float]:
    """Return the largest difference of seen rates, within a label where cells have one, and its variance."""
    seen = cells.seen
    largest, variance = 0.0, 0.0
    for label in range(seen.shape[1]):
        known, own = (one.reshape(seen.shape)[seen[:, label], label] for one in (rates, variances))
        if len(known) > 1 and np.ptp(known) >= largest:
            largest, variance = float(np.ptp(known)), float(own[known.argmax()] + own[known.argmin()])
    return largest, variance


class Errors(NamedTuple):
    """Errors of the expected log odds of each cell: the true ones are level + scale * expected ones.

    Parameters
    ----------
    level, scale : ndarray, shape (groups, 1 or 2)
    """

    level: FloatArray
    scale: FloatArray

    def corrected(self, rates: FloatArray) -> FloatArray:
        """Return the corrected expectation, shape (groups, 1 or 2, ...)."""
        level, scale = (one.reshape(one.shape + (1,) * (rates.ndim - 2)) for one in self)
        found: FloatArray = expit(level + scale * logit(np.clip(rates, 1e-9, 1 - 1e-9)))
        return found


def errors(cells: Cells, expected: Curves) -> Errors:
    """Return how wrong the probes show the expected shares to be.

    Every probe is an observation of a line.  Its level and scale are posterior means, with normal priors around 0
    and 1.
    """
    shape = (cells.groups, -1)
    thought = [expected.rates(np.array(one.thresholds), odds=cells.odds) for one in cells.probes]
    # shape (probes, cells)
    curve = np.clip(np.array([one.ravel() for one in thought]), CERTAIN, 1 - CERTAIN)
    found = np.clip(np.array([one.rates for one in cells.probes]), CERTAIN, 1 - CERTAIN)
    noise = np.array([one.noise for one in cells.probes])
    x, y = logit(curve), logit(found)
    moved = np.abs(x - x[-1])
    if expected.joint:
        moved = np.broadcast_to(moved.max(axis=1, keepdims=True), x.shape)
    # the noise of a log odds is that of the share, over share (1 - share)
    variance = (noise / (curve * (1 - curve))) ** 2 + (TRUSTED * moved) ** 2
    precision = 1 / (variance + LEAST_VARIANCE)
    level, scale = np.empty(x.shape[1]), np.empty(x.shape[1])
    for c in range(x.shape[1]):
        design = np.column_stack([np.ones(len(x)), x[:, c]])
        information = design.T @ (design * precision[:, c, None]) + np.diag([PRIOR_LEVEL**-2, PRIOR_SCALE**-2])
        _, steeper = np.linalg.solve(information, design.T @ (precision[:, c] * (y[:, c] - x[:, c])))
        scale[c] = np.clip(1 + steeper, FLATTEST, STEEPEST)
        # where the scale moved to a limit, the level follows
        misses = precision[:, c] * (y[:, c] - scale[c] * x[:, c])
        level[c] = misses.sum() / (precision[:, c].sum() + PRIOR_LEVEL**-2)
    return Errors(level.reshape(shape), scale.reshape(shape))


def _one_rate(rates: FloatArray, grid: FloatArray, sizes: FloatArray) -> FloatArray:
    """Return thresholds that choose the same share of each group and average 0 over all records.

    At that share a small change for every group loses as many right choices as it gains, if the scores are
    right.

    Parameters
    ----------
    rates : ndarray, shape (groups, STEPS)
        Falling.
    """
    share = sizes[:, 0] / sizes.sum()

    def thresholds(level: float) -> FloatArray:
        return np.array([np.interp(expit(level), curve[::-1], grid[::-1]) for curve in rates])

    return thresholds(crossing(lambda level: float(share @ thresholds(level)), 0.0))


def _one_point(rates: FloatArray, grid: FloatArray, sizes: FloatArray, seen: BoolArray) -> FloatArray:
    """Return thresholds that take each group as near as they can to one point of the two shares.

    Of the points that every seen group can reach or beat, it is the one with the highest accuracy: on the lowest
    of the curves of true positives over false positives.

    Parameters
    ----------
    rates : ndarray, shape (groups, 2, STEPS)
        Shares of label 0 and of label 1 above each threshold; falling.
    seen : ndarray, shape (groups,)
        Groups whose shares show through their noise.
    """
    wrong = np.linspace(0, 1, STEPS)
    known = rates[seen] if seen.any() else rates
    right = np.min([np.interp(wrong, zero[::-1], one[::-1]) for zero, one in known], axis=0)
    zeros, ones = sizes.sum(axis=0)
    best = int(np.argmax(ones * right - zeros * wrong))
    point = np.array([wrong[best], right[best]])
    nearest = np.abs(rates - point[:, None]).max(axis=1).argmin(axis=1)
    thresholds: FloatArray = grid[nearest]
    return thresholds
