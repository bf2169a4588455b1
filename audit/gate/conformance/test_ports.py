"""Ports of the paper in JavaScript, C and R pass what they answer; each with a planted bug is told which."""

from __future__ import annotations

import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest

from audit.conformance.exchange import Exchange
from audit.conformance.selection import chosen, report_of
from audit.gate.needs import require_or_skip

PORTS = Path(__file__).with_name("ports")


@dataclass(frozen=True)
class Port:
    """A port, what it answers at least, and a bug: the words that it changes, and its flag."""

    file: str
    needs: str
    exchange: Exchange
    passed: int
    right: str
    wrong: str
    flag: str
    seen_in: tuple[str, ...]


PROGRAMS = {
    "JavaScript": Port(
        "port.js",
        "node",
        "json",
        1420,
        "s * (laplace ? Math.SQRT2 : 1)",
        "s",
        "ShiftByScale",
        ("Minimiser",),
    ),
    "C": Port(
        "port.c",
        "cc",
        "flat",
        1432,
        'is("adjacency", "replace_one") ? 2 : 1',
        "1",
        "ReplaceOneAsAddOrRemove",
        ("Accounting", "Scale"),
    ),
    "R": Port(
        "port.R",
        "Rscript",
        "flat",
        1420,
        "ifelse(g$e == g$l, 1, 2) / 8",
        "1 / 8",
        "CrossTermsOnce",
        ("Coefficients", "Perturbation"),
    ),
}


def words(port: Port, text: str, folder: Path) -> list[str]:
    """Return the words that start a port with this source."""
    require_or_skip(
        shutil.which(port.needs) is not None, f"{port.needs} is not installed, so {port.file} is not run"
    )
    source = folder / port.file
    source.write_text(text, encoding="utf-8")
    if port.needs == "cc":
        built = folder / "port"
        flags = ["-std=c11", "-O1", "-Werror", "-Wall", "-I", str(PORTS)]
        subprocess.run(["cc", *flags, "-o", built, source, "-lm"], check=True)
        return [str(built)]
    return [port.needs, *(["--vanilla"] if port.needs == "Rscript" else []), str(source)]


@pytest.mark.parametrize(
    ("language", "every"),
    [
        *(("JavaScript", 10), ("C", 1), ("R", 20)),
        *(pytest.param(slow, 1, marks=pytest.mark.lengthy) for slow in ("JavaScript", "R")),
    ],
)
def test_port_passes_every_case_that_it_answers(language, every, tmp_path):
    """Sensitivities take R twenty seconds, and JavaScript two: a few are asked of them."""
    port = PROGRAMS[language]
    command = words(port, (PORTS / port.file).read_text(encoding="utf-8"), tmp_path)
    work = [one for number, one in enumerate(chosen()) if one[0] != "Sensitivity" or number % every == 0]
    report = report_of(command, work, port.exchange, timeout=120)
    statuses = [one.status for one in report.outcomes]
    assert set(statuses) <= {"passed", "skipped"}, list(report.lines())
    assert statuses.count("passed") >= port.passed - (len(chosen()) - len(work))


@pytest.mark.parametrize("language", PROGRAMS)
def test_port_with_a_planted_bug_is_told_which(language, tmp_path):
    port = PROGRAMS[language]
    text = (PORTS / port.file).read_text(encoding="utf-8")
    assert text.count(port.right) == 1
    command = words(port, text.replace(port.right, port.wrong), tmp_path)
    report = report_of(command, chosen(port.seen_in), port.exchange, timeout=120)
    assert [(one.flag, one.is_certain) for one in report.diagnoses] == [(port.flag, True)]
    assert report.verdict == "refuted"


def test_bug_that_no_variant_has_is_not_named_for_certain(tmp_path):
    port = PROGRAMS["C"]
    header = (PORTS / "exchange.h").read_text(encoding="utf-8")
    rational = "*e == '/' ? p / strtod(e + 1, NULL) : p"
    assert header.count(rational) == 1
    # the compiler looks beside the source first
    (tmp_path / "exchange.h").write_text(header.replace(rational, "p"), encoding="utf-8")
    report = report_of(
        words(port, (PORTS / port.file).read_text(encoding="utf-8"), tmp_path),
        chosen(("Scale", "FairnessMetric")),
        "flat",
        timeout=120,
    )
    assert not any(one.is_certain for one in report.diagnoses)
    assert report.unexplained > len(report.outcomes) / 2
    assert any("match no bug that has a name here" in line for line in report.lines())
    assert not any("another bug" in line for line in report.lines())
