"""``python -m reference card``: one page on a release, for non-experts."""

from __future__ import annotations

import math
from dataclasses import dataclass
from decimal import MAX_EMAX, ROUND_CEILING, Context, Decimal
from fractions import Fraction
from typing import Any

import click

from reference.budgets import large_delta
from reference.commands.file_names import FileName
from reference.commands.options import emit, out_option
from reference.commands.parsing import argument, option
from reference.commands.parsing import command as make_command
from reference.commands.terminal import page
from reference.common.documents import plain
from reference.common.exit_codes import EXIT_FINE
from reference.common.files import json_text
from reference.common.numbers import decimal_above, short_text
from reference.common.page import Page
from reference.repaired.interval import CONFIDENCE, Limits, limits_of, noisiest, width_of_noise
from reference.repaired.released import RepairedRelease, load_repaired

MOST_NAMED = 12
"""How many features the page names."""

LOST = 2
"""A group of fewer records than so many deviations of its noise may be empty."""


@dataclass(frozen=True, kw_only=True)
class CardOptions:
    """The release."""

    release: str = argument(type=FileName(), metavar="RELEASE", line="what `fit --release FILE` wrote")
    format: str = option("--format", type=click.Choice(["text", "json"]), default="text", help="(text)")
    out: str | None = out_option()


@make_command(
    "card",
    CardOptions,
    example="python -m reference card release.json",
    text="Explain a repaired release on one page: what it promises, to whom, and how fair it is.",
)
def command(asked: CardOptions) -> int:
    """Run ``card``."""
    facts = facts_of(load_repaired(asked.release))
    emit(json_text(plain(facts)) if asked.format == "json" else as_text(facts, page(asked.out)), asked.out)
    return EXIT_FINE


def facts_of(release: RepairedRelease) -> dict[str, Any]:
    """Return the facts on the page, from the release alone."""
    exact = release.privacy.exact
    assert exact is not None
    # adds up the account again from the noise that the file states
    epsilon, delta = max(exact.epsilon.upper, release.account.epsilon), release.budget["delta"]
    label, group = release.domain.label, release.domain.group
    assert label is not None
    model, fair = release.model, release.fairness != "none"
    measured, noise = model.measured, noisiest(model)
    return {
        "records": release.records,
        "predicts": label.called,
        "labels": label.called_in_table(2),
        "features": [attribute.name for attribute in release.domain.attributes],
        "epsilon": epsilon,
        "delta": delta,
        "adjacency": release.adjacency,
        "rows_per_person": release.rows_per_person,
        "likelier_by": math.exp(min(float(epsilon), 700)),
        "noise": release.noise,
        "seeded": release.seeded,
        "fairness": release.fairness,
        "group": None if group is None else group.called,
        "group_column": None if group is None else group.column,
        "group_at_prediction": release.domain.keep_group,
        "slack": release.slack,
        "groups": group.called_in_table(release.domain.domain.groups) if group is not None and fair else [],
        "measured_difference": None if measured is None else max(-1.0, min(1.0, measured.difference)),
        "measured_with_noise": None
        if measured is None
        else min(1.0, math.hypot(measured.noise, model.noise_of_share)),
        "measured_in_probe": None if measured is None else [measured.place, measured.of],
        "measured_at_the_end": None if measured is None else measured.final,
        "difference_between": None if measured is None else list(limits_of(model, release.domain.domain)),
        "noise_of_a_probe": None if noise is None else noise[0],
        "width_of_noise": None if noise is None else width_of_noise(model),
        "smallest_cell": None if noise is None or noise[1] is None else round(noise[1]),
        "stopped_short": release.shortfall is not None,
        "groups_hidden": model.cells is not None and model.cells.hidden,
        "budget_warnings": large_delta(delta, release.records, release.rows_per_person),
        "hidden_groups": hidden_groups(release),
        "warnings": release.warnings,
    }


