"""Noise that a subject keeps is found in other processes; what keeps nothing is confirmed there."""

from __future__ import annotations

import functools
import os
import re
import time
from typing import Any, ClassVar

import numpy as np
import pytest

from audit import assert_private
from audit.auditor.events import Event
from audit.auditor.events.scores import CoordinateScore
from audit.auditor.subject import SubjectError
from audit.bounds import Counts
from audit.epsilon_estimate import main
from audit.evidence import copies, nearness
from audit.evidence.certificate import Certificate
from audit.evidence.forks import copied
from audit.gate.evidence.verifying import run
from audit.gate.needs import exhaustively
from reference.common.exit_codes import EXIT_FINE, EXIT_UNDECIDED, EXIT_USAGE

HERE = "audit.gate.evidence.test_copies"

WHEN_IMPORTED = np.random.default_rng().laplace()


class Honest:
    """Half the noise that a claim of 1 needs."""

    def inputs(self):
        return 0.0, 1.0

    def sample(self, data, count, rng):
        return data + rng.laplace(scale=0.5, size=(count, 1))


class NoNoise(Honest):
    def sample(self, data, count, rng):
        return np.full((count, 1), data)


class KeptByInstance(Honest):
    """Drawn at the first call for each input; so are those below, elsewhere."""

    def __init__(self):
        self.kept: dict[float, float] = {}

    def sample(self, data, count, rng):
        return np.full((count, 1), self.kept.setdefault(data, data + rng.laplace()))


class KeptByClass(KeptByInstance):
    shared: ClassVar[dict[float, float]] = {}

    def __init__(self):
        self.kept = self.shared


class KeptByModule(Honest):
    def sample(self, data, count, rng):
        return np.full((count, 1), data + WHEN_IMPORTED)


@functools.cache
def kept_by_cache(data: float) -> float:
    return float(data + np.random.default_rng().laplace())


class KeptByCache(Honest):
    def sample(self, data, count, rng):
        return np.full((count, 1), kept_by_cache(data))


class Pool(Honest):
    """A table of noise, made once: no output is new."""

    def __init__(self):
        self.table = np.random.default_rng().laplace(size=300)

    def sample(self, data, count, rng):
        return data + rng.choice(self.table, size=(count, 1))


class KeptButForALittle(KeptByInstance):
    """Right at its claim of 7, where it is drawn once: an event in the middle nearly always tells the inputs."""

    epsilon = 7.0

    def sample(self, data, count, rng):
        kept = self.kept.setdefault(data, data + np.random.default_rng().laplace(scale=1 / self.epsilon))
        return kept + rng.normal(scale=1e-3, size=(count, 1))


class RandomInputs(Honest):
    """Another pair for each object, which loses more than it claims on most of them."""

    def __init__(self):
        self.first = np.random.default_rng().normal() * 1000

    def inputs(self):
        return self.first, 0.0


class Shown:
    """Python shows it by its place in memory."""


class KeptBesideObjects(KeptByModule):
    """Null control: the same pair each time."""

    def inputs(self):
        return (0.0, Shown()), (1.0, Shown())

    def sample(self, data, count, rng):
        return super().sample(data[0], count, rng)


class PartOfTheNoise(Honest):
    """As where a subsample is drawn by the constructor."""

    def __init__(self):
        # far apart, so that one instance is refuted whatever it drew
        self.shift = np.random.default_rng().normal(size=2) * 1000

    def sample(self, data, count, rng):
        return data + self.shift[int(data)] + rng.laplace(size=(count, 1))


class Marked(Honest):
    """With the process's number before and behind."""

    def sample(self, data, count, rng):
        number = np.full((count, 1), float(os.getpid()))
        return np.hstack([number, super().sample(data, count, rng), number])


class MarkedKept(KeptByInstance):
    def sample(self, data, count, rng):
        return np.hstack([np.full((count, 1), float(os.getpid())), super().sample(data, count, rng)])


class MarkedPool(Pool):
    def sample(self, data, count, rng):
        return np.hstack([np.full((count, 1), float(os.getpid())), super().sample(data, count, rng)])


class MarkOfTheInput(Honest):
    """Not a mark: noise that is drawn once hides which input it is."""

    def sample(self, data, count, rng):
        other = np.random.default_rng([os.getpid(), int(data)]).normal()
        return np.hstack([np.full((count, 1), other), data + rng.laplace(size=(count, 1))])


