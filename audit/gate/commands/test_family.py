"""``python -m audit`` and ``cfm``: every command is listed, explained, and ends in one documented way."""

from __future__ import annotations

import importlib.util
import io
import json
import os
import pickle
import re
import shlex
import signal
import subprocess
import sys
import tomllib
from collections.abc import Sequence
from pathlib import Path

import click
import pytest

from audit.claims.registry import claims
from audit.commands import cfm, thresholds
from audit.commands.family import ROWS, command
from audit.gate.running import reference
from audit.gate.worker_processes import interrupted
from reference.commands import parsing
from reference.commands.family import ROWS as REFERENCE
from reference.commands.family import command as reference_family
from reference.commands.file_names import FileName, WrittenFile
from reference.commands.parsing import Command, CommandRow, Family, run
from reference.common.errors import InputError
from reference.common.exit_codes import EXIT_FINE, EXIT_UNDECIDED, EXIT_USAGE
from reference.common.extras import CORE, EXTRAS, needed_for

ROOT = Path(__file__).parents[3]

PRESENT = [name for name, row in ROWS.items() if importlib.util.find_spec(row.module) is not None]

DOCUMENTS = [ROOT / "README.md", *sorted(ROOT.glob("docs/**/*.md")), *sorted(ROOT.glob("proofs/*.md"))]


def audit(*words: str) -> int:
    return run(command, words, name="python -m audit")


def leaves(program: click.Command, path: tuple[str, ...] = ()) -> list[tuple[tuple[str, ...], Command]]:
    """Return the commands of a family and of the families below it, each with the words that name it."""
    if isinstance(program, Command):
        return [(path, program)]
    assert isinstance(program, Family)
    found = []
    for name in program.list_commands(click.Context(program)):
        if path or name in PRESENT:
            below = program.get_command(click.Context(program), name)
            assert below is not None
            found += leaves(below, (*path, name))
    return found


LEAVES = leaves(command)


def parsed(words: Sequence[str]) -> None:
    """Read a command line of audit without running it; raise on what it does not take."""
    program: click.Command = command
    words = list(words)
    while isinstance(program, Family):
        below = program.get_command(click.Context(program), words[0])
        assert below is not None, f"no command {words[0]}"
        program, words = below, words[1:]
    program.make_context(program.name, words)


EVERY_LEAF = [*LEAVES, *leaves(reference_family)]


def files_of(found: Command, *, written: bool) -> set[str]:
    """Return the options and arguments that name a file which the command writes, or one that it reads."""
    named = [p for p in found.params if isinstance(p.type, FileName)]
    return {p.opts[0] for p in named if isinstance(p.type, WrittenFile) == written}


def test_an_option_for_a_file_says_whether_the_command_writes_it():
    for words, found in EVERY_LEAF:
        named = {
            p.opts[0]: getattr(p, "help", None) or ""
            for p in found.params
            if re.search("FILE|PAGE", p.metavar or "")
        }
        assert set(named) <= files_of(found, written=True) | files_of(found, written=False), words
        told = {name for name, line in named.items() if re.match("(also )?(write|draw|keep)|JSON,", line)}
        assert files_of(found, written=True) == told, words


