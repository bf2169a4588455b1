"""Arguments of the one-call functions: what is no such argument is named, with its value, in one plain error."""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

from audit import (
    assert_private,
    canary_lower_bound,
    canary_mu_lower_bound,
    epsilon_lower_bound,
    trade_off,
)
from reference.common.errors import InputError

DRAWN = np.random.default_rng(1).laplace(size=600)
OTHER = np.random.default_rng(2).laplace(size=600)
MEMBERS = np.random.default_rng(3).random(600) < 0.5


def noisy_sum(data, rng):
    return sum(data) + rng.laplace()


class Sampler:
    """A mechanism whose class is given by mistake."""

    def sample(self, data, count, rng):
        return sum(data) + rng.laplace(size=(count, 1))


def of_arrays(**how):
    return epsilon_lower_bound(**({"left": DRAWN, "right": OTHER} | how))


def of_curve(**how):
    return trade_off(**({"left_scores": DRAWN, "right_scores": OTHER} | how))


def of_canaries(**how):
    return canary_lower_bound(**({"scores": MEMBERS + DRAWN, "members": MEMBERS, "guesses": 100} | how))


def of_gaussian_canaries(**how):
    return canary_mu_lower_bound(**({"scores": MEMBERS + DRAWN, "members": MEMBERS, "guesses": 100} | how))


def of_mechanism(**how):
    given = {"mechanism": noisy_sum, "left": [0.0], "right": [1.0], "epsilon": 1, "draws": 1_000}
    return assert_private(**(given | {"allow_undecided": True} | how))


CALLS = {
    "significance": [of_arrays, of_curve, of_canaries, of_gaussian_canaries, of_mechanism],
    "delta": [of_arrays, of_canaries, of_mechanism],
    "seed": [of_arrays, of_mechanism],
    "outputs_per_call": [of_arrays, of_mechanism],
    "guesses": [of_canaries, of_gaussian_canaries],
    "draws": [of_mechanism],
    "workers": [of_mechanism],
    "epsilon": [of_mechanism],
    "allow_undecided": [of_mechanism],
    "max_seconds": [of_mechanism],
}
WRONG = {
    "significance": [None, "0.05", True, math.nan, math.inf, -0.1, 0, 1, [0.05], 1e-13],
    "delta": [None, "x", True, math.nan, math.inf, -0.1, 1, [0.1], "0.99999999999999999999"],
    "seed": [None, "1", True, -1, 1.0, [1]],
    "outputs_per_call": [None, "1", True, 0, 1.0],
    "guesses": [None, "100", True, 0, 3, 100.0, 602],
    "draws": [None, "1000", True, 999, 1e4, 10**13],
    "allow_undecided": [None, "no", 1],
    "workers": [None, "2", True, 0],
    "max_seconds": ["1", True, 0, -1, math.inf, math.nan],
    "epsilon": [None, "x", True, math.nan, math.inf, -1, 0, [1], 701],
}


@pytest.mark.parametrize(("name", "call"), [(name, call) for name, calls in CALLS.items() for call in calls])
def test_option_is_named_with_its_value(name, call):
    for given in WRONG[name]:
        with pytest.raises(ValueError, match=rf"^{name} must be ") as refused:
            call(**{name: given})
        assert str(given) in str(refused.value)


@pytest.mark.parametrize(
    ("call", "right"),
    [
        (of_arrays, {"delta": Decimal("0.01"), "seed": np.int64(3), "significance": np.float32(0.05)}),
        (of_curve, {"significance": Fraction(1, 20)}),
        (of_canaries, {"guesses": np.int32(100), "delta": "1e-6"}),
        (of_mechanism, {"epsilon": "1", "draws": np.int64(1_000), "delta": 1e-6}),
    ],
)
def test_numbers_of_other_types_are_taken(call, right):
    assert call(**right) is not None


TABLE = {"x": [0.5] * 600, "colour": ["red"] * 600}
WRONG_ARRAYS = [
    (None, "not None"),
    ("abc", "not 'abc'"),
    ({"x": 1}, "not {'x': 1}"),
    (3.0, "not 3.0"),
    ((one for one in DRAWN), "not <generator"),
    ([], r"not of shape \(0,\)"),
    (np.zeros((600, 2, 2)), r"not of shape \(600, 2, 2\)"),
    ([[1.0], [1.0, 2.0]] * 300, "rows have several lengths"),
    (["1"] * 600, "at row 0 it has '1'; rows count from 0"),
    ([*[1.0] * 599, None], "at row 599 it has None"),
    (np.zeros(600) + 1j, "at row 0 it has 1j"),
    (np.zeros(600, dtype=object), "of type object: convert it to float"),
]


@pytest.mark.parametrize(
    ("call", "name"),
    [
        (of_arrays, "left"),
        (of_arrays, "right"),
        (of_curve, "right_scores"),
        (of_canaries, "scores"),
        (of_canaries, "members"),
    ],
)
def test_what_is_no_array_is_named(call, name):
    for given, said in WRONG_ARRAYS:
        with pytest.raises(ValueError, match=rf"^{name} must be an array of real numbers.*{said}"):
            call(**{name: given})


