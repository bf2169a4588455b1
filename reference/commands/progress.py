"""Progress on standard error: on a terminal only, and removed when the work is done."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from tqdm import tqdm

from reference.commands import terminal
from reference.common.printable import one_line

COUNT, SHARE = "{desc} {bar} {n_fmt}/{total_fmt} {elapsed}", "{desc} {bar} {percentage:.0f}% {elapsed}"
"""What a bar says besides its description."""


class ProgressBar(tqdm):  # type: ignore[type-arg]  # generic in its stubs only
    """A bar on standard error: on a terminal only, and removed when the work is done.

    Parameters
    ----------
    description : str
    total : int, optional
    says : str
        Of :data:`COUNT` and :data:`SHARE`.
    quiet : bool
        Show nothing.
    """

    def __init__(
        self, description: str, total: int | None = None, says: str = COUNT, *, quiet: bool = False
    ) -> None:
        super().__init__(
            desc=one_line(description),
            total=total,
            bar_format=says,
            file=sys.stderr,
            disable=quiet or not sys.stderr.isatty(),
            leave=False,
            # a terminal may say that it has no rows, and would be shown nothing
            ncols=terminal.width(sys.stderr),
            nrows=20,
            # the description may change while nothing is counted
            miniters=0,
        )

    def advance(self, count: int) -> None:
        """Count so many more."""
        self.update(count)


def say_above(text: str) -> None:
    """Write a line on standard error, above the bar if there is one."""
    tqdm.write(text, file=sys.stderr)


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
    shown : ProgressBar
    clock : callable
        Returns seconds.
    """

    shown: ProgressBar
    clock: Callable[[], float] = time.monotonic
    _pass: ReadingPass | None = None

    def expect(self, releases: int) -> None:
        """Say how many releases there will be."""
        self.shown.reset(releases)

    def released(self, name: str) -> None:
        """Count one release."""
        self.shown.set_description_str(f"fit {one_line(name)}", refresh=False)
        self.shown.update()

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
        self.shown.set_description_str(f"fit: {self._pass.text(now)}", refresh=False)
        self.shown.update(0)


@contextmanager
def watched(*, quiet: bool) -> Iterator[ProgressWatch]:
    """Show progress while the block runs; nothing when `quiet` or when standard error is not a terminal."""
    with ProgressBar("fit", quiet=quiet) as shown:
        yield ProgressWatch(shown)
