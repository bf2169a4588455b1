"""Arguments of the one-call functions: each is checked before use, and an error names it and its value."""

from __future__ import annotations

import math
from fractions import Fraction
from numbers import Real
from typing import Any

import numpy as np

from audit.auditor.subject import SubjectError
from audit.bounds import SMALLEST_SIGNIFICANCE
from audit.subjects.adapters.outputs import as_floats
from reference.budgets import parse_delta
from reference.common.arrays import FloatArray
from reference.common.errors import DeltaError, ReadingError
from reference.common.printable import in_brief, quoted

SHAPES = {1: "(n,)", 2: "(n, k)"}
"""Of arrays of one and of two dimensions."""

NOT_ARRAYS = (str, bytes, dict, set, frozenset, type(None))
"""Types that numpy would take, but not as an array of numbers."""


def whole_number(name: str, given: Any, least: int, most: float = math.inf) -> int:
    """Return a whole number, of Python or numpy.

    Parameters
    ----------
    name : str
    given : object
    least : int
    most : float

    Raises
    ------
    reference.common.errors.ReadingError
    """
    whole = isinstance(given, int | np.integer) and not isinstance(given, bool)
    if not whole or given < least:
        raise ReadingError(name, given, f"a whole number, at least {least:,}")
    if given > most:
        raise ReadingError(name, given, f"at most {most:,}")
    return int(given)


def significance_of(given: Any) -> float:
    """Return a significance.

    Parameters
    ----------
    given : object

    Raises
    ------
    reference.common.errors.ReadingError
    """
    limits = f"in [{SMALLEST_SIGNIFICANCE:g}, 1)"
    if isinstance(given, bool) or not isinstance(given, Real):
        raise ReadingError("significance", given, f"a number {limits}")
    level = float(given)
    if not SMALLEST_SIGNIFICANCE <= level < 1:
        raise ReadingError("significance", given, limits)
    return level


def delta_below_one(given: Any) -> Fraction:
    """Return a delta, given as a number or a decimal string, that is below 1 as a 64-bit float, too.

    Parameters
    ----------
    given : object

    Raises
    ------
    reference.common.errors.InputError
    """
    delta = parse_delta("delta", given)
    if float(delta) == 1:
        raise DeltaError("delta", given, "below 1 as a 64-bit float")
    return delta


def numbers_of(name: str, given: Any, dimensions: tuple[int, ...] = (1,)) -> FloatArray:
    """Return an array of real numbers of one of these dimensions, as 64-bit floats.

    Parameters
    ----------
    name : str
    given : object
        Anything that numpy takes: lists, tables and columns, too.
    dimensions : tuple of int

    Raises
    ------
    audit.auditor.subject.SubjectError
        Names the argument, and the first entry that is no number.
    """
    wanted = f"{name} must be an array of real numbers of shape {' or '.join(SHAPES[one] for one in dimensions)}"
    if isinstance(given, NOT_ARRAYS) or hasattr(type(given), "__next__"):
        raise SubjectError(f"{wanted}, not {in_brief(given)}")
    try:
        values = given if isinstance(given, np.ndarray) else np.asarray(given)
    except (ValueError, TypeError):
        # lists of several lengths
        raise SubjectError(f"{wanted}: its rows have several lengths, or are no numbers") from None
    if values.ndim not in dimensions or not values.size:
        raise SubjectError(f"{wanted}, not {f'of shape {values.shape}' if values.ndim else in_brief(given)}")
    if values.dtype.kind not in "fiub":
        raise SubjectError(f"{wanted}{_first_other(given, values)}")
    return as_floats(name, given)


def check_columns(left: Any, right: Any) -> None:
    """Refuse two tables whose columns have other names, or another order: columns are compared by place.

    Parameters
    ----------
    left, right : object
        Of as many columns; one that is no table has no names to compare.

    Raises
    ------
    audit.auditor.subject.SubjectError
    """
    ours, others = _columns_of(left), _columns_of(right)
    if ours is None or others is None:
        return
    for place, (one, other) in enumerate(zip(ours, others, strict=True)):
        # a label that is NaN is equal to none
        if one != other and repr(one) != repr(other):
            raise SubjectError(
                f"left has {quoted(one)} as column {place}, right has {quoted(other)}: give both tables the same "
                "columns, in the same order"
            )


def check_index(names: tuple[str, str], first: Any, second: Any) -> None:
    """Refuse columns of pandas whose rows have other labels, or another order: rows are paired by place.

    Raises
    ------
    audit.auditor.subject.SubjectError
    """
    indices = [axes[0] for one in (first, second) if isinstance(axes := getattr(one, "axes", None), list)]
    if len(indices) == 2 and not indices[0].equals(indices[1]):
        raise SubjectError(
            f"{names[0]} and {names[1]} label their rows differently: give both the same index, in one order, "
            "or arrays without one"
        )


def _columns_of(given: Any) -> list[Any] | None:
    """Return the names of a table's columns; None if it is no table of pandas, polars or pyarrow."""
    named = getattr(given, "column_names" if hasattr(type(given), "column_names") else "columns", None)
    return None if named is None or callable(named) else list(named)


def _first_other(given: Any, values: np.ndarray[Any, Any]) -> str:
    """Return, in words, the first entry that is no real number, with the name of its column in a table."""
    entries = np.asarray(given, dtype=object)
    for place, entry in enumerate(entries.ravel() if entries.shape == values.shape else ()):
        if isinstance(entry, Real | np.bool_):
            continue
        row, column = divmod(place, values.shape[1]) if values.ndim == 2 else (place, None)
        if column is None:
            return f": at row {row} it has {quoted(entry)}; rows count from 0"
        named = (_columns_of(given) or range(values.shape[1]))[column]
        return f": at row {row}, column {quoted(named)} it has {quoted(entry)}; rows count from 0"
    return f", not of type {values.dtype}: convert it to float"
