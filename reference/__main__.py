"""``python -m reference fit``: run the mechanisms on a data set."""

from __future__ import annotations

import argparse
import io
import sys
from collections.abc import Iterator, Sequence
from decimal import Decimal
from fractions import Fraction

from rich.console import Console
from rich.table import Table

from reference.evaluation import NOT_PRIVATE, Evaluation, evaluate_splits
from reference.files import json_text
from reference.mechanisms import MECHANISMS
from reference.options import (
    EXIT_FINE,
    add_budget_options,
    add_data_options,
    add_output_options,
    add_reading_options,
    budget_from,
    emit,
    readings_from,
    records_from,
    run_command,
)
from reference.release import Release


def parser() -> argparse.ArgumentParser:
    """Return the command line's parser."""
    top = argparse.ArgumentParser(prog="python -m reference", description=__doc__)
    fit = top.add_subparsers(dest="command", required=True).add_parser(
        "fit", help="train mechanisms on random splits and measure them on the rest"
    )
    fit.add_argument(
        "--mechanism",
        nargs="+",
        choices=[*MECHANISMS, "all"],
        default=["pdfc"],
        metavar="NAME",
        help=f"one or more of {', '.join(MECHANISMS)}, or all (pdfc)",
    )
    fit.add_argument("--splits", type=int, default=1, metavar="K", help="random splits, a release each (1)")
    fit.add_argument(
        "--test-share", type=float, default=0.2, metavar="P", help="share held out; 0 trains on all (0.2)"
    )
    add_budget_options(fit)
    add_data_options(fit)
    add_reading_options(fit)
    add_output_options(fit)
    return top


def fit(argv: Sequence[str] | None) -> int:
    """Run ``fit``."""
    options = parser().parse_args(argv)
    names = list(MECHANISMS) if "all" in options.mechanism else options.mechanism
    records = records_from(options)
    dimension = records.domain.dimension
    if options.x_s is not None:
        records.domain.coordinate(options.x_s)
    # every option is checked before the first release
    plans = [
        (
            MECHANISMS[name],
            budget_from(options, MECHANISMS[name], dimension),
            readings_from(options, MECHANISMS[name]),
        )
        for name in names
    ]
    results = [
        evaluate_splits(
            spec,
            records,
            budget,
            readings,
            splits=options.splits,
            test_share=options.test_share,
            x_s=options.x_s,
            rng=options.seed,
        )
        for spec, budget, readings in plans
    ]
    if options.format == "json":
        documents = [result.to_json() for result in results]
        text = json_text(documents if len(documents) > 1 else documents[0])
    else:
        text = as_text(options.data, len(records), results)
    emit(text, options.out)
    return EXIT_FINE


def as_text(data: str, records: int, results: Sequence[Evaluation]) -> str:
    """Return the results as a table with the readings they rest on."""
    table = Table(title=f"{data}: {records:,} records")
    for heading in ("mechanism", "published (epsilon, delta)", "accuracy", "majority", "positive rate"):
        table.add_column(heading)
    table.add_column("risk difference")
    table.add_column("notes")
    for result in results:
        release = result.releases[0]
        table.add_row(
            release.mechanism,
            _claim(release),
            _with_spread(result.summary("accuracy")),
            _with_spread(result.summary("majority_accuracy")),
            _with_spread(result.summary("positive_rate")),
            _with_spread(result.summary("risk_difference")),
            _notes(result),
        )
    buffer = io.StringIO()
    console = Console(file=buffer, width=140, highlight=False)
    console.print(table)
    console.print(f"Every column from accuracy on is {NOT_PRIVATE}.")
    console.print(
        "A published statement is what the paper's theorem says; whether the theorem is true is a question of "
        "its own (docs/known-limitations.md)."
    )
    for line in _details([result.releases for result in results]):
        console.print(line, soft_wrap=True, markup=False)
    return buffer.getvalue()


def _details(runs: Sequence[Sequence[Release]]) -> Iterator[str]:
    """Yield the readings (once for mechanisms that share them), then what each run spent and gave."""
    by_readings: dict[str, list[str]] = {}
    for releases in runs:
        text = ", ".join(f"{name}={value}" for name, value in releases[0].readings.items())
        by_readings.setdefault(text, []).append(releases[0].mechanism)
    for text, names in by_readings.items():
        yield f"Readings of {', '.join(names)}: {text}"
    if any(release.privacy and release.readings["repair"] != "none" for run in runs for release in run):
        yield "The repair (minimum of an indefinite objective) is no step of the paper."
    for releases in runs:
        first = releases[0]
        if first.x_s is not None:
            yield f"{first.mechanism}: x_s = {', '.join(sorted({str(r.x_s) for r in releases}))}"
        if len(releases) > 1 and first.privacy is not None:
            total = first.privacy.composed(len(releases))
            spent = f"({_short(total.epsilon)}, {_short(total.delta)})"
            yield f"{first.mechanism}: {len(releases)} releases compose to {spent} by basic composition"
        if first.w is not None and len(releases) == 1:
            named = zip(first.columns, first.w, strict=True)
            yield f"{first.mechanism}: w = " + ", ".join(f"{name}={value:.4g}" for name, value in named)


def _claim(release: Release) -> str:
    if release.privacy is not None:
        return f"({_short(release.privacy.epsilon)}, {_short(release.privacy.delta)})"
    return "none: not private" if release.noise["kind"] == "none" else "none: x_s is part of an attribute"


def _short(value: Fraction) -> str:
    """Return a number in six digits; a delta of 1e-400 is not 0."""
    if value == 0 or float(value) != 0.0:
        return f"{float(value):g}"
    return f"{(Decimal(value.numerator) / Decimal(value.denominator)).normalize():.6g}"


def _with_spread(summary: dict[str, float | None]) -> str:
    if summary["mean"] is None:
        return "-"
    return f"{summary['mean']:.4f}" + ("" if summary["std"] is None else f" +- {summary['std']:.4f}")


def _notes(result: Evaluation) -> str:
    splits = len(result.releases)
    unbounded = sum(release.status == "unbounded" for release in result.releases)
    notes = []
    if unbounded:
        notes.append(f"no minimum in {unbounded} of {splits}")
    if result.constant_predictors:
        notes.append(f"constant predictor in {result.constant_predictors} of {splits}")
    if result.releases[0].seeded:
        notes.append("seeded")
    return "; ".join(notes)


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code."""
    return run_command(fit, argv)


if __name__ == "__main__":
    sys.exit(main())
