"""Worker processes that leave Ctrl-C to the program that started them."""

from __future__ import annotations

import signal
from typing import Any

from joblib import Parallel


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
    return Parallel(n_jobs=workers, backend="loky", initializer=ignore_interruption, **settings)


def ignore_interruption() -> None:
    """Let a worker go on: who started it ends it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
