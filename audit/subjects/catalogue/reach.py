"""Losses that no auditor can see with this many draws, whatever its events and bounds."""

from __future__ import annotations

import math


def largest_power(excess_delta: float, claimed_epsilon: float, draws: int, significance: float) -> float:
    """Return a bound on the chance that a valid auditor flags a broken mechanism.

    Parameters
    ----------
    excess_delta : float
        How far the pair's delta at the claimed epsilon exceeds the claimed delta, in the worse direction.
    claimed_epsilon : float
    draws : int
        On both inputs together; the auditor may divide them as it likes, and adaptively.
    significance : float
        Largest chance that the auditor flags a mechanism whose claim holds.

    Notes
    -----
    Let P and Q be the output distributions, epsilon and delta the claim, and h = sup_E P(E) - exp(epsilon) Q(E).
    Where h is above delta, move mass of Q: put (1 - delta / h) (P exp(-epsilon) - Q) onto the set where that is
    positive, and take as much away where Q is above P, in proportion to Q - P, which leaves it above P.  The mass
    moved is m = exp(-epsilon) (h - delta).  The new Q has P(E) - exp(epsilon) Q(E) <= delta for all E, and nothing
    got worse in the other direction: where Q grew it is at most exp(-epsilon) P.  The same is then done to P.  So
    there is a pair that keeps the claim, whose distributions differ from P and Q by at most m in total variation.

    Each draw from it can be coupled with one from P or Q so that they differ with probability at most m.  So the
    auditor sees the same draws with probability at least (1 - m)^draws, and then says the same; it flags the
    pair that keeps the claim with probability at most the significance.
    """
    moved = math.exp(-claimed_epsilon) * max(excess_delta, 0.0)
    # 1 - (1 - moved)^draws
    differs = -math.expm1(draws * math.log1p(-moved)) if moved < 1 else 1.0
    return min(1.0, significance + differs)


def most_excess_delta(true_epsilon: float, claimed_epsilon: float, delta: float) -> float:
    """Return the largest excess of delta at the claimed epsilon that a loss of `true_epsilon` at `delta` allows.

    Every pair with that loss is a function of randomised response that learns the input with probability `delta`
    (Kairouz, Oh, Viswanath, The composition theorem for differential privacy, ICML 2015), so it has no more.
    """
    if true_epsilon <= claimed_epsilon:
        return 0.0
    # (e^true - e^claimed) / (e^true + 1), for any size of either
    return (1 - delta) * -math.expm1(claimed_epsilon - true_epsilon) / (1 + math.exp(-true_epsilon))
