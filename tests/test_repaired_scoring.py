"""Cross-validation and scorers of scikit-learn, which give predictions X alone, and assume sorted classes."""

from __future__ import annotations

import numpy as np
import pytest
import sklearn
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import GridSearchCV, KFold, cross_val_predict, cross_val_score

from reference.common.errors import DataError, ExtraColumnError, LabelError, ParameterError, ReadingError
from reference.domain.markers import Marker
from reference.repaired.classifier import RepairedClassifier
from tests.test_repaired_classifier import DOMAIN, NEW, NEW_Y, NEW_Z, X, Y, Z, fitted

TABLE = X.assign(sex=Z)
FOLDS = KFold(2)
NUMBERS = DOMAIN.with_(label=Marker("income"))
ONES = (Y == "high").astype(int)


@pytest.mark.filterwarnings("ignore:probes cannot show")
@pytest.mark.parametrize("routing", [True, False])
@pytest.mark.parametrize("given", [{}, {"group_at_prediction": False}, {"fairness": "none"}], ids=str)
def test_cross_validation_uses_the_group_in_x(routing, given):
    model = RepairedClassifier(domain=DOMAIN, random_state=3, **given)
    apart = {} if given == {"fairness": "none"} else {"sensitive_features": Z}
    with sklearn.config_context(enable_metadata_routing=routing):
        predicted = cross_val_predict(model, TABLE, Y, cv=FOLDS)
        areas = cross_val_score(model, TABLE, Y, cv=FOLDS, scoring="roc_auc", error_score="raise")
    train, test = next(iter(FOLDS.split(X)))
    # the same as values given apart
    groups = {name: values.iloc[train] for name, values in apart.items()}
    one = clone(model).fit(X.iloc[train], Y.iloc[train], **groups)
    new = {name: values.iloc[test] for name, values in apart.items()}
    assert (predicted[test] == one.predict(X.iloc[test], **new)).all()
    positive = one.decision_function(X.iloc[test], **new) * (1 if one.classes_[1] == "high" else -1)
    assert areas[0] == pytest.approx(roc_auc_score(Y.iloc[test] == "high", positive))
    assert min(areas) > 0.7


@pytest.mark.filterwarnings("ignore:probes cannot show")
@pytest.mark.usefixtures("routing")
def test_probabilities_searches_and_requests_go_with_the_group_in_x():
    model, table = RepairedClassifier(domain=NUMBERS, random_state=3), TABLE
    for name in ("fit", "predict", "predict_proba", "decision_function", "score"):
        model = getattr(model, f"set_{name}_request")(sensitive_features=True)
    likely = cross_val_predict(model, table, ONES, cv=FOLDS, method="predict_proba")
    scores = cross_val_predict(model, table, ONES, cv=FOLDS, method="decision_function")
    assert likely.shape == (len(X), 2)
    assert min(roc_auc_score(ONES, likely[:, 1]), roc_auc_score(ONES, scores)) > 0.7
    search = GridSearchCV(model, {"epsilon": [1, 2]}, cv=FOLDS, scoring="roc_auc", error_score="raise")
    assert search.fit(table, ONES).best_score_ > 0.7


def test_classes_are_sorted_and_say_what_columns_and_signs_mean():
    names, numbers = fitted(), RepairedClassifier(domain=NUMBERS, random_state=3)
    numbers.fit(X, ONES, sensitive_features=Z)
    assert (names.positive_class_, numbers.positive_class_) == ("high", 1)
    assert numbers.classes_.tolist() == [0, 1]
    assert (names.coef_ == -numbers.coef_).all()
    assert (names.intercept_ == -numbers.intercept_).all()
    assert (names.coef_noise_ == numbers.coef_noise_).all()
    new = {"sensitive_features": NEW_Z}
    assert (names.predict_proba(NEW, **new) == numbers.predict_proba(NEW, **new)[:, ::-1]).all()
    for model in (names, numbers):
        above = model.decision_function(NEW, **new) > 0
        assert (model.predict(NEW, **new) == model.classes_[above.astype(int)]).all()
    assert np.mean(names.predict(NEW, **new) == NEW_Y) > 0.7


