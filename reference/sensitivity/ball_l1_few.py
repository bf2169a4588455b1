"""A bound on the l1 change of replaced records on the balls that costs the same in every dimension.

Proposition 8b of ``proofs/sensitivities_balls.md``: the quadratic change is at most a form in five sums over the
coordinates.  Where the form is convex, its squares are maxima of linear functions, indexed by a point of a grid;
where it is concave, minima, indexed by multipliers.  What is left falls apart into the coordinates, each maximised
in closed form.  The bound holds for every choice of multipliers: a poor search for them costs width only.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import product

import numpy as np
import numpy.typing as npt

from reference.common.arrays import FloatArray

SHARE = 0.009
"""How far the bound may stay above what is attained."""

MOST_POINTS = 20_000
"""The number of grid points at which the search stops."""

FIRST_POINTS = 2_000
"""The same, before a problem is split."""

STEPS = 100
"""Steps of the search for multipliers at a point."""

TURN = 1.5
"""How much of the last step to add where the new one turns back; else the search zigzags along kinks."""

MARGIN = 1e-11
"""Margin for rounding, relative to the sum of all terms: each comes from fewer than a hundred operations."""

COARSEST = 0.03
"""The part of the bound that the first grid may cost."""

# Rays (x', x) at which the sums below have a kink, by angle, and the sectors between them.  The outer two sectors
# belong to the symmetric ball alone: an entry is negative there.
RAYS = np.array([[1, -1], [1, 0], [3, 1], [1, 1], [1, 3], [0, 1], [-1, 1]], dtype=np.float64)

# Per sector the coefficients of x' and x in Z, D1, D2, N1, N2, R.
SECTORS = np.array(
    [
        [[1, -1], [0.5, 0.5], [0.5, 0.5], [0, 0], [0, 0], [0, -2]],
        [[1, 1], [0.5, 0.5], [0.5, -1.5], [0, 0], [0, 2], [0, 0]],
        [[1, 1], [1, -1], [0, 0], [-0.5, 1.5], [0.5, 0.5], [0, 0]],
        [[1, 1], [1, -1], [0, 0], [1.5, -0.5], [0.5, 0.5], [0, 0]],
        [[1, 1], [-0.5, -0.5], [1.5, -0.5], [0, 0], [2, 0], [0, 0]],
        [[-1, 1], [-0.5, -0.5], [-0.5, -0.5], [0, 0], [0, 0], [-2, 0]],
    ]
)

LENGTHS, CONCAVE = slice(0, 3), slice(3, 8)
"""Multipliers: of |x'|, |x|, |X| <= 1, and of the concave squares N1, N2, R and those of the coupling to x_s."""

Choice = tuple[float, float, float]
"""Coefficients of x', x and X in one sign of a coordinate's linear change."""


