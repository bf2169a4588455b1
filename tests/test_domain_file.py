"""Domain files: JSON there and back, the schema, every kind of mistake with its place."""

from __future__ import annotations

import json
from importlib import resources
from pathlib import Path
from typing import Any

import jsonschema
import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reference import datasets
from reference.common.documents import plain
from reference.common.errors import (
    BoundsFromDataError,
    DomainFileError,
    ExtraColumnError,
    GroupError,
    InfiniteValueError,
    LabelError,
    MissingColumnError,
    NotANumberError,
    OutOfBoundsError,
    UnseenCategoryError,
)
from reference.common.files import json_text
from reference.datasets.from_file import encode_raw
from reference.domain import Domain
from reference.domain.attributes import Attribute, Numeric, OneHot, Ordinal
from reference.domain.file import DomainFile, domain_file_of, load_domain_file
from reference.domain.markers import Marker

SCHEMA = json.loads(
    (resources.files("reference") / "common" / "schemas" / "domain_v1.schema.json").read_text(encoding="utf-8")
)

DOCUMENT: dict[str, Any] = {
    "schema": "domain_v1",
    "norm": "unit_box",
    "attributes": [
        {"name": "age", "kind": "numeric", "lower": 18, "upper": 98},
        {"name": "school", "kind": "ordinal", "categories": ["none", "some"]},
        {"name": "rooms", "kind": "one_hot", "categories": [1, 2, 3]},
    ],
    "label": {"column": "income", "one": [">50K"], "zero": ["<=50K"], "name": "rich"},
    "group": {"column": "sex", "one": ["M"], "zero": ["F", "X"]},
    "ignore": ["id"],
}
TABLE: dict[str, list[Any]] = {
    "id": ["a", "b", "c"],
    "age": ["18", "58", "98.0"],
    "school": ["none", "some", "none"],
    "rooms": ["1", "2.0", "3"],
    "income": [">50K", "<=50K", ">50K"],
    "sex": ["M", "F", "X"],
}


def changed(path: str, value: Any) -> dict[str, Any]:
    """Return the document with one place replaced; `...` takes the field away."""
    document = json.loads(json.dumps(DOCUMENT))
    *parents, last = [int(part) if part.isdigit() else part for part in path.split("/")]
    target = document
    for part in parents:
        target = target[part]
    if value is ...:
        del target[last]
    else:
        target[last] = value
    return document


def is_valid(document: Any) -> bool:
    """Tell what the JSON Schema says."""
    return bool(jsonschema.Draft202012Validator(SCHEMA).is_valid(document))


# --- There and back ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", datasets.SOURCES)
@pytest.mark.parametrize("encoding", ["ordinal", "one_hot"])
@pytest.mark.parametrize("norm", ["unit_ball", "unit_box", "symmetric_ball"])
def test_shipped_domain_goes_to_json_and_back(name: str, encoding: str, norm: str) -> None:
    choices = datasets.Encoding(norm, encoding, intercept=True, keep_group=True)
    declared = datasets.shipped_domain(name, choices)
    text = json_text(plain(declared))
    assert is_valid(json.loads(text))
    back = domain_file_of(json.loads(text))
    assert back == declared
    assert back.domain == declared.domain
    assert back.domain.columns == declared.domain.columns
    # the domain alone, without raw columns, comes back too
    assert domain_file_of(plain(DomainFile.of(declared.domain))).domain == declared.domain


def names(count: int) -> st.SearchStrategy[list[str]]:
    return st.lists(st.text(min_size=1, max_size=6), min_size=count, max_size=count, unique=True)


