"""Typed files: Parquet, and Arrow's own format (``.arrow``, ``.feather``)."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import lru_cache
from itertools import accumulate
from pathlib import Path
from typing import Any

import numpy as np

from reference.common.errors import DataError, UnreadableFileError
from reference.common.printable import one_line
from reference.datasets.arrow_columns import arrow, coded, kind_of, numbers_held, numbers_in
from reference.datasets.file_identity import FileIdentity
from reference.datasets.table import AHEAD, BLOCK_BYTES, ROWS_READ, Block, Place, TableFile, unchanged
from reference.domain.values import Column

READ_BYTES = 2**16
"""Bytes of a Parquet column read at a time: they are decoded while the core's own cache holds them."""


@dataclass(frozen=True)
class _TypedBlock(Block):
    """A block of typed columns, and where those with nulls have them: in numbers a null is NaN."""

    nulls: Mapping[str, Any] = field(kw_only=True)

    def plain(self) -> Block:
        """Return the same records with None for each null."""
        changed = {}
        for name, places in self.nulls.items():
            held = self.columns[name]
            if isinstance(held, np.ndarray):
                changed[name] = held.astype(object)
                changed[name][np.asarray(places)] = None
        return replace(self, columns={**self.columns, **changed})


@dataclass(frozen=True)
class _TypedTable(TableFile):
    """A file with typed columns, and records in groups."""

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the columns."""
        with self._opened() as file:
            return self.checked(self._schema(file).names)

    def kinds(self) -> dict[str, str] | None:
        """Return the kinds of the columns that the file states."""
        with self._opened() as file:
            return {field.name: kind_of(field.type) for field in self._schema(file)}

    def blocks(
        self,
        names: Sequence[str],
        rows: int = ROWS_READ,
        numbers: Collection[str] = (),
        start: Place | None = None,
    ) -> Iterator[Block]:
        """Read the named columns, at most `rows` records at a time.

        Raises
        ------
        reference.common.errors.DataError
            With file, record group, and with row and column where they are known.
        """
        rows = min(rows, max(BLOCK_BYTES // (8 * AHEAD * max(len(names), 1)), 1))
        first = 1 if start is None else start.record
        with self._opened(self._texts(names)) as file:
            record, groups = 1, self._groups(file)
            for group in range(groups):
                try:
                    if record < first and record + (size := self._rows(file, group)) <= first:
                        record += size
                        continue
                    for whole in self._batches(file, group, list(names), rows):
                        batch = whole.slice(max(first - record, 0))
                        record += whole.num_rows
                        if batch.num_rows:
                            begin = record - batch.num_rows
                            arrays = {name: batch.column(name) for name in names}
                            yield _TypedBlock(
                                {name: self._column(arrays[name], name, begin, name in numbers) for name in names},
                                range(begin, record),
                                behind=Place(record=record),
                                share=self._share(file, group, record),
                                nulls={name: held.is_null() for name, held in arrays.items() if held.null_count},
                            )
                except _failures() as problem:
                    raise self._unreadable(problem, group + 1, record) from problem

    def _texts(self, names: Sequence[str]) -> list[str]:
        kinds = self.kinds() or {}
        return [name for name in names if kinds.get(name) == "text"]

    def cells(self, name: str) -> Iterator[tuple[int, Any]]:
        """Yield the row, counted from 1, and the value of each cell of a column of any kind."""
        with self._opened() as file:
            record = 1
            for group in range(self._groups(file)):
                for batch in self._batches(file, group, [name], ROWS_READ):
                    yield from enumerate(batch.column(name).to_pylist(), record)
                    record += batch.num_rows

    def _column(self, array: Any, name: str, record: int, for_numbers: bool) -> Column:
        try:
            kind = kind_of(array.type)
            if kind != "number" and not (kind == "null" and for_numbers):
                return coded(array)
            return numbers_held(array) if for_numbers else numbers_in(array)
        except DataError as problem:
            raise type(problem)(
                problem.problem,
                file=str(self.path),
                record=None if problem.row is None else record + problem.row,
                column=name,
                value=problem.value,
            ) from problem

    @contextmanager
    def _opened(self, texts: Sequence[str] = ()) -> Iterator[Any]:
        try:
            with unchanged(self.path), self._reader(str(self.path), texts) as file:
                yield file
        except _failures() as problem:
            raise self._unreadable(problem, None, None) from problem

    def _unreadable(self, problem: BaseException, group: int | None, record: int | None) -> UnreadableFileError:
        what = "there is not enough memory" if isinstance(problem, MemoryError) else _first_line(problem)
        where = "" if group is None else f" in {self._group} {group}"
        return UnreadableFileError(
            f"cannot be read as {self._format}{where}: {what}", file=str(self.path), record=record
        )

    _format = ""
    _group = ""

    def _reader(self, path: str, texts: Sequence[str]) -> Any:
        raise NotImplementedError

    def _schema(self, file: Any) -> Any:
        raise NotImplementedError

    def _groups(self, file: Any) -> int:
        """Return how many groups of records there are."""
        raise NotImplementedError

    def _rows(self, file: Any, group: int) -> int:
        """Return how many records a group has."""
        raise NotImplementedError

    def _share(self, file: Any, group: int, record: int) -> float:
        """Return how much has been read, up to a record of a group."""
        raise NotImplementedError

    def _batches(self, file: Any, group: int, names: list[str], rows: int) -> Iterator[Any]:
        """Yield the records of a group, counted from 0, in batches."""
        raise NotImplementedError


@dataclass(frozen=True)
class ParquetTable(_TypedTable):
    """A Parquet file; texts come with their dictionaries, so each value is decoded at most once a group."""

    _format = "Parquet"
    _group = "row group"

    def group_starts(self) -> Sequence[int] | None:
        """Return the first record of each row group and the one after the last."""
        with self._opened() as file:
            sizes = [self._rows(file, group) for group in range(self._groups(file))]
        return list(accumulate(sizes, initial=1))

    def _reader(self, path: str, texts: Sequence[str]) -> Any:
        arrow()
        from pyarrow import parquet

        # pre-buffering would fetch the whole file before the first batch; without a buffer, each column of a group
        return parquet.ParquetFile(
            path,
            metadata=_footer(FileIdentity.of(Path(path))),
            pre_buffer=False,
            buffer_size=READ_BYTES,
            read_dictionary=list(texts),
            page_checksum_verification=True,
        )

    def _schema(self, file: Any) -> Any:
        return file.schema_arrow

    def _groups(self, file: Any) -> int:
        return int(file.num_row_groups)

    def _rows(self, file: Any, group: int) -> int:
        return int(file.metadata.row_group(group).num_rows)

    def _share(self, file: Any, group: int, record: int) -> float:
        return float((record - 1) / max(file.metadata.num_rows, 1))

    def _batches(self, file: Any, group: int, names: list[str], rows: int) -> Iterator[Any]:
        self._require_bounded(file, group, names)
        # in this thread: another one adds up
        yield from file.iter_batches(batch_size=rows, row_groups=[group], columns=names, use_threads=False)

    def _require_bounded(self, file: Any, group: int, names: list[str]) -> None:
        """Raise when the texts of a column, of whatever length, decode to more than a block may hold."""
        held = file.metadata.row_group(group)
        # pyarrow 26 ends the process over a contradictory column entry: look only where needed
        if held.total_byte_size <= BLOCK_BYTES:
            return
        self._require_consistent(group)
        for position in range(held.num_columns):
            column = held.column(position)
            too_large = column.total_uncompressed_size > BLOCK_BYTES
            if too_large and column.physical_type == "BYTE_ARRAY" and column.path_in_schema in names:
                raise UnreadableFileError(
                    f"the column has {column.total_uncompressed_size:,} bytes in row group {group + 1}; at most "
                    f"{BLOCK_BYTES:,} are read: write smaller row groups",
                    file=str(self.path),
                    column=column.path_in_schema,
                )

    def _require_consistent(self, group: int) -> None:
        """Let another process look first: pyarrow ends it if a column's entry contradicts itself."""
        words = [sys.executable, "-P", "-c", LOOK, str(self.path), str(group)]
        if subprocess.run(words, capture_output=True, check=False).returncode < 0:
            raise UnreadableFileError(
                f"cannot be read as Parquet in row group {group + 1}: its metadata contradict themselves",
                file=str(self.path),
            )


