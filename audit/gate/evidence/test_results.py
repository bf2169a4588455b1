"""A result file says more than its certificate: a replay compares all of it."""

from __future__ import annotations

import copy
import json
import shlex
from dataclasses import replace
from functools import cache
from typing import Any

import msgspec
import numpy as np
import pytest

from audit.auditor.certification import REPEATED, TIME_IS_OVER, RepeatedRun
from audit.auditor.first import NO_TIME
from audit.auditor.notes import ONE_OUTPUT_EACH
from audit.evidence.certificate import RESULT_FIELDS, Certificate, CertificateError
from audit.evidence.copies import FIRSTS_NOT_COMPARED, NO_NOISE, NOT_COMPARED, SAME_NOISE
from audit.evidence.estimation import Audit, carried_out, estimated
from audit.evidence.finding import OneCallFinding
from audit.evidence.replay import replay
from audit.evidence.report import EstimateResult
from audit.gate.evidence.test_replay import WORDS, edited, leaves, written
from audit.gate.needs import exhaustively
from audit.gate.requests import asked, verify_command
from audit.subjects.adjacency import UNCHECKED
from audit.subjects.programs.subject import NOT_RESTARTED

TIMED = "laplace --draws 100000000 --seed 1 --max-seconds 0.3 --events coordinates"

OF_RESULTS = (
    "laplace_float --draws 6000 --seed 2",
    "laplace --draws 3000 --seed 2 --curve --object implementation",
)


@pytest.mark.parametrize("words", [OF_RESULTS[0], *exhaustively(OF_RESULTS[1])])
def test_every_field_of_a_result_that_is_edited_is_found(words, tmp_path, monkeypatch):
    """The other verdict, notes, power and what is not ruled out were nobody's: only `seconds` is."""
    (request,) = asked(*words.split())
    result = carried_out(Audit.of(request))
    whole, path = json.loads(json.dumps(result.to_json())), tmp_path / "result.json"
    assert set(whole) == RESULT_FIELDS
    # the same run for each edit: repeated once
    monkeypatch.setattr("audit.evidence.replay.estimated", lambda *_, **__: result)

    def found(document: Any) -> bool:
        path.write_text(json.dumps(document), encoding="utf-8")
        try:
            ((certificate, stated),) = Certificate.read_with_results(path)
        except CertificateError:
            return True
        return replay(certificate, stated)[0].holds is not True

    assert not found(whole)
    places = [place for place in leaves(whole) if place[0] != "certificate"]
    assert [place for place in places if not found(edited(whole, place))] == [("seconds",)]
    for change in ({"implementation_verdict": "not refuted"}, {"implementation": {}}, {"notes": ["fine"]}):
        assert found(whole | change)
    # how quick this machine is does not matter; that of other processes, where nobody draws in any, is an edit
    late = f"{FIRSTS_NOT_COMPARED}: each takes 0.3 s or more, and there were 1.2e-05 s for 24"
    assert not found(whole | {"notes": [*whole["notes"], NO_TIME]})
    for notes in ([late], [NO_TIME, NO_TIME], [f"{NO_TIME}; and epsilon is at most 0.01"], [NOT_RESTARTED], [[]]):
        assert found(whole | {"notes": [*whole["notes"], *notes]})
    for change in (
        {"notes": NO_TIME},
        {"detectable_by_event": [*whole["detectable_by_event"], NO_TIME]},
        {"seconds": {"verdict": "proved"}},
        {"seconds": True},
        {"stopped": TIME_IS_OVER},
    ):
        assert found(whole | change)
    for place in ((), ("implementation",), ("witness",), ("implementation", "witness")):
        more = copy.deepcopy(whole)
        part = more
        for name in place:
            part = part[name]
        part["remark"] = "signed by nobody"
        path.write_text(json.dumps(more), encoding="utf-8")
        with pytest.raises(CertificateError, match="is no field of a result"):
            Certificate.read_all(path)


def test_result_of_a_curve_is_that_of_its_certificate(tmp_path):
    path = tmp_path / "result.json"
    (request,) = asked("laplace", "--draws", "3000", "--seed", "2", "--curve")
    whole = json.loads(json.dumps(carried_out(Audit.of(request)).to_json()))
    for place, value in (("curve", None), ("requested_draws", 10**9)):
        path.write_text(json.dumps(whole | {place: value}), encoding="utf-8")
        with pytest.raises(CertificateError, match=f"is not what the result's certificate says .*at {place}"):
            Certificate.read_all(path)


class SeldomFarOff:
    """Adds a thousand inputs to one output in 200: the event of a first stage does not see it."""

    claimed_epsilon = 1

    def inputs(self) -> tuple[float, float]:
        return 0.0, 1.0

    def sample(self, data: float, count: int, rng: np.random.Generator) -> Any:
        far = 1_000 * data * (rng.random(count) < 0.005)
        return (data + rng.laplace(scale=1.1, size=count) + far)[:, np.newaxis]


