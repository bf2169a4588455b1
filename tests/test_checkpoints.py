"""Checkpoints: a stopped reading goes on, with the same bits; another file's checkpoint is refused."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow
import pytest
from pyarrow import csv as arrow_csv
from pyarrow import feather, parquet

from reference.accounting.release_ledger import ReleaseLedger
from reference.commands import evaluation
from reference.commands.progress import ProgressBar, ProgressWatch, ReadingPass
from reference.common.errors import CheckpointError, DataError, MomentsTableError
from reference.common.exit_codes import EXIT_FINE, EXIT_USAGE
from reference.datasets import checkpoint as module
from reference.datasets import csv_table
from reference.datasets.checkpoint import CheckpointedSum
from reference.datasets.from_file import FileReader, record_blocks
from reference.datasets.opening import open_table
from reference.domain import Domain
from reference.domain.attributes import Numeric, OneHot
from reference.domain.file import DomainFile
from reference.domain.markers import Marker
from reference.moments import Moments
from reference.records import check_matrix
from tests.command_lines import environment
from tests.file_commands import Run

ROWS = 20_000

DECLARED = DomainFile(
    attributes=(Numeric("a", 0, 10), Numeric("b", -1, 1), OneHot("school", ("none", "some"))),
    label=Marker("y"),
    group=Marker("z"),
)

ENDINGS = ("csv", "csv.gz", "parquet", "arrow")


class StoppedError(Exception):
    """Stands for whatever ends a run."""


@pytest.fixture(autouse=True)
def _small_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a small file have many pieces."""
    monkeypatch.setattr(csv_table, "PIECE_BYTES", 2**16)
    monkeypatch.setattr(csv_table, "LONGEST_LINE", 2**16)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with the same 20,000 records in every format."""
    path = tmp_path_factory.mktemp("formats")
    random = np.random.default_rng(5)
    table = pyarrow.table(
        {
            "a": random.random(ROWS) * 10,
            "b": random.random(ROWS) * 2 - 1,
            "school": np.array(["none", "some"])[random.integers(0, 2, ROWS)],
            "y": random.integers(0, 2, ROWS),
            "z": random.integers(0, 2, ROWS),
        }
    )
    arrow_csv.write_csv(table, path / "people.csv")
    with pyarrow.CompressedOutputStream(str(path / "people.csv.gz"), "gzip") as packed:
        arrow_csv.write_csv(table, packed)
    parquet.write_table(table, path / "people.parquet", row_group_size=6_000)
    feather.write_feather(table, path / "people.arrow", chunksize=6_000, compression="uncompressed")
    return path


@pytest.fixture(scope="module")
def expected(folder: Path) -> dict[str, int]:
    return Moments.of(record_blocks(open_table(folder / "people.csv"), DECLARED).collect(), exact=True).table()


def read(path: Path, kept: Path, stop: int | None = None, rows: int = 2_000) -> tuple[Moments, int]:
    """Return the moments and the number of records read; stop the reading after so many of them."""
    seen = 0

    def told(count: int, _share: float | None) -> None:
        nonlocal seen
        seen += count
        if stop is not None and seen > stop:
            raise StoppedError

    reader = FileReader(open_table(path), DECLARED, rows, told)
    return CheckpointedSum(str(kept), 0.0).moments(reader), seen


@pytest.mark.parametrize("ending", ENDINGS)
@pytest.mark.parametrize("stops", [(1,), (12_000,), (12_000, 6_000), (ROWS - 1,)])
def test_stopped_reading_goes_on_with_the_same_bits(
    folder: Path, expected: dict[str, int], ending: str, stops: tuple[int, ...], tmp_path: Path
) -> None:
    path, kept = folder / f"people.{ending}", tmp_path / "kept.json"
    rows = (2_000, 2_500, 1_000)
    for stop, at_a_time in zip(stops, rows, strict=False):
        with pytest.raises(StoppedError):
            read(path, kept, stop, at_a_time)
    before = json.loads(kept.read_text())["moments"]["n"] if kept.exists() else 0
    moments, seen = read(path, kept, None, rows[len(stops)])
    assert moments.table() == expected
    # nothing is read twice
    assert before + seen == ROWS
    assert before > 0 or stops == (1,)
    # the whole is kept too
    assert read(path, kept)[1] == 0


def test_killed_process_goes_on_with_the_same_bits(folder: Path, expected: dict[str, int], tmp_path: Path) -> None:
    program = (
        "import os, signal, sys\n"
        "from pathlib import Path\n"
        "from tests import test_checkpoints as t\n"
        "from reference.datasets.from_file import FileReader\n"
        "seen = []\n"
        "def told(count, share):\n"
        "    seen.append(count)\n"
        "    if len(seen) == 6: os.kill(os.getpid(), signal.SIGKILL)\n"
        "reader = FileReader(t.open_table(Path(sys.argv[1])), t.DECLARED, 2_000, told)\n"
        "t.CheckpointedSum(sys.argv[2], 0.0).moments(reader)\n"
    )
    path, kept = folder / "people.parquet", tmp_path / "kept.json"
    done = subprocess.run(
        [sys.executable, "-c", program, str(path), str(kept)], env=environment(), check=False, timeout=240
    )
    assert done.returncode == -signal.SIGKILL
    assert json.loads(kept.read_text())["moments"]["n"] > 0
    moments, seen = read(path, kept)
    assert moments.table() == expected
    assert seen < ROWS


def changed(kept: Path, change: Callable[[dict[str, Any]], None]) -> None:
    document = json.loads(kept.read_text())
    change(document)
    kept.write_text(json.dumps(document))


@pytest.fixture
def halfway(folder: Path, tmp_path: Path) -> tuple[Path, Path]:
    """Return a copy of the Parquet file, and the checkpoint of a stopped reading of it."""
    path, kept = tmp_path / "people.parquet", tmp_path / "kept.json"
    path.write_bytes((folder / "people.parquet").read_bytes())
    with pytest.raises(StoppedError):
        read(path, kept, 12_000)
    return path, kept


def test_checkpoint_of_a_changed_file_is_refused(halfway: tuple[Path, Path]) -> None:
    path, kept = halfway
    state = path.stat()
    os.utime(path, ns=(state.st_atime_ns, state.st_mtime_ns + 1))
    with pytest.raises(CheckpointError, match="its modified is"):
        read(path, kept)
    content = bytearray(path.read_bytes())
    content[100] ^= 1
    path.write_bytes(content)
    os.utime(path, ns=(state.st_atime_ns, state.st_mtime_ns))
    with pytest.raises(CheckpointError, match="its ends is"):
        read(path, kept)


def test_another_file_of_the_same_size_time_and_ends_is_refused(folder: Path, tmp_path: Path) -> None:
    path, kept = tmp_path / "people.csv", tmp_path / "kept.json"
    content = bytearray((folder / "people.csv").read_bytes())
    path.write_bytes(content)
    with pytest.raises(StoppedError):
        read(path, kept, 12_000)
    state, middle = path.stat(), len(content) // 2
    digit = next(place for place in range(middle, len(content)) if chr(content[place]) in "12")
    content[digit] ^= 3
    path.write_bytes(content)
    os.utime(path, ns=(state.st_atime_ns, state.st_mtime_ns))
    with pytest.raises(CheckpointError, match="its changed is"):
        read(path, kept)


def test_checkpoint_of_another_file_or_domain_is_refused(halfway: tuple[Path, Path], folder: Path) -> None:
    path, kept = halfway
    with pytest.raises(CheckpointError, match="its path is"):
        read(folder / "people.parquet", kept)
    changes: tuple[dict[str, Any], ...] = (
        {"norm": "unit_box"},
        {"intercept": True},
        {"group": None, "ignore": ("z",)},
    )
    for other in (DECLARED.with_(**change) for change in changes):
        with pytest.raises(CheckpointError, match="belongs to another domain file"):
            CheckpointedSum(str(kept)).moments(FileReader(open_table(path), other))


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda d: d["moments"].update(n=d["moments"]["n"] + 1), "is damaged"),
        (lambda d: d["behind"].update(record=1), "is damaged"),
        (lambda d: d.update(ended=True), "is damaged"),
        (lambda d: d.pop("digest"), "digest"),
        (lambda d: d.update(schema="checkpoint_v0"), "schema"),
    ],
)
def test_damaged_checkpoint_is_refused(
    halfway: tuple[Path, Path], change: Callable[[dict[str, Any]], None], said: str
) -> None:
    path, kept = halfway
    changed(kept, change)
    with pytest.raises(CheckpointError, match=said):
        read(path, kept)


def test_checkpoint_of_another_version_is_refused(
    halfway: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "__version__", "0.0.9")
    with pytest.raises(CheckpointError, match=r"of version .* of this package, not 0\.0\.9"):
        read(*halfway)


def test_two_readings_on_one_checkpoint_find_the_same_bits(
    folder: Path, expected: dict[str, int], tmp_path: Path
) -> None:
    """The second reading begins, goes on from the first one's checkpoint and ends while the first one reads."""
    path, kept, found = folder / "people.parquet", tmp_path / "kept.json", []

    def told(_count: int, _share: float | None) -> None:
        if kept.exists() and not found:
            found.append(None)
            found.append(read(path, kept)[0].table())
            kept.unlink()

    first = CheckpointedSum(str(kept), 0.0).moments(FileReader(open_table(path), DECLARED, 2_000, told))
    assert (first.table(), found) == (expected, [None, expected])


