"""Tables that somebody may bring: many groups, one of them empty and one of three people; few distinct rows."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from itertools import product

import numpy as np
import pytest

from reference.budgets import Budget
from reference.domain import Domain
from reference.domain.attributes import OneHot
from reference.records import Records, encode_table
from reference.repaired import cells, repaired_logistic
from reference.repaired.advice import probe_warnings
from reference.repaired.shortfall import shortfall_of
from tests.test_repaired_ends import BUDGET, difference


def nine(seed: int, *, keep: bool, n: int = 6000) -> Records:
    """Return records of seven groups that homes hint at, of three people of an eighth, and of no ninth group."""
    random = np.random.default_rng(seed)
    z = random.integers(0, 7, n)
    z[:3] = 7
    home, job = np.where(random.random(n) < 0.7, z, random.integers(0, 8, n)), random.integers(0, 6, n)
    y = random.random(n) < 1 / (1 + np.exp(-(job - 2.5) * 0.8 - (z - 3) * 0.3))
    attributes = (OneHot("job", tuple(range(6))), OneHot("home", tuple(range(8))))
    domain = Domain(attributes, "y", "z", keep_group=keep, group_values=tuple("abcdefghi"))
    return encode_table(domain, {"job": job.tolist(), "home": home.tolist(), "y": y.astype(float), "z": z})


def of_nine(fairness: str, seeds: Iterable[int], *, keep: bool) -> tuple[float, float, float]:
    """Return the largest cost of thresholds in accuracy, and differences of seven groups with and without them."""
    found = []
    for seed in seeds:
        records = nine(seed, keep=keep)
        model = repaired_logistic(records, Budget(2, "1e-5"), fairness=fairness, rng=seed)
        assert model.cells is not None
        assert model.cells.seen.sum(axis=0).tolist() == [7] * model.cells.seen.shape[1]
        assert (
            "probes show the difference between groups only to within" in probe_warnings(model.noise_of_probes)[0]
        )
        plain = replace(model, cells=replace(model.cells, thresholds=(0.0,) * 9))
        large = records.take(np.flatnonzero(records.z < 7))
        cost = np.mean(plain.predict(large.x, large.z) == large.y) - np.mean(
            model.predict(large.x, large.z) == large.y
        )
        found.append((cost, difference(model, large), difference(plain, large)))
        # nobody was in the ninth group
        assert model.predict(large.x[:5], np.full(5, 8.0)).shape == (5,)
    return tuple(np.max(found, axis=0).tolist())


@pytest.mark.parametrize("keep", [True, False], ids=["used", "guessed"])
def test_seven_of_nine_groups_become_fair_beside_an_empty_and_a_tiny_one(keep):
    cost, left, unfair = of_nine("demographic_parity", range(3), keep=keep)
    assert unfair > 0.2
    assert left < 0.1
    assert cost < 0.03


def test_odds_of_seven_groups_do_not_follow_the_noise_of_an_empty_one(monkeypatch):
    assert of_nine("equalised_odds", (4, 10), keep=True)[0] < 0.03
    # the broken control: cells that are noise alone set the point to reach, too
    one_point = cells._one_point
    monkeypatch.setattr(cells, "_one_point", lambda *known: one_point(*known[:3], np.ones(9, dtype=bool)))
    assert of_nine("equalised_odds", (4, 10), keep=True)[0] > 0.1


def few(seed: int, distinct: int, *, keep: bool, n: int = 4000) -> Records:
    """Return records of few distinct rows; the label depends on row and group, at random."""
    random = np.random.default_rng(seed)
    job, share = random.integers(0, distinct, n), random.random(distinct)
    z = (random.random(n) < share[job]).astype(int)
    y = random.random(n) < np.clip(random.random(distinct)[job] + 0.3 * (z == 0) - 0.15, 0, 1)
    domain = Domain((OneHot("job", tuple(range(distinct))),), "y", "z", keep_group=keep)
    return encode_table(domain, {"job": job.tolist(), "y": y.astype(float), "z": z})


@pytest.mark.parametrize("keep", [True, False], ids=["used", "guessed"])
def test_with_two_to_six_distinct_rows_no_large_difference_is_left_unsaid(keep):
    large, unsaid = 0, []
    for distinct in range(2, 7):
        for seed in range(8):
            records = few(seed, distinct, keep=keep)
            model = repaired_logistic(records, BUDGET, fairness="demographic_parity", rng=seed)
            if difference(model, records) > 0.1:
                large += 1
                if shortfall_of(model, records.domain, 0.0) is None:
                    unsaid.append((distinct, seed))
    assert unsaid == []
    # there was something to say
    assert large > 4


@pytest.mark.parametrize(("delta", "epsilon"), [(0, "1e100"), (0, "1"), ("1e-5", "1e100")])
def test_a_release_comes_out_where_noise_is_below_rounding(delta, epsilon):
    attributes = (OneHot("job", (0, 1)), OneHot("home", (0, 1, 2)))
    domain = Domain(attributes, "y", "z")
    for n in (1, 2, 3):
        for job, home, label in product((0, 1), (0, 1, 2), (0.0, 1.0)):
            table = {"job": [job] * n, "home": [home] * n, "y": np.full(n, label), "z": np.arange(n) % 2.0}
            model = repaired_logistic(encode_table(domain, table), Budget(epsilon, delta), rng=0)
            assert np.isfinite(model.w).all()
