"""Domain: what is public about the records before anyone looks at them.

A domain declares every attribute with its bounds or categories, the label, the group and the norm.  Records
are encoded with these public constants only; nothing here is ever computed from data.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from reference.errors import (
    DeclarationError,
    ExtraColumnError,
    InfiniteValueError,
    MissingColumnError,
    NotANumberError,
    OutOfBoundsError,
    ReadingError,
    ShapeError,
    UnknownAttributeError,
    UnseenCategoryError,
)
from reference.numbers import interval, interval_functions, lower_end, rounded_down
from reference.records import Records

NORMS = ("unit_ball", "unit_box")
INTERCEPT = "(intercept)"

FloatArray: TypeAlias = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Numeric:
    """A number with declared public bounds; encoded as (value - lower) / (upper - lower).

    Parameters
    ----------
    name : str
    lower, upper : float
        Public bounds, ``lower < upper``.
    """

    name: str
    lower: float
    upper: float

    def __post_init__(self) -> None:
        bounds = (self.lower, self.upper)
        # the width is checked too: it divides, and -1e308 to 1e308 has an infinite one
        if not (
            all(isinstance(bound, (int, float, np.number)) for bound in bounds)
            and _is_finite(self.lower)
            and _is_finite(self.upper)
            and self.lower < self.upper
            and _is_finite(self.upper - self.lower)
        ):
            raise DeclarationError(
                f"bounds of {self.name!r}", (self.lower, self.upper), "finite with lower < upper"
            )

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the encoded coordinates."""
        return (self.name,)

    def encode(self, values: Sequence[Any], *, clip: bool) -> FloatArray:
        """Encode one column, shape (n,), into shape (n, 1) with entries in [0, 1]."""
        numbers = _as_numbers(self.name, values)
        outside = (numbers < self.lower) | (numbers > self.upper)
        if outside.any() and not clip:
            row = int(np.flatnonzero(outside)[0])
            raise OutOfBoundsError(
                f"value outside the declared bounds [{self.lower:g}, {self.upper:g}]; "
                "declare wider bounds, or ask for clipping",
                row=row,
                column=self.name,
                value=numbers[row].item(),
            )
        clipped = np.clip(numbers, self.lower, self.upper)
        # The quotient of two rounded differences can exceed 1 by one rounding: the clip keeps [0, 1] exact.
        return np.clip((clipped - self.lower) / (self.upper - self.lower), 0.0, 1.0)[:, None]


@dataclass(frozen=True)
class Ordinal:
    """A value among declared, ordered categories; encoded as rank / (number of categories - 1).

    Parameters
    ----------
    name : str
    categories : tuple of hashable
        Two or more, in order; the position is the rank.
    """

    name: str
    categories: tuple[Hashable, ...]

    def __post_init__(self) -> None:
        _check_categories(self.name, self.categories)

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the encoded coordinates."""
        return (self.name,)

    def encode(self, values: Sequence[Any], *, clip: bool) -> FloatArray:
        """Encode one column, shape (n,), into shape (n, 1) with entries in [0, 1]."""
        ranks = _ranks(self.name, self.categories, values)
        return (ranks / (len(self.categories) - 1))[:, None]


@dataclass(frozen=True)
class OneHot:
    """A value among declared categories; encoded as one coordinate per category.

    Parameters
    ----------
    name : str
    categories : tuple of hashable
        Two or more.
    """

    name: str
    categories: tuple[Hashable, ...]

    def __post_init__(self) -> None:
        _check_categories(self.name, self.categories)

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the encoded coordinates."""
        return tuple(f"{self.name}={category}" for category in self.categories)

    def encode(self, values: Sequence[Any], *, clip: bool) -> FloatArray:
        """Encode one column, shape (n,), into shape (n, number of categories) with one 1 a row."""
        ranks = _ranks(self.name, self.categories, values)
        encoded = np.zeros((len(ranks), len(self.categories)))
        encoded[np.arange(len(ranks)), ranks] = 1.0
        return encoded


Attribute: TypeAlias = Numeric | Ordinal | OneHot


