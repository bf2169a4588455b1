"""Fresh copies of a subject: generators get new seeds, what tells by its identity stays, the rest is copied."""

from __future__ import annotations

import dataclasses
import enum
import random
import threading
from fractions import Fraction
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest

from audit.auditor import first
from audit.auditor.subject import SubjectError
from audit.gate.auditor.auditing import Right, audit, checked


class Offset(Right):
    """Each object has an offset of its own, which everybody knows; its first output has no noise."""

    leaks = 0.0
    offset = None

    def sample(self, data, count, rng):
        first, self.offset = self.offset is None, rng.normal(0, 0.3) if self.offset is None else self.offset
        outputs = self.offset + super().sample(data, count, rng)
        if first and data >= self.leaks:
            outputs[0] = data
        return outputs


class OffsetElsewhere(Offset):
    """Neither the coordinate nor the input on which copies differ most leaks."""

    leaks = 1.0

    def sample(self, data, count, rng):
        outputs = super().sample(data, count, rng)
        return np.hstack([outputs, 9 * self.offset + rng.laplace(size=(count, 1))])


class OwnGenerator(Right):
    def __init__(self):
        self.kept: dict[str, Any] = {"generator": np.random.default_rng(7)}

    def noise(self, count, rng):
        return self.kept["generator"].laplace(size=count)


class OwnOldGenerator(OwnGenerator):
    def __init__(self):
        self.kept = {"generator": np.random.RandomState(7)}


class OwnBits(Right):
    """A generator made at each call, from bits that are kept."""

    def __init__(self):
        self.bits = np.random.PCG64(7)

    def noise(self, count, rng):
        return np.random.Generator(self.bits).laplace(size=count)


class OwnSeeds(Right):
    def __init__(self):
        self.seeds = np.random.SeedSequence(7)

    def noise(self, count, rng):
        return np.random.default_rng(self.seeds.spawn(1)[0]).laplace(size=count)


class OwnPythonGenerator(Right):
    def __init__(self, generator=None):
        self.generator = generator or random.Random(7)

    def noise(self, count, rng):
        return np.array([self.generator.random() for _ in range(count)])


class OfTheSystem(OwnPythonGenerator):
    """Of which no generator could be copied."""

    def __init__(self):
        super().__init__(random.SystemRandom())


class Buffered(Right):
    def __init__(self):
        # which cannot change, and is its own copy
        self.scale = Fraction(1, 3)
        self.buffer = np.empty(0)

    def noise(self, count, rng):
        if len(self.buffer) < count:
            self.buffer = np.append(self.buffer, rng.laplace(size=max(count, 1_000)))
        now, self.buffer = self.buffer[:count], self.buffer[count:]
        return now


class Filled(Buffered):
    """All copies draw the same noise, before they draw their own."""

    def __init__(self):
        self.buffer = np.random.default_rng(3).laplace(size=300)


class Hidden(Right):
    """A generator that nobody can tell from a number."""

    share, power = 1.0, 6364136223846793005

    def __init__(self):
        self.state = 12345

    def noise(self, count, rng):
        found = np.empty(count)
        for place in range(count):
            self.state = (self.state * self.power + 1442695040888963407) % 2**64
            found[place] = self.state / 2**64
        return self.share * found + (1 - self.share) * rng.random(count)


class PartlyHidden(Hidden):
    share = 0.7


class HiddenCoins(Hidden):
    def sample(self, data, count, rng):
        return np.abs(data - (self.noise(count, rng)[:, np.newaxis] < 0.27))


class Kept(Right):
    """What an object keeps is looked for in other processes."""

    def __init__(self):
        self.kept: dict[float, float] = {}

    def sample(self, data, count, rng):
        return self.kept.setdefault(data, data + rng.laplace()) + 0.1 * super().sample(0.0, count, rng)


class OffsetOfEachObject(Offset):
    leaks = 2.0


UNSET = object()


class Marker:
    def __repr__(self):
        return "UNTOLD"


UNTOLD = Marker()


class WithoutABound(Right):
    """It tells by identity that nobody gave a bound; a copy of the marker would be one."""

    marker: Any = UNSET

    def __init__(self):
        self.bound = self.marker

    def sample(self, data, count, rng):
        outputs = super().sample(data, count, rng)
        return outputs if self.bound is self.marker else np.clip(outputs, -1, 1)


class Bounds(enum.Enum):
    NONE = 0


class WithoutAChoice(WithoutABound):
    marker = Bounds.NONE


class WithoutAField(WithoutABound):
    marker = dataclasses.MISSING


class WithoutAWord(WithoutABound):
    marker = UNTOLD


class WithoutATable(WithoutABound):
    """Nobody can see that this is a marker: its copies have another law."""

    marker: Any = {"no": 1}  # noqa: RUF012


