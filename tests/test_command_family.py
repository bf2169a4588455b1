"""What every command of the reference does alike: each is run in this process, and some as programs.

The commands are the rows of the family: a new one is covered when it has an entry in :data:`WORKS`.
"""

from __future__ import annotations

import gzip
import json
import os
import shlex
import subprocess
import sys
from pathlib import Path

import click
import pytest

from audit.gate import worker_processes
from reference.accounting.ledger_file import CountedRelease
from reference.accounting.release_ledger import ReleaseLedger
from reference.budgets import SplitBudget
from reference.commands.family import ROWS, command
from reference.common.exit_codes import EXIT_FINE, EXIT_UNDECIDED, EXIT_USAGE
from reference.mechanisms import FAIR
from reference.registry import MECHANISMS
from tests.command_lines import environment, inside, program, reference
from tests.strategies import random_records

NAMES = sorted(ROWS)

# é is in cp1252 and ś is not; neither is in ascii
DOMAIN = {
    "schema": "domain_v1",
    "attributes": [
        {"name": "âge", "kind": "numeric", "lower": 18, "upper": 98},
        {"name": "śród", "kind": "ordinal", "categories": ["none", "some"]},
    ],
    "label": {"column": "income", "one": ["high"], "zero": ["low"]},
    "group": {"column": "sex", "one": ["M"], "zero": ["F"]},
}

EXPERIMENT = "experiments fig3a --data affairs --splits 1 --jobs 1 --subset-size 600"
FIT = "fit --data people.csv --domain domain.json --mechanism pdfc,adfc --seed 1"

WORKS: dict[str, list[str]] = {
    "fit": [FIT, f"{FIT} --splits 2 --format json"],
    "predict": ["predict --release release.json --data people.csv"],
    "domain": ["domain --check domain.json --data people.csv", "domain --data people.csv --describe"],
    "ledger": ["ledger show ledger.jsonl", "ledger show ledger.jsonl --format json"],
    "advise": [
        "advise --domain domain.json --records 200",
        "advise --domain domain.json --records 9 --format json",
    ],
    "card": ["card repaired.json", "card repaired.json --format json"],
    "experiments": [
        EXPERIMENT,
        f"{EXPERIMENT} --format json",
        "experiments rfm --data affairs --splits 1 --jobs 1",
    ],
}
"""Of each command: command lines that work, with text and with JSON."""

BAD: dict[str, list[str]] = {
    "fit": ["fit --mechanism=pdfĉ", "fit --epsilon=–1", "fit --data=ścieżka.csv --domain=domain.json"],
    "predict": ["predict --release=ś.json --data=people.csv"],
    "domain": ["domain --check=ś.json", "domain --data=daté"],
    "ledger": ["ledger show ś.jsonl", "ledger create ledger.jsonl --data=daté --epsilon=½"],
    "advise": ["advise --domain ś.json --records 9", "advise --domain domain.json --records 9 --epsilon=½"],
    "card": ["card ś.json"],
    "experiments": [
        "experiments fig1–2",
        "experiments fig1 --data=daté",
        "experiments fig1 --data=affairs --delta=½",
    ],
}
"""Of each command: bad input that the error quotes, with characters that few encodings have."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with a data file, its domain and a release."""
    made = tmp_path_factory.mktemp("commands")
    rows = [
        f"{20 + i % 70},{'some' if i % 3 else 'none'},{'high' if i % 2 else 'low'},{'MF'[i % 5 < 2]}"
        for i in range(200)
    ]
    (made / "people.csv").write_text("\n".join(["âge,śród,income,sex", *rows]) + "\n", encoding="utf-8")
    (made / "domain.json").write_text(json.dumps(DOMAIN), encoding="utf-8")
    words = FIT.replace("pdfc,adfc", "pdfc").split()
    done = program(*words, "--release", "release.json", folder=made)
    assert done.returncode == EXIT_FINE, done.stderr
    promise = MECHANISMS["pdfc"].promise(random_records(5, 3, 0).domain, SplitBudget(1, 1), FAIR)
    ledger = ReleaseLedger(made / "ledger.jsonl", data="śród", epsilon=1)
    ledger.reserve(CountedRelease("pdfc", "replace_one", promise))
    words = FIT.replace("pdfc,adfc", "repaired").split()
    done = program(*words, "--release", "repaired.json", folder=made)
    assert done.returncode == EXIT_FINE, done.stderr
    return made


