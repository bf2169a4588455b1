"""``proofs/STATUS.md``: what is machine-checked, generated from ``claims.json`` and ``digests.json``."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from audit.proofs.assumptions import LEVELS
from audit.proofs.check import committed
from audit.proofs.claims import STATUSES, Carried, rows
from audit.proofs.pages import entries
from audit.proofs.sources import PROJECT
from reference.common.files import write_whole

LIMITS = """\
The theorems are about real arithmetic.  Floating-point numbers, samplers, solvers and random generators are
outside: nothing here says that a program is differentially private.
"""


MARKS = {"none": "°", "reals": "", "classical": "\\*"}
"""The mark after a theorem's name, by the axioms that its proof may use."""


def path() -> Path:
    """Return where the page is."""
    return PROJECT.parent / "STATUS.md"


def page() -> str:
    """Return the page."""
    return "\n".join(_lines()) + "\n"


def write() -> None:
    """Renew the page."""
    write_whole(path(), page())


def _linked(row: Carried, where: dict[str, str]) -> str:
    page = where.get(row.theorem)
    name = f"`{row.theorem}`" if page is None else f"[`{row.theorem}`]({page}#{row.theorem.lower()})"
    return name + MARKS[row.level]


def _lines() -> Iterator[str]:
    stored = committed()
    where = {entry.theorem: entry.page for entry in entries()}
    yield "# Machine-checked proofs: status"
    yield ""
    yield f"Coq {stored['coq']} checks {len(stored['theorems'])} theorems; their statements"
    yield f"([Statements.v](coq/Statements.v)) mention {len(stored['definitions'])} definitions. Each name leads"
    yield "to what the theorem says and does not say. [How we check](coq/README.md)."
    yield "`python -m audit proofs --write` writes this page."
    yield ""
    yield LIMITS
    yield "Status: " + "; ".join(f"*{word}*, {meaning}" for word, meaning in STATUSES.items()) + "."
    yield ""
    for level, axioms in LEVELS.items():
        if any(row.level == level for row in rows()):
            name = f"Axioms of a name{' with ' + MARKS[level] if MARKS[level] else ''}"
            yield f"- {name}: {', '.join(f'`{axiom}`' for axiom in axioms) or 'none'}"
    yield ""
    yield "| theorem | claims: status |"
    yield "|---|---|"
    for row in rows():
        says = f"{', '.join(row.claims)}: {row.status}" if row.claims else row.status
        yield f"| {_linked(row, where)} | {says} |"
    yield ""
    yield "What each covers, the Python code that it speaks of, and the code that none speaks of, with the reason:"
    yield "[claims.json](../audit/proofs/claims.json)."
