"""``python -m reference domain``: print a shipped domain, make a template of a domain file, or check one."""

from __future__ import annotations

import itertools
import re
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import click

from reference.commands.file_names import FileName
from reference.commands.options import emit, encoding_from, out_option
from reference.commands.parsing import command as make_command
from reference.commands.parsing import option
from reference.commands.terminal import page
from reference.common.documents import format_of, plain
from reference.common.errors import ExtraColumnError, MissingColumnError, ReadingError
from reference.common.exit_codes import EXIT_FINE
from reference.common.files import json_text
from reference.common.grid import DATA_STEPS
from reference.common.numbers import is_number_text
from reference.common.printable import quoted
from reference.datasets import ENCODINGS, SOURCES, shipped_domain
from reference.datasets.from_file import hint_of_column, record_blocks
from reference.datasets.opening import ENDINGS, is_table_file, open_table
from reference.datasets.table import ROWS_READ, TableFile
from reference.domain import NORMS
from reference.domain.file import UNNAMED, DomainFile, load_domain_file
from reference.domain.markers import MISSING_TEXTS
from reference.domain.sql import moments_query

SAMPLE = 1000
"""Records of a text file to look at for guessing whether a column holds numbers."""

LEADING_ZERO = re.compile(r"0[0-9]+$")

DATE = re.compile(
    r"(?:[0-9]{4}([-/.])[0-9]{1,2}\1[0-9]{1,2}|[0-9]{1,2}([-/.])[0-9]{1,2}\2[0-9]{2,4})(?:[T ][0-9:.,+Z -]*)?$"
)
"""A day, year first or last, perhaps with a time."""

MOST_CATEGORIES = 100
"""A column with more distinct texts than this is not offered as categories."""

WARNING = (
    "bounds and categories must be public: from a code book, a questionnaire or the law. Read from the data they "
    "break privacy, because the encoding then depends on every record"
)

HINTS = (
    "Move the name of a column that is not a feature, such as a number of the record, to `ignore`. Categories "
    "with an order may be `ordinal`; `otherwise` names the one that undeclared values count as. With `clip` true "
    "a number beyond a bound is the bound; `missing` is the number that a missing one counts as, or `own_bin` for "
    'the kind `binned`; a missing text is the category "". A group of more than two values has `values`, not '
    "`one` and `zero`. A number that is a code, or 0 or 1 alone, is better `one_hot` with its values as "
    "`categories`, without quotes. A date is not a number: count days in a column of its own, or move it to "
    "`ignore`."
)


@dataclass(frozen=True, kw_only=True)
class DomainOptions:
    """What to print or check."""

    describe: bool = option("--describe", is_flag=True, help="print a template for a data file")
    check: str | None = option(
        "--check",
        type=FileName(),
        metavar="FILE",
        help="check a domain file, and with --data all records of a file",
    )
    sql: str | None = option(
        "--sql",
        metavar="TABLE",
        help="with --check, print the query that adds up a table of a database instead",
    )
    data: str | None = option(
        "--data",
        type=FileName(SOURCES),
        metavar="NAME|FILE",
        help=f"one of {', '.join(SOURCES)}, or a file ending in {', '.join(ENDINGS)}",
    )
    label: str | None = option("--label", metavar="COLUMN", help="column of a data file with the label")
    group: str | None = option("--group", metavar="COLUMN", help="column of a data file with the group")
    bounds_from_data: bool = option(
        "--bounds-from-data",
        is_flag=True,
        help="fill the template in from the data, marked so that `fit` refuses private mechanisms",
    )
    domain: str | None = option("--domain", type=click.Choice(NORMS), help="norm of a printed domain (unit_ball)")
    encoding: str | None = option(
        "--encoding",
        type=click.Choice(ENCODINGS),
        help="categories as ranks or one-hot (ordinal; one_hot in a template)",
    )
    intercept: bool = option("--intercept", is_flag=True, help="add an intercept coordinate, inside the norm")
    keep_group: bool = option("--keep-group", is_flag=True, help="make the group a feature, too")


@dataclass(frozen=True, kw_only=True)
class DomainOutput:
    """Output."""

    format: str = option("--format", type=click.Choice(["text", "json"]), default="text", help="of --check (text)")
    out: str | None = out_option()


