"""``proofs/STATUS.md``: what is machine-checked, generated from ``claims.json`` and ``digests.json``."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from audit.common.packed import CHECKOUT
from audit.proofs.assumptions import LEVELS
from audit.proofs.check import committed
from audit.proofs.claims import STATUSES, Carried, rows
from audit.proofs.pages import places
from reference.common.files import write_whole

MARKS = {"none": "°", "reals": "", "classical": "\\*"}
"""The mark after a theorem's name, by the axioms that its proof may use."""


def path() -> Path:
    """Return the path of the page."""
    return CHECKOUT / "proofs/STATUS.md"


def page() -> str:
    """Return the page."""
    return "\n".join(_lines()) + "\n"


def write() -> None:
    """Renew the page."""
    write_whole(path(), page())


def _linked(row: Carried, place: str) -> str:
    return f"[`{row.theorem}`]({place}){MARKS[row.level]}"


def _groups() -> dict[str, list[str]]:
    """Return the linked names by claims and status; those that support no claim by their page."""
    where = places()
    found: dict[str, list[str]] = {}
    for row in rows():
        place = where.get(row.theorem, "")
        page = place.partition("#")[0]
        says = f"{', '.join(row.claims)} *{row.status}*" if row.claims else f"*{row.status}*, [{page}]({page})"
        found.setdefault(says, []).append(_linked(row, place))
    return found


def _lines() -> Iterator[str]:
    stored = committed()
    yield "# Machine-checked proofs: status"
    yield ""
    yield f"Coq {stored['coq']} checks {len(stored['theorems'])} theorems; their statements"
    yield f"([Statements.v](coq/Statements.v)) mention {len(stored['definitions'])} definitions."
    yield "[How we check](coq/README.md), and [what they do not say](coq/README.md#what-the-theorems-do-not-say)."
    yield "`cfm audit proofs --write` writes this page. Readings, symbols, and code without a theorem:"
    yield "[claims.json](../audit/proofs/claims.json)."
    yield ""
    yield "Status: " + "; ".join(f"*{word}*, {meaning}" for word, meaning in STATUSES.items()) + "."
    yield ""
    said: tuple[str, ...] = ()
    for level, axioms in LEVELS.items():
        if any(row.level == level for row in rows()):
            more = [f"`{axiom}`" for axiom in axioms if axiom not in said]
            name = f"Axioms of a name{' with ' + MARKS[level] if MARKS[level] else ''}"
            yield f"{name}: {'these and ' if said else ''}{', '.join(more) or 'none'}."
            yield ""
            said = axioms
    for says, names in sorted(_groups().items(), key=lambda group: group[0].startswith("*")):
        yield f"- {says}: {', '.join(names)}"
