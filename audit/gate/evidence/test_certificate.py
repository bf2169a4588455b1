"""A certificate says what it rests on: its document, and what is not a certificate."""

from __future__ import annotations

import json

import jsonschema
import pytest

from audit.auditor.events.stored import TreeEvent
from audit.evidence.certificate import EARLIER, Certificate, CertificateError
from audit.gate.requests import verify_command as main
from reference.common.documents import converted, schema_of
from reference.common.errors import DocumentError


def test_certificate_survives_writing_and_reading_and_satisfies_its_schema(right, tmp_path):
    path = tmp_path / "certificate.json"
    right.write(path)
    assert Certificate.read(path) == right
    schema = json.loads(json.dumps(schema_of(Certificate)))
    jsonschema.Draft202012Validator.check_schema(schema)
    jsonschema.validate(right.to_json(), schema)
    # a null event for the schema: without a score it is refused
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({**right.to_json(), "event": {}}, schema)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("schema", "certificate_v9"),
        ("counts", {"likely": 1}),
        ("counts", {"likely": 3, "likely_draws": 2, "unlikely": 0, "unlikely_draws": 2}),
        ("counts", {"likely": 1.5, "likely_draws": 2, "unlikely": 0, "unlikely_draws": 2}),
        ("event", {"threshold": 1}),
        ("event", {"score": "horoscope", "threshold": 1}),
        ("request", {}),
        ("epsilon_lower_bound", float("inf")),
        ("claimed_epsilon", True),
        ("verdict", "private"),
        ("method", "wald"),
        ("draws", True),
        ("significance", "0.05"),
        ("formula", "log(p / q)"),
        ("remark", "signed by nobody"),
    ],
)
def test_documents_that_are_no_certificates_name_the_field(right, field, value):
    with pytest.raises(CertificateError, match=field):
        Certificate.of({**right.to_json(), field: value})


def test_missing_fields_and_files_that_are_no_json_are_named(right, tmp_path, capsys):
    document = right.to_json()
    del document["verdict"]
    with pytest.raises(CertificateError, match=r"verdict.*missing"):
        Certificate.of(document)
    path = tmp_path / "broken.json"
    path.write_text("{", encoding="utf-8")
    assert main([str(path)]) == 2
    assert "not JSON" in capsys.readouterr().err


@pytest.mark.parametrize("schema", EARLIER)
def test_certificates_of_earlier_versions_are_refused_in_a_line(right, capsys, tmp_path, schema):
    path = tmp_path / "earlier.json"
    path.write_text(json.dumps({**right.to_json(), "schema": schema}), encoding="utf-8")
    assert main([str(path)]) == 2
    assert capsys.readouterr().err == (
        f"error: certificate: {schema} is an earlier version, which is not read any more (file {path})\n"
    )


@pytest.mark.parametrize(
    ("place", "value"),
    [
        (("counts", "more"), 1),
        (("event", "coordinate"), 1.5),
        (("event", "coordinate"), -1),
        (("event", "more"), 1),
        (("request", "subject", "parameters"), []),
        (("request", "subject", "kind"), "horoscope"),
        (("request", "draws"), "many"),
        (("request", "more"), 1),
        (("inputs", "left"), float("nan")),
    ],
)
def test_an_error_names_the_path_of_the_field(right, place, value):
    document = json.loads(json.dumps(right.to_json()))
    inner = document
    for step in place[:-1]:
        inner = inner[step]
    inner[place[-1]] = value
    with pytest.raises(CertificateError) as caught:
        Certificate.of(document)
    # of an unknown field the message has the name and the place has what it is in
    assert str(caught.value.place).startswith(".".join(place[:-1]))
    assert place[-1] in str(caught.value)


def test_certificate_with_two_readings_is_none(right, tmp_path):
    path = tmp_path / "twice.json"
    text = json.dumps(right.to_json())
    path.write_text(text.replace('"verdict"', '"claimed_epsilon": 5, "verdict"'), encoding="utf-8")
    with pytest.raises(CertificateError, match="'claimed_epsilon' is given twice"):
        Certificate.read(path)
    path.write_text(text, encoding="utf-8")
    assert Certificate.read(path) == right


@pytest.mark.parametrize("field", ["feature", "left", "right"])
def test_places_in_a_tree_count_from_zero(field):
    said = {"relation": ">=", "threshold": 0.0, "likely_input": "left", "quantised_to": None}
    tree = {
        "feature": [[0]],
        "tree_threshold": [[None]],
        "left": [[0]],
        "right": [[0]],
        "value": [[1.0]],
        "depth": 1,
    }
    document = {"score": "trees", **said, **tree}
    assert converted(document, TreeEvent).feature == ((0,),)
    with pytest.raises(DocumentError, match=field):
        converted({**document, field: [[-1]]}, TreeEvent)