@make_command(
    "domain",
    DomainOptions,
    DomainOutput,
    example="python -m reference domain --describe --data people.csv --label income --out domain.json",
    text="Print the domain of a data set or a template for a data file, or check a domain file.",
)
def command(options: DomainOptions, output: DomainOutput) -> int:
    """Run ``domain``."""
    if options.check is not None:
        if options.describe:
            raise ReadingError("check", options.check, "left out where --describe is given")
        text = check(options, options.check, output) if options.sql is None else query(options, options.check)
    elif options.sql is not None:
        raise ReadingError("sql", options.sql, "left out, or given with --check FILE")
    elif options.data is None:
        raise ReadingError("data", None, "given: the name of a data set, or a data file")
    elif is_table_file(options.data):
        sys.stderr.write(f"warning: {WARNING}\n")
        text = _to_edit(template(open_table(options.data), options, sys.stderr.write), output.out)
    elif options.describe and options.data not in SOURCES:
        raise ReadingError("data", options.data, "a file whose name ends in " + ", ".join(ENDINGS))
    else:
        text = _to_edit(plain(shipped_domain(options.data, encoding_from(options))), output.out)
    emit(text, output.out)
    return EXIT_FINE


def _to_edit(document: Any, out: str | None) -> str:
    """Return a document whose names stand as they are, unless the page lacks a character."""
    text = json_text(document, ascii_only=False)
    return text if page(out).has(text) else json_text(document)


# --- Check ---------------------------------------------------------------------------------------------------


def check(options: DomainOptions, file: str, output: DomainOutput) -> str:
    """Return what a domain file declares; with a data file, also check every record."""
    declared = load_domain_file(file).with_columns(options.label, options.group)
    domain = declared.domain
    records = None
    if options.data is not None:
        records = len(record_blocks(open_table(options.data), declared))
    facts: dict[str, Any] = {
        "domain_file": file,
        "schema": format_of(DomainFile),
        "norm": domain.norm,
        "attributes": len(domain.attributes),
        "dimension": domain.dimension,
        "columns": list(domain.columns),
        "label": domain.label,
        "group": domain.group,
        "groups": None if domain.group is None else domain.groups,
        "from_data": list(declared.from_data),
        "records": records,
    }
    if output.format == "json":
        return json_text(facts)
    lines = [
        f"{file}: {facts['attributes']} attributes, {domain.dimension} columns, {domain.norm}",
        f"label {domain.label}, group {domain.group or 'none'}{_of(domain.group_values)}",
    ]
    if declared.from_data:
        lines.append(f"READ FROM THE DATA: {', '.join(declared.from_data)}; `fit` refuses private mechanisms")
    if records is not None:
        lines.append(
            f"{options.data}: all {records} records are inside the domain (their number is for the data holder)"
        )
    return page(output.out).text(*lines)


def _of(values: Sequence[Any]) -> str:
    return f" ({', '.join(map(str, values))})" if values else ""


def query(options: DomainOptions, file: str) -> str:
    """Return the query that adds up a database's table by a domain file."""
    if options.data is not None:
        raise ReadingError("data", options.data, "left out where --sql is given")
    declared = load_domain_file(file).with_columns(options.label, options.group)
    declared.require_public()
    return moments_query(declared, str(options.sql), DATA_STEPS)


# --- Describe ------------------------------------------------------------------------------------------------


def template(table: TableFile, options: DomainOptions, say: Callable[[str], object]) -> dict[str, Any]:
    """Return a domain file with the columns of a data file, and nulls where a public fact is needed.

    Parameters
    ----------
    table : TableFile
    options : DomainOptions
    say : callable
        Gets a line about each column that looks like numbers and is taken for categories.

    Raises
    ------
    reference.common.errors.MissingColumnError
        When the label or the group is not a column.
    reference.common.errors.ExtraColumnError
        When a column has no name: a domain file could not name it.
    """
    names = table.columns
    for name in (options.label, options.group):
        if name is not None and name not in names:
            problem = f"there is no such column{hint_of_column(names, name)}"
            raise MissingColumnError(problem, file=str(table.path), column=name)
    if "" in names:
        raise ExtraColumnError(UNNAMED, file=str(table.path), column="")
    kinds = table.kinds() or guessed_kinds(table, say)
    document: dict[str, Any] = {
        "schema": format_of(DomainFile),
        "comment": f"A template. Fill in every null. {WARNING[0].upper()}{WARNING[1:]}. {HINTS}",
        "norm": options.domain or "unit_ball",
        "intercept": options.intercept,
        # `fit --mechanism repaired` decides by --without-group instead
        **({"keep_group": True} if options.keep_group else {}),
        "attributes": [],
        "ignore": [],
    }
    kind_of_categories = options.encoding or "one_hot"
    found = values_in(table) if options.bounds_from_data else {}
    for name in names:
        if name not in (options.label, options.group):
            entry = _attribute(name, kinds[name], kind_of_categories, found.get(name))
            document["attributes"].append(entry)
    for mark, name in (("label", options.label), ("group", options.group)):
        if name is not None:
            document[mark] = _marker(name, kinds[name], found.get(name))
    many = _many(kinds, options.group, found)
    if many is not None:
        document["group"] = many
    return document


