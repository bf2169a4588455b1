"""Programs as subjects: right and broken ones in three languages, their values, draws and commands."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
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

from audit.auditor.certification import TIME_IS_OVER
from audit.epsilon_estimate import main
from audit.gate.needs import exhaustively, require_or_skip
from audit.gate.requests import described, verify_command
from audit.gate.subjects.written_programs import EXAMPLES, HONEST, PAIR, QUICK, ROOT, command_line, draw
from audit.subjects.descriptions import rebuild
from audit.subjects.programs import (
    AnswerError,
    InputPair,
    ProgramEndedError,
    ProgramError,
    ProgramStartError,
    ProgramSubject,
    RepeatedDrawsError,
    protocol,
)
from audit.subjects.programs.subject import GIVEN_UP
from audit.subjects.programs.words import words_of
from reference.common.documents import plain
from reference.common.errors import DocumentError, ParameterError

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
@pytest.mark.parametrize("answers", [["--binary"], *exhaustively([])], ids=["binary", "json"])
@pytest.mark.parametrize(("scale", "code", "verdict"), [(1.05, 0, "not refuted"), (0.5, 1, "refuted")])
def test_laplace_program_stands_and_half_of_its_noise_falls(
    capsys, programs, language, answers, scale, code, verdict
):
    command = f"{program_in(programs, language)} {scale}"
    # two of the programs take no seed: at this significance the right one is never refuted
    words = ["--program", command, "--inputs", str(EXAMPLES / "pair.json"), *QUICK, "--significance", "1e-9"]
    assert main([*words, *answers, "--seed", "1", "--format", "json"]) == code
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


@pytest.mark.parametrize("option", ["--out", "--plot"])
def test_a_program_is_not_written_over_by_its_audit(option, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    Path("pair.json").write_text((EXAMPLES / "pair.json").read_text(encoding="utf-8"), encoding="utf-8")
    script = Path("laplace.script")
    script.write_bytes((EXAMPLES / "laplace.py").read_bytes())
    command = shlex.join([sys.executable, script.name, "1"])
    words = ["--program", command, "--inputs", "pair.json", "--draws", "1000"]
    assert main([*words, option, f"./{script}"]) == 2
    assert "another file than that of program" in capsys.readouterr().err
    assert script.read_bytes() == (EXAMPLES / "laplace.py").read_bytes()
    # the null control
    assert main([*words, "--out", "certificate.json"]) in (0, 1, 3)


def test_commands_of_the_page_give_the_exit_codes_it_states(tmp_path, monkeypatch, capsys):
    require_or_skip(bool(shutil.which("gcc") and shutil.which("node")), "PAGE NOT TESTED: gcc or node is missing")
    page = (ROOT / "docs" / "programs.md").read_text(encoding="utf-8")
    commands = re.findall(r"^(cfm audit estimate .*?)  *# exit (\d)$", page, flags=re.MULTILINE)
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
    again = protocol.AnswerFrame(len(values), 1).values(frame)
    for given_value, *received in zip(values, read[:, 0].tolist(), again[:, 0].tolist(), strict=True):
        for value in received:
            assert value == given_value or (value != value and given_value != given_value)
            assert np.signbit(value) == np.signbit(given_value) or value != value


@pytest.mark.parametrize("text", ["-0", "-0.0", "-0e5"])
def test_sign_of_zero_is_kept_however_zero_is_written(text):
    (value,) = protocol.values_of(protocol.decoded(b'{"values": [[%s]]}' % text.encode(), numbers=True), 1, 1)
    assert np.signbit(value)


@pytest.mark.parametrize("text", [str(2**53 + 2), str(3 * 2**60), "3458764513820541000", "-" + "1" + 21 * "0"])
def test_whole_numbers_of_a_float_are_read_in_full_and_in_short(text):
    """JSON.stringify writes 3 * 2^60 by its shortest digits and zeros."""
    (value,) = protocol.values_of(protocol.decoded(b'{"values": [[%s]]}' % text.encode(), numbers=True), 1, 1)
    assert value == float(text)


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


@pytest.mark.parametrize(("other", "leaks"), [(0.05, True), (0.3, False)])
def test_failures_that_depend_on_the_input_are_a_leak(capsys, tmp_path, other, leaks):
    (tmp_path / "pair.json").write_text(json.dumps({"left": 0.3, "right": other, "adjacency": "replace_one"}))
    program = command_line(
        "for request in requests(): say({'values': ["
        "'error' if random.random() < request['input'] else [1] for _ in range(request['count'])]})"
    )
    words = ["--program", program, "--inputs", str(tmp_path / "pair.json"), *QUICK, "--format", "json"]
    # On equal inputs chance chooses the event: one of probability 0.7 can show a loss of log(1 / 0.7) at most,
    # and the verdict is then `undecided`.
    assert (main(words) == 1) is leaks
    assert (json.loads(capsys.readouterr().out)["verdict"] == "refuted") is leaks


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


# --- What is assumed of the draws -----------------------------------------------------------------------------


def test_draws_that_come_back_are_refused(start):
    subject = start(f"def requests():\n for line in sys.stdin: random.seed(5); yield json.loads(line)\n{HONEST}")
    draw(subject)
    with pytest.raises(RepeatedDrawsError, match="independent"):
        draw(subject)


@pytest.mark.parametrize(("seed", "shared"), [("5", True), ("", False)])
def test_draws_that_two_processes_share_are_refused_wherever_they_stand(start, seed, shared):
    """The first process has answered questions before, so its answers begin at other draws of the generator."""
    wait = "time.sleep(0.3 if request['count'] > 16 else 0)"
    subject = start(f"random.seed({seed})\nfor request in requests(): {wait}; say({{'values': values(request)}})")
    with ThreadPoolExecutor(2) as pool:
        answers = [pool.submit(draw, subject, 4000) for _ in range(2)]
        problems = [answer.exception() for answer in answers]
    assert any(isinstance(problem, RepeatedDrawsError) for problem in problems) is shared


def test_a_program_seeded_from_its_input_is_told_what_a_program_must_do(capsys, tmp_path):
    (tmp_path / "seeded.py").write_text(
        "import json, random, sys\n"
        "for line in sys.stdin:\n"
        "    asked = json.loads(line)\n"
        "    random.seed(str(asked['input']))\n"
        "    values = [[random.random()] for _ in range(asked['count'])]\n"
        "    print(json.dumps({'values': values}), flush=True)\n"
    )
    (tmp_path / "pair.json").write_text('{"left": 0, "right": 1, "adjacency": "replace_one"}')
    command = f"{sys.executable} {tmp_path}/seeded.py"
    assert main(["--program", command, "--inputs", str(tmp_path / "pair.json"), "--epsilon", "1"]) == 2
    assert "draws repeat" in (said := capsys.readouterr().err)
    assert "a program from the operating system or the seed it is sent" in said


def test_outputs_of_few_values_may_come_back(start):
    subject = start("for request in requests(): say({'values': [[request['input']]] * request['count']})")
    assert (draw(subject) == draw(subject)).all()


def test_seeds_are_sent_only_to_programs_that_accept_them(start):
    code = "for request in requests(): say({{'values': [[request.get('seed', -1)]] * request['count'], {} }})"
    assert draw(start(code.format("")))[0, 0] == -1
    accepting = start(code.format("'accepts_seed': True"))
    assert draw(accepting)[0, 0] == np.random.default_rng(1).integers(2**53)
    assert "same seed makes the same draws" in accepting.description.randomness


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


def test_callers_at_once_have_a_process_each_and_later_ones_reuse_them(start, tmp_path):
    """Each process waits for the other one before it answers the questions of this test."""
    subject = start(
        "for request in requests():\n"
        f" here = {str(tmp_path)!r}\n"
        " if request['count'] == 5: open(f'{here}/{os.getpid()}', 'w').close()\n"
        " while request['count'] == 5 and len(os.listdir(here)) < 2: time.sleep(0.01)\n"
        " say({'values': [[os.getpid()]] * request['count']})"
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


@pytest.mark.parametrize("word", ["|", ">", "&&", "||", ";", "&", "2>/dev/null", "<x", "a;", "x&", "a|b", "'a'>b"])
def test_words_of_a_shell_are_refused_unless_they_are_quoted(word):
    with pytest.raises(ParameterError, match=re.escape(f"without {shlex.split(word)[0]!r}, not")) as refused:
        words_of(f"node n.js {word} cat")
    assert "no shell runs this: use sh -c '...'" in str(refused.value)
    # null controls
    for quoted in (f'node n.js "{word}" cat', f'sh -c "node n.js {word} cat"', f'node n.js a"{word}"'):
        assert word in words_of(quoted)[2]


@pytest.mark.parametrize("last", ["rock 'n roll", 'print("a") ', "a | b", "a '|' b", "|", ";", "", "\\", "> x"])
def test_quoted_words_of_a_shell_are_arguments_beside_any_others(last):
    for quoted in (shlex.quote(last), '"{}"'.format(last.replace("\\", r"\\").replace('"', r"\""))):
        assert words_of(f"prog '' --x={quoted} {quoted}") == ("prog", "", f"--x={last}", last)
        # the broken control: the same word, quoted and not
        with pytest.raises(ParameterError, match="no shell runs this"):
            words_of(f"prog {quoted} '|' |")


def test_program_that_was_not_found_may_be_here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "b.sh").write_text("#!/bin/sh\n")
    for mode, hint in ((0o644, ""), (0o755, "; did you mean ./b.sh?")):
        (tmp_path / "b.sh").chmod(mode)
        with pytest.raises(ProgramStartError) as caught:
            ProgramSubject(["b.sh"], PAIR)
        assert str(caught.value) == f"the program 'b.sh' was not found, or is not executable{hint}"


@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("for request in requests(): request['input']", "KeyError: 'input'"),
        ("for request in requests(): say({'error': 'which?'})", "answered with an error: 'which?'"),
        ("for request in requests(): say({'values': [[1]]})", "what is not a pair"),
    ],
)
def test_program_that_knows_no_inputs_is_told_of_the_option(code, said):
    with pytest.raises(ProgramError) as caught:
        ProgramSubject(words_of(command_line(code)))
    assert said in str(caught.value)
    assert 'it was asked for its inputs: pass --inputs, or answer {"op": "inputs"}' in str(caught.value)
    with pytest.raises(ProgramStartError) as other:
        ProgramSubject(["/no/such/program"])
    assert "--inputs" not in str(other.value)


@pytest.mark.parametrize("seeded", [False, True])
def test_command_that_repeats_has_a_seed_only_where_it_repeats_draws(capsys, tmp_path, seeded):
    seed = "random.seed(request.get('seed')); " if seeded else ""
    code = f"for request in requests(): {seed}say({{'values': values(request), 'accepts_seed': {seeded}}})"
    (tmp_path / "pair.json").write_text(json.dumps(plain(PAIR)))
    words = ["--inputs", str(tmp_path / "pair.json"), "--draws", "2000", "--epsilon", "9", "--seed", "3"]
    assert main(["--program", command_line(code), *words]) in (0, 3)
    output = capsys.readouterr().out
    (again,) = [line for line in output.splitlines() if line.startswith("  again: ")]
    assert again.endswith(" --seed 3") is seeded
    assert ("running again makes other draws" in output) is not seeded
    # what the pair file declares
    (note,) = [line for line in output.splitlines() if "nobody checked" in line]
    declared = "replace_one is declared, but only two lists of records can be checked"
    assert note == f"  note: nobody checked that these are neighbours: {declared}"


@pytest.mark.parametrize(("after", "workers"), [(4, 1), (8, 1), (20, 2)])
def test_an_error_on_the_way_gives_no_verdict(capsys, tmp_path, after, workers):
    """The fifth request of the smaller audit is in learning, the ninth in certifying."""
    code = (
        "for n, request in enumerate(requests()):\n"
        f" say({{'error': 'lost'}} if n == {after} else {{'values': values(request)}})"
    )
    out = tmp_path / "certificate.json"
    (tmp_path / "pair.json").write_text(json.dumps(plain(PAIR)))
    words = ["--program", command_line(code), "--inputs", str(tmp_path / "pair.json"), "--out", str(out)]
    assert main([*words, "--draws", "20000" if workers == 1 else "2000000", "--workers", str(workers)]) == 2
    output = capsys.readouterr()
    assert output.out == ""
    assert "answered with an error: 'lost'" in output.err
    assert not out.exists()


@pytest.mark.parametrize(("seconds", "after", "code"), [(2.3, 55, 1), (0.7, 8, 3), (1.5, None, 1)])
def test_an_answer_is_not_waited_for_when_the_time_is_over(capsys, seconds, after, code):
    """It hangs from this question on, which is soon asked; what was certified before stands."""
    program = command_line(
        "for k, request in enumerate(requests()):\n"
        f"    if k == {after}: time.sleep(600)\n"
        f"    say({{'values': [[request['input'] + random.gauss(0, 0.1)] for _ in range(request['count'])]}})"
    )
    words = ["--program", program, "--inputs", str(EXAMPLES / "pair.json"), "--max-seconds", str(seconds)]
    start = time.monotonic()
    assert main([*words, "--draws", "100000000", "--events", "coordinates", "--format", "json"]) == code
    assert time.monotonic() - start < 6
    output, error = capsys.readouterr()
    if after == 8:
        assert "undecided: the time was over before any draw could certify" in error
        return
    found = json.loads(output)
    assert found["stopped"] == TIME_IS_OVER
    assert (GIVEN_UP in found["notes"]) == (after is not None)


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


def test_certificate_holds_program_inputs_and_whose_randomness_it_was(capsys, tmp_path):
    certificate = tmp_path / "certificate.json"
    (tmp_path / "pair.json").write_text(json.dumps({"left": 0, "right": 4, "adjacency": "replace_one"}))
    words = ["--program", command_line(HONEST), "--inputs", str(tmp_path / "pair.json"), *QUICK]
    assert main([*words, "--out", str(certificate)]) == 1
    assert "randomness: the program's own: running again makes other draws" in capsys.readouterr().out
    document = json.loads(certificate.read_text())["request"]["subject"]
    assert document["inputs"] == {"left": 0, "right": 4, "adjacency": "replace_one"}
    assert document["randomness"].startswith("the program's own")
    rebuilt = rebuild(described(document))
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
    assert verify_command([str(certificate), "--fresh"]) == 2
    assert not trace.exists()
    assert verify_command([str(certificate), "--fresh", "--run-program"]) == 0
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
    document = plain(start(HONEST).description)
    rebuild(described(document)).close()
    with pytest.raises(DocumentError):
        described({**document, field: value})
