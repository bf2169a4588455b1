"""The frontier and the paper's figures as HTML, with the points that the script draws."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape
from typing import Any

from audit.commands.report.claim_markup import prose
from audit.commands.report.markup import badge, figure, folded, table
from audit.commands.report.results import FIGURES

DATA = {"adult": "UCI Adult", "us": "US census (ACS 2024)", "german": "German credit", "compas": "COMPAS"}


def frontier_points(found: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield the points to draw for one table: our repaired mechanism, rivals, and the paper's mechanisms."""
    document = found["frontier"]
    size = document["subset_size"]
    for row in document["rows"]:
        if row["encoding"] == "public" and row["slack"] == "0" and row["delta"] != "0":
            family = (
                "repaired, for accuracy only" if row["fairness"] == "none" else "repaired, for equal rates too"
            )
            method = f"{family}, by group" if row["group_at_prediction"] else family
            run = _run("the repaired mechanism", document["splits"], row["encoding"], size)
            yield _point(row, (method, family), (row["epsilon"], row["delta"])) | run
    for row in document["references"]:
        if row["encoding"] == "public":
            run = _run("logistic regression without privacy", row["splits"], row["encoding"], size)
            yield _point(row, (row["name"], OPEN), (None, None)) | run
    for row in (found["rivals"] or {}).get("rows", []):
        if row["encoding"] == "public":
            family = row["library"] if row["epsilon"] else OPEN
            adjacency = ", add or remove" if row["adjacency"] == "add_or_remove_one" else ""
            names = (f"{row['model']} ({row['library']}{adjacency})", family)
            run = _run("other libraries, among the same splits", row["splits"], row["encoding"], size)
            yield _point(row, names, (row["epsilon"], row["delta"])) | run
    peers = found["peers"] or {}
    for row in peers.get("rows", []):
        if row["library"] != "this project":
            continue
        method, _, epsilon = row["method"].partition(", epsilon ")
        delta = row["guarantee"].partition("delta ")[2] or "0"
        budget = (epsilon, delta) if epsilon else (None, None)
        run = _run(PAPERS, row["runs"], peers["readings"]["encoding"], peers["subset_size"])
        yield _point(row, (f"{method} ({row['library']})", OWN if epsilon else OPEN), budget) | run


OPEN, OWN = "not private", "the paper's mechanisms"
PAPERS = "the paper's mechanisms, lr, no_privacy and Zafar's constraint"

ENCODINGS = {"public": "public bins", "ordinal": "ordinal codes"}


def _run(of: str, splits: int, encoding: str, size: int | None) -> dict[str, Any]:
    """Return what a mean is over."""
    records = "all" if size is None else f"{size:,}"
    return {"of": of, "splits": splits, "encoding": ENCODINGS[encoding], "records": records}


def _point(row: dict[str, Any], names: tuple[str, str], budget: tuple[str | None, str | None]) -> dict[str, Any]:
    return {
        "method": names[0],
        "family": names[1],
        "epsilon": budget[0],
        "delta": budget[1],
        "accuracy": round(row["accuracy"]["mean"], 4),
        "risk_difference": round(row["risk_difference"]["mean"], 4),
    }


def frontier(tables: dict[str, Any]) -> str:
    """Return accuracy against fairness, with a figure for each table."""
    shown = (
        "<p>Accuracy on held-out records against the risk difference between the two groups. Up and to the left "
        "is better. The repaired mechanism is ours; its privacy statement is claim <a href='#claim-R'>R</a>. "
        "Runs are seeded, so they are not releases.</p>"
    )
    figures = ""
    for name, found in tables.items():
        rows = list(frontier_points(found))
        numbers = table(
            ("method", "ε", "δ", "accuracy", "risk difference", "splits"),
            (
                [
                    escape(row["method"]),
                    row["epsilon"] or "not private",
                    row["delta"] or "",
                    f"{row['accuracy']:.4f}",
                    f"{row['risk_difference']:.4f}",
                    str(row["splits"]),
                ]
                for row in rows
            ),
            f"{DATA[name]}: means over splits",
            classes="numeric means",
        )
        deltas = ", ".join(dict.fromkeys(row["delta"] for row in rows if row["family"].startswith("repaired")))
        figures += figure(
            f"frontier-{name}",
            DATA[name],
            f"Means over splits of the records: {_means(rows)}. One mark an epsilon, joined from the smallest to "
            f"the largest; δ = {deltas} for the repaired mechanism; each library at its own adjacency (replacing "
            "a record, unless the table says otherwise). Filled marks are private.",
            numbers,
        )
    return f'{shown}<div class="two">{figures}</div>'


