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
from math import comb, factorial, isqrt

from flint import arb_poly, fmpz_poly

from reference.accounting import rho_of_pure, zcdp_epsilon
from reference.common.balls import (
    FIRST_BITS,
    Ball,
    UndecidedError,
    ball,
    bisected,
    lower_end,
    sign,
    upper_end,
    working_precision,
)
from reference.common.errors import DeltaError, ReadingError
from reference.common.numbers import Enclosure, decimal_text, in_float_range
from reference.noise.profile import RELATIVE_BITS, epsilon_of_shift

KINDS = ("gaussian", "laplace")

LARGEST_EXACT = 64
"""Most Laplace releases whose composition at a positive delta is worked out exactly."""

LARGEST_ON_GRID = 10**6
"""Most whose losses are composed on a grid; for more the epsilon is not enclosed tightly."""

MOST_CELLS, MOST_PLACES = 256, 2**15
"""Most cells of the grid for one release, even; roughly the places of the grid for all that are likely enough."""

WIDTHS = 16
"""Roughly, likely enough losses lie within half as many standard deviations."""


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
        if LARGEST_EXACT < self.count <= LARGEST_ON_GRID:
            return epsilon_on_grid(one, self.count, self.delta)
        if self.count > LARGEST_ON_GRID:
            fewer = replace(self, count=LARGEST_ON_GRID)
            zcdp = zcdp_epsilon(self.count * rho_of_pure(one), self.delta)
            return Enclosure(fewer.epsilon.lower, min(self.count * one, zcdp))
        return epsilon_of_laplace(one, self.count, self.delta)

    @property
    def road(self) -> str:
        """The method of the enclosure, in words."""
        if self.noise == "gaussian":
            return "exact: mu adds up in squares"
        if self.delta == 0:
            return "exact: at delta 0 the losses add up"
        if self.count > LARGEST_ON_GRID:
            return f"not tight: from {LARGEST_ON_GRID} releases alone up to zCDP, or the sum of the losses"
        if self.count > LARGEST_EXACT:
            return f"close: the losses of one release in {cells_of(self.count)} cells, from below and above"
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


