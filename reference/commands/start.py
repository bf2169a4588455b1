"""The first moments of a command line, before what reports errors is imported.  Imports only what Python has."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from reference.common.exit_codes import EXIT_UNDECIDED, EXIT_USAGE


@contextmanager
def starting() -> Iterator[None]:
    """Around the imports of a command line: end in one line where a library is missing, and when interrupted."""
    open_closed_streams()
    try:
        yield
    except ModuleNotFoundError as problem:
        absent = (problem.name or "").partition(".")[0]
        if absent in ("", "audit", "reference"):
            raise
        sys.stderr.write(
            f"error: {absent} is not installed for this Python: use .venv/bin/python (make audit makes it)\n"
        )
        sys.exit(EXIT_USAGE)
    except KeyboardInterrupt:
        # what reports an interruption was not there yet
        sys.stderr.write("error: interrupted: nothing was decided\n")
        sys.exit(EXIT_UNDECIDED)


def open_closed_streams() -> None:
    """Let a standard stream that the caller closed (``>&-``) lead nowhere, and no file get its number."""
    closed = [number for number, stream in enumerate((sys.stdin, sys.stdout, sys.stderr)) if stream is None]
    for number in closed:
        # the lowest number that is free: this one, where nothing has taken it
        handle = os.open(os.devnull, os.O_RDWR)
        stream = open(handle, "r" if number == 0 else "w", encoding="utf-8", closefd=False)  # noqa: SIM115
        setattr(sys, ("stdin", "stdout", "stderr")[number], stream)
