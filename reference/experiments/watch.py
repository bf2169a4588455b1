"""Who is told how far the runs are: the command line shows it, a library call does not."""

from __future__ import annotations

from typing import Protocol


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
