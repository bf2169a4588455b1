"""The estimators: thin over the mechanisms, and their inputs are declared."""

from __future__ import annotations

import json
import pickle
import re
from fractions import Fraction
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import sklearn
from scipy.special import expit
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import (
    KFold,
    PredefinedSplit,
    StratifiedKFold,
)

from reference import datasets
from reference.accounting import PublishedStatementWarning
from reference.accounting.release import release_of
from reference.budgets import Budget, SplitBudget
from reference.classifier import (
    ADFCClassifier,
    FunctionalMechanismClassifier,
    NoPrivacyClassifier,
    PDFCClassifier,
    RelaxedFunctionalMechanismClassifier,
)
from reference.common import documents
from reference.common.errors import (
    DeclarationError,
    DeltaError,
    DomainMismatchError,
    EmptyDataError,
    EpsilonError,
    ExtraColumnError,
    GroupError,
    LabelError,
    MissingColumnError,
    NotANumberError,
    OutOfBoundsError,
    ParameterError,
    ReadingError,
    SeededHardenedNoiseError,
    ShapeError,
    UnseenCategoryError,
)
from reference.noise import StudyNoiseWarning
from reference.registry import MECHANISMS
from tests.estimators import ALL, DOMAIN, FRAME, X, Y, Z, plain, table

# --- The release ---------------------------------------------------------------------------------------------

# what these warn of is tested in test_signal.py
pytestmark = [
    pytest.mark.filterwarnings("ignore::reference.noise.DrownedSignalWarning"),
    pytest.mark.filterwarnings("ignore::reference.fairness.ConstantPredictorWarning"),
]

BUDGETS = {
    "pdfc": ({"epsilon_s": 1, "epsilon_n": "1/3"}, SplitBudget(1, "1/3")),
    "adfc": ({"epsilon": 0.5, "delta": "1e-5"}, SplitBudget.equal("0.5", "1e-5")),
    "functional": ({"epsilon": 2}, Budget(2)),
    "relaxed_functional": ({}, Budget(1, "1e-3")),
    "pflr": ({"epsilon": "1/2"}, Budget("1/2")),
    "no_privacy": ({}, None),
    "lr": ({}, None),
}


@pytest.mark.parametrize("estimator", ALL)
def test_a_fit_is_one_run_of_the_mechanism(affairs, estimator):
    name = estimator._mechanism
    parameters, budget = BUDGETS[name]
    spec, options = MECHANISMS[name], {"x_s": 2} if "x_s" in estimator().get_params() else {}
    seed = {"random_state": 7} if spec.private else {}
    attributes, y, z, domain = table("affairs")
    model = estimator(domain=domain, **parameters, **options, **seed)
    model.fit(attributes, y, sensitive_features=z)
    assert model.release_ == spec.run(affairs, budget, spec.readings, rng=7 if spec.private else None, **options)
    assert model.privacy_ == model.release_.privacy
    assert model.release_.seeded == spec.private
    assert release_of(json.loads(json.dumps(documents.plain(model.release_)))) == model.release_
    predicted = model.predict(attributes)
    np.testing.assert_array_equal(predicted, affairs.x @ np.array(model.release_.w) > 0)
    np.testing.assert_allclose(
        model.predict_proba(attributes)[:, 1], expit(affairs.x @ np.array(model.release_.w))
    )
    assert model.score(attributes, y) == (predicted == y).mean()


@pytest.mark.parametrize("name", ["fairness", "basis", "adjacency", "sensitivity", "repair", "noise", "tau"])
def test_every_reading_reaches_the_release(name):
    values = {
        "fairness": "covariance",
        "basis": "matrix",
        "adjacency": "add_or_remove_one",
        "sensitivity": "exact",
        "repair": "trim",
        "noise": "hardened",
        "tau": "0.25",
    }
    model = PDFCClassifier(bounds=(-1, 1), **{name: values[name]}).fit(X, Y, sensitive_features=Z)
    assert documents.plain(model.release_.readings)[name] == values[name]
    for flag in ("intercept", "keep_group"):
        model = PDFCClassifier(bounds=(-1, 1), **{flag: True}).fit(X, Y, sensitive_features=Z)
        assert getattr(model.release_.readings, flag)
    assert plain(domain="unit_box").fit(X, Y).release_.readings.domain == "unit_box"


