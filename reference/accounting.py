"""What a release claims about privacy, and the exact profile of Gaussian noise.

Each `published_*` function is a theorem's formula as the paper prints it, of (budget, dimension, adjacency).
Whether the theorem is true is another question: see the claim that :attr:`PrivacyStatement.claim` names.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import mpmath

from reference.budgets import Budget, SplitBudget
from reference.numbers import decimal_text, exact


@dataclass(frozen=True)
class PrivacyStatement:
    """(epsilon, delta)-differential privacy for a named adjacency, as claimed by a named theorem.

    Parameters
    ----------
    epsilon, delta : Fraction
    adjacency : {'replace_one', 'add_or_remove_one'}
    claim : str
        Row of the claims ledger that decides whether the statement is true.
    """

    epsilon: Fraction
    delta: Fraction
    adjacency: str
    claim: str

    def composed(self, releases: int) -> PrivacyStatement:
        """Return the statement for several releases of this kind, by basic composition."""
        delta = min(Fraction(1), self.delta * releases)
        return PrivacyStatement(self.epsilon * releases, delta, self.adjacency, self.claim)

    def to_json(self) -> dict[str, Any]:
        """Return epsilon as a number and as an exact string, delta as an exact decimal string."""
        return {
            "epsilon": float(self.epsilon),
            "epsilon_exact": decimal_text(self.epsilon),
            "delta": decimal_text(self.delta),
            "adjacency": self.adjacency,
            "claim": self.claim,
        }

    @classmethod
    def from_json(cls, document: dict[str, Any]) -> PrivacyStatement:
        """Read back what :meth:`to_json` wrote."""
        return cls(
            exact("epsilon", document["epsilon_exact"]),
            exact("delta", document["delta"]),
            document["adjacency"],
            document["claim"],
        )


def published_functional(budget: Budget, dimension: int, adjacency: str) -> PrivacyStatement:  # noqa: ARG001
    """Return Theorem 1's statement for Laplace noise of scale Delta_1 / epsilon on every coefficient."""
    return PrivacyStatement(budget.epsilon, Fraction(0), adjacency, "T1")


def published_relaxed_functional(budget: Budget, dimension: int, adjacency: str) -> PrivacyStatement:  # noqa: ARG001
    """Return Theorem 4's statement."""
    return PrivacyStatement(budget.epsilon, budget.delta, adjacency, "T4")


def published_pdfc(budget: SplitBudget, dimension: int, adjacency: str) -> PrivacyStatement:
    """Return Theorem 3's statement (Algorithm 1, line 25)."""
    # epsilon <- epsilon_s / d + epsilon_n (d - 1) / d
    epsilon = budget.epsilon_s / dimension + budget.epsilon_n * Fraction(dimension - 1, dimension)
    return PrivacyStatement(epsilon, Fraction(0), adjacency, "T3")


def published_adfc(budget: SplitBudget, dimension: int, adjacency: str) -> PrivacyStatement:
    """Return Theorem 5's statement (Algorithm 3, line 26)."""
    # epsilon <- epsilon_s / d + epsilon_n (d - 1) / d
    epsilon = budget.epsilon_s / dimension + budget.epsilon_n * Fraction(dimension - 1, dimension)
    # delta <- 1 - (1 - delta_s)(1 - delta_n)
    delta = 1 - (1 - budget.delta_s) * (1 - budget.delta_n)
    return PrivacyStatement(epsilon, delta, adjacency, "T5")


def gaussian_delta(shift: Any, epsilon: Any, *, context: Any = mpmath.mp) -> Any:
    """Return the smallest delta for which unit Gaussian noise hides a shift at this epsilon.

    delta = Phi(shift/2 - epsilon/shift) - exp(epsilon) Phi(-shift/2 - epsilon/shift): Theorem 8 of Balle and
    Wang, "Improving the Gaussian mechanism for differential privacy" (ICML 2018).

    Parameters
    ----------
    shift : mpf
        Mahalanobis length of the shift, |difference| / sigma; positive.
    epsilon : mpf
    context : mpmath context
        Its precision is used.
    """
    upper = context.ncdf(shift / 2 - epsilon / shift)
    lower = context.ncdf(-shift / 2 - epsilon / shift)
    return upper - context.exp(epsilon) * lower
