"""Documents: strict reading, errors that name the field, exact numbers, and schemas that say the same."""

from __future__ import annotations

import json
import pickle
from fractions import Fraction
from pathlib import Path
from typing import Annotated, Any, Literal

import jsonschema
import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import Meta

from reference.common.documents import Document, converted, plain, read, read_file, schema_of
from reference.common.errors import DocumentError, DomainFileError
from reference.common.numbers import Enclosure
from tests.schemas import files


class Leaf(Document, frozen=True, tag_field="kind", tag="leaf"):
    """A leaf."""

    size: int | float
    share: Fraction | None = None


class Branch(Document, frozen=True, tag_field="kind", tag="branch"):
    """A branch.

    This paragraph is not in the schema.
    """

    names: Annotated[tuple[str, ...], Meta(min_length=1)]

    def __post_init__(self) -> None:
        if "b" in self.names:
            raise DocumentError("no such name: 'b'", place="names[0]")


class Tree(Document, frozen=True, kw_only=True, tag_field="schema", tag="tree_v2"):
    """A tree."""

    parts: tuple[Leaf | Branch, ...]
    age: Enclosure | None = None
    counts: dict[str, int] = msgspec.field(default_factory=dict)
    sign: Literal["plus", "minus"] = "plus"


GOOD: dict[str, Any] = {
    "schema": "tree_v2",
    "parts": [{"kind": "leaf", "size": 1, "share": "1/3"}, {"kind": "branch", "names": ["a"]}],
    "age": {"lo": "0.5", "hi": "2/3"},
    "counts": {"x": 2},
    "sign": "minus",
}


def changed(*path: Any, to: Any) -> dict[str, Any]:
    document: dict[str, Any] = json.loads(json.dumps(GOOD))
    place: Any = document
    for step in path[:-1]:
        place = place[step]
    place[path[-1]] = to
    return document


def test_a_document_goes_to_json_and_back_unchanged() -> None:
    tree = converted(GOOD, Tree)
    assert tree.parts[0] == Leaf(size=1, share=Fraction(1, 3))
    assert tree.age == Enclosure(Fraction(1, 2), Fraction(2, 3))
    assert plain(tree) == GOOD
    jsonschema.validate(GOOD, schema_of(Tree))


def test_an_enclosure_of_which_only_the_upper_end_is_known_says_so() -> None:
    bound = changed("age", to={"upper": "0.5"})
    tree = converted(bound, Tree)
    assert tree.age == Enclosure(Fraction(0), Fraction(1, 2))
    assert plain(tree) == bound
    jsonschema.validate(bound, schema_of(Tree))
    assert plain(converted(changed("age", to="0"), Tree))["age"] == "0"


UNSEEN = ("lo is above hi", "no such name")
"""What no JSON Schema says."""

BROKEN = [
    (changed("schema", to="tree_v1"), "schema is 'tree_v1', not 'tree_v2' (at schema)"),
    ({"parts": []}, "the field 'schema' is missing"),
    (changed("parts", 0, "size", to="big"), "a number is needed, not 'big' (at parts[0].size)"),
    (changed("parts", 0, "size", to=True), "a number is needed, not True (at parts[0].size)"),
    (
        changed("parts", 0, "colour", to=1),
        "the field 'colour' is unknown; known are kind, size, share (at parts[0])",
    ),
    (changed("parts", 0, to={"kind": "leaf"}), "the field 'size' is missing (at parts[0])"),
    (changed("parts", 0, "kind", to="root"), "'root' is not one of 'leaf', 'branch' (at parts[0].kind)"),
    (changed("parts", 1, "names", 0, to=3), "a text is needed, not 3 (at parts[1].names[0])"),
    (changed("parts", 0, "share", to="a"), "an exact number as a text is needed, not 'a' (at parts[0].share)"),
    (changed("parts", 0, "share", to=0.5), "an exact number as a text is needed, not 0.5 (at parts[0].share)"),
    (changed("age", to={"lo": "2", "hi": "1"}), "lo is above hi"),
    (changed("age", to={"lo": "2"}), "an exact number as a text, or"),
    (changed("age", "hi", to=2), "an exact number as a text is needed, not 2 (at age)"),
    (changed("sign", to="times"), "'times' is not one of 'minus', 'plus' (at sign)"),
    (changed("parts", 1, "names", to=[]), "a list of length >= 1 is needed, not [] (at parts[1].names)"),
    (changed("parts", 1, "names", to=["b"]), "no such name: 'b' (at parts[1].names[0])"),
    (changed("counts", "x", to=0.5), "a whole number is needed"),
    (changed("note", to="x"), "the field 'note' is unknown; known are schema, parts, age, counts, sign"),
    ([], "an object is needed, not []"),
]


