"""What the repaired mechanism warns of before it spends a budget, and that a release survives what comes after."""

from __future__ import annotations

import json
import warnings
from fractions import Fraction

import pytest

from reference.budgets import Budget, LargeDeltaWarning, large_delta
from reference.common.documents import plain
from reference.common.errors import DataHolderWarning
from reference.common.exit_codes import EXIT_FINE
from reference.repaired import classifier
from reference.repaired.advice import NOT_TO_SPEND, SPENDS_IT, advise
from reference.repaired.classifier import AlikeAttributesWarning, FewRecordsWarning, RepairedClassifier
from tests.command_lines import reference
from tests.test_repaired_classifier import DOMAIN, X, Y, Z

FEW = 60
FIT = "fit --mechanism repaired --data people.csv --domain domain.json --test-share 0"


@pytest.fixture
def run(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    X.assign(income=Y, sex=Z).to_csv("people.csv", index=False)
    X[:FEW].assign(income=Y[:FEW], sex=Z[:FEW]).to_csv("few.csv", index=False)
    (tmp_path / "domain.json").write_text(json.dumps(plain(DOMAIN)))

    def called(line: str):
        assert reference(*line.split()) == EXIT_FINE
        return capsys.readouterr()

    return called


def test_delta_is_too_large_where_a_record_may_be_published():
    assert large_delta(Fraction(1, 1000), 999) == large_delta(Fraction(0), 10**9) == ()
    assert large_delta(Fraction(1, 1000), 1999, rows_per_person=2) == ()
    for records, rows, least in ((1000, 1, "1/1,000"), (2000, 2, "2/2,000")):
        (said,) = large_delta(Fraction(1, 1000), records, rows)
        assert said == (
            f"delta 0.001 is too large for {records:,} records: publishing one of them at random would keep it "
            f"too; take a delta far below {least}"
        )


def test_a_large_delta_is_warned_of_everywhere_in_the_same_words(run):
    n = len(X)
    (said,) = large_delta(Fraction(1, n), n)
    for delta, warned in ((Fraction(1, n), True), (Fraction(1, n + 1), False)):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            model = RepairedClassifier(domain=DOMAIN, delta=delta, random_state=1, fairness="none").fit(X, Y)
        assert [str(one.message) for one in caught if one.category is LargeDeltaWarning] == [said] * warned
        assert model.advice_.budget_warnings == (said,) * warned
        found = run(f"{FIT} --fairness none --delta {delta} --noise numpy --force --release release.json")
        assert found.err.count(f"warning: {said}\n") == warned
        assert found.err.count(f"{n:,} records: publishing") == warned
        assert f"- Beware: {said}." in run("card release.json").out or not warned
        assert "publishing" not in run("card release.json").out or warned
        told = run(f"advise --domain domain.json --records {n} --fairness none --delta {delta}").out
        assert (f"warning: {said}\n" in told) == warned == ("publishing" in told)


def test_what_says_not_to_spend_is_said_before_and_that_a_fit_does(run, monkeypatch):
    domain = RepairedClassifier(domain=DOMAIN).declared.domain
    advice = advise(domain, FEW, Budget(1, "1e-5"), "demographic_parity")
    assert sum(NOT_TO_SPEND in one for one in advice.warnings) == 2
    assert [one.removesuffix(f" ({SPENDS_IT})") for one in advice.warnings_of_a_fit] == list(advice.warnings)
    # null control: nothing to add
    many = advise(domain, 40_000, Budget(1, "1e-5"), "demographic_parity")
    assert many.warnings_of_a_fit == many.warnings == ()

    def stop(*_, **__):
        raise InterruptedError

    monkeypatch.setattr(classifier, "repaired_logistic", stop)
    model, groups = RepairedClassifier(domain=DOMAIN, random_state=1), Z[:FEW]
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        with pytest.raises(InterruptedError):
            model.fit(X[:FEW], Y[:FEW], sensitive_features=groups)
    assert [str(one.message) for one in caught] == list(advice.warnings_of_a_fit)
    found = run(f"{FIT.replace('people', 'few')} --seed 1")
    assert found.err.count(NOT_TO_SPEND) == found.err.count(SPENDS_IT) == 2
    assert NOT_TO_SPEND not in found.out
    assert f"forecast: {advice.forecast}" in found.out


def test_a_release_is_kept_where_warnings_are_errors(monkeypatch):
    """A warning after the release ends `fit`, which has spent the budget."""
    monkeypatch.setattr(classifier, "alike_warnings", lambda _: ("columns say the same",))
    model = RepairedClassifier(domain=DOMAIN, random_state=3)
    # the tests take warnings for errors
    with pytest.raises(AlikeAttributesWarning, match="columns say the same"):
        model.fit(X, Y, sensitive_features=Z)
    assert len(model.predict(X, sensitive_features=Z)) == len(X)


def test_a_model_that_says_the_same_of_all_is_warned_of_as_by_the_command(run):
    model = RepairedClassifier(domain=DOMAIN, fairness="none", random_state=3)
    rare = ["high"] + ["low"] * (len(X) - 1)
    X.assign(income=rare, sex=Z).to_csv("people.csv", index=False)
    (said,) = [line for line in run(f"{FIT} --fairness none --seed 3").err.splitlines() if "the same" in line]
    with (
        pytest.warns(FewRecordsWarning, match="selects hardly anybody, as about 0.0"),
        pytest.warns(DataHolderWarning) as caught,
    ):
        model.fit(X, rare)
    assert f"warning: {caught[-1].message}" == said
    assert said.endswith("(not private: for the data holder)")
    assert caught[-1].filename == __file__
    # null control: the tests take warnings for errors
    assert set(model.fit(X, Y).predict(X)) == {"high", "low"}


def test_a_fit_that_keeps_nothing_says_so_before_it_spends(run, monkeypatch, capsys):
    said = "warning: nothing of this release is kept to predict with: add --release FILE\n"
    plain_fit = f"{FIT} --fairness none --noise numpy"
    assert run(plain_fit).err.count(said) == 1
    for kept in ("--release release.json", "--seed 1", "--format json", "--splits 2 --test-share 0.5"):
        line = plain_fit.replace("--noise numpy", "") if "--seed" in kept else plain_fit
        assert said not in run(f"{line} {kept}").err

    def stop(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr("reference.commands.fit_repaired.repaired_logistic", stop)
    assert reference(*plain_fit.split()) != EXIT_FINE
    assert said in capsys.readouterr().err
