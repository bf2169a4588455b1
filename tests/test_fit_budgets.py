"""``python -m reference fit``: its budgets, and releases without a minimum."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest

from reference.common.exit_codes import EXIT_FINE, EXIT_USAGE
from reference.common.files import json_text
from reference.common.numbers import exact
from tests.fit_command import PRIVATE, SMALL, CommandLine, published

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
    for document in fit.json(*SMALL, "--mechanism", ",".join(PRIVATE)):
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
    for document in fit.json(*SMALL, "--mechanism", "functional,pdfc", "--delta", "1e-3"):
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
    document = fit.json(
        *SMALL, "--mechanism", "functional", "--epsilon", "1e6", "--allow-large-epsilon", "--repair", "none"
    )
    exact_fit = fit.json(*SMALL, "--mechanism", "no_privacy", "--test-share", "0")
    assert (document["status"], document["unbounded"]) == ("ok", 0)
    assert document["w"] == pytest.approx(exact_fit["w"], abs=2.0)


@pytest.mark.parametrize("repair", ["shift_and_trim", "trim", "ball"])
def test_repair_always_gives_a_w(fit: CommandLine, repair: str) -> None:
    document = fit.json(*SMALL, "--epsilon", "1e-3", "--repair", repair, "--splits", "5", "--seed", "2")
    assert document["unbounded"] == 0
    assert all(release["w"] is not None for release in document["releases"])
    assert "not a step of the paper" in fit.run(*SMALL, "--repair", repair)[1]


@pytest.mark.parametrize(
    "options",
    ["--epsilon 1e-100", "--epsilon 1e100 --allow-large-epsilon", "--alpha 1e100", "--sensitivity 1e100"],
)
@pytest.mark.parametrize("repair", ["shift_and_trim", "trim", "ball", "none"])
def test_parameter_at_the_end_of_its_range_runs(fit: CommandLine, options: str, repair: str) -> None:
    documents = fit.json(
        *SMALL, "--mechanism", ",".join(PRIVATE), *options.split(), "--repair", repair, "--seed", "1"
    )
    assert len(documents) == len(PRIVATE)
    assert json_text(documents)


@pytest.mark.parametrize(
    ("options", "name"),
    [
        ("--epsilon 101", "epsilon"),
        ("--epsilon-s 101 --epsilon-n 101", "epsilon"),
        ("--epsilon-s 1 --epsilon-n 1000", "epsilon_n"),
        ("--epsilon 60 --epsilon-ratio 9", "epsilon_s"),
        ("--private-metrics 101", "private_metrics"),
        ("--mechanism repaired --epsilon 101", "epsilon"),
    ],
)
def test_epsilon_above_100_must_be_allowed(fit: CommandLine, options: str, name: str) -> None:
    code, out, err = fit.run(*SMALL, "--quiet", *options.split())
    assert (code, out) == (EXIT_USAGE, "")
    assert err.startswith(f"error: {name} must be at most 100, or given with --allow-large-epsilon, not '1")
    if "repaired" not in options:
        assert fit.run(*SMALL, "--seed", "1", "--quiet", "--allow-large-epsilon", *options.split())[0] == EXIT_FINE