@dataclass(frozen=True)
class Few:
    """The problem for one choice of signs of the linear change of x_s and of x'_s - x_s.

    Parameters
    ----------
    choices : tuple of Choice
        Of every coordinate but x_s.
    own : Choice
        Of x_s.
    side : int
        Sign of x'_s - x_s.
    others : int
        Number of the coordinates but x_s.
    weight_s, weight_n : float
        At most 1; `weight_s` is 0 where all coordinates are among the others.
    turn : int
        Sign of x_s, x'_s being at least 0; `own` holds the coefficient of its absolute value.
    positive : bool
        Whether the ball is the unit ball, where no entry is negative.
    counts : tuple of int or None
        How many of the others make each choice; None where that is open.
    """

    choices: tuple[Choice, ...]
    own: Choice
    side: int
    others: int
    weight_s: float
    weight_n: float
    turn: int = 1
    positive: bool = True
    counts: tuple[int, ...] | None = None

    @property
    def groups(self) -> list[tuple[int, tuple[Choice, ...]]]:
        """Return how many coordinates have which choices."""
        if self.counts is None:
            return [(self.others, self.choices)]
        return [(count, (choice,)) for count, choice in zip(self.counts, self.choices, strict=True) if count]

    def split(self) -> Iterator[Few]:
        """Yield a problem for every number of coordinates that make the first choice."""
        if len(self.choices) == 2 and self.counts is None:
            for count in range(self.others + 1):
                yield replace(self, counts=(count, self.others - count))

    @property
    def sectors(self) -> slice:
        """The sectors in which the entries of a coordinate may lie."""
        return slice(1, 5) if self.positive else slice(0, 6)

    @property
    def with_s(self) -> bool:
        """Whether x_s counts apart."""
        return self.weight_s > 0

    @property
    def root(self) -> float:
        """The unit in which the entries of x_s are coupled to the sums of the others."""
        return float(self.others**0.25)

    @property
    def curvature(self) -> FloatArray:
        """Curvature of the convex squares: Z, D1, D2, and the two of the coupling."""
        w_s, w_n = self.weight_s / 16, self.weight_n / 8
        return np.array([w_n / 2, w_n, w_n, w_s, w_s])

    def at(self, points: FloatArray, multipliers: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return bounds at points of the grid, and how each changes with its multipliers."""
        lengths, concave = multipliers[:, LENGTHS], multipliers[:, CONCAVE]
        w = np.array([self.weight_n / 8] * 2 + [self.weight_n / 16] + [self.weight_s / 16] * 2)
        gradient = np.zeros_like(multipliers)
        gradient[:, LENGTHS] = 1
        plus = lengths.sum(axis=1) + concave**2 @ w
        for count, choices in self.groups:
            entry, value = self._one_coordinate(points, multipliers, choices)
            after, before, _, sign = entry.T
            gap, both = np.abs(after - before), after + before
            gradient[:, LENGTHS] -= count * entry[:, :3] ** 2
            gradient[:, 3] -= count * np.maximum(0, both / 2 - gap)
            gradient[:, 4] -= count * np.clip(both - gap, 0, both / 2)
            gradient[:, 5] -= count * np.maximum(0, gap - both)
            gradient[:, 6] += count * sign * after / self.root
            gradient[:, 7] -= count * sign * self.turn * before / self.root
            plus = plus + count * value
        minus = points**2 @ self.curvature
        own, at = self._x_s(points, multipliers)
        gradient[:, LENGTHS] -= at**2
        gradient[:, 6:] -= self.root * at[:, :2]
        gradient[:, CONCAVE] = 2 * w * (concave + gradient[:, CONCAVE])
        bound = plus + own - minus + MARGIN * (plus + np.abs(own) + minus)
        return bound, gradient

    def _one_coordinate(
        self, points: FloatArray, multipliers: FloatArray, choices: tuple[Choice, ...]
    ) -> tuple[FloatArray, FloatArray]:
        """Return where one coordinate's part is largest (x', x, X, the sign of its coupling), and its value."""
        k, sectors = self.weight_n / 8, SECTORS[self.sectors]
        rays = RAYS[self.sectors.start : self.sectors.stop + 1]
        # a sector that each ray bounds
        beside = np.minimum(np.arange(len(rays)), len(sectors) - 1)
        parts = [points[:, :1], 2 * points[:, 1:3], -2 * multipliers[:, 3:5], -multipliers[:, 5:6]]
        sums = np.einsum("pf,sfc->psc", k * np.concatenate(parts, axis=1), sectors)
        coupled = (points[:, 3:5] + multipliers[:, 6:8]) * [1, -self.turn] * self.weight_s / (8 * self.root)
        squares, of_mean = multipliers[:, None, :2], multipliers[:, 2]
        on_rays = (squares * rays**2).sum(axis=-1)
        best, found = np.zeros(len(points)), np.zeros((len(points), 4))
        for to, from_, mean in choices:
            at_mean = self.weight_n * mean / (2 * of_mean)
            for sign in (1, -1) if self.with_s else (0,):
                linear = sums + (self.weight_n * np.array([to, from_]) + sign * coupled)[:, None, :]
                inside = linear / (2 * squares)
                values = np.where(_in_sector(inside, rays), (squares * inside**2).sum(axis=-1), 0)
                along = np.maximum((linear[:, beside] * rays).sum(axis=-1), 0) / (2 * on_rays)
                values = np.concatenate([values, on_rays * along**2], axis=1)
                where = np.concatenate([inside, along[..., None] * rays], axis=1)
                largest, rows = values.argmax(axis=1), np.arange(len(points))
                value = values[rows, largest] + of_mean * at_mean**2
                better = value > best
                best = np.where(better, value, best)
                entry = np.column_stack([where[rows, largest], at_mean, np.full(len(points), sign)])
                found = np.where(better[:, None], entry, found)
        return found, best

    def _x_s(self, points: FloatArray, multipliers: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return what x_s adds at most, and its entries of x', x and X."""
        at = np.zeros((len(points), 3))
        if not self.with_s:
            return np.zeros(len(points)), at
        w_s, of_mean = self.weight_s, multipliers[:, 2]
        slopes = w_s * np.array(self.own[:2]) + w_s / 8 * self.root * (points[:, 3:5] - multipliers[:, 6:8])
        squares = multipliers[:, :2] - self.side * w_s / 8 * np.array([1, -1])
        # concave: its own maximum; convex: an end of [0, 1]
        middle = np.clip(slopes / (2 * np.maximum(squares, 1e-300)), 0, 1)
        at[:, :2] = np.where(squares > 0, middle, slopes > squares)
        at[:, 2] = w_s * self.own[2] / (2 * of_mean)
        added: FloatArray = (slopes * at[:, :2] - squares * at[:, :2] ** 2).sum(axis=1) + of_mean * at[:, 2] ** 2
        return added, at

    def ranges(self) -> tuple[FloatArray, FloatArray]:
        """Return the ends between which the five sums lie."""
        length, unit = math.sqrt(self.others), self.root
        low = [0, -2 / 3 * length, -length / 2, -unit, -unit]
        high = [2 * length, 2 / 3 * length, length / 2, math.sqrt(2) * unit, math.sqrt(2) * unit]
        return np.array(low), np.array(high)

    def first_multipliers(self, goal: float) -> FloatArray:
        """Return multipliers to start from."""
        of_mean = [w * c[2] for w, c in ((self.weight_s, self.own), (self.weight_n, self.choices[-1]))]
        drift = math.hypot(of_mean[0], of_mean[1] * math.sqrt(0.6 * self.others))
        side = math.sqrt(self.others) / 4
        return np.array([[goal / 4, goal / 4, max(drift / 2, 1e-3), side, side, 0, 0, 0]])


