"""The runner: programs that are right, and programs that misbehave on one case; the rest goes on."""

from __future__ import annotations

import os
import signal
import sys

import pytest

from audit.conformance import program
from audit.conformance.distribution import FEWEST
from audit.conformance.exchange import UnreadableAnswerError, answer_of, case_line, flat
from audit.conformance.outcome import Outcome, outcomes
from audit.conformance.program import HANGS, NO_ANSWER, PATIENCE, Reply, Session, last_words, run_program
from audit.conformance.report import Report
from audit.conformance.samples import sampled
from audit.conformance.selection import chosen, report_of
from audit.gate.conformance.written import HONEST, perturbations, python_program
from audit.subjects.programs import ProgramStartError
from audit.vectors.answers import answer
from audit.vectors.steps import Steps
from reference.common.files import json_text

THIRD = 2
"""The place of the case on which a program misbehaves."""

MISBEHAVING = {
    "crash": ("if c['tcId'] == {id}: sys.exit(9)", "crash", "exit code 9"),
    "death": ("if c['tcId'] == {id}: os.kill(os.getpid(), signal.SIGSEGV)", "crash", "SIGSEGV"),
    "exception": ("if c['tcId'] == {id}: raise KeyError('weights')", "crash", "weights"),
    "deep exception": (
        "if c['tcId'] == {id}: deep = lambda n: dict()['no such field'] if n == 0 else deep(n - 1); deep(9)",
        "crash",
        "KeyError: 'no such field'",
    ),
    "garbage": ("if c['tcId'] == {id}: print('hello', flush=True); continue", "garbage", "hello"),
    "binary": ("if c['tcId'] == {id}: sys.stdout.buffer.write(b'\\xff\\n'); continue", "garbage", "not an answer"),
    "flood": ("while c['tcId'] == {id}: print('y')", "garbage", "more than"),
    "a list": ("if c['tcId'] == {id}: print('[1]', flush=True); continue", "garbage", "[1]"),
    "another id": ("if c['tcId'] == {id}: say(tcId=77, noisy=[]); continue", "garbage", "77"),
    "silence": ("if c['tcId'] == {id}: continue", "missing", "no answer"),
    "twice": (
        "if c['tcId'] == {id}: say(tcId={id}, noisy=[]); say(tcId={id}, noisy=[]); continue",
        "twice",
        "twice",
    ),
    "wrong": ("if c['tcId'] == {id}: say(tcId={id}, noisy=[1]); continue", "failed", "is right"),
    "text": ("if c['tcId'] == {id}: say(tcId={id}, noisy='NaN'); continue", "failed", "is right"),
    "nothing": ("if c['tcId'] == {id}: say(tcId={id}); continue", "failed", "missing"),
    "refusal": ("if c['tcId'] == {id}: say(tcId={id}, error='no'); continue", "failed", "refused (no)"),
    "huge": ("if c['tcId'] == {id}: say(tcId={id}, noisy=['1e999999999']); continue", "failed", "1e999999999"),
    "long text": ("if c['tcId'] == {id}: say(tcId={id}, noisy=['9' * 10**6]); continue", "failed", "is right"),
    "long number": ("if c['tcId'] == {id}: raw('[' + '9' * 10**6 + ']'); continue", "garbage", "999"),
    "infinite": ("if c['tcId'] == {id}: raw('[1e999, -Infinity, NaN]'); continue", "failed", "is right"),
    "deep": ("if c['tcId'] == {id}: raw('[' * 10**5); continue", "garbage", "[[["),
    "deep but whole": ("if c['tcId'] == {id}: raw('[' * 900 + ']' * 900); continue", "failed", "is right"),
    "an object": ("if c['tcId'] == {id}: raw('{\"lo\": 1, \"hi\": 2}'); continue", "failed", "is right"),
    "half a surrogate": ("if c['tcId'] == {id}: raw('[\"\\\\ud800\"]'); continue", "failed", "ud800"),
    "terminal codes": ("if c['tcId'] == {id}: say(tcId={id}, error='\x1b[2J'); continue", "failed", "x1b[2J"),
    "an error that is none": ("if c['tcId'] == {id}: say(tcId={id}, error=[{}]); continue", "failed", "refused"),
    "a skip of megabytes": ("if c['tcId'] == {id}: say(tcId={id}, skip='s' * 10**6); continue", "skipped", "sss"),
    "an id in words": ("if c['tcId'] == {id}: say(tcId='{id}', noisy=[]); continue", "garbage", "{id}"),
    "a fraction for an id": ("if c['tcId'] == {id}: say(tcId={id}.0, noisy=[]); continue", "garbage", "answer"),
    "a line without end": ("while c['tcId'] == {id}: sys.stdout.write('x' * 2**20)", "garbage", "bytes"),
    "a child that stays": (
        "if c['tcId'] == {id} and os.fork() == 0: os.setsid(); os.close(1); time.sleep(1.5); os._exit(0)",
        "passed",
        "",
    ),
    "fields that say nothing": (
        "say(tcId=c['tcId'], noisy=noisy(c), skip=None, error=False); continue",
        "passed",
        "",
    ),
    "skip": ("if c['tcId'] == {id}: say(tcId={id}, skip='later'); continue", "skipped", "later"),
}


