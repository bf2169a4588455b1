"""The declared domain: what may be declared, and how records are encoded by public constants only."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reference.common.errors import (
    DeclarationError,
    InputError,
    NegativeEntryError,
    NormError,
    NotANumberError,
    OutOfBoundsError,
    ReadingError,
    UnknownAttributeError,
    UnseenCategoryError,
)
from reference.domain import INTERCEPT, Domain, ball_corner
from reference.domain.attributes import Grouped, Numeric, OneHot, Ordinal
from reference.records import Records, check_matrix, encode_table

AGE = Numeric("age", 20, 60)
SCHOOL = Ordinal("school", ("none", "primary", "secondary"))
COLOUR = OneHot("colour", ("red", "green"))
MIXED = Domain((AGE, SCHOOL, COLOUR), label="y", group="z")
TABLE: dict[str, Sequence[Any]] = {
    "age": [20, 30.0, 60],
    "school": ["none", "primary", "secondary"],
    "colour": ["red", "green", "red"],
    "y": [0, 1, 1],
    "z": [1, 0, 1],
}


def squared_norms(records: Records) -> list[Fraction]:
    """Return |x|_2^2 of each record, in exact arithmetic on the floats."""
    return [sum((Fraction(entry) ** 2 for entry in row), Fraction(0)) for row in records.x.tolist()]


def numbers_domain(count: int, **choices: Any) -> Domain:
    """Return a domain of `count` numbers on [0, 1]."""
    attributes = tuple(Numeric(f"x{index}", 0, 1) for index in range(count))
    return Domain(attributes, label="y", group="z", **choices)


# --- Encoding ------------------------------------------------------------------------------------------------


def test_encoding_in_the_box_is_the_declared_arithmetic() -> None:
    records = encode_table(MIXED.with_(norm="unit_box"), TABLE)
    assert records.x.tolist() == [[0, 0, 1, 0], [0.25, 0.5, 0, 1], [1, 1, 1, 0]]
    assert records.y.tolist() == [0, 1, 1]
    assert records.z is not None
    assert records.z.tolist() == [1, 0, 1]


def test_encoding_in_the_ball_divides_by_the_root_of_the_attributes() -> None:
    box = encode_table(MIXED.with_(norm="unit_box"), TABLE).x
    ball = encode_table(MIXED, TABLE).x
    # three attributes, although four coordinates
    assert np.array_equal(ball, box * MIXED.column_factor)
    assert MIXED.column_factor == pytest.approx(1 / math.sqrt(3), rel=1e-15)


def test_encoding_does_not_depend_on_the_other_records() -> None:
    whole = encode_table(MIXED, TABLE).x
    for row in range(3):
        alone = encode_table(MIXED, {name: [values[row]] for name, values in TABLE.items()}).x
        assert np.array_equal(alone[0], whole[row])


def test_encoding_takes_a_data_frame_in_any_column_order() -> None:
    frame = pd.DataFrame(TABLE, index=[10, 7, 7])[["z", "colour", "y", "age", "school"]]
    assert np.array_equal(encode_table(MIXED, frame).x, encode_table(MIXED, TABLE).x)


def test_columns_are_named_in_order() -> None:
    domain = MIXED.with_(intercept=True, keep_group=True)
    assert domain.columns == (INTERCEPT, "age", "school", "colour=red", "colour=green", "z")
    assert domain.dimension == 6


def test_numeric_encoding_stays_inside_although_the_width_is_rounded() -> None:
    encoded = Numeric("a", -0.1, 0.3).encode([-0.1, 0.3], clip=False)
    assert encoded.min() >= 0.0
    assert encoded.max() <= 1.0


@given(
    st.floats(-1e300, 1e300), st.floats(-1e300, 1e300), st.floats(0, 1), st.sampled_from(["unit_ball", "unit_box"])
)
def test_numeric_encoding_is_monotone_into_the_unit_interval(a: float, b: float, share: float, norm: str) -> None:
    lower, upper = min(a, b), max(a, b)
    if lower == upper:
        return
    middle = min(max(lower + share * (upper - lower), lower), upper)
    domain = Domain((Numeric("a", lower, upper),), label="y", norm=norm)
    x = encode_table(domain, {"a": [lower, middle, upper], "y": [0, 0, 1]}).x[:, 0]
    assert x[0] == 0.0
    assert x[0] <= x[1] <= x[2] <= 1.0
    assert x[2] == pytest.approx(1.0, rel=1e-15)


# --- Norm ----------------------------------------------------------------------------------------------------


@given(st.integers(1, 10**7))
def test_ball_corner_is_the_largest_float_inside(count: int) -> None:
    corner = ball_corner(count)
    assert count * Fraction(corner) ** 2 <= 1
    assert count * Fraction(math.nextafter(corner, 2)) ** 2 > 1


@given(st.integers(1, 60), st.booleans(), st.booleans(), st.integers(0, 2**32 - 1))
def test_encoded_norm_is_at_most_one_in_exact_arithmetic(
    count: int, intercept: bool, keep_group: bool, seed: int
) -> None:
    domain = numbers_domain(count, intercept=intercept, keep_group=keep_group)
    inner = np.random.default_rng(seed).random(count)
    # the far corner, and a random record
    table = {f"x{index}": [1.0, float(inner[index])] for index in range(count)}
    records = encode_table(domain, {**table, "y": [1, 0], "z": [1, 1]})
    corner, inside = squared_norms(records)
    assert corner <= 1
    assert inside <= 1
    assert corner > 1 - Fraction(count + 2, 2**52)


@given(st.lists(st.integers(2, 5), min_size=1, max_size=12), st.booleans())
def test_one_hot_norm_counts_attributes_and_not_columns(sizes: list[int], intercept: bool) -> None:
    attributes = tuple(OneHot(f"a{index}", tuple(range(size))) for index, size in enumerate(sizes))
    domain = Domain(attributes, label="y", intercept=intercept)
    records = encode_table(
        domain, {**{f"a{index}": [0, size - 1] for index, size in enumerate(sizes)}, "y": [0, 1]}
    )
    assert domain.dimension == sum(sizes) + intercept
    for squared in squared_norms(records):
        assert 1 - Fraction(len(sizes) + 2, 2**52) < squared <= 1


def test_intercept_is_constant_and_inside_the_norm() -> None:
    domain = numbers_domain(3, intercept=True)
    records = encode_table(domain, {"x0": [0, 1], "x1": [0, 1], "x2": [0, 1], "y": [0, 1], "z": [0, 1]})
    assert domain.column_factor == ball_corner(4) == 0.5
    assert records.x[:, 0].tolist() == [0.5, 0.5]
    assert squared_norms(records) == [Fraction(1, 4), 1]


def test_kept_group_is_the_last_feature_and_inside_the_norm() -> None:
    domain = numbers_domain(3, keep_group=True)
    records = encode_table(domain, {"x0": [1, 0], "x1": [1, 0], "x2": [1, 0], "y": [0, 1], "z": [1, 0]})
    assert domain.columns[-1] == "z"
    assert records.x.tolist() == [[0.5, 0.5, 0.5, 0.5], [0.0, 0.0, 0.0, 0.0]]
    assert squared_norms(records) == [1, 0]


def test_group_is_not_among_the_features_unless_kept() -> None:
    assert "z" not in MIXED.columns
    assert encode_table(MIXED, TABLE).x.shape == (3, 4)


def test_box_multiplies_nothing() -> None:
    assert numbers_domain(7, norm="unit_box", intercept=True).column_factor == 1.0


# --- Prescaled columns ---------------------------------------------------------------------------------------


def test_prescaled_columns_are_taken_as_they_are() -> None:
    domain = Domain.of_columns(["a", "b"])
    x = [[0.6, 0.8], [0.0, 1.0]]
    assert check_matrix(domain, x, [0, 1], [1, 0]).x.tolist() == x
    assert domain.column_factor == 1.0
    encoded = encode_table(domain, {"a": [0.6, 0.0], "b": [0.8, 1.0], "label": [0, 1], "group": [1, 0]})
    assert encoded.x.tolist() == x


def test_prescaled_columns_are_checked() -> None:
    domain = Domain.of_columns(["a", "b"])
    with pytest.raises(NormError):
        encode_table(domain, {"a": [0.8], "b": [0.8], "label": [0], "group": [1]})
    with pytest.raises(NegativeEntryError):
        check_matrix(domain, [[-0.1, 0.0]], [0], [0])


def test_prescaled_columns_in_the_box_may_leave_the_ball() -> None:
    domain = Domain.of_columns(["a", "b"], norm="unit_box", with_group=False)
    assert check_matrix(domain, [[1.0, 1.0]], [0]).x.tolist() == [[1.0, 1.0]]
    assert domain.group is None


# --- Clipping ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("value", "clipped"), [(19.99, 0.0), (60.01, 1.0), (-1e300, 0.0), (1e300, 1.0)])
def test_out_of_bounds_is_clipped_only_when_asked(value: float, clipped: float) -> None:
    domain = Domain((AGE,), label="y", norm="unit_box")
    table = {"age": [40, value], "y": [0, 1]}
    with pytest.raises(OutOfBoundsError, match="declare `clip`") as caught:
        encode_table(domain, table)
    assert (caught.value.row, caught.value.column, caught.value.value) == (1, "age", value)
    assert encode_table(domain, table, clip=True).x.tolist() == [[0.5], [clipped]]


def test_values_on_the_bounds_are_inside() -> None:
    domain = Domain((AGE,), label="y", norm="unit_box")
    assert encode_table(domain, {"age": [20, 60], "y": [0, 1]}).x.tolist() == [[0.0], [1.0]]


# --- Declarations --------------------------------------------------------------------------------------------

BAD_DECLARATIONS: dict[str, Callable[[], object]] = {
    "bounds reversed": lambda: Numeric("a", 1, 0),
    "bounds equal": lambda: Numeric("a", 1, 1),
    "bound NaN": lambda: Numeric("a", 0, math.nan),
    "bound infinite": lambda: Numeric("a", -math.inf, 0),
    "bound a text": lambda: Numeric("a", "0", "1"),  # type: ignore[arg-type]
    "bound missing": lambda: Numeric("a", None, 1),  # type: ignore[arg-type]
    "bound beyond floats": lambda: Numeric("a", 0, 10**400),
    "width beyond floats": lambda: Numeric("a", -1.5e308, 1.5e308),
    "one category": lambda: Ordinal("a", ("only",)),
    "no category": lambda: OneHot("a", ()),
    "a category twice": lambda: OneHot("a", ("x", "x")),
    "equal categories": lambda: Ordinal("a", (1, True)),
    "unhashable category": lambda: Ordinal("a", (["x"], ["y"])),  # type: ignore[arg-type]
    "categories a text": lambda: Ordinal("a", "xy"),  # type: ignore[arg-type]
    "no attribute": lambda: Domain((), label="y"),
    "an attribute twice": lambda: Domain((AGE, AGE), label="y"),
    "label among the attributes": lambda: Domain((AGE,), label="age"),
    "group among the attributes": lambda: Domain((AGE,), label="y", group="age"),
    "group is the label": lambda: Domain((AGE,), label="y", group="y"),
    "coordinates of one name": lambda: Domain((COLOUR, Numeric("colour=red", 0, 1)), label="y"),
    "attribute named as the intercept": lambda: Domain((Numeric(INTERCEPT, 0, 1),), label="y", intercept=True),
    "coordinate named as the kept group": lambda: Domain((COLOUR,), "y", "colour=red", keep_group=True),
    "kept group without a group": lambda: Domain((AGE,), label="y", keep_group=True),
    "intercept on prescaled columns": lambda: Domain.of_columns(["a"]).with_(intercept=True),
    "prescaled with bounds": lambda: Domain((AGE,), label="y", prescaled=True),
    "prescaled with categories": lambda: Domain((COLOUR,), label="y", prescaled=True),
}


@pytest.mark.parametrize("declare", BAD_DECLARATIONS.values(), ids=BAD_DECLARATIONS.keys())
def test_declaration_that_contradicts_itself_is_rejected(declare: Callable[[], object]) -> None:
    with pytest.raises(DeclarationError) as caught:
        declare()
    assert caught.value.name in str(caught.value)
    assert caught.value.allowed in str(caught.value)


def test_declaration_that_is_sound_is_accepted() -> None:
    domain = Domain((AGE, SCHOOL, COLOUR), "y", "z", "unit_box", intercept=True, keep_group=True)
    assert domain.dimension == 6


def test_unknown_norm_names_the_known_ones() -> None:
    with pytest.raises(ReadingError, match="unit_ball, unit_box"):
        numbers_domain(1, norm="l2")


def test_domains_compare_by_what_they_declare() -> None:
    assert numbers_domain(3) == numbers_domain(3)
    assert hash(numbers_domain(3)) == hash(numbers_domain(3))
    assert numbers_domain(3) != numbers_domain(3, intercept=True)


# --- x_s -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("x_s", "index"), [("age", 0), ("colour=green", 3), (2, 2), ("2", 2), (np.int64(1), 1), ("0", 0)]
)
def test_x_s_is_found_by_name_or_index(x_s: str | int, index: int) -> None:
    assert MIXED.coordinate(x_s) == index


def test_x_s_that_is_a_name_made_of_digits_is_a_name() -> None:
    domain = Domain((Numeric("1", 0, 1), Numeric("0", 0, 1)), label="y")
    assert domain.coordinate("0") == 1
    assert domain.coordinate(0) == 0


@pytest.mark.parametrize("bad", ["nope", "colour", "z", "y", "", "-1", "1.0", "²", 4, "4", -1, 1.0, True, None])
def test_x_s_that_is_no_coordinate_is_rejected(bad: Any) -> None:
    with pytest.raises(UnknownAttributeError, match="one of age, school, colour=red, colour=green") as caught:
        MIXED.coordinate(bad)
    assert isinstance(caught.value, InputError)
    assert caught.value.value is bad


def test_x_s_is_drawn_from_the_unprotected_attributes() -> None:
    domain = MIXED.with_(intercept=True, keep_group=True)
    assert [domain.columns[index] for index in domain.selectable] == list(MIXED.columns)
    assert MIXED.selectable == (0, 1, 2, 3)


def test_values_that_are_not_declared_count_as_the_one_that_is_named():
    job = OneHot("job", ("clerk", "cook", "other"), otherwise="other")
    town = Grouped("town", {"north": ("oslo",), "south": ("rome", "bari")}, otherwise="south")
    for values in (["king", "cook"], np.array(["king", "cook"])):
        assert job.encode(values, clip=False).tolist() == [[0, 0, 1], [0, 1, 0]]
    assert town.encode(["paris", "oslo"], clip=False).tolist() == [[0, 1], [1, 0]]
    with pytest.raises(NotANumberError, match="missing"):
        job.encode(["clerk", None], clip=False)
    with pytest.raises(
        UnseenCategoryError, match=r"declared are 'clerk', 'cook'.*row 1, column 'job', value 'king'"
    ):
        OneHot("job", ("clerk", "cook")).encode(["cook", "king"], clip=False)
    # only where the kind has it, the error names the remedy
    kinds = (
        (OneHot("job", ("clerk", "cook")), True),
        (Grouped("job", {"desk": ("clerk",), "kitchen": ("cook",)}), True),
        (Ordinal("job", ("clerk", "cook")), False),
    )
    for attribute, has_otherwise in kinds:
        with pytest.raises(UnseenCategoryError) as refused:
            attribute.encode(["king"], clip=False)
        assert ("`otherwise` in the domain, set before a fit" in str(refused.value)) == has_otherwise
    with pytest.raises(DeclarationError, match="otherwise"):
        OneHot("a", ("b", "c"), otherwise="d")
    with pytest.raises(DeclarationError, match="otherwise"):
        Grouped("a", {"b": ("x",), "c": ("y",)}, otherwise="x")
