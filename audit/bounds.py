"""From counts to a valid lower bound on epsilon."""

from __future__ import annotations

import math
from dataclasses import dataclass

from scipy.stats import binomtest


@dataclass(frozen=True)
class Counts:
    """How often an event occurred.

    Parameters
    ----------
    likely, likely_draws : int
        Occurrences and draws on the input where the event is more likely.
    unlikely, unlikely_draws : int
        The same on the other input.
    """

    likely: int
    likely_draws: int
    unlikely: int
    unlikely_draws: int


def lower_bound_on_probability(occurrences: int, draws: int, significance: float) -> float:
    """Return the one-sided Clopper-Pearson lower bound."""
    interval = binomtest(occurrences, draws, alternative="greater").proportion_ci(1 - significance, "exact")
    return float(interval.low)


def upper_bound_on_probability(occurrences: int, draws: int, significance: float) -> float:
    """Return the one-sided Clopper-Pearson upper bound."""
    interval = binomtest(occurrences, draws, alternative="less").proportion_ci(1 - significance, "exact")
    return float(interval.high)


def epsilon_lower_bound(counts: Counts, delta: float, significance: float) -> float:
    """Return a bound that exceeds the true epsilon with probability at most `significance`.

    (epsilon, delta)-differential privacy implies p_likely <= exp(epsilon) p_unlikely + delta for every event,
    so epsilon >= log((p_likely - delta) / p_unlikely).  Each probability is bounded at half the significance.

    Parameters
    ----------
    counts : Counts
        Of an event that was chosen without looking at these draws.
    delta : float
        The claimed delta, in [0, 1).
    significance : float
        In (0, 1).

    Returns
    -------
    float
        At least 0; 0 says nothing.
    """
    low = lower_bound_on_probability(counts.likely, counts.likely_draws, significance / 2) - delta
    high = upper_bound_on_probability(counts.unlikely, counts.unlikely_draws, significance / 2)
    return max(0.0, math.log(low / high)) if low > 0 else 0.0


def largest_certifiable_epsilon(draws_per_input: int, delta: float, significance: float) -> float:
    """Return the bound of a perfect event, which always occurs on one input and never on the other.

    A test with so many draws cannot refute a claim above this.
    """
    perfect = Counts(draws_per_input, draws_per_input, 0, draws_per_input)
    return epsilon_lower_bound(perfect, delta, significance)
