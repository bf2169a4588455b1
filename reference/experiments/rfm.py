"""From which n and epsilon on Algorithm 2 equals No-Privacy: ``python -m reference experiments rfm``.

"For epsilon > 0.1" depends on the domain, the number of records and the meaning of "the same"; the output
states all three.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from joblib import delayed
from threadpoolctl import threadpool_limits

from reference.budgets import Budget
from reference.common.documents import plain
from reference.common.errors import ReadingError
from reference.common.page import Listing, Page
from reference.common.workers import parallel
from reference.datasets import Encoding
from reference.experiments.outputs import SEEDED, said_missing
from reference.experiments.splits import PreparedSplit, SplitSpec, prepare, whole
from reference.experiments.study import RunSpec, trained
from reference.experiments.watch import NOBODY, Watch, in_turn
from reference.fairness import Tally
from reference.mechanisms import PLAIN
from reference.readings import Readings

TOLERANCE = 0.01
"""Difference of the two accuracies on one split up to which a run counts as the same: one record in a hundred."""

SHARE = 0.9
"""The mechanisms count as equal where at least this share of runs is the same."""

CONFIDENCE = 0.95
"""Level of each Clopper-Pearson interval."""

EQUAL, DIFFERENT, OPEN = "equal", "different", "open"

EPSILONS = ("0.101", "0.125", "0.2", "0.316228", "1", "3.16228", "10")
"""The claim covers every epsilon above 0.1; the figure's next one is 10^-0.5."""

NORMS = ("unit_ball", "unit_box")

SIZES = (1_000, 3_000, 10_000, 30_000, 100_000, 300_000)
"""Numbers of records, held-out ones included; those above the table's are left out, and the table's is added."""

SPLITS = 50

ORDINAL = Encoding()


@dataclass(frozen=True)
class PairDesign:
    """The records of a run, how often they are split, and the readings.

    Parameters
    ----------
    data : str
    encoding : Encoding
        Its norm is replaced by each of `norms`.
    readings : Readings
    norms : tuple of str
    sizes : tuple of (int or None)
        Records drawn at random for each split; None takes all.
    epsilons : tuple of str
    delta : str
    splits, seed, test_share
        As for the figures.
    missing : str, optional
        The requested data set, if it is not there.
    """

    data: str
    encoding: Encoding = ORDINAL
    readings: Readings = PLAIN
    norms: tuple[str, ...] = NORMS
    sizes: tuple[int | None, ...] = (*SIZES, None)
    epsilons: tuple[str, ...] = EPSILONS
    delta: str = "1e-3"
    splits: int = SPLITS
    seed: int = 0
    test_share: float = 0.2
    missing: str | None = None

    def places(self) -> list[tuple[str, int | None]]:
        """Return norm and size of every row; sizes that the table does not have are left out."""
        n = len(whole(self.data, self.encoding))
        return [(norm, size) for norm in self.norms for size in self.sizes if size is None or size < n]


@dataclass(frozen=True)
class Pair:
    """The relaxed mechanism beside No-Privacy on one split.

    Parameters
    ----------
    accuracy : float
        Its accuracy minus No-Privacy's.
    w : float
        |w - w0| / |w0|, w0 of No-Privacy.
    """

    accuracy: float
    w: float


def pair(split: PreparedSplit, on: SplitSpec, readings: Readings, epsilon: str, delta: str) -> Pair | None:
    """Train both on one split; None where one of them has no minimum."""
    _, exact = trained(RunSpec(on, "no_privacy", None, readings), split)
    _, noisy = trained(RunSpec(on, "relaxed_functional", Budget(epsilon, delta), readings), split)
    if exact.w is None or noisy.w is None:
        return None
    w, w_0 = np.array(noisy.w), np.array(exact.w)
    accuracies = [Tally.of(one, split.test).metrics().accuracy for one in (w, w_0)]
    return Pair(accuracies[0] - accuracies[1], float(np.linalg.norm(w - w_0) / np.linalg.norm(w_0)))


def on_one_split(design: PairDesign, norm: str, size: int | None, number: int) -> list[Pair | None]:
    """Return the pairs of one split, epsilon by epsilon."""
    encoding = replace(design.encoding, norm=norm)
    on = SplitSpec(design.data, encoding, size, design.test_share, number, design.seed)
    with threadpool_limits(limits=1):
        split = prepare(on)
        return [pair(split, on, design.readings, epsilon, design.delta) for epsilon in design.epsilons]


