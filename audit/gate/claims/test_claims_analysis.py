"""The ledger's rows on proof steps, analysis and tables: evidence that can be read back."""

from __future__ import annotations

from fractions import Fraction

import pytest

from audit.claims.ledger import find
from audit.exact.enclosures import extended_gaussian


def enclosures(evidence):
    if isinstance(evidence, dict):
        if set(evidence) == {"lo", "hi"}:
            yield evidence
        else:
            for value in evidence.values():
                yield from enclosures(value)
    elif isinstance(evidence, list):
        for value in evidence:
            yield from enclosures(value)


@pytest.mark.parametrize("name", ["F1.taylor", "T2.range", "T2.loose", "A.noise", "E.delta"])
def test_enclosures_in_the_evidence_are_ordered(name):
    found = list(enclosures(find(name).evidence))
    assert found
    assert all(Fraction(pair["lo"]) <= Fraction(pair["hi"]) for pair in found)


def test_evidence_of_theorem_2_has_a_point_where_a_smaller_sigma_fails():
    evidence = find("T2").evidence
    for name in ("sigma times 0.99", "sqrt(2 log(1.25/delta)) Delta_2/epsilon for epsilon > 1"):
        point = evidence[name]["counterexample"]
        assert Fraction(point["exact_delta"]["lo"]) > Fraction(point["delta"]["hi"])
    assert evidence["region in (log epsilon, L), without the identities"]["verdict"] == "enclosed"


def test_a_row_is_not_decided_when_its_region_is_not(monkeypatch):
    """Without enough boxes the region is undecided, and so is the row, whatever the identities say."""
    certify = extended_gaussian.certify_calibration
    monkeypatch.setattr(
        extended_gaussian,
        "certify_calibration",
        lambda *arguments, **named: certify(*arguments, **{**named, "most_boxes": 20}),
    )
    assert find("T2").verdict == "undecided"
