"""Text that fits the terminal it is written to."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Iterator
from textwrap import wrap

from reference.commands import terminal
from reference.commands.output import output
from reference.commands.parsing import as_typed
from reference.common.numbers import Enclosure, short_text
from reference.common.page import Listing, Page
from reference.common.printable import one_line

AGAIN = "again:"
"""Precedes a command line that repeats a result."""


def range_text(value: Enclosure, digits: int = 6) -> str:
    """Return one number if both ends show the same digits, else both ends."""
    least, most = short_text(value.lower, digits), short_text(value.upper, digits)
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


def table_text(table: Listing, width: int) -> str:
    """Return a table in characters that the terminal can show, or its rows as lists if it is too wide."""
    return Page(width, getattr(output(), "encoding", None) or "utf-8").text(table)
