"""A case without its answer, and the numbers in cases."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from random import Random
from typing import Any

DOUBLE = ("double",)
ERFC = ("double", "erfc")
EXACT = ("exact-arithmetic",)


@dataclass(frozen=True)
class AskedCase:
    """A case without its answer.

    Parameters
    ----------
    comment : str
        What is true of it.
    inputs : dict
        Texts, lists of texts, or lists of lists of texts.
    requires : tuple of str
        The arithmetic that a program needs.
    """

    comment: str
    inputs: dict[str, Any]
    requires: tuple[str, ...] = DOUBLE


class Stream:
    """Dyadic numbers determined by the name of a case, whatever the other cases."""

    def __init__(self, name: str) -> None:
        self._random = Random(name)

    def whole(self, low: int, high: int) -> int:
        """Return a whole number from `low` to `high`."""
        return low + int(self._random.random() * (high - low + 1))

    def dyadic(self, low: int, high: int, steps: int = 16) -> Fraction:
        """Return a multiple of 1/steps."""
        return Fraction(self.whole(low * steps, high * steps), steps)

    def several(self, count: int, low: int, high: int, steps: int = 16) -> list[str]:
        """Return texts of dyadic numbers."""
        return [str(self.dyadic(low, high, steps)) for _ in range(count)]

    def bits(self, count: int) -> list[str]:
        """Return zeros and ones, with both among two or more."""
        found = [str(self.whole(0, 1)) for _ in range(count)]
        return [*found[:-1], str(1 - int(found[0]))] if len(set(found)) == 1 < count else found

    def rows(self, count: int, width: int, low: int = 0) -> list[list[str]]:
        """Return rows of multiples of 1/8."""
        return [self.several(width, low, 1, 8) for _ in range(count)]
