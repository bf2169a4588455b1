"""The repaired mechanism on the command line: advice, a fit, predictions, a card."""

from __future__ import annotations

import json
from dataclasses import replace
from fractions import Fraction
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from reference.budgets import Budget
from reference.commands import fit_repaired
from reference.commands.card import _features, _why_wide, hidden_groups
from reference.commands.fit import changed
from reference.commands.options import FitReadingOptions
from reference.commands.parsing import with_defaults
from reference.common.documents import plain
from reference.common.exit_codes import EXIT_FINE, EXIT_USAGE
from reference.domain import Domain
from reference.domain.attributes import Binned, Numeric
from reference.domain.binning import binned
from reference.domain.file import DomainFile
from reference.domain.markers import Marker
from reference.records import encode_table
from reference.repaired import prepared, repaired_logistic, warned
from reference.repaired.classifier import RepairedClassifier
from reference.repaired.interval import Limits
from reference.repaired.released import load_repaired
from reference.repaired.uncertainty import crowded
from tests.command_lines import reference
from tests.test_repaired_classifier import DOMAIN, NEW, NEW_Y, NEW_Z


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    made = tmp_path_factory.mktemp("repaired")
    NEW.assign(income=NEW_Y, sex=NEW_Z).to_csv(made / "people.csv", index=False)
    NEW[:5].assign(sex=NEW_Z[:5]).to_csv(made / "new.csv", index=False)
    (made / "domain.json").write_text(json.dumps(plain(DOMAIN)))
    (made / "nobody.json").write_text(json.dumps(plain(DOMAIN.with_(group=None, ignore=("sex",)))))
    return made


@pytest.fixture
def run(folder, monkeypatch, capsys):
    monkeypatch.chdir(folder)

    def called(line: str, code: int = EXIT_FINE):
        assert reference(*line.split()) == code
        return capsys.readouterr()

    return called


FIT = "fit --mechanism repaired --data people.csv --domain domain.json --seed 1"


def test_from_a_table_to_predictions_and_a_card(run, folder):
    found = json.loads(run(f"{FIT} --release release.json --test-share 0 --format json").out)
    assert found["mechanism"] == "repaired"
    assert found["metrics"]["accuracy"]["mean"] > 0.7
    assert found["readings"]["records"] == len(NEW)
    lines = run("predict --release release.json --data new.csv").out.splitlines()
    model = RepairedClassifier.from_release(folder / "release.json")
    chosen = model.predict(NEW[:5], sensitive_features=NEW_Z[:5])
    assert [line.split(",")[2] for line in lines[1:]] == chosen.tolist()
    NEW[:5].to_csv(folder / "no_group.csv", index=False)
    refused = run("predict --release release.json --data no_group.csv", EXIT_USAGE).err
    assert "a declared column is missing: this release uses the group at prediction" in refused
    NEW[:5].drop(columns="hours").assign(sex=NEW_Z[:5]).to_csv(folder / "no_hours.csv", index=False)
    assert "uses the group" not in run("predict --release release.json --data no_hours.csv", EXIT_USAGE).err
    card = run("card release.json").out
    assert "Nothing: the noise came from a seed" in card
    assert "from age, job, town, hours; and from the group, sex." in card
    facts = json.loads(run("card release.json --format json").out)
    assert (facts["records"], facts["group_at_prediction"], facts["predicts"]) == (4000, True, "income")
    run("fit --seed 1 --release other.json")
    refused = run("card other.json", EXIT_USAGE).err
    assert (
        refused
        == "error: release file: this is a release of 'pdfc'; one of 'repaired' is needed (file other.json)\n"
    )


def test_missing_numbers_are_fitted_and_predicted_as_declared(run, folder):
    table = NEW.assign(income=NEW_Y, sex=NEW_Z, hours=NEW["hours"].where(NEW["hours"] > 20))
    table.to_csv(folder / "gaps.csv", index=False)
    lines = "fit --mechanism repaired --seed 1 --data gaps.csv --domain {} --release gaps.json"
    refused = run(lines.format("domain.json"), EXIT_USAGE).err
    assert "declare what it counts as with `missing`; missing values: hours" in refused
    document = plain(DOMAIN)
    document["attributes"][3] = {"kind": "binned", "name": "hours", "lower": 0, "upper": 60, "missing": "own_bin"}
    (folder / "gaps_domain.json").write_text(json.dumps(document))
    assert "accuracy" in run(lines.format("gaps_domain.json")).out
    assert "hours=missing" in load_repaired(folder / "gaps.json").columns
    predicted = run("predict --release gaps.json --data gaps.csv").out.splitlines()
    model = RepairedClassifier.from_release(folder / "gaps.json")
    chosen = model.predict(table.drop(columns=["income", "sex"]), sensitive_features=NEW_Z)
    assert [line.split(",")[2] for line in predicted[1:]] == chosen.tolist()


