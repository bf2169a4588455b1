"""A file read by several processes or machines.

A part is some row groups of a Parquet file: the parts depend on the file alone.  A worker checks and encodes the
records of a part, and answers with what they add up to; the answers are added in the order of the parts.  So
neither the number of workers, nor who did what, nor a worker that was lost changes a bit.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import partial, reduce
from operator import add
from pathlib import Path
from typing import Any, TypeVar

from reference.common.errors import ClusterError, EmptyDataError, InputError, UnreadableFileError
from reference.common.scheduler import FAILURES, connected, explained
from reference.datasets.file_identity import FileIdentity
from reference.datasets.from_file import FileReader
from reference.datasets.table import Place, unchanged
from reference.datasets.table_file import open_table
from reference.domain.file import DomainFile
from reference.moments import Moments, sum_of
from reference.records import Records

PART_ROWS = 2**20
"""A part has at least this many records, except the last one."""

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
    """

    file: FileIdentity
    declared: DomainFile
    start: Place
    stop: int
    rows: int

    @property
    def text(self) -> str:
        """Which records these are."""
        return f"rows {self.start.record:,} to {self.stop - 1:,}"

    def blocks(self) -> Iterator[Records]:
        """Read the part where it is now; the file there must be the same."""
        path = Path(self.file.path)
        table = open_table(path)
        with unchanged(path):
            here = FileIdentity.of(path)
            if (here.size, here.ends) != (self.file.size, self.file.ends):
                raise UnreadableFileError("a worker sees another file at this path", file=str(path))
            reader = FileReader(table, self.declared, self.rows)
            for records, _ in reader.placed(self.start, self.stop):
                yield records


def answer(part: FilePart, work: Callable[[Iterable[Records]], _Sum]) -> _Sum:
    """Do some work on a part: what a worker runs."""
    return work(part.blocks())


@dataclass
class Cluster:
    """A scheduler and its workers; connected to when first used.

    Parameters
    ----------
    address : str
        Of a scheduler, such as ``tcp://host:8786``, or `local`.
    part_rows : int
    """

    address: str
    part_rows: int = PART_ROWS
    _client: Any = None
    _open: ExitStack = field(default_factory=ExitStack)

    def __enter__(self) -> Cluster:
        return self

    def __exit__(self, *_: object) -> None:
        self._open.close()

    def fold(self, reader: FileReader, work: Callable[[Iterable[Records]], _Sum]) -> _Sum:
        """Return the sum of what some work finds in each part of a file.

        Raises
        ------
        reference.common.errors.ClusterError
            When there is no scheduler or no worker, or a part ends whichever worker reads it.
        reference.common.errors.DataError
            As reading raises it; of several bad records the first part's.
        """
        with unchanged(reader.table.path):
            parts = self._parts(reader)
            client = self._connected()
            waiting = [client.submit(answer, part, work, pure=False) for part in parts]
            try:
                found: _Sum = reduce(add, self._answers(reader, parts, waiting))
                return found
            finally:
                client.cancel(waiting)

    def moments(self, reader: FileReader) -> Moments:
        """Return the exact moments of all records."""
        return self.fold(reader, partial(sum_of, domain=reader.declared.domain, exact=True))

    def _parts(self, reader: FileReader) -> list[FilePart]:
        starts = reader.table.group_starts()
        if starts is None:
            raise ClusterError(f"reads Parquet files, whose row groups workers find: not {reader.table.path.name}")
        if starts[-1] == 1:
            raise EmptyDataError("there is no record", file=str(reader.table.path))
        file, parts, first = FileIdentity.of(reader.table.path), [], starts[0]
        for start in starts[1:]:
            if start - first >= self.part_rows or (start == starts[-1] > first):
                parts.append(FilePart(file, reader.declared, Place(record=first), start, reader.rows))
                first = start
        return parts

    def _answers(self, reader: FileReader, parts: list[FilePart], waiting: list[Any]) -> Iterator[Any]:
        """Yield what the workers found, in the order of the parts."""
        for part, future in zip(parts, waiting, strict=True):
            try:
                found = future.result()
            except InputError:
                raise
            except FAILURES as problem:
                raise explained(problem, part.text) from problem
            if reader.on_block is not None:
                reader.on_block(part.stop - part.start.record, (part.stop - 1) / (parts[-1].stop - 1))
            yield found

    def _connected(self) -> Any:
        if self._client is None:
            self._client = self._open.enter_context(connected(self.address))
        return self._client
