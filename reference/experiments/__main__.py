"""The paper's figures and tables on real data: ``python -m reference.experiments fig1``.

Every algorithm, epsilon and delta of the paper, with the majority class and the positive rate beside each result
and the printed risk differences beside ours.  Runs are seeded, so nothing here is a release.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import sys
from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from pathlib import Path

from reference.datasets import ENCODINGS, Encoding
from reference.domain import NORMS
from reference.errors import MissingDataError, ReadingError
from reference.experiments import pages, questions
from reference.experiments.exhibits import EXHIBITS, Design, points
from reference.experiments.outputs import Shown
from reference.experiments.printed import DELTA_TABLES
from reference.experiments.runner import run_all
from reference.experiments.splits import whole
from reference.experiments.store import RunStore
from reference.experiments.variants import DEFAULT, VARIANTS, Variant
from reference.files import json_text
from reference.mechanisms import FAIR
from reference.options import EXIT_FINE, add_reading_options, readings_but_fairness, run_command, whole_number
from reference.plot import require_plot

EMBEDDED = "affairs"

DATA = ("adult", "us", EMBEDDED, "synthetic")

SPLITS = 10
"""Of figures and tables: the paper's number of runs."""

STORE = "runs.jsonl"

EXIT_INTERRUPTED = 130
"""What a shell reports of a program that Ctrl-C ended."""


def parser() -> argparse.ArgumentParser:
    """Return the command line's parser."""
    # no abbreviations: --epsilon would be read as --epsilon-ratio
    found = argparse.ArgumentParser(
        prog="python -m reference.experiments", description=__doc__, allow_abbrev=False
    )
    found.add_argument(
        "exhibit",
        choices=[*EXHIBITS, "all", "page", *questions.QUESTIONS],
        help=(
            "a figure or table, all of them, or the page docs/experiments.md with its numbers; x_s, rfm, peers: "
            "does noise on x_s reduce discrimination, when is Algorithm 2 No-Privacy's equal, other libraries"
        ),
    )
    found.add_argument("--data", choices=DATA, help="another data set than the paper's")
    found.add_argument(
        "--splits",
        type=int,
        metavar="K",
        help=f"random splits, one run each ({SPLITS}; {questions.splits_text()})",
    )
    found.add_argument("--test-share", type=float, default=0.2, metavar="P", help="share held out (0.2)")
    found.add_argument("--subset-size", type=int, metavar="N", help="use N records, drawn at random (all)")
    found.add_argument("--jobs", type=int, default=os.cpu_count() or 1, metavar="N", help="processes (all cores)")
    found.add_argument(
        "--variant",
        nargs="+",
        choices=[*VARIANTS, "all"],
        metavar="NAME",
        help=f"readings of the documented grid: {', '.join(VARIANTS)}, or all ({DEFAULT})",
    )
    found.add_argument("--domain", choices=NORMS, help="norm of x (unit_ball)")
    found.add_argument("--encoding", choices=ENCODINGS, help="categories as ranks or one-hot (ordinal)")
    found.add_argument("--intercept", action="store_true", help="add an intercept coordinate, inside the norm")
    found.add_argument("--keep-group", action="store_true", help="let the group stand among the features")
    found.add_argument("--epsilon-ratio", metavar="R", help="epsilon_s / epsilon_n of PDFC and ADFC (1)")
    found.add_argument("--delta", default=DELTA_TABLES, metavar="D", help=f"total delta ({DELTA_TABLES})")
    add_reading_options(found)
    output = found.add_argument_group("output")
    output.add_argument("--format", choices=("text", "json"), default="text")
    output.add_argument("--out", metavar="DIR", help=f"write JSON, text, PNG and SVG, and keep runs in {STORE}")
    output.add_argument("--seed", type=whole_number, default=0, metavar="K", help="of splits and noise (0)")
    output.add_argument("--quiet", action="store_true", help="show no progress")
    return found


def command(argv: Sequence[str] | None = None) -> int:
    """Run the command line."""
    options = parser().parse_args(argv)
    question = questions.QUESTIONS.get(options.exhibit)
    if options.splits is None:
        options.splits = SPLITS if question is None else question.splits
    if options.splits < 1:
        raise ReadingError("splits", options.splits, "at least 1")
    options.ratio = options.epsilon_ratio
    if question is not None and question.own_ratio:
        options.epsilon_ratio = None
    variants = variants_from(options)
    if question is not None:
        if options.out is not None:
            made_folder(options.out)
        asked = question.data if options.data is None else (options.data,)
        questions.show(question, options, variants, [(present_data(one), one) for one in asked])
        return EXIT_FINE
    if options.data == "synthetic":
        raise ReadingError("data", options.data, f"one of {', '.join(DATA[:-1])} for a figure or table")
    store = None if options.out is None else RunStore(prepared_folder(options.out) / STORE)
    try:
        if options.exhibit == "page":
            pages.write(pages.measure(store, jobs=options.jobs, quiet=options.quiet))
        else:
            show(options, variants, store)
    finally:
        if store is not None:
            store.close()
    return EXIT_FINE


