"""What the releases of one fit lose together: from public numbers alone (Theorem R)."""

from __future__ import annotations

from fractions import Fraction
from typing import NamedTuple

from msgspec import UNSET

from reference.accounting import ExactPrivacy, Privacy
from reference.accounting.discrete import epsilon_ends, grid_shift
from reference.accounting.ledger_file import CountedRelease
from reference.budgets import Budget
from reference.common.numbers import Enclosure, decimal_above
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
    rows_per_person : int
    """

    budget: Budget
    spent: tuple[Spent, ...]
    hardened: bool
    rows_per_person: int = 1

    @property
    def loss(self) -> Fraction:
        """Sum of (Delta_2 / sigma)^2, at most mu^2; where delta is 0, of Delta_1 / b, at most epsilon."""
        if not self.budget.delta:
            each = [one.change.l1_sensitivity / Fraction(one.scale) for one in self.spent]
        else:
            each = [one.change.l2_sensitivity_squared / Fraction(one.scale) ** 2 for one in self.spent]
        return sum(each, Fraction(0))

    @property
    def epsilon(self) -> Fraction:
        """The budget's epsilon; more where scales leave discrete Gaussian noise less room than a plan does."""
        # discrete Laplace noise loses what continuous noise does
        if not self.hardened or not self.budget.delta:
            return self.budget.epsilon
        return max(self.budget.epsilon, self.needed)

    @property
    def needed(self) -> Fraction:
        """An upper bound of the epsilon of discrete Gaussian noise at the budget's delta: any number, enclosed.

        It grows with :attr:`loss` and falls with every scale, but for a relative 2^-60 of the enclosure.
        """
        return self._on_the_grid(Supremum.exactly(self.loss))

    def epsilon_of(self, distance: int) -> Fraction:
        """Return an upper bound of epsilon, at the budget's delta, where this many records are replaced.

        Each release is then shifted by at most `distance` times as much.
        """
        if distance <= 1:
            return self.epsilon * distance
        if not self.budget.delta:
            return min(self.loss, self.budget.epsilon) * distance
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
        return CountedRelease(
            "repaired",
            "replace_one",
            self.privacy,
            seeded=seeded,
            noise=noise,
            rows_per_person=self.rows_per_person,
        )

    @property
    def privacy(self) -> Privacy:
        """The statement: an upper bound."""
        epsilon, delta = Enclosure(Fraction(0), self.epsilon), self.budget.delta
        if not delta:
            return Privacy(None, ExactPrivacy(epsilon, delta, None, None, None))
        if not self.hardened:
            shift = Enclosure(Fraction(0), self.loss)
            return Privacy(None, ExactPrivacy(epsilon, delta, None, None, None, shift))
        rho, on_grid = decimal_above(self.loss / 2, 20), self.grid_shift
        grid = UNSET if on_grid is None else decimal_above(on_grid, 20)
        return Privacy(None, ExactPrivacy(epsilon, delta, None, None, None, rho=rho, grid_shift=grid))

    @property
    def grid_shift(self) -> Fraction | None:
        """Sum of mu_j^2 of discrete Gaussian releases: given the earlier ones, each is mu_j-GDP but for a tail.

        The tails of all of them add up to :data:`reference.accounting.discrete.BEYOND`.  None where some noise is
        too small for the grid.  Proof: ``proofs/repaired.md``, section *Ledgers*.
        """
        size = sum(one.size for one in self.spent)
        total = Fraction(0)
        for one in self.spent:
            sigma = Fraction(one.scale)
            shift = Supremum.exactly(one.change.l2_sensitivity_squared / sigma**2)
            found = grid_shift(shift, one.size / sigma, size, SUM_STEPS)
            if found is None:
                return None
            total += found
        return total
