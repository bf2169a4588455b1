"""A certificate says what it rests on; verifying it finds what does not follow."""

from __future__ import annotations

import json
import math
from dataclasses import fields, replace
from fractions import Fraction
from functools import cache
from typing import ClassVar

import jsonschema
import numpy as np
import pytest
from flint import arb, fmpq
from scipy.stats import binom

from audit.ball_arithmetic import joint_holds, upper_tail
from audit.bounds import ANYTIME, AnytimeBound, Counts, StoppingRule, epsilon_lower_bound
from audit.certificate import SCHEMAS, Certificate, CertificateError, Check, versions
from audit.descriptions import rebuild
from audit.distinguish import estimate
from audit.draws import CHUNK_VALUES
from audit.epsilon_estimate import main as audit_main
from audit.events import Event, Quantiser
from audit.events.scores import CoordinateScore
from audit.fresh import fresh, fresh_checks, homogeneity, too_fine
from audit.subjects import SubjectError
from audit.verify import arithmetic, consistency, main, verify
from reference.errors import ReadingError

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
        command="python -m audit.epsilon_estimate laplace_half_noise --epsilon 1 --draws 20000 --seed 3",
        versions=versions(),
    )


# most edits leave counts and bound as they are: decided once
ONCE = cache(joint_holds)


@pytest.fixture(autouse=True)
def ball_arithmetic_once(monkeypatch):
    """Decide equal counts once, over all tests."""
    monkeypatch.setattr("audit.verify.joint_holds", ONCE)
    monkeypatch.setattr("audit.curve_checks.joint_holds", ONCE)


def run(capsys, tmp_path, document: Certificate, *words: str):
    path = tmp_path / "certificate.json"
    document.write(path)
    code = main([str(path), *words, "--format", "json"])
    return code, json.loads(capsys.readouterr().out)


def test_certificate_survives_writing_and_reading_and_satisfies_its_schema(right, tmp_path):
    path = tmp_path / "certificate.json"
    right.write(path)
    assert Certificate.read(path) == right
    schema = json.loads((SCHEMAS / "certificate_v1.json").read_text(encoding="utf-8"))
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
        ("formula", "log(p / q)"),
        ("remark", "signed by nobody"),
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


def test_certificate_with_two_readings_is_none(right, tmp_path):
    path = tmp_path / "twice.json"
    text = json.dumps(right.to_json())
    path.write_text(text.replace('"verdict"', '"claimed_epsilon": 5, "verdict"'), encoding="utf-8")
    with pytest.raises(CertificateError, match="'claimed_epsilon' is given twice"):
        Certificate.read(path)
    path.write_text(text, encoding="utf-8")
    assert Certificate.read(path) == right


def test_right_certificate_holds(right, capsys, tmp_path):
    assert right.verdict == "refuted"
    code, result = run(capsys, tmp_path, right)
    assert (code, result["outcome"]) == (0, "holds")
    assert {check["name"] for check in result["checks"]} >= {"verdict", "draws", "arithmetic"}


@pytest.mark.parametrize("method", ["clopper_pearson", "anytime_betting", "anytime"])
def test_right_certificates_of_the_other_methods_hold(right, method):
    counts = Counts(4_000, 10_000, 600, 10_000)
    if method == ANYTIME:
        bound = AnytimeBound(1.0, 0.0, 0.05).after(counts).epsilon_lower_bound
    elif method == "anytime":
        # as the earlier version wrote it
        bound = 1.695
    else:
        bound = epsilon_lower_bound(counts, 0.0, 0.05, "clopper_pearson")
    document = replace(
        right, counts=counts, draws=20_000, method=method, epsilon_lower_bound=bound, verdict="refuted"
    )
    assert bound > 1
    assert all(check.holds for check in verify(document))
    overclaimed = replace(document, epsilon_lower_bound=bound + 0.1)
    assert [check.name for check in verify(overclaimed) if check.holds is False] == ["arithmetic"]


def without_subject(document: Certificate) -> list[Check]:
    return [*consistency(document), arithmetic(document)]


