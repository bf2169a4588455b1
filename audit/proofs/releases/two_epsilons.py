"""Releases with two unequal epsilons: when Theorems 3 and 5 carry their statement."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

from audit.exact.theorems import OpenTop, RatioInterval, ratio_interval
from audit.proofs.releases.errors import NoTheoremError
from audit.proofs.releases.exported import Exported
from reference.accounting import published_pdfc
from reference.budgets import SplitBudget
from reference.common.numbers import Enclosure, short_text
from reference.sensitivity import exact_l2_squared

SMALLEST_ON_THE_BOX = 13
"""With `absolute`, Theorem 5 holds on the box for all epsilon_s <= epsilon_n from this dimension on."""


def equal_epsilons(release: Exported) -> bool:
    """Return whether one epsilon describes a release's budget."""
    budget = release.budget
    return not isinstance(budget, SplitBudget) or budget.epsilon_s == budget.epsilon_n


def smaller_epsilon_s(release: Exported) -> bool:
    """Return whether epsilon_s < epsilon_n."""
    budget = release.budget
    return isinstance(budget, SplitBudget) and budget.epsilon_s < budget.epsilon_n


def theorem_3(release: Exported) -> Fraction:
    """Return epsilon_s / d + epsilon_n (d - 1) / d: Theorem 3 holds at the exact sensitivity, too."""
    if not isinstance(release.budget, SplitBudget):
        raise TypeError(f"{release.spec.name} has one epsilon")
    return published_pdfc(release.budget, release.setting.dimension, release.readings.adjacency).epsilon


def theorem_5(release: Exported, sensitivity: Fraction) -> tuple[str, str, Fraction]:
    """Return the theorem that carries Theorem 5's statement, its lemma, and the lemma's bound.

    Raises
    ------
    NoTheoremError
        If none does; the message says where Theorem 5 fails.
    """
    setting, budget = release.setting, release.budget
    if not isinstance(budget, SplitBudget):
        raise TypeError(f"{release.spec.name} has one epsilon")
    larger = max(budget.epsilon_s, budget.epsilon_n)
    for lemma, norm in _exact_l2_lemmas(release):
        bound = exact_l2_squared(replace(setting, norm=norm)).upper
        if bound <= sensitivity and larger**2 * bound <= sensitivity * release.epsilon**2:
            return "adfc_split_certificate", lemma, bound
    on_the_box = setting.fairness == "covariance" or (
        setting.fairness == "absolute" and (setting.dimension == 1 or setting.dimension >= SMALLEST_ON_THE_BOX)
    )
    if setting.replaces and on_the_box and setting.fairness_weight <= 1 and smaller_epsilon_s(release):
        return "adfc_box_certificate", "published_l2_limit", sensitivity
    interval = ratio_interval("T5", setting)
    ratio = budget.epsilon_s / budget.epsilon_n
    said = f"epsilon_s / epsilon_n is {short_text(ratio)}. {_sentence(interval)}"
    if not _certainly_outside(interval, ratio):
        raise NoTheoremError(
            f"{said} This one is not outside, but no theorem that Coq checks bounds the weighted change on this "
            "domain closely enough (proofs/theorem_5.md has a pen-and-paper proof)"
        )
    raise NoTheoremError(
        f"{said} Outside, Theorem 5 is false for all small enough deltas (theorem_5_fails_outside), so its "
        "statement is not certified; `privacy.exact` of the release says what holds"
    )


def _sentence(interval: RatioInterval) -> str:
    """Return where Theorem 5 holds, with ends that are certainly inside."""
    if interval.upper is None:
        top = "on"
    elif isinstance(interval.upper, OpenTop):
        top = f"to at least {short_text(interval.upper.lower)}"
    else:
        top = f"to {short_text(interval.upper.lower)}"
    bottom = short_text(interval.lower.upper)
    return f"Theorem 5 holds for ratios from {bottom} {top}, whatever the deltas (T5.regime)."


def _certainly_outside(interval: RatioInterval, ratio: Fraction) -> bool:
    above = isinstance(interval.upper, Enclosure) and ratio > interval.upper.upper
    return above or ratio < interval.lower.lower


def _exact_l2_lemmas(release: Exported) -> list[tuple[str, str]]:
    """Return the lemmas about the exact l2-sensitivity that cover a domain, with their norm."""
    setting, box = release.setting, [("l2_change_limit", "unit_box")]
    if setting.norm == "unit_box" or not setting.replaces:
        return box
    if setting.fairness != "covariance":
        return [("ball_l2_limit", "unit_ball"), *box]
    return [*([("covariance_ball_l2_limit", "unit_ball")] if setting.dimension > 1 else []), *box]
