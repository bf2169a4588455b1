"""Events of few values or kinds are described by these; JSON keeps the exact form."""

from __future__ import annotations

import numpy as np
import pytest

from audit.auditor.events import Event, Quantiser, Score
from audit.auditor.events.bits import BitScore, EqualityScore
from audit.auditor.events.scores import AdditiveScore, IntervalScore
from audit.auditor.events.trees import TreeScore
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
        # bins that serve every coordinate
        (
            AdditiveScore(np.zeros((1, 1)), np.zeros((1, 2))),
            0.5,
            True,
            "a score learned from all coordinates, which is >= 0.5",
        ),
        (BitScore(0, "divisor", 1.0), -3.0, True, "divisor of output[0] - 1 >= -3"),
    ],
)
def test_events_of_few_values_name_them(score: Score, threshold: float, at_least: bool, said: str):
    assert event_in_words(Event(score, threshold, at_least, "left")) == said


def additive(*spans: float) -> AdditiveScore:
    return AdditiveScore(np.zeros((len(spans), 1)), np.array([[-span / 2, span / 2] for span in spans]))


def trees(*features: int) -> TreeScore:
    """Return stumps, one for each of these coordinates."""
    count = len(features)
    feature, threshold = np.zeros((count, 3), dtype=np.intp), np.full((count, 3), np.inf)
    feature[:, 0], threshold[:, 0] = features, 0.5
    children = np.tile(np.array([1, 1, 2]), (count, 1)), np.tile(np.array([2, 1, 2]), (count, 1))
    return TreeScore(feature, threshold, *children, np.zeros((count, 3)), 1)


@pytest.mark.parametrize(
    ("score", "width", "said"),
    [
        (additive(0.1, 3.0, 0.2, 1.0), 4, "all 4 coordinates (output[1], output[3] and output[2] weigh most)"),
        (additive(0.0, 3.0, 0.0, 1.0), 4, "output[1] and output[3]"),
        (additive(0.0, 3.0, 1.0, 2.0, 4.0), 5, "4 coordinates (output[4], output[1] and output[3] weigh most)"),
        (additive(1.0, 1.0, 1.0, 1.0), 4, "all 4 coordinates"),
        (additive(2.0), 3, "output[0], output[1] and output[2]"),
        (additive(2.0), 10, "all 10 coordinates"),
        (additive(2.0), 1, "output[0]"),
        (trees(2, 1, 2), 3, "output[2] and output[1]"),
        (trees(2, 0, 2, 1, 1, 2, 3), 4, "all 4 coordinates (output[2], output[1] and output[0] weigh most)"),
    ],
)
def test_learned_scores_say_of_which_coordinates_they_are(score, width, said):
    """It said `additive score <= -1.87`."""
    event = Event(score, -1.87, False, "left", Quantiser(np.full(width, 2.0**-16)))
    assert event_in_words(event) == f"a score learned from {said}, which is <= -1.87"
    # exactly, for other programs
    assert (event.to_json()["score"], event.to_json()["threshold"]) == (score.name, -1.87)


def test_names_of_coordinates_are_used():
    assert event_in_words(Event(PAIRS, 1.0, True, "left"), ["age", "sum"]) == "(age, sum) is (0, 1)"
