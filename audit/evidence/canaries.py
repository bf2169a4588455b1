"""Bounds from one run with canaries: from a score of each, and whether it was in the data."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from audit.bounds import CanaryMethod, canary_epsilon_bound, canary_mu_bound
from audit.subjects.adapters.outputs import as_floats

TIES = 0
"""Seed of the order of equal scores."""


def canary_lower_bound(
    scores: npt.ArrayLike,
    members: npt.ArrayLike,
    *,
    guesses: int,
    delta: float = 0.0,
    significance: float = 0.05,
    bound: CanaryMethod = "flips",
) -> float:
    """Return a lower bound on epsilon from one run with canaries (:mod:`audit.bounds.canaries`).

    Assumes that a separate fair coin put each canary into the data, that neighbours differ by one record
    added or removed, and that `guesses` was fixed before you saw which canaries were members.  Half of the
    guesses are that the canaries with the highest scores are members, the other half that those with the lowest
    are not.  Of equal scores chance decides, the same in each call.

    Parameters
    ----------
    scores : array of shape (m,)
        One for each canary, from the run alone: larger where it looks like a member.
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
        When the arrays do not fit each other, or a score is NaN.
    """
    right, canaries = _right_guesses(scores, members, guesses)
    return canary_epsilon_bound(right, guesses, canaries, delta, significance, bound)


def canary_mu_lower_bound(
    scores: npt.ArrayLike, members: npt.ArrayLike, *, guesses: int, significance: float = 0.05
) -> float:
    """Return the mu below which Gaussian privacy is refuted, from one run with canaries.

    Assumes what :func:`canary_lower_bound` does.  For Gaussian noise mu is how far a record moves the output, over
    the standard deviation, and fixes epsilon at every delta: much tighter there than a bound at one delta.  For
    other mechanisms it says that they are not mu-GDP below the bound, and nothing about their loss at a delta.

    Parameters
    ----------
    scores, members : array of shape (m,)
    guesses : int
        An even number, at most m.
    significance : float

    Raises
    ------
    ValueError
        When the arrays do not fit each other, or a score is NaN.
    """
    right, canaries = _right_guesses(scores, members, guesses)
    return canary_mu_bound(right, guesses, canaries, significance)


def _right_guesses(scores: npt.ArrayLike, members: npt.ArrayLike, guesses: int) -> tuple[int, int]:
    """Return how many guesses are right, and the number of canaries."""
    values, bits = as_floats("scores", scores), np.asarray(members)
    if values.ndim != 1 or values.shape != bits.shape or np.isnan(values).any():
        raise ValueError("scores and members must have one entry for each canary, and no score may be NaN")
    if not np.isin(bits, (0, 1)).all():
        raise ValueError("members must be 0 or 1, or false or true")
    if not hasattr(guesses, "__index__") or guesses % 2 or not 2 <= guesses <= len(values):
        raise ValueError(f"guesses must be even, from 2 to {len(values)}, not {guesses}")
    # the place of a canary may tell whether it is a member, and so must not decide among equal scores
    places = np.random.default_rng(TIES).permutation(len(values))
    order = places[np.argsort(values[places], kind="stable")]
    half = guesses // 2
    right = int((bits[order[-half:]] == 1).sum() + (bits[order[:half]] == 0).sum())
    return right, len(values)
