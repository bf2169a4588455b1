"""Attributes: one declared column each, and how it becomes numbers by public constants."""

from __future__ import annotations

from collections.abc import Hashable
from itertools import pairwise
from typing import Annotated, Any, Literal, TypeAlias

import numpy as np
from msgspec import UNSET, Meta, UnsetType
from msgspec.structs import force_setattr

from reference.common.arrays import FloatArray, IntArray
from reference.common.documents import Document
from reference.common.errors import DeclarationError, NotANumberError, OutOfBoundsError, UnseenCategoryError
from reference.domain.edges import edges_of
from reference.domain.values import (
    Column,
    as_numbers,
    codes_of,
    is_finite,
    is_hashable,
    is_missing,
    kind_hint,
    no_number,
)

MOST_NAMED = 8
"""Declared categories that an error names."""

OTHERWISE = "; `otherwise` in the domain, set before a fit, says what others count as"
"""What an error about an undeclared category suggests, where the kind of attribute has it."""

Name: TypeAlias = Annotated[str, Meta(min_length=1)]

Category: TypeAlias = str | int | float
"""A value that a domain file can declare; without a file, any hashable value is a category."""

OWN_BIN = "own_bin"

Missing: TypeAlias = int | float | Literal["own_bin"] | UnsetType
"""What a missing number counts as; unset where it is an error."""

Categories: TypeAlias = Annotated[
    tuple[Category, ...], Meta(extra_json_schema={"minItems": 2, "uniqueItems": True})
]


class Numeric(Document, frozen=True, tag_field="kind", tag="numeric", omit_defaults=True):
    """A number with public bounds; encoded as u = (value - lower) / (upper - lower), or centred as 2 u - 1.

    Parameters
    ----------
    name : str
    lower, upper : float
        Public bounds, ``lower < upper``.
    clip : bool
        Values beyond a bound count as the bound; otherwise they are rejected.
    from_data : bool
        The bounds were read from the data, so they are not public.
    comment : str
        For readers of the file; not kept.
    missing : float, optional
        The number within the bounds that a missing value counts as; without it a missing value is an error.
    centred : bool
        Encode the middle of the bounds as 0 and the bounds as -1 and 1; for the `symmetric_ball`.
    """

    name: Name
    lower: int | float
    upper: int | float
    clip: bool = False
    from_data: bool = False
    comment: str = ""
    missing: Missing = UNSET
    centred: bool = False

    def __post_init__(self) -> None:
        force_setattr(self, "comment", "")
        self._check_bounds()
        if self.centred and self.has_bins:
            raise DeclarationError(f"`centred` of {self.name!r}", True, "left out: it is of `numeric`")
        if self.missing is UNSET or (self.missing == OWN_BIN and self.has_bins):
            return
        if not (isinstance(self.missing, (int, float, np.number)) and self.lower <= self.missing <= self.upper):
            allowed = f"a number within the bounds{', or `own_bin`' if self.has_bins else ''}"
            extra = "" if self.has_bins else "; `own_bin` is of `binned`"
            raise DeclarationError(f"`missing` of {self.name!r}", self.missing, allowed + extra)
        # a number of numpy is written to no file
        force_setattr(self, "missing", getattr(self.missing, "item", lambda: self.missing)())

    def _check_bounds(self) -> None:
        bounds = (self.lower, self.upper)
        # the width is checked too: it divides, and -1e308 to 1e308 has an infinite one
        if not (
            all(isinstance(bound, (int, float, np.number)) for bound in bounds)
            and is_finite(self.lower)
            and is_finite(self.upper)
            and self.lower < self.upper
            and is_finite(self.upper - self.lower)
        ):
            raise DeclarationError(
                f"bounds of {self.name!r}", bounds, "finite with lower < upper and a finite difference"
            )

    @property
    def has_bins(self) -> bool:
        """Whether numbers are put into bins."""
        return False

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the encoded coordinates."""
        return (self.name,)

    def within(self, values: Column, *, clip: bool) -> FloatArray:
        """Return one column as numbers within the bounds, shape (n,); NaN for a missing value with its own bin."""
        numbers = as_numbers(self.name, values, or_missing=self.missing is not UNSET)
        if self.missing is not UNSET and self.missing != OWN_BIN:
            numbers = np.where(np.isnan(numbers), self.missing, numbers)
        outside = (numbers < self.lower) | (numbers > self.upper)
        if outside.any() and not (clip or self.clip):
            row = int(np.flatnonzero(outside)[0])
            raise OutOfBoundsError(
                f"value outside the declared bounds [{self.lower:g}, {self.upper:g}]; "
                "correct them from public knowledge, or declare `clip` for this attribute",
                row=row,
                column=self.name,
                value=numbers[row].item(),
            )
        within: FloatArray = np.clip(numbers, self.lower, self.upper)
        return within

    def encode(self, values: Column, *, clip: bool) -> FloatArray:
        """Encode one column, shape (n,), into shape (n, 1) with entries in [0, 1], or in [-1, 1] if centred."""
        within = self.within(values, clip=clip)
        # The quotient of two rounded differences can exceed 1 by one rounding: the clip keeps [0, 1] exact.
        share = np.clip((within - self.lower) / (self.upper - self.lower), 0.0, 1.0)[:, None]
        return 2.0 * share - 1.0 if self.centred else share


class Binned(Numeric, frozen=True, kw_only=True, tag_field="kind", tag="binned", omit_defaults=True):
    """A number in declared bins; encoded as one coordinate per bin.

    Parameters
    ----------
    name, lower, upper, clip, from_data, comment
        As for :class:`Numeric`.
    missing : float or 'own_bin', optional
        What a missing value counts as: a number within the bounds, or its own bin.
    edges : tuple of float, optional
        Where a bin ends and the next begins, ascending between the bounds; an edge belongs to the bin above it.
        Left out, they follow from the bounds (:func:`reference.domain.edges.edges_of`).
    source : str
        The public source of the edges, outside the table.
    """

    edges: Annotated[tuple[int | float, ...], Meta(min_length=1)] = ()
    source: str = ""

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.edges:
            force_setattr(self, "edges", edges_of(self.lower, self.upper))
            if not self.edges:
                bounds = (self.lower, self.upper)
                raise DeclarationError(
                    f"bounds of {self.name!r}", bounds, "farther apart: no eighth is between them"
                )
        ends = [self.lower, *self.edges, self.upper]
        if not all(is_finite(edge) for edge in self.edges) or any(a >= b for a, b in pairwise(ends)):
            raise DeclarationError(f"edges of {self.name!r}", self.edges, "ascending, between the bounds")

    @property
    def has_bins(self) -> bool:
        """True."""
        return True

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the encoded coordinates."""
        ends = [self.lower, *self.edges, self.upper]
        texts = [f"{end:g}" for end in ends]
        if len(set(texts)) < len(texts):
            texts = [repr(end) for end in ends]
        inner = [f"[{a}, {b})" for a, b in pairwise(texts[:-1])]
        own = ["missing"] if self.missing == OWN_BIN else []
        return tuple(f"{self.name}={part}" for part in [*inner, f"[{texts[-2]}, {texts[-1]}]", *own])

    def encode(self, values: Column, *, clip: bool) -> FloatArray:
        """Encode one column, shape (n,), into shape (n, number of bins) with one 1 a row."""
        numbers = self.within(values, clip=clip)
        bins = np.searchsorted(np.array(self.edges, dtype=np.float64), numbers, side="right")
        # the bin of missing values comes last
        return _one_a_row(np.where(np.isnan(numbers), len(self.edges) + 1, bins), len(self.columns))


