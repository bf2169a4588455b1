"""Programs that misbehave in every way are named in time, and leave nothing behind."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from audit.auditor.deadline import Deadline
from audit.epsilon_estimate import main
from audit.gate.needs import exhaustively
from audit.gate.subjects.written_programs import (
    ANSWERS,
    EXAMPLES,
    HONEST,
    PAIR,
    QUICK,
    ROOT,
    as_line,
    command_line,
    draw,
    python_program,
)
from audit.subjects.programs import (
    AnswerError,
    InputPair,
    ProgramEndedError,
    ProgramError,
    ProgramLimits,
    ProgramStartError,
    ProgramSubject,
    ProgramTimeoutError,
    RepeatedDrawsError,
    ReportedError,
    RestartedError,
    UnaskedOutputError,
    process,
    protocol,
)
from audit.subjects.programs.subject import NOT_RESTARTED


def runs(pid: int) -> bool:
    """Return whether a process is there and no zombie."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except FileNotFoundError:
        return False


def soon_gone(pid: int) -> bool:
    deadline = time.monotonic() + 300
    while runs(pid) and time.monotonic() < deadline:
        time.sleep(0.01)
    return not runs(pid)


@pytest.mark.parametrize("name", ANSWERS)
def test_wrong_answers_are_named(start, tmp_path, name):
    answer, reason, words = ANSWERS[name]
    (tmp_path / "answer").write_bytes(as_line(answer) + b"\n")
    code = f"for request in requests(): write(open({str(tmp_path / 'answer')!r}, 'rb').read())"
    with pytest.raises(reason) as caught:
        start(code)
    assert words in str(caught.value)
    assert str(caught.value).isprintable()


def test_answers_that_cannot_have_read_the_question_are_refused(start):
    """The question is longer than a pipe holds, and the answer comes before it is read."""
    code = "say({'values': [[1]] * 16}); time.sleep(60)"
    with pytest.raises(UnaskedOutputError, match="before it"):
        start(code, InputPair("x" * 10**6, "", "replace_one"))


def test_a_right_answer_is_not_refused(start):
    assert draw(start(HONEST)).shape == (100, 1)


PLENTY, GROWING = (120,), (1, 8, 64)

BEHAVIOUR = {
    "dies at once": ("sys.exit('no data here')", PLENTY, ProgramEndedError, "exit code 1"),
    "says why it died": ("sys.exit('no data here')", PLENTY, ProgramEndedError, "ends with: no data here"),
    "dies in an answer": (
        "sys.stdin.readline(); write(b'{\"val'); sys.exit(7)",
        PLENTY,
        ProgramEndedError,
        "5 bytes",
    ),
    "is killed": ("os.kill(os.getpid(), signal.SIGKILL)", PLENTY, ProgramEndedError, "by signal SIGKILL"),
    "closes its output": ("os.close(1); time.sleep(600)", PLENTY, ProgramEndedError, "closed its standard output"),
    "closes its input": (
        "os.close(0); time.sleep(600)",
        (0.5,),
        ProgramTimeoutError,
        "within 0.5 s (without an answer)",
    ),
    "hangs": ("time.sleep(600)", (0.5,), ProgramTimeoutError, "within 0.5 s (without an answer)"),
    "does not flush": ("sys.stdin.readline(); time.sleep(600)", (0.5,), ProgramTimeoutError, "(fflush)"),
    "waits for more": ("sys.stdin.read(2**20)", (0.5,), ProgramTimeoutError, "with -W interactive"),
    "hangs in an answer": (
        "sys.stdin.readline(); write(b'{'); time.sleep(600)",
        GROWING,
        ProgramTimeoutError,
        "1 bytes",
    ),
    "ends no line": ("while True: write(b'x' * 10**6)", PLENTY, ProgramError, "xxx"),
    "speaks first": ("write(b'welcome\\n'); time.sleep(600)", PLENTY, ProgramError, "welcome"),
    "repeats itself": (
        "sys.stdin.readline()\nwhile True: write(b'{}\\n' * 10**5)",
        PLENTY,
        UnaskedOutputError,
        "{}",
    ),
    "floods its errors": ("while True: os.write(2, b'e' * 10**6)", GROWING, ProgramTimeoutError, "eeee"),
    "forks and dies": (
        "sys.stdin.readline(); subprocess.Popen(['sleep', '600']); sys.exit(4)",
        PLENTY,
        ProgramEndedError,
        "exit code 4",
    ),
}
"""Code, time limits in seconds to try one after the other, and what is said of it."""