def _in_sector(x: FloatArray, rays: FloatArray) -> npt.NDArray[np.bool_]:
    """Return which of the points, one per sector, lie in it: between two rays."""
    low, high = rays[:-1], rays[1:]
    after_low = low[:, 0] * x[..., 1] - low[:, 1] * x[..., 0] >= 0
    before_high = high[:, 0] * x[..., 1] - high[:, 1] * x[..., 0] <= 0
    both: npt.NDArray[np.bool_] = after_low & before_high
    return both


def ceiling(problems: Iterable[Few], attained: float, known: float = math.inf) -> float:
    """Bound the largest of some problems from above, by (1 + SHARE) times `attained` where it can.

    Parameters
    ----------
    problems : iterable of Few
    attained : float
        A value that is attained; it decides when to stop, and the bound does not rest on it.
    known : float
        Another bound; infinity is returned where no less than this can be shown.
    """
    largest = 0.0
    for problem in problems:
        largest = max(largest, _of_splits(problem, attained, known))
        if largest >= known:
            return math.inf
    return largest


def _of_splits(problem: Few, attained: float, known: float) -> float:
    """Bound one problem; where few points do not bound it closely, bound each of its splits."""
    splits = list(problem.split())
    bound = _ceiling(problem, attained, FIRST_POINTS if splits else MOST_POINTS)
    if splits and bound > attained * (1 + SHARE) * (1 + MARGIN) ** 2:
        largest = 0.0
        for split in splits:
            largest = max(largest, _ceiling(split, attained, MOST_POINTS))
            if largest >= known:
                return bound
        bound = min(bound, largest)
    return bound


