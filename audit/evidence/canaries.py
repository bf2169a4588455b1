"""Bounds from one run with canaries: from a score of each, and whether it was in the data."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from audit.bounds import CanaryMethod, canary_epsilon_bound, canary_mu_bound
from audit.bounds.binomial import above
from audit.evidence.arguments import check_index, delta_below_one, numbers_of, significance_of, whole_number
from audit.evidence.lower_bound import LowerBound
from audit.evidence.rows import Rows
from reference.common.arrays import FloatArray
from reference.common.errors import ReadingError

TIES = 0
"""Seed of the order of equal scores."""

CHANCE_OF_COINS = 1e-9
"""Largest chance of refusing memberships by fair coins, and of saying that their order is no order of coins."""

ASSUMES = (
    "a separate fair coin put each canary into the data, neighbours differ by one record added or removed, "
    "`guesses` was fixed before anybody saw the members, each score is from the run alone, and it stands at the "
    "place of its canary"
)
"""The assumption of a bound from canaries."""

FOR_GAUSSIAN_NOISE = "if mu is to bound epsilon, the noise is Gaussian; other noise is only not mu-GDP below it"
"""The further one of a bound on mu."""


class CanaryBound(LowerBound):
    """A lower bound from one run with canaries, and what it rests on.

    Attributes
    ----------
    right, guesses, canaries : int
        Right guesses, all guesses, and canaries.
    significance : float
    assumes : str
        The assumption, in words, and what about the arrays nobody could check.
    """

    right: int
    guesses: int
    canaries: int


def canary_lower_bound(
    scores: npt.ArrayLike,
    members: npt.ArrayLike,
    *,
    guesses: int,
    delta: float = 0.0,
    significance: float = 0.05,
    bound: CanaryMethod = "flips",
) -> CanaryBound:
    """Return a lower bound on epsilon from one run with canaries (:mod:`audit.bounds.canaries`).

    Assumes that a separate fair coin put each canary into the data, that neighbours differ by one record
    added or removed, and that `guesses` was fixed before you saw which canaries were members.  The result's
    `assumes` says so, and names members in blocks and sorted scores, whose order does not show it.

    Half of the guesses are that the canaries with the highest scores are members, the other half that those with
    the lowest are not.  Of equal scores chance decides, the same in each call.

    Parameters
    ----------
    scores : array of shape (m,)
        One for each canary, from the run alone: higher where it looks like a member.  A loss is lower there, so
        pass its negative: with the wrong sign hardly a guess is right, and the bound is 0 whatever the privacy.
    members : array of shape (m,)
        Whether the canary was in the data.
    guesses : int
        An even number, at most m.
    delta, significance : float
    bound : {'flips', 'runs'}
        The attained bound, or that of Steinke, Nasr and Jagielski (2023).

    Raises
    ------
    ValueError
        When the arrays do not fit each other, a score is NaN, or fair coins hardly ever choose so many members.
    """
    level, significance = float(delta_below_one(delta)), significance_of(significance)
    found = _right_guesses(scores, members, guesses)
    return _bound(canary_epsilon_bound(*found[:3], level, significance, bound), found, significance)


def canary_mu_lower_bound(
    scores: npt.ArrayLike, members: npt.ArrayLike, *, guesses: int, significance: float = 0.05
) -> CanaryBound:
    """Return the mu below which Gaussian privacy is refuted, from one run with canaries.

    Assumes what :func:`canary_lower_bound` does.  For Gaussian noise mu is how far a record moves the output, over
    the standard deviation, and fixes epsilon at every delta: much tighter there than a bound at one delta.  For
    other mechanisms it says that they are not mu-GDP below the bound, and nothing about their loss at a delta.

    Parameters
    ----------
    scores, members : array of shape (m,)
        Higher scores mean a member, as there.
    guesses : int
        An even number, at most m.
    significance : float

    Raises
    ------
    ValueError
        When the arrays do not fit each other, a score is NaN, or fair coins hardly ever choose so many members.
    """
    significance = significance_of(significance)
    right, guesses, canaries, assumes = _right_guesses(scores, members, guesses)
    found = right, guesses, canaries, f"{assumes}; {FOR_GAUSSIAN_NOISE}"
    return _bound(canary_mu_bound(right, guesses, canaries, significance), found, significance)


def _bound(value: float, found: tuple[int, int, int, str], significance: float) -> CanaryBound:
    right, guesses, canaries, assumes = found
    return CanaryBound(
        value, right=right, guesses=guesses, canaries=canaries, significance=significance, assumes=assumes
    )


def _assumes(scores: FloatArray, members: FloatArray) -> str:
    """Return what a bound assumes, with a word on an order that does not show it.

    Somebody may have sorted the canaries, scores and members together, which changes no bound.
    """
    assumes, steps = ASSUMES, len(members) - 1
    changes = int(np.count_nonzero(np.diff(members)))
    if 2 * above(max(changes, steps - changes) - 1, steps, 0.5) < CHANCE_OF_COINS:
        order = "stand in blocks" if changes < steps / 2 else "alternate"
        assumes += f"; members {order}, as no coins fall, so their order does not show that coins chose them"
    if Rows("scores", scores[:, None]).is_sorted:
        assumes += "; scores is sorted, so if members was not sorted with it, the two are not paired"
    return assumes


def _right_guesses(scores: npt.ArrayLike, members: npt.ArrayLike, guesses: int) -> tuple[int, int, int, str]:
    """Return how many guesses are right, their number, that of the canaries, and what is assumed."""
    values, bits = numbers_of("scores", scores), numbers_of("members", members)
    if len(values) != len(bits):
        raise ValueError(
            f"scores and members must have one entry for each canary, not {len(values):,} and {len(bits):,}"
        )
    check_index(("scores", "members"), scores, members)
    if np.isnan(values).any():
        raise ValueError(f"scores has NaN at row {int(np.isnan(values).argmax())}")
    if not np.isin(bits, (0, 1)).all():
        raise ValueError("members must be 0 or 1, or false or true")
    inside = int(bits.sum())
    if 2 * above(max(inside, len(bits) - inside) - 1, len(bits), 0.5) < CHANCE_OF_COINS:
        raise ValueError(f"members has {inside:,} of {len(bits):,} canaries: no fair coin for each one does that")
    guesses = whole_number("guesses", guesses, 2)
    if guesses % 2 or guesses > len(values):
        raise ReadingError("guesses", guesses, f"even, from 2 to {len(values)}")
    # the place of a canary may tell whether it is a member, and so must not decide among equal scores
    places = np.random.default_rng(TIES).permutation(len(values))
    order = places[np.argsort(values[places], kind="stable")]
    half = guesses // 2
    right = int((bits[order[-half:]] == 1).sum() + (bits[order[:half]] == 0).sum())
    return right, guesses, len(values), _assumes(values, bits)