def test_no_command_replaces_a_release_ledger(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert reference(["ledger", "create", "ledger.jsonl", "--data", "people", "--epsilon", "1"]) == EXIT_FINE
    before = Path("ledger.jsonl").read_bytes()
    for words, found in EVERY_LEAF:
        example = shlex.split(found.example.splitlines()[0].partition(f" {words[-1]}")[2])
        for option in sorted(files_of(found, written=True)):
            assert run(found, [*example, option, "ledger.jsonl"], name="cfm") == EXIT_USAGE, words
            assert "cannot be made again" in capsys.readouterr().err, (words, option)
    assert Path("ledger.jsonl").read_bytes() == before
    # the control: any other file is replaced
    for _ in range(2):
        assert audit("sensitivity", "--dimension", "2", "--out", "other.txt") == EXIT_FINE


def test_help_lists_every_command_with_a_line(capsys):
    assert audit("--help") == EXIT_FINE
    text = capsys.readouterr().out
    for name, row in ROWS.items():
        assert f"  {name} " in text
        assert row.line in " ".join(text.split())
    assert run(cfm.command, ["--help"], name="cfm") == EXIT_FINE
    text = capsys.readouterr().out
    for name in (*REFERENCE, "audit"):
        assert f"  {name} " in text


@pytest.mark.parametrize("words", [[], ["audit"], ["audit", "thresholds"]], ids=" ".join)
def test_family_without_words_lists_its_commands(words, capsys):
    assert run(cfm.command, [*words, "--help"], name="cfm") == EXIT_FINE
    asked = capsys.readouterr()
    assert run(cfm.command, words, name="cfm") == EXIT_FINE
    assert capsys.readouterr() == asked
    assert "Commands:" in asked.out
    assert asked.err == ""


def test_unknown_option_of_a_family_is_no_call_for_help(capsys):
    assert audit("--hepl") == EXIT_USAGE
    assert capsys.readouterr().out == ""


def test_family_shows_an_example_that_is_read(capsys):
    assert audit("thresholds", "--help") == EXIT_FINE
    example = thresholds.command.example
    assert f"Example:\n  {example}\n" in capsys.readouterr().out
    parsed(shlex.split(example)[3:])
    assert audit("--help") == EXIT_FINE
    assert "Example:" not in capsys.readouterr().out


@pytest.mark.parametrize(("path", "leaf"), LEAVES, ids=[" ".join(path) for path, _ in LEAVES])
def test_help_of_a_command_fits_and_its_example_is_read(path, leaf, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    assert audit(*path, "--help") == EXIT_FINE
    text = capsys.readouterr().out
    assert max(len(line) for line in text.splitlines()) <= 80
    assert "Example:" in text
    words = shlex.split(leaf.example)
    assert words[:3] == ["python", "-m", "audit"]
    assert words[3 : 3 + len(path)] == list(path)
    parsed(words[3:])


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["privcy"], "did you mean privacy?"),
        (["privacy", "adcf"], "did you mean adfc?"),
        (["privacy", "--dimensio", "2"], "--dimension"),
        (["catalogue", "--only", "laplac"], "did you mean laplace?"),
        (["boundary", "--domain", "unit_ball,unit_bax"], "did you mean unit_box?"),
        (["thresholds", "alfa"], "did you mean alpha?"),
        (["claims", "--claim", "T3.exat"], "did you mean T3.exact?"),
        (["sensitivity", "--format", "jsn"], "did you mean json?"),
    ],
)
def test_mistyped_name_is_answered_with_the_right_one(words, said, capsys):
    assert audit(*words) == EXIT_USAGE
    error = capsys.readouterr().err
    assert said in error
    assert error.count("\n") == 1


def test_lists_repeat_or_take_commas(capsys):
    words = ["boundary", "--theorem", "T3", "--format", "json"]
    repeated = ["--dimensions", "2", "--dimensions", "3", "--domain", "unit_box"]
    assert audit(*words, *repeated) == EXIT_FINE
    first = capsys.readouterr().out
    assert audit(*words, "--dimensions", "2,3", "--domain", "unit_box") == EXIT_FINE
    assert capsys.readouterr().out == first


# --- Terminals --------------------------------------------------------------------------------------------------

SHOWN = (
    "sensitivity --dimension 3",
    "privacy adfc --dimension 3 --epsilon-s 10 --epsilon-n 0.1",
    "boundary --dimensions 2 --deltas 1e-3",
    "thresholds sign --dimension 3",
    "weights --dimension 3 --records 20000 --draws 2000",
    "claims --claim T1 --jobs 1",
    "catalogue --only laplace --draws 2000 --seeds 1 --workers 1",
    "catalogue --list",
)


