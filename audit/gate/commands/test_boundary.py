"""`python -m audit boundary`: the committed figures' numbers come out again, digit by digit."""

from __future__ import annotations

import json
import shlex
import sys
from pathlib import Path

import pytest

from audit.commands.boundary import _cell
from audit.commands.boundary_plot import digest
from audit.gate.running import program

main = program("boundary")

FIGURES = Path(__file__).parents[3] / "docs" / "figures"
DRAWN = {
    "t5_absolute": "--theorem T5 --fairness absolute",
    "t5_covariance": "--theorem T5 --fairness covariance",
    "t3_exact": "--theorem T3 --sensitivity exact",
}


@pytest.mark.parametrize(
    ("name", "line"),
    [
        pytest.param(name, line, marks=() if name == "t5_absolute" else pytest.mark.lengthy)
        for name, line in DRAWN.items()
    ],
)
def test_figure_numbers_are_regenerated_identically(name, line, capsys):
    assert main([*shlex.split(line), "--format", "json"]) == 0
    text = capsys.readouterr().out
    assert text == (FIGURES / f"{name}.json").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", DRAWN)
def test_figure_belongs_to_its_numbers(name):
    document = json.loads((FIGURES / f"{name}.json").read_text(encoding="utf-8"))
    figure = (FIGURES / f"{name}.svg").read_text(encoding="utf-8")
    assert digest(document) in figure
    assert "<dc:date>" not in figure
    assert len(figure.encode()) < 150 * 1024
    # other numbers have another digest
    document["rows"][0]["upper"] = "1"
    assert digest(document) not in figure


def test_every_committed_figure_is_checked():
    assert {path.stem for path in FIGURES.glob("t*.svg")} == set(DRAWN)
    assert {path.stem for path in FIGURES.glob("*.json")} == set(DRAWN)


def test_text_names_the_boundary(capsys):
    assert main(shlex.split("--theorem T5 --dimensions 2,13 --deltas 1e-3 --domain unit_ball")) == 0
    text = capsys.readouterr().out
    assert "0.40449" in text
    assert "19.52" in text
    assert "again: python -m audit boundary --dimensions 2,13 --deltas 1e-3 --domain unit_ball" in text


def test_plot_without_matplotlib_is_a_clear_error(capsys, monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    line = ["--dimensions", "2", "--deltas", "1e-3", "--plot", str(tmp_path / "figure.svg")]
    assert main(line) == 2
    assert "report" in capsys.readouterr().err
    assert main([*line[:-1], "figure.bmp"]) == 2


@pytest.mark.parametrize(
    "line",
    [
        *("--dimensions 0", "--domain unit_cube", "--deltas nonsense", "--epsilon-n 0"),
        *("--sensitivity 0.1", "--sensitivity 1e308"),
    ],
)
def test_bad_input_is_exit_code_2(line):
    assert main(["--dimensions", "2", "--deltas", "1e-3", *line.split()]) == 2


def test_epsilon_n_is_named_in_its_error(capsys):
    assert main(shlex.split("--dimensions 2 --deltas 1e-3 --epsilon-n 0")) == 2
    assert "epsilon_n must be positive, not '0'" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("line", "largest"), [("--theorem T5", 1000), ("--theorem T3 --domain unit_box", 1000), ("--theorem T3", 100)]
)
def test_too_many_dimensions_name_the_largest(capsys, line, largest):
    assert main([*shlex.split(line), "--dimensions", f"2,{largest + 1}"]) == 2
    assert f"from 1 to {largest}" in capsys.readouterr().err


def test_undecided_ratios_are_shown_as_such(capsys, tmp_path):
    line = "--theorem T3 --sensitivity exact --fairness none --domain unit_ball --dimensions 60"
    pytest.importorskip("matplotlib")
    figure = tmp_path / "figure.svg"
    assert main([*shlex.split(line), "--plot", str(figure)]) == 0
    text = capsys.readouterr().out
    assert "0..0." in text
    assert "undecided" in text
    assert "undecided" in figure.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("value", "cell"),
    [
        (None, "no end"),
        ("0", "0"),
        ({"lo": "0.99999999", "hi": "1"}, "1"),
        ({"lo": "0.46765232", "hi": "1"}, "0.46765..1"),
        ({"lo": "1.234567", "hi": "1.345671"}, "1.2345..1.3457"),
        ({"lo": "2.5", "hi": None}, "2.5..?"),
    ],
)
def test_cell_never_shows_the_middle_of_a_wide_enclosure(value, cell):
    assert _cell(value) == cell
