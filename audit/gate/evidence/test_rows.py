"""Rows of given arrays: orders that show dependence are refused, and those of independent draws are not."""

from __future__ import annotations

import numpy as np
import pytest

from audit import epsilon_lower_bound, trade_off
from audit.evidence import lags, rows
from audit.evidence.rows import Rows, check_apart

NUMBER = 2_000


def drawn(seed, *shape):
    return np.random.default_rng(seed).laplace(size=shape or NUMBER)


SIGNS = np.array([1, -1, -1, 1, -1, 1, 1, -1])


def walked(noise, kept):
    """Return an autoregression."""
    found = noise.copy()
    for place in range(1, len(found)):
        found[place] += kept * found[place - 1]
    return found


INDEPENDENT = {
    "laplace": drawn(1),
    "three columns": drawn(2, NUMBER, 3),
    "many columns": drawn(3, 600, 300),
    "binary": drawn(4) > 1,
    "rare": drawn(5) > 7,
    "constant": np.zeros(NUMBER),
    "whole numbers": np.round(drawn(6)),
    "rounded": np.round(drawn(7), 2),
    "Cauchy": np.random.default_rng(8).standard_cauchy(NUMBER),
    "some not finite": np.where(drawn(9) > 2, np.nan, np.where(drawn(9) < -2, np.inf, drawn(9))),
    "as few as may be": drawn(10, 500),
    "hardly any": drawn(11, 3),
    "rare flags": (drawn(12, NUMBER, 40) > 4).astype(float),
    "equal columns": np.repeat(drawn(12)[:, None], 2, axis=1),
    "constant column": np.column_stack([np.ones(NUMBER), drawn(13)]),
    "alternating": drawn(14, NUMBER // 2, 1) * [1, -1],
}
DEPENDENT = {
    "kept twice": (np.repeat(drawn(1), 2)[1 : NUMBER + 1], "repeats rows: of rows that are 1 apart"),
    "kept twice, few": (np.repeat(drawn(1, 250), 2), "repeats rows: of rows that are 1 apart"),
    "tiled": (np.tile(drawn(2), 2), "repeats rows: of rows that are 2,000 apart"),
    "partly tiled": (np.append(drawn(2), drawn(2)[:400]), "repeats rows: of rows that are 2,000 apart"),
    "whole rows": (np.tile(drawn(3, NUMBER, 20), (2, 1)), "repeats rows"),
    "zeros of either sign": (
        np.column_stack([np.repeat(drawn(3), 2), np.tile([0.0, -0.0], NUMBER)]),
        "repeats rows",
    ),
    "one column": (np.column_stack([np.repeat(drawn(4), 2), drawn(5, 2 * NUMBER)]), "repeats rows"),
    "in any order within calls": (
        np.random.default_rng(6).permuted(np.tile(drawn(6, 20, 100), 3), axis=1).ravel(),
        "values come again near each other",
    ),
    "walk": (np.cumsum(drawn(7)), "more alike the nearer they are, as in"),
    "walk, few": (np.cumsum(drawn(7, 500)), "more alike the nearer they are"),
    "walk in a column": (np.column_stack([drawn(8), np.cumsum(drawn(7))]), "the nearer they are in column 1"),
    "autoregression": (walked(drawn(9), 0.5), "more alike"),
    "common part": (drawn(10) + np.repeat(drawn(11, NUMBER // 10), 10), "more alike"),
    "drift": (drawn(12) + np.linspace(0, 2, NUMBER), "more alike"),
    "common scale": (drawn(13) * np.repeat(np.exp(drawn(14, NUMBER // 20)), 20), "more alike"),
    "binary that lingers": (np.cumsum(drawn(15) > 2) % 2, "repeats rows: of rows that are 1 apart"),
    "sorted in parts": (np.append(np.sort(drawn(16)), np.sort(drawn(17))), "more alike"),
    "interleaved": (drawn(20) + np.tile(drawn(21, 50), 40), "depend on others a multiple of 50 apart, as where"),
    "interleaved, many calls": (
        drawn(20, 20_000) + np.tile(drawn(21, 4_000), 5),
        "depend on others a multiple of 4,000 apart",
    ),
    "pairs far apart": (drawn(20) + np.tile(2 * drawn(21, 1_000), 2), "depend on others 1,000 apart"),
    "opposite, far apart": (
        drawn(20) + np.outer([2, -2], drawn(21, 1_000)).ravel(),
        "depend on others 1,000 apart",
    ),
    "moving sum": ((noise := drawn(22, 2 * NUMBER))[77:-77] + noise[154:], "depend on others 77 apart"),
    "interleaved scale": (drawn(20) * np.tile(np.exp(drawn(21, 20)), 100), "a multiple of 20 apart"),
    "interleaved in a column": (
        np.column_stack([drawn(23), drawn(20) + np.tile(drawn(21, 50), 40)]),
        "a multiple of 50 apart in column 1",
    ),
    "walk in the last of many columns": (
        np.column_stack([drawn(23, NUMBER, 39), np.cumsum(drawn(7))]),
        "more alike the nearer they are in column 39",
    ),
    "interleaved in the last of many columns": (
        np.column_stack([drawn(23, NUMBER, 39), drawn(20) + np.tile(3 * drawn(21, 50), 40)]),
        "apart in column 39",
    ),
    "correlation in blocks": (
        np.column_stack([drawn(20), np.abs(drawn(21)) * np.sign(drawn(20)) * np.repeat(SIGNS, NUMBER // 8)]),
        "apart in the product of columns 0 and 1",
    ),
    "sorted rows": (np.sort(drawn(18, NUMBER, 2), axis=0), "is sorted, or a column numbers its rows"),
    "numbered rows": (np.column_stack([np.arange(NUMBER), drawn(19)]), "is sorted, or a column numbers"),
}


def as_rows(given):
    values = np.asarray(given, dtype=np.float64)
    return Rows("left", values.reshape(len(values), -1))


@pytest.mark.parametrize("name", INDEPENDENT)
def test_independent_rows_pass(name):
    found = as_rows(INDEPENDENT[name])
    found.check()
    assert not found.is_sorted
    assert found.assumed("as said") == "as said"


@pytest.mark.parametrize("name", DEPENDENT)
def test_dependent_rows_are_refused_whatever_the_other_array(name):
    given, said = DEPENDENT[name]
    with pytest.raises(ValueError, match=f"left .*{said}"):
        epsilon_lower_bound(given, np.asarray(given) * 0.0)
    # the same values in another order say nothing: no test tells them from independent ones
    as_rows(np.random.default_rng(0).permutation(given)).check()


@pytest.mark.parametrize("name", ["kept twice", "walk"])
def test_scores_of_a_curve_are_checked_too(name):
    given, said = DEPENDENT[name]
    with pytest.raises(ValueError, match=f"right_scores .*{said}"):
        trade_off(drawn(0), given)


@pytest.mark.parametrize("order", [1, -1])
def test_sorted_scores_pass_with_a_word(order):
    scores = np.sort(drawn(1))[::order]
    said = "; left is sorted, so its order shows nothing"
    assert epsilon_lower_bound(scores, drawn(2) + 1).assumes.endswith(said)
    assert "sorted" not in epsilon_lower_bound(drawn(1), drawn(2) + 1).assumes
    assert trade_off(drawn(1), scores).assumes.endswith("right_scores is sorted, so its order shows nothing")
    # the shuffle leaves nothing of the order
    assert epsilon_lower_bound(scores, drawn(2) + 1) > 0.5


@pytest.mark.parametrize("columns", [1, 2])
def test_bound_names_a_column_that_was_passed_over(columns):
    """Rounding may have left a sign times 2^-50; one times 2^-20 is seen (null control)."""
    rng = np.random.default_rng(1)
    flips = rng.random((2, 4_000)) < 0.05
    signs = np.where(flips, -1.0, 1.0) * np.array([[1.0], [-1.0]])
    bounds = []
    for size in (2.0**-50, 2.0**-20):
        sides = [np.column_stack([drawn(k, 4_000)] * (columns - 1) + [size * signs[k]]) for k in range(2)]
        bounds.append(epsilon_lower_bound(*sides))
    assert bounds[0] < 1
    assert f"no event of rounded outputs looked at output[{columns - 1}]: what differs" in bounds[0].assumes
    assert bounds[1] > 2
    assert "no event" not in bounds[1].assumes


def test_bounds_assume_that_a_score_was_fixed_without_the_rows():
    calls = np.repeat(drawn(1, 600), 2), np.repeat(drawn(2, 600), 2)
    bounds = epsilon_lower_bound(drawn(1), drawn(2)), epsilon_lower_bound(*calls, outputs_per_call=2)
    for found in (*bounds, trade_off(drawn(1), drawn(2))):
        assert "was fixed without these" in found.assumes


def test_pool_of_draws_passes_with_a_word():
    """Nothing tells it from a law of a thousand values, by which the bound would be right."""
    rng = np.random.default_rng(3)
    pools = [rng.choice(rng.laplace(size=1_000), 20_000) for _ in "lr"]
    said = "numbers of left come again in all digits: they must not be few draws, drawn from again"
    assert said in (found := epsilon_lower_bound(*pools)).assumes
    assert found > 5
    assert "numbers of left_scores come again" in trade_off(*pools).assumes
    # continuous draws, whole numbers, decimals and single precision come again rightly, or not
    for values in (rng.laplace(size=20_000), rng.integers(0, 500, 20_000), rng.integers(0, 500, 20_000) / 100):
        for given in (values, np.float32(values)):
            assert as_rows(given).assumed("as said") == "as said"


@pytest.mark.parametrize("rows", [64, 65, 499, 1000])
def test_likeness_at_all_distances_is_that_of_each(rows):
    """By sums over each distance and over each class, without transforms."""
    scores = np.random.default_rng(rows).normal(size=rows)
    at = np.array([(scores[gap:] * scores[: rows - gap]).sum() for gap in range(rows)])
    sums = [at[0] + 2 * one for one in lags._at_multiples(at)]
    squares = [
        sum(scores[first::period].sum() ** 2 for first in range(period)) for period in range(2, rows // 2 + 1)
    ]
    assert np.allclose(sums, squares)
    # repeated numbers are as alike as can be
    chance, where = lags._largest(np.tile(scores, 4), "")
    assert chance < -rows / 8
    assert where == f"a multiple of {rows:,} apart"


def test_bound_on_likeness_holds_as_often_as_stated():
    """However rare the numbers are: equal ones are in an order by chance."""
    beyond = 0
    for seed in range(300):
        rng = np.random.default_rng([8, seed])
        values = (
            rng.normal(size=(2, 500)),
            rng.random((2, 500)) < 0.01,
            np.zeros((2, 500)),
            np.exp(rng.normal(9, 9, (2, 500))),
        )
        beyond += lags.likeness_by_distance(values[seed % 4] * 1.0)[0] < np.log(0.1)
    assert beyond <= 30


def test_sorting_tears_calls_apart():
    calls = np.repeat(drawn(1, 600), 4)
    assert "calls" in epsilon_lower_bound(calls, calls[::-1].copy(), outputs_per_call=4).assumes
    with pytest.raises(ValueError, match="left is sorted"):
        epsilon_lower_bound(np.sort(calls), calls, outputs_per_call=4)


@pytest.mark.parametrize("turned", [1, -1])
def test_noise_of_one_seed_in_both_arrays_is_named(turned):
    with pytest.raises(ValueError, match=r"left and right share noise, row by row: .* not from the same seed"):
        epsilon_lower_bound(drawn(1), turned * drawn(1) + 1)
    # the bounds of a curve need no independence of one input from the other
    assert trade_off(drawn(1), drawn(1) + 1).mu_lower_bound > 0


def test_noise_of_two_seeds_is_not_named():
    for seed in range(40):
        check_apart(as_rows(drawn([seed, 0], 500)), as_rows(drawn([seed, 1], 700)))
    # sorted ones stand side by side anyway
    check_apart(as_rows(np.sort(drawn(1))), as_rows(np.sort(drawn(2))))


def test_each_test_refuses_independent_rows_as_seldom_as_stated(monkeypatch):
    """At a chance of a half, so that it can be counted: at most that many of all are refused."""
    monkeypatch.setattr(rows, "SHARE", 0.5 / 8)
    refused = 0
    for seed in range(60):
        rng = np.random.default_rng([7, seed])
        left, right = (as_rows(np.round(rng.normal(size=(500, 2)), seed % 3)) for _ in "lr")
        try:
            left.check()
            right.check()
            check_apart(left, right)
        except ValueError:
            refused += 1
    # 30 expected at most
    assert 0 < refused <= 30