@pytest.mark.parametrize("name", BEHAVIOUR)
def test_programs_that_misbehave_are_named_in_time(start, name):
    code, limits, reason, words = BEHAVIOUR[name]
    # on a busy machine a program may not have begun within the first limit
    for timeout in limits:
        with pytest.raises(reason) as caught:
            start(code, timeout=timeout)
        assert len(str(caught.value)) < 4_000
        if words in str(caught.value):
            break
    assert words in str(caught.value)


@pytest.mark.parametrize("most", [2**20, 2**24])
def test_a_line_without_end_takes_no_more_memory_than_its_limit(most):
    line, received = protocol.AnswerLine(most), bytearray()
    while len(received) <= most:
        assert line.end(received, 0) is None
        received += b"x" * 2**16
    with pytest.raises(AnswerError, match="without an end of line"):
        line.end(received, 0)


def test_much_standard_error_is_no_fault(start):
    noisy = "for request in requests():\n os.write(2, b'e' * 10**6)\n say({'values': values(request)})"
    assert draw(start(noisy)).shape == (100, 1)


def test_standard_error_is_shown_without_terminal_codes(start):
    with pytest.raises(ProgramEndedError) as caught:
        start(r"sys.stderr.write('first\n\x1b[31mred\n'); sys.exit(1)")
    assert r"first | \x1b[31mred" in str(caught.value)


def test_a_program_that_changes_its_width_is_refused(start):
    subject = start(
        "for n, request in enumerate(requests()): say({'values': [[1] * (1 + n // 3)] * request['count']})"
    )
    assert draw(subject).shape == (100, 1)
    with pytest.raises(AnswerError, match="2 coordinates"):
        draw(subject)


def test_a_program_whose_width_tells_the_input_is_refused(start):
    with pytest.raises(AnswerError, match="draws of 1 and of 2 coordinates"):
        start("for request in requests(): say({'values': [[1] * (1 + request['input'])] * request['count']})")


def test_a_late_second_answer_is_noticed(start, monkeypatch):
    # on a busy machine a second may be too short
    monkeypatch.setattr(process, "GRACE", 20.0)
    twice = (
        "for request in requests():\n for pause in (0, 0.1): time.sleep(pause); say({'values': values(request)})"
    )
    with pytest.raises(ProgramError) as caught:
        start(twice).finish()
    assert isinstance(caught.value, UnaskedOutputError | AnswerError)


def test_words_after_the_last_answer_are_noticed(start, monkeypatch):
    monkeypatch.setattr(process, "GRACE", 20.0)
    subject = start(f"{HONEST}\nprint('goodbye')")
    with pytest.raises(UnaskedOutputError, match="goodbye"):
        subject.finish()
    start(HONEST).finish()


def test_programs_that_ignore_signals_are_killed_with_their_children(start):
    code = (
        "signal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
        "child = subprocess.Popen(['sleep', '600'])\n"
        "for request in requests(): say({'values': [[os.getpid(), child.pid]] * request['count']})\n"
        "time.sleep(600)"
    )
    subject = start(code)
    pids = draw(subject, 1)[0].astype(int).tolist()
    assert all(map(runs, pids))
    subject.finish()
    assert all(map(soon_gone, pids))


def test_a_forgotten_subject_ends_its_program():
    subject = ProgramSubject(
        python_program("for request in requests(): say({'values': [[os.getpid()]] * 16})"), PAIR
    )
    pid = int(draw(subject, 16)[0, 0])
    assert runs(pid)
    del subject
    assert soon_gone(pid)