def test_noise_is_hardened_without_a_seed_and_for_study_with_one():
    model = PDFCClassifier(bounds=(-1, 1))
    assert model.fit(X, Y, sensitive_features=Z).release_.readings.noise == "hardened"
    seeded = clone(model).set_params(random_state=1).fit(X, Y, sensitive_features=Z).release_
    assert (seeded.readings.noise, seeded.seeded) == ("numpy", True)
    with pytest.warns(StudyNoiseWarning, match="for study"):
        asked = clone(model).set_params(noise="numpy").fit(X, Y, sensitive_features=Z).release_
    assert (asked.readings.noise, asked.seeded) == ("numpy", False)
    with pytest.raises(SeededHardenedNoiseError):
        clone(model).set_params(noise="hardened", random_state=1).fit(X, Y, sensitive_features=Z)


def test_without_a_seed_two_fits_differ_and_say_so():
    one, two = plain().fit(X, Y), plain().fit(X, Y)
    assert one.release_.w != two.release_.w
    assert not one.release_.seeded
    same = [plain(random_state=state).fit(X, Y).release_ for state in (4, 4, np.int64(4))]
    assert same[0] == same[1] == same[2]
    assert same[0].seeded


def test_legacy_and_new_generators_are_seeds():
    legacy = [plain(random_state=np.random.RandomState(1)).fit(X, Y).release_ for _ in range(2)]
    assert legacy[0] == legacy[1]
    assert legacy[0].seeded
    assert plain(random_state=np.random.default_rng(1)).fit(X, Y).release_.seeded
    with pytest.raises(ParameterError, match="rng"):
        plain(random_state="clock").fit(X, Y)


def test_a_false_published_statement_warns_at_fit():
    budgets = {"epsilon_s": 30, "epsilon_n": "0.1", "x_s": 0, "bounds": (-1, 1)}
    false = ADFCClassifier(**budgets, domain="unit_box")
    with pytest.warns(PublishedStatementWarning, match="adfc"):
        false.fit(X, Y, sensitive_features=Z)
    assert false.privacy_.exact.verdict == "refuted"
    # scaled into the ball, no declared rows lose what rows of the whole ball would
    true = ADFCClassifier(**budgets).fit(X, Y, sensitive_features=Z)
    assert (true.privacy_.exact.verdict, true.privacy_.norm_domain.verdict) == ("enclosed", "refuted")


def test_a_deep_delta_survives():
    model = plain(RelaxedFunctionalMechanismClassifier, delta="1e-400").fit(X, Y)
    assert model.privacy_.published.delta == Fraction("1e-400")


@pytest.mark.parametrize(
    ("estimator", "parameters", "error"),
    [
        (PDFCClassifier, {"epsilon": 0}, EpsilonError),
        (PDFCClassifier, {"epsilon": True}, EpsilonError),
        (PDFCClassifier, {"epsilon": 1, "epsilon_s": 1, "epsilon_n": 1}, ReadingError),
        (PDFCClassifier, {"epsilon_s": 1}, ReadingError),
        (ADFCClassifier, {"delta": 0}, DeltaError),
        (ADFCClassifier, {"delta": 1.0}, DeltaError),
        (FunctionalMechanismClassifier, {"epsilon": float("nan")}, EpsilonError),
        (FunctionalMechanismClassifier, {"adjacency": "bounded"}, ReadingError),
        (PDFCClassifier, {"x_s": "x9"}, ParameterError),
        (PDFCClassifier, {"release_ledger": "ledger.jsonl"}, ParameterError),
        (PDFCClassifier, {"domain": "unit_sphere"}, ReadingError),
    ],
)
def test_parameters_are_checked_by_fit(estimator, parameters, error):
    model = plain(estimator, **parameters)
    with pytest.raises(error):
        model.fit(X, Y)


def test_an_unbounded_release_fits_and_predicts_nothing():
    for seed in range(20):
        model = plain(epsilon="0.01", repair="none", random_state=seed).fit(X, Y)
        if model.release_.status == "unbounded":
            break
    assert model.release_.status == "unbounded"
    with pytest.raises(ParameterError, match="unbounded"):
        model.predict(X)


def test_nothing_is_predicted_before_a_fit():
    for method in ("predict", "predict_proba", "decision_function"):
        with pytest.raises(NotFittedError):
            getattr(plain(), method)(X)
    assert not hasattr(plain(), "privacy_")


