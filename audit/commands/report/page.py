"""The report as one HTML page: no network, no file beside it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape
from typing import Any

from audit.commands.report import figure_markup
from audit.commands.report.claim_markup import ledger, prose
from audit.commands.report.markup import (
    MEANINGS,
    badge,
    code,
    data_element,
    folded,
    listing,
    section,
    table,
    terms,
)
from audit.common.packed import place_of

ASSETS = place_of("audit/commands/report/assets")

LIBRARY = ("vendor/d3.min.js", "vendor/plot.umd.min.js")
SCRIPTS = ("page.js", "figures.js")

CONTENTS = {
    "overview": "At a glance",
    "ledger": "Every claim",
    "privacy": "Privacy, claimed and exact",
    "auditor": "The auditor",
    "catalogue": "What the auditor finds",
    "frontier": "Accuracy and fairness",
    "figures": "The paper's figures, redone",
    "proofs": "Machine-checked proofs",
    "rerun": "Versions, and how to rerun",
}
"""The parts of the page."""

TEXTS = ("overview", "ledger", "proofs", "rerun")
"""The parts that appear even without results."""


def page(document: dict[str, Any]) -> str:
    """Return the report as HTML."""
    return "\n".join(_lines(document)) + "\n"


def _lines(document: dict[str, Any]) -> Iterator[str]:
    yield "<!DOCTYPE html>"
    yield '<html lang="en-GB"><head><meta charset="utf-8">'
    yield '<meta name="viewport" content="width=device-width, initial-scale=1">'
    yield "<title>What is true in the paper</title>"
    yield '<link rel="icon" href="data:,">'
    yield f"<style>{_asset('page.css')}</style></head><body>"
    yield '<a class="skip" href="#main">Skip to the contents</a>'
    yield _header(document)
    parts = figure_markup.parts(document)
    yield _contents([name for name in CONTENTS if name in parts or name in TEXTS])
    yield '<main id="main" tabindex="-1">'
    yield section("overview", CONTENTS["overview"], _overview(document))
    claims = ledger(document["ledger"], document["verdicts"])
    yield section("ledger", f"{CONTENTS['ledger']} ({len(document['ledger'])})", LEDGER + claims)
    for name, part in parts.items():
        yield section(name, CONTENTS[name], part)
    yield section("proofs", CONTENTS["proofs"], _proofs(document["proofs"]))
    yield section("rerun", CONTENTS["rerun"], _rerun(document))
    yield "</main>"
    yield data_element("report-data", figure_markup.plotted(document))
    for script in (*LIBRARY, *SCRIPTS):
        yield f"<script>{_asset(script)}</script>"
    yield "</body></html>"


def _asset(name: str) -> str:
    return (ASSETS / name).read_text(encoding="utf-8").strip()


LEDGER = (
    "<p>Each claim has a check that a program runs. The verdict is on the statement as printed, over its whole "
    "range; whether the paper's <em>proof</em> is right is a separate question. Open a claim for the "
    "evidence.</p>"
)


def _header(document: dict[str, Any]) -> str:
    version = document["versions"]["calibrated-functional-mechanism"]
    return (
        '<header><p class="kicker">Audit report</p><h1>What is true in the paper</h1>'
        f'<p class="paper">{escape(document["paper"])}</p>'
        f"<p>{len(document['ledger'])} claims, each with a check that a program runs; "
        f"{len(document['proofs']['theorems'])} theorems checked by Coq {escape(document['proofs']['coq'])}. "
        f"Version {escape(version)}. The numbers are read from committed results or computed when the page is "
        "made.</p></header>"
    )


def _contents(names: Sequence[str]) -> str:
    links = "".join(f'<li><a href="#{name}">{CONTENTS[name]}</a></li>' for name in names)
    return f'<nav aria-label="Contents"><details open><summary>Contents</summary><ol>{links}</ol></details></nav>'


def _overview(document: dict[str, Any]) -> str:
    rows = {row["id"]: row for row in document["ledger"]}
    printed = [
        [
            f'<a href="#claim-{name}">{title.replace(" ", "&nbsp;")}</a>',
            badge(row["verdict"]),
            {"right": "right", "wrong": "<b>wrong</b>", "none": ""}[row["proof"]],
            prose(row["statement"]),
            prose(row["repaired"] or row["why"]),
        ]
        for name, title in document["numbered"].items()
        if (row := rows.get(name)) is not None
    ]
    counts = "".join(
        f"<li>{badge(verdict)} <b>{count}</b> <span>{MEANINGS[verdict]}</span></li>"
        for verdict, count in document["verdicts"].items()
    )
    head = ("statement", "verdict", "its proof", "the paper states", "what holds")
    missing = "".join(f'<p class="note">{escape(line)}</p>' for line in document["absent"])
    return (
        f'{missing}{FIRST}<ul class="counts">{counts}</ul>'
        + table(head, printed, "The numbered statements of the paper", classes="printed")
        + f"<p class='note'>{escape(LIMITS)}</p>"
    )


FIRST = (
    '<p><b>In ten minutes:</b> read the table below; open <a href="#claim-T5">Theorem 5</a>, its two data '
    'sets and its repair, and <a href="#claim-T3.exact">Theorem 3 with the exact sensitivity</a>; move the '
    'budgets in <a href="#privacy">claimed and exact privacy</a>; see what <a href="#claim-R">the mechanism '
    "that we repaired</a> "
    "promises.</p>"
)

LIMITS = (
    "A privacy verdict is on the ideal mechanism, with noise in real numbers. Nothing here says that a program is "
    "differentially private."
)


def _proofs(proofs: dict[str, Any]) -> str:
    rows = [
        [
            f'<span id="theorem-{escape(row["theorem"])}">{code(row["theorem"])}</span>',
            ", ".join(f'<a href="#claim-{escape(name)}">{escape(name)}</a>' for name in row["claims"]),
            row["says"],
            prose(row["covers"]),
            row["axioms"],
        ]
        for row in proofs["theorems"]
    ]
    says = "; ".join(f"<em>{word}</em>, {meaning}" for word, meaning in proofs["statuses"].items())
    levels = terms(
        (f"Axioms: {level}", ", ".join(code(axiom) for axiom in axioms) or "none at all")
        for level, axioms in proofs["levels"].items()
    )
    without = terms((code(symbol), escape(reason)) for symbol, reason in proofs["without_theorem"].items())
    return (
        f"<p>{len(rows)} theorems, checked by Coq {escape(proofs['coq'])}; their statements mention "
        f"{proofs['definitions']} definitions. No verdict rests on them alone: they are a second witness. "
        "They speak of real numbers; samplers, solvers and floating point are outside.</p>"
        f"<p>What a theorem says of its claims: {says}.</p>"
        + folded(
            f"The {len(rows)} theorems",
            table(("theorem", "claims", "says", "covers", "axioms"), rows, "Theorems", classes="theorems"),
            classes="open-in-print",
        )
        + folded("The axioms", levels)
        + folded("Python without a theorem, and why", without)
    )


def _rerun(document: dict[str, Any]) -> str:
    commands = table(
        ("to see", "run"), ([escape(what), code(line)] for what, line in document["rerun"].items()), "How to rerun"
    )
    made = table(
        ("what", "version"),
        ([escape(name), escape(number)] for name, number in document["versions"].items()),
        "What made this page",
        classes="narrow",
    )
    files = table(
        ("file", "SHA-256"),
        ([code(name), code(digest)] for name, digest in document["files"].items()),
        "Committed results that this page reads, beside the ledger and the proofs",
    )
    label = "Licences of the libraries that draw the figures"
    return (
        commands
        + made
        + folded("The files that were read", files)
        + folded(label, listing(label, _asset("vendor/LICENSES")))
    )
