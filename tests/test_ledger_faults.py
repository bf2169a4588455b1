"""What a release ledger survives: forks, kills, full disks, odd names, files that are none, many releases."""

from __future__ import annotations

import contextlib
import json
import os
import resource
import signal
import subprocess
import sys
import threading
from fractions import Fraction
from pathlib import Path

import pytest

from reference.accounting import METHODS, ExactPrivacy, Privacy, ledger_file, release_ledger
from reference.accounting.ledger_file import CountedRelease
from reference.accounting.release_ledger import ReleaseLedger
from reference.common.errors import CorruptLedgerError, LedgerError, MissingLedgerError, UncountableReleaseError
from reference.common.numbers import Enclosure


def pure(epsilon: str) -> CountedRelease:
    value = Fraction(epsilon)
    exact = ExactPrivacy(Enclosure(value, value), Fraction(0), None, None, None)
    return CountedRelease("pdfc", "replace_one", Privacy(None, exact))


def opened(path: Path, **terms) -> ReleaseLedger:
    return ReleaseLedger(path, **{"data": "survey", "epsilon": 1, **terms})


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "ledger.jsonl"


# --- Forks -----------------------------------------------------------------------------------------------------


def answer_of_child(ledger: ReleaseLedger) -> str:
    """Fork; the child reserves and its answer is returned, or `hangs`."""
    child = os.fork()
    if child == 0:
        signal.alarm(300)
        with contextlib.suppress(BaseException):
            os._exit(ledger.reserve(pure("1/10")))
        os._exit(99)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    return "hangs" if code < 0 else str(code)


@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
def test_a_fork_while_a_thread_reserves_blocks_neither(path):
    ledger, inside, go_on = opened(path), threading.Event(), threading.Event()

    def hold():
        with ledger_file.locked(path, exclusive=True):
            inside.set()
            go_on.wait(300)

    thread = threading.Thread(target=hold)
    thread.start()
    assert inside.wait(300)
    child = os.fork()
    if child == 0:
        # the child keeps living: it must not keep the parent's lock
        signal.alarm(300)
        with contextlib.suppress(BaseException):
            os._exit(ledger.reserve(pure("1/10")))
        os._exit(99)
    go_on.set()
    thread.join(300)
    assert not thread.is_alive()
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 1
    assert ledger.reserve(pure("1/10")) == 2
    assert answer_of_child(ledger) == "3"


def test_a_forked_child_closes_what_it_inherits(path):
    opened(path)
    with ledger_file.locked(path, exclusive=True) as handle:
        child = os.fork()
        if child == 0:
            with contextlib.suppress(OSError):
                os.fstat(handle)
                os._exit(1)
            os._exit(0)
        assert os.waitpid(child, 0)[1] == 0
        os.fstat(handle)


# --- Kills and full disks --------------------------------------------------------------------------------------


def reserving(ledger: ReleaseLedger, told: int) -> int:
    """Fork a process that reserves for ever and writes each number to a pipe; return its id."""
    child = os.fork()
    if child == 0:
        with contextlib.suppress(BaseException):
            while True:
                os.write(told, b"%d\n" % ledger.reserve(pure("1/1000")))
        os._exit(99)
    return child


def test_nothing_that_was_counted_is_lost_when_processes_are_killed(path):
    """Twelve kills at different moments: what a process was told is in the file, whole, and numbered once."""
    ledger = opened(path, epsilon=1000)
    for kill in range(12):
        reading, writing = os.pipe()
        child = reserving(ledger, writing)
        os.close(writing)
        with os.fdopen(reading, "rb") as numbers:
            first = [int(numbers.readline()) for _ in range(1 + kill)]
            os.kill(child, signal.SIGKILL)
            told = [*first, *map(int, numbers)]
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == -signal.SIGKILL
        assert told == list(range(told[0], told[0] + len(told)))
        # at most the one that was on its way was counted and not told
        assert len(ledger.releases) - told[-1] in (0, 1)


LIMITED = """
import resource, sys
from pathlib import Path
from tests.test_ledger_faults import opened, pure
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[2]), int(sys.argv[2])))
ledger = opened(Path(sys.argv[1]))
print(ledger.reserve(pure("1/10")))
"""


@pytest.mark.parametrize(("limit", "word"), [(100, "cannot be made"), (400, "cannot be written")])
def test_a_file_system_that_takes_no_more_leaves_nothing_half_written(path, limit, word):
    words = [sys.executable, "-c", LIMITED, str(path), str(limit)]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert f"MissingLedgerError: {word}: File too large" in done.stderr
    assert {file.name for file in path.parent.iterdir()} <= {path.name}
    assert opened(path).reserve(pure("1/10")) == 1
    assert resource.getrlimit(resource.RLIMIT_FSIZE)[0] != limit


