"""The pages under ``proofs/`` that a person can read: one entry per theorem.

An entry carries a fingerprint of the theorem's statement and of every definition that it mentions.  Whoever
changes one of them has to come by the page; and a row of ``claims.json`` that names a theorem with another
statement no longer agrees with it.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from audit.proofs.claims import Carried
from audit.proofs.sources import PROJECT
from reference.common.files import write_whole

FOLDER = PROJECT.parent

NOT_PAGES = ("STATUS.md", "README.md")

HEADING = re.compile(r"^## `([\w']+)`$", re.MULTILINE)
HEAD = re.compile(r"^\*(?P<claims>[^;*]+); (?P<source>[^;*]+); (?P<fingerprint>`\w+`)\*$", re.MULTILINE)
"""The line below a heading."""

PARAGRAPHS = ("Says", "Does not say")
"""The paragraphs of every entry.  *Checked* and *Owed* stand before them where a theorem has preconditions of its
own, *Idea* stands between them where Coq's proof is not that of the page."""

LIMITS = "nothing here says that a program is differentially private"
"""Every page prints it."""


@dataclass(frozen=True)
class TheoremEntry:
    """A page's entry on one theorem.

    Parameters
    ----------
    page, theorem : str
        Name of the file, and of the theorem.
    head : dict
        Claims, source and fingerprint.
    text : str
        The whole entry.
    """

    page: str
    theorem: str
    head: dict[str, str]
    text: str


DIGITS = 32
"""Of a fingerprint: too many for anyone to find a weaker definition, its bound names varied, that has the same."""


def fingerprint(theorem: str, stored: dict[str, Any]) -> str:
    """Return the fingerprint of a statement and the definitions that it mentions, from the committed digests."""
    row = stored["theorems"][theorem]
    parts = [row["statement"], *(f"{word} {stored['definitions'][word]}" for word in row["mentions"])]
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:DIGITS]


def entries(folder: Path = FOLDER) -> list[TheoremEntry]:
    """Return the entries of all pages."""
    found = []
    for path in sorted(folder.glob("*.md")):
        if path.name not in NOT_PAGES:
            _, *parts = HEADING.split(path.read_text(encoding="utf-8"))
            for theorem, text in zip(parts[::2], parts[1::2], strict=True):
                head = HEAD.search(text)
                found.append(TheoremEntry(path.name, theorem, head.groupdict() if head else {}, text))
    return found


def head_line(row: Carried, stored: dict[str, Any]) -> str:
    """Return the line below the heading of a theorem's entry."""
    claimed = ", ".join(row.claims) or "no claim"
    return f"*{claimed}; {row.place}; `{fingerprint(row.theorem, stored)}`*"


def renew(rows: Sequence[Carried], stored: dict[str, Any], folder: Path = FOLDER) -> None:
    """Write the line below each heading again: from ``claims.json`` and the digests."""
    carried = {row.theorem: row for row in rows if row.theorem in stored["theorems"]}
    for page in sorted({entry.page for entry in entries(folder)}):
        before, *parts = HEADING.split((folder / page).read_text(encoding="utf-8"))
        text = before
        for theorem, entry in zip(parts[::2], parts[1::2], strict=True):
            line = head_line(carried[theorem], stored) if theorem in carried else None
            text += f"## `{theorem}`" + (HEAD.sub(lambda _, line=line: line, entry, count=1) if line else entry)
        write_whole(folder / page, text)


def problems(rows: Sequence[Carried], stored: dict[str, Any], folder: Path = FOLDER) -> Iterator[str]:
    """Yield where the pages do not say what ``claims.json`` and the digests say."""
    found = entries(folder)
    names = [entry.theorem for entry in found]
    for page in sorted({entry.page for entry in found}):
        if LIMITS not in " ".join((folder / page).read_text(encoding="utf-8").split()):
            yield f"{page}: the limits are missing"
    carried = {row.theorem: row for row in rows}
    for theorem in carried:
        if names.count(theorem) != 1:
            yield f"{theorem}: {names.count(theorem)} entries on the pages of proofs/, not one"
    for entry in found:
        where = f"{entry.page}, {entry.theorem}"
        if entry.theorem not in carried or entry.theorem not in stored["theorems"]:
            yield f"{where}: no such theorem"
            continue
        row = carried[entry.theorem]
        expected = (
            ("claims", ", ".join(row.claims) or "no claim"),
            ("source", row.place),
            ("fingerprint", f"`{fingerprint(entry.theorem, stored)}`"),
        )
        for label, value in expected:
            if entry.head.get(label) != value:
                yield f"{where}: {label} is {entry.head.get(label)}, not {value}; read the entry, then mend it"
        yield from (f"{where}: {label} is missing" for label in PARAGRAPHS if f"**{label}.**" not in entry.text)
