"""From a certified bound to a verdict on a claim."""

from __future__ import annotations

from functools import lru_cache
from typing import Literal, TypeAlias

from audit.bounds import detectable_epsilon, refutes
from audit.bounds.power import Certifier

Verdict: TypeAlias = Literal["refuted", "not refuted", "undecided"]

STATED_SIZE = 1.5
"""A test that could not detect this multiple of the claim is undecided, not a success."""

detectable = lru_cache(maxsize=256)(detectable_epsilon)
"""The smallest detectable epsilon, computed once for each test."""


def verdict_on(
    bound: float,
    claimed_epsilon: float,
    draws_per_input: int,
    delta: float,
    significance: float,
    method: Certifier,
) -> Verdict:
    """Return `refuted`, `not refuted`, or `undecided` when this test could not have refuted the claim.

    Undecided: not even the best event would have detected :data:`STATED_SIZE` times the claim with power 0.9.

    Parameters
    ----------
    bound : float
        The certified lower bound on epsilon.
    claimed_epsilon : float
    draws_per_input : int
        That certified.
    delta, significance : float
    method : {'joint', 'clopper_pearson', 'conditional', 'anytime_betting'}
        That gave the bound.
    """
    if refutes(bound, claimed_epsilon, method):
        return "refuted"
    smallest = detectable(claimed_epsilon, draws_per_input, delta, significance, method)
    return "undecided" if smallest is None or smallest > STATED_SIZE * claimed_epsilon else "not refuted"
