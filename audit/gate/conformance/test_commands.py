"""``python -m audit conformance`` and the pytest plugin, from the outside."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

from audit.gate.conformance.written import HONEST, python_program
from audit.gate.running import program
from reference.common.exit_codes import EXIT_FINE, EXIT_REFUTED, EXIT_UNDECIDED, EXIT_USAGE

BROKEN = HONEST.replace("noisy(c)", "[2 * v for v in noisy(c)]")

SIGMA_AS_VARIANCE = (
    "def noisy(c):\n    i = c['inputs']\n    if i['noise'] == 'laplace': return list(right(c))\n"
    "    i.update({k: str(eval(i[k]) ** 0.5) for k in ('scaleS', 'scaleN')})\n    return list(right(c))\n" + HONEST
)


def words(code: str) -> list[str]:
    return [
        "conformance",
        "--only",
        "Perturbation",
        "--timeout",
        "60",
        "--program",
        shlex.join(python_program(code)),
    ]


def run(capsys, *arguments: str) -> tuple[int, str, str]:
    code = program()(arguments)
    captured = capsys.readouterr()
    return code, captured.out, captured.err


def test_right_program_is_not_refuted(capsys):
    code, out, err = run(capsys, *words(HONEST))
    assert (code, err) == (EXIT_FINE, "")
    assert "Perturbation: 32 passed" in out
    assert "not refuted" in out


def test_planted_bug_is_diagnosed_in_text_json_and_junit(capsys, tmp_path):
    junit = tmp_path / "report.xml"
    code, out, _ = run(capsys, *words(SIGMA_AS_VARIANCE), "--junit", str(junit))
    assert code == EXIT_REFUTED
    assert "this is SigmaAsVariance" in " ".join(out.split())
    root = ET.fromstring(junit.read_text(encoding="utf-8"))
    (suite,) = root
    assert (suite.get("tests"), suite.get("failures"), suite.get("errors")) == ("32", "15", "0")
    code, out, _ = run(capsys, *words(SIGMA_AS_VARIANCE), "--format", "json")
    document = json.loads(out)
    assert [one["flag"] for one in document["diagnoses"]] == ["SigmaAsVariance"]
    assert (document["verdict"], document["counts"]) == ("refuted", {"passed": 17, "failed": 15})


def test_program_that_skips_everything_leaves_it_undecided(capsys):
    code, out, _ = run(capsys, *words("for c in cases(): say(tcId=c['tcId'], skip='nothing is done yet')"))
    assert code == EXIT_UNDECIDED
    assert "nothing is done yet" in out


def test_module_is_imported_apart_from_the_runner(capsys, tmp_path, monkeypatch):
    text = (
        "from fractions import Fraction as F\n"
        "def answer(kind, inputs):\n"
        "    if kind != 'Sensitivity': raise NotImplementedError\n"
        "    if inputs['dimension'] == '9': return 1 / 0\n"
        "    d = F(inputs['dimension'])\n"
        "    print('said on the way')\n"
        "    return {'value': str(d * d / 4 + (d if inputs['fairness'] == 'none' else 3 * d))}\n"
    )
    (tmp_path / "port_of_mine.py").write_text(text, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    code, out, _ = run(capsys, "conformance", "--import", "port_of_mine", "--only", "4001,4007,4031,2001")
    assert code == EXIT_REFUTED
    assert "Sensitivity: 2 passed, 1 crash" in out
    assert "ZeroDivisionError" in out
    assert "Coefficients: 1 skipped" in out


def test_list_names_cases_and_flags(capsys):
    code, out, _ = run(capsys, "conformance", "--list", "--only", "NanPassesClipping", "--format", "json")
    listing = json.loads(out)
    assert (code, list(listing["cases"])) == (EXIT_FINE, ["Domain"])
    assert "SigmaAsVariance" in listing["flags"]


@pytest.mark.parametrize(
    "arguments",
    [
        (),
        ("--program", "a", "--import", "b"),
        ("--program", "'"),
        ("--program", "/no/such/program"),
        ("--program", "true", "--only", "Nonsense"),
        ("--program", "true", "--timeout", "0"),
    ],
)
def test_bad_options_are_usage(capsys, arguments):
    code, _, err = run(capsys, "conformance", *arguments)
    assert code == EXIT_USAGE
    assert err


def test_vectors_are_described_and_checked(capsys):
    code, out, _ = run(capsys, "vectors", "describe", "--format", "json")
    found = json.loads(out)
    assert code == EXIT_FINE
    assert sum(found["cases"].values()) >= 800
    assert len(found["flags"]) > 100
    assert found["flags"]["SigmaAsVariance"]["cases"] > 0


def plugged(folder: Path, *asked: str, first: str = "") -> subprocess.CompletedProcess[str]:
    """Run pytest with the plugin on another project, after some code."""
    code = f"{first}\nimport pytest, sys\nsys.exit(pytest.main(sys.argv[1:]))"
    words = ("-q", "-p", "audit.conformance.pytest_plugin", "-p", "no:cacheprovider", *asked)
    environment = {
        **os.environ,
        "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
        "PYTEST_ADDOPTS": "",
        # without colours, also where it refuses its options
        "PY_COLORS": "0",
        "PYTHONPATH": os.pathsep.join(sys.path),
    }
    return subprocess.run(
        [sys.executable, "-c", code, *words],
        cwd=folder,
        env=environment,
        check=False,
        capture_output=True,
        text=True,
    )


def test_plugin_gives_another_project_a_test_per_case(tmp_path):
    program = shlex.join(python_program(SIGMA_AS_VARIANCE))
    done = plugged(tmp_path, "--cfm-program", program, "--cfm-only", "Perturbation", "--cfm-timeout", "60")
    assert "15 failed, 17 passed" in done.stdout, done.stdout + done.stderr
    assert "this is SigmaAsVariance" in done.stdout
    assert "bugs that this case catches: " in done.stdout
    assert "no tests ran" in plugged(tmp_path).stdout


@pytest.mark.parametrize(
    ("words", "first", "said"),
    [
        (["--cfm-only", "Nonsense"], "", "--cfm-only must be a group type ("),
        (["--cfm-import", "mine"], "", "--cfm-program and --cfm-import: give one of the two"),
        (["--cfm-program", "'"], "", "--cfm-program must be words of a command line"),
        (["--cfm-timeout", "0"], "", "--cfm-timeout must be positive"),
        # the core, without the extra
        ([], "import sys; sys.modules['mpmath'] = None", "a run of the vectors needs mpmath: pip install "),
    ],
)
def test_plugin_refuses_in_one_line(words, first, said, tmp_path):
    done = plugged(tmp_path, "--cfm-program", "true", *words, first=first)
    assert done.returncode == pytest.ExitCode.USAGE_ERROR, done.stdout + done.stderr
    (line,) = filter(None, done.stderr.splitlines())
    assert line.startswith(f"ERROR: {said}")


@pytest.mark.parametrize(
    ("value", "said", "runs"),
    # two for each case, for all that are left and for it alone, and one without any
    [("./no-such-port", "was not found", 0), ("sh {port}", "exit code 2: 'no library'", 6)],
)
def test_plugin_tries_once_a_program_that_cannot_start(value, said, runs, tmp_path):
    port, starts = tmp_path / "port.sh", tmp_path / "starts"
    port.write_text(f"echo >> {starts}\necho no library >&2\nexit 2\n", encoding="utf-8")
    done = plugged(
        tmp_path, "--cfm-program", value.format(port=port), "--cfm-only", "6001,6002,6003", "--cfm-timeout", "60"
    )
    assert "3 failed" in done.stdout, done.stdout + done.stderr
    reasons = [line for line in done.stdout.splitlines() if line.startswith("--cfm-program ")]
    # each case, and the diagnosis
    assert len(reasons) == 4
    assert len(set(reasons)) == 1
    assert said in reasons[0]
    assert "--import" not in done.stdout
    assert (starts.read_text(encoding="utf-8").count("\n") if starts.exists() else 0) == runs
