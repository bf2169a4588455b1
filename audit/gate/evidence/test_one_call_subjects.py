"""One call on what users pass: what a mechanism states itself, and what a message says of a plain function."""

from __future__ import annotations

import json
import re
import time

import numpy as np
import pytest

from audit import assert_private
from audit.auditor.subject import SubjectError
from audit.evidence import copies
from audit.evidence.certificate import Certificate, CertificateError
from audit.evidence.copies import FIRSTS_NOT_COMPARED
from audit.subjects.adjacency import UNCHECKED
from audit.subjects.stated import as_json
from reference.common.errors import InputError

ONE_APART, TEN_APART = ([1.0] + [0.0] * 9, [0.0] * 10), ([1.0] * 10, [0.0] * 10)
QUICK = {"draws": 2_000, "allow_undecided": True}


class Stated:
    """A mean that states its claim and its neighbours."""

    adjacency: object = "replace_one"
    claimed_epsilon, claimed_delta = 2, "0.01"

    def sample(self, data, count, rng):
        return np.mean(data) + rng.laplace(scale=0.1, size=(count, 1))


class OfAGraph(Stated):
    """Its attribute of that name states nothing about neighbours."""

    adjacency = np.eye(3)


class ByName(Stated):
    adjacency = "one friendship"


# --- What a mechanism states ------------------------------------------------------------------------------------


def test_neighbours_that_a_mechanism_states_are_checked():
    with pytest.raises(SubjectError, match="not neighbours under replace_one"):
        assert_private(Stated(), *TEN_APART, epsilon=1)
    # null controls: neighbours, the same words, and an attribute that is no relation
    for how in ({}, {"adjacency": "replace_one"}):
        assert assert_private(Stated(), *ONE_APART, epsilon=1, **QUICK, **how).notes == ()
    (note,) = assert_private(OfAGraph(), *ONE_APART, epsilon=1, **QUICK).notes
    assert note.startswith(UNCHECKED)
    assert assert_private(OfAGraph(), *ONE_APART, epsilon=1, adjacency="replace_one", **QUICK).notes == ()
    # a name of the user's own, which a function explains
    assert assert_private(ByName(), *ONE_APART, epsilon=1, adjacency=lambda *_: True, **QUICK).notes == ()
    with pytest.raises(InputError, match=r"adjacency must be one of replace_one, .*, not 'one friendship'"):
        assert_private(ByName(), *ONE_APART, epsilon=1)


def test_neighbours_stated_in_two_ways_are_refused():
    both = "'add_or_remove_one' in the call and 'replace_one' in the mechanism"
    with pytest.raises(SubjectError, match=both):
        assert_private(Stated(), *ONE_APART, epsilon=1, adjacency="add_or_remove_one")
    with pytest.raises(SubjectError, match="a function in the call and 'replace_one' in the mechanism"):
        assert_private(Stated(), *ONE_APART, epsilon=1, adjacency=lambda *_: True)


def test_claim_that_is_given_counts_before_the_stated_one():
    def claimed(**claim):
        found = assert_private(Stated(), *ONE_APART, **claim, **QUICK).to_json()
        return found["claimed_epsilon"], found["claimed_delta"]

    assert claimed() == (2.0, "0.01")
    assert claimed(epsilon=1) == (1.0, "0.01")
    assert claimed(epsilon=1, delta=0) == (1.0, "0")
    with pytest.raises(InputError, match="epsilon must be given: the mechanism has no attribute claimed_epsilon"):
        assert_private(lambda _, rng: rng.laplace(), *ONE_APART)


@pytest.mark.parametrize("given", [3.0, {"x": [0.0]}, range(3)])
def test_inputs_without_records_are_told_what_function_compares_them(given):
    wanted = "adjacency=f, where f(left, right) returns True if they are neighbours"
    with pytest.raises(SubjectError, match=re.escape(wanted)):
        assert_private(Stated(), given, given, epsilon=1)


# --- What a finding leaves open ---------------------------------------------------------------------------------


class SeldomBare:
    """A right mechanism that forgets its noise once in a thousand outputs."""

    def sample(self, data, count, rng):
        return sum(data) + rng.laplace(size=(count, 1)) * (rng.random((count, 1)) > 0.001)


