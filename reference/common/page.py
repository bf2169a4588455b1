"""Text as wide as its page: tables, or lists where a table is too wide."""

from __future__ import annotations

import io
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass

from reference.common.printable import one_line

INDENT = "  "

TYPED = {"–": "-", "±": "+-", "…": "..."}
"""Substitutes for characters that the page lacks; any other becomes a question mark."""

BORDERS = "┏━┳┓┃┡╇┩│└┴┘├┼┤"


@dataclass(frozen=True)
class Listing:
    """A table.

    Parameters
    ----------
    title : str
    headings : tuple of str
    rows : tuple of tuple of str
        A cell for each heading.
    """

    title: str
    headings: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]

    @property
    def printable(self) -> Listing:
        """The table with one printable line in each cell."""
        rows = tuple(tuple(map(one_line, row)) for row in self.rows)
        return Listing(one_line(self.title), tuple(map(one_line, self.headings)), rows)


@dataclass(frozen=True)
class Page:
    """The page that a text is written on.

    Parameters
    ----------
    width : int, optional
        In columns; without it lines are as long as their text.
    encoding : str
    """

    width: int | None = None
    encoding: str = "utf-8"

    def text(self, *parts: Listing | str) -> str:
        """Return tables and paragraphs in turn; names from files do not break lines."""
        return self.shown(
            "".join(self._table(one) if isinstance(one, Listing) else self._folded(one) for one in parts)
        )

    def has(self, text: str) -> bool:
        """Return whether the page has every character of a text."""
        try:
            text.encode(self.encoding)
        except UnicodeEncodeError:
            return False
        return True

    def shown(self, text: str) -> str:
        """Substitute the characters of a text that the page lacks."""
        if self.has(text):
            return text
        return "".join(c if self.has(c) else TYPED.get(c, "?") for c in text)

    def _folded(self, line: str) -> str:
        line = one_line(line)
        if self.width is None:
            return f"{line}\n"
        return textwrap.fill(line, self.width, break_on_hyphens=False, subsequent_indent=INDENT) + "\n"

    def _table(self, listing: Listing) -> str:
        listing = listing.printable
        from rich import box
        from rich.console import Console
        from rich.table import Table

        table = Table(title=listing.title, box=box.HEAVY_HEAD if self.has(BORDERS) else box.ASCII)
        for name in listing.headings:
            table.add_column(name, no_wrap=True)
        for row in listing.rows:
            table.add_row(*row)
        buffer = io.StringIO()
        # as wide as it needs; a table that does not fit becomes a list
        console = Console(file=buffer, width=10_000, highlight=False, markup=False, emoji=False)
        if self.width is not None and console.measure(table).maximum > self.width:
            return "".join(self._list(listing))
        console.print(table)
        return buffer.getvalue()

    def _list(self, listing: Listing) -> Iterator[str]:
        """Yield each row as a paragraph, with a line for each cell."""
        assert self.width is not None
        yield self._folded(listing.title)
        margin = max(len(name) for name in listing.headings[1:]) + len(INDENT)
        for first, *cells in listing.rows:
            yield self._folded(f"{listing.headings[0]}: {first}")
            for name, cell in zip(listing.headings[1:], cells, strict=True):
                if cell:
                    yield (
                        textwrap.fill(
                            cell,
                            self.width,
                            break_on_hyphens=False,
                            initial_indent=f"{INDENT}{name:<{margin}}",
                            subsequent_indent=" " * (len(INDENT) + margin),
                        )
                        + "\n"
                    )
