"""Tells values from others by all that they hold: records, and inputs before and after a draw."""

from __future__ import annotations

import math
import re
import sys
from collections import OrderedDict, defaultdict, deque
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields, is_dataclass
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from enum import Enum, IntEnum
from fractions import Fraction
from functools import cached_property
from inspect import getattr_static
from struct import pack
from types import NoneType, SimpleNamespace
from typing import Any

import numpy as np
import numpy.typing as npt

from audit.common.digits import digits_of, digits_of_rows, digits_of_whole, kind_of_times
from reference.common.arrays import BoolArray

DEEPEST = 64
"""Levels of nested parts that are looked into."""

MOST_OBJECTS = 64
"""Objects within one part of a record that are looked into: if they refer to each other, the ways are endless."""

MOST_AGAIN = 4_096
"""Times that nested parts of a part of a record are met again: if each holds the next twice, they are endless."""

_DOUBLE = np.dtype(np.float64)
_FAILURES = (Exception, SystemExit)
_ADDRESS = re.compile(" at 0x[0-9A-Fa-f]+")

_NUMBERS = (int, float, complex, np.generic, np.ndarray)
_COLLECTIONS = (str, bytes, list, tuple, set, frozenset, dict, deque)
_WITHOUT_ATTRIBUTES = {*_NUMBERS, *_COLLECTIONS, bool} - {deque}
_SHOWN = (Decimal, Fraction, date, datetime, time, timedelta)
_MISSING = ("NAType", "NaTType")
_NUMBERS_OR_TEXT = {int, float, str, bytes}
_PICKLING, _ARGUMENTS = ("__reduce__", "__reduce_ex__", "__getstate__"), ("__getnewargs__", "__getnewargs_ex__")


class Level(IntEnum):
    """What tells values apart, besides the values themselves; each level has those before it."""

    VALUES = 0
    """Nothing: 1, 1.0, True and an array of one 1 are equal, and so are both zeros, all NaN and equal times."""
    ROWS = 1
    """Shapes, names of columns, classes, units of time, signs of zeros and of NaN, zeros that a matrix stores."""
    KINDS = 2
    """Whether a number is true or false, whole, real or complex; not its bits or where it is stored."""
    FORM = 3
    """Every type, and the order of names."""


def key_of(record: Any) -> Any:
    """Return what tells a record, or records, from others: numbers by all their digits, wherever they stand.

    How numpy shows an array would hide the later digits, and most of a long one.  Objects that do not list their
    fields are told apart by how Python shows them, so equal keys do not prove that they are equal: see
    :func:`proof_of`.
    """
    return _Walk(Level.VALUES, proves=False).key(record)


def proof_of(record: Any, level: Level) -> Any:
    """Return what :func:`same` compares."""
    return _Walk(level, proves=True).key(record)


def proofs_of(rows: npt.NDArray[Any], level: Level) -> list[Any]:
    """Return :func:`proof_of` each row or element of an array."""
    numbers = type(rows) is np.ndarray and rows.dtype.kind in "biufmM" and level < Level.FORM
    if not (numbers and rows.size):
        return [proof_of(row, level) for row in rows]
    digits = digits_of_rows(rows, by_value=level == Level.VALUES)
    if level == Level.VALUES:
        return digits
    kind, shape = _Walk(level, proves=True).kind(rows.dtype), rows.shape[1:]
    return [["", kind, shape, None, one] for one in digits]


def values_of_column(column: Any) -> tuple[npt.NDArray[Any] | list[Any], BoolArray | None]:
    """Return the values of a column of pandas, as an array if that loses none, and which of them are missing."""
    if hasattr(column, "levels"):
        # an index of several levels: tuples
        return list(column), None
    array, dtype = getattr(column, "array", column), column.dtype
    if isinstance(dtype, np.dtype):
        return np.asarray(column), None
    stored = getattr(dtype, "numpy_dtype", None)
    if stored is None or stored.kind not in "biu":
        return list(array), None
    # as a list of objects, of which some may be missing, this takes long
    return array.to_numpy(stored, na_value=stored.type(0).item()), np.asarray(array.isna())


