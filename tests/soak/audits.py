"""Certificates that are changed and then verified, in this process."""

from __future__ import annotations

import contextlib
import io
import json
import random
import tempfile
from functools import cache
from pathlib import Path
from typing import Any

from audit.commands.family import command as audit_family
from reference.commands.parsing import run
from tests.soak.mutations import changed, mutate

PIECES = (b"{", b"}", b'"', b",", b"\xff", b"\\ud800", b"NaN", b"[" * 100, b"\0", b"9" * 400)
ESTIMATES = (
    "laplace_half_noise --draws 2000 --seed 1 --events coordinates",
    "gaussian --draws 2000 --seed 1 --events coordinates,intervals",
)


def audit(*words: str) -> tuple[int, str]:
    """Run ``python -m audit`` silently; return its exit code and what it said on standard error."""
    said = io.StringIO()
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(said):
        code = run(audit_family, words, name="python -m audit")
    text = said.getvalue()
    assert "Traceback" not in text, text
    assert code in range(4), (code, text)
    errors = [line for line in text.split("\n") if line.startswith("error: ")]
    assert len(errors) <= 1, text
    assert errors or code != 2, (code, text)
    assert all(len(line) < 2_100 and line.isprintable() for line in errors), text
    return code, text


@cache
def certificates() -> tuple[Any, ...]:
    """Return certificates of small estimates; their time is the only thing that differs from call to call."""
    found = []
    for words in ESTIMATES:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "certificate.json"
            code, said = audit("estimate", *words.split(), "--out", str(path))
            assert path.exists(), (code, said)
            found.append(json.loads(path.read_text(encoding="utf-8")))
    return tuple(found)


def certificate(number: int, folder: Path) -> str:
    """Verify a certificate with values replaced, moved, doubled and left out, or with bytes changed."""
    draw = random.Random(f"certificate {number}")
    held = draw.choice(certificates())
    for _ in range(draw.randint(1, 3)):
        held = changed(held, draw)
    text = bytearray(json.dumps(held).encode())
    if draw.random() < 0.2:
        mutate(text, draw, PIECES)
    path = folder / "certificate.json"
    path.write_bytes(text)
    return f"exit {audit('verify', str(path))[0]}"


SHORT = """
--draws --seed --events --significance --bound --delta --epsilon --format --out --list --claim --only
--count --samples --import --inputs --timeout --until --curve --release --object --adjacency --alpha
coordinates bits rare gaussian pdfc 0 1 -1 2000 1e-9 1e400 1_0 nan 2/3 1/0 json text x y -- - = é
"""
ODD = ("", "\udcff", "\x1b[31m", "x" * 300, "missing.json", "os:getcwd", "nomodule:x")
WORDS = (*SHORT.split(), *ODD)
STARTS = (
    "estimate laplace_half_noise --draws 2000",
    "verify",
    "catalogue --list",
    "claims --map",
    "vectors describe",
    "conformance --list",
    "compare --import nomodule --only Domain --count 1",
    "privacy",
    "boundary",
    "certify",
    "accountant",
)
"""Kept whole before what is put in: a command that loses such words decides all claims, which takes its time."""


def audit_line(number: int, folder: Path) -> str:
    """Run a command line of ``python -m audit`` with words that mean something, and with some that do not."""
    draw = random.Random(f"audit line {number}")
    words = [*draw.choice(STARTS).split(), *draw.choices(WORDS, k=draw.randint(0, 4))]
    with tempfile.TemporaryDirectory(dir=folder) as own, contextlib.chdir(own):
        return f"exit {audit(*words)[0]}"
