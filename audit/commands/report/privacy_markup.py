"""Claimed and exact privacy as HTML: controls, figures and their numbers."""

from __future__ import annotations

from html import escape
from typing import Any

from audit.commands.report.markup import badge, code, figure, number, table

MECHANISMS = {
    "adfc": "ADFC (Theorem 5)",
    "pdfc": "PDFC (Theorem 3)",
    "relaxed_functional": "Relaxed functional mechanism (Theorem 4)",
    "functional": "Functional mechanism (Lemma 1)",
}

DRAWN_FROM = {"epsilon": 0.05, "share": 0.001}
"""The least loss that is drawn, in claims: a logarithmic axis has no 0."""

NORMS = {"unit_ball": "unit ball, as the paper states", "unit_box": "unit box, as its constants need"}


def privacy(document: dict[str, Any]) -> str:
    """Return claimed and exact privacy, and the ratios of budgets for which Theorems 3 and 5 hold."""
    grid = document["privacy"]
    controls = (
        _select("mechanism", "Mechanism", MECHANISMS.items())
        + _select("norm", "Rows of", NORMS.items())
        + _slider("dimension", "Dimension d", len(grid["dimensions"]), grid["dimensions"].index(13))
        + _slider("ratio", "Budgets ε<sub>s</sub>/ε<sub>n</sub>", len(grid["ratios"]), len(grid["ratios"]) - 1)
        + _select("epsilon", "ε<sub>n</sub>", [(value, value) for value in grid["epsilons"]])
        + _select("delta", "δ<sub>s</sub> = δ<sub>n</sub>", [(value, value) for value in grid["deltas"]])
    )
    rows = [row for row in grid["points"] if row["dimension"] == 13 and row["norm"] == "unit_ball"]
    numbers = table(
        ("mechanism", "ε<sub>s</sub>/ε<sub>n</sub>", "ε<sub>n</sub>", "δ", "claimed ε", "exact ε", "verdict"),
        (
            [
                MECHANISMS[row["mechanism"]].split(" (")[0],
                row["ratio"],
                row["epsilon_n"],
                row["delta"],
                number(row["claimed_epsilon"]),
                number(row["exact_epsilon"]),
                badge(row["verdict"]),
            ]
            for row in rows
        ),
        "Claimed and exact epsilon, d = 13, unit ball, any number of records",
        classes="numeric",
    )
    return (
        "<p>How much the published mechanism loses, beside what its theorem states: the exact loss over all "
        "pairs of neighbouring data sets with any number of records, for the noisy coefficients. (The ledger "
        "says for how many records its losses are.) Every point was computed when this page was made, by "
        f"{code('reference.accounting.exact_privacy')}; none is interpolated. Where we know it only "
        f"between two ends, the page shows the upper one; {code('python -m audit privacy')} may bring them "
        "closer. The published theorem is refuted where the exact loss is above the claim.</p>"
        f'<form id="budgets" aria-label="Budgets">{controls}</form>'
        '<p id="judged" class="judged" role="status"></p>'
        + figure(
            "loss-by-ratio",
            "Claimed and exact epsilon against the ratio of budgets",
            "Dashed with circles: what the theorem states. Solid with squares: the exact loss at the claimed "
            "delta. Crosses mark ratios at which the statement is refuted. Both axes are logarithmic; an exact "
            f"loss below {DRAWN_FROM['epsilon']:g} of the smallest claim, such as 0, is drawn at that height.",
            numbers,
        )
        + figure(
            "loss-by-dimension",
            "Exact over claimed epsilon, against the dimension",
            "At the chosen budgets. Above the line at 1 the statement is refuted; far below it the mechanism "
            f"adds more noise than it needs. A ratio below {DRAWN_FROM['share']:g}, such as 0, is drawn at "
            f"{DRAWN_FROM['share']:g}.",
        )
        + _boundaries(document["boundaries"])
    )


def _select(name: str, label: str, options: Any) -> str:
    inside = "".join(f'<option value="{escape(value)}">{escape(text)}</option>' for value, text in options)
    return f'<label class="control"><span>{label}</span><select name="{name}">{inside}</select></label>'


def _slider(name: str, label: str, count: int, at: int) -> str:
    return (
        f'<label class="control"><span>{label}: <b data-of="{name}"></b></span>'
        f'<input type="range" name="{name}" min="0" max="{count - 1}" step="1" value="{at}"></label>'
    )


BOUNDARY_TITLES = {
    "t5_absolute": "Theorem 5 holds, its fairness term as the proofs write it",
    "t5_covariance": "Theorem 5 holds, its fairness term with a fixed sign",
    "t3_exact": "Theorem 3 holds with the exact sensitivity for Δ₁",
}

SHADED = "Shaded: the ratios ε<sub>s</sub>/ε<sub>n</sub> for which the theorem holds, whatever the other budgets. "

OUTSIDE = {
    "T3": "Outside, it fails whatever the budgets are.",
    "T5": "Outside, it fails for all small enough deltas; the dotted line shows from which ratio on it fails at "
    "δ<sub>s</sub> = δ<sub>n</sub> = {delta}.",
}


def _boundaries(boundaries: dict[str, Any]) -> str:
    shown = ""
    for name, title in BOUNDARY_TITLES.items():
        if name in boundaries:
            rows = (
                [
                    row["domain"].replace("_", " "),
                    str(row["dimension"]),
                    number(row["lower"]),
                    number(row["upper"]),
                ]
                for row in boundaries[name]["rows"]
            )
            head = ("rows of", "d", "holds from", "holds to")
            numbers = table(head, rows, "Ratios for which the theorem holds", classes="numeric")
            deltas = [*boundaries[name]["rows"][0].get("fails_at", {}), ""]
            caption = SHADED + OUTSIDE[boundaries[name]["theorem"]].format(delta=deltas[0])
            shown += figure(name, f"Ratios of budgets for which {title}", caption, numbers)
    return shown
