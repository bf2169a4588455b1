"""Decides whether counts give a bound, in ball arithmetic and independently of :mod:`audit.bounds`.

Binomial tails and normal quantiles come from Arb (through python-flint), each with a proved error; cells of pairs
are cut until each is decided.  Only the constants that define the rules are shared with :mod:`audit.bounds`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache, cached_property
from itertools import pairwise

import numpy as np
from flint import arb

from audit.bounds import AnytimeMethod, Counts
from audit.bounds.clusters import shares_of_counts
from audit.bounds.conditional import LIMIT_SHARE
from audit.bounds.e_value import EARLIER_TILTS, STAKES, TILTS, TILTS_SHARE
from audit.bounds.joint import LARGEST_SCORE, TAIL_SHARE
from reference.common.arrays import FloatArray
from reference.common.balls import working_precision

PRECISION = 96
"""Bits of the balls."""

MOST_SUMMED = 4_000_000
"""Draws up to which binomial tails are summed term by term; beyond, Arb's incomplete beta function is faster."""

LOOK_EVERY = 16
"""Terms of such a sum between two checks whether the rest is negligible."""

EDGE_CELLS = 32
"""Cells of the nuisance on the edge of the hypothesis, before any is cut."""

LIMIT_BITS = 48
"""Precision of the limit of a mean: finer than that of :mod:`audit.bounds.clusters`."""

PROBES = 66
"""Pairs on the edge to check first: one that is not rejected settles it."""

CUTS = 16
"""Cuts of a cell before it is given up."""

MOST_TERMS = 400_000
"""Terms of the law of a count given the total to sum: of counts that fit a bound, 3 times as many as they need."""

FLOAT_MARGIN = 1e-12
"""Margin for the few double operations after the balls."""


def _tail(counts: Counts, side: str, probability: float | arb) -> arb:
    """Enclose P(Bin >= likely) or P(Bin <= unlikely)."""
    if side == "likely":
        return upper_tail(counts.likely, counts.likely_draws, arb(probability))
    fails = counts.unlikely_draws - counts.unlikely
    return upper_tail(fails, counts.unlikely_draws, 1 - arb(probability))


@working_precision(PRECISION)
def upper_tail(count: int, draws: int, probability: arb) -> arb:
    """Enclose P(Bin(draws, probability) >= count): a sum of its terms, or the incomplete beta function.

    The sum runs away from the mean, so its terms fall at least geometrically from the first on; what is left out
    is at most a geometric series.
    """
    if count <= 0 or probability >= 1:
        return arb(1)
    if probability <= 0:
        return arb(0)
    if draws > MOST_SUMMED:
        return probability.beta_lower(count, draws - count + 1, 1)
    above = bool(count > draws * probability)
    k = count if above else count - 1
    logs = arb(draws + 1).lgamma() - arb(k + 1).lgamma() - arb(draws - k + 1).lgamma()
    term = (logs + k * probability.log() + (draws - k) * (1 - probability).log()).exp()
    odds, left, passed = probability / (1 - probability), draws - k, k + 1
    if not above:
        odds, left, passed = 1 / odds, k, draws - k + 1
    total, negligible = arb(0), arb(2) ** -PRECISION
    while left >= 0:
        total += term
        term *= odds * left / passed
        left, passed = left - 1, passed + 1
        if left % LOOK_EVERY == 0 and term < total * negligible and (falls := odds * left / passed) < 1:
            left_out = (term / (1 - falls)).upper()
            total += arb(left_out / 2, left_out / 2)
            break
    return total if above else 1 - total


def _score(tail: arb) -> tuple[float, float]:
    """Enclose the normal score of a tail, cut by the rule."""
    argument = 2 * tail - 1
    # a tail that the precision does not tell from 0 or 1 is enclosed by its ends
    ends = (argument, argument) if -1 < argument < 1 else (argument.lower(), argument.upper())
    low, high = float(_quantile(ends[0]).lower()), float(_quantile(ends[1]).upper())
    return (
        min(LARGEST_SCORE, math.nextafter(low, -math.inf)),
        min(LARGEST_SCORE, math.nextafter(high, math.inf)),
    )


def _quantile(argument: arb) -> arb:
    """Return the normal quantile at (1 + argument) / 2, which is infinite at -1 and 1."""
    if -1 < argument < 1:
        return arb(2).sqrt() * argument.erfinv()
    return arb("inf") if argument >= 1 else -arb("inf")


def _last(rejects: Callable[[float], bool], rejected: float, other: float) -> float:
    """Return a far probability at which `rejects` holds, by bisection from one at which it does."""
    for _ in range(80):
        middle = (rejected + other) / 2
        rejected, other = (middle, other) if rejects(middle) else (rejected, middle)
    return rejected


