"""The pages of the findings: as generated, and each tells the claims that it names."""

from __future__ import annotations

import json
import math
import re

import pytest

from audit.claims import findings
from audit.claims.ledger import committed
from audit.claims.places import ROOT


def test_pages_are_as_generated():
    """`python -m audit claims --write` renews them."""
    there = {path.name: path.read_text(encoding="utf-8") for path in findings.FOLDER.glob("*.md")}
    assert there == findings.written()


@pytest.mark.parametrize("name", findings.FINDINGS)
def test_page_has_the_verdict_and_the_remedy_of_each_claim(name):
    page = findings.page(name)
    for claim in findings.FINDINGS[name][1]:
        row = committed()[claim]
        assert f"## {claim}: {row['verdict']}" in page
        assert (row["repaired"] or row["advice"]).rstrip(".") in page.replace(r"\*", "*")


def test_evidence_that_is_shown_is_of_a_claim_with_a_page():
    told = {claim for _, claims in findings.FINDINGS.values() for claim in claims}
    assert set(findings.SHOWN) <= told


def test_changed_verdict_changes_the_page(monkeypatch):
    ledger = committed()
    changed = {**ledger, "T5": {**ledger["T5"], "verdict": "proved"}}
    assert "## T5: proved" not in findings.page("theorem-5")
    monkeypatch.setattr(findings, "committed", lambda: changed)
    assert "## T5: proved" in findings.page("theorem-5")


def test_overview_has_a_section_and_a_link_for_each_page():
    overview = (findings.FOLDER.parent / "findings.md").read_text(encoding="utf-8")
    assert re.findall(r"^## (.*)$", overview, re.MULTILINE) == [title for title, _ in findings.FINDINGS.values()]
    assert set(re.findall(r"\(findings/(.*?)\.md\)", overview)) == set(findings.FINDINGS)


def test_data_sets_are_told_in_words_and_other_evidence_as_it_is():
    short, long = ({"count": 2, "x": x, "y": 0, "z": 1} for x in (["1/2", "0"], [0, 3, 0, 0, 0]))
    assert findings._readable({"left": [short]}) == {"left": "2 of x = (1/2, 0), y = 0, z = 1"}
    assert findings._readable([long]) == "2 of x = (x2: 3, else 0), y = 0, z = 1"
    assert findings._readable({"share": [0.1, 0.2]}) == {"share": [0.1, 0.2]}


def test_finding_on_theorem_3_has_the_lower_ends_on_the_ball():
    rows = json.loads((ROOT / "docs/figures/t3_exact.json").read_text(encoding="utf-8"))["rows"]
    ball = [row for row in rows if row["domain"] == "unit_ball"]
    assert [row["dimension"] for row in ball] == [2, 3, 4, 5]
    # rounded down, so that the formula fails below
    ends = ", ".join(f"{math.floor(1000 * float(row['lower']['hi'])) / 1000:g}".lstrip("0") for row in ball)
    for page in ("README.md", "docs/findings.md"):
        assert ends in (ROOT / page).read_text(encoding="utf-8")
