"""``python -m audit validity``: how often the auditor is wrong."""

from __future__ import annotations

import json
import sys
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import click

from audit.commands.options import several
from audit.validity.document import (
    DOCUMENT,
    PARTIAL,
    AnotherRunError,
    ValidityPlan,
    begun,
    page,
    renewed,
    settings,
    to_json,
)
from audit.validity.measure import AUDITS, EVERY_KIND, SIZES, BoundErrors, run
from reference.commands.file_names import WrittenFile
from reference.commands.parsing import command as make_command
from reference.commands.parsing import option
from reference.common.errors import ReadingError
from reference.common.exit_codes import EXIT_FINE, EXIT_REFUTED
from reference.common.files import json_text, write_whole


@dataclass(frozen=True, kw_only=True)
class ValidityOptions:
    """Audits."""

    audits: int = option(
        "--audits", type=int, default=AUDITS, metavar="N", help=f"audits in each row ({AUDITS:,})"
    )
    sizes: tuple[int, ...] = several(
        "--sizes",
        of=int,
        default=SIZES,
        metavar="N,N,...",
        help=f"draws of an audit ({','.join(str(size) for size in SIZES)})",
    )
    seed: int = option("--seed", type=click.IntRange(min=0), default=1, metavar="K", help="first seed (1)")
    workers: int = option(
        "--workers",
        type=click.IntRange(min=1),
        default=2,
        metavar="N",
        help="processes; the result does not depend on it (2)",
    )
    only: tuple[str, ...] = several(
        "--only",
        of=str,
        default=EVERY_KIND,
        metavar="KIND,...",
        help=f"renew the rows of some kinds: {', '.join(EVERY_KIND)}",
    )
    out: str | None = option(
        "--out",
        type=WrittenFile(),
        metavar="FILE",
        help=f"JSON, and the page beside it ({DOCUMENT.name}; other runs must name one)",
    )


@make_command(
    "validity",
    ValidityOptions,
    example="python -m audit validity --audits 40 --sizes 1000 --out validity.json",
)
def command(options: ValidityOptions) -> int:
    """Count how often the auditor is wrong.

    Runs thousands of independent audits of mechanisms whose loss is known, and writes the shares of errors, with
    confidence limits, to docs/auditor-validity.json and docs/auditor-validity.md.
    """
    plan = ValidityPlan(audits=options.audits, sizes=options.sizes, seed=options.seed, only=options.only)
    plan.check()
    if options.out is None and not plan.ships:
        raise ReadingError("out", None, f"named for another run than the shipped one: it is not {DOCUMENT.name}")
    if plan.only != EVERY_KIND and options.out is not None and not Path(options.out).is_file():
        raise ReadingError("out", options.out, "a document whose rows of these kinds are renewed")
    if options.out is None and not DOCUMENT.is_file():
        raise click.UsageError("give --out FILE: only a checkout has docs/, where the results go by default")
    target = DOCUMENT if options.out is None else Path(options.out)
    before = None if plan.only == EVERY_KIND else json.loads(target.read_text(encoding="utf-8"))
    rows, spent = _measured(plan, options.workers, target.with_suffix(PARTIAL))
    document = to_json(rows, plan.seed, spent) if before is None else renewed(before, plan, rows, spent)
    write_whole(target, json_text(document))
    write_whole(target.with_suffix(".md"), page(document))
    target.with_suffix(PARTIAL).unlink(missing_ok=True)
    return EXIT_FINE if document["holds"] else EXIT_REFUTED


def _measured(plan: ValidityPlan, workers: int, partial: Path) -> tuple[list[BoundErrors], float]:
    """Run the audits, saving what a resumed run needs until all are done."""
    wanted = settings(plan)
    try:
        done, before = begun(partial, wanted)
    except AnotherRunError:
        sys.stderr.write(f"{partial.name} belongs to another run, and starts again\n")
        done, before = [], 0.0
    start, names = time.monotonic(), plan.tasks
    try:
        for rows in run(plan.audits, names, plan.seed, workers, len(done)):
            done.append(rows)
            _, known, draws = names[len(done) - 1]
            spent = before + time.monotonic() - start
            sys.stderr.write(f"{len(done)} of {len(names)}: {known.name}, {draws:,} draws; {spent:,.0f} s\n")
            write_whole(partial, json_text(_partial(wanted, spent, done)))
    except KeyboardInterrupt:
        raise KeyboardInterrupt("no document is written; the same command resumes from here") from None
    return [row for rows in done for row in rows], before + time.monotonic() - start


def _partial(wanted: dict[str, Any], seconds: float, done: list[list[BoundErrors]]) -> dict[str, Any]:
    tasks_done = [[asdict(row) for row in rows] for rows in done]
    return {"settings": wanted, "seconds": seconds, "tasks": tasks_done}