def every(lines: dict[str, list[str]]) -> list[str]:
    return [line for name in NAMES for line in lines[name]]


def encoded(lines: dict[str, list[str]]) -> list[tuple[str, str]]:
    """Return each line for ASCII, and the first of each command for an encoding with more letters too."""
    return [(line, "ascii") for line in every(lines)] + [(lines[name][0], "cp1252") for name in NAMES]


def one_line(capsys: pytest.CaptureFixture[str]) -> str:
    """Return the one line that a refused command wrote."""
    out, err = capsys.readouterr()
    assert (out, err.count("\n")) == ("", 1)
    return err


def test_every_command_has_lines_that_work_and_bad_ones():
    assert set(WORKS) == set(BAD) == set(ROWS)
    assert all(line.startswith(name) for name in NAMES for line in WORKS[name] + BAD[name])


# --- Help, names, version --------------------------------------------------------------------------------------


def test_help_of_the_family_lists_the_commands_and_how_to_complete(tmp_path):
    done = program("--help", folder=tmp_path, COLUMNS="80")
    assert (done.returncode, done.stderr) == (EXIT_FINE, b"")
    text = done.stdout.decode()
    for name, row in ROWS.items():
        assert any(line.split()[:1] == [name] for line in text.splitlines())
        assert row.line in " ".join(text.split())
    assert 'eval "$(_CFM_COMPLETE=bash_source cfm)"' in text
    assert max(map(len, text.splitlines())) <= 80


@pytest.mark.parametrize("name", NAMES)
def test_help_fits_and_has_an_example_that_is_read(name, folder, capsys):
    done = inside(name, "--help", folder=folder, COLUMNS="80")
    assert (done.returncode, done.stderr) == (EXIT_FINE, b"")
    text = done.stdout.decode()
    assert max(map(len, text.splitlines())) <= 80
    example = text.partition("Example:\n")[2].replace("\\\n", "")
    words = shlex.split(example)
    assert words[:4] == ["python", "-m", "reference", name]
    # every word is known: with one more that is not, only that one is refused
    assert reference(*words[3:], "--no-such-option") == EXIT_USAGE
    assert "'--no-such-option'" in capsys.readouterr().err


@pytest.mark.parametrize("words", [[], *[[name] for name in NAMES]])
def test_version_is_printed(words, tmp_path):
    done = inside(*words, "--version", folder=tmp_path)
    assert (done.returncode, done.stderr) == (EXIT_FINE, b"")
    assert done.stdout.decode().split()[0] == "calibrated-functional-mechanism"


@pytest.mark.parametrize("name", NAMES)
def test_mistyped_command_suggests_the_right_one(name, capsys):
    assert reference(name[:-1] + "x" + name[-1]) == EXIT_USAGE
    assert one_line(capsys).endswith(f"did you mean {name}?\n")


@pytest.mark.parametrize("name", NAMES)
def test_mistyped_option_suggests_the_right_one(name, capsys):
    mistyped, right = {"advise": ("--domai", "'--domain'"), "card": ("--forma", "'--format'")}.get(
        name, ("--dat", "'--data'")
    )
    assert reference(*shlex.split(WORKS[name][0]), mistyped, "x") == EXIT_USAGE
    assert right in one_line(capsys)


@pytest.mark.parametrize(
    ("line", "right"),
    [
        ("fit --mechanism pdcf", "pdfc"),
        ("fit --mechanism pdfc,adcf", "adfc"),
        ("fit --repair trimm", "trim"),
        ("domain --data affairs --domain unit_bal", "unit_ball"),
        ("experiments tabel2", "table2"),
        ("experiments fig1 --variant boxx", "box"),
    ],
)
def test_mistyped_choice_suggests_the_right_one(line, right, capsys):
    assert reference(*line.split()) == EXIT_USAGE
    assert one_line(capsys).endswith(f"did you mean {right}?\n")