@pytest.mark.parametrize("ending", ["--until 0.3", "--max-seconds 100"])
def test_replay_does_not_believe_when_the_event_was_chosen(ending):
    """Whoever says that a stage's early event went on to the end picks an event that sees nothing."""
    (request,) = asked(f"{__name__}:SeldomFarOff", *f"--draws 40000 --seed 1 {ending}".split())
    audit = Audit.of(request)
    forged = estimated(audit, 0, repeated=RepeatedRun(request.draws // 2, 150)).certificate("ideal")
    assert forged.verdict == "not refuted"
    found = {check.name: check.holds for check in replay(forged)}
    assert found == {"replay": False} if "until" in ending else {"replay": True, "choice": None}


def test_result_of_a_run_that_the_clock_ended_is_repeated(tmp_path, capsys):
    path = tmp_path / "result.json"
    (request,) = asked(*TIMED.split())
    result = carried_out(Audit.of(request)).to_json()
    assert result["stopped"] == TIME_IS_OVER
    untrue = "after all draws asked for; this mechanism is proved private"
    failed = "sample() failed: OSError: no disk"
    for stopped, code in ((TIME_IS_OVER, 3), (None, 1), (untrue, 1), (f"{TIME_IS_OVER}\x1b[2J", 1), (failed, 1)):
        path.write_text(json.dumps(result | {"stopped": stopped}), encoding="utf-8")
        assert verify_command([str(path), "--replay"]) == code
    assert "stopped differs" in capsys.readouterr().out


@cache
def carried(name: str) -> EstimateResult:
    (request,) = asked(*shlex.split(WORDS[name]))
    return carried_out(Audit.of(request))


@pytest.mark.parametrize("other_claim", [False, True])
def test_an_assertion_and_a_result_tell_the_same_of_one_estimate(other_claim):
    """All but the inputs, which only a result names; the broken control is another claim."""
    result = carried("own")
    claimed = result.claimed + other_claim
    checked = result.neighbours != UNCHECKED
    finding = OneCallFinding(claimed, result.claimed_delta, result.estimate, 0, checked, "1 against 2")
    told, of_result = finding.to_json(), result.to_json()
    assert set(told) - set(of_result) == {"seed"}
    for one in (of_result["witness"], of_result["implementation"]["witness"]):
        assert (one.pop("inputs"), one.pop("output")) == (result.inputs, list(result.output_names))
    differ = {name for name in set(told) - {"seed", "notes"} if told[name] != of_result[name]}
    assert ("claimed_epsilon" in differ) is other_claim
    if not other_claim:
        assert differ <= {"not_ruled_out"}


def variant(name: str, *, refuted: bool, timed: bool, **of_estimate: Any) -> EstimateResult:
    """Return a result at a claim that it refutes or not, with or without a time limit."""
    result = carried(name)
    request = msgspec.structs.replace(result.request, max_seconds=9.0 if timed else None)
    claimed = 1e-9 if refuted else 100.0
    return replace(result, request=request, claimed=claimed, estimate=replace(result.estimate, **of_estimate))


@pytest.mark.parametrize(
    ("stopped", "names", "holds"),
    [
        ("interrupted", ["own", "program", "not refuted"], True),
        (TIME_IS_OVER, ["own", "program", "not refuted"], True),
        # free text, which no repeated run meets
        ("sample() failed: KeyError: 'Alice Smith'; all is private", ["own", "program", "not refuted"], None),
        ("the mechanism failed: KeyError: 'Alice Smith'", ["own"], None),
        ("the mechanism failed: KeyError: 'Alice Smith'", ["program", "not refuted"], False),
        ("the program of Bob leaks", ["program"], None),
        ("the program of Bob leaks", ["own", "not refuted"], False),
        ("sample() failed: x", ["own"], False),
        ("sample() failed: KeyError: \x1b[2J", ["own"], False),
    ],
)
def test_reason_of_a_failure_is_not_repeated(stopped, names, holds, monkeypatch):
    for name in names:
        again = variant(name, refuted=True, timed=True, stopped=REPEATED)
        monkeypatch.setattr("audit.evidence.replay.estimated", lambda *_, one=again, **__: one)
        stated = json.loads(json.dumps(again.to_json())) | {"stopped": stopped}
        (check,) = replay(again.certificate("ideal"), stated)
        assert check.holds is holds
        assert ("notes that depend on its machine and why it stopped" in check.detail) is (holds is True)
        assert ("the reason cannot be compared" in check.detail) is (holds is None)
        # the repeated run met it
        met = variant(name, refuted=True, timed=True, stopped=stopped)
        monkeypatch.setattr("audit.evidence.replay.estimated", lambda *_, one=met, **__: one)
        assert [one.holds for one in replay(met.certificate("ideal"), stated)] == [True]


OF_COPIES = {
    "bits": f"{FIRSTS_NOT_COMPARED}: 28 of 28 drew, but only 1 drew bits of their own",
    "slow": f"{FIRSTS_NOT_COMPARED}: each takes 0.3 s or more, and there were 1.2e-05 s for 24",
    "late": f"{FIRSTS_NOT_COMPARED}: 3 of 28 gave draws within 0.5 s, which are too few",
    "none": NOT_COMPARED,
    "none in time": f"{NOT_COMPARED}; too few answered in time",
    "same noise": SAME_NOISE,
    "kept?": ONE_OUTPUT_EACH,
    "no noise": NO_NOISE,
}


@pytest.mark.parametrize(
    ("of", "stated", "again", "holds"),
    [
        ("many", ["bits"], ["bits"], True),
        ("refuted", ["none"], ["none"], True),
        # deleted, or a subject whose copies always fail
        ("refuted", [], ["none"], False),
        ("many", [], ["bits"], False),
        ("refuted", ["none"], [], False),
        # a slow machine wrote it, and is as cautious as it must be
        ("many", ["slow"], [], True),
        ("many", ["slow"], ["late"], True),
        ("refuted", ["none in time"], ["none"], True),
        ("many", ["slow", "late"], [], False),
        ("refuted", ["none", "none"], ["none"], False),
        # a slow machine repeats it: nobody can tell
        ("many", [], ["late"], None),
        ("refuted", [], ["none in time"], None),
        ("many", ["bits"], ["slow"], True),
        # of another verdict, or of more draws
        ("refuted", ["slow"], [], False),
        ("many", ["none in time"], [], False),
        ("few", ["slow"], [], False),
        # other processes are asked for it within the time, where nothing is refuted
        ("few", ["same noise"], [], False),
        ("few timed", ["same noise"], [], True),
        ("refuted timed", ["same noise"], [], False),
        # whether a constant is a release without noise is told exactly where copies were compared
        ("refuted", ["kept?", "none in time"], ["no noise"], True),
        ("refuted", ["no noise", "none in time"], ["no noise"], False),
        ("refuted", ["kept?"], ["no noise"], False),
        ("refuted", ["no noise"], ["kept?", "none in time"], None),
        ("refuted", ["kept?"], ["kept?", "none in time"], False),
    ],
)
def test_notes_that_only_time_decides_are_told_from_deleted_ones(of, stated, again, holds, monkeypatch):
    def noted(names: list[str]) -> EstimateResult:
        notes = (*carried("own").estimate.notes, *(OF_COPIES[name] for name in names))
        return variant("own", refuted="refuted" in of, timed="timed" in of, notes=notes)

    if of == "many":
        monkeypatch.setattr("audit.evidence.replay.DRAWS_FOR_FIRST", 2_000)
    monkeypatch.setattr("audit.evidence.replay.estimated", lambda *_, **__: noted(again))
    (check, *_) = replay(noted([]).certificate("ideal"), json.loads(json.dumps(noted(stated).to_json())))
    assert check.holds is holds
    assert ("that this machine alone has" in check.detail) is (holds is None)


NO_COPY = """
import os
from audit.gate.evidence.test_replay import OwnRelation as Only
if "HELD" in os.environ:
    raise ImportError("only one process may hold the licence")
os.environ["HELD"] = "1"
"""


def test_warning_that_nobody_drew_in_other_processes_cannot_be_deleted(tmp_path, monkeypatch, capsys):
    """No copy of this subject can be made, here or there."""
    (tmp_path / "held_by_one.py").write_text(NO_COPY)
    monkeypatch.syspath_prepend(str(tmp_path))
    # as it is now, when this test ends
    monkeypatch.setenv("HELD", "")
    monkeypatch.delenv("HELD")
    path = tmp_path / "result.json"
    (request,) = asked(*["held_by_one:Only", "--draws", "6000", "--seed", "1", "--epsilon", "0.3"])
    result = json.loads(json.dumps(carried_out(Audit.of(request)).to_json()))
    assert [note for note in result["notes"] if note.startswith(NOT_COMPARED)] == [NOT_COMPARED]
    for notes, code in ((result["notes"], 0), ([], 1)):
        path.write_text(json.dumps(result | {"notes": notes}), encoding="utf-8")
        assert verify_command([str(path), "--replay"]) == code
    assert "replay: DOES NOT HOLD (notes differs)" in capsys.readouterr().out


def test_result_says_what_no_check_looked_at_without_a_replay(tmp_path, capsys):
    path = tmp_path / "result.json"
    (request,) = asked(*WORDS["refuted"].split())
    path.write_text(json.dumps(carried_out(Audit.of(request)).to_json()), encoding="utf-8")
    for words, said in (([], True), (["--replay"], False)):
        assert verify_command([str(path), *words]) == 0
        text = capsys.readouterr().out
        assert ("nothing checked its other verdict" in text) is said
        assert ("all else that the result says but `versions`, `seconds` and notes" in text) is not said
    # a certificate alone has nothing more
    written("refuted").write(path)
    assert verify_command([str(path)]) == 0
    assert "result" not in capsys.readouterr().out