@pytest.mark.parametrize(
    "name",
    [
        *("KeptByInstance", "Pool", "MarkOfTheInput"),
        *exhaustively("KeptByModule", "KeptButForALittle", "PartOfTheNoise", "MarkedKept"),
        # seen from outside these are KeptByInstance, KeptByModule and MarkedKept again
        *(pytest.param(name, marks=pytest.mark.lengthy) for name in ("KeptByClass", "KeptByCache", "MarkedPool")),
    ],
)
def test_noise_that_is_kept_refutes_nothing_and_is_named(name, capsys, monkeypatch):
    # beside other work fewer than four may answer in time, which name no pattern
    monkeypatch.setattr(copies, "PATIENCE", 300.0)
    assert main([f"{HERE}:{name}", "--draws", "20000", "--seed", "1", "--events", "coordinates,categories"]) == 2
    error = capsys.readouterr().err
    assert "other processes" in error
    assert error.count("\n") == 1
    if name.startswith(("Kept", "MarkedKept", "MarkOf")):
        assert "kept (sticky, memoised)" in error


@pytest.mark.parametrize("name", ["Honest", *exhaustively("Marked", "NoNoise")])
def test_what_keeps_nothing_is_refuted_all_the_same(name, capsys, tmp_path):
    out = tmp_path / "certificate.json"
    words = [f"{HERE}:{name}", "--draws", "20000", "--seed", "1", "--events", "coordinates", "--out", str(out)]
    assert main(words) == 1
    text = capsys.readouterr().out
    assert copies.NOT_COMPARED not in text
    assert "sticky" not in text
    assert ("a release without noise" in text) == (name == "NoNoise")
    code, result = run(capsys, tmp_path, Certificate.read(out), "--fresh", "--seed", "2")
    assert code == 0
    assert {check["name"]: check["holds"] for check in result["checks"]}["other processes"]


class Enough(Honest):
    """Twice the noise that a claim of 1 needs."""

    def sample(self, data, count, rng):
        return data + rng.laplace(scale=2.0, size=(count, 1))


class SeededByTheData(Honest):
    """A generator for each input, seeded from it and kept: one process sees independent draws."""

    def __init__(self):
        self.generators = {data: np.random.default_rng(int(1000 * data)) for data in self.inputs()}

    def sample(self, data, count, rng):
        return data + self.generators[data].laplace(scale=2.0, size=(count, 1))


class OneSeed(Honest):
    def __init__(self):
        self.generator = np.random.default_rng(42)

    def sample(self, data, count, rng):
        return data + self.generator.laplace(scale=2.0, size=(count, 1))


class GeneratorOfItsOwn(OneSeed):
    def __init__(self):
        self.generator = np.random.default_rng()


class Coin(Honest):
    """Too few values for 16 distinct draws."""

    def __init__(self):
        self.generator = np.random.default_rng(42)

    def sample(self, data, count, rng):
        return np.abs(data - (self.generator.random((count, 1)) < 0.4)).astype(float)


@pytest.mark.parametrize(
    ("name", "noted"),
    [
        ("SeededByTheData", True),
        ("OneSeed", True),
        ("Enough", False),
        ("GeneratorOfItsOwn", False),
        ("Coin", False),
    ],
)
def test_a_pass_says_when_the_noise_has_a_seed_of_its_own(name, noted, capsys):
    words = [f"{HERE}:{name}", "--epsilon", "1", "--draws", "20000", "--seed", "1", "--events", "coordinates"]
    assert main(words) in (EXIT_FINE, EXIT_UNDECIDED)
    assert (copies.SAME_NOISE in capsys.readouterr().out) == noted


def closure(sticky: bool):
    kept: dict[float, float] = {}

    def mechanism(data, rng):
        noisy = data + rng.laplace(scale=0.5)
        return kept.setdefault(data, noisy) if sticky else noisy

    return mechanism


def test_function_that_keeps_its_noise_is_told_from_one_with_too_little():
    with pytest.raises(AssertionError, match="refuted"):
        assert_private(closure(sticky=False), 0.0, 1.0, epsilon=1, draws=10_000)
    with pytest.raises(SubjectError, match=r"kept \(sticky, memoised\)"):
        assert_private(closure(sticky=True), 0.0, 1.0, epsilon=1, draws=10_000)


def test_generator_of_its_own_repeats_in_copies_and_is_no_reason_to_refuse():
    generator = np.random.default_rng(5)

    def mechanism(data, _rng):
        return data + generator.laplace(scale=0.5)

    with pytest.raises(AssertionError, match="nobody drew in other processes"):
        assert_private(mechanism, 0.0, 1.0, epsilon=1, draws=10_000)


def test_certificate_of_kept_noise_does_not_hold(capsys, tmp_path, monkeypatch):
    """As an auditor writes it that draws in one process only."""
    out = tmp_path / "certificate.json"
    for check in ("check_copies", "check_more"):
        monkeypatch.setattr(f"audit.evidence.copies.{check}", lambda *_: None)
    words = [f"{HERE}:KeptByClass", "--draws", "20000", "--seed", "1", "--events", "coordinates"]
    assert main([*words, "--out", str(out)]) == 1
    monkeypatch.undo()
    capsys.readouterr()
    code, result = run(capsys, tmp_path, Certificate.read(out), "--fresh", "--seed", "2")
    assert code == 1
    assert {check["name"] for check in result["checks"] if check["holds"] is False} == {"other processes"}


