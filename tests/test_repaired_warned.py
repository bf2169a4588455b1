"""What a release says of noise and of a rare label, beside the differences that fits leave."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from reference.budgets import Budget
from reference.domain import Domain
from reference.domain.attributes import OneHot
from reference.records import Records, encode_table
from reference.repaired import repaired_logistic, shortfall
from reference.repaired.advice import advise, probe_warnings
from reference.repaired.interval import limits_of
from reference.repaired.model import Model
from reference.repaired.shortfall import doubt_of, doubted, perhaps_no_help
from reference.repaired.warned import HARDLY_ANY, noise_warnings, rare_label_warnings
from tests.test_repaired_ends import difference

BUDGET = Budget(1, "1e-5")


def table(
    seed: int, n: int, *, share: float = 0.5, label: float = 0.0, apart: float = 0.0, four: bool = False
) -> Records:
    """Return records of six columns that tell the label; the group matters to it only if groups are `apart`."""
    random = np.random.default_rng(seed)
    z = random.choice(4, n, p=[0.6, 0.2, 0.15, 0.05]) if four else (random.random(n) < share).astype(int)
    columns = {f"c{i}": random.integers(0, 4, n) for i in range(6)}
    score = sum(columns.values()) * 0.4 - 3.6 + label + apart * (z - 0.5)
    y = (random.random(n) < 1 / (1 + np.exp(-score))).astype(int)
    domain = Domain(
        tuple(OneHot(name, tuple(range(4))) for name in columns),
        "y",
        "z",
        keep_group=True,
        group_values=tuple("abcd") if four else (),
    )
    return encode_table(domain, {name: one.tolist() for name, one in columns.items()} | {"y": y, "z": z})


@cache
def small() -> tuple[Records, list[Model]]:
    """Return a small table with a random group of a half, and fits of it."""
    records = table(1, 500, label=1.5)
    fits = [repaired_logistic(records, BUDGET, fairness="demographic_parity", rng=seed) for seed in range(24)]
    return records, fits


def missed(model: Model, records: Records) -> float:
    """Return the mean error of all probes."""
    at = [replace(model, multiplier=probe.multiplier).predict(records.x, records.z) for probe in model.probes]
    true = [chosen[records.z == 1].mean() - chosen[records.z == 0].mean() for chosen in at]
    return float(np.mean([probe.difference - one for probe, one in zip(model.probes, true, strict=True)]))


def test_probes_are_as_near_as_is_said_and_fits_leave_less():
    records, fits = small()
    error = math.sqrt(np.mean([missed(one, records) ** 2 for one in fits]))
    stated = [one.noise_of_probes for one in fits]
    forecast = advise(records.domain, len(records.y), BUDGET, "demographic_parity").risk_difference_noise
    assert 0.4 * np.median(stated) < error < min(stated)
    # before and after a fit it is the same number, but for the size of the groups
    assert np.median(stated) < forecast < 1.5 * np.median(stated)
    # the broken control: without the noise of the groups' share
    alone = [one.measured.noise / math.sqrt(len(one.probes)) for one in fits]
    assert error > 1.2 * np.median(alone)
    # so it is no lower bound, and none is stated
    left = [difference(one, records) for one in fits]
    assert np.mean(np.array(left) < stated) > 0.6
    # where what may be left is forecast, that is the one number
    for one in fits:
        most = doubted(one, records.domain, 0.0)
        text, *_ = noise_warnings(one, records.domain, 0.0)
        assert "or more" not in text
        assert ("only to within" in text) == (most is None)
        assert most is None or f"may leave a difference of about {most:.3g}" in text


def test_many_records_are_told_nothing():
    records = table(2, 40_000)
    model = repaired_logistic(records, BUDGET, fairness="demographic_parity", rng=1)
    assert probe_warnings(model.noise_of_probes) == ()
    assert [*noise_warnings(model, records.domain, 0.0), *rare_label_warnings(model, records.domain)] == []


def test_a_doubt_names_a_number_between_its_limits():
    records, outside, named = table(1, 12_000, label=-4.0, four=True), 0, 0
    for seed in range(12):
        model = repaired_logistic(records, BUDGET, fairness="demographic_parity", rng=seed)
        low, high = limits_of(model, records.domain).rounded
        most = doubted(model, records.domain, 0.0)
        if most is None:
            continue
        named += 1
        assert low <= most <= high
        assert f"of about {most:.3g}" in str(doubt_of(model, records.domain, 0.0))
        # the broken control: the forecast alone
        found = shortfall.estimated(model, records.domain, 0.0, shortfall.WARY)
        outside += not low <= shortfall._most(found, model, records.domain) <= high + 0.001
    assert named
    assert outside


@pytest.mark.parametrize("fairness", ["none", "demographic_parity", "equalised_odds"])
def test_a_model_that_selects_hardly_anybody_is_said_to(fairness):
    def said(label: float, n: int = 12_000) -> list[str]:
        records = table(4, n, label=label)
        model = repaired_logistic(records, BUDGET, fairness=fairness, rng=5)
        chosen = model.predict(records.x, records.z).mean()
        found = list(rare_label_warnings(model, records.domain))
        assert not found or min(chosen, 1 - chosen) < 3 * HARDLY_ANY
        return found

    (rare,) = said(-5.0)
    assert rare.startswith("by forecast the model selects hardly anybody, as about 0.0")
    assert "have label 1: rank by score" in rare
    assert ("which the constraint does not move" in rare) == (fairness != "none")
    (common,) = said(5.0)
    assert "nearly everybody" in common
    assert "have label 0" in common
    # the null controls: no rare label, and noise that drowns a label of a half
    assert said(0.0) == []
    assert said(0.0, 40) == []


def test_where_probes_do_not_show_that_the_constraint_helps_that_is_said():
    records = table(6, 8000, share=0.01)
    said, apart = [], []
    for seed in range(12):
        model = repaired_logistic(records, BUDGET, fairness="demographic_parity", rng=seed)
        plain = model.tuned(records.domain, 1.0)
        assert plain.multiplier == 0.0
        said.append("that the constraint helps" in " ".join(noise_warnings(model, records.domain, 0.0)))
        apart.append((difference(model, records), difference(plain, records)))
        # a model without it is not told so
        assert perhaps_no_help(plain, records.domain, 1.0) == ""
    assert sum(said) > 6
    # so fits differ in who is fairer
    assert {with_it < without for with_it, without in apart} == {False, True}
    # the null control: groups that are far apart without the constraint
    unequal = table(5, 1500, apart=4.0)
    for seed in range(6):
        model = repaired_logistic(unequal, BUDGET, fairness="demographic_parity", rng=seed)
        assert "that the constraint helps" not in " ".join(noise_warnings(model, unequal.domain, 0.0))
        assert difference(replace(model, multiplier=0.0), unequal) > difference(model, unequal)
