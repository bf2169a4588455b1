"""``python -m reference fit``: its output, its seeds, its splits."""

from __future__ import annotations

import json
import statistics
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from reference.accounting import NOT_PRIVATE
from reference.accounting.release import Release, release_of
from reference.budgets import SplitBudget
from reference.commands.evaluation import Plan, _held_out, evaluate_splits
from reference.common.documents import plain
from reference.common.exit_codes import EXIT_FINE, EXIT_USAGE
from reference.common.numbers import exact
from reference.domain import Domain
from reference.domain.attributes import Numeric, OneHot
from reference.fairness import Metrics, evaluate
from reference.mechanisms import no_privacy
from reference.moments import Moments
from reference.readings import Readings
from reference.records import Records, encode_table
from reference.registry import MECHANISMS
from tests.command_lines import program
from tests.fit_command import PRIVATE, SMALL, CommandLine, published

METRICS = {
    "accuracy",
    "majority_accuracy",
    "gain_over_majority",
    "positive_rate",
    "positive_rate_group_0",
    "positive_rate_group_1",
    "risk_difference",
    "boundary_covariance",
}


# --- JSON ----------------------------------------------------------------------------------------------------


def test_json_of_one_mechanism_is_an_object(fit: CommandLine) -> None:
    document = fit.json(*SMALL, "--mechanism", "pdfc", "--epsilon", "0.5")
    assert document["mechanism"] == "pdfc"
    assert document["status"] == "ok"
    assert len(document["w"]) == len(document["columns"]) == 3
    assert set(document["metrics"]) == METRICS | {"note", "constant_predictors"}
    assert document["metrics"]["note"] == NOT_PRIVATE == "not private: for the data holder"
    assert set(document["privacy"]) == {"published", "exact"}
    assert document["readings"]["fairness"] == "absolute"


def test_json_of_several_mechanisms_is_a_list(fit: CommandLine) -> None:
    documents = fit.json(*SMALL, "--mechanism", "lr,functional,adfc")
    assert [document["mechanism"] for document in documents] == ["lr", "functional", "adfc"]


def test_json_of_all_mechanisms_has_each_with_its_own_default_reading(fit: CommandLine) -> None:
    documents = fit.json(*SMALL, "--mechanism", "all")
    fairness = {document["mechanism"]: document["readings"].get("fairness") for document in documents}
    # lr has no objective of its own reading, so it prints none
    assert fairness == {
        name: spec.readings.fairness if name != "lr" else None for name, spec in MECHANISMS.items()
    }
    assert fairness["pdfc"] == fairness["adfc"] == "absolute"
    assert fairness["functional"] == fairness["relaxed_functional"] == "none"


def test_json_gives_mean_and_deviation_over_the_splits(fit: CommandLine) -> None:
    document = fit.json(*SMALL, "--splits", "4")
    assert document["splits"] == len(document["releases"]) == 4
    for name in METRICS:
        assert set(document["metrics"][name]) == {"mean", "std"}
    assert document["metrics"]["accuracy"]["std"] is not None
    assert fit.json(*SMALL)["metrics"]["accuracy"]["std"] is None


def test_json_states_the_privacy_of_one_release_and_of_all(fit: CommandLine) -> None:
    document = fit.json(*SMALL, "--mechanism", "adfc", "--epsilon", "0.5", "--delta", "1e-6", "--splits", "4")
    one, all_splits = published(document), document["privacy"]["published"]["composed"]
    assert exact("epsilon", one["epsilon_exact"]) == Fraction(1, 2)
    assert exact("epsilon", all_splits["epsilon_exact"]) == 2
    assert exact("delta", all_splits["delta"]) == 4 * exact("delta", one["delta"])
    assert one["claims"] == ["T5", "L4"]
    exact_one = document["privacy"]["exact"]["per_release"]
    assert exact("epsilon", exact_one["epsilon"]["hi"]) < Fraction(1, 2)
    assert exact_one["verdict"] == "enclosed"
    assert one["adjacency"] == "replace_one"


@pytest.mark.parametrize("name", ["lr", "no_privacy"])
def test_json_of_a_baseline_states_no_privacy(fit: CommandLine, name: str) -> None:
    document = fit.json(*SMALL, "--mechanism", name)
    nothing = {"per_release": None, "composed": None}
    assert document["privacy"] == {"published": nothing, "exact": nothing}


def test_json_releases_are_read_back(fit: CommandLine) -> None:
    document = fit.json(*SMALL, "--mechanism", "adfc", "--splits", "2")
    for release in document["releases"]:
        assert plain(release_of(release)) == release
        assert "metrics" not in release


