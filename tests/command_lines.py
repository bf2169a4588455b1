"""Command lines of the reference, run in this process or in one of their own."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

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
