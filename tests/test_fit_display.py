"""``fit`` over a grid of epsilons, its plot, and its progress."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from contextlib import nullcontext
from pathlib import Path
from xml.etree import ElementTree

import pytest

from audit.gate.needs import exhaustively, require_or_skip
from reference.accounting import NOT_PRIVATE
from reference.budgets import SplitBudget
from reference.commands import fit
from reference.commands.fit import DEFAULT_GRID
from reference.common.exit_codes import EXIT_FINE, EXIT_USAGE
from reference.mechanisms import pdfc
from reference.records import Records
from reference.registry import MECHANISMS
from tests.command_lines import environment
from tests.file_commands import SMALL, Run, listing

# --- Epsilon grid and plot -----------------------------------------------------------------------------------


def test_grid_runs_each_epsilon_and_baselines_once(run: Run) -> None:
    code, out, err = run(
        "fit",
        *SMALL,
        "--mechanism",
        "lr,pdfc",
        "--epsilon-grid",
        "0.1, 1,1e1",
        "--format",
        "json",
        "--seed",
        "1",
    )
    assert (code, err) == (EXIT_FINE, "")
    documents = json.loads(out)
    assert [(d["mechanism"], d["epsilon"]) for d in documents] == [
        ("lr", None),
        ("pdfc", "0.1"),
        ("pdfc", "1"),
        ("pdfc", "1e1"),
    ]
    stated = [d["privacy"]["published"]["per_release"]["epsilon"] for d in documents[1:]]
    assert stated == [0.1, 1.0, 10.0]
    assert all(d["metrics"]["note"] == NOT_PRIVATE for d in documents)
    # a grid of one is what --epsilon gives
    one = run("fit", *SMALL, "--epsilon-grid", "0.5", "--format", "json", "--seed", "1")[1]
    assert one == run("fit", *SMALL, "--epsilon", "0.5", "--format", "json", "--seed", "1")[1]


def test_text_says_that_epsilon_is_the_default_where_no_option_says_it(run: Run) -> None:
    for words, said in (("", True), ("--delta 0.1", True), ("--epsilon 1", False), ("--epsilon-grid 1,2", False)):
        _, out, _ = run("fit", *SMALL, "--mechanism", "adfc", *words.split())
        assert ("epsilon 1 (the default)" in out) is said
        assert "±" in out
    assert "the default" not in run("fit", *SMALL, "--mechanism", "lr")[1]


def test_text_says_what_a_grid_has_spent_in_all(run: Run) -> None:
    _, out, _ = run("fit", *SMALL, "--epsilon-grid", "0.25,0.5", "--splits", "2")
    assert "pdfc: all 4 releases of the grid compose to (1.5, 0) (published)" in out


@pytest.mark.parametrize(
    "grid", ["", "0", "1,", "1,1.0", "1,nan", "a", "1 --epsilon 1", "1 --epsilon-s 1 --epsilon-n 1"]
)
def test_grid_that_is_none_is_refused(run: Run, grid: str) -> None:
    code, _, err = run("fit", *SMALL, *("--epsilon-grid=" + grid).split())
    assert code == EXIT_USAGE
    assert err.count("\n") == 1


def test_text_marks_every_exact_metric(run: Run) -> None:
    _, out, _ = run("fit", *SMALL)
    for heading in ("accuracy*", "majority*", "positive", "rate*", "difference*"):
        assert heading in out
    assert f"* {NOT_PRIVATE}" in out


@pytest.mark.parametrize("name", ["plot.svg", *exhaustively("plot.png")])
def test_plot_is_drawn_and_says_that_it_is_not_private(run: Run, name: str, tmp_path: Path) -> None:
    arguments = ("fit", *SMALL, "--mechanism", "all", "--splits", "2", "--seed", "1", "--plot", name)
    code, out, err = run(*arguments)
    assert (code, err) == (EXIT_FINE, "")
    assert f"all {2 * len(DEFAULT_GRID.split(','))} releases of the grid" in out
    content = (tmp_path / name).read_bytes()
    assert content.startswith(b"<?xml" if name.endswith("svg") else b"\x89PNG")
    if name.endswith("svg"):
        text = content.decode()
        assert NOT_PRIVATE in text
        for shown in (*MECHANISMS, "accuracy", "risk difference", "positive rate", "majority class", "epsilon"):
            assert shown in text
    run(*arguments[:-1], "again" + name)
    assert (tmp_path / ("again" + name)).read_bytes() == content


@pytest.mark.parametrize(
    "options",
    [
        "--epsilon 1",
        "--mechanism functional --repair none --epsilon 1e-3",
        *exhaustively("--epsilon-s 1 --epsilon-n 2", "--mechanism lr", "--sensitivity 3"),
    ],
)
def test_plot_of_little_is_drawn_too(run: Run, options: str, tmp_path: Path) -> None:
    code, _, err = run("fit", *SMALL, "--seed", "1", "--plot", "p.svg", *options.split())
    assert (code, err) == (EXIT_FINE, "")
    assert listing(tmp_path) == {"p.svg"}


def test_plot_without_matplotlib_names_the_extra(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    code, out, err = run("fit", *SMALL, "--plot", "plot.svg")
    assert (code, out) == (EXIT_USAGE, "")
    assert "a plot needs matplotlib: pip install 'calibrated-functional-mechanism[report]'" in err
    code, _, err = run("fit", *SMALL, "--plot", "plot.pdf")
    assert (code, "ending in .png or .svg" in err) == (EXIT_USAGE, True)
    assert listing(tmp_path) == set()


# --- Progress ------------------------------------------------------------------------------------------------


def on_terminal(arguments: tuple[str, ...], folder: Path) -> tuple[int, str, str]:
    """Run ``fit`` with standard error on a terminal; return exit code, output and what the terminal got."""
    terminal, slave = os.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "reference", "fit", *arguments],
        stdout=subprocess.PIPE,
        stderr=slave,
        cwd=folder,
        env=environment(TERM="xterm", COLUMNS="100"),
        encoding="utf-8",
    )
    os.close(slave)
    shown = b""
    while True:
        try:
            chunk = os.read(terminal, 65_536)
        except OSError:
            break
        if not chunk:
            break
        shown += chunk
    os.close(terminal)
    out, _ = process.communicate(timeout=100)
    return process.returncode, out, shown.decode()


def test_progress_is_shown_on_a_terminal_and_nowhere_else(files: Path) -> None:
    arguments = ("--data", "people.csv", "--domain", "domain.json", "--splits", "3", "--format", "json")
    code, out, shown = on_terminal(arguments, files)
    assert code == EXIT_FINE
    assert json.loads(out)["splits"] == 3
    assert "fit" in shown
    assert " 0/3 " in shown
    # the bar is removed
    assert shown.split("\r")[-2:] == [" " * 100, ""]
    assert on_terminal((*arguments, "--quiet"), files)[2] == ""


@pytest.mark.parametrize("quiet", [(), ("--quiet",)])
@pytest.mark.parametrize("mechanism", ["pdfc", "repaired"])
def test_progress_is_told_of_every_record_and_release(
    run: Run, files: Path, monkeypatch: pytest.MonkeyPatch, mechanism: str, quiet: tuple[str, ...]
) -> None:
    told: list[tuple[str, object]] = []

    class Watch:
        def read(self, count: int, _share: float | None) -> None:
            told.append(("read", count))

        def expect(self, releases: int) -> None:
            told.append(("expect", releases))

        def released(self, name: str) -> None:
            told.append(("released", name))

    monkeypatch.setattr(fit, "watched", lambda *, quiet: told.append(("quiet", quiet)) or nullcontext(Watch()))
    named = ("--data", str(files / "people.csv"), "--domain", str(files / "domain.json"), "--mechanism", mechanism)
    code, _, _ = run("fit", *named, "--block-rows", "120", "--splits", "2", "--seed", "1", *quiet)
    assert code == EXIT_FINE
    assert told[0] == ("quiet", bool(quiet))
    assert {("read", 120), ("read", 60), ("expect", 2)} <= set(told)
    assert told.count(("released", mechanism)) == 2


def test_library_calls_show_nothing(capsys: pytest.CaptureFixture[str], affairs: Records) -> None:
    from reference.moments import Moments

    pdfc(Moments.of(affairs), SplitBudget.equal(1), rng=1)
    assert capsys.readouterr() == ("", "")


def test_names_from_files_forge_no_line_and_steer_no_terminal(run: Run, tmp_path: Path) -> None:
    """In columns, marks and the name of the data file; a formula's marks in that name are no formula in a plot."""
    forged = "\x1b[2J\u202e\nexact epsilon 0.01"
    declared = {
        "schema": "domain_v1",
        "attributes": [{"name": f"a{forged}", "kind": "numeric", "lower": 0, "upper": 1}],
        "label": {"column": f"y{forged}"},
        "group": {"column": "z", "one": [f"m{forged}"], "zero": ["f"], "name": f"male{forged}"},
    }
    (tmp_path / "d.json").write_text(json.dumps(declared), encoding="utf-8")
    rows = [f'"a{forged}","y{forged}",z', *(f"0.{i % 10},{i % 2},{['f', forged][i % 3 > 1]}" for i in range(60))]
    data = f"$\\frac${forged}.csv"
    encoding = sys.getfilesystemencoding()
    require_or_skip(
        data.encode(encoding, "ignore").decode(encoding) == data,
        f"NAMES OF FILES NOT TESTED: no file can have this name in {encoding}",
    )
    text = "\n".join(rows).replace(f",{forged}", f',"m{forged}"')
    (tmp_path / data).write_text(text, encoding="utf-8")
    named = ("--data", data, "--domain", "d.json")
    for command in (
        ("fit", *named, "--mechanism", "pdfc", "--plot", "plot.svg"),
        ("fit", *named, "--mechanism", "repaired", "--release", "r.json"),
        ("card", "r.json"),
        ("domain", "--check", "d.json", "--data", data),
    ):
        code, out, _ = run(*command, *(("--seed", "1") if command[0] == "fit" else ()))
        assert code == EXIT_FINE
        assert out
        assert all(line.isprintable() and not line.startswith("exact epsilon 0.01") for line in out.splitlines())
    ElementTree.parse(tmp_path / "plot.svg")


def test_plot_of_an_exact_run_does_not_say_as_published(run: Run, tmp_path: Path) -> None:
    for sensitivity, kind in (("published", "as published"), ("exact", "exact")):
        code, _, _ = run("fit", *SMALL, "--sensitivity", sensitivity, "--seed", "1", "--plot", "plot.svg")
        assert code == EXIT_FINE
        drawn = (tmp_path / "plot.svg").read_text(encoding="utf-8")
        assert f">epsilon of one release, {kind}<" in drawn.replace("\n", "")
        assert ("as published" in drawn) == (kind == "as published")
