"""Count the terms of a tail that Coq needs to see that the tail is small: ``proofs/coq/Tails.v``.

The sums are Coq's, in the same whole numbers.  Nothing trusts the result.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

TERM = 2**60
"""The first term, as ``unit_term``."""

FIRST_STEPS, MOST_STEPS = 64, 2**20
"""Terms to try first, and at most."""

NEGLIGIBLE = 2**30
"""Terms are added until the rest is this part of their sum."""


class NotContradictedError(ValueError):
    """The bounds on these counts do not contradict the claim, or not by enough."""


@dataclass(frozen=True)
class RatioTail:
    """The terms of a sequence from one on, each bounded by the one before.

    Parameters
    ----------
    start, lowest, highest : int
        The first term of the tail, and of the sequence; and the last one.
    numerator, denominator : callable
        The ratio of term k + 1 to term k is at most their quotient.
    """

    start: int
    lowest: int
    highest: int
    numerator: Callable[[int], int]
    denominator: Callable[[int], int]

    @classmethod
    def binomial(cls, n: int, j: int, p: int, one: int) -> RatioTail:
        """Return the tail of at least j successes in n, each with chance p / one."""
        return cls(j, 0, n, lambda k: (n - k) * p, lambda k: (k + 1) * (one - p))

    def steps(self, part: int, level: int) -> tuple[int, int]:
        """Return how many terms above and below show that the tail is at most part / level of all.

        Raises
        ------
        NotContradictedError
            When it is not.
        """
        up, above = self._upwards()
        most = min(self.start - self.lowest, MOST_STEPS)
        down = min(most, FIRST_STEPS)
        while above * (level - part) > part * self._downwards(down):
            if down >= most:
                raise NotContradictedError("a tail is not below its part of the significance by enough")
            down = min(2 * down, most)
        return up, down

    def _upwards(self) -> tuple[int, int]:
        """Return a number of terms after which little is left, and ``upwards``."""
        term, total, k = TERM, 0, self.start
        while True:
            num, den = self.numerator(k), self.denominator(k)
            if num < den:
                rest = term * den // (den - num) + 1
                if k == self.highest or rest * NEGLIGIBLE <= total or term <= 2:
                    return k - self.start, total + rest
            if k == self.highest or k - self.start >= MOST_STEPS:
                raise NotContradictedError("a tail falls too slowly")
            term, total, k = term * num // den + 1, total + term, k + 1

    def _downwards(self, steps: int) -> int:
        """Return ``downwards``."""
        term, total = TERM, 0
        for k in range(self.start - 1, self.start - 1 - steps, -1):
            term = term * self.denominator(k) // self.numerator(k)
            total += term
        return total
