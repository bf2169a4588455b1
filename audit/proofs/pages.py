"""The readable pages under ``proofs/``: one entry per theorem.

An entry carries a fingerprint of the theorem's statement and of every definition that it mentions.  If you
change one of them, you have to edit the page; and a row of ``claims.json`` that names a theorem with another
statement no longer agrees with it.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from audit.common.packed import CHECKOUT, Place, members, place_of
from audit.proofs.claims import Carried
from reference.common.files import write_whole

FOLDER = place_of("proofs")

NOT_PAGES = ("STATUS.md", "README.md")

HEADING = re.compile(r"^## `([\w']+)`\n(?:\nWith ((?:`[\w']+`,\s)*`[\w']+`)\.\n)?", re.MULTILINE)
"""The heading of an entry, and the theorems that share it."""

HEAD = re.compile(r"^\*(?:(?P<claims>[^;*]+); )?(?P<source>[^;*]+); (?P<fingerprint>`\w+`)\*$", re.MULTILINE)
"""The line below the names of an entry; without claims where it supports none."""

PARAGRAPHS = ("Says", "Does not say")
"""The paragraphs of every entry.  *Checked* and *Owed* come before them if a theorem has its own preconditions,
*Idea* between them if Coq's proof differs from the page's."""

LIMITS = "nothing here says that a program is differentially private"
"""In the section of Coq's README that every page links to."""

TITLE_OF_LIMITS = "What the theorems do not say"
LINK_TO_LIMITS = f"(coq/README.md#{TITLE_OF_LIMITS.lower().replace(' ', '-')})"


@dataclass(frozen=True)
class TheoremEntry:
    """A theorem on a page.  Some theorems share an entry.

    Parameters
    ----------
    page, theorem : str
        Name of the file, and of the theorem.
    together : tuple of str
        The theorems of the entry.
    head : dict
        Claims, source and fingerprint.
    text : str
        The whole entry.
    """

    page: str
    theorem: str
    together: tuple[str, ...]
    head: dict[str, str]
    text: str


DIGITS = 32
"""Digits of a fingerprint: too many to find a weaker definition with the same one by varying bound names."""


def fingerprint(theorem: str, stored: dict[str, Any]) -> str:
    """Return the fingerprint of a statement and the definitions that it mentions, from the committed digests."""
    row = stored["theorems"][theorem]
    return _digits([row["statement"], *(f"{word} {stored['definitions'][word]}" for word in row["mentions"])])


def fingerprinted(rows: Sequence[Carried], stored: dict[str, Any]) -> dict[str, str]:
    """Return the committed digests of the definitions that the pages' fingerprints cover."""
    words = {word for row in rows for word in stored["theorems"][row.theorem]["mentions"]}
    return {word: stored["definitions"][word] for word in sorted(words)}


def _digits(parts: Sequence[str]) -> str:
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:DIGITS]


def _groups(text: str) -> Iterator[tuple[tuple[str, ...], str]]:
    """Yield the names of each entry, and the text below them."""
    _, *parts = HEADING.split(text)
    for last, others, below in zip(parts[::3], parts[1::3], parts[2::3], strict=True):
        yield (*re.findall(r"[\w']+", others or ""), last), below


def _section(text: str, title: str) -> str:
    """Return the text below a heading, up to the next; empty without such a heading."""
    return text.partition(f"\n## {title}\n")[2].partition("\n## ")[0]


def entries(folder: Place = FOLDER) -> list[TheoremEntry]:
    """Return the entries of all pages."""
    found = []
    for path in members(folder):
        if path.name.endswith(".md") and path.name not in NOT_PAGES:
            for names, text in _groups(path.read_text(encoding="utf-8")):
                head = HEAD.search(text)
                fields = head.groupdict() if head else {}
                found += [TheoremEntry(path.name, theorem, names, fields, text) for theorem in names]
    return found


def places() -> dict[str, str]:
    """Return where each theorem is told: its page, and the heading of its entry."""
    return {entry.theorem: f"{entry.page}#{entry.together[-1].lower()}" for entry in entries()}


def head_of(theorems: Sequence[Carried], stored: dict[str, Any]) -> dict[str, str | None]:
    """Return the fields of the line below the names of an entry."""
    claimed = ", ".join(dict.fromkeys(claim for row in theorems for claim in row.claims))
    each = [fingerprint(row.theorem, stored) for row in theorems]
    return {
        "claims": claimed or None,
        "source": ", ".join(dict.fromkeys(row.place for row in theorems)),
        "fingerprint": f"`{each[0] if len(each) == 1 else _digits(each)}`",
    }


def renew(rows: Sequence[Carried], stored: dict[str, Any], folder: Path = CHECKOUT / "proofs") -> None:
    """Rewrite the line below the names of each entry from ``claims.json`` and the digests."""
    carried = {row.theorem: row for row in rows if row.theorem in stored["theorems"]}
    for page in sorted({entry.page for entry in entries(folder)}):
        text = (folder / page).read_text(encoding="utf-8")
        for names, below in _groups(text):
            found = HEAD.search(below)
            if found and carried.keys() >= set(names):
                head = head_of([carried[name] for name in names], stored)
                line = f"*{'; '.join(field for field in head.values() if field)}*"
                text = text.replace(below, below[: found.start()] + line + below[found.end() :], 1)
        write_whole(folder / page, text)


def _missing_limits(names: Sequence[str], folder: Place) -> Iterator[str]:
    """Yield the pages without the limits of all theorems, or without the link there."""
    section = _section((folder / "coq" / "README.md").read_text(encoding="utf-8"), TITLE_OF_LIMITS)
    if LIMITS not in " ".join(section.split()):
        yield "coq/README.md: the limits are missing"
    for page in names:
        if LINK_TO_LIMITS not in (folder / page).read_text(encoding="utf-8"):
            yield f"{page}: the link to the limits is missing"


def problems(rows: Sequence[Carried], stored: dict[str, Any], folder: Place = FOLDER) -> Iterator[str]:
    """Yield where the pages disagree with ``claims.json`` and the digests."""
    found = entries(folder)
    names = [entry.theorem for entry in found]
    yield from _missing_limits(sorted({entry.page for entry in found}), folder)
    carried = {row.theorem: row for row in rows}
    for theorem, row in carried.items():
        if names.count(theorem) != 1:
            yield f"{theorem}: {names.count(theorem)} entries on the pages of proofs/, not one"
        level = stored["theorems"].get(theorem, {"level": row.level})["level"]
        if level != row.level:
            yield f"{theorem}: its level is {level} in the digests, and {row.level} in claims.json"
    for entry in found:
        where = f"{entry.page}, {entry.theorem}"
        if entry.theorem not in carried or entry.theorem not in stored["theorems"]:
            yield f"{where}: no such theorem"
            continue
        if carried.keys() >= set(entry.together) and stored["theorems"].keys() >= set(entry.together):
            for label, value in head_of([carried[name] for name in entry.together], stored).items():
                if entry.head.get(label) != value:
                    yield f"{where}: {label} is {entry.head.get(label)}, not {value}; read the entry, then mend it"
        yield from (f"{where}: {label} is missing" for label in PARAGRAPHS if f"**{label}.**" not in entry.text)
