"""Records of a table file, by a domain file."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from difflib import get_close_matches
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from msgspec import UNSET

from reference.common.arrays import NumberArray
from reference.common.errors import (
    ColumnTypeError,
    DataError,
    EmptyDataError,
    GroupError,
    LabelError,
    MissingColumnError,
    ReadingError,
)
from reference.common.numbers import exact, is_number_text
from reference.common.printable import quoted
from reference.datasets.csv_table import hint_of_delimiter
from reference.datasets.numeric_columns import Numbers, NumericEncoder, is_held, is_whole, rows_in_cache
from reference.datasets.record_blocks import RecordBlocks
from reference.datasets.table import AHEAD, ROWS_READ, Block, Place, TableFile, wrong_kind
from reference.domain.attributes import Numeric
from reference.domain.file import DomainFile
from reference.domain.markers import A_DATE, as_declared, is_missing_text, numbers_of, remedy
from reference.domain.values import Column, entry, is_missing, missing_values
from reference.moments import Moments
from reference.records import Records, encode_table, is_inside

DATE_KINDS = ("date", "time", "duration")
"""How Arrow's names of dates, times and durations begin."""

SHOWN = 3
"""How many further wrong records an error names."""

OnBlock: TypeAlias = Callable[[int, float | None], None]


def record_blocks(
    table: TableFile,
    declared: DomainFile,
    *,
    rows: int = ROWS_READ,
    on_block: OnBlock | None = None,
    way: Way | None = None,
) -> RecordBlocks:
    """Return the records of a file; every pass reads them in blocks.

    Parameters
    ----------
    table : TableFile
    declared : DomainFile
    rows : int
        Records read at a time; the result does not depend on it.
    on_block : callable, optional
        Told after each block how many records it had and, if known, which share of the file has been read.
    way : Way, optional
        How all records are added up, if not block by block in this process.

    Raises
    ------
    reference.common.errors.DataError
        At once when columns are missing, unknown or of the wrong type; for a bad record when it is read, with
        file, row, line (CSV), column and value.
    reference.common.errors.ReadingError
        When `rows` is not positive.
    """
    if rows < 1:
        raise ReadingError("block_rows", rows, "at least 1")
    reader = FileReader(table, declared, rows, on_block)
    summed, folded = (None, None) if way is None else (way.summed, way.folded)
    return RecordBlocks(
        declared.domain,
        reader.read,
        summed=None if summed is None else partial(summed, reader),
        folded=None if folded is None else partial(folded, reader),
    )


@dataclass(frozen=True)
class Way:
    """How all records of a file are added up: from a checkpoint, or on several machines.

    Parameters
    ----------
    summed : callable, optional
        Returns the exact moments of all records of a reader, and checks each.
    folded : callable, optional
        Returns the sum of a piece of work over parts of them.
    """

    summed: Callable[[FileReader], Moments] | None = None
    folded: Callable[[FileReader, Callable[[Iterable[Records]], Any]], Any] | None = None


