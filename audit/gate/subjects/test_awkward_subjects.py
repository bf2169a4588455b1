"""Subjects that are long, wrongly written, that die late, or that draw from a generator not their own."""

from __future__ import annotations

import json
import random
from collections import Counter
from typing import Any, ClassVar

import msgspec
import numpy as np
import pandas as pd
import pytest
from scipy.stats import binom

from audit.auditor.distinguish import Terms, estimate
from audit.auditor.draws import Draws
from audit.auditor.notes import OTHER_GENERATOR, SHARED_GENERATOR
from audit.auditor.probe import CALLS
from audit.auditor.subject import DrawingError, SubjectError, two_inputs
from audit.common.keys import key_of
from audit.epsilon_estimate import main
from audit.evidence.certificate import Certificate
from audit.evidence.forks import told_apart
from audit.evidence.one_call import assert_private
from audit.evidence.replay import replay
from audit.evidence.verify import outcome, verify
from audit.evidence.words import inputs_in_words
from audit.gate.auditor.auditing import audit
from audit.gate.requests import changed, verify_command
from audit.gate.subjects.written_programs import command_line
from audit.subjects.adjacency import EQUAL, SAME_VALUES, UNCHECKED, notes_on_pair, require_neighbours
from audit.subjects.catalogue import Laplace
from audit.subjects.descriptions import rebuild_small
from audit.subjects.programs import InputPair
from audit.subjects.stated import as_json

HERE = "audit.gate.subjects.test_awkward_subjects"


class LongInputs:
    """The noisy sum of 20,000 records of ten numbers."""

    adjacency = "replace_one"
    most_rows = 2_000

    def inputs(self):
        data = np.arange(200_000.0).reshape(20_000, 10) / 200_000
        other = data.copy()
        other[17, 3] = 1.0
        return data, other

    def sample(self, data, count, rng):
        return data[17, 3] + rng.laplace(size=(count, 1))


def test_long_inputs_are_told_by_what_differs(capsys, tmp_path):
    out = tmp_path / "certificate.json"
    assert main([f"{HERE}:LongInputs", "--draws", "20000", "--seed", "1", "--out", str(out)]) == 0
    text = capsys.readouterr().out
    assert len(text) < 6_000
    assert len(out.read_bytes()) < 20_000
    certificate = Certificate.read(out)
    left, right = (certificate.inputs[side] for side in ("left", "right"))
    assert left["length"] == right["length"] == 20_000
    assert left["sha256"] != right["sha256"]
    assert list(left["different"]) == ["17"]
    assert "inputs: 20,000 records, counted from 0; record 17 differs: '[" in text


def test_short_inputs_are_told_whole(capsys):
    assert main(["laplace", "--draws", "20000", "--seed", "1", "--format", "json"]) == 0
    inputs = json.loads(capsys.readouterr().out)["witness"]["inputs"]
    assert (inputs["left"], inputs["right"]) == (0.0, 1.0)


@pytest.mark.parametrize(
    ("left", "right", "said"),
    [
        ([0.0, 1.0], [0.0, 2.0], "[0.0, 1.0] against [0.0, 2.0]"),
        ("a\nb", "b", r'"a\nb" against "b"'),
        (list(range(100)), list(range(100)), "100 records, counted from 0"),
        (
            list(range(200)),
            [*range(100), 7, *range(101, 199)],
            (
                "200 records against 199, counted from 0; record 100 differs: 100 against 7; "
                "record 199 differs: 199 against none"
            ),
        ),
        (
            list(range(100)),
            list(range(1, 101)),
            (
                "100 records, counted from 0; record 0 differs: 0 against 1; record 1 differs: 1 against 2; "
                "record 2 differs: 2 against 3; and more"
            ),
        ),
        ("x" * 400, "y", f'"{"x" * 149}... (402 characters) against "y"'),
        ("x" * 400, "x" * 400, " against ".join([f'"{"x" * 149}... (402 characters)'] * 2)),
        # no number to begin with: some of what is equal
        ("x" * 400 + "y", "x" * 400, f'they differ, from character 326: {"x" * 75}y" against {"x" * 75}"'),
        # of a summary, whose texts are starts
        (
            {"length": 2, "sha256": "a", "different": {"1": "'[0.5, 0' and 15 bytes more"}},
            {"length": 2, "sha256": "b", "different": {"1": "'[0.5, 0' and 16 bytes more"}},
            "2 records, counted from 0; record 1 differs after its start, which is all that is kept",
        ),
        (
            {"length": 2, "sha256": "a", "different": {"1": "'[0.5, 0' and 15 bytes more"}},
            {"length": 2, "sha256": "b", "different": {"1": "'[0.5, 1' and 15 bytes more"}},
            (
                "2 records, counted from 0; record 1 differs: '[0.5, 0' and 15 bytes more against "
                "'[0.5, 1' and 15 bytes more"
            ),
        ),
        # an input with the names of a summary
        (
            {"length": 1, "sha256": "", "different": {"a": "b"}},
            {"length": 1, "sha256": "", "different": [1]},
            (
                '{"length": 1, "sha256": "", "different": {"a": "b"}} against '
                '{"length": 1, "sha256": "", "different": [1]}'
            ),
        ),
    ],
)
def test_long_inputs_are_told_in_few_words(left, right, said):
    assert inputs_in_words(left, right) == said