def cells_of(count: int) -> int:
    """Return the number of cells, which is even, that the losses of one of `count` releases are grouped in."""
    return 2 * max(1, min(MOST_CELLS, MOST_PLACES // (WIDTHS * isqrt(count))) // 2)


def epsilon_on_grid(one: Fraction, count: int, delta: Fraction) -> Enclosure:
    """Enclose the smallest epsilon at `delta`, in (0, 1), of `count` Laplace releases that lose e = `one` each.

    The losses between -e and e fall into cells.  A release that tells its cell alone tells less; its loss is the
    middle of the cell.  One that tells an end of the cell, at random, so that both inputs keep the cell's
    probability, tells more.  So they compose to a lower and an upper bound.  Proof: ``proofs/auditor_bounds.md``.
    """
    bits = FIRST_BITS + max(0, delta.denominator.bit_length() - delta.numerator.bit_length())
    cells, zero = cells_of(count), Fraction(0)
    with working_precision(bits):
        # the middles of half as many cells lie on a grid of the same step
        floor = ball(Fraction(1, 2**bits))
        laws = _middles(one, cells // 2), _ends(one, cells)
        below, above = (Losses.composed(law, one, count, floor) for law in laws)
        lower = below.turn(delta, at_worst=False)[1]
        place, upper = above.turn(delta, at_worst=True)
        at_place, before = above.loss(place), above.loss(place - 1)
        return Enclosure(
            zero if lower is None else max(zero, lower_end(lower)),
            max(zero, at_place if upper is None else min(at_place, max(before, upper_end(upper)))),
        )


@dataclass(frozen=True, eq=False)
class Losses:
    """The law of a sum of losses on a grid, but for what is too unlikely to count.

    Parameters
    ----------
    most : Fraction
        The largest sum, that of the last place; the first has its negative.
    places : int
        From the first to the last.
    lowest : int
        The first place that counts.
    likely, unlikely : list
        Probabilities from each place that counts on, one after the other and 0 at the end, on the input whose
        losses these are and on the other one.
    """

    most: Fraction
    places: int
    lowest: int
    likely: list[Ball]
    unlikely: list[Ball]

    @classmethod
    def composed(cls, law: Ball, one: Fraction, count: int, floor: Ball) -> Losses:
        """Return the law of `count` losses, each with a law given as a polynomial from -`one` to `one`.

        What is less likely than `floor`, towards both ends, does not count.
        """
        lowest, power = 0, arb_poly([1])
        for bit in f"{count:b}":
            lowest, power = _cut(2 * lowest, power * power, floor)
            if bit == "1":
                lowest, power = _cut(lowest, power * law, floor)
        most, places, masses = count * one, count * law.degree(), list(power)
        # on the other input exp(-loss) times as likely
        ratio, step = ball(most - 2 * most * Fraction(lowest, places)).exp(), ball(-2 * most / places).exp()
        others = [mass * times for mass, times in zip(masses, _powers(ratio, step), strict=False)]
        return cls(most, places, lowest, *(_tails(some) for some in (masses, others)))

    def loss(self, place: int) -> Fraction:
        """Return the sum of losses of a place."""
        return (Fraction(2 * place, self.places) - 1) * self.most

    def turn(self, delta: Fraction, *, at_worst: bool) -> tuple[int, Ball | None]:
        """Return the first place, from 0 up, where `delta` suffices, and the epsilon before it.

        With A and B the probabilities from place j on, the profile is the largest A_j - exp(epsilon) B_j of all j;
        between the places j - 1 and j it is that of j.  At worst, what does not count tells the inputs apart.
        """
        allowed = ball(delta) - (1 - self.likely[0] if at_worst else 0)
        if not allowed > 0:
            raise UndecidedError

        def suffices(place: int) -> bool:
            likely, unlikely = self.likely[place - self.lowest], self.unlikely[place - self.lowest]
            return bool(likely - ball(self.loss(place)).exp() * unlikely < allowed)

        first, end = max(self.lowest, (self.places + 1) // 2), self.lowest + len(self.likely) - 1
        # at the last place no loss that counts is above epsilon
        place = bisect_left(range(end), True, lo=min(first, end - 1), hi=end - 1, key=suffices)
        rest, unlikely = self.likely[place - self.lowest] - allowed, self.unlikely[place - self.lowest]
        return place, (rest / unlikely).log() if rest > 0 and unlikely > 0 else None


def _cut(lowest: int, law: Ball, floor: Ball) -> tuple[int, Ball]:
    """Return a law without the places at its ends that are less likely than `floor`, and its first place."""
    masses = list(law)
    counting = [place for place, mass in enumerate(masses) if not mass < floor]
    return lowest + counting[0], arb_poly(masses[counting[0] : counting[-1] + 1])


def _tails(masses: list[Ball]) -> list[Ball]:
    return list(accumulate(reversed(masses), initial=ball(0)))[::-1]


def _powers(first: Ball, ratio: Ball) -> Iterator[Ball]:
    return accumulate(repeat(ratio), lambda value, by: value * by, initial=first)


def _middles(one: Fraction, cells: int) -> Ball:
    """Return the law of the middles, as a polynomial: even places are ends of cells, of which two have atoms."""
    law = [ball(0)] * (2 * cells + 1)
    law[0], law[1::2], law[-1] = _atom(one), _masses(one, cells), ball(1) / 2
    return arb_poly(law)


def _ends(one: Fraction, cells: int) -> Ball:
    """Return the law of the ends: the upper one has the share s of its cell's mass, the lower one the rest.

    To keep the other input's mass, which is exp(-middle) times it, takes s exp(-h/2) + (1 - s) exp(h/2) = 1.
    """
    share = 1 / (1 + (-ball(one) / cells).exp())
    law = [_atom(one), *[ball(0)] * (cells - 1), ball(1) / 2]
    for place, mass in enumerate(_masses(one, cells)):
        law[place] += (1 - share) * mass
        law[place + 1] += share * mass
    return arb_poly(law)


def _atom(one: Fraction) -> Ball:
    return (-ball(one)).exp() / 2


def _masses(one: Fraction, cells: int) -> list[Ball]:
    """Return the probabilities of the cells: below e a loss is at most l with probability exp((l - e)/2)/2."""
    at_ends = [ball(one * (Fraction(place, cells) - 1)).exp() / 2 for place in range(cells + 1)]
    return [above - below for below, above in pairwise(at_ends)]
