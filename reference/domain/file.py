"""Domain files: a declared domain as JSON, and how the raw columns of a table become its y, z and attributes.

The format is ``domain_v1`` (``reference/common/schemas/domain_v1.schema.json``, explained in ``docs/files.md``).
A domain file is public: it must be written without looking at the data.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Annotated, Any, TypeAlias, cast

import numpy as np
from msgspec import Meta
from msgspec.structs import force_setattr, replace

from reference.common.documents import Document, always, converted, json_of_file
from reference.common.errors import (
    BoundsFromDataError,
    DomainFileError,
    ExtraColumnError,
    MissingColumnError,
    ParameterError,
)
from reference.common.numbers import is_number_text
from reference.common.printable import is_writable
from reference.domain.attributes import Attribute, Name, Numeric
from reference.domain.domain import Domain, Norm
from reference.domain.markers import MARKER_RULES, Marker

TEMPLATE = "`cfm domain --describe` writes a template for a table"

UNNAMED = "a column has no name: name it in the header, or leave it out (pandas: to_csv(..., index=False))"

_Marker: TypeAlias = Annotated[Marker | None, Meta(extra_json_schema=MARKER_RULES)]


class DomainFile(Document, frozen=True, kw_only=True, tag_field="schema", tag="domain_v1", omit_defaults=True):
    """A declared domain and the raw columns that it is read from.

    Parameters
    ----------
    norm, intercept, keep_group, prescaled
        As in :class:`reference.domain.Domain`.
    attributes : tuple of Numeric, Binned, Ordinal, OneHot or Grouped
        Each is a raw column of the same name.
    label, group : Marker, optional
        Without a label the file must be completed with :meth:`with_columns` before :attr:`domain` exists.
    ignore : tuple of str
        Raw columns that may be present and are not read.
    comment : str
        For readers of the file; not kept.
    """

    norm: Norm = always("unit_ball")
    intercept: bool = always(False)
    keep_group: bool = always(False)
    prescaled: bool = False
    attributes: Annotated[tuple[Attribute, ...], Meta(min_length=1)]
    label: _Marker = None
    group: _Marker = None
    ignore: tuple[Name, ...] = ()
    comment: str = ""

    def __post_init__(self) -> None:
        force_setattr(self, "comment", "")
        for place, problem in _unwritable(self):
            raise DomainFileError(problem, place=place)
        # contradictions are found here, not when a mechanism runs
        if self.label is not None and self.label.many:
            raise DomainFileError("a label has two classes: `one` and `zero`", place="label")
        label = self.label or Marker("(label)")
        group = self.group or (Marker("(group)") if self.keep_group else None)
        self._domain(label, group)
        for index, name in enumerate(self.ignore):
            if name in self.what_is_read:
                problem = f"{name!r} is declared as {self.what_is_read[name]}, so it cannot be ignored"
                raise DomainFileError(problem, place=f"ignore[{index}]")

    @classmethod
    def of(cls, domain: Domain) -> DomainFile:
        """Return the file of a domain whose table has y and z as 0 and 1 already."""
        return cls(
            attributes=domain.attributes,
            label=Marker(domain.label),
            group=_marker_of(domain),
            norm=cast(Norm, domain.norm),
            intercept=domain.intercept,
            keep_group=domain.keep_group,
            prescaled=domain.prescaled,
        )

    @property
    def domain(self) -> Domain:
        """The domain that the file declares.

        Raises
        ------
        reference.common.errors.DomainFileError
            When no label is declared, or the group that is kept is not.
        """
        if self.label is None:
            raise DomainFileError("no label is declared; add it, or name its column", place="label")
        return self._domain(self.label, self.group)

    @property
    def _markers(self) -> dict[str, Marker]:
        """The declared label and group."""
        markers = {"label": self.label, "group": self.group}
        return {what: marker for what, marker in markers.items() if marker is not None}

    @property
    def what_is_read(self) -> dict[str, str]:
        """What each raw column is declared as, in the order of declaration."""
        found = dict.fromkeys((attribute.name for attribute in self.attributes), "an attribute")
        return found | {marker.column: f"the {what}" for what, marker in self._markers.items() if marker.column}

    @property
    def public_attributes(self) -> tuple[Attribute, ...]:
        """The attributes, without the marks that say how their bounds were found."""
        return tuple(replace(attribute, from_data=False) for attribute in self.attributes)

    def _domain(self, label: Marker, group: Marker | None) -> Domain:
        try:
            return Domain(
                self.public_attributes,
                label.called,
                None if group is None else group.called,
                self.norm,
                self.intercept,
                self.keep_group,
                self.prescaled,
                () if group is None else group.many,
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
        reference.common.errors.DomainFileError
            When the file declares another column.
        """
        changes: dict[str, Any] = {}
        for name, column in (("label", label), ("group", group)):
            declared = getattr(self, name)
            if column is not None and declared is not None and column not in (declared.column, declared.called):
                raise DomainFileError(f"the {name} is column {declared.column!r}, not {column!r}", place=name)
            if column is not None and declared is None:
                changes[name] = Marker(column)
        return replace(self, **changes)

    def without_marks(self) -> DomainFile:
        """Return a copy for new records: no label is read, and a group only where it is a feature."""
        label = Marker("", name=self.label.called if self.label else "(label)")
        return replace(self, label=label, group=self.group if self.keep_group else None)

    def columns_to_read(self, present: Collection[str]) -> list[str]:
        """Return the raw columns that are read, in the file's order of declaration.

        Raises
        ------
        reference.common.errors.MissingColumnError, reference.common.errors.ExtraColumnError
            When the table's columns are not the declared ones.
        """
        declared = list(self.what_is_read)
        # what without_marks returns has a label without a column, and a group only if predictions use it
        new = self.label is not None and not self.label.column
        there, known = set(present), {*declared, *self.ignore}
        for name in declared:
            if name not in there:
                marks = new and self.what_is_read[name] != "an attribute"
                why = ": this release uses the group at prediction" if marks else ""
                raise MissingColumnError(f"a declared column is missing{why}", column=name)
        for name in present:
            if name not in known:
                undeclared = "the domain file does not declare this column; its list `ignore` may name it"
                if new:
                    undeclared = "the release has no such column: take it out of the table"
                raise ExtraColumnError(undeclared if name else UNNAMED, column=name)
        return declared

    @property
    def from_data(self) -> tuple[str, ...]:
        """Raw columns whose bounds or values were read from the data, so they are not public."""
        marked = [attribute.name for attribute in self.attributes if attribute.from_data]
        marked += [marker.column for marker in self._markers.values() if marker.from_data]
        return tuple(dict.fromkeys(marked))

    def require_public(self) -> None:
        """Raise when a bound or a value was read from the data.

        Raises
        ------
        reference.common.errors.BoundsFromDataError
        """
        if self.from_data:
            raise BoundsFromDataError(
                "no privacy statement holds with bounds or values read from the data, and the domain file marks "
                f"{', '.join(self.from_data)} as such (`from_data`): replace them by public ones and take the "
                "mark away, or run mechanisms that are not private"
            )


