"""The main job: right mechanisms stand, broken ones fall, and the output is what the contract says."""

from __future__ import annotations

import json
import shlex
from typing import Any

import numpy as np
import pytest
from scipy.stats import binom

from audit.catalogue import HalfNoiseLaplace, Laplace
from audit.distinguish import choose_event, estimate
from audit.epsilon_estimate import PAPER, main
from audit.events import learned_scores
from audit.subjects import Subject


def audit(subject: Subject, draws: int, seed: int, delta: float = 0.0):
    return estimate(subject, delta=delta, draws=draws, significance=0.05, rng=np.random.default_rng(seed))


def run(capsys, *words: str) -> tuple[int, Any]:
    code = main([*words, "--format", "json"])
    return code, json.loads(capsys.readouterr().out)


def test_bound_is_near_the_true_loss_of_the_laplace_mechanism():
    bounds = [audit(Laplace(1.0), 200_000, seed).epsilon_lower_bound for seed in range(10)]
    assert 0.95 < np.median(bounds) <= 1.0


def test_bound_exceeds_the_truth_no_more_often_than_the_significance():
    """400 audits: more than 36 errors would have probability below 1e-3 if each errs with 5 %."""
    errors = sum(audit(Laplace(1.0), 2_000, seed).epsilon_lower_bound > 1.0 for seed in range(400))
    assert binom.sf(36, 400, 0.05) < 1e-3
    assert errors <= 36


def test_coverage_check_fires_on_an_auditor_that_certifies_on_the_choosing_draws():
    """The same event counted on the draws that chose it, without any margin: far too often above the truth."""
    errors = 0
    for seed in range(100):
        random, subject = np.random.default_rng(seed), Laplace(1.0)
        left, right = (subject.sample(value, 300, random) for value in subject.inputs())
        scores = list(learned_scores(left, right))
        event = choose_event(scores, left, right, 300, 0.0, 0.05)
        likely, unlikely = (left, right) if event.likely_input == "left" else (right, left)
        errors += np.log(event.occurs(likely).mean() / max(event.occurs(unlikely).mean(), 1e-9)) > 1.0
    assert errors > 20


def test_half_the_noise_is_refuted_and_the_right_noise_is_not():
    for seed in range(5):
        assert audit(HalfNoiseLaplace(1.0), 50_000, seed).verdict(1.0) == "refuted"
        assert audit(Laplace(1.0), 50_000, seed).verdict(1.0) == "not refuted"


def planted(factor: float) -> list[str]:
    """Return options for PDFC on one feature with `factor` times the noise its pair of data sets needs.

    On the unit box with d = 1 the exact l1 distance of the best pair, printed by the audit itself, is found by
    running once; the noise is then calibrated to it, so that the true loss is 1 / factor.
    """
    from audit.neighbours import extreme_pair
    from reference import datasets
    from reference.budgets import SplitBudget
    from reference.mechanisms import FAIR, MECHANISMS
    from reference.objective import objective

    size = ["--data", "synthetic", "--records", "200", "--dimension", "1", "--domain", "unit_box"]
    records = datasets.load("synthetic", datasets.Encoding(norm="unit_box"), records=200, dimension=1)
    noise = MECHANISMS["pdfc"].noise(records.domain, SplitBudget(1, 1), FAIR, 0)
    pair = extreme_pair(records, "synthetic", FAIR, noise)
    left, right = (objective(moments, FAIR).values for moments in pair.moments)
    return [*size, "--sensitivity", repr(float(np.abs(left - right).sum()) * factor)]


def test_pdfc_with_noise_fitted_to_its_neighbours_is_not_refuted(capsys):
    code, result = run(capsys, "pdfc", *planted(1.0), "--draws", "400000", "--seed", "3")
    assert (code, result["verdict"]) == (0, "not refuted")
    assert result["epsilon_lower_bound"] > 0.7


