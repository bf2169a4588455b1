"""The numbers of the pages on x_s, rfm and peers: ``python -m reference experiments question_pages --from DIR``.

Takes what the commands wrote into DIR, keeps it in docs/experiments_*.json, and writes its tables into the pages.
The prose is written by hand; the text between the marks `<!-- name -->` and `<!-- end -->` is not.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from reference.common.errors import ReadingError
from reference.common.files import write_whole
from reference.experiments import peers
from reference.experiments.calibrated import COMPARISONS
from reference.experiments.pages import markdown_table, replaced
from reference.experiments.paired import INCREASES, NEITHER, REDUCES
from reference.experiments.questions import QUESTIONS

DOCS = Path(__file__).parents[2] / "docs"

TOLD = ("covariance_ball", "adfc", "10")
"""The setting of x_s on Adult on the page: readings, mechanism, epsilon."""

HEADS = {INCREASES: "RD grows", REDUCES: "RD falls", NEITHER: "RD changes by no more than chance"}


def document_of(question: str) -> Path:
    """Return the file of the committed numbers."""
    return DOCS / f"experiments_{question}.json"


def page_of(question: str) -> Path:
    """Return the page: `rfm` is a part of the one on all experiments."""
    return DOCS / "experiments.md" if question == "rfm" else document_of(question).with_suffix(".md")


def collected(question: str, folder: str) -> dict[str, Any]:
    """Return what a command wrote into a folder, by data set, rounded.

    Raises
    ------
    reference.common.errors.ReadingError
        When a data set was not run, or was replaced by another.
    """
    found = {}
    for data in QUESTIONS[question].data:
        path = Path(folder) / f"{question}-{data}.json"
        if not path.is_file():
            raise ReadingError("from", folder, f"one with {path.name}: run the command with --out first")
        # five decimals: the last digits depend on the machine
        found[data] = json.loads(path.read_text(encoding="utf-8"), parse_float=lambda text: round(float(text), 5))
        if found[data]["missing_data"] is not None:
            raise ReadingError("from", folder, f"one whose {path.name} is about the data that you name")
    return {data: shortened(one) for data, one in found.items()} if question == "x_s" else found


def shortened(document: dict[str, Any]) -> dict[str, Any]:
    """Return an x_s document with the readings of each variant once, without what no page shows."""
    kept = ("risk_difference", "gain_over_majority", "positive_rate", "unbounded", "constant", "runs")
    readings = {one["readings"]["variant"]: one["readings"] for one in document["settings"]}
    settings = [
        {
            **setting,
            "readings": {"variant": setting["readings"]["variant"]},
            "choices": [
                {
                    "x_s": row["x_s"],
                    "correlation_with_z": row["correlation_with_z"],
                    **{name: row[name] for name in COMPARISONS},
                    "calibrated": {name: row["calibrated"][name] for name in kept},
                }
                for row in setting["choices"]
            ],
        }
        for setting in document["settings"]
    ]
    return {**document, "variants": readings, "settings": settings}


def filled(question: str, page: str, document: dict[str, Any]) -> str:
    """Return a page with the numbers of a document between its marks."""
    others = ("table2-adult",) if question == "rfm" else ()
    return replaced(page, BLOCKS[question](document), others=others)


# --- x_s --------------------------------------------------------------------------------------------------------


def x_s_blocks(document: dict[str, Any]) -> dict[str, str]:
    """Return the effect of more noise on each x_s on Adult, at the same published epsilon."""
    (setting,) = [
        one
        for one in document["adult"]["settings"]
        if (one["readings"]["variant"], one["mechanism"], one["epsilon"]) == TOLD
    ]
    lines = []
    for word, head in HEADS.items():
        rows = [row for row in setting["choices"] if row["same_epsilon"]["word"] == word]
        if rows:
            shown = ", ".join(f"{row['x_s']} {row['same_epsilon']['mean']:+.3f}" for row in rows)
            lines.append(f"- {head}: {shown}.")
    return {"x_s-adult": "\n".join(lines)}


# --- rfm and peers ----------------------------------------------------------------------------------------------


def rfm_blocks(document: dict[str, Any]) -> dict[str, str]:
    """Return the epsilon from which on they are equal, by data set and n."""
    made = {}
    for data, found in document.items():
        by_norm: dict[str, list[Any]] = {}
        for row in found["rows"]:
            by_norm.setdefault(row["domain"], []).append(row)
        sizes = [f"n = {row['records']:,}" for row in next(iter(by_norm.values()))]
        equal_from = [
            [f"`{norm}`", *(row["equal_from"] or "never" for row in rows)] for norm, rows in by_norm.items()
        ]
        made[f"rfm-{data}"] = "Equal from epsilon:\n\n" + markdown_table(["domain", *sizes], equal_from)
    return made


LEFT_OUT = (
    *("epsilon 0.1", "regression, epsilon 10", "0.1 of the covariance", "0.5 of the covariance"),
    *("functional, epsilon 1", "pdfc, epsilon 1", "adfc, epsilon 1", "linear regression, epsilon 1"),
    *(" functional, epsilon 10", "pdfc, epsilon 10"),
)
"""Ends of the names of methods that are in the document only."""

FORCED = ("0 of the covariance", "covariance forced to 0")
"""What a bound of 0 is called in the document, and on the page."""


def peers_blocks(document: dict[str, Any]) -> dict[str, str]:
    """Return, for each data set, the methods that a page shows, and the versions compared."""
    made = {}
    columns = ("accuracy", "risk_difference")
    for data, found in document.items():
        versions = ", ".join(f"{name} {number}" for name, number in found["versions"].items() if number)
        majority = peers.spread_text(found["rows"][0]["majority_accuracy"])
        size = "" if found["subset_size"] is None else f", {found['subset_size']:,} records drawn for each"
        methods = {f"{row['library']}: {row['method']}": row for row in found["rows"]}
        rows = [
            [method.replace(*FORCED), *(peers.spread_text(row[name]) for name in columns)]
            for method, row in methods.items()
            if not method.endswith(LEFT_OUT)
        ]
        made[f"peers-{data}"] = (
            f"{found['splits']} splits{size}; {versions}. The majority class has accuracy {majority}.\n\n"
            + markdown_table(["method", "accuracy", "risk difference"], rows)
        )
    return made


BLOCKS = {"x_s": x_s_blocks, "rfm": rfm_blocks, "peers": peers_blocks}


def write(folder: str, chosen: Iterable[str] = BLOCKS) -> None:
    """Write pages and numbers from what the commands wrote into a folder; read everything before writing."""
    for question, document in {name: collected(name, folder) for name in chosen}.items():
        page = filled(question, page_of(question).read_text(encoding="utf-8"), document)
        write_whole(document_of(question), json.dumps(document, separators=(",", ":"), allow_nan=False) + "\n")
        write_whole(page_of(question), page)
