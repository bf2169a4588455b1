"""The exact epsilon of composed Gaussian or Laplace noise, to compare an accountant's report with.

Every release moves by at most the sensitivity in l2 (Gaussian) or l1 (Laplace); each may be chosen after seeing
the earlier ones.  The worst pair moves one coordinate by all of it, every time: for log-concave noise half-lines
are the best tests, so steps along other coordinates tell no more apart than one step of their total length.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property, lru_cache
from itertools import accumulate, pairwise, repeat
from math import ceil, comb, factorial

from flint import arb_poly, fmpz_poly

from reference.common.balls import (
    FIRST_BITS,
    Ball,
    ball,
    bisected,
    lower_end,
    sign,
    upper_end,
    working_precision,
)
from reference.common.errors import DeltaError, ReadingError
from reference.common.numbers import Enclosure, decimal_text, in_float_range, short_text
from reference.noise.profile import RELATIVE_BITS, epsilon_of_shift

KINDS = ("gaussian", "laplace")

LARGEST_EXACT = 64
"""Most Laplace releases whose composition at a positive delta is worked out exactly."""

MOST_CELLS, WIDEST_CELL = 256, Fraction(1, 16)
"""Cells of the grid for one release, even; and their largest width, which takes more."""

DEEPEST = 2848
"""Most cells of one release, even: at the largest width lower losses have a probability below 2^-128."""

MOST_PLACES = 2**18
"""Places of all sums on the way together: where one has more than its share, its grid is made coarser."""

MANY_DOUBLINGS = 16
"""With more of them, which take longer for each place, there are fewer places in all."""

FLOOR_BITS = 100
"""Losses of which the weight is below 2^-FLOOR_BITS do not count."""

ORDER_WIDTH = 0.01
"""To which the logarithm of the order, to the base 2, is searched."""

CLOSE = Fraction(1, 1000)
"""Relative width up to which an enclosure is called close."""

FARTHEST = 10**6
"""In scales: beyond it no epsilon is meaningful, and exponentials overflow."""


@dataclass(frozen=True, kw_only=True)
class NoisySums:
    """Releases of sums with the same noise, about the same records.

    Parameters
    ----------
    noise : {'gaussian', 'laplace'}
    scale : Fraction
        Of one release: sigma for Gaussian noise.
    delta : Fraction
    count : int
    adjacency : str
    bound : Fraction, optional
        The most that a record adds to a sum, with any sign: in l2 for Gaussian noise, in l1 for Laplace noise.
    sensitivity : Fraction, optional
        How far one release moves between neighbours, where no bound is given.
    """

    noise: str
    scale: Fraction
    delta: Fraction
    count: int
    adjacency: str
    bound: Fraction | None = None
    sensitivity: Fraction | None = None

    def __post_init__(self) -> None:
        if (self.bound is None) == (self.sensitivity is None):
            raise ReadingError("bound or sensitivity", None, "given, and not both")
        for name in ("scale", "bound", "sensitivity"):
            value = getattr(self, name)
            if value is not None and (value <= 0 or not in_float_range(value)):
                raise ReadingError(name, decimal_text(value), "between 1e-100 and 1e100")
        if self.moved > FARTHEST * self.scale:
            raise ReadingError("scale", decimal_text(self.scale), "at least a millionth of what a record moves")
        if self.noise == "gaussian" and self.delta == 0:
            raise DeltaError("delta", "0", "positive with gaussian: no epsilon is enough at delta 0")

    @property
    def moved(self) -> Fraction:
        """The shift of one release between neighbours.

        Replacing a record removes one contribution and adds another, perhaps its negative.
        """
        if self.sensitivity is not None:
            return self.sensitivity
        assert self.bound is not None
        return 2 * self.bound if self.adjacency == "replace_one" else self.bound

    @cached_property
    def epsilon(self) -> Enclosure:
        """The smallest epsilon at which all releases together are (epsilon, delta)-private."""
        one = self.moved / self.scale
        if self.noise == "gaussian":
            # mu^2 <- count mu_1^2
            return epsilon_of_shift(self.count * one * one, self.delta)
        if self.delta == 0:
            return Enclosure(self.count * one, self.count * one)
        if self.count > LARGEST_EXACT:
            return epsilon_on_grid(one, self.count, self.delta)
        return epsilon_of_laplace(one, self.count, self.delta)

    @property
    def road(self) -> str:
        """The method of the enclosure, in words."""
        if self.noise == "gaussian":
            return "exact: mu adds up in squares"
        if self.delta == 0:
            return "exact: at delta 0 the losses add up"
        if self.count > LARGEST_EXACT:
            width = self.epsilon.upper - self.epsilon.lower
            if width <= CLOSE * self.epsilon.upper:
                return "close: the losses on a grid, from below and above"
            return f"not tight, {short_text(width)} wide: the losses on a grid, from below and above"
        return "exact: the composed privacy loss in closed form"

    def verdict(self, reported: Fraction | None) -> str:
        """Return the contract's word on a reported epsilon; None is infinity, which is never too small."""
        if reported is None:
            return "not refuted"
        if reported < self.epsilon.lower:
            return "refuted"
        return "not refuted" if reported >= self.epsilon.upper else "undecided"


