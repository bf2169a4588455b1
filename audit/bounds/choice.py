"""The choice between the bounds."""

from __future__ import annotations

from typing import Literal, TypeAlias

from audit.bounds.clopper_pearson import (
    clopper_pearson_delta_lower_bound,
    clopper_pearson_epsilon_lower_bound,
    clopper_pearson_p_value,
)
from audit.bounds.clusters import CLUSTERS, ClusterMethod, cluster_bound_of_counts
from audit.bounds.conditional import conditional_epsilon_lower_bound, conditional_p_value
from audit.bounds.counts import Counts
from audit.bounds.e_value import ANYTIME_METHODS
from audit.bounds.joint import (
    joint_delta_lower_bound,
    joint_epsilon_lower_bound,
    joint_p_value,
    joint_rejects,
)

Method: TypeAlias = Literal["joint", "clopper_pearson", "conditional"]

METHODS: tuple[Method, ...] = ("joint", "clopper_pearson")
"""Methods for every delta: `joint` shares the significance between the counts; `clopper_pearson` halves it."""

METHODS_AT_ZERO: tuple[Method, ...] = (*METHODS, "conditional")
"""Methods at delta = 0: also `conditional`, for rare events."""

METHODS_OF_COUNTS: tuple[Method | ClusterMethod, ...] = (*METHODS_AT_ZERO, CLUSTERS)
"""All methods that bound from counts, including counts by calls."""

COARSE = 0.02
"""How much lower a coarse look may put the joint bound."""


def check_method(method: str, delta: float = 0.0) -> None:
    """Reject a method that is unknown, or not for this delta."""
    if method not in METHODS_AT_ZERO:
        raise ValueError(f"method must be one of {', '.join(METHODS_AT_ZERO)}, got {method!r}")
    if delta > 0 and method not in METHODS:
        raise ValueError(f"method {method} is for delta = 0, got delta = {delta}")


def refutes(bound: float, claimed_epsilon: float, method: str) -> bool:
    """Return whether a lower bound on epsilon refutes a claim.

    An anytime bound is a level that was itself rejected, so the true epsilon is above it, not only at it.
    """
    return bound > claimed_epsilon or (method in ANYTIME_METHODS and bound >= claimed_epsilon > 0)


def better_method(counts: Counts, significance: float) -> Method:
    """Return the method of the larger bound at delta = 0, joint or conditional; joint where both say nothing.

    Where a coarse look tells, the joint bound is not computed.
    """
    bound = conditional_epsilon_lower_bound(counts, significance)
    if bound == 0 or joint_rejects(counts, bound, 0.0, significance):
        return "joint"
    if not joint_rejects(counts, max(0.0, bound - COARSE), 0.0, significance):
        return "conditional"
    return "joint" if joint_epsilon_lower_bound(counts, 0.0, significance) >= bound else "conditional"


def epsilon_lower_bound(
    counts: Counts, delta: float, significance: float, method: Method | ClusterMethod = "joint"
) -> float:
    """Return a bound that exceeds the true epsilon with probability at most `significance`.

    (epsilon, delta)-differential privacy implies p_likely <= exp(epsilon) p_unlikely + delta for every event,
    so epsilon >= log((p_likely - delta) / p_unlikely).  The method must be chosen before the counts are seen.

    Parameters
    ----------
    counts : Counts
        Of an event that was chosen without looking at these draws.
    delta : float
        The claimed delta, in [0, 1).
    significance : float
        In [1e-12, 1).
    method : {'joint', 'clopper_pearson', 'conditional', 'cluster_betting'}
        `conditional` at delta = 0 only; `cluster_betting` where only calls are independent.

    Returns
    -------
    float
        At least 0; 0 says nothing.
    """
    if method == CLUSTERS:
        return cluster_bound_of_counts(counts, delta, significance)
    check_method(method, delta)
    if method == "conditional":
        return conditional_epsilon_lower_bound(counts, significance)
    if method == "joint":
        return joint_epsilon_lower_bound(counts, delta, significance)
    return clopper_pearson_epsilon_lower_bound(counts, delta, significance)


def delta_lower_bound(counts: Counts, epsilon: float, significance: float, method: Method = "joint") -> float:
    """Return a bound that exceeds the true delta at a given epsilon with probability at most `significance`.

    Parameters
    ----------
    counts : Counts
        Of an event that was chosen without looking at these draws.
    epsilon : float
        In [0, 700].
    significance : float
        In [1e-12, 1).
    method : {'joint', 'clopper_pearson'}

    Returns
    -------
    float
        At least 0; 0 says nothing.
    """
    if method not in METHODS:
        raise ValueError(f"a bound on delta is by one of {', '.join(METHODS)}, got {method!r}")
    if method == "joint":
        return joint_delta_lower_bound(counts, epsilon, significance)
    return clopper_pearson_delta_lower_bound(counts, epsilon, significance)


def p_value(counts: Counts, epsilon: float, delta: float, method: Method = "joint") -> float:
    """Return a p-value of the hypothesis p_likely <= exp(epsilon) p_unlikely + delta.

    Under the hypothesis it is at most u with probability at most u, for every u in (0, 1).

    Parameters
    ----------
    counts : Counts
        Of an event that was chosen without looking at these draws.
    epsilon : float
        In [0, 700].
    delta : float
        In [0, 1).
    method : {'joint', 'clopper_pearson', 'conditional'}
        `conditional` at delta = 0 only.
    """
    check_method(method, delta)
    if method == "conditional":
        return conditional_p_value(counts, epsilon)
    if method == "joint":
        return joint_p_value(counts, epsilon, delta)
    return clopper_pearson_p_value(counts, epsilon, delta)
