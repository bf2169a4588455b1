"""``python -m audit report``: what is true in the paper, on one page."""

from __future__ import annotations

import sys
from dataclasses import dataclass

import click

from audit.commands.report.committed import CommittedResults
from audit.commands.report.document import report
from audit.commands.report.exact_grid import PrivacyGrid
from audit.commands.report.page import page
from reference.commands.options import emit, require_writable
from reference.commands.parsing import FileName, option
from reference.commands.parsing import command as make_command
from reference.common.exit_codes import EXIT_FINE
from reference.common.files import json_text


@dataclass(frozen=True, kw_only=True)
class ReportOutput:
    """Output."""

    format: str = option(
        "--format", type=click.Choice(["html", "json"]), default="html", help="a page, or its data (html)"
    )
    out: str | None = option("--out", type=FileName(), metavar="FILE", help="write to a file, whole or not at all")


@make_command("report", ReportOutput, example="python -m audit report --out report.html")
def command(output: ReportOutput) -> int:
    """Show on one page what is true in the paper.

    The page needs no network: the ledger with its counterexamples, claimed and exact privacy, the auditor on
    mechanisms of known loss, the frontier with rivals, the paper's figures redone, and the machine-checked proofs.
    Its numbers are committed results, or computed while the page is made.
    """
    require_writable({}, out=output.out)
    files = CommittedResults()
    document = report(files, PrivacyGrid())
    emit(json_text(document) if output.format == "json" else page(document), output.out)
    for problem in files.problems:
        sys.stderr.write(f"note: {problem}\n")
    return EXIT_FINE
