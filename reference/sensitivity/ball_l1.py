"""Suprema of the l1 change on the unit ball and the symmetric ball; proofs in ``proofs/sensitivities_balls.md``.

Adding or removing a record gives a closed form, often irrational, or a small enclosed maximum.  Replacing one
gives a maximum over sign patterns, each the sum of two maxima over one record.  Every pattern is bounded
(`thorough`), or all at once by the Cauchy-Schwarz inequality, with a few of them as bounds from below (`quick`).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from itertools import islice, product

import numpy as np
import numpy.typing as npt

from reference.common.arrays import FloatArray
from reference.common.errors import ReadingError
from reference.sensitivity import ball_l1_few
from reference.sensitivity.attained import Extremes, onto_grid, weighted_l1_change
from reference.sensitivity.ball_l1_apart import apart_ceiling
from reference.sensitivity.ball_l1_at_once import (
    FAST_CELLS,
    at_once,
    attained_at_once,
    closed_form,
    replaced_ceiling,
)
from reference.sensitivity.ball_l1_climb import LARGEST as LARGEST_CLIMB
from reference.sensitivity.ball_l1_climb import RowClimb
from reference.sensitivity.ball_l1_split import only_s_ceiling
from reference.sensitivity.patterns import Pattern, compositions, count_patterns, patterns
from reference.sensitivity.setting import Setting, Supremum
from reference.sensitivity.trust_region import (
    ROUNDING,
    Work,
    ascend,
    ball_ceiling,
    cone_search,
    positive_ceiling,
    starts_for,
    without_useless,
)
from reference.sensitivity.variants import LinearVariant, variants_of

TOLERANCE = 2e-7
"""Stop narrowing an enclosure at this width, for weights of at most 1 and a supremum of about 1."""

WIDE, NARROW = Fraction(1, 1000), Fraction(101, 100)
"""Wider enclosures, relatively, are bounded in another way too; above the second ratio, by a slower one."""

CHEAP, MANY, LARGEST = 5_000, 150_000, 2_000_000
"""Most patterns to bound one by one: in `quick`, in `close` where all else is wide, and in `thorough`."""

ALWAYS_THOROUGH = 5
"""Up to this dimension `quick` is `thorough`."""

CHUNK = 10_000
"""Patterns held at a time."""
LARGEST_DIMENSION = 1_000
EFFORTS = ("fast", "quick", "close", "thorough")
CLOSED = ("closed form, irrational", "closed form")

FAST_PATTERNS = {True: 100, False: 8}
"""Patterns that `fast` bounds one by one, where w_s is at most w_n and where it is larger: some 20 ms of them."""


def weighted_l1(setting: Setting, weight_s: Fraction, weight_n: Fraction, effort: str = "quick") -> Supremum:
    """Enclose sup of w_s |D_s|_1 + w_n |D_n|_1, the same in both bases (Propositions 6 to 8).

    Parameters
    ----------
    setting : Setting
        On the unit ball or the symmetric ball.
    weight_s, weight_n : Fraction
        Nonnegative.
    effort : {'fast', 'quick', 'close', 'thorough'}
        `fast` is for a fit: a bound up to 16 % too large, and what a plain pair attains, where more would take
        over some 50 ms; `quick` takes a second, unless w_s is much larger than w_n (up to about 15 s in nine
        dimensions); `close` some seconds (up to 15 at d = 30), within 1 %; `thorough` bounds every sign pattern.
        For few patterns they are the same.

    Raises
    ------
    reference.common.errors.ReadingError
        When the dimension is too large for the effort.
    """
    setting = _without_basis(setting)
    if effort == "fast":
        bound = _in_a_fit(setting, weight_s, weight_n)
        if bound is not None:
            return bound
        # few patterns: every effort lists them
        effort = "quick"
    return _solve(setting, weight_s, weight_n, effort)[0]


def attaining(
    setting: Setting, weight_s: Fraction, weight_n: Fraction, effort: str = "quick"
) -> tuple[Fraction, Extremes]:
    """Return data sets and the weighted l1 change between them, `lower` of the enclosure, exactly.

    In the limit N -> infinity the value is what the pair tends to.
    """
    setting = _without_basis(setting)
    extremes = _solve(setting, weight_s, weight_n, effort)[1]
    return weighted_l1_change(setting, extremes, weight_s, weight_n), extremes


def _without_basis(setting: Setting) -> Setting:
    """Return the setting in one basis: an off-diagonal pair counts 1/8 + 1/8 or 1/4."""
    return replace(setting, basis="matrix", rows_per_person=1)


@lru_cache(maxsize=4096)
def _solve(setting: Setting, weight_s: Fraction, weight_n: Fraction, effort: str) -> tuple[Supremum, Extremes]:
    if effort not in EFFORTS:
        raise ReadingError("effort", effort, "one of " + ", ".join(EFFORTS))
    d = setting.dimension
    if d > LARGEST_DIMENSION:
        raise ReadingError("dimension", d, f"at most {LARGEST_DIMENSION} for the l1 change on a ball")
    unit = max(weight_s, weight_n if d > 1 else Fraction(0))
    if unit == 0:
        origin = (0.0,) * d
        return Supremum.exactly(Fraction(0)), Extremes(origin, origin, origin, 0, 1)
    problem = _Problem(setting, float(weight_s / unit), float(weight_n / unit) if d > 1 else 0.0)
    if not setting.replaces:
        ceiling, extremes, method = *problem.every_pattern([(d,)]), "one record's maximum, enclosed"
    else:
        count = problem.count()
        if effort == "thorough" and count > LARGEST:
            raise ReadingError("dimension", d, f"at most {problem.largest_thorough()}, or effort 'quick'")
        if effort == "thorough" or count <= CHEAP or d <= ALWAYS_THOROUGH:
            ceiling, extremes = problem.every_pattern(None)
            method = f"{count} sign patterns, each enclosed"
        else:
            ceiling, extremes = problem.few_patterns()
            method = "Cauchy-Schwarz above, pairs below"
        if problem.cauchy_schwarz() < ceiling:
            ceiling = problem.cauchy_schwarz()
    lower = weighted_l1_change(setting, extremes, weight_s, weight_n)
    closed = closed_form(setting, weight_s, weight_n)
    if closed is not None:
        _require_order(lower, closed[1])
        return Supremum(*closed, CLOSED[closed[0] == closed[1]]), extremes
    # the weights were divided and rounded once each, the ceiling multiplied once
    upper = Fraction(ceiling * (1 + ROUNDING)) * unit
    found = Supremum(lower, max(lower, upper), method)
    if setting.replaces and d > 1:
        found = _narrowed(problem, (weight_s, weight_n), found, effort)
    _require_order(lower, min(upper, found.upper))
    return found, extremes


def _in_a_fit(setting: Setting, weight_s: Fraction, weight_n: Fraction) -> Supremum | None:
    """Return a closed form or wide bounds in milliseconds; None where the patterns are few enough to list.

    A rule on the dimension, the reading and the order of the weights, not on measured time.
    """
    d = setting.dimension
    unit = max(weight_s, weight_n if d > 1 else Fraction(0))
    if unit == 0:
        return None
    closed = closed_form(setting, weight_s, weight_n)
    if closed is not None:
        return Supremum(*closed, CLOSED[closed[0] == closed[1]])
    problem = _Problem(setting, float(weight_s / unit), float(weight_n / unit) if d > 1 else 0.0)
    # replaced records have at least 2^d patterns: no need to count them
    few = d < 10 if setting.replaces else d <= LARGEST_DIMENSION
    if few and problem.count() <= FAST_PATTERNS[weight_s <= weight_n]:
        return None
    upper = at_once(setting, weight_s, weight_n)
    if weight_s > weight_n:
        rest = weight_s - weight_n
        equal = at_once(setting, weight_n, weight_n)
        upper = min(upper, equal + rest * only_s_ceiling(setting, FAST_CELLS))
    return Supremum(attained_at_once(setting, weight_s, weight_n), upper, "a bound; a pair attains the lower end")


def _narrowed(problem: _Problem, weights: tuple[Fraction, Fraction], found: Supremum, effort: str) -> Supremum:
    """Where the enclosure is wide, bound a replaced record's change in other ways too."""
    setting, lower = problem.setting, found.lower
    if weights[0] > weights[1] and found.upper > lower * (1 + WIDE):
        found = _bounded_apart(setting, *weights, found, effort)
    unit, ends = max(weights), (float(lower / max(weights)), float(found.upper / max(weights)))
    if effort != "close" or not problem.w_n or found.upper <= lower * NARROW:
        return found
    if problem.with_s and not problem.e:
        less = apart_ceiling(problem.d, problem.w_s, problem.w_n, ends[0]) * (1 + ROUNDING)
        method = "x_s apart and Cauchy-Schwarz above, pairs below"
        if less < ends[1]:
            found = Supremum(lower, max(lower, Fraction(less) * unit), method)
    if found.upper <= lower * NARROW:
        return found
    listed = problem.count() <= MANY
    known = ends[0] * float(NARROW) if listed else float(found.upper / unit)
    less = ball_l1_few.ceiling(problem.few(), ends[0], known) * (1 + ROUNDING)
    if less < known:
        return Supremum(lower, max(lower, Fraction(less) * unit), "five sums above, pairs below")
    if listed:
        less = problem.every_pattern(None)[0] * (1 + ROUNDING)
        return Supremum(lower, max(lower, Fraction(less) * unit), "sign patterns above, pairs below")
    return found