# --- Laplace noise, composed -----------------------------------------------------------------------------------


def epsilon_of_laplace(one: Fraction, count: int, delta: Fraction) -> Enclosure:
    """Enclose the smallest epsilon at `delta`, in (0, 1), of `count` Laplace releases that lose `one` each."""

    def too_small(epsilon: Fraction) -> bool:
        return sign(lambda: laplace_profile(one, count, epsilon) - ball(delta)) > 0

    zero = Fraction(0)
    if not too_small(zero):
        return Enclosure(zero, zero)
    return bisected(too_small, zero, count * one, Fraction(1, 2**RELATIVE_BITS))


def laplace_profile(one: Fraction, count: int, epsilon: Fraction) -> Ball:
    """Return the smallest delta at `epsilon`, at least 0, of `count` Laplace releases that lose e = `one` each.

    The loss l of one release has the law exp((l - e)/2) (1/2 at -e, 1/2 at e, density 1/4 between).  Of `count`
    releases it has exp((l - count e)/2) times the `count`-fold convolution of that bracket, which is a sum of
    truncated powers (a_m - l)_+^(c-1)/(c-1)! at a_m = (count - 2m) e; c = 0 is an atom.  With s = a_m - epsilon,
    each one's integral against 1 - exp(epsilon - l) is exp(epsilon/2) S_c(s), where S_0 = 2 sinh(s/2) and S_c is
    the integral of S_(c-1) from 0.
    """
    total = ball(Fraction(0))
    for m, weights in enumerate(_weights(count)):
        s = (count - 2 * m) * one - epsilon
        if s <= 0:
            break
        half = ball(s) / 2
        # S_(c+2) = 4 (S_c - s^(c+1)/(c+1)!)
        parts = [2 * half.sinh(), 8 * (half / 2).sinh() ** 2]
        for c in range(count - 1):
            parts.append(4 * (parts[c] - ball(s) ** (c + 1) / factorial(c + 1)))
        for weight, part in zip(weights, parts, strict=False):
            total += ball(weight) * part
    return total * (ball(epsilon - count * one) / 2).exp()


@lru_cache(maxsize=8)
def _weights(count: int) -> tuple[tuple[Fraction, ...], ...]:
    """Return for each m the weights of c = 0 to `count`.

    With x two steps down, (1/2 (1 + x) + 1/4 (1 - x) integral)^count.
    """
    rows = []
    for c in range(count + 1):
        polynomial = fmpz_poly([1, 1]) ** (count - c) * fmpz_poly([1, -1]) ** c
        share = Fraction(comb(count, c), 2 ** (count + c))
        rows.append([share * int(polynomial[m]) for m in range(count + 1)])
    return tuple(zip(*rows, strict=True))


# --- Many releases: losses on a grid ---------------------------------------------------------------------------


def epsilon_on_grid(one: Fraction, count: int, delta: Fraction) -> Enclosure:
    """Enclose the smallest epsilon at `delta`, in (0, 1), of `count` Laplace releases that lose e = `one` each.

    The profile is the mean of a convex and falling function of exp(-loss).  It falls if the losses of a cell
    become the one that keeps the mean of exp(-loss); it grows if they move to the ends of their cell, at random,
    and keep that mean.  So both laws compose to a bound.  Probabilities are held times exp(order * loss): this
    puts the losses near epsilon in the middle, however small delta is.  Proof: ``proofs/auditor_bounds.md``.
    """
    zero, step = Fraction(0), one / _half(one)
    with working_precision(FIRST_BITS):
        order = _best_order(one, count, delta, step)
        below, above = (Losses.composed(one, count, order, above=above) for above in (False, True))
        lower, upper = below.epsilon(delta), above.epsilon(delta)
        most = min(count * one, upper_end(_renyi_epsilon(one, count, delta, order)))
        return Enclosure(
            zero if lower is None else max(zero, lower), max(zero, most if upper is None else min(most, upper))
        )


def _renyi_epsilon(one: Fraction, count: int, delta: Fraction, order: Fraction) -> Ball:
    """Return an epsilon that suffices, by any order z > 0.

    (1 - exp(epsilon - l))_+ is at most c(z) exp(z (l - epsilon)), and exp(z l) is on average M(z) to the power of
    `count`.
    """
    z = ball(order)
    lowest = (-(2 * z + 1) * ball(one)).exp()
    # M(z) exp(-z e)
    average = (1 + lowest + (1 - lowest) / (2 * z + 1)) / 2
    return count * ball(one) + (count * average.log() + _largest(order).log() - ball(delta).log()) / z


