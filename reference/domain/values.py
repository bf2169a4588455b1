"""Convert columns of raw values to arrays of numbers; errors name the first non-number.

Nothing here knows a domain; it only keeps numpy from guessing: no complex part is dropped, no masked entry
used, no huge integer rounded, no date counted in days, and no missing value passes for a number.  A text is a
number only if files and options would read it as one.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from reference.common.arrays import BoolArray, FloatArray, IntArray, NumberArray
from reference.common.errors import InfiniteValueError, NotANumberError, ShapeError
from reference.common.numbers import is_number_text
from reference.common.printable import quoted

Column: TypeAlias = Sequence[Any] | NumberArray
"""Values of one column."""

LARGEST_WHOLE = 2**53
"""Whole numbers up to this are exact as floats."""

BEYOND = "a whole number beyond 2^53, which a float need not hold"

MISSING = "missing value"
"""What an error says of a cell without a value."""

FEW = 8
"""Up to so many texts are each compared with the whole array; more are looked up one by one."""


@dataclass(frozen=True, eq=False, repr=False)
class Coded(Sequence[Any]):
    """A column of few distinct values, each kept once.

    Parameters
    ----------
    values : sequence
        The distinct values; some may not occur.
    codes : ndarray of int, shape (n,)
        Which of them each entry is; -1 for a missing one, which is read as None.
    """

    values: Sequence[Any]
    codes: IntArray

    def __len__(self) -> int:
        return len(self.codes)

    def __getitem__(self, row: Any) -> Any:
        if isinstance(row, slice):
            return Coded(self.values, self.codes[row])
        code = self.codes[row]
        return self.values[code] if code >= 0 else None

    def __iter__(self) -> Iterator[Any]:
        known = [*self.values, None]
        return (known[code] for code in self.codes.tolist())

    def mapped(self, change: Callable[[Sequence[Any]], Any]) -> Coded:
        """Return the column with its distinct values replaced."""
        return Coded(change(self.values), self.codes)

    @property
    def present(self) -> list[Any]:
        """The distinct values that occur, without missing ones."""
        used = np.unique(self.codes)
        return [self.values[code] for code in used[used >= 0].tolist()]


def codes_of(values: Column, meaning: Mapping[Hashable, int]) -> IntArray:
    """Look up the meaning of each value in a dict, shape (n,); -1 where it has none."""
    if isinstance(values, Coded):
        return np.append(_looked_up(values.values, meaning), -1)[values.codes]
    if isinstance(values, np.ndarray) and len(meaning) > FEW:
        found = _searched(values, meaning)
        return _looked_up(values, meaning) if found is None else found
    masks = masks_of(values, list(meaning))
    if masks is None:
        return _looked_up(values, meaning)
    codes = np.full(len(values), -1)
    for mask, code in zip(masks, meaning.values(), strict=True):
        np.putmask(codes, mask, code)
    return codes


def entry(values: Column, row: int) -> Any:
    """Return one value as an error shows it, by position: a column may have its own index."""
    value = next(itertools.islice(iter(values), row, None))
    if value is np.ma.masked:
        return None
    return value.item() if isinstance(value, np.generic) else value


def _looked_up(values: Column, meaning: Mapping[Hashable, int]) -> IntArray:
    try:
        return np.fromiter(map(meaning.get, values, itertools.repeat(-1)), np.int64, len(values))
    except TypeError:
        # some value is not hashable
        codes = (meaning.get(value, -1) if is_hashable(value) else -1 for value in values)
        return np.fromiter(codes, np.int64, len(values))


def masks_of(values: Column, keys: Sequence[Hashable]) -> list[BoolArray] | None:
    """Return where each key stands, one pass per key; None where a dict might tell keys apart differently."""
    if not isinstance(values, np.ndarray) or values.ndim != 1:
        return None
    numbers = _as_held(values, keys)
    if numbers is not None:
        return [values == number for number in numbers]
    texts = values.dtype.kind == "U" and values.dtype.isnative
    if texts and all(isinstance(key, str) and not key.endswith("\0") for key in keys):
        return [_equal_text(values, str(key)) for key in keys]
    return None


def _as_held(values: NumberArray, keys: Sequence[Any]) -> list[Any] | None:
    """Return the keys as numbers that compare with an array as the keys do; None where some may not."""
    if values.dtype.kind not in "biuf" or not all(isinstance(key, (bool, int, float)) for key in keys):
        return None
    if any(abs(key) > LARGEST_WHOLE for key in keys):
        return None
    if values.dtype.kind == "f":
        return [np.float64(key) for key in keys]
    # no whole number is a fraction
    return [int(key) if float(key).is_integer() else float(key) for key in keys]


def _searched(values: NumberArray, meaning: Mapping[Hashable, int]) -> IntArray | None:
    held = _as_held(values, list(meaning))
    if held is None:
        return None
    numbers = np.array(held)
    order = np.argsort(numbers)
    nearest = order[np.searchsorted(numbers[order], values).clip(max=len(numbers) - 1)]
    return np.where(numbers[nearest] == values, np.array(list(meaning.values()))[nearest], -1)


def _equal_text(values: NumberArray, text: str) -> BoolArray:
    """Compare texts of fixed width with one text, four bytes at a time."""
    width = values.dtype.itemsize // 4
    words = np.ascontiguousarray(values).view(np.uint32).reshape(len(values), width)
    wanted = [ord(character) for character in text.ljust(width, "\0")]
    if len(wanted) > width:
        return np.zeros(len(values), dtype=np.bool_)
    equal: BoolArray = words[:, 0] == wanted[0]
    for position in range(1, width):
        equal &= words[:, position] == wanted[position]
    return equal


def as_numbers(name: str, values: Column, *, or_missing: bool = False) -> FloatArray:
    """Return a column as finite float64, shape (n,); errors name the first value that is not.

    With `or_missing` a missing value is NaN.
    """
    numbers = as_floats(name, values, or_missing=or_missing)
    if numbers.ndim != 1:
        raise ShapeError(f"a column has one dimension, not {numbers.ndim}", column=name)
    bad = np.isinf(numbers) if or_missing else ~np.isfinite(numbers)
    if bad.any():
        row = int(np.flatnonzero(bad)[0])
        if np.isnan(numbers[row]):
            value = entry(values, row)
            raise NotANumberError(no_number(value), row=row, column=name, value=value)
        raise InfiniteValueError("infinite value", row=row, column=name, value=numbers[row].item())
    return numbers


def as_floats(name: str, values: npt.ArrayLike, *, or_missing: bool = False) -> FloatArray:
    """Return a column as float64 of any shape; errors name the first value that is not a real number.

    With `or_missing` a missing value is NaN.
    """
    numbers = real_numbers(values)
    if numbers is not None:
        return numbers
    objects = _as_objects(values, name)
    for row, value in enumerate(objects):
        if not (or_missing and is_missing(value)):
            _require_number(value, row, name)
    if or_missing and objects.ndim == 1:
        # numpy makes no number of a missing value of pandas
        return np.array([math.nan if is_missing(value) else float(value) for value in objects])
    raise ShapeError("not a column of numbers", column=name)


def as_matrix(columns: tuple[str, ...], values: npt.ArrayLike) -> FloatArray:
    """Return a table as contiguous float64; errors name the first entry that is not a real number."""
    numbers = real_numbers(values)
    if numbers is not None:
        return np.ascontiguousarray(numbers)
    objects = _as_objects(values, None)
    if objects.ndim == 2 and objects.shape[1] == len(columns):
        for row, entries in enumerate(objects):
            for column, value in zip(columns, entries, strict=True):
                _require_number(value, row, column)
    raise ShapeError(f"x is not a table of numbers with {len(columns)} columns")


def real_numbers(values: Any, *, rounded: bool = False) -> FloatArray | None:
    """Return values as float64; None when one is not a real number, or is a whole one that a float may not hold.

    Parameters
    ----------
    values : array_like
    rounded : bool
        Take whole numbers beyond 2^53 too, as the nearest float.
    """
    if np.ma.isMaskedArray(values):
        # a masked entry is a missing one, whatever number lies under the mask
        values = np.ma.filled(values.astype(object), np.nan)
    try:
        # only the conversion to floats understands the dtype of a frame's column with nulls
        kind = getattr(getattr(values, "dtype", None), "kind", None)
        held: Any = values if kind == "f" else np.asarray(values)
        if kind is None and held.dtype.kind == "U":
            # one text among numbers makes numpy turn all into texts
            held = np.asarray(values, dtype=object)
        if kind != "f" and not _is_plain(held, rounded=rounded):
            return None
        return np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        return None


def _is_plain(values: Any, *, rounded: bool) -> bool:
    """Return whether numpy may turn an array into floats; it would also take texts, dates and complex numbers."""
    if values.dtype.kind in "iu":
        return (
            rounded or values.dtype.itemsize < 8 or not values.size or not _is_beyond(values.min(), values.max())
        )
    if values.dtype.kind in "bf":
        return True
    # numpy would turn its missing date into the smallest whole number
    return values.dtype.kind in "OU" and all(
        _is_number(value) and (rounded or not _is_beyond(value))
        for value in values.flat
        if isinstance(value, (np.datetime64, np.timedelta64)) or not is_missing(value)
    )


def _is_beyond(*values: Any) -> bool:
    whole = (value for value in values if isinstance(value, (int, np.integer)))
    return any(abs(int(value)) > LARGEST_WHOLE for value in whole)


def _require_number(value: Any, row: int, column: str) -> None:
    if is_missing(value) or not _is_number(value):
        raise NotANumberError(no_number(value), row=row, column=column, value=value)
    if _is_beyond(value):
        raise NotANumberError(BEYOND, row=row, column=column, value=int(value))


def _as_objects(values: npt.ArrayLike, column: str | None) -> npt.NDArray[np.object_]:
    try:
        if isinstance(values, np.ndarray) and values.dtype.kind in "mM":
            # numpy would turn dates into whole numbers
            return np.fromiter(values.flat, object, values.size).reshape(values.shape)
        return np.atleast_1d(np.asarray(values, dtype=object))
    except ValueError:
        raise ShapeError("rows of different lengths", column=column) from None


def _is_number(value: Any) -> bool:
    if isinstance(value, str):
        return is_number_text(value)
    try:
        float(value)
    except (TypeError, ValueError, OverflowError):
        return False
    return not isinstance(value, (bytes, complex, np.complexfloating, np.datetime64, np.timedelta64))


def is_finite(value: Any) -> bool:
    """Return whether a value is a number that a finite float can hold."""
    try:
        return math.isfinite(value)
    except (TypeError, OverflowError):
        return False


def is_hashable(value: Any) -> bool:
    """Return whether a value can be a category."""
    try:
        hash(value)
    except TypeError:
        return False
    return True


def is_missing(value: Any) -> bool:
    """Return whether a value is missing: None, NaN, NaT, or pandas' NA, which compares with nothing."""
    try:
        return value is None or bool(value != value)
    except (TypeError, ArithmeticError):
        # a signaling NaN of decimal refuses to be compared
        return True
    except ValueError:
        # an array or a table in a single cell
        return False


