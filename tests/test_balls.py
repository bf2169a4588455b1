"""Ball arithmetic: in from exact rationals, and out with ends that are certain."""

from __future__ import annotations

import threading
from fractions import Fraction

import pytest
from flint import arb, ctx
from hypothesis import example, given
from hypothesis import strategies as st

from reference.common.balls import (
    MOST_BITS,
    Ball,
    UndecidedError,
    ball,
    bisected,
    enclosed,
    ends,
    is_positive,
    refined,
    sign,
    square_root,
    working_precision,
)

rationals = st.one_of(
    st.fractions(),
    st.builds(
        lambda digits, exponent: Fraction(digits) * Fraction(10) ** exponent,
        st.integers(-(10**40), 10**40),
        st.integers(-600, 300),
    ),
)


# --- To balls and back ----------------------------------------------------------------------------------------


@given(rationals)
@example(Fraction(10**400 + 1, 3))
@example(Fraction(10**400 + 1))
@example(Fraction(0))
def test_enclosure_contains_the_number_and_is_narrow(value: Fraction) -> None:
    found = enclosed(lambda: ball(value))
    assert found.lower <= value <= found.upper
    assert found.upper - found.lower <= abs(value) / 2**150


@pytest.mark.parametrize("text", ["1/3", "-2/7", "1e-300", "12345678901234567890123/7", "0"])
def test_a_ball_contains_its_rational_and_its_ends_enclose_it(text):
    value = Fraction(text)
    found = ends(ball(value))
    assert found.lower <= value <= found.upper
    # thin: 53 bits at the default precision
    assert found.upper - found.lower <= abs(value) / 2**50


def test_ends_are_rounded_outwards_whatever_the_precision():
    with working_precision(1000):
        third = ball(Fraction(1, 3))
    found = ends(third)
    assert found.lower < Fraction(1, 3) < found.upper


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_binary_number_comes_back_exactly(number: float) -> None:
    found = enclosed(lambda: ball(Fraction(number)))
    assert found.lower == found.upper == Fraction(number)


@pytest.mark.parametrize("shown", ["inf", "-inf", "nan"])
def test_end_that_is_infinite_or_undefined_is_not_taken_for_zero(shown: str) -> None:
    with pytest.raises(OverflowError):
        ends(arb(shown))
    with pytest.raises(OverflowError):
        ends(arb(1) / arb(0))


# --- Roots ----------------------------------------------------------------------------------------------------


@given(st.fractions(min_value=0))
@example(Fraction(0))
def test_root_is_enclosed(value: Fraction) -> None:
    root = square_root(value)
    assert root.lower**2 <= value <= root.upper**2
    assert root.upper - root.lower <= root.upper / 2**150


@given(st.fractions(min_value=0))
def test_rational_root_is_exact(value: Fraction) -> None:
    root = square_root(value * value)
    assert root.lower == root.upper == value


# --- Precision and comparisons --------------------------------------------------------------------------------


def test_precision_is_restored_and_undecided_raises():
    before = ctx.prec
    with pytest.raises(UndecidedError):
        sign(lambda: arb(2).sqrt() ** 2 - 2)
    with pytest.raises(UndecidedError):
        refined(lambda: arb(2).sqrt() ** 2 - 2)
    assert ctx.prec == before


@pytest.mark.parametrize("bits", [200, 5000])
def test_comparison_raises_the_precision_until_it_is_decided(bits: int) -> None:
    near = Fraction(1, 2**bits)
    for difference, expected in ((near, True), (-near, False)):
        assert is_positive(lambda added=difference: arb(2).sqrt() ** 2 - 2 + ball(added)) is expected
        assert sign(lambda added=difference: arb(2).sqrt() ** 2 - 2 + ball(added)) == (1 if expected else -1)
    assert is_positive(lambda: arb(2).sqrt() ** 2 - 2 + ball(Fraction(1, 2 ** (2 * MOST_BITS)))) is None


def test_refined_ball_has_its_bits_where_digits_cancel():
    tiny = Fraction(1, 2**400)

    def logarithm() -> Ball:
        return (1 + ball(tiny)).log()

    found = ends(refined(logarithm, 100))
    assert found.upper - found.lower <= found.lower / 2**99
    # at one precision they are lost
    lost = enclosed(logarithm)
    assert lost.lower <= 0 < lost.upper


def test_bisection_encloses_where_a_condition_turns_over():
    found = bisected(lambda value: value * value < 2, Fraction(0), Fraction(2), Fraction(1, 2**70))
    assert found.lower**2 < 2 < found.upper**2
    assert found.upper - found.lower <= found.upper / 2**70


def test_threads_do_not_change_each_others_precision():
    inside, wanted, seen = threading.Event(), threading.Event(), []

    def other() -> None:
        inside.wait()
        wanted.set()
        with working_precision(64):
            seen.append(ctx.prec)

    thread = threading.Thread(target=other)
    thread.start()
    with working_precision(300):
        inside.set()
        wanted.wait()
        thread.join(0.05)
        assert (ctx.prec, seen) == (300, [])
    thread.join()
    assert seen == [64]
