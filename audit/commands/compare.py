"""``python -m audit compare``: another implementation against the reference, on data sets made on the spot."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import click

from audit.commands.conformance import TestedOptions
from audit.commands.options import several
from audit.commands.text import columns, fitted
from audit.vectors.format import COMPARED, text_of
from reference.commands.file_names import WrittenFile
from reference.commands.options import FileOptions, emit, write_file
from reference.commands.parsing import command as make_command
from reference.commands.parsing import option
from reference.common.documents import plain
from reference.common.errors import ReadingError
from reference.common.files import json_text

if TYPE_CHECKING:
    from audit.conformance.differential import Differences


@dataclass(frozen=True, kw_only=True)
class ComparedOptions:
    """Data sets."""

    only: tuple[str, ...] = several(
        "--only", metavar="TYPE[,TYPE...]", help=f"group types: {', '.join(COMPARED)} (all)"
    )
    count: int = option(
        "--count", type=click.IntRange(min=1), default=50, metavar="N", help="data sets of each group type (50)"
    )
    seed: int = option("--seed", type=int, default=0, metavar="K", help="seed of the data sets (0)")


@dataclass(frozen=True, kw_only=True)
class ComparedOutput(FileOptions):
    """Output."""

    save: str | None = option(
        "--save",
        type=WrittenFile(),
        metavar="FILE",
        help="also write the smallest cases, in the form of the vectors",
    )


@make_command(
    "compare",
    TestedOptions,
    ComparedOptions,
    ComparedOutput,
    example='python -m audit compare --program "node port.js"',
)
def command(subject: TestedOptions, made: ComparedOptions, output: ComparedOutput) -> int:
    """Compare another implementation with the reference on new data sets, and show a small one where it is wrong.

    Exit code 0 if every data set that it does not skip is answered correctly, 1 if one is not, 3 if nothing was
    answered, or answers change after a restart.  How to write a harness: audit/vectors/README.md.
    """
    from audit.conformance.differential import compare

    for kind in made.only:
        if kind not in COMPARED:
            raise ReadingError("only", kind, "of " + ", ".join(COMPARED))
    words, exchange = subject.checked()
    kinds = tuple(dict.fromkeys(made.only)) or COMPARED
    found = compare(words, exchange, kinds=kinds, count=made.count, seed=made.seed, timeout=subject.timeout)
    if output.save is not None and found.smallest:
        write_file("save", output.save, text_of(found.candidates()))
    as_json = output.format == "json"
    emit(json_text(_document(found)) if as_json else fitted(list(_lines(found)), columns(output.out)), output.out)
    return found.report.exit_code


def _document(found: Differences) -> dict[str, Any]:
    from audit.conformance.diagnosis import diagnose
    from audit.conformance.outcome import counts

    return {
        "program": found.report.program,
        "verdict": found.report.verdict,
        "counts": counts(found.report.outcomes),
        "set_aside": found.set_aside,
        "smallest": [
            {
                "type": one.kind,
                "status": one.status,
                "said": one.said,
                "answers_as": [bug.flag for bug in diagnose([one])],
                "case": plain(one.case),
            }
            for one in found.smallest
        ],
    }


def _lines(found: Differences) -> Iterator[str]:
    from audit.conformance.diagnosis import diagnose
    from audit.conformance.outcome import counts

    yield f"program: {found.report.program}"
    every = found.report.outcomes
    for kind in dict.fromkeys(one.kind for one in every):
        became = counts(one for one in every if one.kind == kind)
        yield f"{kind}: {', '.join(f'{count} {status}' for status, count in became.items())}"
    if found.set_aside:
        yield f"{found.set_aside} set aside: our own two sources do not agree on them (please report this)"
    yield f"verdict: {found.report.verdict}"
    for one in found.smallest:
        yield ""
        yield f"{one.kind}, {one.status}: {one.said}"
        yield from (f"  {name} = {value}" for name, value in one.case.given.items())
        yield from (f"  it answers as {bug.flag} does: {bug.description}" for bug in diagnose([one]))
        yield f"  bugs that fail here: {', '.join(one.case.flags) or 'none that the vectors know'}"
