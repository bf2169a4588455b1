"""The first moments of a command line, before what reports errors is imported.  Imports only what Python has."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager

from reference.commands.output import open_closed_streams
from reference.commands.supervision import EndedBySignalError, leave
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
        leave(EXIT_USAGE)
    except KeyboardInterrupt:
        # what reports an interruption was not there yet
        sys.stderr.write("error: interrupted: nothing was decided\n")
        leave(EXIT_UNDECIDED)
    except EndedBySignalError as ended:
        leave(128 + ended.number)
