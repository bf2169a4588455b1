"""The released model: predicts without the data."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Literal, NamedTuple, TypeAlias

import numpy as np

from reference.common.arrays import BoolArray, FloatArray
from reference.common.errors import ParameterError
from reference.common.grid import rounded_to_grid
from reference.common.scores import decision_scores
from reference.domain import Domain
from reference.repaired import guessed
from reference.repaired.cells import Cells, Curves, best_thresholds, expected_of
from reference.repaired.expected import drawn_records, expected_difference
from reference.repaired.guessed import Guessed
from reference.repaired.loss import probability
from reference.repaired.spent import GROUP_COUNT, Spent, deviation_of
from reference.repaired.threshold import Probe, Root

Fairness: TypeAlias = Literal["none", "demographic_parity", "equalised_odds"]


class Measured(NamedTuple):
    """The difference of groups that a probe found, and the standard deviation of its noise.

    `place` counts from 1; `final` says that it was made at the final thresholds.
    """

    difference: float
    noise: float
    place: int
    of: int
    final: bool


class Forecast(NamedTuple):
    """What the releases predict of a multiplier.

    Parameters
    ----------
    difference : callable
        The signed risk difference; it falls.
    cost : callable
        The accuracy that it costs, where the group is guessed.
    """

    difference: Callable[[float], float]
    cost: Callable[[float], float]


@dataclass(frozen=True, eq=False)
class Model:
    """Weights, and one multiplier that moves the decision by group.

    Parameters
    ----------
    w : ndarray, shape (d,)
        Scores of the label.
    group_weights : ndarray, shape (d,) or (groups, d), or None
        Scores of the group, of each where there are more than two: where predictions do not use the group.
    zbar : Fraction or None
        Released share of group 1; None without fairness.
    multiplier : float
        lambda: 0 predicts by the sign of the score.
    epsilon, delta : Fraction
        Of all releases together, for `replace_one`.
    counts : ndarray, shape (2 d,)
        Released sums over each half of the records, by label; by group where `group_weights` meet a multiplier.
    n : int
        Records that were fitted: public.
    probes : tuple of Probe
        Released risk differences.
    spent : tuple of Spent
        What was released, in order.
    budget_epsilon : Fraction
        What the caller asked for.
    rows_per_person : int
        How many records one person may have, for the statement.
    cells : Cells or None
        A threshold for each group, for equalised odds and for more than two groups: of the score, or with
        `group_weights` of the probability.
    too_far : int
        Steps for the label that went too far, as where attributes say the same; 0 if read from a release.
    """

    w: FloatArray
    group_weights: FloatArray | None
    zbar: Fraction | None
    multiplier: float
    epsilon: Fraction
    delta: Fraction
    counts: FloatArray
    n: int
    probes: tuple[Probe, ...] = ()
    spent: tuple[Spent, ...] = ()
    budget_epsilon: Fraction = Fraction(0)
    rows_per_person: int = 1
    cells: Cells | None = None
    too_far: int = 0

    @property
    def fairness(self) -> Fairness:
        """The fairness that the model was fitted for."""
        if self.cells is not None:
            return "equalised_odds" if self.cells.odds else "demographic_parity"
        return "none" if self.zbar is None else "demographic_parity"

    def after(self, difference: float, noise: float) -> Model:
        """Return the model with one more probe, made at its multiplier."""
        return replace(self, probes=(*self.probes, Probe(self.multiplier, difference, noise)))

    def forecast(self, domain: Domain) -> Forecast:
        """Return what the releases predict at each multiplier."""
        assert self.zbar is not None
        drawn = drawn_records(self.counts, domain, self.n)
        members = drawn.target if self.group_weights is not None else drawn.x[:, -1] > 0
        z = members.astype(np.float64)
        advantage, belonging = margins(self.w, self.group_weights, float(self.zbar), drawn.x, z)
        difference = expected_difference(advantage, belonging, members)
        return Forecast(
            difference, lambda multiplier: guessed.cost_of(advantage, advantage - multiplier * belonging)
        )

    def root(self, expected: Forecast, slack: float) -> Root:
        """Return what the probes say about the multiplier.

        Where the group is guessed, lambda is a price: if the guess is right, the last unit of risk difference
        costs 2 lambda zbar (1 - zbar) of accuracy.  More than FREE_PRICE is paid only for what probes show.
        """
        assert self.zbar is not None
        if self.group_weights is None:
            return Root(self.probes, slack, expected.difference)
        free = guessed.FREE_PRICE / (2 * float(self.zbar * (1 - self.zbar)))
        return Root(self.probes, slack, expected.difference, free, expected.cost)

    def expected_cells(self, domain: Domain) -> Curves:
        """Return what the releases predict about thresholds of cells."""
        assert self.cells is not None
        if self.group_weights is None:
            return expected_of(self.w, self.counts, domain, self.n)
        x = drawn_records(self.counts, domain, self.n).x[:: guessed.EVERY]
        return Guessed(guessed.advantage_of(self.w, x), guessed.likely_groups(self.group_weights, x))

    @property
    def measured(self) -> Measured | None:
        """The probe nearest to the final thresholds, the last of equals; None without fairness."""
        if self.cells is not None:
            probes, final = self.cells.probes, np.array(self.cells.thresholds)
            off = [float(np.abs(np.array(one.thresholds) - final).max()) for one in probes]
            differences = [one.difference(self.cells.groups) for one in probes]
        else:
            off = [abs(one.multiplier - self.multiplier) for one in self.probes]
            differences = [(one.difference, one.noise) for one in self.probes]
        if not off:
            return None
        place = max(range(len(off)), key=lambda at: (-off[at], at))
        return Measured(*differences[place], place + 1, len(off), off[place] == 0.0)

    @property
    def noise_of_probes(self) -> float | None:
        """Standard deviation of the difference of groups in all probes together; None without fairness.

        Released counts tell how large the groups are.
        """
        measured = self.measured
        return (
            None if measured is None else math.hypot(measured.noise / math.sqrt(measured.of), self.noise_of_share)
        )

    @property
    def noise_of_share(self) -> float:
        """Standard deviation of what the noise of zbar adds to every probe alike, at most.

        Where a share p is chosen of each group, a probe finds (mean of z - zbar) (p - 1/2) / (zbar (1 - zbar)).
        """
        scale = next((one.scale for one in self.spent if one.what == GROUP_COUNT), 0.0)
        if self.zbar is None or not scale:
            return 0.0
        deviation = deviation_of(scale, self.delta) / self.n
        return deviation / (2 * float(self.zbar * (1 - self.zbar)))

    def tuned(self, domain: Domain, slack: float) -> Model:
        """Return the model for another slack, from what is already released: at no cost in privacy."""
        if self.cells is not None:
            thresholds = best_thresholds(self.cells, self.expected_cells(domain), slack)
            return replace(self, cells=replace(self.cells, thresholds=thresholds))
        if not self.probes:
            raise ParameterError("slack", slack, "left out for a model that was fitted without fairness")
        return replace(self, multiplier=self.root(self.forecast(domain), slack).best())

    def predict(self, x: FloatArray, z: FloatArray | None = None) -> BoolArray:
        """Return the predictions, shape (n,): whether :meth:`excess` is above 0."""
        return self.excess(x, z) > 0.0

    def excess(self, x: FloatArray, z: FloatArray | None = None) -> FloatArray:
        """Return how far each record is beyond its threshold, shape (n,).

        Parameters
        ----------
        x : ndarray, shape (n, d)
            Encoded features; rounded to the grid of the fit.
        z : ndarray, shape (n,), optional
            Groups, where the model uses them.
        """
        x = rounded_to_grid(x)
        if self.fairness == "none":
            return decision_scores(self.w, x)
        if self.group_weights is None and z is None:
            raise ParameterError("z", z, "the groups: this model uses them for its predictions")
        if self.cells is not None and self.group_weights is not None:
            # a - sum_k t_k P(z = k | x)
            likely = guessed.likely_groups(self.group_weights, x)
            return guessed.excess(guessed.advantage_of(self.w, x), likely, self.cells.thresholds)
        if self.cells is not None:
            assert z is not None
            # s - t_z
            own: FloatArray = np.array(self.cells.thresholds)[z.astype(np.int64)]
            return decision_scores(self.w, x) - own
        assert self.zbar is not None
        advantage, belonging = margins(self.w, self.group_weights, float(self.zbar), x, z)
        return advantage - self.multiplier * belonging

    @property
    def offsets(self) -> FloatArray:
        """What :meth:`excess` adds to x.w, shape (1,), or (groups,) where thresholds move by group.

        Raises
        ------
        AttributeError
            Where x.w is not all that depends on x.
        """
        if self.group_weights is not None:
            raise AttributeError("no intercept: without the group at prediction the decision is not linear")
        if self.cells is not None:
            return -np.array(self.cells.thresholds)
        if self.zbar is None:
            return np.zeros(1)
        # a - lambda b for z = 0 and 1
        return np.array([-self.multiplier * (z - float(self.zbar)) for z in (0, 1)])

    def predict_proba(self, x: FloatArray) -> FloatArray:
        """Return P(y = 1 | x), before any threshold moves, shape (n,)."""
        return probability(decision_scores(self.w, rounded_to_grid(x)))


def margins(
    w: FloatArray, group_weights: FloatArray | None, zbar: float, x: FloatArray, z: FloatArray | None
) -> tuple[FloatArray, FloatArray]:
    """Return a, the case for a record, and b, the effect of its group; it is chosen when a > lambda b.

    With the group: a = x.w, b = z - zbar, so that only the intercepts of the groups move.  Without it:
    a = P(y = 1 | x) - 1/2, b = P(z = 1 | x) - zbar, the best rule for a given covariance of prediction and group
    where both probabilities are right.
    """
    if group_weights is None:
        assert z is not None
        return decision_scores(w, x), z - zbar
    return guessed.advantage_of(w, x), probability(decision_scores(group_weights, x)) - zbar
