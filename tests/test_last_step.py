"""One more step from what is already released: it costs nothing, and it was not adopted."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from reference.budgets import Budget
from reference.experiments.frontier import FrontierDesign, split_of
from reference.noise import sampler_of
from reference.repaired import algorithm, sums
from reference.repaired.curator import Curator
from tests.benchmarks.constants import COMMITTED
from tests.benchmarks.last_step import STEPS, descent_and_step

ROOT = Path(__file__).parent.parent

ROUNDS = 8


@pytest.fixture(scope="module")
def records():
    trains, _ = split_of(FrontierDesign("affairs", splits=1), "generic", 0)
    return algorithm.prepared(trains[0].by_group[True])


def fitted(records, descent, epsilon: str = "1e6"):
    curator = Curator(Budget(epsilon, "1e-5"), sampler_of("numpy", 1, "test"), hardened=False)
    w, _ = descent(records, records.y, curator, Fraction(1), ROUNDS)
    return w, curator.spent


def slope(records, w) -> float:
    return float(np.linalg.norm(sums.gradient(records.x, records.y, w).astype(float)))


def test_a_step_costs_no_budget_and_no_step_changes_nothing(records):
    plain, spent = fitted(records, algorithm.noisy_descent, "1")
    stepped, also_spent = fitted(records, descent_and_step(0.4, 1.0), "1")
    assert also_spent == spent
    assert (stepped != plain).any()
    for none in (descent_and_step(0.4, 0.0), descent_and_step(0.4, 1.0, least=ROUNDS + 1)):
        assert (fitted(records, none, "1")[0] == plain).all()


def test_a_step_goes_downhill_and_its_opposite_does_not(records):
    plain, forth, back = (
        slope(records, fitted(records, one)[0])
        for one in (algorithm.noisy_descent, descent_and_step(0.4, 1.0), descent_and_step(0.4, -1.0))
    )
    assert forth < plain < back


def test_by_the_rule_of_constants_no_step_is_better():
    found = json.loads((ROOT / "docs/data/last-step.json").read_text())
    better = {}
    for kind in ("all", "without fairness"):
        rows = found[kind]["together"]
        assert set(rows) == {COMMITTED, *STEPS}
        better[kind] = [name for name in STEPS if rows[name]["better"] > 2 * rows[name]["error"]]
    # what the page says of it
    assert better == {"all": [], "without fairness": ["last 60 %, whole step"]}
    page = " ".join((ROOT / "docs/frontier.md").read_text().split())
    for kind in better:
        row = found[kind]["together"]["last 60 %, whole step"]
        assert f"{abs(row['better']):.4f} ± {row['error']:.4f}".replace("0.", ".") in page
