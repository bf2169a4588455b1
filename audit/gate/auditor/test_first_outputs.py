"""First outputs that differ from later ones are refused; those of subjects that keep no secrets are not."""

from __future__ import annotations

import pickle
import threading
import time
from contextlib import nullcontext
from typing import ClassVar

import numpy as np
import pytest

from audit.auditor import first
from audit.auditor.deadline import Deadline
from audit.auditor.draws import CHOOSE, Draws
from audit.auditor.subject import SubjectError
from audit.epsilon_estimate import main
from audit.gate.auditor.auditing import Right, audit, checked
from audit.subjects.catalogue import CATALOGUE
from reference.common.exit_codes import EXIT_FINE, EXIT_USAGE

HERE = "audit.gate.auditor.test_first_outputs"


class Counting(Right):
    """Noise by how many calls and outputs there were before."""

    def __init__(self):
        self.calls = self.outputs = 0

    def scale(self):
        return 1.0

    def sample(self, data, count, rng):
        outputs = data + self.scale() * self.noise(count, rng)[:, np.newaxis]
        self.calls, self.outputs = self.calls + 1, self.outputs + count
        return outputs


# --- Broken controls -------------------------------------------------------------------------------------------


class NoNoiseAtFirst(Counting):
    def scale(self):
        return float(self.calls > 0)


class NoNoiseAtFirstOfFew(NoNoiseAtFirst):
    def noise(self, count, rng):
        return (rng.geometric(0.6, count) - rng.geometric(0.6, count)) * 1.0


class NoNoiseOnOneInput(Counting):
    def sample(self, data, count, rng):
        calls = self.calls
        outputs = super().sample(data, count, rng)
        return outputs if calls or not data else np.ones((count, 1))


class WarmUp(Counting):
    """Ten outputs without noise, in one call or in several."""

    def sample(self, data, count, rng):
        left = max(0, 10 - self.outputs)
        outputs = super().sample(data, count, rng)
        outputs[:left] = data
        return outputs


class MoreFromTenthCall(Counting):
    """A budget of ten calls: what breaks the claim is released before the noise that keeps it."""

    def scale(self):
        return 1.0 if self.calls >= 10 else 0.5


class MoreFromTwentiethCall(Counting):
    """Copies are as old as the subject was when they are compared with it."""

    def scale(self):
        return 1.0 if self.calls >= 20 else 0.6


class Growing(Counting):
    def scale(self):
        return 0.4 * (1 + self.outputs / 1000) ** 0.3


class NoNoiseInFirstOutputs(Right):
    """Of each call, as where a buffer is filled from the second on."""

    def sample(self, data, count, rng):
        outputs = super().sample(data, count, rng)
        outputs[0] = data
        return outputs


class OfTheProcess(Right):
    """What no copy carries: the state of a module."""

    calls: ClassVar[list[int]] = []

    def sample(self, data, count, rng):
        self.calls.append(count)
        return data + (len(self.calls) > 2) * self.noise(count, rng)[:, np.newaxis]


class OwnGeneratorToo(NoNoiseAtFirst):
    def __init__(self):
        super().__init__()
        self.generator = np.random.default_rng()

    def noise(self, count, rng):
        return self.generator.laplace(size=count)


class WideAtFirst(NoNoiseAtFirst):
    def sample(self, data, count, rng):
        before = rng.laplace(size=(count, 77))
        return np.hstack([before, super().sample(data, count, rng), rng.laplace(size=(count, 222))])


BROKEN = {
    NoNoiseAtFirst: "first call differ",
    NoNoiseAtFirstOfFew: "first output",
    NoNoiseOnOneInput: "fresh copy differ from later ones: on right",
    WarmUp: "first outputs of a fresh copy",
    MoreFromTenthCall: "outputs of a fresh copy",
    MoreFromTwentiethCall: "second call|first calls",
    Growing: "first calls",
    NoNoiseInFirstOutputs: "first outputs of calls",
    OfTheProcess: "first call differ",
    OwnGeneratorToo: "first call differ",
    WideAtFirst: r"output\[77\] in",
}


@pytest.mark.parametrize("subject", BROKEN)
def test_first_outputs_that_differ_from_later_ones_are_refused(subject):
    OfTheProcess.calls.clear()
    with pytest.raises(SubjectError, match=BROKEN[subject]):
        checked(subject())


@pytest.mark.parametrize("subject", [NoNoiseAtFirst, WarmUp, NoNoiseInFirstOutputs])
def test_outputs_without_noise_are_noticed_with_few_draws(subject):
    for seed in range(5):
        with pytest.raises(SubjectError, match="differ from later ones"):
            audit(subject(), 1_000, seed, families=("coordinates",))


def test_a_leak_in_first_outputs_gives_no_verdict(capsys):
    words = [f"{HERE}:NoNoiseAtFirst", "--epsilon", "1", "--draws", "20000", "--seed", "1", "--format", "json"]
    assert main(words) == EXIT_USAGE
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.startswith(
        "error: the outputs of the first call differ from later ones: on left output[0] in"
    )
    assert printed.err.count("\n") == 1


class SearchedWithoutNoiseAtFirst(NoNoiseAtFirst):
    """The search makes its first calls."""

    epsilon = 1

    def candidates(self):
        return [(0.0, 1.0), (0.5, 1.0)]


class SearchedAndRight(SearchedWithoutNoiseAtFirst):
    def scale(self):
        return 1.0


@pytest.mark.parametrize(
    ("name", "code"), [("SearchedWithoutNoiseAtFirst", EXIT_USAGE), ("SearchedAndRight", EXIT_FINE)]
)
def test_copies_are_made_before_a_search(name, code, capsys):
    assert main([f"{HERE}:{name}", "--draws", "20000", "--seed", "1", "--search"]) == code
    assert ("the first outputs of a fresh copy differ" in capsys.readouterr().err) == (code != EXIT_FINE)


