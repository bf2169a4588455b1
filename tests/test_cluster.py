"""Moments from several worker processes: the same bits, whatever happens to a worker; else one clear line."""

from __future__ import annotations

import json
import logging
import os
import re
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterable, Iterator
from contextlib import suppress
from functools import partial
from pathlib import Path
from threading import Lock
from typing import Any

import dask
import distributed
import numpy as np
import pyarrow
import pytest
from distributed.utils import get_mp_context
from pyarrow import parquet

from audit.auditor.distinguish import Estimate, Terms, estimate
from audit.auditor.subject import DrawingError
from audit.gate.running import program, reference
from audit.subjects.catalogue import Laplace
from reference.accounting.release_ledger import ReleaseLedger
from reference.common import scheduler as module
from reference.common.errors import ClusterError, MissingExtraError, NotANumberError, UnreadableFileError
from reference.common.exit_codes import EXIT_FINE, EXIT_UNDECIDED, EXIT_USAGE
from reference.common.scheduler import on_cluster
from reference.datasets.arrow_table import ParquetTable
from reference.datasets.checkpoint import CheckpointedSum
from reference.datasets.cluster import Cluster, FilePart, answer
from reference.datasets.file_identity import FileIdentity
from reference.datasets.from_file import FileReader, record_blocks
from reference.datasets.opening import open_table
from reference.datasets.table import Block, Place
from reference.domain.attributes import Numeric
from reference.domain.file import DomainFile
from reference.domain.markers import Marker
from reference.experiments import frontier
from reference.moments import Moments, sum_of
from reference.records import Records
from tests.command_lines import environment, killed_at_last
from tests.file_commands import Run, listing

audit = program()

ROWS, GROUP = 40_000, 4_000

DECLARED = DomainFile(attributes=(Numeric("a", 0, 10), Numeric("b", -1, 1)), label=Marker("y"), group=Marker("z"))