def test_what_stands_after_a_plus_minus_is_named(run):
    found = json.loads(run(f"{FIT} --format json").out)["metrics"]
    assert set(found["risk_difference"]) == {"mean", "std", "sampling_error"}
    # 800 records held out, half of each group or so: between that of rates near 0 or 1 and that of halves
    assert 0 < found["risk_difference"]["sampling_error"] <= 0.5 * (2 / 390) ** 0.5
    assert set(found["accuracy"]) == {"mean", "std"}
    lines = [line for line in run(FIT).out.splitlines() if "±" in line]
    assert [line.split("(")[1] for line in lines] == ["one standard error)"]
    lines = [line for line in run(f"{FIT} --splits 2").out.splitlines() if "±" in line]
    assert [line.split("(")[1] for line in lines] == ["standard deviation over the splits)"] * 5


def test_a_fit_of_a_ledgers_size_fits_and_is_not_rounded_down(run):
    run("ledger create whole.jsonl --data people --epsilon 1 --delta 1e-5")
    words = "fit --mechanism repaired --data people.csv --domain domain.json --ledger whole.jsonl --format json"
    made = json.loads(run(words).out)["releases"][0]
    assert Fraction(str(made["privacy"]["exact"]["epsilon"]["upper"])) == 1


def test_a_split_seed_repeats_the_splits_and_not_the_noise(run, monkeypatch):
    taken = []
    monkeypatch.setattr(
        fit_repaired, "prepared", lambda records: taken.append(records.x.sum()) or prepared(records)
    )
    words = (
        "fit --mechanism repaired --data people.csv --domain domain.json --noise numpy --format json --split-seed"
    )
    one, again, other = (json.loads(run(f"{words} {seed}").out)["w"] for seed in (1, 1, 2))
    assert taken[0] == taken[1] != taken[2]
    assert one != again != other


def test_a_card_of_a_hardened_release_states_its_promise(run):
    pytest.importorskip("opendp")
    words = "fit --mechanism repaired --data people.csv --domain domain.json --fairness none --release hard.json"
    assert "noise hardened" in run(words).out
    card = run("card hard.json").out
    assert "2.719 times as likely" in card
    assert "Nobody asked for fairness, and nobody measured it." in card
    assert run("predict --release hard.json --data new.csv").out.count("\n") == 6


def test_numpy_noise_without_a_seed_is_marked_on_the_card(run):
    words = "fit --mechanism repaired --data people.csv --domain domain.json --noise numpy --release plain.json"
    assert "leaks at its bits" in run(words).err
    assert "last bits leak" in run("card plain.json").out


def test_metrics_are_summed_up_over_splits(run):
    found = json.loads(run(f"{FIT} --splits 2 --without-group --slack 0.02 --format json").out)
    assert found["splits"] == len(found["releases"]) == 2
    assert found["metrics"]["risk_difference"]["std"] is not None
    assert found["releases"][0]["group_weights"] is not None
    assert found["releases"][0]["w"] != found["releases"][1]["w"]
    assert "seeded: for study" in run(FIT).out


def test_a_model_that_says_the_same_of_all_is_warned_of(run):
    said = "the same of every record"
    rare = "fit --mechanism repaired --data rare.csv --domain domain.json --seed 1 --fairness none"
    NEW.assign(income=["high"] + ["low"] * (len(NEW) - 1), sex=NEW_Z).to_csv("rare.csv", index=False)
    assert f"the model says {said}" in run(rare).err
    assert f"2 of 2 models say {said}" in run(f"{rare} --splits 2").err
    assert said not in run(f"{FIT} --fairness none").err


