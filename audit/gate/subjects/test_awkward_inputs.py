"""Inputs that test nothing, that are no records, or that the mechanism uses up."""

from __future__ import annotations

import copy
import json
import threading
from collections import OrderedDict, deque
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any, ClassVar

import msgspec
import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array, csr_matrix

from audit import assert_private
from audit.auditor.subject import SubjectError, two_inputs
from audit.epsilon_estimate import main
from audit.evidence.certificate import SHOWN_ALIKE, Certificate
from audit.evidence.verify import choice, outcome, verify
from audit.gate.subjects.written_programs import command_line
from audit.subjects.adjacency import (
    EQUAL,
    INCOMPARABLE,
    OF_FORM,
    SAME_VALUES,
    UNCHECKED,
    notes_on_pair,
    require_neighbours,
)

HERE = "audit.gate.subjects.test_awkward_inputs"

COUNTED = "for request in requests(): say({'values': values({**request, 'input': len(request['input'])})})"


class Shown:
    """Numpy shows the ends of its array alone."""

    def __init__(self, at):
        self.at = at

    def __repr__(self):
        return f"Shown({self.at})"


class Locked(Shown):
    """No pickle: nobody knows all that it holds."""

    def __init__(self, at):
        super().__init__(at)
        self.lock = threading.Lock()


class Leaving(Shown):
    """Its pickle leaves its array out."""

    def __getstate__(self):
        return None


class InSlot:
    __slots__ = ("__at",)

    def __init__(self, at):
        self.__at = at


class Row(msgspec.Struct):
    at: Any


@dataclass(frozen=True, slots=True)
class Frozen:
    at: Any
    label: int = 0


class Marker:
    pass


def sparse_row(at):
    return {"row": csr_matrix([at])}


def within_itself(at):
    made = SimpleNamespace(at=[at])
    made.at.append(made)
    return made


def labelled(at):
    return pd.Series([1.0, 2.0], index=at[:2])


# --- Pairs that test nothing ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("left", "right", "equal"),
    [
        (0.5, 0.5, EQUAL),
        ({"rows": [np.zeros(3), "a"]}, {"rows": [np.zeros(3), "a"]}, EQUAL),
        (np.zeros((2, 2)), np.zeros((2, 2)), EQUAL),
        (np.array([1, "a"], dtype=object), np.array([1, "a"], dtype=object), EQUAL),
        # what a mechanism can tell apart
        (3, 3.0, SAME_VALUES),
        ([3], [3.0], SAME_VALUES),
        ([0.0], [-0.0], SAME_VALUES),
        (np.zeros(3, dtype=int), np.zeros(3), SAME_VALUES),
        (np.zeros((2, 3)), np.zeros((3, 2)), SAME_VALUES),
        ({"x": 1, "y": 2}, {"y": 2, "x": 1}, SAME_VALUES),
        # null controls, and objects, of which nobody knows all that they hold
        ({"rows": [np.zeros(3), "a"]}, {"rows": [np.zeros(3), "b"]}, None),
        (np.zeros((2, 2)), np.eye(2), None),
        (1, "1", None),
        (pd.Series([1.0]), pd.Series([1.0]), None),
        ([SimpleNamespace(at=np.zeros(2_000))], [SimpleNamespace(at=np.eye(1, 2_000, 1_000)[0])], None),
        ([Locked(1)], [Locked(1)], None),
    ],
)
def test_equal_inputs_are_noted(left, right, equal):
    assert notes_on_pair(left, right) == ((equal,) if equal else ())


class OfOneInput:
    def inputs(self):
        return [1.0], [1.0]

    def sample(self, data, count, rng):
        return rng.laplace(data[0], size=(count, 1))


class OfOneValue(OfOneInput):
    def inputs(self):
        return [1], [1.0]


def test_equal_inputs_are_noted_by_each_road(capsys):
    quick = {"draws": 1_000, "allow_undecided": True}
    assert EQUAL in assert_private(OfOneInput(), [1.0], [1.0], epsilon=3, **quick).notes
    assert main([f"{__name__}:OfOneInput", "--draws", "1000", "--epsilon", "3"]) == 3
    assert EQUAL in capsys.readouterr().out
    assert main([f"{__name__}:OfOneValue", "--draws", "1000", "--epsilon", "3"]) == 3
    told = capsys.readouterr().out
    # in lines of a screen
    assert SAME_VALUES in " ".join(told.split())
    assert EQUAL not in " ".join(told.split())


