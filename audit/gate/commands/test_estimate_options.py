"""Each option that ``estimate --help`` lists is taken in some command line."""

from __future__ import annotations

import shlex
import sys
from contextlib import nullcontext
from pathlib import Path

import click
import pytest

from audit.commands import estimate
from audit.epsilon_estimate import main

PROGRAMS = Path("docs/examples/programs").resolve()

ANY = (
    f"--epsilon 1 --program {shlex.quote(f'{sys.executable} {PROGRAMS}/laplace.py 1')} "
    f"--inputs {PROGRAMS}/pair.json --binary --timeout 60 --memory-limit 8000000000"
)
"""A line with all options of programs, which starts one."""

LINES = {
    "--draws": "pdfc --draws 2000",
    "--significance": "pdfc --significance 0.01",
    "--events": "laplace --events intervals",
    "--until": "laplace --until 0.1",
    "--outputs-per-call": "pdfc --outputs-per-call 2",
    "--plot": "pdfc --plot curve.svg",
    "--scheduler": "pdfc --scheduler local",
    **dict.fromkeys(("--program", "--inputs", "--binary", "--timeout", "--memory-limit"), ANY),
    "--epsilon-s": "pdfc --epsilon-s 1 --epsilon-n 2",
    "--epsilon-n": "pdfc --epsilon-s 1 --epsilon-n 2",
    "--delta": "adfc --delta 1e-4",
    "--delta-s": "adfc --epsilon-s 1 --epsilon-n 2 --delta-s 1e-4 --delta-n 1e-4",
    "--delta-n": "adfc --epsilon-s 1 --epsilon-n 2 --delta-s 1e-4 --delta-n 1e-4",
    "--data": "pdfc --data affairs",
    "--records": "pdfc --records 50",
    "--data-seed": "pdfc --data synthetic --records 50 --dimension 2 --data-seed 3",
    "--domain": "pdfc --domain unit_box",
    "--encoding": "pdfc --data affairs --encoding one_hot",
    "--intercept": "pdfc --data affairs --intercept",
    "--keep-group": "pdfc --data affairs --keep-group",
    "--sensitivity": "pdfc --sensitivity exact",
    "--x-s": "pdfc --data affairs --x-s age",
    "--out": "pdfc --out result.txt",
}
"""Where the option needs company, or another value than 1 or its first word."""

OPTIONS = [
    found for found in estimate.command.params if isinstance(found, click.Option) and found.name != "version"
]


@pytest.fixture(autouse=True)
def nothing_is_drawn(monkeypatch, tmp_path):
    """Audits end before the first draw, as if interrupted: exit code 3."""
    monkeypatch.setattr(estimate, "carry_out", lambda *_: [])
    monkeypatch.setattr(estimate, "on_cluster", lambda _: nullcontext())
    monkeypatch.chdir(tmp_path)


def line_of(option: click.Option) -> list[str]:
    """Return a command line in which the option stands."""
    name = option.opts[0]
    if name in LINES:
        return shlex.split(LINES[name])
    if option.is_flag:
        return ["pdfc", name]
    return ["pdfc", name, option.type.choices[0] if isinstance(option.type, click.Choice) else "1"]


def test_each_listed_option_is_taken(capsys):
    lines = {option.opts[0]: line_of(option) for option in OPTIONS}
    assert all(name in line for name, line in lines.items())
    for line in {shlex.join(line): line for line in lines.values()}.values():
        assert main(line) == 3, (line, capsys.readouterr().err)


def test_a_refusal_is_noticed(capsys):
    """The worst neighbours have no intercept."""
    assert main(["pdfc", "--intercept"]) == 2
    assert "left out without --data" in capsys.readouterr().err


def test_hardened_noise_takes_no_seed(capsys):
    assert main(["pdfc", "--noise", "hardened", "--seed", "1"]) == 2
    assert capsys.readouterr().err == (
        "error: seed must be left out with --noise hardened, which takes no seed, not 1\n"
    )
    assert main(["pdfc", "--noise", "hardened"]) == 3
    assert main(["pdfc", "--noise", "numpy", "--seed", "1"]) == 3


def test_a_scale_beyond_the_grid_is_refused_before_the_first_draw(capsys):
    assert main(["pdfc", "--noise", "hardened", "--epsilon", "1e-7"]) == 2
    assert "error: scale must be at most 2^57 steps of the grid" in capsys.readouterr().err
    assert main(["pdfc", "--epsilon", "1e-7"]) == 3


def test_hardened_noise_needs_opendp_before_the_first_draw(capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, "opendp", None)
    assert main(["pdfc", "--noise", "hardened"]) == 2
    assert "hardened noise needs OpenDP" in capsys.readouterr().err
    assert main(["pdfc"]) == 3


@pytest.mark.parametrize("name", ["--label", "--group", "--block-rows", "--domain-file", "--rows-per-person"])
def test_an_option_that_no_audit_takes_is_not_listed(name):
    assert name not in {word for option in estimate.command.params for word in option.opts}


def test_help_says_that_a_budget_is_the_claim_of_an_own_subject(capsys):
    assert main(["--help"]) == 0
    assert "or your claim (0 unless stated)" in " ".join(capsys.readouterr().out.split())
