"""``python -m audit claims``: the ledger, and one row of it."""

from __future__ import annotations

import json
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


@pytest.mark.parametrize("asked", ["Lemma 9", "line 20", "(1)"])
def test_number_without_a_claim_is_refused(asked, capsys):
    assert main(["--claim", asked]) == 2
    assert "claim" in capsys.readouterr().err
