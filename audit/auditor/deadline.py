"""A limit of time, asked between calls and in every phase: drawing, probes, selection and certification."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TypeVar

Item = TypeVar("Item")


class OutOfTimeError(Exception):
    """The time is over.  Where nothing was certified by then, nothing can be said."""

    def __init__(self) -> None:
        super().__init__("the time was over before any draw could certify")


@dataclass(frozen=True)
class Deadline:
    """A moment of the clock; nothing that was drawn moves it.

    So a run that ends there is stopped by a rule that depends on the clock alone, and its anytime bound holds.

    Parameters
    ----------
    at : float or None
        None for never.
    """

    at: float | None = None

    @classmethod
    def after(cls, seconds: float | None) -> Deadline:
        """Return the deadline so many seconds from now; of None one that never comes."""
        return cls(None if seconds is None else cls.now() + seconds)

    @staticmethod
    def now() -> float:
        """Return the seconds of a clock that never goes back."""
        return time.monotonic()

    def leaves(self, seconds: float) -> bool:
        """Return whether so many seconds are left."""
        return self.at is None or self.now() + seconds < self.at

    @property
    def passed(self) -> bool:
        """True if the time is over."""
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
        """Yield items, asking before each of them; raise when the time is over.

        Raises
        ------
        OutOfTimeError
        """
        self.check()
        for item in items:
            yield item
            self.check()


NEVER = Deadline()
"""The deadline of what has no limit."""
