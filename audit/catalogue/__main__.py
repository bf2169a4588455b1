"""How good is an auditor?  ``python -m audit.catalogue``.

It audits right and broken mechanisms whose loss is known, and its bounds are counted: broken ones that it finds,
right ones that it flags, bounds above the truth, and how close to the truth they come.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

from audit.catalogue import CATALOGUE
from audit.catalogue.auditors import auditor_from, our_auditor
from audit.catalogue.plot import check_ending, draw_score
from audit.catalogue.report import (
    ENTRIES,
    SCORES,
    around,
    entries_text,
    entry_json,
    entry_table,
    score_table,
    score_text,
    update_page,
)
from audit.catalogue.scoring import Score, score_auditor
from audit.distinguish import SMALLEST_DRAWS
from audit.rerun import rerun_command
from reference.errors import ReadingError
from reference.files import json_text
from reference.options import (
    EXIT_FINE,
    EXIT_REFUTED,
    EXIT_UNDECIDED,
    emit,
    run_command,
    whole_number,
)

OURS = "audit.distinguish:estimate"
DRAWS, SEEDS = 40_000, 3


def parser() -> argparse.ArgumentParser:
    """Return the command line's parser."""
    result = argparse.ArgumentParser(prog="python -m audit.catalogue", description=__doc__, allow_abbrev=False)
    result.add_argument(
        "--auditor",
        default=OURS,
        metavar="M:F",
        help="module:function of (subject, claimed_epsilon, claimed_delta, draws, significance, seed), which "
        f"returns a lower bound ({OURS})",
    )
    result.add_argument(
        "--draws",
        default=str(DRAWS),
        metavar="N",
        help=f"draws per audit, all phases and both inputs; `own` gives each entry what finds it ({DRAWS})",
    )
    result.add_argument("--seeds", type=int, default=SEEDS, metavar="K", help=f"audits per entry ({SEEDS})")
    result.add_argument("--only", nargs="+", metavar="NAME", help="entries to score, by spaces or commas (all)")
    result.add_argument("--significance", type=float, default=0.05, metavar="S", help="of every bound (0.05)")
    result.add_argument(
        "--workers", type=int, default=os.cpu_count() or 1, metavar="W", help="processes (all cores)"
    )
    result.add_argument("--list", action="store_true", help="describe the entries and audit nothing")
    result.add_argument("--plot", metavar="FILE", help="draw claim, truth and bounds (.svg, .png, .pdf)")
    result.add_argument(
        "--update", metavar="PAGE", help="write the tables of entries and scores between the marks of a page"
    )
    result.add_argument("--format", choices=("text", "json"), default="text")
    result.add_argument("--out", metavar="FILE", help="write to a file, whole or not at all")
    result.add_argument("--seed", type=whole_number, default=0, metavar="K", help="first seed (0)")
    return result


def run(argv: Sequence[str] | None) -> int:
    """Run the command line and return its exit code."""
    options = parser().parse_args(argv)
    names = _names(options.only)
    if options.list:
        if options.update:
            update_page(Path(options.update), ENTRIES, entry_table())
        described = [entry_json(name, CATALOGUE[name]()) for name in names]
        emit(json_text(described) if options.format == "json" else entries_text(names), options.out)
        return EXIT_FINE
    # what cannot be written is said before minutes of work, not after
    if options.plot:
        check_ending(options.plot)
    for part in (ENTRIES, SCORES) if options.update else ():
        around(Path(options.update), part)
    score = _score(options, names)
    if options.plot:
        draw_score(score, options.plot)
    if options.update:
        update_page(Path(options.update), ENTRIES, entry_table())
        update_page(Path(options.update), SCORES, score_table(score))
    if options.format == "json":
        repeated = argparse.Namespace(**{**vars(options), "update": None})
        emit(
            json_text(score.to_json() | {"rerun": rerun_command("audit.catalogue", parser(), repeated)}),
            options.out,
        )
    else:
        emit(score_text(score), options.out)
    if score.refuted:
        return EXIT_REFUTED
    # what did not run was not checked
    return EXIT_UNDECIDED if score.errors or score.stopped is not None else EXIT_FINE


def _score(options: argparse.Namespace, names: Sequence[str]) -> Score:
    """Score the auditor, with a progress bar on standard error."""
    draws, seeds = _draws(options.draws), _at_least_one("seeds", options.seeds)
    significance, workers = _share("significance", options.significance), _at_least_one("workers", options.workers)
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.percentage:.0f}%"),
        TimeElapsedColumn(),
    )
    auditor = our_auditor if options.auditor == OURS else auditor_from(options.auditor)
    console = Console(stderr=True)
    # elsewhere than on a terminal it would leave an empty line before an error of one line
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as progress:
        all_draws = seeds * sum(draws or CATALOGUE[name].draws for name in names)
        task = progress.add_task(f"audits of {len(names)} entries", total=all_draws)
        return score_auditor(
            auditor,
            options.auditor,
            names=names,
            draws=draws,
            seeds=seeds,
            first_seed=options.seed,
            significance=significance,
            workers=workers,
            progress=partial(progress.advance, task),
        )


def _names(only: Sequence[str] | None) -> tuple[str, ...]:
    asked = [name for word in only or () for name in word.split(",")]
    for name in asked:
        if name not in CATALOGUE:
            raise ReadingError("only", name, "one of " + ", ".join(CATALOGUE))
    return tuple(dict.fromkeys(asked)) if asked else tuple(CATALOGUE)


def _draws(given: str) -> int | None:
    if given == "own":
        return None
    if not given.isdecimal() or int(given) < SMALLEST_DRAWS:
        raise ReadingError("draws", given, f"`own`, or a whole number of at least {SMALLEST_DRAWS}")
    return int(given)


def _at_least_one(name: str, value: int) -> int:
    if value < 1:
        raise ReadingError(name, value, "at least 1")
    return value


def _share(name: str, value: float) -> float:
    if not 0 < value < 1:
        raise ReadingError(name, value, "between 0 and 1")
    return value


def main(argv: Sequence[str] | None = None) -> int:
    """Entry point."""
    return run_command(run, argv)


if __name__ == "__main__":
    sys.exit(main())
