"""Text that fits the terminal it is written to."""

from __future__ import annotations

import io
import shlex
from collections.abc import Iterable, Iterator
from textwrap import wrap

from rich.box import ASCII
from rich.cells import cell_len
from rich.console import Console
from rich.table import Column, Table

from reference.commands import terminal
from reference.commands.output import output
from reference.commands.parsing import as_typed
from reference.common.numbers import Enclosure, short_text
from reference.common.page import BORDERS
from reference.common.printable import one_line

AGAIN = "again:"
"""Precedes a command line that repeats a result."""


def range_text(value: Enclosure) -> str:
    """Return one number if both ends show the same digits, else both ends."""
    least, most = short_text(value.lower), short_text(value.upper)
    return least if least == most else f"{least} to {most}"


def columns(out: str | None = None) -> int | None:
    """Return the columns of the terminal for a text; None for a file or a pipe.

    Parameters
    ----------
    out : str, optional
        The file that the text goes to.
    """
    return None if out is not None else terminal.width()


def fitted(lines: Iterable[str], width: int | None) -> str:
    """Return the lines as text, breaking long ones at spaces; a broken command still runs, in the form typed.

    Names from files or programs cannot break lines or steer the terminal.
    """
    return "".join(f"{part}\n" for line in lines for part in _parts(one_line(line), width))


def _parts(line: str, width: int | None) -> Iterator[str]:
    margin = " " * (len(line) - len(line.lstrip()))
    begin, command = _again(line)
    line = begin + command
    if width is None or len(line) <= width:
        yield line
        return
    if begin:
        yield from _command(begin, command, margin, width)
        return
    yield from wrap(
        line,
        width,
        subsequent_indent=margin + "  ",
        break_long_words=False,
        break_on_hyphens=False,
        drop_whitespace=True,
    )


def _again(line: str) -> tuple[str, str]:
    """Split a line into what precedes a command that repeats a result, if it has one, and the command as typed."""
    label, _, rest = line.partition(AGAIN)
    command = rest.lstrip()
    if not command or label.strip():
        return "", line
    return line.removesuffix(command), as_typed(command)


def _command(begin: str, command: str, margin: str, width: int) -> Iterator[str]:
    """Break a command between its words, each line but the last ending in a backslash."""
    first, *words = map(shlex.quote, shlex.split(command))
    current = begin + first
    for word in words:
        if len(current) + 1 + len(word) + 2 > width:
            yield current + " \\"
            current = margin + "  " + word
        else:
            current += " " + word
    yield current


def table_text(table: Table, width: int) -> str:
    """Return a table in characters that the terminal can show, or its rows as lists if it is too wide.

    Parameters
    ----------
    table : Table
        Its columns with `no_wrap` keep each cell on one line.
    width : int
    """
    if _least_width(table) > width:
        return fitted(_listed(table), width)
    encoding = getattr(output(), "encoding", None) or "utf-8"
    try:
        BORDERS.encode(encoding)
    except UnicodeEncodeError:
        table.box = ASCII
    buffer = io.StringIO()
    Console(file=buffer, width=width, highlight=False, markup=False, emoji=False).print(table)
    return buffer.getvalue()


def _cells(column: Column) -> list[str]:
    return [str(column.header), *(str(cell) for cell in column.cells)]


def _least_width(table: Table) -> int:
    """Return the columns that the table needs without cutting words."""
    needed = 3 * len(table.columns) + 1
    for column in table.columns:
        cells = _cells(column)
        parts = cells[1:] if column.no_wrap else [word for cell in cells for word in cell.split()]
        heading = 0 if not column.no_wrap else max((cell_len(word) for word in cells[0].split()), default=0)
        needed += max([heading, *(cell_len(part) for part in parts)])
    return needed


def _listed(table: Table) -> Iterator[str]:
    """Yield the title, then each row as lines: the first cell, and the others with their headings below it."""
    yield str(table.title)
    headings, *rows = zip(*(_cells(column) for column in table.columns), strict=True)
    for first, *cells in rows:
        yield f"{headings[0]} {first}"
        yield from (f"  {heading}: {cell}" for heading, cell in zip(headings[1:], cells, strict=True) if cell)
