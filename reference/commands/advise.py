"""``python -m reference advise``: what a budget buys, before it is spent."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import click

from reference.budgets import Budget
from reference.commands.file_names import FileName
from reference.commands.options import emit, out_option
from reference.commands.parsing import command as make_command
from reference.commands.parsing import option
from reference.commands.terminal import page
from reference.common.documents import plain
from reference.common.exit_codes import EXIT_FINE
from reference.common.files import json_text
from reference.common.numbers import short_text
from reference.common.page import Page
from reference.domain.file import load_domain_file
from reference.repaired.advice import (
    DROWNED_MODEL,
    NO_CONSTANT,
    WITHIN,
    Advice,
    advise,
    zero_one_hints,
)
from reference.repaired.classifier import RepairedClassifier
from reference.repaired.schedule import FAIRNESS, NEAR_THE_BEST, USABLE
from reference.repaired.shortfall import most_paid
from reference.repaired.threshold import WORTH


@dataclass(frozen=True, kw_only=True)
class AdviseOptions:
    """The planned fit, in public numbers."""

    domain: str = option("--domain", required=True, type=FileName(), metavar="FILE", help="the domain file")
    records: int = option(
        "--records",
        required=True,
        type=click.IntRange(min=1),
        metavar="N",
        help="records fitted (`fit` holds out 20 %)",
    )
    epsilon: str = option("--epsilon", default="1", metavar="E", help="epsilon to forecast (1)")
    delta: str = option("--delta", default="1e-5", metavar="D", help="0 for Laplace noise (1e-5)")
    fairness: str | None = option(
        "--fairness", type=click.Choice(FAIRNESS), help="(demographic_parity where a group is declared)"
    )
    without_group: bool = option("--without-group", is_flag=True, help="predictions do not use the group")
    rows_per_person: int = option(
        "--rows-per-person", type=click.IntRange(min=1), default=1, metavar="K", help="records of one person (1)"
    )
    format: str = option("--format", type=click.Choice(["text", "json"]), default="text", help="(text)")
    out: str | None = out_option()


@make_command(
    "advise",
    AdviseOptions,
    example="python -m reference advise --domain domain.json --records 30000 --epsilon 1",
    text="Forecast what the repaired mechanism will do with this many records; reads no data.",
)
def command(asked: AdviseOptions) -> int:
    """Run ``advise``."""
    planned = RepairedClassifier(
        domain=asked.domain,
        fairness=asked.fairness or RepairedClassifier.default_fairness(asked.domain),
        group_at_prediction=not asked.without_group,
    )
    budget = Budget(asked.epsilon, asked.delta)
    declared = planned.declared
    found = advise(declared.domain, asked.records, budget, planned.fairness, asked.rows_per_person)
    hints = (NO_CONSTANT,) if declared.prescaled else zero_one_hints(load_domain_file(asked.domain))
    in_file = load_domain_file(asked.domain).domain.dimension
    text = json_text(plain(found)) if asked.format == "json" else as_text(found, in_file, hints, page(asked.out))
    emit(text, asked.out)
    return EXIT_FINE


def as_text(found: Advice, in_file: int, hints: Sequence[str], on: Page) -> str:
    """Return the advice in lines."""
    clear, faint = found.lost_between
    lines = [
        (
            f"{found.records:,} records, {found.columns} columns{_in_file(found, in_file)}, "
            f"epsilon {short_text(found.epsilon)}, delta {short_text(found.delta)}, fairness {found.fairness}"
        ),
        str(found),
        *(f"warning: {warning}" for warning in found.budget_warnings),
        (
            f"Expected: noise costs about {found.lost:.0%} of what a model can gain over the majority class: "
            f"{_percent(clear)} where the columns tell the label clearly, {_percent(faint)} where they hardly do."
        ),
        (
            f"Noise of a gradient: {found.noise:.3g} in each column, {found.rounds} gradients; that of their mean "
            f"is {found.noise_against_curvature:.3g} times the curvature of a column that half the records have."
        ),
    ]
    if found.risk_difference_noise is not None:
        rates = "rates within a label" if found.fairness == "equalised_odds" else "selection rates"
        within = WITHIN.format(found.risk_difference_noise)
        lines.append(
            f"Fairness: with groups of a third and two thirds, probes show the difference of {rates} {within}; "
            "with smaller groups, less precisely."
        )
        said = (*found.fairness_warnings, *[DROWNED_MODEL] * found.one_group_alone)
        lines += [f"warning: {warning}" for warning in said]
        lines.append(
            "Not forecast: the accuracy that fairness itself costs. It depends on how groups differ in your data."
        )
    most = most_paid(found.fairness, group_at_prediction=found.group_at_prediction)
    if most is not None:
        more = f", or more if probes show that it shrinks; the whole at most {WORTH:g}, by forecast"
        unless = "" if found.fairness == "equalised_odds" else more
        lines.append(
            f"Without the group a fit pays at most {most:g} points of accuracy for a point of difference{unless}. "
            "If the columns hardly show the group, it stops short of the slack and says so."
        )
    for signal, outlook in ((USABLE, "usable"), (NEAR_THE_BEST, "near the best")):
        if found.signal < signal:
            times = signal / found.signal
            lines.append(f"For {outlook!r}: {times:.3g} times the records, or fewer columns.")
    return on.text(*lines, *(f"Hint: {hint}." for hint in hints))


def _in_file(found: Advice, in_file: int) -> str:
    """Say why these are not the columns that `domain --check` counts."""
    if found.columns == in_file:
        return ""
    return f" ({in_file} in the domain file; a fit puts numbers into bins, and may add the group and a constant)"


def _percent(share: float) -> str:
    return f"{share:.0%}" if share >= 0.01 else "less than 1%"
