"""Forgeries that a reader would believe: each is found by the road that the documentation names."""

from __future__ import annotations

import json
import re
from typing import Any, ClassVar

import msgspec
import numpy as np
import pytest

from audit.auditor.events import Event, Quantiser, event_of, stored_event
from audit.auditor.events.scores import CoordinateScore
from audit.epsilon_estimate import main as audit_main
from audit.evidence.certificate import Certificate, StoredCurve, StoredPoint
from audit.evidence.checks import binding, rebuilt
from audit.evidence.curve_checks import curve_checks
from audit.evidence.fresh import too_fine
from audit.gate.evidence.verifying import run
from audit.gate.needs import exhaustively
from audit.gate.requests import changed, verify_command
from audit.gate.subjects.written_programs import command_line
from audit.subjects.adjacency import UNCHECKED
from audit.subjects.descriptions import FOUND, IN_DOMAIN
from reference.common.arrays import FloatArray

HERE = "audit.gate.evidence.test_forgeries"

pytestmark = pytest.mark.usefixtures("ball_arithmetic_once")


class Own:
    """Laplace noise for a claim of its own, on inputs of its own."""

    pair: ClassVar[tuple[Any, Any]] = ([0.0, 0.0], [0.0, 1.0])
    adjacency: ClassVar[Any] = "replace_one"
    claimed_epsilon = 1

    def inputs(self):
        return self.pair

    def sample(self, data, count, rng):
        return rng.laplace(sum(data), size=(count, 1))


class TwoRecords(Own):
    """No neighbours, and nobody is asked."""

    pair = ([0.0, 0.0], [1.0, 1.0])
    adjacency = None


class Described(Own):
    """Inputs that Python shows with an address."""

    adjacency = None

    class Input:
        def __init__(self, value: float) -> None:
            self.value = value

    def inputs(self):
        return self.Input(0.0), self.Input(1.0)

    def sample(self, data, count, rng):
        return rng.laplace(data.value, size=(count, 1))


class OfSets(Own):
    """Inputs made from sets, which stand in another order each time: so do sets of texts in each process."""

    adjacency = None
    made = 0

    def inputs(self):
        OfSets.made += 1
        # 0 and 8 fall into one place: the first to come stands first
        numbers = {0, 8} if OfSets.made % 2 else {8, 0}
        return [numbers, dict.fromkeys(numbers, 0.0)], [{0}, {0: 0.0}]

    def sample(self, data, count, rng):
        return rng.laplace(len(data[0]), size=(count, 1))


def certificate_of(tmp_path, *words: str) -> Certificate:
    path = tmp_path / "written.json"
    draws = "10000" if "--search" in words else "3000"
    quick = ["--draws", draws, "--seed", "1", "--events", "coordinates"]
    assert audit_main([*words, *quick, "--out", str(path)]) in (0, 1, 3)
    return Certificate.read(path)


def failed(capsys, tmp_path, document: Certificate, *words: str) -> set[str]:
    capsys.readouterr()
    _, result = run(capsys, tmp_path, document, *words)
    return {check["name"] for check in result["checks"] if check["holds"] is False}


FRESH = ("--fresh", "--seed", "3", "--draws", "1500")


@pytest.mark.parametrize("name", ["Own", *exhaustively("TwoRecords", "Described")])
def test_right_certificates_of_ones_own_subjects_hold(name, capsys, tmp_path):
    document = certificate_of(tmp_path, f"{HERE}:{name}")
    assert failed(capsys, tmp_path, document, *FRESH) == set()
    assert failed(capsys, tmp_path, document, "--replay") == set()


def test_inputs_of_sets_are_repeated_in_whichever_order(capsys, tmp_path):
    one, other = OfSets().inputs(), OfSets().inputs()
    assert [list(part) for part in one[0]] != [list(part) for part in other[0]]
    document = certificate_of(tmp_path, f"{HERE}:OfSets")
    for words in (FRESH, ("--replay",)):
        for made in (0, 1):
            OfSets.made = made
            assert failed(capsys, tmp_path, document, *words) == set()
    forged = changed(document, inputs={**document.inputs, "right": [[9], {"0": 0.0}]})
    assert failed(capsys, tmp_path, forged, *FRESH) == {"inputs"}


