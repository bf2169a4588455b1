"""Standard output: readers that are gone, closed streams, full disks, and subjects that print or end all."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from audit.gate.needs import exhaustively
from audit.gate.running import program
from reference.common.exit_codes import EXIT_FINE, EXIT_REFUTED, EXIT_UNDECIDED, EXIT_USAGE

ROOT = Path(__file__).parents[3]


def shell(line: str, redirection: str = "", paths: tuple[Path, ...] = ()) -> subprocess.CompletedProcess[bytes]:
    """Run a command line of audit in a shell."""
    words = shlex.join([sys.executable, "-m", "audit", *shlex.split(line)])
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(map(str, (ROOT, *paths)))}
    return subprocess.run(
        ["sh", "-c", f"{words} {redirection}"], env=environment, capture_output=True, check=False
    )


@pytest.mark.parametrize(
    ("line", "code", "redirection"),
    [
        ("sensitivity --dimension 2 --format json", EXIT_FINE, ">&- 2>&-"),
        ("sensitivity --dimension 2", EXIT_FINE, "| true"),
        ("privacy adfc --dimension 3 --epsilon-s 10 --epsilon-n 0.1", EXIT_REFUTED, "<&- >&-"),
        ("privacy --help", EXIT_FINE, ">&-"),
    ],
)
def test_reader_that_is_gone_changes_no_exit_code(line, code, redirection):
    done = shell(line, redirection)
    # a shell gives the code of the last program of a pipe
    assert done.returncode == (EXIT_FINE if "|" in redirection else code)
    assert (done.stdout, done.stderr) == (b"", b"")


@pytest.mark.parametrize("line", ["sensitivity --dimension 2", "sensitivity --help"])
def test_full_disk_is_one_line(line):
    done = shell(line, ">/dev/full")
    assert done.returncode == EXIT_USAGE
    assert done.stderr == b"error: the output cannot be written (No space left on device)\n"


# --- Subjects --------------------------------------------------------------------------------------------------

PRINTING = """
import os
import re
print("imported"); os.write(1, b"imported in C\\n")
class Printing:
    claimed_epsilon = 1.0
    def inputs(self):
        print("asked")
        return 0.0, 1.0
    def sample(self, data, count, rng):
        print("drawn"); os.write(1, b"drawn in C\\n"); os.system("echo drawn in a shell")
        AT_CALL
        return rng.laplace(data, 1.0, size=(count, 1))
subject = Printing()
"""
WORDS = "estimate printing:subject --draws 2000 --seed 1 --events coordinates --format json"


def written(folder: Path, at_call: str = "pass") -> tuple[Path, ...]:
    (folder / "printing.py").write_text(PRINTING.replace("AT_CALL", at_call), encoding="utf-8")
    return (folder,)


def test_subject_that_prints_does_not_spoil_the_document(tmp_path):
    done = shell(WORDS, paths=written(tmp_path))
    assert json.loads(done.stdout)["mechanism"] == "printing:subject"
    assert done.returncode == EXIT_FINE
    for said in (
        b"imported\n",
        b"imported in C\n",
        b"asked\n",
        b"drawn\n",
        b"drawn in C\n",
        b"drawn in a shell\n",
    ):
        assert said in done.stderr


MEDDLING = """
import contextlib
import os
import sys
def meddle():
    print("said")
    with contextlib.suppress(OSError): os.write(1, b"half a line")
    os.dup2(os.open("/dev/full", os.O_WRONLY), 1)
    sys.__stdout__.close()
    os.closerange(1, 3)
    sys.stdout = sys.stderr = None
def report(**_):
    meddle()
    return 0.5
def answer(kind, inputs):
    meddle()
    return {"scale": 1}
