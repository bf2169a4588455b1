"""``python -m reference experiments``: the paper's figures and tables on real data, and further questions.

Every algorithm, epsilon and delta of the paper, with the majority class and the positive rate beside each result
and the printed risk differences beside ours.  Runs are seeded, so nothing here is a release.
"""

from __future__ import annotations

import hashlib
import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path

import click

from reference.commands.experiment_files import write_exhibit
from reference.commands.file_names import FileName
from reference.commands.frontier_plot import draw_frontier
from reference.commands.options import ReadingOptions, emit, encoding_from, readings_but_fairness
from reference.commands.parsing import argument, listed, option
from reference.commands.parsing import command as make_command
from reference.commands.plot import require_plot
from reference.commands.progress import watched
from reference.commands.terminal import page
from reference.common.errors import MissingDataError, ReadingError
from reference.common.exit_codes import EXIT_FINE
from reference.common.files import json_text, write_whole
from reference.common.page import Page
from reference.common.scheduler import HELP, on_cluster
from reference.datasets import ENCODINGS, Encoding
from reference.domain import NORMS
from reference.experiments import pages, question_pages
from reference.experiments.exhibits import EXHIBITS, ExhibitDesign, points
from reference.experiments.outputs import Shown
from reference.experiments.printed import DELTA_TABLES
from reference.experiments.questions import QUESTIONS, Asked, Question, splits_text
from reference.experiments.runner import run_all
from reference.experiments.splits import whole
from reference.experiments.store import RunStore
from reference.experiments.variants import DEFAULT, VARIANTS, Variant
from reference.experiments.watch import Watch
from reference.mechanisms import FAIR

EMBEDDED = "affairs"

DATA = ("adult", "us", EMBEDDED, "synthetic")
FRONTIER = "frontier"
FRONTIER_DATA = ("compas", "german")
"""Besides those of all others."""

SPLITS = 10
"""Runs of a figure or table, as many as the paper has."""

STORE = "runs.jsonl"

PAGE, QUESTION_PAGES = "page", "question_pages"


@dataclass(frozen=True, kw_only=True)
class ExperimentOptions:
    """What to run."""

    name: str = argument(type=click.Choice([*EXHIBITS, "all", PAGE, *QUESTIONS, QUESTION_PAGES]), metavar="NAME")
    data: str | None = option(
        "--data", type=click.Choice([*DATA, *FRONTIER_DATA]), help="a data set other than the paper's"
    )
    splits: int | None = option(
        "--splits", type=int, metavar="K", help=f"random splits, one run each ({SPLITS}; {splits_text()})"
    )
    test_share: float = option("--test-share", type=float, default=0.2, metavar="P", help="share held out (0.2)")
    subset_size: int | None = option(
        "--subset-size", type=int, metavar="N", help="use N records, drawn at random (all)"
    )
    jobs: int = option("--jobs", type=int, default=os.cpu_count() or 1, metavar="N", help="processes (all cores)")
    scheduler: str | None = option("--scheduler", metavar="ADDRESS", help=HELP)
    variant: tuple[str, ...] = listed(
        "--variant",
        choices=[*VARIANTS, "all"],
        metavar="NAME[,NAME...]",
        help=f"readings of the documented grid: {', '.join(VARIANTS)}, or all; may be repeated ({DEFAULT})",
    )
    domain: str | None = option("--domain", type=click.Choice(NORMS), help="norm of x (unit_ball)")
    encoding: str | None = option(
        "--encoding", type=click.Choice(ENCODINGS), help="categories as ranks or one-hot (ordinal)"
    )
    intercept: bool = option("--intercept", is_flag=True, help="add an intercept coordinate, inside the norm")
    keep_group: bool = option("--keep-group", is_flag=True, help="make the group a feature, too")
    epsilon_ratio: str | None = option(
        "--epsilon-ratio", metavar="R", help="epsilon_s / epsilon_n of PDFC and ADFC (1)"
    )
    delta: str = option("--delta", default=DELTA_TABLES, metavar="D", help=f"total delta ({DELTA_TABLES})")


@dataclass(frozen=True, kw_only=True)
class ExperimentOutput:
    """Output."""

    format: str = option("--format", type=click.Choice(["text", "json"]), default="text", help="(text)")
    out: str | None = option(
        "--out", type=FileName(), metavar="DIR", help=f"write JSON, text, PNG and SVG, and keep runs in {STORE}"
    )
    seed: int = option(
        "--seed", type=click.IntRange(min=0), default=0, metavar="K", help="of splits and noise (0)"
    )
    quiet: bool = option("--quiet", is_flag=True, help="show no progress")
    source: str | None = option(
        "--from", type=FileName(), metavar="DIR", help=f"{QUESTION_PAGES}: where {', '.join(QUESTIONS)} wrote"
    )
    only: str | None = option(
        "--only", type=click.Choice(list(question_pages.BLOCKS)), help=f"{QUESTION_PAGES}: one of the pages"
    )


