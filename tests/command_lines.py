"""Command lines of the reference, run in this process or in one of their own."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

from reference.commands.family import command
from reference.commands.parsing import run

ROOT = Path(__file__).resolve().parent.parent


def reference(*words: str) -> int:
    """Run ``python -m reference`` in this process and return its exit code."""
    return run(command, words, name="python -m reference")


def experiments(*words: str) -> int:
    """Run ``python -m reference experiments`` in this process and return its exit code."""
    return reference("experiments", *words)


def environment(**variables: str) -> dict[str, str]:
    """Return the environment of a program that imports this project, with some variables set."""
    return {**os.environ, "PYTHONPATH": str(ROOT), **variables}


@contextmanager
def killed_at_last(started: subprocess.Popen[Any]) -> Iterator[None]:
    """End a process that leads a session, and what is left of it: nobody then waits for one that hangs."""
    try:
        yield
    finally:
        with suppress(ProcessLookupError):
            os.killpg(started.pid, signal.SIGKILL)


def program(
    *words: str, folder: Path, module: str = "reference", **variables: str
) -> subprocess.CompletedProcess[bytes]:
    """Run ``python -m reference`` in a process of its own, with some variables of the environment."""
    return subprocess.run(
        [sys.executable, "-m", module, *words],
        capture_output=True,
        check=False,
        cwd=folder,
        env=environment(**variables),
        timeout=240,
    )


def inside(
    *words: str, folder: Path, name: str = "python -m reference", encoding: str = "utf-8", **variables: str
) -> subprocess.CompletedProcess[bytes]:
    """Run the command line in this process on streams of its own: :func:`program` without its start and end."""
    with (
        tempfile.TemporaryFile("w+", encoding=encoding) as out,
        tempfile.TemporaryFile("w+", encoding=encoding, errors="backslashreplace") as error,
        pytest.MonkeyPatch.context() as patch,
    ):
        patch.chdir(folder)
        for variable, value in variables.items():
            patch.setenv(variable, value)
        patch.setattr(sys, "stdout", out)
        patch.setattr(sys, "stderr", error)
        code = run(command, words, name=name)
        written = []
        for stream in (out, error):
            stream.flush()
            stream.buffer.seek(0)
            written.append(stream.buffer.read())
    return subprocess.CompletedProcess(words, code, *written)
