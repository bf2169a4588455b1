"""The ledger as one HTML page, and helpers for its texts."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from html import escape
from typing import Any

from audit.claims.ledger import NOT_RUN, Row

WIDTH = 115
"""Default columns of evidence."""

STATUS_NOTE = {NOT_RUN: "committed evidence, not re-run here"}


def verdict_of(row: Row) -> str:
    """Return the verdict of a row; `undecided` without a finding."""
    return "undecided" if row.finding is None else row.finding.verdict


def proof_of(row: Row) -> str:
    """Return the state of the paper's own proof: `wrong`, `right` or `none given`; empty without a finding."""
    if row.finding is None:
        return ""
    return "none given" if row.finding.proof == "none" else row.finding.proof


def summary(rows: Sequence[Row]) -> str:
    """Count the rows by verdict, and those that were not run."""
    counts = Counter(verdict_of(row) for row in rows)
    text = ", ".join(f"{count} {verdict}" for verdict, count in sorted(counts.items()))
    skipped = [row.claim for row in rows if row.status == NOT_RUN]
    note = ""
    if skipped:
        needs = ", ".join(sorted({need for claim in skipped for need in claim.needs}))
        names = ", ".join(claim.id for claim in skipped)
        note = f"; not re-run here: {len(skipped)} ({names}), marked *: they need {needs}"
    return f"{len(rows)} claims: {text}{note}"


def evidence_lines(value: Any, margin: str = "", width: int = WIDTH) -> Iterator[str]:
    """Yield evidence as indented lines: one line if it fits, a table for records of one form."""
    table = _table(value)
    if table and max(map(len, table)) + len(margin) <= width:
        yield from (f"{margin}{line}".rstrip() for line in table)
        return
    pairs = value.items() if isinstance(value, dict) else ((None, entry) for entry in value)
    for key, entry in pairs:
        name = "- " if key is None else f"{key}: "
        flat = _flat(entry)
        if not isinstance(entry, (dict, list)) or len(margin) + len(name) + len(flat) <= width:
            yield f"{margin}{name}{flat}"
        else:
            yield f"{margin}{name}".rstrip()
            yield from evidence_lines(entry, margin + "  ", width)


def _table(value: Any) -> list[str]:
    """Return the lines of a table, a row for each record; none if there are few or they hold more than values."""
    if not isinstance(value, list) or len(value) < 4 or not all(isinstance(entry, dict) for entry in value):
        return []
    cells = [[_flat(part) for part in entry.values()] for entry in value]
    simple = all(
        not isinstance(part, (dict, list)) or _flat(part)[0] == "[" for one in value for part in one.values()
    )
    if len({tuple(entry) for entry in value}) > 1 or not simple:
        return []
    cells.insert(0, list(value[0]))
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    return ["  ".join(cell.ljust(size) for cell, size in zip(row, widths, strict=True)) for row in cells]


def _flat(value: Any) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, dict) and set(value) == {"lo", "hi"}:
        return f"[{value['lo']}, {value['hi']}]"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{json.dumps(key)}: {_entry(part)}" for key, part in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(_entry, value)) + "]"
    return json.dumps(value, ensure_ascii=False)


def _entry(value: Any) -> str:
    """Return a part of a value: as in JSON, but for enclosures."""
    return _flat(value) if isinstance(value, (dict, list)) else json.dumps(value, ensure_ascii=False)


# --- HTML -----------------------------------------------------------------------------------------------------

STYLE = """
:root { color-scheme: light dark; }
body { font: 1rem/1.5 system-ui, sans-serif; max-width: 75rem; margin: 0 auto; padding: 1rem; }
table { border-collapse: collapse; width: 100%; }
th, td { text-align: left; vertical-align: top; padding: .35rem .6rem; border-bottom: 1px solid GrayText; }
caption { text-align: left; padding: .5rem 0; }
pre { overflow-x: auto; padding: .6rem; border: 1px solid GrayText; }
.verdict { font-weight: 600; white-space: nowrap; }
dt { font-weight: 600; margin-top: .5rem; }
dd { margin-left: 1rem; }
a:focus-visible, summary:focus-visible, pre:focus-visible { outline: 3px solid Highlight; outline-offset: 2px; }
"""

