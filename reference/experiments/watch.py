"""Who is told how far the runs are, and how what workers return is taken up."""

from __future__ import annotations

import warnings
from collections.abc import Generator, Iterator
from typing import Any, Protocol, TypeVar

T = TypeVar("T")


class Watch(Protocol):
    """Is told how many runs there will be, and of each that is done."""

    def expect(self, releases: int) -> None:
        """Say how many there will be."""

    def released(self, name: str) -> None:
        """Count one."""


class Nobody:
    """Is told, and shows nothing."""

    def expect(self, releases: int) -> None:
        """Say how many there will be."""

    def released(self, name: str) -> None:
        """Count one."""


NOBODY = Nobody()


def in_turn(outputs: Generator[T, Any, Any]) -> Iterator[T]:
    """Yield what workers return; where the caller stops early, they are ended without joblib's warning."""
    try:
        for output in outputs:  # noqa: UP028  not delegated: the warning comes with the closing of the inner one
            yield output
    finally:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            outputs.close()
