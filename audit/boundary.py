"""Where Theorems 3 and 5 hold: ``python -m audit.boundary --theorem T5``.

A table, and with ``--plot`` a figure, of the ratios epsilon_s/epsilon_n for which the theorem holds, over the
dimension and (Theorem 5) over delta, on the box and on the ball.
"""

from __future__ import annotations

import argparse
import io
import sys
from collections.abc import Iterator, Sequence
from fractions import Fraction
from hashlib import sha256
from math import inf
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from audit.enclosures import written
from audit.rerun import rerun_command
from audit.theorems import THEOREMS, failing_ratio, power_of, ratio_interval, sensitivity_power
from reference.budgets import parse_delta, parse_epsilon
from reference.errors import ReadingError
from reference.files import json_text, write_whole
from reference.numbers import decimal_above, decimal_below, decimal_text, exact
from reference.options import EXIT_FINE, emit, run_command
from reference.readings import ADJACENCIES, BASES, FAIRNESS
from reference.sensitivity import Setting

DIMENSIONS = {"T3": (2, 3, 4, 5), "T5": (2, 3, 4, 5, 6, 8, 10, 12, 13, 14, 20, 30, 50, 100)}
LARGEST_DIMENSION = 1000
LARGEST_T3_ON_BALL = 100
"""Beyond it the certified enclosure of the l1 change takes too long."""

DELTAS = ("1e-3", "1e-6", "1e-9")
DOMAINS = ("unit_ball", "unit_box")
PLOT_FORMATS = ("svg", "png")

CLOSE = 1e-4
"""Relative width up to which an enclosure is drawn as one line."""


def boundary(theorem: str, options: argparse.Namespace) -> dict[str, Any]:
    """Return the boundary as a JSON document: the same for the same options, on every machine.

    Parameters
    ----------
    theorem : {'T3', 'T5'}
    options : argparse.Namespace
        As :func:`parser` reads them.
    """
    check_options(theorem, options)
    rows = [
        _row(
            theorem,
            Setting(d, options.fairness, norm, options.adjacency, options.basis, weight, options.records),
            options,
        )
        for weight in [exact("fairness_weight", options.fairness_weight)]
        for norm in options.domain
        for d in options.dimensions or DIMENSIONS[theorem]
    ]
    return {
        "theorem": theorem,
        "readings": {
            "fairness": options.fairness,
            "fairness_weight": decimal_text(exact("fairness_weight", options.fairness_weight)),
            "basis": options.basis,
            "adjacency": options.adjacency,
            "sensitivity": options.sensitivity,
            "records": options.records,
        },
        "epsilon_n": decimal_text(exact("epsilon_n", options.epsilon_n)),
        "rows": rows,
    }


def check_options(theorem: str, options: argparse.Namespace) -> None:
    """Refuse options that cannot be worked out, before anything is.

    Raises
    ------
    reference.errors.ParameterError
    """
    parse_epsilon("epsilon_n", options.epsilon_n)
    if theorem == "T5":
        for delta in options.deltas:
            parse_delta("delta", delta)
    on_ball = theorem == "T3" and any(norm != "unit_box" for norm in options.domain)
    largest = LARGEST_T3_ON_BALL if on_ball else LARGEST_DIMENSION
    for dimension in options.dimensions or ():
        if not 1 <= dimension <= largest:
            where = " for T3 on a ball" if on_ball else ""
            raise ReadingError("dimensions", dimension, f"from 1 to {largest}{where}")


def _row(theorem: str, setting: Setting, options: argparse.Namespace) -> dict[str, Any]:
    interval = ratio_interval(theorem, setting, options.sensitivity)
    row: dict[str, Any] = {
        "domain": setting.norm,
        "dimension": setting.dimension,
        "sensitivity_power": _six(sensitivity_power(theorem, setting, options.sensitivity)),
        # eight digits: the same on every machine
        **interval.to_json(8),
    }
    if theorem == "T5":
        row["fails_at"] = {delta: _failing(setting, delta, options) for delta in options.deltas}
    return row


def _failing(setting: Setting, delta: str, options: argparse.Namespace) -> Any:
    found = failing_ratio(
        setting, exact("epsilon_n", options.epsilon_n), exact("delta", delta), options.sensitivity, digits=4
    )
    return None if found is None else written(found.holds_at, found.fails_at, 8)


def _six(value: Fraction) -> str:
    return decimal_text(decimal_above(value, 12))


def middle(value: Any) -> float:
    """Return the middle of a number as :func:`boundary` writes it."""
    if isinstance(value, str):
        return float(Fraction(value))
    return float(Fraction(value["lo"]) + Fraction(value["hi"])) / 2


def ends(value: Any) -> tuple[float, float]:
    """Return both ends of a number as :func:`boundary` writes it, twice the middle where they are close."""
    if isinstance(value, str):
        return middle(value), middle(value)
    low = float(Fraction(value["lo"]))
    high = inf if value["hi"] is None else float(Fraction(value["hi"]))
    return (low, high) if high - low > CLOSE * high else (middle(value), middle(value))