def _largest(order: Fraction) -> Ball:
    """Return c(z), the largest of exp(-z x) (1 - exp(-x))."""
    z = ball(order)
    return (-z * (1 / z).log1p()).exp() / (1 + z)


def _best_order(one: Fraction, count: int, delta: Fraction, step: Fraction) -> Fraction:
    """Search the order whose Renyi bound is least; any would do."""

    def order(logarithm: float) -> Fraction:
        return Fraction(2.0**logarithm) / step

    low, high = -60.0, 0.0
    while high - low > ORDER_WIDTH:
        left, right = (2 * low + high) / 3, (low + 2 * high) / 3
        if _renyi_epsilon(one, count, delta, order(left)) > _renyi_epsilon(one, count, delta, order(right)):
            low = left
        else:
            high = right
    return order(high)


@dataclass(frozen=True, eq=False)
class Losses:
    """The law of a sum of losses on a grid around 0, or one above or below it.

    Parameters
    ----------
    above : bool
        Whether every profile is at least the true one, or at most.
    order : Fraction
    step : Fraction
        The loss at place 1 of the grid.
    lowest : int
        The first place that counts.
    weights : arb_poly
        Of each place from there on: its probability times exp(order * loss) / scale.
    lost : Ball
        The weight of what does not count.
    scale : Ball
    """

    above: bool
    order: Fraction
    step: Fraction
    lowest: int
    weights: Ball
    lost: Ball
    scale: Ball

    @classmethod
    def composed(cls, one: Fraction, count: int, order: Fraction, *, above: bool) -> Losses:
        """Return a law above or below that of `count` releases, of which each loses `one`."""
        step, (lowest, masses) = one / _half(one), _ends(one) if above else _middles(one)
        tilted = arb_poly(_tilted(masses, ball(order * step), ball(order * step * lowest)))
        single = cls(above, order, step, lowest, tilted * (1 / tilted(1)), ball(0), tilted(1))
        total, doublings = single, count.bit_length()
        most_places = MOST_PLACES * MANY_DOUBLINGS // (doublings * max(MANY_DOUBLINGS, doublings))
        for bit in f"{count:b}"[1:]:
            while total.weights.length() > most_places:
                total, single = total.coarser(), single.coarser()
            total = total * total
            if bit == "1":
                total = total * single
        return total

    def __mul__(self, other: Losses) -> Losses:
        """Return the law of the sum, without the ends that are too unlikely."""
        weights, floor = list(self.weights * other.weights), ball(Fraction(1, 2**FLOOR_BITS))
        counting = [place for place, weight in enumerate(weights) if not weight < floor]
        weights = weights[counting[0] : counting[-1] + 1]
        share = sum(weights, ball(0))
        together = (self.weights(1) + self.lost) * (other.weights(1) + other.lost)
        return replace(
            self,
            lowest=self.lowest + other.lowest + counting[0],
            weights=self._rounded(weights) * (1 / share),
            lost=together / share - 1,
            scale=self.scale * other.scale * share,
        )

    def coarser(self) -> Losses:
        """Return the law at the even places: what is between them moves to its neighbours."""
        weights = [ball(0)] * (self.lowest % 2) + list(self.weights)
        even, odd, h = weights[::2], weights[1::2], ball(self.step)
        up = (ball(self.order) * h).exp()
        if self.above:
            # so that exp(-loss) keeps its mean
            share = 1 / (1 + (-h).exp())
            moved = list(arb_poly(even) + arb_poly([0, *odd]) * (up * share) + arb_poly(odd) * ((1 - share) / up))
        else:
            moved = _gathered(even, odd, h.exp(), up)
        return replace(self, step=2 * self.step, lowest=self.lowest // 2, weights=self._rounded(moved))

    def _rounded(self, weights: list[Ball]) -> Ball:
        """Return the ends of balls, which would grow."""
        if self.above:
            return arb_poly([weight.upper() for weight in weights])
        return arb_poly([weight.lower().max(0) for weight in weights])

    def loss(self, place: int) -> Fraction:
        """Return the sum of losses of a place."""
        return place * self.step

    def epsilon(self, delta: Fraction) -> Fraction | None:
        """Return a number at most or, above, at least the smallest epsilon at `delta`; None if none is found.

        With A and B the probabilities from place j on, the profile is the largest A_j - exp(epsilon) B_j of all j;
        between the places j - 1 and j it is that of j.  Above, what does not count is counted as the worst.
        """
        by, first = ball(self.order * self.step), ball(self.order * self.loss(self.lowest))
        likely = _tilted(list(self.weights), -by, self.scale.log() - first)
        step, start = ball(self.step), ball(self.loss(self.lowest))
        unlikely = _tails(_tilted(likely, -step, -start))
        likely = _tails(likely)
        worst = _largest(self.order) * self.lost * self.scale if self.above else ball(0)

        def not_counted(place: int) -> Ball:
            return worst * (-ball(self.order * self.loss(place))).exp()

        def suffices(place: int) -> bool:
            at = place - self.lowest
            profile = likely[at] - ball(self.loss(place)).exp() * unlikely[at]
            return bool(profile + not_counted(place) < ball(delta))

        # at the last place no loss that counts is above epsilon
        end = self.lowest + len(likely) - (1 if self.above else 2)
        place = bisect_left(range(end), True, lo=max(0, self.lowest), hi=end, key=suffices)
        if self.above and not suffices(end):
            return None
        at_place, before = self.loss(place), self.loss(place - 1)
        at = place - self.lowest
        rest = likely[at] + not_counted(place - 1) - ball(delta)
        if not self.above:
            return lower_end((rest / unlikely[at]).log()) if rest > 0 and unlikely[at] > 0 else None
        if not rest > 0:
            return at_place
        return min(at_place, max(before, upper_end((rest / unlikely[at]).log())))


def _tails(masses: list[Ball]) -> list[Ball]:
    return list(accumulate(reversed(masses), initial=ball(0)))[::-1]


def _tilted(masses: list[Ball], step: Ball, first: Ball) -> list[Ball]:
    """Return each mass times the next power of exp(`step`), from exp(`first`) on."""
    ratio = step.exp()
    return [mass * power for mass, power in zip(masses, _powers(first.exp(), ratio), strict=False)]


def _powers(first: Ball, ratio: Ball) -> Iterator[Ball]:
    return accumulate(repeat(ratio), lambda value, by: value * by, initial=first)


def _gathered(even: list[Ball], odd: list[Ball], apart: Ball, up: Ball) -> list[Ball]:
    """Return the weights at even places after those at odd ones have moved so that exp(-loss) grows on average.

    Masses y and z from one and two places below, and x from one place above, may gather at a place if
    y (r - 1) + z (r^2 - 1) is at most x (1 - 1/r), with r = `apart` the ratio of exp(-loss) between neighbours.
    A weight changes by a factor `up` for every place that its mass moves up.
    """
    gathered, above = [*even, ball(0)], ball(0)
    one_up, two_up = 1 / (apart * up**2), 1 / (apart * (apart + 1) * up**3)
    for place in range(len(odd) - 1, -1, -1):
        once = odd[place].min(above * one_up).lower().max(0)
        twice = even[place].min((above - once / one_up) * two_up).lower().max(0)
        above = (odd[place] - once).lower().max(0)
        gathered[place + 1] += once * up + twice * up**2
        gathered[place] += above / up - twice
    return gathered


# --- One release on the grid -----------------------------------------------------------------------------------


def _half(one: Fraction) -> int:
    """Return the place of the largest loss of one release."""
    return max(MOST_CELLS // 2, ceil(one / WIDEST_CELL))


def _middles(one: Fraction) -> tuple[int, list[Ball]]:
    """Return the law of the middles of cells, two steps wide, and of the two atoms, and its first place."""
    half, places = _half(one), _places(one)
    step, law = one / half, [ball(0)] * (places + 1)
    # what is lower has no place
    law[0] = _at_most(places * step) if places == 2 * half else ball(0)
    law[1::2], law[-1] = _masses(2 * step, places // 2), ball(1) / 2
    return half - places, law


def _ends(one: Fraction) -> tuple[int, list[Ball]]:
    """Return the law of the ends, and its first place: the upper one has the share s of its cell's mass.

    To keep the mean of exp(-loss), which is exp(-middle), takes s exp(-h/2) + (1 - s) exp(h/2) = 1.
    """
    half, places = _half(one), _places(one)
    step = one / half
    share = 1 / (1 + (-ball(step) / 2).exp())
    # what is lower is raised to the first place
    law = [_at_most(places * step), *[ball(0)] * (places - 1), ball(1) / 2]
    for place, mass in enumerate(_masses(step, places)):
        law[place] += (1 - share) * mass
        law[place + 1] += share * mass
    return half - places, law


def _places(one: Fraction) -> int:
    """Return how many steps the losses that count are from the largest down; even."""
    return min(2 * _half(one), DEEPEST)


def _masses(width: Fraction, cells: int) -> list[Ball]:
    """Return the probabilities of as many cells, up to the largest loss."""
    at_ends = [_at_most(cell * width) for cell in range(cells, -1, -1)]
    return [above - below for below, above in pairwise(at_ends)]


def _at_most(depth: Fraction) -> Ball:
    """Return the probability of a loss that is so far below the largest, or farther."""
    return (-ball(depth) / 2).exp() / 2
