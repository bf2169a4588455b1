"""What ends the auditor must end its programs, too."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import NoReturn

ENDING = (signal.SIGTERM, signal.SIGHUP)
"""Signals that end a process at once, without its clean-up, unless they are handled."""


@contextmanager
def programs_ended_too() -> Iterator[None]:
    """While this lasts, signals that end the auditor end it as `sys.exit` does, so that its programs are killed.

    Programs run in sessions of their own, so the terminal does not reach them.  Nothing helps against SIGKILL: a
    program that still reads then sees the end of its standard input.
    """
    if threading.current_thread() is not threading.main_thread():
        # only the main thread may handle signals
        yield
        return
    # one that is ignored, as under nohup, stays ignored
    handled = [name for name in ENDING if signal.getsignal(name) is signal.SIG_DFL]
    for name in handled:
        signal.signal(name, _end)
    try:
        yield
    finally:
        for name in handled:
            signal.signal(name, signal.SIG_DFL)


def _end(number: int, _frame: FrameType | None) -> NoReturn:
    raise SystemExit(128 + number)
