"""Compares the releases that a file states with those of a fit, known from public numbers."""

from __future__ import annotations

import itertools
from fractions import Fraction

from reference.common.errors import ReleaseFileError
from reference.domain import Domain
from reference.repaired.account import Account
from reference.repaired.advice import Rule, planned
from reference.repaired.curator import planned_scale, room_of
from reference.repaired.schedule import EARLIER_MOST_ROUNDS
from reference.repaired.spent import PROBE, Change, Spent
from reference.repaired.sums import imbalance_change, label_sums_change


def changes_of_counts(domain: Domain) -> tuple[Change, ...]:
    """Return the sensitivities of counts that a file may state: the exact ones, or those that files once had.

    Wherever an entry may be negative these were 4, which is no less.
    """
    exact = label_sums_change(domain)
    bound = exact._replace(l2_sensitivity_squared=Fraction(4)) if any(domain.signed) else exact
    return tuple(dict.fromkeys((exact, bound)))


def require_scheduled(
    account: Account,
    domain: Domain,
    records: int,
    fairness: str,
    group_share: Fraction | None,
    *,
    earlier: bool,
) -> Fraction:
    """Raise unless these are the releases of a fit; return the factor of its Gaussian scales.

    Parameters
    ----------
    account : Account
        As stated.
    domain : Domain
    records : int
    fairness : str
    group_share : Fraction or None
        On which probes depend.
    earlier : bool
        Whether a fit of at most EARLIER_MOST_ROUNDS gradients is one.

    Raises
    ------
    reference.common.errors.ReleaseFileError
    """
    wanted = []
    most_rounds = (None, EARLIER_MOST_ROUNDS) if earlier else (None,)
    for most, counts in itertools.product(most_rounds, changes_of_counts(domain)):
        # without room for the grid, as fits once were, it states the epsilon that it needs
        for hardened in dict.fromkeys((account.hardened, False)):
            plan = planned(
                domain,
                records,
                account.budget,
                fairness,
                hardened=hardened,
                rows_per_person=account.rows_per_person,
                rule=Rule(most, counts),
            )
            wanted.append(_known(plan, group_share))
            if account.spent == wanted[-1]:
                return room_of(plan.budget)
    pairs = enumerate(itertools.zip_longest(account.spent, wanted[0]))
    index, one = next((place, due) for place, (found, due) in pairs if found != due)
    what = "nothing" if one is None else f"{one.what!r}, with its share, change and noise"
    problem = f"a fit of this domain, size and budget releases {what} here"
    raise ReleaseFileError(problem, place=f"spent[{index}]")


def _known(plan: Account, group_share: Fraction | None) -> tuple[Spent, ...]:
    """Return planned releases; a probe depends on the released share of the group, which a plan does not know."""
    if group_share is None:
        return plan.spent
    change = imbalance_change(group_share).times(plan.rows_per_person)
    return tuple(
        one._replace(change=change, scale=planned_scale(plan.budget, change, one.share))
        if one.what == PROBE
        else one
        for one in plan.spent
    )