def test_a_fitted_estimator_survives_pickling():
    model = plain(random_state=1).fit(X, Y)
    back = pickle.loads(pickle.dumps(model))
    assert back.release_ == model.release_
    np.testing.assert_array_equal(back.predict_proba(X), model.predict_proba(X))


# --- What is declared ----------------------------------------------------------------------------------------


def test_bounds_are_declared_for_all_columns_or_for_each():
    wide = X * [1, 10, 100]
    each = plain(NoPrivacyClassifier, bounds=[(-1, 1), (-10, 10), (-100, 100)]).fit(wide, Y)
    np.testing.assert_allclose(each.release_.w, plain(NoPrivacyClassifier).fit(X, Y).release_.w)
    np.testing.assert_array_equal(
        plain(bounds=np.array([-1.0, 1.0])).fit(X, Y).domain_.columns, ["x0", "x1", "x2"]
    )


@pytest.mark.parametrize(
    "bounds", [None, 1, (1, -1), (0, np.inf), [(0, 1)], [(0, 1)] * 4, "ab", ((0, 1), 2), {0: 1}]
)
def test_bounds_that_are_missing_or_do_not_fit_are_refused(bounds):
    with pytest.raises(DeclarationError, match="bounds"):
        plain(bounds=bounds).fit(X, Y)


def test_a_value_out_of_bounds_raises_with_row_column_and_value():
    outside = X.copy()
    outside[17, 1] = 1.5
    with pytest.raises(OutOfBoundsError) as problem:
        plain().fit(outside, Y)
    assert (problem.value.row, problem.value.column, problem.value.value) == (17, "x1", 1.5)
    moved = np.clip(outside, -1, 1)
    clipped = plain(NoPrivacyClassifier, clip=True).fit(outside, Y)
    assert clipped.release_.w == plain(NoPrivacyClassifier).fit(moved, Y).release_.w
    np.testing.assert_array_equal(clipped.predict(outside), clipped.predict(moved))
    with pytest.raises(OutOfBoundsError, match="row 17"):
        plain().fit(moved, Y).predict(outside)


@pytest.mark.parametrize(
    ("value", "error"), [(np.nan, NotANumberError), ("many", NotANumberError), (None, NotANumberError)]
)
def test_a_value_that_is_no_number_raises_with_row_column_and_value(value, error):
    frame = pd.DataFrame(X, columns=["age", "hours", "debt"]).astype(object)
    frame.iloc[3, 2] = value
    with pytest.raises(error) as problem:
        plain().fit(frame, Y)
    assert (problem.value.row, problem.value.column) == (3, "debt")


def test_classes_are_declared_and_the_second_one_is_positive():
    words = np.where(Y == 1, "approved", "refused")
    numbers = plain(NoPrivacyClassifier).fit(X, Y)
    model = plain(NoPrivacyClassifier, classes=("refused", "approved")).fit(X, words)
    assert (model.classes_.tolist(), model.positive_class_) == (["approved", "refused"], "approved")
    assert model.release_.w == numbers.release_.w
    np.testing.assert_array_equal(model.predict(X) == "approved", numbers.predict(X) == 1)
    # scikit-learn's scorers take classes_[1], here "refused", for the positive class
    np.testing.assert_array_equal(model.decision_function(X), -numbers.decision_function(X))
    np.testing.assert_allclose(model.predict_proba(X), numbers.predict_proba(X)[:, ::-1])
    aucs = [roc_auc_score(words, model.predict_proba(X)[:, 1]), roc_auc_score(Y, numbers.predict_proba(X)[:, 1])]
    assert aucs[0] == pytest.approx(aucs[1])
    assert aucs[1] > 0.8


@pytest.mark.parametrize("labels", [[False, True], [-1.0, 1.0], ["no", "yes"]])
def test_any_two_labels_do(labels):
    y = np.array(labels)[Y]
    for classes in (tuple(labels), "observed"):
        model = plain(NoPrivacyClassifier, classes=classes).fit(X, y)
        assert model.release_.w == plain(NoPrivacyClassifier).fit(X, Y).release_.w
        assert set(model.predict(X)) == set(labels)


def test_a_label_that_is_not_declared_raises_with_its_row():
    with pytest.raises(LabelError) as problem:
        plain().fit(X, np.where(np.arange(120) == 5, 2, Y))
    assert (problem.value.row, problem.value.value) == (5, 2)
    with pytest.raises(LabelError, match="Only binary classification"):
        plain(classes="observed").fit(X, np.arange(120) % 3)