def test_columns_in_another_order_than_x_are_refused():
    model, turned = fitted(), {"sensitive_features": NEW_Z[::-1]}
    for method in (model.predict, model.predict_proba, model.decision_function):
        with pytest.raises(ParameterError, match="sensitive_features must be in the order of X, by its index"):
            method(NEW, **turned)
    with pytest.raises(ParameterError, match="y must be in the order of X"):
        model.score(NEW, NEW_Y[::-1], sensitive_features=NEW_Z)
    for y, z, name in ((Y[::-1], Z, "y"), (Y, Z[::-1], "sensitive_features")):
        with pytest.raises(ParameterError, match=f"{name} must be in the order of X"):
            RepairedClassifier(domain=DOMAIN, random_state=3).fit(X, y, sensitive_features=z)
    # null controls: by place, without an index, or with one that says nothing of X
    apart = model.predict(NEW, sensitive_features=NEW_Z).tolist()
    for given in (NEW_Z.to_numpy(), NEW_Z.tolist(), NEW_Z.set_axis(range(10_000, 10_000 + len(NEW_Z)))):
        assert model.predict(NEW, sensitive_features=given).tolist() == apart


def refused(method, *given, **apart) -> str:
    with pytest.raises(ExtraColumnError) as caught:
        method(*given, **apart)
    return str(caught.value)


def test_the_group_comes_from_one_place():
    model = fitted()
    table = NEW.assign(sex=NEW_Z)
    apart = model.predict(NEW, sensitive_features=NEW_Z)
    assert (model.predict(table) == apart).all()
    other = NEW_Z.map({"m": "f", "f": "m"})
    # predictions that do not use the group refuse two as well: the fit did
    for one in (model, fitted(group_at_prediction=False)):
        assert len(one.predict(table)) == len(table)
        said = [refused(one.fit, X.assign(sex=Z), Y, sensitive_features=Z)]
        methods = (one.predict, one.predict_proba, one.decision_function)
        said += [refused(method, table, sensitive_features=other) for method in methods]
        said.append(refused(one.score, table, NEW_Y, sensitive_features=NEW_Z))
        assert set(said) == {
            "the label and the group are given apart from X: drop this column from X (column 'sex')"
        }
    assert (model.predict(NEW, sensitive_features=other) != apart).any()
    with pytest.raises(ReadingError, match="or column 'sex' of X: scikit-learn's scorers"):
        model.predict(NEW)
    again = RepairedClassifier(domain=DOMAIN, random_state=3).fit(TABLE, Y)
    assert again.release_ == model.release_


def test_scores_read_labels_by_their_declared_rule():
    """Predicted classes are then 0 and 1, and no raw label is either."""
    random = np.random.default_rng(0).integers(0, 2, len(X))
    numbers, plain = 2 * ONES + random, {"domain": NUMBERS, "fairness": "none", "random_state": 3}
    true = RepairedClassifier(**plain).fit(X, ONES).score(X, ONES)
    assert true > 0.7
    for label, y in (
        (Marker("income", above=1), ONES + 1),
        (Marker("income", above=0), 2 * ONES - 1),
        (Marker("income", one=(2, 3), zero=(0, 1)), numbers),
    ):
        model = RepairedClassifier(**{**plain, "domain": DOMAIN.with_(label=label)}).fit(X, y)
        assert model.score(X, y) == true
        weights = np.where(np.arange(len(X)) < 9, 1.0, 0.0)
        assert model.score(X, y.tolist(), sample_weight=weights) == model.score(X[:9], y[:9])
        assert min(cross_val_score(model, X, y, cv=FOLDS)) > 0.7
    wrong = np.where(np.arange(len(X)) == 5, 7, numbers)
    said = []
    for method in (model.fit, model.score):
        with pytest.raises(LabelError, match=r"not .* \(row 5, column 'income', value 7") as caught:
            method(X, wrong)
        said.append(str(caught.value))
    assert said[0] == said[1]
    for odd in (None, "1" * len(X)):
        with pytest.raises((DataError, ReadingError), match="income"):
            model.score(X, odd)


def test_what_is_not_fitted_says_so():
    model = RepairedClassifier(domain=DOMAIN)
    # a fit that was refused has left its advice
    stopped = clone(model)
    stopped.advice_ = fitted().advice_
    for one in (model, stopped):
        for method in (one.predict, one.predict_proba, one.decision_function, one.tuned):
            with pytest.raises(NotFittedError, match="not fitted yet"):
                method(NEW)
        with pytest.raises(NotFittedError, match="not fitted yet"):
            one.score(NEW, NEW_Y, sensitive_features=NEW_Z)
