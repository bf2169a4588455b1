"""How a command ends, and its last message."""

from __future__ import annotations

import contextlib
import errno
import os
import sys
import traceback

from reference.commands.output import output
from reference.commands.start import scarce
from reference.common.exit_codes import EXIT_UNDECIDED, EXIT_USAGE
from reference.common.printable import short_line

FULL = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO})
"""Error numbers of a full disk."""


def close_quietly() -> None:
    """Write nothing more to a pipe that nobody reads, not even when Python ends."""
    with contextlib.suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), output().fileno())


def interrupted(text: str = "") -> int:
    """Say that the command was interrupted; return its exit code."""
    return say(f"interrupted: {text or 'nothing was decided'}", EXIT_UNDECIDED)


def failed(problem: BaseException) -> int:
    """Say what went wrong in the command; return its exit code."""
    if isinstance(problem, OSError) and problem.errno in FULL:
        # drop what Python still buffers of standard output
        close_quietly()
        return say(f"the output cannot be written ({problem.strerror})")
    if _from_interruption(problem):
        return interrupted()
    if said := scarce(problem):
        return say(f"the system ran out of resources ({said}), so nothing was decided", EXIT_UNDECIDED)
    traceback.print_exception(problem)
    return say("the program failed, so nothing was decided; please report this", EXIT_UNDECIDED)


def _from_interruption(problem: BaseException | None) -> bool:
    """Return whether an interruption caused an error: an interrupted import raises its own errors."""
    while problem is not None:
        if isinstance(problem, KeyboardInterrupt):
            return True
        problem = problem.__cause__ or problem.__context__
    return False


def say(text: str, code: int = EXIT_USAGE) -> int:
    """Write one line of bounded length to standard error; return the exit code."""
    with contextlib.suppress(OSError):
        sys.stderr.write(f"error: {short_line(text)}\n")
        sys.stderr.flush()
    return code
