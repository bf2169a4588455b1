"""Programs as subjects: right and broken ones in three languages, and programs that misbehave in every way."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import signal
import struct
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator
from referencing import Registry, Resource

from audit import verify
from audit.descriptions import rebuild
from audit.epsilon_estimate import main
from audit.programs import (
    AnswerError,
    InputPair,
    Limits,
    PairError,
    ProgramEndedError,
    ProgramError,
    ProgramStartError,
    ProgramSubject,
    ProgramTimeoutError,
    RepeatedDrawsError,
    ReportedError,
    UnaskedOutputError,
    process,
    protocol,
)
from audit.programs.subject import words_of
from reference.errors import InputError
from tests.conftest import require_or_skip

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "docs" / "examples" / "programs"
PAIR = InputPair(0, 1, "replace_one")
QUICK = ["--draws", "20000", "--epsilon", "1"]

PREAMBLE = r"""
import json, os, random, signal, struct, subprocess, sys, time
def say(answer): print(json.dumps(answer), flush=True)
def write(text): sys.stdout.buffer.write(text); sys.stdout.flush()
def values(request): return [[request["input"] + random.gauss(0, 1)] for _ in range(request["count"])]
def header(width, rows): return struct.pack("<4sIQ", b"F64\x01", width, rows)
def requests(): yield from map(json.loads, iter(sys.stdin.readline, ""))
"""

HONEST = "for request in requests(): say({'values': values(request)})"


def python_program(code: str) -> list[str]:
    return [sys.executable, "-I", "-S", "-c", PREAMBLE + code]


def command_line(code: str) -> str:
    return shlex.join(python_program(code))


@pytest.fixture
def start():
    """Start programs written in a line or two, and kill them at the end."""
    started = []

    def of(code: str, pair: InputPair | None = PAIR, *, timeout=20.0, memory_limit=None, binary=False):
        limits = Limits(timeout, memory_limit)
        started.append(ProgramSubject(python_program(code), pair, binary=binary, limits=limits))
        return started[-1]

    yield of
    for subject in started:
        subject.close()


def draw(subject: ProgramSubject, count: int = 100, data=0):
    return subject.sample(data, count, np.random.default_rng(1))


def runs(pid: int) -> bool:
    """Return whether a process is there and no zombie."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except FileNotFoundError:
        return False


def soon_gone(pid: int) -> bool:
    deadline = time.monotonic() + 30
    while runs(pid) and time.monotonic() < deadline:
        time.sleep(0.01)
    return not runs(pid)


# --- The worked examples --------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def programs(tmp_path_factory) -> dict[str, str | None]:
    """Return the command line of each example, without the scale; None where its language is not installed."""
    target = tmp_path_factory.mktemp("programs") / "laplace"
    if shutil.which("gcc"):
        source = str(EXAMPLES / "laplace.c")
        strict = ["-std=c11", "-O2", "-Wall", "-Wextra", "-Werror"]
        subprocess.run(["gcc", *strict, "-o", str(target), source, "-lm"], check=True)
    return {
        "gcc": shlex.quote(str(target)) if target.exists() else None,
        "node": shlex.join(["node", str(EXAMPLES / "laplace.js")]) if shutil.which("node") else None,
        "python": shlex.join([sys.executable, str(EXAMPLES / "laplace.py")]),
    }


def program_in(programs, language: str) -> str:
    require_or_skip(programs[language] is not None, f"PROGRAM EXAMPLES NOT TESTED: {language} is not installed")
    return str(programs[language])


@pytest.mark.parametrize("language", ["gcc", "node", "python"])
@pytest.mark.parametrize("answers", [[], ["--binary"]], ids=["json", "binary"])
@pytest.mark.parametrize(("scale", "code", "verdict"), [(1.05, 0, "not refuted"), (0.5, 1, "refuted")])
def test_laplace_program_stands_and_half_of_its_noise_falls(
    capsys, programs, language, answers, scale, code, verdict
):
    command = f"{program_in(programs, language)} {scale}"
    words = ["--program", command, "--inputs", str(EXAMPLES / "pair.json"), *QUICK, *answers]
    assert main([*words, "--seed", "1", "--format", "json"]) == code
    result = json.loads(capsys.readouterr().out)
    assert (result["mechanism"], result["verdict"]) == (command, verdict)
    assert result["epsilon_lower_bound"] > 0.5 / scale
    # every bit came through, and with them what floating-point noise gives away
    assert result["implementation_verdict"] == "refuted"