class Ordinal(Document, frozen=True, tag_field="kind", tag="ordinal", omit_defaults=True):
    """A value among declared, ordered categories; encoded as rank / (number of categories - 1).

    Parameters
    ----------
    name : str
    categories : tuple of hashable
        Two or more, in order; the position is the rank.
    from_data : bool
        The categories were read from the data, so they are not public.
    comment : str
        For readers of the file; not kept.
    """

    name: Name
    categories: Categories
    from_data: bool = False
    comment: str = ""

    def __post_init__(self) -> None:
        force_setattr(self, "comment", "")
        _check_categories(self.name, self.categories)

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the encoded coordinates."""
        return (self.name,)

    def encode(self, values: Column, *, clip: bool) -> FloatArray:
        """Encode one column, shape (n,), into shape (n, 1) with entries in [0, 1]."""
        ranks = _ranks(self.name, self.categories, values)
        return (ranks / (len(self.categories) - 1))[:, None]


class OneHot(Document, frozen=True, tag_field="kind", tag="one_hot", omit_defaults=True):
    """A value among declared categories; encoded as one coordinate per category.

    Parameters
    ----------
    name : str
    categories : tuple of hashable
        Two or more.
    otherwise : hashable, optional
        One of the categories; undeclared values count as it.  Without it they are rejected.
    from_data : bool
        The categories were read from the data, so they are not public.
    comment : str
        For readers of the file; not kept.
    """

    name: Name
    categories: Categories
    otherwise: Category | UnsetType = UNSET
    from_data: bool = False
    comment: str = ""

    def __post_init__(self) -> None:
        force_setattr(self, "comment", "")
        _check_categories(self.name, self.categories)
        _check_otherwise(self.name, self.otherwise, self.categories)

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the encoded coordinates."""
        return tuple(f"{self.name}={category}" for category in self.categories)

    def encode(self, values: Column, *, clip: bool) -> FloatArray:
        """Encode one column, shape (n,), into shape (n, number of categories) with one 1 a row."""
        ranks = _ranks(self.name, self.categories, values, self.place_of_others, OTHERWISE)
        return _one_a_row(ranks, len(self.categories))

    @property
    def place_of_others(self) -> int | None:
        """Place of the category that undeclared values count as."""
        return None if self.otherwise is UNSET else self.categories.index(self.otherwise)


