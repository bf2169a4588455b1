"""Theorem 2 over regions of (epsilon, delta): the extended Gaussian's sigma suffices, and how loose it is.

Coordinates are u = log(epsilon) and L = log(sqrt(2/pi)/delta), so that delta = sqrt(2/pi), the end of the
theorem's range, is L = 0 exactly.  At the least sigma the shift is

    mu = Delta_2/sigma = sqrt(2) epsilon/(sqrt(L) + sqrt(L + epsilon)).

The region check uses only that a calibration's shift grows with epsilon and with delta, and that the profile
grows with mu and falls with epsilon: on a box the exact delta is at most its value at the largest shift and the
smallest epsilon.  It does not use the closed form of ``proofs/extended_gaussian.md``, which proves the
same for all epsilon and L.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache, partial
from heapq import heappop, heappush
from itertools import count, product
from typing import Any, TypeAlias

from flint import arb

from audit.exact.enclosures import written
from audit.exact.enclosures.regions import Box, RegionCertificate, certify
from reference.common.balls import FIRST_BITS, Ball, ball, bisected, ends, refined, sign, working_precision
from reference.common.numbers import Enclosure, decimal_text
from reference.noise.profile import mills_ratio, profile

Calibration: TypeAlias = Callable[[Ball, Ball], Ball]
"""(epsilon, L) -> Delta_2/sigma; grows with epsilon, falls with L."""

REGION = Box(Fraction(-14), Fraction(7), Fraction(0), Fraction(691))
"""epsilon from 8.3e-7 to 1096, delta from 2.3e-301 to sqrt(2/pi)."""

CORE = Box(Fraction(-5), Fraction(3), Fraction(0), Fraction(32))
"""epsilon from 0.0068 to 20 and delta from 1.1e-14 to sqrt(2/pi): what the quick gate covers."""


def extended_shift(epsilon: Ball, L: Ball) -> Ball:
    """Return the shift of the extended Gaussian mechanism at its least sigma.

    *Implements* Theorem 2, with the difference of roots rationalised.
    """
    # mu <- Delta_2/sigma, sigma <- sqrt(2) Delta_2/(2 epsilon) (sqrt(L) + sqrt(L + epsilon))
    return arb(2).sqrt() * epsilon / (L.sqrt() + (L + epsilon).sqrt())


def scaled_extended_shift(factor: Fraction) -> Calibration:
    """Return the calibration with sigma multiplied by a factor: a broken one when it is small enough."""
    return lambda epsilon, L: extended_shift(epsilon, L) / ball(factor)


def classical_shift(epsilon: Ball, L: Ball) -> Ball:
    """Return the shift of sigma = sqrt(2 log(1.25/delta)) Delta_2/epsilon, which is proved for epsilon < 1 only.

    Dwork and Roth (2014), Theorem 3.22: the broken control for epsilon > 1.
    """
    return epsilon / (2 * (ball(Fraction(5, 4)) / delta_of(L)).log()).sqrt()


def delta_of(L: Ball) -> Ball:
    """Return delta = sqrt(2/pi) exp(-L)."""
    return _largest_delta() * (-L).exp()


def _largest_delta() -> Ball:
    return (2 / arb.pi()).sqrt()


def certify_calibration(
    calibration: Calibration = extended_shift, region: Box = CORE, most_boxes: int = 4_000_000
) -> RegionCertificate:
    """Certify that a calibration is (epsilon, delta)-private on a whole region, or return a point where it is not.

    Parameters
    ----------
    calibration : callable
        (epsilon, L) -> shift for balls; must grow with epsilon and fall with L.
    region : Box
        In (u, L).
    most_boxes : int
    """

    def check(box: Box) -> bool | None:
        # the largest shift of the box, the smallest epsilon, the smallest delta
        shift = calibration(ball(box.right).exp(), ball(box.bottom))
        return True if profile(shift, ball(box.left).exp()) <= delta_of(ball(box.top)) else None

    def probe(box: Box) -> dict[str, Any] | None:
        u, L = (ball(value) for value in box.middle)
        epsilon, delta = u.exp(), delta_of(L)
        shift = calibration(epsilon, L)
        exact_delta = profile(shift, epsilon)
        if not exact_delta > delta:
            return None
        facts = {"epsilon": epsilon, "delta": delta, "shift": shift, "exact_delta": exact_delta}
        middle = {"log_epsilon": decimal_text(box.middle[0]), "L": decimal_text(box.middle[1])}
        return {**middle, **{name: _written(value) for name, value in facts.items()}}

    with working_precision(FIRST_BITS):
        return certify(region, check, probe, _split_epsilon, most_boxes)


def _split_epsilon(box: Box) -> bool:
    """Halve along u where that narrows the bound more: it moves by about 2 L + 1 + sqrt(L epsilon) per u."""
    L = float(box.top)
    epsilon = 2.718281828 ** float(box.right)
    return bool((2 * L + 1 + (L * epsilon) ** 0.5) * float(box.right - box.left) > float(box.top - box.bottom))


def _written(value: Ball) -> str | dict[str, str]:
    """Return both ends, rounded outwards to 12 digits."""
    found = ends(value)
    return written(found.lower, found.upper, 12)


# --- T2.range: where sigma is defined ------------------------------------------------------------------------


def defined_up_to() -> Enclosure:
    """Enclose sqrt(2/pi): above it L < 0 and sqrt(L) is not real, whatever epsilon is."""
    return ends(refined(_largest_delta))


def logarithm_at(delta: Fraction) -> Enclosure:
    """Enclose L = log(sqrt(2/pi)/delta), whose root the formula takes."""

    def logarithm() -> Ball:
        return (_largest_delta() / ball(delta)).log()

    return ends(refined(logarithm))


def logarithm_of(value: Fraction) -> Enclosure:
    """Enclose the logarithm of a positive rational; 0 exactly at 1."""
    if value == 1:
        return Enclosure(Fraction(0), Fraction(0))
    return ends(refined(lambda: ball(value).log()))


# --- The largest private shift --------------------------------------------------------------------------------


def largest_private_shift(
    epsilon: Callable[[], Ball], delta: Callable[[], Ball], relative_width: Fraction = Fraction(1, 2**40)
) -> Enclosure:
    """Enclose the shift at which the profile meets delta, by bisection: the profile grows in the shift.

    Parameters
    ----------
    epsilon, delta : callable
        Return the two numbers as balls at the current precision.
    relative_width : Fraction
    """

    def is_private(shift: Fraction) -> bool:
        return sign(lambda: profile(ball(shift), epsilon()) - delta()) < 0

    high = Fraction(1)
    while is_private(high):
        high *= 2
    low = high / 2
    while not is_private(low):
        low, high = low / 2, low
    return bisected(is_private, low, high, relative_width)


# --- T2.loose: how much larger than needed -------------------------------------------------------------------


def exact_delta_over_delta(L: Fraction, epsilon: Fraction) -> Enclosure:
    """Enclose (exact delta at the least sigma)/delta by the closed form (r(a) - r(a + mu))/2, a = sqrt(2 L)."""

    def value() -> Ball:
        a = (2 * ball(L)).sqrt()
        return (mills_ratio(a) - mills_ratio(a + extended_shift(ball(epsilon), ball(L)))) / 2

    return ends(refined(value))


def sigma_ratio(box: Box, width: Fraction = Fraction(1, 2**20)) -> Enclosure:
    """Enclose sigma(extended)/sigma(analytic) over a whole box of (u, L): its range lies between the two ends.

    Both shifts grow with epsilon and with delta, so two corners of each bound the quotient.
    """
    (least, extended_least), (most, extended_most) = (
        shifts_at(*corner, width) for corner in ((box.left, box.top), (box.right, box.bottom))
    )
    return Enclosure(least.lower / extended_most.upper, most.upper / extended_least.lower)


@lru_cache(maxsize=4096)
def shifts_at(u: Fraction, L: Fraction, width: Fraction) -> tuple[Enclosure, Enclosure]:
    """Enclose the analytic and the extended shift at a point; each half of a box shares a corner with it."""
    analytic = largest_private_shift(lambda: ball(u).exp(), lambda: delta_of(ball(L)), width)
    return analytic, ends(refined(lambda: extended_shift(ball(u).exp(), ball(L))))


@dataclass(frozen=True)
class Extremum:
    """A supremum or infimum over a region.

    Parameters
    ----------
    value : Enclosure
    near : tuple of Fraction
        (u, L) of a point where the inner end is reached.
    boxes : int
    """

    value: Enclosure
    near: tuple[Fraction, Fraction]
    boxes: int

    def to_json(self) -> dict[str, Any]:
        """Return the enclosure to 8 digits and the point."""
        return {
            "value": written(self.value.lower, self.value.upper, 8),
            "near": {"log_epsilon": decimal_text(self.near[0]), "L": decimal_text(self.near[1])},
            "boxes": self.boxes,
        }


@lru_cache(maxsize=16)
def extreme_sigma_ratio(region: Box, *, largest: bool, tolerance: Fraction) -> Extremum:
    """Enclose the supremum or infimum of the ratio of sigmas over a region, by branch and bound.

    The box that may contain the most extreme value is halved until the bound of every box is within a relative
    tolerance of a value that is attained.

    Parameters
    ----------
    region : Box
    largest : bool
        Supremum or infimum.
    tolerance : Fraction
    """
    direction = 1 if largest else -1
    counter = count()

    def bound(box: Box) -> tuple[Fraction, int, Box]:
        found = sigma_ratio(box)
        return -direction * (found.upper if largest else found.lower), next(counter), box

    def attained(point: tuple[Fraction, Fraction]) -> Fraction:
        found = sigma_ratio(Box(point[0], point[0], point[1], point[1]))
        return found.lower if largest else found.upper

    queue = [bound(region)]
    corners = product((region.left, region.right), (region.bottom, region.top))
    near, best = max(((point, attained(point)) for point in corners), key=lambda pair: direction * pair[1])
    while True:
        key, _, box = queue[0]
        outer = -direction * key
        if abs(outer - best) <= tolerance * best:
            value = Enclosure(best, outer) if largest else Enclosure(outer, best)
            return Extremum(value, near, next(counter))
        heappop(queue)
        for half in box.halves(first=_split_epsilon(box)):
            heappush(queue, bound(half))
        found = attained(box.middle)
        if direction * (found - best) > 0:
            near, best = box.middle, found


# --- T4: how small "delta is very small" has to be -----------------------------------------------------------


def largest_deltas_of_the_t4_proof() -> tuple[Enclosure, Enclosure]:
    """Enclose the largest delta at which the proof's tail bound, and at which the tail itself, is at most delta/2.

    With Delta_2 = 1 the proof's r is sigma a, a = sqrt(2 L).  Its bound is delta sqrt(pi)/(2 a): at most
    delta/2 iff a >= sqrt(pi).  The tail is Phi(-a) = (delta/2) r(a), r Mills' ratio, which falls: at most
    delta/2 iff r(a) <= 1.
    """
    by_bound = ends(refined(lambda: delta_of(arb.pi() / 2)))

    def excess(a: Fraction) -> Ball:
        return mills_ratio(ball(a)) - 1

    def delta_at(a: Fraction) -> Enclosure:
        return ends(refined(lambda: delta_of(ball(a) ** 2 / 2)))

    low, high = Fraction(0), Fraction(1)
    while high - low > Fraction(1, 2**50):
        middle = (low + high) / 2
        is_above = sign(partial(excess, middle)) > 0
        low, high = (middle, high) if is_above else (low, middle)
    return by_bound, Enclosure(delta_at(high).lower, delta_at(low).upper)
