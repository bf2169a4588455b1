"""The book: its first page runs as it is printed, and Sphinx builds it without a warning."""

from __future__ import annotations

import re
import runpy
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from audit.commands.cfm import command
from reference.commands.parsing import run

ROOT = Path(__file__).parents[1]
START = ROOT / "docs" / "start.md"


def blocks(language: str) -> list[str]:
    text = START.read_text(encoding="utf-8")
    return [
        code
        for name, code in re.findall(r"^```(\w*)\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)
        if name == language
    ]


def test_first_page_runs_from_top_to_bottom(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (table,), (domain,) = blocks("python"), blocks("json")
    exec(compile(table, str(START), "exec"), {})
    Path("domain.json").write_text(domain, encoding="utf-8")
    lines = [line for block in blocks("") for line in block.splitlines() if line.startswith("cfm ")]
    assert len(lines) == 10
    printed = {}
    for line in lines:
        # an audit without a seed refutes a right mechanism in up to one run of twenty
        words = shlex.split(line) + ["--seed", "1"] * line.startswith("cfm audit estimate")
        assert words[0] == "cfm"
        code = run(command, words[1:], name="cfm")
        printed.setdefault(line.split(" --")[0], []).append(capsys.readouterr().out)
        # the theorem is refuted, but not where x_s gets more noise and d is not 2
        assert code == ("privacy" in line and "--epsilon-s 0.25" not in line), line
    refuted, metrics, _ = blocks("text")
    without, holds, in_two = printed["cfm audit privacy adfc"]
    assert refuted in without
    assert "unit_ball" in without
    for said, out in (("verdict: holds (enclosed)", holds), ("verdict: refuted", in_two)):
        assert (f"`{said}`" in START.read_text(encoding="utf-8"), said in out) == (True, True)
    (fitted,) = printed["cfm fit"]
    for line in metrics.splitlines():
        # names and what the numbers are, not the numbers
        assert re.split(r"\s+-?\d\.\d+", line)[0] in fitted
    assert "(one standard error)" in metrics
    assert "(one standard error)" in fitted
    assert "by 1 release" not in printed["cfm ledger create ledger.jsonl"][0]
    assert Path("predictions.csv").read_text(encoding="utf-8").startswith("row,score,prediction,note")


def test_book_shows_every_formula_without_a_network():
    mathml = runpy.run_path(str(ROOT / "docs" / "conf.py"))["mathml"]
    for page in (*ROOT.glob("docs/**/*.md"), *ROOT.glob("proofs/**/*.md")):
        text = re.sub(r"```.*?```|`[^`]*`", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
        for formula in re.findall(r"\$\$.+?\$\$|\$.+?\$", text, re.DOTALL):
            assert mathml(formula.strip("$"), block=formula.startswith("$$")).startswith("<math"), formula
    assert mathml(r"\frac18\sum", block=False) == mathml(r"\frac{1}{8}\sum", block=False)
    assert "accent" not in mathml(r"\bar z", block=False)


@pytest.mark.exhaustive
def test_book_builds_without_a_warning(tmp_path):
    """The builder that only parses: links, toctrees, docstrings and options, without writing pages."""
    words = [sys.executable, "-m", "sphinx", "-q", "-W", "-c", "docs", "-b", "dummy", "-d", str(tmp_path), "."]
    found = subprocess.run([*words, str(tmp_path / "out")], cwd=ROOT, capture_output=True, text=True, check=False)
    assert (found.returncode, found.stderr) == (0, "")


def test_every_paper_that_a_page_names_is_in_the_bibliography():
    """Names and a year, as in "Dong, Roth, Su (2022)": an entry has one of the names and that year."""
    entries = re.findall(
        r"^@\w+\{(.*?)^\}$", (ROOT / "docs" / "references.bib").read_text(), re.DOTALL | re.MULTILINE
    )
    names = r"[A-Z][a-z]+(?:(?:, | and |, and )[A-Z][a-z]+)+|[A-Z][a-z]+ et al\."
    named = re.compile(rf"({names}),? \(?(?:[A-Z][\w ]*? )?((?:19|20)\d\d)\b")
    cited = {
        (found[1], found[2])
        for page in (*ROOT.glob("docs/**/*.md"), *ROOT.glob("proofs/*.md"))
        for found in named.finditer(" ".join(page.read_text(encoding="utf-8").split()))
    }
    assert len(cited) > 15
    absent = [
        (authors, year)
        for authors, year in sorted(cited)
        if not any(year in entry and re.split(r"\W", authors)[0] in entry for entry in entries)
    ]
    assert absent == []
