"""Verifying a certificate finds what does not follow."""

from __future__ import annotations

import json
import math
import re
from fractions import Fraction
from functools import cache

import pytest
from flint import arb, fmpq
from scipy.special import ndtri
from scipy.stats import binom

from audit.bounds import ANYTIME, AnytimeBound, Counts, epsilon_lower_bound
from audit.bounds.joint import LARGEST_SCORE
from audit.epsilon_estimate import main as audit_main
from audit.evidence.ball_arithmetic import PRECISION, _score, upper_tail
from audit.evidence.certificate import Certificate
from audit.evidence.checks import Check
from audit.evidence.estimation import Audit, carried_out
from audit.evidence.request import EstimateRequest
from audit.evidence.verify import arithmetic, choice, consistency, verify
from audit.gate.evidence.verifying import run
from audit.gate.requests import asked, changed
from audit.gate.requests import verify_command as main
from audit.subjects.adjacency import UNCHECKED
from audit.subjects.descriptions import CatalogueDescription, ImportDescription
from reference.common.balls import working_precision
from reference.common.errors import ReadingError

pytestmark = pytest.mark.usefixtures("ball_arithmetic_once")


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
    document = changed(
        right, counts=counts, draws=20_000, method=method, epsilon_lower_bound=bound, verdict="refuted"
    )
    assert bound > 1
    assert all(check.holds for check in verify(document))
    overclaimed = changed(document, epsilon_lower_bound=bound + 0.1)
    assert [check.name for check in verify(overclaimed) if check.holds is False] == ["arithmetic"]


def without_subject(document: Certificate) -> list[Check]:
    return [*consistency(document), arithmetic(document)]


def test_anytime_certificates_hold_though_later_draws_fell_back(right):
    """With the counts of all draws instead of those that passed the level, it does not hold.

    The claim is that of whoever ran the audit, so what ties it to the subject is left out.
    """
    first = Counts(300, 500, 30, 500)
    level = AnytimeBound(2.1, 0.0, 0.05).after(first).after(Counts(250, 500, 60, 500))
    assert level.decided_by == first
    assert level.counts is not None
    document = changed(
        right,
        counts=first,
        all_counts=level.counts,
        method=ANYTIME,
        claimed_epsilon=2.1,
        verdict="undecided",
        epsilon_lower_bound=level.epsilon_lower_bound,
    )
    assert 1 < level.epsilon_lower_bound < 2.1
    assert all(check.holds for check in without_subject(document))
    assert not all(check.holds for check in without_subject(changed(document, counts=level.counts)))
    # a stage with a share of the significance has a bound of its own
    half = AnytimeBound(2.1, 0.0, 0.025).after(first).epsilon_lower_bound
    staged = changed(document, share=0.5, epsilon_lower_bound=half)
    assert all(check.holds for check in without_subject(staged))
    assert not all(check.holds for check in without_subject(changed(staged, share=1.0)))


COORDINATE = {
    "score": "coordinate",
    "coordinate": 0,
    "relation": ">=",
    "threshold": 0.5,
    "likely_input": "right",
    "quantised_to": [2.0**-17],
}

TAMPERED = [
    ({"share": 0.1}, ["arithmetic"]),
    ({"share": 2.0}, ["levels"]),
    ({"mechanism": "laplace"}, ["name"]),
    ({"subject": CatalogueDescription(name="laplace_half_noise", parameters={"epsilon": 0.5})}, ["claim"]),
    ({"subject": CatalogueDescription(name="laplace", parameters={"epsilon": 1.0})}, ["name"]),
    ({"subject": CatalogueDescription(name="laplace_half_noise", parameters={"tea": 1.0})}, ["claim"]),
    ({"inputs": {"left": 0.0, "right": 0.5}}, ["inputs"]),
    ({"event": COORDINATE | {"quantised_to": None}}, ["judged"]),
    ({"counts": Counts(3_500, 7_000, 500, 7_000)}, ["arithmetic"]),
    ({"counts": Counts(6_999, 7_000, 1, 7_000)}, ["whole bound"]),
    ({"all_counts": Counts(6_999, 7_000, 1, 7_000)}, ["all counts"]),
    ({"neighbours": UNCHECKED}, ["neighbours"]),
    ({"draws": 100}, ["draws"]),
    ({"draws": 20_002}, ["request"]),
    ({"request": {"draws": 19_000}}, ["request"]),
    ({"significance": 1e-9}, ["arithmetic"]),
    ({"significance": 0.1}, ["whole bound"]),
    ({"claimed_delta": "0.2"}, ["arithmetic", "claim"]),
    ({"claimed_delta": "0.2", "delta": "0.2"}, ["arithmetic"]),
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
    ({"epsilon": "2"}, ["request"]),
    ({"epsilon": "tea"}, ["request"]),
    ({"delta": "0.1"}, ["request"]),
    ({"search": True}, ["request"]),
    ({"bound": "conditional"}, ["request"]),
    ({"outputs_per_call": 8}, ["request"]),
]
"""Edits, and the checks that find them; docs/verify.md says which are not found."""


