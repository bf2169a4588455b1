"""The page for a command's text: this terminal, or a file."""

from __future__ import annotations

import os
from typing import TextIO

from reference.commands.output import output
from reference.common.page import Page

NARROWEST = 40
"""The fewest columns that a text is folded to."""


def page(out: str | None) -> Page:
    """Return the page of a text that goes to the named file, or else to standard output."""
    if out is not None:
        return Page()
    return Page(width(), output().encoding or "utf-8")


def width(stream: TextIO | None = None) -> int | None:
    """Return the columns (COLUMNS, if set) of the terminal that a stream, or the output, leads to; else None."""
    own, columns = stream or output(), os.environ.get("COLUMNS", "")
    if columns.isdecimal() and int(columns) > 0:
        return max(int(columns), NARROWEST)
    if not own.isatty():
        return None
    try:
        found = os.get_terminal_size(own.fileno()).columns
    except OSError:
        # it only says that it is one
        found = 0
    return max(found or 80, NARROWEST)
