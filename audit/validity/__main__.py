"""How often is the auditor wrong?  ``python -m audit.validity``.

Thousands of independent audits of mechanisms whose loss is known (:mod:`audit.validity.measure`).  The shares of
errors, with a confidence statement of their own, go to ``docs/auditor-validity.json`` and
``docs/auditor-validity.md``.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import math
import sys
import time
from collections.abc import Sequence
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any

from audit.certificate import versions
from audit.distinguish import LARGEST_DRAWS, SMALLEST_DRAWS
from audit.validity.measure import (
    AUDITS,
    CONFIDENCE,
    CONTROL,
    FAMILIES,
    LOOKS,
    SIGNIFICANCE,
    SIZES,
    Row,
    run,
    tasks,
)
from reference.errors import ReadingError
from reference.files import json_text, write_whole
from reference.options import EXIT_FINE, EXIT_REFUTED, EXIT_UNDECIDED, run_command

PACKAGE = Path(__file__).parents[2]

DOCUMENT = PACKAGE / "docs" / "auditor-validity.json"

PAGE = """# Is the auditor right as often as it says?

Written by `python -m audit.validity` (`make validity`); do not edit. Every audit is one call of
`audit.distinguish.estimate`, the function behind every other audit: learn, choose, certify, with the events
{families}. The loss of each mechanism is known; a bound above it
is an error, and at significance {significance:g} at most that share of audits may err.

- Audits in each row: {audits}, independent of those of every other mechanism, size and kind of audit. The rows
  of one mechanism at one size are several bounds of the same audits; only `anytime` has audits of its own.
- Largest share of errors of any bound: {largest_share:.4f}.
- Largest share over the mechanisms of one size: {largest_pooled_share:.4f}.
- With confidence {confidence:g}, over all {bounds} rows together (Clopper-Pearson, Bonferroni), no error
  probability is above {largest_upper_bound}.
- Smallest p-value of the hypothesis that a bound errs with probability at most {significance:g}, multiplied by the
  number of rows: {smallest_p_value:.3g}.
- The control is the point estimate of the same counts, without any margin: it must err far too often, and does.

| mechanism | true epsilon | draws | bound | errors | share |
|---|---|---|---|---|---|
{rows}

`auto` is what the command reports by default: the method is chosen on the selection draws. `joint`, `conditional`
and `clopper_pearson` are what the same audits report when that method is named. `anytime` audits look
{looks} times or more, with the truth as their claim, and stop at their first error: the worst rule there is.
`curve` is wrong when any of its bounds, at all its deltas, is. A share far below the significance is what an event
gives that attains less than the true loss, and what whole counts cost rare events; randomised response leaves
least slack.

