"""Ctrl-C when a result is nearly there: the draws are made, and the rest takes seconds."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

Made = TypeVar("Made")


def finish(work: Callable[[], Made]) -> tuple[Made, bool]:
    """Return what `work` returns, and whether Ctrl-C came while it ran.

    The first interruption restarts the work: draws must not be lost in the last seconds, and whoever
    is in a hurry presses Ctrl-C again.

    Parameters
    ----------
    work : callable
        Without side effects before its end: it may run twice.

    Raises
    ------
    KeyboardInterrupt
        The second one.
    """
    try:
        return work(), False
    except KeyboardInterrupt:
        return work(), True
