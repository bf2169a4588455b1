"""Persons with several rows, decided by arithmetic: our own statement, not the paper's."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from typing import Any

from audit.claims.registry import Control, Finding, claim
from audit.exact.persons import PERSON, largest_change
from audit.exact.witnesses import witness
from reference.readings import ADJACENCIES, FAIRNESS
from reference.sensitivity import Setting, exact_l1

NEARLY = Fraction(99, 100)
"""Data sets of 1000 persons come this near to the limit."""


def exceeds(rows_per_person: int, *, fairness: str | None = None) -> bool:
    """Return whether data sets of three records that differ in two are farther apart than this many rows allow."""
    return any(
        largest_change(one, adjacency, 3)
        > exact_l1(Setting(1, one, "unit_box", adjacency, rows_per_person=rows_per_person)).upper
        for one in (FAIRNESS if fairness is None else (fairness,))
        for adjacency in ADJACENCIES
    )


@claim(
    "R.rows",
    "Data sets that differ in K records of one person are at most K times as far apart as those that differ in "
    "one, in the coefficients of every reading, and come as near to that as one likes.",
    "not in the paper: several rows per person",
    readings=(
        "replace_one and add_or_remove_one; no fairness term, absolute, covariance, separate",
        "evidence: all data sets of three records at 0 and 1 that differ in two; persons with three rows, d = 3",
    ),
    symbols=(
        "reference.sensitivity.exact_l1",
        "reference.sensitivity.rows_per_person_of",
        "reference.objective.objective",
    ),
    verdict="argued",
    proof="none",
    null=Control(
        "two rows of one person under the statement for two rows", lambda: exceeds(PERSON, fairness="absolute")
    ),
    broken=Control(
        "two rows of one person under the statement for one row", lambda: exceeds(1, fairness="absolute")
    ),
    why=(
        "K copies of two neighbours are a pair for K rows, with K times the change. A chain of K neighbours is no "
        "longer than that."
    ),
    rerun=("python -m audit sensitivity --dimension 3 --rows-per-person 3",),
)
def several_rows() -> Finding:
    """Try all small data sets, and build large ones that come near the limit."""
    held, evidence = True, dict[str, Any]()
    for fairness, adjacency in product(FAIRNESS, ADJACENCIES):
        stated = exact_l1(Setting(1, fairness, "unit_box", adjacency, rows_per_person=PERSON)).upper
        found = largest_change(fairness, adjacency, 3)
        setting = Setting(3, fairness, "unit_ball", adjacency, rows_per_person=3)
        reached, limit = witness(setting, "l1").value, exact_l1(setting)
        held = held and found <= stated and NEARLY * limit.lower <= reached <= limit.upper
        evidence[f"{fairness}, {adjacency}"] = {
            "largest change of three records that differ in two": str(found),
            "stated for any number of records": str(stated),
            "three rows, d = 3, 3000 records: share of the supremum": f"{float(reached / limit.upper):.4f}",
        }
    return Finding("argued" if held else "refuted", "none", evidence)