# --- Output ---------------------------------------------------------------------------------------------------


def as_text(document: dict[str, Any], rerun: str) -> str:
    """Return the boundary as a table."""
    theorem, readings = document["theorem"], document["readings"]
    table = Table(title=f"{theorem}: epsilon_s/epsilon_n")
    headings = ["domain", "d", "from", "to"]
    deltas = list(document["rows"][0].get("fails_at", {}))
    headings += [f"fails at, delta {delta}" for delta in deltas]
    for heading in headings:
        table.add_column(heading)
    for row in document["rows"]:
        cells = [row["domain"], str(row["dimension"]), *(_cell(row[end]) for end in ("lower", "upper"))]
        table.add_row(*cells, *(_cell(row["fails_at"][delta], 4, none="beyond 10^6") for delta in deltas))
    buffer = io.StringIO()
    console = Console(file=buffer, width=140, highlight=False, emoji=False)
    console.print(f"Ratios epsilon_s/epsilon_n for which {theorem} holds.")
    described = ", ".join(f"{name} {value}" for name, value in readings.items() if value is not None)
    console.print(f"Readings: {described}", soft_wrap=True, markup=False)
    console.print(table)
    for line in _notes(document):
        console.print(line, soft_wrap=True, markup=False)
    console.print(f"again: {rerun}", soft_wrap=True, markup=False)
    return buffer.getvalue()


def _notes(document: dict[str, Any]) -> Iterator[str]:
    if any(".." in _cell(row[end]) for row in document["rows"] for end in ("lower", "upper")):
        yield (
            "lo..hi encloses an end of the interval: what is said below leaves out the ratios between lo and hi, "
            "which are undecided. With ? for hi, so is every ratio above lo."
        )
    if document["theorem"] == "T3":
        yield "Within the interval Theorem 3 holds for all budgets with this ratio, outside it fails for all."
        return
    yield (
        "Within the interval Theorem 5 holds for every epsilon_n and every delta up to sqrt(2/pi); outside it "
        "fails for every epsilon_n once delta_s = delta_n is small enough."
    )
    yield (
        f"Fails at: the ratio above 1 at which it starts to fail for epsilon_n = {document['epsilon_n']} and this "
        "delta_s = delta_n."
    )


def _cell(value: Any, digits: int = 5, none: str = "no end") -> str:
    """Return a number, or both ends where they differ in the digits shown, rounded outwards."""
    if value is None:
        return none
    if isinstance(value, str):
        return f"{middle(value):.{digits}g}"
    low, high = Fraction(value["lo"]), value["hi"]
    if high is None:
        return f"{float(decimal_below(low, digits)):.{digits}g}..?"
    texts = [f"{float(end):.{digits}g}" for end in (low, Fraction(high))]
    if texts[0] == texts[1]:
        return texts[0]
    outwards = decimal_below(low, digits), decimal_above(Fraction(high), digits)
    return "..".join(f"{float(end):.{digits}g}" for end in outwards)


def plot(document: dict[str, Any], path: str) -> None:
    """Draw the boundary over d.

    The SVG is the same for the same document and matplotlib: no date, fixed identifiers.  Its description holds
    the digest of the document.

    Raises
    ------
    reference.errors.ReadingError
        Without matplotlib, or for another format.
    """
    suffix = Path(path).suffix.removeprefix(".")
    if suffix not in PLOT_FORMATS:
        raise ReadingError(
            "plot", path, "a file name ending in " + " or ".join(f".{name}" for name in PLOT_FORMATS)
        )
    try:
        import matplotlib
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure
    except ImportError:
        raise ReadingError(
            "plot", path, "left out without matplotlib; install the extra: pip install -e '.[report]'"
        ) from None
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
        Path(path).write_bytes(target.getvalue())


def digest(document: dict[str, Any]) -> str:
    """Return the digest that a figure of this document carries."""
    return sha256(json_text(document).encode()).hexdigest()


def _metadata(document: dict[str, Any], suffix: str) -> dict[str, str | None]:
    description = f"boundary document sha256 {digest(document)}"
    if suffix == "svg":
        return {"Date": None, "Creator": "audit.boundary", "Description": description}
    return {"Software": "audit.boundary", "Description": description}


def _draw(document: dict[str, Any], figure: Any) -> None:
    """Draw one panel per domain."""
    domains = list(dict.fromkeys(row["domain"] for row in document["rows"]))
    axes = figure.subplots(1, len(domains), sharey=True, squeeze=False)[0]
    for axis, domain in zip(axes, domains, strict=True):
        rows = [row for row in document["rows"] if row["domain"] == domain]
        _draw_panel(axis, rows)
        axis.set_title(f"{document['theorem']}, {domain.replace('_', ' ')}")
        axis.set_xlabel("dimension d")
    axes[0].set_ylabel("epsilon_s / epsilon_n")
    figure.legend(
        *axes[-1].get_legend_handles_labels(), loc="outside lower center", ncols=4, frameon=False, fontsize="small"
    )