@pytest.mark.parametrize("language", ["gcc", "node", "python"])
def test_program_is_asked_for_its_inputs_when_no_file_names_them(programs, language):
    subject = ProgramSubject(words_of(f"{program_in(programs, language)} 1"))
    assert subject.pair == PAIR
    assert len(subject.sample(0, 40_000, np.random.default_rng(1))) == 40_000
    subject.finish()


@pytest.mark.parametrize("language", ["gcc", "node", "python"])
def test_examples_answer_unknown_requests_with_an_error(programs, language):
    words = [*words_of(program_in(programs, language)), "1"]
    answer = subprocess.run(words, input=b'{"op": "dance"}\n', capture_output=True, check=True, timeout=60).stdout
    assert list(json.loads(answer)) == ["error"]


def test_shortest_program_of_the_page_is_a_subject(tmp_path):
    page = (ROOT / "docs" / "programs.md").read_text(encoding="utf-8")
    (code,) = re.findall(r"```python\n(.*?)```", page, flags=re.DOTALL)
    (tmp_path / "count.py").write_text(code, encoding="utf-8")
    subject = ProgramSubject(
        [sys.executable, str(tmp_path / "count.py")], InputPair([1, 0], [1, 1], "replace_one")
    )
    assert abs(draw(subject, 4_000, [1, 1]).mean() - 2) < 0.2
    subject.finish()


def test_commands_of_the_page_give_the_exit_codes_it_states(tmp_path, monkeypatch, capsys):
    require_or_skip(bool(shutil.which("gcc") and shutil.which("node")), "PAGE NOT TESTED: gcc or node is missing")
    page = (ROOT / "docs" / "programs.md").read_text(encoding="utf-8")
    commands = re.findall(r"^(python -m audit\.epsilon_estimate .*?)  *# exit (\d)$", page, flags=re.MULTILINE)
    assert len(commands) >= 4
    shutil.copytree(EXAMPLES, tmp_path / "docs" / "examples" / "programs")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "build").mkdir()
    (compilation,) = re.findall(r"^gcc .*$", page, flags=re.MULTILINE)
    subprocess.run(shlex.split(compilation), check=True)
    # `python` of the page is the one that runs the tests
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}:{os.environ['PATH']}")
    for command, code in commands:
        # at this significance a right mechanism is never refuted, and a wrong one still is
        words = [*shlex.split(command)[3:], "--draws", "20000", "--significance", "1e-9"]
        assert main(words) == int(code), command
    capsys.readouterr()


# --- Values ---------------------------------------------------------------------------------------------------


@given(st.lists(st.floats(), min_size=1, max_size=20))
def test_json_and_binary_keep_every_bit_but_those_of_nan(values):
    names = {np.inf: "Infinity", -np.inf: "-Infinity"}
    rows = [["NaN" if value != value else names.get(value, value)] for value in values]
    line = json.dumps({"values": rows}, allow_nan=False).encode()
    read = protocol.values_of(protocol.decoded(line, numbers=True), len(values), 1)
    frame = protocol.HEADER.pack(protocol.MAGIC, 1, len(values)) + struct.pack(f"<{len(values)}d", *values)
    again = protocol.Frame(len(values), 1).values(frame)
    for given_value, *received in zip(values, read[:, 0].tolist(), again[:, 0].tolist(), strict=True):
        for value in received:
            assert value == given_value or (value != value and given_value != given_value)
            assert np.signbit(value) == np.signbit(given_value) or value != value


@pytest.mark.parametrize("text", ["-0", "-0.0", "-0e5"])
def test_sign_of_zero_is_kept_however_zero_is_written(text):
    (value,) = protocol.values_of(protocol.decoded(b'{"values": [[%s]]}' % text.encode(), numbers=True), 1, 1)
    assert np.signbit(value)


def test_failed_draws_are_rows_of_nan(start):
    subject = start("for request in requests(): say({'values': ['error', [1, 2]] * (request['count'] // 2)})")
    outputs = draw(subject, 4)
    assert outputs.shape == (4, 2)
    assert np.isnan(outputs[::2]).all()
    assert (outputs[1::2] == [1, 2]).all()