INTRODUCTION = (
    "Every claim of &ldquo;Differentially Private and Fair Classification via Calibrated Functional "
    "Mechanism&rdquo; (AAAI 2020), as a program decides it. A claim may hold by a wrong proof: "
    "verdict and proof are two columns."
)

HEADINGS = "".join(
    f'<th scope="col">{name}</th>'
    for name in ("Claim", "Verdict", "Paper's proof", "Statement", "Place in the paper")
)


def as_html(rows: Sequence[Row]) -> str:
    """Return the ledger as one HTML page, without scripts and external resources."""
    parts = [
        "<!DOCTYPE html>",
        '<html lang="en-GB"><head><meta charset="utf-8">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        f"<title>Claims ledger</title><style>{STYLE}</style></head><body>",
        "<header><h1>Claims ledger</h1>",
        f"<p>{INTRODUCTION}</p></header><main>",
        f"<p>{escape(summary(rows))}</p>",
        "<table><caption>Verdicts; each claim links to its evidence below</caption>",
        f"<thead><tr>{HEADINGS}</tr></thead><tbody>",
    ]
    for row in rows:
        claim = row.claim
        note = f" ({STATUS_NOTE[NOT_RUN]})" if row.status == NOT_RUN else ""
        parts.append(
            f'<tr><th scope="row"><a href="#{_anchor(row)}">{escape(claim.id)}</a></th>'
            f'<td class="verdict">{escape(verdict_of(row) + note)}</td><td>{escape(proof_of(row))}</td>'
            f"<td>{escape(claim.statement)}</td><td>{escape(claim.place)}</td></tr>"
        )
    parts.append("</tbody></table>")
    parts.extend(_section(row) for row in rows)
    parts.append("</main></body></html>")
    return "\n".join(parts) + "\n"


def _anchor(row: Row) -> str:
    return "claim-" + escape(row.claim.id, quote=True)


def _section(row: Row) -> str:
    claim, finding = row.claim, row.finding
    terms: list[tuple[str, str]] = [("Statement", claim.statement), ("Place", claim.place)]
    terms += [("Reading", reading) for reading in claim.readings]
    if finding is None:
        terms.append(("Verdict", verdict_of(row)))
    else:
        terms += [
            ("Verdict", finding.verdict + (f" ({STATUS_NOTE[NOT_RUN]})" if row.status == NOT_RUN else "")),
            ("The paper's proof", proof_of(row)),
            ("The paper's step", claim.paper_step),
            ("Where it fails", finding.failing_step or ""),
            ("Why", claim.why),
            ("What holds instead", claim.repaired),
            ("What a user should do", claim.advice),
            ("Check", claim.check_name),
            ("Stays silent on", claim.null.what),
            ("Fires on", claim.broken.what),
            ("Digest of the code", row.digest),
        ]
        terms += [("Run again", command) for command in claim.rerun]
    entries = "".join(f"<dt>{escape(name)}</dt><dd>{escape(text)}</dd>" for name, text in terms if text)
    evidence = ""
    if finding is not None:
        text = escape("\n".join(evidence_lines(finding.evidence)))
        label = f"Evidence for {escape(claim.id)}"
        evidence = (
            f"<details><summary>{label}</summary>"
            f'<pre tabindex="0" role="region" aria-label="{label}">{text}</pre></details>'
        )
    return (
        f'<section id="{_anchor(row)}" aria-labelledby="{_anchor(row)}-title">'
        f'<h2 id="{_anchor(row)}-title">{escape(claim.id)}</h2><dl>{entries}</dl>{evidence}</section>'
    )