def test_json_prints_every_reading_with_the_result(fit: CommandLine) -> None:
    options = "--fairness covariance --alpha 0.3 --basis matrix --adjacency add_or_remove_one --domain unit_box"
    more = "--intercept --keep-group --repair ball --ball-radius 2.5 --sensitivity 7/3 --tau 0.1"
    readings = fit.json(*SMALL, *options.split(), *more.split())["readings"]
    assert readings == {
        "fairness": "covariance",
        "fairness_weight": "0.3",
        "tau": "0.1",
        "basis": "matrix",
        "adjacency": "add_or_remove_one",
        "sensitivity": "7/3",
        "repair": "ball",
        "ball_radius": "2.5",
        "noise": "hardened",
        "domain": "unit_box",
        "dimension": 3,
        "intercept": True,
        "keep_group": True,
    }


# --- Text ----------------------------------------------------------------------------------------------------


def test_text_says_what_it_shows(fit: CommandLine) -> None:
    code, out, err = fit.run("--mechanism", "all", "--splits", "3", "--epsilon", "2")
    assert (code, err) == (EXIT_FINE, "")
    assert "affairs: per release" in out
    for name in MECHANISMS:
        assert name in out
    assert "not private" in out
    assert NOT_PRIVATE in out
    assert "(2, 0.001)" in out
    assert "3 releases compose to (6, 0.003)" in out
    assert "not a step of the paper" in out
    assert "x_s = " in out


def test_text_of_one_release_gives_w_by_name(fit: CommandLine) -> None:
    _, out, _ = fit.run(*SMALL, "--x-s", "x2", "--seed", "1")
    assert "x_s = x2" in out
    assert "w = x0=" in out
    assert "seeded" in out


def test_text_does_not_print_a_tiny_delta_as_zero(fit: CommandLine) -> None:
    _, out, _ = fit.run(*SMALL, "--mechanism", "relaxed_functional", "--delta", "1e-400", "--splits", "2")
    assert "(1, 1e-400)" in out
    assert "(2, 2e-400)" in out


# --- Seeds ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", PRIVATE)
def test_seeded_run_is_repeatable_and_says_so(fit: CommandLine, name: str) -> None:
    arguments = (*SMALL, "--mechanism", name, "--splits", "2", "--seed")
    first, again, other = fit.json(*arguments, "7"), fit.json(*arguments, "7"), fit.json(*arguments, "8")
    assert first == again
    assert first["seed"] == 7
    assert all(release["seeded"] for release in first["releases"])
    assert first["releases"][0]["w"] != first["releases"][1]["w"]
    assert first["w"] != other["w"]


@pytest.mark.parametrize("name", PRIVATE)
def test_unseeded_run_is_not_repeatable_and_not_marked(fit: CommandLine, name: str) -> None:
    arguments = (*SMALL, "--mechanism", name, "--test-share", "0")
    first, again = fit.json(*arguments), fit.json(*arguments)
    assert first["seed"] is None
    assert not any(release["seeded"] for release in first["releases"])
    assert first["w"] != again["w"]


def test_baseline_on_all_records_is_a_function_of_the_data(fit: CommandLine) -> None:
    arguments = (*SMALL, "--mechanism", "no_privacy", "--test-share", "0")
    assert fit.json(*arguments)["w"] == pytest.approx(fit.json(*arguments)["w"], rel=1e-9)


# --- Every mechanism on real data ----------------------------------------------------------------------------


def assert_fits(document: dict[str, Any], name: str, dimension: int) -> None:
    """Check one result on real data."""
    assert document["mechanism"] == name
    assert document["status"] == "ok"
    assert len(document["w"]) == dimension
    assert 0.0 <= document["metrics"]["accuracy"]["mean"] <= 1.0
    assert 0.0 <= document["metrics"]["risk_difference"]["mean"] <= 1.0


@pytest.mark.parametrize("name", MECHANISMS)
def test_mechanism_runs_on_affairs(fit: CommandLine, name: str) -> None:
    document = fit.json("--mechanism", name)
    assert_fits(document, name, 7)
    # a fifth of 6,366 records: the difference of two shares has an error of a few hundredths at most
    assert 0.0 <= document["metrics"]["risk_difference"]["sampling_error"] < 0.05
    # the share of the more frequent class is 0.6775 in all, and close to it in any fifth
    assert document["metrics"]["majority_accuracy"]["mean"] == pytest.approx(0.6775, abs=0.08)


@pytest.mark.data
def test_mechanisms_run_on_adult(fit: CommandLine, adult: Records) -> None:
    documents = fit.json("--data", "adult", "--mechanism", ",".join(MECHANISMS))
    for document, name in zip(documents, MECHANISMS, strict=True):
        assert_fits(document, name, adult.domain.dimension)


