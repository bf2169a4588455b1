"""The parts of the page that have figures, and the data that the script draws."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape
from typing import Any

from audit.commands.report.claim_markup import prose
from audit.commands.report.markup import badge, code, figure, folded, number, table
from audit.commands.report.results import FIGURES

MECHANISMS = {
    "adfc": "ADFC (Theorem 5)",
    "pdfc": "PDFC (Theorem 3)",
    "relaxed_functional": "Relaxed functional mechanism (Theorem 4)",
    "functional": "Functional mechanism (Lemma 1)",
}

NORMS = {"unit_ball": "unit ball, as the paper states", "unit_box": "unit box, as its constants need"}


def parts(document: dict[str, Any]) -> dict[str, str]:
    """Return the parts by name, in HTML; those without results are left out."""
    auditor = document["auditor"]
    found = {
        "privacy": _privacy(document),
        "auditor": _auditor(auditor["validity"]) if auditor["validity"] else "",
        "catalogue": _catalogue(auditor["catalogue"]) if auditor["catalogue"] else "",
        "frontier": _frontier(document["frontier"]) if document["frontier"] else "",
        "figures": _figures(document) if document["figures"] else "",
    }
    return {name: part for name, part in found.items() if part}


def plotted(document: dict[str, Any]) -> dict[str, Any]:
    """Return what the script draws."""
    found: dict[str, Any] = {"privacy": document["privacy"], "boundaries": document["boundaries"]}
    if document["auditor"]["validity"]:
        found["validity"] = document["auditor"]["validity"]
    if document["auditor"]["catalogue"]:
        found["catalogue"] = document["auditor"]["catalogue"]["rows"]
    found["frontier"] = {name: list(_points(document["frontier"][name])) for name in document["frontier"]}
    if document["figures"]:
        found["figures"] = list(_lines(document))
    return found


# --- Privacy -----------------------------------------------------------------------------------------------------


def _privacy(document: dict[str, Any]) -> str:
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
        "Claimed and exact epsilon, d = 13, unit ball",
        classes="numeric",
    )
    return (
        "<p>How much the published mechanism loses, beside what its theorem states: the exact loss over all "
        "pairs of neighbouring data sets, for the noisy coefficients. Every point was computed when this page "
        f"was made, by {code('reference.accounting.exact_privacy')}; none is interpolated. The published "
        "theorem is refuted where the exact loss is above the claim.</p>"
        f'<form id="budgets" aria-label="Budgets">{controls}</form>'
        '<p id="judged" class="judged" role="status"></p>'
        + figure(
            "loss-by-ratio",
            "Claimed and exact epsilon against the ratio of budgets",
            "Dashed with circles: what the theorem states. Solid with squares: the exact loss at the claimed "
            "delta. Crosses mark ratios at which the statement is refuted. Both axes are logarithmic.",
            numbers,
        )
        + figure(
            "loss-by-dimension",
            "Exact over claimed epsilon, against the dimension",
            "At the chosen budgets. Above the line at 1 the statement is refuted; far below it the mechanism "
            "adds more noise than it needs.",
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
    "t5_absolute": "Theorem 5, fairness term as the proofs write it",
    "t5_covariance": "Theorem 5, signed fairness term",
}


def _boundaries(boundaries: dict[str, Any]) -> str:
    shown = ""
    for name, title in BOUNDARY_TITLES.items():
        if name in boundaries:
            rows = boundaries[name]["rows"]
            numbers = table(
                ("rows of", "d", "holds from", "holds to"),
                (
                    [
                        row["domain"].replace("_", " "),
                        str(row["dimension"]),
                        number(row["lower"]),
                        number(row["upper"]),
                    ]
                    for row in rows
                ),
                "Ratios for which the theorem holds",
                classes="numeric",
            )
            shown += figure(
                name,
                f"For which ratios of budgets it holds: {title}",
                "Shaded: the ratios ε<sub>s</sub>/ε<sub>n</sub> for which the theorem holds, whatever the deltas. "
                "Outside, it fails for all small enough deltas; the dotted line shows from which ratio on it "
                "fails at δ<sub>s</sub> = δ<sub>n</sub> = 10<sup>−3</sup>.",
                numbers,
            )
    return shown


# --- The auditor -------------------------------------------------------------------------------------------------


def _auditor(validity: dict[str, Any]) -> str:
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
        "<p>The auditor gives a lower bound on epsilon from samples, at a stated significance. It was audited "
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
    )


def _catalogue(catalogue: dict[str, Any]) -> str:
    rows = [
        [
            code(row["entry"]),
            "right" if row["broken at"] == "right" else f"broken ({row['broken at']})",
            row["claim"],
            row["true"].replace("inf", "∞").replace("<=", "≤"),
            row["median bound"],
            number(row["ceiling"]),
            _found(row, catalogue["audits"]),
            row["power at most"],
            escape(row["what"]),
        ]
        for row in catalogue["rows"]
    ]
    head = ("entry", "is", "claim", "true ε", "bound", "ceiling", "flagged", "power at most", "what")
    summary = "".join(f"<li>{escape(line)}</li>" for line in catalogue["summary"])
    return (
        f"<p>{len(rows)} right and broken mechanisms of known loss, {catalogue['audits']} audits of each with "
        f"{catalogue['draws']:,} draws, at significance {catalogue['significance']:g}. A broken one should be "
        "flagged, a right one should not; one false alarm in twenty audits is what the significance allows. "
        "<em>Ceiling</em>: the bound that a perfect event would give with so many draws.</p>"
        + figure(
            "detection",
            "What is broken, and what is flagged",
            "A row is a mechanism, a cell an audit of it: filled, the audit flags it; empty, it does not. "
            "Filled is right on the left and wrong on the right.",
        )
        + figure(
            "bounds",
            "The auditor's bound beside the true loss and the ceiling",
            "Square: median bound. Diamond: true loss, where it is finite. Vertical stroke: the ceiling. "
            "Circle: the claim. A bound to the right of the diamond would be wrong.",
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


# --- Frontier and figures ---------------------------------------------------------------------------------------

DATA = {"adult": "UCI Adult", "us": "US census (ACS 2024)", "german": "German credit", "compas": "COMPAS"}


def _points(found: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield what is drawn of one table: our repaired mechanism, references, and rivals."""
    document = found["frontier"]
    for row in document["rows"]:
        if row["encoding"] == "public" and not row["group_at_prediction"]:
            yield _point(row, f"repaired, {_fairness(row)}", row["epsilon"], row["delta"])
    for row in document["references"]:
        if row["encoding"] == "public":
            yield _point(row, row["name"], None, None)
    for row in (found["rivals"] or {}).get("rows", []):
        method, _, epsilon = row["method"].partition(", epsilon ")
        delta = row["guarantee"].partition("delta ")[2] or ("0" if epsilon else None)
        yield _point(row, f"{method} ({row['library']})", epsilon or None, delta)


