"""The test that is running and its assertions: set by the pytest plugin, empty without pytest."""

from __future__ import annotations

import sys
import sysconfig
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from numbers import Integral
from pathlib import Path
from types import FrameType, TracebackType
from typing import Any, NoReturn, Self

OUR_ROOM = f"{__name__.rpartition('.')[0]}."
"""Prefix of the modules to skip when looking for the caller's line."""

KEEPERS = ("threading.", "concurrent.futures.", "multiprocessing.")
"""Modules, and those inside them, that end threads: what is raised in one reaches nobody who does not ask."""

TELLING = ("_thread", "threading", "_pytest.threadexception")
"""Modules whose `threading.excepthook` fails no test; any other may be the test's own, which sees what it gets."""

ADVICE = (
    "it was not raised in the test: ask for future.result() (exception() and callbacks do not count), or catch it "
    "in the thread"
)
"""What to do about an exception that ended a thread."""

OF_PYTHON = (f"{sysconfig.get_path('stdlib')}/", "<frozen ")
"""Prefixes of the files of Python itself, but for what is installed there: they start threads."""


@dataclass(eq=False)
class RunningTest:
    """A test, with the draws that are left to it.

    Parameters
    ----------
    left : int or None
        None for no limit.
    file : str
        Of the test.
    fail : callable
        Ends the test with these words.
    begun, ended : int
        Calls so far.
    elsewhere : list
        What calls raised in other threads than that of the test, and the hook that a thread would end by.
    """

    left: int | None
    file: str
    fail: Callable[[str], NoReturn]
    lock: Any = field(default_factory=threading.Lock)
    begun: int = 0
    ended: int = 0
    elsewhere: list[tuple[Assertion, BaseException, Callable[..., object]]] = field(default_factory=list)
    thread: int = field(default_factory=threading.get_ident)

    def begin(self) -> Assertion:
        """Return the next assertion, which the caller makes."""
        with self.lock:
            self.begun += 1
            return Assertion(self, self.begun, self._place())

    @property
    def unseen(self) -> str | None:
        """What a call raised in a thread that ended by it, or a call that goes on; and what to do."""
        for call, problem, hook in self.elsewhere:
            # whoever catches an exception, or has it raised again, is the outermost in its trace
            outermost = problem.__traceback__
            caught_by = "" if outermost is None else str(outermost.tb_frame.f_globals.get("__name__"))
            told = caught_by == threading.__name__ and not _is_usual(hook)
            if f"{caught_by}.".startswith(KEEPERS) and not told:
                said = str(problem)
                # an assertion names its call itself
                return f"in another thread: {said if str(call) in said else f'{call}: {said}'}\n  {ADVICE}"
        if (going := self.begun - self.ended) > 0:
            return f"{going:,} of {self.begun:,} calls had not ended when the test did: wait for the thread"
        return None

    def _place(self) -> str | None:
        """Return the line of the running call in the test; with a helper, that line, too."""
        frame: FrameType | None = sys._getframe(1)
        lines = []
        while frame is not None:
            file, module = frame.f_code.co_filename, str(frame.f_globals.get("__name__"))
            own = module.startswith(OUR_ROOM)
            if not own and ("-packages" in file or not file.startswith(OF_PYTHON)):
                lines.append((file, frame.f_lineno))
            frame = frame.f_back
        # the innermost made the call, and of the test's file the outermost is the test itself
        shown = [
            f"{Path(file).name}:{line}" for file, line in lines if (file, line) == lines[0] or file == self.file
        ]
        if not shown:
            return None
        made, *outer = shown
        return f"{outer[-1]} (in {made})" if outer else made


@dataclass(frozen=True, eq=False)
class Assertion:
    """One assertion of a test.

    Parameters
    ----------
    test : RunningTest
    number : int
        From 1.
    place : str or None
        Its line; None in a thread that no code of the test started.
    """

    test: RunningTest
    number: int
    place: str | None

    def __enter__(self) -> Self:
        """Begin."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, problem: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Keep what is raised in another thread, where the test may not see it."""
        with self.test.lock:
            self.test.ended += 1
            if problem is not None and threading.get_ident() != self.test.thread:
                self.test.elsewhere.append((self, problem, threading.excepthook))

    def __str__(self) -> str:
        """Return the number, and the line."""
        return f"call {self.number}" + ("" if self.place is None else f", at {self.place}")

    def spend(self, draws: Any, smallest: int) -> None:
        """Take draws from what is left to the test, or end the test.

        Parameters
        ----------
        draws : object
            As given: what is no number is refused later, and takes nothing.
        smallest : int
            Fewest draws of an assertion.
        """
        __tracebackhide__ = True
        with self.test.lock:
            left = self.test.left
            if left is None:
                return
            spent = max(0, int(draws)) if isinstance(draws, Integral) else 0
            if not left:
                problem = "no draws are left of the test's budget"
            elif spent > left:
                problem = f"{spent:,} draws asked for, {left:,} left of the test's budget"
            elif left < smallest:
                problem = f"{left:,} draws are left of the test's budget, and an audit needs {smallest:,}"
            else:
                self.test.left = left - spent
                return
        self.test.fail(f"{self}: {problem}: raise audit_draws, or pass lower draws= to each call")


def _is_usual(hook: Callable[..., object]) -> bool:
    """Return whether a `threading.excepthook` is Python's or pytest's."""
    return getattr(getattr(hook, "func", hook), "__module__", None) in TELLING


RUNNING: list[RunningTest | None] = [None]
"""The running test is the last one; None outside of tests.  A test may run others in this process."""
