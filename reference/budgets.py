"""Privacy budgets: exact parameters, and the ways a user may state them.

`functional` and `relaxed_functional` take one :class:`Budget`; `pdfc` and `adfc` take a
:class:`SplitBudget`, one part for the monomials that contain w_s and one for the others.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from reference.common.balls import square_root
from reference.common.errors import DeltaError, EpsilonError, ReadingError
from reference.common.numbers import (
    RealLike,
    decimal_below,
    decimal_text,
    exact,
    in_float_range,
    short_text,
)

LARGE_EPSILON = 100
"""Above this a statement says next to nothing: e^100 is larger than any number of people."""


class LargeEpsilonWarning(UserWarning):
    """The epsilon is so large that a statement says next to nothing."""


class LargeDeltaWarning(UserWarning):
    """The delta is so large that publishing a record keeps a statement."""


@dataclass(frozen=True, init=False)
class Budget:
    """One epsilon, and a delta that is 0 for pure differential privacy.

    Parameters
    ----------
    epsilon : number
        Positive.
    delta : number
        In [0, 1).

    Raises
    ------
    reference.common.errors.EpsilonError, reference.common.errors.DeltaError
    """

    epsilon: Fraction
    delta: Fraction

    def __init__(self, epsilon: RealLike, delta: RealLike = 0) -> None:
        object.__setattr__(self, "epsilon", parse_epsilon("epsilon", epsilon))
        object.__setattr__(self, "delta", parse_delta("delta", delta))


@dataclass(frozen=True, init=False)
class SplitBudget:
    """Separate parameters for the monomials with w_s and for the others.

    Parameters
    ----------
    epsilon_s, epsilon_n : number
        Positive.
    delta_s, delta_n : number
        In [0, 1).
    delta : number, optional
        The total that is stated: at least Theorem 5's 1 - (1 - delta_s)(1 - delta_n), which is the default.
    """

    epsilon_s: Fraction
    epsilon_n: Fraction
    delta_s: Fraction
    delta_n: Fraction
    delta: Fraction

    def __init__(
        self,
        epsilon_s: RealLike,
        epsilon_n: RealLike,
        delta_s: RealLike = 0,
        delta_n: RealLike = 0,
        delta: RealLike | None = None,
    ) -> None:
        object.__setattr__(self, "epsilon_s", parse_epsilon("epsilon_s", epsilon_s))
        object.__setattr__(self, "epsilon_n", parse_epsilon("epsilon_n", epsilon_n))
        object.__setattr__(self, "delta_s", parse_delta("delta_s", delta_s))
        object.__setattr__(self, "delta_n", parse_delta("delta_n", delta_n))
        # delta <- 1 - (1 - delta_s)(1 - delta_n)
        composed = 1 - (1 - self.delta_s) * (1 - self.delta_n)
        total = composed if delta is None else parse_delta("delta", delta)
        if total < composed:
            raise DeltaError("delta", decimal_text(total), "at least 1 - (1 - delta_s)(1 - delta_n)")
        object.__setattr__(self, "delta", total)

    @classmethod
    def equal(cls, epsilon: RealLike, delta: RealLike = 0) -> SplitBudget:
        """Return epsilon_s = epsilon_n = epsilon and the equal split of delta."""
        part, both = half_of_delta(parse_delta("delta", delta)), parse_epsilon("epsilon", epsilon)
        return cls(both, both, part, part, delta)

    @classmethod
    def from_ratio(cls, epsilon: RealLike, ratio: RealLike, dimension: int, delta: RealLike = 0) -> SplitBudget:
        """Return the parts with epsilon_s / epsilon_n = ratio whose published total is epsilon.

        Solves Theorem 3's formula epsilon = epsilon_s / d + epsilon_n (d - 1) / d.
        """
        total, quotient = parse_epsilon("epsilon", epsilon), parse_epsilon("epsilon_ratio", ratio)
        epsilon_n = total * dimension / (quotient + dimension - 1)
        part = half_of_delta(parse_delta("delta", delta))
        return cls(quotient * epsilon_n, epsilon_n, part, part, delta)


def half_of_delta(delta: Fraction) -> Fraction:
    """Return 1 - sqrt(1 - delta), rounded down to 30 significant decimal digits.

    Two such parts compose to at most `delta` by Theorem 5's formula 1 - (1 - delta_s)(1 - delta_n).
    """
    if delta == 0:
        return Fraction(0)
    # 1 - sqrt(1 - delta) = delta / (1 + sqrt(1 - delta)): no cancellation for tiny delta
    return decimal_below(delta / (1 + square_root(1 - delta).upper), 30)


def parse_epsilon(name: str, value: RealLike) -> Fraction:
    """Return a positive epsilon exactly, or raise :class:`reference.common.errors.EpsilonError`."""
    epsilon = _number(name, value, EpsilonError, "a positive number")
    if epsilon <= 0:
        raise EpsilonError(name, value, "positive")
    if not in_float_range(epsilon):
        raise EpsilonError(name, value, "between 1e-100 and 1e100")
    return epsilon


def parse_delta(name: str, value: RealLike) -> Fraction:
    """Return a delta in [0, 1) exactly, or raise :class:`reference.common.errors.DeltaError`."""
    delta = _number(name, value, DeltaError, "a number in [0, 1)")
    if not 0 <= delta < 1:
        raise DeltaError(name, value, "in [0, 1)")
    return delta


def _number(name: str, value: Any, error: type[EpsilonError | DeltaError], allowed: str) -> Fraction:
    try:
        return exact(name, value)
    except ReadingError:
        raise error(name, value, allowed) from None


def large_epsilon(budget: Budget | SplitBudget | None) -> tuple[str, Fraction] | None:
    """Return the name and value of an epsilon too large for a meaningful statement, if there is one."""
    parts: dict[str, Fraction] = {}
    if isinstance(budget, SplitBudget):
        parts = {"epsilon_s": budget.epsilon_s, "epsilon_n": budget.epsilon_n}
        if budget.epsilon_s == budget.epsilon_n:
            parts = {"epsilon": budget.epsilon_s}
    elif budget is not None:
        parts = {"epsilon": budget.epsilon}
    return next(((name, value) for name, value in parts.items() if value > LARGE_EPSILON), None)


def warn_if_large(budget: Budget | SplitBudget | None) -> None:
    """Warn of an epsilon too large for a meaningful statement."""
    if large_epsilon(budget) is not None:
        warnings.warn(f"epsilon is above {LARGE_EPSILON}: it promises nothing", LargeEpsilonWarning, stacklevel=4)


def large_delta(delta: Fraction, records: int, rows_per_person: int = 1) -> tuple[str, ...]:
    """Return a warning where delta allows to publish a record drawn at random.

    A draw is of one person's records with a chance of at most rows_per_person / records.  Under `replace_one` the
    number of records is public.
    """
    if delta * records < rows_per_person:
        return ()
    said = f"delta {short_text(delta)} is too large for {records:,} records"
    least = f"{rows_per_person}/{records:,}"
    return (f"{said}: publishing one of them at random would keep it too; take a delta far below {least}",)
