"""The parent of a command: what it believes, what it passes on, and what does not outlive it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from reference.common.exit_codes import EXIT_FINE, EXIT_REFUTED, EXIT_UNDECIDED

ROOT = Path(__file__).parents[1]

START = """
import os, signal, sys, time
from reference.commands.start import starting
from reference.commands.supervision import finish, supervised
with starting():
    supervised()
{code}
finish(1)
"""
NOTHING = "error: the code under test ended the program ({how}), so nothing was decided\n"


def words(code: str) -> list[str]:
    """Return a command line that is supervised, runs some code and is refuted, and ignores no signal."""
    return ["env", "--default-signal", sys.executable, "-c", START.format(code=code)]


def started(code: str, *, alone: bool = False) -> subprocess.Popen[str]:
    """Start it, alone in a session of its own, so that a signal to its group reaches nobody else."""
    return subprocess.Popen(
        words(code),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        start_new_session=alone,
    )


@pytest.mark.parametrize(
    ("code", "how"),
    [
        ("os._exit(0)", "exit code 0"),
        ("import ctypes; ctypes.CDLL(None).exit(0)", "exit code 0"),
        ("import ctypes; ctypes.CDLL(None)._exit(1)", "exit code 1"),
        ("os.execv('/bin/true', ['true'])", "exit code 0"),
        ("sys.exit(0)", "exit code 0"),
        ("os.abort()", "SIGABRT"),
        ("os.kill(os.getpid(), signal.SIGKILL)", "SIGKILL"),
        ("os.kill(os.getpid(), 40)", "signal 40"),
        ("os.closerange(3, 99)", "exit code 1"),
        # a copy goes on to the end; the child itself does not
        ("if os.fork(): os._exit(0)", "exit code 0"),
        # what is written to its number by accident is no report
        (
            "for number in range(3, 9):\n try: os.write(number, b'ended\\0')\n except OSError: pass\nos._exit(0)",
            "exit code 0",
        ),
    ],
)
def test_end_that_nobody_reported_is_undecided(code: str, how: str) -> None:
    with started(code) as process:
        assert process.communicate() == ("", NOTHING.format(how=how))
    assert process.returncode == EXIT_UNDECIDED


@pytest.mark.parametrize(
    "code",
    [
        "pass",
        "import atexit; atexit.register(os._exit, 0)",
        "import atexit; atexit.register(os.abort)",
        "import atexit; atexit.register(os.execv, '/bin/true', ['true'])",
    ],
)
def test_reported_code_stands_whatever_comes_last(code: str) -> None:
    with started(code) as process:
        process.communicate()
    assert process.returncode == EXIT_REFUTED


def test_thread_that_goes_on_holds_no_result_back() -> None:
    line = words("import threading; threading.Thread(target=time.sleep, args=[600]).start()")
    line[-1] = "import reference.commands.supervision as own; own.LINGERING = 1\n" + line[-1]
    done = subprocess.run(
        line, capture_output=True, env={**os.environ, "PYTHONPATH": str(ROOT)}, timeout=300, check=False
    )
    assert (done.returncode, done.stdout, done.stderr) == (EXIT_REFUTED, b"", b"")


def test_number_that_foreign_code_closed_and_opened_anew_is_not_written_to(tmp_path: Path) -> None:
    path = tmp_path / "theirs"
    with started(
        f"os.closerange(3, 99)\nfor _ in range(9): os.open({str(path)!r}, os.O_CREAT | os.O_WRONLY)"
    ) as one:
        one.communicate()
    assert (one.returncode, path.read_bytes()) == (EXIT_UNDECIDED, b"")


INTERRUPTIBLE = """
counted, told, end = 0, False, time.monotonic() + 100
while time.monotonic() < end:
    try:
        if not told:
            told = True
            os.write(1, b"ready\\n")
        # Python looks for signals where a loop begins anew: that must be in here
        while time.monotonic() < end:
            {work}
    except KeyboardInterrupt:
        counted += 1
        print("interrupted", flush=True)
        end = time.monotonic() + 0.3