def test_a_model_that_is_no_better_than_the_commoner_label_is_warned_of(run):
    said = "predicting the more common label for everyone is at least as accurate"
    assert said not in run(f"{FIT} --fairness none").err
    assert "is not forecast" not in run(f"{FIT} --fairness none").out
    # labels that follow a fair coin: nothing can be learned
    coin = np.random.default_rng(3).integers(2, size=len(NEW))
    NEW.assign(income=np.where(coin, "high", "low"), sex=NEW_Z).to_csv("coin.csv", index=False)
    found = run("fit --mechanism repaired --data coin.csv --domain domain.json --seed 1")
    assert f"warning: on the {round(len(NEW) * 0.2):,} records held out, {said}" in found.err
    # without records held out the warning speaks of those fitted
    (whole,) = fit_repaired.gain_warnings([{"gain": 0.0}], "on the records that it was fitted to")
    assert whole.startswith(f"on the records that it was fitted to, {said}")
    assert fit_repaired.gain_warnings([{"gain": 0.01}], "") == ()
    assert "what fairness costs is not forecast" in found.out


def test_a_number_of_which_nearly_all_are_in_one_bin_is_named():
    few = np.random.default_rng(0).uniform(0, 1, 2_000)
    numbers = (Numeric("wide", 0, 20), Numeric("fit", 0, 1), Binned("own", 0, 20, edges=(10,)))
    domain = binned(DomainFile.of(Domain(numbers, "y"))).domain
    records = encode_table(domain, {**{one.name: few for one in numbers}, "y": (few > 0.5).astype(float)})
    counts = repaired_logistic(prepared(records), Budget(1, "1e-5"), rng=0).counts
    assert len(counts) == 2 * domain.dimension
    # not where edges were declared, nor where bounds are narrow
    assert crowded(counts, domain) == ("wide",)


def test_a_card_says_once_what_was_measured_and_when_noise_hides_it(run, folder):
    run(f"{FIT} --release release.json")
    document = json.loads((folder / "release.json").read_text())
    third = document["probes"][2]

    def said(**changed: Any) -> tuple[str, dict[str, Any]]:
        (folder / "edited.json").write_text(json.dumps({**document, **changed}))
        return run("card edited.json").out, json.loads(run("card edited.json --format json").out)

    text, facts = said(multiplier=third["multiplier"])
    assert facts["measured_difference"] == third["difference"]
    assert facts["measured_at_the_end"]
    assert not facts["stopped_short"]
    low, high = facts["difference_between"]
    measured = "by 4 noisy probes: with 95% confidence the difference among the records fitted is"
    assert f"{measured} {Limits(low, high)}." in " ".join(text.split())
    assert low - 0.001 <= abs(third["difference"]) <= high + 0.001
    widened = f"Noise widens the limits: it is about {third['noise']:.2g} in one probe, and limits allow"
    assert widened in " ".join(text.split())
    # where the limits show that the aim was reached, nothing has to be explained
    assert "Noise widens" not in said(multiplier=third["multiplier"], slack="1/2")[0]
    # one number alone: one probe's would seem to contradict that of all
    assert f"{third['difference']:+.3f}" not in text
    # whose confidence, and of whom nothing is known
    meant = "of 100 fits to these records, each with its own noise, at least 95 have the difference"
    assert meant in " ".join(text.split())
    assert facts["hidden_groups"] == []
    assert "Noise hides" not in text
    # where a warning has the limits, they are not said again
    far = [{**one, "difference": 0.3} for one in document["probes"]]
    text, facts = said(probes=far, multiplier=0.0)
    assert facts["stopped_short"]
    assert text.count("Measured privately") == 0
    assert text.count("with 95% confidence") == 1
    run(f"{FIT} --epsilon 0.001 --release release.json")
    document = json.loads((folder / "release.json").read_text())
    text, facts = said(probes=[{**one, "difference": -31.0} for one in document["probes"]])
    assert "of 4, at the final thresholds: nothing, because the noise hides everything" in " ".join(text.split())
    assert "noise hides every difference" in text
    assert (facts["measured_difference"], facts["measured_with_noise"]) == (-1.0, 1.0)
    assert facts["difference_between"] == [0, 1]
    assert facts["hidden_groups"] == ["f", "m"]
    assert "Noise hides how these groups by male are treated: f, m." in text
    assert "of 100" not in text
    assert "No probe shows how large the difference is at the final thresholds." in text
    run(f"{FIT} --epsilon 0.06 --delta 0 --release release.json")
    document = json.loads((folder / "release.json").read_text())
    third = document["probes"][2]
    for multiplier, shown in ((third["multiplier"], True), (1e6, False)):
        text, facts = said(
            multiplier=multiplier, probes=[{**one, "difference": 0.0} for one in document["probes"]]
        )
        assert facts["measured_with_noise"] < 1
        assert facts["difference_between"] == [0, 1]
        assert ("That noise hides how large the difference is." in text) is shown
        assert ("No probe shows" in text) is not shown


