"""The boundary of Theorem 3 or 5, drawn over the dimension."""

from __future__ import annotations

import io
from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any

from audit.exact.boundary import ends, middle
from reference.commands.plot import require_plot
from reference.common.files import json_text, write_whole

PROGRAM = "audit boundary"

FAIRNESS = {
    "absolute": "fairness term as the proofs write it",
    "covariance": "signed fairness term",
    "separate": "fairness term released apart",
    "none": "no fairness term",
}

RATIOS = [step * 10.0**power for power in range(-2, 4) for step in (1, 2, 5)][:-2]
"""Ratios at which an axis may begin or end."""


def plot(document: dict[str, Any], path: str) -> None:
    """Draw the boundary over d.

    The SVG is the same for the same document and matplotlib: no date, fixed identifiers.  Its description holds
    the digest of the document.

    Raises
    ------
    reference.common.errors.ReadingError
        For another format.
    reference.common.errors.MissingExtraError
        Without matplotlib.
    """
    require_plot(path)
    import matplotlib
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    suffix = Path(path).suffix.lower().removeprefix(".")
    with matplotlib.rc_context({"svg.hashsalt": "boundary", "svg.fonttype": "none", "font.family": "sans-serif"}):
        figure = Figure(figsize=(10.0, 3.8), layout="constrained")
        FigureCanvasAgg(figure)
        _draw(document, figure)
        target = io.BytesIO()
        figure.savefig(target, format=suffix, metadata=_metadata(document, suffix))
    if suffix == "svg":
        lines = target.getvalue().decode().splitlines()
        write_whole(path, "\n".join(line.rstrip() for line in lines) + "\n")
    else:
        write_whole(path, target.getvalue())


def digest(document: dict[str, Any]) -> str:
    """Return the digest in a figure of this document."""
    return sha256(json_text(document).encode()).hexdigest()


def _metadata(document: dict[str, Any], suffix: str) -> dict[str, str | None]:
    description = f"boundary document sha256 {digest(document)}"
    if suffix == "svg":
        return {"Date": None, "Creator": PROGRAM, "Description": description}
    return {"Software": PROGRAM, "Description": description}


def _draw(document: dict[str, Any], figure: Any) -> None:
    """Draw one panel per domain."""
    domains = list(dict.fromkeys(row["domain"] for row in document["rows"]))
    shown = shown_ratios(document["rows"])
    axes = figure.subplots(1, len(domains), sharey=True, squeeze=False)[0]
    for axis, domain in zip(axes, domains, strict=True):
        rows = [row for row in document["rows"] if row["domain"] == domain]
        _draw_panel(axis, rows, shown)
        axis.set_title(domain.replace("_", " "), fontsize="medium")
        axis.set_xlabel("number of features d")
    axes[0].set_ylabel("epsilon_s / epsilon_n:\nbudget of x_s over that of the others")
    theorem = document["theorem"].removeprefix("T")
    readings = document["readings"]
    figure.suptitle(
        f"For which ratios of the two budgets is Theorem {theorem} true?\n"
        f"{readings['sensitivity']} sensitivity, {FAIRNESS[readings['fairness']]}",
        fontsize="large",
    )
    figure.legend(
        *axes[-1].get_legend_handles_labels(), loc="outside lower center", ncols=5, frameon=False, fontsize="small"
    )


def shown_ratios(rows: Sequence[dict[str, Any]]) -> tuple[float, float]:
    """Return the lowest and the highest ratio to show, with room around the curves."""
    found = [
        end for row in rows for name in ("lower", "upper") if row[name] is not None for end in ends(row[name])
    ]
    found += [middle(value) for row in rows for value in row.get("fails_at", {}).values() if value is not None]
    near = [1.0, *(value for value in found if value > 0)]
    below = [ratio for ratio in RATIOS if ratio < min(near) / 1.2]
    above = [ratio for ratio in RATIOS if ratio > max(near) * 1.2]
    return max(below, default=RATIOS[0]), min(above, default=RATIOS[-1])


def _draw_panel(axis: Any, rows: Sequence[dict[str, Any]], shown: tuple[float, float]) -> None:
    dimensions = [row["dimension"] for row in rows]
    lowest, highest = shown
    tops = [(highest, highest) if row["upper"] is None else ends(row["upper"]) for row in rows]
    bottoms = [ends(row["lower"]) for row in rows]
    true = "true for every delta" if "fails_at" in rows[0] else "true"
    # between these the theorem certainly holds
    upper = [low for low, _ in tops]
    lower = [max(lowest, high) for _, high in bottoms]
    false = "false for small enough delta" if "fails_at" in rows[0] else "false"
    axis.fill_between(dimensions, lower, upper, color="#4c78a8", alpha=0.35, linewidth=0, label=true)
    hatched = {"facecolor": "none", "edgecolor": "#e4575660", "hatch": "//", "linewidth": 0}
    axis.fill_between(dimensions, [max(lowest, high) for _, high in tops], highest, label=false, **hatched)
    axis.fill_between(dimensions, lowest, [max(lowest, low) for low, _ in bottoms], **hatched)
    axis.plot(dimensions, upper, marker="o", markersize=3, color="#4c78a8")
    inside = [(d, value) for d, value in zip(dimensions, lower, strict=True) if value > lowest]
    if inside:
        axis.plot(*zip(*inside, strict=True), marker="o", markersize=3, color="#4c78a8")
    if any(low != high for low, high in tops + bottoms):
        shade = {"color": "#9d9d9d", "alpha": 0.35, "linewidth": 0}
        axis.fill_between(dimensions, upper, [min(highest, high) for _, high in tops], label="undecided", **shade)
        axis.fill_between(dimensions, [max(lowest, low) for low, _ in bottoms], lower, **shade)
    for style, delta in zip((":", "--", "-."), list(rows[0].get("fails_at", {}))[:3], strict=False):
        found = [(row["dimension"], row["fails_at"][delta]) for row in rows if row["fails_at"][delta] is not None]
        label = f"false above, at delta {delta}"
        axis.plot(
            [d for d, _ in found], [middle(value) for _, value in found], style, color="#e45756", label=label
        )
    axis.axhline(1.0, color="black", linewidth=0.8, label="equal budgets")
    axis.set_yscale("log")
    axis.set_ylim(lowest, highest)
    ticks = [ratio for ratio in RATIOS if lowest <= ratio <= highest]
    ticks = ticks if len(ticks) < 8 else [ratio for ratio in ticks if f"{ratio:e}".startswith("1")]
    axis.set_yticks(ticks, [f"{ratio:g}" for ratio in ticks])
    axis.set_yticks([], minor=True)
    if max(dimensions) > 10:
        axis.set_xscale("log")
        ticks = [2, 5, 10, 13, 20, 50, 100]
        axis.set_xticks(ticks, [str(tick) for tick in ticks])
        axis.set_xticks([], minor=True)
    else:
        axis.set_xticks(dimensions)
