"""``python -m audit validity``: it goes on where it was interrupted, and a small run replaces nothing."""

from __future__ import annotations

import json

import pytest

from audit.gate.running import program
from audit.validity.document import DOCUMENT, rows_from
from audit.validity.known import CONTROL, KNOWN
from audit.validity.measure import BoundErrors, measure, tasks

main = program("validity")


def test_command_writes_on_two_workers_what_is_measured_without_any(tmp_path):
    target = tmp_path / "validity.json"
    assert main(["--audits", "2", "--sizes", "1000", "--workers", "2", "--out", str(target)]) in (0, 1)
    rows = rows_from(json.loads(target.read_text(encoding="utf-8")))
    assert target.with_suffix(".md").exists()
    every = tasks([1_000])
    # a fourth of them again: each task has streams of its own
    for task in every[::4]:
        assert all(row in rows for row in measure(task, 2, 1, 1))


def quick(task, audits, seed, _):
    """Return rows like those of a task, without its audits."""
    _, known, draws = task
    return [
        BoundErrors(known.name, known.true_epsilon, known.delta, draws, bound, audits, errors)
        for bound, errors in (("auto", seed % 2), (CONTROL, audits))
    ]


def test_interrupted_run_leaves_the_document_alone_and_resumes(tmp_path, monkeypatch, capsys):
    target = tmp_path / "validity.json"
    target.write_text("an older document", encoding="utf-8")
    words = ["--audits", "2", "--sizes", "1000", "--out", str(target)]
    measured = []

    def interrupted(task, *rest):
        measured.append(task)
        if len(measured) == 3:
            raise KeyboardInterrupt
        return quick(task, *rest)

    monkeypatch.setattr("audit.validity.measure.measure", interrupted)
    assert main(words) == 3
    assert target.read_text(encoding="utf-8") == "an older document"
    assert not target.with_suffix(".md").exists()
    assert "resumes from here" in capsys.readouterr().err
    assert main(words) in (0, 1)
    # two tasks were done, and are not measured again
    assert measured == [*tasks([1_000])[:3], *tasks([1_000])[2:]]
    rows = rows_from(json.loads(target.read_text(encoding="utf-8")))
    assert rows == [row for task in tasks([1_000]) for row in quick(task, 2, 1, 1)]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["validity.json", "validity.md"]


def test_what_an_interrupted_run_of_other_settings_left_is_not_used(tmp_path, monkeypatch, capsys):
    target = tmp_path / "validity.json"
    words = ["--sizes", "1000", "--out", str(target), "--audits"]

    def interrupted(task, *rest):
        if task[1] is not KNOWN[0]:
            raise KeyboardInterrupt
        return quick(task, *rest)

    monkeypatch.setattr("audit.validity.measure.measure", interrupted)
    assert main([*words, "2"]) == 3
    monkeypatch.setattr("audit.validity.measure.measure", quick)
    assert main([*words, "1"]) in (0, 1)
    assert "starts again" in capsys.readouterr().err
    assert {row["audits"] for row in json.loads(target.read_text(encoding="utf-8"))["rows"]} == {1}


@pytest.mark.parametrize(
    "words", [["--audits", "10"], ["--sizes", "1000"], ["--audits", "0"], ["--sizes", "10", "--out", "x.json"]]
)
def test_a_smaller_run_does_not_replace_the_shipped_document(words, capsys):
    before = DOCUMENT.read_bytes()
    assert main(words) == 2
    assert capsys.readouterr().err.startswith("error: ")
    assert DOCUMENT.read_bytes() == before
