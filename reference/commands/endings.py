"""Who may end this process: the command itself, and no library or subject that it runs."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NoReturn

from reference.common.exit_codes import EXIT_UNDECIDED


@contextmanager
def unfinished_is_undecided() -> Iterator[None]:
    """While this lasts, `os._exit` in this process ends it as undecided: no exit code is a verdict then.

    Worker processes, which are copies of this one, keep what they have.
    """
    end, process = os._exit, os.getpid()

    def ended(status: int) -> NoReturn:
        if os.getpid() == process:
            sys.stderr.write("error: the code that was run ended the program, so nothing was decided\n")
            sys.stderr.flush()
            end(EXIT_UNDECIDED)
        end(status)

    os._exit = ended
    try:
        yield
    finally:
        os._exit = end


def is_own_ending(problem: BaseException) -> bool:
    """Tell an ending that says how, such as by a signal, from one that would look like a verdict."""
    return isinstance(problem, SystemExit) and isinstance(problem.code, int) and problem.code not in (0, 1)