@pytest.mark.parametrize("line", ["fit --mechanism pdfc adfc", "experiments fig1 --variant default box"])
def test_bare_word_of_a_list_says_how_lists_are_written(line, capsys):
    assert reference(*line.split()) == EXIT_USAGE
    option = line.split()[-3]
    assert f"repeat {option}, or put commas between its words" in one_line(capsys)


def test_lists_are_repeated_or_take_commas(folder):
    found = [
        inside(*f"{FIT} --format json".replace("--mechanism pdfc,adfc", words).split(), folder=folder)
        for words in ("--mechanism pdfc,adfc", "--mechanism pdfc --mechanism adfc", "--mechanism pdfc,adfc,pdfc")
    ]
    assert [done.returncode for done in found] == [EXIT_FINE] * 3
    assert found[0].stdout == found[1].stdout == found[2].stdout
    assert [one["mechanism"] for one in json.loads(found[0].stdout)] == ["pdfc", "adfc"]


def test_an_option_is_no_value_of_another(folder):
    before = sorted(path.name for path in folder.iterdir())
    done = inside("domain", "--data", "affairs", "--out", "--intercept", folder=folder)
    assert (done.returncode, done.stderr) == (EXIT_USAGE, b"error: --out needs a value before --intercept\n")
    assert sorted(path.name for path in folder.iterdir()) == before


# --- Completion ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("line", "offered"),
    [
        ("cfm ", {"fit", "predict", "ledger", "domain", "advise", "card", "experiments"}),
        ("cfm p", {"predict"}),
        ("cfm fit --mech", {"--mechanism"}),
        ("cfm fit --mechanism pdfc,a", {"pdfc,adfc", "pdfc,all"}),
        ("cfm fit --data aff", {"affairs"}),
        ("cfm domain --encoding o", {"ordinal", "one_hot"}),
        ("cfm experiments fig3", {"fig3a", "fig3b", "fig3c"}),
    ],
)
def test_shell_is_told_how_a_line_goes_on(line, offered, tmp_path):
    asked = {"_CFM_COMPLETE": "bash_complete", "COMP_WORDS": line, "COMP_CWORD": str(len(line.split(" ")) - 1)}
    done = inside(folder=tmp_path, name="cfm", **asked)
    assert (done.returncode, done.stderr) == (EXIT_FINE, b"")
    told = done.stdout.decode().splitlines()
    assert {line.partition(",")[2] for line in told if line.startswith("plain,")} == offered


COMPLETED = """
from reference.commands.family import command
from reference.commands.parsing import exit_with
exit_with(command, name="cfm")
"""


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_shell_gets_its_script(shell, tmp_path):
    done = inside(folder=tmp_path, name="cfm", _CFM_COMPLETE=f"{shell}_source")
    assert done.returncode == EXIT_FINE
    assert f"_CFM_COMPLETE={shell}_complete" in done.stdout.decode()


def test_program_is_asked_by_a_shell_as_this_process_is(tmp_path):
    asked = {"_CFM_COMPLETE": "bash_complete", "COMP_WORDS": "cfm p", "COMP_CWORD": "1"}
    done = subprocess.run(
        [sys.executable, "-c", COMPLETED], cwd=tmp_path, env=environment(**asked), capture_output=True, check=False
    )
    assert (done.returncode, done.stderr) == (EXIT_FINE, b"")
    assert done.stdout == inside(folder=tmp_path, name="cfm", **asked).stdout


# --- Terminals -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("line", "encoding"), encoded(WORKS))
def test_what_the_encoding_cannot_show_is_replaced(line, encoding, folder):
    done = inside(*shlex.split(line), folder=folder, encoding=encoding)
    assert done.returncode == EXIT_FINE, done.stderr
    assert b"Traceback" not in done.stderr
    text = done.stdout.decode(encoding)
    if "--format json" in line or "--describe" in line:
        # names that the encoding does not have are escaped: nothing is lost
        json.loads(text)
        assert "?" not in text
    assert text


