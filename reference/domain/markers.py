"""Markers: a raw column that says y or z, and how texts stand for declared numbers."""

from __future__ import annotations

import datetime
import math
import re
from collections.abc import Collection, Hashable, Sequence
from typing import Annotated, Any, TypeAlias

import numpy as np
from msgspec import UNSET, Meta, UnsetType
from msgspec.structs import force_setattr

from reference.common.arrays import FloatArray, NumberArray
from reference.common.documents import Document
from reference.common.errors import DomainFileError, GroupError, LabelError, NotANumberError
from reference.common.numbers import BLANKS, is_number_text
from reference.domain.attributes import Attribute, Category, Name, Numeric
from reference.domain.values import (
    MISSING,
    Coded,
    Column,
    as_numbers,
    codes_of,
    entry,
    is_empty,
    is_hashable,
    is_missing,
    kind_hint,
    no_number,
)

MORE_GROUPS = ": correct it, or list every group under `values` in the domain file"

Values: TypeAlias = Annotated[
    tuple[Category, ...] | UnsetType, Meta(extra_json_schema={"minItems": 1, "uniqueItems": True})
]

_NOT_TOGETHER = (("above", "one"), ("above", "zero"), ("above", "values"), ("one", "values"), ("zero", "values"))

MARKER_RULES = {
    "dependentRequired": {"one": ["zero"], "zero": ["one"]},
    "not": {"anyOf": [{"required": list(pair)} for pair in _NOT_TOGETHER]},
}
"""Rules of the JSON Schema that concern several fields of a marker."""


class Marker(Document, frozen=True, omit_defaults=True):
    """A raw column that says y or z, and the public rule that turns its values into 0 and 1.

    Parameters
    ----------
    column : str
        The raw column.
    name : str
        What the domain calls it; the column's own name unless given.
    one, zero : tuple of str, int or float
        The values that mean 1, and those that mean 0 (1 and 0 unless given); any other value is an error.
    above : float
        Instead of values: numbers above it mean 1, all others 0.
    values : tuple of str, int or float
        Instead, for a group: two or more values, which mean 0, 1, 2 and so on.
    from_data : bool
        The values were read from the data, so they are not public.
    comment : str
        For readers of the file; not kept.
    """

    column: Name
    name: Name | UnsetType = UNSET
    one: Values = UNSET
    zero: Values = UNSET
    above: int | float | UnsetType = UNSET
    values: Values = UNSET
    from_data: bool = False
    comment: str = ""

    def __post_init__(self) -> None:
        force_setattr(self, "comment", "")
        if self.name == self.column:
            force_setattr(self, "name", UNSET)
        if self.above is not UNSET or self.values is not UNSET:
            given = [value is not UNSET for value in (self.above, self.values)]
            if all(given) or self.one is not UNSET or self.zero is not UNSET:
                raise DomainFileError("declare `above`, or `values`, or `one` and `zero`: take the others away")
            if self.values is not UNSET and not 2 <= len(set(self.values)) == len(self.values):
                raise DomainFileError("`values` are two or more, all distinct")
            return
        if self.one is UNSET and self.zero is UNSET:
            force_setattr(self, "one", (1,))
            force_setattr(self, "zero", (0,))
        if self.one is UNSET or self.zero is UNSET:
            raise DomainFileError("`one` and `zero` go together")
        if not self.one or not self.zero or len({*self.one, *self.zero}) != len(self.one) + len(self.zero):
            raise DomainFileError("`one` and `zero` each need a value, all distinct")

    @property
    def called(self) -> str:
        """The column's name in the domain."""
        return self.column if self.name is UNSET else self.name

    @property
    def many(self) -> tuple[Category, ...]:
        """The values of a group that has more than two."""
        return self.values if self.values is not UNSET and len(self.values) > 2 else ()

    @property
    def meanings(self) -> dict[Hashable, int]:
        """0 or 1 for each declared value, or more with `values`; none with `above`."""
        if self.values is not UNSET:
            return {value: code for code, value in enumerate(self.values)}
        zero, one = (() if values is UNSET else values for values in (self.zero, self.one))
        return {**dict.fromkeys(zero, 0), **dict.fromkeys(one, 1)}

    @property
    def names(self) -> tuple[str, str]:
        """The names of 0 and 1 in the raw table: the declared values, where each has a single one."""
        if self.zero is UNSET or self.one is UNSET or len(self.zero) != 1 or len(self.one) != 1:
            return "0", "1"
        return str(self.zero[0]), str(self.one[0])

    def called_in_table(self, codes: int) -> list[str]:
        """Return what the raw table calls each code: its values, or on which side of `above` they are."""
        if self.above is not UNSET:
            return [f"at most {self.above}", f"above {self.above}"]
        values: list[list[str]] = [[] for _ in range(codes)]
        for value, code in self.meanings.items():
            values[code].append(str(value))
        return [f"{', '.join(rest)} and {last} taken together" if rest else last for *rest, last in values]

    def decode(self, values: Column, error: type[LabelError | GroupError]) -> NumberArray:
        """Return the meaning of each value; errors name the first without one."""
        if self.above is not UNSET:
            return (numbers_of(self.column, values) > self.above).astype(np.int64)
        meaning = self.meanings
        numbers = isinstance(values, np.ndarray) and values.dtype.kind in "iuf"
        if numbers and meaning == {0: 0, 1: 1} and np.all((values == 0) | (values == 1)):
            # the common case, in which there is nothing to look up
            return np.asarray(values)
        declared = as_declared(tuple(meaning), values)
        marks = codes_of(declared, meaning)
        unknown = marks < 0
        if unknown.any():
            row = int(np.flatnonzero(unknown)[0])
            allowed = " or ".join(repr(known) for known in meaning)
            value = entry(declared, row)
            if is_empty(value):
                raise error(f"{MISSING} where {allowed} is declared", row=row, column=self.column, value=value)
            more = kind_hint(value, meaning)
            if not more:
                more = too_many(declared, meaning)
                more += MORE_GROUPS if more and error is GroupError else ""
            raise error(f"the value is not {allowed}{more}", row=row, column=self.column, value=value)
        return marks


