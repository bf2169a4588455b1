"""``python -m audit accountant``: verdicts, exit codes, functions and libraries that are asked."""

from __future__ import annotations

import json
import sys

import numpy as np
import pytest

from audit.commands.accountant import command
from audit.exact import accountant
from reference.commands.parsing import run
from reference.common.exit_codes import EXIT_FINE, EXIT_REFUTED, EXIT_UNDECIDED, EXIT_USAGE

HERE = __name__
KNOWN = ["--reported-epsilon", "4.728", "--sigma", "1", "--bound", "1", "--delta", "1e-5"]


def asked(*words: str) -> int:
    return run(command, words, name="python -m audit accountant")


def moved(bound: float, adjacency: str) -> float:
    return 2 * bound if adjacency == "replace_one" else bound


def right(*, noise, adjacency, scale, delta, count, bound):
    """Account for the neighbours that are asked about, rounded up."""
    assert (noise, delta) == ("laplace", 0)
    return count * moved(bound, adjacency) / scale * (1 + 1e-12)


def halved(**facts):
    """Account for replacing a record as for adding or removing one."""
    return right(**(facts | {"adjacency": "add_or_remove_one"}))


def composed_by_root(*, count, **facts):
    return right(count=count**0.5, **facts)


def of_array(**_facts):
    return np.array([1.0, 2.0])


def of_less_than_nothing(**_facts):
    return -np.inf


def of_nothing(**_facts):
    return float("nan")


def of_truth(**_facts):
    return True


def of_numpys_truth(**_facts):
    return np.True_


class Unconverted:
    """An answer like a lazy number whose computation fails."""

    def __float__(self):
        raise RuntimeError("no value")


def of_no_value(**_facts):
    return Unconverted()


def infinite(**_facts):
    """Give up, as libraries do where they have no finite answer."""
    return np.float64("inf")


def test_infinite_report_claims_nothing_and_is_a_verdict(capsys):
    for words in ([f"{HERE}:infinite"], ["--reported-epsilon", "inf"], ["--reported-epsilon", " Inf"]):
        assert asked(*words, "--bound", "1") == EXIT_FINE
        text = capsys.readouterr().out
        assert "reported: epsilon = inf" in text
        assert "not refuted: " in text
        assert "claims nothing: an infinite epsilon is never too small" in text
        assert asked(*words, "--bound", "1", "--format", "json") == EXIT_FINE
        found = json.loads(capsys.readouterr().out)
        assert (found["reported_epsilon"], found["verdict"]) == ("inf", "not refuted")
    # a finite report that is too small, however large, is refuted
    assert (
        asked("--reported-epsilon", "1e5", "--noise", "laplace", "--bound", "1", "--count", "100000")
        == EXIT_REFUTED
    )


def test_known_report_is_refuted_for_replace_one_and_not_for_the_other(capsys):
    assert asked(*KNOWN) == EXIT_REFUTED
    text = capsys.readouterr().out
    assert "epsilon = 9.99726 under replace_one" in text
    assert "epsilon = 4.37718 under add_or_remove_one" in text
    assert "refuted: the report is certainly below, by at least 5.26926" in text
    assert "adds at most 1 (l2): replacing it moves the sum by up to 2, removing it by up to 1" in text
    assert asked(*KNOWN, "--adjacency", "add_or_remove_one") == EXIT_FINE
    assert "not refuted: the report is not below, and at most 0.350822 above" in capsys.readouterr().out


def test_json_says_what_was_judged_and_how(capsys):
    assert asked(*KNOWN, "--format", "json") == EXIT_REFUTED
    found = json.loads(capsys.readouterr().out)
    assert found["verdict"] == "refuted"
    assert found["reported_epsilon"] == "4.728"
    assert found["exact_epsilon"] == found["exact_epsilons"]["replace_one"]
    assert float(found["exact_epsilon"]["lo"]) == pytest.approx(9.99725614643430)
    assert found["sensitivity"] == "2"
    assert found["rerun"] == "python -m audit accountant --reported-epsilon 4.728 --sigma 1 --bound 1 --delta 1e-5"


def test_sensitivity_is_taken_as_it_stands(capsys):
    words = ["--noise", "laplace", "--sensitivity", "3", "--scale", "2", "--count", "2", "--reported-epsilon"]
    assert asked(*words, "3") == EXIT_FINE
    assert "add_or_remove_one" not in capsys.readouterr().out
    for report, equal in (("3.00000000000001", True), ("3.0001", False)):
        assert asked(*words, report) == EXIT_FINE
        assert ("equal to the true one within rounding" in capsys.readouterr().out) is equal
    assert asked(*words, "2.9999999999999999999999") == EXIT_REFUTED
    assert "round up" in capsys.readouterr().out


def test_report_inside_the_enclosure_is_undecided(capsys, monkeypatch):
    # a grid that is far too coarse
    monkeypatch.setattr(accountant, "MOST_PLACES", 100)
    words = ["--noise", "laplace", "--sensitivity", "1", "--scale", "100", "--count", "1000", "--delta", "1e-6"]
    assert asked(*words, "--reported-epsilon", "1") == EXIT_UNDECIDED
    assert " wide: the losses on a grid" in capsys.readouterr().out


