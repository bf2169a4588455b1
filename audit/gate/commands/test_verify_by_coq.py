"""``audit verify --coq``: which theorem about the counts of a certificate Coq is asked for."""

from __future__ import annotations

from fractions import Fraction
from types import SimpleNamespace

import pytest

from audit.bounds.clopper_pearson import clopper_pearson_epsilon_lower_bound
from audit.bounds.conditional import conditional_epsilon_lower_bound
from audit.bounds.counts import Counts
from audit.commands import verify
from audit.proofs.releases.check import CoqFinding

COUNTS = Counts(likely=90, likely_draws=100, unlikely=10, unlikely_draws=100)


def certificate(**changed):
    fields = {
        "method": "joint",
        "significance": 0.05,
        "claimed_epsilon": 0.5,
        "claimed_delta": "1/100",
        "verdict": "refuted",
        "counts": COUNTS,
    }
    return SimpleNamespace(**{**fields, **changed})


@pytest.fixture
def asked(monkeypatch):
    """Return what Coq is asked for; a Coq that accepts what the bounds contradict stands in for it."""
    claims = []

    def decide(counts, claim, *, write):
        write(counts, claim)
        claims.append(claim)
        return CoqFinding(True, "accepted")

    monkeypatch.setattr(verify, "check_verdict", decide)
    monkeypatch.setattr(verify, "missing", lambda: None)
    return claims


def test_refuted_claim_is_what_coq_is_asked_about(asked):
    check = verify.coq_check(certificate())
    assert check.holds
    assert "by Clopper and Pearson's bounds" in check.detail
    (claim,) = asked
    assert (claim.epsilon, claim.delta, claim.significance) == (Fraction(1, 2), Fraction(1, 100), Fraction(1, 20))


def test_where_nothing_is_refuted_coq_is_asked_about_the_bound(asked):
    assert verify.coq_check(certificate(claimed_epsilon=5.0, verdict="not refuted")).holds
    (claim,) = asked
    bound = clopper_pearson_epsilon_lower_bound(COUNTS, 0.01, 0.05)
    assert 0.99 * bound < claim.epsilon < bound


def test_refutation_by_the_joint_bound_alone_says_so(asked):
    check = verify.coq_check(certificate(claimed_epsilon=1.9))
    assert check.holds
    assert check.name == verify.BY_COQ_BELOW
    assert "epsilon 1.9 is refuted by the joint bound, not here" in check.detail
    (claim,) = asked
    assert claim.epsilon < clopper_pearson_epsilon_lower_bound(COUNTS, 0.01, 0.05) < Fraction(19, 10)


def test_conditional_certificate_is_decided_by_the_conditional_bound(asked):
    counts = Counts(likely=40, likely_draws=2_000_000, unlikely=1, unlikely_draws=2_000_000)
    bound = conditional_epsilon_lower_bound(counts, 0.05)
    assert bound > clopper_pearson_epsilon_lower_bound(counts, 0.0, 0.05) + 0.1
    rare = {"method": "conditional", "counts": counts, "claimed_delta": "0"}
    check = verify.coq_check(certificate(**rare, claimed_epsilon=float(bound) - 1e-3))
    assert check.name == verify.BY_COQ
    assert check.holds
    assert "by the conditional bound" in check.detail
    assert verify.coq_check(certificate(**rare, claimed_epsilon=9.0, verdict="not refuted")).holds
    assert 0.9999 * bound < asked[1].epsilon < bound


def test_counts_that_say_nothing_are_undecided(asked):
    even = Counts(likely=50, likely_draws=100, unlikely=50, unlikely_draws=100)
    check = verify.coq_check(certificate(counts=even, claimed_epsilon=5.0, verdict="not refuted"))
    assert check.holds is None
    assert "do not contradict the claim" in check.detail
    assert asked == []


def test_number_of_draws_that_was_not_fixed_is_undecided(asked):
    assert verify.coq_check(certificate(method="anytime_betting")).holds is None
    assert asked == []


def test_without_coq_nothing_is_decided(monkeypatch):
    monkeypatch.setattr(verify, "missing", lambda: "PROOFS NOT CHECKED: coqc is not installed")
    assert verify.coq_check(certificate()).holds is None