def no_number(value: Any) -> str:
    """Say what is wrong with a cell that holds no number."""
    if isinstance(value, float) and math.isnan(value):
        return f"NaN, a {MISSING}"
    return MISSING if is_empty(value) else "not a number"


def is_empty(value: Any) -> bool:
    """Return whether a value is missing, or a text without a character: an empty field of a text file."""
    return not value if isinstance(value, str) else is_missing(value)


def kind_hint(value: Any, declared: Iterable[Any]) -> str:
    """Return what to do if a value is of another kind than the declared ones, or only spelled otherwise."""
    texts = [one for one in declared if isinstance(one, str)]
    if isinstance(value, (bool, np.bool_)):
        return "; a truth value is the number 1 or 0: declare these, or give texts" if texts else ""
    if isinstance(value, str):
        same = is_number_text(value) and any(is_number_text(one) and float(one) == float(value) for one in texts)
        numbers = "; declare numbers without quotes: 1, 1.0 and 1e0 are then the same" if same else ""
        return _spelling_hint(value, texts) or numbers
    number = isinstance(value, (int, float, np.number)) and not is_missing(value)
    return "; it is a number where texts are declared" if number and texts else ""


def _spelling_hint(value: str, texts: Sequence[str]) -> str:
    """Return what to do if a text differs from a declared one by blanks or capitals only."""
    for what, plain in _SPELLINGS.items():
        for text in texts:
            if plain(text) == plain(value):
                return f"; it differs from {quoted(text)} by {what} only: spell both alike"
    return ""


_SPELLINGS: dict[str, Callable[[str], str]] = {
    "blanks": lambda text: " ".join(text.split()),
    "capitals": str.casefold,
    "blanks and capitals": lambda text: " ".join(text.split()).casefold(),
}
"""What a text may differ by, with what is left then."""


def missing_values(
    table: Mapping[str, Column], text_is_missing: Callable[[str, str], bool] = lambda _name, _text: False
) -> str:
    """Say how many values are missing in each column, if there is more than one in all.

    Parameters
    ----------
    table : mapping from column name to values
    text_is_missing : callable, optional
        Says of a column's name and a text whether it also counts as missing.
    """
    counts = {
        name: sum(
            is_missing(value) or (isinstance(value, str) and text_is_missing(name, value)) for value in values
        )
        for name, values in table.items()
    }
    found = ", ".join(f"{name} {count:,}" for name, count in counts.items() if count)
    return f"; missing values: {found}" if sum(counts.values()) > 1 else ""