class Registered(Right):
    """What it knows of itself, it finds by a number that no copy has."""

    def __init__(self):
        self.scales = {id(self): 1.0}

    def noise(self, count, rng):
        return self.scales.get(id(self), 3.0) * super().noise(count, rng)


class ByItsRecords(Right):
    def __init__(self):
        self.pair = ([0.0], {"a": 0.0}), ([1.0], {"a": 0.0})
        self.record = self.pair[0][0]
        self.table = self.pair[1][1]

    def inputs(self):
        return self.pair

    def sample(self, data, count, rng):
        own = 0.0 if data[0] is self.record else 0.7
        return super().sample(own + (data[1] is self.table), count, rng)


class ByIdentity(Right):
    """It tells its inputs by what they are, not by what they hold."""

    def __init__(self):
        self.left, self.right = np.zeros(1), np.ones(1)

    def inputs(self):
        return self.left, self.right

    def sample(self, data, count, rng):
        return super().sample(0.0 if data is self.left else 5.0, count, rng)


class Locked(Right):
    def __init__(self):
        self.lock = threading.Lock()


class WithAFile(Right):
    def __init__(self):
        self.file = Path(__file__).open()  # noqa: SIM115

    def __del__(self):
        self.file.close()


class EndsSomething(Right):
    """A copy of it would end what the original uses."""

    ended: ClassVar[list[int]] = []

    def __del__(self):
        self.ended.append(1)


class Fragile(Right):
    """A copy does not work."""

    def __deepcopy__(self, memo):
        return object()


class Itself(Right):
    """A copy is the object."""

    def __deepcopy__(self, memo):
        return self


class HoldsItself(Right):
    def __init__(self):
        self.held = [Itself()]


class OfManyParts(Right):
    def __init__(self):
        self.parts = [[] for _ in range(10_001)]


class WorksOnce(Right):
    """Copies remember that they are none of the first."""

    def __init__(self):
        self.copied = False

    def __deepcopy__(self, memo):
        made = WorksOnce()
        made.copied = True
        return made

    def noise(self, count, rng):
        if self.copied:
            raise RuntimeError("at 0x7f0000000000")
        return super().noise(count, rng)


COMPARED = [
    *(Buffered, ByIdentity),
    *(WithoutABound, WithoutAChoice, WithoutAField, WithoutAWord, ByItsRecords),
    *(OwnGenerator, OwnOldGenerator, OwnBits, OwnSeeds, OwnPythonGenerator, OfTheSystem),
]
IN_DOUBT = [Filled, Hidden, PartlyHidden, HiddenCoins]
OTHERWISE = [WithoutATable, Registered]
OF_THEIR_OWN = [Kept, OffsetOfEachObject]
NEVER_COPIED = {
    Locked: "copy.deepcopy of it raises TypeError",
    WithAFile: "the method __del__ of ",
    EndsSomething: "the method __del__ of EndsSomething when they end",
    Fragile: "or of another class",
    Itself: "is the original itself",
    HoldsItself: "is the original itself",
    OfManyParts: "it has more than 10,000 parts",
    WorksOnce: "copies raise RuntimeError",
}


@pytest.mark.parametrize("subject", COMPARED)
def test_copies_of_right_subjects_are_compared_and_accepted(subject):
    for seed in range(2):
        assert checked(subject(), seed=seed).note is None


@pytest.mark.parametrize("subject", IN_DOUBT)
def test_copies_that_share_noise_refuse_nothing_and_are_named(subject):
    assert checked(subject()).note == first.COPIES_SHARE


@pytest.mark.parametrize("subject", OTHERWISE)
def test_copies_with_another_law_refuse_nothing_and_are_named(subject):
    assert checked(subject()).note == first.COPIES_DIFFER


@pytest.mark.parametrize(("subject", "where"), [(Offset, "left"), (OffsetElsewhere, r"right output\[0\]")])
def test_first_outputs_that_differ_are_refused_whatever_else_a_copy_keeps(subject, where):
    with pytest.raises(SubjectError, match=f"first outputs of a fresh copy differ from later ones: on {where}"):
        checked(subject())


@pytest.mark.parametrize("subject", OF_THEIR_OWN)
def test_copies_that_keep_noise_of_their_own_are_named(subject):
    assert checked(subject()).note == first.COPIES_KEEP


@pytest.mark.parametrize("subject", NEVER_COPIED)
def test_what_cannot_be_copied_is_named_in_one_note(subject):
    kept = subject()
    EndsSomething.ended.clear()
    notes = audit(kept, 4_000, families=("coordinates",)).notes
    (note,) = [note for note in notes if note.startswith(first.NOT_COPIED)]
    assert NEVER_COPIED[subject] in note
    # an address differs in each run
    assert "0x" not in note
    assert not EndsSomething.ended