def same(ours: Any, others: Any) -> bool | None:
    """Return whether the values of two keys of :func:`proof_of` are equal; None if nobody can tell.

    An object that is told by its fields is equal to one of the same class with equal fields.  Any other object is
    equal to itself, and to one that pickle would rebuild from equal parts; it differs from those that Python shows
    otherwise, and of the rest nobody can tell.
    """
    if ours == others:
        return True
    return None if repr(ours) == repr(others) else False


def attributes_of(record: Any) -> dict[str, Any]:
    """Return the attributes of an object, without results that its class keeps."""
    if type(record) in _WITHOUT_ATTRIBUTES or isinstance(record, np.generic):
        return {}
    state: Any = object.__getstate__(record)
    # those in slots are a second dictionary
    parts = state if isinstance(state, tuple) else (state,)
    found = {name: value for part in parts if part for name, value in part.items()}
    if isinstance(record, deque):
        found["maxlen"] = record.maxlen
    if isinstance(record, defaultdict):
        found["default_factory"] = record.default_factory
    static = {name: getattr_static(type(record), name, None) for name in found}
    return {name: value for name, value in found.items() if not isinstance(static[name], cached_property)}


def _listed_fields(record: Any) -> dict[str, Any] | None:
    """Return the fields of a record whose class lists them, such as a dataclass; else None."""
    if isinstance(record, type):
        return None
    if is_dataclass(record):
        return {entry.name: getattr(record, entry.name) for entry in fields(record)}
    if isinstance(record, SimpleNamespace):
        return dict(vars(record))
    names = getattr(type(record), "__struct_fields__", None)
    return {name: getattr(record, name) for name in names} if isinstance(names, tuple) else None


@dataclass(eq=False)
class _Opaque:
    """An object that does not list all that it holds, and the parts from which pickle would rebuild it."""

    record: Any
    parts: Any
    shown: bool = True

    __hash__ = None  # type: ignore[assignment]

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, _Opaque):
            return NotImplemented
        return self.record is other.record or (self.parts is not None and bool(self.parts == other.parts))

    def __repr__(self) -> str:
        if not self.shown:
            return f"<{_class_of(self.record)}>"
        return f"<{_class_of(self.record)} {_ADDRESS.sub('', repr(self.record))}>"


class _TooManyError(Exception):
    """A record has too many objects to look into."""


class Shared:
    """Counts how often nested parts of a record are met again: a few that share parts may have no end."""

    def __init__(self) -> None:
        # parts by their places in memory, which none of them must leave meanwhile
        self.seen: dict[int, Any] = {}
        self.nested: set[int] = set()
        self.again = 0

    def meet(self, record: Any, path: list[int]) -> bool:
        """Return whether that is too often; flat parts, and numbers, cost nothing.

        Parameters
        ----------
        record : object
            With parts.
        path : list of int
            Places in memory of what it is within: the input, one of its records, and so on.
        """
        if len(path) < 2:
            self.seen.clear()
            self.nested.clear()
            self.again = 0
        else:
            self.nested.add(path[-1])
        self.again += id(record) in self.seen and id(record) in self.nested
        self.seen[id(record)] = record
        return self.again > MOST_AGAIN


