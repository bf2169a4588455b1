"""Text that is safe to show: files and programs may write control characters."""

from __future__ import annotations

from collections.abc import Sized
from fractions import Fraction

BRIEF = 60
"""Characters of a value that :func:`in_brief` shows."""

LONGEST_QUOTED = 200
"""Characters of a value that an error quotes."""


def one_line(text: str) -> str:
    """Return a text as one line of printable characters: a value must not steer the reader's terminal."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in text)


def is_writable(text: str) -> bool:
    """Return whether a text can be written as UTF-8: half a surrogate pair cannot."""
    try:
        return text.isascii() or bool(text.encode())
    except UnicodeEncodeError:
        return False


def short_line(text: str, most: int = 2_000) -> str:
    """Return an error's text as one line of bounded length."""
    line = one_line(text[: most + 1])
    return line if len(line) <= most else f"{line[:most]}..."


def shown(text: str | bytes | bytearray, most: int = 100) -> str:
    """Return the start of a text or of some bytes, in printable characters."""
    encoded = text.encode("utf-8", errors="backslashreplace") if isinstance(text, str) else bytes(text)
    more = f" and {len(encoded) - most:,} bytes more" if len(encoded) > most else ""
    return f"'{printable(encoded[:most])}'{more}"


def quoted(value: object) -> str:
    """Return a value as Python writes it (an exact number as 2/3), in one short printable line."""
    if isinstance(value, Fraction):
        text = str(value)
    else:
        text = one_line(repr(value[: LONGEST_QUOTED + 1] if isinstance(value, (str, bytes)) else value))
    length = len(value) if isinstance(value, (str, bytes)) else len(text)
    return text if length <= LONGEST_QUOTED else f"{text[:LONGEST_QUOTED]}... ({length:,} characters)"


def in_brief(value: object) -> str:
    """Return a value that is short; of any other its kind and size, as a table would fill a screen."""
    kind = type(value).__name__
    kind = f"{'an' if kind[0] in 'aeiouAEIOU' or kind == 'ndarray' else 'a'} {kind}"
    try:
        return _shown_or_sized(value, kind)
    except Exception:  # noqa: BLE001  what cannot show itself must not hide the message that it is part of
        return kind


def _shown_or_sized(value: object, kind: str) -> str:
    shape = getattr(value, "shape", None)
    if isinstance(shape, tuple) and shape:
        return f"{kind} of shape {shape}"
    text = quoted(value)
    if len(text) <= BRIEF:
        return text
    size = f" of length {len(value):,}" if isinstance(value, Sized) else ""
    return f"{kind}{size}"


def printable(text: bytes) -> str:
    """Return a program's output as one line of printable characters: it must not steer the reader's terminal."""
    return one_line(text.decode("utf-8", errors="backslashreplace"))