def test_inputs_and_neighbours_of_ones_own_subject_are_found_again(capsys, tmp_path):
    document = certificate_of(tmp_path, f"{HERE}:TwoRecords")
    assert document.verdict == "refuted"
    assert document.neighbours == UNCHECKED
    forgeries: list[tuple[dict[str, Any], str]] = [
        ({"inputs": {"left": [0.0, 0.0], "right": [0.0, 1.0]}}, "inputs"),
        ({"neighbours": "replace_one, by the inputs"}, "neighbours found"),
        ({"claimed_epsilon": 0.5}, "claim found"),
        ({"claimed_delta": "0.001"}, "claim found"),
    ]
    for changes, found in forgeries:
        forged = changed(document, **changes)
        assert {check.name for check in rebuilt(forged) if not check.holds} == {found}
    forged = changed(document, **forgeries[0][0])
    assert failed(capsys, tmp_path, forged) == set()
    assert failed(capsys, tmp_path, forged, *FRESH) == {"inputs"}
    # and where it declares a relation that its inputs do not keep, or has others by now
    other = changed(certificate_of(tmp_path, f"{HERE}:Own"), neighbours=UNCHECKED)
    assert {check.name for check in rebuilt(other) if not check.holds} == {"neighbours found"}


def test_inputs_that_a_program_was_not_given_are_found_at_once(capsys, tmp_path):
    program = command_line("for request in requests(): say({'values': values({**request, 'input': 0})})")
    (tmp_path / "pair.json").write_text('{"left": {"a": 0}, "right": {"a": 9}, "adjacency": "replace_one"}')
    document = certificate_of(tmp_path, "--program", program, "--inputs", str(tmp_path / "pair.json"))
    assert failed(capsys, tmp_path, document) == set()
    forged = changed(document, inputs={**document.inputs, "right": {"a": 1}})
    assert failed(capsys, tmp_path, forged) == {"inputs"}


class Searched:
    """Twice the claim on one of its pairs."""

    def candidates(self):
        return [(0.0, 0.5), (0.0, 2.0), (0.0, 0.25)]

    def sample(self, data, count, rng):
        return rng.laplace(data, size=(count, 1))


@pytest.mark.exhaustive
def test_pair_that_a_search_would_not_have_found_is_found(capsys, tmp_path):
    """A weak pair, honestly audited, under a note of a search that tried all."""
    search = [f"{HERE}:Searched", "--search"]
    honest = certificate_of(tmp_path, *search)
    assert honest.verdict == "refuted"
    assert failed(capsys, tmp_path, honest, "--replay") == failed(capsys, tmp_path, honest, *FRESH) == set()
    document = weak_pair(tmp_path)
    assert document.verdict == "not refuted"
    assert failed(capsys, tmp_path, document) == set()
    assert failed(capsys, tmp_path, document, "--replay") == {"replay"}
    assert failed(capsys, tmp_path, document, *FRESH) == {"choice"}
    # pairs of a list are trusted, whoever says that somebody checked them
    forged = changed(document, neighbours=IN_DOMAIN)
    assert {check.name for check in rebuilt(forged) if not check.holds} == {"neighbours found"}


