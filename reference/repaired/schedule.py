"""What each release may spend: a function of public numbers only.

A share is a part of mu^2, the squared shift that (epsilon, delta) allows, or of epsilon where delta is 0; shares
add up to at most 1.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

from reference.budgets import Budget
from reference.common.errors import ParameterError, ReadingError
from reference.domain import Domain
from reference.repaired.curator import unit_sigma
from reference.repaired.sums import gradient_change

FAIRNESS = ("none", "demographic_parity", "equalised_odds")

FEWEST_ROUNDS, MOST_ROUNDS = 2, 40
EARLIER_MOST_ROUNDS = 10
"""In files that were written when no model took more."""

SHARE_OF_GROUP_COUNT = Fraction(1, 50)
SHARE_OF_CELL_COUNTS = Fraction(1, 25)
SHARE_OF_GROUP_MODEL = Fraction(1, 4)
"""The share of one group's model in the budget of it and the label's model."""

LEAST_FOR_PROBES, MOST_FOR_PROBES = Fraction(1, 20), Fraction(2, 5)
WANTED_DEVIATION = 0.01
"""Wanted deviation of the risk difference from all probes, for groups of one third and two thirds."""

PROBES = 4

CELL_NOISE = 3
"""Noise of the difference of two shares, in noise of a sum times cells / n: one cell is as large as they are on
average, the other half as large; sqrt(5), rounded up."""

NEAR_THE_BEST, USABLE, HOPELESS = 50, 8, 2
"""Wanted values of :func:`signal_of` for a model."""


@dataclass(frozen=True)
class Schedule:
    """How a budget is spent: public.

    Parameters
    ----------
    label_model, group_model, group_count, probes : Fraction
        Shares of the budget; 0 for what is not released.  `group_model` is the share of each model of a group.
    label_rounds, group_rounds : int
        Gradients of each model, the first at w = 0 included.
    group_models : int
        Models that guess the group: one for two groups, one for each of more, none where it is known.
    cells : int
        The cells that `group_count` and `probes` release; 0 for the two groups of demographic parity.
    """

    label_model: Fraction
    label_rounds: int
    group_model: Fraction = Fraction(0)
    group_rounds: int = 0
    group_count: Fraction = Fraction(0)
    probes: Fraction = Fraction(0)
    cells: int = 0
    group_models: int = 0


def schedule_of(domain: Domain, n: int, budget: Budget, fairness: str, most_rounds: int | None = None) -> Schedule:
    """Return the schedule for n records of a domain.

    A group that is not among the features (`keep_group`) is guessed, by its own model.

    Parameters
    ----------
    domain : Domain
    n : int
        Number of records, public under `replace_one`.
    budget : Budget
    fairness : {'none', 'demographic_parity', 'equalised_odds'}
    most_rounds : int, optional
        MOST_ROUNDS unless given.

    Raises
    ------
    reference.common.errors.ParameterError
        One subclass per reason.
    """
    if fairness not in FAIRNESS:
        raise ReadingError("fairness", fairness, "one of " + ", ".join(FAIRNESS))
    if fairness != "none" and domain.group is None:
        raise ReadingError("fairness", fairness, "'none' for a domain that declares no group")
    if domain.norm == "unit_box":
        raise ReadingError("domain", domain.norm, "unit_ball or symmetric_ball, where |x|_2 <= 1")
    if n < 1:
        raise ParameterError("n", n, "at least 1")
    cells = cells_of(domain, fairness)

    def rounds(share: Fraction) -> int:
        return rounds_of(n, domain, budget, share, most_rounds)

    if fairness == "none":
        return Schedule(Fraction(1), rounds(Fraction(1)))
    probes, count = probes_of(n, budget, cells), SHARE_OF_CELL_COUNTS if cells else SHARE_OF_GROUP_COUNT
    guessed = 0 if domain.keep_group else group_models_of(domain)
    # every model of a group has the same part of what the label's has
    part = SHARE_OF_GROUP_MODEL / (1 - SHARE_OF_GROUP_MODEL)
    label = (1 - count - probes) / (1 + guessed * part)
    group = part * label if guessed else Fraction(0)
    return Schedule(
        label_model=label,
        label_rounds=rounds(label),
        group_model=group,
        group_rounds=rounds(group) if guessed else 0,
        group_count=count,
        probes=probes,
        cells=cells,
        group_models=guessed,
    )


def group_models_of(domain: Domain) -> int:
    """Return how many models guess a group: one for two groups, one against all others for each of more."""
    return domain.groups if domain.group_values else 1


def persons(n: int, rows_per_person: int) -> int:
    """Return how many one-row persons have the schedule of these n records: n over the noise decides."""
    return max(1, n // rows_per_person) if n else n


def cells_of(domain: Domain, fairness: str) -> int:
    """Return how many cells have their own probe: groups, or for equalised odds groups and labels.

    Two groups of demographic parity need none, as one number says how unequal they are.
    """
    if fairness == "equalised_odds":
        return 2 * domain.groups
    return domain.groups if fairness == "demographic_parity" and domain.group_values else 0


def probes_of(n: int, budget: Budget, cells: int) -> Fraction:
    """Return the share of the probes: enough to measure a risk difference, within limits.

    The noise of the sum is divided by n zbar (1 - zbar); its sensitivity is max(zbar, 1 - zbar), and the ratio is
    3 for zbar of 1/3 and 2/3.  For cells the noise of a difference of shares is taken as 3 cells / n.
    """
    unit = CELL_NOISE * cells if cells else 3
    if budget.delta:
        needed = (unit * unit_sigma(budget) / (WANTED_DEVIATION * n)) ** 2
    else:
        needed = unit * math.sqrt(2) / (WANTED_DEVIATION * n * float(budget.epsilon))
    return min(MOST_FOR_PROBES, max(LEAST_FOR_PROBES, Fraction(min(100, round(100 * needed)), 100)))


def signal_of(n: int, domain: Domain, budget: Budget, share: Fraction = Fraction(1)) -> float:
    """Return n / (d deviation), the signal of a model; the deviation is the noise of one gradient.

    It is n mu / d for Gaussian noise.
    """
    if budget.delta:
        deviation = unit_sigma(budget) / math.sqrt(share)
    else:
        deviation = math.sqrt(2) * float(gradient_change(domain).l1_sensitivity / (share * budget.epsilon))
    return n / (domain.dimension * deviation)


def rounds_of(n: int, domain: Domain, budget: Budget, share: Fraction, most: int | None = None) -> int:
    """Return how many gradients a model releases; more signal allows more.

    The noise of each grows with the square root of their number, or with the number itself for Laplace noise.
    """
    power = 1 / 2 if budget.delta else 1 / 3
    wanted = round(math.pow(signal_of(n, domain, budget, share), power))
    return min(most or MOST_ROUNDS, max(FEWEST_ROUNDS, wanted))
