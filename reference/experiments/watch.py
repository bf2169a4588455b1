"""Reporting how far the runs are, and collecting what workers return."""

from __future__ import annotations

import warnings
from collections.abc import Generator, Iterator
from typing import Any, Protocol, TypeVar

T = TypeVar("T")


class Watch(Protocol):
    """Is told how many runs there will be, and of each finished one."""

    def expect(self, releases: int) -> None:
        """Say how many there will be."""

    def released(self, name: str) -> None:
        """Count one."""


class Nobody:
    """Shows nothing."""

    def expect(self, releases: int) -> None:
        """Say how many there will be."""

    def released(self, name: str) -> None:
        """Count one."""


NOBODY = Nobody()


def in_turn(outputs: Generator[T, Any, Any]) -> Iterator[T]:
    """Yield what workers return; if the caller stops early, end them without joblib's warning."""
    try:
        for output in outputs:  # noqa: UP028  not delegated: the warning comes with the closing of the inner one
            yield output
    finally:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            outputs.close()