@st.composite
def domains(draw: st.DrawFn) -> Domain:
    """Draw a domain of any kind."""
    bounds = st.floats(-1e300, 1e300)
    values = st.one_of(st.text(max_size=4), st.integers(-(10**20), 10**20), st.floats(-1e9, 1e9))
    label, group, *columns = draw(names(draw(st.integers(3, 7))))
    attributes: list[Attribute] = []
    for column in columns:
        kind = draw(st.sampled_from([Numeric, Ordinal, OneHot]))
        if kind is Numeric:
            lower, upper = sorted(draw(st.lists(bounds, min_size=2, max_size=2, unique=True)))
            attributes.append(Numeric(column, lower, upper, draw(st.booleans())))
        else:
            # texts of a kind of their own, so that none writes a declared number
            categories = draw(st.lists(values, min_size=2, max_size=5, unique=True))
            attributes.append(kind(column, tuple("t" + v if isinstance(v, str) else v for v in categories)))
    try:
        return Domain(
            tuple(attributes),
            label,
            draw(st.sampled_from([None, group])),
            draw(st.sampled_from(["unit_ball", "unit_box", "symmetric_ball"])),
            intercept=draw(st.booleans()),
        )
    except ValueError:
        # two coordinates of one name
        return Domain((Numeric("a", 0, 1),), "y")


@given(domains())
def test_any_domain_goes_to_json_and_back(domain: Domain) -> None:
    document = json.loads(json_text(plain(DomainFile.of(domain))))
    assert is_valid(document)
    assert domain_file_of(document).domain == domain


def test_prescaled_domain_goes_to_json_and_back() -> None:
    domain = Domain.of_columns(["a", "b"])
    assert domain_file_of(plain(DomainFile.of(domain))).domain == domain


def test_document_with_every_field_is_read_as_written() -> None:
    document = changed("attributes/0/clip", True)
    declared = domain_file_of(document)
    assert {**plain(declared), "comment": 1} == {
        **document,
        "intercept": False,
        "keep_group": False,
        "comment": 1,
    }
    assert declared.domain.columns == ("age", "school", "rooms=1", "rooms=2", "rooms=3")
    assert (declared.domain.label, declared.domain.group) == ("rich", "sex")


@pytest.mark.parametrize("category", [True, None, (1, 2), float("nan")])
def test_category_that_json_has_not_cannot_be_written(category: Any) -> None:
    with pytest.raises(DomainFileError, match=r"no category like .* \(at attributes\[0\].categories\[1\]\)"):
        plain(DomainFile.of(Domain((Ordinal("a", ("x", category)),), "y")))


def test_numpy_numbers_are_written_as_numbers() -> None:
    domain = Domain((Numeric("a", np.float64(0), np.int64(3)), Ordinal("b", (np.int64(1), np.int64(2)))), "y")
    assert domain_file_of(json.loads(json_text(plain(DomainFile.of(domain))))).domain == domain


# --- Reading a table -----------------------------------------------------------------------------------------


def test_texts_stand_for_declared_numbers() -> None:
    records = encode_raw(domain_file_of(DOCUMENT), TABLE)
    assert records.x.tolist() == [[0, 0, 1, 0, 0], [0.5, 1, 0, 1, 0], [1, 0, 0, 0, 1]]
    assert records.y.tolist() == [1, 0, 1]
    assert records.z is not None
    assert records.z.tolist() == [1, 0, 0]


def test_typed_values_are_taken_as_they_are() -> None:
    table = {**TABLE, "age": [18, 58.0, 98], "rooms": [1, 2.0, 3]}
    declared = domain_file_of(DOCUMENT)
    assert np.array_equal(encode_raw(declared, table).x, encode_raw(declared, TABLE).x)


def test_marker_above_a_threshold_means_strictly_above() -> None:
    marker = Marker("income", above=25_000)
    assert marker.decode(["25000", "25000.01", -3, 1e9], LabelError).tolist() == [0, 1, 0, 1]


def test_one_column_may_be_attribute_and_group() -> None:
    document = changed("group", {"column": "age", "above": 25, "name": "over_25"})
    records = encode_raw(domain_file_of(document), {k: v for k, v in TABLE.items() if k != "sex"})
    assert records.z is not None
    assert records.z.tolist() == [0, 1, 1]


