"""What so many draws can show at best."""

from __future__ import annotations

import math

import numpy as np
from scipy.stats import beta, binom
from statsmodels.stats.proportion import proportion_confint

from audit.bounds.choice import Method, epsilon_lower_bound
from audit.bounds.counts import Counts


def largest_certifiable_epsilon(
    draws_per_input: int, delta: float, significance: float, method: Method = "joint"
) -> float:
    """Return the bound of a perfect event, which always occurs on one input and never on the other.

    A test with so many draws cannot refute a claim above this.
    """
    perfect = Counts(draws_per_input, draws_per_input, 0, draws_per_input)
    return epsilon_lower_bound(perfect, delta, significance, method)


POWER = 0.9
"""Power that `detectable` is stated for."""


def detectable_epsilon(
    claimed_epsilon: float, draws_per_input: int, delta: float, significance: float, method: Method = "joint"
) -> float | None:
    """Return the smallest true epsilon that a test of this size refutes the claim at, with power 0.9.

    The smallest over all events, by their probability on the unlikely input; an auditor that does not find the
    best event needs more.  Half of the missing power goes to each side: the unlikely count is taken at its
    upper 5 % point, and the likely count reaches what is needed in 95 % of runs.

    Parameters
    ----------
    claimed_epsilon : float
    draws_per_input : int
        That certify.
    delta, significance : float

    Returns
    -------
    float or None
        None when no event can refute the claim with so many draws.
    """
    n, miss = draws_per_input, (1 - POWER) / 2
    unlikely = np.geomspace(1e-3 / n, 0.5, 400)
    worst = binom.isf(miss, n, unlikely)
    # two-sided at the significance: each side at half of it, as epsilon_lower_bound has it
    ceiling = np.asarray(proportion_confint(worst, n, alpha=significance, method="beta")[1])
    needed = np.exp(min(claimed_epsilon, 700.0)) * ceiling + delta
    low, high = np.zeros_like(unlikely), np.full_like(unlikely, n)
    for _ in range(math.ceil(math.log2(n)) + 1):
        middle = np.floor((low + high) / 2)
        enough = proportion_confint(middle, n, alpha=significance, method="beta")[0] > needed
        low, high = np.where(enough, low, middle), np.where(enough, middle, high)
    reachable = proportion_confint(high, n, alpha=significance, method="beta")[0] > needed
    likely = np.asarray(beta.ppf(1 - miss, high, n - high + 1))
    found = np.log((likely[reachable] - delta) / unlikely[reachable])
    return float(found.min()) if found.size else None