@working_precision(PRECISION)
def clopper_pearson_holds(counts: Counts, bound: float, delta: float, significance: float) -> bool | None:
    """Return whether the two Clopper-Pearson limits give the bound."""
    half = arb(significance) / 2
    high = _last(lambda p: _tail(counts, "unlikely", p) <= half, 1.0, 0.0)
    likely = arb(bound).exp() * high + arb(delta)
    return bool(likely <= 1 and _tail(counts, "likely", likely) <= half)


@working_precision(PRECISION)
def conditional_holds(counts: Counts, bound: float, delta: float, significance: float) -> bool | None:
    """Return whether the limits on p_likely and on the odds ratio give the bound; False unless delta is 0.

    The odds ratio at which p_likely is at its limit and p_likely / p_unlikely = exp(bound) must be rejected, that
    is, have a tail P(likely >= seen, given the total) of at most its share of the significance.
    """
    if delta != 0:
        return False
    alone, rest = arb(LIMIT_SHARE) * arb(significance), (1 - arb(LIMIT_SHARE)) * arb(significance)
    mirrored = Counts(counts.unlikely, counts.unlikely_draws, counts.likely, counts.likely_draws)
    limit = arb(_last(lambda p: bool(_tail(mirrored, "unlikely", p) <= alone), 1.0, 0.0))
    if limit >= 1:
        return False
    tail = odds_ratio_tail(counts, (arb(bound).exp() - limit) / (1 - limit))
    if tail <= rest:
        return True
    return False if tail > rest else None


@working_precision(PRECISION)
def odds_ratio_tail(counts: Counts, omega: arb) -> arb:
    """Enclose P(likely >= seen, given the total) for an odds ratio: sums of the law's terms from the count seen.

    The ratios of neighbouring terms fall upwards and downwards, so what is left out is at most a
    geometric series once a ratio is below 1.  Where the count seen is far from the law's middle, one side has
    too many terms: what was summed of them bounds the tail from one side, and 0 or 1 does from the other.
    """
    total = counts.likely + counts.unlikely
    lowest, highest = max(0, total - counts.unlikely_draws), min(total, counts.likely_draws)

    def step(k: int) -> arb:
        """Return the term of k + 1 over that of k."""
        numerator = (counts.likely_draws - k) * (total - k)
        return omega * numerator / ((k + 1) * (counts.unlikely_draws - total + k + 1))

    def summed(ratios: Iterator[arb]) -> tuple[arb, arb]:
        """Return two ends of the sum of the products of the first 1, 2, ... ratios; the upper may be infinite."""
        term, found = arb(1), arb(0)
        for place, ratio in enumerate(ratios):
            if place == MOST_TERMS:
                return found, arb("inf")
            if ratio < 1 and term < (1 + found) * 2.0**-PRECISION:
                left_out = (term * ratio / (1 - ratio)).upper()
                return found, found + left_out
            term *= ratio
            found += term
        return found, found

    above = [1 + end for end in summed(step(k) for k in range(counts.likely, highest))]
    below = summed(1 / step(k) for k in range(counts.likely - 1, lowest - 1, -1))
    least, most = 1 / (1 + below[1] / above[0]), 1 / (1 + below[0] / above[1])
    return least.union(most)


def _bets(method: AnytimeMethod, ratio: arb) -> list[tuple[arb, arb, arb]]:
    """Return for each bet of a method the logs of what an occurrence on either input wins or loses; and shares."""
    if method == "anytime":
        tilts = [arb(float(tilt)) for tilt in EARLIER_TILTS]
        return [(tilt, tilt * ratio, arb(1) / len(tilts)) for tilt in tilts]
    stakes, tilts = ([arb(float(bet)) for bet in bets] for bets in (STAKES, TILTS))
    staked, tilted = (1 - arb(TILTS_SHARE)) / len(stakes), arb(TILTS_SHARE) / len(tilts)
    on_both = [((1 + stake / ratio).log(), -(1 - stake).log(), staked) for stake in stakes]
    return on_both + [(tilt, arb(0), tilted) for tilt in tilts]


