"""The assertions of one test and the draws that they may make: set by the pytest plugin, empty without pytest."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from numbers import Integral
from pathlib import Path
from types import FrameType
from typing import Any, NoReturn

OUR_ROOM = f"{__name__.rpartition('.')[0]}."
"""Begins the names of the modules that stand between a test and its assertion."""


@dataclass(eq=False)
class DrawBudget:
    """The draws that are left of a test's budget, and the number of its assertions.

    Parameters
    ----------
    left : int or None
        None for no limit.
    file : str
        Of the test.
    fail : callable
        Ends the test with these words.
    calls : int
        Assertions so far.
    """

    left: int | None
    file: str
    fail: Callable[[str], NoReturn]
    calls: int = 0

    def spend(self, draws: Any, smallest: int) -> None:
        """Count an assertion, and take its draws from the budget or end the test.

        Parameters
        ----------
        draws : object
            As given: what is no number is refused later, and spends nothing.
        smallest : int
            Fewest draws of an assertion.
        """
        __tracebackhide__ = True
        self.calls += 1
        if self.left is None:
            return
        spent = max(0, int(draws)) if isinstance(draws, Integral) else 0
        if not self.left:
            problem = "no draws are left of the test's budget"
        elif spent > self.left:
            problem = f"{spent:,} draws asked for, {self.left:,} left of the test's budget"
        elif self.left < smallest:
            problem = f"{self.left:,} draws are left of the test's budget, and an audit needs {smallest:,}"
        else:
            self.left -= spent
            return
        self.fail(f"{self.place()}: {problem}: raise audit_draws, or pass lower draws= to each call")

    def place(self) -> str:
        """Return the number of the running assertion, and its line in the test; with a helper, that line, too."""
        frame: FrameType | None = sys._getframe(1)
        while frame is not None and frame.f_globals.get("__name__", "").startswith(OUR_ROOM):
            frame = frame.f_back
        lines = []
        while frame is not None:
            lines.append((frame.f_code.co_filename, frame.f_lineno))
            frame = frame.f_back
        # the innermost made the call, and of the test's file the outermost is the test itself
        made, *outer = (
            f"{Path(file).name}:{line}" for file, line in lines if (file, line) == lines[0] or file == self.file
        )
        within = f"{outer[-1]} (in {made})" if outer else made
        return f"call {self.calls}, at {within}"


BUDGETS: list[DrawBudget | None] = [None]
"""That of the running test is the last one; None outside of tests.  A test may run others in this process."""
