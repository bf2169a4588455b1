"""``python -m reference``: run the mechanisms on a data set, predict, write and check domain files."""

from __future__ import annotations

import argparse
import io
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction

import numpy as np
import numpy.typing as npt
from rich.console import Console
from rich.table import Table

from reference.budgets import Budget, SplitBudget, parse_epsilon
from reference.commands import domain, predict
from reference.errors import ReadingError
from reference.evaluation import NOT_PRIVATE, Evaluation, evaluate_splits
from reference.files import json_text
from reference.mechanisms import MECHANISMS, MechanismSpec
from reference.numbers import decimal_above
from reference.options import (
    EXIT_FINE,
    Data,
    add_budget_options,
    add_data_options,
    add_output_options,
    add_reading_options,
    budget_from,
    data_from,
    emit,
    readings_from,
    require_writable,
    run_command,
    write_file,
)
from reference.plot import Curve, draw, require_plot
from reference.predictions import prediction_lines, release_document
from reference.progress import watched
from reference.readings import Readings
from reference.release import Release

DEFAULT_GRID = "0.01,0.1,1,10"
"""Epsilons of a plot when none are named."""

MARK = "*"
"""Put behind the name of every exact metric in a table."""


def parser() -> argparse.ArgumentParser:
    """Return the command line's parser."""
    top = argparse.ArgumentParser(prog="python -m reference", description=__doc__)
    commands = top.add_subparsers(dest="command", required=True)
    fit = commands.add_parser("fit", help="train mechanisms on random splits and measure them on the rest")
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
    add_file_options(fit)
    fit.set_defaults(run=run_fit)
    predict.add_parser(commands)
    domain.add_parser(commands)
    return top


def add_file_options(fit: argparse.ArgumentParser) -> None:
    """Add what ``fit`` writes beside its result."""
    group = fit.add_argument_group("files and progress")
    group.add_argument(
        "--release", metavar="FILE", help="write the release alone, with its domain: for publication"
    )
    group.add_argument("--predictions", metavar="FILE", help=f"write a CSV of predictions ({NOT_PRIVATE})")
    group.add_argument("--plot", metavar="FILE", help="draw the metrics over epsilon to FILE.png or FILE.svg")
    group.add_argument(
        "--epsilon-grid",
        metavar="E,E,...",
        help=f"run for each epsilon, releases of their own ({DEFAULT_GRID} with --plot and no --epsilon)",
    )
    group.add_argument("--quiet", action="store_true", help="show no progress")


@dataclass(frozen=True)
class Plan:
    """One mechanism with one budget: what will be run."""

    spec: MechanismSpec
    epsilon: str | None
    budget: Budget | SplitBudget | None
    readings: Readings


def run_fit(options: argparse.Namespace) -> int:
    """Run ``fit``."""
    require_writable(out=options.out, release=options.release, predictions=options.predictions, plot=options.plot)
    if options.plot is not None:
        require_plot(options.plot)
    last: list[tuple[Release, npt.NDArray[np.bool_]]] = []
    with watched(quiet=options.quiet) as watch:

        def on_release(release: Release, held_out: npt.NDArray[np.bool_]) -> None:
            last[:] = [(release, held_out)]
            watch.released(release.mechanism)

        data = data_from(options, watch.read)
        # every option is checked before the first release
        plans = plans_from(options, data)
        watch.expect(len(plans) * max(options.splits, 1))
        results = [
            evaluate_splits(
                plan.spec,
                data.records,
                plan.budget,
                plan.readings,
                splits=options.splits,
                test_share=options.test_share,
                x_s=options.x_s,
                rng=options.seed,
                on_release=on_release,
            )
            for plan in plans
        ]
    if options.release is not None:
        write_file("release", options.release, json_text(release_document(last[0][0], data.declared)))
    emit(as_json(plans, results) if options.format == "json" else as_text(options.data, results), options.out)
    if options.predictions is not None:
        write_predictions(options, data, *last[0])
    if options.plot is not None:
        draw(curves_of(plans, results), options.plot, options.data)
    return EXIT_FINE