def _ceiling(problem: Few, attained: float, most_points: int) -> float:
    """Bound one problem on ever finer grids, refining only where the coarser one is not enough."""
    goal = attained * (1 + SHARE)
    axes = 5 if problem.with_s else 3
    corners = np.array([(*corner, *(0,) * (5 - axes)) for corner in product((0, 1), repeat=axes)])
    low, high = problem.ranges()
    grid = _Grid(np.zeros((1, 5), dtype=np.int64), problem.first_multipliers(goal), high - low)
    while grid.cost(problem)[:axes].sum() > COARSEST * goal:
        grid.halve(int(grid.cost(problem)[:axes].argmax()))
    bound, points = 0.0, 0
    while True:
        cost = float(grid.cost(problem)[:axes].sum())
        keys = (grid.cells[:, None] + corners).reshape(-1, 5)
        unique, first, place = np.unique(keys, axis=0, return_index=True, return_inverse=True)
        start = grid.multipliers[first // len(corners)]
        values, found = _search(problem, low + unique * grid.width, start, goal - cost)
        place = place.reshape(-1, len(corners))
        at_corners = values[place]
        bounds = at_corners.max(axis=1) + cost
        points += len(unique)
        is_open = bounds > goal
        if not is_open.any() or points > most_points:
            return max(bound, float(bounds.max())) * (1 + MARGIN)
        bound = max(bound, float(bounds[~is_open].max(initial=0)))
        rows = np.arange(int(is_open.sum()))
        worst = place[is_open][rows, at_corners[is_open].argmax(axis=1)]
        grid.cells, grid.multipliers = grid.cells[is_open], found[worst]
        for _ in range(2 if problem.with_s else 3):
            grid.halve(int(grid.cost(problem)[:axes].argmax()))


@dataclass
class _Grid:
    """Cells of one size, in whole steps from the low ends, each with multipliers to start from."""

    cells: npt.NDArray[np.int64]
    multipliers: FloatArray
    width: FloatArray

    def cost(self, problem: Few) -> FloatArray:
        """Return how far the bound on a cell may exceed those at its corners, axis by axis."""
        found: FloatArray = problem.curvature * self.width**2 / 4
        return found

    def halve(self, axis: int) -> None:
        """Cut every cell in two."""
        left = self.cells.copy()
        left[:, axis] *= 2
        right = left.copy()
        right[:, axis] += 1
        self.cells = np.concatenate([left, right])
        self.multipliers = np.concatenate([self.multipliers, self.multipliers])
        self.width = np.where(np.arange(5) == axis, self.width / 2, self.width)


def _search(problem: Few, points: FloatArray, start: FloatArray, goal: float) -> tuple[FloatArray, FloatArray]:
    """Lower the bound at each point to the goal, by deflected subgradients; return it with its multipliers.

    Steps of Polyak's length, along the direction of Camerini, Fratta and Maffioli (1975).
    """
    best, found, current = np.full(len(points), np.inf), start.copy(), start.copy()
    active = np.arange(len(points))
    # the inverse root of each multiplier's curvature, about; 0 where it has no effect
    of_rest = 0 if problem.positive else problem.weight_n / 2
    of_squares = np.array([problem.weight_n, problem.weight_n, of_rest, *[problem.weight_s / 2] * 2])
    concave = np.where(of_squares > 0, 2 / np.sqrt(np.maximum(of_squares, 1e-12)), 0)
    last = np.zeros_like(start)
    for _ in range(STEPS):
        values, gradients = problem.at(points[active], current[active])
        better = values < best[active]
        best[active[better]], found[active[better]] = values[better], current[active[better]]
        far = values > goal
        active, values, gradients = active[far], values[far], gradients[far]
        if not len(active):
            break
        now = current[active]
        scale = np.column_stack([np.sqrt(now[:, LENGTHS] / 2), np.tile(concave, (len(active), 1))])
        slope, before = gradients * scale, last[active]
        back = (slope * before).sum(axis=1) / np.maximum((before**2).sum(axis=1), 1e-300)
        slope = slope + TURN * np.maximum(-back, 0)[:, None] * before
        last[active] = slope
        step = (values - goal + 0.002 * abs(goal)) / np.maximum((slope**2).sum(axis=1), 1e-300)
        moved = now - step[:, None] * slope * scale
        moved[:, LENGTHS] = np.clip(moved[:, LENGTHS], now[:, LENGTHS] * 0.3, now[:, LENGTHS] * 3)
        current[active] = moved
    return best, found