def hidden_groups(release: RepairedRelease) -> list[str]:
    """Return the groups, within a label for equalised odds, of which noise hides how they are treated."""
    model, label, group = release.model, release.domain.label, release.domain.group
    if group is None or label is None:
        return []
    names = group.called_in_table(release.domain.domain.groups)
    if model.cells is not None:
        found = []
        for name, seen in zip(names, model.cells.seen, strict=True):
            if not seen.any():
                found.append(name)
            else:
                labels = zip(label.called_in_table(2), seen, strict=False)
                found += [f"{name} with {label.called} {value}" for value, shows in labels if not shows]
        return found
    measured = model.measured
    if measured is None or model.zbar is None:
        return []
    if math.hypot(measured.noise, model.noise_of_share) >= 1 and not limits_of(model, release.domain.domain).known:
        return names
    # noise_of_share = deviation / (2 n zbar (1 - zbar))
    shares = (1 - model.zbar, model.zbar)
    deviation = 2 * model.noise_of_share * float(shares[0] * shares[1])
    return [name for name, share in zip(names, shares, strict=True) if share <= LOST * deviation]


def _against(names: list[str]) -> str:
    """Say which groups, or labels, are told apart."""
    return " against ".join(reversed(names)) if len(names) == 2 else ", ".join(names)


def as_text(facts: dict[str, Any], on: Page) -> str:
    """Return the page."""
    parts = {
        "What it is": [
            f"A model that predicts {facts['predicts']} ({_against(facts['labels'])}) from {_features(facts)}.",
            f"It was fitted to {facts['records']:,} records, and its makers added noise on purpose.",
        ],
        "What is promised, and to whom": _promised(facts),
        "What is not promised": [
            "That nothing can be learned about you: what is true of people like you can be learned without you.",
            "Anything about predictions: each one uses the record that it is for.",
            f"Anything about {_records(facts)} of one person, or about other releases from the same data.",
            "That the number of records, the declared columns or these settings are secret: they are public.",
        ],
        "How fair it is": _fair(facts),
    }
    lines: list[str] = []
    for title, sentences in parts.items():
        lines += [title, "-" * len(title), *(f"- {sentence}" for sentence in sentences), ""]
    return on.text(*lines)


def _features(facts: dict[str, Any]) -> str:
    names = [_listed(name) for name in facts["features"]]
    named = ", ".join(names)
    if len(names) > MOST_NAMED:
        named = f"{len(names)} columns: {', '.join(names[:MOST_NAMED])} and others"
    if facts["group_at_prediction"]:
        named += f"; and from the group, {_listed(facts['group_column'])}"
    return named


def _listed(name: str) -> str:
    """Quote a name that would look like two in a list."""
    return f'"{name}"' if "," in name else name


def _records(facts: dict[str, Any]) -> str:
    rows = facts["rows_per_person"]
    return "several records" if rows == 1 else f"more than {rows} records"


def _bound(value: Fraction) -> str:
    """Write a bound in six digits, rounded up."""
    return short_text(decimal_above(value, 6))


def _promised(facts: dict[str, Any]) -> list[str]:
    if facts["seeded"]:
        return ["Nothing: the noise came from a seed, and anyone who knows the seed can remove the noise."]
    chance = "" if not facts["delta"] else f", give or take a chance of {_bound(facts['delta'])}"
    whose, yours = "record was used", "record says"
    if facts["rows_per_person"] > 1:
        whose, yours = f"records, up to {facts['rows_per_person']}, were used", "records say"
    sentences = [
        (
            f"To everyone whose {whose}: whatever anyone does with this file, what your {yours} makes no "
            f"outcome more than {_at_most_likelier(facts['epsilon'])} times as likely{chance}."
        ),
        (
            f"In numbers: ({_bound(facts['epsilon'])}, {_bound(facts['delta'])})-differential privacy, "
            f"{facts['adjacency']}; features, label and group together."
        ),
    ]
    if facts["noise"] == "numpy":
        sentences.append(
            "The noise is numpy's, whose last bits leak: the promise is of the formulas, not of this file."
        )
    if facts["epsilon"] > 3:
        sentences.append("An epsilon above 3 is a weak promise.")
    sentences += [f"Beware: {warning}." for warning in facts["budget_warnings"]]
    return sentences


def _at_most_likelier(epsilon: Fraction) -> str:
    """Return exp(epsilon) in four digits, rounded up: a bound."""
    # beyond the largest exponent it is infinite
    wide = Context(prec=28, Emax=MAX_EMAX, rounding=ROUND_CEILING, traps=[])
    # the last digit is rounded, so the next one is a bound
    factor = wide.exp(wide.divide(Decimal(epsilon.numerator), Decimal(epsilon.denominator))).next_plus(wide)
    return f"{factor.normalize(Context(prec=4, Emax=MAX_EMAX, rounding=ROUND_CEILING)):g}"