def test_sets_and_dicts_of_equal_parts_are_told_alike():
    """Whatever order their parts have: with texts it is another one in each process."""
    one, other = {0, 8}, {8, 0}
    assert list(one) != list(other)
    for left, right in ((one, other), *(tuple(map(kind, (one, other))) for kind in (frozenset, dict.fromkeys))):
        assert key_of(left) == key_of(right)
        assert as_json(left) == as_json(right)
        assert told_apart([[left]]) == told_apart([[right]]) != told_apart([[0, 8]])
        assert notes_on_pair(left, right) == ((EQUAL,) if not isinstance(left, dict) else (SAME_VALUES,))
    assert as_json({10, 9, "b", "a"}) == [9, 10, "a", "b"]
    assert key_of({0, 8}) != key_of({0, 9})


def test_tables_as_inputs_are_told_by_their_records():
    table = pd.DataFrame({"a": range(300), "b": 1.5})
    other = table.assign(a=[7, *range(1, 300)])
    assert as_json(table)[299] == {"a": 299, "b": 1.5}
    said = inputs_in_words(as_json(table), as_json(other))
    assert said.endswith('record 0 differs: {"a": 0, "b": 1.5} against {"a": 7, "b": 1.5}')
    assert require_neighbours(table, other, "replace_one") is None
    for given, named in (
        (table, r"a DataFrame of shape \(300, 2\)"),
        (np.zeros((2, 2)), r"an ndarray of shape \(2, 2\)"),
        ("x" * 500, "a str of length 500"),
        ((1.0, 2.0, 3.0), r"\(1.0, 2.0, 3.0\)"),
        (None, "None"),
    ):
        with pytest.raises(SubjectError, match=rf"inputs\(\) must return the two inputs, not {named}$"):
            two_inputs(given)
    # the null control
    left, right = two_inputs([table, other])
    assert left is table
    assert right is other


# --- Attributes -----------------------------------------------------------------------------------------------


class Attributes(Laplace):
    """Right but for one attribute."""

    claimed_epsilon: ClassVar[Any] = 1
    claimed_delta: ClassVar[Any] = 0
    adjacency: ClassVar[Any] = None


WRONG: dict[str, Any] = {
    "most_rows": 2.5,
    "notes": "one sentence",
    "own_entropy": "yes",
    "log_likelihood_ratio": 3,
    "claimed_epsilon": [1],
    "claimed_delta": "a little",
    "adjacency": "one record",
}


def of_module(monkeypatch, **attributes: Any) -> str:
    for name, value in attributes.items():
        monkeypatch.setattr(Attributes, name, value, raising=False)
    return f"{HERE}:Attributes"


@pytest.mark.parametrize("name", [None, *WRONG])
def test_wrong_attribute_is_named_in_one_line(name, monkeypatch, capsys):
    path = of_module(monkeypatch, **({} if name is None else {name: WRONG[name]}))
    code = main([path, "--draws", "20000", "--seed", "1"])
    error = capsys.readouterr().err
    if name is None:
        assert (code, error) == (0, "")
        return
    assert code == 2
    assert name.removeprefix("claimed_") in error
    assert error.count("\n") == 1


def test_attribute_that_fails_is_named_in_one_line(monkeypatch, capsys):
    path = of_module(monkeypatch, notes=property(lambda _: 1 / 0))
    assert main([path, "--draws", "20000", "--seed", "1"]) == 2
    assert capsys.readouterr().err.count("notes failed: ZeroDivisionError") == 1


# --- Late failures --------------------------------------------------------------------------------------------


class Dies(Laplace):
    """Laplace noise, too little of it perhaps, that fails after so many outputs."""

    most_rows = 2_000

    def __init__(self, scale: float, after: int) -> None:
        super().__init__()
        object.__setattr__(self, "scale_of_noise", scale)
        object.__setattr__(self, "left_over", [after])

    def sample(self, data, count, rng):
        self.left_over[0] -= count
        if self.left_over[0] < 0:
            raise OSError("the disk\nis full")
        return data + rng.laplace(scale=self.scale_of_noise, size=(count, 1))


