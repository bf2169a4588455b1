"""``python -m reference fit``: its output, its exit codes, its budgets."""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from reference.__main__ import main
from reference.attributes import Numeric, OneHot
from reference.budgets import SplitBudget
from reference.domain import Domain
from reference.errors import InputError
from reference.evaluation import NOT_PRIVATE, _held_out, evaluate_splits
from reference.fairness import Metrics, evaluate
from reference.files import json_text
from reference.mechanisms import no_privacy
from reference.moments import Moments
from reference.numbers import exact
from reference.options import EXIT_FINE, EXIT_UNDECIDED, EXIT_USAGE
from reference.readings import Readings
from reference.records import Records
from reference.registry import MECHANISMS
from reference.release import Release

PRIVATE = [name for name, spec in MECHANISMS.items() if spec.private]
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
# Small, so that most tests take milliseconds.
SMALL = ("--data", "synthetic", "--records", "200", "--dimension", "3")


class CommandLine:
    """Runs ``fit`` in this process and keeps what it printed."""

    def __init__(self, capsys: pytest.CaptureFixture[str]) -> None:
        self._capsys = capsys

    def run(self, *arguments: str) -> tuple[int, str, str]:
        """Return exit code, standard output and standard error."""
        try:
            code = main(["fit", *arguments])
        except SystemExit as ended:
            code = int(ended.code or 0)
        captured = self._capsys.readouterr()
        return code, captured.out, captured.err

    def json(self, *arguments: str) -> Any:
        """Return the JSON document of a run that must succeed."""
        code, out, err = self.run(*arguments, "--format", "json")
        assert (code, err) == (EXIT_FINE, "")
        return json.loads(out)


@pytest.fixture
def fit(capsys: pytest.CaptureFixture[str]) -> CommandLine:
    return CommandLine(capsys)


def published(document: dict[str, Any]) -> dict[str, Any]:
    """Return the published statement of one release."""
    return document["privacy"]["published"]["per_release"]


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
    documents = fit.json(*SMALL, "--mechanism", "lr", "functional", "adfc")
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
        assert Release.from_json(release).to_json() == release
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
        "noise": "numpy",
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
    assert "no step of the paper" in out
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


# --- Exit codes ----------------------------------------------------------------------------------------------

BAD_OPTIONS = [
    "--epsilon 0",
    "--epsilon -1",
    "--epsilon nan",
    "--epsilon inf",
    "--epsilon one",
    "--epsilon 1e400",
    "--epsilon 1e-400",
    "--epsilon 1e-999999999",
    "--epsilon-s 1",
    "--epsilon 1 --epsilon-s 1 --epsilon-n 1",
    "--epsilon-s 0 --epsilon-n 1",
    "--epsilon-ratio 0",
    "--epsilon-ratio nan",
    "--epsilon-ratio 1 --epsilon-s 1 --epsilon-n 1",
    "--mechanism functional --epsilon-s 2",
    "--mechanism functional --epsilon-s 1 --epsilon-n 1",
    "--mechanism adfc --delta 0",
    "--mechanism adfc --delta 1",
    "--mechanism adfc --delta=-1e-400",
    "--mechanism adfc --delta nan",
    "--mechanism adfc --delta 0.99",
    "--mechanism adfc --delta-s 1e-3",
    "--mechanism adfc --delta 1e-3 --delta-s 1e-3 --delta-n 1e-3",
    "--mechanism relaxed_functional --delta 0.9",
    # also where the mechanism has no use for it
    "--mechanism pdfc --delta nan",
    "--mechanism pdfc --delta-s 2 --delta-n 0",
    "--mechanism no_privacy --epsilon nan",
    "--mechanism lr --epsilon-ratio 0",
    "--mechanism functional --x-s nope",
    "--x-s nope",
    "--x-s 3",
    "--x-s -1",
    "--fairness-weight -1",
    "--fairness-weight nan",
    "--fairness-weight 1e308",
    "--tau -1",
    "--ball-radius 0",
    "--ball-radius 1e-400",
    "--sensitivity 0",
    "--sensitivity nan",
    "--sensitivity exactly",
    "--sensitivity 1e400",
    "--fairness separate",
    "--fairness separate --sensitivity 1 --repair ball",
    "--splits 0",
    "--test-share 1",
    "--test-share -0.1",
    "--test-share nan",
    "--test-share 1e-9",
    "--records 0",
    "--records 1",
    "--dimension 0",
    "--data nope",
    "--data affairs",
    "--out /",
]

