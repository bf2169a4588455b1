"""All small data sets that differ in the rows of one person, and how far apart they are: by brute force."""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache
from itertools import combinations, combinations_with_replacement, product
from typing import TypeAlias

import numpy as np

from reference.common.arrays import NumberArray
from reference.domain import Domain
from reference.moments import Moments
from reference.objective import objective
from reference.readings import Readings
from reference.records import check_matrix

Rows: TypeAlias = tuple[tuple[float, int, int], ...]

KINDS = tuple(product((0.0, 1.0), (0, 1), (0, 1)))
"""x, y and z of the records in small data sets."""

DOMAIN = Domain.of_columns(["x"], norm="unit_box")

PERSON = 2
"""Rows per person for which all data sets are tried."""


def coefficients(rows: Rows, readings: Readings) -> NumberArray:
    """Return the coefficients of a data set, exactly."""
    x, y, z = (np.array(column) for column in zip(*rows, strict=True))
    return objective(Moments.of(check_matrix(DOMAIN, x[:, None], y, z), exact=True), readings).values


@lru_cache(maxsize=16)
def largest_change(fairness: str, adjacency: str, records: int) -> Fraction:
    """Return the largest l1 change of data sets of this many records that differ in the rows of one person."""
    readings, largest = Readings(fairness, adjacency=adjacency), Fraction(0)
    persons = list(combinations_with_replacement(KINDS, PERSON))
    for others in combinations_with_replacement(KINDS, records - PERSON):
        sides = [coefficients(others + person, readings) for person in persons]
        # replaced, or added to the others
        pairs = (
            combinations(sides, 2)
            if adjacency == "replace_one"
            else product([coefficients(others, readings)], sides)
        )
        largest = max(largest, *(Fraction(np.abs(one - other).sum()) for one, other in pairs))
    return largest
