"""Domain: what is public about the records before anyone looks at them.

A domain declares every attribute with its bounds or categories, the label, the group and the norm.  Records
are encoded with these public constants only; nothing here is computed from data.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property, lru_cache
from typing import Any, Literal, TypeAlias, get_args

from reference.common.balls import square_root
from reference.common.errors import (
    DeclarationError,
    ReadingError,
    UnknownAttributeError,
)
from reference.common.numbers import rounded_down
from reference.common.printable import is_writable
from reference.domain.attributes import Attribute, Category, Numeric

Norm: TypeAlias = Literal["unit_ball", "unit_box", "symmetric_ball"]
NORMS: tuple[str, ...] = get_args(Norm)
INTERCEPT = "(intercept)"


@dataclass(frozen=True)
class Domain:
    """The declared domain of a data set.

    Every attribute is encoded into [0, 1], a centred one into [-1, 1], by public constants.  In the `unit_box`
    that is all.  In the `unit_ball` the encoded vector is multiplied by :attr:`column_factor`, which is 1/sqrt(m)
    rounded down for m attributes (the intercept and a kept group count as one each, a one-hot attribute as one),
    so that ``|x|_2 <= 1`` holds for every admissible record, in exact arithmetic on the floats used.  In the
    `symmetric_ball` that is so too, numbers may be centred, and `prescaled` columns have any sign.

    Parameters
    ----------
    attributes : tuple of Numeric, Binned, Ordinal, OneHot or Grouped
        The unprotected attributes x, in order.
    label : str
        Column with y in {0, 1}.
    group : str, optional
        Column with z in {0, 1}, or in {0, ..., k - 1} where `group_values` declares k of them; None for data
        without a protected attribute (fairness `none` only).
    norm : {'unit_ball', 'unit_box', 'symmetric_ball'}
    intercept : bool
        Add a constant coordinate, inside the norm.
    keep_group : bool
        Let the group also stand among the features.
    prescaled : bool
        The columns are already encoded: all attributes are Numeric on [0, 1] and nothing is multiplied;
        records are then only checked.
    group_values : tuple
        The values of a group that has more than two, in the order of z, which counts from 0.

    Raises
    ------
    reference.common.errors.DeclarationError
        When the declaration contradicts itself.
    """

    attributes: tuple[Attribute, ...]
    label: str
    group: str | None = None
    norm: str = "unit_ball"
    intercept: bool = False
    keep_group: bool = False
    prescaled: bool = False
    group_values: tuple[Category, ...] = ()

    def __post_init__(self) -> None:
        if self.norm not in NORMS:
            raise ReadingError("domain", self.norm, "one of " + ", ".join(NORMS))
        if not self.attributes:
            raise DeclarationError("attributes", (), "at least one attribute")
        if self.keep_group and self.group is None:
            raise DeclarationError("keep_group", True, "False when no group is declared")
        if self.prescaled and self.intercept:
            raise DeclarationError("intercept", True, "a column of the data when the columns are prescaled")
        self._check_group_values()
        categories = [one for attribute in self.attributes for one in getattr(attribute, "categories", ())]
        require_writable("names", (*self.columns, self.label, self.group or "", *categories, *self.group_values))
        names = [attribute.name for attribute in self.attributes] + [self.label]
        names += [] if self.group is None else [self.group]
        for duplicates in (names, list(self.columns)):
            twice = sorted(name for name, times in Counter(duplicates).items() if times > 1)
            if twice:
                marks = {self.label, self.group}.intersection(twice)
                apart = " (attributes leave out the label and the group)" if marks else ""
                raise DeclarationError("names", twice, f"distinct{apart}")
        self._check_numbers()

    def _check_numbers(self) -> None:
        centred = [one.name for one in self.attributes if isinstance(one, Numeric) and one.centred]
        if centred and (self.prescaled or self.norm != "symmetric_ball"):
            allowed = "left out, except in the `symmetric_ball` and of columns that are not `prescaled`"
            raise DeclarationError("centred", centred, allowed)
        if self.prescaled:
            for attribute in self.attributes:
                if type(attribute) is not Numeric or (attribute.lower, attribute.upper) != (0.0, 1.0):
                    raise DeclarationError("attributes", attribute.name, "Numeric on [0, 1] when prescaled")

    def _check_group_values(self) -> None:
        if not self.group_values:
            return
        count = len(set(self.group_values))
        if self.group is None or not 3 <= count == len(self.group_values):
            raise DeclarationError(
                "group_values", self.group_values, "three or more, all distinct; left out for a group of two"
            )
        if self.prescaled:
            raise DeclarationError("group_values", self.group_values, "left out when columns are prescaled")

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

    @cached_property
    def columns(self) -> tuple[str, ...]:
        """Names of the coordinates of x and w, in order."""
        names = [INTERCEPT] if self.intercept else []
        for attribute in self.attributes:
            names.extend(attribute.columns)
        if self.keep_group and self.group is not None:
            many = tuple(f"{self.group}={value}" for value in self.group_values)
            names.extend(many or (self.group,))
        return tuple(names)

    @property
    def groups(self) -> int:
        """The number of groups; z is a whole number below it."""
        return len(self.group_values) or 2

    def require_of_paper(self) -> None:
        """Raise for a group of more than two values and for centred attributes, which the paper does not treat.

        Raises
        ------
        reference.common.errors.DeclarationError
        """
        if self.group_values:
            allowed = "of two values: the paper's mechanisms have z in {0, 1}; `repaired` takes more"
            raise DeclarationError(f"the group {self.group!r}", self.group_values, allowed)
        if any(self.signed) and not self.prescaled:
            names = [name for name, signed in zip(self.columns, self.signed, strict=True) if signed]
            allowed = "left out: the paper's mechanisms encode into [0, 1]; `repaired` takes centred numbers"
            raise DeclarationError("centred", names, allowed)

    @cached_property
    def signed(self) -> tuple[bool, ...]:
        """Of each column, whether a record of the domain may have a negative entry there."""
        if self.prescaled:
            return (self.norm == "symmetric_ball",) * self.dimension
        found = [False] * int(self.intercept)
        for one in self.attributes:
            found += [isinstance(one, Numeric) and one.centred] * len(one.columns)
        return (*found, *[False] * (self.dimension - len(found)))

    @property
    def dimension(self) -> int:
        """The paper's d: coordinates of x and w, the intercept included."""
        return len(self.columns)

    @property
    def column_factor(self) -> float:
        """The public constant that multiplies every encoded coordinate."""
        if self.norm == "unit_box" or self.prescaled:
            return 1.0
        # u <= 1 implies u * factor <= factor in floats, so the encoded norm is at most 1
        return ball_corner(len(self.attributes) + int(self.intercept) + int(self.keep_group))

    def coordinate(self, x_s: str | int) -> int:
        """Return the index of the coordinate `x_s`, given by its name or index (a string of digits is an index).

        Raises
        ------
        reference.common.errors.UnknownAttributeError
            When there is none.
        """
        if isinstance(x_s, str) and x_s in self.columns:
            return self.columns.index(x_s)
        digits = str(x_s)
        index = int(digits) if digits.isascii() and digits.isdecimal() and len(digits) < 10 else -1
        if 0 <= index < self.dimension and not isinstance(x_s, bool):
            return index
        raise UnknownAttributeError(
            "x_s", x_s, f"one of {', '.join(self.columns)}, or an index below {self.dimension}"
        )

    def is_one_of_several(self, s: int) -> bool:
        """Return whether coordinate `s` is one of several columns that encode an attribute."""
        name = self.columns[s]
        return any(name in attribute.columns and len(attribute.columns) > 1 for attribute in self.attributes)

    @property
    def selectable(self) -> tuple[int, ...]:
        """Coordinates that a random x_s is drawn from: the unprotected attributes."""
        start = int(self.intercept)
        return tuple(range(start, self.dimension - int(self.keep_group)))

    def with_(self, **changes: Any) -> Domain:
        """Return a copy with some fields changed."""
        return replace(self, **changes)


@lru_cache
def ball_corner(count: int) -> float:
    """Return 1/sqrt(count) rounded down: a float c with count * c^2 <= 1 in exact arithmetic."""
    return rounded_down(square_root(Fraction(1, count)).lower)


def require_writable(what: str, names: Iterable[Hashable]) -> None:
    """Raise for a text that no document can hold."""
    for name in names:
        if isinstance(name, str) and not is_writable(name):
            raise DeclarationError(what, name, "texts that a file can store: this one contains half a character")
