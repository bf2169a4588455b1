"""The frontier: which domain a budget gets, what a row says, and that a run repeats."""

from __future__ import annotations

import numpy as np
import pytest

from reference.budgets import Budget
from reference.common.errors import MissingDataError
from reference.common.page import Page
from reference.datasets import SOURCES
from reference.domain.binning import binned
from reference.domain.file import DomainFile
from reference.experiments import frontier
from reference.experiments.frontier import FrontierDesign, Part, finest, without_noise
from reference.fairness.metrics import measures
from reference.records import Records

SMALL = FrontierDesign("affairs", splits=2, subset_size=600)


@pytest.fixture(scope="module")
def document():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(frontier, "EPSILONS", ("1",))
        yield frontier.measure(SMALL)


def test_a_row_for_each_budget_model_and_encoding(document):
    keys = ("epsilon", "delta", "group_at_prediction", "fairness", "slack", "encoding")
    found = [tuple(row[key] for key in keys) for row in document["rows"]]
    assert len(set(found)) == len(found) == 2 * (1 + 2 * len(frontier.SLACKS))
    for row in document["rows"]:
        assert {"mean", "std"} == set(row["accuracy"])
        assert 0 <= row["accuracy"]["mean"] <= 1
        assert row["fit_seconds"]["mean"] > 0
    assert len(document["references"]) == 2
    assert "not private" in frontier.as_text(document, Page())


def test_a_run_repeats_but_for_its_times(document):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(frontier, "EPSILONS", ("1",))
        again = frontier.measure(SMALL)
    for one, two in zip(document["rows"], again["rows"], strict=True):
        assert one["accuracy"] == two["accuracy"]
        assert one["risk_difference"] == two["risk_difference"]


def test_data_that_are_not_there_are_an_error():
    with pytest.raises(MissingDataError):
        frontier.measure(SMALL, missing="adult")


def part(n: int, columns: int) -> Part:
    rows = DomainFile.of(SOURCES["synthetic"].sized(None, columns, 0).domain("one_hot")).domain
    x, zeros = np.zeros((n, columns)), np.zeros(n)
    return Part({True: Records(rows, x, zeros, zeros)})


def test_the_finest_domain_with_signal_enough_is_taken():
    parts = [part(2000, 60), part(2000, 6)]
    assert finest(parts, Budget(10, "1e-5")) == 0
    assert finest(parts, Budget("0.1", "1e-5")) == 1
    assert finest(parts[:1], Budget("0.001", "1e-5")) == 0


def test_two_thresholds_without_noise_are_fair_and_one_is_not():
    random = np.random.default_rng(0)
    declared = binned(SOURCES["affairs"].domain_file("one_hot")).with_(keep_group=True)
    whole = SOURCES["affairs"].read(declared)
    z = random.integers(0, 2, len(whole)).astype(float)
    y = (random.random(len(whole)) < 0.2 + 0.6 * z).astype(float)
    x = whole.x.copy()
    x[:, -1] = z * whole.domain.column_factor
    records = Records(whole.domain, x, y, z)
    plain, fair = without_noise(records, records).values()
    assert plain["risk_difference"] > 0.5 > 0.05 > fair["risk_difference"]


def test_measures_of_a_constant_have_no_gain():
    records = Records(
        part(4, 2).by_group[True].domain, np.zeros((4, 2)), np.array([0.0, 0, 0, 1]), np.array([0.0, 1, 0, 1])
    )
    found = measures(np.zeros(4, dtype=bool), records.y, records.z)
    assert (found["accuracy"], found["gain"], found["risk_difference"], found["positive_rate"]) == (0.75, 0, 0, 0)
