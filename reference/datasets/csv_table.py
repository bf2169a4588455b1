"""Delimited text: UTF-8, a header line, commas, double quotes where a field needs them; ``.csv``, ``.csv.gz``.

The file is cut into pieces between records, and pyarrow parses each.  A piece that is in any way out of the
ordinary is read again by Python's strict parser, which alone says what is wrong and where: every piece has one
meaning, and only unusual ones take longer.
"""

from __future__ import annotations

import csv
import gzip
import io
import re
import zlib
from codecs import BOM_UTF8
from collections.abc import Callable, Collection, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from reference.common.errors import CsvRowError, DataError, EmptyDataError, UnreadableFileError
from reference.common.numbers import LONGEST_NUMBER
from reference.datasets.arrow_columns import arrow, coded, numbers_held
from reference.datasets.table import LONGEST_LINE, ROWS_READ, Block, Place, TableFile, unchanged
from reference.domain.values import Column

PIECE_BYTES = 4 * LONGEST_LINE
"""Bytes read at a time: enough that the cost of each piece counts for little."""

BLOCK_PARSED = LONGEST_LINE
"""Bytes that pyarrow splits into fields before it makes numbers of them: they stay in cache."""

IN_CACHE = 2**18
"""Bytes that are looked at together, and stay in cache."""

PARSED_AT_ONCE = 2
"""Pieces parsed at a time: our checks make parsing the slowest step."""

_QUOTED_RECORDS = re.compile(rb'(?:(?:"[^"]*+(?:""[^"]*+)*+"|[^",\r\n]*+)(?:,|\r?+\n|\Z))*+')
"""Records whose quotation marks all enclose fields, or stand doubled within quoted ones."""


@dataclass(frozen=True)
class _Piece:
    """Whole records, and whether quotation marks may stand in them; `rest` is all that cannot be cut."""

    text: bytearray
    quoted: bool = False
    rest: bytes | None = None


@dataclass(frozen=True)
class _ParsedBlock(Block):
    """A block of a piece that pyarrow has parsed; `again` reads the piece by the strict parser."""

    again: Callable[[], Iterator[Block]]

    def plain(self) -> Block:
        """Return the same records as texts, with their lines."""
        return next(block for block in self.again() if block.records[0] == self.records[0])


@dataclass(frozen=True)
class _TextBlock(Block):
    first_lines: Sequence[int]

    def lines(self) -> Sequence[int]:
        """Return the first line of each record."""
        return self.first_lines