def test_clip_of_one_attribute_leaves_the_others_strict() -> None:
    declared = domain_file_of(changed("attributes/0/clip", True))
    assert encode_raw(declared, {**TABLE, "age": ["0", "58", "1e9"]}).x[:, 0].tolist() == [0.0, 0.5, 1.0]
    with pytest.raises(UnseenCategoryError):
        encode_raw(declared, {**TABLE, "rooms": ["1", "2", "4"]})


@pytest.mark.parametrize(
    ("column", "value", "error"),
    [
        ("age", "1_000", NotANumberError),
        ("age", "nan", NotANumberError),
        ("age", "inf", NotANumberError),
        ("age", "", NotANumberError),
        ("age", "０", NotANumberError),
        ("age", "5,5", NotANumberError),
        ("rooms", "4", UnseenCategoryError),
        ("rooms", "one", UnseenCategoryError),
        # the float of such a text is another number, infinity or 0
        ("age", "1e400", InfiniteValueError),
        ("age", "1e-999999999999", OutOfBoundsError),
        ("school", "None", UnseenCategoryError),
        ("income", ">50K.", LabelError),
        ("income", "", LabelError),
        ("income", None, LabelError),
        ("sex", "m", GroupError),
    ],
)
def test_value_that_is_not_declared_is_named(column: str, value: Any, error: type[Exception]) -> None:
    table = {name: list(values) for name, values in TABLE.items()}
    table[column][1] = value
    with pytest.raises(error) as caught:
        encode_raw(domain_file_of(DOCUMENT), table)
    assert (caught.value.row, caught.value.column, caught.value.value) == (1, column, value)  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("declared", "value", "said"),
    [
        (["True", "False"], True, "a truth value is the number 1 or 0: declare these, or give texts"),
        (["True", "False"], np.False_, "a truth value is the number 1 or 0: declare these, or give texts"),
        (["1", "2"], "2.0", "declare numbers without quotes: 1, 1.0 and 1e0 are then the same"),
        (["no", "yes"], 1, "it is a number where texts are declared"),
        (["no", "yes"], np.float64(1.0), "it is a number where texts are declared"),
        (["no", "yes"], " yes", "it differs from 'yes' by blanks only: spell both alike"),
        (["no", "not  now"], "not now", "it differs from 'not  now' by blanks only: spell both alike"),
        (["no", "yes"], "Yes", "it differs from 'yes' by capitals only: spell both alike"),
        (["no", "yes"], "YES ", "it differs from 'yes' by blanks and capitals only: spell both alike"),
        # nothing of the kind is wrong
        (["no", "yes"], "y es", None),
        (["1", "2"], "3", None),
        ([1, 2], 3, None),
        ([0, 1], "yes", None),
    ],
)
def test_value_of_another_kind_than_declared_gets_a_hint(
    declared: list[Any], value: Any, said: str | None
) -> None:
    for path, column in (
        ("attributes/2", {"name": "rooms", "kind": "one_hot", "categories": declared}),
        ("label", {"column": "income", "zero": declared[:1], "one": declared[1:]}),
    ):
        table = {**TABLE, column.get("name", "income"): [declared[0], declared[1], value]}
        with pytest.raises((UnseenCategoryError, LabelError)) as caught:
            encode_raw(domain_file_of(changed(path, column)), table)
        problem = str(caught.value)
        assert "np." not in problem
        if said is None:
            assert not any(hint in problem for hint in ("truth value", "without quotes", "where texts", "alike"))
        else:
            assert f"; {said} (row 2" in problem


@pytest.mark.parametrize("missing", [None, np.nan, pd.NA, pd.NaT])
def test_missing_category_of_any_kind_is_named(missing: Any) -> None:
    with pytest.raises(NotANumberError, match="give it a number, and declare that as a category") as caught:
        encode_raw(domain_file_of(DOCUMENT), {**TABLE, "rooms": [1, missing, 3]})
    assert (caught.value.row, caught.value.column) == (1, "rooms")


