"""Progress on standard error: on a terminal only, and removed when the work is done."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeElapsedColumn


@dataclass
class ReadingPass:
    """One pass over a file: its start, the share read before, its progress, and which pass it is."""

    start: float
    first: float
    records: int = 0
    share: float = 0.0
    number: int = 1

    def text(self, now: float) -> str:
        """Return records a second and the time left, as far as known."""
        seconds = now - self.start
        if seconds <= 0 or self.records == 0:
            return "reading"
        which = f"pass {self.number}: " if self.number > 1 else ""
        said = f"{which}{self.records:,} records read, {self.records / seconds:,.0f} a second"
        if self.share <= self.first:
            return said
        left = round(seconds * (1 - self.share) / (self.share - self.first))
        return f"{said}, {left // 60}:{left % 60:02} left"


@dataclass
class ProgressWatch:
    """Counts releases made and records read.

    Parameters
    ----------
    display : rich.progress.Progress
    task : TaskID
    clock : callable
        Returns seconds.
    """

    display: Progress
    task: TaskID
    clock: Callable[[], float] = time.monotonic
    _pass: ReadingPass | None = None

    def expect(self, releases: int) -> None:
        """Say how many releases there will be."""
        self.display.update(self.task, total=releases, completed=0)

    def released(self, name: str) -> None:
        """Count one release."""
        self.display.update(self.task, advance=1, description=f"fit {name}")

    def read(self, count: int, share: float | None = None) -> None:
        """Count records of a file, and note what share of it has been read."""
        now = self.clock()
        if self._pass is None or (share is not None and share < self._pass.share):
            # how much was read before the first call is unknown: the rate begins with the second
            number = 1 if self._pass is None else self._pass.number + 1
            self._pass = ReadingPass(now, share or 0.0, number=number)
        else:
            self._pass.records += count
        self._pass.share = self._pass.share if share is None else share
        self.display.update(self.task, description=f"fit: {self._pass.text(now)}")


@contextmanager
def watched(*, quiet: bool) -> Iterator[ProgressWatch]:
    """Show progress while the block runs; nothing when `quiet` or when standard error is not a terminal."""
    console = Console(file=sys.stderr)
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    shown = console.is_terminal and not quiet
    with Progress(*columns, console=console, transient=True, disable=not shown) as display:
        yield ProgressWatch(display, display.add_task("fit", total=None))
