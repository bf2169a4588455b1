"""``python -m reference fit``: run mechanisms on random splits and measure them."""

from __future__ import annotations

import secrets
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from fractions import Fraction
from typing import Any

import click

from reference.accounting import NOT_PRIVATE
from reference.accounting.release import Release, release_document
from reference.accounting.release_ledger import ReleaseLedger
from reference.budgets import LARGE_EPSILON, Budget, large_epsilon, parse_epsilon
from reference.commands.counting import Counter, counted_lines, drowned_lines
from reference.commands.evaluation import Evaluation, Plan, evaluate_splits
from reference.commands.file_names import FileName, WrittenFile
from reference.commands.fit_repaired import (
    REPAIRED,
    FitBudgetOptions,
    RepairedOptions,
    fits_of,
    require_splits,
    show,
    wanted_from,
    warn_of_nothing_kept,
)
from reference.commands.fit_text import as_text
from reference.commands.large_files import LargeFileOptions
from reference.commands.options import (
    BudgetOptions,
    Data,
    DataOptions,
    FitReadingOptions,
    OutputOptions,
    data_from,
    emit,
    private_epsilon_from,
    random_source,
    readings_from,
    write_file,
)
from reference.commands.parsing import command as make_command
from reference.commands.parsing import listed, option, with_defaults
from reference.commands.plot import Curve, draw, require_plot
from reference.commands.predictions import prediction_lines
from reference.commands.progress import watched
from reference.commands.terminal import page
from reference.commands.trace import check_traceable, trace_of
from reference.common.arrays import BoolArray
from reference.common.documents import plain
from reference.common.errors import EpsilonError, ReadingError
from reference.common.exit_codes import EXIT_FINE
from reference.common.files import json_text
from reference.common.numbers import short_text
from reference.common.printable import one_line
from reference.datasets.record_blocks import one_group_warning, part_of
from reference.noise import RandomSource, Recorded
from reference.registry import MECHANISMS, budget_from

DEFAULTED = "epsilon 1 (the default)"
"""Said where no option states epsilon."""

DEFAULT_GRID = "0.01,0.1,1,10"
"""Epsilons of a plot when none are given."""

READINGS_OF_REPAIRED = ("fairness", "noise", "rows_per_person")
"""The options on readings that the mechanism `repaired` takes too."""

NOT_OF_REPAIRED = ("records", "dimension", "data_seed", "encoding", "keep_group")
"""The options on data that it does not take."""

INSTEAD = {
    "predictions": ": keep it with --release FILE, then use `cfm predict --release FILE`",
    "private_metrics": ", which releases no metrics: predict with `cfm predict --release FILE`, and measure that",
    "keep_group": ": predictions use the group unless --without-group is given",
}
"""What to use instead of an option that the mechanism `repaired` does not take."""


@dataclass(frozen=True, kw_only=True)
class RunOptions:
    """What to run."""

    mechanism: tuple[str, ...] = listed(
        "--mechanism",
        choices=[*MECHANISMS, REPAIRED, "all"],
        default=("pdfc",),
        metavar="NAME[,NAME...]",
        help=f"some of {', '.join(MECHANISMS)}, or all; or {REPAIRED}; may be repeated (pdfc)",
    )
    splits: int = option("--splits", type=int, default=1, metavar="K", help="random splits, a release each (1)")
    split_seed: int | None = option(
        "--split-seed", type=click.IntRange(min=0), metavar="K", help="seed of the splits, not of the noise"
    )
    test_share: float = option(
        "--test-share", type=float, default=0.2, metavar="P", help="share held out; 0 trains on all (0.2)"
    )
    private_metrics: str | None = option(
        "--private-metrics",
        metavar="EPSILON",
        help="also release accuracy and risk difference with their own noise, EPSILON for each release",
    )
    allow_large_epsilon: bool = option(
        "--allow-large-epsilon",
        is_flag=True,
        help=f"accept an epsilon above {LARGE_EPSILON}, which promises nothing",
    )