def _draw_panel(axis: Any, rows: Sequence[dict[str, Any]]) -> None:
    dimensions = [row["dimension"] for row in rows]
    ceiling, floor = 1000.0, 0.01
    tops = [(ceiling, ceiling) if row["upper"] is None else ends(row["upper"]) for row in rows]
    bottoms = [ends(row["lower"]) for row in rows]
    # between these the theorem certainly holds
    upper = [low for low, _ in tops]
    lower = [max(floor, high) for _, high in bottoms]
    axis.fill_between(
        dimensions, lower, upper, color="#4c78a8", alpha=0.25, linewidth=0, label="holds for every delta"
    )
    axis.plot(dimensions, upper, color="#4c78a8")
    axis.plot(dimensions, lower, color="#4c78a8")
    if any(low != high for low, high in tops + bottoms):
        shade = {"color": "#9d9d9d", "alpha": 0.35, "linewidth": 0}
        axis.fill_between(dimensions, upper, [min(ceiling, high) for _, high in tops], label="undecided", **shade)
        axis.fill_between(dimensions, [max(floor, low) for low, _ in bottoms], lower, **shade)
    for style, delta in zip((":", "--", "-."), list(rows[0].get("fails_at", {}))[:3], strict=False):
        found = [(row["dimension"], row["fails_at"][delta]) for row in rows if row["fails_at"][delta] is not None]
        label = f"starts to fail at delta {delta}"
        axis.plot(
            [d for d, _ in found], [middle(value) for _, value in found], style, color="#e45756", label=label
        )
    axis.axhline(1.0, color="black", linewidth=0.8)
    axis.set_yscale("log")
    axis.set_ylim(floor, ceiling)
    if max(dimensions) > 10:
        axis.set_xscale("log")
        ticks = [2, 5, 10, 13, 20, 50, 100]
        axis.set_xticks(ticks, [str(tick) for tick in ticks])
        axis.set_xticks([], minor=True)
    else:
        axis.set_xticks(dimensions)


# --- Command line ---------------------------------------------------------------------------------------------


def parser() -> argparse.ArgumentParser:
    """Return the command line's parser."""
    top = argparse.ArgumentParser(prog="python -m audit.boundary", description=__doc__, allow_abbrev=False)
    top.add_argument("--theorem", choices=THEOREMS, default="T5", help="(T5)")
    top.add_argument("--dimensions", type=_whole_numbers, metavar="D,D,...", help="T3: 2 to 5; T5: from 2 to 100")
    top.add_argument(
        "--deltas", type=_words, default=list(DELTAS), metavar="D,D,...", help=f"T5 only ({','.join(DELTAS)})"
    )
    top.add_argument("--epsilon-n", default="0.1", metavar="E", help="for the columns of --deltas (0.1)")
    top.add_argument(
        "--domain", type=_words, default=list(DOMAINS), metavar="NAME,NAME", help=f"({','.join(DOMAINS)})"
    )
    top.add_argument("--fairness", choices=FAIRNESS, default="absolute", help="(absolute)")
    top.add_argument("--fairness-weight", "--alpha", default="1", metavar="A", help="the paper's alpha_1 (1)")
    top.add_argument("--basis", choices=BASES, default="monomial", help="(monomial)")
    top.add_argument("--adjacency", choices=ADJACENCIES, default="replace_one", help="(replace_one)")
    top.add_argument(
        "--sensitivity", default="published", metavar="S", help="`published`, `exact` or a number (published)"
    )
    top.add_argument("--records", type=int, metavar="N", help="data sets of N records (the limit of large N)")
    top.add_argument("--plot", metavar="FILE", help="also draw it: FILE.svg or FILE.png (needs matplotlib)")
    top.add_argument("--format", choices=("text", "json"), default="text")
    top.add_argument("--out", metavar="FILE", help="write to a file, whole or not at all")
    return top


def _words(text: str) -> list[str]:
    return text.split(",")


def _whole_numbers(text: str) -> list[int]:
    return [int(word) for word in text.split(",")]


def command(argv: Sequence[str] | None) -> int:
    """Compute the boundary that the command line names."""
    options = parser().parse_args(argv)
    power_of(options.theorem)
    document = boundary(options.theorem, options)
    if options.plot is not None:
        plot(document, options.plot)
    if options.format == "json":
        text = json_text(document)
    else:
        text = as_text(document, rerun_command("audit.boundary", parser(), options))
    emit(text, options.out)
    return EXIT_FINE


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code."""
    return run_command(command, argv)


if __name__ == "__main__":
    sys.exit(main())
