"""``python -m reference predict``: apply a release to the records of a file."""

from __future__ import annotations

import argparse
import sys
import tempfile

from reference.datasets.from_file import record_blocks
from reference.datasets.table_file import ENDINGS, ROWS_READ, open_table
from reference.domain_file import load_domain_file
from reference.errors import ReadingError
from reference.evaluation import NOT_PRIVATE
from reference.options import EXIT_FINE, require_writable, write_file
from reference.predictions import fitting_domain, load_release, prediction_lines


def add_parser(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command."""
    parser = commands.add_parser(
        "predict",
        help="predict for the records of a file",
        description=f"Predict for the records of a file. Predictions are {NOT_PRIVATE}.",
        allow_abbrev=False,
    )
    parser.add_argument("--release", required=True, metavar="FILE", help="what `fit --release FILE` wrote")
    parser.add_argument("--data", required=True, metavar="FILE", help=f"a file ending in {', '.join(ENDINGS)}")
    parser.add_argument(
        "--domain", "--domain-file", dest="domain", metavar="FILE", help="the domain file (the release's own)"
    )
    parser.add_argument(
        "--block-rows", type=int, default=ROWS_READ, metavar="N", help=f"records read at a time ({ROWS_READ})"
    )
    parser.add_argument(
        "--out", "--predictions", dest="out", metavar="FILE", help="write to a file, whole or not at all"
    )
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Run ``predict``; nothing is printed unless every record could be read."""
    if options.block_rows < 1:
        raise ReadingError("block_rows", options.block_rows, "at least 1")
    require_writable({"release": options.release, "data": options.data, "domain": options.domain}, out=options.out)
    release, own = load_release(options.release)
    given = None if options.domain is None else load_domain_file(options.domain)
    declared = fitting_domain(release, own, given)
    # a label or a group may be there or not; neither is needed to predict
    marks = {marker.column for found in (own, given) if found for marker in (found.label, found.group) if marker}
    declared = declared.with_(ignore=(*declared.ignore, *sorted(marks)))
    assert release.w is not None
    lines = prediction_lines(release.w, record_blocks(open_table(options.data), declared, rows=options.block_rows))
    if options.out is not None:
        write_file("out", options.out, lines)
        return EXIT_FINE
    with tempfile.TemporaryFile("w+", encoding="utf-8") as waiting:
        waiting.writelines(lines)
        waiting.seek(0)
        for line in waiting:
            sys.stdout.write(line)
    return EXIT_FINE