@dataclass(frozen=True)
class FileReader:
    """Reads a file by a domain file: the parameters of :func:`record_blocks`."""

    table: TableFile
    declared: DomainFile
    rows: int = ROWS_READ
    on_block: OnBlock | None = None

    def __post_init__(self) -> None:
        self._names()
        check_kinds(self.table, self.declared)

    def read(self) -> Iterator[Records]:
        """Yield the records of each block."""
        for records, _ in self.placed():
            yield records

    def placed(
        self, start: Place | None = None, stop: int | None = None, *, ahead: bool = True
    ) -> Iterator[tuple[Records, Place | None]]:
        """Yield the records of each block from a place on, and where reading can resume, if known.

        If `stop` is given, nothing is read after the block that ends before that record.  Unless `ahead`, all is
        done in one thread.
        """
        empty = start is None
        numbers = _numbers(self.declared, typed=self.table.kinds() is not None)
        blocks = self.table.blocks(self._names(), self.rows, numbers, start)
        encoder = NumericEncoder.of(self.declared.domain)
        blocks = blocks if stop is None else _before(blocks, stop)
        for block in read_ahead(blocks) if ahead else blocks:
            left, empty = len(block.records), False
            for records in self._records(block, encoder):
                left -= len(records)
                if not left and self.on_block is not None:
                    self.on_block(len(block.records), block.share)
                yield records, None if left else block.behind
        if empty:
            raise EmptyDataError("there are no records", file=str(self.table.path))

    def _names(self) -> list[str]:
        columns: tuple[str, ...] = ()
        try:
            columns = self.table.columns
            return self.declared.columns_to_read(columns)
        except MissingColumnError as problem:
            hint = hint_of_column(columns, problem.column or "")
            raise MissingColumnError(
                problem.problem + hint, file=problem.file or str(self.table.path), column=problem.column
            ) from problem
        except DataError as problem:
            raise problem if problem.file else in_file(problem, str(self.table.path), None, None) from problem

    def _records(self, block: Block, encoder: NumericEncoder | None) -> Iterator[Records]:
        """Yield the records of a block; if all are valid numbers, as many at a time as stay in cache."""
        numbers, start = _Numbers.of(encoder, self.declared, block.columns), 0
        if numbers is not None:
            step = rows_in_cache(numbers.encoder.domain.dimension)
            for start in range(0, len(block.records), step):
                records = numbers.records(slice(start, start + step))
                if records is None:
                    break
                yield records
            else:
                return
        yield self._other_records(block).take(slice(start, None))

    def _other_records(self, block: Block) -> Records:
        try:
            return encode_raw(self.declared, block.columns)
        except DataError:
            return self._plain_records(block.plain(), block.path or self.table.path)

    def _plain_records(self, block: Block, path: Path) -> Records:
        """Encode the values as they are in the file; errors name bad ones with their place."""
        try:
            return encode_raw(self.declared, block.columns)
        except DataError as problem:
            lines = block.lines()
            record = None if problem.row is None else block.records[problem.row]
            line = None if problem.row is None or lines is None else lines[problem.row]
            placed = in_file(problem, str(path), record, line)
            others = {
                block.records[other.row]: f"column {quoted(other.column)}, value {quoted(other.value)}"
                for other in islice(further_problems(self.declared, block.columns, problem), SHOWN)
                if other.row is not None
            }
            if others:
                named = "; ".join(f"row {row}, {what}" for row, what in sorted(others.items()))
                placed.add_note(f"also wrong: {named}{'; and maybe more' * (len(others) == SHOWN)}")
            raise placed from problem


def hint_of_column(columns: Sequence[str], missing: str) -> str:
    """Explain a missing column: another delimiter, if there is one long column; else a similar name."""
    other = next((mark for mark in ";\t|" if len(columns) == 1 and mark in columns[0]), None)
    if other is not None:
        return hint_of_delimiter(other)
    names = {name[:100].strip().casefold(): name for name in columns}
    near = get_close_matches(missing[:100].strip().casefold(), names, n=1)
    return f"; did you mean {quoted(names[near[0]])}?" if near else ""


def _numbers(declared: DomainFile, *, typed: bool) -> set[str]:
    """Return the raw columns that are numbers for every reader; marks in a typed file may also be texts."""
    numbers = {
        attribute.name
        for attribute in declared.attributes
        # in a text file a number that may be missing may be an empty field
        if isinstance(attribute, Numeric) and (typed or attribute.missing is UNSET)
    }
    others = {attribute.name for attribute in declared.attributes} - numbers
    for marker in (declared.label, declared.group):
        if marker is not None:
            (others if marker.meanings and not typed else numbers).add(marker.column)
    return numbers - others


def _before(blocks: Iterator[Block], stop: int) -> Iterator[Block]:
    for block in blocks:
        yield block
        if block.records[-1] + 1 >= stop:
            return


def read_ahead(blocks: Iterator[Block]) -> Iterator[Block]:
    """Yield the blocks, decoded in a separate thread while earlier ones are used.

    The thread does nothing else: two threads of Python lose more by waiting for each other than they gain.
    """
    thread = ThreadPoolExecutor(1, thread_name_prefix="decode")
    waiting = deque(thread.submit(next, blocks, None) for _ in range(AHEAD))
    try:
        while (block := waiting.popleft().result()) is not None:
            waiting.append(thread.submit(next, blocks, None))
            yield block
    finally:
        # to be asked for more could be too late: the garbage collector ends the thread before it comes here
        thread.shutdown(cancel_futures=True)
        blocks.close()  # type: ignore[attr-defined]