@dataclass(frozen=True)
class CsvTable(TableFile):
    """A text file with a header line.

    Parameters
    ----------
    path : Path
    first : int, optional
        Read this many records from the start; all unless given.
    keep : callable, optional
        Which records are read: a public rule on the raw fields of one record.
    """

    first: int | None = None
    keep: Callable[[dict[str, str]], bool] | None = None

    @property
    def columns(self) -> tuple[str, ...]:
        """Names in the header line."""
        with self._opened() as file:
            return self._header(file)[0]

    def kinds(self) -> dict[str, str] | None:
        """Return None: all is text."""
        return None

    def blocks(
        self,
        names: Sequence[str],
        rows: int = ROWS_READ,
        numbers: Collection[str] = (),
        start: Place | None = None,
    ) -> Iterator[Block]:
        """Read the named columns, at most `rows` records at a time: texts, and numbers where declared.

        Raises
        ------
        reference.common.errors.CsvRowError, reference.common.errors.UnreadableFileError
            With file, row and line.
        """
        with self._opened() as file:
            header, text, place = self._header(file)
            if start is not None:
                text, place = b"", start
                file.seek(start.offset)
            strict = partial(self._strict, header, names, rows)
            every = self.first is not None or self.keep is not None
            pieces = iter([_Piece(bytearray(), rest=text)]) if every else _cut(file, text)

            def parse(piece: _Piece) -> dict[str, Column] | None:
                return _parsed(piece, header, names, numbers)

            for piece, parsed in _parsed_ahead(pieces, parse):
                if piece.rest is not None:
                    yield from strict(partial(_lines, piece.rest, file), place)
                    return
                again = partial(strict, partial(_lines, piece.text), place)
                columns = parsed.result()
                blocks = again() if columns is None else _split(columns, place.record, rows, again)
                place = Place(
                    record=place.record,
                    line=place.line + _line_ends(piece.text),
                    offset=place.offset + len(piece.text),
                )
                for block, is_last in _marked(blocks):
                    place = Place(record=block.records[-1] + 1, line=place.line, offset=place.offset)
                    yield replace(block, behind=place, share=self._share(file)) if is_last else block

    @contextmanager
    def _opened(self) -> Iterator[Any]:
        try:
            with unchanged(self.path), self.path.open("rb") as raw:
                packed = self.path.name.lower().endswith(".gz")
                yield gzip.GzipFile(fileobj=raw, mode="rb") if packed else raw
        except (OSError, EOFError, zlib.error) as problem:
            reason = getattr(problem, "strerror", None) or problem
            raise UnreadableFileError(f"cannot be read: {reason}", file=str(self.path)) from problem

    def _share(self, file: Any) -> float:
        # of a compressed file, in compressed bytes
        raw: Any = file.fileobj if isinstance(file, gzip.GzipFile) else file
        return float(raw.tell() / max(self.path.stat().st_size, 1))

    def _header(self, file: Any) -> tuple[tuple[str, ...], bytes, Place]:
        """Return the names, what else was read, and the place of the first record."""
        text = file.read(LONGEST_LINE + 1)
        taken: list[bytes] = []

        def taking() -> Iterator[bytes]:
            for line in _lines(text):
                taken.append(line)
                yield line

        try:
            first = next(self._records(taking(), Place(record=0, line=1)), None)
        except UnreadableFileError as problem:
            # a quoted name ends before another mark than a comma
            other = next((mark for mark in ";\t|" if taken and f'"{mark}'.encode() in taken[-1]), None)
            if other is None:
                raise
            hint = hint_of_delimiter(other)
            raise UnreadableFileError(problem.problem + hint, file=problem.file, row=problem.row) from problem
        if first is not None:
            line, fields = first
            names = self.checked(fields, line)
            end = sum(map(len, taken))
            return names, text[end:], Place(record=1, line=1 + len(taken), offset=end)
        raise EmptyDataError("the file is empty; a header line is needed", file=str(self.path))

    def _records(self, lines: Iterator[bytes], start: Place) -> Iterator[tuple[int, list[str]]]:
        """Yield the first line's number and the fields of each record."""
        line, record = start.line, start.record
        reader = csv.reader(self._decoded(lines, start.line), strict=True)
        try:
            for fields in reader:
                if fields:
                    yield line, fields
                    record += 1
                line = start.line + reader.line_num
        except csv.Error as problem:
            raise UnreadableFileError(
                f"is not CSV: {problem}", file=str(self.path), row=line, record=record or None
            ) from problem

    def _decoded(self, lines: Iterator[bytes], first: int) -> Iterator[str]:
        """Yield each line as text; refuse one that is too long or not UTF-8, with its number."""
        for number, line in enumerate(lines, start=first):
            if len(line) > LONGEST_LINE:
                raise UnreadableFileError(
                    f"a line has more than {LONGEST_LINE:,} bytes, the most that are read",
                    file=str(self.path),
                    row=number,
                )
            try:
                yield line.decode("utf-8-sig" if number == 1 else "utf-8")
            except UnicodeDecodeError as problem:
                raise UnreadableFileError(
                    f"is not UTF-8 text: byte {problem.object[problem.start]:#04x}; save it as UTF-8",
                    file=str(self.path),
                    row=number,
                ) from problem

    def _strict(
        self,
        header: Sequence[str],
        names: Sequence[str],
        rows: int,
        lines: Callable[[], Iterator[bytes]],
        start: Place,
    ) -> Iterator[Block]:
        """Read records by Python's parser, all fields as texts."""
        where = {name: position for position, name in enumerate(header)}
        places = [where[name] for name in names]
        found: list[tuple[int, int, list[str]]] = []
        for record, (line, fields) in enumerate(self._records(lines(), start), start=start.record):
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
            found.append((record, line, [fields[place] for place in places]))
            if len(found) == rows:
                yield _text_block(names, found)
                found = []
        if found:
            yield _text_block(names, found)


def _marked(blocks: Iterator[Block]) -> Iterator[tuple[Block, bool]]:
    """Yield each block, and whether it is the last."""
    waiting: Block | None = None
    try:
        for block in blocks:
            if waiting is not None:
                yield waiting, False
            waiting = block
    except DataError:
        if waiting is not None:
            yield waiting, False
        raise
    if waiting is not None:
        yield waiting, True


def _text_block(names: Sequence[str], found: list[tuple[int, int, list[str]]]) -> Block:
    records, lines, fields = zip(*found, strict=True)
    return _TextBlock(dict(zip(names, zip(*fields, strict=True), strict=True)), records, lines)


def hint_of_delimiter(other: str) -> str:
    """Return what to say of a header in which another mark seems to separate the fields."""
    return f"; the header has {other!r}: are the fields separated by it, not by commas? Write commas"


def _lines(text: bytes | bytearray, file: Any = None) -> Iterator[bytes]:
    """Yield the lines of a text and of the file after it; of a line that is too long, only enough to see that."""
    lines = io.BytesIO(text)
    for line in iter(lambda: lines.readline(LONGEST_LINE + 1), b""):
        cut = file is not None and not line.endswith(b"\n") and len(line) <= LONGEST_LINE
        yield line + file.readline(LONGEST_LINE + 1 - len(line)) if cut else line
    if file is not None:
        yield from iter(lambda: file.readline(LONGEST_LINE + 1), b"")


