"""The ledger of the command line: ``ledger create|show``, and ``fit --ledger``."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from reference.accounting.release_ledger import ReleaseLedger
from reference.commands import evaluation
from reference.common.exit_codes import EXIT_FINE, EXIT_USAGE
from tests.file_commands import Run, listing
from tests.fit_command import SMALL

CREATE = ("ledger", "create", "l.jsonl", "--data", "made up", "--epsilon", "2")


@pytest.fixture
def ledger(run: Run, tmp_path: Path) -> Path:
    assert run(*CREATE)[0] == EXIT_FINE
    return tmp_path / "l.jsonl"


def count(path: Path) -> int:
    return len(ReleaseLedger.open(path).releases)


@pytest.mark.usefixtures("ledger")
def test_a_fit_is_counted_and_shown(run: Run) -> None:
    code, out, err = run("fit", *SMALL, "--ledger", "l.jsonl", "--splits", "2", "--epsilon", "1/2")
    assert (code, err.partition(":")[0]) == (EXIT_FINE, "warning")
    assert "2 release(s) in all" in out
    assert "No ledger counts" not in out
    code, out, err = run("ledger", "show", "l.jsonl")
    assert (code, err) == (EXIT_FINE, "")
    for words in ("made up", "ceiling: epsilon 2", "left: epsilon 1.", "2 x pdfc", "exact privacy"):
        assert words in out, words
    document = json.loads(run("ledger", "show", "l.jsonl", "--format", "json")[1])
    assert [one["mechanism"] for one in document["releases"]] == ["pdfc", "pdfc"]
    assert document["left_epsilon"] < "2"


def test_without_a_ledger_the_output_says_that_nobody_counts(run: Run) -> None:
    assert "No ledger counts these releases" in run("fit", *SMALL, "--release", "r.json")[1]
    assert json.loads(run("fit", *SMALL, "--format", "json")[1])["ledger"] is None
    assert "No ledger counts" not in run("fit", *SMALL, "--mechanism", "lr")[1]


def test_a_scale_beyond_the_grid_is_refused_before_anything_is_counted(run: Run, ledger: Path) -> None:
    for words in (
        ("--epsilon", "1e-9"),
        ("--epsilon-s", "1", "--epsilon-n", "1e-9"),
        ("--epsilon", "0.1", "--private-metrics", "1e-18"),
    ):
        code, _, err = run("fit", *SMALL, "--mechanism", "pdfc", "--ledger", "l.jsonl", *words)
        assert (code, "2^57 steps" in err) == (EXIT_USAGE, True), words
    assert count(ledger) == 0


def test_without_a_fixed_number_of_records_no_size_is_refused(run: Run, ledger: Path) -> None:
    """Each record is held out by a coin: one or two records often leave one side empty."""
    run("ledger", "create", "few.jsonl", "--data", "d", "--epsilon", "99", "--adjacency", "add_or_remove_one")
    words = (
        "--dimension",
        "2",
        "--adjacency",
        "add_or_remove_one",
        "--private-metrics",
        "1",
        "--test-share",
        "0.5",
    )
    for n in ("1", "2", "3"):
        for fairness in ("none", "absolute", "covariance", "separate"):
            some = ("fit", "--data", "synthetic", "--records", n, *words, "--fairness", fairness)
            code, out, err = run(
                *some, "--splits", "8", "--seed", "1", "--mechanism", "functional,adfc,lr", "--sensitivity", "9"
            )
            assert code == EXIT_FINE
            assert all(line.startswith("warning: all records have the group") for line in err.splitlines())
            assert "private metrics" in out
    code, _, _ = run(*some, "--splits", "8", "--mechanism", "pdfc", "--sensitivity", "9", "--ledger", "few.jsonl")
    assert (code, count(ledger.with_name("few.jsonl"))) == (EXIT_FINE, 16)
    # where their number is public it may be refused, before anything is counted
    one = ("fit", "--data", "synthetic", "--records", "1", "--dimension", "2", "--mechanism", "pdfc")
    code, _, err = run(*one, "--ledger", "l.jsonl")
    assert (code, count(ledger), "leave some on both sides" in err) == (EXIT_USAGE, 0, True)


def test_what_is_reserved_is_the_privacy_of_the_release(run: Run, ledger: Path) -> None:
    for name in ("pdfc", "adfc", "functional", "relaxed_functional", "pflr"):
        words = ("--mechanism", name, "--epsilon", "0.1", "--ledger", "l.jsonl", "--format", "json")
        delta = ("--delta", "1e-9") if name in ("adfc", "relaxed_functional") else ()
        if delta:
            run("ledger", "create", f"{name}.jsonl", "--data", "d", "--epsilon", "2", "--delta", "1e-6")
            words = (*words[:5], f"{name}.jsonl", *words[6:])
        document = json.loads(run("fit", *SMALL, *words, *delta)[1])
        counted = json.loads(run("ledger", "show", words[5], "--format", "json")[1])["releases"][-1]["privacy"]
        assert counted["exact"] == document["privacy"]["exact"]["per_release"]
    assert count(ledger) == 3


def test_private_metrics_are_counted_too(run: Run, ledger: Path) -> None:
    words = ("fit", *SMALL, "--ledger", "l.jsonl", "--private-metrics", "1/2", "--epsilon", "1/2")
    assert run(*words)[0] == EXIT_FINE
    assert [one.mechanism for one in ReleaseLedger.open(ledger).releases] == ["pdfc", "private_metrics"]
    assert ReleaseLedger.open(ledger).releases[1].privacy.exact.epsilon.upper == 0.5


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ("--splits 1000", "would spend"),
        ("--epsilon 1 --private-metrics 3", "(private_metrics) would spend"),
        ("--seed 1", "seeded"),
        ("--noise numpy", "numpy noise"),
        ("--mechanism lr", "one that adds noise"),
        ("--adjacency add_or_remove_one", "does not compose"),
        ("--mechanism adfc", "delta 0.001 in all, more than the ceiling: epsilon 2, delta 0"),
    ],
)
def test_what_cannot_be_counted_is_refused_before_all(run: Run, ledger: Path, options: str, said: str) -> None:
    code, out, err = run("fit", *SMALL, "--ledger", "l.jsonl", "--out", "r.txt", *options.split())
    assert (code, out) == (EXIT_USAGE, "")
    assert said in err
    assert (count(ledger), listing(ledger.parent)) == (0, {"l.jsonl"})


def test_data_outside_the_domain_are_refused_before_anything_is_counted(
    run: Run, ledger: Path, tmp_path: Path
) -> None:
    domain = {
        "schema": "domain_v1",
        "attributes": [{"name": "age", "kind": "numeric", "lower": 0, "upper": 9}],
        "label": {"column": "y", "one": [1], "zero": [0]},
        "group": {"column": "z", "one": [1], "zero": [0]},
    }
    (tmp_path / "d.json").write_text(json.dumps(domain))
    rows = [f"{i % 10},{i % 2},{i % 3 % 2}" for i in range(50)]
    words = ("fit", "--data", "p.csv", "--domain", "d.json", "--ledger", "l.jsonl", "--epsilon", "1/2")
    (tmp_path / "p.csv").write_text("\n".join(["age,y,z", *rows, "10,0,1"]))
    code, _, err = run(*words, "--block-rows", "7")
    assert (code, "age" in err, count(ledger)) == (EXIT_USAGE, True, 0)
    (tmp_path / "p.csv").write_text("\n".join(["age,y,z", *rows, "9,0,1"]))
    assert (run(*words, "--block-rows", "7")[0], count(ledger)) == (EXIT_FINE, 1)


def test_a_fit_that_fails_over_its_noise_stays_counted(run: Run, ledger: Path, monkeypatch) -> None:
    def failing(*_arguments, **_named):
        raise KeyboardInterrupt

    monkeypatch.setattr(evaluation, "evaluate", failing)
    run("fit", *SMALL, "--ledger", "l.jsonl")
    assert count(ledger) == 1


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("create l.jsonl --data d --epsilon 1", "exists already"),
        ("create new --epsilon 1", "data"),
        ("create new --data d", "epsilon"),
        ("create new --data d --epsilon 0", "epsilon"),
        ("create new --data d --epsilon 1 --method gdp", "delta"),
        ("create new --data d --epsilon 1 --method best", "best"),
        ("create nowhere/new --data d --epsilon 1", "cannot be made"),
        ("show", "FILE"),
        ("show new", "No such file or directory; make one with `cfm ledger create`"),
        ("show .", "folder"),
        ("show l.jsonl --epsilon 3", "left out"),
        ("forget l.jsonl", "create"),
    ],
)
def test_bad_words_are_one_line_and_leave_everything(run: Run, ledger: Path, words: str, said: str) -> None:
    before = ledger.read_bytes()
    code, out, err = run("ledger", *words.split())
    assert (code, out, err.count("\n")) == (EXIT_USAGE, "", 1)
    assert said in err
    assert (ledger.read_bytes(), listing(ledger.parent)) == (before, {"l.jsonl"})


def test_split_seed_repeats_the_splits_and_no_noise(run: Run) -> None:
    words = ("fit", *SMALL, "--format", "json", "--mechanism", "lr,pdfc")
    once, again = (json.loads(run(*words, "--split-seed", "5")[1]) for _ in range(2))
    seeded = json.loads(run(*words, "--seed", "5")[1])
    # the baseline has no noise: the same splits give the same w
    assert once[0]["w"] == again[0]["w"] == seeded[0]["w"]
    assert once[1]["releases"][0]["seeded"] is False
    assert once[1]["readings"]["noise"] == "hardened"
    assert seeded[1]["readings"]["noise"] == "numpy"
    assert once[1]["releases"][0]["noisy_eigenvalues"] != again[1]["releases"][0]["noisy_eigenvalues"]


def test_known_splits_are_refused_where_records_are_added(run: Run) -> None:
    """Known coins belong to places: one record more at the front would move all others to other coins."""
    words = ("fit", *SMALL, "--adjacency", "add_or_remove_one", "--mechanism", "pdfc")
    code, out, err = run(*words, "--split-seed", "5", "--test-share", "0.5")
    assert (code, out, err.count("\n")) == (EXIT_USAGE, "", 1)
    assert "whose splits must not be known" in err
    assert run(*words, "--test-share", "0.5")[0] == EXIT_FINE


def test_output_says_what_is_for_study(run: Run) -> None:
    assert "seeded: for study" in run("fit", *SMALL, "--seed", "1")[1]
    _, out, err = run("fit", *SMALL, "--noise", "numpy")
    assert "numpy noise: for study" in " ".join(out.split())
    assert err.startswith("warning: --noise numpy")
    assert "for study" not in run("fit", *SMALL)[1]