def show(options: argparse.Namespace, variants: Sequence[Variant], store: RunStore | None) -> None:
    """Run the exhibits, print them and write their files."""
    exhibits = list(EXHIBITS.values()) if options.exhibit == "all" else [EXHIBITS[options.exhibit]]
    plans = [
        (exhibit, design_from(options, present_data(asked), variant), asked)
        for exhibit in exhibits
        for asked in ((options.data,) if options.data else exhibit.data)
        for variant in variants
    ]
    specs = [spec for exhibit, design, _ in plans for point in points(exhibit, design) for spec in point.specs]
    results = run_all(specs, store, jobs=options.jobs, quiet=options.quiet)
    shown = [
        Shown.of(exhibit, design, results, None if asked == design.data else asked)
        for exhibit, design, asked in plans
    ]
    if options.out is not None:
        for one in shown:
            one.write(options.out)
    if options.format == "json":
        documents = [one.to_json() for one in shown]
        sys.stdout.write(json_text(documents if len(documents) > 1 else documents[0]))
    else:
        sys.stdout.write("\n".join(one.as_text() for one in shown))


def design_from(options: argparse.Namespace, data: str, variant: Variant) -> Design:
    """Return how often and on which records the exhibits are run."""
    return Design(
        data,
        variant,
        splits=options.splits,
        seed=options.seed,
        test_share=options.test_share,
        subset_size=options.subset_size,
        delta=options.delta,
        x_s=options.x_s,
    )


@lru_cache
def present_data(asked: str) -> str:
    """Return the data set that was asked for, or, loudly, the embedded one where it is not there."""
    try:
        whole(asked, Encoding())
    except MissingDataError as problem:
        sys.stderr.write(
            f"WARNING: {problem}\nWARNING: {asked} IS NOT THERE: everything below is on the embedded data "
            f"({EMBEDDED}), marked in every output, and says nothing about {asked}\n"
        )
        return EMBEDDED
    return asked


def variants_from(options: argparse.Namespace) -> list[Variant]:
    """Return the variants of the documented grid, or the one that the options describe.

    Raises
    ------
    reference.errors.ReadingError
        When both are given.
    """
    encoding = Encoding(
        options.domain or "unit_ball", options.encoding or "ordinal", options.intercept, options.keep_group
    )
    readings = readings_but_fairness(options)
    if options.noise != "numpy":
        raise ReadingError("noise", options.noise, "'numpy': experiments are seeded")
    fairness, ratio = options.fairness or FAIR.fairness, options.epsilon_ratio or "1"
    chosen = Variant("chosen", "as the options say", encoding, fairness, readings, ratio)
    default = VARIANTS[DEFAULT]
    if replace(chosen, name=default.name, what=default.what) == default:
        asked = options.variant or [DEFAULT]
        return list(VARIANTS.values()) if "all" in asked else [VARIANTS[name] for name in dict.fromkeys(asked)]
    if options.variant is not None:
        raise ReadingError("variant", ", ".join(options.variant), "left out where readings are given one by one")
    # a name of its own, so that the files of two choices do not overwrite each other
    digest = hashlib.sha256(json_text(chosen.to_json()).encode()).hexdigest()
    return [replace(chosen, name=f"chosen_{digest[:8]}")]


def prepared_folder(name: str) -> Path:
    """Make the folder of the output, and check that a plot can be drawn before anything is run.

    Raises
    ------
    reference.errors.ReadingError
    """
    require_plot("plot.png")
    return made_folder(name)


def made_folder(name: str) -> Path:
    """Make a folder where there is none.

    Raises
    ------
    reference.errors.ReadingError
    """
    folder = Path(name)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as problem:
        raise ReadingError("out", name, f"a folder that can be made ({problem.strerror})") from problem
    return folder


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code."""
    try:
        return run_command(command, argv)
    except KeyboardInterrupt:
        sys.stderr.write("interrupted: with --out the same command goes on where it stopped\n")
        return EXIT_INTERRUPTED


if __name__ == "__main__":
    sys.exit(main())
