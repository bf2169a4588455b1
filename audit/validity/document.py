"""The results of auditing the auditor: a JSON document, its page, and the state for resuming a run."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

from audit.auditor.distinguish import LARGEST_DRAWS, SMALLEST_DRAWS
from audit.auditor.events import QUICK
from audit.evidence.certificate import versions
from audit.validity.known import CONTROL, PER_CALL, SIGNIFICANCE
from audit.validity.measure import AUDITS, CONFIDENCE, EVERY_KIND, LOOKS, SIZES, BoundErrors, Task, tasks
from reference.common.errors import ReadingError

PACKAGE = Path(__file__).parents[2]

DOCUMENT = PACKAGE / "docs" / "auditor-validity.json"

WHAT = {
    "auto": "the default, which chooses the method on the selection draws",
    "joint": "the same audits, with this method",
    "clopper_pearson": "likewise",
    "conditional": "likewise",
    "curve": "errs when any of its bounds does, at any delta",
    "anytime": f"looks {LOOKS} times or more and stops at its first error, the worst rule",
    "calls": f"assumes only that calls of {PER_CALL} outputs are independent",
    "stages": "looks and stops likewise, and chooses an event again in each stage",
    "row sets": "events of whole rows",
    "two events": "a sturdy event beside the chosen one, and the one that shows more is reported",
    "not finite": "which coordinate is NaN or infinite",
    "directions": "how far a weighted sum of coordinates is from a centre",
    "residues": "numbers that are multiples of .05",
    "places": "numbers of which most are multiples of 1/64, or at two places in each cell of the grid",
    "own ratio": "the subject's own likelihood ratio, asked on outputs of both inputs together",
    "sums": "values that a sum of two coordinates has often",
    "ties": "how many coordinates are equal",
    "codes": "values that come again on one input alone, beside noise",
    "arrays": "two arrays of outputs",
    "band": "the trade-off curve of two arrays of scores",
    "flips": "one run with canaries",
    "runs": "one run with canaries, the bound of 2023",
    "mu": "one run with canaries and Gaussian noise",
    CONTROL: "the same counts without a margin: it must err far too often, and does",
}
"""What each bound is, in the order of the page."""

PAGE = """# Is the auditor right as often as it says?

The auditor may err in at most a share {significance:g} of its audits. `cfm audit validity` (`make validity`)
audits mechanisms whose loss is known, {audits} times each, and counts the bounds above that loss. It writes this
page and [every row of it](auditor-validity.json).

- The largest share of errors in a row is {largest_share:.4f}; over all mechanisms of one bound and size it is
  {largest_pooled_share:.4f}.
- With confidence {confidence:g} no error probability is above {largest_upper_bound}, over all {bounds} rows
  together (Clopper-Pearson, Bonferroni).
- The smallest p-value of a row, times their number, is {smallest_p_value:.3g}.

The largest share of each bound, over its mechanisms and {sizes} draws (or canaries):

