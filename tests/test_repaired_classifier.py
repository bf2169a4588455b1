"""The recommended estimator: raw columns in, a release out, predictions without the data."""

from __future__ import annotations

import datetime
import json
import warnings
from fractions import Fraction

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from scipy.sparse import csr_matrix
from sklearn.base import clone

from reference.accounting.release_ledger import ReleaseLedger
from reference.budgets import Budget
from reference.common.errors import (
    BoundsFromDataError,
    CeilingError,
    DataHolderWarning,
    DeclarationError,
    ExtraColumnError,
    InputError,
    MissingColumnError,
    NormError,
    OutOfBoundsError,
    ParameterError,
    ReadingError,
    ReleaseFileError,
    ShapeError,
    UnseenCategoryError,
)
from reference.common.grid import rounded_to_grid
from reference.domain.attributes import Grouped, Numeric, OneHot, Ordinal
from reference.domain.file import DomainFile
from reference.domain.markers import Marker
from reference.repaired import schedule
from reference.repaired.advice import advise, planned
from reference.repaired.classifier import FewRecordsWarning, RepairedClassifier
from reference.repaired.curator import planned_scale
from reference.repaired.released import load_repaired
from reference.repaired.sums import imbalance_change

DOMAIN = DomainFile(
    attributes=(
        Numeric("age", 0, 100, clip=True),
        OneHot("job", ("clerk", "cook", "king")),
        Grouped("town", {"north": ("oslo", "bergen"), "south": ("rome",)}),
        Numeric("hours", 0, 60),
    ),
    label=Marker("income", one=("high",), zero=("low",)),
    group=Marker("sex", one=("m",), zero=("f",), name="male"),
    ignore=("id",),
)


def people(n: int, seed: int) -> tuple[pd.DataFrame, pd.Series, pd.Series]:
    random = np.random.default_rng(seed)
    male = random.integers(0, 2, n)
    age, job = random.integers(0, 101, n), random.integers(0, 3, n)
    town = np.where(random.random(n) < 0.2 + 0.6 * male, "rome", "oslo")
    score = (age - 50) / 15 + 2 * (job - 1) + 3 * (male - 0.5)
    high = random.random(n) < 1 / (1 + np.exp(-score))
    table = pd.DataFrame(
        {
            "id": np.arange(n),
            "age": age,
            "job": np.array(["clerk", "cook", "king"])[job],
            "town": town,
            "hours": random.integers(0, 61, n),
        }
    )
    return table, pd.Series(np.where(high, "high", "low")), pd.Series(np.where(male == 1, "m", "f"))


X, Y, Z = people(6000, 0)
NEW, NEW_Y, NEW_Z = people(4000, 1)


def fitted(**settings) -> RepairedClassifier:
    chosen = {"domain": DOMAIN, "random_state": 3, **settings}
    groups = None if chosen.get("fairness") == "none" else Z
    return RepairedClassifier(**chosen).fit(X, Y, sensitive_features=groups)


def rates(model: RepairedClassifier) -> tuple[float, float]:
    chosen = model.predict(NEW, sensitive_features=NEW_Z) == "high"
    return float((chosen == (NEW_Y == "high")).mean()), float(
        chosen[NEW_Z == "m"].mean() - chosen[NEW_Z == "f"].mean()
    )


def test_a_fit_is_accurate_and_as_fair_as_asked():
    plain, unfair = rates(fitted(fairness="none"))
    assert plain > 0.77
    assert unfair > 0.12
    for use in (True, False):
        accurate, fair = rates(fitted(group_at_prediction=use))
        assert accurate > 0.72
        assert abs(fair) < 0.05


@pytest.mark.filterwarnings("ignore:probes cannot")
def test_fairness_is_tuned_after_the_release_without_another_one():
    model = fitted()
    looser = model.tuned("0.1")
    assert 0.05 < rates(looser)[1] < 0.15
    assert looser.release_.spent == model.release_.spent
    assert looser.release_.w == model.release_.w
    assert rates(looser.tuned(0)) == rates(model)
    for refused in (lambda: fitted(fairness="none").tuned(0), lambda: model.tuned(2)):
        with pytest.raises(ValueError, match="slack"):
            refused()


