"""Named whole numbers, from any table of one row or of (name, value) rows."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import Any

import numpy as np

from reference.common.errors import MomentsTableError


def whole_numbers(table: Any) -> dict[str, int]:
    """Return whole numbers by name.

    Parameters
    ----------
    table : mapping, pandas or pyarrow table, or iterable of (name, value)
        Of a mapping or a table each entry is a number, or a column of one; or the columns are `name` and `value`.

    Raises
    ------
    reference.common.errors.MomentsTableError
        When a value is not a whole number, or one that a float has rounded.
    """
    if hasattr(table, "to_pydict"):
        table = table.to_pydict()
    elif hasattr(table, "to_dict"):
        table = table.to_dict("list")
    columns = dict(table) if isinstance(table, Mapping) else dict(list(table))
    if set(columns) == {"name", "value"}:
        columns = dict(zip(columns["name"], columns["value"], strict=True))
    return {str(name): _whole(str(name), value) for name, value in columns.items()}


def _whole(name: str, value: Any) -> int:
    if isinstance(value, (list, tuple, np.ndarray)):
        if len(value) != 1:
            raise MomentsTableError(f"has {len(value)} values where one is needed", name)
        value = value[0]
    if isinstance(value, (bool, np.bool_)):
        raise MomentsTableError("is not a whole number", name, value)
    if isinstance(value, (int, np.integer)):
        return int(value)
    if isinstance(value, (float, np.floating)) and float(value).is_integer() and abs(float(value)) <= 2**53:
        return int(value)
    if isinstance(value, Decimal) and value.is_finite() and value == int(value):
        return int(value)
    if value is None:
        raise MomentsTableError("is NULL, as of no record", name)
    problem = "is not a whole number, or one that a float has rounded: read it as Arrow or as rows"
    raise MomentsTableError(problem, name, value)
