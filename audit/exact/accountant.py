"""The exact epsilon of composed Gaussian or Laplace noise, to compare an accountant's report with.

Every release moves by at most the sensitivity in l2 (Gaussian) or l1 (Laplace); each may be chosen after seeing
the earlier ones.  The worst pair moves one coordinate by all of it, every time: for log-concave noise half-lines
are the best tests, so steps along other coordinates tell no more apart than one step of their total length.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property, lru_cache
from math import comb, factorial

from flint import fmpz_poly

from reference.accounting import rho_of_pure, zcdp_epsilon
from reference.common.balls import Ball, ball, bisected, sign
from reference.common.errors import DeltaError, ReadingError
from reference.common.numbers import Enclosure, decimal_text, in_float_range
from reference.noise.profile import RELATIVE_BITS, epsilon_of_shift

KINDS = ("gaussian", "laplace")

LARGEST_EXACT = 64
"""Most Laplace releases whose composition at a positive delta is exact; for more it is enclosed, not tightly."""


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
            fewer = replace(self, count=LARGEST_EXACT)
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
        if self.count > LARGEST_EXACT:
            return f"not tight: from {LARGEST_EXACT} releases alone up to zCDP, or the sum of the losses"
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