@working_precision(2 * PRECISION)
def anytime_holds(
    counts: Counts, bound: float, delta: float, significance: float, *, method: AnytimeMethod
) -> bool | None:
    """Return whether the e-value of the bound's level is at least 1 / significance.

    The mixture is convex in the nuisance, so it is at least its tangents: a bracket of the minimum is narrowed by
    the sign of the slope, and the value at either end less slope times width bounds it from below.
    """
    ratio = arb(bound).exp()
    bets = _bets(method, ratio)

    def value_and_slope(p: arb) -> tuple[arb, arb]:
        value, slope = arb(0), arb(0)
        for won, lost, share in bets:
            up, down = won.exp() - 1, 1 - (-lost).exp()
            likely, unlikely = 1 + (ratio * p + delta) * up, 1 - p * down
            log = counts.likely * won - counts.unlikely * lost
            log -= counts.likely_draws * likely.log() + counts.unlikely_draws * unlikely.log()
            part = share * log.exp()
            value += part
            slope += part * (counts.unlikely_draws * down / unlikely - counts.likely_draws * ratio * up / likely)
        return value, slope

    low, high = arb(0), (1 - arb(delta)) / ratio
    for _ in range(100):
        middle = ((low + high) / 2).mid()
        low, high = (low, middle) if value_and_slope(middle)[1] > 0 else (middle, high)
    ends = [value_and_slope(end) for end in (low, high)]
    width = high - low
    floors = [value - abs(slope) * width for value, slope in ends]
    needed = 1 / arb(significance)
    return bool(floors[0] >= needed or floors[1] >= needed)


@working_precision(PRECISION)
def cluster_holds(counts: Counts, bound: float, delta: float, significance: float) -> bool | None:
    """Return whether the limits of both means give the bound, each where the wealth reaches 2 / significance."""
    sides = shares_of_counts(counts)
    low = _limit(*sides[0], significance / 2)
    high = 1 - _limit(1 - sides[1][0], sides[1][1], significance / 2)
    given = (low - arb(delta)) / high
    needed = arb(bound).exp()
    if given >= needed:
        return True
    # the limits are rounded down by less than this
    return False if given * (1 + arb(2.0**-LIMIT_BITS)) + arb(2.0**-LIMIT_BITS) < needed else None


def _limit(values: FloatArray, calls: FloatArray, significance: float) -> arb:
    """Return a mean at which the wealth certainly reaches 1 / significance, close to the largest one."""
    stakes = [arb(float(stake)) for stake in STAKES]
    pairs = [(arb(float(value)), arb(float(number))) for value, number in zip(values, calls, strict=True)]

    def reached(mean: arb) -> bool:
        wealth = arb(0)
        for stake in stakes:
            logs = sum((number * (1 + stake * (value / mean - 1)).log() for value, number in pairs), arb(0))
            wealth += logs.exp()
        return bool(wealth >= len(stakes) / arb(significance))

    low, high = 0, 2**LIMIT_BITS
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if reached(arb(middle) / 2**LIMIT_BITS) else (low, middle)
    limit: arb = arb(low) / 2**LIMIT_BITS
    return limit


@dataclass(frozen=True)
class JointRule:
    """The joint rule for some counts: which pairs of probabilities are rejected.

    Each count alone rejects at its share of the significance, and both scores together, weighted by their standard
    errors, at the rest.

    Parameters
    ----------
    counts : Counts
    delta : float
    lowest_likely, highest_unlikely : float
        A count alone rejects at these and beyond.
    threshold : (float, float)
        Encloses the score below which both together reject.
    """

    counts: Counts
    delta: float
    lowest_likely: float
    highest_unlikely: float
    threshold: tuple[float, float]

    @classmethod
    def of(cls, counts: Counts, delta: float, significance: float) -> JointRule:
        """Return the rule at a significance."""
        alone = arb(TAIL_SHARE) * arb(significance)
        together = arb(significance) - 2 * alone - (arb(LARGEST_SCORE) / arb(2).sqrt()).erfc()
        return cls(
            counts,
            delta,
            _last(lambda p: bool(_tail(counts, "likely", p) <= alone), 0.0, 1.0),
            _last(lambda p: bool(_tail(counts, "unlikely", p) <= alone), 1.0, 0.0),
            _score(together),
        )

    def rejects(self, cell: Cell) -> bool:
        """Return whether every pair of a cell is certainly rejected."""
        highest = min(1.0, math.exp(cell.high_level) * cell.high + self.delta)
        if highest <= self.lowest_likely or cell.low >= self.highest_unlikely:
            return True
        lowest = min(1.0, math.exp(cell.low_level) * cell.low + self.delta)
        first, second = self.likely_score(highest)[1], self.unlikely_score(cell.low)[1]
        threshold = self.threshold[0] - FLOAT_MARGIN
        if first > 0 and second > 0:
            return math.hypot(first, second) < threshold
        likely = _spread(lowest, highest, self.counts.likely_draws)
        unlikely = _spread(cell.low, cell.high, self.counts.unlikely_draws)
        flattest = _weighted(first, second, likely[1], math.exp(cell.low_level) * unlikely[0])
        steepest = _weighted(first, second, likely[0], math.exp(cell.high_level) * unlikely[1])
        return max(flattest, steepest) < threshold

    def keeps(self, level: float, unlikely: float) -> bool:
        """Return whether the pair at a level and p_unlikely is certainly not rejected."""
        likely = math.exp(level) * unlikely + self.delta
        if not self.lowest_likely * (1 + 1e-9) < likely <= 1 or unlikely >= self.highest_unlikely * (1 - 1e-9):
            return False
        spreads = (
            _spread(likely, likely, self.counts.likely_draws)[0],
            _spread(unlikely, unlikely, self.counts.unlikely_draws)[0],
        )
        scores = self.likely_score(likely)[0], self.unlikely_score(unlikely)[0]
        score = _weighted(*scores, spreads[0], math.exp(level) * spreads[1])
        return score > self.threshold[1] + FLOAT_MARGIN

    @cached_property
    def likely_score(self) -> Callable[[float], tuple[float, float]]:
        """Score of P(Bin >= likely) by p_likely."""
        return cache(lambda probability: _score(_tail(self.counts, "likely", probability)))

    @cached_property
    def unlikely_score(self) -> Callable[[float], tuple[float, float]]:
        """Score of P(Bin <= unlikely) by p_unlikely."""
        return cache(lambda probability: _score(_tail(self.counts, "unlikely", probability)))


