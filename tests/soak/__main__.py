"""``python -m tests.soak``: run every case and kill; what has run is kept, so that a stopped run goes on."""

from __future__ import annotations

import argparse
import hashlib
import json
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any

from tests.soak import kills
from tests.soak.cases import KINDS, memory, quiet

RESULTS = Path(__file__).with_name("results.json")
PART = 1_000
"""Cases whose endings are kept together, as counts and as a digest."""

FEWER = {"ledger": 20_000}
"""Cases of a kind that costs more."""

SLOWEST = 5.0
"""Seconds of this process, whatever else the machine does."""

MOST_MEMORY = 2**30
LONGEST_WAIT = 3600
"""Seconds after which a part, and with it the run, ends by a signal: a case waits for ever."""


def run_part(kind: str, part: int, folder: Path, every: int = 1) -> dict[str, Any]:
    """Run every so many of the cases of one part; return how they ended, and raise where one falls.

    Raises
    ------
    AssertionError
        With the number of a case that gave a traceback, ran for too long or took too much memory.
    """
    endings: dict[int, str] = {}
    for number in range(part * PART, (part + 1) * PART, every):
        start, before = time.process_time(), memory()
        try:
            with quiet():
                endings[number] = KINDS[kind](number, folder)
        except Exception as problem:
            raise AssertionError(f"{kind} {number}: {type(problem).__name__}: {problem}") from problem
        seconds = time.process_time() - start
        if seconds > SLOWEST or memory() > max(before, MOST_MEMORY):
            raise AssertionError(f"{kind} {number}: {seconds:.1f} s, {memory():.3g} bytes")
    return {"endings": dict(sorted(Counter(endings.values()).items())), "sha256": digest(endings)}


def digest(endings: dict[int, str]) -> str:
    """Return a digest of the endings of every tenth case: what the tests repeat of some parts.

    Whether input is accepted counts, and not by which class of error it is refused.
    """
    kinds = {number: re.sub(r"\w+Error", "refused", ending) for number, ending in endings.items()}
    repeated = [f"{number} {kind}\n" for number, kind in kinds.items() if number % REPEATED == 0]
    return hashlib.sha256("".join(repeated).encode()).hexdigest()[:16]


REPEATED = 10


def main() -> int:
    """Go on until every part has run; print what fell."""
    parser = argparse.ArgumentParser(prog="python -m tests.soak", description=__doc__)
    parser.add_argument("--cases", type=int, default=100_000, help="of each kind (100000)")
    parser.add_argument("--seconds", type=float, default=float("inf"), help="stop then; run again to go on")
    parser.add_argument("--kinds", default=",".join([*KINDS, *kills.COMMANDS]))
    asked = parser.parse_args()
    commit = subprocess.run(
        ["git", "rev-parse", "HEAD"], capture_output=True, text=True, check=True
    ).stdout.strip()
    found: dict[str, Any] = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
    end, fell = time.monotonic() + asked.seconds, 0
    with tempfile.TemporaryDirectory() as folder:
        for kind in asked.kinds.split(","):
            parts = found.setdefault(kind, {"command": "make soak", "parts": {}})["parts"]
            wanted = kills.PARTS.get(kind, min(asked.cases, FEWER.get(kind, asked.cases)) // PART)
            for part in range(wanted):
                signal.alarm(LONGEST_WAIT)
                if str(part) in parts or time.monotonic() > end:
                    continue
                try:
                    if kind in kills.COMMANDS:
                        found_part = {"endings": kills.kill_part(kind, part, Path(folder))}
                    else:
                        found_part = run_part(kind, part, Path(folder))
                    parts[str(part)] = {"commit": commit[:12], **found_part}
                except AssertionError as problem:
                    fell += 1
                    print(problem, file=sys.stderr)
                RESULTS.write_text(json.dumps(found, indent=1) + "\n")
            done = sum(sum(one["endings"].values()) for one in parts.values())
            size = kills.PART if kind in kills.COMMANDS else PART
            print(f"{kind}: {done:,} of {wanted * size:,} cases")
    return int(fell > 0)


if __name__ == "__main__":
    sys.exit(main())
