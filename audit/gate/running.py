"""Run a command of audit as ``python -m audit`` does, in this process."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from audit.commands.family import command
from reference.commands.family import command as reference_family
from reference.commands.parsing import run


def program(*names: str) -> Callable[[Sequence[str]], int]:
    """Return a function of the words after a command's name, which returns the exit code."""
    return lambda words: run(command, [*names, *words], name="python -m audit")


def reference(words: Sequence[str]) -> int:
    """Run ``python -m reference``, and return the exit code."""
    return run(reference_family, list(words), name="python -m reference")
