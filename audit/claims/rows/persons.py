"""What we say of persons with several rows, decided by arithmetic: ours, no claim of the paper."""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache
from itertools import combinations, combinations_with_replacement, product
from typing import Any, TypeAlias

import numpy as np

from audit.claims.registry import Control, Finding, claim
from audit.exact.witnesses import witness
from reference.common.arrays import NumberArray
from reference.domain import Domain
from reference.moments import Moments
from reference.objective import objective
from reference.readings import ADJACENCIES, FAIRNESS, Readings
from reference.records import check_matrix
from reference.sensitivity import Setting, exact_l1

Rows: TypeAlias = tuple[tuple[float, int, int], ...]

KINDS = tuple(product((0.0, 1.0), (0, 1), (0, 1)))
"""x, y and z of the records that small data sets are made of."""

DOMAIN = Domain.of_columns(["x"], norm="unit_box")

PERSON = 2
"""Rows per person where all data sets are tried."""

NEARLY = Fraction(99, 100)
"""Data sets of 1000 persons come so near to the limit."""


def coefficients(rows: Rows, readings: Readings) -> NumberArray:
    """Return the coefficients of a data set, exactly."""
    x, y, z = (np.array(column) for column in zip(*rows, strict=True))
    return objective(Moments.of(check_matrix(DOMAIN, x[:, None], y, z), exact=True), readings).values


@lru_cache(maxsize=16)
def largest_change(fairness: str, adjacency: str, records: int) -> Fraction:
    """Return the largest l1 change of data sets of so many records that differ in the rows of one person."""
    readings, largest = Readings(fairness, adjacency=adjacency), Fraction(0)
    persons = list(combinations_with_replacement(KINDS, PERSON))
    for others in combinations_with_replacement(KINDS, records - PERSON):
        sides = [coefficients(others + person, readings) for person in persons]
        # replaced, or added to the others alone
        pairs = (
            combinations(sides, 2)
            if adjacency == "replace_one"
            else product([coefficients(others, readings)], sides)
        )
        largest = max(largest, *(Fraction(np.abs(one - other).sum()) for one, other in pairs))
    return largest


def exceeds(rows_per_person: int, *, fairness: str | None = None) -> bool:
    """Tell whether data sets of three records that differ in two are farther apart than so many rows may be."""
    return any(
        largest_change(one, adjacency, 3)
        > exact_l1(Setting(1, one, "unit_box", adjacency, rows_per_person=rows_per_person)).upper
        for one in (FAIRNESS if fairness is None else (fairness,))
        for adjacency in ADJACENCIES
    )


@claim(
    "R.rows",
    "data sets that differ in K records of one person are at most K times as far apart as those that differ in "
    "one, in the coefficients of every reading, and come as near to that as one likes",
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
    null=Control("two rows under the statement for two", lambda: exceeds(PERSON, fairness="absolute")),
    broken=Control("two rows under the statement for one", lambda: exceeds(1, fairness="absolute")),
    why="K copies of two neighbours are a pair for K rows, with K times the change; a chain of K is no longer",
    rerun=("python -m audit sensitivity --dimension 3 --rows-per-person 3",),
)
def several_rows() -> Finding:
    """Try all small data sets, and build large ones that come near."""
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