def test_anytime_certificates_of_the_command_hold_though_later_draws_fell_back(right, monkeypatch):
    """With the counts of all draws instead of those that passed the level, the second does not hold.

    The claim is that of whoever ran the audit, so what ties it to the subject is left out.
    """
    monkeypatch.setattr("audit.draws.LOOK_VALUES", 500)
    fell_back = 0
    for seed in (0, 1):
        found = estimate(
            rebuild(SUBJECT),
            delta=0.0,
            draws=20_000,
            significance=0.05,
            rng=np.random.default_rng(seed),
            families=("coordinates",),
            claimed_epsilon=2.1,
            until=StoppingRule(1e-3),
        ).ideal
        document = replace(
            right,
            counts=found.decided_by,
            method=found.method,
            claimed_epsilon=2.1,
            verdict="not refuted",
            epsilon_lower_bound=found.epsilon_lower_bound,
        )
        assert 1 < found.epsilon_lower_bound < 2.1
        assert all(check.holds for check in without_subject(document))
        fell_back += not all(check.holds for check in without_subject(replace(document, counts=found.counts)))
    assert fell_back == 1


TAMPERED = [
    ({"mechanism": "laplace"}, ["name"]),
    ({"subject": {**SUBJECT, "parameters": {"epsilon": 0.5}}}, ["claim", "command"]),
    ({"subject": {"kind": "catalogue", "name": "laplace", "parameters": {"epsilon": 1.0}}}, ["name", "command"]),
    ({"subject": {"kind": "catalogue"}}, ["name", "claim", "command"]),
    ({"inputs": {"left": 0.0, "right": 0.5}}, ["inputs"]),
    ({"event": {"score": "coordinate", "quantised_to": None}}, ["judged"]),
    ({"counts": Counts(3_500, 7_000, 500, 7_000)}, ["arithmetic"]),
    ({"counts": Counts(6_999, 7_000, 1, 7_000)}, ["whole bound"]),
    ({"draws": 100}, ["draws"]),
    ({"draws": 20_002}, ["command"]),
    ({"significance": 1e-9}, ["arithmetic", "command"]),
    ({"significance": 0.1}, ["command", "whole bound"]),
    ({"claimed_delta": "0.2"}, ["arithmetic"]),
    ({"claimed_delta": "1.5"}, ["levels"]),
    ({"claimed_delta": "a tenth"}, ["levels"]),
    # the claim is lowered or raised, and the verdict with it
    ({"claimed_epsilon": 0.5}, ["claim"]),
    ({"claimed_epsilon": 1.99, "verdict": "not refuted"}, ["claim"]),
    ({"claimed_epsilon": 1.99}, ["claim", "verdict"]),
    ({"claimed_epsilon": 800.0, "verdict": "not refuted"}, ["claim", "verdict"]),
    ({"epsilon_lower_bound": 2.1}, ["arithmetic"]),
    ({"epsilon_lower_bound": 1.2}, ["whole bound"]),
    ({"epsilon_lower_bound": 0.9, "verdict": "not refuted"}, ["whole bound"]),
    ({"epsilon_lower_bound": -1.0}, ["bound"]),
    ({"verdict": "not refuted"}, ["verdict"]),
    ({"verdict": "undecided"}, ["verdict"]),
    ({"method": "clopper_pearson"}, ["arithmetic"]),
    ({"seed": 4}, ["command"]),
    ({"command": "python -m audit.epsilon_estimate laplace --epsilon 1 --draws 20000 --seed 3"}, ["command"]),
    ({"command": "rm -r ."}, ["command"]),
    ({"command": "python -m audit.epsilon_estimate 'laplace"}, ["command"]),
    ({"command": "python -m audit.epsilon_estimate --no-such-option"}, ["command"]),
]
"""Edits, and the checks that find them; docs/auditing.md says which are not found."""


@pytest.mark.parametrize(("changes", "found"), TAMPERED)
def test_tampered_certificates_do_not_hold(right, changes, found, capsys, tmp_path):
    code, result = run(capsys, tmp_path, replace(right, **changes))
    assert (code, result["outcome"]) == (1, "does not hold")
    names = {check["name"] for check in result["checks"] if check["holds"] is False}
    # a bound that follows from altered counts, or an altered level, may also decide the verdict
    assert names - {"verdict"} == set(found) - {"verdict"}
    assert "verdict" not in found or "verdict" in names