def _fair(facts: dict[str, Any]) -> list[str]:
    if facts["fairness"] == "none":
        return ["Nobody asked for fairness, and nobody measured it."]
    use = "uses" if facts["group_at_prediction"] else "does not use"
    groups = f"groups by {facts['group']} ({_against(facts['groups'])})"
    odds = facts["fairness"] == "equalised_odds"
    among = f"among those with the same {facts['predicts']} ({_against(facts['labels'])}), " if odds else ""
    slack = facts["slack"]
    equally = f"equally often, to within {short_text(slack)}" if slack else "exactly equally often"
    other = (
        "Equal rates of right and wrong selection are one meaning of fair; equal selection is not the aim."
        if odds
        else "Equal selection is one meaning of fair; equal error rates in all groups are another, not the aim."
    )
    return [
        f"The aim: {among}{groups} are selected {equally}.",
        *_measured(facts),
        *_meant(facts),
        *(f"Beware: {warning}." for warning in facts["warnings"]),
        f"A prediction {use} the group itself.",
        other,
        "People whom the model will meet may differ from those it was fitted to.",
    ]


def _measured(facts: dict[str, Any]) -> list[str]:
    """Say once what the probes found: of all of them, or of one where they do not tell of the final thresholds."""
    (place, of), limits = facts["measured_in_probe"], Limits(*facts["difference_between"])
    if limits.known:
        why = _why_wide(facts, limits)
        if facts["stopped_short"]:
            # a warning has the limits
            return why
        but = ", but for groups that noise hides" if facts["groups_hidden"] else ""
        return [
            (
                f"Measured privately, by {of} noisy probes: with {CONFIDENCE:.0%} confidence the difference among "
                f"the records fitted is {limits}{but}."
            ),
            *why,
        ]
    hidden = facts["measured_with_noise"] >= 1
    if hidden:
        found = "nothing, because the noise hides everything"
    else:
        found = (
            f"a difference of {facts['measured_difference']:+.3f}, where noise alone makes about "
            f"{facts['measured_with_noise']:.3f}"
        )
    if facts["measured_at_the_end"]:
        where = f"probe {place} of {of}, at the final thresholds"
    else:
        where = f"probe {place} of {of}, at other thresholds than the final ones"
    return [
        f"Measured privately, in {where}: {found}.",
        "That noise hides how large the difference is."
        if facts["measured_at_the_end"] and not hidden
        else "No probe shows how large the difference is at the final thresholds.",
    ]


def _meant(facts: dict[str, Any]) -> list[str]:
    """Say when the confidence holds, and of whom nothing is known."""
    sentences = []
    if Limits(*facts["difference_between"]).known:
        of = " of groups that noise does not hide" if facts["groups_hidden"] else ""
        sentences.append(
            f"{CONFIDENCE:.0%} confidence means: of 100 fits to these records, each with its own noise, at least "
            f"{100 * CONFIDENCE:.0f} have the difference{of} between their limits, or no limits. Where most have "
            "none, those given are wrong more often."
        )
    if facts["hidden_groups"]:
        hidden = facts["hidden_groups"]
        names = ("; " if any(", " in name for name in hidden) else ", ").join(hidden)
        sentences.append(f"Noise hides how these groups by {facts['group']} are treated: {names}.")
    return sentences


def _why_wide(facts: dict[str, Any], limits: Limits) -> list[str]:
    """Say what makes the limits wide where they do not show that the aim was reached."""
    if limits.high <= facts["slack"] or facts["noise_of_a_probe"] is None:
        return []
    if limits.high - limits.low > facts["width_of_noise"]:
        return [
            (
                "The limits are wide because the probes were made at other thresholds: they bound a group's share "
                "at the final ones on one side only, or from afar."
            )
        ]
    of, size = "", facts["smallest_cell"]
    if size is not None:
        cell = "group" if facts["fairness"] == "demographic_parity" else f"group with one {facts['predicts']}"
        # a smaller one is hidden by its noise, and counts nowhere
        cell += " that noise does not hide" if facts["groups_hidden"] else ""
        of = f" for the smallest {cell}, of about {size:,} records"
    return [
        (
            f"Noise widens the limits: it is about {facts['noise_of_a_probe']:.2g} in one probe{of}, and limits "
            "allow for several times as much, to hold for all groups and probes at once. More records in each "
            "group, or a larger epsilon, narrow them."
        )
    ]
