"""The estimators keep scikit-learn's contract and pass the group on."""

from __future__ import annotations

import pytest
from sklearn.base import clone
from sklearn.model_selection import (
    GridSearchCV,
    KFold,
    cross_val_predict,
    cross_val_score,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.utils.estimator_checks import check_estimator, parametrize_with_checks

from reference.classifier import (
    FunctionalMechanismClassifier,
    PDFCClassifier,
)
from reference.common.errors import (
    ReadingError,
)
from reference.registry import MechanismSpec
from tests.estimators import ALL, X, Y, Z, plain

# --- scikit-learn's contract ---------------------------------------------------------------------------------

# what these warn of is tested in test_signal.py
pytestmark = [
    pytest.mark.filterwarnings("ignore::reference.noise.DrownedSignalWarning"),
    pytest.mark.filterwarnings("ignore::reference.fairness.ConstantPredictorWarning"),
]

EXPECTED_FAILURES = {
    "check_dtype_object": "an entry that is not a number raises NotANumberError, a ValueError with row and "
    "column, where the check wants a TypeError",
}


def checked_instances() -> list:
    return [plain(estimator, bounds=(-100, 100), clip=True, classes="observed") for estimator in ALL]


def test_expected_failures_are_few_and_explained():
    assert len(EXPECTED_FAILURES) <= 8
    assert all(len(reason) > 20 for reason in EXPECTED_FAILURES.values())


@parametrize_with_checks(checked_instances(), expected_failed_checks=lambda _estimator: EXPECTED_FAILURES)
def test_scikit_learns_checks(estimator, check, monkeypatch):
    # without it scikit-learn skips its check of array API input
    monkeypatch.setenv("SCIPY_ARRAY_API", "1")
    check(estimator)


class Remembering(FunctionalMechanismClassifier):
    """A broken estimator: it changes a parameter in fit."""

    def fit(self, X, y, *, sensitive_features=None):
        self.epsilon = 2
        return super().fit(X, y, sensitive_features=sensitive_features)


def test_scikit_learns_checks_fire_on_a_broken_estimator():
    broken = plain(Remembering, bounds=(-100, 100), clip=True, classes="observed")
    outcomes = check_estimator(broken, on_fail=None, on_skip=None)
    failed = {outcome["check_name"] for outcome in outcomes if outcome["status"] == "failed"}
    assert failed > set(EXPECTED_FAILURES)


@pytest.mark.parametrize("estimator", ALL)
def test_parameters_are_stored_untouched(estimator):
    model = estimator()
    for name, value in model.get_params().items():
        assert getattr(model, name) is value
    assert clone(model).get_params() == model.get_params()


# --- Metadata routing ----------------------------------------------------------------------------------------


def spied_groups(monkeypatch) -> list:
    """Return the sums of z that reach the mechanisms, filled as they run."""
    seen, run = [], MechanismSpec.run

    def spy(spec, records, *arguments, **options):
        seen.append(None if records.domain.group is None else records.moments().sum_z)
        return run(spec, records, *arguments, **options)

    monkeypatch.setattr(MechanismSpec, "run", spy)
    return seen


@pytest.mark.usefixtures("routing")
def test_cross_validation_passes_the_group(monkeypatch):
    seen, folds = spied_groups(monkeypatch), KFold(3)
    model = PDFCClassifier(bounds=(-1, 1))
    cross_val_score(model, X, Y, cv=folds, params={"sensitive_features": Z})
    assert seen == [Z[train].sum() for train, _ in folds.split(X)]
    cross_val_predict(model, X, Y, cv=folds, params={"sensitive_features": Z}, method="predict_proba")
    assert len(seen) == 6


@pytest.mark.usefixtures("routing")
def test_pipeline_and_grid_search_pass_the_group(monkeypatch):
    seen, folds = spied_groups(monkeypatch), KFold(2)
    model = make_pipeline(FunctionTransformer(), PDFCClassifier(bounds=(-1, 1), keep_group=True))
    model.fit(X, Y, sensitive_features=Z)
    assert model.predict(X, sensitive_features=Z).shape == (120,)
    search = GridSearchCV(model, {"pdfcclassifier__epsilon": [1, 10]}, cv=folds)
    search.fit(X, Y, sensitive_features=Z)
    trained = [Z[train].sum() for train, _ in folds.split(X)]
    assert seen == [Z.sum(), *trained, *trained, Z.sum()]


@pytest.mark.usefixtures("routing")
def test_the_group_can_be_held_back():
    model = PDFCClassifier(bounds=(-1, 1)).set_fit_request(sensitive_features=False)
    with pytest.raises(ReadingError, match="sensitive_features"):
        cross_val_score(model, X, Y, cv=KFold(2), params={"sensitive_features": Z}, error_score="raise")


def test_without_routing_a_pipeline_names_the_step():
    model = make_pipeline(FunctionTransformer(), PDFCClassifier(bounds=(-1, 1)))
    model.fit(X, Y, pdfcclassifier__sensitive_features=Z)
    assert model[-1].release_.readings.fairness == "absolute"