def test_column_of_a_table_is_named():
    pandas = pytest.importorskip("pandas")
    table = pandas.DataFrame(TABLE)
    with pytest.raises(ValueError, match=r"left must be .*: at row 0, column 'colour' it has 'red'"):
        of_arrays(left=table)
    numbers = pandas.DataFrame({"x": DRAWN, "y": OTHER})
    assert of_arrays(left=numbers, right=numbers.to_numpy()[::-1].copy()) == of_arrays(
        left=numbers.to_numpy(), right=numbers.to_numpy()[::-1].copy()
    )
    assert of_arrays(left=pandas.Series(DRAWN)) == of_arrays()


def test_columns_of_other_names_or_order_are_told():
    """By place they would be compared with columns of another law."""
    pandas, pyarrow = pytest.importorskip("pandas"), pytest.importorskip("pyarrow")
    left, right = (
        pandas.DataFrame({"x": one, "y": 9 + one, math.nan: one}) for one in (DRAWN, OTHER[::-1].copy())
    )
    as_arrays = of_arrays(left=left.to_numpy(), right=right.to_numpy())
    assert as_arrays == of_arrays(left=left, right=right) == of_arrays(left=left.to_numpy(), right=right)
    said = "^left has 'x' as column 0, right has 'y': give both tables the same columns, in the same order$"
    with pytest.raises(ValueError, match=said):
        of_arrays(left=left, right=right[["y", "x", math.nan]])
    with pytest.raises(ValueError, match=r"^left has 'y' as column 1, right has 'z'"):
        of_arrays(left=left, right=right.rename(columns={"y": "z"}))
    left, right = (pyarrow.table({"x": one, "y": 9 + one}) for one in (DRAWN, OTHER))
    assert of_arrays(left=left, right=right) is not None
    with pytest.raises(ValueError, match=said):
        of_arrays(left=left, right=right.select(["y", "x"]))
    # two columns of one table have other names rightly
    table = pandas.DataFrame({"with": DRAWN, "without": OTHER})
    assert of_arrays(left=table["with"], right=table["without"]) == of_arrays()
    assert of_curve(left_scores=table["with"], right_scores=table["without"]).mu_lower_bound >= 0


def test_rows_that_are_paired_have_equal_labels():
    pandas = pytest.importorskip("pandas")
    scores, members = pandas.Series(MEMBERS + DRAWN), pandas.Series(MEMBERS)
    for call in (of_canaries, of_gaussian_canaries):
        assert call(scores=scores, members=members) == call(scores=scores, members=MEMBERS) == call()
        with pytest.raises(ValueError, match=r"^scores and members label their rows differently"):
            call(scores=scores.sort_values(), members=members)


def test_one_row_and_rows_in_place_of_columns_are_told():
    with pytest.raises(ValueError, match=r"left has 1 row; at least 500 are needed$"):
        of_arrays(left=[1.0])
    with pytest.raises(ValueError, match=r"left has 2 rows.*each draw must be a row: transpose it"):
        of_arrays(left=np.zeros((2, 600)))
    with pytest.raises(ValueError, match="scores and members must have one entry for each canary, not 1 and 600"):
        of_canaries(scores=[1.0])


@pytest.mark.parametrize(("share", "refused"), [(0.5, False), (0.6, False), (0.9, True), (0.0, True)])
def test_members_that_no_coin_chose_are_refused(share, refused):
    members = np.random.default_rng(4).random(600) < share
    if not refused:
        assert of_canaries(members=members, scores=members + DRAWN) >= 0
        return
    with pytest.raises(ValueError, match=rf"^members has {members.sum()} of 600 canaries: no fair coin"):
        of_canaries(members=members, scores=members + DRAWN)


def test_class_in_place_of_an_instance_is_told():
    with pytest.raises(
        InputError, match=r"mechanism must be .* a method sample, not <class .*Sampler'>; this is a"
    ):
        of_mechanism(mechanism=Sampler)
    assert of_mechanism(mechanism=Sampler()).verdict == "not refuted"
    with pytest.raises(InputError, match=r"^mechanism must be a function of \(data, rng\).*, not 3$"):
        of_mechanism(mechanism=3)


def test_argument_of_a_curve_is_told():
    band = of_curve()
    for order in (None, "2", True, [2], 0.5, math.nan, 2 + 1j, Fraction(1, 2)):
        with pytest.raises(ValueError, match=r"^order must be a number, at least 1"):
            band.renyi_lower_bound(order)
    # the same number has the same bound, whatever its type
    for order in (Fraction(3, 2), np.float32(1.5)):
        assert band.renyi_lower_bound(order) == band.renyi_lower_bound(1.5)
    assert band.renyi_lower_bound(Fraction(10**400)) == band.renyi_lower_bound(math.inf)
    for alpha in (None, "x", math.nan, -1, 2):
        with pytest.raises(ValueError, match=r"^each alpha must be"):
            band.at(alpha)
    assert band.renyi_lower_bound(np.float64(2)) >= 0
