"""dp-accounting's reported epsilons under our certified enclosures."""

from __future__ import annotations

import pytest

from audit.commands.accountant import command
from reference.commands.parsing import run
from reference.common.exit_codes import EXIT_FINE, EXIT_REFUTED

LAPLACE = ["--noise", "laplace", "--delta", "1e-6", "--adjacency", "add_or_remove_one"]


def asked(*words: str) -> int:
    return run(command, [*words, "--bound", "1"], name="python -m audit accountant")


# of 30 Gaussian releases under replace_one theirs is below by 8e-10
@pytest.mark.parametrize(
    ("words", "count"),
    [([], "1"), (["--adjacency", "add_or_remove_one"], "30"), (LAPLACE, "1"), (LAPLACE, "30")],
)
def test_privacy_loss_distributions_are_not_refuted(words, count):
    assert asked("dp-accounting-pld", *words, "--count", count) == EXIT_FINE


@pytest.mark.parametrize("count", ["1", "30"])
def test_renyi_accountant_takes_replacing_for_adding(count, capsys):
    assert asked("dp-accounting-rdp", "--adjacency", "add_or_remove_one", "--count", count) == EXIT_FINE
    # dp-accounting 0.6.0 reports the same number for both relations
    assert asked("dp-accounting-rdp", "--count", count) == EXIT_REFUTED
    assert "certainly below" in capsys.readouterr().out
