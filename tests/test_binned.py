"""Declared bins and groups of categories: how values become columns, and what a declaration may not say."""

from __future__ import annotations

import re
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

from reference.common.documents import plain
from reference.common.errors import (
    DataError,
    DeclarationError,
    DomainFileError,
    OutOfBoundsError,
    UnseenCategoryError,
)
from reference.datasets import SOURCES
from reference.datasets.from_file import encode_raw
from reference.datasets.public_bins import FOLDER, PUBLIC, public_domains
from reference.domain.attributes import Binned, Grouped, Numeric
from reference.domain.binning import binned
from reference.domain.edges import edges_of
from reference.domain.file import DomainFile, domain_file_of, load_domain_file
from reference.domain.markers import Marker
from reference.repaired.descent import one_hot_blocks
from reference.sensitivity.rows import _value

AGE = Binned("age", 0, 100, edges=(18, 65), source="law")
JOB = Grouped("job", {"paid": ("clerk", "cook"), "none": ("pupil", 0)})


def test_an_edge_belongs_to_the_bin_above_it():
    encoded = AGE.encode([0, 17.9, 18, 64, 65, 100], clip=False)
    assert encoded.argmax(axis=1).tolist() == [0, 0, 1, 1, 2, 2]
    assert (encoded.sum(axis=1) == 1).all()
    assert AGE.columns == ("age=[0, 18)", "age=[18, 65)", "age=[65, 100]")


def test_a_value_outside_of_the_bounds_is_named_or_clipped():
    with pytest.raises(OutOfBoundsError, match="age"):
        AGE.encode([5, 101], clip=False)
    assert Binned("age", 0, 100, clip=True, edges=(50,)).encode([101], clip=False).tolist() == [[0, 1]]


def test_a_category_counts_as_its_group():
    assert JOB.encode(["cook", 0, "clerk"], clip=False).tolist() == [[1, 0], [0, 1], [1, 0]]
    assert JOB.columns == ("job=paid", "job=none")
    with pytest.raises(UnseenCategoryError):
        JOB.encode(["king"], clip=False)


@pytest.mark.parametrize("edges", [(0,), (100,), (65, 18), (18, 18), (float("nan"),)])
def test_edges_outside_of_the_bounds_or_unsorted_are_refused(edges):
    with pytest.raises(DeclarationError):
        Binned("age", 0, 100, edges=edges)


@pytest.mark.parametrize("groups", [{"a": ("x",)}, {"a": ("x",), "b": ()}, {"a": ("x",), "b": ("x",)}])
def test_groups_that_overlap_or_are_empty_are_refused(groups):
    with pytest.raises(DeclarationError):
        Grouped("job", groups)


def test_a_domain_file_declares_them_and_encodes_texts():
    document = {
        "schema": "domain_v1",
        "norm": "unit_ball",
        "intercept": False,
        "keep_group": False,
        "attributes": [
            {"kind": "binned", "name": "age", "lower": 0, "upper": 100, "edges": [18, 65], "source": "law"},
            {"kind": "grouped", "name": "job", "groups": {"paid": ["clerk", "cook"], "none": ["pupil", 0]}},
        ],
        "label": {"column": "y"},
    }
    declared = domain_file_of(document)
    assert domain_file_of(plain(declared)) == declared
    records = encode_raw(declared, {"age": ["18", "70"], "job": ["cook", "0"], "y": ["1", "0"]})
    assert (records.x > 0).tolist() == [[False, True, False, True, False], [False, False, True, False, True]]
    assert one_hot_blocks(declared.domain) == [slice(0, 3), slice(3, 5)]
    document["attributes"][0]["edges"] = [65, 18]
    with pytest.raises(DomainFileError, match="edges"):
        domain_file_of(document)


def test_the_rule_for_bins_reads_the_bounds_only():
    assert edges_of(0, 8) == (1, 2, 3, 4, 5, 6, 7)
    assert edges_of(16, 99)[:3] == (16 + 83 / 64, 16 + 83 / 32, 16 + 83 / 16)
    assert len(edges_of(0, 99_999)) == 7 + 13
    assert edges_of(-8, 4) == (-6.5, -5, -3.5, -2, -0.5, 1, 2.5), "narrow"
    assert edges_of(-16, 4) == (-8, -4, -2, -1, 0, 1, 2), "wide, with 0 inside"
    assert edges_of(-1000, 0.5)[-2:] == (-1000 / 2**9, 0)
    for name in ("adult", "german"):
        file = binned(SOURCES[name].domain_file("one_hot"))
        assert not any(type(attribute) is Numeric for attribute in file.attributes)
        assert binned(file) == file


@pytest.mark.parametrize(
    "bounds", [(0, 1.7e308), (-1.7e308, 0), (-8e307, 8e307), (1e308, 1.7e308), (1, 1 + 2**-50)]
)
def test_extreme_bounds_have_distinct_bins(bounds):
    number = Binned("gain", *bounds)
    assert len(set(number.columns)) == len(number.edges) + 1 > 3
    assert number.encode(bounds, clip=False).sum(axis=1).tolist() == [1, 1]