class Grouped(Document, frozen=True, tag_field="kind", tag="grouped", omit_defaults=True):
    """A value among declared categories in declared groups; encoded as one coordinate per group.

    Parameters
    ----------
    name : str
    groups : dict from name to categories
        Two or more groups, together of distinct categories.
    otherwise : str, optional
        One of the groups; undeclared values belong to it.  Without it they are rejected.
    from_data : bool
        The categories were read from the data, so they are not public.
    source : str
        The public source of the groups, outside the table.
    comment : str
        For readers of the file; not kept.
    """

    name: Name
    groups: Annotated[dict[Name, tuple[Category, ...]], Meta(extra_json_schema={"minProperties": 2})]
    otherwise: str | UnsetType = UNSET
    from_data: bool = False
    source: str = ""
    comment: str = ""

    def __post_init__(self) -> None:
        force_setattr(self, "comment", "")
        if len(self.groups) < 2 or not all(self.groups.values()):
            raise DeclarationError(f"groups of {self.name!r}", self.groups, "at least two, each with a category")
        _check_categories(self.name, self.categories)
        _check_otherwise(self.name, self.otherwise, tuple(self.groups))

    @property
    def categories(self) -> tuple[Category, ...]:
        """All categories, group by group."""
        return tuple(category for group in self.groups.values() for category in group)

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the encoded coordinates."""
        return tuple(f"{self.name}={group}" for group in self.groups)

    def encode(self, values: Column, *, clip: bool) -> FloatArray:
        """Encode one column, shape (n,), into shape (n, number of groups) with one 1 a row."""
        sizes = [len(group) for group in self.groups.values()]
        group_of_rank = np.repeat(np.arange(len(sizes)), sizes)
        ranks = _ranks(self.name, self.categories, values, self.place_of_others, OTHERWISE)
        return _one_a_row(group_of_rank[ranks], len(sizes))

    @property
    def place_of_others(self) -> int | None:
        """Place of a category in the group that undeclared values belong to."""
        return None if self.otherwise is UNSET else self.categories.index(self.groups[self.otherwise][0])


Attribute: TypeAlias = Numeric | Binned | Ordinal | OneHot | Grouped


def _one_a_row(places: IntArray, width: int) -> FloatArray:
    encoded = np.zeros((len(places), width))
    encoded[np.arange(len(places)), places] = 1.0
    return encoded


def _check_categories(name: str, categories: Any) -> None:
    declared = not isinstance(categories, str) and all(is_hashable(value) for value in categories)
    if not declared or len(categories) < 2 or len(set(categories)) != len(categories):
        raise DeclarationError(f"categories of {name!r}", categories, "at least two, all distinct")


def _check_otherwise(name: str, otherwise: Any, known: tuple[Any, ...]) -> None:
    if otherwise is not UNSET and otherwise not in known:
        raise DeclarationError(f"`otherwise` of {name!r}", otherwise, "one of " + ", ".join(map(str, known)))


def _ranks(
    name: str, categories: tuple[Hashable, ...], values: Column, otherwise: int | None = None, remedy: str = ""
) -> IntArray:
    """Return the rank of each value; undeclared values get the rank `otherwise`, or an error with the remedy."""
    ranks = codes_of(values, {category: rank for rank, category in enumerate(categories)})
    unknown = ranks < 0
    if not unknown.any():
        return ranks
    for row, held in enumerate(values):
        if not unknown[row]:
            continue
        value = held.item() if isinstance(held, np.generic) else held
        if is_hashable(value) and is_missing(value):
            raise NotANumberError(no_number(value), row=row, column=name, value=value)
        if otherwise is None:
            known = ", ".join(map(repr, categories[:MOST_NAMED])) + (
                ", ..." if len(categories) > MOST_NAMED else ""
            )
            problem = f"category not declared; declared are {known}{kind_hint(value, categories) or remedy}"
            raise UnseenCategoryError(problem, row=row, column=name, value=value)
        ranks[row] = otherwise
    return ranks
