"""Requests, answers and files of pairs are as their schemas say."""

from __future__ import annotations

import json

import pytest
from jsonschema import Draft202012Validator

from audit.gate.subjects.written_programs import ANSWERS, HONEST, ROOT, as_line
from audit.subjects.programs import (
    AnswerError,
    InputPair,
    PairError,
    ReportedError,
    protocol,
)
from reference.common.documents import plain
from reference.common.errors import InputError

REQUESTS = (protocol.InputsRequest, protocol.SampleRequest)

ANSWER_TYPES = (protocol.SampleAnswer, InputPair, protocol.ErrorAnswer)


def fits(document: object, *kinds: type) -> bool:
    """Return whether a document is of some kind by the committed schema of that kind."""
    folder = ROOT / "audit" / "common" / "schemas"
    schemas = [json.loads((folder / f"{kind.__name__}.schema.json").read_text()) for kind in kinds]
    for one in schemas:
        Draft202012Validator.check_schema(one)
    return any(Draft202012Validator(one).is_valid(document) for one in schemas)


@pytest.mark.parametrize(
    ("document", "valid"),
    [
        ({"left": 0, "right": None, "adjacency": "replace_one"}, True),
        ({"left": [{}], "right": [], "adjacency": "add_or_remove_one"}, True),
        ({"left": 0, "right": 1}, False),
        ({"left": 0, "right": 1, "adjacency": "bounded"}, False),
        ({"left": 0, "right": 1, "adjacency": "replace_one", "epsilon": 1}, False),
        ([0, 1], False),
    ],
)
def test_pairs_are_read_as_their_schema_says(tmp_path, document, valid):
    assert fits(document, InputPair) == valid
    path = tmp_path / "pair.json"
    path.write_text(json.dumps(document))
    if valid:
        assert plain(InputPair.read(path)) == document
    else:
        with pytest.raises(PairError):
            InputPair.read(path)


UNSENDABLE = {
    "a float too large": ("1e400", "finite number is needed"),
    "an integer too large": ("9" * 400, "too large for a float"),
    "half a character": ('["\\ud800"]', "half a character"),
    "half a character in a name": ('{"\\udfff": 1}', "half a character"),
    "deep nesting": ("[" * 60 + "]" * 60, "nested"),
    "very deep nesting": ("[" * 100 + "]" * 100, "deeper than"),
}


@pytest.mark.parametrize("name", UNSENDABLE)
@pytest.mark.parametrize("side", ["left", "right"])
def test_inputs_that_cannot_be_sent_are_refused_from_any_source(start, tmp_path, name, side):
    given, reason = UNSENDABLE[name]
    other = {"left": "right", "right": "left"}[side]
    text = f'{{"{other}": 1, "{side}": {given}, "adjacency": "replace_one"}}'
    path = tmp_path / "pair.json"
    path.write_text(text)
    with pytest.raises(PairError, match=reason) as caught:
        InputPair.read(path)
    # by its place, or in words
    assert side in str(caught.value)
    with pytest.raises(AnswerError, match=f"not a pair: .*{reason}"):
        start(f"sys.stdin.readline(); write(open({str(path)!r}, 'rb').read() + b'\\n')\n{HONEST}", None)


def test_a_side_given_twice_is_refused(tmp_path):
    path = tmp_path / "pair.json"
    path.write_text('{"left": 0, "right": 1, "left": 1, "adjacency": "replace_one"}')
    with pytest.raises(PairError, match="'left' is given twice"):
        InputPair.read(path)


@pytest.mark.parametrize(("right", "noted"), [(1, True), (True, False), (2, False)])
def test_equal_inputs_are_noted(right, noted):
    notes = InputPair(1, right, "replace_one").notes
    assert ["nothing is tested" in note for note in notes] == [True] * noted


@pytest.mark.parametrize("text", ["", "{", '{"left": NaN, "right": 0, "adjacency": "replace_one"}', "[" * 10**5])
def test_files_that_are_no_pair_are_refused(tmp_path, text):
    path = tmp_path / "pair.json"
    path.write_text(text)
    with pytest.raises(InputError, match="is not JSON"):
        InputPair.read(path)


@pytest.mark.parametrize(
    "request_line",
    [
        protocol.inputs_request(),
        protocol.sample_request({"x": [1.5]}, 16384),
        protocol.sample_request(0, 1, seed=2**53 - 1, binary=True),
    ],
)
def test_requests_are_as_their_schema_says(request_line):
    assert request_line.endswith(b"\n")
    assert fits(json.loads(request_line), *REQUESTS)


SCHEMA_CANNOT_SAY = {
    "too few draws",
    "ragged draws",
    "a float too large",
    "an integer of many digits",
    "an integer too large",
    "a member given twice",
}
"""What depends on the request, on other draws, or on how numbers and members are held."""


@pytest.mark.parametrize("name", ANSWERS)
def test_wrong_answers_are_wrong_by_the_schema_too(name):
    answer, reason, _ = ANSWERS[name]
    try:
        document = json.loads(as_line(answer), parse_constant=str)
    except (ValueError, RecursionError):
        return
    valid = fits(document, *ANSWER_TYPES)
    assert valid == (reason is ReportedError or name in SCHEMA_CANNOT_SAY or name == "bare NaN")


@pytest.mark.parametrize(
    "answer",
    [
        {"values": [[1, -0.0, "NaN"], "error", ["Infinity", "-Infinity", 2]]},
        {"values": [[1]], "accepts_seed": True, "version": 3},
    ],
)
def test_right_answers_are_right_by_the_schema_too(answer):
    assert fits(answer, *ANSWER_TYPES)
    rows = answer["values"]
    assert len(
        protocol.values_of(protocol.decoded(json.dumps(answer).encode(), numbers=True), len(rows), len(rows[0]))
    )