class Failing(Honest):
    """Fails, hangs or ends in all processes but one."""

    def sample(self, data, count, rng):
        if os.environ["CFM_TEST_FIRST"] != str(os.getpid()):
            if os.environ["CFM_TEST_HOW"] == "hang":
                time.sleep(60)
            if os.environ["CFM_TEST_HOW"] == "end":
                os._exit(1)
            raise OSError("not here")
        return super().sample(data, count, rng)


@pytest.mark.parametrize("how", ["raise", "hang", "end"])
def test_processes_that_give_nothing_are_a_note(how, monkeypatch, capsys):
    monkeypatch.setenv("CFM_TEST_FIRST", str(os.getpid()))
    monkeypatch.setattr(copies, "PATIENCE", 0.5)
    monkeypatch.setenv("CFM_TEST_HOW", how)
    assert main([f"{HERE}:Failing", "--draws", "4000", "--seed", "1", "--events", "coordinates"]) == 1
    assert copies.NOT_COMPARED in capsys.readouterr().out


def drawn(rng: np.random.Generator, number: int, offset: float = 0.0) -> list[Any]:
    """Outputs of so many processes, each with an offset of its own."""
    found = []
    for _ in range(number):
        shift = offset * rng.standard_normal(2)
        found.append(tuple(side + shift[side] + rng.laplace(size=(32, 1)) for side in (0, 1)))
    return found


def test_independent_outputs_are_never_said_to_be_kept():
    """Null control, far inside the limit; a part of the noise that is kept is found."""
    event = Event(CoordinateScore(0), 0.5, True, "right", None)
    rng = np.random.default_rng(1)
    share = 0.5 * np.exp(-0.5)
    for _ in range(6):
        left, right = rng.binomial(7_000, [share, 1 - share])
        assert copies.check_copies(event, Counts(right, 7_000, left, 7_000), drawn(rng, 16)) is None
    with pytest.raises(SubjectError, match="other processes"):
        copies.check_copies(event, Counts(right, 7_000, left, 7_000), drawn(rng, 16, offset=2.0))


@pytest.mark.parametrize("offset", [-50.0, 0.0, 50.0], ids=["never there", "now and then", "always there"])
@pytest.mark.parametrize("fresh", [0.0, 1e-3], ids=["kept", "and a little fresh"])
def test_kept_noise_is_named_on_whichever_side_of_the_event_it_lies(offset, fresh):
    """The event alone would not tell: it occurs in no other process, or in each of them."""
    event = Event(CoordinateScore(0), 0.0, True, "right", None)
    rng = np.random.default_rng(2)
    outputs = [
        tuple(offset + side + rng.laplace() + fresh * rng.normal(size=(32, 1)) for side in (0, 1))
        for _ in range(16)
    ]
    with pytest.raises(SubjectError, match=r"kept \(sticky, memoised\)"):
        copies.check_copies(event, Counts(7_000, 7_000, 0, 7_000), outputs)


LAWS = {
    "Laplace": lambda rng, shape: rng.laplace(size=shape),
    "a coin": lambda rng, shape: rng.integers(2, size=shape).astype(float),
    "rare ones": lambda rng, shape: (rng.random(shape) < 0.02).astype(float),
    "rare zeros": lambda rng, shape: (rng.random(shape) >= 0.02).astype(float),
    "NaN": lambda rng, shape: np.where(rng.random(shape) < 0.3, np.nan, rng.laplace(size=shape)),
    "a constant": lambda _rng, shape: np.zeros(shape),
}


SHOWN = ("Laplace", "rare ones", "a constant")


@pytest.mark.parametrize(
    "name", [pytest.param(law, marks=[pytest.mark.lengthy] * (law not in SHOWN)) for law in LAWS]
)
def test_processes_that_draw_independently_hardly_ever_differ_so_much(name):
    """Null control at every level; with one offset for each process none of them is as rare as that."""
    rng = np.random.default_rng(3)
    shape = (copies.COPIES, 2, copies.FEWEST_CALLS, 5)
    found = np.exp([copies.log_p_of_independence(LAWS[name](rng, shape)) for _ in range(200)])
    for level in (0.2, 0.05, 0.01):
        assert (found < level).mean() <= level
    offsets = rng.normal(size=(copies.COPIES, 2, 1, 1))
    spoiled = LAWS[name](rng, shape)[..., :4] * 1e-3 + offsets
    assert np.exp(copies.log_p_of_independence(spoiled)) < nearness.CHANCE


