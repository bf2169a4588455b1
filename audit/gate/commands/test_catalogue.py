"""``python -m audit catalogue``: any auditor is scored, and the page is what the command writes."""

from __future__ import annotations

import csv
import json
import shlex
from pathlib import Path

import pytest

from audit.gate.running import program
from audit.gate.subjects.test_catalogue import HERE, ROOT, SEEN
from audit.subjects.catalogue import CATALOGUE
from audit.validity.scores.report import ADJACENCIES, FILE_COLUMNS, around, claim, loss, what

main = program("catalogue")


def test_command_scores_another_auditor(capsys, tmp_path):
    target = tmp_path / "score.svg"
    words = ["--auditor", f"{HERE}:hysterical", "--only", "laplace", "--only", "laplace_leaky", "--workers", "1"]
    assert main([*words, "--plot", str(target)]) == 1
    printed = capsys.readouterr().out
    assert "right mechanisms flagged: 3 of 3" in printed
    assert "verdict on the stated significance: refuted" in printed
    assert target.read_text(encoding="utf-8").startswith("<?xml")
    assert main([*words, "--format", "json"]) == 1
    document = json.loads(capsys.readouterr().out)
    # the line that it names gives the same
    again = shlex.split(document["rerun"])[4:]
    assert main([*again, "--format", "json", "--workers", "1"]) == 1
    assert json.loads(capsys.readouterr().out)["entries"] == document["entries"]
    assert (document["verdict"], document["auditor"]) == ("refuted", f"{HERE}:hysterical")
    assert document["entries"][1]["true_epsilon"] == "infinity"
    assert document["rerun"].startswith("python -m audit catalogue --auditor")


def test_command_scores_ours(capsys):
    assert main(["--only", "laplace_half_noise", "--draws", "own", "--workers", "1", "--seeds", "1"]) == 0
    assert "broken mechanisms flagged: 1 of 1" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("auditor", "code", "said"),
    [
        ("silent", 0, ["broken mechanisms flagged: 0 of 3", "missed by at least one audit: laplace_half_noise"]),
        ("hysterical", 1, ["broken mechanisms flagged: 3 of 3", "right mechanisms flagged: 3 of 3"]),
        ("failing", 3, ["error: laplace: ", "broken mechanisms flagged: 0 of 3"]),
        ("leaving", 3, ["error: laplace: SystemExit: 0"]),
    ],
)
def test_command_survives_any_auditor(capsys, auditor, code, said):
    """In processes of their own, as a user runs it."""
    words = ["--auditor", f"{HERE}:{auditor}", "--only", "laplace,laplace_half_noise", "--workers", "2"]
    assert main(words) == code
    printed = capsys.readouterr().out
    for words_said in said:
        assert words_said in printed


def test_command_says_that_it_was_interrupted(capsys):
    SEEN.clear()
    words = ["--auditor", f"{HERE}:interrupted_at_the_second", "--seeds", "1", "--workers", "1"]
    assert main([*words, "--only", "laplace,geometric"]) == 3
    printed = capsys.readouterr().out
    assert "stopped: interrupted" in printed
    assert "geometric" not in printed


def test_command_lists_the_entries_without_auditing(capsys):
    assert main(["--list", "--format", "json"]) == 0
    entries = json.loads(capsys.readouterr().out)
    assert [entry["name"] for entry in entries] == list(CATALOGUE)
    assert all(entry["what"] and entry["source"] for entry in entries)
    assert main(["--list", "--only", "rappor"]) == 0
    assert capsys.readouterr().out.startswith("rappor: right, claims 1, loses 1, any two values\n")


@pytest.mark.parametrize(
    "words",
    [
        ["--only", "laplas"],
        ["--only", "laplace,"],
        ["--draws", "10"],
        ["--draws", "many"],
        ["--seeds", "0"],
        ["--workers", "0"],
        ["--significance", "2"],
        ["--auditor", "audit.nothing:here"],
        ["--auditor", f"{HERE}:ROOT"],
        ["--auditor", "audit/gate/subjects/test_catalogue.py:silent"],
        ["--only", "laplace", "--auditor", f"{HERE}:silent", "--plot", "score.txt", "--workers", "1"],
    ],
)
def test_command_rejects_in_one_line(capsys, words):
    assert main(words) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.startswith("error: ")
    assert printed.err.count("\n") == 1


