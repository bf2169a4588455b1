"""CSV and Parquet files, read block by block, with the place of every record.

A CSV file is UTF-8 text with a header line, commas, and double quotes where a field needs them; it may be
compressed (``.csv.gz``).  Nothing is guessed: every field is a text until a domain says what it means.
"""

from __future__ import annotations

import csv
import gzip
import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from reference.common.errors import (
    CsvRowError,
    EmptyDataError,
    ExtraColumnError,
    MissingDataError,
    ReadingError,
    UnreadableFileError,
)

ENDINGS = (".csv", ".csv.gz", ".parquet")
ROWS_READ = 65_536
"""Records read at a time."""


@dataclass(frozen=True)
class Block:
    """Some consecutive records of a file.

    Parameters
    ----------
    columns : dict from name to values
    records : sequence of int
        Position of each in the file, counted from 1 without the header.
    lines : sequence of int, optional
        First line of each, counted from 1; None for a file without lines.
    """

    columns: dict[str, Sequence[Any]]
    records: Sequence[int]
    lines: Sequence[int] | None


@dataclass(frozen=True)
class TableFile:
    """A file with named columns.

    Parameters
    ----------
    path : Path
    """

    path: Path

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the columns, in order."""
        raise NotImplementedError

    def kinds(self) -> dict[str, str] | None:
        """Return what each column holds, `number`, `text` or another type's name; None where nothing says."""
        raise NotImplementedError

    def blocks(self, names: Sequence[str], rows: int = ROWS_READ) -> Iterator[Block]:
        """Read the named columns, `rows` records at a time."""
        raise NotImplementedError


def is_table_file(name: str) -> bool:
    """Tell whether a name is that of a file that can be read here."""
    return name.lower().endswith(ENDINGS)


def open_table(path: str | Path) -> TableFile:
    """Return the reader that the file's name asks for.

    Raises
    ------
    reference.common.errors.MissingDataError, reference.common.errors.UnreadableFileError
    reference.common.errors.ReadingError
        When the name has another ending.
    """
    name = str(path)
    if not is_table_file(name):
        raise ReadingError("data", name, "a file whose name ends in " + ", ".join(ENDINGS))
    if not Path(path).exists():
        raise MissingDataError("there is no such file", file=name)
    if not Path(path).is_file():
        raise UnreadableFileError("is no regular file", file=name)
    return ParquetTable(Path(path)) if name.lower().endswith(".parquet") else CsvTable(Path(path))


# --- CSV -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class CsvTable(TableFile):
    """A text file with a header line.

    Parameters
    ----------
    path : Path
    first : int, optional
        Read so many records from the start; all unless given.
    keep : callable, optional
        Which records are read: a public rule on the raw fields of one record.
    """

    first: int | None = None
    keep: Callable[[dict[str, str]], bool] | None = None

    @property
    def columns(self) -> tuple[str, ...]:
        """Names in the header line."""
        for _, fields in self._rows():
            for position, name in enumerate(fields):
                if name in fields[:position]:
                    raise ExtraColumnError(
                        "the header has this column more than once", file=str(self.path), row=1, column=name
                    )
            return tuple(fields)
        raise EmptyDataError("the file is empty; a header line is needed", file=str(self.path))

    def kinds(self) -> dict[str, str] | None:
        """Return None: all is text."""
        return None

    def blocks(self, names: Sequence[str], rows: int = ROWS_READ) -> Iterator[Block]:
        """Read the named columns, `rows` records at a time, as texts.

        Raises
        ------
        reference.common.errors.CsvRowError, reference.common.errors.UnreadableFileError
            With file, row and line.
        """
        header = self.columns
        places = [header.index(name) for name in names]
        found: list[list[str]] = []
        records: list[int] = []
        lines: list[int] = []
        for record, (line, fields) in enumerate(self._rows()):
            if record == 0:
                continue
            if self.first is not None and record > self.first:
                break
            if len(fields) != len(header):
                raise CsvRowError(
                    f"{len(fields)} fields where the header has {len(header)}",
                    file=str(self.path),
                    row=line,
                    record=record,
                    value=",".join(fields),
                )
            if self.keep is not None and not self.keep(dict(zip(header, fields, strict=True))):
                continue
            found.append([fields[place] for place in places])
            records.append(record)
            lines.append(line)
            if len(found) == rows:
                yield _block(names, found, records, lines)
                found, records, lines = [], [], []
        if found:
            yield _block(names, found, records, lines)

    def _rows(self) -> Iterator[tuple[int, list[str]]]:
        """Yield the first line's number and the fields of each record, the header among them."""
        line, record = 1, 0
        try:
            with _opened(self.path) as file:
                reader = csv.reader(self._decoded(file), strict=True)
                for fields in reader:
                    if fields:
                        yield line, fields
                        record += 1
                    line = reader.line_num + 1
        except csv.Error as problem:
            raise UnreadableFileError(
                f"is no CSV: {problem}", file=str(self.path), row=line, record=record or None
            ) from problem
        except (OSError, EOFError, zlib.error) as problem:
            reason = getattr(problem, "strerror", None) or problem
            raise UnreadableFileError(f"cannot be read: {reason}", file=str(self.path)) from problem

    def _decoded(self, lines: Iterator[bytes]) -> Iterator[str]:
        """Yield each line as text; a file that is no UTF-8 is refused with the line."""
        for number, line in enumerate(lines, start=1):
            try:
                yield line.decode("utf-8-sig" if number == 1 else "utf-8")
            except UnicodeDecodeError as problem:
                raise UnreadableFileError(
                    f"is no UTF-8 text: byte {problem.object[problem.start]:#04x}", file=str(self.path), row=number
                ) from problem


