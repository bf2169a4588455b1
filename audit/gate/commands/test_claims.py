"""``python -m audit claims``: the ledger, and one row of it."""

from __future__ import annotations

import json
import re
import shutil

import pytest

from audit.claims import findings, ledger, paper_map, registry
from audit.commands.claims import _chosen
from audit.gate.claims.test_claims import toy
from audit.gate.running import program

main = program("claims")


def test_command_explains_one_claim(capsys):
    assert main(["--claim", "t1", "--jobs", "1"]) == 0
    text = capsys.readouterr().out
    assert "place:     Theorem 1" in text
    assert "again:     python -m audit claims --claim T1" in text
    assert "  the paper's proof: none given\n" in text
    assert "  evidence:\n" in text


def test_command_prints_the_contracts_json(capsys):
    assert main(["--claim", "T1", "--jobs", "1", "--format", "json"]) == 0
    row = json.loads(capsys.readouterr().out)
    names = [
        "id",
        "statement",
        "place",
        "readings",
        "verdict",
        "proof",
        "machine_proof",
        "evidence",
        "check",
        "needs",
        "status",
    ]
    assert set(names) <= set(row)
    assert row["status"] == "run"


@pytest.mark.parametrize(
    "arguments",
    [
        ["--claim", "T99"],
        ["--jobs", "0"],
        ["--claim", "T1", "--write"],
        ["--write", "--seed", "1"],
        ["--map", "--write"],
    ],
)
def test_command_refuses_bad_input(arguments, capsys):
    assert main(arguments) == 2
    assert "error" in capsys.readouterr().err


def test_map_is_printed_and_nothing_is_decided(monkeypatch, capsys):
    monkeypatch.setattr("audit.commands.claims.run", lambda *_, **__: pytest.fail("a check ran"))
    before = paper_map.PATH.read_bytes()
    assert main(["--map"]) == 0
    assert capsys.readouterr().out == paper_map.page()
    assert paper_map.PATH.read_bytes() == before


def test_map_needs_the_documents(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(paper_map, "PATH", tmp_path / "paper-map.md")
    assert main(["--map"]) == 2
    assert "checkout" in capsys.readouterr().err


@pytest.mark.parametrize("in_checkout", [True, False])
def test_write_renews_ledger_and_pages(in_checkout, tmp_path, monkeypatch):
    stored, page = tmp_path / "ledger.json", tmp_path / "paper-map.md"
    shutil.copy(ledger.committed_path(), stored)
    monkeypatch.setattr(ledger, "committed_path", lambda: stored)
    monkeypatch.setattr(paper_map, "PATH", page)
    monkeypatch.setattr(findings, "FOLDER", tmp_path / "findings")
    changed = [row | {"verdict": "undecided"} for row in ledger.committed().values()]
    monkeypatch.setattr("audit.commands.claims.run", lambda *_, **__: [])
    monkeypatch.setattr("audit.commands.claims.write", lambda _: stored.write_text(json.dumps({"rows": changed})))
    if in_checkout:
        page.write_text("old", encoding="utf-8")
        findings.FOLDER.mkdir()
    assert main(["--write"]) == 0
    assert "T1: undecided" in paper_map.page()
    assert page.is_file() == in_checkout
    if in_checkout:
        assert page.read_text(encoding="utf-8") == paper_map.page()
        told = (findings.FOLDER / "theorem-5.md").read_text(encoding="utf-8")
        assert "## T5: undecided" in told


def test_command_exits_with_3_when_a_row_is_not_as_registered(monkeypatch, capsys):
    monkeypatch.setitem(registry._CLAIMS, "T1", toy(id="T1", verdict="refuted"))
    assert main(["--claim", "T1", "--jobs", "1"]) == 3
    assert "registered as refuted" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("asked", "ids"),
    [
        ("Lemma 4", ["L4"]),
        ("theorem 1", ["T1", "A.float"]),
        ("Algorithm 3 line 20", ["T2", "T5.step"]),
        ("fig. 3", ["Fig3", "E.literal"]),
        ("Eq. (4)", ["O4"]),
        ("(4)", ["O4"]),
        ("t3.*", ["T3", "T3.exact", "T3.fix", "T3.exact.w", "T3.step"]),
    ],
)
def test_claims_are_found_by_the_papers_own_numbers(asked, ids):
    assert set(_chosen(asked)) == set(ids)