def assert_reported(found: list[Outcome]) -> None:
    """Every form of the report can be written, is short, and steers no terminal."""
    report = Report.of("attacker", found)
    for text in ("\n".join(report.lines()), report.junit(), json_text(report.document())):
        assert len(text.encode()) < 20_000
        assert text.replace("\n", "").isprintable()


@pytest.mark.parametrize("name", MISBEHAVING)
def test_one_case_is_blamed_and_the_rest_goes_on(name):
    code, status, said = MISBEHAVING[name]
    work = perturbations()
    number = work[THIRD][1].tc_id
    body, said = code.replace("{id}", str(number)), said.replace("{id}", str(number))
    program = python_program(f"for c in cases():\n    {body}\n    say(tcId=c['tcId'], noisy=noisy(c))")
    found = outcomes(work, run_program(program, work, timeout=60))
    assert [one.status for one in found] == ["passed"] * THIRD + [status] + ["passed"] * (len(work) - THIRD - 1)
    assert said in found[THIRD].said
    assert_reported(found)


def test_progress_counts_every_answer():
    work, told = perturbations(), []
    run_program(python_program(HONEST), work, timeout=60, on_reply=told.append)
    assert told == [*range(1, len(work) + 1), len(work)]


def test_honest_program_passes_in_any_order_and_at_the_end_of_its_input():
    work = perturbations()
    orders = (HONEST, "for c in reversed(list(cases())): say(tcId=c['tcId'], noisy=noisy(c))")
    for code in orders:
        assert {one.status for one in outcomes(work, run_program(python_program(code), work, timeout=60))} == {
            "passed"
        }


def test_program_that_hangs_on_a_case_is_ended_and_the_rest_goes_on():
    work = perturbations(4)
    number = work[THIRD][1].tc_id
    sleep = f"if c['tcId'] == {number}: time.sleep(600)"
    code = f"for c in cases():\n    {sleep}\n    say(tcId=c['tcId'], noisy=noisy(c))"
    # on a busy machine even the honest answers may take longer
    for timeout in (1, 8, 64):
        found = outcomes(work, run_program(python_program(code), work, timeout=timeout))
        if [one.status for one in found] == ["passed", "passed", "hang", "passed"]:
            break
    assert [one.status for one in found] == ["passed", "passed", "hang", "passed"]
    assert f"in {timeout} s" in found[THIRD].said


def test_two_crashes_behind_a_case_without_an_answer_are_told_apart():
    work = perturbations()
    silent, first, second = (work[place][1].tc_id for place in (1, 3, 5))
    code = (
        f"for c in cases():\n    if c['tcId'] == {silent}: continue\n"
        f"    if c['tcId'] in ({first}, {second}): sys.exit(1)\n    say(tcId=c['tcId'], noisy=noisy(c))"
    )
    found = outcomes(work, run_program(python_program(code), work, timeout=60))
    statuses = ["passed", "missing", "passed", "crash", "passed", "crash", "passed", "passed"]
    assert [one.status for one in found] == statuses


def test_empty_lines_and_garbage_are_no_sign_of_life():
    """Such a program is ended, though a line always waits to be read."""
    work = perturbations(2)
    for code in ("while True: print()", "while True: print('y', flush=True); time.sleep(0.2)"):
        found = outcomes(work[:1], run_program(python_program(code), work[:1], timeout=1))
        assert [one.status for one in found] == ["hang"]
    after = f"{HONEST}\nwhile True: print()"
    found = outcomes(work, run_program(python_program(after), work, timeout=60))
    assert [one.status for one in found] == ["passed"] * 2