def test_inputs_on_which_all_draws_fail_have_the_width_of_the_other(start):
    subject = start(
        "for request in requests(): say({'values': [[1, 2] if request['input'] else 'error'] * request['count']})"
    )
    assert draw(subject, 4).shape == draw(subject, 4, data=1).shape == (4, 2)


@pytest.mark.parametrize(("other", "code", "verdict"), [(0.05, 1, "refuted"), (0.5, 0, "not refuted")])
def test_failures_that_depend_on_the_input_are_a_leak(capsys, tmp_path, other, code, verdict):
    (tmp_path / "pair.json").write_text(json.dumps({"left": 0.5, "right": other, "adjacency": "replace_one"}))
    program = command_line(
        "for request in requests(): say({'values': ["
        "'error' if random.random() < request['input'] else [1] for _ in range(request['count'])]})"
    )
    words = ["--program", program, "--inputs", str(tmp_path / "pair.json"), *QUICK, "--format", "json"]
    assert main(words) == code
    assert json.loads(capsys.readouterr().out)["verdict"] == verdict


def test_long_requests_are_split(start):
    subject = start("for request in requests(): say({'values': [[request['count']] * 1000] * request['count']})")
    assert set(draw(subject, 100)[:, 0]) == {
        protocol.REQUEST_VALUES // 1000,
        100 % (protocol.REQUEST_VALUES // 1000),
    }


def test_large_inputs_pass_through_pipes_that_are_smaller(start):
    data = list(range(200_000))
    code = "for request in requests(): say({'values': [[sum(request['input'])]] * request['count']})"
    assert (draw(start(code, InputPair(data, data[1:], "add_or_remove_one")), 3, data) == sum(data)).all()


# --- Programs that misbehave ----------------------------------------------------------------------------------

ANSWERS = {
    "garbage": ("hello", AnswerError, "no JSON"),
    "no object": ("[1]", AnswerError, "expected an answer"),
    "no values": ('{"value": 1}', AnswerError, '"values" with 16 lists'),
    "values that are no list": ('{"values": 3}', AnswerError, "values that are no list"),
    "too few draws": ('{"values": [[1]]}', AnswerError, "gave 1 draws"),
    "no coordinates": ([[]] * 16, AnswerError, "0 coordinates"),
    "too many coordinates": ([[1] * 10_001] + [[1]] * 15, AnswerError, "10001 coordinates"),
    "ragged draws": ([[1]] * 15 + [[1, 2]], AnswerError, "2 coordinates"),
    "numbers without lists": ([1] * 16, AnswerError, "a draw that is no list: '1.0'"),
    "another string": (["errors"] * 16, AnswerError, "a draw that is no list"),
    "deeper lists": ([[[1]]] * 16, AnswerError, "gave '[1.0]' in a draw"),
    "null": ([[None]] * 16, AnswerError, "gave 'null' in a draw; expected numbers, or the strings"),
    "truth values": ([[True]] * 16, AnswerError, "gave 'true' in a draw"),
    "numbers as strings": ([["1.5"]] * 16, AnswerError, "in a draw"),
    "bare NaN": ([[float("nan")]] * 16, AnswerError, 'NaN must be the string "NaN"'),
    "a float too large": ('{"values": [' + ", ".join(["[1e400]"] * 16) + "]}", AnswerError, "too large"),
    "an integer too large": ([[10**400]] * 16, AnswerError, "too large"),
    "deep nesting": ("[" * 60_000, AnswerError, "no JSON"),
    "invalid UTF-8": (b'{"error": "\xff"}', AnswerError, "no UTF-8"),
    "an error": ('{"error": "no such table"}', ReportedError, "no such table"),
    "an error of terminal codes": ('{"error": "\\u001b[2J\\ud800"}', ReportedError, r"\x1b[2J\ud800"),
    "a member given twice": ('{"values": [[1]], "values": [[2]]}', AnswerError, "'values' is given twice"),
    "a seed in words": (
        '{"accepts_seed": "yes", "values": [' + ", ".join(["[1]"] * 16) + "]}",
        AnswerError,
        "yes",
    ),
    "two answers": (b'{"values": []}\n{"values": []}', ProgramError, "one answer per request"),
}


def as_line(answer) -> bytes:
    if isinstance(answer, list):
        answer = json.dumps({"values": answer})
    return answer if isinstance(answer, bytes) else answer.encode()


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


BEHAVIOUR = {
    "dies at once": ("sys.exit('no data here')", 20, ProgramEndedError, "exit code 1"),
    "says why it died": ("sys.exit('no data here')", 20, ProgramEndedError, "ends with: no data here"),
    "dies in an answer": (
        "sys.stdin.readline(); write(b'{\"val'); sys.exit(7)",
        20,
        ProgramEndedError,
        "5 bytes",
    ),
    "is killed": ("os.kill(os.getpid(), signal.SIGKILL)", 20, ProgramEndedError, "by signal SIGKILL"),
    "closes its output": ("os.close(1); time.sleep(60)", 20, ProgramEndedError, "closed its standard output"),
    "closes its input": (
        "os.close(0); time.sleep(60)",
        0.5,
        ProgramTimeoutError,
        "within 0.5 s (without an answer)",
    ),
    "hangs": ("time.sleep(60)", 0.5, ProgramTimeoutError, "within 0.5 s (without an answer)"),
    "hangs in an answer": ("sys.stdin.readline(); write(b'{'); time.sleep(60)", 6, ProgramTimeoutError, "1 bytes"),
    "ends no line": ("while True: write(b'x' * 10**6)", 20, ProgramError, "xxx"),
    "speaks first": ("write(b'welcome\\n'); time.sleep(60)", 20, ProgramError, "welcome"),
    "repeats itself": ("sys.stdin.readline()\nwhile True: write(b'{}\\n' * 10**5)", 20, UnaskedOutputError, "{}"),
    "floods its errors": ("while True: os.write(2, b'e' * 10**6)", 4, ProgramTimeoutError, "eeee"),
    "forks and dies": (
        "sys.stdin.readline(); subprocess.Popen(['sleep', '60']); sys.exit(4)",
        20,
        ProgramEndedError,
        "exit code 4",
    ),
}
"""Code, time limit in seconds, and what is said of it."""


@pytest.mark.parametrize("name", BEHAVIOUR)
def test_programs_that_misbehave_are_named_in_time(start, name):
    code, timeout, reason, words = BEHAVIOUR[name]
    started = time.monotonic()
    with pytest.raises(reason) as caught:
        start(code, timeout=timeout)
    assert words in str(caught.value)
    assert len(str(caught.value)) < 4_000
    # not the 60 s of the sleeping ones; the limits are far below that, for the sake of busy machines
    assert time.monotonic() - started < 50


@pytest.mark.parametrize("most", [2**20, 2**24])
def test_a_line_without_end_takes_no_more_memory_than_its_limit(most):
    line, received = protocol.Line(most), bytearray()
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


def test_programs_that_ignore_the_end_and_signals_are_killed_with_their_children(start):
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


@pytest.mark.parametrize("name", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT])
def test_signals_that_end_the_auditor_end_its_program(tmp_path, name):
    """The program hangs in its first answer, and ignores what would end it."""
    trace = tmp_path / "pid"
    code = (
        "signal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
        f"open({str(trace) + '.new'!r}, 'w').write(str(os.getpid()))\n"
        f"os.rename({str(trace) + '.new'!r}, {str(trace)!r})\n"
        "time.sleep(600)"
    )
    words = [sys.executable, "-m", "audit.epsilon_estimate", "--program", command_line(code), "--timeout", "500"]
    # whoever runs the tests may ignore signals, as nohup does
    words = ["env", "--default-signal", *words]
    auditor = subprocess.Popen(words, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    deadline = time.monotonic() + 60
    while not trace.exists() and time.monotonic() < deadline:
        time.sleep(0.05)
    pid = int(trace.read_text())
    assert runs(pid)
    auditor.send_signal(name)
    output, errors = auditor.communicate(timeout=60)
    assert auditor.returncode == (3 if name is signal.SIGINT else 128 + name)
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
    assert (
        main(["--program", f"{program} '[/red] :cat:'", "--significance", "1e-6", "--inputs", str(path), *QUICK])
        == 0
    )
    output = capsys.readouterr().out
    assert "\x1b" not in output
    assert r"\u001b[2J" in output
    # neither rich's markup nor its emoji: the command that repeats the audit must stand as it is
    assert output.count("[/red] :cat:") >= 2


def test_a_program_that_draws_once_per_question_is_refused(capsys):
    """Its draws are no independent ones: one number of noise for a whole question refutes anything, or nothing."""
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
    assert main(["--program", command_line(code), "--inputs", str(EXAMPLES / "pair.json"), *QUICK]) == 0
    capsys.readouterr()


def test_an_interruption_leaves_no_answer_behind(start):
    subject = start("for request in requests(): say({'values': [[os.getpid()]] * request['count']})")
    pid = int(draw(subject, 1)[0, 0])

    def interrupt(_):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        subject._pool.ask(protocol.sample_request(0, 1), protocol.Line(10_000), interrupt)
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


# --- What is assumed of the draws -----------------------------------------------------------------------------


def test_draws_that_come_back_are_refused(start):
    subject = start(f"def requests():\n for line in sys.stdin: random.seed(5); yield json.loads(line)\n{HONEST}")
    draw(subject)
    with pytest.raises(RepeatedDrawsError, match="independent"):
        draw(subject)


def test_outputs_of_few_values_may_come_back(start):
    subject = start("for request in requests(): say({'values': [[request['input']]] * request['count']})")
    assert (draw(subject) == draw(subject)).all()


def test_seeds_are_sent_only_to_programs_that_accept_them(start):
    code = "for request in requests(): say({{'values': [[request.get('seed', -1)]] * request['count'], {} }})"
    assert draw(start(code.format("")))[0, 0] == -1
    accepting = start(code.format("'accepts_seed': True"))
    assert draw(accepting)[0, 0] == np.random.default_rng(1).integers(2**53)
    assert "same seed makes the same draws" in accepting.to_json()["randomness"]


def test_a_program_that_only_claims_to_follow_seeds_is_refused(start):
    with pytest.raises(AnswerError, match="other draws for the same seed"):
        start("for request in requests(): say({'values': values(request), 'accepts_seed': True})")


def test_a_seeded_program_repeats_draw_for_draw_with_any_number_of_workers(capsys, programs):
    words = ["--program", f"{programs['python']} 1", "--draws", "20000", "--seed", "3", "--format", "json"]
    found = []
    for more in ([], ["--workers", "2"], ["--binary"], ["--seed", "4"]):
        main([*words, *more])
        found.append(json.loads(capsys.readouterr().out)["witness"]["counts"])
    assert found[0] == found[1] == found[2] != found[3]


def test_callers_at_the_same_time_have_a_process_each_and_later_ones_reuse_them(start):
    subject = start(
        "for request in requests(): time.sleep(0.2); say({'values': [[os.getpid()]] * request['count']})"
    )
    barrier = threading.Barrier(2)

    def ask(_):
        barrier.wait()
        return {int(draw(subject, 5)[0, 0]) for _ in range(2)}

    with ThreadPoolExecutor(2) as threads:
        first, second = threads.map(ask, range(2))
    assert len(first | second) == 2


# --- The command line -----------------------------------------------------------------------------------------


def test_no_shell_sees_the_command():
    words = words_of(f"{sys.executable} -c 'import sys; sys.exit(repr(sys.argv[1:]))' ';' '$HOME' '>x' \"a b\"")
    with pytest.raises(ProgramEndedError) as caught:
        ProgramSubject(words, PAIR)
    assert "[';', '$HOME', '>x', 'a b']" in str(caught.value)


@pytest.mark.parametrize(("after", "workers"), [(4, 1), (8, 1), (20, 2)])
def test_an_error_on_the_way_gives_no_verdict(capsys, tmp_path, after, workers):
    """The fifth request of the smaller audit is in learning, the ninth in certifying."""
    code = (
        "for n, request in enumerate(requests()):\n"
        f" say({{'error': 'lost'}} if n == {after} else {{'values': values(request)}})"
    )
    out = tmp_path / "certificate.json"
    (tmp_path / "pair.json").write_text(json.dumps(PAIR.to_json()))
    words = ["--program", command_line(code), "--inputs", str(tmp_path / "pair.json"), "--out", str(out)]
    assert main([*words, "--draws", "20000" if workers == 1 else "2000000", "--workers", str(workers)]) == 2
    output = capsys.readouterr()
    assert output.out == ""
    assert "answered with an error: 'lost'" in output.err
    assert not out.exists()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--program", "no-such-program-anywhere"], "not found"),
        (["--program", "'"], "No closing quotation"),
        (["--program", " "], "a command line"),
        (["--program", "true", "laplace"], "left out with --program"),
        (["--program", "true", "--timeout", "0"], "timeout"),
        (["--program", "true", "--memory-limit", "-1"], "memory_limit"),
        (["--program", "true", "--epsilon-s", "1"], "epsilon_s"),
        (["--program", "true", "--epsilon", "-1"], "epsilon"),
        (["--program", "true", "--inputs", "/no/such/file"], "cannot be read"),
        (["--program", "true"], "ended with exit code 0 without an answer"),
        (["laplace", "--inputs", "pair.json"], "left out without --program"),
        (["laplace", "--binary"], "left out without --program"),
    ],
)
def test_bad_use_is_one_line_and_exit_code_2(capsys, words, message):
    assert main([*words, "--draws", "2000"]) == 2
    output = capsys.readouterr()
    assert output.out == ""
    assert message in output.err
    assert output.err.count("\n") == 1