@pytest.mark.parametrize("asked", ["Lemma 9", "line 20"])
def test_number_that_the_paper_lacks_is_refused(asked, capsys):
    assert main(["--claim", asked]) == 2
    assert "claim" in capsys.readouterr().err


@pytest.fixture
def as_committed(monkeypatch):
    """No check runs: the findings are the committed ones."""

    def find(name, _):
        row = ledger.committed()[name]
        return registry.Finding(row["verdict"], row["proof"], row["evidence"], row["failing_step"])

    monkeypatch.setattr(ledger, "find", find)
    monkeypatch.setattr(ledger, "missing", lambda _: ())


def printed(asked, capsys):
    assert main(["--claim", asked, "--jobs", "1"]) == 0
    return capsys.readouterr().out


@pytest.mark.usefixtures("as_committed")
def test_item_leads_to_its_proof_page_and_code(capsys):
    text = printed("Lemma 4", capsys)
    assert "  proof:     proofs/sensitivities.md#what-follows-for-the-paper\n" in text
    assert "  code:      reference.sensitivity.published.published_l2_sensitivity_squared,\n" in text
    assert "  the paper's proof: wrong\n" in text
    assert "evidence:" not in text
    assert "Claims: Lemma 4" not in text


@pytest.mark.usefixtures("as_committed")
def test_row_in_full_leads_to_its_proof_page_and_code(capsys):
    text = printed("T3.exact", capsys)
    assert "  proof:     proofs/theorem_3.md#t3-t3fix-t3exact\n" in text
    assert "  code:      reference.mechanisms.pdfc_noise," in text


def test_item_without_a_claim_leads_to_its_code(capsys):
    text = printed("(1)", capsys)
    assert text.startswith("(1): w* minimises the loss\n  code:      reference.mechanisms.lr\n")
    assert text.endswith("\nthe ledger has no claim on this\n")


@pytest.mark.usefixtures("as_committed")
@pytest.mark.parametrize(
    ("asked", "order"),
    [
        ("Algorithm 3 line 20", ["T2", "T5.step"]),
        ("Table 2", ["Tables", "E.sd", "E.wins", "E.grid"]),
        ("T3.*", ["T3", "T3.exact", "T3.fix", "T3.exact.w", "T3.step"]),
    ],
)
def test_several_claims_are_a_table_and_then_each_without_its_evidence(asked, order, capsys):
    text = printed(asked, capsys)
    table, *_ = text.split(" claims: ")
    assert re.findall(r"^\W ([A-Z][\w.]*) +\W", table, re.MULTILINE) == order
    assert re.findall(r"^([A-Z][\w.]*): ", text, re.MULTILINE) == order
    assert "evidence:" not in text
    assert text.endswith("\npython -m audit claims --claim ID shows the evidence\n")


@pytest.mark.usefixtures("as_committed")
def test_items_claims_stay_in_the_ledgers_order_in_json(capsys):
    assert main(["--claim", "Table 2", "--jobs", "1", "--format", "json"]) == 0
    names = [row["id"] for row in json.loads(capsys.readouterr().out)]
    assert names == [name for name in registry.claims() if name in names]
    assert names[0] != "Tables"


@pytest.mark.parametrize("asked", ["Lemma 9", "Algorithm 3 line 99", "proof of Lemma 9", "(99)", "eq.(99)"])
def test_item_that_the_paper_lacks_is_said_to_be_none(asked, capsys):
    assert main(["--claim", asked]) == 2
    assert "the paper has no such item; it has 'Lemma 1' ... 'Table 2'" in capsys.readouterr().err


@pytest.mark.parametrize(("asked", "near"), [("T5.regim", "T5.regime"), ("Tabels", "Tables")])
def test_id_that_is_mistyped_is_answered_with_the_nearest(asked, near, capsys):
    assert main(["--claim", asked]) == 2
    assert f"did you mean {near}?" in capsys.readouterr().err