@pytest.mark.parametrize(("document", "message"), BROKEN)
def test_an_error_is_one_line_that_names_the_field(document: Any, message: str) -> None:
    with pytest.raises(DocumentError) as caught:
        read(json.dumps(document), Tree)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("document", [document for document, message in BROKEN if not message.startswith(UNSEEN)])
def test_what_is_refused_breaks_the_schema_too(document: Any) -> None:
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(document, schema_of(Tree))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"schema": "tree_v2", "parts": [], "parts": []}', "'parts' is given twice"),
        ('{"schema": "tree_v2", "parts": [{"kind": "leaf", "size": 1e999}]}', "finite number is needed"),
        ('{"schema": "tree_v2", "parts": [{"kind": "leaf", "size": NaN}]}', "NaN is not a JSON number"),
        (f'{{"schema": "tree_v2", "parts": [{{"kind": "leaf", "size": {10**400}}}]}}', "(at parts[0].size)"),
        ("[" * 100 + "]" * 100, "deeper than 64 levels"),
        ("[" * 100_000 + "]" * 100_000, "levels"),
        ("{", "is not JSON: Expecting property name enclosed in double quotes, column 2 (line 1)"),
        ("9" * 5000, "is not JSON that can be read"),
    ],
)
def test_text_that_is_no_plain_json_is_refused(text: str, message: str) -> None:
    with pytest.raises(DocumentError) as caught:
        read(text, Tree)
    assert message in str(caught.value)


def test_an_unreadable_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(DomainFileError, match=r"domain file: cannot be read: No such file .*\(file .*none.json\)"):
        read_file(tmp_path / "none.json", Tree, DomainFileError)
    (tmp_path / "latin").write_bytes(b'"\xe9"')
    with pytest.raises(DocumentError, match=r"not UTF-8 text \(byte 2\)"):
        read_file(tmp_path / "latin", Tree)
    with pytest.raises(DocumentError, match=r"not UTF-8 text \(byte 2\)"):
        read(b'"\xe9"', Tree)


def test_a_file_without_end_is_refused() -> None:
    with pytest.raises(DocumentError, match=r"is larger than 268,435,456 bytes \(file /dev/zero\)"):
        read_file("/dev/zero", Tree)
    with pytest.raises(DocumentError, match="is not JSON"):
        read_file("/dev/null", Tree)


def test_a_file_with_a_byte_order_mark_is_read(tmp_path: Path) -> None:
    (tmp_path / "tree.json").write_text(json.dumps(GOOD), encoding="utf-8-sig")
    assert read_file(tmp_path / "tree.json", Tree) == converted(GOOD, Tree)


@given(st.fractions(), st.fractions())
def test_exact_numbers_survive_a_document(one: Fraction, other: Fraction) -> None:
    tree = Tree(parts=(Leaf(size=0, share=one),), age=Enclosure(min(one, other), max(one, other)))
    assert read(json.dumps(plain(tree)), Tree) == tree


def test_a_schema_names_its_format_and_takes_the_first_paragraph() -> None:
    schema = schema_of(Tree)
    assert (schema["$id"], schema["title"]) == ("tree_v2.schema.json", "tree_v2")
    assert schema["required"] == ["schema", "parts"]
    assert schema["$defs"]["Branch"]["description"] == "A branch."
    jsonschema.Draft202012Validator.check_schema(schema)


def test_what_has_no_form_in_json_is_not_written() -> None:
    with pytest.raises(TypeError, match="complex"):
        plain(1j)


def test_the_committed_schemas_are_the_generated_ones() -> None:
    for path, text in files().items():
        assert path.exists(), f"{path} is missing: python -m tests.schemas --write"
        assert path.read_text() == text, f"{path} is stale: python -m tests.schemas --write"


def test_fields_that_are_not_set_are_pickled_without_a_search() -> None:
    kept = pickle.dumps(msgspec.UNSET)
    assert pickle.loads(kept) is msgspec.UNSET
    # pickle by itself writes a name, of the first loaded module that has it
    assert b"UnsetType" in kept
