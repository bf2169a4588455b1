"""Domain files: a declared domain as JSON, and how the raw columns of a table become its y, z and attributes.

The format is ``domain_v1`` (``reference/schemas/domain_v1.schema.json``, explained in ``docs/files.md``).  A
domain file is public: it must be written without looking at the data.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NoReturn

import numpy as np

from reference.attributes import Attribute, Numeric, OneHot, Ordinal
from reference.domain import NORMS, Domain
from reference.errors import (
    BoundsFromDataError,
    DataError,
    DomainFileError,
    ExtraColumnError,
    GroupError,
    LabelError,
    MissingColumnError,
    NotANumberError,
    ParameterError,
)
from reference.records import Records
from reference.values import as_numbers, is_hashable

SCHEMA = "domain_v1"

NUMBER = re.compile(r"\s*[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?\s*", re.ASCII)
"""How a number is written in a text file."""

NUMBER_CHARACTERS = frozenset("0123456789+-.eE ")


@dataclass(frozen=True)
class Marker:
    """A raw column that says y or z, and the public rule that turns its values into 0 and 1.

    Parameters
    ----------
    column : str
        The raw column.
    one, zero : tuple of str, int or float
        The values that mean 1, and those that mean 0; any other value is an error.
    above : float, optional
        Instead of values: numbers above it mean 1, all others 0.
    name : str
        What the domain calls it; the column's own name unless given.
    """

    column: str
    one: tuple[Hashable, ...] = (1,)
    zero: tuple[Hashable, ...] = (0,)
    above: float | None = None
    name: str = ""

    def __post_init__(self) -> None:
        if not self.name:
            object.__setattr__(self, "name", self.column)

    def decode(self, values: Sequence[Any], error: type[LabelError | GroupError]) -> list[int]:
        """Return 0 or 1 for each value, naming the first that is neither."""
        if self.above is not None:
            return [int(above) for above in numbers_of(self.column, values) > self.above]
        meaning = {**dict.fromkeys(self.zero, 0), **dict.fromkeys(self.one, 1)}
        marks = []
        for row, value in enumerate(as_declared([*self.zero, *self.one], values)):
            mark = meaning.get(value) if is_hashable(value) else None
            if mark is None:
                allowed = " or ".join(repr(known) for known in meaning)
                raise error(f"the value is not {allowed}", row=row, column=self.column, value=value)
            marks.append(mark)
        return marks

    def to_json(self) -> dict[str, Any]:
        """Return the marker as a JSON object."""
        named = {} if self.name == self.column else {"name": self.name}
        if self.above is not None:
            return {"column": self.column, **named, "above": self.above}
        return {
            "column": self.column,
            **named,
            "one": [_plain(value, self.column) for value in self.one],
            "zero": [_plain(value, self.column) for value in self.zero],
        }


@dataclass(frozen=True)
class DomainFile:
    """A domain with the raw columns that it is read from.

    Parameters
    ----------
    attributes : tuple of Numeric, Ordinal or OneHot
        Each one a raw column of the same name.
    label, group : Marker, optional
        Without a label the file must be completed with :meth:`with_columns` before :attr:`domain` exists.
    norm, intercept, keep_group, prescaled
        As in :class:`reference.domain.Domain`.
    ignore : tuple of str
        Raw columns that may be there and are not read.
    from_data : tuple of str
        Raw columns whose bounds or values were read from the data, so that they are not public.
    """

    attributes: tuple[Attribute, ...]
    label: Marker | None = None
    group: Marker | None = None
    norm: str = "unit_ball"
    intercept: bool = False
    keep_group: bool = False
    prescaled: bool = False
    ignore: tuple[str, ...] = ()
    from_data: tuple[str, ...] = ()

    @classmethod
    def of(cls, domain: Domain) -> DomainFile:
        """Return the file of a domain whose table already has y and z as 0 and 1."""
        return cls(
            attributes=domain.attributes,
            label=Marker(domain.label),
            group=None if domain.group is None else Marker(domain.group),
            norm=domain.norm,
            intercept=domain.intercept,
            keep_group=domain.keep_group,
            prescaled=domain.prescaled,
        )

    @property
    def domain(self) -> Domain:
        """The domain that the file declares.

        Raises
        ------
        reference.errors.DomainFileError
            When no label is declared, or the declarations contradict each other.
        """
        if self.label is None:
            raise DomainFileError("no label is declared; add it, or name its column", place="label")
        try:
            return Domain(
                self.attributes,
                self.label.name,
                None if self.group is None else self.group.name,
                self.norm,
                self.intercept,
                self.keep_group,
                self.prescaled,
            )
        except ParameterError as problem:
            raise DomainFileError(str(problem)) from problem

    def with_(self, **changes: Any) -> DomainFile:
        """Return a copy with some fields changed."""
        return replace(self, **changes)

    def with_columns(self, label: str | None = None, group: str | None = None) -> DomainFile:
        """Return a copy whose label and group are read from the given columns.

        A column that the file does not declare holds 0 and 1.

        Raises
        ------
        reference.errors.DomainFileError
            When the file declares another column.
        """
        changes: dict[str, Any] = {}
        for name, column in (("label", label), ("group", group)):
            declared = getattr(self, name)
            if column is not None and declared is not None and column not in (declared.column, declared.name):
                raise DomainFileError(f"the {name} is column {declared.column!r}, not {column!r}", place=name)
            if column is not None and declared is None:
                changes[name] = Marker(column)
        return replace(self, **changes)

    def without_marks(self) -> DomainFile:
        """Return a copy for new records: no label is read, and a group only where it is a feature."""
        label = Marker("", name=self.label.name if self.label else "(label)")
        return replace(self, label=label, group=self.group if self.keep_group else None)

    def columns_to_read(self, present: Collection[str]) -> list[str]:
        """Return the raw columns that are read, in the file's order of declaration.

        Raises
        ------
        reference.errors.MissingColumnError, reference.errors.ExtraColumnError
            When the table's columns are not the declared ones.
        """
        markers = [marker.column for marker in (self.label, self.group) if marker is not None and marker.column]
        declared = list(dict.fromkeys([*(attribute.name for attribute in self.attributes), *markers]))
        for name in declared:
            if name not in present:
                raise MissingColumnError("a declared column is missing", column=name)
        for name in present:
            if name not in declared and name not in self.ignore:
                raise ExtraColumnError(
                    "the domain file does not declare this column; its list `ignore` may name it", column=name
                )
        return declared

    def records(self, table: Mapping[str, Sequence[Any]]) -> Records:
        """Check a table of raw columns against the domain and encode it.

        Parameters
        ----------
        table : mapping from column name to values
            The declared columns and any of the ignored ones, each of length n.  Texts stand for numbers where
            numbers are declared.

        Raises
        ------
        reference.errors.DataError
            One subclass per reason, with row, column and value.
        """
        domain = self.domain
        length = len(table[self.columns_to_read(list(table))[0]])
        encoded: dict[str, Sequence[Any]] = {}
        for attribute in self.attributes:
            values = table[attribute.name]
            if isinstance(attribute, Numeric):
                encoded[attribute.name] = numbers_of(attribute.name, values)
            else:
                encoded[attribute.name] = as_declared(attribute.categories, values)
        for marker, error in ((self.label, LabelError), (self.group, GroupError)):
            if marker is not None:
                marks = marker.decode(table[marker.column], error) if marker.column else [0] * length
                encoded[marker.name] = marks
        return domain.encode(encoded)

    def require_public(self) -> None:
        """Raise when a bound or a value was read from the data.

        Raises
        ------
        reference.errors.BoundsFromDataError
        """
        if self.from_data:
            raise BoundsFromDataError(
                "no privacy statement holds with bounds or values read from the data, and the domain file marks "
                f"{', '.join(self.from_data)} as such (`from_data`): replace them by public ones and take the "
                "mark away, or run mechanisms that are not private"
            )

    def to_json(self) -> dict[str, Any]:
        """Return the file as a JSON document."""
        document: dict[str, Any] = {
            "schema": SCHEMA,
            "norm": self.norm,
            "intercept": self.intercept,
            "keep_group": self.keep_group,
        }
        if self.prescaled:
            document["prescaled"] = True
        document["attributes"] = [
            self._marked(attribute.name, _attribute_json(attribute)) for attribute in self.attributes
        ]
        for name, marker in (("label", self.label), ("group", self.group)):
            if marker is not None:
                document[name] = self._marked(marker.column, marker.to_json())
        if self.ignore:
            document["ignore"] = list(self.ignore)
        return document

    def _marked(self, column: str, fields: dict[str, Any]) -> dict[str, Any]:
        return {**fields, "from_data": True} if column in self.from_data else fields

    @classmethod
    def from_json(cls, document: Any) -> DomainFile:
        """Read back what :meth:`to_json` wrote.

        Raises
        ------
        reference.errors.DomainFileError
            With the place in the document.
        """
        return _read_document(document)


def load_domain_file(path: str | Path) -> DomainFile:
    """Read a domain file.

    Raises
    ------
    reference.errors.DomainFileError
        With the file, and with the line or the place in the document.
    """
    try:
        text = Path(path).read_text(encoding="utf-8-sig")
    except OSError as problem:
        raise DomainFileError(f"cannot be read: {problem.strerror}", file=str(path)) from problem
    except UnicodeDecodeError as problem:
        raise DomainFileError(f"is no UTF-8 text (byte {problem.start + 1})", file=str(path)) from problem
    try:
        document = json.loads(text, object_pairs_hook=_unique, parse_constant=_no_constant)
        return DomainFile.from_json(document)
    except json.JSONDecodeError as problem:
        raise DomainFileError(
            f"is no JSON: {problem.msg}, column {problem.colno}", file=str(path), line=problem.lineno
        ) from problem
    except DomainFileError as problem:
        raise DomainFileError(problem.problem, file=str(path), place=problem.place) from problem
    except (ValueError, RecursionError) as problem:
        raise DomainFileError(f"is no JSON that can be read: {problem}", file=str(path)) from problem


def numbers_of(name: str, values: Sequence[Any]) -> Any:
    """Return a column as finite numbers, shape (n,); texts are decimal numbers and nothing else."""
    written = set().union(*(value for value in values if isinstance(value, str)))
    if not written <= NUMBER_CHARACTERS:
        # Python's own conversion would take 1_000, inf, and digits of other scripts
        for row, value in enumerate(values):
            if isinstance(value, str) and not NUMBER.fullmatch(value):
                raise NotANumberError("not a number", row=row, column=name, value=value)
    return as_numbers(name, values)


def as_declared(declared: Sequence[Hashable], values: Sequence[Any]) -> Sequence[Any]:
    """Return values with each text replaced by the declared number that it writes, if there is one."""
    numbers = {value: value for value in declared if not isinstance(value, str)}
    if not numbers:
        return values
    meaning: dict[str, Any] = {value: value for value in declared if isinstance(value, str)}
    found = []
    for value in values:
        if isinstance(value, str):
            if value not in meaning:
                number = float(value) if NUMBER.fullmatch(value) else math.nan
                meaning[value] = numbers.get(number, value)
            found.append(meaning[value])
        else:
            found.append(value)
    return found


# --- Writing -------------------------------------------------------------------------------------------------


def _attribute_json(attribute: Attribute) -> dict[str, Any]:
    if isinstance(attribute, Numeric):
        bounds = {
            "lower": _plain(attribute.lower, attribute.name),
            "upper": _plain(attribute.upper, attribute.name),
        }
        clip = {"clip": True} if attribute.clip else {}
        return {"name": attribute.name, "kind": "numeric", **bounds, **clip}
    return {
        "name": attribute.name,
        "kind": "ordinal" if isinstance(attribute, Ordinal) else "one_hot",
        "categories": [_plain(category, attribute.name) for category in attribute.categories],
    }


def _plain(value: Any, name: str) -> str | int | float:
    """Return a value as JSON has it."""
    plain = value.item() if isinstance(value, np.generic) else value
    if isinstance(plain, bool) or not isinstance(plain, (str, int, float)) or plain != plain:
        raise DomainFileError(f"JSON has no category like {value!r}; use texts or numbers", place=name)
    return plain


# --- Reading -------------------------------------------------------------------------------------------------

TOP = {
    "required": ("schema", "attributes"),
    "optional": ("norm", "intercept", "keep_group", "prescaled", "label", "group", "ignore", "comment"),
}
NUMERIC = {"required": ("name", "kind", "lower", "upper"), "optional": ("clip", "from_data", "comment")}
CATEGORIES = {"required": ("name", "kind", "categories"), "optional": ("from_data", "comment")}
KINDS = {"numeric": NUMERIC, "ordinal": CATEGORIES, "one_hot": CATEGORIES}
MARKER = {"required": ("column",), "optional": ("name", "one", "zero", "above", "from_data", "comment")}


def _read_document(document: Any) -> DomainFile:
    fields = _object(document, "", TOP)
    if fields["schema"] != SCHEMA:
        _fail(f"schema is {fields['schema']!r}, not {SCHEMA!r}", "schema")
    norm = fields.get("norm", "unit_ball")
    if norm not in NORMS:
        _fail(f"{norm!r} is none of {', '.join(NORMS)}", "norm")
    marked: list[str] = []
    listed = _list(fields["attributes"], "attributes")
    attributes = tuple(_attribute(entry, f"attributes[{index}]", marked) for index, entry in enumerate(listed))
    label = _marker(fields.get("label"), "label", marked)
    group = _marker(fields.get("group"), "group", marked)
    ignore = [
        _text(name, f"ignore[{index}]") for index, name in enumerate(_list(fields.get("ignore", []), "ignore"))
    ]
    flags = {name: _flag(fields.get(name, False), name) for name in ("intercept", "keep_group", "prescaled")}
    found = DomainFile(
        attributes, label, group, norm, **flags, ignore=tuple(ignore), from_data=tuple(dict.fromkeys(marked))
    )
    # contradictions are found here, not when a mechanism runs
    complete = found if label else found.with_(label=Marker("(label)"))
    if flags["keep_group"] and group is None:
        complete = complete.with_(group=Marker("(group)"))
    _ = complete.domain
    for index, name in enumerate(ignore):
        if name in [attribute.name for attribute in attributes]:
            _fail(f"{name!r} is declared, so it cannot be ignored", f"ignore[{index}]")
    return found


def _attribute(entry: Any, place: str, marked: list[str]) -> Attribute:
    kind = entry.get("kind") if isinstance(entry, dict) else None
    if isinstance(entry, dict) and not (isinstance(kind, str) and kind in KINDS):
        _fail(f"kind is {kind!r}, which is none of {', '.join(KINDS)}", f"{place}.kind")
    fields = _object(entry, place, KINDS[kind] if isinstance(kind, str) else NUMERIC)
    name = _text(fields["name"], f"{place}.name")
    if _flag(fields.get("from_data", False), f"{place}.from_data"):
        marked.append(name)
    try:
        if kind == "numeric":
            lower, upper = (_number(fields[bound], f"{place}.{bound}", name) for bound in ("lower", "upper"))
            return Numeric(name, lower, upper, _flag(fields.get("clip", False), f"{place}.clip"))
        categories = _values(fields["categories"], f"{place}.categories", name)
        return Ordinal(name, categories) if kind == "ordinal" else OneHot(name, categories)
    except ParameterError as problem:
        raise DomainFileError(str(problem), place=place) from problem


def _marker(entry: Any, place: str, marked: list[str]) -> Marker | None:
    if entry is None:
        return None
    fields = _object(entry, place, MARKER)
    column = _text(fields["column"], f"{place}.column")
    if _flag(fields.get("from_data", False), f"{place}.from_data"):
        marked.append(column)
    name = _text(fields["name"], f"{place}.name") if "name" in fields else column
    if "above" in fields:
        if "one" in fields or "zero" in fields:
            _fail("either `above`, or `one` and `zero`", place)
        return Marker(column, above=_number(fields["above"], f"{place}.above", column), name=name)
    if ("one" in fields) != ("zero" in fields):
        _fail("`one` and `zero` go together", place)
    if "one" not in fields:
        return Marker(column, name=name)
    one, zero = (_values(fields[side], f"{place}.{side}", column) for side in ("one", "zero"))
    if not one or not zero or len({*one, *zero}) != len(one) + len(zero):
        _fail("`one` and `zero` each need a value, all distinct", place)
    return Marker(column, one, zero, name=name)


def _object(value: Any, place: str, known: Mapping[str, tuple[str, ...]]) -> dict[str, Any]:
    if not isinstance(value, dict):
        _fail(f"an object is needed, not {value!r}", place)
    for name in known["required"]:
        if name not in value:
            _fail(f"the field {name!r} is missing", place)
    for name in value:
        if name not in known["required"] and name not in known["optional"]:
            _fail(
                f"the field {name!r} is unknown; known are {', '.join([*known['required'], *known['optional']])}",
                place,
            )
    return value


def _list(value: Any, place: str) -> list[Any]:
    if not isinstance(value, list):
        _fail(f"a list is needed, not {value!r}", place)
    return value


def _text(value: Any, place: str) -> str:
    if not isinstance(value, str) or not value:
        _fail(f"a text is needed, not {value!r}", place)
    return value


def _flag(value: Any, place: str) -> bool:
    if not isinstance(value, bool):
        _fail(f"true or false is needed, not {value!r}", place)
    return value


def _number(value: Any, place: str, name: str) -> float:
    if value is None:
        _fail(f"the bound of {name!r} is not filled in: declare a public one", place)
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        _fail(f"a number is needed, not {value!r}", place)
    return value


def _values(value: Any, place: str, name: str) -> tuple[Hashable, ...]:
    if value is None:
        _fail(f"the values of {name!r} are not filled in: declare public ones", place)
    for index, entry in enumerate(_list(value, place)):
        if isinstance(entry, bool) or not isinstance(entry, (str, int, float)):
            _fail(f"a text or a number is needed, not {entry!r}", f"{place}[{index}]")
    numbers = {entry for entry in value if not isinstance(entry, str)}
    for index, entry in enumerate(value):
        if isinstance(entry, str) and NUMBER.fullmatch(entry) and float(entry) in numbers:
            _fail(f"the text {entry!r} and a number that it writes cannot both be declared", f"{place}[{index}]")
    return tuple(value)


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    fields = dict(pairs)
    if len(fields) != len(pairs):
        names = [name for name, _ in pairs]
        _fail(f"the field {next(name for name in names if names.count(name) > 1)!r} is there twice", "")
    return fields


def _no_constant(name: str) -> NoReturn:
    raise DomainFileError(f"{name} is no JSON number")


def _fail(problem: str, place: str) -> NoReturn:
    raise DomainFileError(problem, place=place or None)


def in_file(problem: DataError, file: str, record: int | None, line: int | None) -> DataError:
    """Return the same problem with its place in a file.

    Parameters
    ----------
    problem : DataError
    file : str
    record, line : int or None
        Counted from 1.
    """
    return type(problem)(
        problem.problem, file=file, row=line, record=record, column=problem.column, value=problem.value
    )
