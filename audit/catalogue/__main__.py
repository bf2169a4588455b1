"""How good is an auditor?  ``python -m audit.catalogue``.

It audits right and broken mechanisms whose loss is known, and its bounds are counted: broken ones that it finds,
right ones that it flags, bounds above the truth, and how close to the truth they come.
"""

from __future__ import annotations

import argparse
import io
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console
from rich.table import Table

from audit.catalogue import CATALOGUE
from audit.catalogue.plot import draw_score
from audit.catalogue.scoring import EntryScore, Rate, Score, auditor_from, our_auditor, score_auditor
from audit.distinguish import SMALLEST_DRAWS
from audit.rerun import rerun_command
from reference.errors import ReadingError
from reference.files import json_text, write_whole
from reference.options import EXIT_FINE, EXIT_REFUTED, emit, run_command, whole_number

OURS = "audit.distinguish:estimate"
DRAWS, SEEDS = 40_000, 3


def parser() -> argparse.ArgumentParser:
    """Return the command line's parser."""
    result = argparse.ArgumentParser(prog="python -m audit.catalogue", description=__doc__)
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
    result.add_argument("--only", nargs="+", metavar="NAME", help="entries to score (all)")
    result.add_argument("--significance", type=float, default=0.05, metavar="S", help="of every bound (0.05)")
    result.add_argument(
        "--workers", type=int, default=os.cpu_count() or 1, metavar="W", help="processes (all cores)"
    )
    result.add_argument("--plot", metavar="FILE", help="draw claim, truth and bounds (.svg, .png, .pdf)")
    result.add_argument("--update", metavar="PAGE", help="write the table between the marks of a Markdown page")
    result.add_argument("--format", choices=("text", "json"), default="text")
    result.add_argument("--out", metavar="FILE", help="write to a file, whole or not at all")
    result.add_argument("--seed", type=whole_number, default=0, metavar="K", help="first seed (0)")
    return result


def text(score: Score) -> str:
    """Return the table with its summary."""
    table = Table(title=f"Auditor {score.auditor}, significance {score.significance:g}, {score.seeds} audits each")
    for column in (
        "entry",
        "broken at",
        "claim",
        "true",
        "ceiling",
        "draws",
        "median bound",
        "flagged",
        "tightness",
    ):
        table.add_column(column, no_wrap=True, justify="left" if column in ("entry", "broken at") else "right")
    for line in score.entries:
        table.add_row(*_cells(line, score.seeds))
    buffer = io.StringIO()
    Console(file=buffer, width=140).print(table)
    errors = [f"error: {line.name}: {line.errors[0]}" for line in score.entries if line.errors]
    lines = _summary(score)
    return buffer.getvalue() + "\n".join([*lines, *errors]) + "\n"


def _cells(line: EntryScore, seeds: int) -> tuple[str, ...]:
    entry = line.entry
    bound = f"{sorted(line.bounds)[len(line.bounds) // 2]:.3f}" if line.bounds else "error"
    return (
        line.name,
        entry.broken_at or "right",
        f"{entry.claimed_epsilon:g}" + (f", {entry.claimed_delta}" if entry.claimed_delta != "0" else ""),
        ("" if entry.loss_is_exact else "<= ") + f"{entry.true_epsilon:.4g}",
        f"{line.ceiling:.2f}",
        f"{line.draws:,}",
        bound,
        f"{line.flagged}/{seeds}",
        "" if line.tightness is None else f"{line.tightness:.2f}",
    )


def _summary(score: Score) -> list[str]:
    tightness = "not known" if score.tightness is None else f"{score.tightness:.2f}"
    return [
        f"- broken mechanisms flagged: {_rate(score.detection)}",
        f"- right mechanisms flagged: {_rate(score.false_alarms)}",
        f"- bounds above a finite true loss: {_rate(score.wrong_bounds)}",
        f"- tightness, median over entries: {tightness}",
        f"- not flagged by every audit: {', '.join(score.missed) or 'none'}",
        f"- verdict on the stated significance: {'refuted' if score.refuted else 'not refuted'}",
    ]


def _rate(rate: Rate) -> str:
    low, high = rate.enclosure
    return f"{rate.count} of {rate.of} (Clopper-Pearson, each end at 0.05: {low:.3g} to {high:.3g})"


def run(argv: Sequence[str] | None) -> int:
    """Run the command line and return its exit code."""
    options = parser().parse_args(argv)
    score = score_auditor(
        our_auditor if options.auditor == OURS else auditor_from(options.auditor),
        options.auditor,
        names=_names(options.only),
        draws=_draws(options.draws),
        seeds=_at_least_one("seeds", options.seeds),
        first_seed=options.seed,
        significance=_share("significance", options.significance),
        workers=_at_least_one("workers", options.workers),
    )
    if options.plot:
        draw_score(score, options.plot)
    if options.update:
        _update(score, Path(options.update))
    if options.format == "json":
        rerun = rerun_command("audit.catalogue", parser(), options)
        emit(json_text(score.to_json() | {"rerun": rerun}), options.out)
    else:
        emit(text(score), options.out)
    return EXIT_REFUTED if score.refuted else EXIT_FINE


MARKS = "<!-- table: begin -->", "<!-- table: end -->"


def _update(score: Score, page: Path) -> None:
    """Replace what stands between the marks of a page."""
    try:
        before, rest = page.read_text(encoding="utf-8").split(MARKS[0])
        _, after = rest.split(MARKS[1])
    except (OSError, ValueError) as problem:
        raise ReadingError("update", str(page), f"a page with the marks {' and '.join(MARKS)}") from problem
    lines = [
        f"{score.seeds} audits of each, at significance {score.significance:g}.",
        "",
        "| entry | broken at | claim | true | median bound | flagged | tightness |",
        "|---|---|---|---|---|---|---|",
    ]
    for line in score.entries:
        name, level, claim, true, _, _, bound, flagged, tightness = _cells(line, score.seeds)
        shorter = bound[:-1] if line.bounds else bound
        cells = (f"`{name}`", level, claim, true, shorter, flagged.replace("/", " of "), tightness)
        lines.append("| " + " | ".join(cells) + " |")
    text = "\n".join([before + MARKS[0], *lines, "", *_summary(score), MARKS[1] + after])
    write_whole(page, text)


def _names(only: Sequence[str] | None) -> tuple[str, ...]:
    for name in only or ():
        if name not in CATALOGUE:
            raise ReadingError("only", name, "one of " + ", ".join(CATALOGUE))
    return tuple(dict.fromkeys(only)) if only else tuple(CATALOGUE)


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