def plans_from(options: argparse.Namespace, data: Data) -> list[Plan]:
    """Return what the options ask for, one plan for each mechanism and epsilon.

    Raises
    ------
    reference.errors.InputError
        On any option that cannot be carried out, and when the domain is not public.
    """
    names = list(MECHANISMS) if "all" in options.mechanism else list(dict.fromkeys(options.mechanism))
    declared_domain = data.declared.domain
    if options.x_s is not None:
        declared_domain.coordinate(options.x_s)
    plans = []
    for name in names:
        spec, readings = MECHANISMS[name], readings_from(options, MECHANISMS[name])
        # a mechanism without noise is the same for every epsilon
        epsilons = grid_from(options)
        for epsilon in epsilons if spec.private else epsilons[:1]:
            chosen = argparse.Namespace(**{**vars(options), "epsilon": epsilon})
            budget = budget_from(chosen, spec, declared_domain.dimension)
            plans.append(Plan(spec, epsilon if spec.private else None, budget, readings))
    if any(plan.spec.private for plan in plans):
        data.declared.require_public()
    elif data.declared.from_data:
        sys.stderr.write("warning: the domain's bounds were read from the data; nothing private can follow\n")
    for option in ("release", "predictions"):
        if getattr(options, option) is not None and (len(plans) != 1 or options.splits != 1):
            raise ReadingError(
                option,
                getattr(options, option),
                "left out where there are several releases: one mechanism, one epsilon and one split make one",
            )
    return plans


def grid_from(options: argparse.Namespace) -> list[str | None]:
    """Return the epsilons to run, as they were written; None where the budget is given by its parts."""
    text = options.epsilon_grid
    if text is None and options.plot is not None and options.epsilon is None and options.epsilon_s is None:
        text = DEFAULT_GRID
    if text is None:
        return [options.epsilon]
    if options.epsilon is not None:
        raise ReadingError("epsilon", options.epsilon, "left out where --epsilon-grid is given")
    grid = [part.strip() for part in text.split(",")]
    values = [parse_epsilon("epsilon_grid", part) for part in grid]
    if len(set(values)) != len(values):
        raise ReadingError("epsilon_grid", text, "a list of distinct numbers")
    return list(grid)


def curves_of(plans: Sequence[Plan], results: Sequence[Evaluation]) -> list[Curve]:
    """Return what is drawn: each mechanism's evaluations over epsilon."""
    found: dict[str, list[tuple[Plan, Evaluation]]] = {}
    for plan, result in zip(plans, results, strict=True):
        found.setdefault(plan.spec.name, []).append((plan, result))
    return [
        Curve(
            name,
            tuple(_drawn_epsilon(result) for plan, result in pairs if plan.spec.private),
            tuple(result for _, result in pairs),
        )
        for name, pairs in found.items()
    ]


def _drawn_epsilon(result: Evaluation) -> float:
    """Return the published epsilon of one release, or the exact one where nothing is published."""
    privacy = result.releases[0].privacy
    if privacy.published is not None:
        return float(privacy.published.epsilon)
    assert privacy.exact is not None
    return float(privacy.exact.epsilon.upper)


def write_predictions(
    options: argparse.Namespace, data: Data, release: Release, held_out: npt.NDArray[np.bool_]
) -> None:
    """Write the predictions of one release for all records; an unbounded one has none, which is no error."""
    if release.w is None:
        sys.stderr.write("warning: no predictions are written, because the release is unbounded and has no w\n")
        return
    write_file("predictions", options.predictions, prediction_lines(release.w, data.records, held_out))


def as_json(plans: Sequence[Plan], results: Sequence[Evaluation]) -> str:
    """Return the results as one object, or as a list when there are several."""
    documents = [result.to_json() for result in results]
    if len({plan.epsilon for plan in plans if plan.spec.private}) > 1:
        documents = [
            {"epsilon": plan.epsilon, **document} for plan, document in zip(plans, documents, strict=True)
        ]
    return json_text(documents if len(documents) > 1 else documents[0])


def as_text(data: str, results: Sequence[Evaluation]) -> str:
    """Return the results as a table with the readings they rest on."""
    table = Table(title=f"{data}: per release")
    for heading in ("mechanism", "published", "exact epsilon"):
        table.add_column(heading)
    for heading in ("accuracy", "majority", "positive rate", "risk difference", "notes"):
        table.add_column(heading + MARK)
    for result in results:
        table.add_row(
            result.releases[0].mechanism,
            _published(result),
            _exact(result),
            _with_spread(result.summary("accuracy")),
            _with_spread(result.summary("majority_accuracy")),
            _with_spread(result.summary("positive_rate")),
            _with_spread(result.summary("risk_difference")),
            _notes(result),
        )
    buffer = io.StringIO()
    console = Console(file=buffer, width=150, highlight=False)
    console.print(table)
    for line in _details(results):
        console.print(line, soft_wrap=True, markup=False)
    return buffer.getvalue()