def test_crash_that_takes_answers_in_a_buffer_with_it_is_found_behind_them(monkeypatch):
    monkeypatch.setattr("audit.conformance.program.PATIENCE", 4)
    work = perturbations(16)
    number = work[12][1].tc_id
    buffered = "sys.stdout = open(1, 'w', buffering=2**20)\ndef say(**answer): print(json.dumps(answer))\n"
    code = f"for c in cases():\n    if c['tcId'] == {number}: os._exit(9)\n    say(tcId=c['tcId'], noisy=noisy(c))"
    found = outcomes(work, run_program(python_program(buffered + code), work, timeout=60))
    assert [one.status for one in found] == ["passed"] * 12 + ["crash"] + ["passed"] * 3


WRONG = "say(tcId=c['tcId'], noisy=[1])"
RIGHT = "say(tcId=c['tcId'], noisy=noisy(c))"
STARTS = {
    "right": (f"for c in cases(): {RIGHT}", "not refuted", ""),
    "wrong": (f"for c in cases(): {WRONG}", "refuted", "is right"),
    "wrong at first": (f"for c in cases(): {WRONG} if first else {RIGHT}", "undecided", "again passed"),
    "right at first": (f"for c in cases(): {RIGHT} if first else {WRONG}", "undecided", "again failed"),
    "dies at first": (f"for c in cases(): sys.exit(9) if first else {RIGHT}", "undecided", "exit code 9; started"),
    "dies after some": (
        f"for n, c in enumerate(cases()): sys.exit(9) if n == 3 else {RIGHT}",
        "undecided",
        "exit code 9; started again it answered all cases",
    ),
}
"""Programs that know whether they are started for the first time: code, verdict, and what is said."""


@pytest.mark.parametrize("name", STARTS)
def test_no_verdict_rests_on_answers_that_change_when_started_again(name, tmp_path):
    code, verdict, said = STARTS[name]
    mark = str(tmp_path / "started")
    first = f"first = not os.path.exists({mark!r}); open({mark!r}, 'w').close()\n"
    report = report_of(python_program(first + code), perturbations(), timeout=60)
    assert (report.verdict, report.exit_code) == (
        verdict,
        {"not refuted": 0, "refuted": 1, "undecided": 3}[verdict],
    )
    assert said in "\n".join(report.lines())
    assert_reported(list(report.outcomes))


def test_draws_of_a_program_that_dies_now_and_then_are_not_judged(tmp_path):
    mark = str(tmp_path / "started")
    code = (
        f"if not os.path.exists({mark!r}): open({mark!r}, 'w').close(); sys.exit(9)\n"
        "import random\n"
        "for c in cases(): say(tcId=c['tcId'], samples=[[random.gauss(0, 1)] * 5] * int(c['inputs']['count']))"
    )
    report = sampled(python_program(code), FEWEST, timeout=60)
    assert (report.verdict, report.exit_code) == ("undecided", 3)
    assert "exit code 9; started again" in "\n".join(report.lines())


def test_program_that_never_answers_is_given_up(monkeypatch):
    monkeypatch.setattr("audit.conformance.program.PATIENCE", 3)
    assert PATIENCE > 3
    work = perturbations()
    found = outcomes(work, run_program(python_program("sys.exit(1)"), work, timeout=60))
    assert {one.status for one in found} == {"crash", "not run"}
    # nothing is known of what it would have answered
    assert Report.of("dead", found).verdict == "undecided"


@pytest.mark.parametrize(("answered", "hung"), [(1, 7), (250, 0)])
def test_program_that_answers_one_case_and_hangs_is_asked_one_by_one(monkeypatch, answered, hung):
    """Every run of several cases would cost the timeout."""
    runs = []

    def session(_command, asked, *_):
        replies = {case.tc_id: Reply("answered") for _, case in asked[:answered]}
        runs.append(Session(replies, end=f"{NO_ANSWER} in 9 s" if len(asked) > answered else ""))
        return runs[-1]

    monkeypatch.setattr(program, "_session", session)
    work = chosen()[:250]
    found = run_program(["port"], work)
    assert {reply.status for reply in found.values()} == ({"answered", "unsteady"} if hung else {"answered"})
    assert len(found) == len(work)
    assert sum(run.failed for run in runs) == hung


