"""The draws that one test may make: set by the pytest plugin, kept by each assertion, and empty without pytest."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from numbers import Integral
from typing import Any, NoReturn


@dataclass(eq=False)
class DrawBudget:
    """The draws that are left of a test's budget.

    Parameters
    ----------
    left : int
    fail : callable
        Ends the test with these words.
    """

    left: int
    fail: Callable[[str], NoReturn]

    def spend(self, draws: Any, smallest: int) -> None:
        """Take an assertion's draws from the budget, or end the test.

        Parameters
        ----------
        draws : object
            As given: what is no number is refused later, and spends nothing.
        smallest : int
            Fewest draws of an assertion.
        """
        __tracebackhide__ = True
        if not self.left:
            self.fail("no draws are left of the test's budget: pass draws= to each call")
        spent = max(0, int(draws)) if isinstance(draws, Integral) else 0
        if spent > self.left:
            self.fail(f"{spent:,} draws asked for, {self.left:,} left of the test's budget")
        if self.left < smallest:
            self.fail(f"{self.left:,} draws are left of the test's budget, and an audit needs {smallest:,}")
        self.left -= spent


BUDGETS: list[DrawBudget | None] = [None]
"""The budget of the running test is the last one; None for no limit.  A test may run others in this process."""
