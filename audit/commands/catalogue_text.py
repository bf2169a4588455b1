"""The catalogue of mechanisms of known loss, and the scores of an auditor, as text."""

from __future__ import annotations

from collections.abc import Sequence

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
from reference.common.page import Listing

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
    headings = (*SCORE_COLUMNS[:4], "ceiling", "draws", *SCORE_COLUMNS[4:])
    rows = []
    for line in score.entries:
        cells = score_cells(line, score.seeds)
        rows.append((*cells[:4], f"{line.ceiling:.2f}", f"{line.draws:,}", *cells[4:]))
    table = Listing(
        f"Auditor {score.auditor}, significance {score.significance:g}, {score.seeds} audits each",
        headings,
        tuple(rows),
        numbers=tuple(heading for heading in headings if heading not in ("entry", "broken at")),
    )
    errors = [f"error: {line.name}: {line.errors[0]}" for line in score.entries if line.errors]
    return table_text(table, width or WIDTH) + fitted([*summary(score), *errors], width)