def test_a_program_that_is_no_executable_format_is_an_error(tmp_path):
    text = tmp_path / "text"
    text.write_text("no program\n")
    text.chmod(0o755)
    with pytest.raises(ProgramEndedError, match="cannot be run"):
        ProgramSubject([str(text)], PAIR)
    text.chmod(0o644)
    with pytest.raises(ProgramStartError):
        ProgramSubject([str(text)], PAIR)


def test_certificate_holds_the_program_and_its_inputs_and_says_whose_randomness_it_was(capsys, tmp_path):
    certificate = tmp_path / "certificate.json"
    (tmp_path / "pair.json").write_text(json.dumps({"left": 0, "right": 4, "adjacency": "replace_one"}))
    words = ["--program", command_line(HONEST), "--inputs", str(tmp_path / "pair.json"), *QUICK]
    assert main([*words, "--out", str(certificate)]) == 1
    assert "randomness: the program's own: running again makes other draws" in capsys.readouterr().out
    document = json.loads(certificate.read_text())["subject"]
    assert document["inputs"] == {"left": 0, "right": 4, "adjacency": "replace_one"}
    assert document["randomness"].startswith("the program's own")
    rebuilt = rebuild(document)
    assert rebuilt.inputs() == (0, 4)
    rebuilt.close()


