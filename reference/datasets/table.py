"""Tables in files, read block by block with the place of every record: what all formats share, and limits."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from reference.common.documents import Document
from reference.common.errors import ColumnTypeError, ExtraColumnError, UnreadableFileError
from reference.common.numbers import is_number_text
from reference.common.printable import shown
from reference.domain.values import Column

ROWS_READ = 65_536
"""Records read at a time."""

AHEAD = 4
"""Blocks decoded ahead, so that a slow one, such as the first of a row group, delays little."""

MOST_COLUMNS = 10_000
LONGEST_NAME = 1_000
"""Most characters of a column's name."""

LONGEST_LINE = 2**20
"""Most bytes of one record of a text file, or of its header."""

BLOCK_BYTES = 2**28
"""Most bytes of the numbers decoded ahead of the block in use, or of one column's texts in a row group."""


class Place(Document, frozen=True, kw_only=True):
    """Where reading can begin: before a record, counted from 1; in a text file also its line and first byte."""

    file: int = 0
    record: int = 1
    line: int = 0
    offset: int = 0


@dataclass(frozen=True)
class Block:
    """Some consecutive records of a file.

    Parameters
    ----------
    columns : dict from name to values
        Lists of texts, :class:`reference.domain.values.Coded` ones, or arrays of numbers.
    records : sequence of int
        Position of each in the file, counted from 1 without the header.
    behind : Place, optional
        Where reading can resume after it, if known.
    share : float, optional
        How much of the file has been read by then, from 0 to 1, if known.
    path : Path, optional
        The file, where there are several.
    """

    columns: Mapping[str, Column]
    records: Sequence[int]
    behind: Place | None = field(default=None, kw_only=True)
    share: float | None = field(default=None, kw_only=True)
    path: Path | None = field(default=None, kw_only=True)

    def lines(self) -> Sequence[int] | None:
        """Return the first line of each, counted from 1; None for a file without lines."""
        return None

    def plain(self) -> Block:
        """Return the same records with every value as in the file, for errors."""
        return self


@dataclass(frozen=True)
class TableFile:
    """A file with named columns.

    Parameters
    ----------
    path : Path
    """

    path: Path

    @property
    def files(self) -> tuple[TableFile, ...]:
        """The files that the table is in."""
        return (self,)

    @property
    def paths(self) -> tuple[Path, ...]:
        """The paths of these files."""
        return tuple(one.path for one in self.files)

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the columns, in order.

        Raises
        ------
        reference.common.errors.ExtraColumnError, reference.common.errors.UnreadableFileError
            When a name occurs twice, or the limits are exceeded.
        """
        raise NotImplementedError

    def kinds(self) -> dict[str, str] | None:
        """Return what each column holds: `number`, `text` or another type's name; None where unstated."""
        raise NotImplementedError

    def blocks(
        self,
        names: Sequence[str],
        rows: int = ROWS_READ,
        numbers: Collection[str] = (),
        start: Place | None = None,
    ) -> Iterator[Block]:
        """Read the named columns, at most `rows` records at a time.

        Parameters
        ----------
        names : sequence of str
        rows : int
        numbers : collection of str
            The names of numbers, for files that do not say so themselves.
        start : Place, optional
            Behind a block of an earlier reading; the first record unless given.
        """
        raise NotImplementedError

    def cells(self, name: str) -> Iterator[tuple[int, Any]]:
        """Yield the row, counted from 1, and the value of each cell of a column of any kind: slow, for errors."""
        raise NotImplementedError

    def group_starts(self) -> Sequence[int] | None:
        """Return the first record of each group and the one after the last; None where the file does not say."""
        return None

    def checked(self, names: Sequence[str], line: int | None = None) -> tuple[str, ...]:
        """Return the names of the columns, after checking that they are few, short and distinct."""
        file = str(self.path)
        if len(names) > MOST_COLUMNS:
            raise UnreadableFileError(
                f"has {len(names):,} columns; at most {MOST_COLUMNS:,} are read", file=file, row=line
            )
        seen = set()
        for name in names:
            if len(name) > LONGEST_NAME:
                raise UnreadableFileError(
                    f"a column's name has {len(name):,} characters, {shown(name, 20)}; at most {LONGEST_NAME:,} "
                    "are read",
                    file=file,
                    row=line,
                )
            if name in seen:
                raise ExtraColumnError("the file has this column more than once", file=file, row=line, column=name)
            seen.add(name)
        return tuple(names)


def wrong_kind(problem: str, files: Sequence[TableFile], name: str, *, number: bool) -> ColumnTypeError:
    """Return the error about a column of a wrong kind, with the first cell that is to blame.

    Parameters
    ----------
    problem : str
    files : sequence of TableFile
        Those where the column is of that kind.
    name : str
    number : bool
        Whether numbers are expected: then a text that writes none is to blame, before others.
    """
    blame, path, row, value = -1, files[0].path, None, None
    # a file that is also damaged is of a wrong kind all the same
    with suppress(UnreadableFileError):
        for file, at, held in ((one, *cell) for one in files for cell in one.cells(name)):
            writes_number = number and isinstance(held, str) and is_number_text(held)
            more = 0 if held is None else 1 if writes_number else 2
            if more > blame:
                blame, path, row, value = more, file.path, at, held
            if blame == 2:
                break
    return ColumnTypeError(problem, file=str(path), record=row, column=name, value=value)


@contextmanager
def unchanged(*paths: Path) -> Iterator[None]:
    """Raise at the end if a file was changed or replaced meanwhile: the records are then not from one file."""
    before = [_state(path) for path in paths]
    yield
    for path, state in zip(paths, before, strict=True):
        if _state(path) != state:
            raise UnreadableFileError("the file changed while it was read", file=str(path))


def _state(path: Path) -> tuple[int, int, int]:
    found = path.stat()
    return found.st_ino, found.st_size, found.st_mtime_ns