@pytest.mark.parametrize("adjacency", ["replace_one", "add_or_remove_one"])
def test_right_function_is_not_refuted(adjacency):
    words = ["--noise", "laplace", "--bound", "0.3", "--scale", "0.7", "--count", "5", "--adjacency", adjacency]
    assert asked(f"{HERE}:right", *words) == EXIT_FINE


@pytest.mark.parametrize("broken", ["halved", "composed_by_root"])
def test_broken_function_is_refuted(broken):
    assert asked(f"{HERE}:{broken}", "--noise", "laplace", "--bound", "1", "--count", "4") == EXIT_REFUTED


@pytest.mark.parametrize("noise", ["laplace", "gaussian"])
@pytest.mark.parametrize("count", ["1", "7"])
def test_opendp_is_not_refuted(noise, count, capsys):
    pytest.importorskip("opendp")
    words = ["--noise", noise, "--bound", "0.1", "--scale", "0.3", "--count", count, "--format", "json"]
    assert asked("opendp", *words) == EXIT_FINE
    found = json.loads(capsys.readouterr().out)
    assert found["accountant"] == "opendp"


def test_library_that_is_not_installed_is_named(capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, "dp_accounting", None)
    assert asked("dp-accounting-rdp", "--bound", "1") == EXIT_USAGE
    assert "dp-accounting is not installed: pip install dp-accounting" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--bound", "1"], "reported_epsilon must be given, or an ACCOUNTANT"),
        (["opendp", "--bound", "1", "--reported-epsilon", "1"], "one of them"),
        (["--reported-epsilon", "1"], "bound or sensitivity must be given, and not both"),
        (["--reported-epsilon", "1", "--bound", "1", "--sensitivity", "2"], "given, and not both"),
        (["--reported-epsilon", "-1", "--bound", "1"], "reported_epsilon must be at least 0"),
        (["--reported-epsilon", "1", "--bound", "1", "--delta", ""], "delta must be a number"),
        (["--reported-epsilon", "-inf", "--bound", "1"], "reported_epsilon must be a finite number"),
        ([f"{HERE}:of_less_than_nothing", "--bound", "1"], "which is not a number"),
        (["--reported-epsilon", "nan", "--bound", "1"], "reported_epsilon must be a finite number"),
        (["--reported-epsilon", "1", "--bound", "0"], "bound must be between"),
        (["--reported-epsilon", "1", "--bound", "1", "--delta", "0"], "delta must be positive with gaussian"),
        (["no_such_module:f", "--bound", "1"], "no_such_module:f cannot be imported"),
        ([f"{HERE}:KNOWN", "--bound", "1"], "with the keywords noise, adjacency, count, scale, delta, bound)"),
        ([f"{HERE}:of_nothing", "--bound", "1"], "which is not a number"),
        ([f"{HERE}:of_array", "--bound", "1"], "which is not a number"),
        ([f"{HERE}:of_truth", "--bound", "1"], "reported True, which is not a number"),
        ([f"{HERE}:of_numpys_truth", "--bound", "1"], "which is not a number"),
        ([f"{HERE}:of_no_value", "--bound", "1"], "which is not a number"),
        (["dp-accounting-rdp", "--sensitivity", "1"], "bound must be given"),
    ],
)
def test_bad_input_is_one_line(words, said, capsys):
    assert asked(*words) == EXIT_USAGE
    captured = capsys.readouterr()
    assert captured.out == ""
    assert said in captured.err
    assert captured.err.count("\n") == 1


def test_a_module_is_told_to_name_its_function(capsys):
    assert asked(HERE, "--sensitivity", "1") == EXIT_USAGE
    assert f"name the function, as in {HERE}:report" in capsys.readouterr().err


def test_two_names_of_the_scale_are_refused_together_and_mean_the_same(capsys):
    words = ["--reported-epsilon", "2", "--noise", "laplace", "--sensitivity", "2"]
    assert asked(*words, "--scale", "2", "--sigma", "1") == EXIT_USAGE
    assert "sigma must be left out with --scale" in capsys.readouterr().err
    assert [asked(*words, *more) for more in ([], ["--sigma", "1"], ["--scale", "1"], ["--scale", "0.5"])] == [
        EXIT_FINE,
        EXIT_FINE,
        EXIT_FINE,
        EXIT_REFUTED,
    ]


@pytest.mark.parametrize(
    ("reported", "shown"),
    [("1.9999999", "1.9999999"), ("2", "2"), ("1.5", "1.5"), ("2.0000000000000000001", "2.0000000000000000001")],
)
def test_a_report_is_shown_in_as_many_digits_as_tell_it_from_the_truth(reported, shown, capsys):
    asked("--reported-epsilon", reported, "--noise", "laplace", "--sensitivity", "2")
    said = capsys.readouterr().out
    assert f"reported: epsilon = {shown}\n" in said
    assert "true:     epsilon = 2 under" in said
