"""The ledger: rows, their controls, the digest of the code they speak of, and what is done when they differ."""

from __future__ import annotations

import csv
import re
from dataclasses import replace
from fractions import Fraction
from html.parser import HTMLParser
from pathlib import Path
from types import SimpleNamespace

import pytest

from audit.claims import ledger
from audit.claims.digest import source_of
from audit.claims.ledger import NOT_RUN, RUN, committed, row_of, run
from audit.claims.registry import Claim, Control, Finding, claims
from audit.claims.render import as_html, evidence_lines, verdict_of
from audit.commands.claims_text import as_text, explain
from audit.common.compare import differences
from audit.gate.needs import require_or_skip
from reference.budgets import Budget, SplitBudget
from reference.domain import Domain
from reference.registry import MECHANISMS

DECIDED = list(claims())

LENGTHY = {"Fig1", "Fig2", "Fig3", "E.rfm", "T1.shift", "T3.exact", "L2.alpha", "O4", "E.literal", "A.corr.adult"}
"""Two seconds to a minute: `make soak` and `make claims` repeat them, their controls run here, and a change of the
code that they speak of makes the ledger stale."""


# --- The gate ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.lengthy] if name in LENGTHY else []) for name in DECIDED]
)
def test_claim_has_its_registered_verdict_and_the_committed_evidence(name):
    row = claims()[name]
    lacking = ledger.missing(row)
    require_or_skip(
        not lacking, f"CLAIM NOT RE-RUN: {name} needs {', '.join(lacking)}; the committed evidence stands"
    )
    (found,) = run([name])
    assert found.status == RUN
    assert found.problems == ()


@pytest.mark.parametrize("name", DECIDED)
def test_check_stays_silent_on_its_null_control(name):
    row = claims()[name]
    require_or_skip(not ledger.missing(row), f"{name}: null control not run")
    assert row.null.fires() is False


@pytest.mark.parametrize("name", DECIDED)
def test_check_fires_on_its_broken_control(name):
    row = claims()[name]
    require_or_skip(not ledger.missing(row), f"{name}: broken control not run")
    assert row.broken.fires() is True


def test_row_without_a_finding_is_undecided():
    assert verdict_of(SimpleNamespace(finding=None)) == "undecided"
    assert verdict_of(SimpleNamespace(finding=Finding("proved", "none", {}))) == "proved"


def test_every_row_has_two_different_controls():
    for row in claims().values():
        assert row.null.what != row.broken.what, row.id
        assert row.null.fires is not row.broken.fires, row.id


def test_committed_ledger_has_exactly_the_registered_rows():
    assert list(committed()) == list(claims())


def test_no_fewer_checks_are_run_than_the_committed_ledger_registers():
    registered = {name: row["check"] for name, row in committed().items() if row["status"] == RUN}
    assert {name: claims()[name].check_name for name in DECIDED} == registered


def test_every_false_row_says_what_holds_and_what_a_user_does():
    failing = [row for row in claims().values() if row.verdict == "refuted" or row.proof == "wrong"]
    assert len(failing) > 30
    assert [row.id for row in failing if not (row.why and row.repaired and row.advice)] == []


def test_rows_name_code_that_exists_and_verdicts_of_the_contract():
    for row in claims().values():
        for symbol in row.symbols:
            assert source_of(symbol), symbol
        assert row.symbols, row.id
        assert row.verdict != "undecided", row.id


def test_every_claim_that_a_release_cites_is_a_row():
    cited = set()
    for spec in MECHANISMS.values():
        if spec.private:
            deltas = ("1e-3", "1e-3") if spec.needs_delta else ()
            budget = SplitBudget("1", "1", *deltas) if spec.split_budget else Budget("1", *deltas[:1])
            for fairness, weight in (("none", 1), ("absolute", 1), ("absolute", 2)):
                readings = spec.readings.with_(fairness=fairness, fairness_weight=weight)
                statement = spec.statement(Domain.of_columns(["a", "b"]), budget, readings, 0)
                cited |= set(statement.claims)
    assert len(cited) > 7
    assert cited <= set(claims())


