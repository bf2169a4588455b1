"""A domain file as a query: the database checks and encodes its records, and adds them up on the grid.

The sums are of whole numbers, so they are exact, whatever the order of rows or the database's plan.
Each record is encoded by the same operations on doubles as in :mod:`reference.records`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from fractions import Fraction
from itertools import pairwise
from typing import Any

from msgspec import UNSET

from reference.common.errors import ReadingError
from reference.domain.attributes import OWN_BIN, Attribute, Binned, Category, Numeric, Ordinal
from reference.domain.file import DomainFile
from reference.domain.markers import Marker

LARGEST = "1.7976931348623157e308"
"""The largest double."""


def moments_query(declared: DomainFile, table: str, steps: int) -> str:
    """Return the query of one row whose columns :meth:`reference.moments.Moments.from_table` reads.

    Parameters
    ----------
    declared : DomainFile
    table : str
        What follows ``FROM``: a name, quoted where it must be, or a query in parentheses.
    steps : int
        Of the grid: :data:`reference.records.DATA_STEPS`.

    Notes
    -----
    `refused` counts records outside the domain.  Of two doubles that a database rounds differently one may lie on
    another step of the grid; `refused` looks at the steps, so whatever is not refused is inside the domain.
    """
    domain = declared.domain
    domain.require_of_paper()
    d, top = range(domain.dimension), int(Fraction(domain.column_factor) * steps)
    columns = [f"{entry} AS x_{j}" for j, entry in enumerate(_coordinates(declared, steps))]
    columns.append(f"{_mark(declared.label)} AS y")
    inside = [f"x_{j} BETWEEN 0 AND {top}" for j in d] + ["y IN (0, 1)"]
    if declared.group is not None:
        columns.append(f"{_mark(declared.group)} AS z")
        inside.append("z IN (0, 1)")
    if domain.prescaled and domain.norm != "unit_box":
        inside.append(f"{' + '.join(f'x_{j} * x_{j}' for j in d)} <= {steps**2}")
    z = "z" if declared.group is not None else "0"
    sums = ["count(*) AS n", f"sum({z}) AS sum_z"]
    sums += [f"sum(x_{j}) AS x_{j}" for j in d]
    sums += [f"sum(y * x_{j}) AS yx_{j}" for j in d]
    sums += [f"sum({z} * x_{j}) AS zx_{j}" for j in d]
    sums += [f"sum(x_{i} * x_{j}) AS xx_{i}_{j}" for i in d for j in d if i <= j]
    sums.append(f"sum(CASE WHEN {' AND '.join(inside)} THEN 0 ELSE 1 END) AS refused")
    return (
        "WITH encoded AS (\n  SELECT\n    "
        + ",\n    ".join(columns)
        + f"\n  FROM {table}\n)\nSELECT\n  "
        + ",\n  ".join(sums)
        + "\nFROM encoded\n"
    )


def _coordinates(declared: DomainFile, steps: int) -> Iterator[str]:
    """Yield an expression for each coordinate of x: a whole number, or NULL outside the domain."""
    domain = declared.domain
    factor = domain.column_factor
    if domain.intercept:
        yield _whole(str(int(factor * steps)))
    for attribute in domain.attributes:
        if type(attribute) is Numeric:
            admitted, value = _within(attribute)
            share = f"({value} - {_double(attribute.lower)}) / {_double(attribute.upper - attribute.lower)}"
            share = f"least(greatest({share}, {_double(0)}), {_double(1)})"
            entry = f"trunc({share} * {_double(factor)} * {_double(steps)})"
            yield _whole(f"CASE WHEN {admitted} THEN {entry} END")
        else:
            yield from _choices(attribute, factor * steps)
    if domain.keep_group and declared.group is not None:
        yield f"{_mark(declared.group)} * {int(factor * steps)}"


def _choices(attribute: Attribute, scale: float) -> Iterator[str]:
    """Yield the coordinates of an attribute with few values."""
    if isinstance(attribute, Binned):
        (admitted, value), corner = _within(attribute), int(scale)
        ends = [None, *attribute.edges, None]
        for lower, upper in pairwise(ends):
            tests = [f"{value} >= {_double(lower)}"] if lower is not None else []
            tests += [f"{value} < {_double(upper)}"] if upper is not None else []
            entry = f"CASE WHEN {' AND '.join(tests)} THEN {corner} ELSE 0 END"
            yield _whole(f"CASE WHEN {admitted} THEN {entry} END")
        if attribute.missing == OWN_BIN:
            yield _whole(f"CASE WHEN {admitted} THEN CASE WHEN {value} IS NULL THEN {corner} ELSE 0 END END")
        return
    assert not isinstance(attribute, Numeric)
    encoded = attribute.encode(list(attribute.categories), clip=False) * scale
    # which category any other value counts as
    other = None if isinstance(attribute, Ordinal) else attribute.place_of_others
    for column in encoded.T.tolist():
        entries = [int(entry) for entry in column]
        cases = list(zip(attribute.categories, entries, strict=True))
        yield _whole(_case(attribute.name, cases, None if other is None else entries[other]))


def _within(attribute: Numeric) -> tuple[str, str]:
    """Return when a number is admitted, and the number within its bounds; `least` of a NULL varies."""
    value, lower, upper = _number(attribute.name), _double(attribute.lower), _double(attribute.upper)
    if attribute.missing is not UNSET:
        # a missing number is NULL or NaN
        value = f"nullif({value}, CAST('NaN' AS DOUBLE PRECISION))"
        if attribute.missing != OWN_BIN:
            value = f"coalesce({value}, {_double(attribute.missing)})"
    admitted = f"{value} BETWEEN {lower} AND {upper}"
    if attribute.clip:
        bounded = f"least(greatest({value}, {lower}), {upper})"
        admitted, value = _finite(value), f"CASE WHEN {value} IS NOT NULL THEN {bounded} END"
    if attribute.missing == OWN_BIN:
        admitted = f"({value} IS NULL OR {admitted})"
    return admitted, value


def _mark(marker: Marker | None) -> str:
    """Return 0 or 1; NULL for any other value."""
    assert marker is not None
    if marker.meanings:
        return _whole(_case(marker.column, marker.meanings.items()))
    value, above = _number(marker.column), _double(float(marker.above))  # type: ignore[arg-type]
    return _whole(f"CASE WHEN {_finite(value)} THEN CASE WHEN {value} > {above} THEN 1 ELSE 0 END END")


def _case(column: str, meanings: Iterable[tuple[Any, int]], other: int | None = None) -> str:
    cases = " ".join(f"WHEN {_literal(value)} THEN {meaning}" for value, meaning in meanings)
    if other is None:
        return f"CASE {_name(column)} {cases} END"
    return f"CASE WHEN {_name(column)} IS NOT NULL THEN CASE {_name(column)} {cases} ELSE {other} END END"


def _finite(value: str) -> str:
    # a database counts NaN as larger than every number
    return f"{value} BETWEEN {_double(f'-{LARGEST}')} AND {_double(LARGEST)}"


def _number(column: str) -> str:
    return f"CAST({_name(column)} AS DOUBLE PRECISION)"


def _double(value: float | str) -> str:
    text = value if isinstance(value, str) else repr(float(value))
    return f"CAST('{text}' AS DOUBLE PRECISION)"


def _whole(expression: str) -> str:
    return f"CAST({expression} AS BIGINT)"


def _name(column: str) -> str:
    return _within_marks(column, '"')


def _literal(value: Category) -> str:
    return _within_marks(value, "'") if isinstance(value, str) else repr(value)


def _within_marks(text: str, mark: str) -> str:
    """Quote a text; refuse one that a database would end elsewhere or read otherwise."""
    if "\\" in text or not text.isprintable():
        held = "a name or a category has a backslash, which escapes in some databases, or a control character"
        raise ReadingError("sql", text, f"left out where {held}")
    return mark + text.replace(mark, mark * 2) + mark