def test_first_outputs_of_calls_that_are_taken_whole_are_compared():
    with pytest.raises(SubjectError, match="first outputs of a fresh copy"):
        checked(NoNoiseAtFirst(), 1_000, outputs_per_call=8)
    assert checked(Right(), 1_000, outputs_per_call=8).note is None


def test_outputs_that_are_reduced_are_compared_as_they_were_drawn():
    class Wide(NoNoiseAtFirst):
        leaks = True

        def sample(self, data, count, rng):
            return super().sample(data, count, rng) + rng.laplace(size=(count, 600)) * (self.calls > 1)

    class WideAndRight(Right):
        leaks = False

        def sample(self, data, count, rng):
            return data + rng.laplace(size=(count, 600))

    for subject in (WideAndRight(), Wide()):
        source = Draws.of(subject, (1, 2)).screened(100)
        assert source.reduction is not None
        expected = pytest.raises(SubjectError, match="first call differ") if subject.leaks else nullcontext()
        with expected:
            source.first.check(source, source.phase(CHOOSE, 200))


# --- Null controls ---------------------------------------------------------------------------------------------


class Coins(Right):
    def sample(self, data, count, rng):
        return np.abs(data - (rng.random((count, 1)) < 0.27))


class Geometric(Right):
    noise = NoNoiseAtFirstOfFew.noise


class Constant(Right):
    def noise(self, count, rng):
        return np.zeros(count)


class NotFinite(Right):
    def noise(self, count, rng):
        return rng.choice([np.nan, np.inf, -np.inf, 0.0, -0.0], count)


COMPARED = [Right, Coins, Geometric, Constant, NotFinite]


@pytest.mark.parametrize("subject", COMPARED)
def test_first_outputs_of_the_law_of_later_ones_are_accepted(subject):
    for seed in range(2):
        assert checked(subject(), seed=seed).note is None


def test_machines_that_draw_are_sent_no_copies():
    assert pickle.loads(pickle.dumps(checked(Right(), 1_000))) is None


def test_first_outputs_are_compared_without_copies_too():
    class LockedAtFirst(NoNoiseAtFirst):
        def __init__(self):
            super().__init__()
            self.lock = threading.Lock()

    with pytest.raises(SubjectError, match="first call differ"):
        checked(LockedAtFirst())


def test_right_mechanisms_of_the_catalogue_are_accepted():
    for name, entry in CATALOGUE.items():
        assert checked(entry(), 1_000).note is None, name


def test_copies_of_slow_subjects_take_little_time(monkeypatch):
    """The limit of two seconds is a twentieth here."""
    monkeypatch.setattr(first, "LONGEST_FIRST", 0.1)

    class Slow(Right):
        calls = 0

        def noise(self, count, rng):
            Slow.calls += 1
            time.sleep(0.01 * (count <= first.SECOND_CALL))
            return super().noise(count, rng)

    assert checked(Slow(), 1_000).note == first.NO_TIME
    assert Slow.calls < 100


def test_no_copy_is_made_where_first_calls_take_too_long():
    class SlowAtFirst(Counting):
        first_calls = 0

        def sample(self, data, count, rng):
            if not self.calls:
                SlowAtFirst.first_calls += 1
                time.sleep(0.2)
            return super().sample(data, count, rng)

    assert checked(SlowAtFirst(), 1_000, deadline=Deadline.after(3.0)).note == first.NO_TIME
    assert SlowAtFirst.first_calls == 1
    assert checked(Counting(), 1_000, deadline=Deadline.after(300.0)).note is None


def test_coordinates_that_are_not_compared_are_a_note():
    class Wide(Right):
        def sample(self, data, count, rng):
            return data + rng.laplace(size=(count, self.width))

    for Wide.width, notes in (
        (100, []),
        (1_100, ["first outputs were compared in 1,024 of 1,100 coordinates"]),
    ):
        assert checked(Wide(), 300).notes == notes


# --- The chance ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "law",
    [
        lambda rng, size: rng.standard_cauchy(size),
        lambda rng, size: rng.integers(0, 2, size) * 1.0,
        lambda rng, size: np.where(rng.random(size) < 0.4, np.nan, rng.integers(0, 5, size)),
    ],
    ids=["cauchy", "coins", "codes"],
)
def test_chance_of_a_difference_is_at_most_what_is_stated(law):
    """By simulation, at chances that can be simulated."""
    rng, runs = np.random.default_rng(0), 1_500
    found = np.array([first.difference(law(rng, (20, 2)), law(rng, (90, 2))).log_p for _ in range(runs)])
    wide = np.array([first.difference(law(rng, (20, 80)), law(rng, (90, 80))).log_p for _ in range(20)])
    for level in (0.5, 0.1, 0.01):
        assert (found <= np.log(level)).mean() <= level
    assert (wide <= np.log(0.5)).mean() <= 0.5


@pytest.mark.parametrize(
    ("copies", "scale", "least"), [(16, 0.0, 20), (64, 0.2, 18), (256, 0.5, 16), (256, 1.0, 0)]
)
def test_less_noise_at_first_is_noticed(copies, scale, least):
    """Of 20, as the documentation says; at last a null control."""
    rng, noticed = np.random.default_rng(1), 0
    for _ in range(20):
        ours, later = scale * rng.laplace(size=(copies, 1)), rng.laplace(size=(64 * copies, 1))
        noticed += first.difference(ours, later).log_p < np.log(first.CHANCE / 10)
    assert noticed >= least if least else noticed == 0
