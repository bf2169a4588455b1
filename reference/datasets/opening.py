"""Opening a table: its name says which files hold it and how to read them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from reference.common.errors import MissingDataError, ReadingError, UnreadableFileError
from reference.datasets.arrow_table import ArrowTable, ParquetTable
from reference.datasets.csv_table import CsvTable
from reference.datasets.table import TableFile
from reference.datasets.table_files import TableFiles

_READERS: dict[str, Callable[[Path], TableFile]] = {
    ".csv": CsvTable,
    ".csv.gz": CsvTable,
    ".parquet": ParquetTable,
    ".arrow": ArrowTable,
    ".feather": ArrowTable,
}

ENDINGS = tuple(_READERS)

FOLDER = "/"
"""The end of the name of a folder whose files are one table."""


def is_table_file(name: str) -> bool:
    """Return whether a name is that of a readable file, folder or pattern."""
    return name.lower().endswith((*ENDINGS, FOLDER))


def files_of(name: str) -> list[Path]:
    """Return the files that a name stands for, in their order.

    A folder stands for its files except those that begin with a dot or an underscore, which programs leave
    beside tables; a pattern (``*``, ``?``, ``[...]``) that names no file stands for its matches; any other name
    for itself.
    """
    path = Path(name)
    if path.is_dir():
        return sorted(one for one in path.iterdir() if not one.name.startswith((".", "_")))
    if any(mark in name for mark in "*?[") and not path.exists():
        return sorted(Path(path.anchor or ".").glob(str(path.relative_to(path.anchor))))
    return [path]


def open_table(path: str | Path) -> TableFile:
    """Return the reader for the name of a file, a folder or a pattern.

    Raises
    ------
    reference.common.errors.MissingDataError, reference.common.errors.UnreadableFileError
        Also when files of one table are of several formats.
    reference.common.errors.ReadingError
        When a name has another ending.
    """
    name = str(path)
    try:
        files = files_of(name)
    except (OSError, ValueError) as problem:
        raise _unreadable(problem, name) from problem
    if not files:
        raise MissingDataError("the folder has no file, or no file matches the pattern", file=name)
    if files == [Path(path)]:
        if name.endswith("/") and not files[0].exists():
            raise MissingDataError("there is no such folder", file=name)
        return _opened(name)
    tables = tuple(_opened(str(file)) for file in files)
    for table in tables:
        if type(table) is not type(tables[0]):
            problem_of_one = f"has another format than {tables[0].path.name}, though both belong to one table"
            raise UnreadableFileError(problem_of_one, file=str(table.path))
    return TableFiles(Path(path), tables)


def _opened(name: str) -> TableFile:
    """Return the reader of one file."""
    reader = next((_READERS[ending] for ending in ENDINGS if name.lower().endswith(ending)), None)
    if reader is None:
        raise ReadingError("data", name, "a file whose name ends in " + ", ".join(ENDINGS))
    path = Path(name)
    try:
        if not path.exists():
            raise MissingDataError("there is no such file", file=name)
        if not path.is_file():
            raise UnreadableFileError("is not a regular file", file=name)
    except (OSError, ValueError) as problem:
        if isinstance(problem, (MissingDataError, UnreadableFileError)):
            raise
        raise _unreadable(problem, name) from problem
    return reader(path)


def _unreadable(problem: Exception, name: str) -> UnreadableFileError:
    return UnreadableFileError(f"cannot be read: {getattr(problem, 'strerror', None) or problem}", file=name)