def test_pass_says_how_rare_a_leak_it_could_not_see():
    found = assert_private(SeldomBare(), [1.0], [0.0], epsilon=1, adjacency="replace_one", draws=50_000)
    leak = "leaks that happen less often than about once in "
    (line,) = [line for line in str(found).splitlines() if line.startswith("  not ruled out: other pairs of")]
    assert leak in line
    assert int(line.partition(leak)[2].split()[0]) < 1_000
    told = found.to_json()["not_ruled_out"]
    assert told.startswith("other pairs of inputs; what another event would show")
    assert line.partition("events; ")[2] in told
    # a claim that is refuted leaves nothing open
    with pytest.raises(AssertionError, match=r"^refuted") as refuted:
        assert_private(SeldomBare(), [2.0], [0.0], epsilon=1, draws=50_000)
    assert "not ruled out" not in str(refuted.value)


def test_finding_is_told_from_a_certificate(tmp_path):
    found = assert_private(Stated(), *ONE_APART, **QUICK).to_json()
    (tmp_path / "finding.json").write_text(json.dumps(found), encoding="utf-8")
    with pytest.raises(CertificateError, match=r"finding of assert_private, not a certificate: `audit estimate"):
        Certificate.read(tmp_path / "finding.json")
    # a null control: another document
    (tmp_path / "other.json").write_text(json.dumps({"mechanism": "mine", **found}), encoding="utf-8")
    with pytest.raises(CertificateError, match="schema"):
        Certificate.read(tmp_path / "other.json")


def noisy_sum(data, rng):
    return sum(data) + rng.laplace()


def slow(data, rng):
    time.sleep(0.05)
    return noisy_sum(data, rng)


def test_assertion_ends_by_the_clock():
    began = time.monotonic()
    how = {"epsilon": 1, "draws": 10**8, "max_seconds": 2, "allow_undecided": True}
    found = assert_private(noisy_sum, [0.0], [1.0], **how)
    assert time.monotonic() - began < 20
    assert found.to_json()["bound"] == "anytime_betting"
    assert 0 < found.to_json()["draws"] < 10**8
    assert found.to_json()["stopped"] is not None
    assert f"seed 0 ({found.to_json()['stopped']})" in str(found)
    with pytest.raises(SubjectError, match="the time was over before any draw could certify; raise max_seconds"):
        assert_private(slow, [0.0], [1.0], **how | {"max_seconds": 0.2})


def test_time_that_draws_leave_goes_to_other_processes(monkeypatch):
    """It was counted twice, so that none was left."""
    # else a machine that is busy has too little time
    monkeypatch.setattr(copies, "FOR_FIRST", 300.0)
    found = assert_private(noisy_sum, [0.0], [1.0], epsilon=1, draws=200_000, max_seconds=60)
    assert not any(note.startswith(FIRSTS_NOT_COMPARED) for note in found.notes)


# --- What is said of a plain function ---------------------------------------------------------------------------


async def awaited(_, rng):
    return rng.laplace()


def yielded(_, rng):
    yield rng.laplace()


def failing_at_times(_, rng):
    return 1 / int(rng.random() > 0.01)


MISTAKES = {
    "one argument": (lambda data: data, r"failed: TypeError: .* given; it is called as mechanism\(data, rng\)"),
    "no return": (lambda *_: None, "returned None: is a return missing"),
    "async": (awaited, r"async function, which is not awaited: .* asyncio\.run"),
    "yield": (yielded, "returned a generator, which has no numbers before it is read"),
    "failing": (failing_at_times, "failed: ZeroDivisionError: .*; if only some draws fail, return NaN in these"),
    "length of data": (lambda data, rng: rng.laplace(size=len(data)), "depends on the data .* pad all outputs"),
    "length at random": (lambda _, rng: [0.5] * (1 + int(rng.random() < 0.1)), "pad all outputs to one length"),
    "no length": (lambda *_: [], "at least one number"),
}


@pytest.mark.parametrize("name", MISTAKES)
def test_mistake_in_a_function_is_told_with_what_to_do(name):
    mechanism, said = MISTAKES[name]
    with pytest.raises(SubjectError, match=said) as refused:
        assert_private(mechanism, [0.0, 0.0], [0.0], epsilon=1, draws=2_000)
    assert "sample()" not in str(refused.value)


def only_noise(_, rng):
    return rng.laplace()