class _Walk:
    """Makes the key of one value."""

    def __init__(self, level: Level, *, proves: bool) -> None:
        self.level, self.proves = level, proves
        self.path: list[int] = []
        self.objects = 0
        self.shared = Shared()

    def simple(self, record: Any) -> Any:
        """Return the key of a value that has no parts; None of any other."""
        if type(record) in (str, bytes, NoneType):
            return repr(record)
        if isinstance(record, np.str_ | np.bytes_):
            return self.key(record.item()) if self.level < Level.FORM else [self.name(record), repr(record.item())]
        if type(record) in (float, np.float64) and self.level < Level.FORM:
            # as of any number, and soon
            digits = pack("d", record if self.level else record + 0.0 if record == record else math.nan)
            return ["", self.kind(_DOUBLE), (), None, digits] if self.level else digits
        if type(record) is int:
            return self.numbers(record)
        return [self.name(record), repr(record)] if _is_shown_whole(record) else None

    def key(self, record: Any) -> Any:
        told = self.simple(record)
        if told is not None:
            return told
        if id(record) in self.path:
            return ["within itself", len(self.path) - self.path.index(id(record))]
        if len(self.path) == DEEPEST:
            return self.unknown(record, parts=False)
        if not isinstance(record, _NUMBERS) and self.shared.meet(record, self.path):
            raise _TooManyError
        self.path.append(id(record))
        try:
            return self.parts(record)
        except _TooManyError:
            if len(self.path) > 2:
                raise
            return self.unknown(record, parts=False)
        finally:
            self.path.pop()

    def parts(self, record: Any) -> Any:
        if isinstance(record, np.ma.MaskedArray):
            values, mask = np.ma.getdata(record), np.ma.getmaskarray(record)
            return [self.name(record), self.numbers(values), self.numbers(mask)]
        if isinstance(record, _NUMBERS):
            told = self.numbers(record)
        elif _is_sparse(record):
            return self.sparse(record)
        elif isinstance(record, _COLLECTIONS):
            told = self.collection(record)
        else:
            return self.of_object(record)
        own = attributes_of(record) if self.proves else {}
        return [told, self.named(own)] if own else told

    def name(self, record: Any) -> str:
        return type(record).__name__ if self.level == Level.VALUES else _class_of(record)

    def named(self, values: Mapping[Any, Any], *, ordered: bool = False) -> list[Any]:
        told = [(repr(self.key(name)), self.key(value)) for name, value in values.items()]
        return told if ordered else sorted(told, key=lambda pair: pair[0])

    def collection(self, record: Any) -> Any:
        match record:
            case str():
                # a subclass may show itself otherwise
                return [self.name(record), str.__repr__(record)]
            case bytes():
                return [self.name(record), bytes.__repr__(record)]
            case dict():
                from_order = Level.ROWS if isinstance(record, OrderedDict) else Level.FORM
                told = self.named(record, ordered=self.level >= from_order)
                return told if self.level == Level.VALUES else [self.name(record), told]
            case set() | frozenset():
                # in another process they may stand in another order
                return [self.name(record), *sorted(map(self.key, record), key=repr)]
        return [self.name(record), *map(self.key, record)]

    def numbers(self, record: Any) -> Any:
        values = np.asarray(record)
        large = isinstance(record, int) and values.dtype == object
        told = digits_of_whole(record, by_value=self.by_value) if large else self.digits(values)
        if self.level == Level.VALUES:
            return told
        known = isinstance(record, bool | np.generic) or type(record) in _NUMBERS
        name = "" if known and self.level < Level.FORM else self.name(record)
        return [name, self.kind(values.dtype), values.shape, values.dtype.names, told]

    @property
    def by_value(self) -> bool:
        return self.level == Level.VALUES

    def kind(self, dtype: np.dtype[Any]) -> str:
        if self.level == Level.FORM:
            return repr(dtype)
        if self.level == Level.ROWS and dtype.kind in "biuf":
            return "number"
        if dtype.kind in "mM":
            return kind_of_times(dtype)
        return "i" if dtype.kind == "u" else dtype.kind

    def digits(self, values: npt.NDArray[Any]) -> Any:
        if values.dtype == object:
            return self.each(values.ravel().tolist())
        if values.dtype.names is not None:
            return [self.numbers(np.asarray(values[name])) for name in values.dtype.names]
        return digits_of(values, by_value=self.by_value)

    def each(self, values: Iterable[Any]) -> list[Any]:
        # most columns without numbers are of texts
        return [repr(value) if type(value) is str else self.key(value) for value in values]

    def sparse(self, record: Any) -> Any:
        entries = record.tocoo(copy=True)
        # in one order, which some operations change to
        entries.sum_duplicates()
        if self.by_value:
            entries.eliminate_zeros()
        shape = repr(tuple(record.shape))
        return [self.name(record), shape, *map(self.numbers, (entries.data, *_places(entries)))]

    def of_object(self, record: Any) -> Any:
        # the input itself, or one of its records
        self.objects = 0 if len(self.path) < 3 else self.objects + 1
        if self.objects > MOST_OBJECTS:
            raise _TooManyError
        listed = self.proves and _is_its_attributes(record)
        found = attributes_of(record) if listed else _listed_fields(record)
        if found:
            return [self.name(record), *self.named(found)]
        if hasattr(record, "__array__") and not isinstance(record, type):
            return self.of_pandas(record) if _is_of_pandas(record) else self.as_array(record)
        # one without fields is a marker, and is no other
        return self.unknown(record, parts=type(record) is not object and found is None)

    def as_array(self, record: Any) -> Any:
        try:
            values = np.asarray(record)
        except _FAILURES:
            return self.unknown(record)
        return [self.name(record), self.key(values), *self.labels(record)]

    def labels(self, record: Any) -> list[Any]:
        """Return what a table or a column has besides its values."""
        if not self.proves:
            return []
        # a row of a table is called by its place there
        names = ("index", "columns", "names", *(["name"] if self.level else []))
        found = (getattr(record, name, None) for name in names)
        told = [None if one is record or callable(one) else self.key(one) for one in found]
        return told if _is_of_pandas(record) and self.level < Level.FORM else [*told, self.unknown(record)]

    def of_pandas(self, record: Any) -> Any:
        """Return the key of a table, column by column, or of a column: as one array, some would lose digits."""
        tabular = record.ndim > 1
        columns = [record.iloc[:, place] for place in range(record.shape[1])] if tabular else [record]
        attributes = self.key(dict(getattr(record, "attrs", {})))
        return [self.name(record), *map(self.column, columns), attributes, *self.labels(record)]

    def column(self, column: Any) -> Any:
        """Return the key of a column's values, and of their type if values of numpy are not all that it holds."""
        values, missing = values_of_column(column)
        told = self.each(values) if isinstance(values, list) else self.numbers(values)
        dtype = column.dtype
        if isinstance(dtype, np.dtype):
            return told
        told = told if missing is None else [told, self.numbers(missing)]
        if self.by_value:
            return told
        categories = getattr(dtype, "categories", None)
        kind = repr(dtype) if categories is None else [dtype.ordered, self.column(categories)]
        return [kind, told]

    def unknown(self, record: Any, *, parts: bool = True) -> Any:
        # where parts are met again and again, Python would not end to show them
        shown = self.shared.again <= MOST_AGAIN
        if not self.proves:
            return repr(record) if shown else _class_of(record)
        return _Opaque(record, self.rebuilding(record) if parts else None, shown)

    def rebuilding(self, record: Any) -> Any:
        """Return the parts from which pickle would rebuild an object, and its attributes; None if it would not."""
        if isinstance(record, type) or hasattr(record, "__next__"):
            return None
        try:
            found = record.__reduce_ex__(4)
            parts = [found] if isinstance(found, str) else found
            told = [self.key(list(part) if hasattr(part, "__next__") else part) for part in parts]
            # its class may leave some out
            return [_class_of(record), *told, self.named(attributes_of(record))]
        except _TooManyError:
            raise
        except _FAILURES:
            return None