def _means(rows: list[dict[str, Any]]) -> str:
    """Return over how many splits the means are, of which records and in which encoding."""
    said = []
    for of in dict.fromkeys(row["of"] for row in rows):
        kept = [row for row in rows if row["of"] == of]
        splits = sorted({row["splits"] for row in kept})
        many = " to ".join(map(str, dict.fromkeys((splits[0], splits[-1]))))
        size = "" if kept[0]["records"] == "all" else f", {kept[0]['records']} of the records"
        said.append(f"{many} for {of} ({kept[0]['encoding']}{size})")
    return "; ".join(said)


def figure_lines(document: dict[str, Any]) -> Iterator[dict[str, Any]]:
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


def figures(document: dict[str, Any]) -> str:
    """Return the paper's figures redone, each beside the paper's description."""
    redone, rows = document["figures"], {row["id"]: row for row in document["ledger"]}
    shown = (
        "<p>The paper's source comes without its images, so each figure stands here redone, beside what the "
        "paper says about it. Runs are seeded, not releases. US: "
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
        if isinstance(found, dict) and "does not come out" in found and _is_of(reading, row["exhibit"])
    }
    said = "".join(
        f"<li><b>{escape(NAMED.get(reading, reading))}</b>: "
        + ("comes out" if not failed else "does not come out: " + prose("; ".join(failed)))
        + "</li>"
        for reading, failed in readings.items()
    )
    well = sum(not failed for failed in readings.values())
    by_reading = folded(f"It comes out under {well} of {len(readings)} readings", f"<ul>{said}</ul>")
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
    why = "" if row["exhibit"] in ("fig3b", "fig3c") else f"<p><b>Why</b> {prose(claim['why'])}</p>"
    beside = (
        f"<div class='beside'><p><b>The paper says</b> {prose(claim['statement'])} {badge(claim['verdict'])} "
        f"(<a href='#claim-{claim['id']}'>{claim['id']}</a>)</p>{why}{by_reading}</div>"
    )
    caption = (
        f"{beside}Means of {row['points'][0]['results'][0]['runs']} runs with one deviation; unit ball, ordinal "
        "codes. The dotted line is the accuracy of always predicting the majority class."
    )
    title = row["title"].replace("accuracy, epsilon", "accuracy against epsilon")
    title = prose(title.replace("accuracy, delta", "accuracy against delta"))
    return figure(row["exhibit"], title, caption, numbers, classes="redone")


NAMED = {
    "default": "unit ball, the fairness term as the proofs write it",
    "box": "unit box",
    "intercept_group": "with an intercept and the group among the features",
    "covariance": "signed fairness term",
    "separate": "covariance released apart",
    "fig3b": "PDFC, each x_s",
    "fig3c": "ADFC, each x_s",
}
"""Readings of a figure, in words."""


def _is_of(reading: str, exhibit: str) -> bool:
    """Return whether evidence belongs to this figure; without a name it belongs to the first of its claim."""
    named = reading in FIGURES
    return reading == exhibit if named or exhibit in ("fig3b", "fig3c") else True


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
    return folded(
        title, table(("line", "ε", "the paper prints", "redone"), cells, title, classes="numeric narrow")
    )
