"""``python -m audit compare``: silent on the reference, and a small case for each planted bug."""

from __future__ import annotations

import json
import os
import shlex
import sys

import pytest

from audit.conformance.differential import MOST_STARTS, compare, made
from audit.conformance.program import Reply
from audit.conformance.selection import command_of
from audit.gate.conformance.written import python_program
from audit.gate.running import program
from audit.vectors.build import mutated
from audit.vectors.format import COMPARED, VectorFile
from audit.vectors.sources.registry import expected
from reference.common.documents import read_file
from reference.common.exit_codes import EXIT_FINE, EXIT_REFUTED, EXIT_UNDECIDED, EXIT_USAGE

METRICS = """
from fractions import Fraction as F
def rate(values): return "none" if not values else str(F(sum(values), len(values)))
def metrics(i):
    dots = [sum(F(a) * F(b) for a, b in zip(row, i["w"])) for row in i["x"]]
    y, z, found = [v == "1" for v in i["y"]], [int(v) for v in i["z"]], [d > 0 for d in dots]
    ones = [[p for p, g in zip(found, z) if g == group] for group in (0, 1)]
    rates = [rate(part) for part in ones]
    difference = "none" if "none" in rates else str(abs(F(rates[1]) - F(rates[0])))
    centre = F(sum(z), len(z))
    covariance = str(sum((g - centre) * d for g, d in zip(z, dots)))
    accuracy = rate([p == t for p, t in zip(found, y)])
    return dict(accuracy=accuracy, positiveRate=rate(found), riskDifference=difference,
        positiveRateGroup0=rates[0], positiveRateGroup1=rates[1], boundaryCovariance=covariance)
for c in cases():
    if c["type"] != "FairnessMetric": say(tcId=c["tcId"], skip="not done")
    else: say(tcId=c["tcId"], **metrics(c["inputs"]))
"""
"""A port of one group type."""


def run(capsys, code: str, *words: str) -> tuple[int, str, str]:
    asked = ["compare", "--timeout", "60", "--count", "12", "--program", shlex.join(python_program(code))]
    done = program()([*asked, *words])
    captured = capsys.readouterr()
    return done, captured.out, captured.err


def test_reference_as_a_port_is_right_on_every_data_set(tmp_path, monkeypatch):
    text = (
        "from audit.vectors.answers import answer as right\nfrom audit.vectors.steps import Steps\n"
        "def answer(kind, inputs): return right(Steps(), kind, inputs)\n"
    )
    (tmp_path / "reference_as_a_port.py").write_text(text, encoding="utf-8")
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(tmp_path), *sys.path]))
    found = compare(command_of(None, "reference_as_a_port"), count=40, timeout=60)
    assert [one.status for one in found.report.outcomes] == ["passed"] * 40 * len(COMPARED)
    assert (found.report.verdict, found.set_aside, found.smallest) == ("not refuted", 0, [])


@pytest.mark.parametrize(
    ("kind", "flag"),
    [
        ("Domain", "NanPassesClipping"),
        ("Coefficients", "CrossTermsOnce"),
        ("FairnessMetric", "CovarianceNotCentred"),
        ("Release", "WholeEpsilonForEach"),
    ],
)
def test_planted_bug_is_found_shrunk_and_named(kind, flag, monkeypatch, tmp_path):
    monkeypatch.setenv("HYPOTHESIS_STORAGE_DIRECTORY", str(tmp_path / "home"))
    starts = []

    def answered(_command, work, *_, **__):
        starts.append(len(work))
        return {case.tc_id: Reply("answered", mutated(flag, kind, case.given)) for kind, case in work}

    monkeypatch.setattr("audit.conformance.differential.run_program", answered)
    (found,) = compare(["mutant"], kinds=[kind], count=40).smallest
    assert flag in found.case.flags
    assert len(found.case.given.get("rows") or found.case.given["x"]) == 1
    assert starts[0] == 40
    assert 1 < len(starts) <= MOST_STARTS + 1
    # hypothesis leaves nothing behind
    assert not (tmp_path / "home").exists()


def test_data_set_on_which_our_sources_differ_is_counted_and_not_asked(capsys, monkeypatch):
    monkeypatch.setattr("audit.conformance.differential.answer", lambda *_: {"accuracy": "2"})
    code, out, _ = run(capsys, METRICS, "--only", "FairnessMetric")
    assert code == EXIT_UNDECIDED
    assert "12 set aside" in out


def test_bug_of_a_program_is_saved_as_a_candidate_that_the_types_read(capsys, tmp_path, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    saved = tmp_path / "candidates.json"
    assert METRICS.count("d > 0") == 1
    code, out, _ = run(capsys, METRICS.replace("d > 0", "d >= 0"), "--save", str(saved))
    assert code == EXIT_REFUTED
    assert "it answers as TiesPredictedOne does" in out
    assert [line for line in out.splitlines() if len(line) > 80 and " " in line.strip()] == []
    file = read_file(saved, VectorFile)
    (case,) = file.cases
    assert (file.test_groups[0].type, file.number_of_tests) == ("FairnessMetric", 1)
    assert set(case.flags) == set(file.notes)
    assert case.right == expected("FairnessMetric", case.given)[0]
    assert len(case.given["x"]) == 1


def test_right_program_is_not_refuted_and_saves_nothing(capsys, tmp_path):
    saved = tmp_path / "candidates.json"
    code, out, err = run(capsys, METRICS, "--save", str(saved), "--format", "json")
    document = json.loads(out)
    assert (code, err, document["smallest"]) == (EXIT_FINE, "", [])
    assert document["counts"] == {"passed": 12, "skipped": 36}
    assert not saved.exists()


def test_crash_on_some_data_sets_is_made_small(capsys):
    crash = METRICS.replace("    centre =", "    if min(map(len, ones)) == 0: sys.exit(9)\n    centre =")
    code, out, _ = run(capsys, crash, "--only", "FairnessMetric", "--format", "json")
    (found,) = json.loads(out)["smallest"]
    assert (code, found["status"]) == (EXIT_REFUTED, "crash")
    assert "exit code 9" in found["said"]
    assert len(found["case"]["inputs"]["x"]) == 1


def test_program_that_never_answers_decides_nothing(capsys, monkeypatch):
    monkeypatch.setattr("audit.conformance.program.PATIENCE", 3)
    code, out, _ = run(capsys, "sys.exit(1)", "--only", "Domain")
    assert code == EXIT_UNDECIDED
    assert "verdict: undecided" in out


def test_data_sets_depend_on_the_seed_only_and_some_are_refused():
    first, second = made("Domain", 40, 1), made("Domain", 40, 1)
    assert first == second
    assert first != made("Domain", 40, 2)
    assert {case.result for case in first} == {"valid", "invalid"}


@pytest.mark.parametrize("words", [("--only", "Scale"), ("--count", "0"), ("--timeout", "0"), ("--import", "b")])
def test_bad_options_of_compare_are_usage(words, capsys):
    code, _, err = run(capsys, METRICS, *words)
    assert code == EXIT_USAGE
    assert err.count("\n") == 1