@pytest.mark.parametrize("workers", [1, 2])
def test_draws_before_a_late_failure_are_kept_where_they_refute(workers):
    found = audit(Dies(0.5, 90_000), 100_000, workers=workers)
    assert found.verdict(1.0) == "refuted"
    assert 1.0 < found.epsilon_lower_bound <= 2.0
    assert found.stopped is not None
    assert "the disk" in found.stopped
    assert "\n" not in found.stopped
    # nearly all that was drawn, but for 5,000 that only looked at the subject; two workers had drawn ahead
    assert (80_000 if workers == 1 else 50_000) <= found.draws <= 90_000
    assert found.method == "anytime_betting"


@pytest.mark.parametrize(("scale", "after"), [(1.0, 90_000), (0.5, 2_000)])
def test_late_failure_that_refutes_nothing_is_an_error(scale, after):
    with pytest.raises(DrawingError, match="the disk"):
        audit(Dies(scale, after), 100_000)


def test_program_that_dies_late_keeps_what_refutes(capsys, tmp_path):
    program = command_line(
        "asked = 0\n"
        "for request in requests():\n"
        " asked += request['count']\n"
        " if asked > 85_000: sys.exit('no more')\n"
        " say({'values': [[request['input'] + random.gauss(0, .3)] for _ in range(request['count'])]})"
    )
    (tmp_path / "pair.json").write_text('{"left": 0, "right": 1, "adjacency": "replace_one"}')
    out = tmp_path / "certificate.json"
    words = ["--program", program, "--inputs", str(tmp_path / "pair.json"), "--epsilon", "1", "--draws", "100000"]
    assert main([*words, "--events", "coordinates", "--out", str(out)]) == 1
    text = capsys.readouterr().out
    assert "exit code 1" in text
    assert "no more" in text
    assert outcome(verify(Certificate.read(out))) == "holds"


class FailsFarOut(Laplace):
    """Right Laplace noise; what is far out fails instead, an outcome like any other, so epsilon is 1."""

    most_rows = 500

    def sample(self, data, count, rng):
        outputs = data + rng.laplace(size=(count, 1))
        if outputs.max() > 9.0:
            raise ValueError("out of range")
        return outputs


@pytest.mark.parametrize("audits", [30, pytest.param(2_000, marks=pytest.mark.lengthy)])
def test_bounds_of_what_failed_late_err_no_more_often_than_stated(audits):
    """About half of these audits fail, most of them while they certify."""
    refuted = failed = 0
    terms = Terms(draws=6_000, significance=0.2, claimed_epsilon=0.99, families=("coordinates",))
    for seed in range(audits):
        try:
            found = estimate(FailsFarOut(), terms, np.random.default_rng(seed))
        except DrawingError:
            failed += 1
        else:
            refuted += found.epsilon_lower_bound > 1.0
            failed += found.stopped is not None
    assert 0.2 <= failed / audits <= 0.8
    # two methods share the runs, each at the full significance
    assert binom.sf(refuted - 1, audits, 0.2) > 1e-3


# --- Generators that are shared -------------------------------------------------------------------------------


class FromNumpy(Laplace):
    def sample(self, data, count, rng):
        return data + np.random.laplace(size=(count, 1))  # noqa: NPY002


class FromPython(Laplace):
    def sample(self, data, count, rng):
        return np.array([[data + random.choice((-1, 1)) * random.expovariate(1)] for _ in range(count)])


class SaysSo(FromNumpy):
    own_entropy = True


class FromItsOwn(Laplace):
    def sample(self, data, count, rng):
        return data + np.random.default_rng().laplace(size=(count, 1))


class SaysItsOwn(FromItsOwn):
    own_entropy = True


class OnlyOnTheRight(Laplace):
    def sample(self, data, count, rng):
        return super().sample(data, count, np.random.default_rng() if data else rng)


@pytest.mark.parametrize(
    ("kind", "noticed", "seeded"),
    [
        ("FromNumpy", SHARED_GENERATOR, False),
        ("FromPython", SHARED_GENERATOR, False),
        ("SaysSo", None, False),
        ("FromItsOwn", OTHER_GENERATOR, False),
        ("OnlyOnTheRight", OTHER_GENERATOR, False),
        ("SaysItsOwn", None, False),
        ("FromGenerator", None, True),
    ],
)
def test_another_generator_is_noticed_and_no_replay_is_made(kind, noticed, seeded, tmp_path, capsys):
    np.random.seed(1)  # noqa: NPY002
    random.seed(1)
    out = tmp_path / "certificate.json"
    path = "laplace" if kind == "FromGenerator" else f"{HERE}:{kind}"
    main([path, "--draws", "4000", "--seed", "1", "--events", "coordinates", "--out", str(out)])
    said = " ".join(capsys.readouterr().out.split())
    assert [note for note in (SHARED_GENERATOR, OTHER_GENERATOR) if note in said] == [noticed] * bool(noticed)
    certificate = Certificate.read(out)
    assert certificate.seeded is seeded
    assert verify_command([str(out), "--replay"]) == (3 if seeded else 2)
    assert ("the subject draws from another generator" in capsys.readouterr().err) is not seeded
    # as one of an earlier version, which did not draw twice
    (again, *_) = replay(changed(certificate, seeded=True))
    assert again.holds is (True if seeded else None)


