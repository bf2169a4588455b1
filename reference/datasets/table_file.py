"""Opening a file with named columns: its name says how it is read."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from reference.common.errors import MissingDataError, ReadingError, UnreadableFileError
from reference.datasets.arrow_table import ArrowTable, ParquetTable
from reference.datasets.csv_table import CsvTable
from reference.datasets.table import TableFile

_READERS: dict[str, Callable[[Path], TableFile]] = {
    ".csv": CsvTable,
    ".csv.gz": CsvTable,
    ".parquet": ParquetTable,
    ".arrow": ArrowTable,
    ".feather": ArrowTable,
}

ENDINGS = tuple(_READERS)


def is_table_file(name: str) -> bool:
    """Return whether a name is that of a file that can be read here."""
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
    reader = next((_READERS[ending] for ending in ENDINGS if name.lower().endswith(ending)), None)
    if reader is None:
        raise ReadingError("data", name, "a file whose name ends in " + ", ".join(ENDINGS))
    try:
        if not Path(path).exists():
            raise MissingDataError("there is no such file", file=name)
        if not Path(path).is_file():
            raise UnreadableFileError("is not a regular file", file=name)
    except (OSError, ValueError) as problem:
        if isinstance(problem, (MissingDataError, UnreadableFileError)):
            raise
        raise UnreadableFileError(
            f"cannot be read: {getattr(problem, 'strerror', None) or problem}", file=name
        ) from problem
    return reader(Path(path))
