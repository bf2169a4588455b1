"""Somebody who looks for pairs that lose more than a printed number, on domains too large to try every pair.

The search knows the objective's definition and what a domain encodes, and nothing of how a supremum is found: it
climbs from random data sets by changing one attribute, label or group of one record at a time.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np
import pytest

from reference.domain import Domain
from reference.domain.attributes import Numeric, OneHot, Ordinal
from reference.sensitivity import Setting
from reference.sensitivity.declared import Declared, declared_supremum
from tests.declared_rows import coefficient_weights, coefficients

ROWS = 6
"""Of a data set; the last two of a search's rows are those that differ."""


@dataclass(frozen=True)
class Question:
    """A domain with a setting, weights and a norm."""

    where: Declared
    weights: tuple[Fraction, Fraction]
    power: int


def questions() -> list[Question]:
    """Return a question for each reading and adjacency, on domains with every kind of attribute."""
    attributes = (
        Numeric("number", 0, 10),
        Ordinal("three", (0, 1, 2)),
        OneHot("two", (0, 1)),
        OneHot("four", (0, 1, 2, 3)),
        Ordinal("five", (0, 1, 2, 3, 4)),
        OneHot("six", tuple(range(6))),
        OneHot("other two", (0, 1)),
    )
    found = []
    for index, fairness in enumerate(("none", "absolute", "covariance", "separate")):
        for adjacency in ("replace_one", "add_or_remove_one"):
            for norm, kept in (("unit_ball", False), ("unit_box", True)):
                domain = Domain(
                    attributes[: 4 + index], "label", "group", norm=norm, intercept=kept, keep_group=kept
                )
                setting = Setting(domain.dimension, fairness, norm, adjacency, fairness_weight=Fraction(3, 4))
                where = Declared(domain, replace(setting, records=ROWS), (2 * index + 3) % domain.dimension)
                found.append(Question(where, (Fraction(1), Fraction(2, 5)), 1 + (index + kept) % 2))
    return found


class Climb:
    """One search: rows as places of attributes, then the label and the group."""

    def __init__(self, question: Question, seed: int) -> None:
        self.question, self.random = question, np.random.default_rng(seed)
        where = question.where
        self.domain, self.setting = where.domain, where.setting
        self.levels = [
            [k / 8 for k in range(9)] if isinstance(a, Numeric) else list(range(len(a.categories)))
            for a in self.domain.attributes
        ] + [[0, 1], [0, 1]]
        self.weight = coefficient_weights(self.setting, where.s or 0, *question.weights)

    def encoded(self, rows: np.ndarray) -> tuple[np.ndarray, ...]:
        """Return x, y and z."""
        parts = [np.ones((len(rows), 1))] * self.domain.intercept
        for column, attribute in zip(rows.T, self.domain.attributes, strict=False):
            if isinstance(attribute, OneHot):
                parts.append(np.eye(len(attribute.categories))[column.astype(int)])
            else:
                parts.append(
                    column[:, None] / (1 if isinstance(attribute, Numeric) else len(attribute.categories) - 1)
                )
        parts += [rows[:, -1:]] * self.domain.keep_group
        return np.hstack(parts) * self.domain.column_factor, rows[:, -2], rows[:, -1]

    def change(self, rows: np.ndarray) -> float:
        """Return the weighted change between the data sets without the last row and without the one before it."""
        encoded, shared = self.encoded(rows), list(range(ROWS - 1))
        left = [*shared, ROWS - 1] if self.setting.replaces else shared
        sides = [coefficients(self.setting, encoded, np.array([side])) for side in (left, [*shared, ROWS])]
        return float(abs(sides[0] - sides[1])[0] ** self.question.power @ self.weight)

    def best(self, starts: int, moves: int) -> float:
        """Return the largest change found; other records start equal, or not."""
        largest = 0.0
        for start in range(starts):
            rows = np.array([[self.random.choice(levels) for levels in self.levels] for _ in range(ROWS + 1)])
            if start % 2:
                rows[: ROWS - 1] = rows[0]
            value = self.change(rows)
            for _ in range(moves):
                tried, place = rows.copy(), int(self.random.integers(len(self.levels)))
                row = int(self.random.integers(ROWS + 1))
                # the other records move together, or one of them
                which = slice(0, ROWS - 1) if row < ROWS - 1 and self.random.random() < 0.8 else row
                tried[which, place] = self.random.choice(self.levels[place])
                found = self.change(tried)
                if found >= value:
                    rows, value = tried, found
            largest = max(largest, value)
        return largest


@pytest.mark.parametrize("index", range(len(questions())))
def test_no_pair_loses_more_than_is_printed_and_some_lose_nearly_as_much(index: int) -> None:
    question = questions()[index]
    supremum = declared_supremum(question.where, question.power, *question.weights).supremum
    largest = Climb(question, 1000 + index).best(starts=4, moves=300)
    assert supremum.is_exact
    assert 0.8 * float(supremum.lower) <= largest <= float(supremum.upper) * (1 + 1e-12)


def test_the_search_finds_more_than_a_number_that_is_too_small() -> None:
    for index in (1, 2, 3):
        question = questions()[index]
        supremum = declared_supremum(question.where, question.power, *question.weights).supremum
        assert Climb(question, 1000 + index).best(starts=4, moves=300) > 0.99 * float(supremum.upper)
