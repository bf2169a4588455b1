"""Standard output belongs to the command alone: what a subject or a library prints goes to standard error."""

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
    """Let a standard stream that the caller closed (``>&-``) lead nowhere, and no file get its number."""
    closed = [number for number, stream in enumerate((sys.stdin, sys.stdout, sys.stderr)) if stream is None]
    for number in closed:
        # the lowest number that is free: this one, where nothing has taken it
        handle = os.open(os.devnull, os.O_RDWR)
        stream = open(handle, "r" if number == 0 else "w", encoding="utf-8", closefd=False)  # noqa: SIM115
        setattr(sys, ("stdin", "stdout", "stderr")[number], stream)


@contextlib.contextmanager
def own_output() -> Iterator[None]:
    """While this lasts, only :func:`output` leads to standard output, for Python and for code in C.

    Where the command has a process of its own nothing does after it: threads and what runs at the end go on.
    """
    before = sys.stdout
    with contextlib.ExitStack() as stack:
        own = before
        # where tests catch the output, there may be no number of a file
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
