"""``python -m audit sensitivity``: how far one record can move the coefficients."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

import click

from audit.commands.again import again
from audit.commands.options import (
    DeclaredOptions,
    TermOptions,
    setting_of_terms,
    weight,
    weight_option,
)
from audit.commands.text import AGAIN, columns, fitted, table_text
from audit.exact.data_sets import rows_text
from audit.exact.sensitivity import Sensitivity, declared_sensitivity, sensitivity
from audit.exact.witnesses import LARGE, NORMS
from reference.commands.options import FileOptions, emit
from reference.commands.parsing import command as make_command
from reference.commands.parsing import option
from reference.common.errors import ReadingError
from reference.common.exit_codes import EXIT_FINE
from reference.common.files import json_text
from reference.common.numbers import decimal_text, rounded_down, rounded_up
from reference.common.page import Listing
from reference.objective import layout
from reference.readings import Readings
from reference.sensitivity import declared_of

LONG = 60
"""Most characters of an exact number in text; longer ones are shown as decimals."""

WIDTH = 130
"""Columns of the table without a terminal."""


@dataclass(frozen=True, kw_only=True)
class ChangeOptions:
    """Change."""

    fairness_weight: str = weight_option()
    norm: str | None = option("--norm", type=click.Choice(NORMS), help="norm of the change (both)")
    weight_s: str = option(
        "--weight-s",
        default="1",
        metavar="W",
        help="weight of the monomials with w_s; in l2 of their squares (1)",
    )
    weight_n: str = option("--weight-n", default="1", metavar="W", help="weight of the others (1)")
    x_s: str | None = option(
        "--x-s", metavar="NAME", help="with a declared domain: the coordinate of w_s (the first)"
    )
    rows_per_person: int = option(
        "--rows-per-person", type=click.IntRange(min=1), default=1, metavar="K", help="records of one person (1)"
    )
    effort: str = option(
        "--effort",
        type=click.Choice(["quick", "close", "thorough"]),
        default="close",
        help="for the l1 change on a ball: quick, about a second; close, within 1 % up to d = 30; thorough: bound "
        "every sign pattern, slow beyond d = 8 to 13 (close)",
    )


@make_command(
    "sensitivity",
    DeclaredOptions,
    TermOptions,
    ChangeOptions,
    FileOptions,
    example="python -m audit sensitivity --dimension 5 --norm l1 --fairness none",
)
def command(sets: DeclaredOptions, terms: TermOptions, change: ChangeOptions, output: FileOptions) -> int:
    """Compute how far one record can move the coefficients.

    The paper's bound beside the exact supremum over all neighbouring data sets (or a certified enclosure of it),
    with data sets that attain it.  With --data or a domain file: over the data sets of rows that the declared
    domain encodes.
    """
    weight_s, weight_n = weight("weight_s", change.weight_s), weight("weight_n", change.weight_n)
    if weight_s == weight_n == 0:
        raise ReadingError("weight_s", change.weight_s, "positive where the other weight is 0")
    repeated = again(command, sets, terms, change)
    results = [
        _result(sets, terms, change, norm, (weight_s, weight_n))
        for norm in ([change.norm] if change.norm else NORMS)
    ]
    if output.format == "json":
        documents = [result.to_json() | {"rerun": repeated} for result in results]
        text = json_text(documents if len(documents) > 1 else documents[0])
    else:
        text = as_text(results, repeated, columns(output.out))
    emit(text, output.out)
    return EXIT_FINE


def _result(
    sets: DeclaredOptions,
    terms: TermOptions,
    change: ChangeOptions,
    norm: str,
    weights: tuple[Fraction, Fraction],
) -> Sensitivity:
    domain = sets.declared
    if domain is None:
        if change.x_s is not None:
            raise ReadingError(
                "x_s", change.x_s, "left out without --data or a domain file: any coordinate will do"
            )
        setting = setting_of_terms(sets.shape, terms, change.fairness_weight)
        setting = replace(setting, rows_per_person=change.rows_per_person)
        return sensitivity(setting, norm, *weights, effort=change.effort)
    # the group is checked where a release checks it
    readings = Readings(
        fairness=terms.fairness,
        fairness_weight=weight("fairness_weight", change.fairness_weight),
        basis=terms.basis,
        adjacency=terms.adjacency,
        rows_per_person=change.rows_per_person,
    )
    layout(domain, readings)
    s = domain.selectable[0] if change.x_s is None else domain.coordinate(change.x_s)
    where = declared_of(domain, readings, s, sets.records)
    return declared_sensitivity(where, norm, *weights, effort=change.effort)


def as_text(results: Sequence[Sensitivity], repeated: str, width: int | None) -> str:
    """Return the results as a table, with the witnesses below."""
    setting = results[0].setting
    mover = "one record" if setting.rows_per_person == 1 else f"one person with {setting.rows_per_person} records"
    table = Listing(
        f"How far can {mover} move the coefficients?",
        ("norm", "published", "exact", "slack (published / exact)", "how known"),
        tuple(map(_cells, results)),
    )
    size = "any number of records (limit)" if setting.records is None else f"N = {setting.records:,} records"
    lines = [
        (
            f"d = {setting.dimension}, {size}, fairness {setting.fairness} (alpha_1 = "
            f"{decimal_text(setting.fairness_weight)}), {_rows_of(results[0])}, adjacency {setting.adjacency}, "
            f"basis {setting.basis}; weights {decimal_text(results[0].weight_s)} for monomials with w_s, "
            f"{decimal_text(results[0].weight_n)} for the others."
        ),
        *(line for result in results for line in (*_over_norm(result), *_witness_lines(result))),
        f"{AGAIN} {repeated}",
    ]
    return table_text(table, width or WIDTH) + fitted(lines, width)


def _cells(result: Sensitivity) -> tuple[str, ...]:
    high, published = result.ends[1], result.published_bound
    return (
        result.norm,
        "none" if published is None else f"{published:.10g}",
        _exact_text(result),
        "" if published is None or high == 0 else f"{published / float(high):.6g}",
        result.supremum.method,
    )


def _rows_of(result: Sensitivity) -> str:
    if result.where is None:
        return f"domain {result.setting.norm}"
    return f"rows that the declared domain encodes ({result.setting.norm})"


def _over_norm(result: Sensitivity) -> Iterator[str]:
    """Yield what is known over all rows of the norm."""
    if result.over_norm is not None:
        yield f"{result.norm} over all rows of the {result.setting.norm}: {_exact_text(result.over_norm)}"


def _exact_text(result: Sensitivity) -> str:
    low, high = result.ends
    if result.supremum.is_exact:
        if low == high:
            shown = f"{low} = {float(low):.10g}" if low.denominator > 1 else str(low)
        else:
            shown = f"sqrt({result.supremum.lower}) = {float(low):.10g}"
        # a corner of 1/sqrt(m), a float, has a long denominator
        return shown if len(shown) < LONG else f"{float(low):.15g}"
    if result.supremum.method.startswith("closed form"):
        return f"{float(low):.10g}"
    return f"[{rounded_down(low):.12g}, {rounded_up(high):.12g}]"


def _witness_lines(result: Sensitivity) -> Iterator[str]:
    found = result.witness
    value = float(found.value) if result.norm == "l1" else math.sqrt(found.value)
    note = f" (at N = {LARGE:,}; the limit is approached as N grows)" if result.setting.records is None else ""
    yield f"{result.norm} witness: a change of {value:.10g}{note} between"
    for side, data in (("left", found.left), ("right", found.right)):
        yield f"  {side}: {rows_text(data.to_json())}"