def test_truth_value_or_a_group_among_attributes_gets_a_remedy() -> None:
    with pytest.raises(
        DomainFileError, match="not True; write a truth value as the table does: in quotes, or as 1"
    ):
        domain_file_of(changed("label/one", [True]))
    with pytest.raises(DomainFileError, match="are not filled in"):
        domain_file_of(changed("label/one", None))
    with pytest.raises(DomainFileError, match="attributes leave out the label and the group"):
        domain_file_of(changed("group/column", "age"))
    with pytest.raises(DomainFileError, match="names must be distinct, not"):
        domain_file_of(changed("attributes/1/name", "age"))


def test_column_without_a_name_gets_a_remedy_that_works() -> None:
    declared = domain_file_of(DOCUMENT)
    with pytest.raises(ExtraColumnError, match=r"has no name.*index=False"):
        encode_raw(declared, {"": [0, 1, 2], **TABLE})
    with pytest.raises(ExtraColumnError, match="its list `ignore` may name it"):
        encode_raw(declared, {"Unnamed: 0": [0, 1, 2], **TABLE})
    # a release has its own domain, which nobody can change
    with pytest.raises(ExtraColumnError, match="take it out of the table"):
        declared.without_marks().columns_to_read([*TABLE, "id"])


def test_columns_must_be_declared_or_ignored() -> None:
    declared = domain_file_of(DOCUMENT)
    with pytest.raises(ExtraColumnError) as extra:
        encode_raw(declared, {**TABLE, "weight": [1, 2, 3]})
    assert extra.value.column == "weight"
    with pytest.raises(MissingColumnError) as missing:
        encode_raw(declared, {name: values for name, values in TABLE.items() if name != "sex"})
    assert missing.value.column == "sex"


def test_label_and_group_can_be_named_later_but_not_otherwise() -> None:
    bare = domain_file_of({key: DOCUMENT[key] for key in ("schema", "attributes")})
    with pytest.raises(DomainFileError, match="no label is declared"):
        _ = bare.domain
    complete = bare.with_columns("y", "z")
    assert (complete.domain.label, complete.domain.group) == ("y", "z")
    assert complete.with_columns("y", "z") == complete
    with pytest.raises(DomainFileError, match="the label is column 'y', not 'x'"):
        complete.with_columns("x", None)


def test_bounds_read_from_the_data_are_refused_for_private_mechanisms() -> None:
    domain_file_of(DOCUMENT).require_public()
    marked = domain_file_of(changed("attributes/1/from_data", True))
    assert marked.from_data == ("school",)
    assert domain_file_of(plain(marked)) == marked
    with pytest.raises(BoundsFromDataError, match="school"):
        marked.require_public()


# --- Mistakes ------------------------------------------------------------------------------------------------

