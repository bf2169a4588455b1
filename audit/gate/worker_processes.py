"""Worker processes of a command, as the system shows them."""

from __future__ import annotations

import contextlib
import os
import re
import signal
import subprocess
import time
from pathlib import Path


def at_work(session: int) -> int:
    """Return how many worker processes of a session leave Ctrl-C to the program that started them."""
    found = 0
    for folder in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if os.getsid(int(folder.name)) == session and b"popen_loky" in (folder / "cmdline").read_bytes():
                (ignored,) = re.findall(r"SigIgn:\s*([0-9a-f]+)", (folder / "status").read_text())
                found += int(ignored, 16) >> (signal.SIGINT - 1) & 1
    return found


def interrupted(
    words: list[str], workers: int, number: int = signal.SIGINT, **settings: object
) -> tuple[int, bytes, bytes]:
    """Start a command, press Ctrl-C when its workers are at work; return exit code, output and errors.

    Another signal is sent to the command alone.

    What joblib's own resource tracker says of folders that are gone before it looks is left out.
    """
    with subprocess.Popen(
        words,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
        **settings,  # type: ignore[call-overload]
    ) as process:
        deadline = time.monotonic() + 300
        while at_work(process.pid) < workers and process.poll() is None and time.monotonic() < deadline:
            time.sleep(0.05)
        # as a terminal does: the program and its workers
        (os.killpg if number == signal.SIGINT else os.kill)(process.pid, number)
        out, err = process.communicate(timeout=300)
    lines = err.splitlines(keepends=True)
    tracker = [b"resource_tracker" in line or b"warnings.warn" in line for line in lines]
    return process.returncode, out, b"".join(line for line, of in zip(lines, tracker, strict=True) if not of)
