"""How a command ends, and who may end it: the command itself, and no library or subject that it runs."""

from __future__ import annotations

import contextlib
import errno
import os
import sys
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NoReturn

from reference.commands.output import output
from reference.common.exit_codes import EXIT_UNDECIDED, EXIT_USAGE
from reference.common.printable import short_line

FULL = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO})
"""What a disk says that takes no more."""


@contextmanager
def unfinished_is_undecided() -> Iterator[None]:
    """While this lasts, `os._exit` in this process ends it as undecided: no exit code is a verdict then.

    Worker processes, which are copies of this one, keep what they have.
    """
    end, process = os._exit, os.getpid()
    # the same function stands in `posix`, or `nt`, too
    places = (os, sys.modules[os.name])

    def ended(status: int) -> NoReturn:
        if os.getpid() == process:
            sys.stderr.write("error: the code that was run ended the program, so nothing was decided\n")
            sys.stderr.flush()
            end(EXIT_UNDECIDED)
        end(status)

    for place in places:
        place.__dict__["_exit"] = ended
    try:
        yield
    finally:
        for place in places:
            place.__dict__["_exit"] = end


def keep_code(code: int) -> None:
    """From now on, `os._exit` ends this process with this exit code: what runs last chooses no other."""
    end, process = os._exit, os.getpid()

    def ended(status: int) -> NoReturn:
        end(code if os.getpid() == process else status)

    for place in (os, sys.modules[os.name]):
        place.__dict__["_exit"] = ended


def is_own_ending(problem: BaseException) -> bool:
    """Distinguish an ending that says how, such as by a signal, from one that looks like a verdict."""
    return isinstance(problem, SystemExit) and isinstance(problem.code, int) and problem.code not in (0, 1)


def close_quietly() -> None:
    """Let nothing more be written to a pipe that nobody reads, not even when Python ends."""
    with contextlib.suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), output().fileno())


def interrupted(text: str = "") -> int:
    """Say that the command was interrupted; return its exit code."""
    return say(f"interrupted: {text or 'nothing was decided'}", EXIT_UNDECIDED)


def failed(problem: BaseException) -> int:
    """Say what ended the command otherwise than it should; return its exit code."""
    if isinstance(problem, OSError) and problem.errno in FULL:
        # what Python still holds of standard output goes nowhere
        close_quietly()
        return say(f"the output cannot be written ({problem.strerror})")
    if _from_interruption(problem):
        return interrupted()
    traceback.print_exception(problem)
    return say("the program failed, so nothing was decided; please report this", EXIT_UNDECIDED)


def _from_interruption(problem: BaseException | None) -> bool:
    """Return whether an error came of an interruption: an import that is interrupted raises errors of its own."""
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