def test_what_a_killed_maker_left_goes_at_the_next_start(path):
    left = path.parent / (ledger_file._scratch_prefix(path) + "abcd")
    left.write_bytes(b'{"schema": "release_led')
    foreign = path.parent / ".ledger.jsonl.abcd"
    foreign.write_bytes(b"")
    opened(path)
    assert {file.name for file in path.parent.iterdir()} == {path.name, foreign.name}


def test_a_maker_that_is_at_work_is_left_alone(path):
    import fcntl

    left = path.parent / (ledger_file._scratch_prefix(path) + "abcd")
    with left.open("wb") as stream:
        fcntl.flock(stream, fcntl.LOCK_EX)
        opened(path)
        assert left.exists()
    ReleaseLedger.open(path)
    assert not left.exists()


# --- Names and files that are none -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name",
    ["nul\0inside", "x" * 5000, "x" * 256, "half\udc80", "nowhere/ledger", "", ".", "/dev/null", "loop", "pipe"],
)
def test_a_name_that_no_ledger_has_is_a_ledger_error(tmp_path, monkeypatch, name):
    monkeypatch.chdir(tmp_path)
    Path("loop").symlink_to("loop")
    os.mkfifo("pipe")
    with pytest.raises(LedgerError) as problem:
        ReleaseLedger.open(name)
    assert len(str(problem.value)) < 20_000
    if name != "half\udc80":
        with pytest.raises(LedgerError):
            opened(name)
    assert {file.name for file in tmp_path.iterdir() if not file.name.startswith("half")} == {"loop", "pipe"}


@pytest.mark.parametrize(
    "line",
    [
        b"[" * 100_000,
        b'{"a":' * 100_000 + b"1" + b"}" * 100_000,
        b'{"digest": ' + b"9" * 5000 + b"}",
        b"\xff" * 100,
        b"\0" * 100,
        b'{"digest": "x", "a": NaN}',
        b'"' + b"x" * 70_000 + b'"',
        b"null",
    ],
)
def test_a_hostile_line_is_a_ledger_error(path, line):
    ledger = opened(path)
    whole = path.read_bytes() + line + b"\n"
    path.write_bytes(whole)
    for use in (lambda: ledger.reserve(pure("1/10")), lambda: ledger.releases, ledger.report):
        with pytest.raises(CorruptLedgerError) as problem:
            use()
        assert len(str(problem.value)) < 1000
    assert path.read_bytes() == whole


def test_a_line_that_would_not_be_read_back_is_refused(path):
    ledger = opened(path)
    before = path.read_bytes()
    with pytest.raises(UncountableReleaseError, match="bytes"):
        ledger.reserve(CountedRelease("m" * 40_000, "replace_one", pure("1/10").privacy))
    assert path.read_bytes() == before
    with pytest.raises(UncountableReleaseError, match="bytes"):
        opened(path.with_name("other"), data="d" * 40_000)


def test_a_file_that_cannot_be_read_is_a_ledger_error(path, monkeypatch):
    ledger = opened(path)

    def broken(*_arguments):
        raise OSError(5, "Input/output error")

    monkeypatch.setattr(ledger_file.os, "pread", broken)
    with pytest.raises(MissingLedgerError, match="Input/output error"):
        ledger.check(pure("1/10"))


# --- Many releases ----------------------------------------------------------------------------------------------


def long_ledger(path: Path, method: str, count: int) -> ReleaseLedger:
    """Return a ledger with so many releases, without waiting for the disk."""
    ledger = opened(path, epsilon=1000, method=method, delta=0 if method == "basic" else "1e-6")
    for _ in range(count):
        ledger.reserve(pure("1/1000"))
    return ledger


