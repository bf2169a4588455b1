"""The ledger as HTML: a claim is a line that opens."""

from __future__ import annotations

import re
from collections.abc import Sequence
from fractions import Fraction
from html import escape, unescape
from typing import Any

from audit.claims.paper_items import numbers_of
from audit.claims.render import evidence_lines
from audit.commands.report.formulas import typeset
from audit.commands.report.markup import badge, code, folded, listing, number, sign, table, terms

COLUMNS = 88
"""Most characters in a line of evidence."""

OPEN_ON_PAPER = ("T5", "T3.exact")
"""The claims that the page tells you to open first."""

READINGS = (
    (
        "absolute, covariance, separate",
        "the fairness term: |z − z̄| x for each record, as the proofs write it; (z − z̄) x; or a vector on its own",
    ),
    (
        "monomial, matrix",
        "the coefficients: one for each w<sub>e</sub>w<sub>l</sub> with e ≤ l; or all d² entries",
    ),
    ("replace_one, add_or_remove_one", "neighbours: one record differs; or one data set has one record more"),
    ("published, exact", "the sensitivity: the lemma's bound; or the most that a record can change"),
    ("unit ball, unit box", "attributes x ≥ 0 with |x|₂ ≤ 1; or each in [0, 1]"),
    ("ŵ", "the minimiser of the noisy objective"),
)
"""What a reader of the claims' readings must know, in HTML."""


def ledger(rows: Sequence[dict[str, Any]], verdicts: dict[str, int]) -> str:
    """Return the claims, with the controls that filter them."""
    boxes = "".join(
        f'<label class="chip {verdict.replace(" ", "-")}"><input type="checkbox" name="verdict" value="{verdict}" '
        f"checked>{sign(verdict)}<span>{verdict}</span> <b>{count}</b></label>"
        for verdict, count in verdicts.items()
    )
    claims = "".join(f"<li>{_claim(row)}</li>" for row in rows)
    return (
        '<form id="filters" role="search" aria-label="Claims">'
        '<label class="search" for="search">Search the claims<input id="search" type="search" autocomplete="off" '
        'placeholder="Theorem 5, line 20, Adult"></label>'
        f"<fieldset><legend>Verdict</legend>{boxes}</fieldset>"
        '<fieldset><legend>Only</legend><label class="chip"><input type="checkbox" name="only" value="wrong">'
        '<span>proof wrong</span></label><label class="chip"><input type="checkbox" name="only" value="coq">'
        '<span>with theorems in Coq</span></label><label class="chip"><input type="checkbox" name="only" '
        'value="pair">'
        "<span>with data sets</span></label></fieldset>"
        '<div class="actions"><output id="shown" for="search"></output>'
        '<button type="button" id="open-all">Open all shown</button>'
        '<button type="button" id="close-all">Close all</button>'
        '<button type="reset">Reset</button></div></form>'
        + folded("Words that say how a claim reads the paper", terms(READINGS))
        + f'<ul id="claims">{claims}</ul><p id="none-shown" hidden>No claim matches. Reset the filters.</p>'
    )


def _claim(row: dict[str, Any]) -> str:
    name = row["id"]
    written = " ".join([*(str(row[part] or "") for part in SEARCHED), *numbers_of(name)])
    shown = unescape(TAG.sub("", prose(written)))
    words = " ".join(dict.fromkeys(f"{written} {shown}".lower().split()))
    flags = [row["proof"] == "wrong" and "wrong", row["theorems"] and "coq", row["pairs"] and "pair"]
    classes = "claim open-in-print" if name in OPEN_ON_PAPER else "claim"
    return (
        f'<details class="{classes}" id="claim-{escape(name)}" data-verdict="{row["verdict"]}" '
        f'data-flags="{" ".join(flag for flag in flags if flag)}" '
        f'data-words="{escape(words, quote=True)}">'
        f'<summary><span class="id">{escape(name)}</span>{badge(row["verdict"])}'
        f'<span class="statement">{prose(row["statement"])}</span></summary>{_opened(row)}</details>'
    )


TAG = re.compile(r"<[^>]*>")

SEARCHED = ("id", "statement", "place", "why", "failing_step", "repaired", "advice", "machine_proof", "check")


def _opened(row: dict[str, Any]) -> str:
    proof = {"right": "right", "wrong": "<b>wrong</b>", "none": "the paper gives none"}[row["proof"]]
    parts = [
        ("Where", prose(row["place"])),
        ("The paper prints", _printed(row)),
        ("Read as", "<br>".join(prose(reading) for reading in row["readings"])),
        ("Its proof", proof),
        ("The step that fails", prose(row["failing_step"] or "")),
        ("Why", prose(row["why"])),
        ("What holds instead", prose(row["repaired"])),
        ("What you should do", prose(row["advice"])),
        ("The loss", _losses(row["losses"])),
        ("Two data sets that differ in one record", "".join(_pair(pair) for pair in row["pairs"])),
        ("A data set that shows it", "" if row["data_set"] is None else _records(row["data_set"], "The data set")),
        ("Theorems in Coq", _theorems(row["theorems"])),
        ("Code", ", ".join(code(symbol) for symbol in row["symbols"])),
        ("Check", code(row["check"] or "")),
        ("The check is silent on", prose(row["controls"][0]) if row["controls"] else ""),
        ("The check fires on", prose(row["controls"][1]) if row["controls"] else ""),
        ("Run it again", "<br>".join(code(line) for line in _commands(row))),
    ]
    lines = "\n".join(evidence_lines(row["evidence"], width=COLUMNS))
    label = f"All evidence for {escape(row['id'])}"
    evidence = folded(label, listing(label, lines), classes="evidence")
    return f'<div class="opened">{terms(parts)}{evidence}</div>'


