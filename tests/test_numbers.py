"""Exact numbers in and out, and the places where one is rounded."""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from reference.common.errors import ReadingError
from reference.common.numbers import (
    LARGEST_PARAMETER,
    Enclosure,
    decimal_text,
    exact,
    in_float_range,
    require_whole,
    rounded_down,
    rounded_up,
    text_below,
)

LARGEST_FLOAT = Fraction(np.finfo(np.float64).max.item())

decimals = st.builds(
    lambda digits, exponent: Fraction(digits) * Fraction(10) ** exponent,
    st.integers(-(10**40), 10**40),
    st.integers(-600, 300),
)
rationals = st.one_of(st.fractions(), decimals)
float_sized = rationals.filter(lambda value: abs(value) <= LARGEST_FLOAT)


@given(rationals)
@example(Fraction(1, 10**400))
@example(Fraction(10**16))
@example(Fraction(-1, 3))
@example(Fraction(0))
@example(Fraction(-(10**400)))
def test_decimal_text_is_read_back_unchanged(value: Fraction) -> None:
    assert exact("value", decimal_text(value)) == value


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (Fraction(0), "0"),
        (Fraction(12), "12"),
        (Fraction(-5, 2), "-2.5"),
        (Fraction(1, 1000), "0.001"),
        (Fraction(2, 3), "2/3"),
        (Fraction(-2, 3), "-2/3"),
        (Fraction(1, 10**400), "1e-400"),
        (Fraction(-25, 10**401), "-2.5e-400"),
        (Fraction(10**16), "10000000000000000"),
        (Fraction(10**20), "1e20"),
    ],
)
def test_decimal_text_is_the_short_form(value: Fraction, text: str) -> None:
    assert decimal_text(value) == text


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_exact_reads_a_float_by_its_shortest_decimal(number: float) -> None:
    assert exact("value", number) == Fraction(Decimal(repr(number)))
    assert exact("value", np.float64(number)) == Fraction(Decimal(repr(number)))


@pytest.mark.parametrize(
    ("given_value", "value"),
    [
        ("1e-400", Fraction(1, 10**400)),
        ("2/3", Fraction(2, 3)),
        (" 0.1 ", Fraction(1, 10)),
        (0.1, Fraction(1, 10)),
        (np.int64(7), Fraction(7)),
        (Decimal("0.25"), Fraction(1, 4)),
        (Fraction(5, 7), Fraction(5, 7)),
        (0, Fraction(0)),
        ("0e-99999", Fraction(0)),
    ],
)
def test_exact_accepts_every_kind_of_number(given_value: object, value: Fraction) -> None:
    assert exact("value", given_value) == value


@pytest.mark.parametrize(
    "bad",
    [True, False, np.True_, None, "", "abc", "nan", "inf", "1/0", b"1", 1j, [1], math.nan, math.inf, -math.inf,
     np.float64("nan"), np.array(1.5), Decimal("NaN"), Decimal("Infinity"), Decimal("sNaN")],
)  # fmt: skip
def test_exact_rejects_what_is_no_finite_number(bad: object) -> None:
    with pytest.raises(ReadingError) as caught:
        exact("size", bad)
    assert caught.value.name == "size"
    assert caught.value.value is bad


@pytest.mark.parametrize("bad", ["1e-999999999", "1e999999999", "-1E-5000", Decimal("1e-999999999")])
def test_exact_refuses_an_exponent_that_would_fill_the_memory(bad: object) -> None:
    with pytest.raises(ReadingError, match="finite number"):
        exact("delta", bad)


@pytest.mark.parametrize("zero", ["0e999999999", "-0.0e-999999999", Decimal("0e999999999")])
def test_zero_is_read_at_once_whatever_its_exponent(zero: object) -> None:
    """Its power of ten was written out first."""
    assert exact("delta", zero) == 0


@pytest.mark.parametrize("text", ["1e-4000", "1e4000", "9.99e-3999"])
def test_exact_reads_what_decimal_text_can_write(text: str) -> None:
    assert decimal_text(exact("value", text)) == text


def test_in_float_range_ends_where_it_says() -> None:
    assert in_float_range(Fraction(0))
    assert in_float_range(LARGEST_PARAMETER)
    assert in_float_range(-1 / LARGEST_PARAMETER)
    assert not in_float_range(LARGEST_PARAMETER + 1)
    assert not in_float_range(1 / (LARGEST_PARAMETER + 1))


@given(float_sized)
@example(Fraction(1, 10**400))
@example(Fraction(-1, 10**400))
@example(Fraction(1, 3))
@example(LARGEST_FLOAT)
@example(Fraction(0))
def test_rounded_up_is_the_smallest_float_not_below(value: Fraction) -> None:
    above = rounded_up(value)
    assert Fraction(above) >= value
    before = math.nextafter(above, -math.inf)
    assert before == -math.inf or Fraction(before) < value


@given(float_sized)
@example(Fraction(1, 10**400))
@example(Fraction(-1, 10**400))
@example(-LARGEST_FLOAT)
def test_rounded_down_is_the_largest_float_not_above(value: Fraction) -> None:
    below = rounded_down(value)
    assert Fraction(below) <= value
    after = math.nextafter(below, math.inf)
    assert after == math.inf or Fraction(after) > value


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_rounding_leaves_a_float_alone(number: float) -> None:
    assert rounded_up(Fraction(number)) == number == rounded_down(Fraction(number))


@given(st.floats(0, 700), st.integers(1, 8))
@example(0.99996, 4)
@example(0.0, 4)
@example(math.nextafter(1.0, 0.0), 4)
def test_lower_bound_in_words_is_no_more_than_the_bound(bound: float, places: int) -> None:
    written = Fraction(text_below(bound, places))
    assert 0 <= Fraction(bound) - written < Fraction(1, 10**places)


def test_lower_bound_that_only_a_file_says_is_written_too() -> None:
    assert text_below(1e308, 6) == "1.00000E+308"
    assert text_below(0.0, 8) == "0.00000000"
    assert text_below(1e-8, 8) == "0.00000001"
    assert Fraction(text_below(1.23456789e300, 6)) <= Fraction(1.23456789e300)


def test_enclosure_becomes_a_float_upwards_and_only_by_name() -> None:
    third = Fraction(1, 3)
    above = Enclosure(Fraction(0), third).float_above()
    assert Fraction(math.nextafter(above, 0)) < third <= Fraction(above)
    assert Enclosure(Fraction(1), Fraction(10) ** 400).float_above() == math.inf
    with pytest.raises(TypeError):
        float(Enclosure(third, third))  # type: ignore[arg-type]


@pytest.mark.parametrize("value", [0, 4, True, 2.0, "2", None, np.bool_(True)])
def test_number_that_is_not_whole_or_beyond_a_limit_is_refused(value: object) -> None:
    for allowed in (1, 2, 3):
        require_whole("records", allowed, 1, 3)
    require_whole("records", 4, 1)
    with pytest.raises(ReadingError, match="records must be a whole number from 1 to 3, not"):
        require_whole("records", value, 1, 3)