@pytest.mark.parametrize(
    ("method", "count"),
    [
        ("basic", 300),
        pytest.param("basic", 1000, marks=pytest.mark.lengthy),
        *(pytest.param(method, 300, marks=pytest.mark.lengthy) for method in METHODS[1:]),
    ],
)
def test_a_late_release_reads_and_writes_no_more_than_the_hundredth(path, monkeypatch, method, count):
    read, append, seen = os.pread, ledger_file.append, []

    def reading(handle, size, place):
        seen.append(len(found := read(handle, size, place)))
        return found

    def appending(handle, line, where):
        seen.append(len(line))
        append(handle, line, where)

    monkeypatch.setattr(ledger_file.os, "fsync", lambda _handle: None)
    ledger = long_ledger(path, method, 0)
    costs = {}
    for number in range(1, count + 1):
        if number in (1, 100, count):
            seen.clear()
            with monkeypatch.context() as counted:
                counted.setattr(ledger_file.os, "pread", reading)
                counted.setattr(release_ledger, "append", appending)
                assert ReleaseLedger.open(path).reserve(pure(f"1/{1000 + 7 * number}")) == number
            costs[number] = sum(seen)
        else:
            ledger.reserve(pure(f"1/{1000 + 7 * number}"))
    # the last lines are read from a window of fixed size, once each time; the first ones do not fill it
    window = 2 * (ledger_file.WINDOW + ledger_file.LONGEST_LINE) + ledger_file.LONGEST_LINE
    assert costs[1] < costs[count] <= costs[100] * 1.01 <= window < path.stat().st_size
    monkeypatch.undo()
    # what the last line holds is what all releases add up to
    last = json.loads(path.read_bytes().splitlines()[-1])
    assert last["total"]["releases"] == len(ledger.releases) == count
    spent = ledger.spent()
    assert spent.releases == count
    assert spent.epsilon <= sum(Fraction(1, 1000 + 7 * number) for number in range(1, count + 1)) * 30


def test_a_change_before_the_last_lines_is_found_where_all_are_read(path, monkeypatch):
    monkeypatch.setattr(ledger_file.os, "fsync", lambda _handle: None)
    ledger = long_ledger(path, "basic", 60)
    lines = path.read_bytes().split(b"\n")
    lines[1] = lines[1].replace(b'"1/1000"', b'"1/9000"').replace(b'"0.001"', b'"0.0001"')
    path.write_bytes(b"\n".join(lines))
    # the count stands in the last line, and is not touched by that
    assert ledger.reserve(pure("1/1000")) == 61
    with pytest.raises(CorruptLedgerError, match="line 2"):
        _ = ledger.releases


def test_a_total_that_is_not_the_sum_is_found(path):
    ledger = opened(path)
    header = path.read_bytes()
    ledger.reserve(pure("1/10"))
    line = json.loads(path.read_bytes().splitlines()[1])
    del line["digest"]
    line["total"]["epsilon"] = "1/20"
    digest = ledger_file._digest(line, header[:-1])
    path.write_bytes(header + json.dumps({**line, "digest": digest}).encode() + b"\n")
    with pytest.raises(CorruptLedgerError, match="total"):
        ledger.check(pure("1/10"))


# --- What is noticed, and what is not ----------------------------------------------------------------------------


@pytest.mark.parametrize("kept", [1, 2])
def test_a_ledger_that_was_put_back_is_noticed_by_who_has_seen_more(path, kept):
    ledger = opened(path)
    for _ in range(2):
        ledger.reserve(pure("1/10"))
    whole = path.read_bytes()
    path.write_bytes(b"".join(whole.splitlines(keepends=True)[:kept]))
    for use in (lambda: ledger.reserve(pure("1/10")), ledger.spent, ledger.report):
        with pytest.raises(CorruptLedgerError, match=f"counts {kept - 1} release"):
            use()
    # who has seen no more cannot know
    assert len(ReleaseLedger.open(path).releases) == kept - 1
    path.write_bytes(whole)
    assert ledger.reserve(pure("1/10")) == 3


@pytest.mark.parametrize(
    ("line", "change"),
    [
        (0, {"method": "sum"}),
        (0, {"epsilon": "1e400"}),
        (0, {"epsilon": "-1"}),
        (0, {"adjacency": "x"}),
        (0, {"data": " "}),
        (1, {"adjacency": "add_or_remove_one"}),
        (1, {"release": 2}),
        (1, {"rows_per_person": 0}),
    ],
)
def test_nonsense_with_a_right_digest_is_a_ledger_error(path, line, change):
    opened(path).reserve(pure("1/10"))
    lines = [json.loads(text) for text in path.read_bytes().splitlines()]
    lines[line] |= change
    written: list[bytes] = []
    for document in lines:
        del document["digest"]
        digest = ledger_file._digest(document, written[-1] if written else b"")
        written.append(json.dumps({**document, "digest": digest}).encode())
    path.write_bytes(b"\n".join(written) + b"\n")
    with pytest.raises(CorruptLedgerError):
        _ = ReleaseLedger.open(path).releases


def test_an_epsilon_beyond_what_gdp_counts_is_a_ledger_error(path):
    ledger = opened(path, method="gdp", delta="1e-6")
    for epsilon in ("1e6", "1e400"):
        with pytest.raises(LedgerError):
            ledger.reserve(pure(epsilon))
    assert ledger.releases == ()