@pytest.mark.parametrize(("line", "encoding"), encoded(BAD))
def test_error_that_quotes_what_the_encoding_cannot_show_is_one_line(line, encoding, folder):
    done = inside(*shlex.split(line), folder=folder, encoding=encoding)
    assert (done.returncode, done.stdout) == (EXIT_USAGE, b"")
    error = done.stderr.decode(encoding)
    assert error.startswith("error: ")
    assert error.count("\n") == 1


@pytest.mark.parametrize(("encoding", "line"), [("ascii", FIT), ("cp1252", BAD["fit"][0])])
def test_program_writes_in_its_encoding_as_this_process_does(encoding, line, folder):
    done = program(*shlex.split(line), folder=folder, PYTHONIOENCODING=encoding, PYTHONUTF8="0")
    alike = inside(*shlex.split(line), folder=folder, encoding=encoding)
    assert (done.returncode, done.stdout, done.stderr) == (alike.returncode, alike.stdout, alike.stderr)


@pytest.mark.parametrize("line", every(WORKS))
def test_text_fits_80_columns(line, folder):
    done = inside(*shlex.split(line), folder=folder, COLUMNS="80")
    assert (done.returncode, b"Traceback" in done.stderr) == (EXIT_FINE, False)
    if not any(word in line for word in ("--format json", "--describe", "predict")):
        assert max(map(len, done.stdout.decode().splitlines())) <= 80


def test_text_is_a_table_where_it_fits_and_a_list_where_it_does_not(folder):
    wide, narrow = (
        inside(*FIT.split(), folder=folder, COLUMNS=columns).stdout.decode() for columns in ("200", "80")
    )
    assert "┏" in wide
    assert "mechanism: pdfc\n  published " in narrow
    assert "┏" not in narrow
    # nothing is lost in the list
    listed = " ".join(narrow.split())
    cells = [cell.strip() for row in wide.splitlines() if row.startswith("│") for cell in row.split("│")]
    assert len(cells) > 10
    assert all(cell in listed for cell in cells)


def test_text_in_a_file_does_not_depend_on_the_terminal(folder, tmp_path):
    for columns in ("80", "200"):
        done = inside(*FIT.split(), "--out", str(tmp_path / columns), folder=folder, COLUMNS=columns)
        assert done.returncode == EXIT_FINE
    assert (tmp_path / "80").read_bytes() == (tmp_path / "200").read_bytes()


@pytest.mark.parametrize("name", NAMES)
def test_closed_pipe_ends_quietly(name, folder, capfd, monkeypatch):
    monkeypatch.chdir(folder)
    reader, writer = os.pipe()
    os.close(reader)
    with os.fdopen(writer, "w", encoding="utf-8") as pipe:
        monkeypatch.setattr(sys, "stdout", pipe)
        assert reference(*shlex.split(WORKS[name][0])) == EXIT_FINE
    error = capfd.readouterr().err
    assert "Traceback" not in error
    assert "Broken" not in error


def test_program_with_a_closed_pipe_ends_quietly(folder):
    reader, writer = os.pipe()
    os.close(reader)
    try:
        done = subprocess.run(
            [sys.executable, "-m", "reference", *shlex.split(FIT)],
            stdout=writer,
            stderr=subprocess.PIPE,
            cwd=folder,
            env=environment(),
            check=False,
            timeout=240,
        )
    finally:
        os.close(writer)
    assert done.returncode == EXIT_FINE
    assert b"Traceback" not in done.stderr
    assert b"Broken" not in done.stderr


# --- Interruptions ---------------------------------------------------------------------------------------------

LONG: dict[str, tuple[str, str]] = {
    "fit": ("fit --data synthetic --records 20000 --dimension 8 --splits 100000", "evaluate_splits"),
    "predict": ("predict --release release.json --data endless.csv.gz", "prediction_lines"),
    "domain": ("domain --check domain.json --data endless.csv.gz", "check"),
    "experiments": ("experiments fig1 --data affairs --splits 5000 --jobs 1", "run_batch"),
}
"""Of each command that can take long: a line that takes long enough to be interrupted, and what then runs."""