print(counted)
"""


WAITS = "time.sleep(max(0, end - time.monotonic()))"


@pytest.mark.parametrize("work", [WAITS, "sum(range(2_000))"], ids=["waits", "is at work"])
@pytest.mark.parametrize("to_all", [True, False], ids=["group", "parent"])
def test_one_interruption_is_heard_once(work: str, to_all: bool) -> None:
    with started(INTERRUPTIBLE.format(work=work), alone=True) as process:
        assert process.stdout is not None
        process.stdout.readline()
        send = os.killpg if to_all else os.kill
        send(process.pid, signal.SIGINT)
        assert process.communicate()[0].split() == ["interrupted", "1"]
    assert process.returncode == EXIT_REFUTED


@pytest.mark.parametrize("before", ["", "os.setpgid(0, 0)"], ids=["in its group", "in another"])
def test_ctrl_c_on_a_terminal_is_heard_once(before: str) -> None:
    line = words(before + INTERRUPTIBLE.format(work=WAITS))
    terminal_process, terminal = os.forkpty()
    if terminal_process == 0:
        os.execvpe(line[0], line, {**os.environ, "PYTHONPATH": str(ROOT)})
    shown = b""
    try:
        while chunk := os.read(terminal, 1000):
            if b"\n" in chunk and b"\n" not in shown:
                os.write(terminal, b"\x03")
            shown += chunk
    except OSError:
        pass
    os.close(terminal)
    assert shown.split()[-2:] == [b"^Cinterrupted", b"1"]
    assert os.waitstatus_to_exitcode(os.waitpid(terminal_process, 0)[1]) == EXIT_REFUTED


def test_ignored_signal_is_for_neither_process() -> None:
    line = words("time.sleep(0.5)")
    line[-1] = "import reference.commands.supervision as own; own.PATIENCE = 0.1\n" + line[-1].replace(
        "time.sleep", "print(flush=True); time.sleep"
    )
    line[1:2] = ["--default-signal", "--ignore-signal=HUP,TERM,INT"]
    with subprocess.Popen(line, stdout=subprocess.PIPE, env={**os.environ, "PYTHONPATH": str(ROOT)}) as process:
        assert process.stdout is not None
        process.stdout.readline()
        for number in (signal.SIGHUP, signal.SIGTERM, signal.SIGINT):
            process.send_signal(number)
    assert process.returncode == EXIT_REFUTED


def test_folder_that_is_gone_is_no_verdict(tmp_path: Path) -> None:
    line = "from audit.commands.cfm import main; main()"
    done = subprocess.run(
        ["sh", "-c", 'rmdir "$PWD"; exec "$0" -c "$1" audit sensitivity --dimension 2', sys.executable, line],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (EXIT_FINE, "")


@pytest.mark.parametrize(
    "code",
    ["OSError(24, 'Too many open files')", "ImportError('x.so: failed to map segment from shared object')"],
)
def test_system_that_gives_no_more_is_one_line(code: str) -> None:
    line = words("")
    line[-1] = f"from reference.commands.start import starting\nwith starting(): raise {code}"
    done = subprocess.run(
        line, capture_output=True, text=True, env={**os.environ, "PYTHONPATH": str(ROOT)}, check=False
    )
    assert (done.returncode, len(done.stderr.splitlines())) == (EXIT_UNDECIDED, 1)
    line[-1] = f"from reference.commands.endings import failed\nraise SystemExit(failed({code}))"
    again = subprocess.run(
        line, capture_output=True, text=True, env={**os.environ, "PYTHONPATH": str(ROOT)}, check=False
    )
    assert (again.returncode, again.stderr) == (EXIT_UNDECIDED, done.stderr)


def soon_gone(pid: int) -> bool:
    """Return whether a process ends; it may be nobody's child that waits for it."""
    deadline = time.monotonic() + 100
    while time.monotonic() < deadline:
        try:
            if Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] in "ZX":
                return True
        except FileNotFoundError:
            return True
        time.sleep(0.02)
    return False


@pytest.mark.parametrize(
    "name", [signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT, signal.SIGUSR1, signal.SIGABRT, signal.SIGKILL]
)
def test_no_signal_to_the_parent_leaves_the_child(name: signal.Signals) -> None:
    with started("print(os.getpid(), flush=True)\ntime.sleep(600)") as process:
        assert process.stdout is not None
        child = int(process.stdout.readline())
        assert child != process.pid
        process.send_signal(name)
        assert process.wait() == -name if name not in (signal.SIGTERM, signal.SIGHUP) else True
        assert soon_gone(child)


def test_child_that_takes_no_notice_of_sigterm_is_killed() -> None:
    line = words("signal.signal(signal.SIGTERM, signal.SIG_IGN)\nprint(os.getpid(), flush=True)\ntime.sleep(600)")
    line[-1] = "import reference.commands.supervision as own; own.PATIENCE = 0.1\n" + line[-1]
    with subprocess.Popen(line, stdout=subprocess.PIPE, env={**os.environ, "PYTHONPATH": str(ROOT)}) as process:
        assert process.stdout is not None
        child = int(process.stdout.readline())
        process.terminate()
        assert process.wait() == -signal.SIGKILL
        assert soon_gone(child)


def test_closed_streams_and_an_ignored_sigchld_change_nothing() -> None:
    line = "import signal; signal.signal(signal.SIGCHLD, signal.SIG_IGN)\n" + words("pass")[-1]
    done = subprocess.run(
        ["sh", "-c", 'exec "$0" -c "$1" <&- >&- 2>&-', sys.executable, line],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        check=False,
    )
    assert done.returncode == EXIT_REFUTED


def test_worker_that_foreign_code_forks_ends_by_its_signal_without_a_word() -> None:
    """As `multiprocessing` ends its pools; each worker wrote a traceback."""
    code = (
        "child = os.fork()\n"
        "if not child:\n time.sleep(60); os._exit(5)\n"
        "time.sleep(0.2); os.kill(child, signal.SIGTERM)\n"
        "assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == -signal.SIGTERM"
    )
    with started(code) as process:
        assert process.communicate() == ("", "")
    assert process.returncode == EXIT_REFUTED
