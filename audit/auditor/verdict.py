"""From a certified bound to a verdict on a claim."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Literal, TypeAlias

import numpy as np

from audit.bounds import Counts, detectable_by_event, detectable_epsilon, refutes
from audit.bounds.counts import LARGEST_EPSILON
from audit.bounds.joint import joint_rejects
from audit.bounds.power import Certifier

Verdict: TypeAlias = Literal["refuted", "not refuted", "undecided"]

STATED_SIZE = 1.5
"""A test that could not detect this multiple of the claim is undecided, not a success."""

FAR_BELOW = 0.1
"""A coarse look may put a joint bound lower, by much less than this."""

detectable = lru_cache(maxsize=256)(detectable_epsilon)
"""The smallest epsilon that any event could detect, cached for each test."""


def verdict_on(
    bound: float, claimed_epsilon: float, counts: Counts, delta: float, significance: float, method: Certifier
) -> Verdict:
    """Return `refuted`, `not refuted`, or `undecided` when the certified event could not have refuted the claim.

    Undecided: it would not have detected :data:`STATED_SIZE` times the claim with power 0.9.  What a better event
    would have shown does not count: none was counted.

    Parameters
    ----------
    bound : float
        The certified lower bound on epsilon.
    claimed_epsilon : float
    counts : Counts
        Of the certified event.
    delta, significance : float
    method : {'joint', 'clopper_pearson', 'conditional', 'cluster_betting', 'anytime_betting'}
        That gave the bound.
    """
    if refutes(bound, claimed_epsilon, method):
        return "refuted"
    smallest = seen_by_event(claimed_epsilon, counts, delta, significance, method)
    return "undecided" if smallest is None or smallest > STATED_SIZE * claimed_epsilon else "not refuted"


@lru_cache(maxsize=256)
def seen_by_event(
    claimed_epsilon: float, counts: Counts, delta: float, significance: float, method: Certifier
) -> float | None:
    """Return the smallest loss at which the certified event refutes the claim with power 0.9, or None.

    The event keeps its share on the input where it is rarer; on the other it is as much more likely as that loss
    allows.  An event that never occurred on the input where it is rarer counts as occurring there in every second
    run of this size.

    Parameters
    ----------
    claimed_epsilon : float
    counts : Counts
    delta, significance : float
    method : {'joint', 'clopper_pearson', 'conditional', 'cluster_betting', 'anytime_betting'}
    """
    if not 0 <= claimed_epsilon <= LARGEST_EPSILON:
        return None
    counts = counts.effective
    draws = min(counts.likely_draws, counts.unlikely_draws)
    share = max(counts.unlikely, 0.5) / counts.unlikely_draws
    found = float(detectable_by_event(claimed_epsilon, draws, delta, significance, method, np.array([share]))[0])
    return None if np.isnan(found) else found


def shown(
    bound: float, claimed_epsilon: float, counts: Counts, delta: float, significance: float, method: Certifier
) -> tuple[int, float, float]:
    """Return how much an event shows: its verdict (0: undecided), its bound, minus the loss that it could show.

    Arguments as for :func:`verdict_on`.
    """
    test = claimed_epsilon, counts, delta, significance, method
    verdict, smallest = verdict_on(bound, *test), seen_by_event(*test)
    order = ("undecided", "not refuted", "refuted").index(verdict)
    return order, bound, -math.inf if smallest is None else -smallest


def falls_short(counts: Counts, delta: float, significance: float, bound: float) -> bool:
    """Return whether a coarse look tells that the joint bound of some counts is below another bound."""
    level = bound - FAR_BELOW
    return level > 0 and not joint_rejects(counts, level, delta, significance)
