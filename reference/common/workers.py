"""Worker processes that leave Ctrl-C to their parent and do not outlive it; or a cluster's."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterable
from functools import partial
from threading import Lock
from typing import Any

from joblib import Parallel

from reference.common.processes import end_with
from reference.common.scheduler import Call, Workers, cluster

_one_at_a_time = Lock()


def parallel(workers: int, **settings: Any) -> Any:
    """Return joblib's pool of processes; an interruption reaches the caller alone, as one KeyboardInterrupt.

    Parameters
    ----------
    workers : int
        With one, the work is done in this process.  A cluster's workers (:mod:`reference.common.scheduler`) come
        before it.
    **settings
        Of :class:`joblib.Parallel`.
    """
    machines = cluster()
    if machines is not None:
        return partial(_spread, machines, lazy="return_as" in settings)
    if workers == 1:
        return Parallel(n_jobs=1, **settings)
    return Parallel(n_jobs=workers, backend="loky", initializer=bound, initargs=(os.getpid(),), **settings)


def _spread(machines: Workers, calls: Iterable[Call], *, lazy: bool) -> Any:
    found = machines.in_order((alone, call, {}) for call in calls)
    return found if lazy else list(found)


def alone(function: Callable[..., Any], given: tuple[Any, ...], named: dict[str, Any]) -> Any:
    """Make a call that may use state of the process: a worker of several threads makes one at a time."""
    with _one_at_a_time:
        return function(*given, **named)


def bound(parent: int) -> None:
    """Make a worker ignore interruptions, and end with its parent, however that ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    end_with(parent)