def _cut(file: Any, text: bytes) -> Iterator[_Piece]:
    """Yield pieces of whole records, and last the rest of the file if a misplaced mark hides where records end."""
    more = 1
    while more:
        # read where it stays, as it is too large to be copied; buffers of one size can be reused
        piece = bytearray(max(PIECE_BYTES, 2 * len(text)))
        piece[: len(text)] = text
        with memoryview(piece) as places:
            more = file.readinto(places[len(text) :])
        del piece[len(text) + more :]
        quoted = b'"' in piece
        end = _last_end(piece, quoted=quoted) if more else len(piece)
        text = bytes(piece[end:])
        del piece[end:]
        if (quoted and not _is_regular(piece)) or (end == 0 and len(text) > LONGEST_LINE):
            yield _Piece(bytearray(), rest=bytes(piece) + text)
            return
        yield _Piece(piece, quoted)


def _parsed_ahead(
    pieces: Iterator[_Piece], parse: Callable[[_Piece], dict[str, Column] | None]
) -> Iterator[tuple[_Piece, Future[dict[str, Column] | None]]]:
    """Yield each piece with its columns, which threads parse while the next pieces are cut."""
    with ThreadPoolExecutor(PARSED_AT_ONCE, thread_name_prefix="parse") as threads:
        waiting: list[tuple[_Piece, Future[dict[str, Column] | None]]] = []
        for piece in pieces:
            waiting.append((piece, threads.submit(parse, piece)))
            if len(waiting) > PARSED_AT_ONCE:
                yield waiting.pop(0)
        yield from waiting


def _line_ends(text: bytearray) -> int:
    # lines are short: one by one, bytes.count takes four times as long
    letters = np.frombuffer(text, dtype=np.uint8)
    parts = (letters[start : start + IN_CACHE] for start in range(0, len(letters), IN_CACHE))
    return sum(int(np.count_nonzero(part == ord("\n"))) for part in parts)


def _last_end(text: bytearray, *, quoted: bool) -> int:
    """Return where the last whole record ends: after a line that follows an even number of quotation marks."""
    if not quoted:
        return text.rfind(b"\n") + 1
    odd, end = text.count(b'"') % 2, len(text)
    while (line := text.rfind(b"\n", 0, end)) >= 0:
        odd ^= text.count(b'"', line, end) % 2
        if not odd:
            return line + 1
        end = line
    return 0


def _is_regular(piece: bytearray) -> bool:
    """Return whether both parsers agree on the meaning of every quotation mark."""
    return _QUOTED_RECORDS.fullmatch(piece) is not None


def _is_plain(piece: bytearray) -> bool:
    """Return whether a piece does without the strict parser: no other line ends, NUL, long fields or lines."""
    # pyarrow passes over a byte order mark, also where it begins a record
    if piece.startswith(BOM_UTF8):
        return False
    if b"\r" in piece and piece.count(b"\r") != piece.count(b"\r\n"):
        return False
    # as signed bytes, NUL is 0 and what is not ASCII is below
    lowest = np.frombuffer(piece, dtype=np.int8).min(initial=1)
    if lowest <= 0 and b"\0" in piece:
        return False
    # a field or line that covers no such window is shorter than two of them
    for window, first, other in ((LONGEST_NUMBER // 2, b",", b"\n"), (LONGEST_LINE // 2, b"\n", b"\n")):
        for start in range(0, len(piece) - window + 1, window):
            stop = start + window
            if piece.find(first, start, stop) < 0 and piece.find(other, start, stop) < 0:
                return False
    try:
        return bool(lowest > 0 or piece.decode())
    except UnicodeDecodeError:
        return False


def _parsed(
    piece: _Piece, header: Sequence[str], names: Sequence[str], numbers: Collection[str]
) -> dict[str, Column] | None:
    """Return the columns of a piece as pyarrow reads them; None where the strict parser must read it."""
    if not _is_plain(piece.text):
        return None
    pyarrow = arrow()
    from pyarrow import csv as arrow_csv

    text = pyarrow.dictionary(pyarrow.int32(), pyarrow.string())
    # between two blocks, pyarrow takes a quoted CRLF for one that ends a line, and drops its second half
    whole = piece.quoted and b"\r" in piece.text
    block_size = len(piece.text) + 1 if whole else BLOCK_PARSED
    try:
        table = arrow_csv.read_csv(
            pyarrow.py_buffer(piece.text),
            arrow_csv.ReadOptions(use_threads=False, block_size=block_size, column_names=list(header)),
            arrow_csv.ParseOptions(quote_char='"' if piece.quoted else False, newlines_in_values=piece.quoted),
            arrow_csv.ConvertOptions(
                column_types={name: pyarrow.float64() if name in numbers else text for name in names},
                include_columns=list(names),
                null_values=[],
            ),
        )
        columns: dict[str, Column] = {}
        for name in names:
            array = table.column(name).combine_chunks()
            columns[name] = numbers_held(array) if name in numbers else coded(array)
            # the strict parser says which field is infinite, or too large
            if name in numbers and not np.isfinite(columns[name]).all():
                return None
        return columns
    except pyarrow.ArrowException:
        return None


def _split(
    columns: dict[str, Column], record: int, rows: int, again: Callable[[], Iterator[Block]]
) -> Iterator[Block]:
    count = len(next(iter(columns.values())))
    for start in range(0, count, rows):
        stop = min(start + rows, count)
        part = {name: values[start:stop] for name, values in columns.items()}
        yield _ParsedBlock(part, range(record + start, record + stop), again)
