"""What every data source offers."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from reference.common.errors import ChecksumError, DataError, MissingDataError, ReadingError, UnreadableFileError
from reference.datasets.csv_table import CsvTable
from reference.datasets.from_file import record_blocks
from reference.domain import Domain
from reference.domain.attributes import OneHot, Ordinal
from reference.domain.file import DomainFile
from reference.records import Records, encode_table


@dataclass(frozen=True)
class Table:
    """Columns as they were read.

    Parameters
    ----------
    columns : mapping from name to values
        The declared columns, each of length n.
    places : sequence of (file, line), optional
        Where each record was read, for errors.
    """

    columns: Mapping[str, Sequence[Any]]
    places: Sequence[tuple[str, int]] | None = None


@dataclass(frozen=True)
class Source:
    """A named data set: how to read it, and its public domain.

    Subclasses implement :meth:`domain_file`, and :meth:`table` or :meth:`read`.
    """

    name: str

    def domain_file(self, encoding: str) -> DomainFile:
        """Return the public domain and the raw columns that it is read from.

        Categories become `ordinal` ranks or `one_hot` coordinates.
        """
        raise NotImplementedError

    def domain(self, encoding: str) -> Domain:
        """Return the public domain."""
        return self.domain_file(encoding).domain

    def table(self) -> Table:
        """Read the data: the attributes, and y and z as 0 and 1 under the domain's names."""
        raise NotImplementedError

    def read(self, declared: DomainFile) -> Records:
        """Read the data, checked and encoded by the domain.

        Raises
        ------
        reference.common.errors.DataError
            With file, line, column and value where they are known.
        """
        table = self.table()
        try:
            kept = {name: values for name, values in table.columns.items() if name not in declared.ignore}
            return encode_table(declared.domain, kept)
        except DataError as problem:
            if problem.row is None or table.places is None:
                raise
            file, line = table.places[problem.row]
            raise type(problem)(
                problem.problem, file=file, row=line, column=problem.column, value=problem.value
            ) from problem

    def sized(self, records: int | None, dimension: int | None, seed: int) -> Source:
        """Return the source with a size; only generated data have a choice."""
        for option, value in (("records", records), ("dimension", dimension)):
            if value is not None:
                raise ReadingError(option, value, f"left out for {self.name}, whose size is given")
        return self


@dataclass(frozen=True)
class CsvSource(Source):
    """A data set in one CSV file under ``CFM_DATA``, recognised by its checksum.

    Parameters
    ----------
    name : str
    path : str
        Below the data folder.
    sha256 : str
        Of the documented file.
    declare : callable
        Returns the domain file for an encoding.
    first : int, optional
        Use this many records from the start.
    keep : callable, optional
        Which records are used: a public rule on the raw fields of one record.
    """

    path: str
    sha256: str
    declare: Callable[[str], DomainFile]
    first: int | None = None
    keep: Callable[[dict[str, str]], bool] | None = None

    def domain_file(self, encoding: str) -> DomainFile:
        """Return the documented domain."""
        return self.declare(encoding)

    def read(self, declared: DomainFile) -> Records:
        """Read the file, after checking that it is the documented one.

        Raises
        ------
        reference.common.errors.MissingDataError
            The message names the path and says how to get the data.
        reference.common.errors.ChecksumError
        """
        path = data_folder() / self.path
        if not path.is_file():
            raise MissingDataError(
                f"the data set {self.name!r} is not there; docs/data/{self.name}.md says where it comes from; set "
                f"CFM_DATA to the folder that contains {self.path}",
                file=str(path),
            )
        check_sha256(path, self.sha256)
        return record_blocks(CsvTable(path, self.first, self.keep), declared).collect()


def data_folder() -> Path:
    """Return the folder that ``CFM_DATA`` names, against the working directory (default ../shared/data)."""
    return Path(os.environ.get("CFM_DATA") or "../shared/data").absolute()


def check_sha256(path: Path, expected: str) -> None:
    """Raise when a file is not the documented one.

    Raises
    ------
    reference.common.errors.ChecksumError, reference.common.errors.UnreadableFileError
    """
    try:
        with path.open("rb") as file:
            found = hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as problem:
        raise UnreadableFileError(f"cannot be read: {problem.strerror}", file=str(path)) from problem
    if found != expected:
        raise ChecksumError(
            f"is not the documented file: its sha256 is {found}, not {expected}; read it as a data file with a "
            "domain file if this is intended",
            file=str(path),
        )


def categorical(name: str, categories: Sequence[Any], encoding: str) -> Ordinal | OneHot:
    """Return an attribute with declared categories, in the given encoding."""
    if encoding == "one_hot":
        return OneHot(name, tuple(categories))
    if encoding == "ordinal":
        return Ordinal(name, tuple(categories))
    raise ReadingError("encoding", encoding, "ordinal or one_hot")
