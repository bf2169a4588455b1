"""Compares the releases in a file of the repaired mechanism with those of a fit, known from public numbers."""

from __future__ import annotations

from itertools import zip_longest

from reference.budgets import Budget
from reference.common.errors import ReleaseFileError
from reference.repaired.advice import planned
from reference.repaired.curator import planned_scale
from reference.repaired.released import RepairedRelease
from reference.repaired.spent import PROBE, Spent
from reference.repaired.sums import imbalance_change


def require_scheduled(release: RepairedRelease) -> None:
    """Raise unless a file's releases are those of a fit, and it states their joint loss.

    Raises
    ------
    reference.common.errors.ReleaseFileError
    """
    domain, account = release.domain.domain, release.account
    due = planned(
        domain,
        release.records,
        account.budget,
        release.fairness,
        hardened=account.hardened,
        rows_per_person=release.rows_per_person,
    )
    wanted = [_known(one, release, account.budget) for one in due.spent]
    for index, (found, one) in enumerate(zip_longest(account.spent, wanted)):
        if found != one:
            what = "nothing" if one is None else f"{one.what!r}, with its share, change and noise"
            problem = f"a fit of this domain, size and budget releases {what} here"
            raise ReleaseFileError(problem, place=f"spent[{index}]")
    if release.privacy != account.privacy:
        raise ReleaseFileError("states other numbers than its releases lose together", place="privacy")


def _known(one: Spent, release: RepairedRelease, budget: Budget) -> Spent:
    """Return a planned release; a probe depends on the released share of the group, which a plan does not know."""
    if one.what != PROBE or release.group_share is None:
        return one
    change = imbalance_change(release.group_share).times(release.rows_per_person)
    return one._replace(change=change, scale=planned_scale(budget, change, one.share))