class OfOneText:
    """Tells two inputs apart that a certificate shows alike."""

    pairs = ([1, 2], {1, 2}), ([1, 2], (1, 2)), ({1: 1.0}, {"1": 1.0})

    def __init__(self, place):
        self.place = place

    def inputs(self):
        return self.pairs[self.place]

    def sample(self, data, count, rng):
        return 3.0 * (repr(data) == repr(self.inputs()[0])) + rng.laplace(size=(count, 1))


SET, TUPLE, NAMES = (OfOneText(place) for place in range(3))


@pytest.mark.parametrize("name", ["SET", "TUPLE", "NAMES"])
def test_inputs_of_one_text_are_not_called_equal(name, capsys):
    assert main([f"{HERE}:{name}", "--draws", "2000", "--epsilon", "9", "--format", "json"]) == 3
    found = json.loads(capsys.readouterr().out)
    assert found["epsilon_lower_bound"] > 1
    assert SHOWN_ALIKE in found["notes"]
    assert EQUAL not in str(found)


ALIKE = {"records": ([1, 2], [1, 2]), "nothing": (None, None), "one object": (KNOWN := object(), KNOWN)}


def noise(_, rng):
    return rng.laplace()


def noise_by_type(data, rng):
    return 4.0 * isinstance(data[0], int) + rng.laplace()


@pytest.mark.parametrize("name", ALIKE)
def test_equal_inputs_are_undecided(name):
    with pytest.raises(AssertionError, match=rf"undecided.*\n  {EQUAL}\n"):
        assert_private(noise, *ALIKE[name], epsilon=1, draws=20_000)
    # and so is no pair of others
    assert assert_private(noise, [1, 2], [1, 3], epsilon=1, draws=20_000).verdict == "not refuted"


def test_inputs_that_differ_in_type_alone_are_noted_as_that():
    with pytest.raises(AssertionError, match=rf"undecided.*\n  {SAME_VALUES}\n"):
        assert_private(noise, [1, 2], [1, 2.0], epsilon=1, draws=5_000)
    with pytest.raises(AssertionError, match=r"^refuted") as refuted:
        assert_private(noise_by_type, [1], [1.0], epsilon=1, draws=5_000)
    assert EQUAL not in str(refuted.value)


def test_certificate_of_equal_inputs_does_not_pass_for_a_test(tmp_path):
    pair = tmp_path / "pair.json"
    pair.write_text(json.dumps({"left": [1], "right": [1], "adjacency": "replace_one"}))
    program = ["--program", command_line(COUNTED), "--inputs", str(pair)]
    for words in ([f"{HERE}:OfOneInput"], program):
        out = tmp_path / "certificate.json"
        assert main([*words, "--draws", "20000", "--epsilon", "3", "--out", str(out)]) == 3
        certificate = Certificate.read(out)
        assert certificate.verdict == "undecided"
        assert outcome(verify(certificate)) != "does not hold"
        forged = msgspec.structs.replace(certificate, verdict="not refuted")
        assert {check.name: check.holds for check in verify(forged)}["verdict"] is False
        # objects that words show alike may differ: only a replay tells
        alike = msgspec.structs.replace(forged, inputs=dict.fromkeys(("left", "right"), "<Data object>"))
        assert outcome([*verify(alike), *[found for found in [choice(alike)] if found]]) != "holds"


# --- Objects as records --------------------------------------------------------------------------------------

LONG, OTHER = np.zeros(2_000), np.eye(1, 2_000, 1_000)[0]

BY_FIELDS = (Shown, InSlot, Row, Frozen, sparse_row, within_itself, lambda at: SimpleNamespace(at=at))


@pytest.mark.parametrize("make", [*BY_FIELDS, lambda at: deque([at])])
def test_objects_are_compared_by_their_fields(make):
    one, other = ([make(at.copy()) for _ in range(3)] for at in (LONG, OTHER))
    with pytest.raises(SubjectError, match=r"records 0 and 1 differ, 3 in all$"):
        require_neighbours(one, other, "replace_one")
    # the null control
    assert require_neighbours(one, [make(LONG), make(OTHER), make(LONG)], "replace_one") is None
    assert require_neighbours(one, [make(LONG), make(LONG)], "add_or_remove_one") is None
    assert notes_on_pair(one, [make(LONG), make(LONG), make(LONG)])[0] == EQUAL
    assert notes_on_pair(one, other) == ()


