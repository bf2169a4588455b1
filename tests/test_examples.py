"""Every fenced example of the pages is run from top to bottom, and what is shown of its output is compared."""

from __future__ import annotations

import csv
import json
import random
import re
import shlex
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click
import pytest
import yaml

from audit.commands.cfm import command as cfm
from audit.commands.family import command as audit
from reference.commands.family import command as reference
from reference.commands.parsing import Command, Family, run

ROOT = Path(__file__).parents[1]
PAGES = sorted(
    path.relative_to(ROOT).as_posix()
    for pattern in ("docs/**/*.md", "proofs/*.md", "*.md", "audit/vectors/*.md")
    for path in ROOT.glob(pattern)
)

PROGRAMS = {
    "cfm": (cfm, []),
    "python -m audit": (audit, []),
    "python -m audit.epsilon_estimate": (audit, ["estimate"]),
    "python -m reference": (reference, []),
}

PEERS = ".venv-peers/bin/"
"""Where the environment with the other libraries has its programs."""

DIRECTIVE = re.compile(r"\{[\w-]+\}")
"""What Sphinx runs: the book is built in test_book.py."""

ELSEWHERE = {
    "docs/start.md": "test_book.py",
    "docs/estimators.md": "test_classifier.py",
    "audit/vectors/README.md": "audit/gate/vectors/test_vectors.py",
    "README.md": "test_table_of_the_front_page_says_what_make_audit_says below",
    "docs/commands.md": "test_book.py",
    "docs/api.md": "test_book.py",
}

PICTURES = {"CONTRIBUTING.md", "docs/house.md"}
"""Pages whose fences hold drawings."""

SHOWN = {
    '{"values": [[0.5], "error", [0.75]]}': "audit/gate/subjects/test_programs.py",
    "Theorem release_is_private : forall records round, rounds_to_nearest round ->": (
        "audit/gate/proofs/test_certify.py"
    ),
}
"""Fences that are no input of ours, by their first line."""

LONG = {
    "cfm audit estimate": "five audits; `make audit` runs it",
    "cfm audit estimate adfc": "half a minute",
    "cfm audit estimate package.module:attribute": "a placeholder",
    "cfm audit accountant package.module:attribute": "a placeholder",
    "cfm audit catalogue": "minutes",
    "cfm audit certify": "needs coqc",
    "cfm experiments": "needs the real data",
    "python -m reference experiments peers": "a minute; test_experiments_questions.py runs it on less data",
    "make peers": "an environment of its own",
}
"""Commands of which only the options are read."""

PRELUDE = {
    "docs/files.md": "import duckdb\nduckdb.sql(\"copy (from 'people.csv') to 'people.parquet'\")\n",
}
"""What the text around an example takes for granted."""


@dataclass(frozen=True)
class Fence:
    language: str
    text: str

    @property
    def first(self) -> str:
        return self.text.split("\n", 1)[0]

    @property
    def commands(self) -> list[str]:
        """The command lines, those that a backslash continues as one; none where it shows something else."""
        lines = [line.strip() for line in self.text.replace("\\\n", " ").splitlines()]
        lines = [line for line in lines if line and not line.startswith("#")]
        starts = ("python ", "cfm ", "make ", "mkdir ", "gcc ", "cd ", ".venv-peers/")
        return lines if all(line.startswith(starts) for line in lines) else []