@dataclass(frozen=True, kw_only=True)
class FitFileOptions(LargeFileOptions):
    """Files and progress."""

    ledger: str | None = option(
        "--ledger", type=FileName(), metavar="FILE", help="count every release in a file of `ledger create`"
    )

    release: str | None = option(
        "--release",
        type=WrittenFile(),
        metavar="FILE",
        help="write the release alone, with its domain: for publication",
    )
    trace: str | None = option(
        "--trace",
        type=WrittenFile(),
        metavar="FILE",
        help=f"write every intermediate of the one release, to compare with another program ({NOT_PRIVATE})",
    )
    predictions: str | None = option(
        "--predictions", type=WrittenFile(), metavar="FILE", help=f"write a CSV of predictions ({NOT_PRIVATE})"
    )
    plot: str | None = option(
        "--plot", type=WrittenFile(), metavar="FILE", help="draw the metrics over epsilon to FILE.png or FILE.svg"
    )
    epsilon_grid: str | None = option(
        "--epsilon-grid",
        metavar="E,E,...",
        help=f"run for each epsilon, each with its own releases ({DEFAULT_GRID} with --plot and no --epsilon)",
    )
    force: bool = option("--force", is_flag=True, help="replace even a file that contains a release")
    quiet: bool = option("--quiet", is_flag=True, help="show no progress")


@dataclass(frozen=True)
class Run:
    """A plan, with the epsilon as written; None if only its parts were given, or nothing."""

    epsilon: str | None
    plan: Plan


@make_command(
    "fit",
    RunOptions,
    FitBudgetOptions,
    DataOptions,
    FitReadingOptions,
    OutputOptions,
    FitFileOptions,
    RepairedOptions,
    example="python -m reference fit --mechanism pdfc,adfc --epsilon 0.5 --splits 10",
    text="Fit mechanisms on random splits, and measure them on the rest.",
)
def command(
    asked: RunOptions,
    spent: BudgetOptions,
    named: DataOptions,
    readings: FitReadingOptions,
    output: OutputOptions,
    files: FitFileOptions,
    mine: RepairedOptions,
) -> int:
    """Run ``fit``."""
    if asked.mechanism == (REPAIRED,):
        return run_repaired(asked, spent, named, readings, output, files, mine)
    require_no_repaired(asked, mine)
    if files.plot is not None:
        require_plot(files.plot)
    source = random_source(readings.noise, output.seed)
    mechanisms = tuple(MECHANISMS) if "all" in asked.mechanism else asked.mechanism
    files.require_usable(named, mechanisms, asked.test_share, source)
    counter = None if files.ledger is None else Counter.open(files.ledger)
    private_epsilon = private_epsilon_from(asked.private_metrics)
    if private_epsilon is not None and private_epsilon > LARGE_EPSILON and not asked.allow_large_epsilon:
        require_moderate(("private_metrics", private_epsilon))
    last: list[tuple[Release, BoolArray]] = []
    with watched(quiet=files.quiet) as watch, files.way() as way:

        def on_release(release: Release, held_out: BoolArray) -> None:
            last[:] = [(release, held_out)]
            watch.released(release.mechanism)

        data = data_from(named, watch.read, way)
        # every option is checked before the first release
        runs = runs_from(asked, spent, data, readings, grid_from(spent, files), private_epsilon)
        require_public(runs, data)
        require_one_release(runs, files)
        record = None if files.trace is None else Recorded()
        if record is not None:
            check_traceable(runs[0].plan.spec.name)
            runs = [replace(runs[0], plan=replace(runs[0].plan, record=record))]
        notes = prepared(runs, data, source, counter, files)
        watch.expect(sum(one.plan.splits for one in runs))
        # nobody learns them
        results, coins = [], secrets.randbits(128)
        for one in runs:
            reserve = None if counter is None else counter.reserve_for(one.plan)
            results.append(evaluate_splits(one.plan, data.records, source, on_release, reserve, coins))
    if (group := only_group(results)) is not None:
        marker = data.declared.group
        sys.stderr.write(f"warning: {one_group_warning(marker.called_in_table(2)[group] if marker else group)}\n")
    write_documents(files, data, record, last)
    title = one_line(str(named.data))
    emit(
        as_json(runs, results, counter)
        if output.format == "json"
        else as_text(
            title, results, page(output.out), *default_lines(runs, spent), *notes, *counted_lines(results, counter)
        ),
        output.out,
    )
    if files.predictions is not None:
        write_predictions(files.predictions, data, *last[0])
    if files.plot is not None:
        draw(curves_of(runs, results), files.plot, title, axis_of(results))
    files.done()
    return EXIT_FINE


def default_lines(runs: Sequence[Run], spent: BudgetOptions) -> list[str]:
    """Say which epsilon was spent, if no option says it."""
    given = (spent.epsilon, spent.epsilon_ratio, spent.epsilon_s, spent.epsilon_n)
    private = [one for one in runs if one.plan.spec.private]
    return [DEFAULTED] if private and not any((*given, private[0].epsilon)) else []