@pytest.mark.parametrize(
    ("bounds", "why"), [((-1e308, 1e308), "finite difference"), ((0, 5e-324), "farther apart")]
)
def test_bounds_without_bins_are_refused_by_name(bounds, why):
    with pytest.raises(DeclarationError, match=rf"bounds of 'gain' .*{why}.*{re.escape(str(bounds))}"):
        Binned("gain", *bounds)


# --- Missing numbers --------------------------------------------------------------------------------------------

ABSENT = (None, float("nan"), "", " ", "NA", "?", "\tNA ")


@pytest.mark.parametrize("absent", ABSENT)
def test_a_missing_number_counts_as_what_is_declared(absent):
    declared = DomainFile(
        attributes=(
            Numeric("height", 0, 200, missing=50),
            Binned("age", 0, 100, edges=(18, 65), missing=20),
            Binned("pay", 0, 100, edges=(50,), missing="own_bin"),
        ),
        label=Marker("y"),
    )
    given = {"height": [absent, 100], "age": ["70", absent], "pay": [absent, 60.0], "y": [0, 1]}
    records = encode_raw(declared, given)
    assert declared.domain.columns[-3:] == ("pay=[0, 50)", "pay=[50, 100]", "pay=missing")
    expected = [[0.25, 0, 0, 1, 0, 0, 1], [0.5, 0, 1, 0, 0, 1, 0]]
    assert (records.x == np.array(expected) * declared.domain.column_factor).all()
    # as before where nothing is declared, and for what is not a missing value
    for name, value in (
        ("y", None),
        ("height", "tall"),
        ("pay", float("inf")),
        ("age", "nan?"),
        ("pay", "-nan"),
        ("age", "\xa0NA"),
        ("height", "\xa0"),
    ):
        with pytest.raises(DataError, match=f"column '{name}'"):
            encode_raw(declared, {**given, name: [value, 1]})
    plain_file = declared.with_(attributes=(Numeric("height", 0, 200),), ignore=("age", "pay"))
    with pytest.raises(DataError, match="row 0, column 'height'"):
        encode_raw(plain_file, given)


@pytest.mark.parametrize("missing", [np.int64(3), np.float32(3), 3.0])
def test_a_missing_number_is_filled_whatever_kind_of_number_is_declared(missing):
    filled = Numeric("age", 0, 8, missing=missing).encode(np.array([None, 8], dtype=object), clip=False)
    assert filled.tolist() == [[3 / 8], [1.0]]


@pytest.mark.parametrize("missing", [Fraction(3), Decimal(3), None, "3"])
def test_what_no_file_can_hold_is_not_declared_as_missing(missing):
    with pytest.raises(DeclarationError, match="a number within the bounds"):
        Numeric("age", 0, 8, missing=missing)


def test_the_bin_of_missing_values_is_a_witness_too():
    attribute = Binned("age", 0, 8, edges=(4,), missing="own_bin")
    assert [_value(attribute, Fraction(place)) for place in range(3)] == [0, 4, None]


def test_a_missing_number_counts_as_one_within_the_bounds():
    for missing, said in ((101, "within the bounds"), ("own_bin", "of `binned`"), (float("nan"), "within")):
        with pytest.raises(DeclarationError, match=said):
            Numeric("age", 0, 100, missing=missing)
    with pytest.raises(DeclarationError, match="or `own_bin`"):
        Binned("age", 0, 100, edges=(50,), missing=-1)
    document = {
        "schema": "domain_v1",
        "attributes": [{"kind": "binned", "name": "age", "lower": 0, "upper": 8, "missing": "own_bin"}],
        "label": {"column": "y"},
    }
    declared = domain_file_of(document)
    # edges that are left out follow from the bounds
    assert declared.attributes[0].edges == edges_of(0, 8)
    assert domain_file_of(plain(declared)) == declared
    document["attributes"][0]["missing"] = "own"
    with pytest.raises(DomainFileError, match="missing"):
        domain_file_of(document)
    # a plain number keeps what its missing values count as when it is put into bins
    assert binned(declared.with_(attributes=(Numeric("age", 0, 8, missing=3),))).attributes[0].missing == 3


@pytest.mark.parametrize("name", PUBLIC)
def test_public_bins_cite_a_source_and_leave_no_value_out(name):
    shipped = {attribute.name: attribute for attribute in SOURCES[name].domain_file("one_hot").attributes}
    for declared in public_domains(name):
        assert declared.label.meanings == SOURCES[name].domain_file("one_hot").label.meanings
        for attribute in declared.attributes:
            known = shipped[attribute.name]
            if isinstance(attribute, Binned):
                assert (attribute.lower, attribute.upper) == (known.lower, known.upper)
                assert attribute.source
            else:
                assert set(attribute.categories) == set(known.categories)
                assert not isinstance(attribute, Grouped) or attribute.source
        names = {attribute.name for attribute in declared.attributes}
        assert set(shipped) <= names | set(declared.ignore)


def test_every_public_file_is_read():
    for path in FOLDER.glob("*.json"):
        assert load_domain_file(path).domain.dimension < 100


def test_bins_stay_inside_the_ball():
    declared = public_domains("compas")[0]
    assert len(declared.attributes) * np.float64(declared.domain.column_factor) ** 2 <= 1