def test_one_class_only_is_no_reason_to_refuse_declared_classes():
    assert plain().fit(X, np.zeros(120)).release_.status == "ok"
    with pytest.raises(LabelError, match="only one class"):
        plain(classes="observed").fit(X, np.zeros(120))


@pytest.mark.parametrize("pair", [(0, 0), (0,), (0, 1, 2), None, "seen", (0, "a"), ([0], [1]), (np.nan, 1)])
def test_classes_and_groups_are_two_values_of_one_type(pair):
    with pytest.raises(DeclarationError, match="classes"):
        plain(classes=pair).fit(X, Y)
    with pytest.raises(DeclarationError, match="groups"):
        plain(groups=pair).fit(X, Y, sensitive_features=Z)


def test_groups_are_declared_and_the_second_one_is_z_1():
    model = PDFCClassifier(bounds=(-1, 1), fairness="covariance", random_state=0)
    numbers = clone(model).fit(X, Y, sensitive_features=Z)
    words = pd.Series(np.where(Z == 1, "b", "a"))
    assert (
        clone(model).set_params(groups=("a", "b")).fit(X, Y, sensitive_features=words).release_ == numbers.release_
    )
    swapped = clone(model).set_params(groups=("b", "a")).fit(X, Y, sensitive_features=words)
    assert swapped.release_.w != numbers.release_.w
    with pytest.raises(GroupError) as problem:
        clone(model).fit(X, Y, sensitive_features=np.where(np.arange(120) == 9, 5, Z))
    assert (problem.value.row, problem.value.value) == (9, 5)


def test_the_group_is_needed_with_a_fairness_term_only():
    with pytest.raises(ReadingError, match="sensitive_features"):
        PDFCClassifier(bounds=(-1, 1)).fit(X, Y)
    without = plain(NoPrivacyClassifier).fit(X, Y)
    assert plain(NoPrivacyClassifier).fit(X, Y, sensitive_features=Z).release_.w == without.release_.w
    with pytest.raises(ShapeError):
        plain().fit(X, Y, sensitive_features=Z[:-1])


def test_a_kept_group_is_a_feature_that_predictions_need():
    model = plain(NoPrivacyClassifier, keep_group=True).fit(X, Y, sensitive_features=Z)
    assert len(model.release_.w) == 4
    scores = model.decision_function(X, sensitive_features=Z)
    moved = model.decision_function(X, sensitive_features=1 - Z) - scores
    np.testing.assert_allclose(moved, (1 - 2 * Z) * model.release_.w[3] * model.domain_.column_factor)
    assert model.score(X, Y, sensitive_features=Z) > 0.5
    for call in (lambda: model.predict(X), lambda: plain(keep_group=True).fit(X, Y)):
        with pytest.raises(ReadingError, match="sensitive_features"):
            call()


# --- A Domain ------------------------------------------------------------------------------------------------


def test_a_domain_declares_categories():
    model = NoPrivacyClassifier(domain=DOMAIN).fit(FRAME, [0, 1, 1])
    assert model.domain_.columns == ("age", "job=clerk", "job=nurse")
    assert model.feature_names_in_.tolist() == ["age", "job"]
    by_place = NoPrivacyClassifier(domain=DOMAIN).fit(FRAME.to_numpy(), [0, 1, 1])
    assert by_place.release_ == model.release_
    turned = NoPrivacyClassifier(domain=DOMAIN).fit(FRAME[["job", "age"]], [0, 1, 1])
    assert turned.release_ == model.release_
    np.testing.assert_array_equal(turned.predict(FRAME[["job", "age"]]), model.predict(FRAME))
    with pytest.raises(ValueError, match="feature names"):
        model.predict(FRAME[["job", "age"]])


