"""One running program: a question goes in, one answer comes out, in bounded time and memory."""

from __future__ import annotations

import os
import selectors
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Protocol

from audit.auditor.deadline import NEVER, Deadline, OutOfTimeError
from audit.subjects.programs.errors import (
    ProgramEndedError,
    ProgramStartError,
    ProgramTimeoutError,
    UnaskedOutputError,
)
from reference.common.printable import printable, shown

LAUNCHER = Path(__file__).with_name("launch.py")

READ_BYTES = 2**16
"""Bytes read from a pipe at a time."""

STDERR_BYTES = 2_000
"""Bytes kept of the end of the standard error."""

WAKE = 0.2
"""Seconds between two checks whether the program still runs."""

LAST_WORDS = 2.0
"""Seconds for a program that closed its output to end, so that its exit code is known."""

GRACE = 1.0
"""Seconds for a program to end by itself when its standard input is closed."""


@dataclass(frozen=True)
class ProgramLimits:
    """The limits of one process of a program.

    Parameters
    ----------
    timeout : float
        Seconds per answer.
    memory_limit : int or None
        Bytes of writable memory (RLIMIT_DATA), for each process of the program.
    deadline : Deadline
        No answer is waited for after it.
    """

    timeout: float = 60.0
    memory_limit: int | None = None
    deadline: Deadline = NEVER

    @property
    def patience(self) -> float:
        """Seconds to wait for an answer now."""
        return min(self.timeout, self.deadline.left)


BUFFERED = (
    "; a program that buffers its input waits for more than one line, and one that buffers its output keeps the "
    "answer: flush it (fflush), or start it by `stdbuf -oL` or, for mawk, with -W interactive"
)
"""Why a program that works by itself may seem to hang here."""


class Framing(Protocol):
    """The rule that finds the end of an answer."""

    @property
    def expected(self) -> str:
        """The expected answer, in words."""
        ...

    def end(self, received: bytearray, searched: int) -> int | None:
        """Return where the answer ends in the bytes received; None if it is incomplete."""
        ...


