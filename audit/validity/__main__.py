"""How often is the auditor wrong?  ``python -m audit.validity``.

Thousands of independent audits of mechanisms whose loss is known (:mod:`audit.validity.measure`).  The shares of
errors, with a confidence statement of their own, go to ``docs/auditor-validity.json`` and
``docs/auditor-validity.md``.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Sequence
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any

from audit.certificate import versions
from audit.validity.measure import AUDITS, CONFIDENCE, CONTROL, CURVE_DELTAS, LOOKS, SIGNIFICANCE, SIZES, Row, run
from reference.files import json_text, write_whole
from reference.options import EXIT_FINE, EXIT_REFUTED, run_command

DOCUMENT = Path(__file__).parents[2] / "docs" / "auditor-validity.json"

PAGE = """# Is the auditor right as often as it says?

Written by `python -m audit.validity` (`make validity`); do not edit. Every audit goes through
`audit.distinguish.estimate`: learn, choose, certify. The loss of each mechanism is known; a bound above it is an
error, and at significance {significance:g} at most that share of audits may err.

- Audits in each row: {audits}.
- Largest share of errors of any bound: {largest_share:.4f}.
- Largest share over the mechanisms of one size: {largest_pooled_share:.4f}.
- With confidence {confidence:g}, over all {bounds} rows together (Clopper-Pearson, Bonferroni), no error
  probability is above {largest_upper_bound:.4f}.
- Smallest p-value of the hypothesis that a bound errs with probability at most {significance:g}, multiplied by the
  number of rows: {smallest_p_value:.3g}.
- The control is the point estimate of the same counts, without any margin: it must err far too often, and does.

| mechanism | true epsilon | draws | bound | errors | share |
|---|---|---|---|---|---|
{rows}

`joint` and `clopper_pearson` are two bounds on the same counts. `anytime` is looked at {looks} times, on the
event {{output >= 1/2}}, and stops at its first error: the worst rule there is. `curve` is wrong when any of its
bounds (at delta {deltas}) is. A share far below the significance is what an event gives that
attains less than the true loss; equal inputs and randomised response leave no such slack.

Seed {seed}; {seconds:,} s.
"""


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
    return PAGE.format(
        **{name: value for name, value in document.items() if name != "rows"},
        audits=" or ".join(f"{count:,}" for count in sorted({row.audits for row in rows})),
        bounds=sum(row.bound != CONTROL for row in rows),
        rows="\n".join(lines),
        looks=LOOKS,
        deltas=", ".join(map(str, CURVE_DELTAS)),
    )


def parser() -> argparse.ArgumentParser:
    """Return the command line's parser."""
    top = argparse.ArgumentParser(prog="python -m audit.validity", description=__doc__)
    top.add_argument("--audits", type=int, default=AUDITS, metavar="N", help=f"in each row ({AUDITS:,})")
    top.add_argument(
        "--sizes", type=int, nargs="+", default=SIZES, metavar="N", help="draws of an audit (1000 4000 16000)"
    )
    top.add_argument("--seed", type=int, default=1, metavar="K")
    top.add_argument(
        "--workers", type=int, default=2, metavar="N", help="processes; the result does not depend on it"
    )
    top.add_argument("--out", default=str(DOCUMENT), metavar="FILE", help="JSON; the page goes beside it")
    return top


def command(argv: Sequence[str] | None) -> int:
    """Run the audits and write both files."""
    options = parser().parse_args(argv)
    start = time.monotonic()
    rows: list[Row] = []
    for more in run(options.audits, options.sizes, options.seed, options.workers):
        rows += more
        # what is there so far is right too, should the rest be interrupted
        document = to_json(rows, options.seed, time.monotonic() - start)
        write_whole(options.out, json_text(document))
        write_whole(Path(options.out).with_suffix(".md"), page(document))
    return EXIT_FINE if document["holds"] else EXIT_REFUTED


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code."""
    return run_command(command, argv)


if __name__ == "__main__":
    sys.exit(main())