@pytest.mark.parametrize("options", ["--encoding one_hot", "--intercept", "--keep-group", "--domain unit_box"])
def test_layouts_of_affairs_run(fit: CommandLine, options: str) -> None:
    documents = fit.json("--mechanism", "no_privacy,pdfc", *options.split())
    assert [document["status"] for document in documents] == ["ok", "ok"]


# --- Splits --------------------------------------------------------------------------------------------------


def test_splits_measure_on_the_records_that_were_not_trained_on(
    affairs: Records, monkeypatch: pytest.MonkeyPatch
) -> None:
    trained: list[Moments] = []
    measured: list[Moments] = []

    def train(moments: Moments, readings: Readings) -> Release:
        trained.append(moments)
        return no_privacy(moments, readings)

    def measure(w: tuple[float, ...], records: Records) -> Metrics:
        measured.append(Moments.of(records))
        return evaluate(w, records)

    monkeypatch.setattr("reference.commands.evaluation.evaluate", measure)
    spec = replace(MECHANISMS["no_privacy"], function=train)
    evaluate_splits(Plan(spec=spec, budget=None, readings=spec.readings, splits=3), affairs, rng=1)
    whole = Moments.of(affairs)
    for train_part, test_part in zip(trained, measured, strict=True):
        together = train_part + test_part
        assert test_part.n == round(0.2 * len(affairs))
        assert (together.n, together.sum_z) == (whole.n, whole.sum_z)
        assert together.sum_x == pytest.approx(whole.sum_x, rel=1e-12)
        assert together.sum_xx == pytest.approx(whole.sum_xx, rel=1e-12)
    # each split is drawn afresh
    assert measured[0].sum_x[0] != measured[1].sum_x[0] != measured[2].sum_x[0]


def test_splits_are_summed_up_by_mean_and_sample_deviation(affairs: Records) -> None:
    spec = MECHANISMS["no_privacy"]
    evaluation = evaluate_splits(Plan(spec=spec, budget=None, readings=spec.readings, splits=4), affairs, rng=1)
    accuracies = [metrics.accuracy for metrics in evaluation.metrics]
    summary = evaluation.summary("accuracy")
    assert summary["mean"] == pytest.approx(statistics.mean(accuracies), rel=1e-12)
    assert summary["std"] == pytest.approx(statistics.stdev(accuracies), rel=1e-9)


# --- A true process ------------------------------------------------------------------------------------------


def test_process_prints_json_and_ends_with_0(tmp_path: Path) -> None:
    done = program("fit", "--format", "json", folder=tmp_path)
    assert (done.returncode, done.stderr) == (EXIT_FINE, b"")
    assert_fits(json.loads(done.stdout), "pdfc", 7)
    assert list(tmp_path.iterdir()) == []


# --- Mixed statements, one-hot x_s, and what splits compose to ------------------------------------------------


def test_releases_of_which_some_state_nothing_compose_to_nothing() -> None:
    """One-hot with a random x_s: some releases have a whole attribute as x_s, some a part of one."""
    domain = Domain(
        (Numeric("age", 0.0, 1.0), OneHot("colour", ("red", "green", "blue"))), label="label", group="group"
    )
    records = encode_table(
        domain,
        {
            "age": np.linspace(0, 1, 60),
            "colour": ["red", "green", "blue"] * 20,
            "label": [0, 1] * 30,
            "group": [0, 0, 1] * 20,
        },
    )
    spec = MECHANISMS["pdfc"]
    plan = Plan(spec=spec, budget=SplitBudget(1, 1), readings=spec.readings, splits=8)
    found = evaluate_splits(plan, records, rng=1)
    stated = [release.privacy.published is not None for release in found.releases]
    assert any(stated)
    assert not all(stated)
    assert found.composed is None
    document = found.to_json()["privacy"]
    assert document["published"]["composed"] is None
    # the exact accounting covers every release
    assert exact("epsilon", document["exact"]["composed"]["epsilon_exact"]) > 0


@pytest.mark.parametrize("adjacency", ["replace_one", "add_or_remove_one"])
def test_neighbours_are_split_into_neighbours(adjacency: str) -> None:
    """With coins of their own (add or remove) one more record leaves the other records where they were."""
    held_out = [_held_out(n, 0.2, adjacency, np.random.default_rng(3)) for n in (200, 201)]
    if adjacency == "add_or_remove_one":
        np.testing.assert_array_equal(held_out[0], held_out[1][:200])
    else:
        assert [int(part.sum()) for part in held_out] == [40, 40]


def test_a_column_count_includes_intercept_and_kept_group(fit: CommandLine) -> None:
    arguments = ("--data", "synthetic", "--records", "50", "--dimension", "5", "--intercept", "--keep-group")
    assert fit.json(*arguments)["readings"]["dimension"] == 5
    assert fit.run(*arguments[:4], "--dimension", "2", *arguments[6:])[0] == EXIT_USAGE
