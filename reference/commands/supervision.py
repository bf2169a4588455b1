"""A parent that watches the process in which a command runs: exit codes 0 and 1 are believed only when reported.

What a command loads, a subject or a library, can end its process where Python sees nothing: `exit` in C, an abort,
`exec`, which makes another program of it.  The parent loads nothing of that.  It ends with the code that the child
reports over a pipe when all is written; where the child ends without, it says that nothing was decided.

This holds against accidents, not against malice: code in the child can read the channel and write to it.
Imports only what Python has.
"""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import time
from dataclasses import dataclass, field
from types import FrameType
from typing import NoReturn

from reference.commands.output import open_closed_streams
from reference.common.exit_codes import EXIT_UNDECIDED
from reference.common.processes import end_with, only_here

PASSED_ON = frozenset(
    getattr(signal, name)
    for name in ("SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT", "SIGUSR1", "SIGUSR2", "SIGALRM")
    if hasattr(signal, name)
)
"""Signals that somebody sends to a program, and means the process that does the work."""

HEARD, RESULT = b"heard", b"ended"
"""The child's messages: it was interrupted; it ended, and its exit code follows."""

SETTLED = 0.05
"""Seconds after which a process has heard a signal, or has it waiting, where a second one is lost in the first."""

ENDING = tuple(getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name))
"""Signals that a command ends at in order: what it started, processes and scratch files, goes with it."""

PATIENCE = 10.0
"""Seconds after which a child that did not end at such a signal is killed."""

LINGERING = 5
"""Whole seconds after which a child that reported a result is ended: a thread may go on for ever."""


class EndedBySignalError(BaseException):
    """A signal of ENDING came.

    Parameters
    ----------
    number : int
    """

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.number = number


@dataclass(frozen=True)
class Channel:
    """The pipe from the child to its parent.

    Parameters
    ----------
    number : int
        Of the end that this process has.
    token : bytes
        Before each message: text written to a wrong number by accident does not start with it.
    child : int
        The process that reports; copies of it do not.
    received : bytearray
    """

    number: int
    token: bytes
    child: int
    received: bytearray = field(default_factory=bytearray)

    @property
    def pipe(self) -> tuple[int, int]:
        """The pipe of the number."""
        found = os.fstat(self.number)
        return found.st_dev, found.st_ino

    def read(self) -> bytearray:
        """Return all that has come so far."""
        with contextlib.suppress(BlockingIOError):
            while block := os.read(self.number, 2**16):
                self.received.extend(block)
        return self.received

    @property
    def interruptions(self) -> int:
        """The number of interruptions that the child has heard."""
        return self.read().count(self.token + HEARD)

    @property
    def code(self) -> int | None:
        """The exit code that was reported first; None before that."""
        _, found, after = bytes(self.read()).partition(self.token + RESULT)
        return after[0] if found and after else None


_TOLD: list[tuple[Channel, tuple[int, int]]] = []
"""In the child: its channel, and what its number led to at first."""


def supervised() -> None:
    """Return in a child, in which the command then runs; this process ends as the child says."""
    open_closed_streams()
    if not hasattr(os, "fork") or _TOLD:
        return
    # one that is ignored, as under nohup, is for neither process; blocked, it would wait here all the same
    heard = {number for number in PASSED_ON if signal.getsignal(number) is not signal.SIG_IGN} | {signal.SIGCHLD}
    before = signal.pthread_sigmask(signal.SIG_BLOCK, heard)
    # where it is ignored, no child can be waited for
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    (reader, writer), token, parent = os.pipe(), os.urandom(16), os.getpid()
    try:
        child = os.fork()
    except OSError as problem:
        sys.stderr.write(f"error: no second process can be started ({problem.strerror}), so nothing was decided\n")
        sys.exit(EXIT_UNDECIDED)
    if child:
        os.close(writer)
        os.set_blocking(reader, False)
        _watch(Channel(reader, token, child), heard)
    os.close(reader)
    os.set_blocking(writer, False)
    channel = Channel(writer, token, os.getpid())
    _TOLD.append((channel, channel.pipe))
    only_here()
    end_with(parent)
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, _interrupted)
    for number in ENDING:
        # one that is ignored stays ignored
        if signal.getsignal(number) is signal.SIG_DFL:
            signal.signal(number, _ended)
    signal.pthread_sigmask(signal.SIG_SETMASK, before)