@pytest.mark.parametrize(("changes", "found"), TAMPERED)
def test_tampered_certificates_do_not_hold(right, changes, found, capsys, tmp_path):
    code, result = run(capsys, tmp_path, changed(right, **changes))
    assert (code, result["outcome"]) == (1, "does not hold")
    names = {check["name"] for check in result["checks"] if check["holds"] is False}
    # a bound that follows from altered counts, or an altered level, may also decide the verdict
    assert names - {"verdict"} == set(found) - {"verdict"}
    assert "verdict" not in found or "verdict" in names


def test_every_field_is_tampered_with_or_said_to_be_unchecked():
    touched = {name for changes, _ in TAMPERED for name in changes}
    left_out = {*Certificate.__struct_fields__, *EstimateRequest.__struct_fields__} - touched
    # said in docs/auditing.md; `judged` moves a verdict to the weaker object only; a curve has tests of its own;
    # another formula is not a certificate
    only_repeated = {"seed", "seeded", "events", "until", "max_seconds", "object"}
    assert left_out == {"judged", "versions", "curve", "formula"} | only_repeated


UNDETECTED = [
    {"versions": {"python": "2.7"}},
    {"judged": "implementation"},
    {"event": COORDINATE | {"quantised_to": [1.0]}},
    {"seed": 4},
    {"seeded": False},
    {"events": ("coordinates",)},
    {"until": 0.5},
    {"max_seconds": 1.0},
    {"object": "implementation"},
]


@pytest.mark.parametrize("changes", UNDETECTED)
def test_edits_that_the_documentation_calls_undetected_are(right, changes):
    """A check that starts to see one of these makes the documentation wrong; a replay sees most of them."""
    assert all(check.holds for check in verify(changed(right, **changes)))


def test_edit_of_all_fields_at_once_is_found_by_fresh_draws_only(right, capsys, tmp_path):
    """Counts, bound and verdict that fit each other: only new draws tell that the event does not give them."""
    forged = Counts(6_999, 7_000, 1, 7_000)
    document = changed(right, counts=forged, epsilon_lower_bound=epsilon_lower_bound(forged, 0.0, 0.05))
    assert all(check.holds for check in verify(document))
    code, result = run(capsys, tmp_path, document, "--fresh", "--seed", "1")
    assert code == 1
    found = [check["name"] for check in result["checks"] if check["holds"] is False]
    assert found == ["stored counts", "stored bound"]


def test_level_out_of_range_is_found_before_draws_compute_with_it(right, capsys, tmp_path):
    code, result = run(capsys, tmp_path, changed(right, share=1e308), "--fresh", "--seed", "1")
    assert (code, "fresh" in result) == (1, False)
    assert "levels" in {check["name"] for check in result["checks"] if check["holds"] is False}


def test_claim_of_the_reader_is_compared(right, capsys, tmp_path):
    assert run(capsys, tmp_path, right, "--epsilon", "1", "--delta", "0.0")[0] == 0
    for words in (["--epsilon", "2"], ["--delta", "1e-3"], ["--epsilon", "1", "--delta", "0.5"]):
        code, result = run(capsys, tmp_path, right, *words)
        assert code == 1
        assert [check["name"] for check in result["checks"] if check["holds"] is False] == ["your claim"]
    path = tmp_path / "certificate.json"
    for words, told in (
        (["--epsilon", "1.1"], "its bound, if it holds, refutes yours, too"),
        (["--epsilon", "2"], "its bound, if it holds, does not refute yours"),
        (["--delta", "1e-3"], "its bound is at a smaller delta than yours"),
    ):
        assert main([str(path), *words]) == 1
        text = " ".join(capsys.readouterr().out.split())
        assert f"{told}; an audit with --epsilon" in text
        assert text.endswith("the certificate is about another claim than yours")
        assert "NOT HOLD" not in text.upper()
    # one that is forged, too, is called so
    changed(right, epsilon_lower_bound=2.1).write(path)
    assert main([str(path), "--epsilon", "1.1"]) == 1
    assert "the certificate does not hold" in capsys.readouterr().out
    for words in (["--epsilon", "-1"], ["--epsilon", "nan"], ["--delta", "2"]):
        assert main([str(path), *words]) == 2
        assert capsys.readouterr().err.startswith("error: ")


