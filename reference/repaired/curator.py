"""The curator: only here does a sum over records become a release, and here the account is kept."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from reference.budgets import Budget
from reference.common.arrays import FloatArray, NumberArray
from reference.common.balls import square_root
from reference.common.errors import ParameterError
from reference.common.numbers import rounded_up
from reference.noise import Noise, Sampler, analytic_gaussian_sigma, laplace_scale
from reference.repaired.account import Account
from reference.repaired.spent import SUM_STEPS, Change, Spent

DISCRETE_ROOM = 1 + Fraction(1, 2**30)
"""Factor of Gaussian scales: discrete noise of few columns then stays within the budget."""


@dataclass(frozen=True, init=False, repr=False)
class RoomyBudget(Budget):
    """A budget whose Gaussian noise is wider, for what the grid costs a fit of many columns, or of large delta.

    Parameters
    ----------
    budget : Budget
    room : Fraction
        Factor of every Gaussian scale: a public function of domain, number of records and budget
        (:func:`reference.repaired.advice.planned`).
    """

    room: Fraction

    def __init__(self, budget: Budget, room: Fraction) -> None:
        super().__init__(budget.epsilon, budget.delta)
        object.__setattr__(self, "room", room)


class Curator:
    """Adds noise and counts shares of the budget: of mu^2, or of epsilon where delta is 0 (Theorem R).

    Parameters
    ----------
    budget : Budget
        Gaussian noise for delta > 0, Laplace noise for delta = 0.
    sampler : NumpySampler or HardenedSampler
    hardened : bool
        Whether noise is discrete, on multiples of 1/SUM_STEPS.
    rows_per_person : int
        The largest number of records in which neighbouring data sets differ.

    Attributes
    ----------
    spent : list of Spent
        In order.
    """

    def __init__(self, budget: Budget, sampler: Sampler, *, hardened: bool, rows_per_person: int = 1) -> None:
        self.rows_per_person = rows_per_person
        self.spent: list[Spent] = []
        self._budget = budget
        self._kind = "gaussian" if budget.delta else "laplace"
        self._sampler = sampler
        self._steps = SUM_STEPS if hardened else None

    def scale(self, change: Change, share: Fraction) -> float:
        """Return sigma, or the Laplace scale, of a release; rounded up."""
        return planned_scale(self._budget, change.times(self.rows_per_person), share)

    def deviation(self, change: Change, share: Fraction) -> float:
        """Return the standard deviation of the noise of a release."""
        return self.scale(change, share) * (math.sqrt(2) if self._kind == "laplace" else 1.0)

    def release(self, values: NumberArray, change: Change, share: Fraction, what: str = "") -> FloatArray:
        """Return values plus noise for a share of the budget.

        Parameters
        ----------
        values : ndarray
            Sums over records.
        change : Change
            How far one record can change them.
        share : Fraction
        what : str
            Names the release in the account.

        Raises
        ------
        reference.common.errors.ParameterError
            When the shares would add up to more than 1; then nothing is released.
        """
        if share <= 0 or share + sum(one.share for one in self.spent) > 1:
            raise ParameterError("share", share, "positive, and at most 1 with all others")
        scale = self.scale(change, share)
        # before the draw: counting what is never released does no harm
        self.spent.append(Spent(what, share, change.times(self.rows_per_person), scale, len(values)))
        noisy = self._sampler.add(values, Noise.uniform(self._kind, scale, len(values), self._steps))
        return np.array([float(value) for value in noisy])

    @property
    def account(self) -> Account:
        """What was released."""
        return Account(self._budget, tuple(self.spent), self._steps is not None, self.rows_per_person)


def planned_scale(budget: Budget, change: Change, share: Fraction) -> float:
    """Return sigma, or the Laplace scale, of a release for a share of a budget; rounded up."""
    if not budget.delta:
        # b <- Delta_1 / (share epsilon)
        return laplace_scale(change.l1_sensitivity, share * budget.epsilon)
    # sigma <- (1/mu) Delta_2 / sqrt(share), and a little more, for what discrete noise adds to the loss
    ratio = square_root(change.l2_sensitivity_squared / share).upper * room_of(budget)
    return rounded_up(Fraction(unit_sigma(budget)) * ratio)


def room_of(budget: Budget) -> Fraction:
    """Return the factor by which Gaussian scales are widened for the grid."""
    return budget.room if isinstance(budget, RoomyBudget) else DISCRETE_ROOM


def unit_sigma(budget: Budget) -> float:
    """Return the noise for an l2-sensitivity of 1 with the whole budget: 1/mu, rounded up."""
    return analytic_gaussian_sigma(Fraction(1), budget.epsilon, budget.delta)


def largest_loss(budget: Budget) -> Fraction:
    """Return what all releases may lose together: mu^2 (rounded down), or epsilon where delta is 0."""
    return 1 / Fraction(unit_sigma(budget)) ** 2 if budget.delta else budget.epsilon