def _fairness(row: dict[str, Any]) -> str:
    return "accuracy only" if row["fairness"] == "none" else f"fair within {row['slack']}"


def _point(row: dict[str, Any], method: str, epsilon: str | None, delta: str | None) -> dict[str, Any]:
    return {
        "method": method,
        "epsilon": epsilon,
        "delta": delta,
        "accuracy": round(row["accuracy"]["mean"], 4),
        "deviation": row["accuracy"]["std"],
        "risk_difference": round(row["risk_difference"]["mean"], 4),
    }


def _frontier(frontier: dict[str, Any]) -> str:
    shown = (
        "<p>Accuracy on held-out records against the risk difference between the two groups. Up and to the left "
        "is better. The repaired mechanism is ours; its privacy statement is claim <a href='#claim-R'>R</a>. "
        "Runs are seeded, so they are no releases.</p>"
    )
    for name, found in frontier.items():
        document, rows = found["frontier"], list(_points(found))
        numbers = table(
            ("method", "ε", "δ", "accuracy", "risk difference"),
            (
                [
                    escape(row["method"]),
                    row["epsilon"] or "not private",
                    row["delta"] or "",
                    f"{row['accuracy']:.4f}",
                    f"{row['risk_difference']:.4f}",
                ]
                for row in rows
            ),
            f"{DATA[name]}: means over splits",
            classes="numeric",
        )
        rivals = "rivals on the same table" if found["rivals"] else "no rival has a committed result here"
        shown += figure(
            f"frontier-{name}",
            DATA[name],
            f"Means over {document['splits']} splits; one mark an epsilon, joined from the smallest to the "
            f"largest; δ = 10<sup>−5</sup> for the repaired mechanism; {rivals}. Filled marks are private.",
            numbers,
        )
    return shown


