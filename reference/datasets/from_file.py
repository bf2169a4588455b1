"""Records of a table file, by a domain file."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from reference.attributes import Numeric
from reference.datasets.table_file import ROWS_READ, Block, TableFile
from reference.domain_file import DomainFile, in_file
from reference.errors import ColumnTypeError, DataError, EmptyDataError
from reference.record_blocks import RecordBlocks
from reference.records import Records


def record_blocks(
    table: TableFile,
    declared: DomainFile,
    *,
    rows: int = ROWS_READ,
    on_block: Callable[[int], None] | None = None,
) -> RecordBlocks:
    """Return the records of a file, read in blocks whenever they are gone through.

    Parameters
    ----------
    table : TableFile
    declared : DomainFile
    rows : int
        Records read at a time; the result does not depend on it.
    on_block : callable, optional
        Told after each block how many records it had.

    Raises
    ------
    reference.errors.DataError
        At once when columns are missing, unknown or of the wrong type; for a bad record when it is read, with
        file, row, line (CSV), column and value.
    """
    reader = _Reader(table, declared, rows, on_block)
    return RecordBlocks(declared.domain, reader.read)


@dataclass(frozen=True)
class _Reader:
    table: TableFile
    declared: DomainFile
    rows: int
    on_block: Callable[[int], None] | None

    def __post_init__(self) -> None:
        self._names()
        check_kinds(self.table, self.declared)

    def read(self) -> Iterator[Records]:
        """Yield the records of each block."""
        empty = True
        for block in self.table.blocks(self._names(), self.rows):
            records = self._records(block)
            empty = False
            if self.on_block is not None:
                self.on_block(len(records))
            yield records
        if empty:
            raise EmptyDataError("there is no record", file=str(self.table.path))

    def _names(self) -> list[str]:
        try:
            return self.declared.columns_to_read(self.table.columns)
        except DataError as problem:
            raise problem if problem.file else in_file(problem, str(self.table.path), None, None) from problem

    def _records(self, block: Block) -> Records:
        try:
            return self.declared.records(block.columns)
        except DataError as problem:
            record = None if problem.row is None else block.records[problem.row]
            line = None if problem.row is None or block.lines is None else block.lines[problem.row]
            raise in_file(problem, str(self.table.path), record, line) from problem


def check_kinds(table: TableFile, declared: DomainFile) -> None:
    """Raise when a typed file holds another kind of value than the domain declares.

    Raises
    ------
    reference.errors.ColumnTypeError
        With file and column.
    """
    held = table.kinds()
    if held is None:
        return
    for name, needed in kinds_needed(declared).items():
        if held[name] not in needed:
            raise ColumnTypeError(
                f"the column holds {held[name]} where the domain declares {' or '.join(sorted(needed))}",
                file=str(table.path),
                column=name,
            )


def kinds_needed(declared: DomainFile) -> Mapping[str, set[str]]:
    """Return for each raw column the kinds of values that the domain file can make sense of."""
    needed: dict[str, set[str]] = {}
    for attribute in declared.attributes:
        numeric = isinstance(attribute, Numeric)
        needed[attribute.name] = {"number"} if numeric else _kinds_of(attribute.categories)  # type: ignore[union-attr]
    for marker in (declared.label, declared.group):
        if marker is not None and marker.column:
            of_marker = {"number"} if marker.above is not None else _kinds_of([*marker.one, *marker.zero])
            needed[marker.column] = needed.get(marker.column, of_marker) & of_marker
    return needed


def _kinds_of(values: Sequence[Any]) -> set[str]:
    return {"text" if isinstance(value, str) else "number" for value in values}