def test_one_call_notices_another_generator_by_one_more_call_on_each_input():
    calls = []

    class Counted(FromItsOwn):
        def sample(self, data, count, rng):
            calls.append(int(data))
            return rng.laplace(data, size=(count, 1))

    Draws.of(Counted(1.0), (1,))
    # the opening, the probe, and the repeated call
    assert Counter(calls) == {0: 1 + CALLS + 1, 1: 1 + CALLS + 1}
    for kind, noticed in ((FromItsOwn, True), (Laplace, False)):
        found = assert_private(kind(1.0), 0.0, 1.0, epsilon=2, draws=2_000, allow_undecided=True)
        assert (OTHER_GENERATOR in found.notes) is noticed


# --- Pairs of programs ----------------------------------------------------------------------------------------

COUNTED = "for request in requests(): say({'values': values({**request, 'input': len(request['input'])})})"

PAIRS = {
    "a table and its column": (
        [[[1, 2], [3, 4]], [5, 6]],
        [[[2, 3], [4, 5]], [5, 6]],
        "replace_one",
        "have 2 rows",
    ),
    "a record replaced": ([1, [2, 3]], [1, [2, 4]], "replace_one", None),
    "a record removed": ([{"a": 1, "b": 2}, 5], [{"b": 2, "a": 1}], "add_or_remove_one", None),
    "two records replaced": ([1, 2, 3], [4, 2, 5], "replace_one", "records 0 and 2 differ"),
    "a number against a truth value": ([1, 2], [True, 3], "replace_one", "records 0 and 1 differ"),
    "a record more": ([1, 2], [1, 2, 3], "replace_one", "2 records and 3"),
    "a record replaced where one is removed": ([1, 2], [1, 3], "add_or_remove_one", "not one more"),
    "no lists of records": ({"counts": [1, 2]}, {"counts": [4, 5]}, "replace_one", None),
}


@pytest.mark.parametrize("name", PAIRS)
def test_lists_of_records_are_checked_to_be_neighbours(name, capsys, tmp_path):
    left, right, adjacency, problem = PAIRS[name]
    (tmp_path / "pair.json").write_text(json.dumps({"left": left, "right": right, "adjacency": adjacency}))
    out = tmp_path / "certificate.json"
    words = ["--program", command_line(COUNTED), "--inputs", str(tmp_path / "pair.json"), "--draws", "1000"]
    code = main([*words, "--epsilon", "3", "--events", "coordinates", "--out", str(out)])
    if problem is not None:
        assert code == 2
        assert problem in capsys.readouterr().err
        assert not out.exists()
        return
    certificate = Certificate.read(out)
    unchecked = isinstance(left, dict)
    assert certificate.neighbours == (UNCHECKED if unchecked else f"{adjacency}, by the inputs")
    assert {check.name: check.holds for check in verify(certificate)}["neighbours"]
    # and verify finds a sentence, or a pair, that was edited
    described: Any = certificate.subject
    forged = msgspec.structs.replace(described, inputs=InputPair([1, 2], [3, 4], "replace_one"))
    for edited in (
        msgspec.structs.replace(certificate, neighbours="replace_one, by the inputs" if unchecked else UNCHECKED),
        msgspec.structs.replace(certificate, request=msgspec.structs.replace(certificate.request, subject=forged)),
    ):
        assert {check.name: check.holds for check in verify(edited)}["neighbours"] is False


# --- Forged sizes ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("size", [3, 10**9])
def test_forged_dimension_keeps_nobody_busy(size, tmp_path):
    out = tmp_path / "certificate.json"
    words = "functional --draws 2000 --dimension 3 --records 100 --seed 1 --events coordinates"
    main([*words.split(), "--out", str(out)])
    certificate = Certificate.read(out)
    described: Any = certificate.subject
    forged = msgspec.structs.replace(described.setting, dimension=size)
    request = msgspec.structs.replace(
        certificate.request, subject=msgspec.structs.replace(described, setting=forged)
    )
    checks = {check.name: check for check in verify(msgspec.structs.replace(certificate, request=request))}
    assert checks["claim"].holds is (True if size == 3 else None)
    assert ("1,000,000,000 columns are too many" in checks["claim"].detail) is (size != 3)
    if size != 3:
        with pytest.raises(SubjectError, match="too many"):
            rebuild_small(request.subject)
