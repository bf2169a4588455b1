"""``python -m reference ledger``: make a release ledger, and show what it has counted."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import click

from reference.accounting import METHODS
from reference.accounting.ledger_file import LedgerTerms
from reference.accounting.release_ledger import ReleaseLedger
from reference.commands.file_names import FileName
from reference.commands.options import FileOptions, emit
from reference.commands.parsing import argument, option
from reference.commands.parsing import command as make_command
from reference.commands.terminal import page
from reference.common.documents import plain
from reference.common.errors import ReadingError
from reference.common.exit_codes import EXIT_FINE
from reference.common.files import json_text
from reference.common.page import Listing
from reference.common.printable import one_line
from reference.readings import ADJACENCIES


@dataclass(frozen=True, kw_only=True)
class LedgerOptions:
    """What to do."""

    action: str = argument(
        type=click.Choice(["create", "show"]), metavar="create|show", line="make a ledger, or show what it counted"
    )
    file: str = argument(type=FileName(), metavar="FILE", line="the ledger")


@dataclass(frozen=True, kw_only=True)
class TermsOptions:
    """Terms of a new ledger, fixed for its life."""

    data: str | None = option("--data", metavar="NAME", help="the data set that all its releases are about")
    epsilon: str | None = option("--epsilon", metavar="E", help="ceiling: what all releases together may lose")
    delta: str | None = option("--delta", metavar="D", help="ceiling; gdp and zcdp evaluate epsilon there (0)")
    adjacency: str | None = option(
        "--adjacency", type=click.Choice(ADJACENCIES), help="neighbouring relation (replace_one)"
    )
    method: str | None = option("--method", type=click.Choice(METHODS), help="how releases add up (basic)")
    rows_per_person: int | None = option(
        "--rows-per-person", type=click.IntRange(min=1), metavar="K", help="records that one person may have (1)"
    )


@make_command(
    "ledger",
    LedgerOptions,
    TermsOptions,
    FileOptions,
    example="python -m reference ledger create people.jsonl --data people --epsilon 2",
    text="Make a release ledger, which counts fits under a ceiling, or show its releases and what is left.",
)
def command(options: LedgerOptions, terms: TermsOptions, output: FileOptions) -> int:
    """Run ``ledger``."""
    ledger = created(options.file, terms) if options.action == "create" else shown(options.file, terms)
    if output.format == "json":
        emit(json_text(plain(ledger.document())), output.out)
    else:
        emit(page(output.out).text(*ledger.report().splitlines(), *past(ledger)), output.out)
    return EXIT_FINE


def past(ledger: ReleaseLedger) -> Iterator[Listing]:
    """Yield the table of the counted releases."""
    rows = tuple(
        (str(number), one.time, one_line(one.mechanism), str(one.privacy.exact))
        for number, one in enumerate(ledger.releases, start=1)
    )
    if rows:
        yield Listing("releases", ("release", "time (UTC)", "mechanism", "exact privacy"), rows)


def created(file: str, terms: TermsOptions) -> ReleaseLedger:
    """Make a ledger; an existing file is left as it is."""
    for name in ("data", "epsilon"):
        if getattr(terms, name) is None:
            raise ReadingError(name, None, "given: a ledger's terms are fixed when it is made")
    return ReleaseLedger.create(
        file,
        LedgerTerms.stated(
            data=str(terms.data),
            epsilon=str(terms.epsilon),
            delta=terms.delta or "0",
            adjacency=terms.adjacency or "replace_one",
            method=terms.method or "basic",
            rows_per_person=terms.rows_per_person or 1,
        ),
    )


def shown(file: str, terms: TermsOptions) -> ReleaseLedger:
    """Open a ledger; its terms are its own."""
    for name in TermsOptions.__dataclass_fields__:
        if getattr(terms, name) is not None:
            raise ReadingError(name, getattr(terms, name), "left out: the ledger in the file has its own terms")
    return ReleaseLedger.open(file)
