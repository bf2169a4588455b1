"""A certificate says what it rests on; verifying it finds what does not follow."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from fractions import Fraction

import jsonschema
import numpy as np
import pytest
from flint import arb, fmpq
from scipy.stats import binom

from audit.ball_arithmetic import upper_tail
from audit.bounds import AnytimeBound, Counts, epsilon_lower_bound
from audit.certificate import SCHEMA_FILE, Certificate, CertificateError, versions
from audit.distinguish import estimate
from audit.subjects import rebuild
from audit.verify import fresh, homogeneity, main, verify

SUBJECT = {"kind": "catalogue", "name": "laplace_half_noise", "parameters": {"epsilon": 1.0}}


@pytest.fixture(scope="module")
def right() -> Certificate:
    """Return the certificate of a real audit of half the noise."""
    found = estimate(rebuild(SUBJECT), delta=0.0, draws=20_000, significance=0.05, rng=np.random.default_rng(3))
    return Certificate(
        mechanism="laplace_half_noise",
        subject=SUBJECT,
        inputs={"left": 0.0, "right": 1.0},
        event=found.event.to_json(),
        judged="ideal",
        counts=found.counts,
        draws=found.draws,
        significance=0.05,
        method="joint",
        claimed_epsilon=1.0,
        claimed_delta="0",
        epsilon_lower_bound=found.epsilon_lower_bound,
        verdict=found.verdict(1.0),
        seed=3,
        command="python -m audit.epsilon_estimate laplace_half_noise",
        versions=versions(),
    )


def run(capsys, tmp_path, document: Certificate, *words: str):
    path = tmp_path / "certificate.json"
    document.write(path)
    code = main([str(path), *words, "--format", "json"])
    return code, json.loads(capsys.readouterr().out)


def test_certificate_survives_writing_and_reading_and_satisfies_its_schema(right, tmp_path):
    path = tmp_path / "certificate.json"
    right.write(path)
    assert Certificate.read(path) == right
    schema = json.loads(SCHEMA_FILE.read_text(encoding="utf-8"))
    jsonschema.Draft202012Validator.check_schema(schema)
    jsonschema.validate(right.to_json(), schema)
    # a null event for the schema: without a score it is refused
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({**right.to_json(), "event": {}}, schema)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("schema", "certificate_v9.json"),
        ("counts", {"likely": 1}),
        ("counts", {"likely": 3, "likely_draws": 2, "unlikely": 0, "unlikely_draws": 2}),
        ("counts", {"likely": 1.5, "likely_draws": 2, "unlikely": 0, "unlikely_draws": 2}),
        ("event", {"threshold": 1}),
        ("verdict", "private"),
        ("method", "wald"),
        ("draws", True),
        ("significance", "0.05"),
    ],
)
def test_documents_that_are_no_certificates_name_the_field(right, field, value):
    with pytest.raises(CertificateError, match=field):
        Certificate.from_json({**right.to_json(), field: value})


def test_missing_fields_and_files_that_are_no_json_are_named(right, tmp_path, capsys):
    document = right.to_json()
    del document["seed"]
    with pytest.raises(CertificateError, match=r"seed.*missing"):
        Certificate.from_json(document)
    path = tmp_path / "broken.json"
    path.write_text("{", encoding="utf-8")
    assert main([str(path)]) == 2
    assert "no JSON" in capsys.readouterr().err


def test_right_certificate_holds(right, capsys, tmp_path):
    assert right.verdict == "refuted"
    code, result = run(capsys, tmp_path, right)
    assert (code, result["outcome"]) == (0, "holds")
    assert {check["name"] for check in result["checks"]} >= {"verdict", "draws", "arithmetic"}


@pytest.mark.parametrize("method", ["clopper_pearson", "anytime"])
def test_right_certificates_of_the_other_methods_hold(right, method):
    counts = Counts(4_000, 10_000, 600, 10_000)
    if method == "anytime":
        bound = AnytimeBound(1.0, 0.0, 0.05, step=0.05).after(counts).epsilon_lower_bound
    else:
        bound = epsilon_lower_bound(counts, 0.0, 0.05, "clopper_pearson")
    document = replace(
        right, counts=counts, draws=20_000, method=method, epsilon_lower_bound=bound, verdict="refuted"
    )
    assert bound > 1
    assert all(check.holds for check in verify(document))
    overclaimed = replace(document, epsilon_lower_bound=bound + 0.1)
    assert [check.name for check in verify(overclaimed) if check.holds is False] == ["arithmetic"]


@pytest.mark.parametrize(
    ("changes", "check"),
    [
        ({"epsilon_lower_bound": 2.1}, "arithmetic"),
        ({"significance": 1e-9}, "arithmetic"),
        ({"claimed_delta": "0.2"}, "arithmetic"),
        ({"verdict": "not refuted"}, "verdict"),
        ({"claimed_epsilon": 1.99}, "verdict"),
        ({"draws": 100}, "draws"),
        ({"claimed_delta": "1.5"}, "levels"),
    ],
)
def test_tampered_certificates_do_not_hold(right, changes, check, capsys, tmp_path):
    code, result = run(capsys, tmp_path, replace(right, **changes))
    assert (code, result["outcome"]) == (1, "does not hold")
    assert [found["name"] for found in result["checks"] if found["holds"] is False] == [check]


def test_fresh_draws_confirm_the_refutation_of_half_the_noise(right, capsys, tmp_path):
    code, result = run(capsys, tmp_path, right, "--fresh", "--seed", "1")
    assert (code, result["outcome"]) == (0, "holds")
    assert result["fresh"]["refuted"]
    assert result["fresh"]["counts"]["likely_draws"] == right.counts.likely_draws


def test_counts_that_the_stored_event_does_not_give_are_found_by_fresh_draws(right, capsys, tmp_path):
    forged = replace(right.counts, likely=right.counts.likely_draws, unlikely=0)
    bound = epsilon_lower_bound(forged, 0.0, 0.05)
    code, result = run(
        capsys, tmp_path, replace(right, counts=forged, epsilon_lower_bound=bound), "--fresh", "--seed", "1"
    )
    assert code == 1
    assert [found["name"] for found in result["checks"] if found["holds"] is False] == ["stored counts"]


def test_fresh_draws_are_too_few_to_confirm_is_undecided(right, capsys, tmp_path):
    code, result = run(capsys, tmp_path, right, "--fresh", "--seed", "1", "--draws", "20")
    assert (code, result["outcome"]) == (3, "undecided")


def test_fresh_draws_come_in_chunks_of_any_size(right, monkeypatch):
    monkeypatch.setattr("audit.verify.CHUNK", 300)
    result = fresh(right, 1_000, np.random.default_rng(0))
    assert result.counts.likely_draws == 1_000
    assert 0 < result.counts.unlikely < result.counts.likely


def test_homogeneity_errs_at_most_as_often_as_stated():
    """Exact over all counts of ten draws a side; a sixteenth of the p-value fires."""
    draws, law = 10, binom.pmf(np.arange(11), 10, 0.4)
    values = np.array(
        [[homogeneity(Counts(a, 10, 0, 10), Counts(b, 10, 0, 10)) for b in range(11)] for a in range(11)]
    )
    assert law @ (values <= 0.05) @ law <= 0.05
    assert law @ (values / 16 <= 0.05) @ law > 0.05
    assert homogeneity(Counts(0, draws, 0, draws), Counts(draws, draws, 0, draws)) < 1e-4


@pytest.mark.parametrize(("count", "draws"), [(3, 10), (0, 10), (10, 10), (180, 1_000), (400_100, 10**6)])
@pytest.mark.parametrize("shift", [-3.0, 0.0, 3.0])
def test_ball_tail_encloses_the_exact_sum_and_agrees_with_the_incomplete_beta_function(count, draws, shift):
    share = min(max(count / draws + shift * (draws**-0.5) / 2, 1e-3), 1 - 1e-3)
    tail = upper_tail(count, draws, arb(share))
    assert float(tail) == pytest.approx(binom.sf(count - 1, draws, share), rel=1e-9)
    if draws <= 10:
        p = Fraction(share)
        exact = sum(math.comb(draws, k) * p**k * (1 - p) ** (draws - k) for k in range(count, draws + 1))
        assert abs(tail - arb(fmpq(exact.numerator, exact.denominator))) < 1e-25


def test_text_says_what_was_checked(right, capsys, tmp_path):
    path = tmp_path / "certificate.json"
    right.write(path)
    assert main([str(path)]) == 0
    text = capsys.readouterr().out
    for part in ("epsilon at least", "arithmetic: holds", "the certificate holds"):
        assert part in text
