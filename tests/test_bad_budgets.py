"""Bad epsilons, deltas and choices of a mechanism are errors of their own, found before any noise is drawn."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from reference.budgets import Budget, SplitBudget, large_epsilon
from reference.common.errors import (
    DeltaError,
    EmptyDataError,
    EpsilonError,
    UnknownAttributeError,
)
from reference.mechanisms import adfc, functional, pdfc, relaxed_functional
from reference.moments import Moments
from reference.noise import draws
from reference.records import encode_table
from tests.small_tables import DOMAIN, TABLE

# its claim is false in few dimensions; that it then warns is tested in test_pflr.py
pytestmark = pytest.mark.filterwarnings("ignore:pflr.*false")

BAD_EPSILONS: list[Any] = [
    0, 0.0, -1, "-1", "0", math.nan, math.inf, -math.inf, "nan", "inf", "one", "", True, False, None, 1j, [1],
    np.float64("nan"), "1e400", "1e-400", "1e999999999",
]  # fmt: skip

BAD_DELTAS: list[Any] = [
    1, 1.0, "1", 1.5, -1e-300, "-1e-400", math.nan, math.inf, "nan", "tiny", "", True, None, 1j, "1e-999999999",
]  # fmt: skip


@pytest.mark.parametrize("bad", BAD_EPSILONS)
@pytest.mark.parametrize(
    ("name", "make"),
    [
        ("epsilon", Budget),
        ("epsilon_s", lambda bad: SplitBudget(bad, 1)),
        ("epsilon_n", lambda bad: SplitBudget(1, bad)),
        ("epsilon", SplitBudget.equal),
        ("epsilon", lambda bad: SplitBudget.from_ratio(bad, 1, 3)),
        ("epsilon_ratio", lambda bad: SplitBudget.from_ratio(1, bad, 3)),
    ],
)
def test_bad_epsilon_is_an_epsilon_error(name: str, make: Callable[[Any], object], bad: Any) -> None:
    with pytest.raises(EpsilonError) as caught:
        make(bad)
    assert caught.value.name == name
    assert caught.value.value is bad


@pytest.mark.parametrize("bad", BAD_DELTAS)
@pytest.mark.parametrize(
    ("name", "make"),
    [
        ("delta", lambda bad: Budget(1, bad)),
        ("delta_s", lambda bad: SplitBudget(1, 1, bad, 0)),
        ("delta_n", lambda bad: SplitBudget(1, 1, 0, bad)),
        ("delta", lambda bad: SplitBudget.equal(1, bad)),
        ("delta", lambda bad: SplitBudget.from_ratio(1, 1, 3, bad)),
    ],
)
def test_bad_delta_is_a_delta_error(name: str, make: Callable[[Any], object], bad: Any) -> None:
    with pytest.raises(DeltaError) as caught:
        make(bad)
    assert caught.value.name == name
    assert caught.value.value is bad


# sqrt(2/pi) = 0.797884560802865...
GOOD_MOMENTS = Moments.of(encode_table(DOMAIN, TABLE))


@pytest.mark.parametrize("delta", ["0", "0.79788456080286536", "0.9"])
def test_delta_outside_the_extended_range_is_a_delta_error(delta: str) -> None:
    with pytest.raises(DeltaError, match="sqrt"):
        relaxed_functional(GOOD_MOMENTS, Budget(1, delta), rng=0)
    with pytest.raises(DeltaError, match="sqrt") as caught:
        adfc(GOOD_MOMENTS, SplitBudget(1, 1, "1e-3", delta), rng=0)
    assert caught.value.name == "delta_n"


def test_delta_at_the_end_of_the_extended_range_is_accepted() -> None:
    assert relaxed_functional(GOOD_MOMENTS, Budget(1, "0.79788456080286535"), rng=0).status == "ok"


def test_delta_of_a_pure_mechanism_is_a_delta_error() -> None:
    with pytest.raises(DeltaError, match="purely private"):
        functional(GOOD_MOMENTS, Budget(1, "1e-400"), rng=0)
    with pytest.raises(DeltaError, match="purely private"):
        pdfc(GOOD_MOMENTS, SplitBudget(1, 1, 0, "1e-400"), rng=0)


@pytest.mark.parametrize("bad", ["nope", "y", 5, -1])
def test_unknown_x_s_is_rejected_by_name(bad: str | int) -> None:
    for mechanism, delta in ((pdfc, 0), (adfc, "1e-3")):
        with pytest.raises(UnknownAttributeError) as caught:
            mechanism(GOOD_MOMENTS, SplitBudget.equal(1, delta), x_s=bad, rng=0)
        assert (caught.value.name, caught.value.value) == ("x_s", bad)


def test_bad_input_is_found_before_any_noise_is_drawn(monkeypatch: pytest.MonkeyPatch) -> None:
    def unexpected(*_arguments: object) -> None:
        raise AssertionError("noise was drawn")

    monkeypatch.setattr(draws, "draw", unexpected)
    with pytest.raises(DeltaError):
        adfc(GOOD_MOMENTS, SplitBudget(1, 1, "1e-3", 0), rng=0)
    with pytest.raises(UnknownAttributeError):
        pdfc(GOOD_MOMENTS, SplitBudget.equal(1), x_s="nope", rng=0)
    with pytest.raises(AssertionError, match="noise was drawn"):
        pdfc(GOOD_MOMENTS, SplitBudget.equal(1), rng=0)


def test_mechanism_of_no_records_is_empty_data() -> None:
    with pytest.raises(EmptyDataError):
        functional(Moments.zero(DOMAIN), Budget(1), rng=0)


@pytest.mark.parametrize("parts", [(101, 1), (1, 101), (1, 1)])
def test_either_part_of_a_budget_may_be_large(parts):
    assert (large_epsilon(SplitBudget(*parts)) is not None) == (101 in parts)
