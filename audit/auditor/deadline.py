"""A limit of time, checked between calls and in every phase: drawing, probes, selection and certification."""

from __future__ import annotations

import math
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TypeVar

Item = TypeVar("Item")


class OutOfTimeError(Exception):
    """The time is over.  If nothing was certified by then, nothing can be said."""

    def __init__(self) -> None:
        super().__init__("the time was over before any draw could certify")


@dataclass(frozen=True)
class Deadline:
    """A moment of the clock, which does not depend on the draws: a run may end there by its anytime bound.

    Parameters
    ----------
    at : float or None
        None for never.
    """

    at: float | None = None

    @classmethod
    def after(cls, seconds: float | None) -> Deadline:
        """Return the deadline this many seconds from now; None gives one that never comes."""
        return cls(None if seconds is None else cls.now() + seconds)

    @staticmethod
    def now() -> float:
        """Return the seconds of a monotonic clock."""
        return time.monotonic()

    @property
    def left(self) -> float:
        """The seconds that are left: 0 if none, infinite for a deadline that never comes."""
        return math.inf if self.at is None else max(0.0, self.at - self.now())

    def leaves(self, seconds: float) -> bool:
        """Return whether this many seconds are left."""
        return self.at is None or self.now() + seconds < self.at

    def before(self, seconds: float) -> Deadline:
        """Return the deadline this many seconds earlier, which leaves them for what comes after it."""
        return Deadline(None if self.at is None else self.at - seconds)

    def within(self, share: float) -> Deadline:
        """Return the moment when this share of the seconds left will have passed."""
        return Deadline(None if self.at is None else self.now() + share * self.left)

    @property
    def passed(self) -> bool:
        """Whether the time is over."""
        return not self.leaves(0.0)

    def check(self) -> None:
        """Raise if the time is over.

        Raises
        ------
        OutOfTimeError
        """
        if self.passed:
            raise OutOfTimeError

    def during(self, items: Iterable[Item]) -> Iterator[Item]:
        """Yield items, checking the clock before each and after the last; raise when the time is over.

        Raises
        ------
        OutOfTimeError
        """
        self.check()
        for item in items:
            yield item
            self.check()


NEVER = Deadline()
"""The deadline of a run without a limit."""