def _many(kinds: Mapping[str, str], group: str | None, found: Mapping[str, set[Any]]) -> dict[str, Any] | None:
    """Return the entry of a group of more than two values, read from the data."""
    values = found.get(group or "", set())
    if group is None or not 2 < len(values) <= MOST_CATEGORIES:
        return None
    known = {_as_number(value) if kinds[group] == "number" else value for value in values}
    return None if None in known else {"column": group, "values": sorted(known), "from_data": True}


def guessed_kinds(table: TableFile, say: Callable[[str], object]) -> dict[str, str]:
    """Return `number` or `text` for each column of a text file, by the first records' values that are not missing.

    Numbers with a leading zero, such as postcodes, are texts: as numbers they would lose it.
    """
    kinds = dict.fromkeys(table.columns, "number")
    for block in itertools.islice(table.blocks(table.columns, SAMPLE), 1):
        for name, values in block.columns.items():
            known = [value for value in values if value not in MISSING_TEXTS]
            others = [value for value in known if not is_number_text(value)]
            coded = [value for value in known if LEADING_ZERO.match(value)]
            if not known or others or coded:
                kinds[name] = "text"
            if others and (remedy := _remedy(others)):
                say(f"note: {quoted(name)} has {remedy}; as it is, taken for categories\n")
            elif coded and not others:
                say(f"note: {quoted(name)} has leading zeros, as in {quoted(coded[0])}: taken for categories\n")
            elif others and len(others) < len(known):
                say(f"note: {quoted(name)} has numbers, and {quoted(others[0])}: taken for categories\n")
    return kinds


def _remedy(texts: Sequence[str]) -> str | None:
    """Return what percentages or dates are, and how to declare them; None for other texts."""
    if all(text.endswith("%") and is_number_text(text[:-1].strip()) for text in texts):
        return (
            f"percentages, as in {quoted(texts[0])}: take away the sign, and declare `numeric` with the bounds of "
            "the share in percent"
        )
    if all(DATE.match(text.strip()) for text in texts):
        return (
            f"dates, as in {quoted(texts[0])}: count days or years from a fixed one, and declare `numeric`, or "
            "move it to `ignore`"
        )
    return None


def values_in(table: TableFile) -> dict[str, set[Any]]:
    """Return the distinct values of each column, null apart; for a large column, just more than can be offered."""
    found: dict[str, set[Any]] = {name: set() for name in table.columns}
    for block in table.blocks(table.columns, ROWS_READ):
        for name, values in block.columns.items():
            found[name].update(value for value in values if value is not None)
            if len(found[name]) > MOST_CATEGORIES:
                found[name] = set(_ends(found[name])) | set(itertools.islice(found[name], MOST_CATEGORIES + 1))
    return found


def _ends(values: set[Any]) -> Iterator[Any]:
    """Yield the smallest and the largest number."""
    numbers = [value for value in values if _as_number(value) is not None]
    if numbers:
        yield min(numbers, key=float)
        yield max(numbers, key=float)


def _attribute(name: str, kind: str, kind_of_categories: str, values: set[Any] | None) -> dict[str, Any]:
    if kind == "number":
        numbers = [number for value in values or () if (number := _as_number(value)) is not None]
        if not numbers or min(numbers) == max(numbers):
            return {"name": name, "kind": "numeric", "lower": None, "upper": None}
        return {"name": name, "kind": "numeric", "lower": min(numbers), "upper": max(numbers), "from_data": True}
    if (
        not values
        or not 2 <= len(values) <= MOST_CATEGORIES
        or not all(isinstance(value, str) for value in values)
    ):
        return {"name": name, "kind": kind_of_categories, "categories": None}
    return {"name": name, "kind": kind_of_categories, "categories": sorted(values), "from_data": True}


def _marker(name: str, kind: str, values: set[Any] | None) -> dict[str, Any]:
    known: set[Any] = {_as_number(value) if kind == "number" else value for value in values or ()}
    if known == {0, 1}:
        return {"column": name, "one": [1], "zero": [0]}
    if len(known) != 2 or None in known:
        return {"column": name, "one": None, "zero": None}
    zero, one = sorted(known)
    return {"column": name, "one": [one], "zero": [zero], "from_data": True}


def _as_number(value: Any) -> int | float | None:
    if isinstance(value, str) and not is_number_text(value):
        return None
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        return None
    if number != number or abs(number) == float("inf"):
        return None
    return int(number) if number.is_integer() else number
