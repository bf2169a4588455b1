"""The parts of the report that come from committed results."""

from __future__ import annotations

import csv
import re
from typing import Any

from audit.bounds import largest_certifiable_epsilon
from audit.commands.report.committed import CommittedResults

VALIDITY = "docs/auditor-validity.json"
CATALOGUE_PAGE, CATALOGUE_ROWS = "docs/catalogue.md", "docs/catalogue.csv"
EXPERIMENTS = "docs/experiments.json"
PEERS = "docs/experiments_peers.json"
FRONTIERS = {name: f"docs/data/frontier-{name}.json" for name in ("adult", "us", "german", "compas")}
RIVALS = {name: f"docs/data/rivals-{name}.json" for name in FRONTIERS}
BOUNDARIES = {name: f"docs/figures/{name}.json" for name in ("t3_exact", "t5_absolute", "t5_covariance")}

FIGURES = ("fig1", "fig2", "fig3a", "fig3b", "fig3c")

PRINTED_TABLE = "table2"


def auditor(files: CommittedResults) -> dict[str, Any]:
    """Return how often the auditor errs, and its bounds on the catalogue."""
    scores = _catalogue(files.text(CATALOGUE_PAGE), files.text(CATALOGUE_ROWS))
    return {"validity": files.json(VALIDITY), "catalogue": scores}


def _catalogue(page: str | None, table: str | None) -> dict[str, Any] | None:
    """Return the committed scores, with each entry's ceiling."""
    if page is None or table is None:
        return None
    part = page.split("<!-- scores: begin -->")[1].split("<!-- scores: end -->")[0]
    draws = re.search(r"of ([\d,]+) draws per audit", page)
    said = re.search(r"(\d+) audits of each entry, at significance ([\d.]+):", part)
    if draws is None or said is None:
        raise RuntimeError(f"{CATALOGUE_PAGE} does not say how many draws and audits its scores are of")
    count, significance = int(draws[1].replace(",", "")), float(said[2])
    rows = [
        row | {"ceiling": _ceiling(row["claim"], count, significance)}
        for row in csv.DictReader(table.splitlines())
    ]
    summary = [line.removeprefix("- ") for line in part.splitlines() if line.startswith("- ")]
    return {
        "draws": count,
        "audits": int(said[1]),
        "significance": significance,
        "rows": rows,
        "summary": summary,
    }


def _ceiling(claim: str, draws: int, significance: float) -> float:
    """Return the bound of a perfect event, with half of the draws on each input, all of them certifying."""
    delta = float(claim.partition(", ")[2] or 0)
    return round(largest_certifiable_epsilon(draws // 2, delta, significance), 4)


def frontier(files: CommittedResults) -> dict[str, Any]:
    """Return accuracy against fairness of the repaired mechanism, of rivals, and of the paper's mechanisms."""
    peers = files.json(PEERS) or {}
    rivals = {name: files.json(place) for name, place in RIVALS.items()}
    return {
        name: {"frontier": document, "rivals": rivals[name], "peers": peers.get(name)}
        for name, place in FRONTIERS.items()
        if (document := files.json(place)) is not None
    }


def figures(files: CommittedResults) -> dict[str, Any] | None:
    """Return the paper's figures and its table, redone."""
    document = files.json(EXPERIMENTS)
    if document is None:
        return None
    return {
        "note": document["note"],
        "libraries": document["libraries"],
        "data": document["data"],
        "exhibits": [row for row in document["exhibits"] if row["exhibit"] in (*FIGURES, PRINTED_TABLE)],
    }


def boundaries(files: CommittedResults) -> dict[str, Any]:
    """Return the ratios of budgets for which Theorems 3 and 5 hold, by dimension."""
    return {name: document for name, place in BOUNDARIES.items() if (document := files.json(place)) is not None}
