"""Exact suprema over the rows that a declared domain encodes: finite maxima, in rational arithmetic.

Proofs: ``proofs/sensitivities_declared.md``.  At the maximum every ladder of the new row is at 1 and every ladder
of the old row on some level; every block is left alone or moved.  So the change depends on a few whole numbers and
one aggregate, the sum t of the old row's levels, in which it is a concave quadratic.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from itertools import accumulate
from typing import Any

import numpy as np

from reference.common.arrays import FloatArray
from reference.domain import Domain
from reference.sensitivity.cases import Case, cases
from reference.sensitivity.families import Families, families_of
from reference.sensitivity.ladders import Sums, ends_only
from reference.sensitivity.rows import EncodedRow, NeighbouringRows
from reference.sensitivity.setting import Setting, Supremum

ZERO, ONE = Fraction(0), Fraction(1)

METHOD = "finite maximum"

NEARLY = 1e-9
"""Candidates that are below the maximum by more than this share in floats are not computed exactly."""

MOST_LEVELS, MOST_PLACES = 2_000, 30_000
"""Levels of x_s, and levels times blocks, that a fit tries one by one; beyond them only a bound is known."""

STEEP = Fraction(23, 128)
"""A little more than sqrt(1/32): see section 4 of the proof page."""


@dataclass(frozen=True)
class Declared:
    """The rows that a domain encodes, under a setting.

    Parameters
    ----------
    domain : Domain
    setting : Setting
        Of the same dimension and norm.
    s : int or None
        Coordinate with its own weight; None where all weights are equal.

    Raises
    ------
    reference.common.errors.DeclarationError
        For a domain that the paper does not treat: the finite maximum is one of entries from 0 up.
    """

    domain: Domain
    setting: Setting
    s: int | None = None

    def __post_init__(self) -> None:
        self.domain.require_of_paper()

    def __hash__(self) -> int:
        # groups of categories are a dict
        return hash((self.domain.columns, self.domain.norm, self.setting, self.s))

    @property
    def is_norm_domain(self) -> bool:
        """Whether every point of a ball is a row: nothing is encoded."""
        return self.domain.prescaled and self.domain.norm != "unit_box"


@dataclass(frozen=True)
class Attained:
    """A supremum, and rows that attain it (its lower end)."""

    supremum: Supremum
    rows: NeighbouringRows


@lru_cache(maxsize=1024)
def declared_supremum(
    where: Declared, power: int, weight_s: Fraction, weight_n: Fraction, effort: str = "quick"
) -> Attained:
    """Return sup of w_s |D_s|_1 + w_n |D_n|_1 (power 1) or of w_s |D_s|_2^2 + w_n |D_n|_2^2 (power 2).

    Parameters
    ----------
    where : Declared
        Not a ball in which every point is a row.
    power : {1, 2}
    weight_s, weight_n : Fraction
        Nonnegative.
    effort : {'fast', 'quick', 'close', 'thorough'}
        All but `thorough` may return an enclosure where many ordinal attributes have sizes with a large common
        multiple, or x_s is an ordinal attribute with thousands of categories, fewer beside many blocks.

    Returns
    -------
    Attained
        Over real tables: the encoding's own rounding, 2^-53 of an entry, is not counted.
    """
    s = None if weight_s == weight_n else where.s
    families = families_of(where.domain, s)
    sums = Sums(tuple(steps for _, steps in families.ladders))
    weights = (weight_s, weight_n)
    if power == 2:
        return _over(where, (families,) * 2, (ends_only(sums.steps),) * 2, 2, weights)
    of_families, of_sums = (families, families), (sums, sums)
    if sums.is_large and effort != "thorough":
        of_sums = (ends_only(sums.steps), Sums((0,) * sums.most))
    index, levels = families.place
    many = levels > MOST_LEVELS or levels * (len(families.blocks) + 1) > MOST_PLACES
    if families.special == "ladder" and many and effort != "thorough":
        of_families = (replace(families, place=(index, 1)), replace(families, place=(index, 0)))
    return _over(where, of_families, of_sums, 1, weights)


def _over(
    where: Declared,
    families: tuple[Families, Families],
    sums: tuple[Sums, Sums],
    power: int,
    weights: tuple[Fraction, Fraction],
) -> Attained:
    """Maximise over the levels and sums that are attained; bound the maximum over those that may be."""
    attained, allowed = sums
    every, wider = (
        [_Problem(one, where.setting, case, weights, power) for case in cases(where.setting, kept_group=one.group)]
        for one in families
    )
    best = _maximum(every, attained)
    rows = best.problem.rows(best, attained, where.domain)
    relaxed = [problem.relaxed() for problem in every if not problem.is_convex]
    if allowed is attained and families[0] is families[1] and not relaxed:
        return Attained(Supremum(best.value, best.value, METHOD), rows)
    upper = _maximum([*wider, *relaxed], allowed).value
    if upper == best.value:
        return Attained(Supremum(upper, upper, METHOD), rows)
    return Attained(Supremum(best.value, upper, "an upper bound; rows attain the lower end"), rows)


@dataclass(frozen=True)
class _State:
    """What happens to the family that holds x_s.

    Parameters
    ----------
    kind : str
        Of the entries of x_s: `zero`, `const`, `up`, `down`, or `ladder`.
    linear : Fraction
        Its weighted linear change; at level 0 for a ladder.
    slope : Fraction
        Of a ladder: what the level adds to it.
    standing, moved : int
        Whether it is a block that is left alone, or moved.
    columns : tuple of int
        Of a block: new, old and other rows.
    """

    kind: str
    linear: Fraction = ZERO
    slope: Fraction = ZERO
    standing: int = 0
    moved: int = 0
    columns: tuple[int, int, int] = (0, 0, 0)


@dataclass(frozen=True)
class _Best:
    """A value and where it is attained: `moved` blocks, the sum `t`, the level `rho` of x_s."""

    value: Any
    problem: _Problem
    state: _State
    moved: int
    t: Fraction
    rho: Fraction


def _maximum(every: list[_Problem], sums: Sums) -> _Best:
    """Return the exact maximum: every candidate in floats, those near the largest in rational numbers."""
    tried = [(problem, state, _tried(problem, state, sums)) for problem in every for state in problem.states]
    nearly = max(float(values.max()) for *_, values in tried) * (1 - NEARLY)
    found = []
    for problem, state, values in tried:
        levels = problem.levels(state)
        for moved, column in np.argwhere(values >= nearly).tolist():
            candidates = _candidates(problem, state, moved, levels[column], sums)
            best = max((problem.value(state, moved, t, rho, Fraction), t, rho) for t, rho in candidates)
            found.append(_Best(best[0], problem, state, moved, *best[1:]))
    return max(found, key=lambda best: best.value)


def _tried(problem: _Problem, state: _State, sums: Sums) -> FloatArray:
    """Return the largest change in floats: a row per number of blocks moved, a column per level of x_s."""
    moved = np.arange(len(problem.gains) if problem.replaces else 1)[:, None]
    levels = problem.levels(state)
    rho = np.array([[float(level) for level in levels if level is not None]])

    def value(t: FloatArray, at: FloatArray) -> FloatArray:
        found: FloatArray = problem.value(state, moved, t, at, float)
        return np.broadcast_to(found, np.broadcast_shapes(moved.shape, at.shape))

    zero, one = np.zeros_like(rho), np.ones_like(rho)
    best = value(zero, rho)
    if not problem.replaces:
        return best
    most = float(sums.most)
    best = np.maximum(best, value(zero + most, rho))
    curvature = float(problem.curvature(problem.weights[1]))
    if curvature:
        stationary = (value(one, rho) - value(zero, rho) + curvature) / (2 * curvature)
        for t in sums.around(stationary):
            best = np.maximum(best, value(t, rho))
    if None not in levels:
        return best
    k = problem.best_level(state, moved, float)
    places = [zero[:, :1], zero[:, :1] + most, *sums.around(k - 1), *sums.around(k)]
    own = np.max([value(t, np.clip(k - t, 0, 1)) for t in places], axis=0)
    return np.hstack([best, own])


def _candidates(
    problem: _Problem, state: _State, moved: int, level: Fraction | None, sums: Sums
) -> list[tuple[Fraction, Fraction]]:
    """Return candidate sums and levels of x_s for the largest change, at a level of x_s or the best one."""
    if not problem.replaces:
        return [(ZERO, ZERO)]
    ends = [ZERO, Fraction(sums.most)]
    if level is None:
        k = problem.best_level(state, moved, Fraction)
        return [(t, max(ZERO, min(ONE, k - t))) for t in (*ends, *sums.near(k - 1), *sums.near(k))]
    curvature = problem.curvature(problem.weights[1])
    if curvature:
        change = problem.value(state, moved, ONE, level, Fraction) - problem.value(
            state, moved, ZERO, level, Fraction
        )
        ends += sums.near((change + curvature) / (2 * curvature))
    return [(t, level) for t in ends]


class _Problem:
    """The weighted change of one case, as a function of what is left open."""

    def __init__(
        self, families: Families, setting: Setting, case: Case, weights: tuple[Fraction, Fraction], power: int
    ) -> None:
        self.families, self.setting, self.case = families, setting, case
        self.weights, self.power = weights, power
        self.replaces = setting.replaces
        self.both = 2 if power == 2 and setting.basis == "monomial" else 1
        corner = families.corner
        self.linear_scale = corner**power
        self.quadratic_scale = corner**2 / 8 if power == 1 else corner**4 / 64
        if families.special == "none":
            self.weights = (weights[1], weights[1])
        self.blocks: dict[tuple[int, int, int | None], tuple[Fraction, int]] = {}
        self.low, self.high = (case.ladder(old, power)[0] for old in (0, 1))
        self.gains = self._gains()
        self.fixed = self._fixed()
        self.standing = len(families.blocks) + int(families.intercept) + int(families.group and case.group == 1)
        self.states = self._states()
        self.kept: dict[Any, tuple[Any, ...]] = {}

    def _gains(self) -> list[Fraction]:
        """Return what the blocks add together when 0, 1, 2, ... of them are moved, the largest gains first."""
        kept, changes = ZERO, []
        for _, size in self.families.blocks:
            at_rest, in_motion = (self._block(size, new, old)[0] for new, old in ((0, 0), (0, 1)))
            if not self.replaces:
                at_rest = self._block(size, 0, None)[0]
            kept += at_rest
            changes.append(in_motion - at_rest)
        return list(accumulate(sorted(changes, reverse=True), initial=kept))

    def _block(self, size: int, new: int, old: int | None) -> tuple[Fraction, int]:
        """Return what a block adds; three columns stand for more, so that few blocks differ."""
        place = (min(size, 3), new, old)
        if place not in self.blocks:
            self.blocks[place] = self.case.block(new, old, (ONE,) * place[0], self.power)
        return self.blocks[place]

    def _fixed(self) -> Fraction:
        """Return what intercept and group add, where they do not hold x_s."""
        total, special = ZERO, self.families.special
        if self.families.intercept and special != "intercept":
            total += self._intercept()
        if self.families.group and special != "group":
            total += self._group()
        return total

    def _intercept(self) -> Fraction:
        return self.case.column(1, int(self.replaces), 1, self.power)

    def _group(self) -> Fraction:
        return self.case.column(1, self.case.group, 0, self.power)

    def _states(self) -> list[_State]:
        weight_s, weight_n = self.weights
        special, size = self.families.special, self.families.place[1]
        if special == "none":
            return [_State("zero")]
        if special == "ladder":
            kind = "ladder" if self.replaces else "up"
            return [_State(kind, weight_s * self.low, weight_s * (self.high - self.low))]
        if special == "intercept":
            return [_State("const" if self.replaces else "up", weight_s * self._intercept())]
        if special == "group":
            return [_State("const" if self.case.group else "up", weight_s * self._group())]
        # column 0 is x_s; three others stand for all
        weights = (weight_s, *(weight_n,) * min(size - 1, 3))
        kinds: dict[tuple[int, int | None], str] = {(0, None): "up", (1, None): "zero"}
        if self.replaces:
            kinds = {(0, 0): "const", (1, 1): "zero", (0, 1): "up", (1, 0): "down"}
            if size > 2:
                kinds[1, 2] = "zero"
        states = []
        for (new, old), kind in kinds.items():
            linear, others = self.case.block(new, old, weights, self.power)
            moved = int(old is not None and old != new)
            columns = (new, new if old is None else old, others)
            states.append(_State(kind, linear, ZERO, 1 - moved, moved, columns))
        return states

    def levels(self, state: _State) -> list[Fraction | None]:
        """Return the levels of x_s to try; None stands for the best at each sum, if x_s may be any number."""
        if state.kind != "ladder":
            return [ZERO]
        steps = self.families.place[1]
        if self.power == 2 or not self.weights[0]:
            return [ZERO, ONE]
        return [Fraction(level, steps) for level in range(steps + 1)] if steps else [ZERO, ONE, None]

    def best_level(self, state: _State, moved: Any, number: Any) -> Any:
        """Return k: at a sum t the best level of x_s is k - t, clipped."""
        zero, one, own = number(0), number(1), number(self.curvature(self.weights[0]))
        change = self.value(state, moved, zero, one, number) - self.value(state, moved, zero, zero, number)
        return (change + own) / (2 * own)

    def curvature(self, weight: Fraction) -> Fraction:
        """Return the concavity in a sum (or the level of x_s) of weight `weight`."""
        return self.quadratic_scale * weight * self.both

    def value(self, state: _State, moved: Any, t: Any, rho: Any, number: Any) -> Any:
        """Return the weighted change; `number` is Fraction, or float (for arrays too)."""
        weight_s, weight_n, linear_scale, quadratic_scale, slope, level, gains = self._numbers(number)
        families, ladders = self.families, len(self.families.ladders)
        linear = level + slope * t + gains[moved]
        linear = weight_n * linear + number(state.linear) + number(state.slope) * rho
        count = families.count
        if not self.replaces:
            total, diagonal, own = count * count, count, (2 * count - 1 if state.kind == "up" else 0)
            on_diagonal = int(state.kind == "up")
        else:
            down = moved + state.moved
            # entries that are 1 in both rows, less those that are 1 in the old row only
            v = t + rho + (self.standing - moved + state.standing - down)
            total = count * count + 2 * down * down - v * v
            group_moves = int(families.group and self.case.group == 0)
            diagonal = ladders - t + 2 * down + group_moves
            on_diagonal = {"up": 1, "down": 1, "ladder": 1 - rho}.get(state.kind, 0)
            diagonal += on_diagonal if state.kind == "ladder" else 0
            own = {
                "zero": 0,
                "const": 2 * (count - v),
                "up": 2 * count - 1,
                "down": 2 * (v + 2 * down) - 1,
                "ladder": 2 * (count - rho * v) - 1 + rho * rho,
            }[state.kind]
        once = self.both - 1
        quadratic = weight_n * (self.both * total - once * diagonal)
        quadratic += (weight_s - weight_n) * (self.both * own - once * on_diagonal)
        return linear_scale * linear + quadratic_scale * quadratic

    def _numbers(self, number: Any) -> tuple[Any, ...]:
        """Return what every value needs, all as numbers of one kind."""
        if number not in self.kept:
            slope, level = self.high - self.low, self.low * len(self.families.ladders) + self.fixed
            parts = (*self.weights, self.linear_scale, self.quadratic_scale, slope, level)
            gains = self.gains if number is Fraction else np.array([float(gain) for gain in self.gains])
            self.kept[number] = (*(number(part) for part in parts), gains)
        return self.kept[number]

    @property
    def is_convex(self) -> bool:
        """Whether the change is convex in each level of the old row; then, for power 2, the ends suffice."""
        if self.power == 1 or self.case.group == 0 or not self.replaces:
            return True
        weight_s, weight_n = self.weights
        holds_group, c = self.families.special == "group", self.families.corner
        # each block has one entry that is 1 in the old row
        ones = int(self.families.intercept) + len(self.families.blocks)
        beside = weight_s + ones * weight_n if holds_group else weight_n
        pairs = [(weight_n, beside)] if self.families.ladders else []
        pairs += [(weight_s, weight_s)] if self.families.special == "ladder" else []
        slope = self.case.from_**2 + self.case.apart[1] ** 2
        return all(32 * slope * own + self.both * beside * c**2 >= c**2 * own for own, beside in pairs)

    def relaxed(self) -> _Problem:
        """Return a convex problem that is nowhere smaller."""
        case = self.case.relaxed(STEEP * self.families.corner)
        return _Problem(self.families, self.setting, case, self.weights, self.power)

    def rows(self, best: _Best, sums: Sums, domain: Domain) -> NeighbouringRows:
        """Return rows that attain a value."""
        families, case = self.families, self.case
        # of each attribute: new, old, others
        places: dict[int, tuple[Fraction, Fraction, Fraction]] = {}
        others = Fraction(case.ladder(0, self.power)[1])
        for (index, _), level in zip(families.ladders, sums.split(best.t), strict=True):
            places[index] = (ONE, level, others)
        order = sorted(families.blocks, key=self._gain_of, reverse=True)
        for position, (index, size) in enumerate(order):
            new, old = (0, 1) if position < best.moved else (0, 0)
            places[index] = self._placed(new, old, self._block(size, new, old if self.replaces else None)[1])
        if families.special == "ladder":
            places[families.place[0]] = (ONE, best.rho, others)
        elif families.special == "block":
            # column 0 is x_s, and the others follow it
            size = families.place[1]
            turned = ((families.column + column) % size for column in best.state.columns)
            places[families.place[0]] = self._placed(*turned)
        new_row, old_row, other_row = (
            tuple(places[index][side] for index in range(len(domain.attributes))) for side in range(3)
        )
        before = EncodedRow(old_row, case.label, case.group) if self.replaces else None
        return NeighbouringRows(before, EncodedRow(new_row, 0, 1), EncodedRow(other_row, 0, 0))

    def _gain_of(self, block: tuple[int, int]) -> Fraction:
        at_rest, in_motion = (self._block(block[1], new, old)[0] for new, old in ((0, 0), (0, 1)))
        return in_motion - at_rest

    @staticmethod
    def _placed(new: int, old: int, others: int) -> tuple[Fraction, Fraction, Fraction]:
        return Fraction(new), Fraction(old), Fraction(others)


__all__ = ["Attained", "Declared", "declared_supremum"]
