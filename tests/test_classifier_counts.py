"""The estimators count each fit once, before its noise, in searches and in workers too."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import FitFailedWarning
from sklearn.model_selection import (
    GridSearchCV,
    KFold,
    cross_val_score,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

from reference.accounting.release_ledger import ReleaseLedger
from reference.budgets import Budget
from reference.classifier import (
    ADFCClassifier,
    NoPrivacyClassifier,
    PDFCClassifier,
    PFLRClassifier,
)
from reference.common.errors import (
    CeilingError,
    GridError,
    InputError,
    UncountableReleaseError,
)
from reference.registry import MechanismSpec
from tests.estimators import DOMAIN, FRAME, PRIVATE, X, Y, Z, plain, table

# what these warn of is tested in test_signal.py
pytestmark = [
    pytest.mark.filterwarnings("ignore::reference.noise.DrownedSignalWarning"),
    pytest.mark.filterwarnings("ignore::reference.fairness.ConstantPredictorWarning"),
]


@pytest.fixture
def ledger(tmp_path) -> ReleaseLedger:
    """Return a ledger with room for four releases of epsilon 1/4 with the exact sensitivity, or a bit more."""
    return ReleaseLedger(tmp_path / "ledger.jsonl", data="test", epsilon="1.1")


def counted(ledger: ReleaseLedger, **parameters):
    """Return an estimator whose exact epsilon is nearly its budget."""
    return plain(epsilon="1/4", sensitivity="exact", domain="unit_box", release_ledger=ledger, **parameters)


def test_a_fit_is_counted_before_its_noise(ledger, monkeypatch):
    counts, run = [], MechanismSpec.run

    def spy(spec, *arguments, **options):
        counts.append(len(ledger.releases))
        return run(spec, *arguments, **options)

    monkeypatch.setattr(MechanismSpec, "run", spy)
    model = counted(ledger).fit(X, Y)
    assert counts == [1]
    assert ledger.releases[0].privacy == model.privacy_


@pytest.mark.parametrize("estimator", PRIVATE)
def test_a_scale_beyond_the_grid_is_refused_before_it_is_counted(ledger, estimator):
    budget = (
        {"epsilon": "1e-9"}
        if "delta" not in plain(estimator).get_params()
        else {"epsilon": "1e-9", "delta": "1e-9"}
    )
    with pytest.raises(GridError, match=r"2\^57 steps"):
        plain(estimator, release_ledger=ledger, **budget).fit(X, Y, sensitive_features=Z)
    assert ledger.releases == ()


def test_persons_with_several_rows_are_counted_as_such(tmp_path):
    ledger = ReleaseLedger(tmp_path / "ledger.jsonl", data="test", epsilon=3, rows_per_person=2)
    with pytest.raises(UncountableReleaseError, match="1 row"):
        counted(ledger).fit(X, Y)
    model = counted(ledger, rows_per_person=2).fit(X, Y)
    assert ledger.releases[0].privacy == model.privacy_
    assert model.release_.readings.rows_per_person == ledger.releases[0].rows_per_person == 2
    assert model.privacy_.published is None
    # the noise is twice that for one row, but for the slack of the grid
    one_row = counted(None).fit(X, Y).release_.noise.scale_n
    assert model.release_.noise.scale_n == pytest.approx(2 * one_row, rel=1e-5)


@pytest.mark.parametrize("estimator", PRIVATE)
def test_what_is_counted_is_the_privacy_of_the_release(tmp_path, estimator):
    ledger = ReleaseLedger(tmp_path / "ledger.jsonl", data="test", epsilon=100, delta="0.1")
    # with the fairness term, what PFLR* claims is false in three dimensions, and it warns
    parameters = {"fairness": "none"} if estimator is PFLRClassifier else {}
    model = estimator(bounds=(-1, 1), release_ledger=ledger, **parameters).fit(X, Y, sensitive_features=Z)
    assert ledger.releases[0].privacy == model.privacy_
    assert ledger.spent().epsilon == model.privacy_.exact.epsilon.upper


def test_a_random_x_s_is_counted_whatever_it_becomes(tmp_path):
    """One of three columns of one attribute: the paper states nothing for it, so nothing is promised."""
    ledger = ReleaseLedger(tmp_path / "ledger.jsonl", data="test", epsilon=100)
    model = PDFCClassifier(domain=DOMAIN, release_ledger=ledger, fairness="none")
    for _ in range(8):
        model.fit(FRAME, [0, 1, 1])
    assert {release.privacy.published for release in ledger.releases} == {None}
    assert ledger.spent().epsilon == 8 * model.privacy_.exact.epsilon.upper


class Untouchable:
    """A table of 10 x 3 that fails the test when a value is read."""

    shape = (10, 3)

    def __len__(self):
        return 10

    def __array__(self, *arguments, **options):
        raise AssertionError("a value was read")


def test_the_ceiling_is_checked_before_any_value_is_read(ledger):
    for _ in range(4):
        counted(ledger).fit(X, Y)
    with pytest.raises(CeilingError, match="would spend"):
        counted(ledger).fit(Untouchable(), Untouchable())
    with pytest.raises(AssertionError, match="was read"):
        plain().fit(Untouchable(), Untouchable())


@pytest.mark.parametrize("bad", [{"X": X * 3}, {"y": Y + 5}, {"sensitive_features": Z + 5}])
def test_rejected_data_are_not_counted(ledger, bad):
    with pytest.raises(InputError):
        counted(ledger).fit(**{"X": X, "y": Y, "sensitive_features": Z, **bad})
    assert ledger.releases == ()


def test_a_seeded_fit_is_not_counted(ledger):
    with pytest.raises(UncountableReleaseError, match="seed"):
        counted(ledger, random_state=0).fit(X, Y)
    assert ledger.releases == ()


def noise_on_the_trace(random_state: int | None) -> list[float]:
    """Return what two fits on different records add to the trace of the quadratic."""
    added = []
    for rows in (slice(0, 60), slice(60, 120)):
        release = plain(random_state=random_state, repair="none", epsilon=100).fit(X[rows], Y[rows]).release_
        x = (X[rows] + 1) / 2 / np.sqrt(3)
        added.append(sum(release.noisy_eigenvalues) - np.trace(x.T @ x) / 8)
    return added


def test_one_seed_draws_the_same_noise_in_every_fold():
    """Why a ledger refuses seeds: the difference of two seeded fits holds no noise at all."""
    seeded, unseeded = noise_on_the_trace(0), noise_on_the_trace(None)
    assert seeded[0] == pytest.approx(seeded[1], rel=1e-9)
    assert unseeded[0] != pytest.approx(unseeded[1], rel=1e-9)


def test_a_release_that_costs_other_than_counted_is_not_handed_out(ledger, monkeypatch):
    run = MechanismSpec.run

    def spends_more(spec, records, budget, readings, **options):
        return run(spec, records, Budget(2 * budget.epsilon), readings, **options)

    monkeypatch.setattr(MechanismSpec, "run", spends_more)
    model = counted(ledger)
    with pytest.raises(UncountableReleaseError, match="more than was counted"):
        model.fit(X, Y)
    assert not hasattr(model, "release_")


def test_cross_validation_counts_every_fold(ledger):
    cross_val_score(counted(ledger), X, Y, cv=KFold(4), error_score="raise")
    assert len(ledger.releases) == 4
    with pytest.raises(CeilingError):
        counted(ledger).fit(X, Y)


def test_the_last_fit_of_a_search_is_counted_too(ledger):
    search = GridSearchCV(counted(ledger), {"repair": ["trim"]}, cv=KFold(3))
    search.fit(X, Y)
    assert len(ledger.releases) == 4
    with pytest.raises(ValueError, match="CeilingError"):
        search.fit(X, Y)


def test_a_ceiling_that_is_reached_between_folds_is_a_warning_at_least(ledger):
    with pytest.warns(FitFailedWarning, match="CeilingError"):
        scores = cross_val_score(counted(ledger), X, Y, cv=KFold(6))
    assert np.isnan(scores).sum() == 2
    assert len(ledger.releases) == 4


@pytest.mark.exhaustive
@pytest.mark.usefixtures("routing")
def test_grid_search_on_real_data_in_two_workers_counts_every_fit(tmp_path):
    """A ceiling that is reached in a worker surfaces in the parent."""
    attributes, y, z, domain = table("affairs")
    ledger = ReleaseLedger(tmp_path / "affairs.jsonl", data="Fair 1978", epsilon=3, delta="1e-2", method="gdp")
    model = ADFCClassifier(domain=domain, delta="1e-5", release_ledger=ledger)
    search = GridSearchCV(model, {"epsilon": ["1/2", 1]}, cv=KFold(3), n_jobs=2, error_score="raise")
    search.fit(attributes, y, sensitive_features=z)
    assert len(ledger.releases) == 7
    assert ledger.releases[-1].privacy == search.best_estimator_.privacy_
    shifts = [release.privacy.exact.grid_shift for release in ledger.releases]
    assert ledger.spent().squared_shift == sum(shifts)
    assert "7 x adfc" in ledger.report()
    with pytest.raises(CeilingError, match="would spend") as problem:
        clone(search).set_params(estimator__epsilon=100, param_grid={"repair": ["trim"]}).fit(
            attributes, y, sensitive_features=z
        )
    assert problem.value.file == str(ledger.path)


@pytest.mark.data
@pytest.mark.usefixtures("routing")
def test_a_pipeline_on_adult_from_the_table_to_a_release(adult, tmp_path):
    attributes, y, z, domain = table("adult")
    ledger = ReleaseLedger(tmp_path / "adult.jsonl", data="UCI Adult", epsilon=2)
    model = PDFCClassifier(domain=domain, epsilon=1, release_ledger=ledger)
    pipeline = make_pipeline(
        FunctionTransformer(lambda frame: frame.assign(age=frame["age"].astype(float).clip(upper=90))), model
    )
    pipeline.fit(attributes, y, sensitive_features=z)
    assert len(pipeline[-1].release_.w) == adult.domain.dimension
    np.testing.assert_array_equal(pipeline.predict(attributes), adult.x @ np.array(pipeline[-1].release_.w) > 0)
    assert ledger.spent().epsilon == pipeline[-1].privacy_.exact.epsilon.upper <= 1
    exact = NoPrivacyClassifier(domain=domain).fit(attributes, y)
    assert exact.score(attributes, y) > 0.75
