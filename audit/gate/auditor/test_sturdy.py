"""A sturdy event beside the chosen one: no right mechanism is undecided because luck chose a rare event."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest
from scipy.stats import binom

from audit.auditor import distinguish, selection
from audit.auditor.choose import OF_CHOSEN, OF_STURDY, Candidate, Prospect, candidates_of
from audit.auditor.distinguish import Estimate
from audit.auditor.events import Event
from audit.auditor.events.scores import CoordinateScore
from audit.auditor.scored import Outputs
from audit.auditor.selection import Selection, ToCertify, sturdy_beside
from audit.auditor.tally import EventTally
from audit.auditor.verdict import FAR_BELOW, falls_short
from audit.bounds import SMALLEST_SIGNIFICANCE, AnytimeBound, Counts, StoppingRule, epsilon_lower_bound
from audit.bounds.joint import joint_rejects
from audit.epsilon_estimate import main
from audit.evidence.certificate import Certificate, CertificateError
from audit.evidence.replay import replay
from audit.evidence.verify import outcome, verify
from audit.gate.auditor.auditing import audit
from audit.gate.needs import exhaustively
from audit.gate.requests import changed
from audit.subjects.catalogue import LeakyLaplace
from reference.common.arrays import FloatArray

EVENT = Event(CoordinateScore(0), 0.0, True, "left")
COMMON, RARE = Counts(500, 1_000, 400, 1_000), Counts(20, 1_000, 2, 1_000)

UNLUCKY, OTHERS = (40, 43), (0, 1, 2)
"""Seeds of audits in which a rare event is chosen by luck and shows little, and others."""


WITH_STURDY = "smart_sum --seed 5 --events coordinates,intervals"
"""An audit that reports the sturdy event, of 20,000 draws."""


@dataclass(frozen=True)
class Noise:
    """Noise in 20 coordinates, and nothing of the input: half-lines of all lose 0."""

    def inputs(self) -> tuple[float, float]:
        """Return two inputs that change nothing."""
        return 0.0, 1.0

    def sample(self, data: float, count: int, rng: np.random.Generator) -> FloatArray:
        """Return Laplace noise."""
        return rng.laplace(size=(count, 20))


def of_noise(seed: int) -> Estimate:
    """Return an audit of a right mechanism, whose claim is 1."""
    found: Estimate = audit(Noise(), 20_000, seed, families=("coordinates",))
    return found


def alone(chosen: Candidate, candidates: Iterable[Candidate]) -> None:
    """Certify the chosen event alone: the rule before."""


@pytest.mark.parametrize(
    "seeds", [(*UNLUCKY, *OTHERS), pytest.param(range(100, 400), marks=pytest.mark.lengthy)], ids=["few", "many"]
)
def test_right_mechanism_is_decided_whatever_event_was_chosen(seeds):
    for seed in seeds:
        found = of_noise(seed)
        assert found.verdict(1.0) == "not refuted"
        assert found.verdict(1.0, implementation=True) == "not refuted"


def test_an_event_alone_leaves_it_undecided_now_and_then(monkeypatch):
    """The broken control: the same seeds under the rule before."""
    monkeypatch.setattr(selection, "sturdy_beside", alone)
    assert [of_noise(seed).verdict(1.0) for seed in UNLUCKY] == ["undecided"] * len(UNLUCKY)
    assert of_noise(OTHERS[0]).verdict(1.0) == "not refuted"


@pytest.mark.lengthy
@pytest.mark.parametrize("mechanism", ["functional", "relaxed_functional", "pdfc", "adfc", "pflr"])
def test_default_audits_of_the_papers_mechanisms_are_decided(mechanism, capsys):
    """Ten audits of each as the command makes them; the certified event shows hardly more than the claim."""
    for seed in range(1, 11):
        assert main([mechanism, "--seed", str(seed), "--format", "json"]) == 0
        found = json.loads(capsys.readouterr().out)
        assert found["verdict"] == "not refuted"
        assert found["detectable_epsilon"] <= 1.3 * found["claimed_epsilon"]


@pytest.mark.parametrize(
    ("chosen", "others", "beside"),
    [
        # sturdy and common: it stands alone
        (("common", True), [("common", True)], None),
        # a rare one, though able: a common one that is sturdy stands beside it, not a rare one that promises more
        (("rare", True), [("rare", True), ("common", True)], 1),
        (("rare", True), [("rare", True), ("common", False)], None),
        # one that could not refute the claim
        (("rare", False), [("rare", True)], 0),
        (("common", False), [("rare", True)], 0),
        (("rare", False), [("common", False)], None),
    ],
)
def test_a_common_able_event_stands_beside_a_rare_or_unable_one(chosen, others, beside):
    def candidate(kind: str, sturdy: bool) -> Candidate:
        promise, counts = (0.9, RARE) if kind == "rare" else (0.1, COMMON)
        return Candidate(promise, 1.0, EVENT, counts, promise, claim=1.0, sturdy=sturdy)

    first, rest = candidate(*chosen), [candidate(*other) for other in others]
    expected = None if beside is None else rest[beside]
    assert sturdy_beside(first, [first, *rest]) is expected
    # without a claim there is nothing to decide
    assert sturdy_beside(replace(first, claim=None), [first, *rest]) is None


def test_sturdy_events_are_proposed_where_the_best_is_not():
    """Laplace noise judged by 20,000 draws: each half of the line has a common event that can refute 1."""
    rng = np.random.default_rng(0)
    left, right = rng.laplace(size=(2, 20_000, 1))
    scores, outputs = [CoordinateScore(0)], Outputs.of(left, right)
    found = candidates_of(scores, outputs, Prospect(7_000, 0.0, 0.05, claim=1.0), None)
    assert any(one.sturdy and one.common for one in found)
    assert all(one.able for one in found if one.sturdy)
    # none at the least significance that bounds take, or in a few hundred draws
    least = Prospect(10**6, 0.0, SMALLEST_SIGNIFICANCE, claim=1.0)
    assert not any(one.sturdy for one in candidates_of(scores, outputs, least, None))
    outputs = Outputs.of(left[:200], right[:200])
    few = candidates_of(scores, outputs, Prospect(100, 0.0, 0.05, claim=1.0), None)
    assert not any(one.sturdy for one in few)


@pytest.mark.parametrize(
    "how",
    [{}, {"method": "clopper_pearson"}, {"until": StoppingRule(0.5)}, {"outputs_per_call": 2}],
    ids=["auto", "named", "anytime", "calls"],
)
def test_bound_holds_at_the_share_of_its_event(how: dict[str, Any]):
    found = audit(LeakyLaplace(1.0, leak=0.01), 40_000, 3, families=("coordinates",), **how)
    stage = 0.5 if "until" in how else 1.0
    assert found.ideal.share == pytest.approx(OF_CHOSEN * stage)
    assert pytest.approx(1.0) == OF_CHOSEN + OF_STURDY
    if "until" not in how:
        bounds = {share: epsilon_lower_bound(found.counts, 0.0, share * 0.05, found.method) for share in (0.9, 1)}
        assert found.epsilon_lower_bound == bounds[0.9] < bounds[1]


@pytest.mark.parametrize("share", [1.0, 0.1])
def test_event_looked_at_is_certified_at_the_share_it_is_asked_for(share):
    """The ideal mechanism's event may stand beside the implementation's, at another share of the significance."""
    start = AnytimeBound(1.0, 0.0, 0.05)
    chosen = Selection((ToCertify(EVENT, "joint"),), (ToCertify(EVENT, "joint"),), np.empty(0), (), (), 1)
    looked, plain = (EventTally(chosen, with_curve=False, starts=one) for one in ([(EVENT, start)], ()))
    rng = np.random.default_rng(1)
    for tally in (looked, plain):
        for _ in range(4):
            tally.add(
                [tally.count(rng.normal(0.5, 1, (300, 1)), rng.normal(-0.5, 1, (300, 1)), np.random.default_rng)]
            )
        rng = np.random.default_rng(1)
    level = replace(start, significance=share * 0.05)
    bounds = [tally.certified(EVENT, level, None).epsilon_lower_bound for tally in (looked, plain)]
    assert bounds[0] == bounds[1] > 0.3
    assert looked.looked is not None
    # the control: what was looked at is right for its own share alone
    assert (bounds[0] == looked.looked.epsilon_lower_bound) == (share == 1.0)


@pytest.mark.parametrize(
    "words",
    ["laplace_leaky --seed 1 --events coordinates --until 0.3", *exhaustively(f"{WITH_STURDY} --curve")],
    ids=["stages", "curve"],
)
def test_results_with_a_share_of_the_significance_hold(words, capsys, tmp_path):
    """A whole result repeats its certificate: both say which significance was requested."""
    path = tmp_path / "result.json"
    main([*words.split(), "--draws", "20000", "--format", "json"])
    path.write_text(capsys.readouterr().out, encoding="utf-8")
    (certificate,) = Certificate.read_all(path)
    assert certificate.share < 1
    assert outcome(verify(certificate)) == "holds"
    path.write_text(path.read_text(encoding="utf-8").replace('"significance": 0.05', '"significance": 0.06', 1))
    with pytest.raises(CertificateError, match="significance"):
        Certificate.read_all(path)


def test_certificate_of_a_sturdy_event_holds_and_is_repeated(capsys):
    main(["smart_sum", "--draws", "20000", "--seed", "5", "--events", "coordinates,intervals", "--format", "json"])
    certificate = Certificate.of(json.loads(capsys.readouterr().out)["certificate"])
    assert certificate.share == OF_STURDY
    assert outcome(verify(certificate)) == "holds"
    assert next(check for check in replay(certificate) if check.name == "replay").holds
    # the broken control: the same bound at a share it was not certified at
    for share in (OF_STURDY / 10, OF_CHOSEN):
        assert outcome(verify(changed(certificate, share=share))) == "does not hold"
    # and the bound of that share with it: the arithmetic is right, and a replay finds it
    significance = OF_CHOSEN * certificate.request.significance
    bound = epsilon_lower_bound(certificate.counts, 0.0, significance, certificate.method)
    bolder = changed(certificate, share=OF_CHOSEN, epsilon_lower_bound=bound)
    assert bound > certificate.epsilon_lower_bound
    assert next(check for check in replay(bolder) if check.name == "replay").holds is False


def test_of_two_bounds_the_larger_is_seldom_above_the_truth():
    """Two events that lose exactly 1, counted together; their shares must add up to the significance."""
    rng = np.random.default_rng(5)
    audits, draws, ratio = 2_000, 3_000, np.exp(1.0)
    events = [(0.4, 0.4 / ratio), (0.5, 0.5 / ratio)]
    counts = [[rng.binomial(draws, p, audits).tolist() for p in event] for event in events]

    def errs(likely: int, unlikely: int, share: float) -> bool:
        return likely > ratio * unlikely and joint_rejects(
            Counts(likely, draws, unlikely, draws), 1.0, 0.0, share * 0.05
        )

    def errors(*shares: float) -> int:
        wrong = [
            [errs(one, other, share) for one, other in zip(*of_event, strict=True)]
            for of_event, share in zip(counts, shares, strict=True)
        ]
        return sum(map(any, zip(*wrong, strict=True)))

    most = binom.ppf(0.999, audits, 0.05)
    assert errors(OF_CHOSEN, OF_STURDY) <= most
    # the broken control: each at the whole significance
    assert errors(1.0, 1.0) > most


@pytest.mark.parametrize("delta", [0.0, 1e-3])
@pytest.mark.parametrize("draws", [1_000, 9_000_000])
def test_coarse_look_leaves_out_only_events_of_smaller_bounds(draws, delta):
    """Where it leaves one out, that one's bound is smaller; where it does not, it may be either."""
    rng, left_out = np.random.default_rng(1), []
    for _ in range(10):
        unlikely = int(rng.integers(draws // 500, draws // 4))
        likely = min(draws, int(unlikely * np.exp(rng.uniform(0.2, 2.0))))
        counts = Counts(likely, draws, unlikely, draws)
        bound = epsilon_lower_bound(counts, delta, 0.005)
        other = max(0.0, bound + rng.normal(0, 0.3))
        left_out.append(falls_short(counts, delta, 0.005, other))
        assert not left_out[-1] or bound < other
        assert falls_short(counts, delta, 0.005, bound + 2 * FAR_BELOW)
        assert not falls_short(counts, delta, 0.005, bound)
    assert 0 < sum(left_out) < len(left_out)


def test_event_that_shows_more_is_reported_unless_left_out_wrongly(monkeypatch):
    def reported() -> list[float]:
        return [of_noise(seed).ideal.share for seed in UNLUCKY]

    shares = reported()
    assert OF_STURDY in shares
    monkeypatch.setattr("audit.auditor.distinguish.falls_short", lambda *_: False)
    assert reported() == shares
    # the control: one that is never looked at
    monkeypatch.setattr(distinguish._Run, "_falls_short", lambda *_: True)
    assert OF_STURDY not in reported()