@dataclass(frozen=True)
class Domain:
    """The declared domain of a data set.

    Every attribute is encoded into [0, 1] by public constants.  In the `unit_box` that is all.  In the
    `unit_ball` the encoded vector is multiplied by :attr:`column_factor`, which is 1/sqrt(m) rounded down for
    m attributes (the intercept and a kept group count as one each, a one-hot attribute as one), so that
    |x|_2 <= 1 holds for every admissible record, in exact arithmetic on the floats used.

    Parameters
    ----------
    attributes : tuple of Numeric, Ordinal or OneHot
        The unprotected attributes x, in order.
    label : str
        Column with y in {0, 1}.
    group : str, optional
        Column with z in {0, 1}; None for data without a protected attribute (fairness `none` only).
    norm : {'unit_ball', 'unit_box'}
    intercept : bool
        Add a constant coordinate, inside the norm.
    keep_group : bool
        Let the group also stand among the features.
    prescaled : bool
        The columns are already encoded: all attributes are Numeric on [0, 1] and nothing is multiplied;
        records are then only checked.

    Raises
    ------
    reference.errors.DeclarationError
        When the declaration contradicts itself.
    """

    attributes: tuple[Attribute, ...]
    label: str
    group: str | None = None
    norm: str = "unit_ball"
    intercept: bool = False
    keep_group: bool = False
    prescaled: bool = False

    def __post_init__(self) -> None:
        if self.norm not in NORMS:
            raise ReadingError("domain", self.norm, "one of " + ", ".join(NORMS))
        if not self.attributes:
            raise DeclarationError("attributes", (), "at least one attribute")
        if self.keep_group and self.group is None:
            raise DeclarationError("keep_group", True, "False when no group is declared")
        if self.prescaled and self.intercept:
            raise DeclarationError("intercept", True, "a column of the data when the columns are prescaled")
        names = [attribute.name for attribute in self.attributes] + [self.label]
        names += [] if self.group is None else [self.group]
        for duplicates in (names, list(self.columns)):
            twice = sorted({name for name in duplicates if duplicates.count(name) > 1})
            if twice:
                raise DeclarationError("names", twice, "distinct")
        if self.prescaled:
            for attribute in self.attributes:
                if not isinstance(attribute, Numeric) or (attribute.lower, attribute.upper) != (0.0, 1.0):
                    raise DeclarationError("attributes", attribute.name, "Numeric on [0, 1] when prescaled")

    @classmethod
    def of_columns(cls, columns: Sequence[str], *, norm: str = "unit_ball", with_group: bool = True) -> Domain:
        """Return the domain of an already encoded matrix with the given column names.

        The label and the group are called ``label`` and ``group``.
        """
        return cls(
            attributes=tuple(Numeric(name, 0.0, 1.0) for name in columns),
            label="label",
            group="group" if with_group else None,
            norm=norm,
            prescaled=True,
        )

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the coordinates of x and w, in order."""
        names = [INTERCEPT] if self.intercept else []
        for attribute in self.attributes:
            names.extend(attribute.columns)
        if self.keep_group and self.group is not None:
            names.append(self.group)
        return tuple(names)

    @property
    def dimension(self) -> int:
        """The paper's d: coordinates of x and w, the intercept included."""
        return len(self.columns)

    @property
    def column_factor(self) -> float:
        """The public constant every encoded coordinate is multiplied with."""
        if self.norm == "unit_box" or self.prescaled:
            return 1.0
        # u <= 1 implies u * factor <= factor in floats, so the encoded norm is at most 1
        return ball_corner(len(self.attributes) + int(self.intercept) + int(self.keep_group))

    def coordinate(self, x_s: str | int) -> int:
        """Return the index of the coordinate `x_s`, given by name or index (a string of digits is an index).

        Raises
        ------
        reference.errors.UnknownAttributeError
            When there is none.
        """
        if isinstance(x_s, str) and x_s in self.columns:
            return self.columns.index(x_s)
        index = int(x_s) if isinstance(x_s, (int, np.integer)) or str(x_s).isdecimal() else -1
        if 0 <= index < self.dimension and not isinstance(x_s, bool):
            return index
        raise UnknownAttributeError(
            "x_s", x_s, f"one of {', '.join(self.columns)}, or an index below {self.dimension}"
        )

    @property
    def selectable(self) -> tuple[int, ...]:
        """Coordinates that x_s may be drawn from at random: the unprotected attributes."""
        start = int(self.intercept)
        return tuple(range(start, self.dimension - int(self.keep_group)))

    def with_(self, **changes: Any) -> Domain:
        """Return a copy with some fields changed."""
        return replace(self, **changes)

    def encode(self, table: Mapping[str, Sequence[Any]], *, clip: bool = False) -> Records:
        """Check a table against the domain and encode it.

        Parameters
        ----------
        table : mapping from column name to values
            A dict of sequences or a pandas DataFrame: exactly the declared columns, each of length n.
        clip : bool
            Move out-of-bounds numbers to the nearest bound instead of rejecting them.

        Returns
        -------
        Records
            x of shape (n, d), y and z of shape (n,).

        Raises
        ------
        reference.errors.DataError
            One subclass per reason, with row, column and value; nothing is computed before all is checked.
        """
        declared = [attribute.name for attribute in self.attributes] + [self.label]
        declared += [] if self.group is None else [self.group]
        present = list(table)
        for name in declared:
            if name not in present:
                raise MissingColumnError("a declared column is missing", column=name)
        for name in present:
            if name not in declared:
                raise ExtraColumnError("the domain does not declare this column", column=name)
            if present.count(name) > 1:
                raise ExtraColumnError("the column was given more than once", column=name)
        lengths = {name: len(table[name]) for name in declared}
        for name, length in lengths.items():
            if length != lengths[self.label]:
                raise ShapeError(f"{length} values where the label has {lengths[self.label]}", column=name)
        n = lengths[self.label]
        y = _as_numbers(self.label, table[self.label])
        z = None if self.group is None else _as_numbers(self.group, table[self.group])
        blocks = [np.ones((n, 1))] if self.intercept else []
        blocks += [attribute.encode(table[attribute.name], clip=clip) for attribute in self.attributes]
        if self.keep_group and z is not None:
            blocks.append(z[:, None])
        x = np.hstack(blocks) * self.column_factor
        return Records(domain=self, x=x, y=y, z=z)

    def check(self, x: npt.ArrayLike, y: npt.ArrayLike, z: npt.ArrayLike | None = None) -> Records:
        """Take an already encoded matrix: only check it.

        Parameters
        ----------
        x : array_like, shape (n, d)
            Encoded coordinates, in the order of :attr:`columns`.
        y, z : array_like, shape (n,)
            Label and group, 0 or 1.
        """
        return Records(
            domain=self,
            x=_as_matrix(self.columns, x),
            y=_as_floats(self.label, y),
            z=None if z is None else _as_floats(self.group or "group", z),
        )


