"""The user's own subjects on the command line of ``estimate``: their claim, and options that they do not take."""

from __future__ import annotations

import shlex
import sys

import pytest

from audit.epsilon_estimate import main


class Own:
    """A subject of the user's own; its claim is set by each test."""

    claimed_epsilon: object = 1

    def inputs(self):
        return 0.0, 1.0

    def sample(self, data, count, rng):
        return data + rng.laplace(size=(count, 1))


OWN = f"{__name__}:Own"


@pytest.mark.parametrize(
    "unused",
    [
        "--data affairs",
        "--dimension 2",
        "--alpha 2",
        "--adjacency add_or_remove_one",
        "--epsilon-s 2",
        "--intercept",
    ],
)
@pytest.mark.parametrize("subject", ["laplace", OWN, f"--program {shlex.quote(sys.executable)}"])
def test_option_that_no_audited_mechanism_uses_is_refused(subject, unused, capsys):
    """Else nobody would notice that other data, or other neighbours, were audited than were asked for."""
    assert main(shlex.split(f"{subject} {unused}")) == 2
    assert "must be left out" in (error := capsys.readouterr().err)
    assert "only the paper's mechanisms use it, and none is audited" in error


def test_option_that_one_of_several_mechanisms_uses_is_taken(capsys):
    words = ["--draws", "1000", "--seed", "1", "--dimension", "2", "--records", "20"]
    assert main(["pdfc", OWN, *words]) in (0, 1, 3)
    assert f"\n{OWN}: claims (1, 0)" in capsys.readouterr().out


class Summed(Own):
    """A random walk: its outputs depend on each other within a call."""

    def sample(self, data, count, rng):
        return data + rng.laplace(size=(count, 1)).cumsum(axis=0)


def test_advice_of_a_command_names_its_option(capsys):
    assert main([f"{__name__}:Summed", "--draws", "2000", "--seed", "1"]) == 2
    assert "or take calls whole, by --outputs-per-call\n" in capsys.readouterr().err


def test_note_on_neighbours_names_the_attribute_to_give(capsys):
    assert main([OWN, "--draws", "2000", "--seed", "1"]) in (0, 3)
    assert "nobody checked that these are neighbours: give the mechanism an attribute adjacency" in (
        output := capsys.readouterr().out
    )
    # its draws follow from the seed
    assert output.rstrip().endswith("--seed 1")


def failing(_subject):
    raise RuntimeError("no claim today")


@pytest.mark.parametrize(
    ("claim", "said"),
    [
        (None, "claimed_epsilon must be a positive number, not None"),
        ("abc", "claimed_epsilon must be a positive number, not 'abc'"),
        (float("inf"), "claimed_epsilon must be a positive number, not 'inf'"),
        (-1, "claimed_epsilon must be positive, not '-1'"),
        (property(failing), "claimed_epsilon failed: RuntimeError: no claim today"),
    ],
)
def test_claim_of_a_subject_that_is_none_is_named(claim, said, capsys, monkeypatch):
    monkeypatch.setattr(Own, "claimed_epsilon", claim)
    assert main([OWN]) == 2
    assert capsys.readouterr().err == f"error: {said}\n"


def test_delta_that_no_float_tells_from_one_is_refused(capsys):
    assert main([OWN, "--delta", "0.99999999999999999999"]) == 2
    assert "delta must be below 1 as a 64-bit float" in capsys.readouterr().err


def test_delta_below_all_floats_is_shown_as_it_is(capsys):
    assert main([OWN, "--delta", "1e-400", "--draws", "1000", "--seed", "1"]) in (0, 3)
    assert f"{OWN}: claims (1, 1e-400)" in capsys.readouterr().out
