"""Processes that end with the one that started them.  Imports only what Python has."""

from __future__ import annotations

import contextlib
import os
import signal

PR_SET_PDEATHSIG = 1
"""Of prctl(2), Linux: which signal a process gets when its parent is no more."""


def end_with(parent: int) -> None:
    """Have this process killed when the parent that started it is no more, where the system can do that."""
    with contextlib.suppress(ImportError, OSError, AttributeError):
        import ctypes

        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        os.kill(os.getpid(), signal.SIGKILL)