def measure(design: PairDesign, *, jobs: int = 1, watch: Watch = NOBODY) -> dict[str, Any]:
    """Run the design in `jobs` processes, which do not affect the numbers, and return the document."""
    if jobs < 1:
        raise ReadingError("jobs", jobs, "at least 1")
    places = design.places()
    work = [(norm, size, number) for norm, size in places for number in range(design.splits)]
    found: dict[tuple[str, int | None], list[list[Pair | None]]] = {}
    watch.expect(len(work))
    pool = parallel(jobs, return_as="generator")
    results: Iterable[list[Pair | None]] = in_turn(pool(delayed(on_one_split)(design, *one) for one in work))
    for (norm, size, _), one in zip(work, results, strict=True):
        found.setdefault((norm, size), []).append(one)
        watch.released("rfm")
    n = len(whole(design.data, design.encoding))
    return {
        "schema": "experiment_rfm_v1",
        "data": design.data,
        "missing_data": design.missing,
        "note": SEEDED,
        "seed": design.seed,
        "splits": design.splits,
        "test_share": design.test_share,
        "delta": design.delta,
        "tolerance": TOLERANCE,
        "share": SHARE,
        "confidence": CONFIDENCE,
        "covers": "noise and splits on this table, each interval by itself; not the sampling of people",
        "readings": plain(design.readings),
        "rows": [_row(design, norm, n if size is None else size, found[norm, size]) for norm, size in places],
    }


def _row(design: PairDesign, norm: str, size: int, runs: Sequence[Sequence[Pair | None]]) -> dict[str, Any]:
    cells = [
        {"epsilon": epsilon, **cell([run[place] for run in runs])} for place, epsilon in enumerate(design.epsilons)
    ]
    return {
        "domain": norm,
        "records": size,
        "trained_on": size - round(size * design.test_share),
        "cells": cells,
        "equal_from": equal_from(cells),
    }


def cell(pairs: Sequence[Pair | None]) -> dict[str, Any]:
    """Return the share of runs that are the same, its Clopper-Pearson interval, and the word that follows.

    A run without a minimum is not the same.
    """
    from scipy.stats import binomtest

    known = [one for one in pairs if one is not None]
    same = sum(abs(one.accuracy) <= TOLERANCE for one in known)
    interval = binomtest(same, len(pairs)).proportion_ci(confidence_level=CONFIDENCE, method="exact")
    return {
        "same": same,
        "runs": len(pairs),
        "interval": [float(interval.low), float(interval.high)],
        "word": EQUAL if interval.low >= SHARE else DIFFERENT if interval.high < SHARE else OPEN,
        "mean_difference": float(np.mean([one.accuracy for one in known])) if known else None,
        "median_distance_of_w": float(np.median([one.w for one in known])) if known else None,
    }


def equal_from(cells: Sequence[dict[str, Any]]) -> str | None:
    """Return the smallest epsilon of the grid from which on every cell is equal; None if the last is not."""
    found = None
    for one in reversed(cells):
        if one["word"] != EQUAL:
            break
        found = str(one["epsilon"])
    return found


def as_text(document: dict[str, Any], page: Page) -> str:
    """Return the table: same runs of all, mean difference of accuracy, median distance of w."""
    return page.text(*_parts(document))


def _parts(document: dict[str, Any]) -> Iterator[Listing | str]:
    yield from said_missing(document)
    yield Listing(
        f"{document['data']}: relaxed functional mechanism beside No-Privacy, by epsilon",
        ("domain", "records", "equal from", *(one["epsilon"] for one in document["rows"][0]["cells"])),
        tuple(
            (
                row["domain"],
                f"{row['records']:,}",
                row["equal_from"] or "never",
                *(cell_text(one) for one in row["cells"]),
            )
            for row in document["rows"]
        ),
    )
    yield (
        f"Runs within {document['tolerance']} of No-Privacy's accuracy, of all; mean difference; median "
        f"|w - w0|/|w0|.  equal: at least {document['share']:.0%} of runs, by a Clopper-Pearson interval of "
        f"confidence {document['confidence']}; different: fewer; open: neither is shown.  The intervals cover "
        f"{document['covers']}.  {document['note']}."
    )


def cell_text(one: dict[str, Any]) -> str:
    """Return one cell as text."""
    if one["mean_difference"] is None:
        return f"{one['word']}: no minimum"
    w = one["median_distance_of_w"]
    return f"{one['word']}: {one['same']}/{one['runs']}; {one['mean_difference']:+.3f}; {w:.2g}"