meddle()
"""


@pytest.mark.parametrize(
    "line",
    [
        "accountant meddling:report",
        "conformance --import meddling --only Scale --quiet --timeout 300",
        *exhaustively("compare --import meddling --count 1 --only FairnessMetric --timeout 300"),
    ],
)
def test_code_that_replaces_streams_does_not_spoil_the_document(tmp_path, line):
    """When it is imported, and at every call."""
    (tmp_path / "meddling.py").write_text(MEDDLING, encoding="utf-8")
    bound = " --bound 1" if "accountant" in line else ""
    done = shell(f"{line}{bound} --format json", paths=(tmp_path,))
    assert json.loads(done.stdout)["verdict"] == "refuted"
    assert done.returncode == EXIT_REFUTED


def test_python_prints_go_to_standard_error_within_one_process_too(tmp_path, monkeypatch, capsys):
    monkeypatch.syspath_prepend(*written(tmp_path))
    assert program()(WORDS.split()) == EXIT_FINE
    printed = capsys.readouterr()
    assert json.loads(printed.out)["mechanism"] == "printing:subject"
    assert "drawn\n" in printed.err


@pytest.mark.parametrize(
    "at_call",
    [
        "os._exit(0)",
        *exhaustively(
            "import ctypes; ctypes.CDLL(None).exit(0)",
            "os.execv('/bin/true', ['true'])",
            "import atexit; atexit.register(lambda: os._exit(0)); raise SystemExit(0)",
            "import ctypes; ctypes.string_at(0)",
        ),
    ],
)
def test_subject_that_ends_the_interpreter_gives_no_verdict(tmp_path, at_call):
    done = shell(WORDS, paths=written(tmp_path, at_call))
    assert done.returncode in (EXIT_USAGE, EXIT_UNDECIDED)
    assert done.stdout == b""
    assert done.stderr.splitlines()[-1].startswith(b"error: ")


AT_THE_END = "import atexit; atexit.register(print, 'x'); atexit.register(os.write, 1, b'x')"
IN_A_THREAD = (
    "import threading\n"
    "def go_on():\n"
    "    threading.main_thread().join(); os.write(1, b'x')\n"
    "threading.Thread(target=go_on).start()"
)
IN_A_COPY = "os.fork()"


@pytest.mark.parametrize("code", [IN_A_COPY, *exhaustively(AT_THE_END, IN_A_THREAD)])
def test_document_stands_alone_whatever_goes_on(tmp_path, code):
    (folder,) = written(tmp_path)
    path = folder / "printing.py"
    path.write_text(f"{path.read_text()}\n{code}\n", encoding="utf-8")
    done = shell(WORDS, "2>/dev/null", paths=(folder,))
    assert json.loads(done.stdout)["mechanism"] == "printing:subject"
    assert done.returncode == EXIT_FINE


@pytest.mark.parametrize(
    ("at_call", "said"),
    [
        ("raise SystemExit(1)", "SystemExit"),
        ("raise MemoryError", "MemoryError"),
        ("self.sample(data, count, rng)", "RecursionError"),
    ],
)
def test_subject_that_ends_its_call_gives_no_verdict(tmp_path, monkeypatch, capsys, at_call, said):
    monkeypatch.delitem(sys.modules, "printing", raising=False)
    monkeypatch.syspath_prepend(*written(tmp_path, at_call))
    assert program()(WORDS.split()) in (EXIT_USAGE, EXIT_UNDECIDED)
    printed = capsys.readouterr()
    assert printed.out == ""
    assert said in printed.err


# --- Plots -----------------------------------------------------------------------------------------------------


def drawing_modules() -> list[Path]:
    """Return the modules that let matplotlib draw."""
    found = [path for package in ("audit", "reference") for path in (ROOT / package).rglob("*.py")]
    return [path for path in found if "gate" not in path.parts and ".savefig(" in path.read_text(encoding="utf-8")]


def test_every_plot_is_drawn_in_memory_and_then_written_whole():
    modules = drawing_modules()
    assert len(modules) > 3
    for path in modules:
        text = path.read_text(encoding="utf-8")
        assert set(re.findall(r"\.savefig\((\w+)", text)) <= {"drawn", "target"}, path
        assert "BytesIO()" in text, path
        assert "write_whole(" in text, path
        assert ".write_bytes(" not in text, path


def test_verify_does_not_replace_the_certificate(tmp_path, capsys):
    certificate = tmp_path / "certificate.json"
    asked = ["laplace", "--draws", "2000", "--seed", "1", "--out", str(certificate)]
    assert program("estimate")(asked) == EXIT_FINE
    before = certificate.read_bytes()
    for file, code, word in ((certificate, EXIT_USAGE, "another file"), (tmp_path / "checks", EXIT_UNDECIDED, "")):
        assert program("verify")([str(certificate), "--out", str(file)]) == code
        assert word in capsys.readouterr().err
    assert certificate.read_bytes() == before