@pytest.mark.parametrize(
    ("group", "names", "against"),
    [
        ({"one": ["m"], "zero": ["f"]}, ["f", "m"], "m against f"),
        (
            {"one": ["m"], "zero": ["f", "x", "y"]},
            ["f, x and y taken together", "m"],
            "m against f, x and y taken together",
        ),
        ({"above": 40}, ["at most 40", "above 40"], "above 40 against at most 40"),
    ],
)
def test_a_card_names_the_groups_that_are_compared(run, folder, group, names, against):
    run(f"{FIT} --epsilon 0.001 --release release.json --force")
    document = json.loads((folder / "release.json").read_text())
    document["domain"]["group"] = {"column": "sex", "name": "male", **group}
    document["domain"]["label"] = {"column": "income", **group}
    document["fairness"] = "demographic_parity"
    (folder / "named.json").write_text(json.dumps(document))
    facts = json.loads(run("card named.json --format json").out)
    assert facts["groups"] == facts["labels"] == facts["hidden_groups"] == names
    text = " ".join(run("card named.json").out.split())
    assert f"predicts income ({against}) from" in text
    assert f"groups by male ({against}) are selected exactly equally often." in text
    assert f"are treated: {('; ' if ', ' in names[0] else ', ').join(names)}." in text
    (folder / "named.json").write_text(json.dumps({**document, "slack": "0.02"}))
    text = " ".join(run("card named.json").out.split())
    assert f"({against}) are selected equally often, to within 0.02." in text


def fit_three_groups(run, folder, fairness: str, every: int) -> None:
    """Fit with a third group, of one record in so many, into three.release."""
    group = Marker("sex", values=("f", "m", "x"))
    records = NEW.assign(income=NEW_Y, sex=np.where(np.arange(len(NEW)) % every == 0, "x", NEW_Z))
    records.to_csv(folder / "three.csv", index=False)
    (folder / "three.json").write_text(json.dumps(plain(DOMAIN.with_(group=group))))
    asked = FIT.replace("people.csv", "three.csv").replace("domain.json", "three.json")
    run(f"{asked} --fairness {fairness} --release three.release")


@pytest.mark.parametrize("fairness", ["demographic_parity", "equalised_odds"])
def test_a_card_names_the_noise_of_the_smallest_of_three_groups(run, folder, fairness):
    fit_three_groups(run, folder, fairness, 8)
    release = load_repaired(folder / "three.release")
    assert release.cells is not None
    # where the last probe was made, noise alone limits what is known
    document = json.loads((folder / "three.release").read_text())
    document["cells"]["thresholds"] = document["cells"]["probes"][-1]["thresholds"]
    (folder / "three.release").write_text(json.dumps(document))
    noise = np.array(release.cells.probes[0].noise)
    smallest = round(release.cells.sizes[int(noise.argmax())])
    cell = "group" if fairness == "demographic_parity" else "group with one income"
    text = " ".join(run("card three.release").out.split())
    assert (
        f"it is about {noise.max():.2g} in one probe for the smallest {cell}, of about {smallest:,} records"
        in text
    )
    facts = json.loads(run("card three.release --format json").out)
    assert (facts["noise_of_a_probe"], facts["smallest_cell"]) == (noise.max(), smallest)
    # thresholds beyond those of all probes, two below and one above
    first, second, third = document["cells"]["thresholds"]
    document["cells"]["thresholds"] = [first - 50.0, second - 50.0, third + 50.0]
    (folder / "beyond.release").write_text(json.dumps(document))
    text = " ".join(run("card beyond.release").out.split())
    # of six cells of so few records, nothing is known then
    elsewhere = fairness == "demographic_parity"
    assert ("The limits are wide because the probes were made at other thresholds" in text) is elsewhere
    assert "Noise widens" not in text
    # of groups that noise hides, a smaller one
    assert not facts["groups_hidden"]
    (said,) = _why_wide({**facts, "slack": 0, "groups_hidden": True}, Limits(0.0, 0.001))
    assert f"for the smallest {cell} that noise does not hide, of about {smallest:,} records" in said