def encode_raw(declared: DomainFile, table: Mapping[str, Column]) -> Records:
    """Check a table of raw columns against the domain of a file and encode it.

    Parameters
    ----------
    declared : DomainFile
    table : mapping from column name to values
        The declared columns and any ignored ones, each of length n.  Texts stand for numbers where
        numbers are declared.

    Raises
    ------
    reference.common.errors.DataError
        One subclass per reason, with row, column and value.
    """
    names = declared.columns_to_read(list(table))
    numbers = _Numbers.of(NumericEncoder.of(declared.domain), declared, table)
    records = None if numbers is None else numbers.records(slice(None))
    if records is not None:
        # encoded now: the columns are the caller's, who may change them
        return records.take(slice(None))
    try:
        return _encoded(declared, table, len(table[names[0]]))
    except DataError as problem:
        if problem.row is None:
            # a problem of a whole column: no value is missing
            raise
        said = problem.problem + remedy(declared.attributes, problem.column, problem.value)
        numeric = any(one.name == problem.column and isinstance(one, Numeric) for one in declared.attributes)
        empty = isinstance(problem.value, str) and not problem.value
        if is_missing(problem.value) or empty or (numeric and is_missing_text(problem.value)):
            said += _missing(declared, {name: table[name] for name in names})
        value = _as_written(problem.value, table.get(problem.column or "", ()), problem.row)
        raise type(problem)(said, row=problem.row, column=problem.column, value=value) from problem


def _as_written(value: Any, values: Column, row: int) -> Any:
    """Return the text of a cell where the number that an error shows is another one, as infinity is for 1e400."""
    text = entry(values, row) if row < len(values) else None
    if not isinstance(value, float) or not isinstance(text, str) or not is_number_text(text):
        return value
    try:
        return value if exact("value", value) == exact("value", text) else text
    except ReadingError:
        return text


def _missing(declared: DomainFile, table: Mapping[str, Column]) -> str:
    """Count the missing values of these records by column, texts that stand for them included."""
    known = {one.name for one in declared.attributes if not isinstance(one, Numeric) and "" in one.categories}
    markers = (marker for marker in (declared.label, declared.group) if marker is not None)
    known |= {marker.column for marker in markers if "" in marker.meanings}
    allowed = {one.name for one in declared.attributes if isinstance(one, Numeric) and one.missing is not UNSET}
    needed = {name: values for name, values in table.items() if name not in allowed}
    numbers = {one.name for one in declared.attributes if isinstance(one, Numeric)}

    def text_is_missing(name: str, text: str) -> bool:
        return is_missing_text(text) if name in numbers else text == "" and name not in known

    return missing_values(needed, text_is_missing)


def _encoded(declared: DomainFile, table: Mapping[str, Column], length: int) -> Records:
    """Encode columns of any kind; errors name the first bad value."""
    encoded: dict[str, Any] = {}
    for attribute in declared.attributes:
        values = table[attribute.name]
        if isinstance(attribute, Numeric):
            or_missing = attribute.missing is not UNSET
            encoded[attribute.name] = numbers_of(attribute.name, values, or_missing=or_missing)
        else:
            encoded[attribute.name] = as_declared(attribute.categories, values)
    for marker, error in ((declared.label, LabelError), (declared.group, GroupError)):
        if marker is not None:
            marks = marker.decode(table[marker.column], error) if marker.column else [0] * length
            encoded[marker.called] = marks
    return encode_table(declared.domain, encoded)


@dataclass(frozen=True)
class _Numbers:
    """Columns that are all numbers, with the marks as 0 and 1; `admitted` if their bounds are checked."""

    encoder: NumericEncoder
    columns: Sequence[NumberArray]
    y: NumberArray
    z: NumberArray | None
    admitted: bool

    @classmethod
    def of(
        cls, encoder: NumericEncoder | None, declared: DomainFile, table: Mapping[str, Column]
    ) -> _Numbers | None:
        """Return a table in this form; None if it is empty, has other columns, unequal ones or a wrong mark."""
        label, group = declared.label, declared.group
        if encoder is None or label is None or not label.column:
            return None
        columns = [table[attribute.name] for attribute in declared.attributes]
        numbers = [values for values in columns if is_held(values)]
        if len(numbers) < len(columns):
            return None
        try:
            y = label.decode(table[label.column], LabelError)
            z = None if group is None else group.decode(table[group.column], GroupError)
        except DataError:
            return None
        lengths = {np.shape(values) for values in (*numbers, y, *([] if z is None else [z]))}
        if lengths != {(len(y),)} or not len(y):
            return None
        # of whole numbers, a block at once takes fewer calls; doubles are checked where a core's cache holds them
        admitted = all(map(is_whole, numbers)) and encoder.admits(numbers)
        return cls(encoder, numbers, y, z, admitted)

    def records(self, rows: slice) -> Records | None:
        """Return some rows, to be encoded when they are used; None where a number is outside its bounds."""
        columns = [values[rows] for values in self.columns]
        if not (self.admitted or self.encoder.admits(columns)):
            return None
        y = self.y[rows].astype(np.float64)
        z = None if self.z is None else self.z[rows].astype(np.float64)
        numbers = Numbers.of(self.encoder, columns, y, z)
        domain = self.encoder.domain
        if is_inside(domain):
            return numbers
        return Records(domain=domain, x=numbers.x, y=y, z=z, marked=True)


