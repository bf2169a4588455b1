"""The ledger as a table, one row in full, and several without their evidence."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from textwrap import wrap

from audit.claims.ledger import NOT_RUN, Row
from audit.claims.paper_items import Item, pages_of
from audit.claims.render import STATUS_NOTE, WIDTH, evidence_lines, proof_of, summary, verdict_of
from audit.commands.text import AGAIN, fitted, table_text
from audit.proofs.claims import covered
from reference.commands.parsing import as_typed
from reference.common.page import Listing
from reference.common.printable import one_line

PROGRAM = "python -m audit claims"


def as_text(rows: Sequence[Row], width: int | None = None) -> str:
    """Return the ledger as a table."""
    problems = [f"problem: {problem}" for row in rows for problem in row.problems]
    after = [summary(rows), *problems, f"one row in full: {as_typed(PROGRAM)} --claim ID"]
    return _table("Claims of the paper", rows, width) + fitted(after, width)


def _table(title: str, rows: Sequence[Row], width: int | None) -> str:
    headings = ("claim", "verdict", "proof", "statement")
    return table_text(Listing(title, headings, tuple(map(_cells, rows)), folds=("statement",)), width or WIDTH)


def _cells(row: Row) -> tuple[str, ...]:
    note = "" if row.status != NOT_RUN else " *"
    proof = "" if row.finding is None or row.finding.proof == "none" else row.finding.proof
    return row.claim.id, verdict_of(row) + note, proof, row.claim.statement


def explain(row: Row, width: int | None = None) -> str:
    """Return everything about one row."""
    return fitted(_explanation(row, width or WIDTH), width)


def explain_several(asked: str, items: Sequence[Item], rows: Sequence[Row], width: int | None = None) -> str:
    """Return a table of rows, the places of the paper map, and each row without its evidence.

    Parameters
    ----------
    asked : str
        What the user asked for: `Algorithm 3 line 20`, `T5.*`.
    items : sequence of Item
        The paper's items with this name.  Their claims come in the order of the paper map, the item's own first.
    rows : sequence of Row
    width : int, optional
        Columns of the terminal.
    """
    places = [name for item in items for name in item.claims]
    if items:
        rows = sorted(rows, key=lambda row: places.index(row.claim.id))
    parts = []
    if len(rows) > 1:
        parts.append(_table(f"Claims: {one_line(asked)}", rows, width) + fitted([summary(rows)], width))
    parts += [fitted(_item(item, width or WIDTH), width) for item in items if item.claims or not rows]
    parts += [fitted(_explanation(row, width or WIDTH, in_full=False), width) for row in rows]
    last = f"{as_typed(PROGRAM)} --claim ID shows the evidence" if rows else "the ledger has no claim on this"
    parts.append(fitted([last], width))
    return "\n".join(parts)


def _item(item: Item, width: int) -> Iterator[str]:
    yield from _wrapped(f"{item.number}: ", item.says, width)
    yield from _places([item.proof] if item.proof else [], item.code, width)


def _places(proofs: Sequence[str], code: Sequence[str], width: int) -> Iterator[str]:
    for place in proofs:
        page, sign, heading = place.partition("#")
        yield f"  proof:     proofs/{page}.md{sign}{heading}"
    if code:
        yield from _wrapped("  code:      ", ", ".join(code), width)


def _explanation(row: Row, width: int, *, in_full: bool = True) -> Iterator[str]:
    claim, finding = row.claim, row.finding
    yield from _wrapped(f"{claim.id}: ", claim.statement, width)
    yield from _wrapped("  place:     ", claim.place, width)
    for reading in claim.readings:
        yield from _wrapped("  reading:   ", reading, width)
    if finding is None:
        yield f"  status:    {row.status}, and no evidence is committed"
        yield from _reported(row)
        return
    note = "" if row.status != NOT_RUN else f" ({STATUS_NOTE[NOT_RUN]})"
    yield f"  verdict:   {finding.verdict}{note}"
    yield f"  the paper's proof: {proof_of(row)}"
    for label, text in (
        ("the step", claim.paper_step),
        ("it fails", finding.failing_step),
        ("why", claim.why),
        ("instead", claim.repaired),
        ("advice", claim.advice),
        *(("in Coq", line) for line in covered(claim.id)),
    ):
        if text:
            yield from _wrapped(f"  {label + ':':<10} ", text, width)
    if in_full:
        yield from _places(pages_of(claim.id), claim.symbols, width)
        yield "  evidence:"
        yield from evidence_lines(finding.evidence, "    ", width)
    yield f"  check:     {claim.check_name}"
    for label, control in (("silent on", claim.null), ("fires on", claim.broken)):
        yield from _wrapped(f"  {label + ':':<10} ", control.what, width)
    for command in (*claim.rerun, f"{PROGRAM} --claim {claim.id}"):
        yield f"  {AGAIN}     {command}"
    yield f"  digest:    {row.digest}"
    yield from _reported(row)


def _reported(row: Row) -> Iterator[str]:
    return (f"  problem:   {problem}" for problem in row.problems)


def _wrapped(label: str, text: str, width: int) -> list[str]:
    return wrap(text, width, initial_indent=label, subsequent_indent=" " * len(label), break_long_words=False)