def _opened(path: Path) -> Any:
    return gzip.open(path, "rb") if path.name.lower().endswith(".gz") else path.open("rb")


def _block(names: Sequence[str], found: list[list[str]], records: list[int], lines: list[int]) -> Block:
    return Block(dict(zip(names, zip(*found, strict=True), strict=True)), records, lines)


# --- Parquet -------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class ParquetTable(TableFile):
    """A Parquet file; its columns are typed."""

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the columns."""
        names: list[str] = list(self._read(lambda file: file.schema_arrow.names))
        for position, name in enumerate(names):
            if name in names[:position]:
                raise ExtraColumnError("the file has this column more than once", file=str(self.path), column=name)
        return tuple(names)

    def kinds(self) -> dict[str, str] | None:
        """Return what the file says that its columns hold."""
        return {field.name: _kind(field.type) for field in self._read(lambda file: list(file.schema_arrow))}

    def blocks(self, names: Sequence[str], rows: int = ROWS_READ) -> Iterator[Block]:
        """Read the named columns, `rows` records at a time.

        Raises
        ------
        reference.common.errors.UnreadableFileError
        """
        import pyarrow
        from pyarrow import parquet

        record = 1
        try:
            # pre-buffering would fetch the whole file before the first batch
            with parquet.ParquetFile(self.path, pre_buffer=False) as file:
                for batch in file.iter_batches(batch_size=rows, columns=list(names)):
                    columns = {name: batch.column(name).to_pylist() for name in names}
                    if batch.num_rows:
                        yield Block(columns, range(record, record + batch.num_rows), None)
                    record += batch.num_rows
        except (OSError, pyarrow.ArrowException) as problem:
            raise UnreadableFileError(
                f"cannot be read as Parquet: {_first_line(problem)}", file=str(self.path), record=record
            ) from problem

    def _read(self, part: Callable[[Any], Any]) -> Any:
        import pyarrow
        from pyarrow import parquet

        try:
            with parquet.ParquetFile(self.path) as file:
                return part(file)
        except (OSError, pyarrow.ArrowException) as problem:
            raise UnreadableFileError(
                f"cannot be read as Parquet: {_first_line(problem)}", file=str(self.path)
            ) from problem


def _kind(held: Any) -> str:
    """Return `number`, `text`, or the name of a type that no attribute can have."""
    from pyarrow import types

    if types.is_dictionary(held):
        held = held.value_type
    if types.is_integer(held) or types.is_floating(held) or types.is_decimal(held) or types.is_boolean(held):
        return "number"
    return "text" if types.is_string(held) or types.is_large_string(held) else str(held)


def _first_line(problem: Exception) -> str:
    return (str(problem).splitlines() or [type(problem).__name__])[0]
