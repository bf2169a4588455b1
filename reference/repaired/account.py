"""What the releases of one fit lose together: from public numbers alone (Theorem R)."""

from __future__ import annotations

from fractions import Fraction
from typing import NamedTuple

from reference.accounting import ExactPrivacy, Privacy
from reference.accounting.discrete import epsilon_ends
from reference.accounting.ledger_file import CountedRelease
from reference.budgets import Budget
from reference.common.numbers import Enclosure
from reference.noise.profile import epsilon_of_shift
from reference.repaired.spent import SUM_STEPS, Spent
from reference.sensitivity.setting import Supremum


class Account(NamedTuple):
    """Releases and what they lose together: public.

    Parameters
    ----------
    budget : Budget
    spent : tuple of Spent
    hardened : bool
    """

    budget: Budget
    spent: tuple[Spent, ...]
    hardened: bool

    @property
    def loss(self) -> Fraction:
        """Sum of (Delta_2 / sigma)^2, at most mu^2; of Delta_1 / b, at most epsilon, where delta is 0."""
        if not self.budget.delta:
            each = [one.change.l1_sensitivity / Fraction(one.scale) for one in self.spent]
        else:
            each = [one.change.l2_sensitivity_squared / Fraction(one.scale) ** 2 for one in self.spent]
        return sum(each, Fraction(0))

    @property
    def epsilon(self) -> Fraction:
        """The budget's epsilon; with discrete Gaussian noise more, where it adds more than there is room for."""
        # discrete Laplace noise loses what continuous noise does
        if not self.hardened or not self.budget.delta:
            return self.budget.epsilon
        return max(self.budget.epsilon, self._on_the_grid(Supremum.exactly(self.loss)))

    def epsilon_of(self, distance: int) -> Fraction:
        """Return an upper bound of epsilon, at the budget's delta, where so many records are replaced.

        Each release is then shifted by at most `distance` times as much.
        """
        if distance <= 1:
            return self.epsilon * distance
        if not self.budget.delta:
            return self.loss * distance
        shift = Supremum.exactly(self.loss * distance**2)
        if not self.hardened:
            return epsilon_of_shift(shift.upper, self.budget.delta).upper
        return self._on_the_grid(shift)

    def _on_the_grid(self, shift: Supremum) -> Fraction:
        inverse_scales = sum((one.size / Fraction(one.scale) for one in self.spent), Fraction(0))
        size = sum(one.size for one in self.spent)
        return epsilon_ends(shift, inverse_scales, size, SUM_STEPS, self.budget.delta)[1]

    def counted(self, *, seeded: bool) -> CountedRelease:
        """Return what a release ledger counts."""
        noise = "hardened" if self.hardened else "numpy"
        return CountedRelease("repaired", "replace_one", self.privacy, seeded=seeded, noise=noise)

    @property
    def privacy(self) -> Privacy:
        """The statement: an upper bound."""
        epsilon = Enclosure(Fraction(0), self.epsilon)
        shift = None
        if self.budget.delta and not self.hardened:
            shift = Enclosure(Fraction(0), self.loss)
        return Privacy(None, ExactPrivacy(epsilon, self.budget.delta, None, None, None, shift))