def test_a_certificate_runs_no_program_unless_told(capsys, tmp_path):
    """A certificate may come from a stranger."""
    certificate, trace = tmp_path / "certificate.json", tmp_path / "trace"
    (tmp_path / "pair.json").write_text(json.dumps({"left": 0, "right": 4, "adjacency": "replace_one"}))
    program = command_line(f"open({str(trace)!r}, 'w').close()\n{HONEST}")
    words = ["--inputs", str(tmp_path / "pair.json"), *QUICK, "--bound", "clopper_pearson"]
    assert main(["--program", program, *words, "--out", str(certificate)]) == 1
    trace.unlink()
    assert verify.main([str(certificate), "--fresh"]) == 2
    assert not trace.exists()
    assert verify.main([str(certificate), "--fresh", "--run-program"]) == 0
    assert trace.exists()
    assert "--run-program allows that" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("command", "sleep 60"),
        ("command", []),
        ("command", [1]),
        ("inputs", {"left": 1}),
        ("binary", "yes"),
        ("timeout", 0),
        ("timeout", float("nan")),
        ("memory_limit", 1.5),
        ("memory_limit", True),
    ],
)
def test_descriptions_that_are_none_are_refused(start, field, value):
    document = start(HONEST).to_json()
    rebuild(document).close()
    with pytest.raises(InputError):
        rebuild({**document, field: value})