# --- Rows that differ -------------------------------------------------------------------------------------------


def always(verdict: str = "proved", proof: str = "none", evidence=None) -> Finding:
    return Finding(verdict, proof, {"value": 1.0} if evidence is None else evidence, None)


def toy(**changes) -> Claim:
    base = Claim(
        "X",
        "a statement",
        "a place",
        symbols=("reference.noise.laplace_scale",),
        verdict="proved",
        check=always,
        null=Control("silent", lambda: False),
        broken=Control("fires", lambda: True),
    )
    return replace(base, **changes)


@pytest.fixture
def stored():
    return ledger.document([row_of(toy(), always(), None)])["rows"][0]


def test_row_that_agrees_has_no_problem(stored):
    assert row_of(toy(), always(), stored).problems == ()


@pytest.mark.parametrize(
    ("finding", "words"),
    [
        (always("refuted"), "registered as proved"),
        (always("undecided"), "undecided"),
        (always(proof="right"), "proof right"),
        (always(evidence={"value": 1.00001}), "evidence.value"),
        (always(evidence={"other": 1.0}), "the keys"),
    ],
)
def test_row_that_differs_says_so(stored, finding, words):
    assert words in " ".join(row_of(toy(), finding, stored).problems)


@pytest.mark.parametrize("name", ["verdict", "proof", "statement", "why", "repaired", "check", "rerun"])
def test_committed_row_that_was_altered_by_hand_is_a_problem(stored, name):
    stored[name] = "by hand"
    assert f"the committed {name}" in " ".join(row_of(toy(), always(), stored).problems)


def test_row_is_stale_when_the_code_it_speaks_of_changes(stored):
    stored["digest"] = "0" * 64
    (problem,) = row_of(toy(), always(), stored).problems
    assert "stale" in problem
    assert "--write" in problem


def test_row_without_its_needs_keeps_the_committed_evidence(stored, monkeypatch):
    monkeypatch.delenv("CHECK_ALL", raising=False)
    monkeypatch.setitem(ledger.AVAILABLE, "coq", lambda: False)
    stored["needs"] = ["coq"]
    row = row_of(toy(needs=("coq",)), None, stored)
    assert row.status == NOT_RUN
    assert row.finding.evidence == {"value": 1.0}
    assert row.problems == ()
    monkeypatch.setenv("CHECK_ALL", "1")
    assert "CHECK_ALL" in " ".join(row_of(toy(needs=("coq",)), None, stored).problems)
    assert "no evidence" in " ".join(row_of(toy(needs=("coq",)), None, None).problems)


def test_skipped_rows_are_counted_in_the_summary(stored, monkeypatch):
    monkeypatch.setitem(ledger.AVAILABLE, "coq", lambda: False)
    text = as_text([row_of(toy(needs=("coq",)), None, stored), row_of(toy(), always(), stored)])
    assert "not re-run here: 1 (X), marked *: they need coq" in text
    assert "marked" not in as_text([row_of(toy(), always(), stored)])


def enclosed(end, start="0"):
    return {"a": {"lo": start, "hi": end}}