def ball_corner(count: int) -> float:
    """Return 1/sqrt(count) rounded down: a float c with count * c^2 <= 1 in exact arithmetic."""
    root = interval_functions().sqrt(interval(Fraction(1, count)))
    return rounded_down(lower_end(root))


def _check_categories(name: str, categories: Any) -> None:
    declared = not isinstance(categories, str) and all(_is_hashable(value) for value in categories)
    if not declared or len(categories) < 2 or len(set(categories)) != len(categories):
        raise DeclarationError(f"categories of {name!r}", categories, "at least two, all distinct")


def _as_numbers(name: str, values: Sequence[Any]) -> FloatArray:
    """Return a column as finite float64, shape (n,), naming the first value that is none."""
    numbers = _as_floats(name, values)
    if numbers.ndim != 1:
        raise ShapeError(f"a column has one dimension, not {numbers.ndim}", column=name)
    bad = ~np.isfinite(numbers)
    if bad.any():
        row = int(np.flatnonzero(bad)[0])
        if np.isnan(numbers[row]):
            raise NotANumberError("NaN", row=row, column=name, value=numbers[row].item())
        raise InfiniteValueError("infinite value", row=row, column=name, value=numbers[row].item())
    return numbers


def _as_floats(name: str, values: npt.ArrayLike) -> FloatArray:
    """Return a column as float64 of any shape, naming the first value that is no real number."""
    numbers = _converted(values)
    if numbers is not None:
        return numbers
    for row, value in enumerate(_as_objects(values, name)):
        if not _is_number(value):
            raise NotANumberError("not a number", row=row, column=name, value=value)
    raise ShapeError("not a column of numbers", column=name)


def _as_matrix(columns: tuple[str, ...], values: npt.ArrayLike) -> FloatArray:
    """Return a table as contiguous float64, naming the first entry that is no real number."""
    numbers = _converted(values)
    if numbers is not None:
        return np.ascontiguousarray(numbers)
    objects = _as_objects(values, None)
    if objects.ndim == 2 and objects.shape[1] == len(columns):
        for row, entries in enumerate(objects):
            for column, value in zip(columns, entries, strict=True):
                if not _is_number(value):
                    raise NotANumberError("not a number", row=row, column=column, value=value)
    raise ShapeError(f"x is no table of numbers with {len(columns)} columns")


def _converted(values: npt.ArrayLike) -> FloatArray | None:
    """Return float64, or None when some value is no real number (or too large a one for a float)."""
    if np.ma.isMaskedArray(values):
        # a masked entry is a missing one, whatever number lies under the mask
        values = np.ma.filled(values.astype(object), np.nan)
    try:
        # a complex array would be cast with a warning only; a list with a complex entry raises by itself
        if hasattr(values, "dtype") and np.iscomplexobj(values):
            return None
        return np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        return None


def _as_objects(values: npt.ArrayLike, column: str | None) -> npt.NDArray[np.object_]:
    try:
        return np.atleast_1d(np.asarray(values, dtype=object))
    except ValueError:
        raise ShapeError("rows of different lengths", column=column) from None


def _is_number(value: Any) -> bool:
    try:
        float(value)
    except (TypeError, ValueError, OverflowError):
        return False
    return not isinstance(value, (complex, np.complexfloating))


def _is_finite(value: Any) -> bool:
    try:
        return math.isfinite(value)
    except (TypeError, OverflowError):
        return False


def _is_hashable(value: Any) -> bool:
    try:
        hash(value)
    except TypeError:
        return False
    return True


def _is_missing(value: Any) -> bool:
    """Tell None, NaN, NaT and pandas' NA, whose comparison with itself is neither true nor false."""
    try:
        return value is None or bool(value != value)
    except TypeError:
        return True


def _ranks(name: str, categories: tuple[Hashable, ...], values: Sequence[Any]) -> npt.NDArray[np.int64]:
    rank_of = {category: rank for rank, category in enumerate(categories)}
    ranks = np.empty(len(values), dtype=np.int64)
    for row, value in enumerate(values):
        rank = rank_of.get(value) if _is_hashable(value) else None
        if rank is None:
            if _is_hashable(value) and _is_missing(value):
                raise NotANumberError("missing value", row=row, column=name, value=value)
            raise UnseenCategoryError("category not declared", row=row, column=name, value=value)
        ranks[row] = rank
    return ranks