def test_a_release_file_predicts_without_the_data(tmp_path):
    for settings in ({}, {"group_at_prediction": False}, {"fairness": "none"}):
        model = fitted(**settings)
        model.release_.write(tmp_path / "release.json")
        again = RepairedClassifier.from_release(tmp_path / "release.json")
        assert again.release_ == model.release_
        assert (again.predict(NEW, sensitive_features=NEW_Z) == model.predict(NEW, sensitive_features=NEW_Z)).all()
        assert (
            again.predict_proba(NEW, sensitive_features=NEW_Z)
            == model.predict_proba(NEW, sensitive_features=NEW_Z)
        ).all()
    document = json.loads((tmp_path / "release.json").read_text())
    for change in (
        {"w": [1.0]},
        {"mechanism": "pdfc"},
        {"counts": []},
        {"columns": ["a"]},
        {"schema": "release_v2"},
    ):
        (tmp_path / "broken.json").write_text(json.dumps({**document, **change}))
        with pytest.raises(ReleaseFileError):
            load_repaired(tmp_path / "broken.json")


def test_a_release_of_ten_steps_still_predicts(monkeypatch, tmp_path):
    """As files have that were written when no model took more."""
    most = schedule.MOST_ROUNDS
    monkeypatch.setattr(schedule, "MOST_ROUNDS", 10)
    earlier = fitted(epsilon="10")
    earlier.release_.write(tmp_path / "release.json")
    monkeypatch.setattr(schedule, "MOST_ROUNDS", most)
    found = RepairedClassifier.from_release(tmp_path / "release.json")
    assert (found.predict(NEW, sensitive_features=NEW_Z) == earlier.predict(NEW, sensitive_features=NEW_Z)).all()
    assert found.release_.shortfall == earlier.release_.shortfall
    # a fit with the same budget now takes more
    assert len(fitted(epsilon="10").release_.spent) > len(found.release_.spent)


def test_tables_of_pandas_and_pyarrow_and_mappings_are_one():
    frame = fitted()
    arrow = RepairedClassifier(domain=DOMAIN, random_state=3).fit(
        pa.Table.from_pandas(X), pa.array(Y), sensitive_features=pa.array(Z)
    )
    assert arrow.release_ == frame.release_
    columns = {name: NEW[name].tolist() for name in NEW}
    assert (arrow.predict(columns, sensitive_features=NEW_Z) == frame.predict(NEW, sensitive_features=NEW_Z)).all()


def test_a_fit_has_what_scikit_learn_asks_for():
    model = fitted()
    # sorted, as scikit-learn's scorers assume; the domain says which is positive
    assert (model.classes_.tolist(), model.positive_class_) == (["high", "low"], "high")
    assert model.coef_.shape == (1, len(model.columns_))
    assert model.n_features_in_ == 4
    assert model.coef_noise_.shape == model.coef_.shape
    assert (model.coef_noise_ > 0).all()
    proba = model.predict_proba(NEW, sensitive_features=NEW_Z)
    assert np.allclose(proba.sum(axis=1), 1)
    assert np.exp(model.predict_log_proba(NEW, sensitive_features=NEW_Z)) == pytest.approx(proba)
    assert clone(model).get_params()["domain"] == DOMAIN
    assert model.score(NEW, NEW_Y, sensitive_features=NEW_Z) == rates(model)[0]
    scores = model.decision_function(NEW, sensitive_features=NEW_Z)
    assert ((scores > 0) == (model.predict(NEW, sensitive_features=NEW_Z) == model.classes_[1])).all()


def test_values_outside_of_the_domain_are_clipped_or_refused_as_declared():
    model = fitted()
    one = {"age": [150], "job": ["cook"], "town": ["rome"], "hours": [40]}
    same = {**one, "age": [100]}
    assert model.predict(one, sensitive_features=["m"]) == model.predict(same, sensitive_features=["m"])
    with pytest.raises(OutOfBoundsError, match="row 0, column 'hours', value 61"):
        model.predict({**one, "hours": [61]}, sensitive_features=["m"])
    with pytest.raises(UnseenCategoryError, match="row 0, column 'job', value 'pope'"):
        model.predict({**one, "job": ["pope"]}, sensitive_features=["m"])