@pytest.mark.parametrize(
    ("old", "new", "places"),
    [
        ({"a": 1.0}, {"a": 1.0 + 1e-9}, []),
        ({"a": 1.0}, {"a": 1.0 + 1e-5}, ["evidence.a"]),
        ({"a": "1/3"}, {"a": "1/4"}, ["evidence.a"]),
        ({"a": True}, {"a": 1.0}, ["evidence.a"]),
        ({"a": [1, 2]}, {"a": [1, 2, 3]}, ["the length of evidence.a"]),
        ({"a": [1, {"b": None}]}, {"a": [1, {"b": 0}]}, ["evidence.a[1].b"]),
        ({"a": 1, "b": 2}, {"b": 2, "a": 1}, []),
        ({"a": 1}, {"b": 1}, ["the keys of evidence"]),
        # beyond all floats
        ({"a": 10**400}, {"a": 0.5}, ["evidence.a"]),
        ({"a": 10**400}, {"a": 10**400}, []),
        # ends of enclosures, some of which nobody computed
        (enclosed("1/3"), enclosed("0.3333333333333"), []),
        (enclosed("1/3"), enclosed("1/4"), ["evidence.a"]),
        (enclosed("1e5000"), enclosed("1/4"), ["evidence.a.hi"]),
        (enclosed("1e4000"), enclosed("1/4"), ["evidence.a"]),
        (enclosed("1e400000000"), enclosed("1/4"), ["evidence.a.hi"]),
        (enclosed("1/0"), enclosed("1/4"), ["evidence.a.hi"]),
        (enclosed(None), enclosed("1/4"), ["evidence.a.hi"]),
        # close ends of enclosures that overlap, or touch, or share no number, or hold none
        (enclosed("0.3333334", "0.3333332"), enclosed("0.3333335", "0.3333333"), []),
        (enclosed("0.3333333", "0.3333332"), enclosed("0.3333334", "0.3333333"), []),
        (enclosed("0.3333333", "0.3333332"), enclosed("0.33333341", "0.33333331"), ["evidence.a"]),
        (enclosed("0.33333341", "0.33333331"), enclosed("0.3333333", "0.3333332"), ["evidence.a"]),
        (enclosed("0.3333332", "0.3333333"), enclosed("0.3333333", "0.3333332"), ["evidence.a"]),
        (enclosed("0.3333333", "0.3333332"), enclosed("0.3333332", "0.3333333"), ["evidence.a"]),
        (enclosed("0.3333332", "0.3333333"), enclosed("0.3333332", "0.3333333"), ["evidence.a"]),
        (enclosed("0.3333333", "0.3333333"), enclosed("0.3333333", "0.3333333"), []),
        # a record with columns of these names
        (enclosed("high"), enclosed("high"), []),
    ],
)
def test_evidence_is_compared_exactly_but_for_floats(old, new, places):
    assert list(differences(old, new)) == places


@pytest.mark.parametrize(
    "changes",
    [
        {"verdict": "true"},
        {"proof": "fine"},
        {"needs": ("gpu",)},
    ],
)
def test_registry_refuses_a_row_that_is_no_row(changes):
    with pytest.raises(ValueError, match="X"):
        toy(**changes)


def test_finding_with_a_wrong_proof_names_the_step():
    with pytest.raises(ValueError, match="failing step"):
        Finding("proved", "wrong", {})
    assert Finding("proved", "wrong", {}, "the last equality").failing_step


# --- Page and text --------------------------------------------------------------------------------------


def test_page_stands_alone_and_every_link_has_a_target(stored):
    row = row_of(toy(statement="a < b & c"), always(evidence={"text": "<script>"}), stored)
    page = as_html([row])
    assert "a &lt; b &amp; c" in page
    assert "<script" not in page
    assert not re.search(r"(src|href)=\"(?!#)", page)
    assert set(re.findall(r'href="#([^"]+)"', page)) <= set(re.findall(r'id="([^"]+)"', page))
    for accessible in ('lang="en-GB"', "<caption>", 'scope="col"', 'scope="row"', "<main>", "viewport"):
        assert accessible in page


