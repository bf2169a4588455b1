"""``python -m audit accountant``: whether a reported epsilon is below the true one."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import click

from audit.commands.again import again
from audit.commands.text import AGAIN, columns, fitted, range_text
from audit.exact.accountant import KINDS, LARGEST_EXACT, NoisySums
from audit.exact.enclosures import written
from audit.subjects.accountants import LIBRARIES, reported_epsilon
from reference.budgets import parse_delta
from reference.commands.options import FileOptions, emit
from reference.commands.parsing import argument, option
from reference.commands.parsing import command as make_command
from reference.common.errors import ReadingError
from reference.common.exit_codes import EXIT_FINE, EXIT_REFUTED, EXIT_UNDECIDED
from reference.common.files import json_text
from reference.common.numbers import Enclosure, decimal_text, exact, in_float_range, short_text
from reference.readings import ADJACENCIES

EXIT_CODES = {"refuted": EXIT_REFUTED, "not refuted": EXIT_FINE, "undecided": EXIT_UNDECIDED}

DIGITS, USUAL_DIGITS, MOST_DIGITS = 15, 6, 30
"""Digits in JSON, in text, and in text where a report is very near the truth."""

INFINITE = "inf"
"""A reported epsilon that claims nothing, as in options and JSON: it is never too small."""

ROUNDING = Fraction(1, 10**9)
"""A report that is too low, or too high, by a smaller share may have been rounded."""

COVERED = (
    "ideal noise, every pair of neighbours and every adaptive choice of releases; not covered: the bits of floats"
)


@dataclass(frozen=True, kw_only=True)
class ReportedEpsilonOptions:
    """Report."""

    accountant: str | None = argument(required=False, metavar="[ACCOUNTANT]")
    reported_epsilon: str | None = option(
        "--reported-epsilon", metavar="E", help="a reported epsilon, in place of an ACCOUNTANT to ask"
    )


@dataclass(frozen=True, kw_only=True)
class ReleasesOptions:
    """Releases."""

    noise: str = option("--noise", type=click.Choice(KINDS), default="gaussian", help="(gaussian)")
    scale: str | None = option(
        "--scale", metavar="B", help="scale of a release: Laplace's, or Gaussian's sigma (1)"
    )
    sigma: str | None = option("--sigma", metavar="B", help="another name of --scale")
    bound: str | None = option(
        "--bound",
        metavar="C",
        help="one record adds at most C: replacing it moves the sum by up to 2 C, removing it by up to C",
    )
    sensitivity: str | None = option(
        "--sensitivity",
        metavar="S",
        help="in place of --bound: how far apart neighbours are, in l2 (gaussian) or l1 (laplace)",
    )
    delta: str | None = option("--delta", metavar="D", help="(gaussian: 1e-5, laplace: 0)")
    count: int = option("--count", type=click.IntRange(1, 10**9), default=1, metavar="K", help="releases (1)")
    adjacency: str = option(
        "--adjacency",
        type=click.Choice(ADJACENCIES),
        default="replace_one",
        help="neighbouring relation (replace_one)",
    )


@make_command(
    "accountant",
    ReportedEpsilonOptions,
    ReleasesOptions,
    FileOptions,
    example="python -m audit accountant --reported-epsilon 4.728 --sigma 1 --bound 1 --delta 1e-5",
    text=f"""Is a reported epsilon below the true one?

    Compares it with a certified enclosure of the smallest epsilon of K releases together: tight for Gaussian
    noise, for Laplace noise at delta 0, and at other deltas for up to {LARGEST_EXACT} releases; close for more,
    and where it is wider than a thousandth of epsilon, the text says how wide.

    ACCOUNTANT: {", ".join(LIBRARIES)} (where installed), or package.module:attribute, a function. It is called
    with the keywords noise, adjacency, scale, delta, count, and the bound or sensitivity that you gave, as floats.

    Exit codes: 0 not refuted (nor is `inf`, which claims nothing); 1 refuted: the report is certainly below;
    2 bad input; 3 inside the enclosure.
    """,
)
def command(report: ReportedEpsilonOptions, releases: ReleasesOptions, output: FileOptions) -> int:
    """Judge the report."""
    asked = _asked(releases, as_floats=report.accountant is not None)
    others = ADJACENCIES if asked.sensitivity is None else [asked.adjacency]
    true = {adjacency: replace(asked, adjacency=adjacency) for adjacency in others}
    reported = _reported(report, asked)
    verdict = asked.verdict(reported)
    words = [] if report.accountant is None else [report.accountant]
    repeated = again(command, report, releases, output, words=words)
    if output.format == "json":
        text = json_text(
            {
                "accountant": report.accountant,
                "reported_epsilon": INFINITE if reported is None else decimal_text(reported),
                "exact_epsilon": _written(asked.epsilon),
                "exact_epsilons": {adjacency: _written(one.epsilon) for adjacency, one in true.items()},
                "enclosure": asked.road,
                "verdict": verdict,
                "noise": asked.noise,
                "scale": decimal_text(asked.scale),
                "bound": None if asked.bound is None else decimal_text(asked.bound),
                "sensitivity": decimal_text(asked.moved),
                "delta": decimal_text(asked.delta),
                "count": asked.count,
                "adjacency": asked.adjacency,
                "covered": COVERED,
                "rerun": repeated,
            }
        )
    else:
        name = report.accountant or "the report"
        text = fitted([*_lines(name, reported, asked, true), f"  {AGAIN}    {repeated}"], columns(output.out))
    emit(text, output.out)
    return EXIT_CODES[verdict]


def _asked(given: ReleasesOptions, *, as_floats: bool) -> NoisySums:
    """Return what was released; for a library, which takes floats, exactly as those floats."""
    if given.scale is not None and given.sigma is not None:
        raise ReadingError("sigma", given.sigma, "left out with --scale: both name one number")

    def number(name: str, text: str | None) -> Fraction | None:
        if text is None:
            return None
        value = exact(name, text)
        return Fraction(float(value)) if as_floats and in_float_range(value) else value

    unless_given = "1e-5" if given.noise == "gaussian" else "0"
    delta = parse_delta("delta", unless_given if given.delta is None else given.delta)
    return NoisySums(
        noise=given.noise,
        scale=number("scale", given.scale or given.sigma or "1") or Fraction(0),
        delta=Fraction(float(delta)) if as_floats else delta,
        count=given.count,
        adjacency=given.adjacency,
        bound=number("bound", given.bound),
        sensitivity=number("sensitivity", given.sensitivity),
    )


def _reported(report: ReportedEpsilonOptions, asked: NoisySums) -> Fraction | None:
    """Return the report; None for infinity."""
    if (report.accountant is None) == (report.reported_epsilon is None):
        raise ReadingError(
            "reported_epsilon", report.reported_epsilon, "given, or an ACCOUNTANT to ask: one of them"
        )
    if report.accountant is not None:
        return reported_epsilon(report.accountant, asked)
    if str(report.reported_epsilon).strip().lower() == INFINITE:
        return None
    reported = exact("reported_epsilon", report.reported_epsilon)
    if reported < 0:
        raise ReadingError("reported_epsilon", report.reported_epsilon, "at least 0")
    return reported


def _written(value: Enclosure) -> Any:
    return written(value.lower, value.upper, DIGITS)


def _lines(name: str, reported: Fraction | None, asked: NoisySums, true: dict[str, NoisySums]) -> Iterator[str]:
    norm = "l2" if asked.noise == "gaussian" else "l1"
    yield (
        f"{asked.count:,} x {asked.noise} noise of scale {short_text(asked.scale)}, "
        f"delta = {short_text(asked.delta)}, {asked.adjacency}"
    )
    if asked.bound is not None:
        yield (
            f"  moved:    one record adds at most {short_text(asked.bound)} ({norm}): replacing it moves the sum "
            f"by up to {short_text(2 * asked.bound)}, removing it by up to {short_text(asked.bound)}"
        )
    else:
        yield f"  moved:    {short_text(asked.moved)} in {norm}, as you say for {asked.adjacency}"
    digits = USUAL_DIGITS if reported is None else _digits_apart(reported, asked.epsilon)
    yield f"  reported: epsilon = {INFINITE if reported is None else short_text(reported, digits)}"
    for adjacency, one in true.items():
        yield f"  true:     epsilon = {range_text(one.epsilon, digits)} under {adjacency} ({one.road})"
    verdict = asked.verdict(reported)
    yield f"  verdict:  {verdict}: {name} {_distance(verdict, reported, asked.epsilon)}"
    yield f"  covered:  {COVERED}"


def _digits_apart(reported: Fraction, true: Enclosure) -> int:
    """Return how many digits show that a report differs from the truth."""
    others = {true.lower, true.upper} - {reported}
    for digits in range(USUAL_DIGITS, MOST_DIGITS):
        if short_text(reported, digits) not in {short_text(one, digits) for one in others}:
            return digits
    return MOST_DIGITS


def _distance(verdict: str, reported: Fraction | None, true: Enclosure) -> str:
    """Say how far a report is from the truth."""
    if reported is None:
        return "claims nothing: an infinite epsilon is never too small"
    if verdict == "undecided":
        return "is inside the enclosure"
    if verdict == "refuted":
        below = true.lower - reported
        rounding = ", as rounding to nearest may do: round up" if below < ROUNDING * true.lower else ""
        return f"is certainly below, by at least {short_text(below)}{rounding}"
    if reported <= true.lower * (1 + ROUNDING):
        return f"is not below, and equal to the true one within rounding (a share of {short_text(ROUNDING)})"
    share = "" if true.lower == 0 else f" ({short_text(reported / true.lower)} times the true one at most)"
    return f"is not below, and at most {short_text(reported - true.lower)} above{share}"