@pytest.mark.exhaustive
def test_program_that_hangs_always_is_given_up_sooner():
    work = perturbations(16)
    found = outcomes(work, run_program(python_program("time.sleep(600)"), work, timeout=0.5))
    assert [one.status for one in found] == ["hang"] * HANGS + ["not run"] * (16 - HANGS)
    # where one case hangs, and takes the buffered answers of the others with it, shorter runs find it
    number = work[HANGS + 1][1].tc_id
    code = (
        "kept = []\nfor c in cases():\n"
        f"    if c['tcId'] == {number}: time.sleep(600)\n    kept.append(c)\n"
        "for c in kept: say(tcId=c['tcId'], noisy=noisy(c))"
    )
    found = outcomes(work, run_program(python_program(code), work, timeout=4))
    assert [one.case.tc_id for one in found if one.status != "passed"] == [number]


def test_program_that_fails_without_any_case_is_bad_input():
    with pytest.raises(ProgramStartError, match="fails without any case too: it ended with exit code 2"):
        report_of([sys.executable, "no_such_port.py"], perturbations(2), timeout=60)
    report = report_of(python_program("for c in cases(): sys.exit(2)"), perturbations(2), timeout=60)
    assert {one.status for one in report.outcomes} == {"crash"}


def test_program_that_cannot_be_started_is_bad_input():
    with pytest.raises(ProgramStartError, match=r"^the program '/no/such/program' was not found"):
        run_program(["/no/such/program"], perturbations())


def test_flat_lines_hold_a_case_and_an_answer():
    kind, case = perturbations()[0]
    line = case_line(kind, case, "flat").decode()
    fields = dict(part.split("=") for part in line.strip("\n").split("\t"))
    assert fields["tcId"] == str(case.tc_id)
    assert fields["values"].split(",") == case.given["values"]
    assert answer_of(b"tcId=3\tnoisy=1,2.5\tscale=4\n", "flat") == (3, {"noisy": ["1", "2.5"], "scale": "4"})
    assert answer_of(b"tcId=3\tx=1,2;3,4\r\n", "flat") == (3, {"x": [["1", "2"], ["3", "4"]]})
    for bad in (b"hello", b"scale=3", b"tcId=x", b"\xff"):
        with pytest.raises(UnreadableAnswerError):
            answer_of(bad, "flat")


def test_process_that_a_program_leaves_behind_does_not_keep_the_runner(monkeypatch):
    """It holds the program's output open, outside its session."""
    monkeypatch.setattr("audit.conformance.program.LAST_WORDS", 1.0)
    work = perturbations(2)
    code = (
        "left = os.fork()\nif not left: os.setsid(); time.sleep(120); os._exit(0)\n"
        "for c in cases(): say(tcId=c['tcId'], noisy=noisy(c), left=left)"
    )
    found = outcomes(work, run_program(python_program(code), work, timeout=60))
    assert [one.status for one in found] == ["passed"] * 2
    # it still lives: nobody waited for it
    os.kill(found[0].answer["left"], signal.SIGKILL)


def test_flat_form_knows_every_list_that_is_asked_for():
    """An answer in the flat form is the reference's, list by list."""
    for kind, case in chosen():
        if case.right is None:
            continue
        found = answer(Steps(), kind, case.given)
        line = "\t".join(f"{name}={flat(value)}" for name, value in {"tcId": case.tc_id, **found}.items())
        assert answer_of(line.encode(), "flat") == (case.tc_id, found), kind


@pytest.mark.parametrize(
    ("said", "last"),
    [
        ("Traceback:\n  File 'port.py', line 3\n    raise error\nKeyError: 'x'\n", "KeyError: 'x'"),
        (
            "loader:1\n  throw err;\n\nError: Cannot find module 'port.js'\n    at Module\n\nNode.js v18\n",
            "Error: Cannot find module 'port.js'",
        ),
        ("no input\ngiving up\n", "giving up"),
        ("\n", ""),
    ],
)
def test_a_program_that_dies_is_quoted_with_the_line_that_names_its_error(said, last):
    assert last_words(said.encode()).decode() == last
