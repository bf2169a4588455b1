"""``python -m audit catalogue``: how good an auditor is, on mechanisms of known loss."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import click

from audit.auditor.distinguish import SMALLEST_DRAWS
from audit.commands.again import again
from audit.commands.catalogue_text import entries_text, score_text
from audit.commands.text import columns
from audit.common.figures import require_plot
from audit.subjects.catalogue import CATALOGUE
from audit.validity.scores.auditors import auditor_from, our_auditor
from audit.validity.scores.plot import draw_score
from audit.validity.scores.report import around, entry_json, update_page
from audit.validity.scores.scoring import AuditorScore, Exam, score_auditor
from reference.commands.file_names import WrittenFile
from reference.commands.options import FileOptions, emit
from reference.commands.parsing import command as make_command
from reference.commands.parsing import listed, option
from reference.commands.progress import SHARE, ProgressBar
from reference.common.errors import ReadingError
from reference.common.exit_codes import EXIT_FINE, EXIT_REFUTED, EXIT_UNDECIDED
from reference.common.files import json_text

OURS = "audit.auditor.distinguish:estimate"
DRAWS, SEEDS = 40_000, 3


@dataclass(frozen=True, kw_only=True)
class ScoreOptions:
    """Audits."""

    auditor: str = option(
        "--auditor",
        default=OURS,
        metavar="M:F",
        help="module:function of (subject, claimed_epsilon, claimed_delta, draws, significance, seed), which "
        f"returns a lower bound ({OURS})",
    )
    draws: str = option(
        "--draws",
        default=str(DRAWS),
        metavar="N",
        help=f"draws per audit, all phases and both inputs; `own`: as many as find the bug ({DRAWS})",
    )
    seeds: int = option(
        "--seeds", type=click.IntRange(min=1), default=SEEDS, metavar="K", help=f"audits per entry ({SEEDS})"
    )
    seed: int = option("--seed", type=click.IntRange(min=0), default=0, metavar="K", help="first seed (0)")
    only: tuple[str, ...] = listed(
        "--only", choices=CATALOGUE, metavar="NAME", help="entries to score; repeat it, or use commas (all)"
    )
    significance: float = option(
        "--significance", type=float, default=0.05, metavar="S", help="chance that a bound is wrong (0.05)"
    )
    workers: int = option(
        "--workers",
        type=click.IntRange(min=1),
        default=os.cpu_count() or 1,
        metavar="W",
        help="processes (all cores)",
    )
    list: bool = option("--list", is_flag=True, help="describe the entries and audit nothing")


@dataclass(frozen=True, kw_only=True)
class CatalogueOutput(FileOptions):
    """Output."""

    plot: str | None = option(
        "--plot", type=WrittenFile(), metavar="FILE", help="draw claim, truth and bounds (.svg, .png, .pdf)"
    )
    update: str | None = option(
        "--update",
        type=WrittenFile(),
        metavar="PAGE",
        help="write the score between the marks of a page, and a row for each entry into the .csv beside it",
    )


@make_command(
    "catalogue",
    ScoreOptions,
    CatalogueOutput,
    example="python -m audit catalogue --only laplace,laplace_half_noise --draws own --seeds 1",
)
def command(options: ScoreOptions, output: CatalogueOutput) -> int:
    """Score an auditor on mechanisms whose loss is known.

    The auditor judges right and broken mechanisms. The score counts the broken ones that it finds, the right
    ones that it flags and its bounds above the truth, and says how close to the truth they come.
    """
    names = options.only or tuple(CATALOGUE)
    if options.list:
        if output.update:
            raise ReadingError("update", output.update, "given without --list, which scores nothing")
        described = [entry_json(name, CATALOGUE[name]()) for name in names]
        text = json_text(described) if output.format == "json" else entries_text(names, columns(output.out))
        emit(text, output.out)
        return EXIT_FINE
    # reports what cannot be written before minutes of work, not after
    if output.plot:
        require_plot(output.plot)
    if output.update:
        around(Path(output.update))
    score = _score(options, options.seed, names)
    if output.plot:
        draw_score(score, output.plot)
    if output.update:
        update_page(Path(output.update), score)
    if output.format == "json":
        emit(json_text(score.to_json() | {"rerun": again(command, options)}), output.out)
    else:
        emit(score_text(score, columns(output.out)), output.out)
    if score.refuted:
        return EXIT_REFUTED
    # what did not run was not checked
    return EXIT_UNDECIDED if score.errors or score.stopped is not None else EXIT_FINE


def _score(options: ScoreOptions, seed: int, names: Sequence[str]) -> AuditorScore:
    """Score the auditor, with a progress bar on standard error."""
    draws, significance = _draws(options.draws), _share("significance", options.significance)
    auditor = our_auditor if options.auditor == OURS else auditor_from(options.auditor)
    all_draws = options.seeds * sum(draws or CATALOGUE[name].draws for name in names)
    with ProgressBar(f"audits of {len(names)} entries", all_draws, SHARE) as progress:
        return score_auditor(
            auditor,
            options.auditor,
            Exam(names, draws, options.seeds, seed, significance),
            workers=options.workers,
            progress=progress.advance,
        )


def _draws(given: str) -> int | None:
    if given == "own":
        return None
    if not (given.isascii() and given.isdecimal() and len(given) < 20) or int(given) < SMALLEST_DRAWS:
        raise ReadingError("draws", given, f"`own`, or a whole number of at least {SMALLEST_DRAWS}")
    return int(given)


def _share(name: str, value: float) -> float:
    if not 0 < value < 1:
        raise ReadingError(name, value, "between 0 and 1")
    return value