@make_command(
    "experiments",
    ExperimentOptions,
    ReadingOptions,
    ExperimentOutput,
    example="python -m reference experiments table2 --data adult --splits 50 --out results",
    text=(
        f"Run the paper's figures and tables on real data: {', '.join(EXHIBITS)}, or all.\n\n"
        "x_s: does noise on x_s reduce discrimination; rfm: when does Algorithm 2 equal No-Privacy; peers: other "
        f"libraries; frontier: our own mechanism.  {PAGE} measures and writes docs/experiments.md, "
        f"{QUESTION_PAGES} writes the pages of x_s, rfm and peers."
    ),
)
def command(asked: ExperimentOptions, readings: ReadingOptions, output: ExperimentOutput) -> int:
    """Run ``experiments``."""
    if asked.name in (PAGE, QUESTION_PAGES) and not pages.PAGE.is_file():
        raise click.UsageError(f"`{asked.name}` needs a checkout: an installed package has no documents")
    if asked.name == QUESTION_PAGES:
        write_question_pages(output)
        return EXIT_FINE
    try:
        with on_cluster(asked.scheduler):
            measure(asked, readings, output)
    except KeyboardInterrupt:
        raise KeyboardInterrupt("with --out, the same command resumes where it stopped") from None
    return EXIT_FINE


def measure(asked: ExperimentOptions, readings: ReadingOptions, output: ExperimentOutput) -> None:
    """Run, print, and write into the folder."""
    question = QUESTIONS.get(asked.name)
    if asked.splits is not None and asked.splits < 1:
        raise ReadingError("splits", asked.splits, "at least 1")
    if output.source is not None or output.only is not None:
        raise ReadingError("from and only", asked.name, f"left out: they are of {QUESTION_PAGES}")
    if asked.data in FRONTIER_DATA and asked.name != FRONTIER:
        raise ReadingError("data", asked.data, f"one of {', '.join(DATA)} unless for the frontier")
    own_ratio = question is not None and question.own_ratio
    variants = variants_from(replace(asked, epsilon_ratio=None) if own_ratio else asked, readings)
    if question is not None:
        answer(question, asked_of(question, asked, readings, output.seed, variants), asked.data, output)
        return
    if asked.data == "synthetic":
        raise ReadingError("data", asked.data, f"one of {', '.join(DATA[:-1])} for a figure or table")
    store = None if output.out is None else RunStore(prepared_folder(output.out) / STORE)
    try:
        with watched(quiet=output.quiet) as watch:
            if asked.name == PAGE:
                pages.write(pages.measure(store, jobs=asked.jobs, watch=watch))
                return
            shown = exhibits_from(asked, designs_from(asked, readings, output.seed, variants), store, watch)
    finally:
        if store is not None:
            store.close()
    show(shown, output)


# --- Figures and tables ----------------------------------------------------------------------------------------


def designs_from(
    asked: ExperimentOptions, readings: ReadingOptions, seed: int, variants: Sequence[Variant]
) -> list[tuple[str, ExhibitDesign, str]]:
    """Return each exhibit with its number of runs and its records, and the requested data set."""
    return [
        (
            name,
            ExhibitDesign(
                present_data(data),
                variant,
                splits=SPLITS if asked.splits is None else asked.splits,
                seed=seed,
                test_share=asked.test_share,
                subset_size=asked.subset_size,
                delta=asked.delta,
                x_s=readings.x_s,
            ),
            data,
        )
        for name in (EXHIBITS if asked.name == "all" else [asked.name])
        for data in ((asked.data,) if asked.data else EXHIBITS[name].data)
        for variant in variants or [VARIANTS[DEFAULT]]
    ]


def exhibits_from(
    asked: ExperimentOptions,
    designs: Sequence[tuple[str, ExhibitDesign, str]],
    store: RunStore | None,
    watch: Watch,
) -> list[Shown]:
    """Run the exhibits."""
    specs = [
        spec for name, design, _ in designs for point in points(EXHIBITS[name], design) for spec in point.specs
    ]
    results = run_all(specs, store, jobs=asked.jobs, watch=watch)
    return [
        Shown.of(EXHIBITS[name], design, results, None if data == design.data else data)
        for name, design, data in designs
    ]