def test_unusable_requests_are_refused():
    model = fitted()
    with pytest.raises(ReadingError, match="sensitive_features"):
        model.predict(NEW)
    with pytest.raises(ReadingError, match="sensitive_features"):
        RepairedClassifier(domain=DOMAIN).fit(X, Y)
    with pytest.raises(ShapeError, match="no column names"):
        RepairedClassifier(domain=DOMAIN).fit(X.to_numpy(), Y, sensitive_features=Z)
    with pytest.raises(MissingColumnError, match="age"):
        RepairedClassifier(domain=DOMAIN).fit(X.drop(columns="age"), Y, sensitive_features=Z)
    with pytest.raises(ExtraColumnError, match=r"drop this column from X .*income"):
        RepairedClassifier(domain=DOMAIN).fit(X.assign(income=Y), Y, sensitive_features=Z)
    with pytest.raises(ExtraColumnError, match=r"drop this column from X .*sex"):
        RepairedClassifier(domain=DOMAIN).fit(X.assign(sex=Z), Y, sensitive_features=Z)
    with pytest.raises(ReadingError, match="no group"):
        RepairedClassifier(domain=DOMAIN.with_(group=None)).fit(X, Y)
    with pytest.raises(ParameterError, match="sample_weight must be left out: the sensitivity"):
        RepairedClassifier(domain=DOMAIN).fit(X, Y, sensitive_features=Z, sample_weight=np.ones(len(Y)))
    with pytest.raises(ParameterError, match="sparse input is not taken"):
        RepairedClassifier(domain=DOMAIN).fit(csr_matrix(np.ones((3, 4))), Y[:3], sensitive_features=Z[:3])
    marked = DOMAIN.with_(attributes=(Numeric("age", 0, 100, from_data=True),))
    with pytest.raises(BoundsFromDataError):
        RepairedClassifier(domain=marked).fit(X, Y, sensitive_features=Z)


@pytest.mark.filterwarnings("ignore:probes show", "ignore:noise hides")
def test_one_group_warns_the_data_holder():
    with pytest.warns(DataHolderWarning, match="all records have the group m,"):
        RepairedClassifier(domain=DOMAIN, random_state=3).fit(X, Y, sensitive_features=["m"] * len(Y))


@pytest.mark.filterwarnings("ignore:probes cannot")
def test_a_fit_without_a_seed_has_hardened_noise():
    pytest.importorskip("opendp")
    model = fitted(random_state=None)
    assert (model.release_.noise, model.release_.seeded) == ("hardened", False)
    assert 1 <= model.privacy_.exact.epsilon.upper < Fraction(1_000_001, 1_000_000)


@pytest.mark.filterwarnings("ignore:probes cannot")
def test_a_ledger_counts_a_fit_before_it_is_made(tmp_path):
    pytest.importorskip("opendp")
    ledger = ReleaseLedger(
        tmp_path / "ledger.jsonl", data="people", adjacency="replace_one", epsilon="2.5", delta="1e-4"
    )
    model = RepairedClassifier(domain=DOMAIN, release_ledger=ledger)
    for _ in range(2):
        model.fit(X, Y, sensitive_features=Z)
    with pytest.raises(CeilingError):
        model.fit(X, Y, sensitive_features=Z)
    counted = [release.privacy.exact for release in ledger.releases]
    assert len(counted) == 2
    assert all(one.epsilon.upper >= model.privacy_.exact.epsilon.upper for one in counted)


def test_a_ledger_refuses_a_seeded_fit_and_bad_data_cost_nothing(tmp_path):
    ledger = ReleaseLedger(
        tmp_path / "ledger.jsonl", data="people", adjacency="replace_one", epsilon=2, delta="1e-4"
    )
    with pytest.raises(ValueError, match="seed"):
        fitted(release_ledger=ledger)
    bad = X.assign(hours=61)
    with pytest.raises(OutOfBoundsError):
        RepairedClassifier(domain=DOMAIN, release_ledger=ledger).fit(bad, Y, sensitive_features=Z)
    assert ledger.releases == ()