def further_problems(declared: DomainFile, table: Mapping[str, Column], problem: DataError) -> Iterator[DataError]:
    """Yield further problems of a table of raw columns, at most one a record."""
    rows = np.arange(len(next(iter(table.values()))))
    while problem.row is not None:
        rows = rows[rows != problem.row]
        left = {name: [values[row] for row in rows.tolist()] for name, values in table.items()}
        try:
            encode_raw(declared, left)
        except DataError as found:
            row = None if found.row is None else int(rows[found.row])
            problem = type(found)(found.problem, row=row, column=found.column, value=found.value)
            yield problem
        else:
            return


def in_file(problem: DataError, file: str, record: int | None, line: int | None) -> DataError:
    """Return the same problem with its place in a file.

    Parameters
    ----------
    problem : DataError
    file : str
    record, line : int or None
        Counted from 1.
    """
    return type(problem)(
        problem.problem, file=file, row=line, record=record, column=problem.column, value=problem.value
    )


def check_kinds(table: TableFile, declared: DomainFile) -> None:
    """Raise when a typed file holds another kind of value than the domain declares.

    Raises
    ------
    reference.common.errors.ColumnTypeError
        With file and column, and with the first cell that is to blame.
    """
    try:
        held = table.kinds()
    except ColumnTypeError as problem:
        # rather name a file that the domain does not admit than a later one, which it may admit
        files = table.files[: [str(path) for path in table.paths].index(str(problem.file))]
        for kinds in (file.kinds() or {} for file in files):
            _require_kinds(files, {name: kind for name, kind in kinds.items() if kind != "null"}, declared)
        raise
    if held is not None:
        _require_kinds(table.files, held, declared)


def _require_kinds(files: Sequence[TableFile], held: Mapping[str, str], declared: DomainFile) -> None:
    """Raise for a column of a kind that the domain does not admit."""
    # where every number is missing, pandas writes a column of nulls
    missing = {one.name for one in declared.attributes if isinstance(one, Numeric) and one.missing is not UNSET}
    for name, needed in kinds_needed(declared).items():
        kind = held.get(name)
        if kind is not None and kind not in needed and not (kind == "null" and name in missing):
            number = kind == "number" and needed == {"text"}
            hint = "; declare numbers without quotes, and truth values as 1 and 0" if number else ""
            hint = A_DATE if kind.startswith(DATE_KINDS) else hint
            problem = f"the column contains {kind} where the domain declares {' or '.join(sorted(needed))}{hint}"
            of_kind = [one for one in files if (one.kinds() or {}).get(name) == kind]
            raise wrong_kind(problem, of_kind, name, number="number" in needed)


def kinds_needed(declared: DomainFile) -> Mapping[str, set[str]]:
    """Return the kinds of values that the domain file can read, for each raw column."""
    needed: dict[str, set[str]] = {}
    for attribute in declared.attributes:
        categories = () if isinstance(attribute, Numeric) else attribute.categories
        needed[attribute.name] = _kinds_of(categories) or {"number"}
    for marker in (declared.label, declared.group):
        if marker is not None and marker.column:
            of_marker = _kinds_of(tuple(marker.meanings)) or {"number"}
            needed[marker.column] = needed.get(marker.column, of_marker) & of_marker
    return needed


def _kinds_of(values: Sequence[Any]) -> set[str]:
    return {"text" if isinstance(value, str) else "number" for value in values}
