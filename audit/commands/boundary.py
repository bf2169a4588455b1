"""``python -m audit boundary``: where Theorems 3 and 5 hold."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import click

from audit.commands.again import again
from audit.commands.boundary_plot import plot
from audit.commands.options import TermOptions, several, weight, weight_option
from audit.commands.text import AGAIN, columns, fitted, table_text
from audit.exact.boundary import DELTAS, DOMAINS, Request, boundary, middle
from audit.exact.theorems import THEOREMS
from reference.commands.file_names import WrittenFile
from reference.commands.options import FileOptions, emit
from reference.commands.parsing import command as make_command
from reference.commands.parsing import listed, option
from reference.common.exit_codes import EXIT_FINE
from reference.common.files import json_text
from reference.common.numbers import decimal_above, decimal_below
from reference.common.page import Listing
from reference.domain import NORMS

WIDTH = 140
"""Columns of the table without a terminal."""


@dataclass(frozen=True, kw_only=True)
class BoundaryOptions:
    """Boundary."""

    theorem: str = option("--theorem", type=click.Choice(list(THEOREMS)), default="T5", help="(T5)")
    dimensions: tuple[int, ...] = several(
        "--dimensions", of=int, metavar="D,D,...", help="T3: 2 to 5; T5: from 2 to 100"
    )
    deltas: tuple[str, ...] = several(
        "--deltas", default=DELTAS, metavar="D,D,...", help=f"T5 only ({','.join(DELTAS)})"
    )
    epsilon_n: str = option(
        "--epsilon-n", default="0.1", metavar="E", help="epsilon_n in columns of --deltas (0.1)"
    )
    domain: tuple[str, ...] = listed(
        "--domain", choices=NORMS, default=DOMAINS, metavar="NAME,NAME", help=f"norms of x ({','.join(DOMAINS)})"
    )
    fairness_weight: str = weight_option()
    sensitivity: str = option(
        "--sensitivity", default="published", metavar="S", help="`published`, `exact` or a number (published)"
    )
    records: int | None = option(
        "--records", type=int, metavar="N", help="data sets of N records (the limit of large N)"
    )
    plot: str | None = option(
        "--plot", type=WrittenFile(), metavar="FILE", help="also draw it: FILE.svg or FILE.png (needs matplotlib)"
    )


@make_command(
    "boundary",
    BoundaryOptions,
    TermOptions,
    FileOptions,
    example="python -m audit boundary --theorem T5 --dimensions 2,13 --deltas 1e-3",
)
def command(options: BoundaryOptions, terms: TermOptions, output: FileOptions) -> int:
    """Show where Theorems 3 and 5 hold.

    A table, and with --plot a figure, of the ratios epsilon_s/epsilon_n for which the theorem holds, over the
    dimension and (Theorem 5) over delta, on the box and on the ball.
    """
    document = boundary(request_from(options, terms))
    if options.plot is not None:
        plot(document, options.plot)
    if output.format == "json":
        text = json_text(document)
    else:
        text = as_text(document, again(command, options, terms), columns(output.out))
    emit(text, output.out)
    return EXIT_FINE


def request_from(options: BoundaryOptions, terms: TermOptions) -> Request:
    """Return the request of the options."""
    return Request(
        theorem=options.theorem,
        domains=options.domain,
        dimensions=options.dimensions,
        deltas=options.deltas,
        epsilon_n=options.epsilon_n,
        fairness=terms.fairness,
        basis=terms.basis,
        adjacency=terms.adjacency,
        fairness_weight=weight("fairness_weight", options.fairness_weight),
        sensitivity=options.sensitivity,
        records=options.records,
    )


def as_text(document: dict[str, Any], repeated: str, width: int | None) -> str:
    """Return the boundary as a table."""
    theorem, readings = document["theorem"], document["readings"]
    deltas = list(document["rows"][0].get("fails_at", {}))
    headings = ("domain", "d", "from", "to", *(f"fails at, delta {delta}" for delta in deltas))
    rows = tuple(
        (
            row["domain"],
            str(row["dimension"]),
            *(_cell(row[end]) for end in ("lower", "upper")),
            *(_cell(row["fails_at"][delta], 4, none="beyond 10^6") for delta in deltas),
        )
        for row in document["rows"]
    )
    table = Listing(f"{theorem}: epsilon_s/epsilon_n", headings, rows)
    described = ", ".join(f"{name} {value}" for name, value in readings.items() if value is not None)
    before = [f"Ratios epsilon_s/epsilon_n for which {theorem} holds.", f"Readings: {described}"]
    after = [*_notes(document), f"{AGAIN} {repeated}"]
    return fitted(before, width) + table_text(table, width or WIDTH) + fitted(after, width)


def _notes(document: dict[str, Any]) -> Iterator[str]:
    if any(".." in _cell(row[end]) for row in document["rows"] for end in ("lower", "upper")):
        yield (
            "lo..hi encloses an end of the interval: what is said below leaves out the ratios between lo and hi, "
            "which are undecided. With ? for hi, so is every ratio above lo."
        )
    if document["theorem"] == "T3":
        yield "Within the interval Theorem 3 holds for all budgets with this ratio, outside it fails for all."
        return
    yield (
        "Within the interval Theorem 5 holds for every epsilon_n and every delta up to sqrt(2/pi); outside it "
        "fails for every epsilon_n once delta_s = delta_n is small enough."
    )
    yield (
        f"Fails at: the ratio above 1 at which it starts to fail for epsilon_n = {document['epsilon_n']} and this "
        "delta_s = delta_n."
    )


def _cell(value: Any, digits: int = 5, none: str = "no end") -> str:
    """Return a number, or both ends, rounded outwards, if they differ in the digits shown."""
    if value is None:
        return none
    if isinstance(value, str):
        return f"{middle(value):.{digits}g}"
    low, high = Fraction(value["lo"]), value["hi"]
    if high is None:
        return f"{float(decimal_below(low, digits)):.{digits}g}..?"
    texts = [f"{float(end):.{digits}g}" for end in (low, Fraction(high))]
    if texts[0] == texts[1]:
        return texts[0]
    outwards = decimal_below(low, digits), decimal_above(Fraction(high), digits)
    return "..".join(f"{float(end):.{digits}g}" for end in outwards)
