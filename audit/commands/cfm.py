"""The console script ``cfm``: the commands of ``reference``, and under ``audit`` those of audit.

Each command is imported when used, so that ``cfm fit`` needs nothing that only audit needs.
"""

from __future__ import annotations

import contextlib
import sys
from pathlib import Path
from typing import NoReturn

from reference.commands.start import starting
from reference.commands.supervision import supervised

with starting():
    from reference.commands.family import ROWS
    from reference.commands.parsing import CommandRow, Family, exit_with

command = Family(
    "cfm",
    {
        **ROWS,
        "audit": CommandRow("audit.commands.family", "check mechanisms, claims, proofs, releases and the auditor"),
    },
    "Differentially private and fair classification, and its checks.",
)


def main() -> NoReturn:
    """Run this process's command line; as with ``python -m``, it can name modules of the current folder."""
    if not sys.flags.safe_path:
        # a deleted folder has no modules
        with contextlib.suppress(OSError):
            sys.path.insert(0, str(Path.cwd()))
    with starting():
        supervised()
    exit_with(command, name="cfm")