def test_claim_on_a_subject_of_the_user_is_said_to_be_the_users(right, capsys, tmp_path):
    """Nothing is imported: the path does not exist."""
    document = changed(
        right,
        mechanism="no.such.module:thing",
        subject=ImportDescription(path="no.such.module:thing"),
        neighbours=UNCHECKED,
        epsilon="1",
    )
    code, result = run(capsys, tmp_path, document)
    assert code == 0
    (claim,) = [check for check in result["checks"] if check["name"] == "claim"]
    assert "as given by whoever ran the audit" in claim["detail"]
    (neighbours,) = [check for check in result["checks"] if check["name"] == "neighbours"]
    assert neighbours["detail"] == "nobody checked that these are neighbours"
    # a claim that is lowered together with the request is not detected, but by the reader's own
    lowered = changed(document, claimed_epsilon=0.5, epsilon="0.5")
    assert run(capsys, tmp_path, lowered)[0] == 0
    assert run(capsys, tmp_path, lowered, "--epsilon", "1")[0] == 1
    assert run(capsys, tmp_path, changed(document, claimed_epsilon=0.5))[0] == 1


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
    lowered = changed(document, claimed_epsilon=0.01, verdict="refuted", epsilon_lower_bound=0.0)
    assert "claim" in {check.name for check in verify(lowered) if check.holds is False}
    altered = changed(document, inputs={**document.inputs, "right": [] if document.inputs["right"] else [1]})
    assert "inputs" in {check.name for check in verify(altered) if check.holds is False}


def test_a_subject_whose_data_are_not_here_is_undecided(tmp_path, monkeypatch):
    document = certificate_of(
        tmp_path, "functional", "--data", "synthetic", "--records", "50", "--dimension", "2", "--draws", "2000"
    )

    def absent(_: object) -> None:
        raise ReadingError("data", "synthetic", "here")

    monkeypatch.setattr("audit.evidence.checks.rebuild_small", absent)
    claims = [check for check in verify(document) if check.name == "claim"]
    assert [check.holds for check in claims] == [None]


def test_the_certificates_of_one_call_are_checked_together(capsys, tmp_path, monkeypatch):
    path = tmp_path / "both.json"
    audit_main(["laplace", "gaussian", "--draws", "2000", "--seed", "1", "--out", str(path)])
    capsys.readouterr()
    assert main([str(path)]) == 3
    assert capsys.readouterr().out.count("choice: undecided") == 2
    assert main([str(path), "--replay"]) == 0
    assert capsys.readouterr().out.count("the certificate holds") == 2
    told = []
    with monkeypatch.context() as patched:
        patched.setattr("audit.commands.verify.verify", lambda *_: told.append(capsys.readouterr().out) or [])
        main([str(path)])
    capsys.readouterr()
    # the first is written before the second is begun
    assert ["laplace: epsilon at least" in text for text in told] == [False, True]
    whole = tmp_path / "checks.txt"
    assert main([str(path), "--out", str(whole)]) == 3
    assert whole.read_text().count("choice: undecided") == 2
    assert main([str(path), "--format", "json"]) == 3
    assert [one["mechanism"] for one in json.loads(capsys.readouterr().out)] == ["laplace", "gaussian"]
    documents = json.loads(path.read_text(encoding="utf-8"))
    documents[1]["epsilon_lower_bound"] += 1
    path.write_text(json.dumps(documents), encoding="utf-8")
    assert main([str(path)]) == 1
    assert "DOES NOT HOLD" in capsys.readouterr().out


@pytest.mark.parametrize(("count", "draws"), [(3, 10), (0, 10), (10, 10), (180, 1_000), (400_100, 10**6)])
@pytest.mark.parametrize("shift", [-3.0, 0.0, 3.0])
@working_precision(PRECISION)
def test_ball_tail_encloses_the_exact_sum_and_the_incomplete_beta(count, draws, shift):
    share = min(max(count / draws + shift * (draws**-0.5) / 2, 1e-3), 1 - 1e-3)
    tail = upper_tail(count, draws, arb(share))
    assert float(tail) == pytest.approx(binom.sf(count - 1, draws, share), rel=1e-9)
    if draws <= 10:
        p = Fraction(share)
        exact = sum(math.comb(draws, k) * p**k * (1 - p) ** (draws - k) for k in range(count, draws + 1))
        assert abs(tail - arb(fmpq(exact.numerator, exact.denominator))) < 1e-25


@pytest.mark.parametrize("tail", ["0.3", "1e-20", "1e-29", "1e-40"])
def test_score_is_enclosed_however_small_the_tail(tail):
    """Also where the precision does not tell the tail from 0, and its complement from 1."""
    with working_precision(PRECISION):
        enclosures = _score(arb(tail)), _score(1 - arb(tail))
    exact = max(float(ndtri(float(tail))), -LARGEST_SCORE)
    assert enclosures[0][0] <= float(ndtri(float(tail))) <= enclosures[0][1]
    assert enclosures[1][0] <= -exact <= enclosures[1][1]