@pytest.mark.filterwarnings("ignore:probes cannot")
def test_a_further_fit_of_a_released_model_is_counted(tmp_path):
    pytest.importorskip("opendp")
    fitted().release_.write(tmp_path / "release.json")
    ledger = ReleaseLedger(tmp_path / "ledger.jsonl", data="d", epsilon=5, delta="1e-3")
    model = RepairedClassifier.from_release(tmp_path / "release.json", release_ledger=ledger)
    model.tuned("0.1").predict(X, sensitive_features=Z)
    assert ledger.releases == ()
    model.fit(X, Y, sensitive_features=Z)
    assert len(ledger.releases) == 1
    model.tuned("0.1").fit(X, Y, sensitive_features=Z)
    assert len(ledger.releases) == 2


@pytest.mark.filterwarnings("ignore:probes show", "ignore:noise hides")
def test_few_records_are_warned_of_in_the_words_of_the_advice():
    model = RepairedClassifier(domain=DOMAIN, epsilon="0.01", random_state=0)
    with pytest.warns(FewRecordsWarning, match="not with this many records.*; a model that noise drowns may"):
        model.fit(X, Y, sensitive_features=Z)
    with pytest.warns(FewRecordsWarning, match="poor"):
        RepairedClassifier(domain=DOMAIN, epsilon="0.1", random_state=0).fit(
            X[:3000], Y[:3000], sensitive_features=Z[:3000]
        )


@pytest.mark.parametrize("fairness", ["demographic_parity", "equalised_odds"])
@pytest.mark.parametrize(("every", "warned"), [(2, False), (200, True)])
def test_a_small_group_is_warned_of_when_it_has_been_counted(fairness, every, warned):
    few = np.where(np.arange(len(X)) % every == 0, "m", "f")
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        RepairedClassifier(domain=DOMAIN, fairness=fairness, random_state=0).fit(X, Y, sensitive_features=few)
    said = [str(one.message) for one in caught if issubclass(one.category, FewRecordsWarning)]
    assert any("larger groups" in one for one in said) is warned


@pytest.mark.filterwarnings("ignore::reference.repaired.classifier.FewRecordsWarning")
@pytest.mark.parametrize("delta", ["1e-5", "0"])
@pytest.mark.parametrize("hardened", [True, False])
@pytest.mark.parametrize("keep_group", [True, False])
def test_what_is_planned_is_at_least_what_is_spent(delta, hardened, keep_group):
    settings = {"group_at_prediction": keep_group, "delta": delta, "random_state": None if hardened else 1}
    if hardened:
        pytest.importorskip("opendp")
    model = fitted(**settings)
    promise = planned(
        model.release_.domain.domain, len(X), Budget(1, delta), "demographic_parity", hardened=hardened
    )
    account = model.release_.account
    assert promise.epsilon >= account.epsilon >= 1
    assert promise.loss >= account.loss
    assert [(one.what, one.size, one.share) for one in promise.spent] == [
        (one.what, one.size, one.share) for one in account.spent
    ]


@pytest.mark.parametrize("rows", [1, 2, 7])
@pytest.mark.parametrize(("epsilon", "delta"), [(1, "1e-5"), ("0.3", "1e-9"), ("0.3", 0)])
def test_a_probe_loses_at_most_what_is_planned_for_it(epsilon, delta, rows):
    """For every released share: scales are rounded up, and the smallest sensitivity may be rounded further."""
    budget, domain = Budget(epsilon, delta), RepairedClassifier(domain=DOMAIN).declared.domain
    promise = planned(domain, 600, budget, "demographic_parity", hardened=True, rows_per_person=rows)
    probe = promise.spent[-1]
    loss = promise._replace(spent=(probe,)).loss
    for steps in np.random.default_rng(0).integers(2**19, 2**20, 200).tolist():
        change = imbalance_change(Fraction(steps, 2**20)).times(rows)
        made = probe._replace(change=change, scale=planned_scale(budget, change, probe.share))
        lost = promise._replace(spent=(made,)).loss
        # null control: what is planned is no more than rounding above it
        assert lost <= loss <= lost * (1 + Fraction(1, 2**50))


def test_advice_reads_public_numbers_and_improves_with_them():
    domain = fitted().release_.domain.domain
    found = [
        advise(domain, n, Budget(epsilon, "1e-5"), "demographic_parity")
        for n, epsilon in ((100, "0.1"), (5_000, "0.1"), (5_000, "1"), (500_000, "1"))
    ]
    signals = [one.signal for one in found]
    assert signals == sorted(signals)
    assert found[0].outlook == "not with this many records"
    assert found[-1].outlook == "near the best"
    assert found[0].lost == 1 > found[-1].lost
    assert found[0].risk_difference_noise > found[-1].risk_difference_noise > 0
    assert advise(domain.with_(keep_group=False), 5_000, Budget(1), "none").risk_difference_noise is None