def test_columns_of_a_frame_keep_their_own_types():
    """A matrix would force one type on all columns, and fail for categories beside nullable numbers."""
    typed = FRAME.assign(age=pd.array([20, 60, 40], dtype="Int64"), job=pd.Categorical(FRAME["job"]))
    model = NoPrivacyClassifier(domain=DOMAIN).fit(FRAME, [0, 1, 1], sensitive_features=[0, 1, 0])
    group = pd.DataFrame({"sex": [0, 1, 0]})
    labels = pd.Series([False, True, True], dtype="boolean")
    again = NoPrivacyClassifier(domain=DOMAIN).fit(typed, labels, sensitive_features=group)
    assert again.release_ == model.release_
    np.testing.assert_array_equal(again.predict_proba(typed), model.predict_proba(FRAME))
    with pytest.warns(UserWarning, match="feature names"):
        np.testing.assert_array_equal(again.predict(typed.to_numpy()), model.predict(FRAME))
    with pytest.raises(NotANumberError, match="row 2"):
        model.fit(typed.assign(age=pd.array([20, 60, None], dtype="Int64")), labels)
    with pytest.raises(EmptyDataError):
        model.predict(FRAME.iloc[:0])


@pytest.mark.parametrize(
    ("frame", "error", "word"),
    [
        (FRAME.drop(columns="job"), MissingColumnError, "job"),
        (FRAME.assign(town="a"), ExtraColumnError, "town"),
        (FRAME.assign(income=1), ExtraColumnError, "income"),
        (FRAME.assign(job=["clerk", "baker", "clerk"]), UnseenCategoryError, "row 1"),
        (FRAME.assign(job=["clerk", None, "clerk"]), NotANumberError, "row 1"),
        (FRAME.assign(age=[1, 20, 20]), OutOfBoundsError, "row 0"),
        (FRAME.to_numpy()[:, :1], ShapeError, "1 columns"),
    ],
)
def test_a_table_that_the_domain_does_not_admit_is_refused(frame, error, word):
    with pytest.raises(error, match=word):
        NoPrivacyClassifier(domain=DOMAIN).fit(frame, [0, 1, 1])


@pytest.mark.parametrize("parameters", [{"bounds": (0, 1)}, {"intercept": True}, {"keep_group": True}])
def test_a_domain_is_the_only_declaration(parameters):
    with pytest.raises(ReadingError, match=next(iter(parameters))):
        NoPrivacyClassifier(domain=DOMAIN, **parameters).fit(FRAME, [0, 1, 1])


def test_a_group_that_the_domain_does_not_declare_is_refused():
    with pytest.raises(DomainMismatchError, match="no group"):
        NoPrivacyClassifier(domain=DOMAIN.with_(group=None)).fit(FRAME, [0, 1, 1], sensitive_features=[0, 1, 0])


# --- Folds of neighbours -------------------------------------------------------------------------------------


def changed_places(splitter, first: np.ndarray, second: np.ndarray) -> int:
    """Return how many records change their fold when the labels of one data set become the other's."""
    folds = []
    for labels in (first, second):
        fold = np.empty(len(labels), dtype=int)
        for number, (_, test) in enumerate(splitter.split(np.zeros((len(labels), 1)), labels)):
            fold[test] = number
        folds.append(fold)
    return int((folds[0] != folds[1]).sum())


def test_stratified_folds_of_neighbours_differ_in_other_records():
    """One changed label moves other records: the training sets are then no neighbours."""

    def most_moved(splitter) -> int:
        """Return the most records that one changed label moves."""
        neighbours = [np.where(np.arange(120) == row, 1 - Y, Y) for row in range(0, 120, 7)]
        return max(changed_places(splitter, Y, neighbour) for neighbour in neighbours)

    assert most_moved(StratifiedKFold(4)) > 1
    assert most_moved(StratifiedKFold(4, shuffle=True, random_state=0)) > 10
    assert most_moved(KFold(4)) == 0
    assert most_moved(KFold(4, shuffle=True, random_state=0)) == 0
    assert most_moved(PredefinedSplit(np.random.default_rng(0).integers(0, 4, 120))) == 0


@pytest.mark.parametrize("estimator", ALL)
def test_defaults_are_those_of_the_readings(estimator):
    parameters = estimator().get_params()
    readings = MECHANISMS[estimator._mechanism].readings
    for name, value in parameters.items():
        # without a seed the run takes hardened noise
        if name in readings.__struct_fields__ and name != "noise":
            assert value == getattr(readings, name), name
    assert datasets.Encoding().norm == parameters["domain"]


def test_the_example_of_the_page_runs(tmp_path, monkeypatch, capsys):
    text = (Path(__file__).parent.parent / "docs" / "estimators.md").read_text(encoding="utf-8")
    (code,) = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    monkeypatch.chdir(tmp_path)
    with sklearn.config_context():
        exec(compile(code, "docs/estimators.md", "exec"), {})
    assert "by 7 releases" in capsys.readouterr().out