@pytest.mark.parametrize("fairness", ["demographic_parity", "equalised_odds"])
def test_a_card_names_the_groups_that_noise_hides(run, folder, fairness, monkeypatch):
    # a group of eight
    fit_three_groups(run, folder, fairness, 500)
    facts = json.loads(run("card three.release --format json").out)
    assert facts["groups_hidden"]
    assert facts["hidden_groups"] == ["x"]
    assert "Noise hides how these groups by sex are treated: x." in run("card three.release").out
    # one cell of a group alone, for equalised odds
    release = load_repaired(folder / "three.release")
    noise = np.full(len(release.cells.sizes), 0.01)
    noise[1] = 1.0
    probes = tuple(one._replace(noise=tuple(noise.tolist())) for one in release.model.cells.probes)
    model = replace(release.model, cells=replace(release.model.cells, probes=probes))
    one = hidden_groups(SimpleNamespace(model=model, domain=release.domain))
    assert one == (["m"] if fairness == "demographic_parity" else ["f with income high"])
    # a fit says it too, where it says nothing else of noise; the null control hides none
    monkeypatch.setattr(warned, "doubt_of", lambda *_: None)
    monkeypatch.setattr(warned, "probe_warnings", lambda _: ())
    for hides in (True, False):
        noise[1] = 1.0 if hides else 0.01
        probes = tuple(one._replace(noise=tuple(noise.tolist())) for one in release.model.cells.probes)
        seen = replace(release.model, cells=replace(release.model.cells, probes=probes))
        assert list(warned.noise_warnings(seen, release.domain.domain, 0.0)) == [warned.HIDDEN_GROUPS] * hides


def test_a_card_names_the_smaller_of_two_groups_where_its_size_is_lost(run, folder):
    for rare, hidden in ((0, ["m"]), (1000, [])):
        records = NEW.assign(income=NEW_Y, sex=np.where(np.arange(len(NEW)) < rare, "m", "f"))
        records.to_csv(folder / "two.csv", index=False)
        run(f"{FIT.replace('people.csv', 'two.csv')} --force --release two.release")
        assert json.loads(run("card two.release --format json").out)["hidden_groups"] == hidden


def test_a_card_of_many_columns_names_the_first():
    alone = {"group_at_prediction": False}
    assert _features({"features": ["a", "b"], **alone}) == "a, b"
    assert _features({"features": [str(k) for k in range(30)], **alone}).startswith("30 columns: 0, 1, 2,")


def test_a_card_quotes_names_with_a_comma():
    facts = {"features": ["age", "size, cm"], "group_at_prediction": True, "group_column": "sex, at birth"}
    assert _features(facts) == 'age, "size, cm"; and from the group, "sex, at birth"'


def test_few_records_are_warned_of_before_they_are_spent(run):
    assert "not with this many records" in run(f"{FIT} --epsilon 0.001").err


def test_a_ledger_counts_fits_and_refuses_what_is_beyond_its_ceiling(run):
    pytest.importorskip("opendp")
    run("ledger create counted.jsonl --data people --epsilon 1.5 --delta 1e-4")
    words = "fit --mechanism repaired --data people.csv --domain domain.json --ledger counted.jsonl"
    # what is public is refused before it is counted
    assert "slack" in run(f"{words} --slack 2", EXIT_USAGE).err
    assert "2^57 steps" in run(f"{words} --epsilon 1e-5", EXIT_USAGE).err
    assert "counted.jsonl" in run(words).out
    assert "would spend" in run(words, EXIT_USAGE).err
    assert "seed" in run(f"{words} --seed 1", EXIT_USAGE).err
    assert len(json.loads(run("ledger show counted.jsonl --format json").out)["releases"]) == 1