# --- What the estimator of scikit-learn would have ------------------------------------------------------------


@pytest.mark.filterwarnings("ignore:probes cannot")
@pytest.mark.parametrize("fairness", ["none", "demographic_parity", "equalised_odds"])
def test_intercept_and_coefficients_are_the_decision(fairness):
    model = fitted(fairness=fairness)
    x, z = model._new_records(NEW, NEW_Z)
    groups = 1 if z is None else 2
    assert model.intercept_.shape == (groups,)
    shift = model.intercept_[0 if z is None else z.astype(int)]
    decided = model.decision_function(NEW, sensitive_features=NEW_Z)
    np.testing.assert_allclose(rounded_to_grid(x) @ model.coef_[0] + shift, decided, atol=1e-12)
    # thresholds move by group, and nowhere else
    assert len(set(model.intercept_)) == groups


@pytest.mark.filterwarnings("ignore:probes cannot")
@pytest.mark.parametrize("fairness", ["demographic_parity", "equalised_odds"])
def test_records_are_predicted_as_the_fit_counts_them(fairness):
    """Thresholds lie within a rounding of a step of the scores: a record off the grid may cross it."""
    model = fitted(fairness=fairness)
    x, z = model._new_records(NEW, NEW_Z)
    on_grid = rounded_to_grid(x)
    assert (x != on_grid).any()
    assert model._model.excess(x, z).tolist() == model._model.excess(on_grid, z).tolist()
    assert model._model.predict_proba(x).tolist() == model._model.predict_proba(on_grid).tolist()


def test_decision_that_is_not_linear_has_no_intercept():
    assert not hasattr(fitted(group_at_prediction=False), "intercept_")


def with_values(table: pd.DataFrame, **values: dict[int, object]) -> pd.DataFrame:
    changed = table.copy()
    for name, rows in values.items():
        changed[name] = changed[name].astype(object)
        for row, value in rows.items():
            changed.loc[row, name] = value
    return changed


def refused(X, y=Y, groups=Z) -> str:
    with pytest.raises(InputError) as caught:
        RepairedClassifier(domain=DOMAIN, random_state=1).fit(X, y, sensitive_features=groups)
    return str(caught.value)


def test_missing_values_of_all_columns_are_told_in_one_message():
    several = with_values(X, age={3: None, 5: np.nan}, job={7: None}, town={8: pd.NA})
    labels = [None if row == 2 else label for row, label in enumerate(Y)]
    said = refused(several, labels)
    assert "missing values: age 2, job 1, town 1, income 1 (row 3, column 'age'" in said
    assert "missing values" not in refused(with_values(X, age={3: None}))


def test_columns_of_other_lengths_are_no_missing_values():
    said = refused(X, Y[:-1])
    assert said == "6000 values where the label has 5999 (column 'age')"
    model = RepairedClassifier(domain=DOMAIN, random_state=1).fit(X, Y, sensitive_features=Z)
    with pytest.raises(ShapeError, match=r"^5999 groups where X has 6000 values \(column 'age'\)$"):
        model.predict(X, sensitive_features=Z[:-1])


@pytest.mark.parametrize("given", ["y", "groups"])
def test_more_values_than_are_declared_are_told(given):
    values = ["other" if row == 5 else value for row, value in enumerate(Y if given == "y" else Z)]
    said = refused(X, **{given: values})
    more = ": correct it, or list every group under `values` in the domain file" if given == "groups" else ""
    assert f"; 3 distinct values occur where 2 are declared{more} (row 5" in said
    assert said.endswith("; rows count from 0)")
    wrong = ["other"] * len(X)
    assert "distinct values" not in refused(X, **{given: wrong})


