"""The choice between the two bounds."""

from __future__ import annotations

from typing import Literal, TypeAlias

from audit.bounds.clopper_pearson import (
    clopper_pearson_delta_lower_bound,
    clopper_pearson_epsilon_lower_bound,
    clopper_pearson_p_value,
)
from audit.bounds.counts import Counts
from audit.bounds.joint import joint_delta_lower_bound, joint_epsilon_lower_bound, joint_p_value

Method: TypeAlias = Literal["joint", "clopper_pearson"]

METHODS: tuple[Method, ...] = ("joint", "clopper_pearson")
"""`joint` shares the significance between the counts; `clopper_pearson` gives each half of it."""


def check_method(method: str) -> None:
    """Reject a method that is not known."""
    if method not in METHODS:
        raise ValueError(f"method must be one of {', '.join(METHODS)}, got {method!r}")


def epsilon_lower_bound(counts: Counts, delta: float, significance: float, method: Method = "joint") -> float:
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
    method : {'joint', 'clopper_pearson'}

    Returns
    -------
    float
        At least 0; 0 says nothing.
    """
    check_method(method)
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
    check_method(method)
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
    method : {'joint', 'clopper_pearson'}
    """
    check_method(method)
    if method == "joint":
        return joint_p_value(counts, epsilon, delta)
    return clopper_pearson_p_value(counts, epsilon, delta)
