"""The curve of a certificate: written, read back, and checked by another road."""

from __future__ import annotations

import json

import jsonschema
import numpy as np
import pytest
from msgspec.structs import replace

from audit.bounds import Counts
from audit.epsilon_estimate import main as audit_main
from audit.evidence.certificate import Certificate, CertificateError
from audit.evidence.checks import binding
from audit.evidence.curve_checks import curve_checks
from audit.gate.requests import changed
from audit.gate.requests import verify_command as main
from reference.common.documents import schema_of


@pytest.fixture(scope="module")
def certificate(tmp_path_factory) -> Certificate:
    """Return the certificate of the command; by Clopper and Pearson, which is checked quickly."""
    path = tmp_path_factory.mktemp("curve") / "certificate.json"
    words = ["--epsilon", "1", "--draws", "20000", "--seed", "3", "--curve", "--bound", "clopper_pearson"]
    assert audit_main(["laplace_half_noise", *words, "--out", str(path)]) == 1
    return Certificate.read(path)


def outcomes(document: Certificate) -> dict[str, bool | None]:
    return {check.name: check.holds for check in curve_checks(document)}


def with_point(document: Certificate, place: int, **changes) -> Certificate:
    assert document.curve is not None
    points = list(document.curve.points)
    points[place] = replace(points[place], **changes)
    return changed(document, curve=replace(document.curve, points=tuple(points)))


def test_curve_survives_writing_and_reading_and_satisfies_its_schema(certificate, tmp_path):
    path = tmp_path / "certificate.json"
    certificate.write(path)
    assert Certificate.read(path) == certificate
    schema = json.loads(json.dumps(schema_of(Certificate)))
    jsonschema.Draft202012Validator.check_schema(schema)
    jsonschema.validate(certificate.to_json(), schema)
    # a null event for the schema: a curve without points is none
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(certificate.to_json() | {"curve": {"points": []}}, schema)


def test_a_certificate_without_a_curve_says_so(certificate):
    without = changed(certificate, curve=None)
    assert without.to_json()["curve"] is None
    assert Certificate.of(without.to_json()).curve is None
    assert outcomes(without) == {}


@pytest.mark.parametrize("bound", ["clopper_pearson", "joint"])
def test_curves_of_the_command_hold_and_so_do_they_on_fresh_draws(bound, capsys, tmp_path):
    path = tmp_path / "certificate.json"
    words = ["--epsilon", "1", "--draws", "2000", "--seed", "3", "--curve", "--bound", bound]
    audit_main(["laplace_half_noise", *words, "--out", str(path)])
    capsys.readouterr()
    assert main([str(path), "--fresh", "--seed", "1", "--draws", "3000", "--format", "json"]) in (0, 3)
    checks = {check["name"]: check["holds"] for check in json.loads(capsys.readouterr().out)["checks"]}
    names = ("curve", "curve arithmetic", "whole curve", "stored curve")
    assert [checks[name] for name in names] == [True] * 4


def test_event_of_a_point_gives_its_counts_again(certificate, capsys, tmp_path):
    """The control of the fresh draws: another threshold is found by them, and by nothing else."""
    found = []
    for threshold in (certificate.curve.points[0].threshold, 2.5):
        path = tmp_path / "certificate.json"
        with_point(certificate, 0, threshold=threshold).write(path)
        main([str(path), "--fresh", "--seed", "1", "--format", "json"])
        checks = json.loads(capsys.readouterr().out)["checks"]
        found.append([check["name"] for check in checks if check["holds"] is False])
    assert found == [[], ["stored curve"]]


EDITS = [
    ({"epsilon_lower_bound": 3.0}, "curve arithmetic"),
    ({"epsilon_lower_bound": 0.5}, "whole curve"),
    ({"epsilon_lower_bound": -0.5}, "curve"),
    ({"epsilon_lower_bound": float("nan")}, "curve"),
    ({"delta": 0.5}, "curve"),
    ({"delta": float("nan")}, "curve"),
    ({"counts": Counts(3_500, 7_000, 3_000, 7_000)}, "curve arithmetic"),
    ({"counts": Counts(7_000, 7_000, 0, 7_000)}, "whole curve"),
    ({"counts": Counts(3_500, 6_000, 500, 6_000)}, "curve"),
]


@pytest.mark.parametrize(("changes", "found"), EDITS)
def test_an_edited_point_does_not_hold(certificate, changes, found):
    assert all(outcomes(certificate).values())
    assert [name for name, holds in outcomes(with_point(certificate, 0, **changes)).items() if not holds] == [
        found
    ]


@pytest.mark.parametrize(
    "changes",
    [
        {"significance": 0.1},
        {"significance": 1e-12},
        {"method": "anytime"},
        {"method": "anytime_betting"},
        {"judged": "implementation"},
    ],
)
def test_a_curve_of_another_certificate_does_not_hold(certificate, changes):
    """Its level, its looks and its object are those of the certificate."""
    assert outcomes(changed(certificate, **changes)) == {"curve": False}


def test_bound_at_the_full_significance_of_a_share_does_not_hold(certificate):
    """As if there were one delta only."""
    from audit.bounds import epsilon_lower_bound

    point = certificate.curve.points[0]
    greedy = epsilon_lower_bound(point.counts, point.delta, certificate.significance, "clopper_pearson")
    assert greedy > point.epsilon_lower_bound
    edited = with_point(certificate, 0, epsilon_lower_bound=greedy)
    assert outcomes(edited)["curve arithmetic"] is False


@pytest.mark.parametrize(
    ("place", "value"),
    [
        (("bound",), "conditional"),
        (("points",), []),
        (("points",), 3),
        (("points", 0, "relation"), "<="),
        (("points", 0, "likely_input"), "both"),
        (("points", 0, "delta"), "0"),
        (("points", 0, "delta"), True),
        (("points", 0, "counts", "likely"), 1.5),
        (("points", 0, "counts", "likely"), 10**7),
        (("points", 0, "counts"), None),
        (("points", 0, "more"), 1),
        (("more",), 1),
    ],
)
def test_a_document_that_is_no_curve_is_refused(certificate, place, value):
    document = certificate.to_json()
    inner = document["curve"] = json.loads(json.dumps(document["curve"]))
    for step in place[:-1]:
        inner = inner[step]
    inner[place[-1]] = value
    with pytest.raises(CertificateError, match="curve"):
        Certificate.of(document)


def test_a_curve_that_was_not_asked_for_is_found(certificate):
    """The successor of the rule that only version 2 has a curve."""
    assert all(check.holds for check in binding(certificate))
    assert [
        check.name for check in binding(changed(certificate, request={"curve": False})) if not check.holds
    ] == ["request"]
    document = certificate.to_json()
    del document["curve"]
    with pytest.raises(CertificateError, match="curve"):
        Certificate.of(document)


def test_stored_bounds_are_those_of_the_result(capsys):
    words = ["--epsilon", "1", "--draws", "4000", "--seed", "3", "--curve", "--format", "json"]
    audit_main(["laplace_half_noise", *words])
    result = json.loads(capsys.readouterr().out)
    assert result["curve"] == result["certificate"]["curve"]
    bounds = [point["epsilon_lower_bound"] for point in result["curve"]["points"]]
    assert np.isfinite(bounds).all()
    assert max(bounds) > 1