def test_memory_limit_ends_the_greedy_and_leaves_the_modest(start):
    code = "for request in requests():\n block = bytearray({})\n say({{'values': values(request)}})"
    assert draw(start(code.format(2**26), memory_limit=2**28)).shape == (100, 1)
    with pytest.raises(ProgramEndedError, match=r"memory limit of 268,435,456 bytes.*MemoryError"):
        start(code.format(2**29), memory_limit=2**28)


TOLD_ELSEWHERE = (signal.SIGTERM, signal.SIGHUP)
"""Signals that another command is sent."""


@pytest.mark.parametrize(
    ("command", "name"),
    [
        *(
            pytest.param(["estimate"], name, marks=[pytest.mark.lengthy] * (name in TOLD_ELSEWHERE))
            for name in (
                signal.SIGTERM,
                signal.SIGHUP,
                signal.SIGINT,
                signal.SIGKILL,
                signal.SIGQUIT,
            )
        ),
        *exhaustively((["conformance", "--only", "Perturbation"], signal.SIGHUP)),
        (["conformance", "--samples", "1000"], signal.SIGINT),
        *exhaustively((["compare", "--count", "1", "--only", "Domain"], signal.SIGTERM)),
    ],
    ids=lambda value: value.name if isinstance(value, signal.Signals) else value[0],
)
def test_signals_that_end_the_auditor_end_its_program(tmp_path, command, name):
    """The program hangs in its first answer, and ignores what would end it."""
    trace = tmp_path / "pid"
    code = (
        "signal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
        f"open({str(trace) + '.new'!r}, 'w').write(str(os.getpid()))\n"
        f"os.rename({str(trace) + '.new'!r}, {str(trace)!r})\n"
        "time.sleep(600)"
    )
    words = [sys.executable, "-m", "audit", *command, "--program", command_line(code), "--timeout", "500"]
    # whoever runs the tests may ignore signals, as nohup does
    words = ["env", "--default-signal", *words]
    auditor = subprocess.Popen(words, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    deadline = time.monotonic() + 300
    while not trace.exists() and time.monotonic() < deadline:
        time.sleep(0.05)
    pid = int(trace.read_text())
    assert runs(pid)
    auditor.send_signal(name)
    output, errors = auditor.communicate(timeout=300)
    handled = {signal.SIGINT: 3, signal.SIGTERM: 128 + name, signal.SIGHUP: 128 + name}
    assert auditor.returncode == handled.get(name, -name)
    assert output == b""
    assert b"Traceback" not in errors
    assert soon_gone(pid)


def test_a_program_that_accepts_seeds_on_one_input_only_is_refused(start):
    code = "for request in requests(): say({'values': values(request), 'accepts_seed': request['input'] == 0})"
    with pytest.raises(AnswerError, match="on one input and not on the other"):
        start(code)


def test_words_that_no_command_can_have_are_an_error():
    with pytest.raises(ProgramStartError, match="cannot be started"):
        ProgramSubject([sys.executable, "a\0b"], PAIR)


def test_texts_of_a_program_do_not_reach_the_terminal_as_codes(capsys, tmp_path):
    """Neither an input with terminal codes nor a command that looks like markup."""
    path = tmp_path / "pair.json"
    path.write_text(json.dumps({"left": "\x1b[2J", "right": 1, "adjacency": "replace_one"}))
    draws = "[[random.random()] for _ in range(request['count'])]"
    program = command_line(f"for request in requests(): say({{'values': {draws}}})")
    main(["--program", f"{program} '[/red] :cat:'", "--inputs", str(path), *QUICK])
    output = capsys.readouterr().out
    assert "\x1b" not in output
    assert r"\u001b[2J" in output
    # neither rich's markup nor its emoji: the command that repeats the audit must stand as it is
    assert output.count("[/red] :cat:") >= 2


def test_a_program_that_draws_once_per_question_is_refused(capsys):
    """Its draws are not independent: one number of noise for a whole question refutes anything, or nothing."""
    code = (
        "for request in requests(): say({'values': [[request['input'] + random.gauss(0, 1)]] * request['count']})"
    )
    words = ["--program", command_line(code), "--inputs", str(EXAMPLES / "pair.json"), *QUICK]
    assert main(words) == 2
    assert "output[0] is the same in all draws of one call" in capsys.readouterr().err


@pytest.mark.filterwarnings("error")
def test_outputs_whose_spread_no_float_holds_are_counted(capsys):
    names = ["NaN", "Infinity", "-Infinity", 1e308, -1e308, 5e-324]
    draws = f"[[random.choice({names})] for _ in range(request['count'])]"
    code = f"for request in requests(): say({{'values': {draws}}})"
    words = ["--program", command_line(code), "--inputs", str(EXAMPLES / "pair.json"), *QUICK]
    # whatever event chance chooses, it cannot show that equal outputs differ e-fold
    assert main([*words, "--format", "json"]) in (0, 3)
    assert json.loads(capsys.readouterr().out)["verdict"] != "refuted"


RESTARTS = {
    "other inputs": (
        "say({{'left': first, 'right': 2, 'adjacency': 'replace_one'}})",
        "values(request)",
        "inputs",
    ),
    "another width": (None, "[[1, random.random()][first:] for _ in range(request['count'])]", "coordinates"),
    "another law": (None, "[[random.random() + 9 * first] for _ in range(request['count'])]", "another law"),
    "the same noise": (None, "random.seed(len(line)) or values(request)", "same 16 draws"),
}
"""What is answered for the inputs and for draws, and what is said of it; `first` is 1 at the first start."""


@pytest.mark.parametrize("name", RESTARTS)
def test_a_program_that_is_another_when_restarted_gives_no_verdict(capsys, tmp_path, name):
    inputs, values, said = RESTARTS[name]
    mark = str(tmp_path / "started")
    code = (
        f"first = int(not os.path.exists({mark!r})); open({mark!r}, 'w').close()\n"
        "for n, line in enumerate(iter(sys.stdin.readline, '')):\n"
        " request = json.loads(line)\n"
        f" if request['op'] == 'inputs': {inputs or 'pass'}\n"
        f" else: say({{'values': {values.replace('len(line)', 'n')}}})"
    )
    given = [] if inputs else ["--inputs", str(EXAMPLES / "pair.json")]
    words = ["--program", command_line(code.replace("{{", "{").replace("}}", "}")), *given, *QUICK]
    assert main([*words, "--format", "json"]) == 2
    printed = capsys.readouterr()
    assert (printed.out, said in printed.err) == ("", True), printed.err


@pytest.mark.parametrize(
    ("bare", "seeds"),
    [("n < 2", False), ("n < 2 and request['input'] == 1", False), ("n < 2", True), ("False", False)],
)
def test_a_program_without_noise_just_after_its_start_is_refused(start, bare, seeds):
    """On both inputs, on the right alone, and with seeds; at last a null control."""
    more = ", 'accepts_seed': True" if seeds else ""
    code = (
        "for n, request in enumerate(requests()):\n"
        " random.seed(request.get('seed'))\n"
        f" bare = {bare}\n"
        " drawn = [[request['input']]] * request['count'] if bare else values(request)\n"
        f" say({{'values': drawn{more}}})"
    )
    subject = start(code)
    draw(subject, 300, data=1)
    if bare != "False":
        with pytest.raises(RestartedError, match="just after it was started: on right"):
            subject.finish()
    else:
        assert subject.finish() is None


@pytest.mark.parametrize("seconds", [0.0, 0.5, 300.0])
def test_a_restart_ends_with_the_time(start, tmp_path, seconds):
    """It hangs when started again, unless there is plenty of time."""
    mark = tmp_path / "started"
    subject = start(_starts_again(mark, 600 * (seconds < 100)))
    draw(subject)
    begin = time.monotonic()
    note = subject.finish(Deadline.after(seconds))
    assert note == (NOT_RESTARTED if seconds < 100 else None)
    assert time.monotonic() - begin < 100


@pytest.mark.parametrize("hangs", [False, True])
def test_an_audit_that_has_no_time_for_a_restart_says_so(capsys, tmp_path, monkeypatch, hangs):
    left = []

    def finish(subject, deadline):
        left.append(deadline.at - deadline.now())
        return original(subject, Deadline.after(0.2 if hangs else left[-1]))

    original = ProgramSubject.finish
    monkeypatch.setattr(ProgramSubject, "finish", finish)
    program = command_line(_starts_again(tmp_path / "started", 600 * hangs))
    words = ["--program", program, "--inputs", str(EXAMPLES / "pair.json"), *QUICK, "--max-seconds", "100"]
    assert main([*words, "--format", "json"]) in (0, 1, 3)
    assert (NOT_RESTARTED in json.loads(capsys.readouterr().out)["notes"]) == hangs
    # an eighth of the time is kept for it
    assert 12.5 <= left[0] < 100


def test_a_program_that_hangs_when_started_again_is_an_error(start, tmp_path):
    subject = start(_starts_again(tmp_path / "started", 600))
    draw(subject)
    subject.limits = ProgramLimits(timeout=0.5)
    with pytest.raises(ProgramTimeoutError):
        subject.finish(Deadline.after(300.0))


def _starts_again(mark: Path, seconds: int) -> str:
    """Return an honest program that waits so long before it answers when it is started again."""
    return f"os.path.exists({str(mark)!r}) and time.sleep({seconds}); open({str(mark)!r}, 'w').close()\n{HONEST}"


@pytest.mark.parametrize("salt", ["", "os.getpid()"])
def test_a_program_seeded_from_the_clock_is_noticed_seconds_later(start, tmp_path, salt):
    """The two last starts have one seed, as within a second; the first has another.  One runs at a time."""
    starts, running = tmp_path / "starts", tmp_path / "running"
    starts.touch()
    code = (
        f"n = os.path.getsize({str(starts)!r}); open({str(starts)!r}, 'a').write('.')\n"
        f"random.seed(repr([n > 0, {salt}])); open({str(running)!r}, 'x').close()\n"
        "for request in requests(): say({'values': values(request)})\n"
        f"os.remove({str(running)!r})"
    )
    subject = start(code)
    draw(subject)
    if salt:
        # null control
        subject.finish()
    else:
        with pytest.raises(RepeatedDrawsError, match="when it was started again"):
            subject.finish()
    assert starts.stat().st_size == 3


def test_a_seed_that_gives_other_draws_when_started_again_is_refused(start, tmp_path):
    code = (
        f"salt = os.path.exists({str(tmp_path / 'x')!r}); open({str(tmp_path / 'x')!r}, 'w').close()\n"
        "for request in requests():\n"
        " random.seed(repr((request.get('seed'), salt)))\n"
        " say({'values': values(request), 'accepts_seed': True})"
    )
    subject = start(code)
    draw(subject)
    with pytest.raises(RestartedError, match="for the same seed"):
        subject.finish()
    # the next start is like the last one
    again = start(code)
    draw(again)
    again.finish()


def test_an_interruption_leaves_no_answer_behind(start):
    subject = start("for request in requests(): say({'values': [[os.getpid()]] * request['count']})")
    pid = int(draw(subject, 1)[0, 0])

    def interrupt(_):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        subject._pool.ask(protocol.sample_request(0, 1), protocol.AnswerLine(10_000), interrupt)
    assert soon_gone(pid)
    assert int(draw(subject, 1)[0, 0]) != pid


@pytest.mark.parametrize(
    ("code", "reason", "words"),
    [
        ("say({'values': values(request)})", AnswerError, "answered in JSON"),
        ("say({'error': 'no binary'})", ReportedError, "no binary"),
        ("write(b'F64\\x02')", AnswerError, "F64"),
        ("write(header(1, 99))", AnswerError, "announced 99 draws of 1 coordinates"),
        ("write(header(2**32 - 1, 100))", AnswerError, "of 4294967295 coordinates"),
        (
            "write(header(1, 100) + b'0' * 799); sys.exit(0)",
            ProgramEndedError,
            "815 bytes",
        ),
        ("write(header(1, 100) + b'0' * 801)", UnaskedOutputError, "after its answer"),
    ],
)
def test_wrong_binary_answers_are_named(start, code, reason, words):
    subject = start(
        f"for request in requests():\n if 'binary' in request: {code}\n else: say({{'values': values(request)}})",
        binary=True,
    )
    with pytest.raises(reason) as caught:
        draw(subject)
    assert words in str(caught.value)
