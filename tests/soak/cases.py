"""One case of each kind from its number: what was tried, and how it ended."""

from __future__ import annotations

import contextlib
import io
import json
import os
import random
import resource
import shlex
import tempfile
import warnings
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any
from unittest import mock

import pyarrow
from pyarrow import parquet

from reference.accounting.release import load_release
from reference.common.documents import plain
from reference.common.errors import InputError
from reference.datasets import Encoding, shipped_domain
from reference.datasets.from_file import record_blocks
from reference.datasets.opening import open_table
from reference.domain.attributes import Numeric, Ordinal
from reference.domain.file import DomainFile, load_domain_file
from reference.domain.markers import Marker
from tests.command_lines import reference
from tests.soak.ledgers import ledger, originals
from tests.soak.mutations import changed, mutate

DECLARED = DomainFile(
    attributes=(Numeric("n", -5, 5), Ordinal("t", ("no", "yes", "a,b"))), label=Marker("y"), ignore=("i",)
)
HEADER = "n,t,y\n"
ROWS = ("1,yes,0\n", "-2.5,no,1\n", '0,"a,b",1\n', "5e0,yes,0\n")
PIECES = (
    '"',
    '""',
    ",",
    "\n",
    "\r\n",
    "\r",
    "\0",
    "\ufeff",
    "é",
    "\u202e",
    "\x1b[31m",
    "1e400",
    "1_0",
    "１",
    "nan",
    "-",
    "+1",
    " ",
    "9" * 400,
    "x" * 5000,
    "n",
    "t",
    "y",
    "i",
    ";",
    "\t",
    "/",
    "'",
    "\\",
    "\u2028",
    "0x1",
    "NA",
)


def _ended(run: Callable[[], object]) -> str:
    """Return how a try ended: fine, or the class of the error that a user would read."""
    try:
        run()
    except InputError as problem:
        text = str(problem)
        assert text.isprintable(), text
        assert len(text) < 3_000, len(text)
        return type(problem).__name__
    return "fine"


def delimited(number: int, folder: Path) -> str:
    """Read a CSV file with marks, bytes and fields put in, taken out and doubled."""
    draw = random.Random(f"delimited {number}")
    text = bytearray((HEADER + "".join(draw.choices(ROWS, k=draw.randint(0, 6)))).encode())
    for _ in range(draw.randint(1, 4)):
        mutate(text, draw, [piece.encode() for piece in PIECES])
    path = folder / "a.csv"
    path.write_bytes(text)
    return _ended(lambda: record_blocks(open_table(path), DECLARED, rows=draw.choice([1, 3, 65_536])).moments())


@cache
def _parquet_files() -> tuple[bytes, ...]:
    columns = {"n": [1.0, -2.5, 0.0, 5.0], "t": ["yes", "no", "a,b", "yes"], "y": [0, 1, 1, 0]}
    found = []
    for options in (
        {},
        {"compression": "zstd"},
        {"use_dictionary": False, "row_group_size": 2},
        {"version": "1.0"},
    ):
        sink = io.BytesIO()
        parquet.write_table(pyarrow.table(columns), sink, **options)
        found.append(sink.getvalue())
    return tuple(found)


def typed(number: int, folder: Path) -> str:
    """Read a Parquet file with bytes changed, taken out and put in."""
    draw = random.Random(f"typed {number}")
    content = bytearray(draw.choice(_parquet_files()))
    for _ in range(draw.randint(1, 4)):
        mutate(content, draw, [bytes([draw.randrange(256)]), bytes(4), b"\xff" * 4])
    path = folder / "a.parquet"
    path.write_bytes(content)
    return _ended(lambda: record_blocks(open_table(path), DECLARED).moments())


@cache
def _documents(folder: Path) -> tuple[tuple[str, Any], ...]:
    release = folder / "release.json"
    wanted = f"fit --mechanism pdfc --seed 1 --quiet --out {folder / 'out'} --release {release}"
    reference(*shlex.split(wanted))
    return (
        ("domain", plain(DECLARED)),
        ("domain", plain(shipped_domain("adult", Encoding(encoding="one_hot")))),
        # the same text on every machine, whatever its last digits
        ("release", json.loads(release.read_text(), parse_float=lambda text: round(float(text), 2))),
    )