@lru_cache(maxsize=1)
def _footer(file: FileIdentity) -> Any:
    """Return what a Parquet file says of all its row groups, parsed once for all parts that a worker reads."""
    from pyarrow import parquet

    return parquet.read_metadata(file.path)


LOOK = """
import sys
from pyarrow import parquet
held = parquet.ParquetFile(sys.argv[1]).metadata.row_group(int(sys.argv[2]))
for position in range(held.num_columns):
    held.column(position)
"""


@dataclass(frozen=True)
class ArrowTable(_TypedTable):
    """A file of Arrow's interprocess format."""

    _format = "Arrow"
    _group = "record batch"

    def _reader(self, path: str, texts: Sequence[str]) -> Any:
        pyarrow = arrow()
        return pyarrow.ipc.open_file(pyarrow.OSFile(path))

    def _schema(self, file: Any) -> Any:
        return file.schema

    def _groups(self, file: Any) -> int:
        return int(file.num_record_batches)

    def _rows(self, file: Any, group: int) -> int:
        return int(file.get_batch(group).num_rows)

    def _share(self, file: Any, group: int, record: int) -> float:
        return (group + 1) / self._groups(file)

    def _batches(self, file: Any, group: int, names: list[str], rows: int) -> Iterator[Any]:
        batch = file.get_batch(group).select(names)
        # nothing has checked the offsets yet, and they point into memory
        batch.validate(full=True)
        for start in range(0, batch.num_rows, rows):
            yield batch.slice(start, rows)


def _failures() -> tuple[type[BaseException], ...]:
    return (OSError, arrow().ArrowException, MemoryError, UnicodeDecodeError)


def _first_line(problem: BaseException) -> str:
    return one_line((str(problem).splitlines() or [type(problem).__name__])[0][:200])