def test_an_auditor_that_ends_the_program_is_bad_input_and_no_success(capsys, monkeypatch, tmp_path):
    (tmp_path / "ends_the_program.py").write_text("raise SystemExit(0)\n", encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    assert main(["--auditor", "ends_the_program:silent"]) == 2
    assert "SystemExit" in capsys.readouterr().err


PAGE = ROOT / "docs" / "catalogue.md"


def written(page: Path) -> list[str]:
    """Return the lines of a score on a page."""
    before, after = around(page)
    whole = page.read_text(encoding="utf-8")
    return whole[len(before) : len(whole) - len(after)].strip("\n").split("\n")


def rows(page: Path) -> list[dict[str, str]]:
    """Return the rows of the file beside a page."""
    with page.with_suffix(".csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def test_documented_scores_are_of_these_entries():
    """`python -m audit catalogue --update docs/catalogue.md` writes them."""
    known = {name: kind() for name, kind in CATALOGUE.items()}
    told = [
        (
            name,
            entry.broken_at or "right",
            claim(entry),
            loss(entry),
            ADJACENCIES[entry.adjacency],
            what(type(entry)),
        )
        for name, entry in known.items()
    ]
    columns = ("entry", "broken at", "claim", "true", "neighbours", "what")
    found = rows(PAGE)
    assert [tuple(row[column] for column in columns) for row in found] == told
    assert [row["source"] for row in found] == [entry.source for entry in known.values()]
    flagged = {
        right: sum(int(row["flagged"].split(" of ")[0]) for row in found if (row["broken at"] == "right") == right)
        for right in (True, False)
    }
    text = "\n".join(written(PAGE))
    assert f"- right mechanisms flagged: {flagged[True]} of" in text
    assert f"- broken mechanisms flagged: {flagged[False]} of" in text


def test_command_writes_its_score_into_a_page_and_its_rows_beside_it(tmp_path, capsys):
    page = tmp_path / "page.md"
    page.write_text(PAGE.read_text(encoding="utf-8"), encoding="utf-8")
    words = ["--auditor", f"{HERE}:silent", "--only", "laplace", "--workers", "1", "--update", str(page)]
    assert main(words) == 0
    assert "- right mechanisms flagged: 0 of 3 " in "\n".join(written(page))
    (row,) = rows(page)
    assert list(row) == list(FILE_COLUMNS)
    assert list(row.values())[:8] == ["laplace", "right", "1", "1", "0.00", "0 of 3", "", "0.00"]
    first = page.read_text(encoding="utf-8").splitlines()[0]
    assert first == PAGE.read_text(encoding="utf-8").splitlines()[0]
    capsys.readouterr()
    page.write_text("no marks", encoding="utf-8")
    assert main(words) == 2
    assert "marks" in capsys.readouterr().err
    assert main(["--list", "--update", str(page)]) == 2
    assert "--list" in capsys.readouterr().err


EXAMPLES = ROOT / "docs" / "examples"


def test_documented_auditor_finds_what_it_can_and_is_valid(monkeypatch, capsys):
    monkeypatch.syspath_prepend(EXAMPLES)
    words = ["--auditor", "my_auditor:half_lines", "--draws", "20000", "--seeds", "5", "--workers", "1"]
    names = [
        "laplace",
        "functional_exact",
        "laplace_half_noise",
        "laplace_nan_through_clipping",
        "sparse_vector_5",
    ]
    assert main([*words, "--only", ",".join(names), "--format", "json"]) == 0
    document = json.loads(capsys.readouterr().out)
    flagged = {entry["name"]: entry["flagged"] for entry in document["entries"]}
    assert flagged["laplace_half_noise"] == flagged["laplace_nan_through_clipping"] == 5
    # half-lines of one comparison say little of ten
    assert flagged["sparse_vector_5"] == 0
    assert document["false_alarms"]["count"] <= 2
    assert (document["verdict"], document["errors"]) == ("not refuted", 0)
    assert "my_auditor.py" in PAGE.read_text(encoding="utf-8")
