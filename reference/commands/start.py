"""The start of a command line, before what reports errors is imported.  Imports the standard library only."""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from reference.commands.output import open_closed_streams
from reference.commands.supervision import EndedBySignalError, leave
from reference.common.exit_codes import EXIT_UNDECIDED, EXIT_USAGE

MAKEFILE = Path(__file__).parents[2] / "Makefile"
"""In a checkout only."""

SCARCE = (errno.EMFILE, errno.ENFILE, errno.ENOMEM)
"""Error numbers of a system that is out of files or memory."""

OF_LIBRARIES = (*map(os.strerror, SCARCE), "failed to map segment")
"""The same, in the words of a library's loader."""


def scarce(problem: BaseException | None) -> str | None:
    """Return what the system said, if an error came from its lack of files or memory."""
    while problem is not None:
        if isinstance(problem, OSError) and problem.errno in SCARCE:
            return problem.strerror
        if isinstance(problem, ImportError):
            said = next((text for text in OF_LIBRARIES if text in str(problem)), None)
            if said:
                return said
        problem = problem.__cause__ or problem.__context__
    return None


def remedy(makefile: Path = MAKEFILE) -> str:
    """Return what installs the libraries of the package: in a checkout make, elsewhere pip."""
    in_checkout = "use .venv/bin/python (make audit makes it)"
    return in_checkout if makefile.is_file() else "pip install calibrated-functional-mechanism"


@contextmanager
def starting() -> Iterator[None]:
    """Wrap the imports of a command line: if a library is missing, or on an interruption, end with one line."""
    open_closed_streams()
    if sys.flags.optimize > 1:
        sys.stderr.write("error: help and vectors are made of docstrings: run Python without -OO\n")
        leave(EXIT_USAGE)
    try:
        yield
    except ModuleNotFoundError as problem:
        absent = (problem.name or "").partition(".")[0]
        if absent in ("", "audit", "reference"):
            raise
        # not above: an interruption of its imports would be a traceback
        from reference.common.extras import CORE

        sys.stderr.write(f"error: {CORE.get(absent, absent)} is not installed for this Python: {remedy()}\n")
        leave(EXIT_USAGE)
    except (ImportError, OSError) as problem:
        said = scarce(problem)
        if said is None:
            raise
        sys.stderr.write(f"error: the system ran out of resources ({said}), so nothing was decided\n")
        leave(EXIT_UNDECIDED)
    except KeyboardInterrupt:
        # what reports interruptions was not imported yet
        sys.stderr.write("error: interrupted: nothing was decided\n")
        leave(EXIT_UNDECIDED)
    except EndedBySignalError as ended:
        leave(128 + ended.number)
