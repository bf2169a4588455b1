"""Events of few values or kinds are described by these; JSON keeps the exact form."""

from __future__ import annotations

import numpy as np
import pytest

from audit.auditor.events import Event, Quantiser, Score
from audit.auditor.events.bits import BitScore, EqualityScore
from audit.auditor.events.scores import AdditiveScore, IntervalScore
from audit.auditor.events.values import (
    CategoryScore,
    NotFiniteScore,
    OneSidedRowsScore,
    OneSidedScore,
    UnseenScore,
)
from audit.evidence.words import event_in_words

OUTPUTS = np.array([[0.0, 1.0], [1.0, 1.0], [2.0, -0.0], [np.nan, 1.0], [np.inf, 5.0]])

LETTERS = np.arange(5.0)[:, np.newaxis]


def category(*log_ratios: float, other: float = -1.0) -> CategoryScore:
    return CategoryScore((0,), LETTERS[: len(log_ratios)], np.array(log_ratios), other)


PAIRS = CategoryScore((0, 1), np.array([[0.0, 1.0], [1.0, 1.0]]), np.array([2.0, 0.0]), 0.0)


@pytest.mark.parametrize(
    ("score", "of_one", "of_zero", "rows"),
    [
        (NotFiniteScore("any"), "an output is not finite", "an output is finite", [3, 4]),
        (NotFiniteScore("any", 0), "output[0] is not finite", "output[0] is finite", [3, 4]),
        (NotFiniteScore("nan"), "an output contains NaN", "an output contains no NaN", [3]),
        (NotFiniteScore("+inf", 0), "output[0] is +infinity", "output[0] is not +infinity", [4]),
        (IntervalScore(0, 0.5, 2.0), "output[0] in [0.5, 2]", "output[0] not in [0.5, 2]", [1, 2]),
        (BitScore(1, "negative_zero"), "output[1] is -0.0", "output[1] is not -0.0", [2]),
        (EqualityScore(), "two coordinates are equal", "no two coordinates are equal", [1]),
        (
            OneSidedScore(0, np.array([1.0])),
            "output[0] is 1, which one input alone had",
            "output[0] is not 1, which one input alone had",
            [1],
        ),
        (
            OneSidedScore(0, np.array([1.0, 2.0, 7.0, 8.0])),
            "output[0] is one of 4 values that one input alone had",
            "output[0] is not one of 4 values that one input alone had",
            [1, 2],
        ),
        (
            OneSidedRowsScore(np.array([[1.0, 1.0]])),
            "the whole output is (1, 1), which one input alone had",
            "the whole output is not (1, 1), which one input alone had",
            [1],
        ),
        (
            UnseenScore(0, np.array([0.0, 1.0])),
            "output[0] is none of 2 values that were learned",
            "output[0] is one of 2 values that were learned",
            # scores of finite outputs meet 0 in place of others
            [2],
        ),
    ],
)
def test_what_occurs_or_does_not_is_said_in_plain_words(score, of_one, of_zero, rows):
    """The exact form, `score <= 0`, was once described as what it leaves out."""
    grid = Quantiser(np.array([2.0**-16, 2.0**-16]))
    happens, happens_not = Event(score, 1.0, True, "left", grid), Event(score, 0.0, False, "left", grid)
    assert (event_in_words(happens), event_in_words(happens_not)) == (of_one, of_zero)
    if not isinstance(score, BitScore):
        assert np.flatnonzero(happens.occurs(OUTPUTS)).tolist() == rows
        assert np.flatnonzero(~happens_not.occurs(OUTPUTS)).tolist() == rows
    # exactly, for other programs
    assert (happens.to_json()["score"], happens.to_json()["relation"]) == (score.name, ">=")


@pytest.mark.parametrize(
    ("score", "threshold", "at_least", "said"),
    [
        (category(5.0, 0.0, 0.0), 5.0, True, "output[0] is 0"),
        (category(5.0, 0.0, 0.0, other=0.0), 0.0, False, "output[0] is not 0"),
        (category(5.0, 6.0), 5.0, True, "output[0] is 0 or 1"),
        (category(5.0, 6.0, 5.0), 5.0, True, "output[0] is 0, 1 or 2"),
        (category(5.0, 6.0, 5.0, 5.0, 5.0), 5.0, True, "output[0] is 0, 1, 2 or 2 more"),
        (category(5.0, 5.0, other=7.0), 5.0, True, "output[0] is any value"),
        (category(0.0, other=7.0), 7.0, True, "output[0] is not 0"),
        (PAIRS, 1.0, True, "(output[0], output[1]) is (0, 1)"),
        (EqualityScore(), 1.0, True, "two coordinates are equal, bit for bit"),
        (EqualityScore(), 2.0, True, "3 or more coordinates are equal, bit for bit"),
        (OneSidedScore(0, np.array([1.0])), 0.0, True, "any output"),
        # null control: a learned score of many values keeps its name
        (AdditiveScore(np.zeros((1, 1)), np.zeros((1, 2))), 0.5, True, "additive score >= 0.5"),
        (BitScore(0, "divisor", 1.0), -3.0, True, "divisor of output[0] - 1 >= -3"),
    ],
)
def test_events_of_few_values_name_them(score: Score, threshold: float, at_least: bool, said: str):
    assert event_in_words(Event(score, threshold, at_least, "left")) == said


def test_names_of_coordinates_are_used():
    assert event_in_words(Event(PAIRS, 1.0, True, "left"), ["age", "sum"]) == "(age, sum) is (0, 1)"
