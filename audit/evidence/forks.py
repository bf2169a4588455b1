"""A process as it was before the first draw, of which copies draw on request."""

from __future__ import annotations

import contextlib
import hashlib
import os
import random
import re
import signal
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing import Pipe
from typing import TYPE_CHECKING, Any

import numpy as np

from audit.auditor.events.mixed import Pair
from audit.auditor.subject import Subject
from audit.common.keys import key_of
from reference.common.arrays import FloatArray
from reference.common.processes import end_with

if TYPE_CHECKING:
    from multiprocessing.connection import Connection

MOST_VALUES = 2**20
"""Numbers in one of these calls: wide outputs are fewer."""


@dataclass(frozen=True)
class CopyRequest:
    """The draws that a copy makes on each input.

    Parameters
    ----------
    calls, per_call : int
        Calls, whose first output is sent back, and outputs of each.
    more : int
        Outputs of one further call, all sent back; 0 for none.
    width : int
        Coordinates of these, the first ones.
    in_turn : bool
        Whether every second copy draws on right first.  Then two copies with one generator may differ.
    """

    calls: int
    per_call: int
    more: int
    width: int
    in_turn: bool = False


@dataclass(frozen=True, eq=False)
class CopyOutputs:
    """The outputs of one copy on both inputs: the first of each call, and those of one long call.

    Parameters
    ----------
    firsts, more : pair of ndarray
    began : int
        The input that it drew on first.
    inputs : tuple of str
        Digests of them.
    """

    firsts: Pair
    more: Pair
    began: int
    inputs: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class Copies:
    """A process as it was before the first draw, which makes copies of itself on request.

    Parameters
    ----------
    pipe : multiprocessing.connection.Connection
    """

    pipe: Connection[Any, Any]

    @property
    def lost(self) -> bool:
        """Whether an answer did not come in time: then nothing more is asked."""
        return self.pipe.closed

    def draw(self, entropy: int, asked: CopyRequest, patience: float, number: int) -> list[CopyOutputs]:
        """Return the answers of up to `number` copies that came in time; after a timeout the pipe is closed."""
        found = []
        deadline = time.monotonic() + patience
        for copy in range(number):
            try:
                self.pipe.send(((entropy, copy), asked))
                if not self.pipe.poll(max(0.0, deadline - time.monotonic())):
                    # its answer would be taken for that to another request
                    self.pipe.close()
                    break
                answer = self.pipe.recv()
            except (OSError, EOFError):
                self.pipe.close()
                break
            if answer is not None:
                found.append(answer)
        return found


def distinct(drawn: Sequence[CopyOutputs]) -> list[CopyOutputs]:
    """Return the copies without those that repeat another's bits, whose generator they have in common."""
    return list({b"".join(side.tobytes() for side in (*one.firsts, *one.more)): one for one in drawn}.values())


@contextmanager
def copied(make: Callable[[], Subject]) -> Iterator[Copies | None]:
    """Make a waiting copy of this process; None if the system cannot copy processes.

    Parameters
    ----------
    make : callable
        Builds the subject; called in each copy.
    """
    if not hasattr(os, "fork"):
        yield None
        return
    (ours, theirs), parent = Pipe(), os.getpid()
    with warnings.catch_warnings():
        # Python 3.12 warns of threads: a copy that hangs because of one runs out of time, and is ended
        warnings.simplefilter("ignore", DeprecationWarning)
        child = os.fork()
    if not child:
        ours.close()
        _alone(parent, lambda: _serve(theirs, make))
    theirs.close()
    try:
        yield Copies(ours)
    finally:
        ours.close()
        with contextlib.suppress(ProcessLookupError, ChildProcessError):
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)


# --- In the copies ---------------------------------------------------------------------------------------------


def _alone(parent: int, work: Callable[[], None]) -> None:
    """Do the work, and end this process, so that nothing of its original runs twice."""
    with contextlib.suppress(BaseException):
        end_with(parent)
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        for number in (signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, signal.SIG_DFL)
        nowhere = os.open(os.devnull, os.O_RDWR)
        for stream in (0, 1, 2):
            os.dup2(nowhere, stream)
        work()
    os._exit(0)


def _serve(pipe: Connection[Any, Any], make: Callable[[], Subject]) -> None:
    """Let a new copy answer each request."""
    while True:
        seed, asked = pipe.recv()
        parent, (answered, answer) = os.getpid(), Pipe(duplex=False)
        child = os.fork()
        if not child:
            _alone(parent, lambda: answer.send(_outputs(make, seed, asked)))  # noqa: B023
        answer.close()
        try:
            drawn = answered.recv()
        except EOFError:
            drawn = None
        answered.close()
        os.waitpid(child, 0)
        pipe.send(drawn)


def _outputs(make: Callable[[], Subject], seed: tuple[int, int], asked: CopyRequest) -> CopyOutputs:
    """Return the outputs that are asked for."""
    # the process's global generators must not repeat the original's draws
    shared = np.random.SeedSequence(seed).generate_state(1)
    np.random.seed(shared)  # noqa: NPY002
    random.seed(int(shared[0]))
    subject = make()
    given, began = subject.inputs(), seed[1] % 2 if asked.in_turn else 0
    sides: dict[int, tuple[FloatArray, FloatArray]] = {}
    for side in (began, 1 - began):
        streams = [(*seed, side, call) for call in range(asked.calls)]
        calls = [outputs_of_call(subject, given[side], asked.per_call, stream)[:1] for stream in streams]
        more = min(asked.more, MOST_VALUES // calls[0].shape[1])
        later = outputs_of_call(subject, given[side], more, (*seed, side, asked.calls))
        sides[side] = np.concatenate(calls), later[:, : asked.width]
    return CopyOutputs((sides[0][0], sides[1][0]), (sides[0][1], sides[1][1]), began, told_apart(given))


def told_apart(inputs: Sequence[Any]) -> tuple[str, ...]:
    """Return digests of the inputs; where an object lies in memory tells nothing."""
    told = (re.sub(" at 0x[0-9a-f]+", "", repr(key_of(given))) for given in inputs)
    return tuple(hashlib.blake2b(one.encode()).hexdigest() for one in told)


def outputs_of_call(subject: Subject, given: Any, rows: int, stream: tuple[int, ...]) -> FloatArray:
    """Return the outputs of one call, with its own generator."""
    if not rows:
        return np.empty((0, 1))
    rng = np.random.default_rng(np.random.SeedSequence(stream[:-2], spawn_key=stream[-2:]))
    return np.asarray(subject.sample(given, rows, rng), dtype=np.float64)
