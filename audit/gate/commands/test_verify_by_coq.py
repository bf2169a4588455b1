"""``audit verify --coq``: which theorem about the counts of a certificate Coq is asked for."""

from __future__ import annotations

from fractions import Fraction
from types import SimpleNamespace

import pytest

from audit.bounds.clopper_pearson import clopper_pearson_epsilon_lower_bound
from audit.bounds.counts import Counts
from audit.commands import verify
from audit.proofs.releases.check import CoqFinding
from audit.proofs.verdicts import verdict_text

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

    def decide(counts, claim):
        verdict_text(counts, claim)
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


def test_refutation_beyond_these_bounds_is_undecided(asked):
    check = verify.coq_check(certificate(claimed_epsilon=1.9))
    assert check.holds is None
    assert "do not contradict the claim" in check.detail
    assert asked == []


def test_number_of_draws_that_was_not_fixed_is_undecided(asked):
    assert verify.coq_check(certificate(method="anytime_betting")).holds is None
    assert asked == []


def test_without_coq_nothing_is_decided(monkeypatch):
    monkeypatch.setattr(verify, "missing", lambda: "PROOFS NOT CHECKED: coqc is not installed")
    assert verify.coq_check(certificate()).holds is None
