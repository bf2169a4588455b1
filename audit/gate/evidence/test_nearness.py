"""Noise that is used again shows in further outputs: it comes back, or it lingers."""

from __future__ import annotations

import numpy as np
import pytest

from audit.epsilon_estimate import main
from audit.evidence.copies import NOT_COMPARED
from audit.evidence.nearness import CHANCE, check_more, p_value_of_nearness, p_value_of_order

HERE = "audit.gate.evidence.test_nearness"

LAWS = {
    "Laplace": lambda rng, shape: rng.laplace(size=shape),
    "coins": lambda rng, shape: rng.integers(2, size=shape).astype(float),
    "whole numbers": lambda rng, shape: rng.geometric(0.3, size=shape).astype(float),
    "heavy tails": lambda rng, shape: np.exp(300 * rng.standard_cauchy(size=shape)),
    "NaN": lambda rng, shape: np.where(rng.random(shape) < 0.3, np.nan, rng.laplace(size=shape)),
    "a constant": lambda _rng, shape: np.ones(shape),
}

SHOWN = ("Laplace", "coins", "NaN")


def two(law, rng, rows):
    with np.errstate(over="ignore"):
        return [law(rng, (rows, 2)) for _ in range(2)]


@pytest.mark.parametrize(
    "name", [pytest.param(law, marks=[pytest.mark.lengthy] * (law not in SHOWN)) for law in LAWS]
)
def test_independent_outputs_are_as_near_and_as_mixed_as_chance_has_it(name):
    """Null control, at every level."""
    rng, law = np.random.default_rng(1), LAWS[name]
    near = np.array([p_value_of_nearness(*(two(law, rng, 60) for _ in range(3))) for _ in range(100)])
    order = np.array([p_value_of_order(two(law, rng, 120)) for _ in range(100)])
    for level in (0.2, 0.05):
        # by chance one of a thousand such tests has so many
        most = 100 * level + 3.1 * np.sqrt(100 * level * (1 - level))
        assert (near < level).sum() <= most
        assert (order < level).sum() <= most


@pytest.mark.parametrize(("size", "fresh"), [(100, 1e-3), (5_000, 1e-4), (5_000, 0.0), (40_000, 0.0)])
def test_pool_of_noise_shows_beside_another_pool(size, fresh):
    rng = np.random.default_rng(2)
    here, there = rng.laplace(size=(2, size))

    def outputs(pool):
        return [rng.choice(pool, size=(2_000, 1)) + fresh * rng.normal(size=(2_000, 1)) for _ in range(2)]

    assert p_value_of_nearness(outputs(here), outputs(here), outputs(there)) < CHANCE
    assert p_value_of_nearness(outputs(here), outputs(there), outputs(there)) > 1e-3


def test_noise_that_lingers_shows_in_the_order_alone():
    rng = np.random.default_rng(3)
    lingering = np.repeat(rng.laplace(size=(700, 1)), 3, axis=0) + 1e-4 * rng.normal(size=(2_100, 1))
    others = rng.laplace(size=(2_100, 1))
    assert p_value_of_order([others, lingering]) < CHANCE
    assert p_value_of_order([others, rng.permutation(lingering)]) > 1e-3


class Ring:
    """A table of noise that goes round and round, which calls of any length hide, and a little that is new."""

    def __init__(self):
        self.table, self.place = np.random.default_rng().laplace(size=3_000), 0

    def inputs(self):
        return 0.0, 1.0

    def sample(self, data, count, rng):
        places = (self.place + np.arange(count)) % len(self.table)
        self.place = (places[-1] + 1) % len(self.table)
        return data + self.table[places, np.newaxis] + 1e-4 * rng.normal(size=(count, 1))


def test_ring_of_noise_refutes_nothing_and_is_named(capsys, monkeypatch):
    """Right at 1 where each of its noises is used once: kept, it is certified to lose more than 0.7."""
    monkeypatch.setattr("audit.evidence.copies.PATIENCE", 300.0)
    assert main([f"{HERE}:Ring", "--epsilon", "0.7", "--draws", "40000", "--seed", "1"]) == 2
    error = capsys.readouterr().err
    assert "comes from a pool that is kept" in error
    assert error.count("\n") == 1


def test_outputs_that_are_too_wide_for_more_are_not_compared():
    empty = [np.empty((0, 16))] * 2
    check_more(empty, empty)


class Ending:
    """Half the noise that a claim of 1 needs, until it was called for the audit's draws."""

    left = 10_000

    def inputs(self):
        return 0.0, 1.0

    def sample(self, data, count, rng):
        Ending.left -= count
        if Ending.left < 0:
            raise OSError("the budget of draws is spent")
        return data + rng.laplace(scale=0.5, size=(count, 1))


def test_subject_that_ends_after_the_audit_keeps_its_refutation(capsys, monkeypatch):
    words = [f"{HERE}:Ending", "--epsilon", "1", "--draws", "4000", "--seed", "1", "--events", "coordinates"]
    assert main(words) == 1
    assert NOT_COMPARED not in capsys.readouterr().out
    # as many as the audit itself took
    monkeypatch.setattr(Ending, "left", 10_000 - Ending.left - 500)
    assert main(words) == 1
    assert NOT_COMPARED in capsys.readouterr().out
