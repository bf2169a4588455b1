"""The numbers of docs/experiments.md: measured here, kept in docs/experiments.json, and written into the page.

The prose of the page is written by hand; the text between the marks `<!-- name -->` and `<!-- end -->` is not.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from reference.common.files import write_whole
from reference.datasets import Encoding
from reference.experiments.exhibits import EXHIBITS, LR, ExhibitDesign, Point, points, points_of_line
from reference.experiments.outputs import DATA_NOTES, Shown
from reference.experiments.runner import run_all
from reference.experiments.store import LIBRARIES, RunStore, header
from reference.experiments.study import RunResult, RunSpec
from reference.experiments.summaries import Summary
from reference.experiments.variants import DEFAULT, VARIANTS, Variant
from reference.experiments.watch import NOBODY, Watch

DOCUMENT = Path(__file__).parents[2] / "docs" / "experiments.json"
PAGE = DOCUMENT.with_suffix(".md")

SCHEMA = "experiments_page_v1"
DATA = ("adult", "us")
SPLITS = 50
SHOWN_EXHIBITS = ("fig1", "fig2", "fig3a", "fig3b", "fig3c", "table2")
"""Table 1 stands in Table 2 again."""

SHOWN_VALUES = (None, "1")
"""Epsilons on the page; the document has all."""

FIRST = 10
DRAWS = 200
"""Noise draws on one split, for the share without a minimum."""

SUBSETS = (300, 500, 1000, 2000, 5000)

ENCODINGS = {
    "ordinal": Encoding(),
    "ordinal, intercept": Encoding(intercept=True),
    "ordinal, sex": Encoding(keep_group=True),
    "ordinal, intercept, sex": Encoding(intercept=True, keep_group=True),
    "one-hot": Encoding(encoding="one_hot"),
    "one-hot, sex": Encoding(encoding="one_hot", keep_group=True),
}
"""For LR the norm only scales w, and one-hot columns of one attribute add up to an intercept."""

SUBSET_ENCODING = "ordinal, intercept, sex"
"""The one whose risk difference on all of Adult is nearest to the printed one."""

Run = Callable[[Sequence[RunSpec]], dict[RunSpec, RunResult]]


# --- Measuring --------------------------------------------------------------------------------------------------


def measure(store: RunStore | None = None, *, jobs: int = 1, watch: Watch = NOBODY) -> dict[str, Any]:
    """Run everything that the page reports, on the real data.

    Raises
    ------
    reference.common.errors.MissingDataError
        Without the data: the page is not written from others.
    """

    def run(specs: Sequence[RunSpec]) -> dict[RunSpec, RunResult]:
        return run_all(specs, store, jobs=jobs, watch=watch)

    document = {
        "schema": SCHEMA,
        "note": "seeded runs (seed 0), not releases; not private: for the data holder",
        "libraries": {name: header()[name] for name in LIBRARIES},
        "data": {name: DATA_NOTES[name] for name in DATA},
        "exhibits": exhibits(run),
        "variants": {name: variants(name, run) for name in DATA},
        "logistic_regression": {name: logistic_regression(name, run) for name in DATA},
        "subsets": subsets(run),
        "without_minimum": {name: without_minimum(name, run) for name in DATA},
    }
    rounded: dict[str, Any] = _rounded(document)
    return rounded


def exhibits(run: Run) -> list[dict[str, Any]]:
    """Return the figures and tables under the default readings."""
    found = []
    for name in SHOWN_EXHIBITS:
        for data in EXHIBITS[name].data:
            design = ExhibitDesign(data, VARIANTS[DEFAULT], splits=SPLITS)
            specs = [spec for point in points(EXHIBITS[name], design) for spec in point.specs]
            document = Shown.of(EXHIBITS[name], design, run(specs)).to_json()
            found.append({key: document[key] for key in ("exhibit", "title", "data", "points")})
    return found


def variants(data: str, run: Run) -> list[dict[str, Any]]:
    """Return Table 2's lines but LR under every variant, ten splits each."""
    exhibit, found = EXHIBITS["table2"], []
    exhibit = replace(exhibit, lines={"": tuple(line for line in exhibit.lines_on(data) if line != LR)})
    for variant in VARIANTS.values():
        shown = points(exhibit, ExhibitDesign(data, variant, splits=FIRST))
        results = run([spec for point in shown for spec in point.specs])
        for point in shown:
            summary = _of(point, results).to_json()
            del summary["accuracy"], summary["majority_accuracy"]
            found.append(
                {
                    "variant": variant.name,
                    "line": point.line.name,
                    "epsilon": point.epsilon,
                    "x_s": point.x_s,
                    **summary,
                }
            )
    return found


def logistic_regression(data: str, run: Run) -> list[dict[str, Any]]:
    """Return LR in every encoding, one-hot on Adult only: its table is the paper's."""
    return [
        {"encoding": name, **_lr(data, encoding, FIRST, None, run).to_json()}
        for name, encoding in ENCODINGS.items()
        if data == "adult" or encoding.encoding == "ordinal"
    ]


def subsets(run: Run) -> list[dict[str, Any]]:
    """Return LR on random sub-samples of Adult: how its deviation depends on their size."""
    encoding = ENCODINGS[SUBSET_ENCODING]
    return [{"subset_size": size, **_lr("adult", encoding, SPLITS, size, run).to_json()} for size in SUBSETS]


