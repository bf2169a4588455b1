"""The ends of an interval of ratios in which a theorem holds."""

from __future__ import annotations

import math
from fractions import Fraction

from audit.exact.theorems import (
    RatioInterval,
    ratio_interval,
)
from reference.common.numbers import Enclosure
from reference.sensitivity import Setting

ONE = Fraction(1)

TRUE = ("proved", "enclosed")


def top(interval: RatioInterval) -> Enclosure:
    """Return the upper end of an interval that certainly has one."""
    assert isinstance(interval.upper, Enclosure)
    return interval.upper


def ends(theorem: str, setting: Setting, sensitivity="published") -> tuple[float, float]:
    """Return the middles of both ends, infinity where there is no upper one."""
    interval = ratio_interval(theorem, setting, sensitivity)
    upper = math.inf if interval.upper is None else float(top(interval).lower + top(interval).upper) / 2
    return float(interval.lower.lower + interval.lower.upper) / 2, upper


def holds_up_to_one(interval: RatioInterval) -> bool | None:
    """Return whether the theorem holds in the regime epsilon_s <= epsilon_n; None if that is not decided."""
    if interval.lower.upper == 0:
        return True
    return False if interval.lower.lower > 0 else None


def holds_for_all(interval: RatioInterval) -> bool | None:
    """Return whether the theorem holds for every ratio; None if the enclosures do not decide."""
    if isinstance(interval.upper, Enclosure):
        return False
    below = holds_up_to_one(interval)
    return None if below and interval.upper is not None else below
