"""Thresholds where predictions do not use the group: released models guess it.

Each group has a threshold, each record their mean: it is chosen where a(x) > sum_k t_k P(z = k | x), with
a(x) = P(y = 1 | x) - 1/2.  Where all probabilities are right, no rule of x with the same selection rates of groups
has a higher accuracy (proofs/repaired.md, *Without the group*).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import scipy
from scipy.special import expit

from reference.common.arrays import FloatArray
from reference.common.scores import decision_scores
from reference.repaired.cells import SMALLEST_CELL, Cells, Errors, spread
from reference.repaired.loss import probability

EVERY = 4
"""A search looks at the drawn records many times, so it takes one in so many."""

SOFT = 0.02
"""Width of the step of a prediction, in probability, while thresholds are sought."""

SHORT = 0.01
"""Weight of the thresholds' size beside the differences that they even out; where they cannot, they stay small."""

PRICE = 1.0
"""Accuracy that equalised odds may cost per unit of difference between groups."""

FREE_PRICE = 0.5
"""Accuracy that the last unit of risk difference may cost before probes show that the difference shrinks."""

FIRST_STEP = 0.1
"""Starting values of the search for thresholds of equalised odds."""


def advantage_of(w: FloatArray, x: FloatArray) -> FloatArray:
    """Return a(x) = P(y = 1 | x) - 1/2, shape (n,)."""
    return probability(decision_scores(w, x)) - 0.5


def likely_groups(group_weights: FloatArray, x: FloatArray) -> FloatArray:
    """Return P(z = k | x), shape (groups, n): each record's from its own row alone.

    Parameters
    ----------
    group_weights : ndarray, shape (d,) or (groups, d)
        Scores of group 1, or of each group against all others.
    x : ndarray, shape (n, d)
    """
    guessed = [probability(decision_scores(v, x)) for v in np.atleast_2d(group_weights)]
    if len(guessed) == 1:
        return np.array([1 - guessed[0], guessed[0]])
    whole = np.maximum(sum(guessed), SMALLEST_CELL)
    return np.array([one / whole for one in guessed])


def excess(advantage: FloatArray, likely: FloatArray, thresholds: tuple[float, ...]) -> FloatArray:
    """Return a - sum_k t_k P(z = k | x), shape (n,)."""
    found = advantage
    for threshold, share in zip(thresholds, likely, strict=True):
        found = found - threshold * share
    return found


def cost_of(advantage: FloatArray, beyond: FloatArray) -> float:
    """Return the accuracy that choosing where `beyond` is above 0 costs, if a(x) is right.

    A record whose prediction turns costs 2 |a|.
    """
    turned = (advantage > 0.0) != (beyond > 0.0)
    return float((2 * np.abs(advantage) * turned).mean())


class Guessed(NamedTuple):
    """What releases predict of drawn records.

    Parameters
    ----------
    advantage : ndarray, shape (n,)
        a(x).
    likely : ndarray, shape (groups, n)
        P(z = k | x).
    """

    advantage: FloatArray
    likely: FloatArray

    @property
    def joint(self) -> bool:
        """Every threshold moves all groups."""
        return True

    def rates(self, thresholds: FloatArray, *, odds: bool) -> FloatArray:
        """Return the share of each cell that is chosen, shape (groups, 1 or 2, ...)."""
        return self._rates(thresholds, odds, 0.0)

    def cost(self, thresholds: tuple[float, ...]) -> float:
        """Return the accuracy that thresholds cost."""
        return cost_of(self.advantage, excess(self.advantage, self.likely, thresholds))

    def fair(self, cells: Cells, off: Errors) -> FloatArray:
        """Return a threshold for each group."""
        return self._fair_odds(cells, off) if cells.odds else self._fair_rates(cells, off)

    def _fair_rates(self, cells: Cells, off: Errors) -> FloatArray:
        seen = cells.seen[:, 0]
        means = np.maximum(self.likely.mean(axis=1), SMALLEST_CELL)

        def thresholds(free: FloatArray) -> FloatArray:
            # of the most accurate rule, t_k P(z = k) add up to 0
            balanced: FloatArray = (free - free.mean()) / means
            return balanced

        def unequal(free: FloatArray) -> FloatArray:
            rates = off.corrected(self._rates(thresholds(free), False, SOFT))[seen]
            return np.append(rates - rates.sum() / max(1, len(rates)), SHORT * free)

        # the last unit of a group's rate costs 2 t_k P(z = k) of accuracy
        most = FREE_PRICE / 2
        return thresholds(scipy.optimize.least_squares(unequal, np.zeros(len(means)), bounds=(-most, most)).x)

    def _fair_odds(self, cells: Cells, off: Errors) -> FloatArray:
        sizes, groups = cells.by_group / sum(cells.sizes), cells.groups

        def lost(thresholds: FloatArray) -> float:
            rates = off.corrected(self._rates(thresholds, True, SOFT))
            wrong = sizes[:, 0] @ rates[:, 0] + sizes[:, 1] @ (1 - rates[:, 1])
            return float(wrong + PRICE * spread(rates, rates, cells)[0])

        simplex = np.vstack([np.zeros(groups), FIRST_STEP * np.eye(groups)])
        found: FloatArray = scipy.optimize.minimize(
            lost, simplex[0], method="Nelder-Mead", options={"initial_simplex": simplex}
        ).x
        return found

    def _rates(self, thresholds: FloatArray, odds: bool, soft: float) -> FloatArray:
        beyond = self.advantage[:, None] - self.likely.T @ thresholds.reshape(len(self.likely), -1)
        chosen = expit(beyond / soft) if soft else (beyond > 0.0).astype(np.float64)
        # group and label count as independent given x
        labels = np.array([0.5 - self.advantage, 0.5 + self.advantage] if odds else [np.ones(len(self.advantage))])
        cells = (self.likely[:, None] * labels).reshape(-1, len(self.advantage))
        rates = cells @ chosen / np.maximum(cells.sum(axis=1), SMALLEST_CELL)[:, None]
        found: FloatArray = rates.reshape(len(self.likely), -1, *thresholds.shape[1:])
        return found