def without_minimum(data: str, run: Run) -> list[dict[str, Any]]:
    """Return how often the noisy objective has no minimum on one split, by mechanism and epsilon.

    Without the paper's baselines that add no noise; with Clopper-Pearson intervals of confidence 0.95 each.
    """
    found = []
    design = ExhibitDesign(data, VARIANTS["no_repair"], splits=1)
    from scipy.stats import binomtest

    lines = {line for name in ("fig1", "fig3a") for line in EXHIBITS[name].lines_on(data)}
    for line in sorted(lines, key=lambda line: line.name):
        shown = [
            point for point in points_of_line(line, "epsilon", EXHIBITS["fig1"].grid, design) if point.epsilon
        ]
        for point in shown:
            specs = [replace(point.specs[0], repeat=repeat) for repeat in range(DRAWS)]
            unbounded = Summary(tuple(run(specs).values())).unbounded
            interval = binomtest(unbounded, DRAWS).proportion_ci(confidence_level=0.95, method="exact")
            found.append(
                {
                    "line": line.name,
                    "epsilon": point.epsilon,
                    "without_minimum": unbounded,
                    "draws": DRAWS,
                    "interval": [interval.low, interval.high],
                }
            )
    return found


def _lr(data: str, encoding: Encoding, splits: int, size: int | None, run: Run) -> Summary:
    design = ExhibitDesign(data, Variant("", "", encoding), splits=splits, subset_size=size)
    (point,) = points_of_line(LR, "epsilon", EXHIBITS["fig1"].grid, design)
    return _of(point, run(point.specs))


def _of(point: Point, results: dict[RunSpec, RunResult]) -> Summary:
    return Summary(tuple(results[spec] for spec in point.specs))


def _rounded(value: Any) -> Any:
    """Round a document's floats to four decimals, and turn pairs of mean and deviation into lists.

    The last digits depend on the machine.
    """
    if isinstance(value, float):
        return round(value, 4)
    if isinstance(value, dict) and list(value) == ["mean", "std"]:
        return [_rounded(value["mean"]), _rounded(value["std"])]
    if isinstance(value, dict):
        return {key: _rounded(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_rounded(item) for item in value]
    return value


# --- Writing ----------------------------------------------------------------------------------------------------


def write(document: dict[str, Any]) -> None:
    """Write the numbers, and put their tables into the page."""
    # without indentation, which would make up most of the file
    write_whole(DOCUMENT, json.dumps(document, separators=(",", ":"), allow_nan=False) + "\n")
    write_whole(PAGE, filled(PAGE.read_text(encoding="utf-8"), document))


def filled(page: str, document: dict[str, Any]) -> str:
    """Return a page with every block between marks replaced by the numbers of a document.

    Raises
    ------
    ValueError
        When the page has no mark, one twice, or one that is not a block of the document.
    """
    return replaced(page, dict(blocks(document)), others=("rfm-us",))


def replaced(page: str, made: dict[str, str], *, others: tuple[str, ...] = ()) -> str:
    """Return a page with every block between marks replaced; a page may leave blocks out, and have `others`.

    Raises
    ------
    ValueError
        When the page has no mark, one twice, or one that does not name a block.
    """
    marks = [mark for mark in re.findall(r"<!-- ([\w-]+) -->\n", page) if mark not in ("end", *others)]
    if not marks or len(set(marks)) != len(marks) or not set(marks) <= set(made):
        raise ValueError(f"the page has the marks {marks}: each of {sorted(made)} may stand there once")

    def block(match: re.Match[str]) -> str:
        if match[1] in others:
            return match[0]
        return f"<!-- {match[1]} -->\n{made[match[1]]}\n<!-- end -->"

    return re.sub(r"<!-- (?!end)([\w-]+) -->\n.*?<!-- end -->", block, page, flags=re.DOTALL)


def blocks(document: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield the name and the Markdown of each block."""
    for exhibit in document["exhibits"]:
        yield f"{exhibit['exhibit']}-{exhibit['data']}", _exhibit_table(exhibit)


def _exhibit_table(exhibit: dict[str, Any]) -> str:
    axis = "delta" if exhibit["exhibit"] == "fig2" else "epsilon"
    headings = ["line", axis, "accuracy", "positive rate", "risk difference", "the paper's", "constant, of 50"]
    rows = []
    for point in exhibit["points"]:
        if point[axis] not in SHOWN_VALUES:
            continue
        _, fifty = point["results"]
        printed = point["printed_risk_difference"]
        rows.append(
            [
                point["line"],
                point[axis] or "",
                _spread(fifty["accuracy"]),
                _spread(fifty["positive_rate"]),
                _spread(fifty["risk_difference"]),
                "" if printed is None else " ± ".join(printed),
                str(fifty["constant"]),
            ]
        )
    majority = exhibit["points"][0]["results"][1]["majority_accuracy"]
    return f"Majority class: accuracy {_spread(majority)}.\n\n" + markdown_table(headings, rows)


def markdown_table(headings: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a table in Markdown."""
    lines = [headings, ["---"] * len(headings), *rows]
    return "\n".join("| " + " | ".join(cells) + " |" for cells in lines)


def _spread(value: Sequence[float | None]) -> str:
    mean, deviation = value
    if mean is None:
        return "–"
    return f"{mean:.3f}" + ("" if deviation is None else f" ± {deviation:.3f}")
