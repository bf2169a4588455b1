"""The whole algorithm: noisy descent for the weights, a noisy root for fairness."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction

import numpy as np

from reference.budgets import Budget
from reference.common.arrays import FloatArray, IntArray
from reference.common.errors import ParameterError
from reference.common.grid import DATA_STEPS
from reference.common.numbers import RealLike, exact
from reference.noise import RandomSource, sampler_of
from reference.readings import require_rows_per_person
from reference.records import Records, require_on_grid
from reference.repaired import descent, sums
from reference.repaired.advice import planned
from reference.repaired.cells import Cells, best_thresholds, fair_thresholds, sizes_of
from reference.repaired.curator import Curator
from reference.repaired.model import Model, margins
from reference.repaired.schedule import PROBES, Schedule, persons, schedule_of
from reference.repaired.spent import CELL_COUNTS, CELL_PROBE, COUNTS, GRADIENT, GROUP_COUNT, PROBE

LARGEST_CUT = Fraction(1, 16)
"""A share whose noise deviates by more may be this near to 0 or 1: probes divided by it then count as noise."""


def repaired_logistic(
    records: Records,
    budget: Budget,
    *,
    fairness: str = "none",
    slack: RealLike = 0,
    noise: str = "numpy",
    rng: RandomSource = None,
    rows_per_person: int = 1,
) -> Model:
    """Release a private, fair logistic regression, for `replace_one`.

    Everything is private for the whole record: features, label and group.  Proofs: Theorem R.

    Parameters
    ----------
    records : Records
        At least one, in a ball.  With `keep_group` the group is used for predictions, otherwise not.
    budget : Budget
        Gaussian noise for delta > 0, Laplace noise for delta = 0.
    fairness : {'none', 'demographic_parity', 'equalised_odds'}
    slack : number
        Tolerated difference between groups, in [0, 1].
    noise : {'numpy', 'hardened'}
    rng : None, 'entropy', int or numpy.random.Generator
        None makes a release: hardened noise.  Anything else draws numpy's noise, for study.
    rows_per_person : int
        How many records one person may have; the statement protects persons.
    """
    require_rows_per_person(rows_per_person)
    noise = "hardened" if rng is None else noise
    tolerated = tolerated_slack(slack)
    schedule = schedule_of(records.domain, persons(len(records), rows_per_person), budget, fairness)
    purpose = f"repaired logistic {records.domain.columns} {budget} {fairness} {tolerated}"
    sampler = sampler_of(noise, rng, purpose)
    hardened = noise == "hardened"
    # with room for what the noise's grid costs: from public numbers
    public = (records.domain, len(records), budget, fairness)
    roomy = planned(*public, hardened=hardened, rows_per_person=rows_per_person).budget
    curator = Curator(roomy, sampler, hardened=hardened, rows_per_person=rows_per_person)
    records = prepared(records)
    # w <- noisy descent on the labels
    w, counts, too_far = noisy_descent(records, records.y, curator, schedule.label_model, schedule.label_rounds)
    model = Model(w, None, None, 0.0, Fraction(0), budget.delta, counts, len(records), too_far=too_far)
    if schedule.group_models:
        # v <- noisy descent on the groups, where predictions may not use them
        v, of_groups = noisy_groups(records, curator, schedule)
        model = replace(model, group_weights=v, counts=counts if schedule.cells else of_groups)
    if schedule.cells:
        # t <- thresholds by group, from noisy shares of each cell
        model = noisy_thresholds(records, model, curator, schedule, float(tolerated))
    elif fairness != "none":
        assert records.z is not None
        # zbar <- (sum z + noise) / n
        model = replace(model, zbar=noisy_share(records.z, curator, schedule.group_count))
        # lambda <- root of the noisy risk difference
        model = noisy_root(records, model, curator, schedule.probes, float(tolerated))
    return replace(
        model,
        epsilon=curator.account.epsilon,
        spent=curator.account.spent,
        budget_epsilon=budget.epsilon,
        rows_per_person=rows_per_person,
    )


def tolerated_slack(slack: RealLike) -> Fraction:
    """Return a slack as an exact number.

    Raises
    ------
    reference.common.errors.ParameterError
    """
    tolerated = exact("slack", slack)
    if not 0 <= tolerated <= 1:
        raise ParameterError("slack", slack, "in [0, 1]")
    return tolerated


class PreparedRecords(Records):
    """Records on the grid, as a domain encodes them; x is stored column by column, as scores are summed."""

    def __post_init__(self, inside: bool, empty: bool, marked: bool) -> None:
        super().__post_init__(inside, empty, marked)
        require_on_grid(self)
        sums.require_encoded(self)


def prepared(records: Records) -> PreparedRecords:
    """Prepare records for :func:`repaired_logistic`, once for several fits.

    Raises
    ------
    reference.common.errors.NormError
    """
    if isinstance(records, PreparedRecords):
        return records
    grid = records.on_grid(by_columns=True)
    return PreparedRecords(grid.domain, grid.x, grid.y, grid.z)


def noisy_descent(
    records: Records, target: FloatArray, curator: Curator, share: Fraction, rounds: int
) -> tuple[FloatArray, FloatArray, int]:
    """Return weights after so many equal releases, the counts of the first, and how many steps went too far."""
    each, domain = share / rounds, records.domain
    change = sums.gradient_change(domain)
    of_counts, deviation = sums.label_sums_change(domain), curator.deviation(change, each)
    # counts of (cell, label): the gradient at 0 and the means together
    counts = curator.release(sums.label_sums(records.x, target), of_counts, each, COUNTS)
    # P <- inverse curvature of independent attributes, with a ridge as large as the noise
    moments = descent.independent_second_moments(counts, domain, len(records))
    inverse = descent.preconditioner(moments, deviation / math.sqrt(rounds), domain)
    # w_1 <- -P g(0)
    noisy, noise = descent.first_gradient(counts), curator.deviation(of_counts, each) / math.sqrt(2)
    iterates = [np.zeros(domain.dimension)]
    iterates.append(descent.step(iterates[-1], noisy, inverse))
    too_far = 0
    for _ in range(rounds - 1):
        exact_gradient = sums.gradient(records.x, target, iterates[-1])
        before, noisy = noisy, curator.release(exact_gradient, change, each, GRADIENT)
        if descent.overshot(iterates[-1] - iterates[-2], (before, noisy), (noise, deviation), inverse, moments):
            # P <- P / 2
            inverse, too_far = inverse / 2, too_far + 1
        # w_{t+1} <- w_t - P (g(w_t) + noise)
        iterates.append(descent.step(iterates[-1], noisy, inverse))
        noise = deviation
    # w <- mean of the last iterates
    return descent.averaged(iterates[1:]), counts, too_far


def noisy_groups(records: Records, curator: Curator, schedule: Schedule) -> tuple[FloatArray, FloatArray]:
    """Return weights that guess the group, shape (d,), or (groups, d) for more than two, and the first counts."""
    assert records.z is not None
    z, models = records.z, schedule.group_models
    targets = [z] if models == 1 else [(z == k).astype(np.float64) for k in range(models)]
    found = [noisy_descent(records, one, curator, schedule.group_model, schedule.group_rounds) for one in targets]
    weights, counts, _ = zip(*found, strict=True)
    return weights[0] if models == 1 else np.array(weights), counts[0]


def noisy_share(z: FloatArray, curator: Curator, share: Fraction) -> Fraction:
    """Return the noisy share of group 1, kept at least one noise deviation (at most LARGEST_CUT) from 0 and 1."""
    (noisy,) = curator.release(sums.group_count(z), sums.GROUP_COUNT_CHANGE, share, GROUP_COUNT)
    # the error of zbar moves every probe by at most error / (2 zbar (1 - zbar))
    deviation = curator.deviation(sums.GROUP_COUNT_CHANGE, share)
    least = min(LARGEST_CUT, Fraction(math.ceil(deviation / len(z) * DATA_STEPS), DATA_STEPS))
    return min(1 - least, max(least, Fraction(round(noisy / len(z) * DATA_STEPS), DATA_STEPS)))


def noisy_root(records: Records, model: Model, curator: Curator, share: Fraction, slack: float) -> Model:
    """Return the model with the multiplier at which the risk difference is the slack, by a few noisy probes."""
    assert records.z is not None
    assert model.zbar is not None
    zbar = model.zbar
    advantage, belonging = margins(model.w, model.group_weights, float(zbar), records.x, records.z)
    change, spread = sums.imbalance_change(zbar), len(records) * float(zbar * (1 - zbar))
    noise = curator.deviation(change, share / PROBES) / spread
    expected = model.forecast(records.domain)
    for _ in range(PROBES):
        # sum (z - zbar) (yhat - 1/2) + noise, over n zbar (1 - zbar): the signed risk difference
        prediction = advantage - model.multiplier * belonging > 0.0
        (noisy,) = curator.release(sums.imbalance(records.z, prediction, zbar), change, share / PROBES, PROBE)
        model = model.after(float(noisy) / spread, noise)
        # lambda <- where the probes so far cross the slack
        model = replace(model, multiplier=model.root(expected, slack).next())
    # lambda <- the best of that and what was probed
    return replace(model, multiplier=model.root(expected, slack).best())


def noisy_thresholds(records: Records, model: Model, curator: Curator, schedule: Schedule, slack: float) -> Model:
    """Return the model with a threshold for each group, by noisy counts and probes of all cells."""
    cell, cells, groups = cell_of(records, schedule.cells), schedule.cells, records.domain.groups
    change, share = sums.CELL_SELECTIONS_CHANGE, schedule.probes / PROBES
    # n_c <- sum 1[c_i = c] + noise
    noisy = curator.release(
        sums.cell_counts(cell, cells), sums.CELL_COUNTS_CHANGE, schedule.group_count, CELL_COUNTS
    )
    known = Cells(cells > groups, sizes_of(noisy, len(records)), (0.0,) * groups)
    sizes, expected = np.array(known.sizes), replace(model, cells=known).expected_cells(records.domain)
    for _ in range(PROBES):
        # 1/2 + (sum 1[c_i = c] (yhat - 1/2) + noise) / n_c: the share of each cell that is chosen
        prediction = replace(model, cells=known).predict(records.x, records.z)
        noisy = curator.release(sums.cell_selections(cell, prediction, cells), change, share, CELL_PROBE)
        known = known.after(0.5 + noisy / sizes, curator.deviation(change, share) / sizes)
        known = replace(known, thresholds=fair_thresholds(known, expected, slack))
    # t <- the best of those and what was probed
    return replace(model, cells=replace(known, thresholds=best_thresholds(known, expected, slack)))


def cell_of(records: Records, cells: int) -> IntArray:
    """Return the cell of each record: its group, or twice its group plus its label, shape (n,)."""
    assert records.z is not None
    z = records.z.astype(np.int64)
    return z if cells == records.domain.groups else 2 * z + records.y.astype(np.int64)