def test_every_field_is_tampered_with_or_said_to_be_unchecked():
    touched = {name for changes, _ in TAMPERED for name in changes}
    left_out = {field.name for field in fields(Certificate)} - touched
    # said in docs/auditing.md; `judged` moves a verdict to the weaker object only; a curve has tests of its own
    assert left_out == {"judged", "versions", "curve"}


UNDETECTED = [
    {"versions": {"python": "2.7"}},
    {"judged": "implementation"},
    {"event": {"score": "coordinate", "coordinate": 0, "quantised_to": [1.0]}},
    {"seed": None},
]


@pytest.mark.parametrize("changes", UNDETECTED)
def test_edits_that_the_documentation_calls_undetected_are(right, changes):
    """A check that starts to see one of these makes the documentation wrong."""
    assert all(check.holds for check in verify(replace(right, **changes)))


def test_an_edit_of_every_field_at_once_is_not_detected_without_fresh_draws(right, capsys, tmp_path):
    """Counts, bound and verdict that fit each other: only new draws tell that the event does not give them."""
    forged = Counts(6_999, 7_000, 1, 7_000)
    document = replace(right, counts=forged, epsilon_lower_bound=epsilon_lower_bound(forged, 0.0, 0.05))
    assert all(check.holds for check in verify(document))
    code, result = run(capsys, tmp_path, document, "--fresh", "--seed", "1")
    assert code == 1
    assert [check["name"] for check in result["checks"] if check["holds"] is False] == ["stored counts"]


def test_claim_of_the_reader_is_compared(right, capsys, tmp_path):
    assert run(capsys, tmp_path, right, "--epsilon", "1", "--delta", "0.0")[0] == 0
    for words in (["--epsilon", "2"], ["--delta", "1e-3"], ["--epsilon", "1", "--delta", "0.5"]):
        code, result = run(capsys, tmp_path, right, *words)
        assert code == 1
        assert [check["name"] for check in result["checks"] if check["holds"] is False] == ["your claim"]
    path = tmp_path / "certificate.json"
    for words in (["--epsilon", "-1"], ["--epsilon", "nan"], ["--delta", "2"]):
        assert main([str(path), *words]) == 2
        assert capsys.readouterr().err.startswith("error: ")


def test_claim_on_a_subject_of_the_user_is_said_to_be_the_users(right, capsys, tmp_path):
    """Nothing is imported: the path does not exist."""
    document = replace(
        right,
        mechanism="no.such.module:thing",
        subject={"kind": "import", "path": "no.such.module:thing"},
        command="python -m audit.epsilon_estimate no.such.module:thing --epsilon 1 --draws 20000 --seed 3",
    )
    code, result = run(capsys, tmp_path, document)
    assert code == 0
    (claim,) = [check for check in result["checks"] if check["name"] == "claim"]
    assert "as given by whoever ran the audit" in claim["detail"]
    # a claim that is lowered together with the command is not detected, but by the reader's own
    lowered = replace(
        document, claimed_epsilon=0.5, command=document.command.replace("--epsilon 1", "--epsilon 0.5")
    )
    assert run(capsys, tmp_path, lowered)[0] == 0
    assert run(capsys, tmp_path, lowered, "--epsilon", "1")[0] == 1
    assert run(capsys, tmp_path, replace(document, claimed_epsilon=0.5))[0] == 1


def certificate_of(tmp_path, *words: str) -> Certificate:
    path = tmp_path / "written.json"
    assert audit_main([*words, "--out", str(path)]) in (0, 1, 3)
    return Certificate.read(path)


@pytest.mark.parametrize(
    "words",
    [
        ("pdfc", "--epsilon", "0.3", "--draws", "4000", "--dimension", "2"),
        ("adfc", "--delta", "1/3", "--draws", "2000", "--dimension", "2", "--release", "weights"),
        ("functional", "--data", "synthetic", "--records", "50", "--dimension", "2", "--draws", "2000"),
        ("pdfc", "--search", "--draws", "10000", "--dimension", "2", "--records", "20"),
        ("laplace", "--delta", "1/7", "--draws", "2000", "--until", "0.5"),
        ("gaussian", "--draws", "2000", "--bound", "clopper_pearson", "--significance", "0.01"),
    ],
)
def test_certificates_of_the_command_are_bound_to_their_claim(words, tmp_path):
    """Each holds as written, and neither its claim nor its inputs can be edited, with the verdict to match."""
    document = certificate_of(tmp_path, *words, "--seed", "5")
    failed = [check for check in verify(document) if not check.holds]
    assert failed == []
    lowered = replace(document, claimed_epsilon=0.01, verdict="refuted", epsilon_lower_bound=0.0)
    assert "claim" in {check.name for check in verify(lowered) if check.holds is False}
    altered = replace(document, inputs={**document.inputs, "right": [] if document.inputs["right"] else [1]})
    assert "inputs" in {check.name for check in verify(altered) if check.holds is False}


