"""Processes that end with their parent, and copies that end alone.  Imports the standard library only."""

from __future__ import annotations

import contextlib
import os
import signal

from reference.common.exit_codes import EXIT_UNDECIDED

PR_SET_PDEATHSIG = 1
"""Option of prctl(2) on Linux: the signal that a process gets when its parent has ended."""

_ONLY: list[int] = []
"""The process that a command runs in, if it has its own."""


def only_here() -> None:
    """Let only this process write results, whatever copies of it foreign code makes."""
    _ONLY[:] = [os.getpid()]


def has_own_process() -> bool:
    """Return whether the command has a process to itself."""
    return bool(_ONLY)


def end_copy() -> None:
    """End a copy of the process in which the command runs, quietly: its results do not count."""
    if _ONLY and _ONLY[0] != os.getpid():
        os._exit(EXIT_UNDECIDED)


def end_with(parent: int) -> None:
    """Have the system kill this process when its parent ends, where it can."""
    with contextlib.suppress(ImportError, OSError, AttributeError):
        import ctypes

        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        os.kill(os.getpid(), signal.SIGKILL)