def _bounded_apart(
    setting: Setting, weight_s: Fraction, weight_n: Fraction, found: Supremum, effort: str
) -> Supremum:
    """Bound w_n |D| + (w_s - w_n) |D_s|, the weighted change, term by term where that is less (Proposition 8a)."""
    equal = _solve(setting, Fraction(1), Fraction(1), effort)[0].upper
    upper = weight_n * equal + (weight_s - weight_n) * only_s_ceiling(setting)
    if upper >= found.upper:
        return found
    return Supremum(found.lower, upper, "equal weights and w_s alone above, pairs below")


def _require_order(attained: Fraction, bound: Fraction) -> None:
    """Raise when data sets attain more than the bound, beyond the rounding allowed."""
    if attained > bound * (1 + Fraction(1, 10**12)):
        raise ArithmeticError(f"attained {float(attained)} exceeds the bound {float(bound)}: please report this")


class _Problem:
    """The maximum over sign patterns of one setting, for weights of at most 1."""

    def __init__(self, setting: Setting, weight_s: float, weight_n: float) -> None:
        self.setting = setting
        self.w_s, self.w_n = weight_s, weight_n
        self.d = setting.dimension
        self.with_s = self.d > 1 and weight_s != weight_n
        if not self.with_s:
            # with one coordinate, w_n counts for all
            self.w_n = weight_s
        self.e = float(setting.drift)
        self.positive = setting.norm == "unit_ball"
        self.variants = list(variants_of(setting))
        self.choices = len(self.variants[0].to)

    def coefficients(self) -> tuple[FloatArray, FloatArray]:
        """Return the coefficients of x'_e and of x_e, a row per variant and a column per choice."""
        to = np.array([[float(v) for v in variant.to] for variant in self.variants])
        from_ = np.array([[float(v) for v in variant.from_] for variant in self.variants])
        return to, from_

    def count(self) -> int:
        """Return the number of patterns, variants included."""
        return self._count(self.d) if self.setting.replaces else self._count_of_one_run()

    def _count_of_one_run(self) -> int:
        rest = self.d - self.with_s
        ways = math.comb(rest + self.choices - 1, rest) * (self.choices if self.with_s else 1)
        return len(self.variants) * ways

    def largest_thorough(self) -> int:
        """Return the largest dimension with at most LARGEST patterns."""
        return max(d for d in range(1, self.d) if self._count(d) <= LARGEST)

    def _count(self, dimension: int) -> int:
        return len(self.variants) * count_patterns(dimension, self.choices, with_s=self.with_s)

    def every_pattern(self, lengths: Iterable[tuple[int, ...]] | None) -> tuple[float, Extremes]:
        """Bound every pattern; return the ceiling of all and the best data sets found."""
        adds = lengths is not None
        runs = compositions(self.d) if lengths is None else lengths
        signs = (1,) if adds else (1, -1)
        found = patterns(runs, self.choices, with_s=self.with_s, signs=signs)
        ceiling, low, extremes = 0.0, -math.inf, None
        while chunk := list(islice(found, CHUNK)):
            bound, best = _Batch(self, chunk).enclose(low)
            ceiling = max(ceiling, bound)
            if best is not None:
                low, extremes = best.value, best.extremes
        assert extremes is not None
        return ceiling, extremes

    def few_patterns(self) -> tuple[float, Extremes]:
        """Bound all patterns by the Cauchy-Schwarz inequality; seek good pairs by patterns and a climb."""
        step = max(1, self.d // 40)
        lengths = [(self.d,), *((j, self.d - j) for j in range(1, self.d, step))]
        batch = _Batch(self, patterns(lengths, self.choices, with_s=self.with_s, pure=True))
        everywhere, _ = batch.climb(np.arange(len(batch.items)), steps=20)
        best = batch.best_of(np.argsort(-everywhere)[:60])
        if self.d <= LARGEST_CLIMB:
            best = max(best, self.climbed(), key=lambda found: found.value)
        return self.cauchy_schwarz(), best.extremes

    def climbed(self) -> _Found:
        """Climb from rows, in every variant; return the best pair."""
        weights, pairs = np.full(self.d, self.w_n), np.full((self.d, self.d), self.w_n)
        if self.with_s:
            weights[0] = self.w_s
            pairs[0] = pairs[:, 0] = self.w_s
        climbs = [RowClimb(variant, weights, pairs, self.e, self.positive) for variant in self.variants]
        (value, rows), climb = max(((climb.best(), climb) for climb in climbs), key=lambda found: found[0][0])
        after, before, others = (onto_grid(row.tolist()) for row in rows)
        labels = climb.variant.label_after, climb.variant.label_before
        return _Found(value, Extremes(after, before, others, *labels))

    def extra(self, pattern: Pattern, variant: LinearVariant) -> float:
        """Return drift * |w restricted to the coordinates whose choice the other records' mean serves|_2."""
        served = [
            t.count * (self.w_s if t.is_s else self.w_n) ** 2 for t in pattern.types if variant.drifts[t.choice]
        ]
        return self.e * math.sqrt(math.fsum(served))

    def cauchy_schwarz(self) -> float:
        """Bound the supremum for replaced records from above (Proposition 8)."""
        return replaced_ceiling(self.setting, self.w_s, self.w_n)

    def few(self) -> Iterator[ball_l1_few.Few]:
        """Yield the problems whose largest bounds the supremum (Proposition 8b)."""
        others, weight_s = (self.d - 1, self.w_s) if self.with_s else (self.d, 0.0)
        for variant in self.variants:
            choices = [
                (float(to), float(from_), self.e if drift else 0.0)
                for to, from_, drift in zip(variant.to, variant.from_, variant.drifts, strict=True)
            ]
            of_others = tuple(choices)
            if not self.positive and (not self.e or len(choices) == 4):
                # where x' + x >= 0 the first half is at least the second
                of_others = tuple(choices[: len(choices) // 2])
            for turn in (1, -1) if weight_s and not self.positive else (1,):
                turned = [(to, turn * from_, mean) for to, from_, mean in choices]
                for own, side in product(_largest(turned), (1, -1)) if weight_s else [(choices[0], 1)]:
                    yield ball_l1_few.Few(
                        of_others, own, side, others, weight_s, self.w_n, turn, positive=self.positive
                    )

    def extremes(self, pattern: Pattern, variant: LinearVariant, y_to: FloatArray, y_from: FloatArray) -> Extremes:
        """Return the data sets that belong to maximisers of the two halves of a pattern."""
        after, before, others = [], [], []
        # x_s is the first coordinate
        for t, to, from_ in sorted(
            zip(pattern.types, y_to, y_from, strict=False), key=lambda item: not item[0].is_s
        ):
            after += [float(to) / math.sqrt(t.count)] * t.count
            before += [float(from_) / math.sqrt(t.count)] * t.count
            others += [variant.drifts[t.choice] * (self.w_s if t.is_s else self.w_n)] * t.count
        length = math.sqrt(math.fsum(v * v for v in others))
        if length > 0:
            others = [v / length for v in others]
        return Extremes(
            onto_grid(after),
            onto_grid(before) if self.setting.replaces else None,
            onto_grid(others),
            variant.label_after,
            variant.label_before,
        )


def _largest(choices: list[ball_l1_few.Choice]) -> list[ball_l1_few.Choice]:
    """Return the choices that no other exceeds in every coefficient."""
    return [
        one
        for one in choices
        if not any(other != one and all(a >= b for a, b in zip(other, one, strict=True)) for other in choices)
    ]


@dataclass(frozen=True)
class _Found:
    """The value from below of a pattern, and its data sets."""

    value: float
    extremes: Extremes


@dataclass(frozen=True, eq=False)
class _Half:
    """The maxima of h.y + y'My over one record, bounded by `ceiling`, nearly attained at `near`: a row each."""

    h: FloatArray
    M: FloatArray
    ceiling: FloatArray
    near: FloatArray

    @classmethod
    def of(cls, h: FloatArray, M: FloatArray, *, positive: bool) -> _Half:
        """Bound the maxima over the ball, or over its nonnegative part."""
        if positive:
            h, M = without_useless(h, M)
        return cls(h, M, *ball_ceiling(h, M))


class _Batch:
    """Many patterns at a time, padded to the same number of types."""

    def __init__(self, problem: _Problem, found: Iterable[Pattern]) -> None:
        self.problem = problem
        self.items = [(pattern, variant) for pattern in found for variant in problem.variants]
        k = max(len(pattern.types) for pattern, _ in self.items)
        rows = len(self.items)
        h_to, h_from, M = np.zeros((rows, k)), np.zeros((rows, k)), np.zeros((rows, k, k))
        self.extra = np.zeros(rows)
        matrix, weights = np.zeros((0, 0)), np.zeros(0)
        to, from_ = problem.coefficients()
        for row, (pattern, variant) in enumerate(self.items):
            size, which = len(pattern.types), row % len(problem.variants)
            if which == 0:
                matrix = pattern.matrix(problem.w_s, problem.w_n)
                weights = pattern.weights(problem.w_s, problem.w_n)
            choice = [t.choice for t in pattern.types]
            M[row, :size, :size] = matrix
            h_to[row, :size] = weights * to[which, choice]
            h_from[row, :size] = weights * from_[which, choice]
            self.extra[row] = problem.extra(pattern, variant)
        positive = problem.positive
        self.halves = [_Half.of(h_to, M, positive=positive)]
        if problem.setting.replaces:
            self.halves.append(_Half.of(h_from, -M, positive=positive))
        self.work = Work()
        self.ceilings = self.extra + np.sum([half.ceiling for half in self.halves], axis=0)

    def best_of(self, rows: npt.NDArray[np.intp]) -> _Found:
        """Climb in some patterns; return the best."""
        values, points = self.climb(rows)
        best = int(values.argmax())
        return self._found(float(values[best]), int(rows[best]), [point[best] for point in points])

    def _found(self, value: float, row: int, points: list[FloatArray]) -> _Found:
        return _Found(value, self.problem.extremes(*self.items[row], points[0], points[-1]))

    def climb(self, rows: npt.NDArray[np.intp], steps: int = 300) -> tuple[FloatArray, list[FloatArray]]:
        """Climb in some patterns; return values and, per half, the points."""
        total, points = self.extra[rows].copy(), []
        for half in self.halves:
            starts = starts_for(half.near[rows])
            value, point = ascend(half.h[rows], half.M[rows], starts, positive=self.problem.positive, steps=steps)
            total += value
            points.append(point)
        return total, points

    def enclose(self, low: float) -> tuple[float, _Found | None]:
        """Bound every pattern; return the ceiling of all and the best pattern found, if better than `low`."""
        best = None
        start = self.best_of(np.argsort(-self.ceilings)[:40])
        if start.value > low:
            low, best = start.value, start
        tolerance = TOLERANCE * max(1.0, low * 1e-5)
        ceiling = low
        for row in np.argsort(-self.ceilings).tolist():
            bound = float(self.ceilings[row])
            if bound <= low + tolerance or (bound <= ceiling and self.work.cones < 0):
                return max(ceiling, bound), best
            if self.problem.positive:
                bound, points = self._refine(row, low + tolerance)
                value = self._value(row, points)
                if value > low:
                    low, best = value, self._found(value, row, points)
            ceiling = max(ceiling, bound)
        return ceiling, best

    def _refine(self, row: int, target: float) -> tuple[float, list[FloatArray]]:
        """Bound one pattern more closely, with the sign constraint; return good points too."""
        bounds, points = [], []
        for half in self.halves:
            bound, point = positive_ceiling(half.h[row], half.M[row])
            bounds.append(min(bound, float(half.ceiling[row])))
            points.append(_into_positive_ball(point))
        extra = float(self.extra[row])
        if extra + sum(bounds) <= target:
            return extra + sum(bounds), points
        climbed = [
            ascend(half.h[row][None], half.M[row][None], starts_for(point[None]), positive=True)
            for half, point in zip(self.halves, points, strict=True)
        ]
        values = [float(value[0]) for value, _ in climbed]
        room = max(target - extra - sum(values), TOLERANCE / 4) / len(values)
        for i, half in enumerate(self.halves):
            if bounds[i] > values[i] + room and self.work.cones >= 0:
                found = cone_search(half.h[row], half.M[row], values[i] + room, self.work)
                bounds[i] = min(bounds[i], found)
        return extra + sum(bounds), [point[0] for _, point in climbed]

    def _value(self, row: int, points: list[FloatArray]) -> float:
        value = float(self.extra[row])
        for half, y in zip(self.halves, points, strict=True):
            value += float(half.h[row] @ y + y @ half.M[row] @ y)
        return value


def _into_positive_ball(y: FloatArray) -> FloatArray:
    inside: FloatArray = np.maximum(y, 0) / max(1.0, float(np.linalg.norm(y)))
    return inside
