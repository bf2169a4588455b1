"""``python -m audit conformance``: runs another implementation on the vectors, and names its bug."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import click

from audit.commands.options import several
from audit.commands.text import columns, fitted
from audit.conformance.exchange import Exchange
from audit.vectors.mutants import MUTANTS
from reference.commands.file_names import CommandLine, WrittenFile
from reference.commands.options import FileOptions, emit, write_file
from reference.commands.parsing import command as make_command
from reference.commands.parsing import option
from reference.commands.progress import ProgressBar
from reference.common.errors import ReadingError
from reference.common.exit_codes import EXIT_FINE
from reference.common.files import json_text

if TYPE_CHECKING:
    from audit.conformance.report import Report
    from audit.conformance.samples import SampleReport


@dataclass(frozen=True, kw_only=True)
class TestedOptions:
    """What is tested."""

    program: str | None = option(
        "--program",
        type=CommandLine(),
        metavar="CMD",
        help="a program: a case per line in, an answer with its tcId per line out; no shell",
    )
    module: str | None = option(
        "--import", metavar="MODULE", help="a Python module with a function answer(type, inputs) instead"
    )
    exchange: str = option(
        "--exchange", type=click.Choice(["json", "flat"]), default="json", help="form of a line (json)"
    )
    timeout: float = option(
        "--timeout", type=float, default=10.0, metavar="S", help="seconds without an answer (10)"
    )

    def checked(self) -> tuple[list[str], Exchange]:
        """Return the words that start the implementation, and the form of its lines; a module's is JSON."""
        if not self.timeout > 0:
            raise ReadingError("timeout", self.timeout, "positive")
        exchange: Exchange = "json" if self.exchange == "json" or self.module is not None else "flat"
        from audit.conformance.selection import command_of

        return command_of(self.program, self.module), exchange


@dataclass(frozen=True, kw_only=True)
class CaseOptions:
    """Cases."""

    only: tuple[str, ...] = several(
        "--only", metavar="WORD[,WORD...]", help="group types, flags, abilities (double, erfc) or ids (all)"
    )
    samples: int | None = option(
        "--samples",
        type=int,
        metavar="N",
        help="instead of the vectors, ask for N draws of noise and test their distribution",
    )
    significance: float = option(
        "--significance", type=float, default=0.05, metavar="S", help="chance of refuting right noise (0.05)"
    )
    list: bool = option("--list", is_flag=True, help="only list the chosen cases by group type, and the flags")


@dataclass(frozen=True, kw_only=True)
class ReportOptions(FileOptions):
    """Output."""

    junit: str | None = option("--junit", type=WrittenFile(), metavar="FILE", help="also write JUnit XML")
    quiet: bool = option("--quiet", is_flag=True, help="show no progress")


@make_command(
    "conformance",
    TestedOptions,
    CaseOptions,
    ReportOptions,
    example='python -m audit conformance --program "node port.js"',
)
def command(subject: TestedOptions, cases: CaseOptions, output: ReportOptions) -> int:
    """Run another implementation on the vectors, and name its bugs.

    Exit code 0 if every case that it does not skip is answered correctly, 1 if one is not, 2 if the program also
    fails without any case, 3 if nothing was answered, or answers change after a restart.
    How to write a harness: audit/vectors/README.md.
    """
    from audit.conformance.selection import chosen, report_of

    work = chosen(cases.only)
    if cases.list:
        emit(_listing([kind for kind, _ in work], output), output.out)
        return EXIT_FINE
    words, exchange = subject.checked()
    if cases.samples is not None:
        return _sampled(words, exchange, (subject, cases, output))
    with _progress(len(work), quiet=output.quiet) as on_reply:
        report = report_of(words, work, exchange, timeout=subject.timeout, on_reply=on_reply)
    if output.junit is not None:
        write_file("junit", output.junit, report.junit())
    return _written(report, output)


def _sampled(words: list[str], exchange: Exchange, asked: tuple[TestedOptions, CaseOptions, ReportOptions]) -> int:
    """Test the distribution of a program's draws."""
    from audit.conformance.samples import sampled

    subject, cases, output = asked
    if not 0 < cases.significance < 1:
        raise ReadingError("significance", cases.significance, "between 0 and 1")
    if cases.only or output.junit is not None:
        raise ReadingError("samples", cases.samples, "left out where --only or --junit is given")
    draws, limit = cases.samples or 0, subject.timeout
    return _written(sampled(words, draws, exchange, significance=cases.significance, timeout=limit), output)


def _written(report: Report | SampleReport, output: ReportOptions) -> int:
    """Write a report, and return its exit code."""
    document: Any = report.document()
    text = json_text(document) if output.format == "json" else fitted(list(report.lines()), columns(output.out))
    emit(text, output.out)
    return report.exit_code


def _listing(kinds: list[str], output: ReportOptions) -> str:
    from audit.vectors.sources.registry import TYPES

    found = {kind: kinds.count(kind) for kind in TYPES if kind in kinds}
    flags = {flag: mutant.told()[0] for flag, mutant in MUTANTS.items()}
    if output.format == "json":
        return json_text({"cases": found, "flags": flags})
    lines = [*(f"{kind}: {count} cases" for kind, count in found.items()), ""]
    return fitted([*lines, *(f"{flag}: {text}" for flag, text in flags.items())], columns(output.out))


@contextmanager
def _progress(total: int, *, quiet: bool) -> Iterator[Callable[[int], None]]:
    with ProgressBar("cases", total, quiet=quiet) as progress:
        yield lambda done: progress.advance(done - int(progress.n))
