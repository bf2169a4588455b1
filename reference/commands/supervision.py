"""A parent that watches the process of a command: it believes exit codes 0 and 1 only when reported.

What a command loads, a subject or a library, can end the process behind Python's back: `exit` in C, an abort,
`exec` of another program.  The parent loads none of that.  It ends with the code that the child
reports over a pipe when all is written; if the child ends without a report, it says that nothing was decided.

This holds against accidents, not against malice: code in the child can read the channel and write to it.
Imports the standard library only.
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
"""Signals that are sent to the program and meant for the process that does the work."""

HEARD, RESULT = b"heard", b"ended"
"""The child's messages: it was interrupted; it ended, and its exit code follows."""

SETTLED = 0.05
"""Seconds after which a process has received a signal, or has it pending, when a second one is lost."""

ENDING = tuple(getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name))
"""Signals at which a command ends in an orderly way, and removes its processes and scratch files."""

PATIENCE = 10.0
"""Seconds after which a child that ignores such a signal is killed."""

LINGERING = 5
"""Whole seconds after which a child that reported a result is ended: its threads may run for ever."""


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
        Of this process's end.
    token : bytes
        Precedes each message: text that ends up here by accident does not start with it.
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
        """The first reported exit code; None before that."""
        _, found, after = bytes(self.read()).partition(self.token + RESULT)
        return after[0] if found and after else None


_TOLD: list[tuple[Channel, tuple[int, int]]] = []
"""In the child: its channel, and what its file descriptor first led to."""


def supervised() -> None:
    """Return in a child, which then runs the command; this process ends as the child says."""
    open_closed_streams()
    if not hasattr(os, "fork") or _TOLD:
        return
    # an ignored signal, as under nohup, is for neither process; blocked, it would stay pending here
    heard = {number for number in PASSED_ON if signal.getsignal(number) is not signal.SIG_IGN} | {signal.SIGCHLD}
    before = signal.pthread_sigmask(signal.SIG_BLOCK, heard)
    # while it is ignored, no child can be waited for
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
        # an ignored signal stays ignored
        if signal.getsignal(number) is signal.SIG_DFL:
            signal.signal(number, _ended)
    signal.pthread_sigmask(signal.SIG_SETMASK, before)


def leave(code: int) -> NoReturn:
    """End this process with an exit code, and report it to its parent."""
    if _tell(RESULT + bytes([code % 256])):
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGALRM})
        signal.alarm(LINGERING)
    sys.exit(code)


def finish(code: int) -> NoReturn:
    """Leave when all is written.  Only Python's exit is left then, in which a signal would give a traceback."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    for number in ENDING:
        if signal.getsignal(number) is _ended:
            signal.signal(number, signal.SIG_DFL)
    leave(code)


# --- In the child ----------------------------------------------------------------------------------------------


def _tell(message: bytes) -> bool:
    """Tell the parent, if there is one; return whether it was told."""
    for channel, pipe in _TOLD:
        # not from a copy of the child; nor if foreign code closed the descriptor and another file has it now
        with contextlib.suppress(OSError):
            if channel.child == os.getpid() and channel.pipe == pipe:
                return os.write(channel.number, channel.token + message) > 0
    return False


def _interrupted(_number: int, _frame: FrameType | None) -> NoReturn:
    _tell(HEARD)
    raise KeyboardInterrupt


def _ended(number: int, _frame: FrameType | None) -> NoReturn:
    if not any(channel.child == os.getpid() for channel, _ in _TOLD):
        # a process that foreign code forked, such as a worker: it ends as it would without us
        signal.signal(number, signal.SIG_DFL)
        os.kill(os.getpid(), number)
    # a second one must not end the clean-up
    signal.signal(number, signal.SIG_IGN)
    raise EndedBySignalError(number)


# --- In the parent ---------------------------------------------------------------------------------------------


def _watch(channel: Channel, waited: set[signal.Signals]) -> NoReturn:
    """Wait for the child to end, passing on signals, and end."""
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
        # a terminal signals its process group, which foreign code may have left
        to_all = to_all and _in_own_group(channel.child)
        if number == signal.SIGINT and not to_all:
            # a signal to the whole group has reached the child, too
            time.sleep(SETTLED)
            heard, before = channel.interruptions, heard
            to_all = heard > before
        if number != signal.SIGINT or not to_all:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(channel.child, number)
    code = channel.code
    os._exit(_without_result(os.waitstatus_to_exitcode(status), caught) if code is None else code)


def _next_signal(waited: set[signal.Signals], deadline: float | None) -> tuple[int | None, bool]:
    """Wait for a signal; return it, and whether it came from a terminal, which also signals the child."""
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
    """Say that the child ended without a result, or end by the same signal if it was meant for both."""
    if -ended in caught:
        if -ended != signal.SIGKILL:
            signal.signal(-ended, signal.SIG_DFL)
            signal.pthread_sigmask(signal.SIG_UNBLOCK, {-ended})
        os.kill(os.getpid(), -ended)
    known = -ended in set(signal.Signals)
    how = f"exit code {ended}" if ended >= 0 else signal.Signals(-ended).name if known else f"signal {-ended}"
    with contextlib.suppress(OSError):
        sys.stderr.write(f"error: the code under test ended the program ({how}), so nothing was decided\n")
        sys.stderr.flush()
    return EXIT_UNDECIDED