REJECTED_BY_THE_PARSER = [
    "--seed -1",
    "--seed 1.5",
    "--mechanism nope",
    "--noise nope",
    "--domain l2",
    "--fairness maybe",
    "--basis none",
    "--adjacency swap",
    "--repair retry",
    "--encoding target",
    "--format xml",
    "--splits two",
    "--nope",
]


@pytest.mark.parametrize("options", BAD_OPTIONS)
def test_bad_option_is_one_line_and_exit_code_2(fit: CommandLine, options: str) -> None:
    code, out, err = fit.run(*SMALL, *options.split())
    assert (code, out) == (EXIT_USAGE, "")
    assert err.startswith("error: ")
    assert err.count("\n") == 1


@pytest.mark.parametrize("options", REJECTED_BY_THE_PARSER)
def test_option_that_cannot_be_parsed_is_exit_code_2(fit: CommandLine, options: str) -> None:
    code, out, err = fit.run(*SMALL, *options.split())
    assert (code, out) == (EXIT_USAGE, "")
    assert "error: " in err.splitlines()[-1]


def test_error_names_the_option_and_what_is_allowed(fit: CommandLine) -> None:
    assert "x_s must be one of x0, x1, x2" in fit.run(*SMALL, "--x-s", "nope")[2]
    assert "data must be one of affairs, adult, synthetic" in fit.run("--data", "nope")[2]
    assert "'-2'" in fit.run(*SMALL, "--epsilon", "-2")[2]