class Balance(HTMLParser):
    """Collects elements that are opened and not closed, or closed in another order."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.wrong: list[str] = []

    def handle_starttag(self, tag, attrs):
        if tag != "meta":
            self.open.append(tag)

    def handle_endtag(self, tag):
        if not self.open or self.open.pop() != tag:
            self.wrong.append(tag)


@pytest.mark.parametrize(("broken", "balanced"), [("", True), ("<dl>", False), ("</p>", False)])
def test_page_closes_every_element_that_it_opens(stored, broken, balanced):
    rows = [row_of(toy(why="because"), always(evidence={"list": [{"a": 1}, {"b": "x" * 200}]}), stored)]
    balance = Balance()
    balance.feed(as_html(rows) + broken)
    assert (not balance.open and not balance.wrong) is balanced


def test_another_seed_gives_other_numbers_and_the_same_verdict():
    (usual,), (other,) = run(["A.fix.resample"]), run(["A.fix.resample"], seed=1)
    assert other.problems == ()
    assert other.finding.verdict == usual.finding.verdict
    assert other.finding.evidence != usual.finding.evidence
    (fixed,) = run(["O1"], seed=1)
    assert fixed.problems == ()


def test_evidence_that_is_not_drawn_is_compared_under_every_seed(stored):
    assert row_of(toy(), always(evidence={"value": 2.0}), stored, seed=1).problems
    assert not row_of(toy(drawn=True), always(evidence={"value": 2.0}), stored, seed=1).problems
    assert row_of(toy(drawn=True), always(evidence={"value": 2.0}), stored).problems


def test_explanation_holds_evidence_in_full(stored):
    evidence = {"exact": str(Fraction(1, 3)), "rows": [{"x": list(range(40))}]}
    text = explain(row_of(toy(), always(evidence=evidence), stored))
    assert "exact: 1/3" in text
    assert "39" in text


def test_records_of_one_form_are_a_table_and_others_are_not():
    records = [{"domain": "unit_ball", "records": number, "exact": {"lo": "4", "hi": "5"}} for number in range(4)]
    heading, first, *_ = evidence_lines(records)
    assert heading.split() == ["domain", "records", "exact"]
    assert first.split() == ["unit_ball", "0", "[4,", "5]"]
    assert len(list(evidence_lines([*records[:3], {"domain": "unit_box"}]))) == 4
    assert next(evidence_lines([{"x": {"y": number}} for number in range(4)])).startswith("- ")


def test_an_enclosure_within_a_record_is_printed_as_one_beside_it():
    ends, other = {"lo": "0.4", "hi": "0.5"}, {"text": "é", "list": [1, None, True]}
    lines = list(evidence_lines({"ends": ends, "record": {"lower": ends}, "other": other}))
    assert lines == [
        "ends: [0.4, 0.5]",
        'record: {"lower": [0.4, 0.5]}',
        'other: {"text": "é", "list": [1, null, true]}',
    ]


# --- The page ---------------------------------------------------------------------------------------------------


def test_list_of_the_claims_has_the_verdict_and_the_proof_of_every_row():
    """A verdict that changes is changed by hand there, too."""
    text = (Path(__file__).parents[3] / "docs" / "claims.csv").read_text(encoding="utf-8")
    said = {row["claim"]: (row["verdict"], row["proof"]) for row in csv.DictReader(text.splitlines())}
    assert said == {row.id: (row.verdict, row.proof) for row in claims().values()}


def test_pages_say_what_was_measured_of_floating_point_noise():
    evidence = committed()["A.float"]["evidence"]
    shares = {"functional": [], "relaxed_functional": []}
    for name, found in evidence.items():
        if name.split(",")[0] in shares:
            shares[name.split(",")[0]] += [
                round(100 * share) for share in found["share impossible on the neighbour"]
            ]
    laplace, gaussian = ((min(ends), max(ends)) for ends in shares.values())
    assert laplace[0] <= 80 <= laplace[1]
    root = Path(__file__).parents[3]
    assert "about four fifths of Laplace releases" in (root / "README.md").read_text(encoding="utf-8")
    said = re.search(
        r"(\d+) to (\d+) % of the Laplace releases of one record, and (\d+) to (\d+) % of the Gaussian ones",
        (root / "docs" / "findings.md").read_text(encoding="utf-8"),
    )
    assert said
    assert tuple(map(int, said.groups())) == (*laplace, *gaussian)
