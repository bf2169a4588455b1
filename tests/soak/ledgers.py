"""Ledger files that are damaged or forged: nothing but ledger errors, and no count below what was seen before."""

from __future__ import annotations

import contextlib
import io
import json
import random
from collections.abc import Callable
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any
from unittest import mock

from reference.accounting import METHODS, ExactPrivacy, Privacy, Total, ledger_file
from reference.accounting.ledger_file import (
    CountedRelease,
    LedgerHeader,
    LedgerTerms,
    ReleaseLine,
    line_of,
    path_of,
)
from reference.accounting.release_ledger import ReleaseLedger
from reference.common.errors import LedgerError
from reference.common.numbers import Enclosure
from tests.command_lines import reference
from tests.soak.mutations import changed, mutate

TENTH = Fraction(1, 10)
PRIVACY = Privacy(None, ExactPrivacy(Enclosure(TENTH, TENTH), Fraction(0), None, None, None))
ONE = CountedRelease("pdfc", "replace_one", PRIVACY)
PIECES = (b"\0", b"\n", b'"', b"{", b"}", b",", b"\xff", b"\\ud800", b"NaN", b"[" * 2000, b"9" * 5000, b" ", b"-")
LENGTHS = (0, 1, 4, 64)
"""Releases of the ledgers that are damaged; a reservation does not read all lines of the last one."""


@cache
def originals() -> tuple[bytes, ...]:
    """Return ledgers of every method, the same bytes at every call."""
    found = []
    for method in METHODS:
        terms = LedgerTerms("survey", "replace_one", Fraction(50), Fraction(method != "basic", 10**6), method)
        fields = {name: getattr(terms, name) for name in LedgerTerms.__struct_fields__}
        for count in LENGTHS:
            lines, total = [line_of(LedgerHeader(id="0" * 32, **fields), b"")], Total()
            for number in range(1, count + 1):
                total = total.plus(PRIVACY.exact, method)
                stated = {"mechanism": "pdfc", "adjacency": "replace_one", "privacy": PRIVACY, "time": "2026"}
                lines.append(line_of(ReleaseLine(release=number, total=total, **stated), lines[-1][:-1]))
            found.append(b"".join(lines))
    assert len(found[len(LENGTHS) - 1]) > 1.2 * ledger_file.WINDOW
    return tuple(found)


def bytes_changed(whole: bytes, draw: random.Random) -> bytes:
    """Flip a bit, or put in, take out and double some bytes."""
    text = bytearray(whole)
    if draw.random() < 0.5:
        text[draw.randrange(len(text))] ^= 1 << draw.randrange(8)
    else:
        mutate(text, draw, PIECES)
    return bytes(text)


def cut(whole: bytes, draw: random.Random) -> bytes:
    """Cut the file anywhere, or at the end of a line."""
    place = draw.randrange(len(whole))
    return whole[:place] if draw.random() < 0.5 else whole[: whole.rfind(b"\n", 0, place) + 1]


def lines_moved(whole: bytes, draw: random.Random) -> bytes:
    """Double, exchange or leave out a line."""
    lines = whole.splitlines(keepends=True)
    first, second = draw.randrange(len(lines)), draw.randrange(len(lines))
    done = draw.choice(["double", "exchange", "leave out"])
    if done == "double":
        lines.insert(second, lines[first])
    elif done == "exchange":
        lines[first], lines[second] = lines[second], lines[first]
    else:
        del lines[first]
    return b"".join(lines)


def forged(whole: bytes, draw: random.Random) -> bytes:
    """Change a value of a line, and make its digest and those of the lines after it again."""
    lines = [json.loads(line) for line in whole.splitlines()]
    place = draw.randrange(len(lines))
    lines[place] = changed(lines[place], draw)
    written: list[bytes] = []
    for line in lines:
        if isinstance(line, dict):
            line.pop("digest", None)
            line["digest"] = ledger_file._digest(line, written[-1] if written else b"")
        written.append(json.dumps(line).encode())
    return b"\n".join(written) + b"\n"


DAMAGES: tuple[Callable[[bytes, random.Random], bytes], ...] = (bytes_changed, cut, lines_moved, forged)


def documents(text: bytes) -> list[Any]:
    """Return what the lines say, whatever their spaces are."""
    return [json.loads(line) for line in text.splitlines()]


def ledger(number: int, folder: Path) -> str:
    """Damage the file of an open ledger; read all of it, by Python and by a command, then reserve."""
    draw = random.Random(f"ledger {number}")
    (whole,) = draw.choices(originals(), [1 + 9 * (count < LENGTHS[-1]) for _ in METHODS for count in LENGTHS])
    path = folder / "ledger.jsonl"
    path.write_bytes(whole)
    held = ReleaseLedger.open(path)
    held.check(ONE)
    damage = draw.choice(DAMAGES)
    text = damage(whole, draw)
    path.write_bytes(text)
    read = _ended(lambda: _read(path, whole, text, may_lie=damage is forged))
    said = io.StringIO()
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(said):
        code = reference("ledger", "show", str(path))
    assert (code, said.getvalue().count("\n")) == ((0, 0) if read == "fine" else (2, 1)), said.getvalue()
    assert path.read_bytes() == text, "reading changed the file"
    with mock.patch.object(ledger_file.os, "fsync"):
        reserved = _ended(lambda: held.reserve(ONE))
    after = path.read_bytes()
    if reserved != "fine":
        assert after == text, "a refused release changed the file"
    elif damage is not forged:
        # what was seen once stays counted: the total that follows is that of the ledger that was not damaged
        last, before = (json.loads(text.splitlines()[-1]) for text in (after, whole))
        assert last["release"] == before.get("release", 0) + 1, "releases are lost"
        assert after.startswith(text)
        assert Fraction(last["total"]["epsilon"]) >= Fraction(before.get("total", {}).get("epsilon", "0"))
    return f"{damage.__name__}: read {read}, reserved {reserved}"


def _ended(use: Callable[[], object]) -> str:
    """Return how a use ended: fine, or the class of the ledger error."""
    try:
        use()
    except LedgerError as problem:
        text, ending = str(problem), type(problem).__name__
    else:
        text, ending = "", "fine"
    assert len(text) < 3_000, len(text)
    return ending


def _read(path: Path, whole: bytes, text: bytes, *, may_lie: bool) -> None:
    """Read all of a file: what is accepted is the beginning of what was written, or a forgery that makes sense."""
    opened = ReleaseLedger.open(path_of(str(path)))
    report = opened.document()
    opened.report()
    if not may_lie:
        kept = documents(text)
        assert kept == documents(whole)[: len(kept)], "something else than was written"
    for release in report.releases:
        assert release.privacy.exact is not None
        assert release.privacy.exact.epsilon.lower >= 0
    assert report.spent is None or report.spent.epsilon >= 0