def show(shown: Sequence[Shown], output: ExperimentOutput) -> None:
    """Print the exhibits and write their files."""
    if output.out is not None:
        for one in shown:
            write_exhibit(one, output.out)
    if output.format == "json":
        documents = [one.to_json() for one in shown]
        emit(json_text(documents if len(documents) > 1 else documents[0]), None)
    else:
        emit("\n".join(one.as_text(page(None)) for one in shown), None)


# --- Questions -------------------------------------------------------------------------------------------------


def asked_of(
    question: Question,
    asked: ExperimentOptions,
    readings: ReadingOptions,
    seed: int,
    variants: Sequence[Variant],
) -> Asked:
    """Return the settings of a question."""
    return Asked(
        variants=tuple(variants),
        norm=asked.domain,
        splits=question.splits if asked.splits is None else asked.splits,
        seed=seed,
        test_share=asked.test_share,
        subset_size=asked.subset_size,
        delta=asked.delta,
        ratio=asked.epsilon_ratio,
        x_s=readings.x_s,
        jobs=asked.jobs,
        noise=readings.noise or "numpy",
    )


def answer(question: Question, asked: Asked, data: str | None, output: ExperimentOutput) -> None:
    """Measure on every data set, print, and write JSON and text into the folder `--out`."""
    if output.out is not None:
        made_folder(output.out)
    wanted = [(present_data(one), one) for one in (question.data if data is None else (data,))]
    found = []
    with watched(quiet=output.quiet) as watch:
        for present, named in dict.fromkeys(wanted):
            document = question.measure(asked, present, None if named == present else named, watch)
            found.append(document)
            if output.out is not None:
                stem = f"{output.out}/{question.name}-{present}"
                write_whole(f"{stem}.json", json_text(document))
                write_whole(f"{stem}.txt", question.as_text(document, Page()))
                if question.name == FRONTIER:
                    draw_frontier(document, f"{stem}.svg")
    if output.format == "json":
        emit(json_text(found if len(found) > 1 else found[0]), None)
    else:
        emit("\n".join(question.as_text(document, page(None)) for document in found), None)


def write_question_pages(output: ExperimentOutput) -> None:
    """Write the questions' pages from what the questions' own commands wrote."""
    if output.source is None:
        raise ReadingError("from", None, f"the folder into which {', '.join(QUESTIONS)} wrote")
    question_pages.write(output.source, question_pages.BLOCKS if output.only is None else [output.only])


# --- Data, readings and folders --------------------------------------------------------------------------------


@lru_cache
def present_data(asked: str) -> str:
    """Return the requested data set or, loudly, the embedded one if it is not there."""
    try:
        whole(asked, Encoding())
    except MissingDataError as problem:
        sys.stderr.write(
            f"WARNING: {problem}\nWARNING: {asked} IS NOT THERE: everything below is on the embedded data "
            f"({EMBEDDED}), marked in every output, and says nothing about {asked}\n"
        )
        return EMBEDDED
    return asked


def variants_from(asked: ExperimentOptions, given: ReadingOptions) -> list[Variant]:
    """Return the variants of the documented grid, or the one that the options describe; none if none is requested.

    Raises
    ------
    reference.common.errors.ReadingError
        When both are given.
    """
    encoding = encoding_from(asked)
    readings = readings_but_fairness(given)
    if given.noise == "hardened" and asked.name != FRONTIER:
        raise ReadingError("noise", given.noise, "'numpy': experiments are seeded")
    fairness, ratio = given.fairness or FAIR.fairness, asked.epsilon_ratio or "1"
    chosen = Variant("chosen", "as the options say", encoding, fairness, readings, ratio)
    default = VARIANTS[DEFAULT]
    if replace(chosen, name=default.name, what=default.what) == default:
        return [VARIANTS[name] for name in (VARIANTS if "all" in asked.variant else asked.variant)]
    if asked.variant:
        raise ReadingError("variant", ", ".join(asked.variant), "left out where readings are given one by one")
    # named apart, so that the files of two choices do not overwrite each other
    digest = hashlib.sha256(json_text(chosen.to_json()).encode()).hexdigest()
    return [replace(chosen, name=f"chosen_{digest[:8]}")]


def prepared_folder(name: str) -> Path:
    """Make the output folder, and check that a plot can be drawn, before anything is run.

    Raises
    ------
    reference.common.errors.ReadingError
    """
    require_plot("plot.png")
    return made_folder(name)


def made_folder(name: str) -> Path:
    """Make a folder where there is none.

    Raises
    ------
    reference.common.errors.ReadingError
    """
    folder = Path(name)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as problem:
        raise ReadingError("out", name, f"a folder that can be made ({problem.strerror})") from problem
    return folder
