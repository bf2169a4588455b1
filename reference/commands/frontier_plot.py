"""The frontier, drawn: accuracy against risk difference, a curve for each epsilon."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

from reference.accounting import NOT_PRIVATE
from reference.commands.plot import require_plot
from reference.common.files import write_whole
from reference.experiments.frontier import on_fewer

PANELS = (("public", True), ("public", False), ("generic", True), ("generic", False))


MARKERS = {"interpret": "s", "diffprivlib": "^"}
"""Marks of other libraries' tuned private models; a cross marks models that are not private."""

LEGEND = (
    ("s", "grey", "explainable boosting, tuned"),
    ("^", "grey", "diffprivlib at delta 0, tuned"),
    ("s", "none", "empty: epsilon of adding or removing a record"),
    ("+", "none", "gradient boosting, not private"),
)
"""Mark, filling and meaning."""


def draw_frontier(document: dict[str, Any], path: str, rivals: dict[str, Any] | None = None) -> None:
    """Draw the rows with delta above 0 to a PNG or SVG file, and other libraries' rows beside them.

    Parameters
    ----------
    document : dict
    path : str
    rivals : dict, optional
        Measured on the same splits: what ``python -m tests.peers.frontier`` writes.

    Raises
    ------
    reference.common.errors.MissingExtraError
        Without matplotlib.
    """
    require_plot(path)
    import matplotlib
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    # the same rows give the same file
    with matplotlib.rc_context({"svg.hashsalt": "frontier", "svg.fonttype": "none"}):
        figure = Figure(figsize=(10, 8), layout="constrained")
        FigureCanvasAgg(figure)
        _fill(figure, document, [] if rivals is None else rivals["rows"])
        drawn = io.BytesIO()
        kind = Path(path).suffix.lower().removeprefix(".")
        figure.savefig(drawn, format=kind, metadata={"Date": None} if kind == "svg" else None)
    write_whole(path, drawn.getvalue())


def _fill(figure: Any, document: dict[str, Any], rivals: list[dict[str, Any]]) -> None:
    axes = figure.subplots(2, 2, sharex=True, sharey=True).flat
    for axis, (encoding, group) in zip(axes, PANELS, strict=True):
        rows = [row for row in document["rows"] if row["encoding"] == encoding and row["delta"] != "0"]
        for epsilon in dict.fromkeys(row["epsilon"] for row in rows):
            fair = [
                row
                for row in rows
                if row["epsilon"] == epsilon and (row["fairness"] == "none" or row["group_at_prediction"] == group)
            ]
            fair.sort(key=lambda row: row["risk_difference"]["mean"])
            places = [[row[name]["mean"] for row in fair] for name in ("risk_difference", "accuracy")]
            (line,) = axis.plot(*places, marker="o", markersize=3, linewidth=1, label=f"epsilon {epsilon}")
            mine = [one for one in rivals if one["encoding"] == encoding and one["epsilon"] == epsilon]
            _add_rivals(axis, mine, group=group, color=line.get_color())
        for one in rivals:
            here = one["encoding"] == encoding and (group or one["fairness"] == "none")
            if here and one["model"].startswith("gradient boosting"):
                axis.plot(one["risk_difference"]["mean"], one["accuracy"]["mean"], "k+")
        for name, one in _regressions(document, rivals, encoding):
            if group or "threshold" not in name:
                axis.plot(one["risk_difference"]["mean"], one["accuracy"]["mean"], "kx")
                _name_beside(axis, name, one)
        axis.set_title(f"{encoding} bins, predictions {'use' if group else 'do not use'} the group", fontsize=9)
        axis.grid(alpha=0.3)
    figure.supxlabel(f"risk difference (0: both groups are selected equally often)\n{NOT_PRIVATE}", fontsize=9)
    for axis in figure.axes[::2]:
        axis.set_ylabel("accuracy")
    drawn = [axis for axis in figure.axes if axis.get_legend_handles_labels()[0]]
    drawn[0].legend(fontsize=7)
    if rivals:
        _explain_marks(drawn[1])
    data, splits = document["data"].title(), document["splits"]
    figure.suptitle(
        f"{data}: accuracy against fairness of private models, mean of {splits} splits\n"
        "each curve is one epsilon; its right end asks for no fairness",
        fontsize=10,
    )


def _explain_marks(axis: Any) -> None:
    from matplotlib.lines import Line2D

    marks = [
        Line2D(
            [],
            [],
            color="black" if mark == "+" else "grey",
            ls="",
            marker=mark,
            markerfacecolor=filled,
            label=name,
        )
        for mark, filled, name in LEGEND
    ]
    axis.legend(handles=marks, fontsize=7, title="others, in the colours of epsilon", title_fontsize=7)


def _regressions(
    document: dict[str, Any], rivals: list[dict[str, Any]], encoding: str
) -> list[tuple[str, dict[str, Any]]]:
    """Return logistic regression without noise, by names that say where it ran on fewer splits than curves."""
    run = [
        (f"{one['model']}, not private", one)
        for one in rivals
        if one["library"] == "scikit-learn" and one["model"].startswith("logistic regression")
    ]
    found = run or [(one["name"], one) for one in document["references"]]
    return [(on_fewer(name, one, document), one) for name, one in found if one["encoding"] == encoding]


def _add_rivals(axis: Any, rivals: list[dict[str, Any]], *, group: bool, color: str) -> None:
    """Mark other libraries' private models of one epsilon, each at its own adjacency."""
    for one in rivals:
        fits = one["fairness"] == "none" or one["group_at_prediction"] == group
        if fits and one["library"] in MARKERS and "as it comes" not in one["model"]:
            # empty: adding or removing a record, which protects less
            filled = color if one["adjacency"] == "replace_one" else "none"
            place = (one["risk_difference"]["mean"], one["accuracy"]["mean"])
            axis.plot(*place, MARKERS[one["library"]], color=color, markerfacecolor=filled, markersize=5)


def _name_beside(axis: Any, name: str, reference: dict[str, Any]) -> None:
    """Name a point above the curves, which rise to the right: to its left or, near the axis, to its right."""
    place = (reference["risk_difference"]["mean"], reference["accuracy"]["mean"])
    left = place[0] > 0.1
    axis.annotate(
        name,
        place,
        xytext=(-6, 5) if left else (7, 12),
        textcoords="offset points",
        ha="right" if left else "left",
        fontsize=6,
    )
