"""Ctrl-C where a result is nearly there: the draws are made, and what is left takes seconds."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

Made = TypeVar("Made")


def finish(work: Callable[[], Made]) -> tuple[Made, bool]:
    """Return what `work` returns, and whether Ctrl-C came while it ran.

    An interruption begins the work again, once: what was drawn must not be lost to the last seconds, and one who
    is in a hurry presses a second time.

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
