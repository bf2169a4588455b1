"""Kills at random moments over what keeps something: nothing may be lost, doubled or half-written.

Each kill starts a command in a fork of this process, waits for a random time, and ends it by SIGKILL.  The folder
stays, so the next command finds what the last one left.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import random
import shlex
import signal
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from audit.commands.family import command as audit_family
from audit.epsilon_estimate import main as estimate
from reference.accounting.release import load_release
from reference.accounting.release_ledger import ReleaseLedger
from reference.commands.parsing import run
from reference.experiments.store import RunStore
from tests.command_lines import reference

LEDGER, RELEASE, OUT, CERTIFICATE = "ledger.jsonl", "release.json", "out", "certificate.json"
SMALL = "--data synthetic --records 200 --dimension 3"
LONGEST_SCRATCH = 2
"""Scratch files that a killed command leaves, at most; they have names of their own and are never read."""


@dataclass
class Killed:
    """A folder in which one command is killed again and again.

    Parameters
    ----------
    folder : Path
    whole : float
        Seconds that the command takes when nobody kills it.
    seen : dict
        What the last kills left, to compare with.
    """

    folder: Path
    whole: float
    seen: dict[str, object] = field(default_factory=dict)


def fit() -> int:
    """Fit, counted by a ledger, and write the release."""
    return reference(
        *f"fit {SMALL} --epsilon 1/10 --ledger {LEDGER} --release {RELEASE} --quiet --out {OUT}".split()
    )


def fit_left(state: Killed) -> str:
    """Return how far a fit came; the ledger is whole, and counts what was released."""
    counted = len(ReleaseLedger.open(state.folder / LEDGER).releases)
    before = state.seen.get("counted", 0)
    assert isinstance(before, int)
    assert counted - before in (0, 1), f"one run counted {counted - before} releases"
    release, ending = state.folder / RELEASE, "nothing counted"
    if release.exists():
        load_release(release)
        assert counted > before, "a release that nobody counted"
        ending = "released"
        release.unlink()
    elif counted > before:
        ending = "counted, not released"
    state.seen["counted"] = counted
    if (state.folder / OUT).exists():
        assert (state.folder / OUT).read_text(encoding="utf-8").endswith("\n")
        assert ending == "released"
        (state.folder / OUT).unlink()
    return ending


def experiments() -> int:
    """Run a small table; finished runs are kept in its folder."""
    return reference(*shlex.split("experiments table2 --data affairs --splits 6 --jobs 1 --quiet --out results"))


def experiments_left(state: Killed) -> str:
    """Return whether the table is done; kept runs are whole and each is there once, and nothing is lost."""
    stores = list((state.folder / "results").glob("*.jsonl")) if (state.folder / "results").exists() else []
    runs = 0
    for store in stores:
        with RunStore(store) as found:
            runs += len(found)
        lines = store.read_bytes().splitlines()
        assert len(lines) == len(set(lines)), "a run is there twice"
    before = state.seen.get("runs", 0)
    assert isinstance(before, int)
    assert runs >= before, f"{before - runs} runs are lost"
    state.seen["runs"] = runs
    documents = list((state.folder / "results").glob("*.json"))
    for document in documents:
        text = document.read_text(encoding="utf-8")
        json.loads(text)
        assert state.seen.setdefault(document.name, text) == text, "another result after a kill"
    if documents:
        # from the beginning again
        for path in (state.folder / "results").iterdir():
            path.unlink()
        state.seen["runs"] = 0
        return "done"
    return "some runs kept" if runs else "no run kept"


def certificate() -> int:
    """Estimate, and write a certificate."""
    return estimate(f"laplace_half_noise --draws 4000 --seed 1 --events coordinates --out {CERTIFICATE}".split())


def certificate_left(state: Killed) -> str:
    """Return whether there is a certificate; it then is the right one, and holds."""
    path = state.folder / CERTIFICATE
    if not path.exists():
        return "no certificate"
    text = path.read_text(encoding="utf-8")
    if state.seen.setdefault("certificate", text) != text:
        raise AssertionError("another certificate")
    if "verified" not in state.seen:
        with silent():
            assert run(audit_family, ["verify", str(path)], name="python -m audit") == 0
        state.seen["verified"] = True
    path.unlink()
    return "certificate"


COMMANDS: dict[str, tuple[Callable[[], int], Callable[[Killed], str]]] = {
    "killed fit with a ledger": (fit, fit_left),
    "killed experiments": (experiments, experiments_left),
    "killed estimate": (certificate, certificate_left),
}
"""What is killed, and what is looked at afterwards."""

PART = 50
"""Kills in one folder."""

PARTS = dict(zip(COMMANDS, (7, 6, 7), strict=True))
"""Of each command: a thousand kills in all."""


@contextlib.contextmanager
def silent() -> Iterator[None]:
    """Show nothing of what is printed."""
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        yield


def started(work: Callable[[], int], folder: Path) -> int:
    """Run some work in a fork, in a folder and silently; return its process number."""
    child = os.fork()
    if child == 0:
        code = 99
        try:
            os.chdir(folder)
            with silent():
                code = work()
        finally:
            os._exit(code)
    return child


def prepared(kind: str, folder: Path) -> Killed:
    """Make a folder, run the command here, so that all is imported, and measure runs in a fork."""
    folder.mkdir()
    if kind == "killed fit with a ledger":
        ReleaseLedger(folder / LEDGER, data="made up", epsilon=100_000)
    work, left = COMMANDS[kind]
    state = Killed(folder, 0.0)
    with contextlib.chdir(folder), silent():
        codes = [work()]
    endings, seconds = [left(state)], []
    for _ in range(3):
        start = time.monotonic()
        codes.append(os.waitstatus_to_exitcode(os.waitpid(started(work, folder), 0)[1]))
        seconds.append(time.monotonic() - start)
        endings.append(left(state))
    # the others waited for the machine
    state.whole = min(seconds)
    assert set(codes) <= {0, 1}, f"the command ends with {codes}"
    assert set(endings) <= {"released", "done", "certificate"}, endings
    return state


def kill(kind: str, number: int, state: Killed) -> str:
    """Start a command, kill it after a random part of its time, and return what it left."""
    work, left = COMMANDS[kind]
    child = started(work, state.folder)
    time.sleep(random.Random(f"{kind} {number}").uniform(0, 1.1) * state.whole)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    ending = left(state)
    scratch = [path.name for path in state.folder.rglob(".*")]
    for path in state.folder.rglob(".*"):
        path.unlink()
    assert len(scratch) <= LONGEST_SCRATCH, scratch
    return ending


def kill_part(kind: str, part: int, folder: Path, count: int = PART) -> dict[str, int]:
    """Kill a command so many times in a new folder, let it end once more, and return what the kills left.

    Raises
    ------
    AssertionError
        With the number of a kill that lost, doubled or half wrote something.
    """
    state = prepared(kind, folder / f"{kind} {part}")
    endings: Counter[str] = Counter()
    for number in range(part * PART, part * PART + count):
        try:
            endings[kill(kind, number, state)] += 1
        except Exception as problem:
            raise AssertionError(f"{kind} {number}: {type(problem).__name__}: {problem}") from problem
    work, left = COMMANDS[kind]
    os.waitpid(started(work, state.folder), 0)
    last = left(state)
    assert last in ("released", "done", "certificate"), f"{kind}, after the kills: {last}"
    return dict(sorted(endings.items()))
