"""Every claim of the paper, decided by a program: ``python -m audit.claims``.

The checks run, and their verdicts are compared with the registered ones and with the committed ledger.  Exit code
0 when all agree, 3 otherwise.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from audit.claims.ledger import RUN, Row, absent, committed, row_of, run, write
from audit.claims.registry import SEED, claims
from audit.claims.render import as_html, as_text, explain
from reference.errors import ReadingError
from reference.files import json_text
from reference.options import EXIT_FINE, EXIT_UNDECIDED, emit, run_command, whole_number

JOBS = 2
"""Processes, unless told otherwise."""


def parser() -> argparse.ArgumentParser:
    """Return the command line's parser."""
    top = argparse.ArgumentParser(prog="python -m audit.claims", description=__doc__, allow_abbrev=False)
    top.add_argument("--claim", metavar="ID", help="explain one row in full, or all rows of T5 with T5.*")
    top.add_argument("--format", choices=("text", "json", "html"), default="text")
    top.add_argument("--html", metavar="FILE", help="also write the ledger as one HTML page")
    top.add_argument("--out", metavar="FILE", help="write to a file, whole or not at all")
    top.add_argument("--jobs", type=int, default=JOBS, metavar="K", help=f"processes ({JOBS})")
    top.add_argument(
        "--seed", type=whole_number, default=SEED, metavar="K", help=f"of rows whose evidence is drawn ({SEED})"
    )
    top.add_argument("--write", action="store_true", help="renew the committed ledger")
    return top


def command(argv: Sequence[str] | None) -> int:
    """Run the ledger, or one row."""
    options = parser().parse_args(argv)
    if options.jobs < 1:
        raise ReadingError("jobs", options.jobs, "at least 1")
    if options.write and options.claim:
        raise ReadingError("claim", options.claim, "left out with --write: a ledger is renewed as a whole")
    if options.write and options.seed != SEED:
        raise ReadingError("seed", options.seed, f"{SEED} with --write: committed evidence has one seed")
    rows = run(_chosen(options.claim), jobs=options.jobs, seed=options.seed)
    missing = [] if options.claim or options.write else absent(rows)
    if options.write:
        write(rows)
        # judged against what is committed now
        rows = [_again(row) for row in rows]
    if options.html:
        emit(as_html(rows), options.html)
    emit(_text(rows, options), options.out)
    for problem in missing:
        sys.stderr.write(f"problem: {problem}\n")
    return EXIT_UNDECIDED if missing or any(row.problems for row in rows) else EXIT_FINE


def _chosen(id: str | None) -> list[str] | None:  # noqa: A002
    if id is None:
        return None
    known = claims()
    stem = id.removesuffix(".*")
    chosen = [
        name for name in known if name == id or (stem != id and (name == stem or name.startswith(stem + ".")))
    ]
    if not chosen:
        raise ReadingError("claim", id, "one of " + ", ".join(known))
    return chosen


def _again(row: Row) -> Row:
    return row if row.status != RUN else row_of(row.claim, row.finding, committed().get(row.claim.id))


def _text(rows: Sequence[Row], options: argparse.Namespace) -> str:
    if options.format == "json":
        documents = [row.to_json() for row in rows]
        return json_text(documents[0] if options.claim and len(documents) == 1 else documents)
    if options.format == "html":
        return as_html(rows)
    return "\n".join(explain(row) for row in rows) if options.claim else as_text(rows)


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code."""
    return run_command(command, argv)


if __name__ == "__main__":
    sys.exit(main())