@pytest.fixture(scope="module")
def endless(folder: Path) -> Path:
    rows = gzip.compress(b"30,some,high,M\n" * 1_000_000)
    with (folder / "endless.csv.gz").open("wb") as file:
        file.write(gzip.compress("âge,śród,income,sex\n".encode()))
        for _ in range(300):
            file.write(rows)
    return folder


INTERRUPTED = """
import os, runpy, signal, sys, threading, time

class CtrlC:
    \"\"\"Presses Ctrl-C when a module is imported, or when a function is at work after that.\"\"\"

    def find_spec(self, name, path=None, target=None):
        if name == module:
            sys.meta_path.remove(self)
            if not function:
                raise KeyboardInterrupt
            threading.Thread(target=press, daemon=True).start()

def press():
    while not at_work():
        time.sleep(0.05)
    os.killpg(0, signal.SIGINT)

def at_work():
    frame, found = sys._current_frames()[threading.main_thread().ident], set()
    while frame is not None:
        found |= {frame.f_code.co_name, frame.f_code.co_filename}
        frame = frame.f_back
    return function in found and "<frozen importlib._bootstrap>" not in found

sys.meta_path.insert(0, CtrlC())
_, module, function, *words = sys.argv
sys.argv = ["reference", *words]
runpy.run_module("reference", run_name="__main__", alter_sys=True)
"""


def interrupted(line: str, folder: Path, module: str, function: str = "") -> tuple[int, str]:
    """Press Ctrl-C when a program imports a module, or when a function is at work; return exit code and errors."""
    done = subprocess.run(
        [sys.executable, "-c", INTERRUPTED, module, function, *shlex.split(line)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        cwd=folder,
        env=environment(),
        # Ctrl-C reaches the program and its workers, and not the tests
        start_new_session=True,
        check=False,
        timeout=240,
    )
    return done.returncode, done.stderr.decode()


@pytest.mark.parametrize("name", sorted(LONG))
def test_interruption_is_one_line_and_exit_code_3(name, endless):
    line, function = LONG[name]
    code, said = interrupted(line, endless, ROWS[name].module, function)
    assert (code, said.count("\n"), said[:20]) == (EXIT_UNDECIDED, 1, "error: interrupted: "), said


@pytest.mark.parametrize("name", NAMES)
def test_interruption_of_any_command_is_one_line(name, monkeypatch, capsys):
    """Whichever it is: what reads its options is left by Ctrl-C."""

    def pressed(*_, **__):
        raise KeyboardInterrupt

    program = command.get_command(click.Context(command), name)
    below = [program]
    if isinstance(program, click.Group):
        below = [
            program.get_command(click.Context(program), it) for it in program.list_commands(click.Context(program))
        ]
    for leaf in below:
        monkeypatch.setattr(leaf, "callback", pressed)
        assert reference(*shlex.split(leaf.example)[3:]) == EXIT_UNDECIDED
        assert capsys.readouterr() == ("", "error: interrupted: nothing was decided\n")


def test_interruption_of_several_processes_is_one_line(tmp_path):
    line = "experiments fig1 --data affairs --splits 5000 --jobs 2 --quiet --out results"
    words = [sys.executable, "-m", "reference", *line.split()]
    code, _, said = worker_processes.interrupted(words, workers=2, cwd=tmp_path, env=environment())
    assert said == b"error: interrupted: with --out, the same command resumes where it stopped\n"
    assert code == EXIT_UNDECIDED


@pytest.mark.parametrize(
    "module",
    ["reference.commands.family", "click", "reference.common.errors", "numpy", "tqdm"],
)
def test_interruption_of_an_import_is_one_line(module, folder):
    code, said = interrupted(FIT, folder, module)
    assert (code, said) == (EXIT_UNDECIDED, "error: interrupted: nothing was decided\n")


def test_program_that_is_not_interrupted_says_nothing(folder):
    assert interrupted(FIT, folder, "no.such.module") == (EXIT_FINE, "")
