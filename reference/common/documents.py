"""Documents: one declared type each, with its reader, writer and schema.

A document is a :class:`Document` with typed fields.  Reading is strict: the text must be JSON by the standard,
every number finite, every field known and of its kind; an error names the field.  The member ``schema``,
msgspec's tag, names the format and its version; another version is refused before anything else is read.
Exact numbers are strings, ``"2/3"`` or ``"1e-400"``; an :class:`reference.common.numbers.Enclosure` is such a
string or ``{"lo": , "hi": }``.
"""

from __future__ import annotations

import copyreg
import json
import math
import re
from collections.abc import Iterator
from fractions import Fraction
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Any, TypeVar

import msgspec
import numpy as np

from reference.common.errors import DocumentError
from reference.common.numbers import Enclosure, decimal_text, exact, is_exact_text
from reference.common.printable import is_writable, one_line
from reference.common.strict_json import parsed

DEEPEST = 64
"""Most levels of nested lists and objects."""

LARGEST_FILE = 2**28
"""Most bytes of a file that holds a document."""

LARGEST_INTEGER = 2**1023
"""Beyond this, floats do not hold every whole number."""

JSON_SCHEMA = "https://json-schema.org/draft/2020-12/schema"

_Kind = TypeVar("_Kind")

# by itself, pickle searches every module for the one that defines it: a millisecond for each message to a worker
copyreg.pickle(msgspec.UnsetType, lambda _: (msgspec.UnsetType, ()))


