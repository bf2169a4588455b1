"""A small domain, and matrices as columns."""

from __future__ import annotations

from typing import Any

from reference.domain import Domain
from reference.domain.attributes import Numeric, OneHot, Ordinal

DOMAIN = Domain(
    (Numeric("age", 0, 100), Ordinal("school", ("none", "some")), OneHot("colour", ("red", "green", "blue"))),
    label="y",
    group="z",
)

TABLE: dict[str, list[Any]] = {
    "age": [1, 2, 3],
    "school": ["none", "some", "none"],
    "colour": ["red", "green", "blue"],
    "y": [0, 1, 0],
    "z": [1, 0, 1],
}


def columns_of(dimension: int) -> list[str]:
    return [f"c{index}" for index in range(dimension)]
