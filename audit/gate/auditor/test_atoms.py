"""Sums and differences of two coordinates that repeat, however seldom either coordinate does."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from audit.auditor.distinguish import Terms, estimate
from audit.auditor.events import Quantiser, event_of
from audit.auditor.events.atoms import MOST_PAIRED, learn_atoms
from audit.auditor.events.directions import MOST_PAIRS, DistanceScore
from audit.gate.auditor.auditing import audit
from reference.common.arrays import FloatArray

SOME = ("coordinates", "directions")


class Repeated:
    """Wide noise; in some outputs, or those of one input, a coordinate tells another one up to the data."""

    factor, offset, share, width, one_only = -1.0, 0.0, 0.1, 8, False

    def __init__(self, *, leaks: bool) -> None:
        self.leaks = leaks

    def inputs(self) -> tuple[int, int]:
        return 1, 0

    def noise(self, count: int, rng: np.random.Generator) -> FloatArray:
        return rng.laplace(scale=2 * self.width, size=(count, self.width))

    def sample(self, data: int, count: int, rng: np.random.Generator) -> FloatArray:
        outputs = self.noise(count, rng)
        told = (rng.random(count) < self.share) & (data == 1 or not self.one_only)
        outputs[:, 2] = np.where(told, self.factor * outputs[:, 1] + self.offset, outputs[:, 2])
        # the right mechanism moves a coordinate that no other one tells
        outputs[:, 2 if self.leaks else 0] += data
        return outputs


class InThree(Repeated):
    width = 3


class Difference(Repeated):
    factor, offset = 1.0, 1.0


class Doubled(Repeated):
    factor, offset, share, width = 2.0, 1 / 3, 0.2, 30


class OfOneOnly(Repeated):
    factor, share, width, one_only = -0.5, 0.02, 30, True


class WholeNumbers(Repeated):
    def noise(self, count: int, rng: np.random.Generator) -> FloatArray:
        return np.rint(super().noise(count, rng))


class ManyWholeNumbers(WholeNumbers):
    """All pairs come together by chance, more than are looked at, and the pair that tells is among the last."""

    width = 12

    def sample(self, data: int, count: int, rng: np.random.Generator) -> FloatArray:
        return super().sample(data, count, rng)[:, ::-1].copy()


class BesideTheLargest(Repeated):
    """Another coordinate is as large as floats are, as `np.nan_to_num` leaves infinite numbers."""

    def noise(self, count: int, rng: np.random.Generator) -> FloatArray:
        outputs = super().noise(count, rng)
        outputs[rng.random(count) < 0.2, 5] = np.finfo(np.float64).max
        return outputs


REPEATED = [Repeated, InThree, Difference, Doubled, OfOneOnly, WholeNumbers, ManyWholeNumbers, BesideTheLargest]


@pytest.mark.parametrize("kind", REPEATED)
def test_what_sums_or_differences_repeat_is_seen(kind):
    found = audit(kind(leaks=True), 40_000, families=SOME)
    assert found.verdict(1.0) == "refuted"
    # a tenth of the outputs, and without them about one of 64
    assert found.epsilon_lower_bound > (1.7 if issubclass(kind, WholeNumbers) else 2.5)
    assert isinstance(found.event.score, DistanceScore)
    assert event_of(found.event.stored).stored == found.event.stored


@pytest.mark.parametrize("kind", [some for some in REPEATED if not some.one_only])
def test_sums_that_repeat_alike_on_both_inputs_propose_nothing(kind):
    """Null control."""
    for seed in range(5):
        assert proposed_for_atoms(kind(leaks=False).sample, seed) == []


LINKED = {
    "complement": lambda y, _: (y, 1 - y),
    "another order": lambda y, _: (0.1 + y, (0.2 - y) - 0.1, 0.3 - (y - 0.1)),
    "whole numbers": lambda y, _: (np.rint(y), 3 - np.rint(y)),
    "halves of a step": lambda y, _: (y, 3 * 2.0**-17 - y, y + 2.0**-18),
    "clipped": lambda y, _: (y.clip(0, 1), 1 - y.clip(0, 1)),
    "single precision": lambda y, _: (y.astype(np.float32), np.float32(1) - y.astype(np.float32)),
    "cancelled": lambda y, _: (y, 1 - ((y + 1e8) - 1e8)),
    "whole part": lambda y, _: (np.floor(y), y - np.floor(y)),
    "parts": lambda y, rng: (y, wide := 100 * rng.normal(size=len(y)), y - wide, y + wide),
}


@pytest.mark.parametrize("kind", LINKED)
def test_coordinates_made_of_one_release_propose_no_atom(kind):
    """Null control: rounding may put the sums elsewhere on another input, and the grid takes them for one."""

    def sample(data: int, count: int, rng: np.random.Generator) -> FloatArray:
        return np.column_stack(LINKED[kind](data + rng.laplace(size=count), rng)).astype(np.float64)

    for seed in range(5):
        assert proposed_for_atoms(sample, seed) == []


def proposed_for_atoms(sample: Any, seed: int) -> list[Any]:
    rng = np.random.default_rng(seed)
    left, right = (sample(data, 4_000, rng) for data in (1, 0))
    grid = Quantiser.of(left, right)
    grid = grid.joint or grid
    return list(learn_atoms(grid(left), grid(right)))


class RandomisedAtom:
    """A right mechanism of loss 1: a sum is 0 or 1 by randomised response."""

    def inputs(self) -> tuple[int, int]:
        return 1, 0

    def sample(self, data: int, count: int, rng: np.random.Generator) -> FloatArray:
        noise = rng.normal(size=count)
        one = (rng.random(count) < 1 / (1 + math.e)) ^ bool(data)
        return np.column_stack([noise, noise[rng.permutation(count)], one - noise])


def test_an_atom_shows_the_loss_that_is_there_and_no_more():
    found = [
        estimate(RandomisedAtom(), Terms(draws=20_000, families=SOME), seed) for seed in map(rng_of, range(20))
    ]
    bounds = [one.ideal.epsilon_lower_bound for one in found]
    assert np.median(bounds) > 0.9
    # at significance .05 four of twenty are too many by chance of .003
    assert sum(bound > 1.0 for bound in bounds) <= 4


def rng_of(seed: int) -> np.random.Generator:
    return np.random.default_rng(seed)


def test_pairs_are_looked_at_among_so_many_coordinates():
    rng = np.random.default_rng(0)
    left, right = rng.normal(size=(2, 2_000, MOST_PAIRED + 1))
    for side, place in ((left, 1.0), (right, 0.0)):
        side[::5, MOST_PAIRED - 1] = place - side[::5, 0]
    found = list(learn_atoms(*(np.rint(side[:, :MOST_PAIRED] * 2**16) / 2**16 for side in (left, right))))
    assert [np.flatnonzero(score.weights).tolist() for score in found] == 2 * [[0, MOST_PAIRED - 1]]
    assert list(learn_atoms(left, right)) == []
    # columns that are copies are looked at in few pairs
    left[:], right[:] = left[:, :1], right[:, :1]
    left[:, 1:] += 1.0
    assert len(list(learn_atoms(left[:, :-1], right[:, :-1]))) == 2 * MOST_PAIRS