def weak_pair(tmp_path) -> Certificate:
    """Return the certificate of an audit on the first pair that names the search."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(Searched, "candidates", lambda _: [(0.0, 0.5)])
        return certificate_of(tmp_path, f"{HERE}:Searched", "--search")


def test_grid_for_outputs_that_are_mostly_one_number_is_compared():
    """Of nine outputs in ten that are 0 the quartiles say nothing."""
    rng = np.random.default_rng(1)

    def outputs() -> FloatArray:
        return np.asarray(rng.laplace(size=(4_000, 1)) * (rng.random((4_000, 1)) < 0.1))

    left, right = outputs(), outputs()
    quantiser = Quantiser.of(left, right)
    for steps, holds in ((quantiser.steps, True), (quantiser.steps * 2.0**-20, False)):
        event = Event(CoordinateScore(0), 0.5, True, "left", Quantiser(steps))
        assert (too_fine(event, outputs(), outputs(), 20_000, 12_000) == ()) is holds


@pytest.mark.parametrize("judged", ["ideal", "implementation"])
def test_result_is_read_as_its_certificate_and_must_say_the_same(judged, capsys, tmp_path):
    path = tmp_path / "result.json"
    words = ["laplace_half_noise", "--draws", "3000", "--seed", "1", "--format", "json", "--object", judged]
    assert audit_main([*words, "--out", str(path)]) == 1
    assert verify_command([str(path)]) == 0
    whole = json.loads(path.read_text(encoding="utf-8"))
    assert whole["certificate"]["judged"] == judged
    inner = whole["implementation"] if judged == "implementation" else whole
    verdict = "implementation_verdict" if judged == "implementation" else "verdict"
    for document, name, value in (
        (whole, verdict, "not refuted"),
        (whole, "claimed_epsilon", 3.0),
        (whole, "mechanism", "laplace"),
        (inner, "epsilon_lower_bound", 0.5),
        (inner, "witness", {}),
        (whole, "rerun", "rm"),
    ):
        kept = document[name]
        document[name] = value
        path.write_text(json.dumps(whole), encoding="utf-8")
        assert verify_command([str(path)]) == 2
        assert re.search("not what the result's certificate says|missing in the result", capsys.readouterr().err)
        document[name] = kept


def test_pair_that_no_domain_has_is_one_line(capsys, tmp_path):
    document = weak_pair(tmp_path)
    path = tmp_path / "forged.json"
    capsys.readouterr()
    for pair in ({"candidate": 99}, {"candidate": "first"}, {}, {"candidate": None}):
        changed(document, subject=msgspec.structs.replace(document.subject, pair=pair)).write(path)
        assert verify_command([str(path), *FRESH]) == 2
        assert capsys.readouterr().err.count("\n") == 1


def test_sizes_that_keep_a_reader_busy_are_refused(capsys, tmp_path):
    """Depths of trees, points of a curve and outputs of a call, as nobody's audit has them."""
    tree = {"feature": [[0]], "tree_threshold": [[None]], "left": [[0]], "right": [[0]], "value": [[1.0]]}
    event = {"score": "trees", "relation": ">=", "threshold": 0.0, "likely_input": "left", "quantised_to": None}
    assert event_of(stored_event({**event, **tree, "depth": 1})).score.name == "trees"
    with pytest.raises(ValueError, match="not 1000000000000 deep"):
        event_of(stored_event({**event, **tree, "depth": 10**12}))
    document = certificate_of(tmp_path, f"{HERE}:Own")
    path = tmp_path / "forged.json"
    changed(document, request={"outputs_per_call": 10**9}).write(path)
    capsys.readouterr()
    assert verify_command([str(path), *FRESH]) == 2
    assert "outputs_per_call" in capsys.readouterr().err
    point = StoredPoint(
        delta=0.0,
        epsilon_lower_bound=0.0,
        relation=">=",
        threshold=0.0,
        likely_input=document.event.likely_input,
        counts=document.counts,
    )
    points = [msgspec.structs.replace(point, delta=k / 10_000) for k in range(1_000)]
    for some, possible in ((points[:3], True), (points, False)):
        curve = StoredCurve(significance=document.significance, bound="joint", points=tuple(some))
        found = {check.name: check.holds for check in curve_checks(changed(document, curve=curve))}
        assert found["curve"] is possible


def test_certificates_of_a_direction_are_verified_and_edited_ones_found(capsys, tmp_path):
    path = tmp_path / "written.json"
    assert audit_main(["common_noise_scale", "--draws", "20000", "--seed", "1", "--out", str(path)]) == 1
    document = Certificate.read(path)
    capsys.readouterr()
    event: Any = document.event
    assert event.score == "distance"
    fresh = ("--fresh", "--seed", "3", "--draws", "10000")
    assert [run(capsys, tmp_path, document, *words)[0] for words in ((), ("--replay",), fresh)] == [0, 0, 0]
    edits: list[dict[str, Any]] = [
        {"weights": [-weight for weight in event.weights], "centre": -event.centre},
        {"weights": [event.weights[0], 0.0]},
        {"centre": event.centre + 10},
        {"threshold": event.threshold / 2},
    ]
    for edit in edits:
        forged = changed(document, event={**json.loads(json.dumps(event_of(event).to_json())), **edit})
        assert run(capsys, tmp_path, forged, "--replay")[0] == 1
        # the same set by another name is found by a replay only
        assert run(capsys, tmp_path, forged, *fresh)[0] == int(edit is not edits[0])
    for odd in ([1.0], [], [1.0, 2.0, 3.0]):
        changed(document, event={**event_of(event).to_json(), "weights": odd}).write(path)
        assert verify_command([str(path), *fresh]) == 2
        assert capsys.readouterr().err.count("\n") == 1


@pytest.mark.parametrize(("name", "known"), [("laplace", IN_DOMAIN), ("geometric", UNCHECKED)])
def test_who_checked_a_searched_pair_of_the_catalogue_has_one_text(name, known, tmp_path):
    """A certificate whose text was edited to another held, whatever was drawn again."""
    document = certificate_of(tmp_path, name, "--search")
    assert document.neighbours == known
    for text in FOUND:
        (check,) = [one for one in binding(changed(document, neighbours=text)) if one.name == "neighbours"]
        assert check.holds is (text == known)
