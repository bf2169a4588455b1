"""Text that is safe to show: what a file or a program wrote may hold control characters."""

from __future__ import annotations


def one_line(text: str) -> str:
    """Return a text as one line of printable characters: a quoted value must not steer the reader's terminal."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in text)