def _details(results: Sequence[Evaluation]) -> Iterator[str]:
    """Yield what the columns mean, the readings (once for mechanisms that share them), and what was spent."""
    yield f"{MARK} {NOT_PRIVATE}."
    yield "Published: the paper's theorem as printed. Exact: what the noise gives over all neighbouring data sets."
    by_readings: dict[str, list[str]] = {}
    for result in results:
        first = result.releases[0]
        text = ", ".join(f"{name}={value}" for name, value in first.readings.items())
        by_readings.setdefault(text, []).append(first.mechanism)
    for text, names in by_readings.items():
        yield f"Readings of {', '.join(dict.fromkeys(names))}: {text}"
    private = [result.releases[0] for result in results if result.releases[0].privacy.exact is not None]
    if any(release.readings["repair"] != "none" for release in private):
        yield "The repair (minimum of an indefinite objective) is no step of the paper."
    for result in results:
        yield from _spent(result)
    yield from _spent_on_grid(results)


def _spent_on_grid(results: Sequence[Evaluation]) -> Iterator[str]:
    """Yield what a mechanism that was run for several epsilons has spent in all."""
    by_name: dict[str, list[Evaluation]] = {}
    for result in results:
        by_name.setdefault(result.releases[0].mechanism, []).append(result)
    for name, found in by_name.items():
        if len(found) > 1:
            releases = tuple(release for result in found for release in result.releases)
            whole = Evaluation(releases, (), found[0].seed)
            for kind, total in (("published", whole.composed), ("exact", whole.composed_exact)):
                if total is not None:
                    spent = f"({_short(total.epsilon)}, {_short(total.delta)})"
                    yield f"{name}: all {len(releases)} releases of the grid compose to {spent} ({kind})"


def _spent(result: Evaluation) -> Iterator[str]:
    releases, first = result.releases, result.releases[0]
    if first.x_s is not None:
        yield f"{first.mechanism}: x_s = {', '.join(sorted({str(release.x_s) for release in releases}))}"
    for kind, total in (("published", result.composed), ("exact", result.composed_exact)):
        if len(releases) > 1 and total is not None:
            spent = f"({_short(total.epsilon)}, {_short(total.delta)})"
            yield f"{first.mechanism}: {len(releases)} releases compose to {spent} by basic composition ({kind})"
    if first.w is not None and len(releases) == 1:
        named = zip(first.columns, first.w, strict=True)
        yield f"{first.mechanism}: w = " + ", ".join(f"{name}={value:.4g}" for name, value in named)


def _published(result: Evaluation) -> str:
    """Return the statement with its claim, or why there is none."""
    stated = {release.privacy.published for release in result.releases}
    if len(stated) > 1:
        return "none for some: x_s is part of an attribute"
    statement = stated.pop()
    if statement is not None:
        return f"{statement.claim}: ({_short(statement.epsilon)}, {_short(statement.delta)})"
    first = result.releases[0]
    if first.privacy.exact is None:
        return "not private"
    if first.readings["sensitivity"] != "published":
        return "none: the sensitivity is not the paper's"
    return "none: x_s is part of an attribute"


def _exact(result: Evaluation) -> str:
    """Return the worst exact epsilon of the releases, rounded up, with the delta it belongs to."""
    known = [release.privacy.exact for release in result.releases if release.privacy.exact is not None]
    if not known:
        return "infinite"
    worst = max(known, key=lambda exact: exact.epsilon.upper)
    epsilon = _short(decimal_above(worst.epsilon.upper, 6))
    return epsilon if worst.at_delta == 0 else f"{epsilon} at {_short(worst.at_delta)}"


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
    if any(release.privacy.exact and release.privacy.exact.verdict == "refuted" for release in result.releases):
        notes.append("PUBLISHED STATEMENT IS FALSE")
    if unbounded:
        notes.append(f"no minimum in {unbounded} of {splits}")
    if result.constant_predictors:
        notes.append(f"constant predictor in {result.constant_predictors} of {splits}")
    if result.releases[0].seeded:
        notes.append("seeded")
    return "; ".join(notes)


def command(argv: Sequence[str] | None) -> int:
    """Run the command that the arguments name."""
    options = parser().parse_args(argv)
    code: int = options.run(options)
    return code


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code."""
    return run_command(command, argv)


if __name__ == "__main__":
    sys.exit(main())