class Process:
    """A running program in its own process group.

    Standard error is read while waiting for an answer, and only its end is kept, so a program that floods it
    neither blocks nor fills the memory.

    Parameters
    ----------
    command : sequence of str
        The program and its arguments; no shell sees them.
    limits : ProgramLimits
    """

    def __init__(self, command: Sequence[str], limits: ProgramLimits) -> None:
        self.limits = limits
        self._child, self._lifeline = started(command, limits.memory_limit, bufsize=0)
        self._stdin, self._stdout, self._stderr = (
            _not_blocking(pipe) for pipe in (self._child.stdin, self._child.stdout, self._child.stderr)
        )
        self._tail = bytearray()
        self._busy = threading.Lock()
        self._ending = threading.Lock()
        self._ended = False

    @property
    def stderr(self) -> str:
        """The end of what the program wrote to its standard error, in one line of printable characters."""
        lines = [printable(line) for line in bytes(self._tail[-STDERR_BYTES:]).splitlines()]
        return " | ".join(line for line in lines if line)

    def exchange(self, request: bytes, framing: Framing) -> bytes:
        """Send a question and return the whole answer.

        Raises
        ------
        ProgramError
            The process must then be killed: what it will write next is unknown.
        audit.auditor.deadline.OutOfTimeError
            When the deadline came before the answer; likewise.
        """
        with self._busy:
            if self._ended:
                raise ProgramEndedError("was ended before this request")
            unasked = _available(self._stdout)
            if unasked:
                raise UnaskedOutputError(f"wrote {shown(unasked)} before it was asked")
            received = bytearray()
            try:
                end = self._receive(memoryview(request), received, framing)
            except EOFError:
                happened = f"{self._end_in_words()} {_progress(received)}"
                raise ProgramEndedError(happened, framing.expected) from None
            except TimeoutError:
                if self.limits.deadline.passed:
                    raise OutOfTimeError from None
                raise ProgramTimeoutError(
                    f"gave no whole answer within {self.limits.timeout:g} s ({_progress(received)})",
                    f"{framing.expected}, flushed; --timeout allows more{BUFFERED}",
                ) from None
            more = received[end:]
            if more:
                raise UnaskedOutputError(f"wrote {shown(more)} after its answer", "one answer per request")
            return bytes(received)

    def _receive(self, unsent: memoryview, received: bytearray, framing: Framing) -> int:
        """Send a question while receiving the answer; return where the answer ends.

        Raises
        ------
        EOFError, TimeoutError, AnswerError, UnaskedOutputError
        """
        deadline = time.monotonic() + self.limits.patience
        with selectors.DefaultSelector() as selector:
            selector.register(self._stdin, selectors.EVENT_WRITE)
            selector.register(self._stdout, selectors.EVENT_READ)
            selector.register(self._stderr, selectors.EVENT_READ)
            while True:
                remaining = deadline - time.monotonic()
                if remaining <= 0:
                    raise TimeoutError
                ready = {key.fileobj for key, _ in selector.select(min(WAKE, remaining))}
                if self._stderr in ready and not self._keep_stderr():
                    selector.unregister(self._stderr)
                if self._stdin in ready:
                    unsent = unsent[self._send(unsent) :]
                    if not unsent:
                        selector.unregister(self._stdin)
                if self._stdout in ready:
                    searched = self._read_into(received)
                    end = framing.end(received, searched)
                    if end is not None and unsent:
                        raise UnaskedOutputError(f"wrote {shown(received)} before it had read the request")
                    if end is not None:
                        return end
                elif not ready and self._status() is not None:
                    # ended, while its own child holds the pipe open
                    raise EOFError

    def finish(self) -> None:
        """Close the program's standard input and wait a little for its end.

        Raises
        ------
        UnaskedOutputError
            When it wrote anything unasked.
        """
        self._stdin.close()
        deadline = time.monotonic() + GRACE
        while self._status() is None and time.monotonic() < deadline:
            self._keep_stderr()
            if unasked := _available(self._stdout):
                raise UnaskedOutputError(f"wrote {shown(unasked)} after its last answer")
            time.sleep(0.005)
        if unasked := _available(self._stdout):
            raise UnaskedOutputError(f"wrote {shown(unasked)} after its last answer")

    def kill(self) -> None:
        """End the program and all that it started in its process group; calling it again does nothing."""
        with self._ending:
            if self._ended:
                return
            self._ended = True
            # the child is not reaped yet, so its number still names its own group
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(self._child.pid, signal.SIGKILL)
            # another thread that waits for an answer sees the end first
            with self._busy:
                self._child.wait()
                deadline = time.monotonic() + WAKE
                while self._keep_stderr() and time.monotonic() < deadline:
                    time.sleep(0.001)
                for pipe in (self._stdin, self._stdout, self._stderr, self._lifeline):
                    with suppress(OSError):
                        pipe.close()

    def _read_into(self, received: bytearray) -> int:
        """Append the available bytes; return how many there were before."""
        before = len(received)
        block = self._stdout.read(READ_BYTES)
        if block == b"":
            raise EOFError
        received += block or b""
        return before

    def _send(self, unsent: memoryview) -> int:
        """Return how many bytes were sent; if nobody reads them, all: the missing answer will show it."""
        try:
            return self._stdin.write(unsent) or 0
        except BrokenPipeError:
            return len(unsent)

    def _keep_stderr(self) -> bool:
        """Read the available bytes; return whether there can be more."""
        block = self._stderr.read(READ_BYTES)
        self._tail = (self._tail + (block or b""))[-STDERR_BYTES:]
        return block != b""

    def _status(self) -> tuple[int, int] | None:
        """Return how the child ended, as (code, status) of waitid; None while it runs.  It is not reaped."""
        found = os.waitid(os.P_PID, self._child.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT)
        return None if found is None else (found.si_code, found.si_status)

    def _end_in_words(self) -> str:
        deadline = time.monotonic() + LAST_WORDS
        while (ended := self._status()) is None and time.monotonic() < deadline:
            time.sleep(0.005)
        if ended is None:
            return "closed its standard output"
        code, status = ended
        limit = self.limits.memory_limit
        under = "" if limit is None else f" under a memory limit of {limit:,} bytes"
        if code == os.CLD_EXITED:
            return f"ended with exit code {status}{under}"
        known = status in set(signal.Signals)
        return f"was ended by signal {signal.Signals(status).name if known else status}{under}"


def started(
    command: Sequence[str], memory_limit: int | None = None, *, bufsize: int = -1
) -> tuple[subprocess.Popen[bytes], IO[bytes]]:
    """Return the process and the end of a pipe; when that is closed, by whatever, the program is killed.

    Raises
    ------
    ProgramStartError
    """
    try:
        if shutil.which(command[0]) is not None:
            held, lifeline = os.pipe()
            try:
                words = [str(LAUNCHER), str(memory_limit or 0), str(held)]
                child = subprocess.Popen(
                    [sys.executable, "-I", "-S", *words, *command],
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.PIPE,
                    bufsize=bufsize,
                    start_new_session=True,
                    pass_fds=(held,),
                )
            except BaseException:
                os.close(lifeline)
                raise
            finally:
                os.close(held)
            return child, os.fdopen(lifeline, "wb", buffering=0)
    except (OSError, ValueError) as problem:
        # too many processes, too long a command, a null character in a word
        raise ProgramStartError(f"{shown(command[0])} cannot be started ({problem})") from problem
    local = f"./{command[0]}"
    hint = f"; did you mean {local}?" if "/" not in command[0] and shutil.which(local) is not None else ""
    raise ProgramStartError(f"{shown(command[0])} was not found, or is not executable{hint}")


def _not_blocking(pipe: IO[bytes] | None) -> IO[bytes]:
    if pipe is None:
        raise ValueError("all three streams are pipes")
    os.set_blocking(pipe.fileno(), False)
    return pipe


def _available(pipe: IO[bytes]) -> bytes:
    return pipe.read(READ_BYTES) or b""


def _progress(received: bytearray) -> str:
    return f"after {len(received):,} bytes of an answer" if received else "without an answer"