class Written(np.ndarray):
    """An array that counts the numbers that are written out."""

    numbers = 0

    def tolist(self):
        Written.numbers += self.size
        return super().tolist()


def held(rows: int, first: float) -> tuple[np.ndarray, np.ndarray]:
    features = np.full((rows, 50), 0.5).view(Written)
    features[0, 0] = first
    return features, np.zeros(rows).view(Written)


HOLDERS = {
    "tuple": lambda held: held,
    "dict": lambda held: dict(zip("Xy", held, strict=True)),
    "list of rows": lambda held: list(held[0]),
    "nested": lambda held: {"data": [{"X": held[0]}]},
    "array of arrays": lambda held: np.array([*held, None], dtype=object),
}


@pytest.mark.parametrize("holder", HOLDERS)
def test_inputs_of_many_numbers_are_not_written_out(holder, monkeypatch):
    """Only the outermost level was counted: 10 million numbers took 42 s and 2 GB."""

    def found(rows):
        monkeypatch.setattr(Written, "numbers", 0)
        pair = [HOLDERS[holder](held(rows, first)) for first in (0.0, 1.0)]
        return assert_private(only_noise, *pair, epsilon=1, **QUICK)

    assert re.fullmatch(r"(an? \w+ of (?:length|shape) [(),\d]+) against \1", found(2_200).inputs)
    assert Written.numbers == 0
    # the null control
    assert "0.5, 0.5" in found(20).inputs
    assert Written.numbers >= 2_000


@pytest.mark.parametrize(
    ("holder", "said"),
    [
        (
            tuple,
            r"2 parts, counted from 0; part 0 differs, from character ([\d,]+): \[0\.0, .*10,800 ch.* \[9\.0, .*",
        ),
        (
            lambda held: {"X": held[0], "y": held[1]},
            r"they differ, from character ([\d,]+): \[0\.0, 0\.5.* against \[9\.0, 0\.5.*",
        ),
        # a short record is shown as it was
        (
            lambda held: held[0].tolist(),
            r"400 records, counted from 0; record 300 differs: \[0\.0, 0\.5.*\] against \[9\.0, 0\.5.*\]",
        ),
    ],
)
def test_inputs_that_begin_alike_are_told_from_where_they_differ(holder, said):
    """Both texts were cut before that, and were the same."""
    pair = []
    for first in (0.0, 9.0):
        features = np.full((400, 5), 0.5)
        features[300, 0] = first
        pair.append(holder((features, np.zeros(400))))
    told = assert_private(only_noise, *pair, epsilon=1, **QUICK).inputs
    found = re.fullmatch(said, told)
    assert found, told
    for at in found.groups():
        texts = [json.dumps(as_json(one[0] if isinstance(one, tuple) else one)) for one in pair]
        assert [text[int(at.replace(",", "")) :][:4] for text in texts] == ["[0.0", "[9.0"]


class OfOneGenerator:
    """Right noise, from the generator that the whole process shares."""

    def __call__(self, data, _):
        return sum(data) + np.random.laplace()  # noqa: NPY002


class ManyOfOneGenerator:
    def sample(self, data, count, _):
        return sum(data) + np.random.laplace(size=(count, 1))  # noqa: NPY002


@pytest.mark.parametrize(
    ("mechanism", "name"), [(OfOneGenerator(), "mechanism(data, rng)"), (ManyOfOneGenerator(), "sample()")]
)
def test_note_names_what_the_user_wrote(mechanism, name):
    found = assert_private(mechanism, [0.0], [1.0], epsilon=2, **QUICK)
    assert any(note.startswith(f"{name} draws from the generator that the whole process") for note in found.notes)


def failing_at_times_told(data, rng):
    """Fail as often on each input, and say so by NaN: right."""
    return sum(data) + rng.laplace() if rng.random() > 0.01 else float("nan")


def failing_on_one_input_told(data, rng):
    return rng.laplace() if rng.random() > 0.2 * data[0] else float("nan")


def test_failure_as_nan_is_an_outcome():
    assert assert_private(failing_at_times_told, [0.0], [1.0], epsilon=1, draws=20_000).verdict == "not refuted"
    with pytest.raises(AssertionError, match=r"^refuted"):
        assert_private(failing_on_one_input_told, [0.0], [1.0], epsilon=1, draws=20_000)
