"""A file read by several processes or machines.

A part is some row groups of a Parquet file; the parts depend on the file alone.  A worker checks and encodes the
records of a part, and answers with their sum; the answers are added in the order of the parts.  So
neither the number of workers, nor who did what, nor a lost worker changes a bit.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, closing
from dataclasses import dataclass, field
from functools import partial, reduce
from operator import add
from pathlib import Path
from typing import TypeVar

from reference.common.errors import ClusterError, EmptyDataError, UnreadableFileError
from reference.common.scheduler import Call, Workers, connected
from reference.datasets.file_identity import FileIdentity
from reference.datasets.from_file import FileReader
from reference.datasets.opening import open_table
from reference.datasets.table import Place, unchanged
from reference.domain.file import DomainFile
from reference.moments import Moments, sum_of
from reference.records import Records

PART_ROWS = 2**21
"""A part has at least this many records, except the last one of a file."""

_Sum = TypeVar("_Sum")


@dataclass(frozen=True)
class FilePart:
    """Some consecutive records of a file, for a worker.

    Parameters
    ----------
    file : FileIdentity
    declared : DomainFile
    start : Place
    stop : int
        The record after the last one.
    rows : int
        Read at a time.
    called : str
        The file's name, where there are several.
    """

    file: FileIdentity
    declared: DomainFile
    start: Place
    stop: int
    rows: int
    called: str = ""

    def __len__(self) -> int:
        return self.stop - self.start.record

    @property
    def text(self) -> str:
        """Which records these are, for messages."""
        return f"rows {self.start.record:,} to {self.stop - 1:,}" + f" of {self.called}" * bool(self.called)

    def blocks(self) -> Iterator[Records]:
        """Read the part where it is now; the file there must be the same."""
        path = Path(self.file.path)
        table = open_table(path)
        with unchanged(path):
            here = FileIdentity.of(path)
            if (here.size, here.ends) != (self.file.size, self.file.ends):
                raise UnreadableFileError("a worker sees another file at this path", file=str(path))
            reader = FileReader(table, self.declared, self.rows)
            # a scheduler gives one core to each call
            for records, _ in reader.placed(Place(record=self.start.record), self.stop, ahead=False):
                yield records


def answer(part: FilePart, work: Callable[[Iterable[Records]], _Sum]) -> _Sum:
    """Work on a part: what a worker runs."""
    return work(part.blocks())


@dataclass
class Cluster:
    """A scheduler and its workers; the first use connects.

    Parameters
    ----------
    address : str
        Of a scheduler, such as ``tcp://host:8786``, or `local`.
    part_rows : int
    """

    address: str
    part_rows: int = PART_ROWS
    _workers: Workers | None = None
    _open: ExitStack = field(default_factory=ExitStack)

    def __enter__(self) -> Cluster:
        return self

    def __exit__(self, *_: object) -> None:
        self._open.close()

    def fold(self, reader: FileReader, work: Callable[[Iterable[Records]], _Sum]) -> _Sum:
        """Return the sum of a piece of work over all parts of a file.

        Raises
        ------
        reference.common.errors.ClusterError
            When there is no scheduler or no worker, or a part kills every worker that reads it.
        reference.common.errors.DataError
            As reading raises it; of several bad records the first part's.
        """
        with unchanged(*reader.table.paths):
            found: _Sum = reduce(add, (one for one, _ in self._answers(reader, work)))
            return found

    def moments(self, reader: FileReader) -> Moments:
        """Return the exact moments of all records."""
        return self.fold(reader, _exact_sum(reader))

    def sums(self, reader: FileReader, start: Place | None = None) -> Iterator[tuple[Moments, Place]]:
        """Yield the exact moments of each part from a place on, and where reading can resume after it."""
        return self._answers(reader, _exact_sum(reader), start)

    def _answers(
        self, reader: FileReader, work: Callable[[Iterable[Records]], _Sum], start: Place | None = None
    ) -> Iterator[tuple[_Sum, Place]]:
        """Yield what the workers found in each part from a place on, and where that part ends."""
        parts = self._parts(reader, start)
        if self._workers is None:
            self._workers = Workers(self._open.enter_context(connected(self.address)))
        calls: list[Call] = [(answer, (part, work), {}) for part in parts]
        read, rows = 0, sum(map(len, parts))
        with closing(self._workers.in_order(calls, names=[part.text for part in parts])) as answers:
            for part, found in zip(parts, answers, strict=True):
                read += len(part)
                if reader.on_block is not None:
                    reader.on_block(len(part), read / rows)
                yield found, Place(file=part.start.file, record=part.stop)

    def _parts(self, reader: FileReader, start: Place | None = None) -> list[FilePart]:
        """Return the parts of all files from a place on."""
        begin, parts = start or Place(), []
        for position, table in enumerate(reader.table.files):
            starts = table.group_starts()
            if starts is None:
                raise ClusterError(
                    f"workers read row groups of a Parquet file, and {table.path.name} has none: convert it"
                )
            if position < begin.file:
                continue
            called = table.path.name if len(reader.table.files) > 1 else ""
            file, first = FileIdentity.of(table.path), begin.record if position == begin.file else 1
            for stop in starts:
                if stop - first >= self.part_rows or (stop == starts[-1] > first):
                    place = Place(file=position, record=first)
                    parts.append(FilePart(file, reader.declared, place, stop, reader.rows, called))
                    first = stop
        if not parts and start is None:
            raise EmptyDataError("there are no records", file=str(reader.table.path))
        return parts


def _exact_sum(reader: FileReader) -> Callable[[Iterable[Records]], Moments]:
    return partial(sum_of, domain=reader.declared.domain, exact=True)