def leave(code: int) -> NoReturn:
    """End this process with an exit code, which its parent may believe."""
    if _tell(RESULT + bytes([code % 256])):
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGALRM})
        signal.alarm(LINGERING)
    sys.exit(code)


def finish(code: int) -> NoReturn:
    """Leave when all is written.  What is left is Python's: a signal would be a traceback."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    for number in ENDING:
        if signal.getsignal(number) is _ended:
            signal.signal(number, signal.SIG_DFL)
    leave(code)


# --- In the child ----------------------------------------------------------------------------------------------


def _tell(message: bytes) -> bool:
    """Tell the parent, where there is one; return whether that was done."""
    for channel, pipe in _TOLD:
        # a copy of the child is not the child; and another file may have got a number that foreign code closed
        with contextlib.suppress(OSError):
            if channel.child == os.getpid() and channel.pipe == pipe:
                return os.write(channel.number, channel.token + message) > 0
    return False


def _interrupted(_number: int, _frame: FrameType | None) -> NoReturn:
    _tell(HEARD)
    raise KeyboardInterrupt


def _ended(number: int, _frame: FrameType | None) -> NoReturn:
    # a second one must not end the clean-up
    signal.signal(number, signal.SIG_IGN)
    raise EndedBySignalError(number)


# --- In the parent ---------------------------------------------------------------------------------------------


def _watch(channel: Channel, waited: set[signal.Signals]) -> NoReturn:
    """Wait for the end of the child, pass signals on to it, and end."""
    caught, heard, deadline = set(), 0, None
    while True:
        number, to_all = _next_signal(waited, deadline)
        if number == signal.SIGCHLD:
            ended, status = os.waitpid(channel.child, os.WNOHANG)
            if ended:
                break
            continue
        if number is None:
            number, deadline = signal.SIGKILL, None
        elif number in ENDING and deadline is None:
            deadline = time.monotonic() + PATIENCE
        caught.add(number)
        # what a terminal sends reaches a group, and foreign code may have left it
        to_all = to_all and _in_own_group(channel.child)
        if number == signal.SIGINT and not to_all:
            # whoever sends it to the whole group has sent it to the child, too
            time.sleep(SETTLED)
            heard, before = channel.interruptions, heard
            to_all = heard > before
        if number != signal.SIGINT or not to_all:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(channel.child, number)
    code = channel.code
    os._exit(_without_result(os.waitstatus_to_exitcode(status), caught) if code is None else code)


def _next_signal(waited: set[signal.Signals], deadline: float | None) -> tuple[int | None, bool]:
    """Wait for a signal; return it, and whether it came of a terminal, which sends it to the child, too."""
    if not hasattr(signal, "sigwaitinfo"):
        return signal.sigwait(waited), False
    if deadline is None:
        return _sent(signal.sigwaitinfo(waited))
    found = signal.sigtimedwait(waited, max(deadline - time.monotonic(), 0))
    return (None, False) if found is None else _sent(found)


def _in_own_group(child: int) -> bool:
    with contextlib.suppress(ProcessLookupError):
        return os.getpgid(child) == os.getpgrp()
    return False


def _sent(found: signal.struct_siginfo) -> tuple[int, bool]:
    return found.si_signo, found.si_code > 0


def _without_result(ended: int, caught: set[int]) -> int:
    """Say that the child ended without a result, or end as it did by a signal that was meant for both."""
    if -ended in caught:
        if -ended != signal.SIGKILL:
            signal.signal(-ended, signal.SIG_DFL)
            signal.pthread_sigmask(signal.SIG_UNBLOCK, {-ended})
        os.kill(os.getpid(), -ended)
    known = -ended in set(signal.Signals)
    how = f"exit code {ended}" if ended >= 0 else signal.Signals(-ended).name if known else f"signal {-ended}"
    with contextlib.suppress(OSError):
        sys.stderr.write(f"error: the code that was run ended the program ({how}), so nothing was decided\n")
        sys.stderr.flush()
    return EXIT_UNDECIDED
