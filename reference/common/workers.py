"""Worker processes that leave Ctrl-C to the program that started them, and do not outlive it."""

from __future__ import annotations

import os
import signal
from typing import Any

from joblib import Parallel

from reference.common.processes import end_with


def parallel(workers: int, **settings: Any) -> Parallel:
    """Return joblib's pool of processes; an interruption reaches the caller alone, as one KeyboardInterrupt.

    Parameters
    ----------
    workers : int
        With one, the work is done in this process.
    **settings
        Of :class:`joblib.Parallel`.
    """
    if workers == 1:
        return Parallel(n_jobs=1, **settings)
    return Parallel(n_jobs=workers, backend="loky", initializer=bound, initargs=(os.getpid(),), **settings)


def bound(parent: int) -> None:
    """Let a worker go on at an interruption, and end with the process that started it, however that ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    end_with(parent)