def _class_of(record: Any) -> str:
    return f"{type(record).__module__}.{type(record).__qualname__}"


def _is_shown_whole(record: Any) -> bool:
    """Return whether Python shows all that a value holds: exact numbers, dates without a zone, names of a list."""
    if isinstance(record, Enum):
        return type(record).__repr__ is Enum.__repr__ and not _NUMBERS_OR_TEXT.intersection(type(record).__mro__)
    if type(record).__name__ in _MISSING and _is_of_pandas(record):
        return True
    return type(record) in _SHOWN and getattr(record, "tzinfo", None) is None


def _is_of_pandas(record: Any) -> bool:
    return type(record).__module__.partition(".")[0] == "pandas"


def _places(entries: Any) -> tuple[Any, ...]:
    return tuple(entries.coords) if hasattr(entries, "coords") else (entries.row, entries.col)


def _is_sparse(record: Any) -> bool:
    library = sys.modules.get("scipy.sparse")
    return library is not None and bool(library.issparse(record))


def _is_its_attributes(record: Any) -> bool:
    """Return whether an object is told by its attributes: its class is all Python, and is pickled as any other."""
    kind = type(record)
    if isinstance(record, type) or kind is object or any(hasattr(kind, name) for name in _ARGUMENTS):
        return False
    if any(getattr(kind, name) is not getattr(object, name) for name in _PICKLING):
        return False
    try:
        return bool(object.__reduce_ex__(record, 4))
    except TypeError:
        return False