@pytest.mark.parametrize("line", SHOWN)
def test_text_fits_80_columns_of_a_terminal_that_shows_ascii(line, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    shown = io.TextIOWrapper(io.BytesIO(), encoding="ascii")
    monkeypatch.setattr(sys, "stdout", shown)
    audit(*shlex.split(line))
    shown.flush()
    text = shown.buffer.getvalue().decode("ascii")
    assert "Traceback" not in capsys.readouterr().err
    assert text
    # a word is not broken
    assert [one for one in text.splitlines() if len(one) > 80 and " " in one.strip()] == []


def started(*words: str, **settings: str) -> subprocess.CompletedProcess[bytes]:
    environment = {**os.environ, "PYTHONPATH": str(ROOT), **settings}
    return subprocess.run(
        [sys.executable, "-m", *words], env=environment, cwd=ROOT, capture_output=True, timeout=300, check=False
    )


def test_what_a_terminal_cannot_show_is_replaced():
    done = started("audit", "sensitivity", "--dimension", "2", PYTHONIOENCODING="ascii")
    assert (done.returncode, done.stderr) == (EXIT_FINE, b"")
    assert b"| norm | published" in done.stdout


# --- Interruptions ----------------------------------------------------------------------------------------------


def test_interrupted_ledger_ends_in_one_line_also_with_workers():
    words = [sys.executable, "-m", "audit", "claims", "--jobs", "2"]
    code, out, err = interrupted(words, workers=2, cwd=ROOT)
    assert (code, out) == (EXIT_UNDECIDED, b"")
    assert err == b"error: interrupted: nothing was decided\n"


@pytest.mark.parametrize(
    ("number", "code", "said"),
    [
        (signal.SIGTERM, 128 + signal.SIGTERM, b"error: ended by SIGTERM: nothing was decided\n"),
        # joblib's tracker may tell of what was left
        (signal.SIGKILL, -signal.SIGKILL, b""),
    ],
)
def test_signal_that_ends_a_command_ends_its_workers(number, code, said):
    words = ["env", "--default-signal", sys.executable, "-m", "audit", "catalogue", "--workers", "2"]
    # errors end when the last process that has them ends
    assert interrupted(words, 2, number, cwd=ROOT) == (code, b"", said)


@pytest.mark.parametrize("leaf", [leaf for _, leaf in LEAVES], ids=[" ".join(path) for path, _ in LEAVES])
def test_interrupted_command_ends_in_one_line(leaf, capsys, monkeypatch):
    """Whichever it is: what reads its options is left by Ctrl-C."""

    def pressed(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(leaf, "callback", pressed)
    assert audit(*shlex.split(leaf.example)[3:]) == EXIT_UNDECIDED
    assert capsys.readouterr() == ("", "error: interrupted: nothing was decided\n")


def test_interruption_leaves_what_was_refuted(monkeypatch, capsys):
    from audit.commands import privacy

    genuine, judged = privacy.judge, []

    def second_interrupted(*words, **settings):
        judged.append(words)
        if len(judged) == 2:
            raise KeyboardInterrupt
        return genuine(*words, **settings)

    monkeypatch.setattr(privacy, "judge", second_interrupted)
    line = "privacy adfc pdfc --dimension 13 --epsilon-s 10 --epsilon-n 0.1 --domain unit_box"
    assert audit(*shlex.split(line)) == 1
    printed = capsys.readouterr()
    assert "verdict: refuted" in printed.out
    assert printed.err == "interrupted: pdfc not judged\n"
    # nothing refuted, nothing decided
    judged[:] = [()]
    assert audit(*shlex.split(line)) == EXIT_UNDECIDED


# --- Missing libraries ------------------------------------------------------------------------------------------

REFUSING = """
import sys

class Refused:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {refused!r}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)

sys.meta_path.insert(0, Refused())
from audit.commands.cfm import command
"""

CALLED = """
from reference.commands.parsing import exit_with
sys.argv[1:] = {words!r}
exit_with(command, name="cfm")
"""


def refusing(
    refused: Sequence[str], words: Sequence[str], *, then: str = CALLED
) -> subprocess.CompletedProcess[str]:
    """Run ``cfm``, or other code after its import, where some libraries are not installed."""
    program = REFUSING.format(refused=tuple(refused)) + then.replace("{words!r}", repr(list(words)))
    return subprocess.run(
        [sys.executable, "-c", program],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


@pytest.mark.parametrize(
    "words",
    [
        "fit --mechanism pdfc --seed 1 --quiet --format json",
        "audit estimate pdfc --draws 20000 --seed 1 --format json",
    ],
)
def test_fit_and_estimate_on_the_embedded_table_need_no_extra(words):
    done = refusing(EXTRAS, words.split())
    assert (done.returncode, done.stderr) == (EXIT_FINE, "")
    assert json.loads(done.stdout)


HELPED = """
import click
from reference.commands.parsing import Family

def helped(made, words):
    print(*words, made.main([*words, "--help"], prog_name="cfm", standalone_mode=False) or "")
    context = click.Context(command)
    group = command if not words else command.get_command(context, words[0])
    if isinstance(group, Family) and len(words) < 2:
        for name in group.list_commands(context):
            helped(made, [*words, name])

helped(command, [])
"""


def test_help_of_every_command_needs_no_extra():
    done = refusing(EXTRAS, (), then=HELPED)
    assert (done.returncode, done.stderr) == (EXIT_FINE, "")
    assert done.stdout.count("\nUsage: ") > len(ROWS) + len(REFERENCE)


def test_python_without_docstrings_is_refused():
    words = [sys.executable, "-OO", "-m", "audit", "vectors", "check"]
    done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=False)
    said = "error: help and vectors are made of docstrings: run Python without -OO\n"
    assert (done.returncode, done.stdout, done.stderr) == (EXIT_USAGE, "", said)


@pytest.mark.parametrize(
    ("library", "words"),
    [
        # imported before any command, and by one
        ("click", "fit --mechanism pdfc --seed 1"),
        ("flint", "fit --mechanism pdfc --seed 1"),
        ("tqdm", "fit --mechanism pdfc --seed 1"),
    ],
)
def test_missing_library_of_the_core_is_one_line(library, words):
    done = refusing((library,), words.split())
    assert (done.returncode, done.stdout) == (EXIT_USAGE, "")
    found = re.fullmatch(r"error: (this command needs )?([\w-]+)( is not installed)?(.*)\n", done.stderr)
    assert found is not None, done.stderr
    assert found[2] == CORE[library]
    assert "(make audit makes it)" in found[4] or found[4] == ": pip install calibrated-functional-mechanism"


@pytest.mark.parametrize(
    ("library", "words"),
    [
        ("sympy", "audit claims --claim T1"),
        ("mpmath", "audit vectors describe"),
        ("hypothesis", "audit compare --program true"),
        ("matplotlib", "fit --mechanism pdfc --seed 1 --plot plot.png"),
        # before the first draw: no such module is looked for
        ("matplotlib", "audit estimate absent:module --plot plot.svg"),
        ("matplotlib", "audit catalogue --auditor absent:module --plot plot.svg"),
        ("pyarrow", "domain --describe --data {table} --label a --group b"),
    ],
)
def test_missing_extra_is_one_line_that_says_how_to_install_it(library, words, tmp_path):
    table = tmp_path / "table.csv"
    table.write_text("a,b,c\n1,0,3\n", encoding="utf-8")
    done = refusing((library,), words.format(table=table).split())
    assert (done.returncode, done.stdout) == (EXIT_USAGE, "")
    extra = f"'calibrated-functional-mechanism[{EXTRAS[library]}]'"
    errors = [line for line in done.stderr.splitlines() if not line.startswith("warning: ")]
    assert len(errors) == 1
    assert errors[0].startswith("error: ")
    assert errors[0].endswith(f" needs {library}: pip install {extra}")


def test_missing_extra_is_an_import_error_and_travels():
    with pytest.raises(ImportError, match=r"a plot needs matplotlib: .*\[report\]") as found, needed_for("a plot"):
        raise ModuleNotFoundError("No module named 'matplotlib'", name="matplotlib.figure")
    assert isinstance(found.value, InputError)
    assert str(pickle.loads(pickle.dumps(found.value))) == str(found.value)
    with pytest.raises(ModuleNotFoundError, match="another"), needed_for("a plot"):
        raise ModuleNotFoundError("No module named 'another'", name="another")


@pytest.mark.parametrize("package", ["audit", "reference", "audit.epsilon_estimate"])
def test_python_without_the_dependencies_ends_in_one_line(package):
    done = subprocess.run(
        [sys.executable, "-S", "-m", package],
        env={"PYTHONPATH": str(ROOT)},
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == EXIT_USAGE
    assert done.stderr.startswith("error: ")
    assert "is not installed for this Python: use .venv/bin/python (make audit makes it)" in done.stderr
    assert done.stderr.count("\n") == 1


def test_another_missing_module_is_a_failure_of_the_program(capsys):
    family = Family("audit", {"broken": CommandRow("audit.commands.absent", "nothing")}, "Nothing.")
    assert run(family, ["broken"], name="python -m audit") == EXIT_UNDECIDED
    assert "please report this" in capsys.readouterr().err


def test_extras_that_are_named_are_those_of_the_package():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    for library, extra in EXTRAS.items():
        needs = project["optional-dependencies"][extra]
        assert any(need.startswith(library) for need in needs), library
    assert {re.split(r"\W*>", need)[0] for need in project["dependencies"]} == set(CORE.values())
    assert project["scripts"] == {"cfm": "audit.commands.cfm:main"}


# --- Command lines that are printed ---------------------------------------------------------------------------


def documented() -> list[str]:
    """Return the command lines of audit in the documents and in the ledger, but for those of several lines."""
    lines = [line for claim in claims().values() for line in claim.rerun]
    for document in DOCUMENTS:
        text = document.read_text(encoding="utf-8")
        lines += [line.strip().removeprefix(".venv/bin/") for line in text.splitlines()]
    known = {line for line in lines if line.startswith("python -m audit ") and not line.endswith("\\")}
    return sorted(line for line in known if shlex.split(line, comments=True)[3] in PRESENT)


@pytest.mark.parametrize("line", documented())
def test_documented_command_line_is_read(line):
    parsed(shlex.split(line, comments=True)[3:])


def test_console_script_finds_modules_of_the_current_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """`python -m` does so too; a function of data is sent to the call that audits one."""
    (tmp_path / "my_mechanism.py").write_text("def noisy(data, rng): ...\n", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    # which would be a copy of the tests
    monkeypatch.setattr(cfm, "supervised", lambda: None)
    # which would leave the tests deaf to Ctrl-C
    monkeypatch.setattr(parsing, "finish", sys.exit)
    monkeypatch.setattr(sys, "argv", ["cfm", "audit", "estimate", "my_mechanism:noisy", "--epsilon", "1"])
    with pytest.raises(SystemExit) as ended:
        cfm.main()
    assert ended.value.code == EXIT_USAGE
    assert "noisy is a function that takes arguments" in capsys.readouterr().err


@pytest.mark.parametrize("words", ["sensitivity --dimension 2", "thresholds drift"])
def test_text_repeats_the_form_typed_and_a_document_never_does(words, capsys):
    def printed(program, name, *more):
        assert run(program, [*more, *words.split(), *form], name=name) != EXIT_USAGE
        return capsys.readouterr().out

    form = []
    text, of_cfm = printed(command, "python -m audit"), printed(cfm.command, "cfm", "audit")
    assert re.search(r"again: +python -m audit", text)
    assert re.search(r"again: +cfm audit", of_cfm)
    assert "python -m" not in of_cfm
    form = ["--format", "json"]
    assert printed(cfm.command, "cfm", "audit") == printed(command, "python -m audit")
