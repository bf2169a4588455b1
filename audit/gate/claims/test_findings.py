"""The pages of the findings: as generated, and each tells the claims that it names."""

from __future__ import annotations

import importlib
import json
import math
import re
from typing import Any

import pytest

from audit.claims import findings
from audit.claims.ledger import committed
from audit.claims.places import ROOT
from audit.claims.registry import claims
from audit.exact.boundary import Request, boundary, middle


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


# --- Theorem 5 --------------------------------------------------------------------------------------------------


def theorems() -> Any:
    """Return the module of the rows on theorems; imported before the others it would change the ledger's order."""
    assert claims()
    return importlib.import_module("audit.claims.rows.theorems")


def ends(domain: str, dimension: int, **asked: Any) -> dict[str, Any]:
    row: dict[str, Any]
    (row,) = boundary(Request(domains=(domain,), dimensions=(dimension,), **asked))["rows"]
    return row


def rounded(value: Any) -> str:
    return f"{middle(value):.3g}"


def missing_on_theorem_5(page: str) -> list[str]:
    """Return what the program says of Theorem 5 and a page does not: where it holds in the paper's setting."""
    text = " ".join((ROOT / page).read_text(encoding="utf-8").split())
    return [said for said in said_of_theorem_5() if said not in text.replace("$", "")]


def said_of_theorem_5() -> list[str]:
    failing = [size for size in range(2, 121) if theorems().fails_below_one(size, "unit_ball")]
    (exception,) = failing
    said = [f"every d but {exception}"]
    for size in (3, 13):
        found = ends("unit_ball", size, deltas=())
        assert found["lower"] == "0"
        said += [rounded(found["upper"]), f"(d = {size})"]
    return said


@pytest.mark.parametrize("page", ["README.md", "docs/findings.md"])
def test_pages_say_where_theorem_5_holds_in_the_papers_setting(page):
    assert missing_on_theorem_5(page) == []


def test_a_page_that_hides_where_theorem_5_holds_is_noticed(monkeypatch, tmp_path):
    monkeypatch.setitem(globals(), "ROOT", tmp_path)
    text = "refuted outside an interval of epsilon_s / epsilon_n around 1: up to 4.89 (d = 13)"
    (tmp_path / "README.md").write_text(text, encoding="utf-8")
    assert missing_on_theorem_5("README.md") == ["every d but 2", "2.8", "(d = 3)"]


def test_overview_has_the_interval_and_the_deltas_beyond_it():
    text = " ".join((ROOT / "docs/findings.md").read_text(encoding="utf-8").split()).replace("$", "")
    two, five = ends("unit_ball", 2, deltas=()), ends("unit_box", 5, deltas=())
    assert f"from {rounded(two['lower'])} to {rounded(two['upper'])} for d = 2" in text
    assert f"with d = 5 from {rounded(five['lower'])} to {rounded(five['upper'])}" in text
    fails = ends("unit_ball", 13, deltas=("1e-3", "1e-6"))["fails_at"]
    at, later = (rounded(fails[delta]) for delta in ("1e-3", "1e-6"))
    assert f"ratio {at} at \\delta_s = \\delta_n = 10^{{-3}}, and {later} at 10^{{-6}}" in text
    # at ratio 10, outside the interval, it holds at the one delta and fails at the other
    assert [theorems().judged("adfc", 13, ("10", "1"), (one, one)).verdict for one in ("5e-4", "1e-6")] == [
        "enclosed",
        "refuted",
    ]


def test_rows_on_theorem_5_give_the_ends_and_name_the_exceptions():
    whole, regime = claims()["T5"], claims()["T5.regime"]
    for size in (2, 3, 13):
        found = ends("unit_ball", size, deltas=())
        for end in ("lower", "upper"):
            assert rounded(found[end]) in whole.repaired.replace(",", "").split()
    # below 1 it fails, too: no advice takes epsilon_s <= epsilon_n for safe
    assert "inside the interval" in whole.advice
    assert "above epsilon_n" not in whole.advice
    box = [size for size in range(2, 20) if theorems().fails_below_one(size, "unit_box")]
    assert box == list(range(box[0], box[-1] + 1))
    for text in (regime.statement, regime.advice):
        assert "d = 2" in text
        assert f"from {box[0]} to {box[-1]}" in text


def test_counterexample_for_more_noise_on_x_s_has_the_papers_budgets():
    """Paragraph 'Evaluation': epsilon from 10^-2 to 10, delta from 10^-3 to 10^-7."""
    found = committed()["T5.regime"]["evidence"]["data sets in two dimensions"]
    assert found["readings"]["domain"] == "unit_ball"
    assert float(found["budget"]["epsilon_s"]) < float(found["budget"]["epsilon_n"])
    assert float(found["claimed_epsilon"]) == 1
    assert float(found["claimed_delta"]) == pytest.approx(1e-7, rel=1e-6)
    assert float(found["exact_delta"]["lo"]) > 3 * float(found["claimed_delta"])
    # the same budgets in the paper's 13 dimensions
    assert theorems().judged("adfc", 13, ("0.1", "1.9"), ("5e-8", "5e-8")).verdict == "enclosed"


def test_no_row_takes_a_small_or_a_large_epsilon_s_alone_for_unsafe():
    """Above epsilon_n the formula holds up to the end of the interval, and below it may fail."""
    said = {name: row.advice for name, row in claims().items() if "the formula for epsilon_s above" in row.advice}
    assert said == {}
    assert "inside the interval" in claims()["T5.step"].advice


# --- What holds in the paper's setting ---------------------------------------------------------------------------


def test_gaussian_noise_is_smaller_at_the_papers_budgets_as_the_row_says():
    row = committed()["A.noise"]
    ends = row["evidence"]["Theorem 2, published: smaller deviation iff epsilon is below"]
    # the least delta needs the most noise; 10 is the largest epsilon
    assert float(ends["d = 13, delta = 1e-7"]["lo"]) > 10
    assert ends["d = 3, delta = 1e-7"] == "0"
    assert row["repaired"].startswith("In the 13 dimensions of the paper's Adult it is, ")


def test_row_on_the_shifted_mean_says_where_it_holds():
    row = committed()["T1.shift"]
    (false,) = [
        one["false for d in 1..14"]
        for one in row["evidence"]["dimensions"]
        if (one["domain"], one["fairness"]) == ("unit_ball", "absolute")
    ]
    assert f"holds for d from {max(false) + 1} to 14" in row["repaired"]