# (path to change, new value, place that the message names, whether the JSON Schema says no too)
MISTAKES: list[tuple[str, Any, str | None, bool]] = [
    ("schema", "domain_v2", "schema", True),
    ("schema", ..., None, True),
    ("norm", "l2", "norm", True),
    ("norm", ["unit_ball"], "norm", True),
    ("colour", "red", None, True),
    ("intercept", 1, "intercept", True),
    ("attributes", {}, "attributes", True),
    ("attributes", [], "attributes", True),
    ("attributes/0", 3, "attributes[0]", True),
    ("attributes/0/kind", "integer", "attributes[0].kind", True),
    ("attributes/0/kind", ["numeric"], "attributes[0].kind", True),
    ("attributes/0/lower", ..., "attributes[0]", True),
    ("attributes/0/lower", None, "attributes[0].lower", True),
    ("attributes/0/lower", "18", "attributes[0].lower", True),
    ("attributes/0/lower", True, "attributes[0].lower", True),
    ("attributes/0/lower", 99, "attributes[0]", False),
    ("attributes/0/upper", 10**400, "attributes[0].upper", False),
    ("attributes/0/categories", ["a"], "attributes[0]", True),
    ("attributes/0/name", "", "attributes[0].name", True),
    ("attributes/0/clip", "yes", "attributes[0].clip", True),
    ("attributes/1/categories", None, "attributes[1].categories", True),
    ("attributes/1/categories", ["one"], "attributes[1]", True),
    ("attributes/1/categories", ["a", "a"], "attributes[1]", True),
    ("attributes/1/categories", ["a", True], "attributes[1].categories[1]", True),
    ("attributes/1/categories", [1, "1.0"], "attributes[1].categories[1]", False),
    ("attributes/1/lower", 0, "attributes[1]", True),
    ("attributes/1/name", "age", None, False),
    ("label", [], "label", True),
    ("label/column", ..., "label", True),
    ("label/column", 3, "label.column", True),
    ("label/zero", ..., "label", True),
    ("label/zero", None, "label.zero", True),
    ("label/zero", [], "label", True),
    ("label/zero", [">50K"], "label", False),
    ("label/above", 1, "label", True),
    ("group/name", "rich", None, False),
    ("group", ..., None, False),
    ("ignore", "id", "ignore", True),
    ("ignore", [3], "ignore[0]", True),
    ("ignore", ["age"], "ignore[0]", False),
    ("ignore", ["id", "income"], "ignore[1]", False),
    ("ignore", ["sex"], "ignore[0]", False),
]


@pytest.mark.parametrize(("path", "value", "place", "by_schema"), MISTAKES)
def test_mistake_is_reported_with_its_place(path: str, value: Any, place: str | None, by_schema: bool) -> None:
    document = changed(path, value)
    if path == "group":
        document["keep_group"] = True
        # a group that is to be kept may be named later, so the file alone is sound
        assert domain_file_of(document).with_columns(None, "sex").domain.columns[-1] == "sex"
        return
    with pytest.raises(DomainFileError) as caught:
        domain_file_of(document)
    assert caught.value.place == place
    assert is_valid(document) is not by_schema


def test_sound_document_is_accepted_by_both() -> None:
    assert is_valid(DOCUMENT)
    domain_file_of(DOCUMENT)


@pytest.mark.parametrize(
    ("text", "line", "problem"),
    [
        ('{\n "schema": "domain_v1",\n "attributes": [}\n', 3, "is not JSON"),
        ("", 1, "is not JSON"),
        ('{"schema": "domain_v1", "schema": "x"}', None, "'schema' is given twice"),
        ('{"schema": "domain_v1", "attributes": [NaN]}', None, "NaN is not a JSON number"),
        ("[" * 100_000, None, "is not JSON that can be read"),
        ('{"a": ' + "9" * 5000 + "}", None, "is not JSON that can be read"),
        ("[]", None, "an object is needed"),
    ],
)
def test_text_that_is_no_domain_file_is_reported_with_the_file(
    text: str, line: int | None, problem: str, tmp_path: Path
) -> None:
    path = tmp_path / "domain.json"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(DomainFileError, match=problem) as caught:
        load_domain_file(path)
    assert (caught.value.file, caught.value.line) == (str(path), line)
    assert str(path) in str(caught.value)


def test_file_that_cannot_be_read_is_reported(tmp_path: Path) -> None:
    with pytest.raises(DomainFileError, match=r"cannot be read.*; `cfm domain --describe` writes a template"):
        load_domain_file(tmp_path / "missing.json")
    with pytest.raises(DomainFileError, match="cannot be read") as caught:
        load_domain_file(tmp_path)
    assert "--describe" not in str(caught.value)
    (tmp_path / "latin.json").write_bytes(b'{"schema": "\xe9"}')
    with pytest.raises(DomainFileError, match="not UTF-8"):
        load_domain_file(tmp_path / "latin.json")


def test_file_with_a_byte_order_mark_is_read(tmp_path: Path) -> None:
    (tmp_path / "domain.json").write_text(json.dumps(DOCUMENT), encoding="utf-8-sig")
    assert load_domain_file(tmp_path / "domain.json") == domain_file_of(DOCUMENT)
