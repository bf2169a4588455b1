"""Text as wide as its page: tables, or lists where a table is too wide."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest
from unicodedata import combining, east_asian_width

from reference.common.printable import one_line

INDENT = "  "

TYPED = {"–": "-", "±": "+-", "…": "..."}
"""Substitutes for characters that the page lacks; any other becomes a question mark."""

RULES, SIDES = ("┏━┳┓", "┡━╇┩", "└─┴┘"), ("┃", "│")
"""Of a table: rules above it, below its headings and below it (left end, line, crossing, right end), and sides."""

ASCII_RULES, ASCII_SIDES = ("+-++", "+=++", "+-++"), ("|", "|")


@dataclass(frozen=True)
class Listing:
    """A table.

    Parameters
    ----------
    title : str
    headings : tuple of str
    rows : tuple of tuple of str
        A cell for each heading.
    folds : tuple of str
        Headings of the columns that may be broken at spaces, if the page is too narrow.
    numbers : tuple of str
        Headings of the columns that end flush.
    bordered : bool
    """

    title: str
    headings: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    folds: tuple[str, ...] = ()
    numbers: tuple[str, ...] = ()
    bordered: bool = True

    @property
    def beside_cells(self) -> int:
        """The columns of a line that borders and spaces take."""
        return 3 * len(self.headings) + 1 if self.bordered else 2 * len(self.headings) - 2


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
        return "".join(self._table(one) if isinstance(one, Listing) else self._folded(one) for one in parts)

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
        line = self.shown(one_line(line))
        if self.width is None:
            return f"{line}\n"
        return textwrap.fill(line, self.width, break_on_hyphens=False, subsequent_indent=INDENT) + "\n"

    def _table(self, listing: Listing) -> str:
        listing = self._printable(listing)
        widths = self._widths(listing)
        lines = self._list(listing) if widths is None else self._drawn(listing, widths)
        return "".join(f"{line.rstrip()}\n" for line in lines)

    def _printable(self, listing: Listing) -> Listing:
        """Return a table with one printable line in each cell, of the characters that the page has."""

        def all_of(texts: Sequence[str]) -> tuple[str, ...]:
            return tuple(self.shown(one_line(text)) for text in texts)

        return replace(
            listing,
            title=self.shown(one_line(listing.title)),
            headings=all_of(listing.headings),
            rows=tuple(map(all_of, listing.rows)),
            folds=all_of(listing.folds),
            numbers=all_of(listing.numbers),
        )

    def _widths(self, listing: Listing) -> list[int] | None:
        """Return the columns that each cell of a row has; None if the page is too narrow."""
        columns = list(zip(listing.headings, *listing.rows, strict=True))
        widths = [max(map(columns_of, cells)) for cells in columns]
        if self.width is None:
            return widths
        least = list(widths)
        for place, cells in enumerate(columns):
            if cells[0] in listing.folds:
                least[place] = max(columns_of(word) for cell in cells for word in cell.split())
        room = self.width - listing.beside_cells
        if sum(least) > room:
            return None
        while sum(widths) > room:
            _, widest = max((width, place) for place, width in enumerate(widths) if width > least[place])
            widths[widest] -= 1
        return widths

    def _drawn(self, listing: Listing, widths: Sequence[int]) -> Iterator[str]:
        """Yield the lines of a table."""
        has = self.has("".join((*RULES, *SIDES)))
        (above, between, below), sides = (RULES, SIDES) if has else (ASCII_RULES, ASCII_SIDES)
        flush = [heading in listing.numbers for heading in listing.headings]
        whole = sum(widths) + listing.beside_cells
        yield from (line.center(whole) for line in textwrap.wrap(listing.title, whole))
        if not listing.bordered:
            for cells in (listing.headings, *listing.rows):
                yield from map("  ".join, _row(cells, widths, flush))
            return
        for number, cells in enumerate((listing.headings, *listing.rows)):
            if number <= 1:
                yield _rule((above, between)[number], widths)
            side = sides[number > 0]
            yield from (f"{side} {f' {side} '.join(parts)} {side}" for parts in _row(cells, widths, flush))
        yield _rule(below, widths)

    def _list(self, listing: Listing) -> Iterator[str]:
        """Yield each row as a paragraph, with a line for each cell."""
        assert self.width is not None
        yield self._folded(listing.title)
        margin = max(len(name) for name in listing.headings[1:]) + len(INDENT)
        for first, *cells in listing.rows:
            yield self._folded(f"{listing.headings[0]}: {first}")
            for name, cell in zip(listing.headings[1:], cells, strict=True):
                if cell:
                    yield textwrap.fill(
                        cell,
                        self.width,
                        break_on_hyphens=False,
                        initial_indent=f"{INDENT}{name:<{margin}}",
                        subsequent_indent=" " * (len(INDENT) + margin),
                    )


def columns_of(text: str) -> int:
    """Return the columns that a terminal gives a text: two for a wide character, none for a combining one."""
    if text.isascii():
        return len(text)
    return sum(0 if combining(c) else 2 if east_asian_width(c) in "WF" else 1 for c in text)


def _rule(marks: str, widths: Sequence[int]) -> str:
    left, line, crossing, right = tuple(marks)
    return left + crossing.join(line * (width + 2) for width in widths) + right


def _row(cells: Sequence[str], widths: Sequence[int], flush: Sequence[bool]) -> Iterator[list[str]]:
    """Yield the lines of one row, each with a part of every cell, as wide as its column."""
    folded = (
        [cell] if columns_of(cell) <= width else textwrap.wrap(cell, width, break_on_hyphens=False)
        for cell, width in zip(cells, widths, strict=True)
    )
    for parts in zip_longest(*folded, fillvalue=""):
        spaces = (" " * (width - columns_of(part)) for part, width in zip(parts, widths, strict=True))
        yield [
            space + part if right else part + space
            for part, space, right in zip(parts, spaces, flush, strict=True)
        ]