@pytest.mark.parametrize(
    ("line", "said"),
    [
        (f"{FIT} --mechanism pdfc", "repaired alone"),
        (f"{FIT} --epsilon-s 1", "one epsilon and delta"),
        (f"{FIT} --plot x.png", "left out with repaired"),
        (f"{FIT} --splits 2 --release r.json", "several releases"),
        (f"{FIT} --fairness covariance", "fairness"),
        (f"{FIT} --adjacency add_or_remove_one", "left out with repaired"),
        (f"{FIT} --x-s age", "left out with repaired"),
        (f"{FIT} --keep-group", "keep_group must be left out with repaired: predictions use the group unless"),
        (f"{FIT} --records 10", "records must be left out with repaired"),
        (f"{FIT} --dimension 3", "dimension must be left out with repaired"),
        (f"{FIT} --data-seed 4", "data_seed must be left out with repaired"),
        (f"{FIT} --encoding one_hot", "encoding must be left out with repaired"),
        (f"{FIT} --domain unit_box --domain-file domain.json", "unit_ball or symmetric_ball with repaired"),
        (f"{FIT} --predictions p.csv", "use `cfm predict --release FILE`"),
        (f"{FIT} --private-metrics 1", "predict with `cfm predict --release FILE`"),
        (f"{FIT} --fairness none --slack 0.1", "slack must be left out where fairness is none"),
        ("fit --mechanism repaired --data affairs --intercept", "intercept must be left out for affairs"),
        ("fit --mechanism repaired --data affairs --domain unit_ball", "domain must be left out for affairs"),
        (f"{FIT.replace('domain.json', 'nobody.json')} --fairness equalised_odds", "declares no group"),
        (f"{FIT} --epsilon 1000", "--allow-large-epsilon"),
        (f"{FIT} --block-rows 0", "block_rows must be at least 1"),
        ("fit --slack 0.1", "slack must be left out without repaired"),
        ("fit --without-group", "without_group must be left out without repaired"),
        ("fit --fairness demographic_parity", "fairness"),
        ("card domain.json", "schema"),
        ("advise --domain domain.json --records 0", "records"),
        ("advise --domain domain.json --records 10 --epsilon 0", "epsilon"),
    ],
)
def test_unusable_lines_are_refused(run, line, said):
    assert said in run(line, EXIT_USAGE).err


def test_options_that_are_not_given_have_their_defaults():
    given = with_defaults(FitReadingOptions)
    assert changed(given) == {}
    assert changed(replace(given, tau="1", x_s="age")) == {"tau": "1", "x_s": "age"}


def test_help_names_the_delta_that_a_fit_has_by_default(run):
    said = " ".join(run("fit --help").out.split())
    assert "of repaired: 0 for Laplace noise (1e-5)" in said
    out = run(FIT).out
    assert "(1, 1e-05)-differential privacy" in out
    assert "epsilon 1 (the default)\n" in out
    assert "the default" not in run(f"{FIT} --epsilon 1").out


def test_advice_needs_no_data_and_says_when_not_to_spend(run):
    text = run("advise --domain domain.json --records 100 --epsilon 0.1").out
    assert "not with this many records" in text
    assert "times the records, or fewer columns." in text
    found = json.loads(run("advise --domain domain.json --records 1000000 --format json").out)
    assert found["outlook"] == "near the best"
    assert found["lost"] < 0.01
    assert (
        json.loads(run("advise --domain domain.json --records 9 --fairness none --format json").out)["fairness"]
        == "none"
    )


@pytest.mark.parametrize(
    ("rates", "said"),
    [
        ([1.0], "the model says the same of every record"),
        ([0.002], "the model says the same of nearly every record"),
        ([0.995, 0.5], "1 of 2 models say the same of nearly every record"),
        # a rare class is not a constant model
        ([0.02, 0.98], None),
    ],
)
def test_models_that_say_nearly_the_same_of_all_are_warned_of(rates, said):
    found = fit_repaired.constant_warnings([{"positive_rate": rate} for rate in rates])
    assert [one.startswith(f"{said}, so") for one in found] == [True] * (said is not None)


def test_prescaled_columns_are_forecast_and_fitted_on_the_command_line(run, folder):
    numbers = {
        "schema": "domain_v1",
        "prescaled": True,
        "label": plain(DOMAIN.label),
        "group": plain(DOMAIN.group),
    }
    numbers["attributes"] = [{"kind": "numeric", "name": "age", "lower": 0, "upper": 1}]
    (folder / "prescaled.json").write_text(json.dumps(numbers))
    (NEW[["age"]] / 100).assign(income=NEW_Y, sex=NEW_Z).to_csv(folder / "prescaled.csv", index=False)
    advice = "advise --domain prescaled.json --records 4000"
    fit = FIT.replace("people.csv", "prescaled.csv").replace("domain.json", "prescaled.json")
    said = run(f"{advice} --without-group").out
    assert "4,000 records, 1 columns" in said
    # not that of numbers between 0 and 1
    assert said.count("Hint") == said.count("Hint: `prescaled` columns get no constant") == 1
    assert json.loads(run(f"{fit} --without-group --format json").out)["columns"] == ["age"]
    for line in (advice, fit):
        assert "must be False (`--without-group`) for `prescaled` columns" in run(line, EXIT_USAGE).err
    (folder / "prescaled.json").write_text(json.dumps({**numbers, "norm": "unit_box"}))
    for line in (advice, fit):
        said = run(f"{line} --without-group", EXIT_USAGE).err
        assert "norm must be unit_ball or symmetric_ball for `prescaled` columns" in said