def test_torn_checkpoint_is_refused(halfway: tuple[Path, Path]) -> None:
    path, kept = halfway
    kept.write_text(kept.read_text()[:-40])
    with pytest.raises(CheckpointError, match="is not JSON"):
        read(path, kept)


def test_full_disk_leaves_the_earlier_checkpoint(
    halfway: tuple[Path, Path], expected: dict[str, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    path, kept = halfway
    before = kept.read_bytes()

    def full(_handle: int) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", full)
        with pytest.raises(CheckpointError, match="cannot be written: No space left on device"):
            read(path, kept)
    assert kept.read_bytes() == before
    assert sorted(entry.name for entry in kept.parent.iterdir()) == ["kept.json", "people.parquet"]
    assert read(path, kept)[0].table() == expected


def test_bad_record_after_a_checkpoint_is_named_with_its_row(tmp_path: Path) -> None:
    lines = ["1,0,none,0,1\n"] * 20_000
    lines[15_000] = "1,nan,none,0,1\n"
    path, kept = tmp_path / "people.csv", tmp_path / "kept.json"
    path.write_text("a,b,school,y,z\n" + "".join(lines))
    for _ in range(2):
        with pytest.raises(DataError) as caught:
            read(path, kept)
        assert (caught.value.record, caught.value.row, caught.value.column) == (15_001, 15_002, "b")
    assert 0 < json.loads(kept.read_text())["moments"]["n"] <= 15_000


# --- The command ---------------------------------------------------------------------------------------------


def words(name: str) -> list[str]:
    return ["fit", "--data", name, "--domain", "domain.json", "--test-share", "0", "--format", "json"]


def test_fit_goes_on_from_a_checkpoint_and_removes_it(
    run: Run, files: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "EVERY", 0.0)
    asked = [*words("people.parquet"), "--checkpoint", "kept.json", "--trace", "trace.json", "--block-rows", "50"]
    stopped = list(range(3))

    def stopping(self: FileReader, start: Any = None) -> Any:
        for found in placed(self, start):
            if not stopped.pop():
                raise KeyboardInterrupt
            yield found

    placed = FileReader.placed
    with monkeypatch.context() as patch:
        patch.setattr(FileReader, "placed", stopping)
        code, _, err = run(*asked)
    assert code == 130 or "interrupted" in err.lower()
    assert "what was read is kept in kept.json: repeat the command to go on" in err
    assert 0 < json.loads((files / "kept.json").read_text())["moments"]["n"] < 300
    assert not (files / "trace.json").exists()
    code, _, err = run(*asked)
    assert (code, err) == (EXIT_FINE, "")
    assert not (files / "kept.json").exists()
    resumed = json.loads((files / "trace.json").read_text())["moments"]
    run(*words("people.parquet"), "--trace", "trace.json")
    assert resumed == json.loads((files / "trace.json").read_text())["moments"]


def test_fit_that_ends_after_its_reservation_stays_counted(
    run: Run, files: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run("ledger", "create", "l.jsonl", "--data", "people", "--epsilon", "9")
    asked = [*words("people.parquet"), "--checkpoint", "kept.json", "--ledger", "l.jsonl", "--release", "r.json"]

    def ended(*_arguments: Any, **_named: Any) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(evaluation, "evaluate", ended)
        # one more would be a second release
        assert "to go on" not in run(*asked)[2]
    ledger = ReleaseLedger.open(files / "l.jsonl")
    assert (len(ledger.releases), (files / "r.json").exists()) == (1, False)
    assert json.loads((files / "kept.json").read_text())["ended"]
    # the sums are read again, and the second release is a second one
    assert run(*asked)[0] == EXIT_FINE
    assert (len(ledger.releases), (files / "r.json").exists(), (files / "kept.json").exists()) == (2, True, False)


KILLED_WHEN_COUNTED = """
import os, signal, sys
from reference.accounting.release_ledger import ReleaseLedger
from tests.command_lines import reference
reserve = ReleaseLedger.reserve
def killed(ledger, release):
    reserve(ledger, release)
    os.kill(os.getpid(), signal.SIGKILL)
ReleaseLedger.reserve = killed
reference(*sys.argv[1:])
"""


def test_killed_between_reservation_and_release_stays_counted_once(run: Run, files: Path) -> None:
    run("ledger", "create", "l.jsonl", "--data", "people", "--epsilon", "3/2")
    asked = ["fit", "--data", "people.parquet", "--domain", "domain.json", "--test-share", "0", "--epsilon", "1"]
    asked += ["--checkpoint", "kept.json", "--ledger", "l.jsonl", "--release", "r.json"]
    words = [sys.executable, "-c", KILLED_WHEN_COUNTED, *asked]
    done = subprocess.run(words, capture_output=True, env=environment(), check=False, cwd=files, timeout=240)
    assert (done.returncode, done.stdout) == (-signal.SIGKILL, b"")
    ledger = ReleaseLedger.open(files / "l.jsonl")
    assert (len(ledger.releases), (files / "r.json").exists()) == (1, False)
    assert json.loads((files / "kept.json").read_text())["ended"]
    once = ledger.spent().epsilon
    # what was reserved is spent: the rerun is a second release, says so, and there is no room for a third
    code, out, _ = run(*asked)
    assert (code, "2 release(s) in all." in " ".join(out.split())) == (EXIT_FINE, True), out
    assert ((files / "r.json").exists(), (files / "kept.json").exists()) == (True, False)
    assert ledger.spent().epsilon == 2 * once < 1.5 < 3 * once
    (files / "r.json").unlink()
    code, out, err = run(*asked)
    assert (code, out, err.count("\n")) == (EXIT_USAGE, "", 1)
    assert "l.jsonl" in err
    assert (len(ledger.releases), (files / "r.json").exists()) == (2, False)


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (["--test-share", "0.2"], "--test-share 0"),
        (["--test-share", "0", "--seed", "1"], "--seed"),
        (["--test-share", "0", "--mechanism", "lr"], "more than exact sums"),
        (["--test-share", "0", "--mechanism", "all"], "more than exact sums"),
        (["--test-share", "0", "--mechanism", "repaired"], "left out with repaired"),
        (["--test-share", "0", "--data", "affairs"], "not a file"),
    ],
)
def test_checkpoint_is_refused_where_it_would_not_serve(run: Run, files: Path, more: list[str], said: str) -> None:
    data = [] if "affairs" in more else ["--data", "people.csv", "--domain", "domain.json"]
    code, out, err = run("fit", *data, "--checkpoint", "kept.json", *more)
    assert (code, out, err.count("\n")) == (EXIT_USAGE, "", 1)
    assert said in err
    assert not (files / "kept.json").exists()


def test_checkpoint_over_the_data_is_refused(run: Run, files: Path) -> None:
    before = (files / "people.csv").read_bytes()
    code, _, err = run(*words("people.csv"), "--checkpoint", "people.csv")
    assert (code, "another file than that of data" in err) == (EXIT_USAGE, True)
    assert (files / "people.csv").read_bytes() == before


# --- Tables of moments, progress -----------------------------------------------------------------------------


def test_table_of_moments_gives_them_back(expected: dict[str, int]) -> None:
    moments = Moments.from_table(DECLARED.domain, expected)
    assert moments.exact
    assert moments.table() == expected
    assert Moments.from_table(DECLARED.domain, {**expected, "refused": 0}).table() == expected


@pytest.mark.parametrize("value", [0.0, 1.0])
def test_table_of_one_record_at_a_corner_gives_it_back(value: float) -> None:
    domain = Domain.of_columns(["a", "b"], norm="unit_box")
    table = Moments.of(check_matrix(domain, [[value, 1.0]], [value], [value]), exact=True).table()
    assert Moments.from_table(domain, table).table() == table
    with pytest.raises(MomentsTableError, match="sum_z"):
        Moments.from_table(Domain.of_columns(["a", "b"], norm="unit_box", with_group=False), {**table, "sum_z": 1})


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"n": 0}, "no record"),
        ({"sum_z": ROWS + 1}, "sum_z"),
        ({"x_0": 0.5}, "not a whole number"),
        ({"xx_0_0": -1}, "have such sums of 'a'"),
        ({"x_1": 2**62}, "have such sums of 'b'"),
        ({"x_9": 1}, "not a moment of this domain"),
        ({"refused": 2}, "does not admit"),
    ],
)
def test_impossible_table_of_moments_is_refused(expected: dict[str, int], change: Any, said: str) -> None:
    with pytest.raises(MomentsTableError, match=said):
        Moments.from_table(DECLARED.domain, {**expected, **change})
    without = {name: value for name, value in expected.items() if name != "zx_0"}
    with pytest.raises(MomentsTableError, match="zx_0"):
        Moments.from_table(DECLARED.domain, without)


def test_progress_says_the_rate_and_the_time_left() -> None:
    assert ReadingPass(10.0, 0.1).text(10.0) == "reading"
    going = ReadingPass(10.0, 0.1, records=50_000, share=0.3)
    assert going.text(15.0) == "50,000 records read, 10,000 a second, 0:18 left"
    assert ReadingPass(10.0, 0.0, records=50_000).text(15.0) == "50,000 records read, 10,000 a second"


def test_progress_says_which_pass_begins_anew() -> None:
    clock = iter([10.0, 11.0, 20.0, 22.0])
    watch = ProgressWatch(ProgressBar("fit", quiet=True), lambda: next(clock))
    said = []
    for share in (0.5, 1.0, 0.5, 1.0):
        watch.read(100, share)
        said.append(watch.shown.desc)
    first, second = "100 records read, 100 a second, 0:00 left", "pass 2: 100 records read, 50 a second, 0:00 left"
    assert said == ["fit: reading", f"fit: {first}", "fit: reading", f"fit: {second}"]