def prepared(
    runs: Sequence[Run], data: Data, source: RandomSource, counter: Counter | None, files: FitFileOptions
) -> list[str]:
    """Raise when the ledger has no room; warn of noise before anything is spent; return notes."""
    plans = [one.plan for one in runs]
    if counter is not None:
        counter.check(plans, data.declared.domain, source)
    notes = drowned_lines(plans, data, source)
    if counter is None and files.release is None:
        return notes
    for note in notes:
        sys.stderr.write(f"warning: {note}\n")
    return []


def write_documents(
    files: FitFileOptions, data: Data, record: Recorded | None, last: Sequence[tuple[Release, BoolArray]]
) -> None:
    """Write the release, and the trace of how it was made, where a file is named."""
    if files.release is not None:
        write_file("release", files.release, json_text(release_document(last[0][0], data.declared)))
    if files.trace is not None and record is not None:
        release, held_out = last[0]
        traced = trace_of(release, record, part_of(data.records, ~held_out))
        write_file("trace", files.trace, json_text(plain(traced)))


def only_group(results: Sequence[Evaluation]) -> int | None:
    """Return the group of all measured records, if the other has none."""
    measured = [metrics for one in results for metrics in one.metrics]
    rates = {(one.positive_rate_group_0 is None, one.positive_rate_group_1 is None) for one in measured}
    return {(False, True): 0, (True, False): 1}.get(rates.pop()) if len(rates) == 1 else None


def run_repaired(
    asked: RunOptions,
    spent: BudgetOptions,
    named: DataOptions,
    readings: FitReadingOptions,
    output: OutputOptions,
    files: FitFileOptions,
    mine: RepairedOptions,
) -> int:
    """Run the mechanism `repaired`, which has its own options and release file."""
    if spent.epsilon is not None and not asked.allow_large_epsilon:
        require_moderate(large_epsilon(Budget(spent.epsilon)))
    unused = {
        "private_metrics": asked.private_metrics,
        "predictions": files.predictions,
        "trace": files.trace,
        "plot": files.plot,
        "checkpoint": files.checkpoint,
        "scheduler": files.scheduler,
        "epsilon_grid": files.epsilon_grid,
    }
    unused |= {name: value for name, value in changed(readings).items() if name not in READINGS_OF_REPAIRED}
    unused |= {name: value for name, value in changed(named).items() if name in NOT_OF_REPAIRED}
    for name, value in unused.items():
        if value is not None:
            raise ReadingError(name, value, f"left out with {REPAIRED}{INSTEAD.get(name, '')}")
    ledger = None if files.ledger is None else ReleaseLedger.open(files.ledger)
    require_splits(asked.splits, asked.test_share, files.release)
    with watched(quiet=files.quiet) as watch:
        wanted = wanted_from(mine, spent, named, readings, output.seed, watch.read)
        warn_of_nothing_kept(wanted, asked.splits, files.release, output.format)
        made = fits_of(wanted, asked.splits, asked.split_seed, asked.test_share, ledger, watch)
    return show(made, output, files.release, ledger, [] if spent.epsilon else [DEFAULTED])


def require_moderate(large: tuple[str, Fraction] | None) -> None:
    """Raise for an epsilon that promises nothing."""
    if large is not None:
        name, value = large
        raise EpsilonError(
            name, short_text(value), f"at most {LARGE_EPSILON}, or given with --allow-large-epsilon"
        )


def changed(given: FitReadingOptions | DataOptions | RepairedOptions) -> dict[str, Any]:
    """Return the options of a group that differ from their defaults, by name."""
    defaults = asdict(with_defaults(type(given)))
    return {name: value for name, value in asdict(given).items() if value != defaults[name]}


def require_no_repaired(asked: RunOptions, mine: RepairedOptions) -> None:
    """Raise where `repaired` is mixed with others, or others get its options."""
    if REPAIRED in asked.mechanism:
        raise ReadingError("mechanism", ",".join(asked.mechanism), f"{REPAIRED} alone, or others")
    for name, value in changed(mine).items():
        raise ReadingError(name, value, f"left out without {REPAIRED}")


