"""Each release of the repaired mechanism, audited on the pair of data sets that attains its sensitivity."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from audit import epsilon_lower_bound
from reference.budgets import Budget
from reference.domain import Domain
from reference.domain.attributes import OneHot
from reference.noise import Noise, add_noise, draw
from reference.records import Records, encode_table
from reference.repaired import sums
from reference.repaired.algorithm import cell_of
from reference.repaired.curator import planned_scale
from reference.repaired.spent import SUM_STEPS

DOMAIN = Domain((OneHot("job", ("clerk", "cook", "king")),), "y", "z", norm="unit_ball")
GAUSSIAN, LAPLACE = Budget(1, "0.01"), Budget(1)
DRAWS = 60_000


def table(job: str, y: int, z: int) -> Records:
    """Return three records, the first of which is declared."""
    rows: dict[str, list[str | int]] = {"job": [job, "cook", "king"], "y": [y, 1, 0], "z": [z, 0, 1]}
    return encode_table(DOMAIN, rows).on_grid()


W = np.array([0.3, -0.2, 0.1])
THIRD = Fraction(SUM_STEPS // 3, SUM_STEPS)
FEW = Fraction(1, 512)

RELEASES = {
    # a label is flipped where the residual is a half
    "gradient at 0": (lambda one: sums.gradient(one.x, one.y, np.zeros(3)), sums.gradient_change(DOMAIN)),
    "counts": (lambda one: sums.label_sums(one.x, one.y), sums.label_sums_change(DOMAIN)),
    "group count": (lambda one: sums.group_count(one.z), sums.GROUP_COUNT_CHANGE),
    # from the rarer group chosen to the rarer group not chosen
    "probe": (
        lambda one: sums.imbalance(one.z, one.x @ W > 0, THIRD),
        sums.imbalance_change(THIRD),
    ),
    "probe of a small group": (
        lambda one: sums.imbalance(one.z, one.x @ W > 0, FEW),
        sums.imbalance_change(FEW),
    ),
    "cell counts": (lambda one: sums.cell_counts(cell_of(one, 4), 4), sums.CELL_COUNTS_CHANGE),
    "cell probe": (
        lambda one: sums.cell_selections(cell_of(one, 4), one.x @ W > 0, 4),
        sums.CELL_SELECTIONS_CHANGE,
    ),
}
PAIRS = {
    "gradient at 0": (table("clerk", 0, 0), table("clerk", 1, 0)),
    "counts": (table("clerk", 0, 0), table("clerk", 1, 0)),
    "group count": (table("clerk", 0, 0), table("clerk", 0, 1)),
    "probe": (table("clerk", 0, 1), table("cook", 0, 1)),
    "probe of a small group": (table("clerk", 0, 1), table("cook", 0, 1)),
    # to another cell; from chosen to not chosen
    "cell counts": (table("clerk", 0, 0), table("clerk", 1, 1)),
    "cell probe": (table("clerk", 0, 1), table("cook", 0, 1)),
}


def bound(name: str, budget: Budget, times: float = 1.0) -> float:
    """Return a certified lower bound on epsilon, of outputs projected on the line between the two exact values."""
    release, change = RELEASES[name]
    left, right = (release(one).astype(np.float64) for one in PAIRS[name])
    noise = Noise.uniform(
        "gaussian" if budget.delta else "laplace", times * planned_scale(budget, change, Fraction(1)), len(left)
    )
    rng = np.random.default_rng([len(name), int(budget.delta * 100)])
    outputs = [add_noise(values, noise, draw(noise, rng, DRAWS)) for values in (left, right)]
    # the log likelihood ratio is a function of this score
    if budget.delta:
        scores = [drawn @ (right - left) for drawn in outputs]
    else:
        scores = [(np.abs(drawn - left) - np.abs(drawn - right)).sum(axis=1) for drawn in outputs]
    return float(epsilon_lower_bound(*scores, delta=float(budget.delta)))


@pytest.mark.parametrize("budget", [GAUSSIAN, LAPLACE], ids=["gaussian", "laplace"])
@pytest.mark.parametrize("name", RELEASES)
def test_an_audit_of_a_release_reaches_most_of_its_loss_and_no_more(name, budget):
    assert 0.8 < bound(name, budget) <= 1


@pytest.mark.parametrize("budget", [GAUSSIAN, LAPLACE], ids=["gaussian", "laplace"])
@pytest.mark.parametrize("name", RELEASES)
def test_an_audit_refutes_a_release_with_too_little_noise(name, budget):
    assert bound(name, budget, times=0.7) > 1