class FirstOfProcess(Honest):
    """Count calls where no copy of an object sees it; the first one has no noise, if it is on such an input."""

    bare: tuple[float, ...] = (0.0, 1.0)
    calls: ClassVar[list[float]] = []

    def sample(self, data, count, rng):
        self.calls.append(data)
        outputs = super().sample(data, count, rng)
        if len(self.calls) == 1 and data in self.bare:
            outputs[0] = data
        return outputs


class FirstOfProcessOnRight(FirstOfProcess):
    """Where it draws on left first, nothing is to be seen."""

    bare = (1.0,)


class FirstOfProcessRight(FirstOfProcess):
    bare = ()


class SlowFirstOfProcess(FirstOfProcess):
    """Twelve processes on each input take 1.2 seconds."""

    def __init__(self):
        time.sleep(0.05)


def generator_of_a_function(share: float):
    """Noise of which a part comes from a generator that all copies of a process have in common."""
    generator = np.random.default_rng(5)
    return lambda data, rng: data + share * generator.laplace() + (1 - share) * rng.laplace()


REFUSED = "the first outputs of processes differ from later ones: on "


@pytest.mark.parametrize(
    ("name", "words", "told"),
    [
        ("FirstOfProcess", (), f"{REFUSED}left"),
        ("FirstOfProcess", ("--outputs-per-call", "4"), f"{REFUSED}left"),
        ("FirstOfProcessOnRight", (), f"{REFUSED}right"),
        ("SlowFirstOfProcess", (), f"{REFUSED}left"),
        ("FirstOfProcessRight", (), None),
        ("FirstOfProcessRight", ("--outputs-per-call", "4"), None),
    ],
)
def test_a_first_output_of_a_process_without_noise_is_noticed(name, words, told, capsys, monkeypatch):
    monkeypatch.setattr(copies, "DRAWS_FOR_FIRST", 10_000)
    monkeypatch.setattr(copies, "FOR_FIRST", 300.0)
    FirstOfProcess.calls.clear()
    words = [*words, "--epsilon", "3", "--draws", "10000", "--seed", "1", "--events", "coordinates"]
    assert main([f"{HERE}:{name}", *words]) == (EXIT_FINE if told is None else EXIT_USAGE)
    printed = capsys.readouterr()
    assert (told or "") in printed.err
    assert copies.FIRSTS_NOT_COMPARED not in printed.out


def test_processes_without_time_to_compare_their_first_outputs_are_a_note(capsys, monkeypatch):
    monkeypatch.setattr(copies, "DRAWS_FOR_FIRST", 10_000)
    monkeypatch.setattr(copies, "FOR_FIRST", 1.0)
    monkeypatch.setattr(copies, "SHARE_FOR_FIRST", 0.0)
    FirstOfProcess.calls.clear()
    words = ["--epsilon", "3", "--draws", "10000", "--seed", "1", "--events", "coordinates"]
    assert main([f"{HERE}:SlowFirstOfProcess", *words]) == EXIT_FINE
    assert f"{copies.FIRSTS_NOT_COMPARED}: each takes 0." in capsys.readouterr().out
    monkeypatch.setattr(copies, "FOR_FIRST", 0.0)
    found = assert_private(generator_of_a_function(0.0), 0.0, 1.0, epsilon=3, draws=10_000)
    assert f"{copies.FIRSTS_NOT_COMPARED}: 0 of {copies.PROCESSES} gave" in " ".join(found.notes)
    # a quick subject does not take 0 s where the time was over before
    with copied(Honest) as made:
        note = f"{copies.FIRSTS_NOT_COMPARED}: {copies.compare_firsts(made, 0, -0.2)}"
    assert note.endswith("gave draws within 0 s, which are too few")
    assert re.fullmatch(copies.TOO_SLOW, note)


@pytest.mark.parametrize("share", [1.0, 0.8])
def test_a_generator_that_processes_have_in_common_is_no_reason_to_refuse(share, monkeypatch):
    monkeypatch.setattr(copies, "DRAWS_FOR_FIRST", 10_000)
    monkeypatch.setattr(copies, "FOR_FIRST", 300.0)
    found = assert_private(generator_of_a_function(share), 0.0, 1.0, epsilon=3, draws=10_000)
    assert found.verdict == "not refuted"
    alike = f"{copies.FIRSTS_NOT_COMPARED}: 28 of 28 drew, but only 2 drew bits of their own"
    assert (alike in found.notes) is (share == 1)


@pytest.mark.parametrize(("name", "another"), [("RandomInputs", True), ("KeptBesideObjects", False)])
def test_another_pair_in_another_process_is_not_called_kept_noise(name, another, capsys):
    words = ["--epsilon", "1", "--draws", "20000", "--seed", "1", "--events", "coordinates"]
    assert main([f"{HERE}:{name}", *words]) == 2
    said = capsys.readouterr().err
    assert ("inputs() returned another pair in another process" in said) is another
    assert ("drawn once and kept" in said) is not another
