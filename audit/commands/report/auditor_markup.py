"""The auditor, and its findings in the catalogue, as HTML."""

from __future__ import annotations

from html import escape
from typing import Any

from audit.commands.report.claim_markup import prose
from audit.commands.report.markup import code, figure, folded, number, table, terms
from audit.validity.document import WHAT


def auditor(validity: dict[str, Any]) -> str:
    """Return how often the auditor errs."""
    rows = [
        [
            prose(row["mechanism"]),
            number(row["true_epsilon"]),
            f"{row['draws']:,}",
            escape(row["bound"]),
            f"{row['errors']:,} of {row['audits']:,}",
            f"{row['share']:.4f}",
        ]
        for row in validity["rows"]
    ]
    head = ("mechanism", "true ε", "draws", "bound", "errors", "share")
    return (
        "<p>The auditor gives a lower bound on epsilon from samples, at a stated significance. Here it is audited "
        "itself, on mechanisms whose loss is known: a bound above the truth is an error, and at significance "
        f"{validity['significance']:g} at most that share of its audits may err. The largest share of any bound "
        f"is {validity['largest_share']:.4f}; with confidence {validity['confidence']:g} over all rows together "
        f"no error probability is above {validity['largest_upper_bound']:.4f}. The control, a point estimate "
        "without any margin, errs far too often, as it must.</p>"
        + figure(
            "validity",
            "Share of audits whose bound is above the truth",
            "Each mark is one mechanism at one number of draws. The dashed line is the significance; only the "
            "control may be to the right of it.",
            table(head, rows, "Errors of the auditor, counted", classes="numeric"),
        )
        + folded("What each bound is", terms((escape(bound), escape(what)) for bound, what in WHAT.items()))
    )


def catalogue(scored: dict[str, Any]) -> str:
    """Return the auditor's findings on mechanisms of known loss."""
    rows = [
        [
            code(row["entry"]),
            "right" if row["broken at"] == "right" else f"broken ({row['broken at']})",
            row["claim"],
            row["true"].replace("inf", "∞").replace("<=", "≤"),
            row["median bound"],
            number(row["ceiling"]),
            _found(row, scored["audits"]),
            row["power at most"],
            escape(row["what"]),
        ]
        for row in scored["rows"]
    ]
    head = ("entry", "is", "claim", "true ε", "bound", "ceiling", "flagged", "power at most", "what")
    summary = "".join(f"<li>{escape(line)}</li>" for line in scored["summary"])
    return (
        f"<p>{len(rows)} right and broken mechanisms of known loss, {scored['audits']} audits of each with "
        f"{scored['draws']:,} draws, at significance {scored['significance']:g}. A broken one should be "
        "flagged, a right one should not; one false alarm in "
        f"{1 / scored['significance']:.0f} audits is what the significance allows. "
        "<em>Ceiling</em>: the bound that a perfect event would give with this many draws.</p>"
        + figure(
            "detection",
            "What is broken, and what is flagged",
            "Each row is a mechanism, each cell an audit of it, filled if the audit flags it. Cells should be "
            "filled on the left and empty on the right.",
        )
        + figure(
            "bounds",
            "The auditor's bound beside the true loss and the ceiling",
            "Square: median bound. Diamond: true loss, where it is finite. Vertical stroke: the ceiling. "
            "Circle: the claim. A bound to the right of the diamond is wrong. Where only an upper bound "
            "of the loss is known, the diamond marks it.",
        )
        + folded("Every entry", table(head, rows, "The catalogue, scored", classes="numeric catalogue"))
        + folded("The score in words", f"<ul>{summary}</ul>")
    )


def _found(row: dict[str, str], audits: int) -> str:
    count, _, rest = row["flagged"].partition(" of ")
    boxes = "".join(
        f'<svg class="sign" viewBox="0 0 16 16" aria-hidden="true"><rect x="2" y="2" width="12" height="12" '
        f'fill="{"currentColor" if place < int(count) else "none"}" stroke="currentColor" stroke-width="2"/></svg>'
        for place in range(audits)
    )
    return f'<span class="boxes">{boxes}</span> {count} of {escape(rest)}'
