"""``python -m audit claims``: every claim of the paper, decided by a program."""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence
from dataclasses import dataclass

import click

from audit.claims import findings, paper_map
from audit.claims.ledger import RUN, Row, absent, committed, row_of, run, write
from audit.claims.paper_items import LEMMAS, PRINTED_TABLES, Item, items_called
from audit.claims.registry import SEED, claims
from audit.claims.render import as_html
from audit.commands.claims_text import as_text, explain, explain_several
from audit.commands.options import check_known, require_checkout
from audit.commands.text import columns
from reference.commands.file_names import WrittenFile
from reference.commands.options import emit, out_option
from reference.commands.parsing import command as make_command
from reference.commands.parsing import option
from reference.common.errors import ReadingError
from reference.common.exit_codes import EXIT_FINE, EXIT_UNDECIDED
from reference.common.files import json_text, write_whole
from reference.common.printable import quoted
from reference.common.scheduler import HELP, on_cluster

JOBS = 2
"""Default number of processes."""


@dataclass(frozen=True, kw_only=True)
class ClaimsOptions:
    """Claims."""

    claim: str | None = option(
        "--claim",
        metavar="ID",
        help="a claim with its evidence (T5), or several without (T5.*, 'Lemma 4')",
    )
    jobs: int = option("--jobs", type=click.IntRange(min=1), default=JOBS, metavar="K", help=f"processes ({JOBS})")
    scheduler: str | None = option("--scheduler", metavar="ADDRESS", help=HELP)
    seed: int = option(
        "--seed",
        type=click.IntRange(min=0),
        default=SEED,
        metavar="K",
        help=f"seed of the rows whose evidence is drawn ({SEED})",
    )
    write: bool = option("--write", is_flag=True, help="renew the committed ledger and the pages made from it")
    map: bool = option("--map", is_flag=True, help="print the paper map and decide nothing")


@dataclass(frozen=True, kw_only=True)
class ClaimsOutput:
    """Output."""

    format: str = option("--format", type=click.Choice(["text", "json", "html"]), default="text", help="(text)")
    html: str | None = option(
        "--html", type=WrittenFile(), metavar="FILE", help="also write the ledger as one HTML page"
    )
    out: str | None = out_option()


@make_command("claims", ClaimsOptions, ClaimsOutput, example="python -m audit claims --claim T5")
def command(options: ClaimsOptions, output: ClaimsOutput) -> int:
    """Decide every claim of the paper by a program.

    Runs the checks and compares their verdicts with the registered ones and with the committed ledger. Exits with
    0 when all agree, else with 3.
    """
    _check(options)
    if options.map:
        emit(paper_map.page(), output.out)
        return EXIT_FINE
    chosen = _chosen(options.claim)
    with on_cluster(options.scheduler):
        rows = run(chosen, jobs=options.jobs, seed=options.seed)
    missing = [] if options.claim or options.write else absent(rows)
    if options.write:
        write(rows)
        _renew_pages()
        # judged against the ledger committed now
        rows = [_again(row) for row in rows]
    if output.html:
        emit(as_html(rows), output.html)
    emit(_text(rows, output, options.claim), output.out)
    for problem in missing:
        sys.stderr.write(f"problem: {problem}\n")
    return EXIT_UNDECIDED if missing or any(row.problems for row in rows) else EXIT_FINE


def _check(options: ClaimsOptions) -> None:
    if options.map and options.write:
        raise ReadingError("map", options.map, "left out with --write, which renews the paper map")
    if options.map and not paper_map.PATH.is_file():
        raise click.UsageError("--map needs a checkout: an installed package has no documents")
    if options.write:
        require_checkout("--write")
    if options.write and options.claim:
        raise ReadingError("claim", options.claim, "left out with --write: a ledger is renewed as a whole")
    if options.write and options.seed != SEED:
        raise ReadingError("seed", options.seed, f"{SEED} with --write: committed evidence has one seed")


def _renew_pages() -> None:
    """Write the paper map and the findings, if the documents are there: an installed package has none."""
    if paper_map.PATH.is_file():
        write_whole(paper_map.PATH, paper_map.page())
    if findings.FOLDER.is_dir():
        for name, text in findings.written().items():
            write_whole(findings.FOLDER / name, text)


def _chosen(asked: str | None) -> list[str] | None:
    """Return the ids of a row, of a row with its parts (`T5.*`), or of an item by its number in the paper."""
    if asked is None:
        return None
    stem, rest = asked.casefold().removesuffix(".*"), asked.endswith(".*")
    known = {name: name.casefold() for name in claims()}
    chosen = [name for name, one in known.items() if one == stem or (rest and one.startswith(stem + "."))]
    if items := _items(asked):
        return [name for name in known if any(name in item.claims for item in items)]
    if not chosen and _means_an_item(asked):
        raise click.UsageError(
            f"no claim {quoted(asked)}: the paper has no such item; "
            f"it has '{LEMMAS[0].number}' ... '{PRINTED_TABLES[-1].number}' (docs/paper-map.md)"
        )
    if not chosen:
        check_known("claim", [asked.removesuffix(".*")], known)
    return chosen


def _items(asked: str) -> list[Item]:
    """Return the requested items of the paper; none for a claim's id."""
    stem = asked.casefold().removesuffix(".*")
    return [] if any(name.casefold() == stem for name in claims()) else items_called(asked)


def _means_an_item(asked: str) -> bool:
    """Return whether this looks like an item of the paper: two words, a number, or `Lemma`."""
    words = re.findall(r"[^\W\d_]+", asked)
    return not words or len(asked.split()) > 1 or bool(items_called(words[0]))


def _again(row: Row) -> Row:
    return row if row.status != RUN else row_of(row.claim, row.finding, committed().get(row.claim.id))


def _text(rows: Sequence[Row], output: ClaimsOutput, asked: str | None) -> str:
    if output.format == "json":
        documents = [row.to_json() for row in rows]
        return json_text(documents[0] if asked is not None and len(documents) == 1 else documents)
    if output.format == "html":
        return as_html(rows)
    width = columns(output.out)
    if asked is None:
        return as_text(rows, width)
    items = _items(asked)
    return explain_several(asked, items, rows, width) if items or len(rows) > 1 else explain(rows[0], width)
