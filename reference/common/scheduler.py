"""Work done by the workers of a dask scheduler; nothing else imports dask."""

from __future__ import annotations

import logging
import signal
import sys
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import CancelledError
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from itertools import count
from multiprocessing import resource_tracker
from threading import Timer
from typing import Any

from reference.common.errors import ClusterError, InputError, MissingExtraError
from reference.common.printable import one_line

LOCAL = "local"
"""Stands for the address of a cluster in this machine, made for one command."""

CONNECTING = 20.0
"""Seconds to wait for a scheduler, and then for a first worker."""

SILENT = 2.0
"""Seconds after which standard error says what is waited for."""

LOOKING = 20.0
"""Seconds after which a call that is waited for has its workers counted."""

RETURNING = 60.0
"""Seconds to wait for a worker where none is left: a scheduler would wait without end."""

FAILURES = (Exception, CancelledError)
"""Exceptions of asking a worker for its result."""

QUIET = {
    "silence_logs": logging.CRITICAL,
    "dashboard_address": "127.0.0.1:0",
    "scheduler_kwargs": {"dashboard": False},
}
"""Settings of a cluster on this machine: no web page, and no fixed port, which may be taken."""

HELP = f"use the workers of a dask scheduler; {LOCAL} starts some here"
"""Help text of `--scheduler`."""

Call = tuple[Callable[..., Any], tuple[Any, ...], dict[str, Any]]
"""A function and its arguments, as :func:`joblib.delayed` makes them."""


@contextmanager
def connected(address: str) -> Iterator[Any]:
    """Yield a client of the scheduler at an address, such as ``tcp://host:8786``, or `local`.

    Raises
    ------
    reference.common.errors.ClusterError
        When there is no scheduler or no worker.
    """
    try:
        import distributed
    except ModuleNotFoundError as problem:
        raise MissingExtraError("--scheduler", "dask.distributed", "scale") from problem
    logging.getLogger("distributed").setLevel(logging.CRITICAL)
    with ExitStack() as opened:
        at = address
        try:
            if at == LOCAL:
                # neither class is typed
                made: Any = distributed.LocalCluster
                with _left_to_this_process():
                    at = opened.enter_context(made(threads_per_worker=1, **QUIET))
            made = distributed.Client
            client = made.__new__(made)
            # close a client whose construction fails: the garbage collector can hang in it
            opened.callback(client.close)
            with _said(f"the scheduler at {address}", CONNECTING):
                client.__init__(at, timeout=CONNECTING)
            opened.enter_context(client)
        except (OSError, ValueError, ImportError) as problem:
            raise ClusterError(f"there is no scheduler at {address}") from problem
        try:
            with _said(f"a worker of the scheduler at {address}", CONNECTING):
                client.wait_for_workers(1, timeout=CONNECTING)
        except TimeoutError as problem:
            raise ClusterError(f"the scheduler at {address} has no worker") from problem
        yield client


@contextmanager
def _said(what: str, seconds: float) -> Iterator[None]:
    """Say on standard error what is waited for, and for how long at most, unless it comes soon."""
    late = Timer(SILENT, lambda: sys.stderr.write(f"note: waiting up to {seconds:g} s for {what}\n"))
    late.start()
    try:
        yield
    finally:
        late.cancel()
        late.join()


@contextmanager
def _left_to_this_process() -> Iterator[None]:
    """Make processes started meanwhile, also later by their threads, leave Ctrl-C to this one."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    # it would lift the mask where it is started
    resource_tracker.ensure_running()
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def explained(problem: BaseException, task: str) -> ClusterError:
    """Turn a failure of a task into one line."""
    name = type(problem).__name__
    if name == "KilledWorker":
        what = f"every worker on {task} was ended: did it run out of memory?"
    elif name in ("CancelledError", "FutureCancelledError", "FuturesCancelledError"):
        what = f"the scheduler went away during {task}"
    else:
        line = one_line((str(problem).splitlines() or [""])[0][:200])
        what = f"a worker failed on {task}: {name}: {line}"
    return ClusterError(what)


@dataclass(frozen=True)
class Workers:
    """The workers of a scheduler; if one dies, another makes its calls, each counted once.

    Parameters
    ----------
    client : object
        A connected ``distributed.Client``.
    """

    client: Any

    @property
    def threads(self) -> int:
        """Calls that they make at once."""
        return max(1, sum(map(int, self.client.ncores().values())))

    def in_order(
        self, calls: Iterable[Call], ahead: int | None = None, names: Iterable[str] | None = None
    ) -> Generator[Any, None, None]:
        """Yield the results of the calls, in their order.

        Parameters
        ----------
        calls : iterable
        ahead : int, optional
            Calls to begin before the caller asks for their results (all).
        names : iterable of str, optional
            What errors call each one (its number).

        Raises
        ------
        reference.common.errors.InputError
            As a call raises it.
        reference.common.errors.ClusterError
        """
        waiting: deque[tuple[str, Any]] = deque()
        try:
            tasks = (f"task {number:,}" for number in count(1)) if names is None else names
            for (function, given, named), task in zip(calls, tasks, strict=False):
                try:
                    waiting.append((task, self.client.submit(function, *given, **named, pure=False)))
                except FAILURES as problem:
                    raise explained(problem, task) from problem
                if len(waiting) == ahead:
                    yield self._result(*waiting.popleft())
            while waiting:
                yield self._result(*waiting.popleft())
        finally:
            self.client.cancel([future for _, future in waiting])

    def _result(self, task: str, future: Any) -> Any:
        while True:
            try:
                return future.result(timeout=LOOKING)
            except InputError:
                raise
            except FAILURES as problem:
                # the call itself may have raised one
                if not isinstance(problem, TimeoutError) or future.status != "pending":
                    raise explained(problem, task) from problem
            try:
                with _said(f"a worker for {task}: none is left", RETURNING):
                    self.client.wait_for_workers(1, timeout=RETURNING)
            except FAILURES as problem:
                raise ClusterError(f"no worker is left for {task}") from problem


_cluster: Workers | None = None


@contextmanager
def on_cluster(address: str | None) -> Iterator[None]:
    """While this is open, let the workers of a scheduler do the spread work; without an address, change nothing.

    Raises
    ------
    reference.common.errors.ClusterError
        When there is no scheduler or no worker.
    """
    global _cluster  # noqa: PLW0603
    if address is None:
        yield
        return
    with connected(address) as client:
        _cluster = Workers(client)
        try:
            yield
        finally:
            _cluster = None


def cluster() -> Workers | None:
    """Return the workers that do the spread work; None where this machine does it."""
    return _cluster