# --- Schemas --------------------------------------------------------------------------------------------------


def schema(name: str) -> Draft202012Validator:
    folder = ROOT / "audit" / "schemas"
    files = {path.name: json.loads(path.read_text()) for path in folder.glob("program_*.json")}
    resources = [(name, Resource.from_contents(content)) for name, content in files.items()]
    Draft202012Validator.check_schema(files[name])
    return Draft202012Validator(files[name], registry=Registry().with_resources(resources))


@pytest.mark.parametrize(
    ("document", "valid"),
    [
        ({"left": 0, "right": None, "adjacency": "replace_one"}, True),
        ({"left": [{}], "right": [], "adjacency": "add_or_remove_one"}, True),
        ({"left": 0, "right": 1}, False),
        ({"left": 0, "right": 1, "adjacency": "bounded"}, False),
        ({"left": 0, "right": 1, "adjacency": "replace_one", "epsilon": 1}, False),
        ([0, 1], False),
    ],
)
def test_pairs_are_read_as_their_schema_says(tmp_path, document, valid):
    assert schema("program_pair_v1.json").is_valid(document) == valid
    path = tmp_path / "pair.json"
    path.write_text(json.dumps(document))
    if valid:
        assert InputPair.read(path).to_json() == document
    else:
        with pytest.raises(PairError):
            InputPair.read(path)