@pytest.mark.parametrize("make", [lambda _: Locked(1), Leaving, lambda _: Marker(), lambda at: iter(at.tolist())])
def test_objects_that_hide_what_they_hold_are_not_compared(make):
    one, other = ([make(at) for _ in range(3)] for at in (LONG, OTHER))
    for relation, given in (("replace_one", other), ("add_or_remove_one", other[:2])):
        assert require_neighbours(one, given, relation) == INCOMPARABLE
    assert notes_on_pair(one, other) == ()
    # the null controls: one object equals itself, and of two records one may differ
    assert require_neighbours(one, [one[0], make(OTHER), one[2]], "replace_one") is None
    assert require_neighbours(one, one[1:], "add_or_remove_one") is None
    assert notes_on_pair(one, list(one)) == (EQUAL,)
    with pytest.raises(SubjectError, match="2 in all"):
        require_neighbours([*one, 1, 2], [*other, 2, 3], "replace_one")


@pytest.mark.parametrize(
    ("left", "right", "refused"),
    [
        (labelled([0, 1]), labelled([1, 0]), True),
        (pd.DataFrame({"a": [1]}), pd.DataFrame({"b": [1]}), True),
        (np.zeros((0, 3)), np.zeros((0, 5)), False),
        (OrderedDict(a=1, b=2), OrderedDict(b=2, a=1), False),
        (deque([1], 2), deque([1], 3), True),
        (csr_array([[0, 1.0]]), csr_matrix([[0, 1.0]]), True),
        (np.zeros(2, dtype=[("a", int)]), np.zeros(2, dtype=[("b", int)]), False),
        (pd.Series([1.0, 2.0], name=0), pd.Series([1.0, 2.0], name=1), False),
    ],
)
def test_labels_and_shapes_are_parts_of_a_record(left, right, refused):
    if refused:
        with pytest.raises(SubjectError, match="2 in all"):
            require_neighbours([left] * 2, [right] * 2, "replace_one")
    else:
        assert require_neighbours([left] * 2, [right] * 2, "replace_one") == OF_FORM
    assert require_neighbours([left] * 2, [copy.deepcopy(left), right], "replace_one") is None


def test_objects_that_refer_to_each_other_are_looked_into_for_a_while():
    def linked(at):
        made = [Shown(at) for _ in range(20)]
        for one in made:
            one.others = list(made)
        return made[:3]

    # those that were not looked into could have been compared
    said = require_neighbours(linked(0), linked(0), "replace_one")
    assert said is not None
    assert "or hold more objects than are looked into, so nobody compared them" in said
    with pytest.raises(SubjectError, match="3 in all"):
        require_neighbours(linked(0), linked(1), "replace_one")


def test_records_that_differ_in_type_are_told_so():
    pair = [True] * 10, [1] * 9 + [0]
    assert require_neighbours(*pair, "replace_one") == OF_FORM
    with pytest.raises(SubjectError, match=r"10 in all$"):
        require_neighbours([2] * 10, [1] * 10, "replace_one")


class OfObjects:
    """A right sum of records that hide what they hold from readers."""

    adjacency, claimed_epsilon = "replace_one", 1
    kind, replaced = Shown, 1

    def inputs(self):
        left = [self.kind(LONG) for _ in range(10)]
        return left, [self.kind(OTHER) for _ in range(self.replaced)] + left[self.replaced :]

    def sample(self, data, count, rng):
        return (sum(record.at.sum() for record in data) + rng.laplace(size=count)).reshape(-1, 1)


class OfTen(OfObjects):
    """Its inputs are no neighbours, so what it loses on them is no evidence."""

    replaced = 10


class OfTenUnknown(OfTen):
    kind = Leaving


def test_hidden_records_are_no_evidence(capsys, tmp_path):
    out = tmp_path / "certificate.json"
    assert main([f"{HERE}:OfTen", "--draws", "2000"]) == 2
    assert "records 0 and 1 differ, 10 in all" in capsys.readouterr().err
    assert main([f"{HERE}:OfTenUnknown", "--draws", "2000", "--out", str(out)]) == 1
    assert Certificate.read(out).neighbours == UNCHECKED
    assert INCOMPARABLE in " ".join(capsys.readouterr().out.split())
    assert main([f"{HERE}:OfObjects", "--draws", "20000", "--out", str(out)]) == 0
    assert Certificate.read(out).neighbours == "replace_one, by the inputs"


# --- Records --------------------------------------------------------------------------------------------------

