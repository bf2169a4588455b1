"""A score and the catalogue: cells of tables, lines for a page, and a file of rows."""

from __future__ import annotations

import csv
import inspect
import io
import re
from pathlib import Path
from statistics import median
from typing import Any

from audit.subjects.catalogue.entry import Entry
from audit.validity.scores.scoring import AuditorScore, EntryScore, Rate
from reference.common.errors import ReadingError
from reference.common.files import write_whole

ADJACENCIES = {
    "value": "a value by 1",
    "answers": "each answer by 1",
    "replace_one": "replace one",
    "add_or_remove_one": "add or remove one",
    "any_two": "any two values",
}
"""Names in the tables for the ways in which neighbours differ."""

SCORE_COLUMNS = ("entry", "broken at", "claim", "true", "median bound", "flagged", "power at most", "tightness")
FILE_COLUMNS = (*SCORE_COLUMNS, "neighbours", "what", "source")


def what(kind: type[Entry]) -> str:
    """Return the first sentence, or paragraph, of an entry's docstring, in plain words."""
    paragraph = (inspect.getdoc(kind) or "").split("\n\n")[0].replace("\n", " ")
    plain = re.sub(r":\w+:`(?:[\w.]*\.)?(\w+)`", r"\1", paragraph)
    # a column says which are broken
    return re.sub(r"\s*Broken( for [^.]*)?\.$", "", plain).rstrip(".")


def claim(entry: Entry) -> str:
    """Return epsilon, and delta if there is one."""
    return f"{entry.claimed_epsilon:g}" + (f", {entry.claimed_delta}" if entry.claimed_delta != "0" else "")


def loss(entry: Entry) -> str:
    """Return the true loss at the claimed delta, to four digits."""
    return ("" if entry.loss_is_exact else "<= ") + f"{entry.true_epsilon:.4g}"


def entry_json(name: str, entry: Entry) -> dict[str, Any]:
    """Return an entry's description as a JSON object."""
    true = entry.true_epsilon
    return {
        "name": name,
        "is_right": entry.is_right,
        "broken_at": entry.broken_at,
        "claimed_epsilon": entry.claimed_epsilon,
        "claimed_delta": entry.claimed_delta,
        "true_epsilon": true if true < float("inf") else "infinity",
        "loss_is_exact": entry.loss_is_exact,
        "adjacency": entry.adjacency,
        "draws": entry.draws,
        "what": what(type(entry)),
        "source": entry.source,
    }


def score_cells(line: EntryScore, seeds: int) -> tuple[str, ...]:
    """Return a row of the table of scores."""
    entry = line.entry
    flagged = f"{line.flagged} of {seeds}"
    return (
        line.name,
        entry.broken_at or "right",
        claim(entry),
        loss(entry),
        f"{median(line.bounds):.2f}" if line.bounds else "error",
        flagged if entry.is_right or line.within_reach else f"{flagged}, out of reach",
        "" if entry.is_right else f"{line.largest_power:.2f}",
        "" if line.tightness is None else f"{line.tightness:.2f}",
    )


def summary(score: AuditorScore) -> list[str]:
    """Summarise the entries in lines of Markdown."""
    tightness = "not known" if score.tightness is None else f"{score.tightness:.2f}"
    lines = [
        f"- broken mechanisms flagged: {_rate(score.detection)}",
        f"- broken mechanisms within reach flagged: {_rate(score.detection_within_reach)}",
        f"- right mechanisms flagged: {_rate(score.false_alarms)}",
        f"- bounds above a finite true loss: {_rate(score.wrong_bounds)}",
        f"- tightness, median over entries: {tightness}",
        f"- missed by at least one audit: {', '.join(score.missed) or 'none'}",
        f"- out of reach of any auditor with this many draws: {', '.join(score.out_of_reach) or 'none'}",
        f"- verdict on the stated significance: {'refuted' if score.refuted else 'not refuted'}",
    ]
    return (
        lines if score.stopped is None else [*lines, f"- stopped: {score.stopped}; other entries are not scored"]
    )


def _rate(rate: Rate) -> str:
    low, high = rate.enclosure
    return f"{rate.count} of {rate.of} (Clopper-Pearson, each end at 0.05: {low:.3g} to {high:.3g})"


def score_lines(score: AuditorScore) -> list[str]:
    """Summarise a score for a page."""
    return [f"{score.seeds} audits of each entry, at significance {score.significance:g}:", "", *summary(score)]


def score_csv(score: AuditorScore) -> str:
    """Return a row for each entry: its score, its neighbours, what it is and its source."""
    text = io.StringIO()
    rows = csv.writer(text, lineterminator="\n")
    rows.writerow(FILE_COLUMNS)
    for line in score.entries:
        entry = line.entry
        rows.writerow(
            [*score_cells(line, score.seeds), ADJACENCIES[entry.adjacency], what(type(entry)), entry.source]
        )
    return text.getvalue()


BEGIN, END = "<!-- scores: begin -->", "<!-- scores: end -->"
"""Marks around the lines of a page that the command writes."""


def around(page: Path) -> tuple[str, str]:
    """Return the text before and after the score on a page, including the marks.

    Raises
    ------
    reference.common.errors.ReadingError
        When the page cannot be read, or does not have each mark exactly once.
    """
    try:
        before, rest = page.read_text(encoding="utf-8").split(BEGIN)
        _, after = rest.split(END)
    except (OSError, ValueError) as problem:
        raise ReadingError("update", str(page), f"a page with the marks {BEGIN} and {END}") from problem
    return before + BEGIN, END + after


def update_page(page: Path, score: AuditorScore) -> None:
    """Write a score between the marks of a page, and its rows into the file beside it."""
    before, after = around(page)
    write_whole(page.with_suffix(".csv"), score_csv(score))
    write_whole(page, "\n".join([before, *score_lines(score), after]))