class Document(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Base of every document and of every part of one: frozen, and strict about its fields.

    A subclass repeats it, ``class Leaf(Document, frozen=True, kw_only=True)``: msgspec does not inherit
    ``kw_only``, and type checkers do not inherit ``frozen``.  A document with its own file also names its format:
    ``class Tree(Document, frozen=True, kw_only=True, tag_field="schema", tag="tree_v1")``.
    """


def always(value: _Kind) -> _Kind:
    """Return the default of a field that is written even if `omit_defaults` leaves others out."""
    found: _Kind = msgspec.field(default_factory=lambda: value)
    return found


# --- Reading -------------------------------------------------------------------------------------------------


def read_file(path: str | Traversable, kind: type[_Kind], error: type[DocumentError] = DocumentError) -> _Kind:
    """Read a document from a file of UTF-8 text.

    Parameters
    ----------
    path : str or path
    kind : type
    error : type of DocumentError
        What is raised.

    Raises
    ------
    reference.common.errors.DocumentError
        With the file, and with the line or the field.
    """
    return converted(json_of_file(path, error), kind, error, file=str(path))


def json_of_file(path: str | Traversable, error: type[DocumentError] = DocumentError) -> Any:
    """Return the parsed JSON of a file, not yet of a declared type."""
    try:
        with (Path(path) if isinstance(path, str) else path).open("rb") as file:
            # a device or a pipe may have no end
            content = file.read(LARGEST_FILE + 1)
    except OSError as problem:
        raise error(f"cannot be read: {problem.strerror}", file=str(path)) from problem
    if len(content) > LARGEST_FILE:
        raise error(f"is larger than {LARGEST_FILE:,} bytes", file=str(path))
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as problem:
        raise error(f"is not UTF-8 text (byte {problem.start + 1})", file=str(path)) from problem
    return json_of_text(text, error, file=str(path))


def read(
    text: str | bytes, kind: type[_Kind], error: type[DocumentError] = DocumentError, *, file: str | None = None
) -> _Kind:
    """Read a document from text; `file` is named in errors."""
    try:
        decoded = text.decode() if isinstance(text, bytes) else text
    except UnicodeDecodeError as problem:
        raise error(f"is not UTF-8 text (byte {problem.start + 1})", file=file) from problem
    return converted(json_of_text(decoded, error, file=file), kind, error, file=file)


def json_of_text(text: str, error: type[DocumentError] = DocumentError, *, file: str | None = None) -> Any:
    """Return the parsed JSON of a text, not yet of a declared type."""
    try:
        return parsed(text, "is not a JSON number")
    except json.JSONDecodeError as problem:
        raise error(
            f"is not JSON: {problem.msg}, column {problem.colno}", file=file, line=problem.lineno
        ) from problem
    except RecursionError as problem:
        raise error("is not JSON that can be read: too many levels", file=file) from problem
    except ValueError as problem:
        raise error(f"is not JSON that can be read: {problem}", file=file) from problem


def converted(
    document: Any, kind: type[_Kind], error: type[DocumentError] = DocumentError, *, file: str | None = None
) -> _Kind:
    """Return a parsed JSON document as its declared type.

    Parameters
    ----------
    document : object
        As Python's ``json`` reads it.
    kind : type
    error : type of DocumentError
    file : str, optional
        Named in errors.

    Raises
    ------
    reference.common.errors.DocumentError
        With the field.
    """
    for place, problem in _unreadable(document):
        raise error(problem, file=file, place=place or None)
    expected = format_of(kind)
    if expected is not None and isinstance(document, dict):
        if "schema" not in document:
            raise error("the field 'schema' is missing", file=file)
        found = document["schema"]
        if found != expected:
            raise error(f"schema is {_quoted(found)}, not {expected!r}", file=file, place="schema")
    try:
        return msgspec.convert(document, kind, strict=True, dec_hook=_decoded)
    except msgspec.ValidationError as problem:
        place, said = _said(problem, document, kind)
        raise error(said, file=file, place=place or None) from problem


def format_of(kind: Any) -> str | None:
    """Return the value of the member `schema`, such as ``domain_v1``; None for a type that is not a file."""
    if not (isinstance(kind, type) and issubclass(kind, msgspec.Struct)):
        return None
    config = kind.__struct_config__
    return str(config.tag) if config.tag_field == "schema" else None


def _unreadable(document: Any, place: str = "", depth: int = 0) -> Iterator[tuple[str, str]]:
    """Yield the place of every number that no float holds, and of everything nested too deep."""
    if isinstance(document, float) and not math.isfinite(document):
        yield place, f"a finite number is needed, not {document}"
    elif isinstance(document, int) and abs(document) > LARGEST_INTEGER:
        yield place, "the number is too large for a float"
    elif isinstance(document, str) and not is_writable(document):
        yield place, f"the text {_quoted(document)} contains half a character, which no file can store"
    elif isinstance(document, (dict, list)):
        if depth == DEEPEST:
            yield place, f"lists and objects go deeper than {DEEPEST} levels"
            return
        pairs = document.items() if isinstance(document, dict) else enumerate(document)
        for name, value in pairs:
            if isinstance(name, str) and not is_writable(name):
                yield place, f"the name {_quoted(name)} contains half a character, which no file can store"
                return
            step = f"[{name}]" if isinstance(document, list) else f".{name}" if place else str(name)
            yield from _unreadable(value, place + step, depth + 1)


def _decoded(kind: type[Any], value: Any) -> Any:
    """Read the types that JSON lacks."""
    if kind is Fraction:
        return _fraction(value)
    if kind is Enclosure:
        if isinstance(value, dict) and set(value) == {"lo", "hi"}:
            lower, upper = _fraction(value["lo"]), _fraction(value["hi"])
            if lower > upper:
                raise ValueError(f"lo is above hi in {_quoted(value)}")
            return Enclosure(lower, upper)
        if isinstance(value, dict) and set(value) == {"upper"}:
            return Enclosure(Fraction(0), _fraction(value["upper"]))
        if isinstance(value, str):
            return Enclosure(_fraction(value), _fraction(value))
        raise ValueError(
            f'an exact number as a text, or {{"lo": , "hi": }} of two, or {{"upper": }} of one, is needed, not '
            f"{_quoted(value)}"
        )
    raise NotImplementedError(kind)


def _fraction(value: Any) -> Fraction:
    try:
        if isinstance(value, str) and is_exact_text(value):
            return exact("number", value)
    except ValueError:
        pass
    raise ValueError(f"an exact number as a text is needed, not {_quoted(value)}")


# --- What an error says --------------------------------------------------------------------------------------

_PLACE = re.compile(r"(?s)(?P<problem>.*?)(?: - at `(?:key in )?\$(?P<place>.*)`)?")
_EXPECTED = re.compile(r"Expected `(?P<kinds>[^`]*)`(?: of length (?P<length>.*)|, got .*)")
_STEP = re.compile(r"\.([^.\[\]]+)|\[(\d+|\.\.\.)\]")
_WORDS = {
    "int": "a whole number",
    "float": "a number",
    "str": "a text",
    "bool": "true or false",
    "array": "a list",
    "object": "an object",
    "null": "null",
}


def _said(error: msgspec.ValidationError, document: Any, kind: type[Any]) -> tuple[str, str]:
    """Turn the library's message into a place and a problem, in the words of this project."""
    parts = _PLACE.fullmatch(str(error))
    place = (parts["place"] or "") if parts else ""
    problem = parts["problem"] if parts else str(error)
    cause = error.__cause__
    if isinstance(cause, DocumentError):
        within = f".{cause.place}" if cause.place else ""
        return f"{place}{within}".removeprefix("."), cause.problem
    value = _value_at(document, place)
    expected = _EXPECTED.fullmatch(problem)
    if expected:
        kinds = [_WORDS.get(kind, kind) for kind in expected["kinds"].split(" | ")]
        if "a number" in kinds:
            kinds = [kind for kind in kinds if kind != "a whole number"]
        length = f" of length {expected['length']}" if expected["length"] else ""
        truth = isinstance(value, bool) and "a text" in kinds
        hint = "; write a truth value as the table does: in quotes, or as 1 or 0" if truth else ""
        problem = f"{' or '.join(kinds)}{length} is needed, not {_quoted(value)}{hint}"
    elif problem.startswith("Invalid "):
        problem = f"{_quoted(value)} is not one of {', '.join(_admitted(kind, document, place)[0])}"
    elif problem.startswith("Object contains unknown field"):
        known = ", ".join(_admitted(kind, document, place)[1])
        problem = f"the field {_quoted(problem.split('`')[1])} is unknown; known are {known}"
    elif problem.startswith("Object missing required field"):
        problem = f"the field {_quoted(problem.split('`')[1])} is missing"
    return place.removeprefix("."), one_line(problem)


def _admitted(kind: type[Any], document: Any, place: str) -> tuple[list[str], list[str]]:
    """Return the values and the fields that a type's schema allows at a place."""
    schema = schema_of(kind)
    parts, value = _choices(schema, schema, document), document
    for name, index in _STEP.findall(place):
        inner = [part.get("items") if index.isdigit() else part.get("additionalProperties") for part in parts]
        found = [part["properties"].get(name) for part in parts if name in part.get("properties", {})] or inner
        value = _value_at(value, f".{name}" if name else f"[{index}]")
        parts = [choice for part in found if isinstance(part, dict) for choice in _choices(schema, part, value)]
    values = [
        repr(value) for part in parts for value in part.get("enum", [part["const"]] if "const" in part else [])
    ]
    return values, list(dict.fromkeys(name for part in parts for name in part.get("properties", {})))


def _choices(schema: dict[str, Any], part: dict[str, Any], value: Any) -> list[dict[str, Any]]:
    """Return the parts that a value may stand for: those with its tag, or all if none has it."""
    if "$ref" in part and part is not schema:
        return _choices(schema, schema["$defs"][part["$ref"].rpartition("/")[2]], value)
    if "anyOf" not in part:
        return [part]
    found = [choice for entry in part["anyOf"] for choice in _choices(schema, entry, value)]
    return [choice for choice in found if _has_tag(choice, value)] or found


def _has_tag(part: dict[str, Any], value: Any) -> bool:
    tags = {name: entry["const"] for name, entry in part.get("properties", {}).items() if "const" in entry}
    return isinstance(value, dict) and bool(tags) and all(value.get(name) == tags[name] for name in tags)


def _value_at(document: Any, place: str) -> Any:
    value = document
    for name, index in _STEP.findall(place):
        try:
            value = value if index == "..." else value[int(index)] if index else value[name]
        except (KeyError, IndexError, TypeError):
            return value
    return value


def _quoted(value: Any) -> str:
    text = one_line(repr(value))
    return text if len(text) <= 80 else f"{text[:80]}..."


# --- Writing -------------------------------------------------------------------------------------------------


def plain(value: Any) -> Any:
    """Return a document, or any part of one, as JSON's lists, dicts, texts and numbers."""
    return _with_lists(msgspec.to_builtins(value, enc_hook=_encoded))


def _with_lists(value: Any) -> Any:
    """Return what ``json.loads`` would give back: lists for tuples."""
    if isinstance(value, dict):
        return {name: _with_lists(entry) for name, entry in value.items()}
    return [_with_lists(entry) for entry in value] if isinstance(value, (list, tuple)) else value


def _encoded(value: Any) -> Any:
    if isinstance(value, Fraction):
        return decimal_text(value)
    if isinstance(value, Enclosure):
        if value.lower == value.upper:
            return decimal_text(value.lower)
        if value.lower == 0:
            # no lower end is known of a number that is never negative
            return {"upper": decimal_text(value.upper)}
        return {"lo": decimal_text(value.lower), "hi": decimal_text(value.upper)}
    if isinstance(value, (np.ndarray, np.generic)):
        return value.tolist()
    if isinstance(value, str):
        # of a class of its own
        return str.__str__(value)
    raise TypeError(f"{type(value).__name__} has no form in JSON")


# --- Describing ----------------------------------------------------------------------------------------------

EXACT_NUMBER = {
    "type": "string",
    "description": 'An exact number: a whole number, a decimal such as "1e-400", or "p/q".',
    "pattern": r"^[+-]?(\d+/\d+|(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?)$",
}


def schema_of(kind: type[Any]) -> dict[str, Any]:
    """Return the JSON Schema of a document's type: what :func:`read` accepts."""
    _, parts = msgspec.json.schema_components([kind], schema_hook=_described, ref_template="#/$defs/{name}")
    definitions = {name: _tidied(part) for name, part in parts.items()}
    title = format_of(kind) or kind.__name__
    top = definitions.pop(kind.__name__)
    schema = {"$schema": JSON_SCHEMA, "$id": f"{title}.schema.json", **top, "title": title}
    return {**schema, "$defs": dict(sorted(definitions.items()))} if definitions else schema


def _described(kind: type[Any]) -> dict[str, Any]:
    if kind is Fraction:
        return dict(EXACT_NUMBER)
    if kind is Enclosure:
        ends = {"lo": dict(EXACT_NUMBER), "hi": dict(EXACT_NUMBER)}
        between = {"type": "object", "required": ["lo", "hi"], "properties": ends, "additionalProperties": False}
        bound = {
            "type": "object",
            "required": ["upper"],
            "properties": {"upper": dict(EXACT_NUMBER)},
            "additionalProperties": False,
        }
        return {"oneOf": [dict(EXACT_NUMBER), between, bound]}
    raise NotImplementedError(kind)


def _tidied(part: dict[str, Any]) -> dict[str, Any]:
    """Keep the first paragraph of a docstring as the description, and drop what is OpenAPI's."""
    found = {name: value for name, value in part.items() if name != "discriminator"}
    whole, any_number = {"type": "integer"}, {"type": "number"}
    if whole in found.get("anyOf", []) and any_number in found["anyOf"]:
        kept = [entry for entry in found["anyOf"] if entry != whole]
        found = {**found, "anyOf": kept} if len(kept) > 1 else {**found, **kept[0], "anyOf": None}
    if len(found.get("enum", [])) == 1:
        found = {**found, "const": found["enum"][0], "enum": None}
    found = {name: value for name, value in found.items() if name not in ("anyOf", "enum") or value is not None}
    for name, value in found.items():
        if name == "description" and isinstance(value, str):
            found[name] = " ".join(value.split("\n\n")[0].split())
        elif isinstance(value, dict):
            found[name] = _tidied(value)
        elif isinstance(value, list):
            found[name] = [_tidied(item) if isinstance(item, dict) else item for item in value]
    return found
