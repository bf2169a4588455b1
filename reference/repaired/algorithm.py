"""The whole algorithm: noisy descent for the weights, a noisy root for fairness."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from reference.accounting.discrete import epsilon_ends
from reference.budgets import Budget
from reference.common.arrays import FloatArray
from reference.common.errors import ParameterError
from reference.common.numbers import RealLike, exact
from reference.domain import Domain
from reference.noise import RandomSource, sampler_of
from reference.records import DATA_STEPS, Records
from reference.repaired import descent, expected, sums, threshold
from reference.repaired.curator import Curator
from reference.repaired.model import Model, margins
from reference.repaired.schedule import PROBES, schedule_of
from reference.sensitivity.setting import Supremum

SMALLEST_GROUP = Fraction(1, 16)
"""zbar is released within [1/16, 15/16]: both on the grid."""


def repaired_logistic(
    records: Records,
    budget: Budget,
    *,
    fairness: str = "none",
    slack: RealLike = 0,
    noise: str = "numpy",
    rng: RandomSource = None,
) -> Model:
    """Release a private, fair logistic regression, for `replace_one`.

    Everything is private for the whole record: features, label and group.  Proofs: Theorem R.

    Parameters
    ----------
    records : Records
        At least one, in a ball.  With `keep_group` the group is used for predictions, otherwise not.
    budget : Budget
        Gaussian noise for delta > 0, Laplace noise for delta = 0.
    fairness : {'none', 'demographic_parity'}
    slack : number
        Risk difference that is tolerated, in [0, 1].
    noise : {'numpy', 'hardened'}
    rng : None, int or numpy.random.Generator
        None takes the operating system's entropy.
    """
    tolerated = exact("slack", slack)
    if not 0 <= tolerated <= 1:
        raise ParameterError("slack", slack, "in [0, 1]")
    schedule = schedule_of(records.domain, len(records), budget, fairness)
    purpose = f"repaired logistic {records.domain.columns} {budget} {fairness} {tolerated}"
    curator = Curator(budget, sampler_of(noise, rng, purpose), hardened=noise == "hardened")
    records = by_column(records.on_grid())
    sums.require_encoded(records)
    # w <- noisy descent on the labels
    w, counts = noisy_descent(records, records.y, curator, schedule.label_model, schedule.label_rounds)
    v, zbar, multiplier = None, None, 0.0
    if fairness != "none":
        assert records.z is not None
        # v <- noisy descent on the groups, where predictions may not use them
        if schedule.group_model:
            v, counts = noisy_descent(records, records.z, curator, schedule.group_model, schedule.group_rounds)
        # zbar <- (sum z + noise) / n
        zbar = noisy_share(records.z, curator, schedule.group_count)
        # lambda <- root of the noisy risk difference
        multiplier = noisy_root(records, Earlier(w, v, zbar, counts), curator, schedule.probes, float(tolerated))
    return Model(w, v, zbar, multiplier, stated_epsilon(curator, budget, noise), budget.delta)


def by_column(records: Records) -> Records:
    """Return the records with x stored column by column, as scores add it up: five times as fast."""
    return Records(records.domain, np.asfortranarray(records.x), records.y, records.z)


def noisy_descent(
    records: Records, target: FloatArray, curator: Curator, share: Fraction, rounds: int
) -> tuple[FloatArray, FloatArray]:
    """Return weights of the capped logistic loss, by so many equal releases, and the counts of the first one."""
    each, domain = share / rounds, records.domain
    change = sums.gradient_change(domain)
    # counts of (cell, label): the gradient at 0 and the means together
    counts = curator.release(sums.label_sums(records.x, target), sums.label_sums_change(domain), each)
    # P <- inverse curvature of independent attributes, with a ridge as large as the noise
    moments = descent.independent_second_moments(counts, domain, len(records))
    inverse = descent.preconditioner(moments, curator.deviation(change, each) / math.sqrt(rounds))
    # w_1 <- -P g(0)
    iterates = [descent.step(np.zeros(domain.dimension), descent.first_gradient(counts), inverse)]
    for _ in range(rounds - 1):
        # w_{t+1} <- w_t - P (g(w_t) + noise)
        exact_gradient = sums.gradient(records.x, target, iterates[-1])
        noisy = curator.release(exact_gradient, change, each)
        iterates.append(descent.step(iterates[-1], noisy, inverse))
    # w <- mean of the last iterates
    return descent.averaged(iterates), counts


def noisy_share(z: FloatArray, curator: Curator, share: Fraction) -> Fraction:
    """Return the share of group 1, on the grid."""
    (noisy,) = curator.release(sums.group_count(z), sums.GROUP_COUNT_CHANGE, share)
    zbar = Fraction(round(noisy / len(z) * DATA_STEPS), DATA_STEPS)
    return min(1 - SMALLEST_GROUP, max(SMALLEST_GROUP, zbar))


class Earlier(NamedTuple):
    """What was released before the probes."""

    w: FloatArray
    v: FloatArray | None
    zbar: Fraction
    counts: FloatArray

    def curve(self, domain: Domain, n: int) -> Callable[[float], float]:
        """Return the risk difference that is expected at each multiplier."""
        drawn = expected.drawn_records(self.counts, domain, n)
        members = drawn.target if self.v is not None else drawn.x[:, -1] > 0
        advantage, belonging = margins(self.w, self.v, float(self.zbar), drawn.x, members.astype(np.float64))
        return expected.expected_difference(advantage, belonging, members)


def noisy_root(records: Records, earlier: Earlier, curator: Curator, share: Fraction, slack: float) -> float:
    """Return the multiplier at which the risk difference is the slack, by a few noisy probes."""
    w, v, zbar, _ = earlier
    assert records.z is not None
    advantage, belonging = margins(w, v, float(zbar), records.x, records.z)
    change, spread = sums.imbalance_change(zbar), len(records) * float(zbar * (1 - zbar))
    noise = curator.deviation(change, share / PROBES) / spread
    curve = earlier.curve(records.domain, len(records))
    multipliers, differences = [0.0], list[float]()
    for _ in range(PROBES):
        # sum (z - zbar) (yhat - 1/2) + noise, over n zbar (1 - zbar): the signed risk difference
        prediction = advantage > multipliers[-1] * belonging
        (noisy,) = curator.release(sums.imbalance(records.z, prediction, zbar), change, share / PROBES)
        differences.append(noisy / spread)
        multipliers.append(threshold.next_multiplier(multipliers, differences, noise, slack, curve))
    return multipliers[-1]


def stated_epsilon(curator: Curator, budget: Budget, noise: str) -> Fraction:
    """Return epsilon at the budget's delta: the budget's, or what discrete noise adds to it, rounded up."""
    # discrete Laplace noise loses what continuous noise does
    if noise != "hardened" or budget.delta == 0:
        return budget.epsilon
    supremum = Supremum.exactly(curator.loss)
    return epsilon_ends(supremum, curator.inverse_scales, curator.size, sums.SUM_STEPS, budget.delta)[1]