UNSENDABLE = {
    "a float too large": ("1e400", "too large for a 64-bit float"),
    "an integer too large": ("9" * 400, "too large for a 64-bit float"),
    "half a character": ('["\\ud800"]', "surrogate pair"),
    "half a character in a name": ('{"\\udfff": 1}', "surrogate pair"),
    "deep nesting": ("[" * 100 + "]" * 100, "nested"),
}


@pytest.mark.parametrize("name", UNSENDABLE)
@pytest.mark.parametrize("side", ["left", "right"])
def test_inputs_that_cannot_be_sent_are_refused_from_a_file_and_from_a_program(start, tmp_path, name, side):
    given, reason = UNSENDABLE[name]
    other = {"left": "right", "right": "left"}[side]
    text = f'{{"{other}": 1, "{side}": {given}, "adjacency": "replace_one"}}'
    path = tmp_path / "pair.json"
    path.write_text(text)
    with pytest.raises(PairError, match=f"{side} holds .*{reason}"):
        InputPair.read(path)
    with pytest.raises(AnswerError, match=f"no pair: {side} holds .*{reason}"):
        start(f"sys.stdin.readline(); write(open({str(path)!r}, 'rb').read() + b'\\n')\n{HONEST}", None)


def test_a_side_given_twice_is_refused(tmp_path):
    path = tmp_path / "pair.json"
    path.write_text('{"left": 0, "right": 1, "left": 1, "adjacency": "replace_one"}')
    with pytest.raises(PairError, match="'left' is given twice"):
        InputPair.read(path)


@pytest.mark.parametrize(("right", "noted"), [(1, True), (True, False), (2, False)])
def test_equal_inputs_are_noted(right, noted):
    notes = InputPair(1, right, "replace_one").notes
    assert ["nothing is tested" in note for note in notes] == [True] * noted


@pytest.mark.parametrize("text", ["", "{", '{"left": NaN, "right": 0, "adjacency": "replace_one"}', "[" * 10**5])
def test_files_that_are_no_pair_are_refused(tmp_path, text):
    path = tmp_path / "pair.json"
    path.write_text(text)
    with pytest.raises(InputError, match="is no JSON"):
        InputPair.read(path)


@pytest.mark.parametrize(
    "request_line",
    [
        protocol.inputs_request(),
        protocol.sample_request({"x": [1.5]}, 16384),
        protocol.sample_request(0, 1, seed=2**53 - 1, binary=True),
    ],
)
def test_requests_are_as_their_schema_says(request_line):
    assert request_line.endswith(b"\n")
    schema("program_request_v1.json").validate(json.loads(request_line))


SCHEMA_CANNOT_SAY = {
    "too few draws",
    "ragged draws",
    "a float too large",
    "an integer too large",
    "a member given twice",
}
"""What depends on the request, on other draws, or on how numbers and members are held."""


@pytest.mark.parametrize("name", ANSWERS)
def test_wrong_answers_are_wrong_by_the_schema_too(name):
    answer, reason, _ = ANSWERS[name]
    try:
        document = json.loads(as_line(answer), parse_constant=str)
    except (ValueError, RecursionError):
        return
    valid = schema("program_answer_v1.json").is_valid(document)
    assert valid == (reason is ReportedError or name in SCHEMA_CANNOT_SAY or name == "bare NaN")


@pytest.mark.parametrize(
    "answer",
    [
        {"values": [[1, -0.0, "NaN"], "error", ["Infinity", "-Infinity", 2]]},
        {"values": [[1]], "accepts_seed": True, "version": 3},
    ],
)
def test_right_answers_are_right_by_the_schema_too(answer):
    schema("program_answer_v1.json").validate(answer)
    rows = answer["values"]
    assert len(
        protocol.values_of(protocol.decoded(json.dumps(answer).encode(), numbers=True), len(rows), len(rows[0]))
    )
