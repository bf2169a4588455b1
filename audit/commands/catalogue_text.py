"""The catalogue of mechanisms of known loss, and the scores of an auditor, as text."""

from __future__ import annotations

from collections.abc import Sequence

from rich.table import Table

from audit.commands.text import fitted, table_text
from audit.subjects.catalogue import CATALOGUE
from audit.validity.scores.report import (
    ADJACENCIES,
    SCORE_COLUMNS,
    claim,
    loss,
    score_cells,
    summary,
    what,
)
from audit.validity.scores.scoring import AuditorScore

WIDTH = 200
"""Columns of the table without a terminal."""


def entries_text(names: Sequence[str], width: int | None = None) -> str:
    """Return the entries as text, one paragraph each."""
    lines = []
    for name in names:
        entry = CATALOGUE[name]()
        kind = "right" if entry.is_right else f"broken ({entry.broken_at})"
        lines.append(f"{name}: {kind}, claims {claim(entry)}, loses {loss(entry)}, {ADJACENCIES[entry.adjacency]}")
        lines.append(f"    {what(type(entry))}")
        lines.append(f"    source: {entry.source}")
    return fitted(lines, width)


def score_text(score: AuditorScore, width: int | None = None) -> str:
    """Return the table with its summary."""
    table = Table(title=f"Auditor {score.auditor}, significance {score.significance:g}, {score.seeds} audits each")
    for column in (*SCORE_COLUMNS[:4], "ceiling", "draws", *SCORE_COLUMNS[4:]):
        table.add_column(column, no_wrap=True, justify="left" if column in ("entry", "broken at") else "right")
    for line in score.entries:
        cells = score_cells(line, score.seeds)
        table.add_row(*cells[:4], f"{line.ceiling:.2f}", f"{line.draws:,}", *cells[4:])
    errors = [f"error: {line.name}: {line.errors[0]}" for line in score.entries if line.errors]
    return table_text(table, width or WIDTH) + fitted([*summary(score), *errors], width)