def test_pdfc_with_half_of_that_noise_is_refuted(capsys):
    code, result = run(capsys, "pdfc", *planted(0.5), "--draws", "400000", "--seed", "3")
    assert (code, result["verdict"]) == (1, "refuted")
    assert 1.4 < result["epsilon_lower_bound"] <= 2.0


def test_main_job_audits_each_mechanism_of_the_paper_on_the_embedded_data(capsys):
    code, results = run(capsys, "--draws", "40000", "--seed", "1")
    assert code == 0
    assert [result["mechanism"] for result in results] == list(PAPER)
    for result in results:
        assert result["verdict"] == "not refuted"
        assert result["claimed_epsilon"] == 1.0
        assert "affairs without its last record (6365 records)" in result["witness"]["inputs"]["shared_records"]


def test_result_has_the_fields_of_the_contract(capsys):
    _, result = run(capsys, "adfc", "--draws", "2000", "--seed", "1", "--delta", "1e-3")
    expected = {"mechanism", "claimed_epsilon", "claimed_delta", "epsilon_lower_bound", "significance", "draws"}
    expected |= {"seconds", "verdict", "implementation_verdict", "witness", "not_ruled_out", "rerun"}
    assert expected <= set(result)
    assert result["draws"] == 2000
    assert float(result["claimed_delta"]) == pytest.approx(1e-3, rel=1e-12)
    assert float(result["claimed_delta"]) <= 1e-3


def test_rerun_repeats_the_bound_draw_for_draw(capsys):
    _, first = run(capsys, "pdfc", "laplace", "--draws", "4000", "--epsilon", "3", "--x-s", "educ", "--intercept")
    for result in first:
        words = shlex.split(result["rerun"])
        assert words[:3] == ["python", "-m", "audit.epsilon_estimate"]
        _, again = run(capsys, *words[3:])
        for field in ("epsilon_lower_bound", "witness", "claimed_epsilon"):
            assert again[field] == result[field]


def test_audits_without_a_seed_differ_but_say_how_to_repeat_them(capsys):
    results = [run(capsys, "laplace", "--draws", "4000")[1] for _ in range(2)]
    assert results[0]["rerun"] != results[1]["rerun"]


def test_too_few_draws_to_refute_are_undecided(capsys):
    code, result = run(capsys, "laplace", "--epsilon", "9", "--draws", "1000", "--seed", "1")
    assert (code, result["verdict"]) == (3, "undecided")
    assert result["largest_certifiable_epsilon"] < 9


@pytest.mark.parametrize(
    "words",
    [
        ["nothing_like_it"],
        ["--draws", "10"],
        ["--significance", "0"],
        ["--epsilon", "-1"],
        ["--data", "nowhere"],
        ["no_privacy"],
        ["pdfc", "--x-s", "height"],
    ],
)
def test_bad_input_is_one_line_and_exit_code_2(capsys, words):
    assert main(words) == 2
    output = capsys.readouterr()
    assert output.out == ""
    assert output.err.startswith("error: ")
    assert output.err.count("\n") == 1


def test_unknown_mechanism_lists_the_known_ones(capsys):
    main(["pfdc"])
    error = capsys.readouterr().err
    assert all(name in error for name in (*PAPER, "laplace"))


def test_out_writes_the_result_whole(capsys, tmp_path):
    target = tmp_path / "result.json"
    assert main(["laplace", "--draws", "2000", "--format", "json", "--out", str(target)]) == 0
    assert json.loads(target.read_text(encoding="utf-8"))["mechanism"] == "laplace"
    assert capsys.readouterr().out == ""
    assert [path.name for path in tmp_path.iterdir()] == ["result.json"]


@pytest.mark.parametrize("adjacency", ["replace_one", "add_or_remove_one"])
def test_text_names_the_witness_and_what_was_not_ruled_out(capsys, adjacency):
    assert main(["pdfc", "--draws", "2000", "--adjacency", adjacency]) == 0
    text = capsys.readouterr().out
    for part in ("inputs: affairs", "left: x = ", "right: ", "event: ", "again: python -m", "Not ruled out: "):
        assert part in text