def runs_from(
    asked: RunOptions,
    spent: BudgetOptions,
    data: Data,
    readings: FitReadingOptions,
    epsilons: Sequence[str | None],
    private_epsilon: Fraction | None,
) -> list[Run]:
    """Return the runs that the options ask for, one for each mechanism and epsilon.

    Raises
    ------
    reference.common.errors.InputError
        On any option that cannot be carried out.
    """
    domain = data.declared.domain
    if readings.x_s is not None:
        domain.coordinate(readings.x_s)
    runs = []
    for name in MECHANISMS if "all" in asked.mechanism else asked.mechanism:
        spec = MECHANISMS[name]
        # a mechanism without noise is the same for every epsilon
        for epsilon in epsilons if spec.private else epsilons[:1]:
            budget = budget_from(replace(spent, epsilon=epsilon), spec, domain.dimension)
            if not asked.allow_large_epsilon:
                require_moderate(large_epsilon(budget))
            plan = Plan(
                spec=spec,
                budget=budget,
                readings=readings_from(readings, spec),
                x_s=readings.x_s,
                splits=asked.splits,
                split_seed=asked.split_seed,
                test_share=asked.test_share,
                private_epsilon=private_epsilon,
            )
            plan.check()
            runs.append(Run(epsilon if spec.private else None, plan))
    return runs


def require_public(runs: Sequence[Run], data: Data) -> None:
    """Raise if a private mechanism would use bounds read from the data; else warn of such bounds."""
    if any(one.plan.spec.private for one in runs):
        data.declared.require_public()
    elif data.declared.from_data:
        sys.stderr.write("warning: the domain's bounds were read from the data; nothing private can follow\n")


def require_one_release(runs: Sequence[Run], files: FitFileOptions) -> None:
    """Raise unless there is one release, if a file of it is to be written."""
    if len(runs) == 1 and runs[0].plan.splits == 1:
        return
    asked = {"release": files.release, "trace": files.trace, "predictions": files.predictions}
    for name, path in asked.items():
        if path is not None:
            raise ReadingError(
                name,
                path,
                "left out where there are several releases: one mechanism, one epsilon and one split make one",
            )


def grid_from(spent: BudgetOptions, files: FitFileOptions) -> list[str | None]:
    """Return the epsilons to run, as written; None where the budget is given by its parts."""
    text = files.epsilon_grid
    if text is None and files.plot is not None and spent.epsilon is None and spent.epsilon_s is None:
        text = DEFAULT_GRID
    if text is None:
        return [spent.epsilon]
    if spent.epsilon is not None:
        raise ReadingError("epsilon", spent.epsilon, "left out where --epsilon-grid is given")
    grid = [part.strip() for part in text.split(",")]
    values = [parse_epsilon("epsilon_grid", part) for part in grid]
    if len(set(values)) != len(values):
        raise ReadingError("epsilon_grid", text, "a list of distinct numbers")
    return list(grid)


def curves_of(runs: Sequence[Run], results: Sequence[Evaluation]) -> list[Curve]:
    """Return what is drawn: each mechanism's evaluations over epsilon."""
    found: dict[str, list[tuple[Plan, Evaluation]]] = {}
    for one, result in zip(runs, results, strict=True):
        found.setdefault(one.plan.spec.name, []).append((one.plan, result))
    return [
        Curve(
            name,
            tuple(_drawn_epsilon(result) for plan, result in pairs if plan.spec.private),
            tuple(result for _, result in pairs),
        )
        for name, pairs in found.items()
    ]


def axis_of(results: Sequence[Evaluation]) -> str:
    """Return the label of the axis of :func:`curves_of`."""
    private = [one.releases[0].privacy for one in results if one.releases[0].privacy.exact is not None]
    kinds = {"as published" if privacy.published is not None else "exact" for privacy in private}
    return f"epsilon of one release, {' or '.join(sorted(kinds)) or 'as published'}"


def _drawn_epsilon(result: Evaluation) -> float:
    """Return the published epsilon of one release, or the exact one where nothing is published."""
    privacy = result.releases[0].privacy
    if privacy.published is not None:
        return float(privacy.published.epsilon)
    assert privacy.exact is not None
    return privacy.exact.epsilon.float_above()


def write_predictions(path: str, data: Data, release: Release, held_out: BoolArray) -> None:
    """Write the predictions of one release for all records; for an unbounded one, warn instead."""
    if release.w is None:
        sys.stderr.write("warning: no predictions are written, because the release is unbounded and has no w\n")
        return
    names = data.declared.label.names if data.declared.label else ("0", "1")
    write_file("predictions", path, prediction_lines(release.w, data.records, held_out, names))


def as_json(runs: Sequence[Run], results: Sequence[Evaluation], counter: Counter | None = None) -> str:
    """Return the results as one object, or as a list when there are several."""
    file = None if counter is None else str(counter.ledger.path)
    documents = [{**result.to_json(), "ledger": file, "counted": file is not None} for result in results]
    if len({one.epsilon for one in runs if one.plan.spec.private}) > 1:
        documents = [{"epsilon": one.epsilon, **document} for one, document in zip(runs, documents, strict=True)]
    return json_text(documents if len(documents) > 1 else documents[0])