TABLE, COLUMN = np.zeros((50, 2)), np.zeros(50)

NO_RECORDS = {
    "a list of a table and a column": [TABLE, COLUMN],
    "a tuple of a table and a list": (TABLE, list(COLUMN)),
    "a tuple of a column and a list": (COLUMN, list(COLUMN)),
    "lists": [TABLE.tolist(), COLUMN.tolist()],
    "an array of objects": np.array([TABLE, COLUMN, None], dtype=object),
    "a table": [TABLE],
    "columns with names": [{"x": COLUMN.tolist()}],
    "a table within": [{"x": TABLE, "size": 50}],
    "columns within": [{"data": {"x": COLUMN, "y": COLUMN}}],
    "a table of pandas": [pd.DataFrame({"x": COLUMN}), COLUMN],
    "a sparse table": [csr_matrix(TABLE), COLUMN],
    "two rows": [np.zeros((2, 2)), np.zeros(2), np.zeros(2)],
}

OF_RECORDS = {
    "rows as lists": [[0.0, 1.0], [2.0, 3.0], [4.0, 5.0]],
    "a tuple of arrays": (TABLE, COLUMN),
    "images": [np.zeros((2, 2))] * 5,
    "dictionaries": [{"name": "a", "visits": [1, 2]}, {"name": "b", "visits": [3, 4]}],
    "places": [{"at": [1, 2]}, {"at": [3, 4]}, {"at": [5, 6]}],
    "images with labels": [{"image": np.zeros((2, 2)), "label": 0}] * 5,
    "numbers": [0.0, 1.0],
    "texts": ["ab", "cd"],
    "sparse rows": [csr_matrix([[0.0, 1.0]])] * 3,
    "sparse rows with labels": [{"row": csr_matrix([[0.0, 1.0]]), "label": 0}] * 3,
    "nothing": [],
}


@pytest.mark.parametrize("name", NO_RECORDS)
def test_tables_and_columns_in_a_list_are_no_records(name):
    given = NO_RECORDS[name]
    with pytest.raises(SubjectError, match="pass an array, a tuple of arrays or a list of records"):
        require_neighbours(given, given, "replace_one")


@pytest.mark.parametrize("name", OF_RECORDS)
def test_records_are_counted(name):
    given = OF_RECORDS[name]
    assert require_neighbours(given, given, "replace_one") is None
    assert len(notes_on_pair(given, given, "replace_one")) == 1 + (
        name in ("rows as lists", "images", "sparse rows")
    )


# --- Inputs that are used up ----------------------------------------------------------------------------------


class Empties:
    """Its noisy sum is 0 after the first call."""

    held: ClassVar[Any] = [1.0, 2.0]

    def inputs(self):
        return self.held, [1.0, 2.5]

    def sample(self, data, count, rng):
        rows = data["rows"] if isinstance(data, dict) else data
        outputs = rng.laplace(sum(rows), size=(count, 1))
        rows.clear()
        return outputs


@pytest.mark.parametrize("held", [[1.0, 2.0], {"rows": [1.0, 2.0]}])
def test_inputs_that_are_emptied_are_noticed(held, monkeypatch, capsys):
    monkeypatch.setattr(Empties, "held", held)
    assert main([f"{HERE}:Empties", "--draws", "2000", "--epsilon", "3"]) == 2
    assert "sample() changed its input" in capsys.readouterr().err


class EmptiesLate(Empties):
    kept: ClassVar[Any] = ([1.0, 2.0], [1.0, 2.5])
    calls = 0

    def inputs(self):
        return self.kept

    def sample(self, data, count, rng):
        self.calls += 1
        if self.calls > 35:
            data.clear()
        return rng.laplace(sum(data), size=(count, 1))


def test_inputs_that_are_emptied_late_are_noticed(capsys):
    assert main([f"{HERE}:EmptiesLate", "--draws", "20000", "--epsilon", "3"]) == 2
    assert "changes its input" in capsys.readouterr().err


def test_inputs_that_can_be_read_once_are_refused():
    for once in (iter([1]), map(abs, [1]), (one for one in [1]), {"rows": iter([1])}):
        with pytest.raises(SubjectError, match="read only once"):
            assert_private(noise, once, [2], epsilon=1, draws=2_000)
        with pytest.raises(SubjectError, match="read only once"):
            two_inputs(([2], once))
    assert two_inputs((range(3), [1])) == (range(3), [1])