def test_missing_data_is_exit_code_2(fit: CommandLine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def no_network(*_arguments: object, **_options: object) -> None:
        raise ConnectionError

    monkeypatch.setattr("sklearn.datasets.fetch_openml", no_network)
    monkeypatch.setenv("CFM_DATA", str(tmp_path))
    code, out, err = fit.run("--data", "adult")
    assert (code, out) == (EXIT_USAGE, "")
    assert str(tmp_path / "adult") in err
    assert err.count("\n") == 1


def test_bad_option_is_found_before_any_mechanism_runs(fit: CommandLine, monkeypatch: pytest.MonkeyPatch) -> None:
    def unexpected(*_arguments: object, **_options: object) -> None:
        raise AssertionError("a mechanism ran")

    monkeypatch.setattr("reference.commands.fit.evaluate_splits", unexpected)
    assert fit.run(*SMALL, "--mechanism", "lr", "pdfc", "--epsilon", "0")[0] == EXIT_USAGE
    assert fit.run(*SMALL, "--mechanism", "lr", "pdfc", "--x-s", "nope")[0] == EXIT_USAGE
    code, _, err = fit.run(*SMALL, "--mechanism", "lr", "pdfc")
    assert (code, "a mechanism ran" in err) == (EXIT_UNDECIDED, True)


def test_error_that_is_no_input_error_is_not_hidden(fit: CommandLine, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_arguments: object, **_options: object) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr("reference.commands.fit.evaluate_splits", broken)
    assert not issubclass(ZeroDivisionError, InputError)
    code, out, err = fit.run(*SMALL)
    # neither 0 (fine) nor 1 (refuted): nothing was decided
    assert (code, out) == (EXIT_UNDECIDED, "")
    assert "ZeroDivisionError" in err


# --- Output files --------------------------------------------------------------------------------------------


def test_out_has_what_would_be_printed(fit: CommandLine, tmp_path: Path) -> None:
    _, printed, _ = fit.run(*SMALL, "--seed", "3", "--format", "json")
    target = tmp_path / "fit.json"
    assert fit.run(*SMALL, "--seed", "3", "--format", "json", "--out", str(target)) == (EXIT_FINE, "", "")
    assert target.read_text(encoding="utf-8") == printed
    assert [path.name for path in tmp_path.iterdir()] == ["fit.json"]


def test_out_is_untouched_when_the_run_fails(fit: CommandLine, tmp_path: Path) -> None:
    target = tmp_path / "fit.json"
    target.write_text("old", encoding="utf-8")
    assert fit.run(*SMALL, "--epsilon", "0", "--out", str(target))[0] == EXIT_USAGE
    assert target.read_text(encoding="utf-8") == "old"
    assert [path.name for path in tmp_path.iterdir()] == ["fit.json"]


@pytest.mark.parametrize("target", ["missing/fit.json", "."])
def test_out_that_cannot_be_written_is_exit_code_2(fit: CommandLine, tmp_path: Path, target: str) -> None:
    code, out, err = fit.run(*SMALL, "--out", str(tmp_path / target))
    assert (code, out) == (EXIT_USAGE, "")
    assert err.startswith("error: out must be a file that can be written")
    assert list(tmp_path.iterdir()) == []


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
    # the share of the more frequent class is 0.6775 in all, and close to it in any fifth
    assert document["metrics"]["majority_accuracy"]["mean"] == pytest.approx(0.6775, abs=0.08)


@pytest.mark.data
@pytest.mark.parametrize("name", MECHANISMS)
def test_mechanism_runs_on_adult(fit: CommandLine, adult: Records, name: str) -> None:
    assert_fits(fit.json("--data", "adult", "--mechanism", name), name, adult.domain.dimension)


@pytest.mark.parametrize("options", ["--encoding one_hot", "--intercept", "--keep-group", "--domain unit_box"])
def test_layouts_of_affairs_run(fit: CommandLine, options: str) -> None:
    documents = fit.json("--mechanism", "no_privacy", "pdfc", *options.split())
    assert [document["status"] for document in documents] == ["ok", "ok"]


# --- Budgets -------------------------------------------------------------------------------------------------


def first_budget(document: dict[str, Any]) -> dict[str, Fraction]:
    """Return the budget parameters of the first release, exactly."""
    return {name: exact(name, text) for name, text in document["releases"][0]["budget"].items()}


def test_epsilon_alone_sets_both_parts(fit: CommandLine) -> None:
    document = fit.json(*SMALL, "--epsilon", "0.3")
    assert first_budget(document) == {
        "epsilon_s": Fraction(3, 10),
        "epsilon_n": Fraction(3, 10),
        "delta_s": 0,
        "delta_n": 0,
        "delta": 0,
    }
    assert published(document)["epsilon_exact"] == "0.3"


def test_epsilon_is_one_by_default(fit: CommandLine) -> None:
    for document in fit.json(*SMALL, "--mechanism", *PRIVATE):
        assert published(document)["epsilon_exact"] == "1"
        assert published(document)["epsilon"] == 1.0


@pytest.mark.parametrize("ratio", ["1", "4", "1/7", "1e-3"])
@pytest.mark.parametrize("name", ["pdfc", "adfc"])
def test_epsilon_ratio_solves_the_published_formula(fit: CommandLine, name: str, ratio: str) -> None:
    document = fit.json(*SMALL, "--mechanism", name, "--epsilon", "0.7", "--epsilon-ratio", ratio)
    budget = first_budget(document)
    assert budget["epsilon_s"] / budget["epsilon_n"] == Fraction(ratio)
    assert budget["epsilon_s"] / 3 + budget["epsilon_n"] * Fraction(2, 3) == Fraction(7, 10)
    assert published(document)["epsilon_exact"] == "0.7"


def test_epsilon_parts_are_taken_as_given(fit: CommandLine) -> None:
    document = fit.json(*SMALL, "--epsilon-s", "0.1", "--epsilon-n", "2")
    budget = first_budget(document)
    assert (budget["epsilon_s"], budget["epsilon_n"]) == (Fraction(1, 10), 2)
    assert exact("epsilon", published(document)["epsilon_exact"]) == Fraction(1, 30) + Fraction(4, 3)
    # the smaller epsilon has the larger scale
    noise = document["releases"][0]["noise"]
    assert noise["scale_s"] == pytest.approx(20 * noise["scale_n"], rel=1e-12)


@pytest.mark.parametrize("total", ["0.5", "1e-3", "1e-15", "1e-100", "1e-400", "0.123456789"])
@pytest.mark.parametrize("parts", [(), ("--epsilon-ratio", "3"), ("--epsilon-s", "1", "--epsilon-n", "2")])
def test_delta_is_the_printed_total_and_never_more(fit: CommandLine, total: str, parts: tuple[str, ...]) -> None:
    document = fit.json(*SMALL, "--mechanism", "adfc", "--delta", total, *parts)
    budget = first_budget(document)
    printed = exact("delta", published(document)["delta"])
    assert budget["delta_s"] == budget["delta_n"] > 0
    wanted, formula = Fraction(total), 1 - (1 - budget["delta_s"]) * (1 - budget["delta_n"])
    assert printed == wanted
    assert wanted - wanted * Fraction(1, 10**20) <= formula <= wanted


def test_delta_of_a_single_budget_survives_as_it_was_written(fit: CommandLine) -> None:
    document = fit.json(*SMALL, "--mechanism", "relaxed_functional", "--delta", "1e-400")
    assert published(document)["delta"] == "1e-400"
    assert document["releases"][0]["budget"]["delta"] == "1e-400"


def test_delta_parts_are_taken_as_given(fit: CommandLine) -> None:
    document = fit.json(*SMALL, "--mechanism", "adfc", "--delta-s", "1e-400", "--delta-n", "0.5")
    budget = first_budget(document)
    assert (budget["delta_s"], budget["delta_n"]) == (Fraction(1, 10**400), Fraction(1, 2))
    assert document["releases"][0]["budget"]["delta_s"] == "1e-400"
    assert exact("delta", published(document)["delta"]) == 1 - (1 - Fraction(1, 10**400)) / 2


def test_pure_mechanisms_print_delta_zero(fit: CommandLine) -> None:
    for document in fit.json(*SMALL, "--mechanism", "functional", "pdfc", "--delta", "1e-3"):
        assert published(document)["delta"] == "0"


# --- No minimum ----------------------------------------------------------------------------------------------


def test_no_repair_can_end_unbounded_and_that_is_no_error(fit: CommandLine) -> None:
    arguments = (*SMALL, "--mechanism", "functional", "--epsilon", "1e-3", "--repair", "none", "--seed", "1")
    document = fit.json(*arguments)
    assert (document["status"], document["w"], document["unbounded"]) == ("unbounded", None, 1)
    assert document["metrics"]["accuracy"] == {"mean": None, "std": None}
    assert published(document)["epsilon_exact"] == "0.001"
    assert min(document["releases"][0]["noisy_eigenvalues"]) < 0
    code, out, _ = fit.run(*arguments)
    assert code == EXIT_FINE
    assert "no minimum in 1 of 1" in out


def test_no_repair_with_plenty_of_epsilon_has_a_minimum(fit: CommandLine) -> None:
    document = fit.json(*SMALL, "--mechanism", "functional", "--epsilon", "1e6", "--repair", "none")
    exact_fit = fit.json(*SMALL, "--mechanism", "no_privacy", "--test-share", "0")
    assert (document["status"], document["unbounded"]) == ("ok", 0)
    assert document["w"] == pytest.approx(exact_fit["w"], abs=2.0)


@pytest.mark.parametrize("repair", ["shift_and_trim", "trim", "ball"])
def test_repair_always_gives_a_w(fit: CommandLine, repair: str) -> None:
    document = fit.json(*SMALL, "--epsilon", "1e-3", "--repair", repair, "--splits", "5", "--seed", "2")
    assert document["unbounded"] == 0
    assert all(release["w"] is not None for release in document["releases"])
    assert "no step of the paper" in fit.run(*SMALL, "--repair", repair)[1]


@pytest.mark.parametrize(
    "options", ["--epsilon 1e-100", "--epsilon 1e100", "--alpha 1e100", "--sensitivity 1e100"]
)
@pytest.mark.parametrize("repair", ["shift_and_trim", "trim", "ball", "none"])
def test_parameter_at_the_end_of_its_range_runs(fit: CommandLine, options: str, repair: str) -> None:
    documents = fit.json(*SMALL, "--mechanism", *PRIVATE, *options.split(), "--repair", repair, "--seed", "1")
    assert len(documents) == len(PRIVATE)
    assert json_text(documents)


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

    monkeypatch.setattr("reference.evaluation.evaluate", measure)
    spec = replace(MECHANISMS["no_privacy"], function=train)
    evaluate_splits(spec, affairs, None, spec.readings, splits=3, rng=1)
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
    evaluation = evaluate_splits(spec, affairs, None, spec.readings, splits=4, rng=1)
    accuracies = [metrics.accuracy for metrics in evaluation.metrics]
    summary = evaluation.summary("accuracy")
    assert summary["mean"] == pytest.approx(statistics.mean(accuracies), rel=1e-12)
    assert summary["std"] == pytest.approx(statistics.stdev(accuracies), rel=1e-9)


# --- A true process ------------------------------------------------------------------------------------------


def python_m(*arguments: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run ``python -m reference`` in a process of its own."""
    root = str(Path(__file__).resolve().parent.parent)
    return subprocess.run(
        [sys.executable, "-m", "reference", *arguments],
        capture_output=True,
        check=False,
        cwd=folder,
        encoding="utf-8",
        env={**os.environ, "PYTHONPATH": root},
        timeout=120,
    )


def test_process_prints_json_and_ends_with_0(tmp_path: Path) -> None:
    done = python_m("fit", "--format", "json", folder=tmp_path)
    assert (done.returncode, done.stderr) == (EXIT_FINE, "")
    assert_fits(json.loads(done.stdout), "pdfc", 7)
    assert list(tmp_path.iterdir()) == []


def test_process_ends_with_2_on_bad_input(tmp_path: Path) -> None:
    done = python_m("fit", *SMALL, "--epsilon", "0", "--out", "fit.json", folder=tmp_path)
    assert (done.returncode, done.stdout) == (EXIT_USAGE, "")
    assert done.stderr == "error: epsilon must be positive, not '0'\n"
    assert list(tmp_path.iterdir()) == []


def test_process_without_a_command_ends_with_2(tmp_path: Path) -> None:
    assert python_m(folder=tmp_path).returncode == EXIT_USAGE


# --- Mixed statements, one-hot x_s, and what splits compose to ------------------------------------------------


def test_releases_of_which_some_state_nothing_compose_to_nothing() -> None:
    """One-hot with a random x_s: some releases have a whole attribute as x_s, some a part of one."""
    domain = Domain(
        (Numeric("age", 0.0, 1.0), OneHot("colour", ("red", "green", "blue"))), label="label", group="group"
    )
    records = domain.encode(
        {
            "age": np.linspace(0, 1, 60),
            "colour": ["red", "green", "blue"] * 20,
            "label": [0, 1] * 30,
            "group": [0, 0, 1] * 20,
        }
    )
    found = evaluate_splits(
        MECHANISMS["pdfc"], records, SplitBudget(1, 1), MECHANISMS["pdfc"].readings, splits=8, rng=1
    )
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
