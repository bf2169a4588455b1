"""Cross-validation and scorers of scikit-learn, which give predictions X alone, and assume sorted classes."""

from __future__ import annotations

import numpy as np
import pytest
import sklearn
from sklearn.base import clone
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import GridSearchCV, KFold, cross_val_predict, cross_val_score

from reference.common.errors import ReadingError
from reference.domain.markers import Marker
from reference.repaired.classifier import RepairedClassifier
from tests.test_repaired_classifier import DOMAIN, NEW, NEW_Y, NEW_Z, X, Y, Z, fitted

TABLE = X.assign(sex=Z)
FOLDS = KFold(2)
NUMBERS = DOMAIN.with_(label=Marker("income"))
ONES = (Y == "high").astype(int)


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


def test_the_group_comes_from_one_place():
    model = fitted()
    table = NEW.assign(sex=NEW_Z)
    apart = model.predict(NEW, sensitive_features=NEW_Z)
    assert (model.predict(table) == apart).all()
    # values that are given apart count
    other = NEW_Z.map({"m": "f", "f": "m"})
    assert (model.predict(table, sensitive_features=other) == model.predict(NEW, sensitive_features=other)).all()
    assert (model.predict(NEW, sensitive_features=other) != apart).any()
    with pytest.raises(ReadingError, match="or column 'sex' of X: scikit-learn's scorers"):
        model.predict(NEW)
    again = RepairedClassifier(domain=DOMAIN, random_state=3).fit(TABLE, Y)
    assert again.release_ == model.release_
