"""Progress on standard error: shown on a terminal only, and gone when the work is done."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeElapsedColumn


@dataclass
class ProgressWatch:
    """Counts releases made and records read.

    Parameters
    ----------
    display : rich.progress.Progress
    task : TaskID
    records : int
        Records of files read so far, every pass counted.
    """

    display: Progress
    task: TaskID
    records: int = 0

    def expect(self, releases: int) -> None:
        """Say how many releases there will be."""
        self.display.update(self.task, total=releases, completed=0)

    def released(self, name: str) -> None:
        """Count one release."""
        self.display.update(self.task, advance=1, description=f"fit {name}")

    def read(self, count: int) -> None:
        """Count records of a file."""
        self.records += count
        self.display.update(self.task, description=f"fit: {self.records:,} records read")


@contextmanager
def watched(*, quiet: bool) -> Iterator[ProgressWatch]:
    """Show progress while the block runs; nothing when `quiet` or when standard error is no terminal."""
    console = Console(file=sys.stderr)
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    shown = console.is_terminal and not quiet
    with Progress(*columns, console=console, transient=True, disable=not shown) as display:
        yield ProgressWatch(display, display.add_task("fit", total=None))
