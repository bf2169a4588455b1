"""The page that a command's text is written on: this terminal, or a file."""

from __future__ import annotations

import os
import shutil
import sys

from reference.common.page import Page

NARROWEST = 40
"""Columns that a text is never folded below."""


def page(out: str | None) -> Page:
    """Return the page of a text that goes to a file, where one is named, else to standard output."""
    if out is not None:
        return Page()
    return Page(width(), sys.stdout.encoding or "utf-8")


def width() -> int | None:
    """Return the columns of the terminal (COLUMNS, where it is set); None where there is none."""
    if not sys.stdout.isatty() and not os.environ.get("COLUMNS", "").isdecimal():
        return None
    return max(shutil.get_terminal_size().columns, NARROWEST)