def fences(page: str) -> list[Fence]:
    text = (ROOT / page).read_text(encoding="utf-8")
    found = re.findall(r"^```([^\n`]*)\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)
    return [Fence(language, body) for language, body in found]


def ours(page: str) -> list[Fence]:
    """Return the fences that this file runs."""
    if page in ELSEWHERE or page in PICTURES:
        return []
    return [f for f in fences(page) if not DIRECTIVE.match(f.language) and f.first not in SHOWN]


def table_of(domain: dict[str, Any], path: str) -> None:
    """Write 400 records that a domain file declares."""
    rng = random.Random(1)

    def value(one: dict[str, Any]) -> Any:
        if "categories" in one:
            return rng.choice(one["categories"])
        return rng.randint(one["lower"], one["upper"])

    def coded(one: dict[str, Any]) -> Any:
        if "above" in one:
            return rng.choice([one["above"] - 1, one["above"] + 1])
        return rng.choice(one["one"] + one["zero"])

    names = [one["name"] for one in domain["attributes"]]
    with Path(path).open("w", newline="", encoding="utf-8") as file:
        out = csv.writer(file, lineterminator="\n")
        out.writerow([*names, domain["label"]["column"], domain["group"]["column"], *domain.get("ignore", [])])
        for number in range(400):
            cells = [value(one) for one in domain["attributes"]]
            marks = [number for _ in domain.get("ignore", [])]
            out.writerow([*cells, coded(domain["label"]), coded(domain["group"]), *marks])


def read_only(program: click.Command, words: list[str]) -> None:
    """Read a command line without running it; raise on what it does not take."""
    while isinstance(program, Family):
        below = program.get_command(click.Context(program), words[0])
        assert below is not None, words
        program, words = below, words[1:]
    assert isinstance(program, Command)
    program.make_context(program.name, words)


def known(line: str) -> set[str]:
    """Return the entries of LONG that speak of a line; the bare command stands for itself only."""
    bare = "cfm audit estimate"
    words = line.removeprefix(PEERS).partition("#")[0].strip()
    return {name for name in LONG if (words == name if name == bare else words.startswith(name))}


class Reader:
    """Someone who types what a page shows, in an empty folder."""

    def __init__(self, page: str, capsys: pytest.CaptureFixture[str]) -> None:
        self.page, self.capsys, self.printed = page, capsys, ""
        self.names: dict[str, Any] = {"__name__": "example"}
        self.domain: str | None = None
        declared = [f.text for f in fences(page) if '"domain_v1"' in f.text]
        if declared:
            self.domain = declared[0]
            table_of(json.loads(self.domain), "people.csv")
            table_of(json.loads(self.domain), "new.csv")
        exec(PRELUDE.get(page, ""), self.names)

    def read(self, fence: Fence) -> None:
        if fence.language == "python":
            self.python(fence)
        elif fence.language == "json":
            Path("domain.json" if '"domain_v1"' in fence.text else "count.json").write_text(fence.text)
        elif fence.commands:
            for line in fence.commands:
                self.command(line)
        else:
            self.shown(fence.text)

    def python(self, fence: Fence) -> None:
        named = re.match(r"# (\w+\.py)\n", fence.text)
        if named:
            Path(named[1]).write_text(fence.text)
        elif "sys.stdin" in fence.text:
            Path("count.py").write_text(fence.text)
        elif "def test_" in fence.text:
            Path("test_page.py").write_text(fence.text)
            options = ["-q", "--color=no", "-p", "no:cacheprovider", "--rootdir=."]
            words = [sys.executable, "-m", "pytest", *options, "test_page.py"]
            assert b"1 passed" in subprocess.run(words, capture_output=True, check=False).stdout
        else:
            Path("mean.py").write_text(fence.text)
            exec(compile(fence.text, "mean.py", "exec"), self.names)
        self.printed += self.capsys.readouterr().out

    def command(self, line: str) -> None:
        line = line.removeprefix(PEERS)
        name = max((name for name in PROGRAMS if line.startswith(name)), key=len, default="")
        program, before = PROGRAMS.get(name, (reference, []))
        words = shlex.split(line, comments=True)
        given = [*before, *words[len(name.split()) :]]
        if known(line):
            if name:
                read_only(program, given)
            return
        if words[0] in ("mkdir", "gcc"):
            subprocess.run(words, check=True)
            return
        if words[0] == "cd":
            return
        if given[0] == "estimate" or given[:2] == ["audit", "estimate"]:
            # chance decides nothing here, and a page's draws are for a page's reader
            given += ["--seed", "1"] * ("--seed" not in given) + ["--draws", "40000"] * ("--draws" not in given)
            if not re.search(r"# (exit [13]|refuted)", line) and "--significance" not in given:
                # a subject with entropy of its own that loses what it claims is refuted in one audit of twenty
                given += ["--significance", "1e-5"]
        code = run(program, given, name=name)
        out = self.capsys.readouterr()
        expected = re.search(r"# exit (\d)", line)
        if refuted := "# refuted" in line:
            assert "refuted" in out.out
        wanted = int(expected[1]) if expected else int(refuted)
        assert code == wanted, f"{line}\n{out.out}{out.err}"
        self.printed += out.out + out.err
        if "--describe" in given and self.domain:
            Path("domain.json").write_text(self.domain)

    def shown(self, text: str) -> None:
        said = " ".join(self.printed.split())
        for line in text.splitlines():
            assert " ".join(line.split()) in said, f"{self.page} shows {line!r}, but there was\n{self.printed}"


def spoilt_table(_: Reader) -> None:
    """A value beyond its bounds, in row 301."""
    rows = Path("people.csv").read_text().splitlines()
    age = rows[0].split(",").index("age")
    cells = rows[301].split(",")
    cells[age] = "99"
    rows[301] = ",".join(cells)
    whole = Path("people.csv").read_text()
    Path("people.csv").write_text("\n".join(rows) + "\n")
    run(reference, ["domain", "--check", "domain.json", "--data", "people.csv"], name="python -m reference")
    Path("people.csv").write_text(whole)


def half_the_noise(reader: Reader) -> None:
    """The scale that the text names."""
    example = next(fence.text for fence in fences(reader.page) if "scale=1.0" in fence.text)
    with pytest.raises(AssertionError) as refuted:
        exec(example.replace("scale=1.0", "scale=0.5"), reader.names)
    reader.printed += str(refuted.value)


def ended_program(_: Reader) -> None:
    Path("ends.py").write_text("import sys\nsys.stdin.readline()\nsys.exit('no such table')\n")
    words = ["estimate", "--program", f"{sys.executable} ends.py", "--epsilon", "1", "--seed", "1"]
    run(audit, words, name="python -m audit")


MISTAKES: dict[str, Callable[[Reader], None]] = {
    "docs/files.md": spoilt_table,
    "docs/one-call.md": half_the_noise,
    "docs/programs.md": ended_program,
}
"""What leads to the error that a page shows."""


def walked(page: str, capsys: pytest.CaptureFixture[str]) -> None:
    reader = Reader(page, capsys)
    for fence in ours(page):
        if fence.first.startswith(("error: ", "refuted: ")):
            MISTAKES[page](reader)
            reader.printed += capsys.readouterr().err
        reader.read(fence)


RUN = [page for page in PAGES if ours(page)]
SLOW = {"docs/programs.md"}


@pytest.mark.parametrize(
    "page", [pytest.param(page, marks=[pytest.mark.exhaustive] * (page in SLOW)) for page in RUN]
)
def test_examples_of_the_page_run(page, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "docs").symlink_to(ROOT / "docs")
    walked(page, capsys)


def test_the_workflow_for_ci_fails_where_a_claim_is_refuted(tmp_path):
    text = (ROOT / "docs/examples/github-actions.yml").read_text(encoding="utf-8")
    steps = yaml.safe_load(text)["jobs"]["privacy"]["steps"]
    command = [step["run"] for step in steps if "run" in step][-1]
    assert f"`{command}`" in (ROOT / "docs/one-call.md").read_text(encoding="utf-8")
    (tmp_path / "tests/privacy").mkdir(parents=True)
    code = (
        "import pytest\n\n@pytest.mark.parametrize('scale', [1.0, 0.5])\ndef test_sum(assert_private, scale):\n"
        "    noisy = lambda records, rng: sum(records) + rng.laplace(scale=scale)\n"
        "    assert_private(noisy, [0.0, 1.0], [0.0, 0.0], epsilon=1, adjacency='replace_one')\n"
    )
    (tmp_path / "tests/privacy/test_sum.py").write_text(code, encoding="utf-8")
    words = [sys.executable, *shlex.split(command)[1:], "--color=no"]
    done = subprocess.run(words, cwd=tmp_path, check=False, capture_output=True, text=True, timeout=300)
    assert (done.returncode, "1 failed, 1 passed" in done.stdout) == (1, True), done.stdout
    assert "refuted" in (tmp_path / "privacy.xml").read_text(encoding="utf-8")


def test_no_entry_of_the_lists_is_stale():
    every = [fence for page in PAGES for fence in fences(page)]
    firsts = {fence.first for fence in every}
    lines = [line for fence in every for line in fence.commands]
    assert set(SHOWN) <= firsts
    assert set(LONG) == {name for line in lines for name in known(line)}
    assert {page for page in (*ELSEWHERE, *PICTURES, *PRELUDE, *MISTAKES) if not fences(page)} == set()


def test_output_that_differs_is_noticed(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    reader = Reader("docs/recorder.md", capsys)
    reader.read(Fence("python", "print(2 + 2)\n"))
    reader.read(Fence("text", "4\n"))
    with pytest.raises(AssertionError, match="shows '5'"):
        reader.read(Fence("text", "5\n"))


@pytest.mark.exhaustive
def test_table_of_the_front_page_says_what_make_audit_says(capsys):
    """Names, claims and verdicts; the bounds are those of more draws, and differ from run to run."""
    (shown,) = [fence.text for fence in fences("README.md") if fence.language == "text"]
    assert run(audit, ["estimate", "--seed", "1", "--draws", "40000"], name="python -m audit") == 0
    printed = capsys.readouterr().out

    def said(text: str) -> set[tuple[str, ...]]:
        rows = [re.split(r"  +", line.strip()) for line in text.splitlines()]
        return {(row[0], row[1], *row[4:]) for row in rows if len(row) == 5}

    assert len(said(shown)) == 6
    assert said(shown) <= said(printed)