def _lines(document: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield each figure of the paper with the points of its lines: means and deviations of the first ten runs."""
    for row in document["figures"]["exhibits"]:
        if row["exhibit"] in FIGURES:
            axis = "delta" if row["exhibit"] == "fig2" else "epsilon"
            yield {
                "name": row["exhibit"],
                "axis": axis,
                "points": [_accuracy(point, axis) for point in row["points"]],
            }


def _accuracy(point: dict[str, Any], axis: str) -> dict[str, Any]:
    first = point["results"][0]
    varies = point["mechanism"] not in ("no_privacy", "lr") and not (axis == "delta" and point["delta"] is None)
    return {
        "line": point["line"],
        "at": float(point[axis]) if varies else None,
        "mean": first["accuracy"][0],
        "deviation": first["accuracy"][1],
        "majority": first["majority_accuracy"][0],
    }


CLAIM_OF = {"fig1": "Fig1", "fig2": "Fig2", "fig3a": "Fig3", "fig3b": "Fig3", "fig3c": "Fig3"}


def _figures(document: dict[str, Any]) -> str:
    redone, rows = document["figures"], {row["id"]: row for row in document["ledger"]}
    shown = (
        "<p>The paper's source comes without its images, so what it says of each figure stands here beside the "
        "same figure, redone. Runs are seeded, not releases. US: "
        f"{escape(redone['data']['us'])}.</p>"
    )
    for row in redone["exhibits"]:
        name = row["exhibit"]
        if name in FIGURES:
            shown += _beside(row, rows[CLAIM_OF[name]])
    tables = [row for row in redone["exhibits"] if row["exhibit"] not in FIGURES]
    return shown + "".join(_printed_table(row) for row in tables)


def _beside(row: dict[str, Any], claim: dict[str, Any]) -> str:
    readings = {
        reading: found["does not come out"]
        for reading, found in claim["evidence"].items()
        if isinstance(found, dict) and "does not come out" in found
    }
    said = "".join(
        f"<li><b>{escape(reading.replace('_', ' '))}</b>: "
        + ("comes out" if not failed else "does not come out: " + prose("; ".join(failed)))
        + "</li>"
        for reading, failed in readings.items()
    )
    numbers = table(
        ("line", "ε", "δ", "accuracy", "deviation", "majority class"),
        (
            [
                escape(point["line"]),
                point["epsilon"] or "",
                point["delta"] or "",
                *(f"{value:.4f}" for value in point["results"][0]["accuracy"]),
                f"{point['results'][0]['majority_accuracy'][0]:.4f}",
            ]
            for point in row["points"]
        ),
        f"{row['title']}: mean and deviation of {row['points'][0]['results'][0]['runs']} runs",
        classes="numeric",
    )
    beside = (
        f"<div class='beside'><p><b>The paper says</b> {prose(claim['statement'])}. {badge(claim['verdict'])} "
        f"(<a href='#claim-{claim['id']}'>{claim['id']}</a>)</p><p><b>By reading</b></p><ul>{said}</ul></div>"
    )
    caption = (
        f"{beside}Means of {row['points'][0]['results'][0]['runs']} runs with one deviation; unit ball, ordinal "
        "codes. The shaded band is what a classifier reaches that always predicts the majority class."
    )
    return figure(row["exhibit"], row["title"], caption, numbers)


def _printed_table(row: dict[str, Any]) -> str:
    """Return the paper's table with our numbers beside the printed ones."""
    cells = (
        [
            escape(point["line"]),
            point["epsilon"] or "",
            " ± ".join(point["printed_risk_difference"]),
            " ± ".join(f"{value:.3f}" for value in point["results"][0]["risk_difference"]),
        ]
        for point in row["points"]
        if point["printed_risk_difference"]
    )
    title = f"{row['title']}, {DATA[row['data']]}"
    return folded(title, table(("", "ε", "the paper prints", "redone"), cells, title, classes="numeric narrow"))