def test_a_subject_whose_data_are_not_here_is_undecided(tmp_path, monkeypatch):
    document = certificate_of(
        tmp_path, "functional", "--data", "synthetic", "--records", "50", "--dimension", "2", "--draws", "2000"
    )

    def absent(_: object) -> None:
        raise ReadingError("data", "synthetic", "here")

    monkeypatch.setattr("audit.binding.rebuild", absent)
    claims = [check for check in verify(document) if check.name == "claim"]
    assert [check.holds for check in claims] == [None]


def test_fresh_draws_confirm_the_refutation_of_half_the_noise(right, capsys, tmp_path):
    code, result = run(capsys, tmp_path, right, "--fresh", "--seed", "1")
    assert (code, result["outcome"]) == (0, "holds")
    assert result["fresh"]["refuted"]
    assert result["fresh"]["counts"]["likely_draws"] == right.counts.likely_draws


@pytest.mark.parametrize(
    "changes",
    [{"likely_input": "both"}, {"threshold": None}, {"score": "coordinate", "coordinate": 9}, {"score": "omen"}],
)
def test_events_that_do_not_fit_are_bad_input_to_fresh_draws(right, capsys, tmp_path, changes):
    path = tmp_path / "certificate.json"
    replace(right, event={**right.event, **changes}).write(path)
    assert main([str(path), "--fresh", "--seed", "1"]) == 2
    assert capsys.readouterr().err.startswith("error: certificate, event: ")


def test_fresh_draws_are_too_few_to_confirm_is_undecided(right, capsys, tmp_path):
    code, result = run(capsys, tmp_path, right, "--fresh", "--seed", "1", "--draws", "20")
    assert (code, result["outcome"]) == (3, "undecided")


def test_fresh_draws_come_in_chunks_of_any_size(right, monkeypatch):
    monkeypatch.setattr("audit.draws.CHUNK_VALUES", 300)
    result = fresh(right, 1_000, np.random.default_rng(0))
    assert result.counts.likely_draws == 1_000
    assert 0 < result.counts.unlikely < result.counts.likely


class Wide:
    """Laplace noise on 600 coordinates, one of which moves by 3."""

    largest: ClassVar[list[int]] = []

    def inputs(self):
        return 0.0, 3.0

    def sample(self, data, count, rng):
        self.largest.append(count)
        outputs = rng.laplace(size=(count, 600))
        outputs[:, 417] += data
        return outputs


def test_an_event_of_a_wide_output_is_drawn_afresh_in_chunks_that_memory_holds(tmp_path):
    """Its event is of a reduced output, which the certificate describes."""
    path = tmp_path / "wide.json"
    words = [f"{__name__}:Wide", "--epsilon", "1", "--draws", "4000", "--events", "coordinates", "--seed", "1"]
    assert audit_main([*words, "--out", str(path)]) == 1
    certificate = Certificate.read(path)
    assert "reduced_to" in certificate.event
    Wide.largest.clear()
    result = fresh(certificate, 2_000, np.random.default_rng(0))
    assert result.refuted
    assert result.homogeneity > 1e-3
    assert max(Wide.largest) <= CHUNK_VALUES // 600
    # another coordinate kept: the event is another one
    reduction = dict(certificate.event["reduced_to"])
    place = reduction["coordinates"].index(417)
    reduction["coordinates"] = [*reduction["coordinates"]]
    reduction["coordinates"][place] = 418 if 418 not in reduction["coordinates"] else 599
    other = replace(certificate, event={**certificate.event, "reduced_to": reduction})
    assert fresh(other, 2_000, np.random.default_rng(0)).homogeneity < 1e-6


