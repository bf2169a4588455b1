from __future__ import annotations

import statistics

import pytest

from reference.common.repeated import mean_and_deviation


def test_mean_and_deviation_are_those_of_a_sample():
    values = [0.25, 0.5, 1.5]
    found = mean_and_deviation(values)
    assert found["mean"] == pytest.approx(statistics.mean(values))
    assert found["std"] == pytest.approx(statistics.stdev(values))


def test_unknown_values_are_left_out():
    assert mean_and_deviation([1.0, None, 3.0]) == mean_and_deviation([1.0, 3.0])


@pytest.mark.parametrize(
    ("values", "expected"), [([], {"mean": None, "std": None}), ([2.0], {"mean": 2.0, "std": None})]
)
def test_too_few_values_have_no_deviation(values, expected):
    assert mean_and_deviation(values) == expected
