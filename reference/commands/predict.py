"""``python -m reference predict``: apply a release to the records of a file."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from dataclasses import dataclass

from reference.accounting import NOT_PRIVATE
from reference.accounting.release import fitting_domain, load_release
from reference.commands.file_names import FileName
from reference.commands.options import out_option, write_file
from reference.commands.output import output
from reference.commands.parsing import command as make_command
from reference.commands.parsing import option
from reference.commands.predictions import prediction_lines
from reference.common.errors import ReadingError
from reference.common.exit_codes import EXIT_FINE
from reference.datasets.from_file import record_blocks
from reference.datasets.opening import ENDINGS, open_table
from reference.datasets.table import ROWS_READ
from reference.domain.file import DomainFile, load_domain_file
from reference.repaired import Model
from reference.repaired.released import is_repaired, load_repaired


@dataclass(frozen=True, kw_only=True)
class PredictOptions:
    """Files."""

    release: str = option(
        "--release", required=True, type=FileName(), metavar="FILE", help="what `fit --release FILE` wrote"
    )
    data: str = option(
        "--data", required=True, type=FileName(), metavar="FILE", help=f"a file ending in {', '.join(ENDINGS)}"
    )
    domain: str | None = option(
        "--domain", "--domain-file", type=FileName(), metavar="FILE", help="the domain file (the release's own)"
    )
    block_rows: int = option(
        "--block-rows", type=int, default=ROWS_READ, metavar="N", help=f"records read at a time ({ROWS_READ})"
    )
    out: str | None = out_option("--predictions")


@make_command(
    "predict",
    PredictOptions,
    example="python -m reference predict --release release.json --data new.csv --out predictions.csv",
    text=f"Predict for the records of a file. Predictions are {NOT_PRIVATE}.",
)
def command(options: PredictOptions) -> int:
    """Run ``predict``; print nothing unless every record can be read."""
    predictor, declared, names = predictor_of(options)
    records = record_blocks(open_table(options.data), declared, rows=options.block_rows)
    lines = prediction_lines(predictor, records, names=names)
    if options.out is not None:
        write_file("out", options.out, lines)
        return EXIT_FINE
    with tempfile.TemporaryFile("w+", encoding="utf-8") as waiting:
        waiting.writelines(lines)
        waiting.seek(0)
        for line in waiting:
            output().write(line)
    return EXIT_FINE


def predictor_of(options: PredictOptions) -> tuple[tuple[float, ...] | Model, DomainFile, tuple[str, str]]:
    """Return the model, how to encode new records for it, and the names of 0 and 1."""
    given = None if options.domain is None else load_domain_file(options.domain)
    if is_repaired(options.release):
        if given is not None:
            raise ReadingError("domain", options.domain, "left out: this release has its own")
        repaired = load_repaired(options.release)
        declared = for_new_records(repaired.domain.without_marks(), [repaired.domain])
        return repaired.model, declared, names_of([repaired.domain])
    release = load_release(options.release)
    files = [found for found in (given, release.domain) if found]
    assert release.w is not None
    return release.w, for_new_records(fitting_domain(release, given), files), names_of(files)


def names_of(files: Sequence[DomainFile]) -> tuple[str, str]:
    """Return the names of 0 and 1 in the first of these files that declares a label."""
    return next((found.label.names for found in files if found.label), ("0", "1"))


def for_new_records(declared: DomainFile, files: Sequence[DomainFile]) -> DomainFile:
    """Return the domain of new records: label and group are optional where they are not needed."""
    marks = {marker.column for found in files for marker in (found.label, found.group) if marker}
    return declared.with_(ignore=(*declared.ignore, *sorted(marks - declared.what_is_read.keys())))