{table}
{extended}
Events: {families}. Seed {seed}; {seconds:,} s. `--only` renews some kinds, and leaves the rest as
an earlier run measured it.
"""


def holds(rows: Sequence[BoundErrors]) -> bool:
    """Return whether the rows do not contradict the promise, and the control fails as it must.

    Over the mechanisms of one size no kind of bound errs more often than the significance, and no single row has
    so many errors that they refute it.
    """
    bounds = [row for row in rows if row.bound != CONTROL]
    control = [row for row in rows if row.bound == CONTROL]
    plausible = len(bounds) * min(row.surprise for row in bounds) >= 1 - CONFIDENCE
    return plausible and largest_pooled_share(bounds) <= SIGNIFICANCE and max(c.share for c in control) > 0.3


def largest_pooled_share(rows: Sequence[BoundErrors]) -> float:
    """Return the largest share of errors of one kind of bound at one size, over all mechanisms together."""
    shares = []
    for kind in {(row.draws, row.bound) for row in rows}:
        pooled = [row for row in rows if (row.draws, row.bound) == kind]
        shares.append(sum(row.errors for row in pooled) / sum(row.audits for row in pooled))
    return max(shares)


def to_json(
    rows: Sequence[BoundErrors], seed: int, seconds: float, extended: Sequence[BoundErrors] = ()
) -> dict[str, Any]:
    """Return the document; `extended` are rows as they were before more audits of them were made."""
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
        "extended": [{**asdict(row), "share": row.share} for row in extended],
        "rows": [{**asdict(row), "share": row.share} for row in rows],
    }


def rows_from(document: dict[str, Any], part: str = "rows") -> list[BoundErrors]:
    """Return the rows of a document, or those that were extended later as they were before."""
    names = [field.name for field in fields(BoundErrors)]
    return [BoundErrors(**{name: row[name] for name in names}) for row in document[part]]


def _extended(document: dict[str, Any]) -> str:
    """Return a line for each row that was extended after a first look at it."""
    now = {_place(row): row.audits for row in rows_from(document)}
    lines = [
        f"The first {first.audits:,} audits of {first.bound} had a share of {first.share:.3f}, and so were "
        f"extended to {now[_place(first)]:,}.\n"
        for first in rows_from(document, "extended")
    ]
    return "\n" * bool(lines) + "\n".join(lines)


def _place(row: BoundErrors) -> tuple[str, int, str]:
    """Return what tells a row from all others."""
    return row.mechanism, row.draws, row.bound


def _table(rows: Sequence[BoundErrors]) -> str:
    """Return a row for each bound: what it is, and the mechanism on which it errs most."""
    lines = [["bound", "what", "share", "on"], ["---"] * 4]
    for bound, what in WHAT.items():
        of_bound = [row for row in rows if row.bound == bound]
        cells = ["not measured", ""]
        if of_bound:
            worst = max(of_bound, key=lambda row: row.share)
            cells = [f"{worst.share:.4f}", worst.mechanism]
        lines.append([bound, what, *cells])
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def page(document: dict[str, Any]) -> str:
    """Return the page of a document."""
    rows = rows_from(document)
    left = {
        name: value for name, value in document.items() if name not in ("rows", "extended", "largest_upper_bound")
    }
    return PAGE.format(
        **left,
        # an upper bound is rounded up
        largest_upper_bound=f"{math.ceil(document['largest_upper_bound'] * 1e4) / 1e4:.4f}",
        audits=" or ".join(f"{count:,}" for count in sorted({row.audits for row in rows})),
        bounds=sum(row.bound != CONTROL for row in rows),
        sizes=", ".join(f"{draws:,}" for draws in sorted({row.draws for row in rows})),
        table=_table(rows),
        families=", ".join(QUICK),
        extended=_extended(document),
    )


def renewed(
    document: dict[str, Any], plan: ValidityPlan, rows: Sequence[BoundErrors], spent: float
) -> dict[str, Any]:
    """Return a document with its rows of some kinds replaced.

    Raises
    ------
    reference.common.errors.ReadingError
        When the document is of another seed.
    """
    if document["seed"] != plan.seed:
        raise ReadingError("seed", plan.seed, f"{document['seed']}, as the rows that stay")
    again = {_place(row) for row in rows}
    stay, extended = (
        [row for row in rows_from(document, part) if _place(row) not in again] for part in ("rows", "extended")
    )
    return to_json([*stay, *rows], plan.seed, document["seconds"] + spent, extended)


PARTIAL = ".partial.json"
"""Ending of the file, beside the document, with what an interrupted run has measured so far."""


@dataclass(frozen=True, kw_only=True)
class ValidityPlan:
    """The audits of a run.

    Parameters
    ----------
    audits : int
        In each row.
    sizes : tuple of int
        Draws of an audit.
    seed : int
    only : tuple of str
        Kinds of audits.
    """

    audits: int = AUDITS
    sizes: tuple[int, ...] = SIZES
    seed: int = 1
    only: tuple[str, ...] = EVERY_KIND

    @property
    def tasks(self) -> list[Task]:
        """What is measured, in order."""
        return tasks(self.sizes, self.only)

    @property
    def ships(self) -> bool:
        """Whether the run is large enough for the shipped document."""
        return self.audits >= AUDITS and self.sizes == SIZES

    def check(self) -> None:
        """Raise on audits that cannot be made."""
        if self.audits < 1:
            raise ReadingError("audits", self.audits, "a whole number above 0")
        if not self.only or not set(self.only) <= set(EVERY_KIND):
            raise ReadingError("only", list(self.only), f"some of {', '.join(EVERY_KIND)}")
        if any(not SMALLEST_DRAWS <= size <= LARGEST_DRAWS for size in self.sizes):
            raise ReadingError(
                "sizes", list(self.sizes), f"between {SMALLEST_DRAWS:,} and {LARGEST_DRAWS:,} draws"
            )


def settings(plan: ValidityPlan) -> dict[str, Any]:
    """Return what must agree to resume an interrupted run: plan, code, versions."""
    code = hashlib.sha256()
    for folder in ("audit", "reference"):
        for path in sorted((PACKAGE / folder).rglob("*.py")):
            if "gate" not in path.parts:
                code.update(path.read_bytes())
    return {
        "audits": plan.audits,
        "sizes": list(plan.sizes),
        "seed": plan.seed,
        "only": list(plan.only),
        "versions": versions(),
        "code": code.hexdigest(),
    }


class AnotherRunError(Exception):
    """The interrupted run had other settings."""


def begun(path: Path, wanted: dict[str, Any]) -> tuple[list[list[BoundErrors]], float]:
    """Return the rows of each task that an interrupted run with the same settings finished, and its seconds.

    Raises
    ------
    AnotherRunError
    """
    if not path.exists():
        return [], 0.0
    document = json.loads(path.read_text(encoding="utf-8"))
    if document.pop("settings") != wanted:
        raise AnotherRunError(path.name)
    return [[BoundErrors(**row) for row in task] for task in document["tasks"]], float(document["seconds"])
