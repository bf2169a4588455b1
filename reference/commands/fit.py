"""``python -m reference fit``: run mechanisms on random splits and measure them."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from reference.budgets import Budget, SplitBudget, parse_epsilon
from reference.commands.fit_text import as_text
from reference.errors import ReadingError
from reference.evaluation import NOT_PRIVATE, Evaluation, evaluate_splits
from reference.files import json_text
from reference.options import (
    EXIT_FINE,
    Data,
    add_budget_options,
    add_data_options,
    add_output_options,
    add_private_metrics_option,
    add_reading_options,
    budget_from,
    check_noise_options,
    data_from,
    emit,
    private_epsilon_from,
    readings_from,
    require_writable,
    write_file,
)
from reference.plot import Curve, draw, require_plot
from reference.predictions import prediction_lines, release_document
from reference.progress import watched
from reference.readings import Readings
from reference.registry import MECHANISMS, MechanismSpec
from reference.release import Release

DEFAULT_GRID = "0.01,0.1,1,10"
"""Epsilons of a plot when none are named."""


def add_parser(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command."""
    fit = commands.add_parser(
        "fit", help="train mechanisms on random splits and measure them on the rest", allow_abbrev=False
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
    add_private_metrics_option(fit)
    add_data_options(fit)
    add_reading_options(fit)
    add_output_options(fit)
    add_file_options(fit)
    fit.set_defaults(run=run_fit)


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
    require_writable(
        {"data": options.data, "domain": options.domain, "domain_file": options.domain_file},
        out=options.out,
        release=options.release,
        predictions=options.predictions,
        plot=options.plot,
    )
    if options.plot is not None:
        require_plot(options.plot)
    check_noise_options(options)
    private_epsilon = private_epsilon_from(options)
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
                private_epsilon=private_epsilon,
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
