"""Standard output belongs to the command alone; prints of subjects and libraries go to standard error."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterator
from typing import TextIO

from reference.common.processes import end_copy, has_own_process

_OWN: list[TextIO] = []


def output() -> TextIO:
    """Return where a command writes its result."""
    return _OWN[-1] if _OWN else sys.stdout


def open_closed_streams() -> None:
    """Open the null device in place of each standard stream that the caller closed (``>&-``)."""
    closed = [number for number, stream in enumerate((sys.stdin, sys.stdout, sys.stderr)) if stream is None]
    for number in closed:
        # opens with the lowest free number: this one, unless it is taken
        handle = os.open(os.devnull, os.O_RDWR)
        stream = open(handle, "r" if number == 0 else "w", encoding="utf-8", closefd=False)  # noqa: SIM115
        setattr(sys, ("stdin", "stdout", "stderr")[number], stream)


@contextlib.contextmanager
def own_output() -> Iterator[None]:
    """While open, only :func:`output` leads to standard output, for Python and for C.

    If the command has its own process, nothing does afterwards either: threads and exit handlers still run.
    """
    before = sys.stdout
    with contextlib.ExitStack() as stack:
        own = before
        # under tests that capture the output there may be no file descriptor
        with contextlib.suppress(OSError, ValueError, AttributeError):
            before.flush()
            number, errors = before.fileno(), sys.stderr.fileno()
            own = open(os.dup(number), "w", encoding=before.encoding, errors=before.errors)  # noqa: PTH123, SIM115
            if has_own_process():
                stack.callback(_left, before, number, errors)
                stack.callback(own.close)
            else:
                stack.callback(_restored, own, number)
            os.dup2(errors, number)
        _OWN.append(own)
        stack.callback(_OWN.pop)
        stack.enter_context(contextlib.redirect_stdout(sys.stderr))
        try:
            yield
        finally:
            end_copy()


def _restored(own: TextIO, number: int) -> None:
    os.dup2(own.fileno(), number)
    own.close()


def _left(before: TextIO, number: int, errors: int) -> None:
    """Leave standard output to foreign code, but lead it elsewhere."""
    try:
        os.dup2(errors, number)
        before.flush()
    except (OSError, ValueError):
        with contextlib.suppress(OSError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), number)