def test_group_of_three_declared_values_is_taken():
    group = Marker("sex", values=("f", "m", "x"))
    three = np.where(np.arange(len(X)) % 5 == 0, "x", Z)
    model = RepairedClassifier(domain=DOMAIN.with_(group=group), random_state=1)
    assert model.fit(X, Y, sensitive_features=three).intercept_.shape == (3,)
    with pytest.raises(InputError, match="4 distinct values occur where 3 are declared"):
        model.fit(X, Y, sensitive_features=["y" if row == 9 else value for row, value in enumerate(three)])


def test_dates_among_numbers_are_told_from_other_texts():
    hint = "count days or seconds, or move the column from `attributes` to `ignore` (row 5, column 'age'"
    moment = datetime.datetime(2020, 2, 1, 12, tzinfo=datetime.UTC)
    for date in ("2020-02-01", " 1/2/20 12:30", "12:30", moment, moment.date(), pd.Timestamp(moment)):
        assert hint in refused(with_values(X, age={5: date})), date
    for other in ("1-800", "3/4", "x2020-02-01", "twelve", "2020-02/01"):
        assert hint not in refused(with_values(X, age={5: other})), other


@pytest.mark.parametrize("domain", [{"attributes": []}, None, 3, ["domain.json"]])
def test_domain_of_another_kind_is_refused(domain):
    with pytest.raises(DeclarationError, match="the path of a domain file, a DomainFile or a Domain"):
        RepairedClassifier(domain=domain).fit(X, Y, sensitive_features=Z)


def test_two_columns_of_one_name_are_refused_by_name():
    twice = pd.concat([X, X[["age"]]], axis=1)
    assert "2 columns of X have this name (column 'age')" in refused(twice)
    assert "2 columns of X have this name (column 'age')" in refused(pa.table([X["age"]] * 2, names=["age"] * 2))
    # those that are ignored may have what names they like
    ignored = pd.concat([X, X[["id"]]], axis=1)
    RepairedClassifier(domain=DOMAIN, random_state=1).fit(ignored, Y, sensitive_features=Z)


HALF = "\ud800"


def test_half_a_character_is_a_value_that_is_not_declared():
    for column in ("job", "town", "age"):
        assert "value '\\ud800'" in refused(with_values(X, **{column: {7: HALF}}))
    for given in ("y", "groups"):
        assert "value '\\ud800'" in refused(X, **{given: [HALF, *(Y if given == "y" else Z)[1:]]})


@pytest.mark.parametrize(
    "declared",
    [
        {"label": Marker("income", one=(HALF,), zero=("low",))},
        {"group": Marker("sex", values=("f", HALF, "m"))},
        {"attributes": (OneHot("job", ("clerk", HALF)),)},
        {"attributes": (Ordinal("job", ("clerk", HALF)),)},
        {"attributes": (Grouped("town", {"north": ("oslo", HALF), "south": ("rome",)}),)},
        {"ignore": (HALF,)},
    ],
)
def test_half_a_character_cannot_be_declared(declared):
    """No release could be read again."""
    with pytest.raises(InputError, match="half a character"):
        DOMAIN.with_(**declared)


@pytest.mark.parametrize("norm", ["unit_ball", "symmetric_ball"])
def test_prescaled_columns_are_fitted_as_they_are(norm, tmp_path):
    table = {"one": np.full(len(X), 0.5), "age": X["age"] / 150, "cook": (X["job"] != "clerk") / 2}
    attributes = tuple(Numeric(name, 0, 1) for name in table)
    domain = DOMAIN.with_(attributes=attributes, prescaled=True, norm=norm)
    for settings in ({"fairness": "none"}, {"group_at_prediction": False}, {"fairness": "none", "bins": False}):
        model = RepairedClassifier(domain=domain, random_state=3, **settings)
        model.fit(table, Y, sensitive_features=Z)
        assert model.columns_ == ("one", "age", "cook")
        assert model.score(table, Y) > 0.65
        model.release_.write(tmp_path / "release.json")
        again = RepairedClassifier.from_release(tmp_path / "release.json")
        assert (again.predict(table) == model.predict(table)).all()
    with pytest.raises(ReadingError, match=r"group_at_prediction must be False .* for `prescaled` columns"):
        RepairedClassifier(domain=domain).fit(table, Y, sensitive_features=Z)
    with pytest.raises(NormError, match="row 5"):
        model.fit({**table, "age": np.where(np.arange(len(X)) == 5, 1.0, table["age"])}, Y)