def columns() -> dict[str, Any]:
    random = np.random.default_rng(6)
    z = (np.arange(ROWS) // GROUP == 5).astype(int)
    values = {"a": random.random(ROWS) * 10, "b": random.random(ROWS) * 2 - 1}
    return {**values, "y": random.integers(0, 2, ROWS), "z": z}


def write(path: Path, held: dict[str, Any]) -> Path:
    parquet.write_table(pyarrow.table(held), path, row_group_size=GROUP)
    return path


@pytest.fixture(scope="module")
def people(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write(tmp_path_factory.mktemp("cluster") / "people.parquet", columns())


@pytest.fixture(scope="module")
def expected(people: Path) -> Moments:
    return record_blocks(open_table(people), DECLARED).moments(exact=True)


@pytest.fixture(scope="module")
def scheduler() -> Iterator[str]:
    """Yield the address of a scheduler with two worker processes; one that dies is replaced."""
    # one death is enough to give up a part that ends every worker
    settings = {
        "distributed.scheduler.allowed-failures": 1,
        "distributed.worker.multiprocessing-method": "forkserver",
    }
    with dask.config.set(settings):
        # a worker that comes back imports nothing again
        get_mp_context().set_forkserver_preload(["distributed", __name__])
        with distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, dashboard_address="127.0.0.1:0", silence_logs=logging.CRITICAL
        ) as made:
            yield made.scheduler_address


@pytest.fixture(autouse=True)
def _patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a worker that was ended take its time to come back on a busy machine."""
    monkeypatch.setattr(module, "CONNECTING", 120.0)
    monkeypatch.setattr(module, "SILENT", 60.0)


def reader(path: Path, on_block: Any = None) -> FileReader:
    return FileReader(open_table(path), DECLARED, 1_500, on_block)


def test_two_workers_find_the_same_moments(scheduler: str, people: Path, expected: Moments) -> None:
    told: list[tuple[int, float | None]] = []
    with Cluster(scheduler, part_rows=10_000) as cluster:
        found = cluster.moments(reader(people, lambda *facts: told.append(facts)))
    assert found.table() == expected.table()
    assert told == [(12_000, 0.3), (12_000, 0.6), (12_000, 0.9), (4_000, 1.0)]


def once(marker: str, blocks: Iterable[Records]) -> Moments:
    """Add up a part; the first worker to have read a block of one ends itself there, as if out of memory."""
    seen = []
    for block in blocks:
        with suppress(FileExistsError):
            os.close(os.open(marker, os.O_CREAT | os.O_EXCL))
            os.kill(os.getpid(), signal.SIGKILL)
        seen.append(block)
    return sum_of(seen, DECLARED.domain, exact=True)


def test_killed_worker_loses_nothing_and_doubles_nothing(
    scheduler: str, people: Path, expected: Moments, tmp_path: Path
) -> None:
    marker = tmp_path / "killed"
    with Cluster(scheduler, part_rows=1) as cluster:
        found = cluster.fold(reader(people), partial(once, str(marker)))
    assert marker.exists()
    assert found.table() == expected.table()


def fatal(blocks: Iterable[Records]) -> Moments:
    """End every worker that reads the part with a member of group 1."""
    blocks = list(blocks)
    if any(block.z is not None and block.z.any() for block in blocks):
        os.kill(os.getpid(), signal.SIGKILL)
    return sum_of(blocks, DECLARED.domain, exact=True)


def test_part_that_ends_every_worker_is_named(scheduler: str, people: Path) -> None:  # the other meets one end
    said = "^cluster: every worker on rows 20,001 to 40,000 was ended: did it run out of memory"
    with Cluster(scheduler, part_rows=20_000) as cluster, pytest.raises(ClusterError, match=said):
        cluster.fold(reader(people), fatal)


def broken(_blocks: Iterable[Records]) -> Moments:
    raise MemoryError("cannot allocate")


def test_failure_of_a_worker_is_one_line(scheduler: str, people: Path) -> None:
    with Cluster(scheduler, part_rows=ROWS) as cluster, pytest.raises(ClusterError) as caught:
        cluster.fold(reader(people), broken)
    assert str(caught.value) == "cluster: a worker failed on rows 1 to 40,000: MemoryError: cannot allocate"


def test_bad_record_is_named_with_its_row_whoever_reads_it(scheduler: str, tmp_path: Path) -> None:
    held = columns()
    held["b"][[13_579, 30_000]] = np.nan
    path = write(tmp_path / "people.parquet", held)
    for rows in (1, 10_000, ROWS):
        with Cluster(scheduler, part_rows=rows) as cluster, pytest.raises(NotANumberError) as caught:
            cluster.moments(reader(path))
        assert (caught.value.record, caught.value.column) == (13_580, "b")
        assert caught.value.file == str(path)


def test_scheduler_that_is_not_there_is_said(people: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "CONNECTING", 0.5)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = f"tcp://127.0.0.1:{free.getsockname()[1]}"
    for bad in (address, "nonsense://x"):
        before = threading.active_count()
        with Cluster(bad) as cluster, pytest.raises(ClusterError, match=f"there is no scheduler at {bad}"):
            cluster.moments(reader(people))
        assert bad == address or threading.active_count() == before


def test_nothing_is_released_where_the_cluster_fails(
    scheduler: str, run: Run, files: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "CONNECTING", 0.5)
    asked = "fit --data people.parquet --domain domain.json --test-share 0 --release r.json"
    table = parquet.read_table(files / "people.parquet").to_pydict()
    table["age"][123] = float("nan")
    for address, said in (("tcp://127.0.0.1:9", "no scheduler"), (scheduler, "row 124, column 'age'")):
        code, out, err = run(*asked.split(), "--scheduler", address)
        assert (code, out, err.count("\n")) == (EXIT_USAGE, "", 1)
        assert said in err
        assert not (files / "r.json").exists()
        parquet.write_table(pyarrow.table(table), files / "people.parquet")


SCHEDULER = """
import logging, sys
from distributed import LocalCluster
quiet = {"dashboard_address": "127.0.0.1:0", "silence_logs": logging.CRITICAL}
with LocalCluster(n_workers=1, threads_per_worker=1, **quiet) as made:
    print(made.scheduler_address, flush=True)
    sys.stdin.read()
"""


@pytest.fixture
def mortal() -> Iterator[tuple[str, int]]:
    """Yield the address and the process of a scheduler that may be killed; its worker ends with it."""
    words = [sys.executable, "-c", SCHEDULER]
    piped = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
    with subprocess.Popen(words, env=environment(), text=True, **piped) as made:
        assert made.stdout is not None
        yield made.stdout.readline().strip(), made.pid
        made.kill()


def ending(scheduler: int, blocks: Iterable[Records]) -> Moments:
    """Kill the scheduler in the middle of a part, then add the part up."""
    seen = []
    for block in blocks:
        seen.append(block)
        with suppress(ProcessLookupError):
            os.kill(scheduler, signal.SIGKILL)
    return sum_of(seen, DECLARED.domain, exact=True)


def test_scheduler_that_dies_midway_releases_and_counts_nothing(
    mortal: tuple[str, int], run: Run, files: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    address, process = mortal
    run("ledger", "create", "l.jsonl", "--data", "people", "--epsilon", "9")
    before = listing(files)
    monkeypatch.setattr(Cluster, "moments", lambda self, reader: self.fold(reader, partial(ending, process)))
    asked = ["--data", "people.parquet", "--domain", "domain.json", "--test-share", "0", "--ledger", "l.jsonl"]
    code, out, err = run("fit", *asked, "--release", "r.json", "--scheduler", address)
    assert (code, out) == (EXIT_USAGE, "")
    assert err == "error: cluster: the scheduler went away during rows 1 to 300\n"
    assert ReleaseLedger.open(files / "l.jsonl").releases == ()
    assert listing(files) == before


def test_missing_extra_is_said_with_its_command(people: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    with Cluster("local") as cluster, pytest.raises(MissingExtraError, match=r"pip install .*\[scale\]"):
        cluster.moments(reader(people))


def test_worker_that_sees_another_file_refuses_it(tmp_path: Path) -> None:
    path = write(tmp_path / "people.parquet", columns())
    part = FilePart(FileIdentity.of(path), DECLARED, Place(), 4_001, 1_500)
    work = partial(sum_of, domain=DECLARED.domain, exact=True)
    assert answer(part, work).n == 4_000
    # a row group of another schema is another file
    write(path, {**columns(), "more": np.zeros(ROWS)})
    with pytest.raises(UnreadableFileError, match="another file at this path"):
        answer(part, work)


def test_parts_follow_from_the_file_alone(people: Path, tmp_path: Path) -> None:
    def ends(rows: int, path: Path) -> list[tuple[int, int]]:
        return [(part.start.record, part.stop) for part in Cluster("", rows)._parts(reader(path))]

    assert ends(ROWS, people) == [(1, ROWS + 1)]
    assert ends(15_000, people) == [(1, 16_001), (16_001, 32_001), (32_001, ROWS + 1)]
    # empty row groups are in no part of their own
    schema = pyarrow.table(columns()).schema
    with parquet.ParquetWriter(tmp_path / "gaps.parquet", schema) as writer:
        for count in (0, 3, 0, 0, 2, 0):
            writer.write_table(pyarrow.table(columns()).slice(0, count))
    gaps = tmp_path / "gaps.parquet"
    assert ends(1, gaps) == [(1, 4), (4, 6)]
    work = partial(sum_of, domain=DECLARED.domain, exact=True)
    found = [answer(part, work) for part in Cluster("", 1)._parts(reader(gaps))]
    whole = record_blocks(open_table(gaps), DECLARED).moments(exact=True)
    assert (found[0] + found[1]).table() == whole.table()


def test_part_decodes_nothing_behind_its_end(people: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    decoded: list[int] = []
    blocks = ParquetTable.blocks

    def counted(*given: Any) -> Iterator[Block]:
        for block in blocks(*given):
            decoded.append(block.records[-1])
            yield block

    monkeypatch.setattr(ParquetTable, "blocks", counted)
    # a call has one thread
    monkeypatch.setattr(threading.Thread, "start", None)
    part = FilePart(FileIdentity.of(people), DECLARED, Place(record=4_001), 8_001, 1_500)
    assert sum(map(len, part.blocks())) == GROUP
    assert decoded == [5_500, 7_000, 8_000]
    with pytest.raises(TypeError):
        next(FileReader(open_table(people), DECLARED).read())


def test_files_without_row_groups_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "people.csv"
    path.write_text("a,b,y,z\n1,0,0,1\n")
    with pytest.raises(ClusterError, match=r"workers read row groups of a Parquet file, and people\.csv has none"):
        Cluster("")._parts(reader(path))


def test_fit_on_a_scheduler_gives_the_same_moments_and_metrics(scheduler: str, run: Run, files: Path) -> None:
    asked = ["fit", "--data", "people.parquet", "--domain", "domain.json", "--test-share", "0"]
    asked += ["--format", "json", "--trace", "trace.json"]
    assert run(*asked)[0] == EXIT_FINE
    alone = json.loads((files / "trace.json").read_text())["moments"]
    code, out, err = run(*asked, "--scheduler", scheduler)
    assert (code, err) == (EXIT_FINE, "")
    assert json.loads((files / "trace.json").read_text())["moments"] == alone
    assert json.loads(out)["metrics"]["accuracy"]["mean"] is not None
    assert run(*asked, "--scheduler", scheduler, "--checkpoint", "kept.json")[0] == EXIT_FINE
    assert json.loads((files / "trace.json").read_text())["moments"] == alone
    assert not (files / "kept.json").exists()


class StoppedError(Exception):
    pass


@pytest.mark.parametrize("before", ["here", "there"])
def test_stopped_sum_goes_on_from_its_checkpoint_on_a_cluster(
    scheduler: str, people: Path, expected: Moments, tmp_path: Path, before: str
) -> None:
    kept, seen = tmp_path / "kept.json", [0]

    def told(count: int, _share: float | None) -> None:
        seen[0] += count
        if stopped and seen[0] > 10_000:
            raise StoppedError

    with Cluster(scheduler, part_rows=1) as cluster:
        # a reading here begins with a checkpoint within a row group
        stopped, sums = True, cluster.sums if before == "there" else None
        with pytest.raises(StoppedError):
            CheckpointedSum(str(kept), 0.0, sums).moments(reader(people, told))
        held = json.loads(kept.read_text())["moments"]["n"]
        assert held in {"here": range(1_500, 10_000), "there": range(4_000, 8_001, 4_000)}[before]
        stopped, seen[0] = False, 0
        moments = CheckpointedSum(str(kept), 0.0, cluster.sums).moments(reader(people, told))
    assert (moments.table(), held + seen[0]) == (expected.table(), ROWS)


INTERRUPTED = """
import sys
from functools import partial
from tests import test_cluster
from tests.command_lines import reference
work = partial(test_cluster.waiting, sys.argv.pop(1))
test_cluster.Cluster.moments = lambda self, reader: self.fold(reader, work)
sys.exit(reference(*sys.argv[1:]))
"""


def waiting(marker: str, blocks: Iterable[Records]) -> Moments:
    """Say that a worker is at work, and never end."""
    Path(marker).touch()
    time.sleep(600)
    return sum_of(blocks, DECLARED.domain, exact=True)


def test_interruption_of_a_cluster_is_one_line_and_releases_nothing(run: Run, files: Path, tmp_path: Path) -> None:
    run("ledger", "create", "l.jsonl", "--data", "people", "--epsilon", "9")
    marker = tmp_path / "working"
    asked = "--data people.parquet --domain domain.json --test-share 0 --ledger l.jsonl --release r.json"
    words = [sys.executable, "-c", INTERRUPTED, str(marker), "fit", *asked.split(), "--scheduler", "local"]
    piped = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "env": environment(), "text": True}
    # as a terminal sends it: to the command and to its workers
    with subprocess.Popen(words, start_new_session=True, **piped) as started, killed_at_last(started):
        while not marker.exists():
            assert started.poll() is None, started.communicate()
            time.sleep(0.05)
        os.killpg(started.pid, signal.SIGINT)
        out, err = started.communicate(timeout=60)
    assert (started.returncode, out, err) == (EXIT_UNDECIDED, "", "error: interrupted: nothing was decided\n")
    assert ReleaseLedger.open(files / "l.jsonl").releases == ()
    assert not (files / "r.json").exists()


# --- Draws, claims and experiments ------------------------------------------------------------------------------


CALLS: list[int] = []


class EndsWorkers(Laplace):
    """A Laplace mechanism in small chunks; a worker ends itself at a call: the first to, or every one."""

    most_rows = 2_000

    def __init__(self, marker: Path | None, call: int) -> None:
        super().__init__(1.0)
        self.home, self.marker, self.call = os.getpid(), marker, call

    def sample(self, data: Any, count: int, rng: np.random.Generator) -> Any:
        if os.getpid() != self.home:
            CALLS.append(count)
            if len(CALLS) >= self.call and (self.marker is None or not self.marker.exists()):
                if self.marker is not None:
                    self.marker.touch()
                os.kill(os.getpid(), signal.SIGKILL)
        return super().sample(data, count, rng)


def estimated(subject: Laplace) -> Estimate:
    return estimate(subject, Terms(delta=0, draws=120_000, significance=0.05), np.random.default_rng(3))


@pytest.mark.parametrize("call", [12, 10**9])
def test_killed_worker_loses_no_draw_and_doubles_none(scheduler: str, tmp_path: Path, call: int) -> None:
    marker = tmp_path / "killed"
    subject = EndsWorkers(marker, call)
    with on_cluster(scheduler):
        spread = estimated(subject)
    assert marker.exists() == (call == 12)
    alone = estimated(subject)
    for mine, other in ((spread.ideal, alone.ideal), (spread.implementation, alone.implementation)):
        assert (mine.counts, mine.event.to_json()) == (other.counts, other.event.to_json())
    assert spread.draws == alone.draws
    assert np.array_equal(spread.histogram, alone.histogram)


def test_draws_that_end_every_worker_give_no_bound(scheduler: str) -> None:
    with on_cluster(scheduler), pytest.raises(ClusterError, match=r"^cluster: every worker on task \d+ was ended"):
        estimated(EndsWorkers(None, 1))


class Fails(Laplace):
    """A Laplace mechanism that fails on a worker, by itself or where it is sent."""

    def __init__(self, problem: Exception | None) -> None:
        super().__init__(1.0)
        self.home, self.problem, self.unsent = os.getpid(), problem, None if problem else Lock()

    def sample(self, data: Any, count: int, rng: np.random.Generator) -> Any:
        if os.getpid() != self.home and self.problem is not None:
            raise self.problem
        return super().sample(data, count, rng)


def test_failure_of_a_subject_is_told_as_without_a_cluster(scheduler: str) -> None:
    with on_cluster(scheduler):
        with pytest.raises(DrawingError, match=r"sample\(\) failed: ValueError: no more"):
            estimated(Fails(ValueError("no more")))
        with pytest.raises(ClusterError, match=r"^cluster: a worker failed on task 1: "):
            estimated(Fails(None))


def test_commands_find_on_a_cluster_what_they_find_here(
    scheduler: str, capsys: pytest.CaptureFixture[str]
) -> None:
    def printed(main: Any, words: str) -> str:
        assert main(words.split()) == EXIT_FINE
        return re.sub(r"in [\d.]+ s", "", capsys.readouterr().out)

    for main, words in (
        (audit, "estimate laplace --epsilon 1 --draws 20000 --seed 1"),
        (audit, "claims --claim T1 --format json"),
        (reference, "experiments fig3a --data affairs --splits 1 --subset-size 600 --format json --quiet"),
    ):
        assert printed(main, f"{words} --scheduler {scheduler}") == printed(main, words)


def test_frontier_finds_on_a_cluster_what_it_finds_here(scheduler: str, monkeypatch: pytest.MonkeyPatch) -> None:
    design = frontier.FrontierDesign("affairs", splits=2, subset_size=100, epsilons=("1",))
    here = frontier.measure(design)
    monkeypatch.setattr(frontier, "repaired_logistic", None)
    with on_cluster(scheduler):
        spread = frontier.measure(design)
    assert all(row.pop("fit_seconds")["mean"] > 0 for row in spread["rows"] + here["rows"])
    assert spread == here


@pytest.mark.parametrize(
    "words", ["estimate laplace --draws 2000", "claims --claim T1", "estimate --program true --draws 2000"]
)
def test_audit_without_its_scheduler_is_one_line(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, words: str
) -> None:
    monkeypatch.setattr(module, "CONNECTING", 0.5)
    assert audit([*words.split(), "--scheduler", "tcp://127.0.0.1:9"]) == EXIT_USAGE
    out, err = capsys.readouterr()
    assert (out, err.count("\n")) == ("", 1)
    assert "scheduler" in err


def test_audit_says_which_extra_a_cluster_needs(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    assert audit(["claims", "--claim", "T1", "--scheduler", "local"]) == EXIT_USAGE
    assert "pip install 'calibrated-functional-mechanism[scale]'" in capsys.readouterr().err