def _marker_of(domain: Domain) -> Marker | None:
    """Return the marker of a domain's group: 0 and 1 mean themselves; more values are texts or numbers."""
    if domain.group is None:
        return None
    return Marker(domain.group, values=domain.group_values) if domain.group_values else Marker(domain.group)


def load_domain_file(path: str | Path) -> DomainFile:
    """Read a domain file.

    Raises
    ------
    reference.common.errors.DomainFileError
        With the file, and with the line or the place in the document.
    """
    try:
        document = json_of_file(path, DomainFileError)
    except DomainFileError as problem:
        if isinstance(problem.__cause__, FileNotFoundError):
            raise DomainFileError(f"{problem.problem}; {TEMPLATE}", file=problem.file) from problem
        raise
    return domain_file_of(document, file=str(path))


def domain_file_of(document: Any, *, file: str | None = None) -> DomainFile:
    """Turn a parsed JSON document into a domain file; errors name `file`.

    Raises
    ------
    reference.common.errors.DomainFileError
        With the place in the document.
    """
    missing = list(_not_filled_in(document))
    if missing:
        place, problem = missing[0]
        others = f" ({len(missing) - 1} other nulls after it)" if len(missing) > 1 else ""
        raise DomainFileError(problem + others, file=file, place=place)
    return converted(document, DomainFile, DomainFileError, file=file)


def _not_filled_in(document: Any) -> Iterator[tuple[str, str]]:
    """Yield each null that a template still has in place of a bound or of values."""
    if not isinstance(document, dict):
        return
    attributes = document.get("attributes")
    entries = list(enumerate(attributes)) if isinstance(attributes, list) else []
    places = [(f"attributes[{index}]", entry) for index, entry in entries]
    places += [(name, document.get(name)) for name in ("label", "group")]
    for place, entry in places:
        for name, value in entry.items() if isinstance(entry, dict) else ():
            if value is None:
                column = entry.get("name", entry.get("column"))
                bound = name in ("lower", "upper", "above")
                what = f"the bound of {column!r} is" if bound else f"the values of {column!r} are"
                yield f"{place}.{name}", f"{what} not filled in: declare what is public"


def _unwritable(declared: DomainFile) -> Iterator[tuple[str, str]]:
    """Yield values that JSON cannot hold, and texts that also write one of the declared numbers."""
    for index, attribute in enumerate(declared.attributes):
        if not isinstance(attribute, Numeric):
            yield from _mixed_up(f"attributes[{index}].categories", attribute.categories)
    for place, marker in (("label", declared.label), ("group", declared.group)):
        if marker is not None:
            yield from _mixed_up(place, tuple(marker.meanings))
    marks = [text for one in (declared.label, declared.group) if one for text in (one.column, *one.meanings)]
    for text in (*declared.ignore, *marks):
        if isinstance(text, str) and not is_writable(text):
            yield "ignore" if text in declared.ignore else "label or group", f"{text!r} contains half a character"


def _mixed_up(place: str, values: tuple[Any, ...]) -> Iterator[tuple[str, str]]:
    plain = [value.item() if isinstance(value, np.generic) else value for value in values]
    for index, value in enumerate(plain):
        if isinstance(value, bool) or not isinstance(value, (str, int, float)) or value != value:
            yield f"{place}[{index}]", f"JSON has no category like {value!r}; use texts or numbers"
            return
    numbers = {value for value in plain if not isinstance(value, str)}
    for index, value in enumerate(plain):
        if isinstance(value, str) and is_number_text(value) and float(value) in numbers:
            yield (
                f"{place}[{index}]",
                f"the text {value!r} and a number that it writes cannot both be declared",
            )