def document(number: int, folder: Path) -> str:
    """Read a domain file or a release with values replaced, moved, doubled and left out, and use it."""
    draw = random.Random(f"document {number}")
    kind, original = draw.choice(_documents(folder))
    held = json.loads(json.dumps(original))
    for _ in range(draw.randint(1, 3)):
        held = changed(held, draw)
    text = bytearray(json.dumps(held).encode())
    if draw.random() < 0.2:
        mutate(text, draw, [b"{", b"}", b'"', b",", b"\xff", b"\\ud800", b"NaN", b"[" * 100])
    path = folder / "a.json"
    path.write_bytes(text)

    def use() -> None:
        if kind == "release":
            release = load_release(path)
            str(release), release.privacy
        else:
            declared = load_domain_file(path)
            record_blocks(open_table(_table(folder)), declared).moments()

    return _ended(use)


def _table(folder: Path) -> Path:
    path = folder / "table.csv"
    path.write_text(HEADER + "".join(ROWS))
    return path


WORDS = (
    "fit",
    "predict",
    "domain",
    "ledger",
    "--ledger",
    "ledger.jsonl",
    "--method",
    "gdp",
    "--data",
    "--domain",
    "--epsilon",
    "--delta",
    "--mechanism",
    "--splits",
    "--seed",
    "--check",
    "--label",
    "--group",
    "--describe",
    "--format",
    "--fairness",
    "--epsilon-s",
    "--epsilon-n",
    "--x-s",
    "--adjacency",
    "--records",
    "--dimension",
    "--alpha",
    "--test-share",
    "--sensitivity",
    "--noise",
    "--repair",
    "--release",
    "--quiet",
    "--intercept",
    "--keep-group",
    "--tau",
    "affairs",
    "synthetic",
    "table.csv",
    "domain.json",
    "missing.csv",
    "a.json",
    "pdfc",
    "adfc",
    "functional",
    "all",
    "0",
    "1",
    "-1",
    "1e-9",
    "1e400",
    "1_0",
    "nan",
    "2/3",
    "1/0",
    "json",
    "text",
    "none",
    "absolute",
    "y",
    "t",
    "n",
    "",
    "\udcff",
    "\x1b[31m",
    "é",
    "x" * 300,
    "--",
    "-",
    "=",
)
STARTS = (
    "fit --data affairs --mechanism functional --seed 1 --quiet",
    "fit --data table.csv --domain domain.json --seed 1 --quiet --mechanism no_privacy",
    "domain --describe --data table.csv --label y",
    "domain --check domain.json --data table.csv",
    "domain --data german",
    "ledger show ledger.jsonl",
    "ledger create new.jsonl --data d --epsilon 1",
    "advise",
    "predict --data table.csv",
)


def command_line(number: int, folder: Path) -> str:
    """Run a command line of words that mean something, and of some that do not, in this process."""
    draw = random.Random(f"command line {number}")
    words = draw.choice(STARTS).split()
    for _ in range(draw.randint(1, 4)):
        place = draw.randint(0, len(words))
        words[place : place + draw.randint(0, 2)] = draw.choices(WORDS, k=draw.randint(0, 2))
    if set(words) & {"experiments", "--splits"} or "synthetic" in words:
        words = [word for word in words if word not in ("--splits", "synthetic")]
    said = io.StringIO()
    with (
        tempfile.TemporaryDirectory(dir=folder) as own,
        contextlib.chdir(own),
        mock.patch.dict(os.environ, CFM_DATA=own),
        contextlib.redirect_stdout(io.StringIO()),
        contextlib.redirect_stderr(said),
    ):
        Path("domain.json").write_text(json.dumps(plain(DECLARED)))
        _table(Path(own))
        Path("ledger.jsonl").write_bytes(originals()[1])
        code = reference(*words)
    text = said.getvalue()
    assert "Traceback" not in text, text
    assert code in (0, 2), (code, text)
    errors = [line for line in text.split("\n") if line.startswith("error: ")]
    assert len(errors) == int(code == 2), text
    assert all(len(line) < 2_100 and line.isprintable() for line in errors), text
    return f"exit {code}"


KINDS: dict[str, Callable[[int, Path], str]] = {
    "delimited": delimited,
    "typed": typed,
    "document": document,
    "command_line": command_line,
    "ledger": ledger,
}


def memory() -> float:
    """Return the most memory that this process has had, in bytes."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024.0


@contextlib.contextmanager
def quiet() -> Iterator[None]:
    """Let no warning of a case be an error, or be printed."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield
