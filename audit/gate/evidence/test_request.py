"""A request is data: the command that is printed from it asks for the same again, and the text of it fits."""

from __future__ import annotations

import io
import json
import shlex
import sys
from typing import Any

import pytest

from audit.epsilon_estimate import main
from audit.evidence.request import EstimateRequest
from audit.gate.requests import asked, verify_command
from reference.common.documents import converted, plain
from reference.common.errors import DocumentError, ReadingError

LINES = [
    "pdfc",
    "adfc --epsilon 1/3 --delta 1/7",
    "adfc --epsilon-s 10 --epsilon-n 0.1 --delta-s 1e-3 --delta-n 1e-4 --fairness absolute --domain unit_box",
    "adfc --epsilon-s 2 --epsilon-n 3 --delta 1e-5",
    "adfc --epsilon 2 --delta-s 1e-3 --delta-n 1e-3",
    "pdfc --epsilon-ratio 7 --epsilon 2 --dimension 3 --records 20 --x-s x2 --release weights",
    "pdfc --fairness separate --fairness-weight 1/3 --tau 2 --basis matrix --adjacency add_or_remove_one",
    "relaxed_functional --delta 1e-6 --sensitivity exact --repair ball --ball-radius 3",
    "functional --data affairs --encoding one_hot --intercept --keep-group --sensitivity 4 --noise numpy",
    "functional --data synthetic --records 50 --dimension 2 --data-seed 4 --domain unit_box",
    "laplace --epsilon 0.1 --delta 1/7 --until 0.5",
    "gaussian --delta 1e-5 --epsilon 2",
    "no.such.module:thing --epsilon 1/3 --object implementation --events coordinates,rare",
    "pflr --search --max-seconds 3 --significance 0.01 --bound joint --draws 20000",
    "laplace --curve --plot curve.svg",
    "gaussian --outputs-per-call 8 --max-seconds 3 --draws 20000",
    "--program 'python laplace.py 0.5' --binary --timeout 3 --memory-limit 1000000 --epsilon 2",
]


@pytest.mark.parametrize("line", LINES)
def test_the_printed_command_asks_for_the_same(line: str) -> None:
    (request,) = asked(*shlex.split(line), "--seed", "5")
    words = shlex.split(request.command)
    assert words[:3] == ["python", "-m", "audit.epsilon_estimate"]
    assert asked(*words[3:]) == [request]


@pytest.mark.parametrize("line", LINES)
def test_a_request_survives_json(line: str) -> None:
    (request,) = asked(*shlex.split(line), "--seed", "5")
    document = json.loads(json.dumps(plain(request)))
    assert converted(document, EstimateRequest) == request
    with pytest.raises(DocumentError, match="more"):
        converted({**document, "more": 1}, EstimateRequest)


def test_another_option_prints_another_command() -> None:
    """The control: no option that changes the request is lost on the way."""
    commands = [asked(*shlex.split(line), "--seed", "5")[0].command for line in LINES]
    assert len(set(commands)) == len(LINES)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("--outputs-per-call 8 --curve", "curve"),
        ("--outputs-per-call 8 --until 0.5", "until"),
        ("--outputs-per-call 8 --bound joint", "bound"),
        ("--outputs-per-call 8 --search", "search"),
        ("--outputs-per-call 8 --draws 7999", "at least 8,000"),
        ("--outputs-per-call 0", "from 1 to"),
    ],
)
def test_calls_taken_whole_refuse_what_they_have_not(words: str, said: str) -> None:
    asked("laplace", "--outputs-per-call", "8", "--draws", "8000")
    with pytest.raises(ReadingError, match=said):
        asked("laplace", *words.split())


WORDS = ["adfc", "functional", "--draws", "2000", "--dimension", "2", "--seed", "1", "--curve"]


def test_text_of_estimate_and_verify_fits_80_columns(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Any
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    path = tmp_path / "certificates.json"
    main([*WORDS, "--out", str(path)])
    text = capsys.readouterr().out
    assert text.count("again:") == 2
    assert max(map(len, text.splitlines())) <= 80
    verify_command([str(path)])
    text = capsys.readouterr().out
    assert "the certificate" in text
    assert max(map(len, text.splitlines())) <= 80


@pytest.mark.parametrize("encoding", ["ascii", "cp1252"])
def test_a_terminal_that_cannot_show_a_character_gets_another_one(
    monkeypatch: pytest.MonkeyPatch, encoding: str
) -> None:
    for name in ("stdout", "stderr"):
        monkeypatch.setattr(sys, name, io.TextIOWrapper(io.BytesIO(), encoding=encoding))
    assert main(["laplace", "--draws", "2000", "--seed", "1"]) == 0
    sys.stdout.flush()
    shown = sys.stdout.buffer
    assert isinstance(shown, io.BytesIO)
    assert b"laplace" in shown.getvalue()


def test_an_interruption_before_any_draw_is_one_line_and_undecided(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def interrupted(*_: Any, **__: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("audit.evidence.estimation.rebuild", interrupted)
    assert main(["laplace", "--draws", "2000"]) == 3
    assert capsys.readouterr().err == "interrupted: nothing audited\n"
    monkeypatch.setattr("audit.commands.verify.verify", interrupted)
    monkeypatch.setattr("audit.evidence.certificate.Certificate.read_with_results", lambda _: [(None, None)])
    assert verify_command(["certificate.json"]) == 3
    assert capsys.readouterr().err.count("\n") == 1