def test_text_says_what_was_checked(right, capsys, tmp_path):
    path = tmp_path / "certificate.json"
    right.write(path)
    assert main([str(path)]) == 0
    text = capsys.readouterr().out
    for part in ("epsilon at least", "arithmetic: holds", "the certificate holds"):
        assert part in text
    believed = "the counts are those of whoever wrote the certificate"
    assert believed in text
    assert main([str(path), "--fresh", "--seed", "1"]) == 0
    assert believed not in capsys.readouterr().out


def test_name_in_a_certificate_forges_no_line(right, capsys, tmp_path):
    forged = "laplace\n\x1b[2J\u202ethe certificate holds"
    path = tmp_path / "certificate.json"
    changed(right, mechanism=forged).write(path)
    main([str(path)])
    lines = capsys.readouterr().out.splitlines()
    assert lines
    assert all(line.isprintable() for line in lines)
    assert lines.count("the certificate holds") <= 1


@cache
def kept() -> Certificate:
    """Return a certificate that refutes nothing, for which nobody looked at most families of events."""
    (request,) = asked("laplace", "--draws", "3000", "--seed", "2", "--events", "coordinates")
    return carried_out(Audit.of(request)).certificate("ideal")


@pytest.mark.parametrize("judged", ["ideal", "implementation"])
def test_a_certificate_that_holds_says_whether_it_refutes(right, judged, capsys, tmp_path):
    """The last line was `the certificate holds`, for broken code, too."""
    path, bits = tmp_path / "certificate.json", " at the bits" * (judged == "implementation")
    changed(right, judged=judged).write(path)
    assert main([str(path)]) == 0
    assert capsys.readouterr().out.splitlines()[-1] == f"the certificate holds: it refutes (1, 0){bits}"


def test_a_certificate_that_refutes_nothing_says_of_what(right, capsys, tmp_path):
    path = tmp_path / "certificate.json"
    (request,) = asked("laplace", "--draws", "2000", "--seed", "1")
    carried_out(Audit.of(request)).certificate("ideal").write(path)
    assert main([str(path), "--replay"]) == 0
    assert capsys.readouterr().out.splitlines()[-1] == "the certificate holds: not refuted on this pair"
    # what does not hold says nothing of the claim
    changed(right, epsilon_lower_bound=right.epsilon_lower_bound + 1).write(path)
    assert main([str(path)]) == 1
    assert capsys.readouterr().out.splitlines()[-1] == "the certificate does not hold"


@pytest.mark.parametrize("seeded", [True, False])
def test_no_seed_is_told_that_would_not_repeat_the_draws(seeded, right, capsys, tmp_path):
    path = tmp_path / "certificate.json"
    changed(right, seeded=seeded, seed=7).write(path)
    main([str(path)])
    (again,) = [line for line in capsys.readouterr().out.splitlines() if line.startswith("  again: ")]
    assert ("--seed 7" in again) is seeded


@pytest.mark.parametrize("option", ["--draws", "--seed"])
def test_options_of_fresh_draws_are_refused_without_them(option, capsys, tmp_path):
    path = tmp_path / "certificate.json"
    kept().write(path)
    assert main([str(path), option, "5000"]) == 2
    assert "--draws and --seed are of --fresh" in capsys.readouterr().err
    assert main([str(path), "--fresh", option, "5000"]) in (0, 1)


@pytest.mark.parametrize(
    ("tried", "seeded", "advice"),
    [
        ((), True, ": --replay or --fresh tells"),
        (("--replay",), True, ": --fresh tells"),
        (("--fresh",), True, ": --replay tells"),
        (("--replay", "--fresh"), True, ""),
        ((), False, ": --fresh tells"),
    ],
)
def test_no_option_is_advised_that_was_given_or_cannot_tell(tried, seeded, advice):
    found = choice(changed(kept(), seeded=seeded), tried)
    assert found is not None
    assert found.detail == f"whether a better event was passed over{advice}"


def test_fresh_draws_tell_of_families_that_a_replay_did_not_look_at(capsys, tmp_path):
    document = kept()
    told = {}
    for words in (["--replay"], ["--replay", "--fresh", "--seed", "1"]):
        _, found = run(capsys, tmp_path, document, *words)
        told[len(words)] = [check["holds"] for check in found["checks"] if check["name"] == "choice"]
    assert told == {1: [None], 4: [True]}
    # where both tell, one check says so
    (request,) = asked("laplace", "--draws", "3000", "--seed", "2")
    document = carried_out(Audit.of(request)).certificate("ideal")
    _, found = run(capsys, tmp_path, document, *words)
    ((holds, detail),) = [(one["holds"], one["detail"]) for one in found["checks"] if one["name"] == "choice"]
    assert holds
    assert re.fullmatch("a new audit with .*; repeated from all families of events", detail)
