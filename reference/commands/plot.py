"""Accuracy and risk difference over epsilon or delta, drawn: for the data holder."""

from __future__ import annotations

import io
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from reference.accounting import NOT_PRIVATE
from reference.common.errors import ReadingError
from reference.common.extras import needed_for
from reference.common.files import write_whole

FORMATS = ("png", "svg")

PANELS = (
    ("accuracy", "accuracy"),
    ("risk_difference", "risk difference"),
    ("positive_rate", "positive rate"),
)


class Summarised(Protocol):
    """Runs with the mean and the standard deviation of each metric."""

    def summary(self, name: str) -> dict[str, float | None]:
        """Return `mean` and `std` of one metric, or None."""


@dataclass(frozen=True)
class Curve:
    """The evaluations of one mechanism.

    Parameters
    ----------
    name : str
    places : tuple of float
        Epsilons or deltas; empty for a mechanism that does not depend on them, drawn as a horizontal line.
    evaluations : tuple of Summarised
        One per place, or a single one.
    printed : tuple of (float, float)
        The paper's risk differences, by place; drawn as crosses.
    """

    name: str
    places: tuple[float, ...]
    evaluations: tuple[Summarised, ...]
    printed: tuple[tuple[float, float], ...] = ()


def require_plot(path: str) -> None:
    """Raise unless a plot can be drawn to a file of this name.

    Raises
    ------
    reference.common.errors.ReadingError
        For another format.
    reference.common.errors.MissingExtraError
        Without matplotlib.
    """
    if Path(path).suffix.lower().removeprefix(".") not in FORMATS:
        endings = " or ".join(f".{name}" for name in FORMATS)
        raise ReadingError("plot", path, f"a file name ending in {endings}")
    with needed_for("a plot"):
        import matplotlib  # noqa: F401


def draw(
    curves: Sequence[Curve], path: str, title: str, axis: str = "epsilon of one release, as published"
) -> None:
    """Draw the curves to a PNG or SVG file, written whole or not at all.

    The figure shows each metric with its standard deviation over the splits, the majority class's accuracy beside
    the accuracy, and the positive rate beside the risk difference: a predictor of one class has risk difference 0.

    Parameters
    ----------
    curves : sequence of Curve
    path : str
    title : str
    axis : str
        What the places are.
    """
    import matplotlib
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    kind = Path(path).suffix.lower().removeprefix(".")
    # the same file for the same numbers
    with matplotlib.rc_context({"svg.hashsalt": "reference", "svg.fonttype": "none"}):
        figure = Figure(figsize=(12.0, 4.2), layout="constrained")
        FigureCanvasAgg(figure)
        panels = figure.subplots(1, len(PANELS))
        for axes, (metric, label) in zip(panels, PANELS, strict=True):
            _panel(axes, curves, metric, label)
            axes.set_xlabel(axis)
        # a dollar in a file name must not start a formula
        figure.suptitle(f"{title} ({NOT_PRIVATE})", parse_math=False)
        figure.legend(*panels[0].get_legend_handles_labels(), loc="outside lower center", ncols=4)
        target = io.BytesIO()
        metadata = {"Date": None, "Creator": "reference"} if kind == "svg" else {"Software": "reference"}
        figure.savefig(target, format=kind, metadata=metadata)
    write_whole(path, target.getvalue())


def _panel(axes: Any, curves: Sequence[Curve], metric: str, label: str) -> None:
    across = 0
    for number, curve in enumerate(curves):
        summaries = [evaluation.summary(metric) for evaluation in curve.evaluations]
        # without a w, or without a group, there is nothing to show
        points = [
            (place, summary["mean"], summary["std"] or 0.0)
            for place, summary in zip(curve.places or (None,), summaries, strict=True)
            if summary["mean"] is not None
        ]
        if curve.places:
            axes.errorbar(
                [place for place, _, _ in points],
                [mean for _, mean, _ in points],
                [deviation for _, _, deviation in points],
                marker="o",
                capsize=3,
                color=f"C{number}",
                label=curve.name,
            )
        elif points:
            # horizontal lines also differ by their dashes
            across += 1
            dashes = (0, (6, 2 * across))
            axes.axhline(points[0][1], linestyle=dashes, color=f"C{number}", label=curve.name)
        if metric == "risk_difference" and curve.printed:
            places, means = zip(*curve.printed, strict=True)
            axes.plot(places, means, linestyle="none", marker="x", color=f"C{number}")
    if metric == "accuracy":
        _majority_line(axes, curves)
    if any(curve.places for curve in curves):
        axes.set_xscale("log")
    axes.set_ylabel(label)


def _majority_line(axes: Any, curves: Sequence[Curve]) -> None:
    majorities = [
        mean
        for curve in curves
        for evaluation in curve.evaluations
        if (mean := evaluation.summary("majority_accuracy")["mean"]) is not None
    ]
    if majorities:
        axes.axhline(sum(majorities) / len(majorities), linestyle=":", color="black", label="majority class")