def too_many(values: Column, meaning: Collection[Hashable]) -> str:
    """Return the message for more distinct values than are declared, as no single one is wrong."""
    present = values.present if isinstance(values, Coded) else values
    distinct = {value for value in present if is_hashable(value) and not is_missing(value)}
    if len(distinct) <= len(meaning):
        return ""
    return f"; {len(distinct)} distinct values occur where {len(meaning)} are declared"


MISSING_TEXTS = frozenset({"", "NA", "N/A", "NaN", "nan", "NULL", "null", "None", "?"})
"""Texts that stand for a missing number, where numbers may be missing."""


def numbers_of(name: str, values: Column, *, or_missing: bool = False) -> FloatArray:
    """Return a column as finite numbers, shape (n,); texts are decimal numbers and nothing else.

    With `or_missing` a missing value is NaN, and so is one of :data:`MISSING_TEXTS`.
    """
    if isinstance(values, Coded):
        return _numbers_of_distinct(name, values, or_missing=or_missing)
    if or_missing and not (isinstance(values, np.ndarray) and values.dtype.kind in "biuf"):
        values = [None if is_missing(value) or is_missing_text(value) else value for value in values]
    if not isinstance(values, np.ndarray) and set(map(type, values)) == {str}:
        places: dict[str, int] = {}
        codes = np.fromiter((places.setdefault(text, len(places)) for text in values), np.int64, len(values))
        return _numbers_of_distinct(name, Coded(tuple(places), codes))
    return as_numbers(name, values, or_missing=or_missing)


def remedy(attributes: Sequence[Attribute], column: str | None, value: Any) -> str:
    """Return what to do about a missing value, or a text among numbers, as the end of a message; else nothing."""
    attribute = next((one for one in attributes if one.name == column), None)
    empty = isinstance(value, str) and not value
    absent = empty or is_missing(value)
    if isinstance(attribute, Numeric) and not absent and is_date(value):
        # a text may be a score of a match, or the number of a version
        return LIKE_A_DATE if isinstance(value, str) else A_DATE
    if attribute is None or not (absent or isinstance(value, str)):
        return ""
    if not isinstance(attribute, Numeric):
        if empty:
            return '; fill it in, or declare "" as a category'
        if absent and "" in attribute.categories:
            return '; fill it in with "", which is declared'
        kind = "text" if any(isinstance(one, str) for one in attribute.categories) else "number"
        return f"; give it a {kind}, and declare that as a category" if absent else ""
    if absent or value in MISSING_TEXTS:
        return "; fill it in, or declare what it counts as with `missing`"
    return "; correct it, or declare the column's categories"


_OF_DATES = "count days or seconds, or move the column from `attributes` to `ignore`"

A_DATE, LIKE_A_DATE = f"; it is a date or a time: {_OF_DATES}", f"; if it is a date or a time, {_OF_DATES}"

_DATE = re.compile(r"\d{1,4}([-/.])\d{1,2}\1\d{1,4}(?![-/.\d])|\d{1,2}:\d{2}(?!\d)", re.ASCII)
"""How a text begins that writes a date or a time."""


def is_date(value: Any) -> bool:
    """Return whether a value is a date, a time or a duration, or a text that writes a date or a time."""
    if isinstance(value, str):
        return not is_number_text(value) and _DATE.match(value.strip(BLANKS)) is not None
    kinds = (datetime.date, datetime.time, datetime.timedelta, np.datetime64, np.timedelta64)
    return isinstance(value, kinds)


def is_missing_text(value: Any) -> bool:
    """Return whether a value is a text that stands for a missing number."""
    return isinstance(value, str) and value.strip(BLANKS) in MISSING_TEXTS


def _numbers_of_distinct(name: str, values: Coded, *, or_missing: bool = False) -> FloatArray:
    """Return the same for a column of few distinct values; each is read once."""
    absent = [or_missing and is_missing_text(value) for value in values.values]
    usable = [not isinstance(value, str) or is_number_text(value) for value in values.values]
    numbers = [float(value) if good else 0.0 for value, good in zip(values.values, usable, strict=True)]
    numbers = [math.nan if gone else number for gone, number in zip(absent, numbers, strict=True)]
    wrong = [not (good or gone) for good, gone in zip(usable, absent, strict=True)]
    # the last one stands for nulls
    at = np.array([*wrong, not or_missing])[values.codes]
    if at.any():
        row = int(np.flatnonzero(at)[0])
        value = values[row]
        raise NotANumberError(no_number(value), row=row, column=name, value=value)
    return as_numbers(name, np.array([*numbers, math.nan])[values.codes], or_missing=or_missing)


def as_declared(declared: Sequence[Hashable], values: Column) -> Column:
    """Replace each text by the declared number that it writes, if there is one."""
    numbers = {value: value for value in declared if not isinstance(value, str)}
    if not numbers or (isinstance(values, np.ndarray) and values.dtype.kind in "biuf"):
        return values
    if isinstance(values, Coded):
        return values.mapped(lambda distinct: as_declared(declared, distinct))
    meaning: dict[str, Any] = {value: value for value in declared if isinstance(value, str)}
    found = []
    for value in values:
        if isinstance(value, str):
            if value not in meaning:
                number = float(value) if is_number_text(value) else math.nan
                meaning[value] = numbers.get(number, value)
            found.append(meaning[value])
        else:
            found.append(value)
    return found