@working_precision(PRECISION)
def joint_holds(counts: Counts, bound: float, delta: float, significance: float) -> bool | None:
    """Return whether the joint rule rejects every pair with p_likely <= exp(bound) p_unlikely + delta."""
    rule = JointRule.of(counts, delta, significance)
    start = max(0.0, (rule.lowest_likely - delta) / math.exp(bound) * (1 - FLOAT_MARGIN))
    if start >= rule.highest_unlikely:
        return True
    certain = (1 - delta) / math.exp(bound)
    edge = [float(unlikely) for unlikely in np.linspace(start, rule.highest_unlikely, PROBES)[1:-1]]
    if any(rule.keeps(bound, unlikely) for unlikely in [*edge, certain * (1 - 1e-12)]):
        return False
    bottom = -math.inf
    if rule.lowest_likely > delta:
        bottom = math.log((rule.lowest_likely - delta) / rule.highest_unlikely) - FLOAT_MARGIN
    return _all_rejected(rule.rejects, bound, bottom, start, rule.highest_unlikely)


@dataclass(frozen=True)
class Cell:
    """An interval of levels of epsilon and one of p_unlikely."""

    low_level: float
    high_level: float
    low: float
    high: float

    def quarters(self) -> list[Cell]:
        """Return the cell cut in the middle of both intervals."""
        level = self.high_level - 1 if math.isinf(self.low_level) else (self.low_level + self.high_level) / 2
        middle = (self.low + self.high) / 2
        return [
            Cell(*levels, *values)
            for levels in ((self.low_level, level), (level, self.high_level))
            for values in ((self.low, middle), (middle, self.high))
        ]


def _all_rejected(
    rejected: Callable[[Cell], bool], top: float, bottom: float, start: float, stop: float
) -> bool | None:
    """Return whether all levels from `bottom` to `top` are rejected; None if some cell stays open."""
    width, level = min(top - bottom, 1.0) / EDGE_CELLS, top
    while level > bottom:
        lower = max(bottom, top - width) if width < 700 else bottom
        depth = (top - lower) / min(top - bottom, 1.0)
        count = max(16, min(EDGE_CELLS, int(4 / depth)))
        edges = [float(edge) for edge in np.linspace(start, stop, count + 1)]
        for low, high in pairwise(edges):
            if not _rejected_in_parts(rejected, Cell(lower, level, low, high), CUTS):
                return None
        level, width = lower, 2 * width
    return True


def _rejected_in_parts(rejected: Callable[[Cell], bool], cell: Cell, cuts: int) -> bool:
    if rejected(cell):
        return True
    return cuts > 0 and all(_rejected_in_parts(rejected, part, cuts - 1) for part in cell.quarters())


def _spread(low: float, high: float, draws: int) -> tuple[float, float]:
    """Return the smallest and largest standard error of a share for probabilities in [low, high]."""
    ends = low * (1 - low), high * (1 - high)
    return math.sqrt(min(ends) / draws), math.sqrt((0.25 if low <= 0.5 <= high else max(ends)) / draws)


def _weighted(likely: float, unlikely: float, weight_likely: float, weight_unlikely: float) -> float:
    length = math.hypot(weight_likely, weight_unlikely)
    return (weight_likely * likely + weight_unlikely * unlikely) / length if length else likely