def test_bits_are_no_event_of_the_ideal_mechanism(capsys, tmp_path):
    """A grid without steps would give the bits of numpy's noise out as a loss of the ideal mechanism."""
    path = tmp_path / "bits.json"
    words = ["laplace", "--draws", "20000", "--seed", "1", "--object", "implementation", "--out", str(path)]
    assert audit_main(words) == 1
    capsys.readouterr()
    honest = Certificate.read(path)
    assert run(capsys, tmp_path, honest, "--fresh", "--seed", "1")[0] == 0
    forged = replace(honest, judged="ideal", event={**honest.event, "quantised_to": [0.0]})
    assert [check.name for check in verify(forged) if not check.holds] == ["judged"]
    # a score that may look at quantised outputs: fresh draws show that the grid is none
    for steps, holds in (([0.0], False), ([2.0**-40], False), ([2.0**-17], True)):
        event = {
            "score": "coordinate",
            "coordinate": 0,
            "relation": ">=",
            "threshold": 1.0,
            "likely_input": "right",
        }
        result = fresh(replace(forged, event={**event, "quantised_to": steps}), 1_000, np.random.default_rng(1))
        grid = {check.name: check.holds for check in fresh_checks(forged, result)}["grid"]
        assert grid is holds


@pytest.mark.parametrize("law", ["standard_cauchy", "normal", "laplace", "standard_exponential"])
@pytest.mark.parametrize("size", [300, 100_000])
def test_grids_of_audits_are_not_called_too_fine(law, size):
    """In 200 grids each, also where the mean distance from the median does not settle."""
    rng = np.random.default_rng([size, 3])
    for _ in range(200 if size < 1_000 else 20):
        quantiser = Quantiser.of(*(getattr(rng, law)(size=(size, 1)) for _ in range(2)))
        left, right = (getattr(rng, law)(size=(1_000, 1)) for _ in range(2))
        assert too_fine(Event(CoordinateScore(0), 0.0, True, "left", quantiser), left, right) == ()
        finer = Quantiser(quantiser.steps / 2**12)
        if law != "standard_cauchy":
            assert too_fine(Event(CoordinateScore(0), 0.0, True, "left", finer), left, right) == (0,)


class Listed(Wide):
    """Returns a list where an array is due."""

    def sample(self, data, count, rng):
        return [[0.0]] * count


def test_fresh_draws_that_are_no_arrays_are_bad_input(right):
    subject = {"kind": "import", "path": f"{__name__}:Listed"}
    with pytest.raises(SubjectError, match="numpy array"):
        fresh(replace(right, subject=subject), 100, np.random.default_rng(0))


def test_a_file_that_is_not_there_and_fresh_draws_of_none_are_bad_input(right, capsys, tmp_path):
    assert main([str(tmp_path / "absent.json")]) == 2
    assert capsys.readouterr().err == (
        f"error: certificate, file: {tmp_path / 'absent.json'} cannot be read: No such file or directory\n"
    )
    (tmp_path / "none.json").write_text("[]", encoding="utf-8")
    assert main([str(tmp_path / "none.json")]) == 2
    right.write(tmp_path / "one.json")
    capsys.readouterr()
    for draws in ("0", "-5"):
        assert main([str(tmp_path / "one.json"), "--fresh", "--draws", draws]) == 2
        assert "draws" in capsys.readouterr().err


def test_the_certificates_of_one_call_are_checked_together(capsys, tmp_path):
    path = tmp_path / "both.json"
    audit_main(["laplace", "gaussian", "--draws", "2000", "--seed", "1", "--out", str(path)])
    capsys.readouterr()
    assert main([str(path)]) == 0
    text = capsys.readouterr().out
    assert text.count("the certificate holds") == 2
    assert main([str(path), "--format", "json"]) == 0
    assert [one["mechanism"] for one in json.loads(capsys.readouterr().out)] == ["laplace", "gaussian"]
    documents = json.loads(path.read_text(encoding="utf-8"))
    documents[1]["epsilon_lower_bound"] += 1
    path.write_text(json.dumps(documents), encoding="utf-8")
    assert main([str(path)]) == 1
    assert "DOES NOT HOLD" in capsys.readouterr().out


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