Seed {seed}; {seconds:,} s.
"""

PARTIAL = ".partial.json"
"""Ending of the file that holds what an interrupted run has measured so far, beside the document."""


def holds(rows: Sequence[Row]) -> bool:
    """Return whether nothing speaks against the promise, and the check sees the control fail.

    Over the mechanisms of one size no kind of bound errs in more than the significance, and in no single row are
    there so many errors that they refute it.
    """
    bounds = [row for row in rows if row.bound != CONTROL]
    control = [row for row in rows if row.bound == CONTROL]
    plausible = len(bounds) * min(row.surprise for row in bounds) >= 1 - CONFIDENCE
    return plausible and largest_pooled_share(bounds) <= SIGNIFICANCE and max(c.share for c in control) > 0.3


def largest_pooled_share(rows: Sequence[Row]) -> float:
    """Return the largest share of errors over the mechanisms of one size, over sizes and kinds of bound."""
    shares = []
    for kind in {(row.draws, row.bound) for row in rows}:
        pooled = [row for row in rows if (row.draws, row.bound) == kind]
        shares.append(sum(row.errors for row in pooled) / sum(row.audits for row in pooled))
    return max(shares)


def to_json(rows: Sequence[Row], seed: int, seconds: float) -> dict[str, Any]:
    """Return the document."""
    bounds = [row for row in rows if row.bound != CONTROL]
    return {
        "significance": SIGNIFICANCE,
        "confidence": CONFIDENCE,
        "holds": holds(rows),
        "largest_share": max(row.share for row in bounds),
        "largest_pooled_share": largest_pooled_share(bounds),
        "largest_upper_bound": max(row.upper_bound(len(bounds)) for row in bounds),
        "smallest_p_value": min(1.0, len(bounds) * min(row.surprise for row in bounds)),
        "seed": seed,
        "seconds": round(seconds),
        "versions": versions(),
        "rows": [{**asdict(row), "share": row.share} for row in rows],
    }


def rows_from(document: dict[str, Any]) -> list[Row]:
    """Return the rows of a document."""
    names = [field.name for field in fields(Row)]
    return [Row(**{name: row[name] for name in names}) for row in document["rows"]]


def page(document: dict[str, Any]) -> str:
    """Return the page of a document."""
    rows = rows_from(document)
    lines = [
        f"| {row.mechanism} | {row.true_epsilon:.4g} | {row.draws:,} | {row.bound} | "
        f"{row.errors:,} of {row.audits:,} | {row.share:.4f} |"
        for row in rows
    ]
    left = {name: value for name, value in document.items() if name not in ("rows", "largest_upper_bound")}
    return PAGE.format(
        **left,
        # an upper bound is rounded up
        largest_upper_bound=f"{math.ceil(document['largest_upper_bound'] * 1e4) / 1e4:.4f}",
        audits=" or ".join(f"{count:,}" for count in sorted({row.audits for row in rows})),
        bounds=sum(row.bound != CONTROL for row in rows),
        rows="\n".join(lines),
        looks=LOOKS,
        families=", ".join(FAMILIES),
    )


def settings(options: argparse.Namespace) -> dict[str, Any]:
    """Return what has to be the same for a run to go on where another was interrupted: options, code, versions."""
    code = hashlib.sha256()
    for folder in ("audit", "reference"):
        for path in sorted((PACKAGE / folder).rglob("*.py")):
            if "gate" not in path.parts:
                code.update(path.read_bytes())
    return {
        "audits": options.audits,
        "sizes": list(options.sizes),
        "seed": options.seed,
        "versions": versions(),
        "code": code.hexdigest(),
    }


def begun(path: Path, wanted: dict[str, Any]) -> tuple[list[list[Row]], float]:
    """Return the rows of each task that an interrupted run with the same settings finished, and its seconds."""
    if not path.exists():
        return [], 0.0
    document = json.loads(path.read_text(encoding="utf-8"))
    if document.pop("settings") != wanted:
        sys.stderr.write(f"{path.name} is of another run, and is begun anew\n")
        return [], 0.0
    return [[Row(**row) for row in task] for task in document["tasks"]], float(document["seconds"])


def parser() -> argparse.ArgumentParser:
    """Return the command line's parser."""
    top = argparse.ArgumentParser(prog="python -m audit.validity", description=__doc__, allow_abbrev=False)
    top.add_argument("--audits", type=int, default=AUDITS, metavar="N", help=f"in each row ({AUDITS:,})")
    top.add_argument(
        "--sizes",
        type=int,
        nargs="+",
        default=list(SIZES),
        metavar="N",
        help="draws (1000 4000 16000)",
    )
    top.add_argument("--seed", type=int, default=1, metavar="K")
    top.add_argument(
        "--workers", type=int, default=2, metavar="N", help="processes; the result does not depend on it"
    )
    top.add_argument(
        "--out",
        metavar="FILE",
        help=f"JSON, and the page beside it ({DOCUMENT.name}; other runs must name one)",
    )
    return top


def command(argv: Sequence[str] | None) -> int:
    """Run the audits; write both files when all are done, and until then only what is needed to go on."""
    options = parser().parse_args(argv)
    for name in ("audits", "workers", "seed"):
        if getattr(options, name) < (0 if name == "seed" else 1):
            raise ReadingError(name, getattr(options, name), "a whole number above 0")
    if any(not SMALLEST_DRAWS <= size <= LARGEST_DRAWS for size in options.sizes):
        raise ReadingError("sizes", options.sizes, f"between {SMALLEST_DRAWS:,} and {LARGEST_DRAWS:,} draws")
    if options.out is None and (options.audits < AUDITS or list(options.sizes) != list(SIZES)):
        raise ReadingError("out", None, f"named for another run than the shipped one: it is not {DOCUMENT.name}")
    target = DOCUMENT if options.out is None else Path(options.out)
    partial = target.with_suffix(PARTIAL)
    wanted = settings(options)
    done, before = begun(partial, wanted)
    start, names = time.monotonic(), tasks(options.sizes)
    try:
        for rows in run(options.audits, options.sizes, options.seed, options.workers, len(done)):
            done.append(rows)
            _, known, draws = names[len(done) - 1]
            spent = before + time.monotonic() - start
            sys.stderr.write(f"{len(done)} of {len(names)}: {known.name}, {draws:,} draws; {spent:,.0f} s\n")
            document = {"settings": wanted, "seconds": spent, "tasks": [[asdict(row) for row in r] for r in done]}
            write_whole(partial, json_text(document))
    except KeyboardInterrupt:
        sys.stderr.write("interrupted: no document is written; the same command goes on from here\n")
        return EXIT_UNDECIDED
    document = to_json([row for rows in done for row in rows], options.seed, before + time.monotonic() - start)
    write_whole(target, json_text(document))
    write_whole(target.with_suffix(".md"), page(document))
    partial.unlink(missing_ok=True)
    return EXIT_FINE if document["holds"] else EXIT_REFUTED


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code."""
    return run_command(command, argv)


if __name__ == "__main__":
    sys.exit(main())