def _commands(row: dict[str, Any]) -> list[str]:
    needs = f"  # needs {', '.join(row['needs'])}" if row["needs"] else ""
    return [*row["rerun"], f"python -m audit claims --claim {row['id']}{needs}"]


def _printed(row: dict[str, Any]) -> str:
    shown = "".join(f'<div class="formula" tabindex="0">{typeset()[tex]}</div>' for tex in row["formulas"])
    return shown + (f"<p>{prose(row['paper_step'])}</p>" if row["paper_step"] else "")


def _losses(losses: dict[str, Any]) -> str:
    if not losses:
        return ""
    rows = [["ε", number(_float(losses["claimed_epsilon"])), number(losses["exact_epsilon"])]]
    if losses["exact_delta"] is not None:
        rows.append(["δ", number(_float(losses["claimed_delta"])), number(losses["exact_delta"])])
    budget = prose(", ".join(f"{name} = {value}" for name, value in losses["budget"].items()))
    shown = table(("parameter", "claimed", "exact"), rows, "Claimed and exact", classes="narrow")
    records = "any number of" if losses["records"] is None else f"{losses['records']:,}"
    return f"<p>At {budget}, for {records} records:</p>{shown}" if budget else shown


def _float(text: Any) -> float:
    return float(Fraction(str(text)))


def _pair(pair: dict[str, Any]) -> str:
    place = f"<p>{prose(pair['place'])}:</p>" if pair["place"] not in ("", "witness", "counterexample") else ""
    sides = _records(pair["left"], "D", pair["right"]) + _records(pair["right"], "D'", pair["left"])
    return f'{place}<div class="pair">{sides}</div>'


def _records(rows: Sequence[dict[str, Any]], title: str, other: Sequence[dict[str, Any]] = ()) -> str:
    """Return a data set as a table; rows that the other one lacks are marked."""
    shown = []
    for row in rows:
        mark = "" if row in other or not other else ' <b class="differs">differs</b>'
        shown.append([f"{row['count']:,}", escape(_vector(row["x"])), str(row["y"]), f"{row['z']}{mark}"])
    return table(("records", "x", "y", "z"), shown, title, classes="records")


def _vector(x: Sequence[Any]) -> str:
    values = [f"{value:.4g}" if isinstance(value, float) else str(value) for value in x]
    if len(values) > 4:
        kept = [f"x{place} = {value}" for place, value in enumerate(values, start=1) if value != "0"]
        return (", ".join(kept) + ", " if kept else "") + f"else 0 (d = {len(values)})"
    return f"({', '.join(values)})"


def _theorems(theorems: Sequence[dict[str, str]]) -> str:
    return "<br>".join(
        f'<a href="#theorem-{escape(row["theorem"])}">{code(row["theorem"])}</a> ({row["says"]}): '
        f"{prose(row['covers'])}"
        for row in theorems
    )


# --- Symbols in prose ---------------------------------------------------------------------------------------

LETTERS = {
    "epsilon": "ε",
    "delta": "δ",
    "Delta": "Δ",
    "sigma": "σ",
    "alpha": "α",
    "tau": "τ",
    "Phi": "Φ",
    "nu": "ν",
    "mu": "μ",
    "pi": "π",
    "lambda": "λ",
}

LETTER = re.compile(rf"(?<![\w.])({'|'.join(LETTERS)})('*)((?:_\w)?)(?!\w|\.\w)('*)")
NAME = re.compile(r"(?<![\w.'])([wxDVE]|max)_(\w)(?!\w|\.\w)")
BELOW = re.compile(r"(?<=[|>])_(\w)(?!\w)")
POWER = re.compile(r"(?<=[\w)>|'])\^(-?\w+(?:\.\d+)?)")
SIGNS = {"&lt;=": "≤", "&gt;=": "≥", "sqrt(": "√(", " +- ": " ± ", " - ": " − "}


def prose(text: str) -> str:
    """Return a sentence with its symbols in the paper's notation."""
    text = LETTER.sub(
        lambda m: f"<var>{LETTERS[m[1]]}</var>{_below(m[3][1:])}{m[2]}{m[4]}", escape(text, quote=False)
    )
    text = NAME.sub(lambda m: (m[1] if m[1] == "max" else f"<var>{m[1]}</var>") + _below(m[2]), text)
    text = BELOW.sub(lambda m: _below(m[1]), text)
    text = POWER.sub(lambda m: f"<sup>{m[1]}</sup>", text)
    for written, meant in SIGNS.items():
        text = text.replace(written, meant)
    return text


def _below(text: str) -> str:
    return text and f"<sub>{text}</sub>"
