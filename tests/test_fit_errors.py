"""``python -m reference fit``: its exit codes, its errors, and the files it writes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from reference.commands import evaluation
from reference.common.arrays import BoolArray
from reference.common.errors import InputError
from reference.common.exit_codes import EXIT_FINE, EXIT_UNDECIDED, EXIT_USAGE
from tests.command_lines import program
from tests.fit_command import SMALL, CommandLine

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
    assert fit.run(*SMALL, "--mechanism", "lr,pdfc", "--epsilon", "0")[0] == EXIT_USAGE
    assert fit.run(*SMALL, "--mechanism", "lr,pdfc", "--x-s", "nope")[0] == EXIT_USAGE
    code, _, err = fit.run(*SMALL, "--mechanism", "lr,pdfc")
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


# --- A true process ------------------------------------------------------------------------------------------


def test_process_ends_with_2_on_bad_input(tmp_path: Path) -> None:
    done = program("fit", *SMALL, "--epsilon", "0", "--out", "fit.json", folder=tmp_path)
    assert (done.returncode, done.stdout) == (EXIT_USAGE, b"")
    assert done.stderr == b"error: epsilon must be positive, not '0'\n"
    assert list(tmp_path.iterdir()) == []


def test_process_without_a_command_lists_the_commands(tmp_path: Path) -> None:
    done = program(folder=tmp_path)
    assert (done.returncode, done.stderr) == (EXIT_FINE, b"")
    assert b"experiments" in done.stdout


# --- Files of which more than one value is wrong -------------------------------------------------------------

PEOPLE = "age,hours,income,sex\n" + "".join(
    f"{20 + i},{i % 40},{'high' if i % 3 else 'low'},{'M' if i % 2 else 'F'}\n" for i in range(40)
)
DECLARED = """{"schema": "domain_v1",
 "attributes": [{"name": "age", "kind": "numeric", "lower": 18, "upper": 98},
                {"name": "hours", "kind": "numeric", "lower": 0, "upper": 40}],
 "label": {"column": "income", "one": ["high"], "zero": ["low"]},
 "group": {"column": "sex", "one": ["M"], "zero": ["F"]}}"""
FILE = ("--data", "people.csv", "--domain", "domain.json", "--seed", "1", "--quiet")


@pytest.fixture
def people(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "domain.json").write_text(DECLARED, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path / "people.csv"


@pytest.mark.parametrize("mechanism", ["pdfc", "repaired"])
@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        (
            "21,1,high,M\n22,2,high,F\n",
            "21,NA,high,M\n22,,high,F\n",
            "declare what it counts as with `missing`; missing values: hours 2 (file people.csv",
        ),
        (
            "21,1,high,M\n22,2,high,F\n",
            "21,,high,\n,,,F\n",
            "missing values: age 1, hours 2, income 1, sex 1 (file people.csv, row 3, line 4, column 'age'",
        ),
        ("21,1,high,M", "21,1,middle,M", "is not 'low' or 'high'; 3 distinct values occur where 2 are declared"),
        ("21,1,high,M", "21,1,high,X", "is not 'F' or 'M'; 3 distinct values occur where 2 are declared"),
        (
            "21,1,high,M",
            "21,,high,M",
            "error: missing value; fill it in, or declare what it counts as with `missing`",
        ),
        (
            "21,1,high,M",
            "21,,high,M",
            "missing` (file people.csv, row 2, line 3, column 'hours', an empty cell)\n",
        ),
        (
            "21,1,high,M",
            "21,1,,M",
            "missing value where 'low' or 'high' is declared (file people.csv, row 2, line",
        ),
        ("21,1,high,M", "21,1,high,", "missing value where 'F' or 'M' is declared (file people.csv, row 2, line"),
        # one value is wrong, and nothing is said of several
        (
            "21,1,high,M",
            "21,x,high,M",
            "declare the column's categories (file people.csv, row 2, line 3, column 'hours', value 'x')\n",
        ),
        (
            "21,1,high,M\n22,2,high,F\n",
            "21,1,high,X\n22,y,high,F\n",
            "row 3, line 4, column 'hours', value 'y'); also wrong: row 2, column 'sex', value 'X'\n",
        ),
    ],
)
def test_what_is_wrong_with_a_table_is_told(
    fit: CommandLine, people: Path, mechanism: str, old: str, new: str, said: str
) -> None:
    assert old in PEOPLE
    people.write_text(PEOPLE.replace(old, new), encoding="utf-8")
    code, out, err = fit.run(*FILE, "--mechanism", mechanism)
    assert (code, out) == (EXIT_USAGE, "")
    assert said in err
    assert err.count("\n") == 1


@pytest.mark.parametrize("mechanism", ["pdfc", "repaired"])
def test_records_of_one_group_warn_the_data_holder(fit: CommandLine, people: Path, mechanism: str) -> None:
    said = "warning: all records have the group F, so the fairness term compares nothing"
    for text, is_warned in ((PEOPLE.replace(",M\n", ",F\n"), True), (PEOPLE, False)):
        people.write_text(text, encoding="utf-8")
        code, _, err = fit.run(*FILE, "--mechanism", mechanism)
        assert (code, said in err) == (EXIT_FINE, is_warned)


@pytest.mark.parametrize("options", ["", "--seed 1", "--split-seed 2"])
def test_splits_are_the_same_for_every_mechanism_of_one_call(
    fit: CommandLine, monkeypatch: pytest.MonkeyPatch, options: str
) -> None:
    """Without a seed, too: else a difference of mechanisms could be one of the records that they were shown."""
    if "--seed" not in options:
        pytest.importorskip("opendp")
    seen: list[bytes] = []
    kept = evaluation._held_out

    def watched(*given: Any) -> BoolArray:
        held_out = kept(*given)
        seen.append(held_out.tobytes())
        return held_out

    monkeypatch.setattr(evaluation, "_held_out", watched)
    code, _, _ = fit.run(*SMALL, "--mechanism", "pdfc,functional,lr", "--splits", "3", "--quiet", *options.split())
    assert code == EXIT_FINE
    first, second, third = seen[:3], seen[3:6], seen[6:]
    assert first == second == third
    assert len(set(first)) == 3
