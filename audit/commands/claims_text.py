"""The ledger as a table, and one row of it in full."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from textwrap import wrap

from rich.table import Table

from audit.claims.ledger import NOT_RUN, Row
from audit.claims.render import STATUS_NOTE, WIDTH, evidence_lines, summary, verdict_of
from audit.commands.text import AGAIN, fitted, table_text

PROGRAM = "python -m audit claims"


def as_text(rows: Sequence[Row], width: int | None = None) -> str:
    """Return the ledger as a table."""
    table = Table(title="Claims of the paper")
    for heading in ("claim", "verdict", "proof", "statement"):
        table.add_column(heading, no_wrap=heading in ("claim", "verdict", "proof"))
    for row in rows:
        note = "" if row.status != NOT_RUN else " *"
        proof = "" if row.finding is None or row.finding.proof == "none" else row.finding.proof
        table.add_row(row.claim.id, verdict_of(row) + note, proof, row.claim.statement)
    problems = [f"problem: {problem}" for row in rows for problem in row.problems]
    after = [summary(rows), *problems, f"one row in full: {PROGRAM} --claim ID"]
    return table_text(table, width or WIDTH) + fitted(after, width)


def explain(row: Row, width: int | None = None) -> str:
    """Return everything about one row."""
    return fitted(_explanation(row, width or WIDTH), width)


def _explanation(row: Row, width: int) -> Iterator[str]:
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
    yield f"  its proof: {finding.proof}"
    for label, text in (
        ("the step", claim.paper_step),
        ("it fails", finding.failing_step),
        ("why", claim.why),
        ("instead", claim.repaired),
        ("advice", claim.advice),
        ("in Coq", claim.machine_proof),
    ):
        if text:
            yield from _wrapped(f"  {label + ':':<10} ", text, width)
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
